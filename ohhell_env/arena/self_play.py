"""``python -m ohhell_env.arena.self_play``: points a hand and bids made of one bot in every seat, by hand size."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.base import Bot
from ohhell_env.bots.spec import make_bot
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import jit
from ohhell_env.rules.rules import BIDS, Rules
from ohhell_env.simulator import Simulator


class SelfPlay(NamedTuple):
    """How a bot does at a table of its own; the errors are standard errors over hands, whose seats hang together.

    Attributes:
        points: mean points a hand and seat.
        points_error: its standard error.
        made: share of bids made exactly, 0..1.
        made_error: its standard error.
        decisions: decisions a second of processor time.
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


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m ohhell_env.arena.self_play", description=__doc__)
    parser.add_argument("bots", nargs="+", help="spec strings, for example heuristic search:400")
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--hands", default="1,3,5,8,10", help="hand sizes (default: %(default)s)")
    parser.add_argument("--bids", choices=BIDS, default="open")
    parser.add_argument("--deals", type=int, default=1_000, help="hands for each size (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{options.players} seats of one player, {options.bids} bids, hook, {options.deals} deals")
    print(f"{'player':16} {'cards':>5} {'points a hand':>16} {'bids made':>16} {'decisions/s':>12}")
    for spec in options.bots:
        for size in map(int, options.hands.split(",")):
            rules = Rules(players=options.players, ramp=(size,), bids=options.bids)
            self_play(make_bot(spec), rules, 1, options.seed)  # compiles
            one = self_play(make_bot(spec), rules, options.deals, options.seed)
            points = f"{one.points:.2f} ± {one.points_error:.2f}"
            made = f"{100 * one.made:.1f} ± {100 * one.made_error:.1f} %"
            print(f"{spec:16} {size:5} {points:>16} {made:>16} {one.decisions:12,.0f}", flush=True)


if __name__ == "__main__":
    main()
