"""The evaluation of a running training: one seat against the rest on fixed deals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ohhell_env.arena.returns import longest, write_returns
from ohhell_env.bots.base import Bot
from ohhell_env.kernel.state import HAND_OVER
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.typed import rules_named
from ohhell_env.simulator import Simulator
from training.learning.config import Config
from training.learning.tables import single_hands, take_actions, weighted_hands

SEED = 2**62  # far from the seeds that training deals from
TABLES = ((4, 1), (4, 3), (4, 5), (4, 8), (4, 10), (3, 8), (5, 8), (6, 6), (7, 5))  # players, cards


def watched_tables(config: Config) -> dict[str, Rules]:
    """The tables that a run is evaluated at, by name; each is a match of a single hand.

    Those of a run without rules of its own are as "4p 8c", four players with eight cards, bids sealed, hook on. Of each
    of a run's own rules it is a hand of middle size.
    """
    if not (config.rules or config.tables):
        return {f"{players}p {size}c": Rules(players=players, ramp=(size,)) for players, size in TABLES}
    found = {}
    for entry in config.entries():
        if entry.random:  # the first of them stands for all
            rules = weighted_hands(entry, config.max_hand_size, 0.0)[0][0]
            found[f"random {rules.players}p {rules.hand_sizes[-1]}c"] = rules
            continue
        players = sorted(entry.players)[len(entry.players) // 2] if entry.players else None
        hands = single_hands(rules_named(entry.rules, players, entry.set), config.max_hand_size, 0.0)
        rules = sorted((one for one, _ in hands), key=lambda one: one.hand_sizes[-1])[len(hands) // 2]
        found[f"{entry.rules} {rules.players}p {rules.hand_sizes[-1]}c"] = rules
    return found


def validate(candidate: Bot, opponent: Bot, deals: int, tables: Mapping[str, Rules]) -> dict[str, float]:
    """Points per hand more than the mean of the others, the candidate in each seat in turn of each deal.

    Returns:
        By table, and their "mean".
    """
    results = {name: one_against_rest(candidate, opponent, rules, deals) for name, rules in tables.items()}
    results["mean"] = float(np.mean(list(results.values())))
    return results


def one_against_rest(candidate: Bot, opponent: Bot, rules: Rules, deals: int) -> float:
    """The mean of `evaluate` at one table, in its first hand; a hand brings what `arena.returns.write_returns` says."""
    seeds = np.repeat(np.arange(SEED, SEED + deals), rules.players)
    place = np.tile(np.arange(rules.players), deals)
    simulator = Simulator(rules, len(seeds), seeds, observe=False)
    games = simulator.games
    active = np.arange(len(games))
    for _ in range(longest([rules])):
        turns = games["player"][active] == place[active]
        for bot, chosen in ((candidate, active[turns]), (opponent, active[~turns])):
            if len(chosen):
                take_actions(games, simulator.tables, chosen, bot.act(simulator, chosen))
        active = active[games["phase"][active] != HAND_OVER]
        if not len(active):
            break
    returns = np.zeros((len(games), simulator.form.players))
    write_returns(games, simulator.tables, returns)
    return float(returns[np.arange(len(games)), place].mean())
