"""Suits and cards under their new names, for a policy for every table: trump is suit 0, the others go by the hand.

The rules treat suits alike but for trump and for what a special deck holds of them, and the input tells that, too: so
any relabelling gives a true description. A network that sees suits in the order of play learns one position where it
would meet up to 24.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.policy.every_table_layout import (
    BITS,
    NUM_JOKERS,
    OUT_BID,
    OUT_JOKER,
    OUT_PASS,
    OUT_SLOT,
    OUT_SUIT,
    SUIT_BITS,
)
from ohhell_env.bots.policy.features import _BY_ORDER, PERMUTATIONS
from ohhell_env.kernel import wide_play
from ohhell_env.kernel.jit import ONE, Int, jit, jit_apart, left_of, lowest, popcount
from ohhell_env.kernel.state import (
    NO_TRUMP,
    NONE,
    WIDE_FIRST_BID,
    WIDE_FIRST_SLOT,
    WIDE_FIRST_SUIT,
    WIDE_NUM_ACTIONS,
    WIDE_PASS,
)
from ohhell_env.observation.sections import relative
from ohhell_env.rules.cards import JOKERS, NUM_CARDS, NUM_RANKS, NUM_SUITS
from ohhell_env.rules.limits import WIDE_MAX_HAND_SIZE, WIDE_MAX_PLAYERS, WIDE_NUM_BIDS, WIDE_NUM_KINDS

_AT_JOKERS = BITS["jokers"]
_SUIT_MASK = np.int64((1 << NUM_RANKS) - 1)
STANDARD_CARDS = np.int64((1 << NUM_CARDS) - 1)


@jit
def place_of(table: Any, card: Int) -> Int:
    """Suit * 16 + bit of a card of suits under their own names; 64 + k for the deck's joker number k."""
    if card < NUM_CARDS:
        return np.int64(SUIT_BITS * (card // NUM_RANKS) + card % NUM_RANKS)
    suit = np.int64(table["suits"][NO_TRUMP, card])
    before = np.int64(0)
    for other in range(NUM_CARDS, card):
        before += ((table["deck_mask"] >> other) & 1) & (table["suits"][NO_TRUMP, other] == suit)
    return OUT_JOKER + before if suit == JOKERS else SUIT_BITS * suit + NUM_RANKS + before


@jit
def label_of(table: Any, relabelling: Int, card: Int) -> Int:
    """The output, and bit of a word of cards, that is a card's under the suits' new names; jokers from OUT_JOKER on."""
    place = place_of(table, card)
    if place >= OUT_JOKER:
        return place
    return SUIT_BITS * PERMUTATIONS[relabelling, place // SUIT_BITS] + place % SUIT_BITS


@jit_apart
def put_cards(table: Any, relabelling: Int, cards: Int, words: Any, row: Int, word: Int) -> None:
    """A mask of cards under the suits' new names into a word, and its jokers into their region; both are 0 before."""
    if cards == 0:
        return
    found = np.int64(0)
    for suit in range(NUM_SUITS):
        field = (cards >> (NUM_RANKS * suit)) & _SUIT_MASK
        found |= field << (SUIT_BITS * PERMUTATIONS[relabelling, suit])
    rest = cards & ~STANDARD_CARDS
    while rest:
        label = label_of(table, relabelling, lowest(rest))
        rest &= rest - 1
        if label >= OUT_JOKER:
            put_bit(words, row, _AT_JOKERS + NUM_JOKERS * word + label - OUT_JOKER)
        else:
            found |= ONE << label
    words[row, word] = found


@jit
def put_bit(words: Any, row: Int, at: Int) -> None:
    """A one."""
    words[row, np.uint64(at >> 6)] |= ONE << (at & 63)


@jit
def suit_field(table: Any, cards: Int, suit: Int) -> Int:
    """The cards of a suit in a mask as bits 0..15, those beyond the standard ones from bit 13 on."""
    field = (cards >> (NUM_RANKS * suit)) & _SUIT_MASK
    rest = cards & ~STANDARD_CARDS
    while rest:
        place = place_of(table, lowest(rest))
        rest &= rest - 1
        if place < OUT_JOKER and place // SUIT_BITS == suit:
            field |= ONE << (place % SUIT_BITS)
    return field


@jit_apart
def compare_cards(table: Any, cards: Int, a: Int, b: Int) -> Int:
    """1 where a mask has more, then higher cards of suit a than of b, -1 the other way round, 0 where level."""
    one, other = suit_field(table, cards, a), suit_field(table, cards, b)
    one |= np.int64(popcount(one)) << SUIT_BITS
    other |= np.int64(popcount(other)) << SUIT_BITS
    return np.int64(one > other) - np.int64(one < other)


@jit_apart
def suit_marks(game: Any, table: Any, viewer: Int, suit: Int) -> Int:
    """Who is void in a suit and whose card in the trick is of it, by relative seat, in one number."""
    players = table["players"]
    marks = np.int64(0)
    for seat in range(players):
        marks |= ((np.int64(game["voids"][seat]) >> suit) & 1) << relative(seat, viewer, players)
    first = game["num_plays"] - game["in_trick"]
    for k in range(game["in_trick"]):
        place = place_of(table, np.int64(game["plays"][first + k]))
        if place < OUT_JOKER and place // SUIT_BITS == suit:
            marks |= ONE << (WIDE_MAX_PLAYERS + k)
    return marks


@jit_apart
def goes_before(game: Any, table: Any, viewer: Int, a: Int, b: Int) -> bool:
    """Whether suit a goes before suit b: trump first, then by all that the viewer sees of them, never by name."""
    trump = np.int64(game["trump"])
    if game["trump_known"] and (a == trump or b == trump):
        return bool(a == trump)
    players = table["players"]
    if wide_play.sees_cards(game, table, viewer, viewer):
        for cards in (game["hands"][viewer], game["held_twice"][viewer]):
            order = compare_cards(table, cards, a, b)
            if order != 0:
                return bool(order > 0)
    seat = viewer
    for _ in range(players):
        for cards in (game["played"][seat], game["played_twice"][seat]):
            one, other = suit_field(table, cards, a), suit_field(table, cards, b)
            if one != other:
                return bool(one > other)
        seat = left_of(seat, players)
    for _ in range(players - 1):
        seat = left_of(seat, players)
        if wide_play.sees_cards(game, table, viewer, seat):
            for cards in (game["hands"][seat], game["held_twice"][seat]):
                order = compare_cards(table, cards, a, b)
                if order != 0:
                    return bool(order > 0)
    one, other = suit_marks(game, table, viewer, a), suit_marks(game, table, viewer, b)
    if one != other:
        return bool(one > other)
    for cards in (table["deck_mask"], table["pairs"]):  # a short deck may treat its suits unequally
        one, other = suit_field(table, cards, a), suit_field(table, cards, b)
        if one != other:
            return bool(one > other)
    return False


@jit_apart
def relabelling_of(game: Any, table: Any, viewer: Int) -> Int:
    """Trump to suit 0, the others by what the viewer sees of them; at standard tables as `canonical_relabelling`."""
    a, b, c, d = np.int64(0), np.int64(1), np.int64(2), np.int64(3)
    # A sorting network of five exchanges.
    if goes_before(game, table, viewer, b, a):
        a, b = b, a
    if goes_before(game, table, viewer, d, c):
        c, d = d, c
    if goes_before(game, table, viewer, c, a):
        a, c = c, a
    if goes_before(game, table, viewer, d, b):
        b, d = d, b
    if goes_before(game, table, viewer, c, b):
        b, c = c, b
    return _BY_ORDER[a, b, c]


def labels_of(tables: NDArray[np.void]) -> NDArray[np.int64]:
    """The output of each action under each relabelling: (T, 24, WIDE_NUM_ACTIONS); NONE for a card not in the deck."""
    labels = np.full((len(tables), len(PERMUTATIONS), WIDE_NUM_ACTIONS), NONE, dtype=np.int64)
    _write_labels(tables, labels)
    return labels


@jit_apart
def _write_labels(tables: Any, labels: Any) -> None:
    for t in range(tables.shape[0]):
        table = tables[t]
        for relabelling in range(labels.shape[1]):
            for card in range(WIDE_NUM_KINDS):
                if (table["deck_mask"] >> card) & 1:
                    labels[t, relabelling, card] = label_of(table, relabelling, np.int64(card))
            for bid in range(WIDE_NUM_BIDS):
                labels[t, relabelling, WIDE_FIRST_BID + bid] = OUT_BID + bid
            labels[t, relabelling, WIDE_PASS] = OUT_PASS
            for suit in range(NUM_SUITS):
                labels[t, relabelling, WIDE_FIRST_SUIT + suit] = OUT_SUIT + PERMUTATIONS[relabelling, suit]
            labels[t, relabelling, WIDE_FIRST_SUIT + NO_TRUMP] = OUT_SUIT + NUM_SUITS
            for slot in range(WIDE_MAX_HAND_SIZE):
                labels[t, relabelling, WIDE_FIRST_SLOT + slot] = OUT_SLOT + slot
