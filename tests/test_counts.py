"""Exact counts of all games on tiny decks: the kernel's, the referee's, and the number itself."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from referee import Referee

from ohhell_env.kernel import rulebook
from ohhell_env.kernel.state import GAME, HAND_OVER, compile_rules
from ohhell_env.rules.cards import Deck, card_name
from ohhell_env.rules.rules import Rules

# players, cards, hand size, hook, trump, and the number of ways in which one hand, dealt as the deck lies, can go.
TINY = [
    (3, "2C 3C AC 2D 3D AD", 1, True, "turned", 5),
    (3, "2C 3C AC 2D 3D AD", 2, True, "turned", 42),
    (3, "AD AC 3C 2D KC 2C 3D", 2, True, "turned", 168),
    (3, "AD AC 3C 2D KC 2C 3D", 2, False, "none", 216),
    (3, "2C 3C 2D 4C 3D 4D 5C 5D 6C 6D", 3, True, "turned", 1_296),
    (4, "2C 2D 3C 3D 4C 4D 5C 5D 6D", 2, True, "turned", 1_136),
]


def count_in_the_kernel(games: np.ndarray, tables: np.ndarray, depth: int) -> int:  # type: ignore[type-arg]
    if games[depth]["phase"] == HAND_OVER:
        return 1
    total = 0
    legal = int(games[depth]["legal"])
    for option in range(legal.bit_length()):
        if legal >> option & 1:
            games[depth + 1] = games[depth]
            rulebook.apply(games[depth + 1], tables[0], rulebook.action_of(games[depth], option))
            total += count_in_the_kernel(games, tables, depth + 1)
    return total


def count_with_the_referee(referee: Referee) -> int:
    if referee.phase not in ("bid", "play"):
        return 1
    total = 0
    for move in referee.legal():
        after = copy.deepcopy(referee)
        after.act(move)
        total += count_with_the_referee(after)
    return total


@pytest.mark.parametrize(("players", "cards", "size", "hook", "trump", "games"), TINY)
def test_every_way_in_which_a_tiny_hand_can_go_is_counted(
    players: int, cards: str, size: int, hook: bool, trump: str, games: int
) -> None:
    deck = Deck.of(cards)
    rules = Rules(players=players, deck=deck, ramp=(size,), hook=hook, trump=trump)
    order = [card for name in cards.split() for card in Deck.of([name]).cards]
    decks = np.full((1, 52), -1, dtype=np.int8)
    decks[0, : len(order)] = order
    tables = compile_rules((rules,))
    states = np.zeros(players * (size + 1) + 1, dtype=GAME)
    rulebook.start_match(states[0], tables[0], decks, 1, 0)
    referee = Referee(players=players, ramp=[size], hook=hook, trump=trump, deck=[card_name(c) for c in deck.cards])
    referee.deal(cards.split())
    assert count_in_the_kernel(states, tables, 0) == count_with_the_referee(referee) == games


def test_a_one_card_hand_by_hand() -> None:
    """Three players, one card each: two free bids each, and the dealer has one or two: 1 + 1 + 1 + 2 in all."""
    free = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert sum(1 if first + second <= 1 else 2 for first, second in free) == 5
