"""``python -m training.train``: self-play training of a policy, one loop read from top to bottom.

    python -m training.train --run runs/mine --decisions 20000000

Started again with the same options, a run goes on from where its folder stands, bit for bit as if never stopped.
"""

from __future__ import annotations

import copy
import json
import signal
import sys
import time
from collections.abc import Iterator

import numpy as np
import torch
import tyro
from rich.console import Console

from ohhell_env.bots.policy import PolicyBot, find_checkpoint, load_checkpoint
from ohhell_env.bots.policy_network import PolicyNetwork
from training.checkpoint import STATE, Counters, load_state, save_checkpoint, save_state, write_atomically
from training.config import Config, check_resumable
from training.fixed_deals import evaluate, make_player
from training.learner import average_weights, explained_variance, exploration, gradient_step, learning_rate
from training.network import TrainingNetwork
from training.progress import Progress
from training.selfplay import Collector, Experience
from training.throughput import bare_rate


def train(config: Config, console: Console) -> PolicyNetwork:
    """Run, or go on with, a training; the average of the weights at its end.

    Raises:
        ValueError: if the folder holds another run, a checkpoint does not fit, or the opponent is not known.
        FloatingPointError: when a loss or gradient stops being a number, saying where.
    """
    # Set up.
    torch.set_num_threads(config.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(config.seed)  # the first weights; nothing else draws from it
    policy = first_network(config)
    average = copy.deepcopy(policy)
    network = TrainingNetwork(policy)
    optimiser = torch.optim.Adam(policy.parameters(), lr=config.lr, fused=True)
    opponent = make_player(config.eval_opponent)
    counters = Counters()
    if (config.run / STATE).exists():
        check_resumable(config, config.run)
        counters = load_state(config.run, policy, average, optimiser)
        console.print(f"going on with {config.run} after {counters.decisions:,} decisions")
    config.run.mkdir(parents=True, exist_ok=True)
    write_atomically(config.run / "config.json", (json.dumps(config.to_json(), indent=2) + "\n").encode())
    progress = Progress(config.run, counters.iteration, console)
    collector = Collector(config)
    stop = StopAfterIteration()
    saved = evaluated = time.monotonic()

    while counters.decisions < config.decisions and not stop.asked:
        start, cpu_start = time.monotonic(), time.process_time()
        done = counters.decisions / config.decisions

        # Collect.
        epsilon = exploration(config, done)
        experience = collector.collect(network, counters.iteration, epsilon)
        collected = time.monotonic()

        # Learn.
        squared_error, learned = 0.0, 0
        for batch in minibatches(experience, config, counters.iteration):
            rate = learning_rate(config, counters.steps, done)
            for group in optimiser.param_groups:
                group["lr"] = rate
            try:
                loss = gradient_step(network, optimiser, batch, config.max_gradient)
            except FloatingPointError as error:
                raise FloatingPointError(
                    f"iteration {counters.iteration}, gradient step {counters.steps}: {error}. The weights in "
                    f"{config.run / STATE} are those of the last save; try a lower --lr"
                ) from None
            average_weights(average, policy, config.ema, counters.steps)
            squared_error += loss * len(batch[0])
            learned += len(batch[0])
            counters.steps += 1
        now = time.monotonic()

        # Report.
        counters.iteration += 1
        counters.decisions += len(experience.actions)
        counters.hands += config.hands
        counters.cpu_seconds += time.process_time() - cpu_start
        speed = len(experience.actions) / (now - start)
        if stop.iterations == 0:
            bare = bare_rate(network, batch[0])
            learner = learned / (now - collected)
            console.print(
                f"collection {len(experience.actions) / (collected - start):,.0f}, learner {learner:,.0f}, bare "
                f"forward and backward {bare:,.0f} decisions/s: the learner runs at {learner / bare:.0%} of the network"
            )
        progress.report(
            counters.iteration,
            {
                "decisions": counters.decisions,
                "cpu_hours": counters.cpu_seconds / 3600,
                "decisions_per_s": speed,
                "hours_left": max(0, config.decisions - counters.decisions) / speed / 3600,
                "points_a_hand": experience.points,
                "bids_made": experience.bids_made,
                "loss": squared_error / learned,
                "explained_variance": explained_variance(squared_error / learned, torch.from_numpy(experience.returns)),
                "epsilon": epsilon,
                "lr": rate,
            },
        )
        stop.iterations += 1

        # Evaluate and save.
        last = counters.decisions >= config.decisions or stop.asked
        if config.eval_minutes and (last or now - evaluated >= 60 * config.eval_minutes):
            results = evaluate(PolicyBot(copy.deepcopy(average)), opponent, config.eval_deals)
            progress.evaluated(counters.iteration, config.eval_opponent, results)
            evaluated = time.monotonic()
        if last or now - saved >= 60 * config.save_minutes:
            save_state(config.run, policy, average, optimiser, counters)
            save_checkpoint(config.run / "checkpoint", average, config, counters)
            saved = time.monotonic()

    progress.close()
    return average


def first_network(config: Config) -> PolicyNetwork:
    """The network that a run starts from: random, or a checkpoint's."""
    network = PolicyNetwork(config.width, config.depth, config.sections)
    if not config.init_from:
        return network
    given, _ = load_checkpoint(find_checkpoint(config.init_from))
    if given.describe() != network.describe():
        raise ValueError(
            f"init_from={config.init_from!r} has a network of {given.describe()}, the run's is {network.describe()}"
        )
    return given


def minibatches(
    experience: Experience, config: Config, iteration: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """The iteration's decisions in random order: inputs (B, D), actions (B,), returns (B,).

    The batches are of one size, as near to ``config.batch`` as divides the decisions.
    """
    arrays = [torch.from_numpy(a) for a in (experience.inputs, experience.actions, experience.returns)]
    count = len(experience.actions)
    for number in range(config.passes):
        order = torch.from_numpy(np.random.default_rng((config.seed, iteration, number)).permutation(count))
        for chosen in order.tensor_split(max(1, round(count / config.batch))):
            yield arrays[0][chosen], arrays[1][chosen], arrays[2][chosen]


class StopAfterIteration:
    """Ctrl-C and SIGTERM end the run after the iteration in hand; the second one ends it at once."""

    def __init__(self) -> None:
        self.asked = False
        self.iterations = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


def main() -> None:
    """The command line."""
    console = Console()
    try:
        train(tyro.cli(Config, description=__doc__), console)
    except (ValueError, FileNotFoundError, FloatingPointError) as error:
        console.print(f"[red]{error}", highlight=False)
        sys.exit(1)


if __name__ == "__main__":
    main()
