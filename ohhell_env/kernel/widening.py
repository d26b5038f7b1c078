"""Records of the standard form as records of the wide form: the same game, with room for every option.

What only wide tables have stands at what the default game has. The order in which cards were dealt is not known from a
view, so ``slots`` stay empty.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.kernel.jit import jit_apart
from ohhell_env.kernel.state import (
    BID,
    FIXED,
    NO_TRUMP,
    NONE,
    TABLE,
    TURNED,
    WIDE_FIRST_BID,
    WIDE_FORM,
    WIDE_GAME,
    WIDE_TABLE,
    Form,
)
from ohhell_env.rules.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS

_SHARED = tuple(name for name in TABLE.names or () if name not in ("deck", "points"))


def widened_tables(tables: NDArray[np.void]) -> NDArray[np.void]:
    """Tables in the wide form: (T,) of `state.TABLE` -> (T,) of `state.WIDE_TABLE`; wide ones stay as they are."""
    if tables.dtype == WIDE_TABLE:
        return tables
    wide = np.zeros(len(tables), dtype=WIDE_TABLE)
    for name in _SHARED:
        wide[name] = tables[name]
    wide["deck"] = NONE
    wide["deck"][:, :NUM_CARDS] = tables["deck"]
    wide["peak"] = tables["hand_sizes"].max(axis=1)
    wide["trump_from"] = np.where(tables["turn_up"] == 1, TURNED, FIXED)
    wide["trumps"] = NO_TRUMP
    cards = np.arange(NUM_CARDS)
    wide["suits"][:, :, :NUM_CARDS] = cards // NUM_RANKS
    wide["ranks"][:, :, :NUM_CARDS] = cards % NUM_RANKS
    for suit in range(NUM_SUITS):
        wide["suit_cards"][:, :, suit] = (((1 << NUM_RANKS) - 1) << (NUM_RANKS * suit)) & tables["deck_mask"][:, None]
    size = tables["points"].shape[1]
    wide["points"][:, :, :size, :size, :size] = tables["points"][:, None]
    return wide


@jit_apart
def _widen(games: Any, wide: Any) -> None:
    for i in range(games.shape[0]):
        game, into = games[i], wide[i]
        for seat in range(game["hands"].shape[0]):
            into["hands"][seat] = game["hands"][seat]
            into["played"][seat] = game["played"][seat]
            into["scores"][seat] = game["scores"][seat]
            into["made"][seat] = game["made"][seat]
            into["missed"][seat] = game["missed"][seat]
            into["over"][seat] = game["over"][seat]
            into["under"][seat] = game["under"][seat]
            into["bids"][seat] = game["bids"][seat]
            into["taken"][seat] = game["taken"][seat]
            into["voids"][seat] = game["voids"][seat]
        for seat in range(game["hands"].shape[0], into["hands"].shape[0]):
            into["bids"][seat] = NONE
        for seat in range(into["pledges"].shape[0]):
            into["pledges"][seat] = NONE
            into["first_bids"][seat] = NONE
        for k in range(into["plays"].shape[0]):
            into["plays"][k] = game["plays"][k] if k < game["plays"].shape[0] else NONE
            into["deck"][k] = game["deck"][k] if k < game["deck"].shape[0] else NONE
        for k in range(into["winners"].shape[0]):
            into["winners"][k] = NONE
            into["named"][k] = NONE
        for k in range(into["calls"].shape[0]):
            into["calls"][k] = NONE
        into["seed"] = game["seed"]
        into["stream"] = game["stream"]
        into["legal"] = game["legal"]
        into["table"] = game["table"]
        into["hand"] = game["hand"]
        into["phase"] = game["phase"]
        into["hand_size"] = game["hand_size"]
        into["dealer"] = game["dealer"]
        into["player"] = game["player"]
        into["leader"] = game["leader"]
        into["turned"] = game["turned"]
        into["trump"] = game["trump"]
        into["num_plays"] = game["num_plays"]
        into["in_trick"] = game["in_trick"]
        into["led_suit"] = game["led_suit"]
        into["winning"] = game["winning"]
        into["best"] = game["best"]
        into["first_action"] = WIDE_FIRST_BID if game["phase"] == BID else 0
        into["deals"] = 1
        into["trump_known"] = 1
        into["shown"] = NONE
        into["drawn"] = NONE
        into["worth"] = 1


def widened_games(games: NDArray[np.void]) -> NDArray[np.void]:
    """Games in the wide form: (N,) of `state.GAME` -> (N,) of `state.WIDE_GAME`; wide ones are returned as they are."""
    if games.dtype == WIDE_GAME:
        return games
    wide = np.zeros(len(games), dtype=WIDE_GAME)
    _widen(games, wide)
    return wide


def widened_actions(form: Form) -> NDArray[np.int64]:
    """The action of the wide form that each action of a form is: (num_actions,)."""
    if form is WIDE_FORM:
        return np.arange(form.num_actions)
    return np.concatenate([np.arange(form.kinds), WIDE_FIRST_BID + np.arange(form.num_bids)])
