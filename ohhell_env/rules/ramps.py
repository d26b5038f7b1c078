"""Ramps: the hands of a match in order, named patterns, and hands with special rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from ohhell_env.rules.limits import MAX_HANDS

# Rules of single hands, as bits (encyclopedia, "Order of Hands", 8).
NO_TRUMP_HAND, BLIND_HAND, GOLDEN_HAND, MISER_HAND = 1, 2, 4, 8
SPECIALS = {"no trump": NO_TRUMP_HAND, "blind": BLIND_HAND, "golden": GOLDEN_HAND, "miser": MISER_HAND}
RANDOM, DRAWN = "random", "drawn"


class RampHand(NamedTuple):
    """One hand of a ramp: its cards for each seat, and its special rules as bits of `SPECIALS`."""

    size: int
    special: int = 0


def _down(peak: int) -> tuple[int, ...]:
    return tuple(range(peak, 0, -1))


def _up(peak: int) -> tuple[int, ...]:
    return tuple(range(1, peak + 1))


# Hand sizes from the largest hand allowed ("down-up": base rules; others: encyclopedia, "Order of Hands").
# Of "random" and "drawn" the sizes that may come: once each, in an order that a match's seed decides; and by a card of
# a second deck for each hand, as many hands as an ordinary ramp has. "up-down, no trump twice": encyclopedia, "64 Card
# Version".
RAMPS: dict[str, Callable[[int], tuple[int | str, ...]]] = {
    "down-up": lambda peak: _down(peak) + _up(peak)[1:],
    "up-down": lambda peak: _up(peak) + _down(peak)[1:],
    "down": _down,
    "up": _up,
    "up-down, peak twice": lambda peak: _up(peak) + _down(peak),
    "up-down, no trump twice": lambda peak: (*_up(peak), *(f"{peak} no trump",) * 2, *_down(peak)),
    "up twice": lambda peak: _up(peak) * 2,
    RANDOM: _up,
    DRAWN: lambda peak: _up(peak) + _down(peak)[1:],
}
_CORNERS = re.compile(r"\d+(\.\.\d+)+")  # the online table's "10..1..10": start, switch, end


def corners(ramp: str) -> tuple[int, ...] | None:
    """Hand sizes of a ramp such as ``"10..1..10"``; None where the text is not one."""
    if not _CORNERS.fullmatch(ramp):
        return None
    points = [int(number) for number in ramp.split("..")]
    sizes = [points[0]]
    for start, end in pairwise(points):
        step = 1 if end >= start else -1
        sizes += range(start + step, end + step, step) if end != start else []
    return tuple(sizes)


def ramp_hand(entry: int | str) -> RampHand:
    """A hand from an entry of a ramp: a size, or a size with special rules, as ``"8 no trump"`` or ``"5 blind"``.

    Raises:
        ValueError: if the entry is neither.
    """
    if not isinstance(entry, str):
        return RampHand(entry)
    number, _, words = entry.strip().partition(" ")
    special = 0
    rest = words.strip()
    while rest:
        word = next((word for word in SPECIALS if rest.startswith(word)), None)
        if word is None:
            break
        special |= SPECIALS[word]
        rest = rest[len(word) :].strip(" ,")
    if not number.isdecimal() or not special or rest:
        raise ValueError(f"{entry!r} is no hand")
    return RampHand(int(number), special)


def entry_of(hand: RampHand) -> int | str:
    """A hand as an entry of a ramp; the inverse of `ramp_hand`."""
    return f"{hand.size} {special_text(hand.special)}" if hand.special else hand.size


def special_text(special: int) -> str:
    """A hand's special rules as text: ``"no trump blind"``."""
    return " ".join(word for word, bit in SPECIALS.items() if special & bit)


def check_ramp(ramp: Any, peak: int, where: str) -> tuple[int | str, ...]:
    """A ramp given hand by hand, with entries in normal form.

    Raises:
        ValueError: if there are no hands or too many, or a hand is not allowed.
    """
    allowed = f"whole numbers from 1 to {peak} ({where})"
    try:
        entries = tuple(ramp)
    except TypeError:
        raise ValueError(f"ramp={ramp!r} is not allowed; use a pattern or a sequence of {allowed}") from None
    if not 1 <= len(entries) <= MAX_HANDS:
        raise ValueError(f"ramp={ramp!r} has {len(entries)} hands; a match has 1 to {MAX_HANDS}")
    checked: list[int | str] = []
    for entry in entries:
        try:
            hand = ramp_hand(entry)
        except ValueError:
            hand = RampHand(0)
        whole: Any = hand.size  # a caller may give anything
        if isinstance(entry, bool) or not isinstance(whole, int) or not 1 <= hand.size <= peak:
            raise ValueError(
                f"ramp={ramp!r} holds {entry!r}; hand sizes are {allowed}, "
                f"or such a number with {', '.join(SPECIALS)}, as in '{peak} no trump'"
            )
        if hand.special & GOLDEN_HAND and hand.special & (MISER_HAND | BLIND_HAND):
            raise ValueError(f"ramp={ramp!r} holds {entry!r}; in a golden hand nobody bids")
        if hand.special & MISER_HAND and hand.special & BLIND_HAND:
            raise ValueError(f"ramp={ramp!r} holds {entry!r}; in a miser hand nobody bids")
        checked.append(entry_of(hand))
    return tuple(checked)


def ramp_text(entries: Sequence[int | str]) -> str:
    """The hands as text, with runs shortened: 13..1..13; 8 no trump, 7..1, four times."""
    for times, word in ((4, "four times"), (3, "three times"), (2, "twice")):
        length = len(entries) // times
        if length > 4 and tuple(entries) == tuple(entries[:length]) * times:
            return f"{ramp_text(entries[:length])}, {word}"
    parts: list[str] = []
    for special, run in groupby(entries, key=lambda entry: isinstance(entry, str)):
        hands = list(run)
        parts += map(str, hands) if special else [_sizes_text([int(size) for size in hands])]
    return ", ".join(parts)


def _sizes_text(sizes: Sequence[int]) -> str:
    if len(sizes) == 1:
        return str(sizes[0])
    turns = [sizes[0]]
    for before, here, after in zip(sizes, sizes[1:], sizes[2:], strict=False):
        if after - here != here - before or abs(after - here) != 1:
            turns.append(here)
    turns.append(sizes[-1])
    monotone = all(abs(b - a) == 1 for a, b in pairwise(sizes))
    return "..".join(map(str, turns)) if monotone else ", ".join(map(str, sizes))
