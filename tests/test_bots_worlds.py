"""Sampled worlds: uniform over the deals that fit, never against a void shown, the stock's cards in every hand."""

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from ohhell_env.bots.base import look
from ohhell_env.bots.determinization import PLAN, deal_world, plan_deals
from ohhell_env.bots.search import SearchBot
from ohhell_env.kernel.jit import stream_of
from ohhell_env.kernel.rulebook import unseen_cards
from ohhell_env.kernel.state import GAME
from ohhell_env.rules.cards import Deck, cards_of, mask_of
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator


def worlds_of(view: Any, table: Any, number: int, seed: int = 1) -> list[tuple[int, ...]]:
    """Hands of the seats in ``number`` worlds as the seat to act may imagine them."""
    plans = np.zeros(1, dtype=PLAN)
    assert plan_deals(view, table, int(view["player"]), plans[0])
    boards = np.zeros(1, dtype=GAME)
    worlds = []
    for k in range(number):
        boards[0] = view
        deal_world(plans[0], boards[0], np.uint64(stream_of(seed, k)))
        worlds.append(tuple(int(hand) for hand in boards[0]["hands"][: table["players"]]))
    return worlds


def view_of(simulator: Simulator) -> Any:
    views, keys = np.empty(1, dtype=GAME), np.empty(1, dtype=np.int64)
    look(simulator.games, simulator.tables, np.zeros(1, dtype=np.int64), 0, views, keys)
    return views[0]


def every_world(view: Any, table: Any) -> set[tuple[int, ...]]:
    """All deals of the unseen cards that fit hand sizes and voids, by trying every one."""
    viewer = int(view["player"])
    worlds: list[tuple[dict[int, int], int]] = [
        ({viewer: int(view["hands"][viewer])}, unseen_cards(view, table, viewer))
    ]
    for seat in range(table["players"]):
        if seat != viewer:
            size = int(view["hand_size"]) - int(view["played"][seat]).bit_count()
            void = mask_of(card for card in range(52) if int(view["voids"][seat]) >> (card // 13) & 1)
            worlds = [
                ({**hands, seat: mask_of(hand)}, pool & ~mask_of(hand))
                for hands, pool in worlds
                for hand in combinations(cards_of(pool & ~void), size)
            ]
    return {tuple(hands[seat] for seat in range(table["players"])) for hands, _ in worlds}


def position(rules: Rules, seed: int, plays: int) -> Simulator:
    """A table after random bids and so many random cards."""
    simulator = Simulator(rules, 1, seed, observe=False)
    simulator.play_random(rules.players + plays)
    return simulator


SHORT_DECK = Deck.of("AC KC QC JC AD KD QD JD AH KH QH JH")
# Three seats with three cards, twelve in the deck; the seeds were picked for the number of seats with voids.
CASES = [(0, 3), (1, 3), (2, 4), (3, 4), (5, 5), (8, 6)]


@pytest.mark.parametrize(("seed", "plays"), CASES)
def test_every_deal_that_fits_is_equally_likely(seed: int, plays: int) -> None:
    simulator = position(Rules(players=3, ramp=(3,), deck=SHORT_DECK), seed, plays)
    view, table = view_of(simulator), simulator.tables[0]
    possible = every_world(view, table)
    each = 40
    counts = Counter(worlds_of(view, table, each * len(possible)))
    assert set(counts) <= possible
    chi_square = sum((counts[world] - each) ** 2 / each for world in possible)
    free = len(possible) - 1
    assert chi_square < free + 4 * np.sqrt(2 * free) + 4


def test_the_uniformity_cases_have_seats_with_and_without_voids() -> None:
    voids = set()
    for seed, plays in CASES:
        view = view_of(position(Rules(players=3, ramp=(3,), deck=SHORT_DECK), seed, plays))
        voids.add(sum(view["voids"][seat] != 0 for seat in range(3) if seat != view["player"]))
    assert voids == {0, 1, 2}


@pytest.mark.parametrize("players", [3, 4, 5, 6, 7])
def test_a_void_shown_is_never_violated_in_a_thousand_worlds(players: int) -> None:
    rules = Rules(players=players)
    peak = rules.peak
    for plays in ((peak - 3) * players + 2, (peak - 2) * players + 1):
        simulator = position(rules, 11 + players, plays)
        view, table = view_of(simulator), simulator.tables[0]
        shown = [int(void) for void in view["voids"][:players]]
        assert any(shown)
        lacking = [mask_of(card for card in range(52) if void >> (card // 13) & 1) for void in shown]
        lacking[int(view["player"])] = 0  # the viewer's own hand is not dealt
        for hands in worlds_of(view, table, 1_000):
            assert not any(hand & lack for hand, lack in zip(hands, lacking))


def test_a_world_keeps_hand_sizes_and_the_cards_that_the_viewer_knows() -> None:
    simulator = position(Rules(players=5), 3, 13)
    view, table = view_of(simulator), simulator.tables[0]
    viewer = int(view["player"])
    unseen = unseen_cards(view, table, viewer)
    held = [int(hand).bit_count() for hand in simulator.games[0]["hands"][:5]]
    for hands in worlds_of(view, table, 200):
        others = [hand for seat, hand in enumerate(hands) if seat != viewer]
        assert hands[viewer] == view["hands"][viewer]
        assert [hand.bit_count() for hand in hands] == held
        assert sum(others) == np.bitwise_or.reduce(others)  # no card twice
        assert sum(others) & ~unseen == 0


def test_cards_of_the_stock_land_in_the_others_hands() -> None:
    simulator = position(Rules(ramp=(2,)), 4, 0)
    game = simulator.games[0]
    stock = mask_of(int(card) for card in game["deck"][9:])
    view, table = view_of(simulator), simulator.tables[0]
    seen = [0] * 4
    for hands in worlds_of(view, table, 1_000):
        for seat in range(4):
            seen[seat] |= hands[seat] & stock
    viewer = int(view["player"])
    assert all(seen[seat] == stock for seat in range(4) if seat != viewer)


def test_a_view_that_no_deal_fits_is_refused() -> None:
    simulator = position(Rules(ramp=(3,)), 2, 1)
    seat = (int(simulator.games[0]["player"]) + 1) % 4
    simulator.games["voids"][0, seat] = 15
    with pytest.raises(ValueError, match="no deal of the unseen cards fits"):
        SearchBot().act(simulator)
