"""Means and differences with 95 % intervals, one observation per deal, since its replays share the luck of the deal."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A mean with its interval.

    Attributes:
        mean: NaN when nothing was observed.
        low: lower end of the interval; NaN when fewer than two deals were observed.
        high: its upper end.
        n: deals observed, which is what the interval rests on, however many hands they were.
    """

    mean: float
    low: float
    high: float
    n: int

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0

    def to_json(self) -> dict[str, Any]:
        """Plain data, None where there is no number."""
        ends = {"mean": self.mean, "low": self.low, "high": self.high}
        return {**{name: None if np.isnan(end) else end for name, end in ends.items()}, "deals": self.n}

    def text(self, scale: float = 1.0, digits: int = 2, sign: bool = False) -> str:
        """``6.82 ±0.31``, or ``0.0 (0.0 to 3.6)`` where the interval is not symmetric."""
        if np.isnan(self.mean):
            return "–"
        mean = f"{self.mean * scale:{'+' if sign else ''}.{digits}f}"
        if np.isnan(self.low):
            return mean
        up, down = self.high - self.mean, self.mean - self.low
        if np.isclose(up, down, atol=1e-9):
            return f"{mean} ±{up * scale:.{digits}f}"
        return f"{mean} ({self.low * scale:.{digits}f} to {self.high * scale:.{digits}f})"


def mean_of(sums: NDArray[Any], counts: NDArray[Any], proportion: bool = False) -> Estimate:
    """The mean over all hands, with a t interval over deals.

    The ratio estimator for clusters (Cochran, "Sampling Techniques", 3rd ed., 2.11): with equally many hands in every
    deal it is the plain t interval over the deals' means.

    Args:
        sums: (D,) sum of the observed value over the hands of each deal.
        counts: (D,) number of those hands; deals with none do not count.
        proportion: the value is 0 or 1: the interval stays inside, and where all deals agree on 0 or on 1 it is the
            exact binomial one (Clopper and Pearson), one trial per deal.
    """
    used = counts > 0
    n = int(used.sum())
    if n == 0:
        return Estimate(np.nan, np.nan, np.nan, 0)
    mean = float(sums[used].sum() / counts[used].sum())
    if n == 1:
        return Estimate(mean, np.nan, np.nan, 1)
    half = _half_width(_residuals(sums[used], counts[used]))
    if not proportion:
        return Estimate(mean, mean - half, mean + half, n)
    rest = 1 - ((1 - CONFIDENCE) / 2) ** (1 / n)
    low, high = (1 - rest if mean == 1 else mean - half), (rest if mean == 0 else mean + half)
    return Estimate(mean, max(low, 0.0), min(high, 1.0), n)


def difference_of(sums: NDArray[Any], counts: NDArray[Any], sums_b: NDArray[Any], counts_b: NDArray[Any]) -> Estimate:
    """Mean of A minus mean of B, paired by deal: (D,) sums and counts of each, over deals that both played."""
    both = (counts > 0) & (counts_b > 0)
    n = int(both.sum())
    if n == 0:
        return Estimate(np.nan, np.nan, np.nan, 0)
    sums, counts, sums_b, counts_b = sums[both], counts[both], sums_b[both], counts_b[both]
    mean = float(sums.sum() / counts.sum() - sums_b.sum() / counts_b.sum())
    if n == 1:
        return Estimate(mean, np.nan, np.nan, 1)
    half = _half_width(_residuals(sums, counts) - _residuals(sums_b, counts_b))
    return Estimate(mean, mean - half, mean + half, n)


def _residuals(sums: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.float64]:
    """Each deal's contribution to the error of the mean, to first order: (D,)."""
    residuals: NDArray[np.float64] = (sums - sums.sum() / counts.sum() * counts) / counts.sum()
    return residuals


def _half_width(residuals: NDArray[np.float64]) -> float:
    n = len(residuals)
    error = np.sqrt(n / (n - 1) * np.square(residuals).sum())
    return float(error * stdtrit(n - 1, (1 + CONFIDENCE) / 2))
