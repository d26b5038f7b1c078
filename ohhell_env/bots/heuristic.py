"""The rule-based player: bids the contract worth most by its own estimate, plays the card worth most to it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.base import Bot
from ohhell_env.bots.judgement import NOTES, best_bid, best_card
from ohhell_env.jit import jit, lowest, popcount
from ohhell_env.kernel import action_of
from ohhell_env.state import BID


@jit
def rule_option(game: Any, table: Any, notes: Any) -> Any:
    """The bit of ``game["legal"]`` that the rules choose for the seat to act."""
    legal = game["legal"]
    if popcount(legal) == 1:
        return lowest(legal)
    if game["phase"] == BID:
        return best_bid(game, table, game["player"], legal, notes)
    return best_card(game, table, notes)


@jit
def choose_by_rule(views: Any, tables: Any, notes: Any, actions: Any) -> None:
    """The rules' choice for each view."""
    for j in range(views.shape[0]):
        view = views[j]
        actions[j] = action_of(view, rule_option(view, tables[view["table"]], notes[0]))


class HeuristicBot(Bot):
    """Plays by `judgement`: no search and no chance in it, so the seed changes nothing."""

    def choose(self, views: NDArray[np.void], tables: NDArray[np.void], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        actions = np.empty(len(views), dtype=np.int64)
        choose_by_rule(views, tables, np.zeros(1, dtype=NOTES), actions)
        return actions
