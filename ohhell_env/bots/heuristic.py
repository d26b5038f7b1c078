"""The rule-based player: the bid and the card with the highest expected points by its own estimate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.base import Bot
from ohhell_env.bots.endgame import sure_options
from ohhell_env.bots.hand_model import NOTES, best_bid, best_card
from ohhell_env.bots.knowledge import longest_suit, suit_to_name
from ohhell_env.kernel.facts import sees_own, speaks_otherwise
from ohhell_env.kernel.jit import ONE, Int, jit, jit_apart, lowest, popcount
from ohhell_env.kernel.rulebook import action_of, unseen_cards
from ohhell_env.kernel.state import BID, NAME_SUIT, NAME_TRUMP, PASS, PASS_OR_NIL


@jit_apart
def other_option(game: Any, table: Any, notes: Any) -> Any:
    """A simple choice for each decision that is neither a bid nor a card."""
    seat = np.int64(game["player"])
    phase = game["phase"]
    if phase == NAME_TRUMP:
        return longest_suit(game, table, seat)
    if phase == NAME_SUIT:
        return suit_to_name(game, table, seat, unseen_cards(game, table, seat))
    if phase == PASS_OR_NIL:
        every = (ONE << (np.int64(game["hand_size"]) + 1)) - 1
        return np.int64(0) if best_bid(game, table, seat, every, notes) == 0 else np.int64(PASS)
    return np.int64(PASS)  # no blind bids


@jit
def plain_option(game: Any, table: Any, notes: Any) -> Any:
    """The option that the rules choose, certain ones aside."""
    if speaks_otherwise(game):
        return other_option(game, table, notes)
    seat = np.int64(game["player"])
    if game["phase"] == BID:
        return best_bid(game, table, seat, game["legal"], notes)
    if not sees_own(game, table, seat):
        return lowest(game["legal"])
    return best_card(game, table, notes)


@jit_apart
def surer_card(game: Any, table: Any, best: Int, notes: Any) -> Int:
    """The best of the cards that are sure to get the most that can still be had; ``best`` where none is."""
    sure = sure_options(game, table)
    if sure and not (sure >> best) & 1:
        best = lowest(sure)
        while sure:
            card = lowest(sure)
            sure ^= ONE << card
            if notes["value"][card] > notes["value"][best]:
                best = card
    return best


@jit
def rule_option(game: Any, table: Any, notes: Any) -> Any:
    """The bit of ``game["legal"]`` that the rules choose for the seat to act."""
    legal = game["legal"]
    if popcount(legal) == 1:
        return lowest(legal)
    return surer_card(game, table, plain_option(game, table, notes), notes)


@jit
def choose_by_rule(views: Any, tables: Any, notes: Any, actions: Any) -> None:
    """The rules' choice for each view."""
    for j in range(views.shape[0]):
        view = views[j]
        actions[j] = action_of(view, rule_option(view, tables[view["table"]], notes[0]))


class HeuristicBot(Bot):
    """Plays by `hand_model`: no search and no randomness, so the seed changes nothing."""

    def choose(self, views: NDArray[np.void], tables: NDArray[np.void], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        actions = np.empty(len(views), dtype=np.int64)
        choose_by_rule(views, tables, np.zeros(1, dtype=NOTES), actions)
        return actions
