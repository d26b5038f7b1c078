"""Bids that a seat may have made behind a sealed one, as far as the rules of its table tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import Int, by_form, jit, jit_apart
from ohhell_env.observation.sections import SEALED


@jit
def _open_bids(game: Any, table: Any, seat: Int, every: Int) -> Int:
    return every


@jit_apart
def _wide_open_bids(game: Any, table: Any, seat: Int, every: Int) -> Int:
    if game["first_bids"][seat] == SEALED:
        game["first_bids"][seat] = np.int64(game["hand_size"]) // table["players"]  # blind: nothing tells more
    player = game["player"]
    game["player"] = seat
    legal = rulebook.bids_open(game, table, every)
    game["player"] = player
    return legal if legal else every


open_bids = by_form(_open_bids, _wide_open_bids)  # bids that a seat may have made, the hook aside
