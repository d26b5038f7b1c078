"""The options that the commands of the arena share."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import tyro

from ohhell_env.options import RulesOptions


@dataclass(frozen=True, kw_only=True)
class TableOptions(RulesOptions):
    """Which table, which hands, which deals."""

    hands: Annotated[str, tyro.conf.arg(metavar="ramp|SIZE,SIZE,...")] = "ramp"
    """ramp: full matches. 5 or 3,5,10: matches of a single hand of this size, or one match of each of these sizes."""
    seed: int = 0
    """Seed of the deals and of the players; the same seed gives the same result bit for bit."""
    workers: int = 1
    """Processes to play in; they change the time taken and nothing else."""

    def table(self) -> dict[str, Any]:
        """These options as the arguments of `evaluate` and `tournament`.

        Raises:
            UsageError: for a table that is not allowed.
        """
        return {"rules": self.table_rules(), "hands": self.hands, "seed": self.seed, "workers": self.workers}


def plots() -> Any:
    """`ohhell_env.arena.plots`, or None after a line on standard error where matplotlib is not installed."""
    try:
        return import_module("ohhell_env.arena.plots")  # takes long to import: only where something is drawn
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        print('note: the picture needs matplotlib: pip install "ohhell-env[plots]"', file=sys.stderr)
        return None
