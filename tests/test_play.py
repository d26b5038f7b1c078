"""A person at the table: what is typed is understood, nothing is lost, the screen shows only what the seat may know."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import pytest
from rich.console import Console

from ohhell_env import Rules
from ohhell_env.bots.search import SearchBot
from ohhell_env.commands.play import Session, Stopped, default_record, main
from ohhell_env.commands.typed import read_action
from ohhell_env.kernel.rulebook import FIRST_BID
from ohhell_env.kernel.state import MATCH_OVER, PLAY
from ohhell_env.records.advice import policy_chances, within_scoring
from ohhell_env.records.match import Match, Seating, display_names, load_seating, save_match, seating_path
from ohhell_env.records.notation import load_record, write_record
from ohhell_env.rules.cards import parse_card
from ohhell_env.rules.description import describe
from ohhell_env.rules.presets import PRESETS, preset
from ohhell_env.table.actions import action_text
from ohhell_env.table.game import Game
from ohhell_env.table.refusal import refusal

ROOT = Path(__file__).resolve().parent.parent
SHORT = Rules(players=3, ramp=(3, 1, 2))


def at_table(record: Path, ask: Callable[[str], str], match: Match | None = None, person: int = 0) -> Session:
    """A person among heuristic players, on a screen that is a text."""
    match = match or Match(SHORT, seed=4)
    players = ["heuristic"] * match.rules.players
    players[person] = "you"
    console = Console(file=io.StringIO(), width=100)
    return Session(match, Seating(tuple(players), person, 0), record, console, ask)


def printed(session: Session) -> str:
    file = session.console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def first_choice(match: Match) -> Callable[[str], str]:
    """Answers every question with the first action that is open."""
    return lambda question: action_text(match.game.legal_actions[0]) if question.startswith("> ") else ""


# --- What is typed -----------------------------------------------------------------------------------------------


def to_play(*cards: str) -> Game:
    """A table at which player_1 may play any of these cards."""
    match = Match(Rules(ramp=(len(cards),)), seed=1)
    while match.game.phase != PLAY:
        match.step(match.game.legal_actions[0])
    held = sum(1 << parse_card(card) for card in cards)
    match.games[0]["hands"][1], match.games[0]["legal"] = held, held
    return match.game


def to_bid(*bids: int) -> Game:
    """A table at which player_1 may make any of these bids."""
    match = Match(Rules(ramp=(12,)), seed=1)
    match.games[0]["legal"] = sum(1 << bid for bid in bids)
    return match.game


@pytest.mark.parametrize(
    ("typed", "card"),
    [("TD", "TD"), ("10d", "TD"), ("10♦", "TD"), (" play td ", "TD"), ("as", "AS"), ("a", "AS"), ("10", "TD")],
)
def test_a_card_is_played_by_any_of_its_names(typed: str, card: str) -> None:
    assert action_text(read_action(typed, to_play("TD", "AS", "2C"))) == f"play {card}"


def test_a_bid_is_made_by_its_number() -> None:
    game = to_bid(0, 1, 3, 10, 11)
    assert [read_action(typed, game) - FIRST_BID for typed in ("0", "3", "bid 3", "1", "10")] == [0, 3, 3, 1, 10]


@pytest.mark.parametrize("typed", ["2", "KS", "", "bid", "play", "-1", "1e9", "♦", "xyzzy"])
def test_what_is_not_open_is_refused_with_what_is(typed: str) -> None:
    with pytest.raises(ValueError, match="choose from: 0, 1, 3"):
        read_action(typed, to_bid(0, 1, 3))


@pytest.mark.parametrize(
    ("typed", "question"),
    [
        ("t", "which 10? 10♣, 10♦"),
        ("10", "which 10? 10♣, 10♦"),
        ("c", "which club? 3♣, 10♣"),
        ("clubs", "which club? 3♣, 10♣"),
        ("♣", "which club? 3♣, 10♣"),
    ],
)
def test_a_beginning_that_fits_two_cards_is_asked_about(typed: str, question: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(question)}$"):
        read_action(typed, to_play("TC", "TD", "3C"))


def test_a_suit_is_enough_where_one_card_of_it_may_be_played() -> None:
    assert action_text(read_action("diamond", to_play("TC", "TD"))) == "play TD"


def test_a_refusal_names_the_rule_that_makes_it_illegal() -> None:
    match = Match(Rules(ramp=(5,), deals=[HOOKED]), seed=1)
    for bid in (1, 1, 1):
        match.step(FIRST_BID + bid)
    with pytest.raises(ValueError, match=r"^the bids may not add up to 5 \(the hook\); choose from: 0, 1, 3, 4, 5$"):
        read_action("2", match.game)
    with pytest.raises(ValueError, match=r"^a bid is from 0 to 5; choose"):
        read_action("6", match.game)
    match.step(FIRST_BID)
    match.step(parse_card("AC"))
    with pytest.raises(ValueError, match=r"^you must follow clubs; choose from: 2♣, K♣$"):
        read_action("9h", match.game)
    with pytest.raises(ValueError, match=r"^you do not hold it; choose from: 2♣, K♣$"):
        read_action("as", match.game)


HOOKED = (
    "AC 2C TC 3C  2D KC JC 4C  3D 8H QC 5C  4D 9H 2H 6C  5D TH 3H 7C  AS "
    "8C 9C 6D 7D 8D 9D TD JD QD KD AD 4H 5H 6H 7H JH QH KH AH 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS"
)


@pytest.mark.parametrize(
    ("rules", "actions", "typed", "why"),
    [
        ({"cooperative": True, "hook": False, "bids": "open"}, ["bid 2"], "bid 4", "the bids must add up to 5"),
        ({"lead_trump": "not first"}, ["bid 0"] * 4, "JC", "trump may not be led yet"),
        ({"lead_trump": "broken"}, ["bid 0"] * 4, "JC", "trump may not be led before a trump has been played"),
        ({"own_cards": "hidden"}, ["bid 0"] * 4, "JC", "that card may not be played now"),
    ],
)
def test_a_refusal_names_the_rule_at_other_tables_too(
    rules: dict[str, Any], actions: list[str], typed: str, why: str
) -> None:
    table = Rules(ramp=(5,), trump="clubs", **rules)
    match = Match(table, seed=next(seed for seed in count() if opens_with(Match(table, seed=seed), typed)))
    for text in actions:
        match.step(match.game.actions_by_text[text])
    with pytest.raises(ValueError, match=f"^{why}; choose from: "):
        read_action(typed, match.game)


def opens_with(match: Match, typed: str) -> bool:
    """Whether the first to act holds the jack of clubs and some other suit."""
    held = match.game.hands[1]
    return typed != "JC" or (parse_card("JC") in held and max(held) > parse_card("AC"))


@pytest.mark.parametrize("name", PRESETS)
def test_every_action_of_a_match_is_legal_or_refused_with_a_reason(name: str) -> None:
    match, rng = Match(preset(name), seed=5), np.random.default_rng(5)
    for _ in range(120):
        if match.game.player is None:
            break
        legal = match.game.legal_actions
        for action in (*legal, *rng.integers(0, match.game.form.num_actions, 10).tolist(), -1, 10**6):
            assert (refusal(match.game, action) is None) == (action in legal)
        match.step(int(rng.choice(legal)))


def test_a_wrong_answer_changes_nothing_and_is_asked_again(tmp_path: Path) -> None:
    answers = iter(["99", "nonsense", "q"])
    session = at_table(tmp_path / "match.jsonl", lambda question: next(answers))
    with pytest.raises(Stopped):
        session.run()
    before = write_record(session.match.game)
    assert "a bid is from 0 to 3; choose from: 1, 2, 3" in printed(session)
    assert "'nonsense' is not one of the choices; choose from: 1, 2, 3" in printed(session)
    assert load_record(tmp_path / "match.jsonl").bids[0] is None
    assert write_record(load_record(tmp_path / "match.jsonl")) == before


# --- Nothing is lost ---------------------------------------------------------------------------------------------


def test_a_whole_match_is_played_and_on_record(tmp_path: Path) -> None:
    match = Match(SHORT, seed=4)
    session = at_table(tmp_path / "match.jsonl", first_choice(match), match)
    session.run()
    record = load_record(tmp_path / "match.jsonl")
    assert record.phase == MATCH_OVER
    assert record.scores == match.game.scores
    screen = printed(session)
    assert all(f"Hand {number} of 3 is over" in screen for number in (1, 2, 3))
    assert " with " in screen.splitlines()[-1]


@pytest.mark.parametrize("person", [0, 2])
def test_a_match_broken_off_anywhere_goes_on_as_if_it_had_not_been(tmp_path: Path, person: int) -> None:
    match = Match(SHORT, seed=4)
    at_table(tmp_path / "whole.jsonl", first_choice(match), match, person).run()
    whole = (tmp_path / "whole.jsonl").read_text()

    def interrupted_after(match: Match, answers: int) -> Callable[[str], str]:
        number = count()

        def ask(question: str) -> str:
            if next(number) == answers:
                raise KeyboardInterrupt
            return first_choice(match)(question)

        return ask

    for answers in (0, 1, 3, 4, 8):
        record = tmp_path / f"after{answers}.jsonl"
        first = Match(SHORT, seed=4)
        with pytest.raises(KeyboardInterrupt):
            at_table(record, interrupted_after(first, answers), first, person).run()
        second = Match.load(record)
        assert write_record(second.game) == write_record(first.game)
        at_table(record, first_choice(second), second, person).run()
        assert record.read_text() == whole


def test_records_stand_in_the_users_data_folder_unless_another_place_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(platformdirs, "user_data_path", lambda name, appauthor: tmp_path / name)
    assert main(["--players", "3"], ask=lambda question: "q") == 0
    (record,) = (tmp_path / "ohhell-env" / "matches").glob("*.jsonl")
    assert str(record) in capsys.readouterr().out
    assert load_record(record).rules.players == 3
    assert not list((tmp_path / "here").iterdir())
    first = default_record()
    first.touch()
    assert default_record() != first


def test_where_one_action_is_legal_enter_takes_it(tmp_path: Path) -> None:
    match = Match(Rules(players=3, ramp=(1,)), seed=4)
    questions: list[str] = []

    def ask(question: str) -> str:
        questions.append(question)
        return "" if question.startswith("Enter: ") else first_choice(match)(question)

    session = at_table(tmp_path / "match.jsonl", ask, match)
    session.run()
    assert [one for one in questions if one.startswith("Enter: play ")]
    assert match.game.phase == MATCH_OVER


def test_the_score_sheet_lists_the_finished_hands(tmp_path: Path) -> None:
    match = Match(SHORT, seed=4)
    session = at_table(tmp_path / "match.jsonl", first_choice(match), match)
    session._sheet()
    assert "No hand is finished yet." in printed(session)
    session.run()
    session._sheet()
    rows = [line.split() for line in printed(session).splitlines() if "/" in line][-3:]
    for hand, row in zip(match.game.past_hands, rows, strict=True):
        pairs = [f"{hand.bids[seat]}/{hand.taken[seat]}" for seat in (1, 2, 0)]
        assert [*pairs, str(hand.hand_number)] == [*row[3::2], row[0]]
        assert row[4::2] == [f"{hand.scores[seat]:g}" for seat in (1, 2, 0)]


def test_the_command_breaks_off_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = str(tmp_path / "match.jsonl")

    def interrupt(question: str) -> str:
        raise KeyboardInterrupt

    new = ["--players", "5", "--opponents", "heuristic", "random", "heuristic", "random", "--seat", "1"]
    assert main([*new, "--seed", "1", "--record", record], ask=interrupt) == 130
    assert f"go on: ohhell play --resume {record}" in capsys.readouterr().out.replace("\n", " ")
    assert load_seating(Path(record), 5).players == ("heuristic", "you", "random", "heuristic", "random")
    assert main(["--resume", record], ask=lambda question: "q") == 0
    assert "heuristic 2" in capsys.readouterr().out
    assert main([*new, "--record", record], ask=interrupt) == 2
    assert f"continue it with --resume {record}" in capsys.readouterr().err.replace("\n", " ")


def test_what_is_typed_may_come_from_a_pipe(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ohhell_env.commands.play", "--seed", "1", "--record", "piped.jsonl"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, input="0\n", capture_output=True, text=True, encoding="utf-8"
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert load_record(tmp_path / "piped.jsonl").bids[0] == 0
    assert "resume piped.jsonl" in run.stdout


@pytest.mark.parametrize("damage", ["", "{}", '{"players": ["a"], "person": 0, "seed": 0}', "[1]"])
def test_a_match_without_its_players_is_not_taken_up(
    tmp_path: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "match.jsonl"
    save_match(Match(SHORT, seed=1), Seating(("you", "random", "random"), 0, 0), record)
    seating_path(record).write_text(damage)
    assert main(["--resume", str(record)]) == 2
    assert "does not say who plays the match of match.jsonl" in capsys.readouterr().err.replace("\n", " ")
    seating_path(record).unlink()
    assert main(["--resume", str(record)]) == 2
    assert "is missing" in capsys.readouterr().err


# --- What the screen shows ---------------------------------------------------------------------------------------


def shown(session: Session) -> str:
    session._print_table()
    session._hint()
    return printed(session)


def test_the_screen_and_the_hint_do_not_change_with_what_is_hidden(tmp_path: Path) -> None:
    texts = []
    for swapped in (False, True):
        match = Match(Rules(players=4, ramp=(6, 5)), seed=8)
        while match.game.player != 0:
            match.step(match.game.legal_actions[-1])
        if swapped:
            record = match.games[0]
            record["hands"][[1, 3]] = record["hands"][[3, 1]]
            record["bids"][1], record["bids"][2] = record["bids"][2] - 1, record["bids"][1] + 1  # the same sum
        texts.append(shown(at_table(tmp_path / "match.jsonl", str, match)))
    assert texts[0] == texts[1]
    assert "sealed" in texts[0]


def test_bots_sealed_bids_are_told_without_their_number(tmp_path: Path) -> None:
    match = Match(SHORT, seed=4)
    session = at_table(tmp_path / "match.jsonl", first_choice(match), match)
    session.run()
    lines = [line for line in printed(session).splitlines() if " bids " in line and "heuristic" in line]
    assert lines
    assert all(line.endswith("(sealed)") for line in lines)


def test_the_screen_shows_the_hand_sorted_and_who_needs_what(tmp_path: Path) -> None:
    match = Match(Rules(players=4, ramp=(6, 5)), seed=8)
    while match.game.phase == 0 or match.game.player != 0 or len(match.game.tricks) < 2:
        match.step(match.game.legal_actions[-1])
    screen = shown(at_table(tmp_path / "match.jsonl", str, match))
    game = match.game
    for seat, name in enumerate(["you", "heuristic 1", "heuristic 2", "heuristic 3"]):
        row = next(line for line in screen.splitlines() if f" {name} " in line)
        need = game.bids[seat] - game.taken[seat]
        figures = row.partition(name)[2].split()
        assert figures[:2] == [str(game.bids[seat]), str(game.taken[seat])]
        assert " ".join(figures[2:]).startswith(f"over by {-need} " if need < 0 else f"{need} ")
    hand = next(line for line in screen.splitlines() if line.startswith("Your hand"))
    assert len(hand.split()) - 2 == len(game.hands[0])
    assert "Last trick" in screen


def test_players_have_short_names_that_differ() -> None:
    names = display_names(["you", "checkpoints/mix512", "search:50", "checkpoints/mix512", "runs/mine/"], person=0)
    assert names == ["you", "mix512 1", "search:50", "mix512 2", "mine"]


@pytest.mark.parametrize("name", PRESETS)
def test_the_rules_of_every_preset_are_told(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--rules", name, "--describe"]) == 0
    assert capsys.readouterr().out == describe(preset(name)) + "\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rules", "whist"], "rules 'whist' are not known"),
        (["--seat", "4"], "--seat 4 is not a seat; seats are 0..3"),
        (["--opponents", "random", "random"], "--opponents names 2 players; name one for all seats, or 3"),
        (["--opponents", "nobody"], "player 'nobody' is not known"),
        (["--resume", "none.jsonl"], "none.jsonl"),
    ],
)
def test_a_bad_option_is_refused_by_name_and_nothing_is_written(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")
    assert not list(tmp_path.iterdir())


# --- Hints -------------------------------------------------------------------------------------------------------


def positions() -> Iterator[Match]:
    match = Match(Rules(players=4, ramp=(5,)), seed=2)
    while match.game.phase != MATCH_OVER:
        yield match
        match.step(match.game.legal_actions[-1])


def test_the_search_takes_the_action_that_it_thinks_worth_most() -> None:
    bot = SearchBot(seed=3, rollouts=100)
    for match in positions():
        (worth,) = bot.estimates(match)
        assert tuple(np.flatnonzero(~np.isnan(worth))) == match.game.legal_actions
        assert worth[bot.act(match)[0]] == np.nanmax(worth)


def test_a_policys_hint_is_a_distribution_over_what_is_open() -> None:
    match = next(positions())
    chances = policy_chances("mix512", match)
    assert tuple(chances) == match.game.legal_actions
    assert sum(chances.values()) == pytest.approx(1)


def test_a_policys_hint_is_its_own_policy_and_a_value_networks_is_soft_by_half_a_point() -> None:
    from ohhell_env.bots.policy.bot import load_policy

    match = next(positions())
    policy = load_policy("mix512", temperature=1 / 15)
    views, tables, _ = policy.views(match)
    own = policy.probabilities(views, tables)[0]
    assert policy_chances("mix512", match) == {action: own[action] for action in match.game.legal_actions}
    policy.outputs = "values"
    assert policy.own_temperature == 0.05


def test_a_hint_names_the_adviser_and_every_choice(tmp_path: Path) -> None:
    answers = iter(["h", "t", "r", "?", "q"])
    session = at_table(tmp_path / "match.jsonl", lambda question: next(answers))
    session.adviser = "checkpoints/mix512"
    with pytest.raises(Stopped):
        session.run()
    screen = printed(session)
    assert "mix512 would" in screen
    assert all(f"bid {bid} " in screen for bid in (1, 2, 3))
    assert "No trick is finished yet" in screen
    assert "Follow suit" in screen


def test_a_hint_never_promises_what_the_scoring_cannot_give() -> None:
    match = Match(Rules(players=3, ramp=(3,)), seed=4)
    bids = match.game.legal_actions
    assert [within_scoring(match.game, bid, -0.2) for bid in bids] == [0.0] * len(bids)
    assert [within_scoring(match.game, bid, 99.0) for bid in bids] == [10.0 + bid - FIRST_BID for bid in bids]
    assert within_scoring(match.game, bids[0], 4.25) == 4.25
    while match.game.phase != PLAY:
        match.step(match.game.legal_actions[-1])
    seat = match.game.player or 0
    assert within_scoring(match.game, match.game.legal_actions[0], 99.0) == 10.0 + match.game.bids[seat]


def test_an_adviser_that_cannot_advise_says_why(tmp_path: Path) -> None:
    answers = iter(["h", "q"])
    session = at_table(tmp_path / "match.jsonl", lambda question: next(answers))
    session.adviser = "checkpoints/nobody"
    with pytest.raises(Stopped):
        session.run()
    assert "gives no hint: there is no checkpoint 'checkpoints/nobody'" in printed(session).replace("\n", " ")


def test_a_view_of_a_match_is_a_game() -> None:
    assert isinstance(Match(SHORT, seed=1).game, Game)
    with pytest.raises(ValueError, match="allowed: bid 0"):
        Match(SHORT, seed=1).step(0)


# --- The docs ----------------------------------------------------------------------------------------------------


def shown_screen(tmp_path: Path) -> str:
    """The screen in docs/playing.md: the first trick of a match of 7 hands, with a hint."""
    answers = iter(["3", "h", "q"])
    match = Match(Rules(ramp=(7, 6, 5, 4, 3, 2, 1)), seed=8)
    session = at_table(tmp_path / "match.jsonl", lambda question: next(answers), match)
    with pytest.raises(Stopped):
        session.run()
    lines = [line.rstrip() for line in printed(session).splitlines()]
    return "\n".join(lines[lines.index("  you bid 3") :]).strip("\n")


def test_the_screen_in_the_docs_is_a_real_one(tmp_path: Path) -> None:
    assert shown_screen(tmp_path) in (ROOT / "docs" / "playing.md").read_text(encoding="utf-8")
