"""Plots of a training run and of the strength that was measured, as PNG files.

ohhell plots runs/mine            # curves.png, evaluations.png, and strength.png where it was evaluated
ohhell plots checkpoints/mix512   # strength.png
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.console import Console

from ohhell_env.arena.matches import ArenaError
from ohhell_env.arena.plots import save
from ohhell_env.options import run_command

COLUMNS = 12  # evaluations of a run that its table shows, spread over it
# What of progress.csv is drawn, where the run has it.
_CURVES = {
    "points_a_hand": "points per hand in self-play",
    "bids_made": "bids made in self-play",
    "policy_loss": "policy loss",
    "value_loss": "value loss",
    "explained_variance": "explained variance",
    "entropy": "entropy, nats",
    "approx_kl": "approximate KL, nats",
    "clipfrac": "share of decisions clipped",
    "grad_norm": "gradient norm",
    "epsilon": "share of random decisions (epsilon)",
    "lr": "learning rate",
    "decisions_per_s": "decisions per second",
}


@dataclass(frozen=True)
class Options:
    """Plots of what a folder holds: a run's curves and evaluations, and the strength that reports measured."""

    folder: tyro.conf.Positional[Path]
    """A run's folder, a shipped checkpoint's, or one with report.json files of `ohhell evaluate` in or below it."""
    out: Path | None = None
    """Where to write; the folder itself by default."""


def plot_folder(folder: Path, out: Path) -> list[Path]:
    """Write the plots for which a folder has data; returns their paths.

    Raises:
        ArenaError: if it has nothing to plot, or a file in it is damaged.
    """
    written = []
    evaluations = read_evaluations(folder / "tb")
    if (folder / "progress.csv").is_file():
        written.append(plot_curves(folder, evaluations, out / "curves.png"))
    if evaluations:
        written.append(plot_evaluations(folder, evaluations, out / "evaluations.png"))
    if reports := read_reports(folder):
        written.append(plot_strength(reports, out / "strength.png"))
    if not written:
        raise ArenaError(f"{folder} has nothing to plot: no progress.csv with figures, no evaluations, no report.json")
    return written


def read_evaluations(folder: Path) -> dict[str, dict[str, tuple[NDArray[Any], NDArray[Any]]]]:
    """The evaluations among TensorBoard's curves: opponent -> table -> (iterations, margins per hand)."""
    if not folder.is_dir():
        return {}
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # takes long to import

    # A run that was resumed says so, and where it overrides earlier entries: no warning is needed.
    logging.getLogger("tensorboard").setLevel(logging.ERROR)
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    found: dict[str, dict[str, tuple[NDArray[Any], NDArray[Any]]]] = {}
    for tag in events.Tags()["scalars"]:
        if tag.startswith("against "):
            opponent, _, table = tag.removeprefix("against ").rpartition("/")
            scalars = events.Scalars(tag)
            steps, values = np.array([one.step for one in scalars]), np.array([one.value for one in scalars])
            found.setdefault(opponent, {})[table] = steps, values
    return found


def read_reports(folder: Path) -> list[dict[str, Any]]:
    """Settings and differences of the reports in and below a folder, and of a shipped checkpoint's evaluations."""
    reports = []
    for path in (*sorted(folder.rglob("report.json")), folder / "evaluations.json"):
        if path.is_file():
            try:
                data = json.loads(path.read_text(encoding="utf-8"))
                for report in data if isinstance(data, list) else [data]:
                    reports.append({key: report[key] for key in ("settings", "differences")})
            except (ValueError, TypeError, KeyError) as error:
                raise ArenaError(f"{path} is damaged: {error}") from error
    return reports


def read_progress(folder: Path) -> dict[str, NDArray[np.float64]]:
    """The columns of a run's progress.csv."""
    from training.learning.progress import rows_of  # brings torch along

    rows = rows_of(folder / "progress.csv")
    if not rows:
        raise ArenaError(f"{folder / 'progress.csv'} holds no iteration yet")
    try:
        return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    except ValueError as error:
        raise ArenaError(f"{folder / 'progress.csv'} is damaged: {error}") from error


def plot_curves(folder: Path, evaluations: Mapping[str, Mapping[str, Any]], path: Path) -> Path:
    """A run's figures over its decisions, each iteration's and a moving mean; and its evaluations, by table."""
    columns = read_progress(folder)
    names = [name for name in _CURVES if name in columns]
    figure = Figure(figsize=(15, 3.6 * -(-(len(names) + len(evaluations)) // 3)), layout="constrained")
    figure.suptitle(f"{folder.resolve().name}: {int(columns['decisions'][-1]):,} decisions")
    panels = iter(figure.subplots(-(-(len(names) + len(evaluations)) // 3), 3, squeeze=False).flat)
    millions = columns["decisions"] / 1e6
    for opponent, tables in evaluations.items():
        axes = next(panels)
        for k, (table, (steps, values)) in enumerate(tables.items()):
            style = {"color": "black", "linewidth": 2} if table == "mean" else {"color": f"C{k}", "linewidth": 1}
            axes.plot(
                np.interp(steps, columns["iteration"], millions), values, "o-", label=table, markersize=3, **style
            )
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_title(f"margin per hand over {opponent}", fontsize="medium")
        axes.legend(fontsize="x-small", ncols=3)
    for name in names:
        axes = next(panels)
        axes.plot(millions, columns[name], color="C0", alpha=0.35, linewidth=0.8)
        axes.plot(millions, moving_mean(columns[name], max(1, len(millions) // 40)), color="C0", linewidth=1.6)
        axes.set_title(_CURVES[name], fontsize="medium")
    for axes in figure.axes[: len(names) + len(evaluations)]:
        axes.grid(alpha=0.3)
        axes.set_xlabel("million decisions")
    for axes in panels:
        axes.set_axis_off()
    return save(figure, path)


def moving_mean(values: NDArray[np.float64], half: int) -> NDArray[np.float64]:
    """The mean of each value and its neighbours, ``half`` on either side, fewer at the ends: the same length."""
    sums = np.concatenate([[0.0], np.nancumsum(values)])
    counts = np.concatenate([[0], np.cumsum(~np.isnan(values))])
    low = np.maximum(np.arange(len(values)) - half, 0)
    high = np.minimum(np.arange(len(values)) + half + 1, len(values))
    return (sums[high] - sums[low]) / np.maximum(counts[high] - counts[low], 1)


def plot_evaluations(folder: Path, evaluations: Mapping[str, Mapping[str, Any]], path: Path) -> Path:
    """A table of a run's evaluations for each opponent: game tables down, the run's decisions across."""
    progress = read_progress(folder)
    grids = {}
    for opponent, tables in evaluations.items():
        steps = np.unique(np.concatenate([steps for steps, _ in tables.values()]))
        steps = steps[np.unique(np.linspace(0, len(steps) - 1, COLUMNS).round().astype(int))]
        at = [dict(zip(*pair, strict=True)) for pair in tables.values()]
        grids[opponent] = steps, np.array([[values.get(step, np.nan) for step in steps] for values in at])
    widest = max(len(steps) for steps, _ in grids.values())
    height = sum(1 + 0.36 * len(values) for _, values in grids.values())
    figure = Figure(figsize=(4 + 0.9 * widest, 0.6 + height), layout="constrained")
    figure.suptitle(f"{folder.resolve().name}: margin per hand, points")
    panels = figure.subplots(len(grids), 1, squeeze=False)[:, 0]
    for axes, (opponent, (steps, values)) in zip(panels, grids.items(), strict=True):
        decisions = np.interp(steps, progress["iteration"], progress["decisions"]) / 1e6
        words = [[f"{value:+.2f}" for value in row] for row in values]
        coloured_table(axes, values, list(evaluations[opponent]), [f"{one:.1f} M" for one in decisions], words)
        axes.set_title(f"against {opponent}, by decisions", fontsize="medium")
    return save(figure, path)


def plot_strength(reports: Sequence[Mapping[str, Any]], path: Path) -> Path:
    """Margin per hand over each opponent, ±: half of the 95 % interval; players and rules down, cards across."""
    cells: dict[str, dict[str, Any]] = {}
    for report in reports:
        settings, rules = report["settings"], report["settings"]["rules"][0]
        hook = "" if rules["hook"] else ", no hook"
        for one in report["differences"]:
            row = f"{one['a']} against {one['b']}, {rules['players']} players, {rules['bids']}{hook}"
            whole = "match" if settings["hands"] == "ramp" else "all"
            cells.setdefault(row, {}).update({**one["by_hand_size"], whole: one["points"]})
    numbers = sorted({int(size) for row in cells.values() for size in row if size.isdecimal()})
    columns = [*map(str, numbers), *(name for name in ("all", "match") if any(name in row for row in cells.values()))]
    values = np.full((len(cells), len(columns)), np.nan)
    words = [[""] * len(columns) for _ in cells]
    for k, cell in enumerate(cells.values()):
        for j, column in enumerate(columns):
            if column in cell and cell[column]["mean"] is not None:
                mean, low, high = (cell[column][end] for end in ("mean", "low", "high"))
                values[k, j] = mean
                words[k][j] = f"{mean:+.2f}" + ("" if low is None else f" ±{(high - low) / 2:.2f}")
    figure = Figure(figsize=(6 + 1.05 * len(columns), 1.6 + 0.36 * len(cells)), layout="constrained")
    axes = figure.subplots()
    coloured_table(axes, values, list(cells), columns, words)
    axes.set_title("margin per hand over the opponent, by cards in the hand", fontsize="medium")
    return save(figure, path)


def coloured_table(
    axes: Axes, values: NDArray[np.float64], rows: Sequence[str], columns: Sequence[str], words: Sequence[Sequence[str]]
) -> None:
    """A table of numbers, green above zero and red below; empty where a value is NaN."""
    limit = 1.5 * np.nanmax(np.abs(values), initial=0.01)  # the darkest colours would hide the words
    axes.imshow(values, cmap="RdYlGn", vmin=-limit, vmax=limit, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            axes.text(column, row, words[row][column], ha="center", va="center", fontsize="small")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return run_command(Options, _run, "ohhell plots", arguments)


def _run(options: Options, console: Console) -> None:
    if not options.folder.is_dir():
        raise ArenaError(f"there is no folder {str(options.folder)!r}")
    out = options.out or options.folder
    out.mkdir(parents=True, exist_ok=True)
    console.print(f"Written: {', '.join(map(str, plot_folder(options.folder, out)))}", soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())
