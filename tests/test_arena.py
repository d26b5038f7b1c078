"""The arena: fair seatings, honest intervals, repeatable evaluations."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import arena_bots
import numpy as np
import pytest
from arena_bots import shown
from scipy import stats

from ohhell_env.arena import evaluate as evaluate_command
from ohhell_env.arena.evaluate import evaluate
from ohhell_env.arena.intervals import difference_of, mean_of
from ohhell_env.arena.matches import ArenaError, Played, bot_seeds, deal_seeds, one_against_rest, play, tables_for
from ohhell_env.arena.report import Report, report_on
from ohhell_env.arena.tables import print_report
from ohhell_env.options import progress
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.scoring import exact

SETTINGS = {"players": ["a", "b"], "seating": "one", "hands": "ramp", "deals": 1, "seatings": 3, "seed": 0}


def measured(player: str, *vs: str, **options: Any) -> Report:
    return evaluate(player, vs, **{"players": 3, "hands": "3", "deals": 60, "make": arena_bots.make, **options})


# Seatings #############################################################################################################


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize(("opponents", "players"), [(1, 3), (2, 3), (2, 4), (3, 5), (5, 4), (3, 7)])
def test_everybody_sits_in_every_seat_equally_often(opponents: int, players: int, many: bool) -> None:
    seats = one_against_rest(opponents, players, many)
    for contestant in range(opponents + 1):
        assert len(set((seats == contestant).sum(axis=0))) == 1
    opponents_seats = [(seats == k).sum() for k in range(1, opponents + 1)]
    assert len(set(opponents_seats)) == 1
    one_seat = seats != 0 if many else seats == 0
    assert (one_seat.sum(axis=1) == 1).all()


# Matches ##############################################################################################################


@pytest.fixture(scope="module")
def played() -> tuple[Played, tuple[Rules, ...]]:
    tables = tables_for("1,3,5", players=4)
    bots = [arena_bots.make("random", seed) for seed in (1, 2)]
    return play(tables, deal_seeds(7, 20, 3), one_against_rest(1, 4), bots), tables


def test_what_is_written_down_obeys_the_rules(played: tuple[Played, tuple[Rules, ...]]) -> None:
    results, tables = played
    assert results.bids.shape == (20, 4, 3, 1, 4)
    for t, rules in enumerate(tables):
        size = rules.hand_sizes[0]
        assert (results.taken[:, :, t].sum(axis=-1) == size).all()
        assert (results.bids[:, :, t].sum(axis=-1) != size).all(), "the hook"
        expected = np.vectorize(exact)(results.bids[:, :, t], results.taken[:, :, t], size)
        assert np.array_equal(results.points[:, :, t], expected)
    totals = results.points.sum(axis=3)
    best = totals == totals.max(axis=-1, keepdims=True)
    np.testing.assert_allclose(results.wins, best / best.sum(axis=-1, keepdims=True))


def test_a_full_match_has_every_hand_of_the_ramp() -> None:
    tables = tables_for("ramp", Rules(players=5, ramp=(2, 1, 2)))
    bots = [arena_bots.make("random", 1), arena_bots.make("lowest", 2)]
    results = play(tables, deal_seeds(3, 4), one_against_rest(1, 5), bots)
    assert results.taken.sum(axis=-1).reshape(-1, 3).tolist() == [[2, 1, 2]] * 20


def test_all_seatings_play_the_same_deals() -> None:
    clones = [arena_bots.make("lowest", 0), arena_bots.make("lowest", 1)]
    results = play(tables_for("ramp", players=7), deal_seeds(5, 3), one_against_rest(1, 7), clones)
    assert (results.taken == results.taken[:, :1]).all()
    assert (results.taken[0] != results.taken[1]).any()


def test_a_deal_does_not_depend_on_how_many_are_played() -> None:
    assert np.array_equal(deal_seeds(9, 5, 2), deal_seeds(9, 50, 2)[:5])
    assert len(set(bot_seeds(9, 20)) | set(deal_seeds(9, 20).ravel().tolist())) == 40


def test_an_illegal_action_is_named() -> None:
    with pytest.raises(ArenaError, match=r"player 'cheat': .* \(bid 17\) is not legal; .*allowed: bid 0"):
        measured("random", "cheat")


# Intervals ############################################################################################################


def test_with_equally_many_hands_the_mean_is_scipys_t_interval() -> None:
    deals = np.random.default_rng(0).normal(3, 2, (50, 4))
    one = mean_of(deals.sum(axis=1), np.full(50, 4))
    means = deals.mean(axis=1)
    low, high = stats.t.interval(0.95, 49, means.mean(), stats.sem(means))
    np.testing.assert_allclose([one.mean, one.low, one.high], [means.mean(), low, high])
    assert one.n == 50


def test_the_difference_is_scipys_paired_t_interval() -> None:
    draw = np.random.default_rng(1)
    luck = draw.normal(0, 5, 40)
    a, b = luck + draw.normal(1, 1, 40), luck + draw.normal(0, 1, 40)
    one = difference_of(3 * a, np.full(40, 3), b, np.full(40, 1))
    paired = stats.ttest_rel(a, b).confidence_interval(0.95)
    np.testing.assert_allclose([one.low, one.high], [paired.low, paired.high])


def test_with_unequally_many_hands_the_interval_is_the_bootstraps() -> None:
    draw = np.random.default_rng(2)
    counts = draw.integers(0, 6, 400)
    sums = draw.binomial(counts, draw.beta(2, 3, 400)).astype(float)
    one = mean_of(sums, counts, proportion=True)
    picks = draw.integers(0, 400, (4000, 400))
    low, high = np.quantile(sums[picks].sum(axis=1) / counts[picks].sum(axis=1), [0.025, 0.975])
    assert one.n == np.count_nonzero(counts)
    assert one.low == pytest.approx(low, abs=0.1 * (high - low))
    assert one.high == pytest.approx(high, abs=0.1 * (high - low))


@pytest.mark.parametrize("agreed", [0, 1])
def test_deals_that_all_agree_do_not_make_a_proportion_certain(agreed: int) -> None:
    one = mean_of(np.full(12, 2.0 * agreed), np.full(12, 2), proportion=True)
    binomial = stats.binomtest(12 * agreed, 12).proportion_ci(0.95)
    np.testing.assert_allclose([one.low, one.high], [binomial.low, binomial.high], atol=1e-12)


def test_one_deal_has_a_mean_and_no_interval_and_none_has_neither() -> None:
    one = mean_of(np.array([6.0, 0]), np.array([2, 0]))
    assert (one.mean, one.n, one.text()) == (3.0, 1, "3.00")
    assert one.to_json() == {"mean": 3.0, "low": None, "high": None, "deals": 1}
    assert mean_of(np.zeros(3), np.zeros(3)).text() == "–"


# Evaluations ##########################################################################################################


def test_a_player_against_itself_is_no_different_in_95_of_100_evaluations() -> None:
    evaluations, deals = 400, 25
    tables, names = tables_for("2", players=3), ["random", "random"]
    bots = [arena_bots.make("random", seed) for seed in bot_seeds(0, 2)]
    everything = play(tables, deal_seeds(0, evaluations * deals), one_against_rest(1, 3), bots)
    missed = 0
    for at in range(0, evaluations * deals, deals):
        report = report_on(Played(*(array[at : at + deals] for array in everything)), tables, names, SETTINGS)
        missed += report.differences[0].points.clear
    low, high = stats.binom.interval(0.999, evaluations, 0.05)
    assert low <= missed <= high


def test_a_known_handicap_is_found_and_changes_its_sign_with_the_players() -> None:
    worse, better = measured("boaster", "random").differences[0], measured("random", "boaster").differences[0]
    assert worse.points.high < 0 < better.points.low
    assert worse.made.high < 0 < better.made.low
    assert worse.wins.high < 0 < better.wins.low


@pytest.mark.parametrize("hands", ["ramp", "4"])
def test_seats_and_deals_do_not_favour_anybody(hands: str) -> None:
    report = measured("lowest", "lowest", hands=hands, deals=12)
    assert report.differences[0].points[:3] == pytest.approx((0, 0, 0), abs=1e-12)
    seats = [line.points.mean for line in report.players[0].by_seat.values()]
    assert max(seats) > min(seats), "the seats themselves are not equal"


def test_one_against_many_is_the_reverse_of_many_against_one() -> None:
    one, many = measured("lowest", "highest"), measured("highest", "lowest", seating="many")
    assert one.differences[0].points.mean == pytest.approx(-many.differences[0].points.mean)
    assert one.differences[0].points.low == pytest.approx(-many.differences[0].points.high)
    assert one.differences[0].points.clear
    for player, same in zip(one.players, reversed(many.players), strict=True):
        assert (player.name, player.points, player.by_bid) == (same.name, same.points, same.by_bid)


def test_a_is_compared_with_each_opponent_and_with_all_of_them() -> None:
    report = measured("lowest", "highest", "lowest", players=4)
    assert [(one.a, one.b) for one in report.differences] == [
        ("lowest", "highest"),
        ("lowest", "lowest #2"),
        ("lowest", "all others"),
    ]
    first, second, both = (one.points.mean for one in report.differences)
    assert both == pytest.approx((first + second) / 2)


def test_hand_sizes_bids_and_seats_add_up_to_all_hands() -> None:
    report = measured("random", "lowest", hands="1,4", deals=30)
    for player in report.players:
        for group in (player.by_hand_size, player.by_bid, player.by_seat):
            lines = group.values()
            assert sum(line.share.mean for line in lines) == pytest.approx(1)
            assert sum(line.share.mean * line.points.mean for line in lines) == pytest.approx(player.points.mean)
            assert sum(line.share.mean * line.made.mean for line in lines) == pytest.approx(player.made.mean)
    assert list(report.players[0].by_hand_size) == [1, 4]
    assert list(report.players[0].by_seat) == [1, 2, 3]
    assert sum(player.wins.mean * player.hands for player in report.players) == pytest.approx(30 * 2 * 3)


def test_the_dealer_is_the_last_seat() -> None:
    points = np.zeros((2, 3, 1, 2, 3))
    points[..., 0, 0] = points[..., 1, 1] = 10  # the first dealer is seat 0, the next seat 1
    ones = np.ones(points.shape, dtype=np.int8)
    hands = np.full(points.shape[:-1], 2)
    results = Played(
        seats=np.broadcast_to(one_against_rest(1, 3), (2, 3, 3)), bids=ones, taken=ones, points=points,
        sizes=hands.astype(np.int8), dealers=np.broadcast_to(np.arange(2, dtype=np.int8), hands.shape),
        deals=np.ones(hands.shape, dtype=np.int16), succeeded=hands > 0, wins=np.zeros((2, 3, 1, 3)),
    )  # fmt: skip
    report = report_on(results, [Rules(players=3, ramp=(2, 2))], ["a", "b"], SETTINGS)
    assert [line.points.mean for line in report.players[0].by_seat.values()] == [0, 0, 10]


def test_the_same_seed_gives_the_same_report_whatever_the_workers() -> None:
    alone, together = (measured("random", "boaster", hands="2,5", workers=workers) for workers in (1, 2))
    assert json.dumps(alone.to_json()) == json.dumps(together.to_json())
    assert alone.to_json() != measured("random", "boaster", hands="2,5", seed=1).to_json()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"vs": ["nobody"]}, "'nobody' is not known; use one of random"),
        ({"vs": []}, "no opponents"),
        ({"players": 11}, "players=11 is not allowed"),
        ({"hands": "3 tricky"}, "'3 tricky' is not understood"),
        ({"hands": "18"}, "no hand of 18; use 'ramp' or sizes from 1 to 17"),
        ({"hands": "3,x"}, "'3,x' is not understood"),
        ({"hands": "3,3"}, "names a size twice"),
        ({"deals": 1}, "deals=1 is not allowed; use 2 or more"),
        ({"seed": -1}, "seed=-1 is not allowed"),
        ({"workers": 0}, "workers=0 is not allowed"),
        ({"rules": "whist"}, "rules 'whist' are not known"),
        ({"seating": "few"}, "seating='few' is not known"),
    ],
)
def test_a_mistake_is_told_before_anything_is_played(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ArenaError, match=told):
        evaluate("random", **{"vs": ["random"], "players": 3, "make": arena_bots.make, **options})


def test_the_terminal_shows_every_table_within_100_columns() -> None:
    text = shown(measured("random", "boaster", "lowest", hands="2,5"), print_report)
    for title in (
        "random against boaster, lowest",
        "3 players, single hands of 2,5 cards, sealed bids, hook, seed 0",
        "Players",
        "Margin of random over",
        "all others",
        "Points per hand by hand size",
        "Bids made % by hand size",
        "Margin of random over, points",
        "Bids made % by bid",
        "Points per hand by bid",
        "How often % each bid",
        "Points per hand by seat from the dealer",
        "Bids made % by seat from the dealer",
    ):
        assert title in text
    assert max(map(len, text.splitlines())) <= 100


def test_the_command_writes_the_report_and_a_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = "random --vs random --players 3 --hands 2 --deals 20 --set hook=no bids=open --out"
    assert evaluate_command.main([*arguments.split(), str(tmp_path)]) == 0
    assert "open bids, no hook" in capsys.readouterr().out
    report = json.loads((tmp_path / "report.json").read_text())
    assert (
        report
        == evaluate(
            "random", ["random"], players=3, hands="2", deals=20, rules=Rules(hook=False, bids="open")
        ).to_json()
    )
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "report.png"]


def test_the_command_tells_a_mistake_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate_command.main(["random", "--vs", "random", "--set", "hook=both"]) == 2
    assert capsys.readouterr().err == "error: hook=both: use yes or no\n"


def test_a_long_run_without_a_terminal_tells_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 50.0, 60.0, 80.0])  # the start, and when each fifth of the deals is done
    monkeypatch.setattr("ohhell_env.options.time", SimpleNamespace(monotonic=lambda: next(clock)))
    with progress("playing", 100, "deals") as meter:
        for _ in range(3):
            meter.advance(20)
    assert capsys.readouterr().err.splitlines() == [
        "playing: 40 of 100 deals, about 30 s left",
    ]
