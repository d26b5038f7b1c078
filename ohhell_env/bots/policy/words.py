"""A policy's input as bits: written straight from the game's record into 64-bit words, without an observation between.

Each section of the input has its place among the words, by one description, `PLACES`. A bit's slot, 64 * word + bit,
is also the row of the weights that it selects. The ones are those of `features.write_input`, by `INPUT_OF_SLOT`.

The card sections are masks of the game's record with their suits renamed by shifts. Cards above and below that are
unseen come from smearing bits within each suit's thirteen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.policy.features import (
    DERIVED,
    HAND_SECTIONS,
    PERMUTATIONS,
    canonical_relabelling,
)
from ohhell_env.kernel.jit import ONE, Int, clamp, jit, left_of, lowest, popcount
from ohhell_env.kernel.standard import SUIT, beating
from ohhell_env.kernel.state import BID, NO_TRUMP, NONE, PLAY
from ohhell_env.observation.sections import MAX_NEED, MAX_SUM_GAP, MIN_NEED, relative
from ohhell_env.observation.standard import HIDDEN, LAYOUT, NOT_YET
from ohhell_env.rules.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from ohhell_env.rules.limits import MAX_PLAYERS, MIN_PLAYERS, NUM_BIDS

WORD = 64

# Each section of the input, or some rows of it: name, first row, rows, word, first bit.
PLACES = (
    ("hand", 0, 1, 0, 0),
    ("unseen", 0, 1, 1, 0),
    *(("played", seat, 1, 2 + seat, 0) for seat in range(MAX_PLAYERS)),
    ("legal", 0, 1, 9, 0),
    ("beats", 0, 1, 10, 0),
    *(("above", number, 1, 11 + number, 0) for number in range(3)),
    *(("below", number, 1, 14 + number, 0) for number in range(2)),
    ("voids", 0, MAX_PLAYERS, 16, 0),
    ("turned", 0, 1, 16, 28),
    ("trump", 0, 1, 16, 41),
    ("leader", 0, 1, 16, 46),
    ("led_suit", 0, 1, 16, 53),
    ("winning", 0, 1, 16, 57),
    ("trick", 0, 3, 17, 0),
    ("trick", 3, 3, 18, 0),
    ("trick", 6, 1, 19, 0),
    ("tricks_left", 0, 1, 19, 17),
    ("table", 0, 1, 19, 35),
    ("bids", 0, 3, 20, 0),
    ("bids", 3, 3, 21, 0),
    ("bids", 6, 1, 22, 0),
    ("need", 0, 3, 22, 20),
    ("need", 3, 4, 23, 0),
    ("bid_sum", 0, 1, 24, 0),
    ("forbidden", 0, 1, 24, 17),
    ("dealer", 0, 1, 24, 35),
    ("players", 0, 1, 24, 42),
    ("hand_size", 0, 1, 24, 47),
    ("length", 0, NUM_SUITS, 25, 0),
    ("unseen_length", 0, NUM_SUITS, 26, 0),
)
NUM_WORDS = 27
NUM_SLOTS = WORD * NUM_WORDS
MAX_ONES = 256  # more than any position has
_HAND, UNSEEN, _PLAYED, _LEGAL, _BEATS, _ABOVE, _BELOW, _PUBLIC = 0, 1, 2, 9, 10, 11, 14, 16
_TRICK, _BIDS, _NEED, _SUMS, _LENGTHS, _UNSEEN_LENGTHS = 17, 20, 23, 24, 25, 26
# Slots of whole cards: of those held or played, of those unseen, and of the ranks of the card turned up.
CARD_ROWS = (WORD * _HAND, *(WORD * (_PLAYED + seat) for seat in range(MAX_PLAYERS)))
UNSEEN_ROWS = slice(WORD * UNSEEN, WORD * UNSEEN + NUM_CARDS)
TURNED_ROWS = slice(WORD * _PUBLIC + 28, WORD * _PUBLIC + 28 + NUM_RANKS)
_ROWS = {"played": MAX_PLAYERS, "above": 3, "below": 2, "voids": MAX_PLAYERS, "trick": MAX_PLAYERS, "need": MAX_PLAYERS}
_ROWS |= {"bids": MAX_PLAYERS, "length": NUM_SUITS, "unseen_length": NUM_SUITS}


def _input_of_slot() -> NDArray[np.int16]:
    starts, at = {}, 0
    sizes = [(name, LAYOUT[name].stop - LAYOUT[name].start) for name in HAND_SECTIONS]
    for name, size in [*sizes, *((name, size) for name, size, _ in DERIVED)]:
        starts[name] = at, size // _ROWS.get(name, 1)
        at += size
    slots = np.full(NUM_SLOTS, -1, dtype=np.int16)
    for name, row, rows, word, bit in PLACES:
        start, width = starts[name]
        first = WORD * word + bit
        slots[first : first + rows * width] = np.arange(start + row * width, start + (row + rows) * width)
    return slots


INPUT_OF_SLOT = _input_of_slot()  # [slot] -> entry of the input, -1 for a bit that is never set
NUM_INPUTS = int(INPUT_OF_SLOT.max()) + 1

# Relabelling of the four labels of the suits, two bits each; and voids (a bit a suit) under a relabelling.
_BY_LABELS = np.zeros(256, dtype=np.int64)
for _number, _labels in enumerate(PERMUTATIONS):
    _BY_LABELS[sum(int(label) << (2 * suit) for suit, label in enumerate(_labels))] = _number
_VOIDS = np.zeros((len(PERMUTATIONS), 16), dtype=np.int64)
for _number, _labels in enumerate(PERMUTATIONS):
    for _mask in range(16):
        _VOIDS[_number, _mask] = sum(1 << int(_labels[suit]) for suit in range(NUM_SUITS) if _mask >> suit & 1)
_SHIFTS = NUM_RANKS * PERMUTATIONS  # [relabelling, suit] -> first bit of its cards
_BID_ROW, _NEED_ROW, _TRICK_ROW, _LENGTH_ROW = NUM_BIDS + 2, MAX_NEED - MIN_NEED + 1, NUM_SUITS + NUM_RANKS, 14


def _lanes(low: int, high: int) -> np.int64:
    """Bits low..high-1 of each suit's thirteen."""
    lane = (1 << high) - (1 << low)
    return np.int64(sum(lane << (NUM_RANKS * suit) for suit in range(NUM_SUITS)))


# Where a shift by k within the suits may put a bit: down, and up.
_DOWN_1, _DOWN_2, _DOWN_4, _DOWN_8 = (_lanes(0, NUM_RANKS - k) for k in (1, 2, 4, 8))
_UP_1, _UP_2, _UP_4, _UP_8 = (_lanes(k, NUM_RANKS) for k in (1, 2, 4, 8))
EVERY_CARD = np.int64((1 << NUM_CARDS) - 1)


@jit
def under(cards: Int) -> Int:
    """The cards under some card of a mask in their suits."""
    found = (cards >> 1) & _DOWN_1
    found |= (found >> 1) & _DOWN_1
    found |= (found >> 2) & _DOWN_2
    found |= (found >> 4) & _DOWN_4
    return found | ((found >> 8) & _DOWN_8)


@jit
def over(cards: Int) -> Int:
    """The cards over some card of a mask in their suits."""
    found = (cards << 1) & _UP_1
    found |= (found << 1) & _UP_1
    found |= (found << 2) & _UP_2
    found |= (found << 4) & _UP_4
    return found | ((found << 8) & _UP_8)


@jit
def renamed(cards: Int, relabelling: Int) -> Int:
    """A mask of cards under the suits' new names."""
    found = (cards & SUIT) << _SHIFTS[relabelling, 0]
    found |= ((cards >> NUM_RANKS) & SUIT) << _SHIFTS[relabelling, 1]
    found |= ((cards >> (2 * NUM_RANKS)) & SUIT) << _SHIFTS[relabelling, 2]
    return found | (((cards >> (3 * NUM_RANKS)) & SUIT) << _SHIFTS[relabelling, 3])


@jit
def suit_key(game: Any, viewer: Int, trump: Int, suit: Int) -> Int:
    """A suit's place in the order of play as a number, by trump, the viewer's holding and what the viewer played."""
    if suit == trump:
        return ONE << 40
    held = (game["hands"][viewer] >> (NUM_RANKS * suit)) & SUIT
    played = (game["played"][viewer] >> (NUM_RANKS * suit)) & SUIT
    return (np.int64(popcount(held)) << (2 * NUM_RANKS)) | (held << NUM_RANKS) | played


@jit
def quick_relabelling(game: Any, table: Any, viewer: Int) -> Int:
    """As `canonical_relabelling`, which it asks only where suits are level in hand and in what the viewer played."""
    trump = np.int64(game["trump"])
    a, b = suit_key(game, viewer, trump, 0), suit_key(game, viewer, trump, 1)
    c, d = suit_key(game, viewer, trump, 2), suit_key(game, viewer, trump, 3)
    if (a == b) | (a == c) | (a == d) | (b == c) | (b == d) | (c == d):
        return canonical_relabelling(game, table, viewer)
    ab, ac, ad = np.int64(a > b), np.int64(a > c), np.int64(a > d)
    bc, bd, cd = np.int64(b > c), np.int64(b > d), np.int64(c > d)
    first, second, third, fourth = 3 - ab - ac - ad, 2 + ab - bc - bd, 1 + ac + bc - cd, ad + bd + cd
    return _BY_LABELS[first | (second << 2) | (third << 4) | (fourth << 6)]


@jit
def write_words(game: Any, table: Any, viewer: Int, relabelling: Int, words: Any, row: Int) -> None:
    """What a seat is to know of a game of the standard form into ``words[row]``, (N, NUM_WORDS) int64."""
    write_card_words(game, table, viewer, relabelling, words, row)
    write_trick_words(game, table, viewer, relabelling, words, row)
    write_bid_words(game, table, viewer, words, row)


@jit
def write_card_words(game: Any, table: Any, viewer: Int, relabelling: Int, words: Any, row: Int) -> None:
    """Sections hand, unseen, played, voids, legal, beats, above, below, length, unseen_length, turned, trump."""
    players = table["players"]
    seen = game["hands"][viewer]
    voids = np.int64(0)
    seat = viewer
    for k in range(MAX_PLAYERS):
        played = np.int64(0)
        if k < players:
            played = game["played"][seat]
            seen |= played
            voids |= _VOIDS[relabelling, game["voids"][seat]] << (NUM_SUITS * k)
            seat = left_of(seat, players)
        words[row, _PLAYED + k] = renamed(played, relabelling)
    turned = np.int64(game["turned"])
    trump = np.int64(game["trump"])
    public = voids
    if turned != NONE:
        seen |= ONE << turned
        public |= ONE << (28 + turned % NUM_RANKS)
    label = NUM_SUITS if trump == NO_TRUMP else PERMUTATIONS[relabelling, trump]
    words[row, _PUBLIC] = public | (ONE << (41 + label))
    hand = renamed(game["hands"][viewer], relabelling)
    unseen = renamed(table["deck_mask"] & ~seen, relabelling)
    words[row, _HAND] = hand
    words[row, UNSEEN] = unseen
    legal = np.int64(0)
    beats = np.int64(0)
    if (game["phase"] == PLAY) & (game["player"] == viewer):
        legal = game["legal"]
        if game["in_trick"] > 0:
            beats = legal & beating(np.int64(game["best"]), trump)
    words[row, _LEGAL] = renamed(legal, relabelling)
    words[row, _BEATS] = renamed(beats, relabelling)
    one = under(unseen)
    two = under(unseen & one)
    three = under(unseen & two)
    words[row, _ABOVE] = hand & ~one
    words[row, _ABOVE + 1] = hand & one & ~two
    words[row, _ABOVE + 2] = hand & two & ~three
    one = over(unseen)
    words[row, _BELOW] = hand & ~one
    words[row, _BELOW + 1] = hand & one & ~over(unseen & one)
    words[row, _LENGTHS] = lengths(hand)
    words[row, _UNSEEN_LENGTHS] = lengths(unseen)


@jit
def lengths(cards: Int) -> Int:
    """A one for the number of cards of each suit: 0..13 in rows of 14."""
    found = ONE << popcount(cards & SUIT)
    found |= ONE << (14 + popcount((cards >> NUM_RANKS) & SUIT))
    found |= ONE << (28 + popcount((cards >> (2 * NUM_RANKS)) & SUIT))
    return found | (ONE << (42 + popcount((cards >> (3 * NUM_RANKS)) & SUIT)))


@jit
def write_trick_words(game: Any, table: Any, viewer: Int, relabelling: Int, words: Any, row: Int) -> None:
    """Sections trick, leader, led_suit, winning, tricks_left, table; after `write_card_words`."""
    players = table["players"]
    place = relative(np.int64(game["leader"]), viewer, players)
    public = words[row, _PUBLIC] | (ONE << (46 + place))
    first, second, third = np.int64(0), np.int64(0), np.int64(0)
    count = np.int64(game["in_trick"])
    if count > 0:
        public |= ONE << (53 + PERMUTATIONS[relabelling, game["led_suit"]])
        public |= ONE << (57 + relative(np.int64(game["winning"]), viewer, players))
        start = np.int64(game["num_plays"]) - count
        for k in range(count):
            card = np.int64(game["plays"][start + k])
            bits = ONE << PERMUTATIONS[relabelling, card // NUM_RANKS]
            bits |= ONE << (NUM_SUITS + card % NUM_RANKS)
            if place < 3:
                first |= bits << (_TRICK_ROW * place)
            elif place < 6:
                second |= bits << (_TRICK_ROW * (place - 3))
            else:
                third |= bits
            place = left_of(place, players)
    words[row, _PUBLIC] = public
    words[row, _TRICK] = first
    words[row, _TRICK + 1] = second
    third |= ONE << (17 + game["hand_size"] - game["num_plays"] // players)
    flags = table["sealed"] | (table["hook"] << 1) | (table["turn_up"] << 2)
    words[row, _TRICK + 2] = third | (flags << 35)


@jit
def write_bid_words(game: Any, table: Any, viewer: Int, words: Any, row: Int) -> None:
    """Sections bids, need, bid_sum, forbidden, dealer, players, hand_size."""
    players = table["players"]
    sealed = (table["sealed"] == 1) & (game["phase"] == BID)
    size = np.int64(game["hand_size"])
    total = -size
    bids_0, bids_1, bids_2, need_0, need_1 = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    seat = viewer
    for k in range(players):
        bid = np.int64(game["bids"][seat])
        made = bid != NONE
        known = made & ((not sealed) | (k == 0))
        one = ONE << (bid if known else HIDDEN if made else NOT_YET)
        need = np.int64(known) << (clamp(bid - game["taken"][seat], MIN_NEED, MAX_NEED) - MIN_NEED)
        if k < 3:
            bids_0 |= one << (_BID_ROW * k)
            need_0 |= need << (_NEED_ROW * k)
        elif k < 6:
            bids_1 |= one << (_BID_ROW * (k - 3))
            need_1 |= need << (_NEED_ROW * (k - 3))
        else:
            bids_2 |= one
            need_1 |= need << (_NEED_ROW * 3)
        total += bid if known else 0
        seat = left_of(seat, players)
    words[row, _BIDS] = bids_0
    words[row, _BIDS + 1] = bids_1
    words[row, _BIDS + 2] = bids_2 | (need_0 << 20)
    words[row, _NEED] = need_1
    sums = np.int64(not sealed) << (clamp(total, -MAX_SUM_GAP, MAX_SUM_GAP) + MAX_SUM_GAP)
    if (game["phase"] == BID) & (game["player"] == viewer):  # the bid that the mask lacks
        closed = ~game["legal"] & ((ONE << (size + 1)) - 1)
        if closed:
            sums |= ONE << (17 + lowest(closed))
    sums |= ONE << (35 + relative(np.int64(game["dealer"]), viewer, players))
    sums |= (ONE << (42 + players - MIN_PLAYERS)) | (ONE << (47 + size - 1))
    words[row, _SUMS] = sums


@jit
def list_ones(words: Any, row: Int, index: Any, at: Int) -> Int:
    """Slots of the ones of ``words[row]`` into ``index[at]``, (N, MAX_ONES) int16; how many they are."""
    count = np.int64(0)
    for word in range(NUM_WORDS):
        rest = words[row, word]
        while rest:
            index[at, np.uint64(count)] = WORD * word + lowest(rest)
            rest &= rest - 1
            count += 1
    return count
