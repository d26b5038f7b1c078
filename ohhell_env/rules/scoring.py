"""Scorings: plain functions of (bid, taken, hand size), tabulated once for the kernel.

A scoring is any callable ``points = scoring(bid, taken, hand_size)``; it may take ``players`` as a fourth argument and
``trump`` (suit 0..3, or 4 for no trump) as a fifth. The kernel never calls it: `tabulate` fills a table with every
value that can occur, so a scoring written in one line of Python costs nothing in play.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.rules.cards import NUM_SUITS, SUIT_NAMES
from ohhell_env.rules.limits import MAX_HAND_SIZE

Scoring = Callable[..., float]
SPADES = SUIT_NAMES.index("spades")
TRUMP_NAMES = (*SUIT_NAMES, "no trump")
_SIGNATURE = "(bid, taken, hand_size[, players[, trump]]) -> points"


def exact(bid: int, taken: int, hand_size: int) -> float:
    """Made exactly: 10 + bid. Missed either way: 0.

    Source: base rules, "Scoring"; encyclopedia, scoring 2.
    """
    return 10 + bid if taken == bid else 0


def basic(bid: int, taken: int, hand_size: int) -> float:
    """A point per trick, and 10 more when the bid is made exactly.

    Source: encyclopedia, scoring 1.
    """
    return taken + 10 if taken == bid else taken


def exact_with_penalty(bid: int, taken: int, hand_size: int) -> float:
    """Made exactly: 10 + bid. Missed either way: minus the bid.

    Source: encyclopedia, scoring 3.
    """
    return 10 + bid if taken == bid else -bid


def exact_with_set_penalty(bid: int, taken: int, hand_size: int) -> float:
    """Made exactly: 10 + bid. More tricks: a point per trick. Fewer: -10.

    Source: encyclopedia, scoring 4.
    """
    if taken == bid:
        return 10 + bid
    return taken if taken > bid else -10


def reduced_zero(bid: int, taken: int, hand_size: int) -> float:
    """As basic, but a zero bid made is worth 5.

    Source: encyclopedia, scoring 5.
    """
    return 5 if bid == taken == 0 else basic(bid, taken, hand_size)


def adjusted_zero(bid: int, taken: int, hand_size: int) -> float:
    """As basic, but a zero bid made is worth 5 + hand size.

    Source: encyclopedia, scoring 6.
    """
    return 5 + hand_size if bid == taken == 0 else basic(bid, taken, hand_size)


def progressive(bid: int, taken: int, hand_size: int) -> float:
    """Made exactly: 10 + bid squared. Missed: a point per trick.

    Source: encyclopedia, scoring 7.
    """
    return 10 + bid * bid if taken == bid else taken


def montreal(bid: int, taken: int, hand_size: int) -> float:
    """Made exactly: 10 + twice the tricks. Missed: 0.

    Source: encyclopedia, scoring 8.
    """
    return 10 + 2 * taken if taken == bid else 0


def negative(bid: int, taken: int, hand_size: int) -> float:
    """Off by d tricks: 1 + 2 + .. + d points; the lowest total wins.

    Source: encyclopedia, scoring 9.
    """
    off = abs(bid - taken)
    return off * (off + 1) / 2


def simplified_negative(bid: int, taken: int, hand_size: int) -> float:
    """Off by d tricks: d squared points; the lowest total wins.

    Source: encyclopedia, scoring 10.
    """
    return (bid - taken) ** 2


def spades_double(bid: int, taken: int, hand_size: int, players: int, trump: int) -> float:
    """Made exactly: 10 + bid, twice that when spades are trump. Missed: 0.

    Source: encyclopedia, scoring 11, on exact scoring.
    """
    return exact(bid, taken, hand_size) * (2 if trump == SPADES else 1)


def trick(bid: int, taken: int, hand_size: int) -> float:
    """Made exactly: the bid, half a point for zero. Missed: minus the tricks off.

    Source: encyclopedia, scoring 12.
    """
    if taken == bid:
        return bid or 0.5
    return -abs(bid - taken)


def binary(bid: int, taken: int, hand_size: int) -> float:
    """Made exactly: 10. Missed: 0.

    Source: encyclopedia, scoring 13.
    """
    return 10 if taken == bid else 0


def binary_nil(bid: int, taken: int, hand_size: int, players: int) -> float:
    """As binary; with more tricks than players a zero bid is worth 20 or -10.

    Source: encyclopedia, scoring 14.
    """
    if bid == 0 and hand_size > players:
        return 20 if taken == 0 else -10
    return binary(bid, taken, hand_size)


def scratch(bid: int, taken: int, hand_size: int) -> float:
    """Missed: a scratch, -1. Made: the bid in 8192ths, so that made bids break ties.

    Source: encyclopedia, scoring 15.
    """
    return bid / 8192 if taken == bid else -1  # a power of two: sums are exact, and equal totals tie


def seven_down(bid: int, taken: int, hand_size: int) -> float:
    """Made exactly: 10 + bid, 5 for zero. Missed: minus the tricks off.

    Source: seven-down rules, "Scoring".
    """
    if taken == bid:
        return 10 + bid if bid else 5
    return -abs(bid - taken)


def blob(bid: int, taken: int, hand_size: int) -> float:
    """Made exactly: 10 + bid. Missed: minus the tricks off.

    Source: up-and-down page, "Blob", which leaves open how much is lost.
    """
    return 10 + bid if taken == bid else -abs(bid - taken)


def oh_sh(bid: int, taken: int, hand_size: int) -> float:
    """Made exactly: 10 + 3 per trick bid. Missed: minus 3 per trick bid, -5 for a zero bid.

    Source: encyclopedia, "64 Card Version".
    """
    if taken == bid:
        return 10 + 3 * bid
    return -3 * bid if bid else -5


# Online table, "Scoring": what a bid that is made or missed is worth.
MADE: dict[str, Callable[[int], float]] = {
    "bid+10": lambda bid: bid + 10,
    "2bid+10": lambda bid: 2 * bid + 10,
    "3bid+10": lambda bid: 3 * bid + 10,
    "10bid+10": lambda bid: 10 * bid + 10,
    "bid^2+10": lambda bid: bid * bid + 10,
}
MISSED: dict[str, Callable[[int, int], float]] = {
    "zero": lambda bid, taken: 0,
    "tricks taken": lambda bid, taken: taken,
    "-off": lambda bid, taken: -abs(bid - taken),
    "-5 off": lambda bid, taken: -5 * abs(bid - taken),
}


def _online(made: str, missed: str) -> Scoring:
    def scoring(bid: int, taken: int, hand_size: int) -> float:
        return MADE[made](bid) if taken == bid else MISSED[missed](bid, taken)

    scoring.__name__ = f"{made} / {missed}"
    scoring.__doc__ = f'Made exactly: {made}. Missed: {missed}.\n\nSource: online table, "Scoring".'
    return scoring


_NAMED: tuple[Scoring, ...] = (
    exact,
    basic,
    exact_with_penalty,
    exact_with_set_penalty,
    reduced_zero,
    adjusted_zero,
    progressive,
    montreal,
    negative,
    simplified_negative,
    spades_double,
    trick,
    binary,
    binary_nil,
    scratch,
    seven_down,
    blob,
    oh_sh,
    *(_online(made, missed) for made in MADE for missed in MISSED),
)
SCORINGS: dict[str, Scoring] = {scoring.__name__: scoring for scoring in _NAMED}
LOWEST_WINS = (negative, simplified_negative)


def num_arguments(scoring: Scoring) -> int:
    """How many of (bid, taken, hand size, players, trump) a scoring takes: 3 to 5."""
    try:
        parameters = inspect.signature(scoring).parameters.values()
    except (TypeError, ValueError):  # a callable without a readable signature
        return 3
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [one for one in parameters if one.kind in positional and one.default is inspect.Parameter.empty]
    return min(max(len(needed), 3), 5)


@dataclass(frozen=True)
class TabulatedScoring:
    """Points from a table.

    A record of a match stores a scoring that has no name in this way.

    Attributes:
        points: for each hand size the rows ``points[bid][taken]``.
        by_trump: where the points depend on trump, such a table for each suit and for no trump; ``points`` is then
            that of no trump.
    """

    points: tuple[tuple[int, tuple[tuple[float, ...], ...]], ...]
    by_trump: tuple[tuple[tuple[int, tuple[tuple[float, ...], ...]], ...], ...] = ()

    @property
    def __signature__(self) -> inspect.Signature:
        """The arguments that the points depend on, for `num_arguments`."""
        names = ("bid", "taken", "hand_size", "players", "trump")[: 5 if self.by_trump else 3]
        return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])

    def __call__(self, bid: int, taken: int, hand_size: int, players: int = 0, trump: int = NUM_SUITS) -> float:
        """Points for one seat; `KeyError` for a hand size that the table does not have."""
        points = self.by_trump[trump] if self.by_trump else self.points
        return dict(points)[hand_size][bid][taken]

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> TabulatedScoring:
        """From ``{"5": [[points for taken 0..5] for bid 0..5], ...}``, or such tables by the names of the trumps.

        Raises:
            ValueError: if a row is missing, too short or not numeric.
        """
        if set(table) != set(TRUMP_NAMES):
            return cls(_points(table))
        by_trump = tuple(_points(table[name]) for name in TRUMP_NAMES)
        return cls(by_trump[NUM_SUITS], by_trump)

    @staticmethod
    def to_json(scoring: Scoring, hand_sizes: Iterable[int], players: int = 0) -> dict[str, Any]:
        """The inverse of `from_json`, for any scoring."""
        sizes = sorted(set(hand_sizes))
        if num_arguments(scoring) == 5:
            return {name: _rows(scoring, sizes, (players, trump)) for trump, name in enumerate(TRUMP_NAMES)}
        return _rows(scoring, sizes, (players,) if num_arguments(scoring) == 4 else ())


def _rows(scoring: Scoring, sizes: Iterable[int], rest: tuple[int, ...]) -> dict[str, list[list[float]]]:
    return {
        str(n): [[float(scoring(bid, taken, n, *rest)) for taken in range(n + 1)] for bid in range(n + 1)]
        for n in sizes
    }


def _points(table: Mapping[str, Any]) -> tuple[tuple[int, tuple[tuple[float, ...], ...]], ...]:
    points = []
    for size, rows in table.items():
        try:
            numbers = tuple(tuple(float(p) for p in row) for row in rows)
        except TypeError:
            numbers = ()
        length = int(size) + 1
        if len(numbers) != length or any(len(row) != length for row in numbers):
            raise ValueError(f"scoring table for hands of {size} must have {length} rows of {length} points")
        points.append((int(size), numbers))
    return tuple(points)


def resolve(scoring: str | Scoring) -> Scoring:
    """The function behind a scoring's name; a function is returned as it is.

    Raises:
        ValueError: if the name is not known or the value is not callable.
    """
    if isinstance(scoring, str):
        if scoring not in SCORINGS:
            raise ValueError(
                f"scoring={scoring!r} is not known; use one of {', '.join(map(repr, SCORINGS))} "
                f"or a function {_SIGNATURE}"
            )
        return SCORINGS[scoring]
    if not callable(scoring):
        raise ValueError(f"scoring={scoring!r} must be a name or a function {_SIGNATURE}")
    return scoring


def tabulate(
    scoring: Scoring,
    hand_sizes: Iterable[int],
    players: int = 0,
    trump: int = NUM_SUITS,
    max_hand_size: int = MAX_HAND_SIZE,
) -> NDArray[np.float64]:
    """Every value of a scoring, ``table[hand_size, bid, taken]`` in points.

    Args:
        scoring: the function.
        hand_sizes: the sizes that occur.
        players: players at the table, for a scoring that takes them.
        trump: trump suit or 4 for none, for a scoring that takes it.
        max_hand_size: the size that the table is laid out for.

    Returns:
        float64 array of shape (max_hand_size + 1,) * 3; zero where a hand size does not occur.

    Raises:
        ValueError: if the function fails or returns something that is not a finite number.
    """
    rest = (players, trump)[: num_arguments(scoring) - 3]
    table = np.zeros((max_hand_size + 1,) * 3, dtype=np.float64)
    for n in sorted(set(hand_sizes)):
        for bid in range(n + 1):
            for taken in range(n + 1):
                try:
                    points = float(scoring(bid, taken, n, *rest))
                except Exception as error:
                    raise ValueError(f"scoring(bid={bid}, taken={taken}, hand_size={n}) failed: {error}") from error
                if not math.isfinite(points):
                    raise ValueError(
                        f"scoring(bid={bid}, taken={taken}, hand_size={n}) returned {points}; "
                        "points must be a finite number"
                    )
                table[n, bid, taken] = points
    return table
