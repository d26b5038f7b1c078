"""`make demo`: full four-player matches at one table, a table of the results, and how to read it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from ohhell_env.arena.tournament import tournament
from ohhell_env.options import progress, run_command
from training.publish import best_shipped

PLAYERS = 4


@dataclass(frozen=True)
class Options:
    """Full matches between the best players that come with the package, the same deals in every seat."""

    deals: int = 16
    """Deals, each replayed with every player in every seat; more take longer and narrow the intervals."""
    rollouts: int = 400
    """Rollouts a decision of the searching player."""
    seed: int = 0
    """Seed of the deals and of the players; the same seed gives the same table."""
    workers: int = 2
    """Processes to play in; they change the time taken and nothing else."""


def contestants(rollouts: int) -> list[str]:
    """Who plays: the best shipped checkpoint, where there is one, and the players that need no training."""
    trained = best_shipped()
    return [*([trained] if trained else []), f"search:{rollouts}", "heuristic", "random"]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return run_command(Options, _run, "python -m training.demo", arguments)


def _run(options: Options, console: Console) -> None:
    from ohhell_env.arena.tables import print_standings

    players = contestants(options.rollouts)
    if len(players) < PLAYERS:
        console.print("No checkpoint is shipped with this version: the players are those that need no training.")
    with progress("playing", options.deals, "deals") as meter, tempfile.TemporaryDirectory() as folder:
        standings = tournament(
            players,
            folder,
            players=PLAYERS,
            deals=options.deals,
            seed=options.seed,
            workers=options.workers,
            on_progress=meter.advance,
        )
    print_standings(standings, console)
    console.print(_how_to_read(players))


def _how_to_read(players: Sequence[str]) -> str:
    return f"""
[bold]How to read it[/bold]
A bid made exactly brings 10 points and as many more as were bid, a missed one nothing. "Points per hand" are what a \
player has of them, "above table" is how much more than the mean of its tables: 0 is average. "Wins" are its share of \
the matches won: {100 / PLAYERS:.0f} % is fair. All players had the same cards in every seat, so a difference whose \
interval leaves out zero is skill, not luck.

More deals:     .venv/bin/python -m training.demo --deals 100
Two players:    .venv/bin/ohhell evaluate {players[0]} --vs heuristic
Train your own: .venv/bin/ohhell train --help"""


if __name__ == "__main__":
    sys.exit(main())
