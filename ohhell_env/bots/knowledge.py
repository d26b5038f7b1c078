"""What a seat knows of the cards, in a view or in a whole game alike: its own, those it sees with others, those left.

Where the two forms of table differ, `by_form` puts the wide form's function in place of the standard one's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ohhell_env.kernel.jit import ONE, Int, by_form, jit, jit_apart, lowest, popcount
from ohhell_env.kernel.rulebook import seen_hand, seen_twice, suit_cards
from ohhell_env.kernel.standard import suit_mask
from ohhell_env.kernel.state import NO_TRUMP
from ohhell_env.kernel.wide_play import sees_cards
from ohhell_env.rules.cards import JOKERS, NUM_RANKS, NUM_SUITS
from ohhell_env.rules.ramps import GOLDEN_HAND


@jit
def _cards_left(game: Any, seat: Int) -> Int:
    return np.int64(game["hand_size"]) - popcount(game["played"][seat])


@jit
def _wide_cards_left(game: Any, seat: Int) -> Int:
    return popcount(game["slots"][seat])


@jit
def _has_pairs(game: Any, table: Any) -> bool:
    return False


@jit
def _wide_has_pairs(game: Any, table: Any) -> bool:
    return bool(table["pairs"] != 0)


@jit
def _classes(game: Any) -> Int:
    return NUM_SUITS


@jit
def _wide_classes(game: Any) -> Int:
    return NUM_SUITS + 1  # without trump jokers are a class of their own


@jit
def _loose_jokers(game: Any, table: Any) -> Int:
    return np.int64(0)


@jit
def _wide_loose_jokers(game: Any, table: Any) -> Int:
    return table["suit_cards"][NO_TRUMP, JOKERS] if game["trump"] == NO_TRUMP else np.int64(0)


@jit
def _higher_cards(game: Any, table: Any, card: Int) -> Int:
    return suit_mask(card // NUM_RANKS) & ~((ONE << (card + 1)) - 1)


@jit
def _wide_higher_cards(game: Any, table: Any, card: Int) -> Int:
    return table["higher"][game["trump"], card]


@jit
def _contract(game: Any, seat: Int) -> Int:
    return np.int64(game["bids"][seat])


@jit
def _wide_contract(game: Any, seat: Int) -> Int:
    if game["special"] & GOLDEN_HAND:
        return np.int64(game["hand_size"])
    return max(np.int64(game["bids"][seat]), 0)


@jit
def _seen_others(game: Any, table: Any, seat: Int) -> Any:
    return np.int64(0), np.int64(0)


@jit_apart
def _wide_seen_others(game: Any, table: Any, seat: Int) -> Any:
    once, twice = np.int64(0), np.int64(0)
    for other in range(table["players"]):
        if other != seat:
            held = seen_hand(game, table, seat, other)
            twice |= (once & held) | seen_twice(game, table, seat, other)
            once |= held
    return once, twice


@jit
def _hidden_held(game: Any, table: Any, seat: Int) -> Int:
    held = np.int64(0)
    for other in range(table["players"]):
        if other != seat:
            held += _cards_left(game, other)
    return held


@jit_apart
def _wide_hidden_held(game: Any, table: Any, seat: Int) -> Int:
    held = np.int64(0)
    for other in range(table["players"]):
        if other != seat and not sees_cards(game, table, seat, other):
            held += popcount(game["slots"][other])
    return held


@jit
def _sees_own(game: Any, table: Any, seat: Int) -> bool:
    return True


@jit
def _wide_sees_own(game: Any, table: Any, seat: Int) -> bool:
    return sees_cards(game, table, seat, seat)


cards_left = by_form(_cards_left, _wide_cards_left)  # how many cards a seat holds, told from what it has played
has_pairs = by_form(_has_pairs, _wide_has_pairs)  # whether cards stand in the deck twice
classes = by_form(_classes, _wide_classes)  # suits that a hand falls into
loose_jokers = by_form(_loose_jokers, _wide_loose_jokers)  # jokers that belong to no suit, there being no trump
# Cards of its suit that beat a card. Jokers without trump belong to whichever suit is led: cards of every suit that
# beat them there, and they are among those that beat the others.
higher_cards = by_form(_higher_cards, _wide_higher_cards)
contract = by_form(_contract, _wide_contract)  # tricks that a seat wants
seen_others = by_form(_seen_others, _wide_seen_others)  # cards that a seat sees with others, and those it sees twice
hidden_held = by_form(_hidden_held, _wide_hidden_held)  # cards that the others hold and a seat does not see
sees_own = by_form(_sees_own, _wide_sees_own)  # whether a seat sees its own cards


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
        cards = game["hands"][seat] & table["suit_cards"][NO_TRUMP, suit]
        weight = 64 * (popcount(cards) + popcount(game["held_twice"][seat] & cards))
        while cards:
            card = lowest(cards)
            cards ^= ONE << card
            weight += table["ranks"][NO_TRUMP, card]
        if weight > most:
            best = np.int64(suit)
            most = weight
    return best
