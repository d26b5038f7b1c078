"""What both layouts of the observation are made of: named sections, thresholds, and how an entry is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ohhell_env.kernel.jit import Int, by_entries, jit, store_32, store_64

SEALED = -2  # a bid in a view of `observation.blind`: made, but not to be seen
MIN_NEED, MAX_NEED = -3, 9  # need is clipped to this; bid and taken stand beside it in full
MAX_SUM_GAP = 8  # sum of bids minus hand size is clipped to -8..8
MAX_HANDS_LEFT = 32
# Thresholds of (viewer's total - other's total), points: ahead by at least .., behind by less than ..; finest where
# one hand can turn the match.
_AHEAD = (1, 3, 6, 11, 13, 16, 21, 31, 51, 81)
SCORE_GAPS = (*(1 - lead for lead in reversed(_AHEAD)), *_AHEAD)
MAX_GAP = 100
# How many thresholds a gap of -100..100 points reaches.
GAPS_REACHED = np.array([sum(gap >= t for t in SCORE_GAPS) for gap in range(-MAX_GAP, MAX_GAP + 1)])

_U1, _U6, _U63 = np.uint64(1), np.uint64(6), np.uint64(63)


@dataclass(frozen=True)
class Section:
    """One named part of the observation.

    Attributes:
        name: key of `observation_layout`.
        shape: rows and columns of the part; it is stored flat, row by row.
        meaning: what a one means.
    """

    name: str
    shape: tuple[int, ...]
    meaning: str

    @property
    def size(self) -> int:
        """Entries in the part."""
        return int(np.prod(self.shape))


# Sections that both layouts have.
HANDS_LEFT = Section("hands_left", (MAX_HANDS_LEFT,), "thermometer: at least 1, 2, .. 32 hands follow this one")
BID_SUM = Section(
    "bid_sum",
    (2 * MAX_SUM_GAP + 1,),
    f"sum of the bids made minus hand size, clipped to {-MAX_SUM_GAP}..{MAX_SUM_GAP}; none: bids are still sealed",
)


def score_gap_section(seats: int) -> Section:
    """How the viewer's total stands to each other seat's, in a layout of ``seats`` seats."""
    return Section(
        "score_gap",
        (seats - 1, len(SCORE_GAPS)),
        "thermometer for each other seat: viewer's total minus theirs is at least "
        + ", ".join(map(str, SCORE_GAPS))
        + " points",
    )


def need_section(seats: int) -> Section:
    """What each seat still needs, in a layout of ``seats`` seats."""
    return Section(
        "need",
        (seats, MAX_NEED - MIN_NEED + 1),
        f"bid - taken of each seat whose bid the viewer knows, clipped to {MIN_NEED}..{MAX_NEED}",
    )


def offsets(sections: tuple[Section, ...]) -> tuple[dict[str, np.int64], int]:
    """Where each section starts, and the length of them all."""
    starts, at = {}, 0
    for section in sections:
        # int64: the uncompiled encoders add int8 to it, and NumPy takes a Python int as an int8 there.
        starts[section.name] = np.int64(at)
        at += section.size
    return starts, at


@jit
def relative(seat: Int, viewer: Int, players: Int) -> Int:
    """How many seats to the left of the viewer a seat is."""
    distance = seat - viewer
    return distance if distance >= 0 else distance + players


@jit
def _put_entry(out: Any, row: Int, index: Int, one: bool) -> None:
    out[row, np.uint64(index)] = one  # the unsigned index spares the check for a negative one


@jit
def put_bit(out: Any, row: Int, index: Int, one: bool) -> None:
    """`put` into words."""
    at = np.uint64(index)
    out[row, at >> _U6] |= np.int64(one) << np.int64(at & _U63)


@jit
def store_bits(out: Any, row: Int, at: Int, mask: Int) -> None:
    """Add the bits of a mask to words: entry ``at + k`` is bit k."""
    word, shift = np.uint64(at) >> _U6, np.uint64(at) & _U63
    out[row, word] |= np.int64(mask) << np.int64(shift)
    spill = np.int64((np.uint64(mask) >> _U1) >> (_U63 - shift))  # in two steps: no machine shifts by 64
    # What spills from the last word is zero: any word may take it.
    out[row, min(word + _U1, np.uint64(out.shape[1] - 1))] |= spill


@jit
def _store_32_entries(out: Any, row: Int, at: Int, mask: Int) -> None:
    store_32(out, row, at, mask)


@jit
def _store_64_entries(out: Any, row: Int, at: Int, mask: Int) -> None:
    store_64(out, row, at, mask)


@jit
def _clear_entries(out: Any, row: Int, size: Int) -> None:
    for k in range(size):
        out[row, k] = 0


@jit
def clear_words(out: Any, row: Int, size: Int) -> None:
    """`clear` of words."""
    for k in range((size + 63) >> 6):
        out[row, k] = 0


# What the encoders are written in, for observations of an int8 for each entry and for those of 64 entries in a word:
# clear(out, row, size), put(out, row, index, one), and put_64(out, row, at, mask): the mask's bits from `at` on.
clear = by_entries(_clear_entries, clear_words)
put = by_entries(_put_entry, put_bit)
put_32 = by_entries(_store_32_entries, store_bits)
put_64 = by_entries(_store_64_entries, store_bits)
