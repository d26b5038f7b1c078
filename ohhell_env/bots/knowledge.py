"""Suits as a seat judges them, in a view or in a whole game alike: which to name for a joker led, which for trump."""

from __future__ import annotations

from typing import Any

import numpy as np

from ohhell_env.kernel.facts import contract, held_twice, plain_rank, plain_suit
from ohhell_env.kernel.jit import ONE, Int, jit, lowest, popcount
from ohhell_env.kernel.rulebook import suit_cards
from ohhell_env.rules.cards import NUM_SUITS


@jit
def suit_to_name(game: Any, table: Any, seat: Int, unseen: Int) -> Int:
    """The suit to name for a joker led: that of which fewest are out where the seat wants the trick, else most."""
    wants = contract(game, seat) > game["taken"][seat]
    best = np.int64(0)
    for suit in range(1, NUM_SUITS):
        here = popcount(unseen & suit_cards(game, table, suit))
        there = popcount(unseen & suit_cards(game, table, best))
        if (here < there) == wants and here != there:
            best = np.int64(suit)
    return best


@jit
def longest_suit(game: Any, table: Any, seat: Int) -> Int:
    """The suit of which a seat holds most, the higher cards of two; no trump is never named."""
    best = np.int64(0)
    most = -1
    for suit in range(NUM_SUITS):
        cards = game["hands"][seat] & plain_suit(game, table, suit)
        weight = 64 * (popcount(cards) + popcount(held_twice(game, seat) & cards))
        while cards:
            card = lowest(cards)
            cards ^= ONE << card
            weight += plain_rank(game, table, card)
        if weight > most:
            best = np.int64(suit)
            most = weight
    return best
