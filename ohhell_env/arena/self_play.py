"""One bot in every seat of a table: points per hand, bids made, decisions per second."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.base import Bot
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import jit
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator


class SelfPlay(NamedTuple):
    """How a bot does at a table of its own; the errors are standard errors over hands, whose seats hang together.

    Attributes:
        points: mean points per hand and seat.
        points_error: its standard error.
        made: share of bids made exactly, 0..1.
        made_error: its standard error.
        decisions: decisions per second of CPU time.
    """

    points: float
    points_error: float
    made: float
    made_error: float
    decisions: float


@jit
def apply_actions(games: Any, tables: Any, chosen: Any, actions: Any) -> None:
    """One legal action in each game ``chosen[j]``."""
    for j in range(chosen.shape[0]):
        game = games[chosen[j]]
        rulebook.apply(game, tables[game["table"]], actions[j])


def play_hands(bots: Sequence[Bot], rules: Rules, deals: int, seed: int = 0) -> NDArray[np.void]:
    """Play the first hand of ``deals`` matches to its end, ``bots[seat]`` in each seat.

    Returns:
        (deals,) of `state.GAME`, each hand just over: its bids, its tricks, and in ``scores`` its points.
    """
    simulator = Simulator(rules, deals, seed, observe=False)
    games = simulator.games
    players = list({id(bot): bot for bot in bots}.values())
    for _ in range(rules.players * (rules.hand_sizes[0] + 1)):
        owner = np.array([players.index(bot) for bot in bots])[games["player"]]
        for k, bot in enumerate(players):
            chosen = np.flatnonzero(owner == k)
            if len(chosen):
                apply_actions(games, simulator.tables, chosen, bot.act(simulator, chosen))
    return games


def self_play(bot: Bot, rules: Rules, deals: int, seed: int = 0) -> SelfPlay:
    """Play ``deals`` hands of the size that the match begins with, the bot in every seat."""
    start = time.process_time()
    games = play_hands([bot] * rules.players, rules, deals, seed)
    seconds = time.process_time() - start
    points = games["scores"][:, : rules.players].mean(axis=1)  # (N,)
    made = (games["bids"] == games["taken"])[:, : rules.players].mean(axis=1)  # (N,)
    root = np.sqrt(deals)
    decisions = deals * rules.players * (rules.hand_sizes[0] + 1) / max(seconds, 1e-9)
    return SelfPlay(points.mean(), points.std() / root, made.mean(), made.std() / root, decisions)
