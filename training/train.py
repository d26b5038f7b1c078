"""``ohhell train``: self-play training of a policy, one loop read from top to bottom."""

from __future__ import annotations

import copy
import json
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from rich.console import Console

from ohhell_env.bots import make_bot
from ohhell_env.bots.policy.bot import PolicyBot, find_checkpoint, load_checkpoint
from ohhell_env.bots.policy.network import EVERY_TABLE, FrozenNetwork
from ohhell_env.files import write_whole
from ohhell_env.options import INTERRUPTED
from ohhell_env.options import progress as steps
from training.learning.checkpoint import (
    STATE,
    Counters,
    load_state,
    save_checkpoint,
    save_state,
    stages,
    take_weights,
)
from training.learning.config import Config, check_resumable
from training.learning.distributed import device_of, each, join, leave, total
from training.learning.learners import learner_of
from training.learning.network import PolicyNetwork, TrainingNetwork
from training.learning.optimisation import (
    average_weights,
    explained_variance,
    gradient_step,
    learning_rate,
    share_done,
)
from training.learning.past import EVERY, PastPolicies
from training.learning.progress import Progress, closing_words
from training.learning.tables import UNIT, measured_spreads
from training.learning.throughput import bare_rate, faster_arithmetic
from training.learning.validation import validate, watched_tables

HELP = """Train a policy by self-play.

    ohhell train                                          # about an hour on one core, into runs/policy
    ohhell train --folder runs/mine --decisions 5000000   # shorter
    torchrun --standalone --nproc-per-node 2 -m training.train --folder runs/mine   # in two processes

Started again with the same options, a run continues from its last save, bit for bit as if it had never stopped.
Ctrl-C ends it after the current iteration and saves it."""


def train(config: Config, console: Console) -> PolicyNetwork:
    """Run or resume a training; returns what it ships: the average of the weights, or what the learner makes of it.

    Raises:
        ValueError: if the folder holds another run, a checkpoint does not fit, or the opponent is not known.
        FloatingPointError: when a loss or gradient is not a finite number, saying where.
    """
    # Set up.
    rank, processes = join()
    if config.hands % processes or config.minibatch_size % processes:
        raise ValueError(
            f"hands={config.hands} and minibatch_size={config.minibatch_size} must be multiples of the {processes} "
            "processes"
        )
    device = device_of(config.device)
    torch.set_num_threads(config.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(config.seed)  # the first weights; nothing else draws from it
    learner = learner_of(config)
    policy, lineage = first_network(config)
    policy.to(device)
    average = copy.deepcopy(policy)
    optimiser = torch.optim.Adam(policy.parameters(), lr=config.lr, fused=True)
    opponent = make_bot(config.eval_opponent)
    bots = [make_bot(spec, config.seed) for spec in config.opponents]
    counters = Counters(precision=config.precision, lineage=lineage)
    if (config.folder / STATE).exists():
        check_resumable(config, config.folder)
        counters = load_state(config.folder, policy, average, optimiser)
        console.print(f"resuming {config.folder} after {counters.decisions:,} decisions, in {counters.precision}")
    elif config.precision == "auto":
        counters.precision, rates = faster_arithmetic(policy)
        told = ", ".join(f"{name} {rate:,.0f}" for name, rate in rates.items())
        console.print(f"arithmetic: {counters.precision} (forward and backward, decisions per CPU-second: {told})")
    network = TrainingNetwork(policy, bf16=counters.precision == "bf16")
    past = PastPolicies(config.folder, average, counters.past)
    progress = None
    if rank == 0:
        config.folder.mkdir(parents=True, exist_ok=True)
        write_whole(config.folder / "config.json", (json.dumps(config.to_json(), indent=2) + "\n").encode())
        progress = Progress(config.folder, counters.iteration, console)
    units = None
    if config.rules or config.tables:
        tables = config.mixture().rules
        with steps("measuring the spread of each table, once", len(tables), "tables") as meter:
            units = UNIT * measured_spreads(tables, config.folder, rank == 0, meter.advance)
    collector = learner.collector(rank, processes, bots=bots, units=units)
    shipped = average
    watched = watched_tables(config)
    stop = StopAfterIteration()
    first = True
    done = share_done(config, counters.decisions, counters.cpu_seconds)
    last = done >= 1
    saved = evaluated = time.monotonic()

    while not last:
        start, cpu_start = time.monotonic(), time.process_time()

        # Collect.
        epsilon = learner.exploration(done)
        frozen = past.drawn(config.seed, counters.iteration) if config.past and done >= config.past_from else None
        experience = collector.collect(network, counters.iteration, epsilon, frozen)
        collected = time.process_time()

        # Learn.
        arrays = learner.arrays(experience, TrainingNetwork(average, network.bf16))
        found = each(len(experience.actions))
        arrays = no_more_than(
            arrays, config.decisions - counters.decisions, found, (config.seed, counters.iteration, rank)
        )
        decisions = sum(each(len(arrays[0])))
        sums: dict[str, float] = defaultdict(float)  # figures of the minibatches, weighted by their decisions
        order = np.random.default_rng((config.seed, counters.iteration, rank))
        for batch in minibatches(arrays, config.update_epochs, max(1, round(decisions / config.minibatch_size)), order):
            rate = learning_rate(config, counters.steps, done)
            for group in optimiser.param_groups:
                group["lr"] = rate
            try:
                metrics = gradient_step(network, optimiser, batch, config.max_grad_norm, partial(learner.loss, done))
            except FloatingPointError as error:
                raise FloatingPointError(
                    f"iteration {counters.iteration}, gradient step {counters.steps}: {error}. The weights in "
                    f"{config.folder / STATE} are those of the last save; try a lower --lr"
                ) from None
            average_weights(average, policy, config.ema, counters.steps)
            for name, value in metrics.items():
                sums[name] += value * len(batch[0]) / config.update_epochs
            counters.steps += 1
        now, learned = time.monotonic(), time.process_time()

        # Count, over all processes.
        returns = experience.returns.astype(np.float64)
        errors = (experience.values - returns) ** 2
        squared_error, mean, square = (
            value / sum(found) for value in total([errors.sum(), returns.sum(), (returns**2).sum()])
        )
        losses = dict(zip(sums, (value / decisions for value in total(list(sums.values()))), strict=True))
        losses["explained_variance"] = explained_variance(squared_error, square - mean**2)
        cpu_seconds, asked = total([time.process_time() - cpu_start, stop.asked])
        points, made = total([experience.points / processes, experience.bids_made / processes])
        counters.iteration += 1
        counters.decisions += decisions
        counters.hands += config.hands
        counters.cpu_seconds += cpu_seconds
        before, done = done, share_done(config, counters.decisions, counters.cpu_seconds)
        last = done >= 1 or asked > 0
        if config.past and int(done / EVERY) > int(before / EVERY):
            past.keep(counters.iteration, average, write=rank == 0)
        if progress is None:
            continue

        # Report, evaluate, save: the first process alone.
        speed = decisions / (now - start)
        if first:
            collection = len(experience.actions) / (collected - cpu_start)
            learning = len(experience.actions) * config.update_epochs / (learned - collected)
            bare = bare_rate(network, batch[0])
            console.print(
                f"decisions per CPU-second: collection {collection:,.0f}, learning {learning:,.0f}, the bare "
                f"network's forward and backward {bare:,.0f}; learning runs at {learning / bare:.0%} of that"
            )
            first = False
        progress.report(
            counters.iteration,
            {
                "decisions": counters.decisions,
                "cpu_hours": counters.cpu_seconds / 3600,
                "decisions_per_s": speed,
                "minutes_left": max(0.0, 1 - done) / (done - before) * (now - start) / 60,
                "points_a_hand": points,
                "bids_made": made,
                "epsilon": epsilon,
                "lr": rate,
            },
            losses,
        )
        if config.eval_minutes and (last or now - evaluated >= 60 * config.eval_minutes):
            results = validate(PolicyBot(average.frozen()), opponent, config.eval_deals, watched)
            progress.evaluated(counters.iteration, config.eval_opponent, results)
            evaluated = time.monotonic()
        if last or now - saved >= 60 * config.save_minutes:
            save_state(config.folder, policy, average, optimiser, counters)
            shipped = learner.finish(average, collector, console) if done >= 1 else average
            save_checkpoint(config.folder / "checkpoint", shipped, config, counters)
            saved = time.monotonic()

    if progress is not None:
        progress.close()
        console.print(closing_words(config, counters, done), highlight=False, soft_wrap=True)
    leave()
    return shipped


def first_network(config: Config) -> tuple[PolicyNetwork, list[dict[str, Any]]]:
    """The network that a run starts from, random or a checkpoint's, and the runs that made that one."""
    learner = learner_of(config)
    network = learner.network()
    if not config.init_from:
        return network, []
    given, meta = load_checkpoint(find_checkpoint(config.init_from))
    mapped = config.every_table and getattr(given, "sections", None) != EVERY_TABLE  # the standard form's weights
    wanted = {**network.describe(), **({"sections": given.describe()["sections"]} if mapped else {})}
    if not isinstance(given, FrozenNetwork) or given.describe() != wanted:
        raise ValueError(f"init_from={config.init_from!r} has a network of {given.describe()}, the run's is {wanted}")
    take_weights(network, given, learner.output_scale)
    return network, stages(meta)


def no_more_than(
    arrays: tuple[NDArray[Any], ...], left: int, found: Sequence[int], key: tuple[int, int, int]
) -> tuple[NDArray[Any], ...]:
    """All rows, or as many as the run has left to learn from, drawn at random: this process's share of them.

    Args:
        arrays: of this process, a row for each decision.
        left: decisions that the run has left.
        found: decisions of each process in this iteration.
        key: seed of the run, number of the iteration, this process's number.
    """
    if sum(found) <= left:
        return arrays
    rank = key[-1]
    upto = [left * sum(found[:k]) // sum(found) for k in (rank, rank + 1)]  # the shares add up to what is left
    share = max(1, upto[1] - upto[0])  # a process without a row could not take part in the gradient step
    rows = np.sort(np.random.default_rng((*key, 1)).permutation(len(arrays[0]))[:share])
    return tuple(array[rows] for array in arrays)


def minibatches(
    arrays: Sequence[NDArray[Any]], epochs: int, number: int, random: np.random.Generator
) -> Iterator[tuple[torch.Tensor, ...]]:
    """In each epoch all decisions in random order, in minibatches; the arrays have a row for each decision."""
    tensors = [torch.from_numpy(array) for array in arrays]
    for _ in range(epochs):
        order = torch.from_numpy(random.permutation(len(arrays[0])))
        for chosen in order.tensor_split(number):
            yield tuple(tensor[chosen] for tensor in tensors)


class StopAfterIteration:
    """Ctrl-C and SIGTERM end the run after the current iteration; the second one ends it at once."""

    def __init__(self) -> None:
        self.asked = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print("stopping after this iteration, which is then saved; once more stops at once", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    console = Console()
    try:
        train(tyro.cli(Config, prog="ohhell train", description=HELP, args=arguments), console)
    except (ValueError, FloatingPointError) as error:
        console.print(f"[red]{error}", highlight=False)
        return 1
    except KeyboardInterrupt:
        console.print("Stopped at once: the run's folder holds it as it was at its last save.")
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
