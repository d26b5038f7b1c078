"""From outcomes to figures: each track on a scale where `random` is 0 and `search:1000` is 100.

Let x, r and s be a cell's mean results of the player, of `random` and of `search:1000`, on the same deals. A figure is
100 times the sum of (x - r) / u over its cells, divided by the sum of (s - r) / u. The unit u is 1, but where points
mean something else at every table, in the tracks variants and generalisation: there it is the standard deviation of
the points that `search:1000` makes in a hand. A table that the player does not play counts as if `random` had played.

Intervals are those of a ratio of means (Cochran, "Sampling Techniques", 3rd ed., 6.4), paired by deal, cells as strata:
luck of the deals that the three players share cancels. Where a cell has one deal only, all cells are one stratum. In
the track generalisation an observation is a table, since the tables themselves are a sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ohhell_env.arena.bench.play import Outcome, Sums
from ohhell_env.arena.bench.protocol import PLAYED, Cell, cells
from ohhell_env.arena.intervals import CONFIDENCE, Estimate

Outcomes = Mapping[str, Outcome]
Strata = list[NDArray[np.float64]]
"""Observations, one array for each stratum."""

MEASURES = {
    "points": ("points", "hands"),
    "wins": ("wins", "matches"),
    "together": ("together", "hands"),
    "made": ("made", "bids"),
    "others": ("others", "other_hands"),
}
"""What is measured: its sum and what that is divided by."""


class Kind(NamedTuple):
    """A figure of the protocol.

    Attributes:
        track: its track.
        part: of the track: an opponent, a split, a way to sit; "" for all of it.
        measure: one of `MEASURES`.
        says: what the raw value is, in words.
    """

    track: str
    part: str
    measure: str
    says: str


KINDS = (
    Kind("core", "", "points", "points per hand"),
    Kind("core", "heuristic", "points", "points per hand"),
    Kind("core", "search:100", "points", "points per hand"),
    Kind("core", "checkpoints/mix512", "points", "points per hand"),
    Kind("match", "wins", "wins", "matches won"),
    Kind("match", "points", "points", "points per hand"),
    Kind("variants", "", "points", "points per hand"),
    Kind("generalisation", "train", "points", "points per hand"),
    Kind("generalisation", "test", "points", "points per hand"),
    Kind("generalisation", "test-families", "points", "points per hand"),
    Kind("cooperation", "self", "together", "hands that all made"),
    Kind("cooperation", "cross-play", "together", "hands that all made"),
)
"""The figures, in the order shown; those of exploitability are apart."""
SCALED_BY_TABLE = ("variants", "generalisation")
BY_TABLE = ("generalisation",)  # tracks whose observations are tables


@dataclass(frozen=True)
class Figure:
    """A line of the result.

    Attributes:
        kind: which.
        score: 0 to 100 and beyond, from `random` to `search:1000`; NaN where the player plays none of the tables, or
            where the two are not apart.
        value: the raw result, the mean over the cells that the player plays.
        zero: that of `random`, over all cells.
        hundred: that of `search:1000`, over all cells.
        made: share of the bids made, over the cells that the player plays.
        margin: points per hand more than the others at the table had, over the cells that the player plays.
        cells: how many cells there are.
        played: how many of them the player plays.
    """

    kind: Kind
    score: Estimate
    value: Estimate
    zero: Estimate
    hundred: Estimate
    made: Estimate
    margin: Estimate
    cells: int
    played: int

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        estimates = {name: rounded(getattr(self, name)) for name in ("score", "value", "zero", "hundred")}
        alone = {} if self.kind.track == "cooperation" else {"margin": rounded(self.margin)}
        return {
            "track": self.kind.track,
            "part": self.kind.part,
            "measure": self.kind.says,
            **estimates,
            "bids_made": rounded(self.made),
            **alone,
            "observations": "tables" if self.kind.track in BY_TABLE else "deals",
            "cells": self.cells,
            "cells_played": self.played,
        }


def rounded(one: Estimate) -> dict[str, Any]:
    """Plain data with six digits after the point; None where there is no number."""
    ends = {"mean": one.mean, "low": one.low, "high": one.high}
    return {name: round(float(end), 6) if np.isfinite(end) else None for name, end in ends.items()} | {"n": one.n}


def figures(player: Outcomes, zero: Outcomes, hundred: Outcomes, waves: int, tracks: Sequence[str]) -> list[Figure]:
    """All figures of some tracks, from the first waves of each cell.

    Args:
        player: outcomes by job.
        zero: those of `random`.
        hundred: those of `search:1000`.
        waves: how many.
        tracks: whose figures.
    """
    chosen = [kind for kind in KINDS if kind.track in tracks and kind.track in PLAYED]
    return [_figure(kind, player, zero, hundred, waves) for kind in chosen]


def cells_of(kind: Kind, waves: int) -> list[Cell]:
    """The cells that a figure is made of."""
    whole = kind.part in ("", *MEASURES)
    return [
        cell
        for cell in cells()
        if cell.track == kind.track and (whole or cell.part == kind.part) and min(cell.waves) < waves
    ]


def _figure(kind: Kind, player: Outcomes, zero: Outcomes, hundred: Outcomes, waves: int) -> Figure:
    all_cells = cells_of(kind, waves)
    own = [_sums(player, cell, waves) for cell in all_cells]
    low = [_sums(zero, cell, waves) or {} for cell in all_cells]
    high = [_sums(hundred, cell, waves) or {} for cell in all_cells]
    plays = [sums for sums in own if sums is not None]
    units = [_unit(sums) if kind.track in SCALED_BY_TABLE else 1.0 for sums in high]
    gained, scale = [], []
    for x, r, s, unit in zip(own, low, high, units, strict=True):
        base = _values(r, kind.measure)
        gained.append((_values(r if x is None else x, kind.measure) - base) / unit)
        scale.append((_values(s, kind.measure) - base) / unit)
    by_table = kind.track in BY_TABLE

    def raw(group: Sequence[Sums], measure: str) -> Estimate:
        return mean_of_strata(_strata([_values(sums, measure) for sums in group], by_table))

    margins = [_values(sums, "points") - _values(sums, "others") for sums in plays if any(sums["other_hands"])]
    return Figure(
        kind=kind,
        score=ratio_of_strata(_strata(gained, by_table), _strata(scale, by_table), 100.0) if plays else _NOTHING,
        value=raw(plays, kind.measure),
        zero=raw(low, kind.measure),
        hundred=raw(high, kind.measure),
        made=raw(plays, "made"),
        margin=mean_of_strata(_strata(margins, by_table)),
        cells=len(all_cells),
        played=len(plays),
    )


_NOTHING = Estimate(np.nan, np.nan, np.nan, 0)


def _sums(outcomes: Outcomes, cell: Cell, waves: int) -> Sums | None:
    """A cell's sums, deal by deal; None where the player does not play it."""
    found = [outcomes[f"{cell.name}, wave {wave}"] for wave in cell.waves if wave < waves]
    if any(outcome.refused for outcome in found):
        return None
    return {name: [one for outcome in found for one in outcome.sums[name]] for name in found[0].sums}


def _values(sums: Sums, measure: str) -> NDArray[np.float64]:
    """A measure in each deal."""
    what, by = MEASURES[measure]
    return np.array(sums[what], dtype=np.float64) / np.maximum(np.array(sums[by], dtype=np.float64), 1.0)


def _unit(sums: Sums) -> float:
    """Standard deviation of the points of a hand."""
    hands, points, squares = (sum(sums[name]) for name in ("hands", "points", "squares"))
    return max(float(np.sqrt(max(squares / hands - (points / hands) ** 2, 0.0))), 1e-3)


def _strata(values: Strata, by_table: bool) -> Strata:
    """Cells are strata and deals observations; or all cells are one stratum, and each an observation."""
    together = by_table or min(map(len, values), default=2) < 2
    return [np.array([one.mean() for one in values])] if together and values else values


def mean_of_strata(strata: Strata) -> Estimate:
    """The mean of the strata's means, all alike in weight, with its interval."""
    if not strata:
        return _NOTHING
    mean = float(np.mean([one.mean() for one in strata]))
    half = _half_width(strata)
    return Estimate(mean, mean - half, mean + half, sum(map(len, strata)))


def ratio_of_strata(above: Strata, below: Strata, times: float = 1.0) -> Estimate:
    """``times`` the ratio of two such means, whose observations are pairs, with its interval to first order."""
    total = float(np.mean([one.mean() for one in below]))
    if total <= 0:
        return _NOTHING
    ratio = float(np.mean([one.mean() for one in above])) / total
    half = times * _half_width([(a - ratio * b) / total for a, b in zip(above, below, strict=True)])
    return Estimate(times * ratio, times * ratio - half, times * ratio + half, sum(map(len, above)))


def _half_width(strata: Strata) -> float:
    """Half of the interval of the mean of the strata's means; NaN where a stratum has a single observation."""
    if min(map(len, strata)) < 2:
        return float("nan")
    variance = sum(float(one.var(ddof=1)) / len(one) for one in strata) / len(strata) ** 2
    degrees = sum(len(one) - 1 for one in strata)
    return float(np.sqrt(variance) * stdtrit(degrees, (1 + CONFIDENCE) / 2))
