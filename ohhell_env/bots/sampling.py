"""Sampled deals of what a seat cannot see, at any table, preferring those in which what was said makes sense."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots import determinization, determinization_wide
from ohhell_env.kernel.jit import Int, by_form, jit, jit_apart, mix, next_state
from ohhell_env.kernel.state import WIDE_FORM, form_of_records

TRIES = 5  # deals of which `likely_world` keeps one
_SHIFT_32 = np.uint64(32)


@jit
def _deal(world: Any, table: Any, viewer: Int, plan: Any, stream: np.uint64) -> Any:
    return determinization.deal_world(plan, world, stream), True


@jit
def _wide_deal(world: Any, table: Any, viewer: Int, plan: Any, stream: np.uint64) -> Any:
    return determinization_wide.deal_world(plan, world, table, viewer, stream)


plan_deals = by_form(determinization.plan_deals, determinization_wide.plan_deals)
deal = by_form(_deal, _wide_deal)
bid_likelihood = by_form(determinization.bid_likelihood, determinization_wide.bid_likelihood)


def new_plan(games: NDArray[np.void]) -> NDArray[np.void]:
    """(1,) of the record that `plan_deals` writes for games like these."""
    wide = form_of_records(games) is WIDE_FORM
    return np.zeros(1, dtype=determinization_wide.WIDE_PLAN if wide else determinization.PLAN)


@jit_apart
def likely_world(plan: Any, view: Any, table: Any, boards: Any, notes: Any, stream: np.uint64) -> Any:
    """Deal `TRIES` determinizations (worlds) and keep one, drawn in proportion to `bid_likelihood`, in ``boards[0]``.

    ``boards`` is (3,) of games. Returns (the stream's next state, whether a deal was found that fits).
    """
    viewer = np.int64(view["player"])
    known = np.int64(0)
    for seat in range(table["players"]):
        known += np.int64(seat != viewer and view["bids"][seat] >= 0)
    boards[0] = view
    if known == 0:
        return deal(boards[0], table, viewer, plan, stream)
    total = 0.0
    for _ in range(TRIES):
        boards[1] = view
        stream, fits = deal(boards[1], table, viewer, plan, stream)
        if not fits:
            return stream, False
        boards[2] = boards[1]
        likelihood = bid_likelihood(boards[1], table, viewer, boards[2], notes)
        total += likelihood
        stream = next_state(stream)
        if np.int64(mix(stream) >> _SHIFT_32) * 2.0**-32 * total < likelihood:
            boards[0] = boards[1]
    return stream, True
