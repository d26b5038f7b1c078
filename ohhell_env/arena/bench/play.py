"""Play a job of the benchmark: what the measured player's hands came to, one number for each deal."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohhell_env.arena.bench.players import Player
from ohhell_env.arena.bench.protocol import Job
from ohhell_env.arena.matches import ArenaError, Played, bot_seeds, directions, play
from ohhell_env.arena.workers import one_thread
from ohhell_env.bots import make_bot
from ohhell_env.bots.base import UnfamiliarTableWarning
from ohhell_env.kernel.state import NONE
from ohhell_env.simulator import Simulator

Sums = dict[str, list[float]]
"""Sums over the hands of each deal, the lists are (D,): see `sums_of`."""


class Outcome(NamedTuple):
    """What a job came to.

    Attributes:
        sums: of each deal; empty where the player does not play this table.
        refused: why it does not, in its own words; "" where it does.
        seconds: CPU time.
    """

    sums: Sums
    refused: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"refused": self.refused} if self.refused else {"sums": self.sums}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Outcome:
        """What `to_json` gave."""
        return cls(dict(data.get("sums", {})), data.get("refused", ""), float(data.get("seconds", 0.0)))


def play_job(player: Player, job: Job) -> Outcome:
    """Play a wave of a cell, all its deals in all seatings at once.

    Raises:
        ArenaError: if a player cannot be made, or an action is not legal.
    """
    began = time.process_time()
    cell = job.cell
    first, *rest = bot_seeds(cell.seed, 1 + len(cell.others))
    bots = [player.make(first), *(make_bot(spec, seed) for spec, seed in zip(cell.others, rest, strict=True))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnfamiliarTableWarning)  # that is what the track measures
        try:
            bots[0].views(Simulator(cell.tables, len(cell.tables), range(len(cell.tables)), observe=False))
        except ValueError as error:
            return Outcome({}, str(error), time.process_time() - began)
        with one_thread():
            try:
                played = play(cell.tables, cell.seeds(job.wave), cell.seats, bots, [player.name, *cell.others])
            except ArenaError as error:
                raise ArenaError(f"{job.key}: {error}") from error
    return Outcome(sums_of(played, directions(cell.tables)), "", time.process_time() - began)


def sums_of(played: Played, direction: NDArray[np.float64]) -> Sums:
    """The measured player's results, contestant 0's, in each deal.

    Args:
        played: what was played.
        direction: (T,) 1.0, or -1.0 where the lowest total wins: points count so that more is better.

    Returns:
        ``hands`` played by it, over all its seats; ``points`` and ``squares`` of points of these; ``bids`` and how many
        of them were ``made``; ``matches``, once for each seat that it had in one, and its share of ``wins``;
        ``together``, hands in which all made their bids (at cooperative tables; elsewhere all hands); ``others``,
        points of the other players, and their ``other_hands``.
    """
    seats = played.seats[:, :, None, None] == 0  # (D, R, 1, 1, P)
    there = played.sizes[..., None] > 0  # (D, R, T, H, 1)
    own, others = seats & there, ~seats & there
    worth = played.points * direction[:, None, None]
    bidding = own & (played.bids != NONE)
    matches = np.broadcast_to(seats[..., 0, :], played.wins.shape)  # (D, R, T, P)
    sums = {
        "hands": own,
        "points": np.where(own, worth, 0),
        "squares": np.where(own, worth**2, 0),
        "bids": bidding,
        "made": bidding & (played.bids == played.taken),
        "matches": matches,
        "wins": np.where(matches, played.wins, 0),
        "together": own & played.succeeded[..., None],
        "others": np.where(others, worth, 0),
        "other_hands": others,
    }
    return {name: _plain(array.sum(axis=tuple(range(1, array.ndim)))) for name, array in sums.items()}


def _plain(values: NDArray[Any]) -> list[float]:
    """Whole numbers as such, others with nine digits after the point."""
    return [int(one) if float(one).is_integer() else round(float(one), 9) for one in values]
