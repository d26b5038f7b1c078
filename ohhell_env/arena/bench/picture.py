"""The picture of a result: every figure on the scale, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ohhell_env.arena.bench.protocol import HUNDRED, NAME, VERSION, ZERO
from ohhell_env.arena.bench.result import COLUMNS, Result
from ohhell_env.arena.plots import save


def draw_result(result: Result, path: Path) -> Path:
    """One player's figures; returns the path."""
    return draw_results([result], path)


def draw_results(results: Sequence[Result], path: Path) -> Path:
    """The figures of some players side by side, a row for each track; returns the path."""
    shown = {
        name: column for name, column in COLUMNS.items() if any(np.isfinite(one.score(*column).mean) for one in results)
    }
    figure = Figure(figsize=(9, 1.6 + len(shown) * (0.42 + 0.12 * len(results))), layout="constrained")
    axes = figure.subplots()
    axes.axvline(0, color="grey", linewidth=1)
    axes.axvline(100, color="grey", linewidth=1)
    for k, one in enumerate(results):
        shift = 0.7 * ((k + 0.5) / len(results) - 0.5)
        estimates = [one.score(*column) for column in shown.values()]
        there = [row for row, estimate in enumerate(estimates) if np.isfinite(estimate.mean)]
        means = np.array([estimates[row].mean for row in there])
        ends = np.nan_to_num([[estimates[row].mean - estimates[row].low for row in there],
                              [estimates[row].high - estimates[row].mean for row in there]])  # fmt: skip
        label = one.name.removeprefix("checkpoints/") + (" (quick)" if one.quick else "")
        places = np.array(there) + shift
        axes.errorbar(means, places, xerr=ends, fmt="o", markersize=5, capsize=3, label=label)
    axes.set(yticks=range(len(shown)), yticklabels=list(shown), xlabel=f"score: 0 is {ZERO}, 100 is {HUNDRED}")
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize="small", loc="best")
    axes.set_title(f"{NAME} {VERSION}, 95 % intervals", fontsize="medium")
    return save(figure, path)
