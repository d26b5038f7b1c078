"""For the tests of the arena: small players of known strength, and what its tables look like."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from ohhell_env.bots.base import Bot
from ohhell_env.bots.random import RandomBot
from ohhell_env.kernel.rulebook import FIRST_BID
from ohhell_env.kernel.state import BID


class Lowest(Bot):
    """Bids the lowest number it may and plays its lowest legal card: no chance in it."""

    def choose(self, views: NDArray[np.void], tables: NDArray[np.void], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        lowest = views["legal"] & -views["legal"]
        return np.log2(lowest.astype(float)).astype(np.int64) + FIRST_BID * (views["phase"] == BID)


class Highest(Bot):
    """Bids the highest number it may and plays its highest legal card: no chance in it."""

    def choose(self, views: NDArray[np.void], tables: NDArray[np.void], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        return _highest(views["legal"]) + FIRST_BID * (views["phase"] == BID)


def _highest(masks: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.array([int(mask).bit_length() - 1 for mask in masks], dtype=np.int64)


class Boaster(RandomBot):
    """A random player with one known fault: it bids as high as it may."""

    def choose(self, views: NDArray[np.void], tables: NDArray[np.void], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        bids = _highest(views["legal"]) + FIRST_BID
        return np.where(views["phase"] == BID, bids, super().choose(views, tables, keys))


class Cheat(RandomBot):
    """Bids 17 whatever the hand."""

    def choose(self, views: NDArray[np.void], tables: NDArray[np.void], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.full(len(views), FIRST_BID + 17)


PLAYERS = {"random": RandomBot, "lowest": Lowest, "highest": Highest, "boaster": Boaster, "cheat": Cheat}


def make(spec: str, seed: int) -> Bot:
    """As `ohhell_env.bots.spec.make_bot`, for the players above."""
    if spec not in PLAYERS:
        raise ValueError(f"player {spec!r} is not known; use one of {', '.join(PLAYERS)}")
    return PLAYERS[spec](seed)


def shown(report: Any, printer: Callable[[Any, Console], None]) -> str:
    """A report's text on a terminal of 100 columns."""
    text = io.StringIO()
    printer(report, Console(width=100, file=text))
    return text.getvalue()
