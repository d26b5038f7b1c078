"""Every other table, shown and played by everything that people and libraries use: nothing is wrong, nothing leaks."""

from __future__ import annotations

import io
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pictures import read_card, read_hands
from rich.console import Console
from tables import EVERY_TABLE

from ohhell_env import Rules, SeatEnv, SeatVectorEnv, ohhell_v0
from ohhell_env.commands import view
from ohhell_env.commands.play import Session, read_action
from ohhell_env.commands.watch import scenes
from ohhell_env.envs.parallel import NoopEnv
from ohhell_env.kernel.state import BID, BLIND, MATCH_OVER, NAME_SUIT, NAME_TRUMP, NONE, PASS_OR_NIL, PLAY, WIDE_FORM
from ohhell_env.records.match import Match, Seating
from ohhell_env.records.notation import load_record, write_record
from ohhell_env.render.scene import Scene, scene_of
from ohhell_env.render.table import FELT, Spot, TablePainter
from ohhell_env.table.actions import short_text
from ohhell_env.table.events import HandDealt
from ohhell_env.table.game import Game
from ohhell_env.table.text import table_text

WIDE = {name: rules for name, rules in EVERY_TABLE.items() if not rules.standard}


def moves(rules: Rules, seed: int = 3) -> Iterator[Match]:
    """A match of random actions, before each of them and at its end."""
    match, choice = Match(rules, seed), random.Random(seed)
    while match.game.phase != MATCH_OVER:
        yield match
        match.step(choice.choice(match.game.legal_actions))
    yield match


def at_table(match: Match, folder: Path, ask: Callable[[str], str] = str, person: int = 0) -> Session:
    players = ["heuristic"] * match.rules.players
    players[person] = "you"
    seating = Seating(tuple(players), person, 0)
    return Session(match, seating, folder / "match.jsonl", Console(file=io.StringIO(), width=120), ask)


def screen(session: Session) -> str:
    session._print_table()
    session._tricks()
    file = session.console.file
    assert isinstance(file, io.StringIO)
    text = file.getvalue()
    file.seek(0)
    file.truncate()
    return text


# --- The terminal ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY_TABLE)
def test_a_person_plays_any_table_to_the_end_by_the_words_it_takes(name: str, tmp_path: Path) -> None:
    match, choice = Match(EVERY_TABLE[name], seed=5), random.Random(1)
    asked = 0

    def ask(question: str) -> str:
        nonlocal asked
        if question != "> ":
            return ""
        asked += 1
        if asked % 7 == 0:
            return choice.choice(["t", "?", "r", "nonsense"])
        game = match.game
        text = game.action_text(choice.choice(game.legal_actions))
        return choice.choice([text, short_text(text), text.upper()])

    session = at_table(match, tmp_path, ask)
    session.run()
    record = load_record(tmp_path / "match.jsonl")
    assert record.phase == MATCH_OVER and record.scores == match.game.scores
    text = screen_of(session)
    assert text.count("is over") >= match.rules.num_hands
    assert text.rstrip().endswith(".") and ("win" in text.splitlines()[-1] or "lost by all" in text.splitlines()[-1])


def screen_of(session: Session) -> str:
    assert isinstance(session.console.file, io.StringIO)
    return session.console.file.getvalue()


@pytest.mark.parametrize("name", WIDE)
def test_whatever_may_be_typed_means_the_action_it_says(name: str) -> None:
    for number, match in enumerate(moves(WIDE[name])):
        game = match.game
        if number % 5 and game.phase == PLAY:
            continue
        words = game.actions_by_text
        assert set(words.values()) == set(game.legal_actions)
        for action in game.legal_actions:
            text = game.action_text(action)
            assert read_action(text, game) == read_action(short_text(text).upper(), game) == action
        for word, action in words.items():
            assert read_action(word, game) == action


def test_a_joker_a_suit_a_position_and_what_is_said_are_typed_in_many_ways() -> None:
    seen: dict[str, Game] = {}
    for name in ("jokers led", "nomination_whist", "penguin_whist", "pass or nil", "blind bids"):
        for match in moves(WIDE[name]):
            for action in match.game.legal_actions:
                seen.setdefault(match.game.action_text(action), match.game.copy())
    for text, typed in {
        "play *": ["*", "★", "joker", "play *"],
        "name hearts": ["hearts", "name hearts", "hea"],
        "play card 2 of the hand": ["2", "card 2", "play card 2 of the hand"],
        "nil": ["nil", "0", "bid 0", "n"],
        "pass": ["pass", "p"],
        "blind 2": ["blind 2", "2", "bid 2"],
    }.items():
        game = seen[text]
        assert {game.action_text(read_action(one, game)) for one in typed} == {text}


@pytest.mark.parametrize("name", WIDE)
def test_the_search_gives_hints_in_the_words_of_the_table(name: str, tmp_path: Path) -> None:
    session = at_table(Match(WIDE[name], seed=1), tmp_path)
    game = session.match.game
    session._hint()
    screen = screen_of(session)
    for action in game.legal_actions[:3]:
        assert game.action_text(action).split()[-1] in screen


def test_a_match_broken_off_in_a_hand_that_is_dealt_again_goes_on_there(tmp_path: Path) -> None:
    match = next(one for one in moves(WIDE["cooperative"]) if one.game.deals > 1 and one.game.trick)
    (tmp_path / "match.jsonl").write_text(write_record(match.game))
    assert Match.load(tmp_path / "match.jsonl").games.tobytes() == match.games.tobytes()
    dealt = [event for event in match.game.events() if isinstance(event, HandDealt)]
    assert [event.hand_number for event in dealt][-2:] == [match.game.hand_number] * 2


# --- Secrets -----------------------------------------------------------------------------------------------------


def sees(game: Game, viewer: int, seat: int) -> bool:
    """Whether a seat may see a hand, as the rules of the table have it in words."""
    before_play = game.phase not in (PLAY, NAME_SUIT)
    if game.phase == BLIND or ("blind" in game.special and before_play):
        return False
    if game.rules.own_cards == "hidden":
        return seat != viewer
    if game.rules.own_cards == "forehead" and game.hand_size == 1:
        return seat != viewer or not (before_play or not (game.trick or game.tricks))
    return seat == viewer or game.rules.hands_shown


def is_sealed(game: Game, viewer: int, seat: int) -> bool:
    """Whether a bid that a seat has made may not be known to a viewer."""
    bidding = game.phase in (BID, BLIND, PASS_OR_NIL) or (game.phase == NAME_TRUMP and game.rules.trump != "named")
    return game.rules.bids != "open" and bidding and seat != viewer and game.pledges[seat] != "nil"


def with_other_secrets(match: Match, viewer: int, rng: np.random.Generator) -> Match | None:
    """The same table as a seat sees it, with other hidden cards and sealed bids; None where nothing is hidden."""
    other = Match(match.rules, 1)
    other.games[:] = match.games
    other._past = match._past
    game, record = match.game, other.games[0]
    players, wide = game.players, game.form is WIDE_FORM
    order = record["deck"]
    stock = len(game.deal_order[0]) + (game.turned is not None)
    hidden = list(range(stock, len(match.rules.deck)))
    for seat in range(players):
        if not sees(game, viewer, seat):
            hidden += [slot * players + (seat - game.dealer - 1) % players for slot, _ in game.slots(seat)]
    hidden = [place for place in hidden if order[place] != (NONE if game.shown is None else game.shown)]
    order[hidden] = order[rng.permutation(hidden)]
    for seat in range(players):
        places = [slot * players + (seat - game.dealer - 1) % players for slot, _ in game.slots(seat)]
        count = Counter(int(order[place]) for place in places)
        record["hands"][seat] = sum(1 << card for card in count)
        if wide:
            record["held_twice"][seat] = sum(1 << card for card, copies in count.items() if copies == 2)
    if game.phase == PLAY and wide and not sees(game, viewer, viewer) and record["first_action"] == 0:
        record["legal"] = record["hands"][game.player or 0]
    for seat in range(players):
        for field in ("bids", "first_bids"):
            # The bids of a round before this one are known; blind bids are not yet.
            made = (field == "bids" or game.pledges[seat] == "blind") and field in (record.dtype.names or ())
            if made and record[field][seat] != NONE and is_sealed(game, viewer, seat):
                record[field][seat] = (record[field][seat] + 1) % (game.hand_size + 1)
    return None if other.games == match.games else other


@pytest.mark.parametrize("name", EVERY_TABLE)
def test_what_a_seat_is_shown_does_not_change_with_what_is_hidden_from_it(name: str, tmp_path: Path) -> None:
    rng, compared = np.random.default_rng(1), 0
    for number, match in enumerate(moves(EVERY_TABLE[name])):
        if match.game.player is None or (number % 7 and match.game.tricks):
            continue
        for viewer in {0, match.game.player}:
            other = with_other_secrets(match, viewer, rng)
            if other is None:
                continue
            compared += 1
            assert scene_of(other.game, viewer) == scene_of(match.game, viewer)
            assert table_text(other.game, viewer) == table_text(match.game, viewer)
            assert list(other.game._hand_events(viewer)) == list(match.game._hand_events(viewer))
            if viewer == match.game.player:  # the person's screen, with what is open to them
                screens = [screen(at_table(one, tmp_path, person=viewer)) for one in (match, other)]
                assert screens[0] == screens[1]
    assert compared > 2 or name in ("hands shown", "jokers cut")


# --- Pictures ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY_TABLE)
def test_a_picture_of_every_kind_of_decision_has_the_right_cards_at_the_right_seats(name: str) -> None:
    painter, drawn = TablePainter(), set()
    for match in moves(EVERY_TABLE[name]):
        game = match.game
        kind = (game.phase, bool(game.trick), game.special, game.shown is None, game.worth > 1)
        if kind in drawn:
            continue
        drawn.add(kind)
        for viewer in (None, game.player):
            scene = scene_of(game, viewer)
            frame = painter.frame(scene)
            if any(seat.positions for seat in scene.seats):
                continue  # numbers stand on the backs
            for seat, cards in read_hands(painter, frame, scene).items():
                held = [game.rules.deck.card_set.names[card] for card in game.hands[seat]]
                shown = game.sees_cards(viewer, seat)
                assert Counter(cards) == (Counter(held) if shown else Counter({None: len(held)}) if held else Counter())
            for seat, card in game.trick:
                assert read_card(frame, painter.trick_box(scene, seat)) == game.rules.deck.card_set.names[card]
            made = game.turned if game.turned is not None else game.shown
            if made is not None:
                assert read_card(frame, (FELT + 24, 98, 72)) == game.rules.deck.card_set.names[made]


@pytest.mark.parametrize("name", EVERY_TABLE)
def test_bots_are_watched_at_any_table_action_by_action(name: str) -> None:
    match = Match(EVERY_TABLE[name], seed=2)
    shown = list(scenes(match, (["heuristic", "random"] * 5)[: match.rules.players], viewer=0))
    hands = match.game.hands_so_far
    actions = sum(1 for hand in hands for _ in hand._replay())
    assert len(shown) == 1 + actions + len(hands) - 1
    assert [scene.phase for scene in shown].count("hand over") == len(hands) - 1
    assert shown[-1].status() == shown[-1].result()


def test_a_hand_that_its_player_does_not_see_lies_face_down_with_numbers() -> None:
    match = next(one for one in moves(EVERY_TABLE["penguin_whist"]) if one.game.tricks and one.game.player == 1)
    scene, painter = scene_of(match.game, 1), TablePainter()
    held = [slot + 1 for slot, _ in match.game.slots(1)]
    assert scene.seats[1].positions == tuple(held) and scene.seats[1].cards == (None,) * len(held)
    assert not any(None in seat.cards or seat.positions for k, seat in enumerate(scene.seats) if k != 1)
    hand = dict(painter.places(scene))[1]
    numbers = [read_numbers(painter, positions, scene, hand) for positions in (scene.seats[1].positions, ())]
    assert len(set(numbers[0])) == len(held) and set(numbers[1]) == {numbers[1][0]}


def read_numbers(painter: TablePainter, positions: tuple[int, ...], scene: Scene, spot: Spot) -> list[bytes]:
    """The pixels where the numbers of a hand's cards stand."""
    seats = tuple(replace(one, positions=positions) if one.positions else one for one in scene.seats)
    frame = painter.frame(replace(scene, seats=seats))
    places = painter.hand_box(scene.seats[1], spot)
    return [frame[round(y) + 10 : round(y) + 28, round(x) + 8 : round(x) + 26].tobytes() for x, y, _ in places]


# --- The page ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["penguin_whist", "oh_sh"])
def test_the_search_gives_its_opinion_of_every_table(name: str, tmp_path: Path) -> None:
    *_, match = moves(EVERY_TABLE[name])
    (tmp_path / "match.jsonl").write_text(write_record(match.game))
    assert view.main([str(tmp_path / "match.jsonl"), "--search", "10"]) == 0


# --- Libraries ---------------------------------------------------------------------------------------------------


def chosen(mask: np.ndarray, number: int) -> int:
    legal = np.flatnonzero(mask)
    return int(legal[(number * 7 + 3) % len(legal)])


@pytest.mark.parametrize("reward", ["points", "zero_sum", "win"])
@pytest.mark.parametrize("name", WIDE)
def test_an_episode_of_a_seat_returns_its_score(name: str, reward: str) -> None:
    env = SeatEnv(WIDE[name], opponents="random", seat=1, reward=reward)
    assert len(env.get_action_meanings()) == env.action_space.n
    observation, info = env.reset(seed=4)
    total, number, over = 0.0, 0, False
    while not over:
        assert observation.shape == env.observation_space.shape
        assert tuple(np.flatnonzero(info["action_mask"])) == env.game.legal_actions
        observation, got, over, _, info = env.step(chosen(info["action_mask"], number))
        total, number = total + got, number + 1
    scores, shares = env.game.scores, env.game.win_shares
    due = {"points": scores[1], "zero_sum": scores[1] - sum(scores) / len(scores), "win": shares[1]}
    assert total == pytest.approx(due[reward])
    assert (info["score"], info["win_share"]) == (scores[1], shares[1])


@pytest.mark.parametrize("name", WIDE)
def test_many_seats_at_once_play_the_same_matches(name: str) -> None:
    many, one = SeatVectorEnv(2, WIDE[name], opponents="heuristic", seat=1), SeatEnv(WIDE[name], seat=1)
    seen, infos = many.reset(seed=4)
    observation, info = one.reset(seed=4)
    over, number = False, 0
    while not over:
        np.testing.assert_array_equal(seen[0], observation)
        np.testing.assert_array_equal(infos["action_mask"][0], info["action_mask"])
        actions = np.array([chosen(mask, number) for mask in infos["action_mask"]])
        seen, rewards, ends, _, infos = many.step(actions)
        observation, reward, over, _, info = one.step(int(actions[0]))
        assert (rewards[0], ends[0]) == (reward, over)
        number += 1
    assert infos["final_info"]["score"][0] == info["score"] and infos["final_info"]["win_share"][0] == info["win_share"]


LOWEST = {"3 players": Rules(players=3, ramp=(2, 1), lowest_wins=True)}


@pytest.mark.parametrize("name", [*EVERY_TABLE, *LOWEST])
def test_the_share_of_the_win_is_the_same_in_every_form(name: str) -> None:
    rules, matches = (EVERY_TABLE | LOWEST)[name], 6
    options: dict[str, Any] = {"opponents": "random", "seat": "rotate"}
    many, one = SeatVectorEnv(matches, rules, **options), SeatEnv(rules, **options)
    _, infos = many.reset(seed=30)
    shares, number = np.full(matches, np.nan), 0
    while np.isnan(shares).any():
        _, _, over, _, infos = many.step(np.array([chosen(mask, number) for mask in infos["action_mask"]]))
        first = over & np.isnan(shares)
        shares[first] = infos["final_info"]["win_share"][first] if first.any() else 0
        number += 1
    for i, share in enumerate(shares):
        _, info = one.reset(seed=30 + i)
        number, over = 0, False
        while not over:
            _, _, over, _, info = one.step(chosen(info["action_mask"], number))
            number += 1
        assert share == info["win_share"] == one.game.win_shares[one.seat]


@pytest.mark.parametrize("name", WIDE)
def test_the_simultaneous_form_pays_everybody_their_score(name: str) -> None:
    env = NoopEnv(WIDE[name])
    observations, _ = env.reset(seed=4)
    paid, number = dict.fromkeys(env.possible_agents, 0.0), 0
    assert len(env.get_action_meanings()) == env.noop + 1
    while env.agents:
        actions = {agent: chosen(seen["action_mask"], number) for agent, seen in observations.items()}
        observations, rewards, _, _, _ = env.step(actions)
        paid = {agent: paid[agent] + rewards[agent] for agent in paid}
        number += 1
    assert tuple(paid.values()) == pytest.approx(env.game.scores)


def test_the_pictures_of_an_environment_are_those_of_its_viewer() -> None:
    env: Any = ohhell_v0.env(EVERY_TABLE["penguin_whist"], render_mode="rgb_array")
    env.reset(seed=1)
    env.viewer = 1
    np.testing.assert_array_equal(env.render(), TablePainter().frame(scene_of(env.game, 1)))
