"""What every bot is: views of games in, actions out, with a random stream that depends on nothing but seed and game."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ohhell_env.kernel.facts import decision_number
from ohhell_env.kernel.jit import Int, jit, mix, seed_of, stream_of
from ohhell_env.kernel.state import WIDE_FORM, form_of_records
from ohhell_env.observation.standard import blind
from ohhell_env.rules.rules import Rules


class UnfamiliarTableWarning(UserWarning):
    """A player meets tables that it was not made for: it plays them, but perhaps badly."""


class Tables(Protocol):
    """Anything that holds games: a `Simulator`, or the AEC environment's ``env.unwrapped``."""

    games: NDArray[np.void]  # of state.GAME, or WIDE_GAME
    tables: NDArray[np.void]  # of state.TABLE, or WIDE_TABLE; a game's own is tables[game["table"]]


@jit
def look(games: Any, tables: Any, chosen: Any, bot_seed: Int, views: Any, keys: Any) -> None:
    """For each chosen game the view of the seat to act, and the key of this decision's random numbers.

    The key is a hash of the bot's seed, the match's seed and the decision's number: one decision has one key in any
    batch, order or process.
    """
    for j in range(chosen.shape[0]):
        game = games[chosen[j]]
        table = tables[game["table"]]
        blind(games, chosen[j], game["player"], table, views, j)
        keys[j] = seed_of(mix(stream_of(bot_seed, 0)) ^ stream_of(game["seed"], decision_number(game, table)))


class Bot(ABC):
    """A player for any seat of any table, or of any of the standard form.

    Args:
        seed: seed of the bot's own random stream, 0..2**63-1.

    Attributes:
        plays_wide: whether it plays tables of the wide form too; `act` refuses them otherwise.
    """

    plays_wide = True

    def __init__(self, seed: int = 0) -> None:
        self.seed = int(seed)

    @abstractmethod
    def choose(self, views: NDArray[np.void], tables: NDArray[np.void], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """A legal action for the seat to act in each view.

        Args:
            views: (N,) of `state.GAME` as `observation.blind` leaves them for ``view["player"]``: there is nothing in
                them that this seat may not know. The bot may write to them; they are its own copies.
            tables: the rules, ``tables[view["table"]]`` for each view.
            keys: (N,) whole numbers, one for each decision, from which all its random numbers must come.

        Returns:
            (N,) int64 actions.
        """

    def act(self, source: Tables | Any, games: ArrayLike | None = None) -> NDArray[np.int64]:
        """Actions for the seats to act in a simulator's games, all of them or those that ``games`` numbers: (N,) int64.

        The games themselves are not changed. In the AEC loop use ``bot.action(env)``.

        Raises:
            ValueError: if the games are of the wide form and the bot plays the standard form only.
        """
        return self.choose(*self.views(source, games))

    def views(
        self, source: Tables | Any, games: ArrayLike | None = None
    ) -> tuple[NDArray[np.void], NDArray[np.void], NDArray[np.int64]]:
        """What `choose` gets: the views of the seats to act, the tables, and the decisions' keys."""
        holder: Tables = getattr(source, "unwrapped", source)
        if not self.plays_wide and form_of_records(holder.games) is WIDE_FORM:
            rules = getattr(holder, "rules", ())
            tables = (rules,) if isinstance(rules, Rules) else tuple(rules)
            wide = dict.fromkeys(option for one in tables for option in one.wide_options)
            raise ValueError(
                f"{type(self).__name__} plays tables of the standard form only (see Rules.standard), and this one is "
                f"of the wide form{' for ' + ', '.join(wide) if wide else ''}; random, heuristic, search play all"
            )
        every = np.arange(len(holder.games)) if games is None else np.asarray(games, dtype=np.int64)
        views = np.empty(len(every), dtype=holder.games.dtype)
        keys = np.empty(len(every), dtype=np.int64)
        look(holder.games, holder.tables, every, self.seed, views, keys)
        return views, holder.tables, keys

    def warn_if_unfamiliar(self, tables: NDArray[np.void]) -> None:  # noqa: B027 -- most are made for every table
        """Give an `UnfamiliarTableWarning` where these are tables that it was not made for."""

    def action(self, env: Any) -> int:
        """The action for the agent to act in an AEC environment: ``env.step(bot.action(env))``."""
        return int(self.act(env)[0])
