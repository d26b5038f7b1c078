"""What the commands share: options of a table, a progress bar, one-line errors, files that are never half written."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import tyro
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ohhell_env.arena.matches import ArenaError

PAGE_WIDTH = 100  # columns of tables that go to a file or a pipe
USAGE_ERROR = 2
INTERRUPTED = 130  # as the shell reports a command that Ctrl-C ended
LOG_EVERY = 30.0  # seconds between lines of progress where there is no terminal


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """The options of a table that all commands of the arena have."""

    players: int = 4
    """Seats at the table, 3..7."""
    hands: str = "ramp"
    """ramp: full matches. 5 or 3,5,10: matches of a single hand of that size, or of each of these."""
    rules: str = "oh_hell"
    """Preset of the rules."""
    bids: Literal["sealed", "open"] | None = None
    """Sealed or open bids; as the preset has it by default."""
    hook: tyro.conf.FlagCreatePairsOff[bool] = False
    """Play with the hook, whatever the preset says."""
    no_hook: tyro.conf.FlagCreatePairsOff[bool] = False
    """Play without the hook, whatever the preset says."""
    seed: int = 0
    """Seed of the deals and of the players; the same seed gives the same result bit for bit."""
    workers: int = 1
    """Processes to play in; they change the time taken and nothing else."""

    @property
    def hook_choice(self) -> bool | None:
        """The hook asked for; None for the preset's.

        Raises:
            ArenaError: if both --hook and --no-hook are given.
        """
        if self.hook and self.no_hook:
            raise ArenaError("--hook and --no-hook are both given; use one of them")
        return True if self.hook else False if self.no_hook else None

    def table(self) -> dict[str, Any]:
        """These options as the arguments of `evaluate` and `tournament`.

        Raises:
            ArenaError: if both --hook and --no-hook are given.
        """
        return {
            "players": self.players,
            "hands": self.hands,
            "rules": self.rules,
            "bids": self.bids,
            "hook": self.hook_choice,
            "seed": self.seed,
            "workers": self.workers,
        }


Options = TypeVar("Options")


def run_command(
    options: type[Options], run: Callable[[Options, Console], None], name: str, arguments: Sequence[str] | None = None
) -> int:
    """Parse the arguments, run, and return the exit status: mistakes are told in one line, not by a traceback."""
    parsed = tyro.cli(options, prog=name, args=arguments)
    try:
        width = None if sys.stdout.isatty() else PAGE_WIDTH
        run(parsed, Console(highlight=False, width=width))
    except ArenaError as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt as stop:
        print(f"stopped{': ' if stop.args else ''}{' '.join(map(str, stop.args))}", file=sys.stderr)
        return INTERRUPTED
    return 0


class Meter(Protocol):
    """How far a long run is."""

    def advance(self, amount: int) -> None:
        """So much more is done."""

    def tell(self, text: str) -> None:
        """Write a line that stays."""


@contextlib.contextmanager
def progress(what: str, total: int, unit: str) -> Iterator[Meter]:
    """A progress bar with an estimate on a terminal, a line now and then elsewhere; both on stderr."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _Log(what, total, unit)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield _Bar(bar, what, total)


class _Bar:
    def __init__(self, bar: Progress, what: str, total: int) -> None:
        self._bar = bar
        self._task = bar.add_task(what, total=total)

    def advance(self, amount: int) -> None:
        self._bar.advance(self._task, amount)

    def tell(self, text: str) -> None:
        self._bar.console.print(text)


class _Log:
    def __init__(self, what: str, total: int, unit: str) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._done = self._before = 0
        self._started = self._told = time.monotonic()

    def advance(self, amount: int) -> None:
        now = time.monotonic()
        self._done += amount
        if self._before == 0:  # the first results took the workers' start and the compiler too: no estimate from them
            self._before, self._started = self._done, now
        elif now - self._told >= LOG_EVERY:
            self._told = now
            left = (now - self._started) / (self._done - self._before) * (self._total - self._done)
            self.tell(f"{self._what}: {self._done} of {self._total} {self._unit}, about {left:.0f} s left")

    def tell(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def file_written(path: Path, content: str | bytes) -> Path:
    """Write a file under another name first, so that there is never half of it; returns its path."""
    data = content.encode() if isinstance(content, str) else content
    part = path.with_name(path.name + ".part")
    with open(part, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    return path
