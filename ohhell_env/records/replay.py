"""A record replayed position by position, for the replay page and reviews."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ohhell_env.kernel.state import compile_rules
from ohhell_env.records.notation import load_record
from ohhell_env.rules.rules import Rules
from ohhell_env.table.game import Game


@dataclass(frozen=True)
class Replay:
    """The positions of a match in order: one after each deal and one after each move.

    Bots read it like a simulator: ``bot.act(replay, positions)``.

    Attributes:
        games: (N,) of `ohhell_env.kernel.state.GAME`.
        tables: (1,) of `ohhell_env.kernel.state.TABLE`, the match's.
        actions: the action that led to each position; None for a deal. ``len(actions) == N``.
        end: the table as it stood at the record's end, with its finished hands.
        digest: SHA-256 of the record's bytes.
    """

    games: NDArray[np.void]
    tables: NDArray[np.void]
    actions: tuple[int | None, ...]
    end: Game
    digest: str

    @property
    def rules(self) -> Rules:
        """The table's rules."""
        return self.end.rules

    def __len__(self) -> int:
        return len(self.games)

    def game(self, position: int) -> Game:
        """The table in a position, 0..N-1."""
        return Game(self.games[position], self.rules)

    def chosen(self, position: int) -> int | None:
        """The action taken in a position; None where a hand, or the record, ends."""
        return self.actions[position + 1] if position + 1 < len(self) else None

    @property
    def choices(self) -> list[int]:
        """The positions in which a seat has more than one legal action."""
        return [position for position in range(len(self)) if len(self.game(position).legal_actions) > 1]


def load_replay(path: str | Path, finished: bool = False) -> Replay:
    """Play a record's file again, with ``finished`` its finished hands only.

    Raises:
        RecordError: as `records.notation.load_record` does.
        ValueError: if the record has no hand to show.
    """
    games: list[NDArray[np.void]] = []
    actions: list[int | None] = []

    def watch(game: NDArray[np.void], action: int | None) -> None:
        games.append(game)
        actions.append(action)

    end = load_record(path, watch, finished)
    if not games:
        raise ValueError(f"the record has no {'finished ' * finished}hand: there is nothing to replay")
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return Replay(np.concatenate(games), compile_rules((end.rules,)), tuple(actions), end, digest)
