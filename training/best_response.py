"""How much can a policy be exploited? ``ohhell best-response CHECKPOINT``.

    ohhell best-response checkpoints/NAME --players 4 --hands 5       # exploiters, for a lower bound
    ohhell best-response checkpoints/NAME --players 3 --hands 1 --exact --deck "AC KC QC AD KD QD AH KH"

An exploiter starts from the policy's own weights and learns, by the learner that made them, in one seat, drawn anew for
each hand, against frozen copies of the policy in all the others, which play their best actions. The best of several,
chosen on some deals, is measured on others. What it gains is a lower bound of what a best response would: equilibria of
many players are neither unique nor safe.
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ohhell_env.arena.evaluate import evaluate
from ohhell_env.arena.exact import policy_of, responses
from ohhell_env.arena.intervals import Estimate
from ohhell_env.arena.matches import ArenaError, checked_deals, tables_for
from ohhell_env.arena.options import TableOptions
from ohhell_env.bots import Bot, make_bot
from ohhell_env.bots.policy.bot import PolicyBot
from ohhell_env.bots.policy.network import FrozenNetwork
from ohhell_env.options import Meter, progress, run_command
from ohhell_env.rules.cards import Deck
from ohhell_env.rules.description import describe
from ohhell_env.rules.limits import WIDE_MAX_PLAYERS
from ohhell_env.rules.rules import Rules
from training.learning.checkpoint import take_weights
from training.learning.collector import LEARNER, PAST, Collector
from training.learning.config import Config
from training.learning.learners import learner_of
from training.learning.network import PolicyNetwork, TrainingNetwork
from training.learning.optimisation import average_weights, gradient_step, learning_rate, share_done
from training.train import minibatches

CERTAIN = 2.0**20  # times its outputs, a policy that draws its actions plays its best one
ENT_COEF = 0.005  # the exploiters' at the start: there is little to explore


def one_seat(seed: int, iteration: int, players: NDArray[np.int64]) -> NDArray[np.int8]:
    """The learner has one seat in each hand, drawn at random; a frozen policy has all the others. See `Seats`."""
    own = np.random.default_rng((seed, iteration, 1)).integers(players)
    return np.where(own[:, None] == np.arange(WIDE_MAX_PLAYERS), LEARNER, PAST).astype(np.int8)


def trained_network(frozen: PolicyBot) -> FrozenNetwork:
    """The network of a policy that exploiters can start from.

    Raises:
        ValueError: for a fast policy, whose whole numbers are not trained on.
    """
    if not isinstance(frozen.network, FrozenNetwork):
        raise ValueError(f"{frozen.name!r} is a fast policy; exploiters start from a policy that was trained")
    return frozen.network


def set_up(frozen: PolicyBot, rules: Rules, config: Config) -> tuple[PolicyNetwork, FrozenNetwork, Collector]:
    """The network that an exploiter of a policy starts from, that of the other seats, and what plays them."""
    torch.manual_seed(config.seed)  # the first weights of a critic
    learner = learner_of(config)
    policy = learner.network()
    given = trained_network(frozen)
    take_weights(policy, given, learner.output_scale)
    others = given.scaled(CERTAIN)
    return policy, others, learner.collector(tables=([rules], [1.0]), seats=partial(one_seat, config.seed))


def train_exploiter(frozen: PolicyBot, rules: Rules, config: Config, meter: Meter | None = None) -> PolicyBot:
    """An exploiter of a policy at a table: the run's learner in one seat, for as long as the run's options say."""
    learner = learner_of(config)
    policy, others, collector = set_up(frozen, rules, config)
    average = copy.deepcopy(policy)
    network = TrainingNetwork(policy)
    optimiser = torch.optim.Adam(policy.parameters(), lr=config.lr, fused=True)
    iteration = steps = decisions = 0
    done, start = 0.0, time.process_time()
    while done < 1:
        experience = collector.collect(network, iteration, learner.exploration(done), others)
        arrays = learner.arrays(experience, TrainingNetwork(average))
        order = np.random.default_rng((config.seed, iteration, 0))
        number = max(1, round(len(experience.actions) / config.minibatch_size))
        for batch in minibatches(arrays, config.update_epochs, number, order):
            for group in optimiser.param_groups:
                group["lr"] = learning_rate(config, steps, done)
            gradient_step(network, optimiser, batch, config.max_grad_norm, partial(learner.loss, done))
            average_weights(average, policy, config.ema, steps)
            steps += 1
        iteration += 1
        decisions += len(experience.actions)
        done = share_done(config, decisions, time.process_time() - start)
        if meter is not None:
            meter.advance(len(experience.actions))
    return PolicyBot(average.frozen(), name=f"exploiter {config.seed}")


class Gain(NamedTuple):
    """What the best exploiter gained.

    Attributes:
        seed: of the exploiter chosen.
        chosen: margin per hand of each exploiter, by seed, on the deals that chose it.
        gain: the chosen one's on other deals: a lower bound of a best response's.
    """

    seed: int
    chosen: dict[int, Estimate]
    gain: Estimate


def exploiter_gain(frozen: PolicyBot, exploiters: dict[int, Bot], rules: Rules, deals: int, seed: int) -> Gain:
    """Choose the best exploiter on some deals and measure it on as many others, one seat against copies of the policy.

    Args:
        frozen: the policy.
        exploiters: by the seed each was trained with.
        rules: the table.
        deals: deals of each of the two, each played with the exploiter in every seat.
        seed: of the deals that choose; those that measure have the next one.
    """
    hands = ",".join(map(str, rules.hand_sizes))

    def measure(exploiter: Bot, seed: int) -> Estimate:
        bots: dict[str, Bot] = {"exploiter": exploiter, "policy": frozen}
        report = evaluate(
            "exploiter", ["policy"], players=rules.players, hands=hands, deals=deals, rules=rules, seed=seed,
            make=lambda spec, _: bots[spec],
        )  # fmt: skip
        return report.differences[0].points

    chosen = {number: measure(exploiter, seed) for number, exploiter in exploiters.items()}
    best = max(chosen, key=lambda number: chosen[number].mean)
    return Gain(best, chosen, measure(exploiters[best], seed + 1))


@dataclass(frozen=True, kw_only=True)
class Options(TableOptions):
    """How much can a policy be exploited at a table?"""

    player: tyro.conf.Positional[str]
    """The policy: checkpoints/NAME or a checkpoint's folder; with --exact also heuristic or random."""
    hands: str = "5"
    """Size of the hand, in cards."""
    deck: str = ""
    """Cards of the deck, as "AC KC ..."; all 52 when empty."""
    exact: tyro.conf.FlagCreatePairsOff[bool] = False
    """Compute best responses exactly, which takes a tiny deck."""
    exploiters: int = 3
    """Exploiters to train, for equally many decisions or equal CPU time."""
    decisions: int = 5_000_000
    """Decisions of its own that each exploiter learns from."""
    cpu_minutes: float = 0.0
    """CPU time of each exploiter, where that ends before its decisions; 0 for no such limit."""
    temperature: float = 0.0
    """With --exact: above 0, the policy draws actions with probability proportional to exp(value / temperature)."""
    deals: int = 2000
    """Deals to choose the best exploiter on, and as many others to measure it on."""
    lr: float = 5e-4
    """The exploiters' learning rate at the start."""


def config_for(frozen: PolicyBot, rules: Rules, options: Options, seed: int) -> Config:
    """An exploiter's options."""
    given = trained_network(frozen)
    return Config(
        decisions=options.decisions,
        cpu_minutes=options.cpu_minutes,
        seed=seed,
        learner="dmc" if frozen.knows_values else "ppo",
        sections=given.sections,
        width=given.width,
        depth=given.depth,
        players=(rules.players,),
        deck=options.deck,
        lr=options.lr,
        final_lr=options.lr / 20,
        epsilon=0.1,
        ent_coef=ENT_COEF,
        final_ent_coef=ENT_COEF / 10,
    )


def _table(options: Options) -> Rules:
    try:
        rules = options.table_rules()
        if options.deck:
            rules = replace(rules, deck=Deck.of(options.deck))
    except ValueError as error:
        raise ArenaError(str(error)) from error
    tables = tables_for(options.hands, rules)
    if len(tables) != 1 or tables[0].num_hands != 1:
        raise ArenaError(f"hands={options.hands!r}: give the size of a single hand, as in --hands 5")
    return tables[0]


def _run(options: Options, console: Console) -> None:
    rules = _table(options)
    try:
        if options.exact:
            _run_exactly(options, rules, console)
        else:
            _run_exploiters(options, rules, console)
    except ValueError as error:
        raise ArenaError(str(error)) from error


def _run_exactly(options: Options, rules: Rules, console: Console) -> None:
    player = make_bot(options.player, options.seed)
    if options.temperature:
        if not isinstance(player, PolicyBot):
            raise ValueError(f"temperature={options.temperature} is for policies, and {options.player!r} is not one")
        player = PolicyBot(player.network, options.seed, options.temperature)
    found = responses(rules, policy_of(player))
    console.print(describe(rules))
    table = Table("seat", "margin", "a best response's", "gain")
    for seat in range(rules.players):
        gain = found.best[seat] - found.values[seat]
        name = f"{seat}{' (dealer)' if seat == rules.first_dealer else ''}"
        table.add_row(name, f"{found.values[seat]:+.4f}", f"{found.best[seat]:+.4f}", f"{gain:.4f}")
    console.print(table)
    console.print(f"NashConv {found.nash_conv:.4f} points; {found.nash_conv / rules.players:.4f} a seat")


def _run_exploiters(options: Options, rules: Rules, console: Console) -> None:
    if options.temperature:
        raise ValueError("temperature is for --exact; exploiters play against the policy's best actions")
    if options.exploiters < 1:
        raise ValueError(f"exploiters={options.exploiters} is not allowed; use 1 or more")
    checked_deals(options.seed, options.deals, 1, options.workers)
    player = make_bot(options.player, options.seed)
    if not isinstance(player, PolicyBot):
        raise ValueError(f"player {options.player!r} is not a checkpoint; exploiters start from one")
    torch.set_num_threads(options.workers)
    seeds = range(options.seed + 1, options.seed + 1 + options.exploiters)
    configs = {seed: config_for(player, rules, options, seed) for seed in seeds}
    exploiters: dict[int, Bot] = {}
    start = time.monotonic()
    with progress("exploiting", options.exploiters * options.decisions, "decisions") as meter:
        for seed, config in configs.items():
            exploiters[seed] = train_exploiter(player, rules, config, meter)
    minutes = (time.monotonic() - start) / 60 / len(exploiters)
    found = exploiter_gain(player, exploiters, rules, options.deals, options.seed)
    console.print(describe(rules))
    for seed, points in found.chosen.items():
        text = points.text(sign=True)
        console.print(f"exploiter {seed}, {minutes:.1f} minutes: {text} points per hand more than the policy")
    console.print(
        f"The best, {found.seed}, on {options.deals} other deals: {found.gain.text(sign=True)} points per hand. "
        "This is the exploiter gain, a lower bound of a best response's."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return run_command(Options, _run, "ohhell best-response", arguments)


if __name__ == "__main__":
    sys.exit(main())
