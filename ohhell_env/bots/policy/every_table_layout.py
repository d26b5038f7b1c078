"""The input and outputs of a policy for every table: which bit of which 64-bit word means what, which output is what.

Under the suits' new names a suit's thirteen standard cards stand at bits 0..12 of its sixteen, further cards of a
special deck from bit 13 on; each word of cards has four bits for jokers in a region of their own.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from ohhell_env.kernel import wide_bidding
from ohhell_env.observation.sections import MAX_HANDS_LEFT, MAX_NEED, MAX_SUM_GAP, MIN_NEED, SCORE_GAPS
from ohhell_env.observation.wide import CHOICES, FLAGS, MAX_DEALS, MAX_WORTH, PHASES, PLEDGES
from ohhell_env.rules.cards import NUM_SUITS
from ohhell_env.rules.limits import WIDE_MAX_HAND_SIZE, WIDE_MAX_PLAYERS, WIDE_MIN_PLAYERS, WIDE_NUM_BIDS
from ohhell_env.rules.ramps import SPECIALS

_S, _B, _H = WIDE_MAX_PLAYERS, WIDE_NUM_BIDS, WIDE_MAX_HAND_SIZE
WORD = 64
SUIT_BITS = 16  # of a word, for the cards of a suit
NUM_JOKERS = 4
MAX_COUNT = 26  # cards of a suit, that a length is told of
# Edges of the bins that a payment falls into, in stakes.
EDGES = np.array([-2.0, -1.4, -1.0, -0.7, -0.4, -0.2, -0.05, 0.05, 0.2, 0.4, 0.7, 1.0, 1.4, 2.0])
_BINS = len(EDGES) + 1
# Edges of the bins of the match's sections: leads in stakes, hands done, share of bids made, tricks off a hand.
LEAD_EDGES = np.array([-6, -4, -2.5, -1.6, -1.1, -0.8, -0.4, -0.05, 0.05, 0.4, 0.8, 1.1, 1.6, 2.5, 4, 6])
DONE_EDGES = np.array([1, 2, 4, 8, 16])
SHARE_EDGES = np.array([0.25, 0.4, 0.55, 0.7, 0.85])
OFF_EDGES = np.array([0.1, 0.3, 0.6, 1.0])
MADE, BELOW, ABOVE = range(3)  # a bid that is made, missed by a trick too few, by a trick too many

# Words of cards: name and how many, a word each.
CARD_WORDS = (
    ("hand", 1), ("hand_twice", 1), ("unseen", 1), ("unseen_twice", 1), ("played", _S), ("played_twice", _S),
    ("others", _S - 1), ("others_twice", _S - 1), ("turned", 1), ("shown", 1), ("trick", _S), ("missing", 1),
    ("pairs", 1), ("legal", 1), ("winning_cards", 1), ("above", 3), ("below", 2),
)  # fmt: skip
NUM_CARD_WORDS = sum(number for _, number in CARD_WORDS)
# Sections of bits behind them: name, size.
BIT_SECTIONS = (
    ("jokers", NUM_JOKERS * NUM_CARD_WORDS), ("slots", _H), ("voids", _S * NUM_SUITS), ("hands_left", MAX_HANDS_LEFT),
    ("score_gap", (_S - 1) * len(SCORE_GAPS)), ("trump", NUM_SUITS + 2), ("leader", _S), ("led_suit", NUM_SUITS + 1),
    ("winning", _S), ("worth", MAX_WORTH), ("bids", _S * (_B + 2)), ("first_bids", _S * (_B + 2)),
    ("pledges", _S * len(PLEDGES)), ("rounds", wide_bidding.LAST_ROUND + 1), ("taken", _S * _B),
    ("need", _S * (MAX_NEED - MIN_NEED + 1)), ("bid_sum", 2 * MAX_SUM_GAP + 1), ("forbidden", _B), ("dealer", _S),
    ("players", _S - WIDE_MIN_PLAYERS + 1), ("hand_size", _H), ("tricks_left", _H + 1), ("special", len(SPECIALS)),
    ("deals", MAX_DEALS), ("broken", 1), ("phase", len(PHASES)), ("flags", len(FLAGS) + 1),
    ("choices", sum(map(len, CHOICES.values()))), ("length", NUM_SUITS * (MAX_COUNT + 1)),
    ("unseen_length", NUM_SUITS * (MAX_COUNT + 1)), ("pay", _B * 3 * _BINS),
)  # fmt: skip
# Sections of the match, from a word of their own on; none of their bits is a one in a match of a single hand. Older
# checkpoints have no weights for them.
MATCH_SECTIONS = (
    ("lead", (_S - 1) * (len(LEAD_EDGES) + 1)), ("hands_done", len(DONE_EDGES) + 1),
    ("record_made", _S * (len(SHARE_EDGES) + 1)), ("record_over", _S * (len(OFF_EDGES) + 1)),
    ("record_under", _S * (len(OFF_EDGES) + 1)),
)  # fmt: skip
OF_THE_MATCH = ("hands_left", "score_gap", *(name for name, _ in MATCH_SECTIONS))  # all that tell of other hands


def _places() -> tuple[dict[str, int], dict[str, int], int, int]:
    """First word of each kind of card word, first bit of each section, how many words there are, without the match's.

    The last of the four is how many there are in all.
    """
    words, at = {}, 0
    for name, number in CARD_WORDS:
        words[name] = at
        at += number
    bits, at = {}, WORD * at
    for name, size in BIT_SECTIONS:
        bits[name] = at
        at += size
    hand_words = -(-at // WORD)
    at = WORD * hand_words
    for name, size in MATCH_SECTIONS:
        bits[name] = at
        at += size
    return words, bits, hand_words, -(-at // WORD)


WORDS, BITS, HAND_WORDS, NUM_WORDS = _places()
NUM_INPUTS = WORD * NUM_WORDS


def _mask_of(sections: tuple[str, ...]) -> NDArray[np.int64]:
    """The bits of some sections: (NUM_WORDS,)."""
    sizes = dict(BIT_SECTIONS + MATCH_SECTIONS)
    ones = np.zeros(NUM_INPUTS, dtype=np.uint8)
    for name in sections:
        ones[BITS[name] : BITS[name] + sizes[name]] = 1
    return np.packbits(ones, bitorder="little").view(np.int64)


HAND_ONLY = ~_mask_of(OF_THE_MATCH)  # (NUM_WORDS,) every bit but those that tell of other hands


def _hash(*what: object) -> str:
    return hashlib.sha256(repr(what).encode()).hexdigest()[:16]


HAND_LAYOUT_HASH = _hash(CARD_WORDS, BIT_SECTIONS, EDGES.tolist())  # of checkpoints without the match's sections
_MATCH_EDGES = [edges.tolist() for edges in (LEAD_EDGES, DONE_EDGES, SHARE_EDGES, OFF_EDGES)]
LAYOUT_HASH = _hash(CARD_WORDS, BIT_SECTIONS, EDGES.tolist(), MATCH_SECTIONS, _MATCH_EDGES)

# The network's outputs: cards, jokers, bids, pass, suits and no trump, positions.
OUT_JOKER = SUIT_BITS * NUM_SUITS
OUT_BID = OUT_JOKER + NUM_JOKERS
OUT_PASS = OUT_BID + _B
OUT_SUIT = OUT_PASS + 1
OUT_SLOT = OUT_SUIT + NUM_SUITS + 1
NUM_OUTPUTS = OUT_SLOT + _H
