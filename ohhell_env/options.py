"""What the commands share: how a table is named, errors in one line, and how far a long run is."""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol, TypeVar

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

from ohhell_env.rules.rules import Rules
from ohhell_env.rules.typed import rules_named

PAGE_WIDTH = 100  # columns of tables that go to a file or a pipe
USAGE_ERROR = 2
INTERRUPTED = 130  # as the shell reports a command that Ctrl-C ended
LOG_EVERY = 30.0  # seconds between lines of progress where there is no terminal


class UsageError(ValueError):
    """A mistake of the caller's that one line explains."""


@dataclass(frozen=True, kw_only=True)
class RulesOptions:
    """The options that name a table, the same for every command that plays."""

    rules: Annotated[str, tyro.conf.arg(metavar="PRESET|FILE.json")] = "oh_hell"
    """A preset of the rules, or a file of rules; `ohhell rules` lists the presets."""
    players: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Seats at the table; as the rules have it by default (most presets: 4)."""
    set: Annotated[
        tuple[tuple[str, ...], ...], tyro.conf.UseAppendAction, tyro.conf.arg(metavar="OPTION=VALUE ...")
    ] = ()
    """Change options of the rules: --set bids=open ramp=7..1..7 scoring=blob. `ohhell rules --options` lists them."""

    def table_rules(self) -> Rules:
        """The rules that the options name.

        Raises:
            UsageError: if there is no such preset, file, option or value, or the result is not allowed.
        """
        try:
            return rules_named(self.rules, self.players, [change for group in self.set for change in group])
        except ValueError as error:
            raise UsageError(str(error)) from error


Options = TypeVar("Options")


def run_command(
    options: type[Options],
    run: Callable[[Options, Console], int | None],
    name: str,
    arguments: Sequence[str] | None = None,
    mistakes: tuple[type[Exception], ...] = (UsageError,),
    page_width: int | None = PAGE_WIDTH,
) -> int:
    """Parse the arguments, run, and return the exit status: mistakes give one line, not a traceback.

    Args:
        options: a dataclass, whose docstrings are the help.
        run: what the command does; its result is the exit status, None for 0.
        name: the command as it is typed.
        arguments: in place of those of the process.
        mistakes: the exceptions that tell a mistake of whoever typed the command.
        page_width: columns of the console where the output goes to a file or a pipe; None as `rich` has it.
    """
    try:
        parsed = tyro.cli(options, prog=name, args=arguments)
        width = None if sys.stdout.isatty() else page_width
        with _warnings_in_one_line():
            return run(parsed, Console(highlight=False, width=width)) or 0
    except mistakes as error:
        told = str(error)
        if isinstance(error, FileNotFoundError) and error.filename:
            told = f"there is no file {str(error.filename)!r}"
        elif isinstance(error, OSError) and error.strerror:
            told = f"{str(error.filename)!r}: {error.strerror}"
        print(f"error: {told}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt as stop:
        print(f"stopped{': ' if stop.args else ''}{' '.join(map(str, stop.args))}", file=sys.stderr)
        return INTERRUPTED


@contextlib.contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Warnings for users as "warning: ...", without the place in the code that Python adds."""
    before = warnings.formatwarning

    def in_one_line(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
    ) -> str:
        if issubclass(category, UserWarning):
            return f"warning: {message}\n"
        return before(message, category, filename, lineno, line)

    warnings.formatwarning = in_one_line
    try:
        yield
    finally:
        warnings.formatwarning = before


class Meter(Protocol):
    """How far a long run is."""

    def advance(self, amount: int) -> None:
        """This much more is done."""

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
