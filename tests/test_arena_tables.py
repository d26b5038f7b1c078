"""The arena at every table: all presets and player counts, special hands, lowest totals, cooperative matches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import arena_bots
import numpy as np
import pytest
from arena_bots import shown

from ohhell_env.arena.evaluate import evaluate, main
from ohhell_env.arena.matches import (
    COOPERATIVE_DEALS,
    ArenaError,
    bot_seeds,
    deal_seeds,
    one_against_rest,
    own_tables,
    play,
    tables_for,
    totals_of,
)
from ohhell_env.arena.report import Report, report_on
from ohhell_env.arena.standings import ratings
from ohhell_env.arena.tables import print_report, print_standings
from ohhell_env.arena.tournament import tournament
from ohhell_env.bots import make_bot
from ohhell_env.bots.random import RandomBot
from ohhell_env.bots.search import SearchBot
from ohhell_env.kernel.state import MATCH_OVER, NONE
from ohhell_env.records.match import Match
from ohhell_env.rules.presets import PRESETS, player_counts, preset
from ohhell_env.rules.rules import Rules

EVERY_TABLE = [(name, players) for name in PRESETS for players in player_counts(name)]


def played_at(rules: Rules, deals: int = 6, hands: str = "ramp") -> Any:
    tables = tables_for(hands, rules)
    bots = [make_bot("heuristic", 1), make_bot("random", 2)]
    return play(tables, deal_seeds(5, deals, len(tables)), one_against_rest(1, rules.players), bots), tables


@pytest.mark.parametrize(("name", "players"), EVERY_TABLE)
def test_every_preset_is_evaluated_at_every_number_of_players(name: str, players: int) -> None:
    hands = str(min(2, preset(name, players=players).peak))
    searches = SearchBot.plays_wide or preset(name, players=players).standard
    player, opponent = ("search:100", "heuristic") if searches else ("heuristic", "random")
    report = evaluate(player, [opponent], rules=name, players=players, hands=hands, deals=2)
    seatings = 2 if name == "cooperative" else players
    for player in report.players:
        assert np.isfinite(player.points.mean)
        assert 0 <= player.made.mean <= 1
        assert list(player.by_seat) == list(range(1, players + 1))
    assert sum(player.hands for player in report.players) == 2 * seatings * players
    assert report.settings["rules"][0]["players"] == players


@pytest.mark.parametrize("name", ["seven_down", "crazy_whist", "mormon_bridge", "oh_sh", "penguin_whist"])
def test_what_is_written_down_of_a_full_match_is_the_kernels(name: str) -> None:
    """A match played decision by decision ends with the same points, tricks and shares of the win."""
    rules = replace(preset(name), ramp=(3, 1, "2 no trump"), cap=0)
    seeds = deal_seeds(3, 4)
    played = play((rules,), seeds, own_tables(1, rules.players), [make_bot("random", 1)])
    for deal, seed in enumerate(seeds.ravel()):
        match, bot = Match(rules, int(seed)), make_bot("random", 1)
        while match.game.phase != MATCH_OVER:
            match.step(int(bot.act(match)[0]))
        assert played.points[deal, 0, 0].sum(axis=0).tolist() == pytest.approx(list(match.game.scores))
        assert played.wins[deal, 0, 0].tolist() == pytest.approx(list(match.game.win_shares))
        hands = match.game.past_hands
        assert played.sizes[deal, 0, 0].tolist() == [hand.hand_size for hand in hands]
        assert played.dealers[deal, 0, 0].tolist() == [hand.dealer for hand in hands]
        assert played.taken[deal, 0, 0].tolist() == [list(hand.taken) for hand in hands]


def test_special_hands_are_measured_without_bids_that_do_not_exist() -> None:
    played, tables = played_at(Rules(players=3), hands="3 golden,2 blind,3 miser,2 no trump")
    assert [table.ramp for table in tables] == [("3 golden",), ("2 blind",), ("3 miser",), ("2 no trump",)]
    assert (played.bids[:, :, [0, 2]] == NONE).all()
    assert (played.bids[:, :, [1, 3]] != NONE).all()
    assert (played.taken >= 0).all()
    totals = totals_of(played)
    assert (totals.bids == np.array([0, 1, 0, 1])[:, None]).all()
    report = evaluate("heuristic", ["random"], players=3, hands="3 golden", deals=4)
    player = report.players[0]
    assert player.by_bid == {}
    assert (player.made.n, player.made.text()) == (0, "–")
    assert player.points.mean + 2 * report.players[1].points.mean == pytest.approx(3)
    text = shown(report, print_report)
    assert "by bid" not in text
    assert "nan" not in text


def test_hand_sizes_of_a_random_ramp_and_dealers_at_random_are_counted_as_they_came() -> None:
    rules = Rules(players=3, deck="standard", ramp="random", cap=3, first_dealer="random", bids="open")  # type: ignore[arg-type]
    played, tables = played_at(rules, deals=12)
    sizes = played.sizes[:, 0, 0]
    assert (np.sort(sizes, axis=1) == [1, 2, 3]).all()
    assert len({tuple(row) for row in sizes.tolist()}) > 1
    dealers = played.dealers[:, 0, 0]
    assert set(dealers[:, 0].tolist()) == {0, 1, 2}
    assert ((dealers[:, 1] - dealers[:, 0]) % 3 == 1).all()
    report = report_on(played, tables, ["a", "b"], {})
    assert list(report.players[0].by_hand_size) == [1, 2, 3]
    for player in report.players:
        assert sum(line.share.mean for line in player.by_seat.values()) == pytest.approx(1)
        assert [line.share.mean for line in player.by_hand_size.values()] == pytest.approx([1 / 3] * 3)


# The lowest total wins ################################################################################################


LOWEST = Rules(players=3, ramp=(2, 1), scoring="negative", trump="none")


def test_where_the_lowest_total_wins_fewer_points_are_better(tmp_path: Path) -> None:
    report = evaluate("boaster", ["random"], rules=LOWEST, deals=60, make=arena_bots.make)
    one = report.differences[0]
    assert one.points.low > 0 > one.value.high
    assert one.value.mean == pytest.approx(-one.points.mean)
    assert one.wins.high < 0
    assert "worse" in shown(report, print_report)
    standings = tournament(["boaster", "random", "lowest"], tmp_path, rules=LOWEST, deals=40, make=arena_bots.make)
    places = {player.name: player for player in standings.players}
    assert standings.players[-1].name == "boaster"
    assert places["boaster"].above.high < 0
    assert places["boaster"].points.mean > places["random"].points.mean
    assert standings.differences["boaster", "random"].mean < 0
    assert sum(player.wins.mean for player in standings.players) == pytest.approx(1)


def test_shares_of_the_win_are_the_kernels_wherever_the_match_ends() -> None:
    """The tournament used to work out the winner by itself, and forgot that the lowest total may win."""
    for rules in (LOWEST, Rules(players=3, ramp=(2, 1), lowest_wins=True), Rules(players=3, ramp=(2, 1))):
        played, _ = played_at(rules, deals=20)
        totals = totals_of(played)
        assert np.array_equal(totals.wins, played.wins)
        points = played.points.sum(axis=3)
        best = points == (points.min if rules.lowest else points.max)(axis=-1, keepdims=True)
        np.testing.assert_allclose(played.wins, best / best.sum(axis=-1, keepdims=True))


def test_ratings_take_the_lowest_total_for_the_best_where_it_is() -> None:
    seats = np.tile([[[0, 1, 2]]], (50, 1, 1))
    worth = -np.tile([[[[30.0, 20.0, 10.0]]]], (50, 1, 1, 1))
    first, second, third = ratings(seats, worth, 3)
    assert first[0] < second[0] < third[0]


# Cooperative tables ###################################################################################################


def cooperative_report(**options: Any) -> Report:
    return evaluate("heuristic", ["random"], rules="cooperative", players=3, hands="2,3", deals=40, **options)


def test_at_a_cooperative_table_each_player_has_a_table_of_its_own() -> None:
    report = cooperative_report()
    better, worse = (player.together for player in report.players)
    assert better is not None and worse is not None
    assert report.settings["seating"] == "table"
    most = preset("cooperative").attempts or COOPERATIVE_DEALS
    assert tables_for("2", "cooperative")[0].attempts == most
    assert better.hands_made.mean >= better.first_deals.mean > worse.first_deals.mean
    assert 1 <= better.deals.mean < worse.deals.mean <= most
    assert report.differences[0].value.mean == pytest.approx(100 * (better.first_deals.mean - worse.first_deals.mean))
    assert report.differences[0].value.low > 0
    text = shown(report, print_report)
    for words in ("each player at a table of its own", "hands made %", "deals per hand", "verdict on hands made"):
        assert words in text


def test_a_cooperative_hand_that_is_never_made_is_lost_and_nobody_wins() -> None:
    rules = preset("cooperative", players=3, attempts=2)
    played = play(tables_for("2", rules), deal_seeds(1, 30), own_tables(1, 3), [make_bot("random", 1)])
    lost = ~played.succeeded[..., 0]  # (D, R, T)
    assert lost.any() and not lost.all()
    assert (played.deals[..., 0][lost] == 2).all()
    assert (played.points[..., 0, :][lost] == 0).all()
    assert (played.wins[lost] == 0).all()
    made = played.bids == played.taken
    assert made[..., 0, :].all(axis=-1)[played.deals[..., 0] == 1].all(), "made in the first deal"


def test_a_cooperative_tournament_is_ordered_by_hands_made(tmp_path: Path) -> None:
    standings = tournament(["random", "heuristic"], tmp_path, rules="cooperative", players=3, hands="1,2", deals=10)
    shares = [player.hands_made.mean for player in standings.players if player.hands_made]
    assert len(shares) == 2 and shares == sorted(shares, reverse=True)
    assert all(player.rating is None for player in standings.players)
    text = shown(standings, print_standings)
    assert "hands made %" in text and "Rating" not in text


# The command ##########################################################################################################


def test_the_command_takes_any_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "random",
        "--vs",
        "heuristic",
        "--rules",
        "nomination_whist",
        "--players",
        "2",
        "--hands",
        "2",
        "--deals",
        "2",
    ]
    assert (
        main([*arguments, "--deals", "2", "--set", "scoring=negative", "lead_trump=broken", "--out", str(tmp_path)])
        == 0
    )
    printed = capsys.readouterr().out
    assert "2 players, single hands of 2 cards, open bids, hook, seed 0" in printed
    assert "Rules: trump=named, scoring=negative, lead_trump=broken" in printed
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")


class StandardOnly(RandomBot):
    """Plays tables of the standard form only."""

    plays_wide = False


def test_a_bot_that_cannot_play_a_table_says_so_before_anything_is_kept(tmp_path: Path) -> None:
    def make(spec: str, seed: int) -> RandomBot:
        return StandardOnly(seed)

    with pytest.raises(ArenaError, match="player 'narrow': StandardOnly plays tables of the standard form only"):
        tournament(["narrow", "narrow"], tmp_path / "new", rules="pocha", deals=2, make=make)
    with pytest.raises(ArenaError, match="is not known"):
        tournament(["random", "nobody"], tmp_path / "new", rules="pocha", deals=2)
    assert not (tmp_path / "new").exists()


def test_seeds_of_players_differ() -> None:
    assert len(set(bot_seeds(0, 30))) == 30
