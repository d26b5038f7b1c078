"""Which learner is better? `ohhell bakeoff --out FOLDER`: equal CPU time, several seeds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from ohhell_env.arena.evaluate import evaluate
from ohhell_env.arena.intervals import Estimate
from ohhell_env.arena.matches import ArenaError
from ohhell_env.arena.results import contents
from ohhell_env.files import write_whole
from ohhell_env.options import progress, run_command
from training.learning.config import Config

LEARNERS = ("dmc", "ppo")
BENCHMARK = "heuristic"
DUELS = {"one": "dmc in one seat, ppo in the others", "many": "ppo in one seat, dmc in the others"}

Row = tuple[str, int, dict[int, Estimate]]  # what was measured, seed of the runs, cards in the hand -> points per hand


@dataclass(frozen=True)
class Options:
    """Train both learners, one run at a time, and measure them; the same command continues where it was stopped."""

    out: Path
    """Folder for the runs, the evaluations, results.md and results.png."""
    cpu_minutes: float = 6.0
    """CPU time of each run."""
    seeds: tuple[int, ...] = (1, 2, 3)
    """Seeds of the runs of each learner; each is measured on deals of its own, the same ones for both learners."""
    width: int = 256
    """Units of a hidden layer, of three."""
    hands: str = "3,5,8,10"
    """Hand sizes of the evaluation, at four players; training is at the tables that it has by default."""
    deals: int = 1000
    """Deals of each evaluation, each played in every seating."""

    def config(self, learner: str, seed: int) -> Config:
        """A run's options: the defaults of training except for size and length.

        Raises:
            ValueError: for a value that is not allowed.
        """
        options: dict[str, Any] = {
            "folder": self.out / f"{learner}-{seed}",
            "learner": learner,
            "seed": seed,
            "width": self.width,
            "decisions": 10**13,
            "cpu_minutes": self.cpu_minutes,
            "eval_minutes": 0.0,
            "save_minutes": 1.0,
        }
        return Config(**options)


def train_all(options: Options) -> None:
    """Train what is not trained yet, one process at a time, the learners in turn.

    Raises:
        ArenaError: if a run fails; its messages are above.
    """
    for seed, learner in product(options.seeds, LEARNERS):
        config = options.config(learner, seed)
        arguments = ["-u", "-m", "training.train"]
        for name in ("folder", "learner", "seed", "width", "decisions", "cpu_minutes", "eval_minutes", "save_minutes"):
            arguments += [f"--{name.replace('_', '-')}", str(getattr(config, name))]
        run = subprocess.Popen([sys.executable, *arguments])
        try:
            status = run.wait()
        except KeyboardInterrupt:
            run.wait()  # Ctrl-C reached it too: it saves after the current iteration
            raise
        if status:
            raise ArenaError(f"training in {config.folder} ended with status {status}")
        meta = json.loads((config.folder / "checkpoint" / "meta.json").read_text())
        if meta["cpu_hours"] < round(options.cpu_minutes / 60, 3):
            raise KeyboardInterrupt(f"{config.folder} is not trained to its end; the same command continues it")


def measure(options: Options, player: str, opponent: str, seating: str, seed: int) -> dict[int, Estimate]:
    """Margin per hand of a player over its opponent, by hand size; measured once, and then read from the file."""
    path = options.out / "evaluations" / f"{Path(player).name}-{Path(opponent).name}-{seating}-{seed}.json"
    specs = [
        str(options.out / spec / "checkpoint") if spec.startswith(LEARNERS) else spec for spec in (player, opponent)
    ]
    wanted = {"contents": contents(specs), "deals": options.deals, "hands": options.hands, "seed": seed}
    report = json.loads(path.read_text()) if path.exists() else None
    if report is None or {name: report["settings"][name] for name in wanted} != wanted:
        with progress(f"{player} against {opponent}", options.deals, "deals") as meter:
            report = evaluate(
                specs[0], specs[1:], hands=options.hands, deals=options.deals,
                seating=seating, seed=seed, on_progress=meter.advance,
            ).to_json()  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(report, indent=1) + "\n")
    sizes = report["differences"][0]["by_hand_size"]
    return {int(size): Estimate(one["mean"], one["low"], one["high"], one["deals"]) for size, one in sizes.items()}


def mean_of_runs(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of estimates that rest on different deals; its interval is for these runs, not for further seeds."""
    half = float(np.sqrt(sum((one.high - one.low) ** 2 for one in estimates))) / 2 / len(estimates)
    mean = float(np.mean([one.mean for one in estimates]))
    return Estimate(mean, mean - half, mean + half, sum(one.n for one in estimates))


def rows_of(options: Options) -> list[Row]:
    """Everything that is measured: each run against the benchmark, and the two of each seed against each other."""
    rows = []
    for learner, seed in product(LEARNERS, options.seeds):
        name = f"{learner} - {BENCHMARK}"
        rows.append((name, seed, measure(options, f"{learner}-{seed}", BENCHMARK, "one", seed)))
    for seating, seed in product(DUELS, options.seeds):
        name = f"dmc - ppo, {DUELS[seating]}"
        rows.append((name, seed, measure(options, f"dmc-{seed}", f"ppo-{seed}", seating, seed)))
    return rows


def averaged(rows: Sequence[Row]) -> dict[str, dict[int, Estimate]]:
    """What was measured -> cards in the hand -> mean over the seeds."""
    names = dict.fromkeys(name for name, _, _ in rows)
    return {
        name: {size: mean_of_runs([one[size] for other, _, one in rows if other == name]) for size in rows[0][2]}
        for name in names
    }


def as_markdown(options: Options, rows: Sequence[Row]) -> str:
    """The table, the means first, and what each run did."""
    sizes = list(rows[0][2])
    lines = [f"| margin per hand | seed | {' | '.join(f'{size} cards' for size in sizes)} | all |"]
    lines.append("| --- | --- |" + " ---: |" * (len(sizes) + 1))

    def cells(by_size: dict[int, Estimate]) -> str:
        mean = f"{np.mean([one.mean for one in by_size.values()]):+.2f}"
        return " | ".join([*(one.text(sign=True) for one in by_size.values()), mean])

    for name, by_size in averaged(rows).items():
        lines.append(f"| **{name}** | mean | {cells(by_size)} |")
        lines += [f"| | {seed} | {cells(one)} |" for other, seed, one in rows if other == name]
    lines += ["", "| run | CPU-minutes | decisions | hands |", "| --- | ---: | ---: | ---: |"]
    for learner, seed in product(LEARNERS, options.seeds):
        meta = json.loads((options.config(learner, seed).folder / "checkpoint" / "meta.json").read_text())
        minutes = f"{meta['cpu_hours'] * 60:.1f}"
        lines.append(f"| {learner}, seed {seed} | {minutes} | {meta['decisions']:,} | {meta['hands']:,} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return run_command(Options, _run, "ohhell bakeoff", arguments)


def _run(options: Options, console: Console) -> None:
    from ohhell_env.arena.plots import plot_lines  # here: plotting takes long to import

    try:
        for learner, seed in product(LEARNERS, options.seeds):
            options.config(learner, seed)
    except ValueError as error:
        raise ArenaError(str(error)) from error
    train_all(options)
    rows = rows_of(options)
    means = averaged(rows)
    duels = {name: by_size for name, by_size in means.items() if BENCHMARK not in name}
    alone = {name: by_size for name, by_size in means.items() if BENCHMARK in name}
    text = as_markdown(options, rows)
    console.print(text, markup=False, soft_wrap=True)
    title = f"{options.width} x 3, {options.cpu_minutes:g} CPU-minutes per run, {len(options.seeds)} seeds"
    plot = plot_lines([alone, duels], title, "points per hand ahead", "cards in the hand", options.out / "results.png")
    console.print(f"Written: {write_whole(options.out / 'results.md', text)}, {plot}")


if __name__ == "__main__":
    sys.exit(main())
