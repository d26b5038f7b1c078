"""The evaluation of a running training: one seat against the rest on deals that never change."""

from __future__ import annotations

import numpy as np

from ohhell_env.bots.base import Bot
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
from training.learning.collector import relative_points

SEED = 2**62  # far from the seeds that training deals from
TABLES = ((4, 1), (4, 3), (4, 5), (4, 8), (4, 10), (3, 8), (5, 8), (6, 6), (7, 5))  # players, cards


def evaluate(candidate: Bot, opponent: Bot, deals: int) -> dict[str, float]:
    """Points per hand more than the mean of the others, the candidate in each seat in turn of each deal.

    Returns:
        By table, as "4p 8c" for four players with eight cards, and their "mean". Bids are sealed, the hook is on.
    """
    results = {}
    for players, size in TABLES:
        rules = Rules(players=players, ramp=(size,))
        results[f"{players}p {size}c"] = one_against_rest(candidate, opponent, rules, deals)
    results["mean"] = float(np.mean(list(results.values())))
    return results


def one_against_rest(candidate: Bot, opponent: Bot, rules: Rules, deals: int) -> float:
    """The mean of `evaluate` at one table, whose match is a single hand."""
    seeds = np.repeat(np.arange(SEED, SEED + deals), rules.players)
    place = np.tile(np.arange(rules.players), deals)
    simulator = Simulator(rules, len(seeds), seeds, observe=False)
    batch = simulator.current()
    for _ in range(rules.players * (rules.hand_sizes[0] + 1)):  # all games are equally long
        actions = np.empty(len(seeds), dtype=np.int64)
        for bot, turn in ((candidate, batch.player == place), (opponent, batch.player != place)):
            chosen = np.flatnonzero(turn)
            actions[chosen] = bot.act(simulator, chosen)
        batch = simulator.step(actions, out=batch)
    points = relative_points(batch.reward.astype(np.float64), np.full(len(seeds), rules.players))
    return float(points[np.arange(len(seeds)), place].mean())
