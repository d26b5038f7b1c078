"""Lines on standard error: notices of slow steps, and warnings that are given once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_said: set[str] = set()


def say(text: str) -> None:
    """Write one line to standard error, at once."""
    sys.stderr.write(f"{text}\n")  # one write: lines of several threads do not mix
    sys.stderr.flush()


def say_once(text: str) -> None:
    """As `say`, but a text that this process has said already is left out."""
    if text not in _said:
        _said.add(text)
        say(text)


class Delayed:
    """A line that is written after ``seconds``, unless it is cancelled before; by `say` or `say_once`."""

    def __init__(self, text: str, seconds: float = 1.0, write: Callable[[str], None] = say) -> None:
        self._timer = threading.Timer(seconds, write, (text,))
        self._timer.daemon = True  # a program that ends does not wait for it
        self._timer.start()

    def cancel(self) -> None:
        """Do not write the line if it is not written yet."""
        self._timer.cancel()


@contextmanager
def if_slow(text: str, seconds: float = 1.0) -> Iterator[None]:
    """Write a line to standard error if the block takes longer than ``seconds``.

    Example::

        with if_slow("thinking ..."):
            action = bot.act(game)
    """
    line = Delayed(text, seconds)
    try:
        yield
    finally:
        line.cancel()
