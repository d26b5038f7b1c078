"""Advice to the seat to act: what the search expects of each choice, and what a trained policy would do."""

from __future__ import annotations

import numpy as np

from ohhell_env.bots.policy.bot import load_policy
from ohhell_env.bots.search import SearchBot
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.state import BID, NAME_SUIT, PLAY
from ohhell_env.records.match import Match
from ohhell_env.table.game import Game

ADVICE_ROLLOUTS = 2000  # for a decision


def searched_points(match: Match, seed: int, rollouts: int = ADVICE_ROLLOUTS) -> dict[int, float]:
    """The points of this hand that the search expects of each legal action.

    Raises:
        ValueError: if the search does not play this table.
    """
    (worth,) = SearchBot(seed, rollouts).estimates(match)
    game = match.game
    return {action: within_scoring(game, action, float(worth[action])) for action in game.legal_actions}


def within_scoring(game: Game, action: int, worth: float) -> float:
    """An estimate of an action's points, kept to what the seat's bid, or the bid that it is, can bring in this hand.

    The search also counts a little of the others' points, which may carry its figure beyond that.
    """
    seat = game.player
    assert seat is not None
    if game.phase in (PLAY, NAME_SUIT):
        bid = max(game.bids[seat] or 0, 0)  # none in a hand without bids
    elif game.phase == BID:
        bid = action - game.form.first_bid
    else:
        return worth
    values = [rulebook.bid_value(game._game, game._table, seat, bid, taken) for taken in range(game.hand_size + 1)]
    return float(np.clip(worth, min(values), max(values)))


def policy_chances(adviser: str, match: Match) -> dict[int, float]:
    """How likely a checkpoint is to choose each legal action, at the temperature of its own."""
    policy = load_policy(adviser)
    policy.temperature = policy.own_temperature
    views, tables, _ = policy.views(match)
    chances = policy.probabilities(views, tables)[0]
    return {action: float(chances[action]) for action in match.game.legal_actions}
