"""A run's figures: a line on the terminal, a row of progress.csv and TensorBoard's curves, all the same."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from training.learning.checkpoint import STATE, Counters, train_command
from training.learning.config import Config

# Column of the terminal's line -> (figure, format); a learner has only some of them. The CSV and TensorBoard have all.
_LINE = {
    "decisions": ("decisions", "{:>13,.0f}"),
    "per s": ("decisions_per_s", "{:>8,.0f}"),
    "left": ("minutes_left", "{:>6.1f} min"),
    "points": ("points_a_hand", "{:>7.3f}"),
    "made": ("bids_made", "{:>6.1%}"),
    "regression": ("regression_loss", "{:>10.4f}"),
    "correlation": ("correlation", "{:>11.4f}"),
    "policy loss": ("policy_loss", "{:>11.4f}"),
    "value loss": ("value_loss", "{:>10.4f}"),
    "entropy": ("entropy", "{:>8.4f}"),
    "KL": ("approx_kl", "{:>7.4f}"),
    "clipped": ("clipfrac", "{:>7.1%}"),
    "expl. var.": ("explained_variance", "{:>10.3f}"),
    "gradient": ("grad_norm", "{:>8.3f}"),
    "lr": ("lr", "{:>9.2e}"),
}
_HEADER_EVERY = 25


class Progress:
    """Writes figures as they come.

    Args:
        folder: the run's folder.
        iteration: iterations done; later rows, of work that was lost, are dropped.
        console: the terminal.
    """

    def __init__(self, folder: Path, iteration: int, console: Console) -> None:
        self.console = console
        self._path = folder / "progress.csv"
        self._rows = [row for row in rows_of(self._path) if int(row["iteration"]) <= iteration]
        self._board = SummaryWriter(str(folder / "tb"), purge_step=iteration + 1)
        self._lines = 0
        self._rewrite()

    def _rewrite(self) -> None:
        self._fields = list(self._rows[0]) if self._rows else []
        with self._path.open("w", newline="") as file:
            if self._fields:
                writer = csv.DictWriter(file, self._fields)
                writer.writeheader()
                writer.writerows(self._rows)
        self._rows = []

    def report(self, iteration: int, figures: dict[str, float], losses: dict[str, float]) -> None:
        """Figures of an iteration and of its learning, as charts and losses; the same names each time."""
        tags = {**{name: f"charts/{name}" for name in figures}, **{name: f"losses/{name}" for name in losses}}
        figures = {**figures, **losses}
        row = {"iteration": iteration, **{name: f"{value:.6g}" for name, value in figures.items()}}
        row["decisions"] = str(int(figures["decisions"]))
        new = not self._fields
        self._fields = self._fields or list(row)
        with self._path.open("a", newline="") as file:
            writer = csv.DictWriter(file, self._fields)
            if new:
                writer.writeheader()
            writer.writerow(row)
        for name, value in figures.items():
            if not math.isnan(value):
                self._board.add_scalar(tags[name], value, iteration)
        columns = {title: column for title, column in _LINE.items() if column[0] in figures}
        if self._lines % _HEADER_EVERY == 0:
            titles = (f"{title:>{len(form.format(0))}}" for title, (_, form) in columns.items())
            self.console.print("[bold]" + " ".join(titles), soft_wrap=True)
        self._lines += 1
        self.console.print(
            " ".join(form.format(figures[name]) for name, form in columns.values()), highlight=False, soft_wrap=True
        )

    def evaluated(self, iteration: int, opponent: str, results: dict[str, float]) -> None:
        """Margin per hand, by table, in an evaluation."""
        for table, points in results.items():
            self._board.add_scalar(f"against {opponent}/{table}", points, iteration)
        text = "  ".join(f"{table} {points:+.2f}" for table, points in results.items())
        self.console.print(f"[green]against {opponent}, margin per hand:[/] {text}", soft_wrap=True)

    def close(self) -> None:
        """Flush the curves."""
        self._board.close()


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a progress.csv, the last one left out if it is incomplete; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [row for row in rows if None not in row.values()]  # a row cut short by a kill


def closing_words(config: Config, counters: Counters, done: float) -> str:
    """What to say when a run ends: what is saved where, how to resume it, what to try next."""
    folder = config.folder
    minutes = f"{counters.cpu_seconds / 60:,.1f} CPU-minutes"
    if done >= 1:
        state = f"Finished: {counters.decisions:,} decisions in {minutes}."
        longer = {**config.to_json(), "decisions": 2 * config.decisions, "cpu_minutes": 2 * config.cpu_minutes}
        more = ("Train longer", train_command(longer))
    else:
        left = counters.cpu_seconds * (1 - done) / done / 60
        state = (
            f"Stopped after {counters.decisions:,} decisions in {minutes}: {done:.1%} of the run, about {left:,.1f} "
            "CPU-minutes are left."
        )
        more = ("Go on", train_command(config.to_json()))
    lines = [
        ("Saved", f"{folder / STATE} (the run, to resume), {folder / 'checkpoint'} (the player)"),
        more,
        ("Measure it", f"ohhell evaluate {folder / 'checkpoint'} --vs heuristic --hands 5"),
        ("Play against it", f"ohhell play --opponents {folder / 'checkpoint'}"),
        ("Draw its curves", f"ohhell plots {folder}"),
    ]
    return "\n".join(["", state, *(f"{what + ':':<17}{text}" for what, text in lines)])
