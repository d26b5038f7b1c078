"""What a seat sees: nothing hidden, nothing forgotten, and readable back."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import PLAYERS, random_steps, variety

from ohhell_env.kernel.rulebook import NUM_ACTIONS
from ohhell_env.kernel.state import BID, GAME
from ohhell_env.observation.decode import decode, layout_table, observation_text
from ohhell_env.observation.standard import (
    LAYOUT,
    LAYOUT_HASH,
    OBSERVATION_SIZE,
    SECTIONS,
    blind,
    encode,
    observation_layout,
)
from ohhell_env.rules.cards import cards_of, mask_of
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
from ohhell_env.table.text import table_text


def positions(players: int, games: int = 10, steps: int = 150) -> Simulator:
    """Games of all kinds of tables at all stages."""
    simulator = Simulator(variety(players), num_games=games, seed=players)
    for i in range(games):
        part = Simulator(simulator.rules, num_games=games, seed=players)
        part.play_random((i + 1) * steps // games)
        simulator.games[i] = part.games[i]
    return simulator


def test_the_sections_tile_the_observation_in_the_order_of_the_table() -> None:
    ends = [0, *(LAYOUT[section.name].stop for section in SECTIONS)]
    assert [LAYOUT[section.name].start for section in SECTIONS] == ends[:-1]
    assert ends[-1] == OBSERVATION_SIZE == 1256
    assert all(LAYOUT[s.name].stop - LAYOUT[s.name].start == s.size for s in SECTIONS)
    assert observation_layout(Rules(players=3)) == observation_layout(Rules(players=7)) == LAYOUT


def test_the_layout_is_the_one_that_checkpoints_were_trained_on() -> None:
    assert LAYOUT_HASH == "93c6b955b8369d4e"


@pytest.mark.parametrize("players", PLAYERS)
def test_an_observation_is_zeros_and_ones_and_decodes(players: int) -> None:
    simulator = positions(players)
    for viewer in range(players):
        for row in simulator.observation(viewer):
            assert row.dtype == np.int8
            facts = decode(row)
            assert facts["players"] == players
            assert set(facts) == {section.name for section in SECTIONS}
            assert observation_text(row).startswith(f"{players} players, hand of")


@pytest.mark.parametrize("players", PLAYERS)
def test_rows_of_absent_seats_are_zero(players: int) -> None:
    observation = positions(players).observation(0)
    for section in SECTIONS:
        if len(section.shape) == 2:
            rows = observation[:, LAYOUT[section.name]].reshape(-1, *section.shape)
            present = players - 1 if section.name == "score_gap" else players
            assert not rows[:, present:].any(), section.name


def test_an_array_that_is_no_observation_is_refused() -> None:
    good = Simulator(seed=1).observation(0)[0]
    twice = good.copy()
    twice[LAYOUT["dealer"]] = 1
    for bad, message in (
        (good[:-1], "1256 zeros and ones"),
        (good * 2, "1256 zeros and ones"),
        (np.zeros_like(good), "'players' is empty"),
        (twice, "'dealer' has 7 ones"),
    ):
        with pytest.raises(ValueError, match=message):
            decode(bad)


def permute_hidden(simulator: Simulator, i: int, viewer: int, rng: np.random.Generator) -> None:
    """Redeal what the viewer cannot see, within what is publicly known: sizes of hands and shown voids are kept."""
    game = simulator.games[i]
    players = simulator[i].players
    others = [seat for seat in range(players) if seat != viewer]
    cards = [list(cards_of(game["hands"][seat])) for seat in others]
    pool = list(itertools.chain.from_iterable(cards))
    stock = [int(c) for c in simulator[i].deal_order[1]]
    everything = rng.permutation(pool + stock).tolist()
    for seat, hand in zip(others, cards, strict=True):
        game["hands"][seat] = mask_of(everything[: len(hand)])
        everything = everything[len(hand) :]
    game["deck"] = rng.permutation(game["deck"])
    game["seed"], game["stream"] = rng.integers(2**40), rng.integers(2**40)
    if game["phase"] == BID and simulator.rules[game["table"]].bids == "sealed":
        made = [seat for seat in others if game["bids"][seat] >= 0]
        shuffled = rng.permutation([int(game["bids"][seat]) for seat in made])
        if game["player"] == viewer == game["dealer"]:
            game["bids"][made] = shuffled  # the dealer's mask tells the sum, so the sum is kept
        else:
            game["bids"][made] = rng.integers(game["hand_size"] + 1, size=len(made))


@pytest.mark.parametrize("players", PLAYERS)
def test_what_is_hidden_changes_nothing_that_a_seat_sees(players: int) -> None:
    simulator = positions(players, games=20, steps=400)
    rng = np.random.default_rng(1)
    for viewer in range(players):
        changed = simulator.clone()
        for i in range(len(changed)):
            permute_hidden(changed, i, viewer, rng)
        assert not np.array_equal(changed.games["hands"], simulator.games["hands"])
        assert np.array_equal(changed.observation(viewer), simulator.observation(viewer))
        acting = simulator.games["player"] == viewer
        assert np.array_equal(changed.current().action_mask[acting], simulator.current().action_mask[acting])
        for i in range(len(simulator)):
            assert table_text(changed[i], viewer) == table_text(simulator[i], viewer)
            assert changed[i].visible_bids(viewer) == simulator[i].visible_bids(viewer)


def blinded(simulator: Simulator, i: int, viewer: int) -> Any:
    views = np.zeros(1, dtype=GAME)
    blind(simulator.games, i, viewer, simulator.tables[simulator.games[i]["table"]], views, 0)
    return views


@pytest.mark.parametrize("players", PLAYERS)
def test_a_view_holds_nothing_hidden_and_encodes_like_the_game(players: int) -> None:
    simulator = positions(players, games=20, steps=400)
    rng = np.random.default_rng(2)
    for viewer in range(players):
        changed = simulator.clone()
        for i in range(len(changed)):
            permute_hidden(changed, i, viewer, rng)
        full = simulator.observation(viewer)
        for i in range(len(simulator)):
            view = blinded(simulator, i, viewer)
            assert blinded(changed, i, viewer).tobytes() == view.tobytes()
            row = np.zeros((1, OBSERVATION_SIZE), dtype=np.int8)
            encode(view[0], simulator.tables[simulator.games[i]["table"]], viewer, row, 0)
            assert np.array_equal(row[0], full[i])


@given(seed=st.integers(0, 2**63 - 1), players=st.sampled_from(PLAYERS), steps=st.integers(0, 300))
def test_fifty_two_cards_are_somewhere_and_everybody_can_act(seed: int, players: int, steps: int) -> None:
    simulator = Simulator(Rules(players=players), seed=seed)
    simulator.play_random(steps)
    game = simulator[0]
    held = [card for hand in game.hands for card in hand]
    played = [card for trick in (*(t.plays for t in game.tricks), game.trick) for _, card in trick]
    stock = [*game.deal_order[1], *([] if game.turned is None else [game.turned])]
    assert sorted([*held, *played, *stock]) == list(range(52))
    mask = simulator.current().action_mask[0]
    assert mask.shape == (NUM_ACTIONS,)
    assert np.flatnonzero(mask).tolist() == list(game.legal_actions) != []


@given(seed=st.integers(0, 2**63 - 1), players=st.sampled_from(PLAYERS), data=st.data())
def test_a_bid_is_forbidden_to_the_dealer_alone_and_only_within_the_hand(seed: int, players: int, data: Any) -> None:
    size = data.draw(st.integers(1, 52 // players))
    simulator = Simulator(Rules(players=players, ramp=(size,)), seed=seed)
    made = 0
    for k in range(players):
        bids = [action - 52 for action in simulator[0].legal_actions]
        missing = set(range(size + 1)) - set(bids)
        assert missing == ({size - made} if k == players - 1 and made <= size else set())
        bid = data.draw(st.sampled_from(bids))
        made += bid
        simulator.step([52 + bid])
    assert made != size


def test_the_order_of_past_tricks_is_told_by_the_events_alone() -> None:
    """Two ways through the same two tricks: one observation, two stories."""
    rules = Rules(players=3, ramp=(3,), trump="none")
    deck = ["2C", "2D", "2H", "3C", "3D", "3H", "4C", "4D", "4H"]
    deck += [card for card in (f"{r}{s}" for s in "CDHS" for r in "23456789TJQKA") if card not in deck]
    stories = []
    for first, second in (("2", "3"), ("3", "2")):
        simulator = Simulator(rules, seed=1, decks=[deck])
        for bid in (0, 0, 0):
            simulator.step([52 + bid])
        for rank in (first, second):
            for suit in "CDH":
                simulator.step(["23456789TJQKA".index(rank) + 13 * "CDHS".index(suit)])
        stories.append((simulator.observation(0)[0].tobytes(), simulator[0].events(0)))
    assert stories[0][0] == stories[1][0]
    assert stories[0][1] != stories[1][1]


def test_the_documentation_lists_every_section() -> None:
    assert all(f"| `{section.name}` |" in layout_table() for section in SECTIONS)


def test_games_at_every_stage_are_seen(players: int = 4) -> None:
    simulator = Simulator(Rules(players=players, ramp=(2, 1)), num_games=30, seed=1)
    ones = np.zeros(OBSERVATION_SIZE, dtype=np.int64)
    for _ in random_steps(simulator, 40):
        ones += simulator.current().observation.sum(axis=0)
    for name in ("hand", "played", "voids", "trick", "leader", "winning", "turn", "dealer", "score_gap", "forbidden"):
        assert ones[LAYOUT[name]].any(), name
