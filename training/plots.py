"""Plots of an evaluation and of a tournament, as PNG files."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from training.command import file_written
from training.intervals import Estimate
from training.report import Report
from training.show import describe_settings

DPI = 120


def plot_report(report: Report, path: Path) -> Path:
    """Points, difference, and points and bids made by hand size or seat and by bid; returns the path."""
    figure = Figure(figsize=(12, 9), layout="constrained")  # no pyplot: no window, no state
    axes = figure.subplots(2, 2)
    names = [player.name for player in report.players]
    figure.suptitle(f"{names[0]} against {', '.join(names[1:])}\n{describe_settings(report.settings)}")
    sizes = list(report.players[0].by_hand_size)
    differences = {one.b: one.by_hand_size for one in report.differences}
    lines(axes[0, 0], differences, f"{names[0]} less ..., points a hand", "cards in the hand", sizes)
    axes[0, 0].axhline(0, color="black", linewidth=0.8)
    by_seat = {p.name: {seat: line.points for seat, line in p.by_seat.items()} for p in report.players}
    lines(
        axes[0, 1],
        by_seat,
        "points a hand",
        "seats left of the dealer (last: the dealer)",
        list(next(iter(by_seat.values()))),
    )
    by_size = {p.name: {size: percent(line.made) for size, line in p.by_hand_size.items()} for p in report.players}
    lines(axes[1, 0], by_size, "bids made %", "cards in the hand", sizes)
    by_bid = {p.name: {bid: percent(line.made) for bid, line in p.by_bid.items()} for p in report.players}
    lines(axes[1, 1], by_bid, "bids made %", "bid", sorted({bid for group in by_bid.values() for bid in group}))
    return save(figure, path)


def lines(
    axes: Axes, groups: Mapping[str, Mapping[int, Estimate]], what: str, along: str, ticks: Sequence[int]
) -> None:
    """A line with intervals for each player, over whole numbers; moved apart a little so that intervals show."""
    for k, (name, group) in enumerate(groups.items()):
        shift = 0.12 * (k - (len(groups) - 1) / 2)
        errorbars(axes, [key + shift for key in group], list(group.values()), label=name, linewidth=1)
    axes.set(xlabel=along, ylabel=what, xticks=ticks)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def errorbars(axes: Axes, places: Sequence[float], estimates: Sequence[Estimate], **style: Any) -> None:
    """Means with their intervals; no interval where there is none."""
    means = np.array([one.mean for one in estimates])
    ends = np.nan_to_num([[one.mean - one.low for one in estimates], [one.high - one.mean for one in estimates]])
    axes.errorbar(places, means, yerr=ends, fmt="o-", markersize=4, capsize=3, **style)


def percent(one: Estimate) -> Estimate:
    """The same in hundredths."""
    return Estimate(one.mean * 100, one.low * 100, one.high * 100, one.n)


def save(figure: Figure, path: Path) -> Path:
    """Write a figure as PNG; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return file_written(path, buffer.getvalue())
