"""Plots of an evaluation and of a tournament, as PNG files, and the pieces that other plots are made of."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ohhell_env.arena.intervals import Estimate
from ohhell_env.arena.report import Report
from ohhell_env.arena.standings import Standings
from ohhell_env.arena.tables import describe_settings
from ohhell_env.files import write_whole

DPI = 120


def plot_report(report: Report, path: Path) -> Path:
    """Points, difference, and points and bids made by hand size or seat and by bid; returns the path."""
    figure = Figure(figsize=(12, 9), layout="constrained")  # no pyplot: no window, no state
    axes = figure.subplots(2, 2)
    names = [player.name for player in report.players]
    figure.suptitle(f"{names[0]} against {', '.join(names[1:])}\n{describe_settings(report.settings)}")
    sizes = list(report.players[0].by_hand_size)
    differences = {one.b: one.by_hand_size for one in report.differences}
    lines(axes[0, 0], differences, f"margin of {names[0]} over ..., points per hand", "cards in the hand", sizes)
    axes[0, 0].axhline(0, color="black", linewidth=0.8)
    by_seat = {p.name: {seat: line.points for seat, line in p.by_seat.items()} for p in report.players}
    lines(
        axes[0, 1],
        by_seat,
        "points per hand",
        "seats left of the dealer (last: the dealer)",
        list(next(iter(by_seat.values()))),
    )
    by_size = {p.name: {size: percent(line.made) for size, line in p.by_hand_size.items()} for p in report.players}
    lines(axes[1, 0], by_size, "bids made %", "cards in the hand", sizes)
    by_bid = {p.name: {bid: percent(line.made) for bid, line in p.by_bid.items()} for p in report.players}
    lines(axes[1, 1], by_bid, "bids made %", "bid", sorted({bid for group in by_bid.values() for bid in group}))
    return save(figure, path)


def plot_standings(standings: Standings, path: Path) -> Path:
    """Ratings, points above the table's mean, and the differences of every two; returns the path."""
    names = [player.name for player in standings.players]
    places = np.arange(len(names))
    figure = Figure(figsize=(15, 2.5 + 0.45 * len(names)), layout="constrained")
    rating, above, cross = figure.subplots(1, 3)
    figure.suptitle(f"{standings.deals:,} deals: {describe_settings(standings.settings)}")
    if standings.cooperative:
        shares = [percent(player.hands_made) for player in standings.players if player.hands_made]
        ends_of = np.nan_to_num([[one.mean - one.low for one in shares], [one.high - one.mean for one in shares]])
        rating.errorbar([one.mean for one in shares], places, xerr=ends_of, fmt="o", capsize=3)
        rating.set(yticks=places, yticklabels=names, xlabel="hands made at the player's tables, %")
    else:
        deviations = [1.96 * (player.deviation or 0.0) for player in standings.players]
        skills = [player.rating or 0.0 for player in standings.players]
        rating.errorbar(skills, places, xerr=deviations, fmt="o", capsize=3)
        rating.set(yticks=places, yticklabels=names, xlabel="rating, ±1.96 standard deviations")
    means = [player.above.mean for player in standings.players]
    ends = [(player.above.high - player.above.low) / 2 for player in standings.players]
    above.errorbar(means, places, xerr=np.nan_to_num(ends), fmt="o", capsize=3)
    above.axvline(0, color="black", linewidth=0.8)
    above.set(yticks=places, yticklabels=[], xlabel="points per hand above the table's mean, 95 %")
    for axes in (rating, above):
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.grid(alpha=0.3)
    _cross(cross, standings, names)
    return save(figure, path)


def plot_lines(
    panels: Sequence[Mapping[str, Mapping[int, Estimate]]], title: str, what: str, along: str, path: Path
) -> Path:
    """Panels side by side, each with a line and intervals for every name; returns the path."""
    figure = Figure(figsize=(5.5 * len(panels), 4), layout="constrained")
    figure.suptitle(title, fontsize="medium")
    for axes, groups in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels, strict=True):
        lines(axes, groups, what, along, list(next(iter(groups.values()))))
        axes.axhline(0, color="black", linewidth=0.8)
    return save(figure, path)


def _cross(axes: Axes, standings: Standings, names: Sequence[str]) -> None:
    differences = np.array([[standings.differences[a, b].mean if a != b else np.nan for b in names] for a in names])
    limit = np.nanmax(np.abs(differences), initial=0.01)
    axes.imshow(differences, cmap="RdYlGn", vmin=-limit, vmax=limit)
    for (row, column), value in np.ndenumerate(differences):
        if np.isfinite(value):
            clear = standings.differences[names[row], names[column]].clear
            axes.text(column, row, f"{value:+.2f}", ha="center", va="center", weight="bold" if clear else "normal")
    ticks = range(len(names))
    axes.set(xticks=ticks, yticks=ticks, yticklabels=names)
    axes.set_xticklabels(names, rotation=45, ha="right")
    axes.set_title("points per hand, row minus column (bold: clear)", fontsize="medium")


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
    return write_whole(path, buffer.getvalue())
