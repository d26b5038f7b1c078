"""Who sits where when one seat learns: its own seat and the players in the others, match by match, from names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.base import Bot
from ohhell_env.bots.spec import make_bot
from ohhell_env.kernel.jit import Int, below, jit, next_state, stream_of
from ohhell_env.kernel.state import NONE, check_seed

ROTATE = "rotate"
LINEUPS = 2**62  # number of the stream of a match's seed from which its lineup is drawn: apart from deals and bots

Opponents = str | Bot | Sequence[str | Bot]


@jit
def draw_lineups(games: Any, chosen: Any, fixed_seat: Int, choices: Any, pool: bool, seats: Any, lineups: Any) -> None:
    """For each chosen game the learner's seat, and the number of the bot in each other seat (NONE in the learner's)."""
    players = lineups.shape[1]
    for i in chosen:
        stream = next_state(stream_of(games[i]["seed"], LINEUPS))
        seats[i] = fixed_seat if fixed_seat != NONE else below(stream, players)
        lineups[i, seats[i]] = NONE
        for k in range(players - 1):
            stream = next_state(stream)
            pick = below(stream, choices.shape[0]) if pool else k
            lineups[i, (seats[i] + 1 + k) % players] = choices[pick]


class Lineup:
    """The seat that learns and the players in the others. A match's own seed decides what is left to chance.

    Args:
        players: seats at the table.
        seat: the learner's seat, or "rotate": another one each match.
        opponents: a player's spec string or a `Bot` for all other seats; or one for each, clockwise from the learner's
            left; or, with ``pool``, any number of them, from which each seat's player is drawn anew each match.
        pool: whether ``opponents`` is a pool.
        seed: seed of the bots' own random streams.

    Raises:
        ValueError: naming the argument and what is allowed.
    """

    def __init__(self, players: int, seat: int | str, opponents: Opponents, pool: bool, seed: int) -> None:
        self.players = players
        self.seat = NONE if seat == ROTATE else self.check_seat(seat)
        one = isinstance(opponents, (str, Bot))
        wanted: list[str | Bot] = [opponents] * (players - 1) if one else list(opponents)  # type: ignore[list-item, arg-type]
        if not pool and len(wanted) != players - 1:
            raise ValueError(
                f"opponents names {len(wanted)} players for {players - 1} seats; name one for all seats, one for each, "
                "or say pool=True to draw them"
            )
        if not wanted:
            raise ValueError("opponents is empty; name at least one player")
        different = list(dict.fromkeys(wanted))
        self.bots = [one if isinstance(one, Bot) else make_bot(one, check_seed(seed)) for one in different]
        self.choices = np.array([different.index(one) for one in wanted], dtype=np.int64)
        self.pool = pool

    def check_seat(self, seat: Any) -> int:
        """A seat as int; `ValueError` when there is no such seat."""
        if isinstance(seat, bool) or not isinstance(seat, (int, np.integer)) or not 0 <= seat < self.players:
            raise ValueError(f"seat={seat!r} is not allowed; use a seat 0..{self.players - 1}, or {ROTATE!r}")
        return int(seat)

    def draw(
        self,
        games: NDArray[np.void],
        chosen: NDArray[np.int64],
        seats: NDArray[np.int64],
        lineups: NDArray[np.int64],
        seat: int | None = None,
    ) -> None:
        """Write the lineups of the matches that the chosen games now play.

        Args:
            games: (N,) of `state.GAME`.
            chosen: numbers of games.
            seats: (N,) the learner's seats; entries of the chosen games are written.
            lineups: (N, P) the number in ``bots`` of each seat's player, NONE for the learner; likewise.
            seat: the learner's seat in these matches, in place of the one given at the start.
        """
        fixed = self.seat if seat is None else self.check_seat(seat)
        draw_lineups(games, chosen, fixed, self.choices, self.pool, seats, lineups)
