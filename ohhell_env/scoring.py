"""Scorings: plain functions of (bid, taken, hand size), tabulated once for the kernel.

A scoring is any callable ``points = scoring(bid, taken, hand_size)``. The kernel never calls it: `tabulate`
fills a table with every value that can occur, so a scoring written in one line of Python costs nothing in play.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.limits import MAX_HAND_SIZE

Scoring = Callable[[int, int, int], float]


def exact(bid: int, taken: int, hand_size: int) -> float:
    """Made exactly: 10 + bid. Missed either way: 0 (seed 000, "Scoring"; seed 001, scoring 2)."""
    return 10 + bid if taken == bid else 0


def basic(bid: int, taken: int, hand_size: int) -> float:
    """A point a trick, and 10 more when the bid is made exactly (seed 001, scoring 1)."""
    return taken + 10 if taken == bid else taken


SCORINGS: dict[str, Scoring] = {"exact": exact, "basic": basic}


@dataclass(frozen=True)
class TabulatedScoring:
    """Points from a table.

    A record of a match stores a scoring that has no name in this way.

    Attributes:
        points: for each hand size the rows ``points[bid][taken]``.
    """

    points: tuple[tuple[int, tuple[tuple[float, ...], ...]], ...]

    def __call__(self, bid: int, taken: int, hand_size: int) -> float:
        """Points for one seat; `KeyError` for a hand size that the table does not have."""
        return dict(self.points)[hand_size][bid][taken]

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> TabulatedScoring:
        """From ``{"5": [[points for taken 0..5] for bid 0..5], ...}``.

        Raises:
            ValueError: if a row is missing, too short or not numeric.
        """
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
        return cls(tuple(points))

    @staticmethod
    def to_json(scoring: Scoring, hand_sizes: Iterable[int]) -> dict[str, list[list[float]]]:
        """The inverse of `from_json`, for any scoring."""
        return {
            str(n): [[float(scoring(bid, taken, n)) for taken in range(n + 1)] for bid in range(n + 1)]
            for n in sorted(set(hand_sizes))
        }


def resolve(scoring: str | Scoring) -> Scoring:
    """The function behind a scoring's name; a function stands for itself.

    Raises:
        ValueError: if the name is not known or the value is not callable.
    """
    if isinstance(scoring, str):
        if scoring not in SCORINGS:
            raise ValueError(
                f"scoring={scoring!r} is not known; use one of {', '.join(map(repr, SCORINGS))} "
                "or a function (bid, taken, hand_size) -> points"
            )
        return SCORINGS[scoring]
    if not callable(scoring):
        raise ValueError(f"scoring={scoring!r} must be a name or a function (bid, taken, hand_size) -> points")
    return scoring


def tabulate(scoring: Scoring, hand_sizes: Iterable[int]) -> NDArray[np.float64]:
    """Every value of a scoring, ``table[hand_size, bid, taken]`` in points.

    Returns:
        float64 array of shape (MAX_HAND_SIZE + 1,) * 3; zero where a hand size does not occur.

    Raises:
        ValueError: if the function fails or returns something that is not a finite number.
    """
    table = np.zeros((MAX_HAND_SIZE + 1,) * 3, dtype=np.float64)
    for n in sorted(set(hand_sizes)):
        for bid in range(n + 1):
            for taken in range(n + 1):
                where = f"scoring(bid={bid}, taken={taken}, hand_size={n})"
                try:
                    points = float(scoring(bid, taken, n))
                except Exception as error:
                    raise ValueError(f"{where} failed: {error}") from error
                if not math.isfinite(points):
                    raise ValueError(f"{where} returned {points}; points must be a finite number")
                table[n, bid, taken] = points
    return table
