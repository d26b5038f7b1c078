"""``ohhell distil TEACHER --folder runs/NAME``: a fast policy that plays as a larger one does.

    ohhell distil mix512 --folder runs/mix512-fast
    ohhell publish runs/mix512-fast/checkpoint mix512-fast --evals FOLDER ...

The teacher plays hands with itself at the tables of its training, drawn from its own probabilities, with some random
actions. A small network of whole numbers (`FastNetwork`) learns those probabilities by cross-entropy, each
decision once. Hands of other seeds are held out: how often both prefer the same action there, and the
Kullback-Leibler divergence, are on the progress line. Started again with the same options, a run continues from its
folder.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from rich.console import Console
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as tensor_bytes
from torch import Tensor

from ohhell_env.bots.policy.bot import WEIGHTS, PolicyBot, find_checkpoint
from ohhell_env.bots.policy.every_table import list_ones
from ohhell_env.bots.policy.every_table_encoder import encode_wide_views
from ohhell_env.bots.policy.every_table_layout import NUM_WORDS
from ohhell_env.bots.policy.every_table_suits import labels_of
from ohhell_env.bots.policy.fast import FastNetwork
from ohhell_env.bots.policy.features import IDENTITY, LABELS, sampled_action, uniform
from ohhell_env.bots.policy.network import FrozenNetwork, encode_views
from ohhell_env.bots.policy.search import play_forced
from ohhell_env.bots.policy.sparse import ones_of
from ohhell_env.bots.policy.trained_for import TrainedFor
from ohhell_env.bots.policy.words import MAX_ONES
from ohhell_env.files import write_whole
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import jit_apart, lowest, next_state, stream_of
from ohhell_env.kernel.rulebook import NUM_ACTIONS
from ohhell_env.kernel.state import PLAY
from ohhell_env.kernel.widening import widened_games, widened_tables
from ohhell_env.observation.standard import OBSERVATION_SIZE
from ohhell_env.options import run_command
from ohhell_env.rules.cards import STANDARD_DECK, Deck
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
from training.learning.checkpoint import STATE, save_student
from training.learning.config import Config
from training.learning.options import check_ranges, check_same_run, plain
from training.learning.student import Student

MASKED = -1e9  # the logit of an action that is not legal
HELD_OUT = 2**32  # number of the iteration whose hands are held out
CONFIG = "config.json"
_FREE = ("folder", "decisions", "save_minutes", "threads")  # options that may differ when a run goes on
_EXPLORATION = 2  # number of a match's random stream that draws the actions


@dataclass(frozen=True)
class Options:
    """Make a fast policy from a checkpoint. The same command continues where it was stopped."""

    teacher: tyro.conf.Positional[str]
    """The policy to learn from: a shipped checkpoint's name or a checkpoint's folder."""
    folder: Path
    """The run's folder; FOLDER/checkpoint is the student."""
    width: int = 128
    """Units of the first layer: 128, 256 or 512."""
    decisions: int = 8_000_000
    """Decisions to learn from."""
    seed: int = 1
    """Seed of the hands, the teacher's choices and the first weights."""
    hands: int = 2048
    """Hands of an iteration."""
    random: float = 0.02
    """Share of the actions that are random."""
    minibatch_size: int = 1024
    """Decisions of a gradient step."""
    lr: float = 6e-3
    """Adam's learning rate at the start; it falls to a hundredth by a half cosine."""
    save_minutes: float = 1.0
    """Minutes between saves."""
    threads: int = 1
    """Threads of torch."""

    def __post_init__(self) -> None:
        check_ranges(self, {"random": (0, 1)})


class Lessons(NamedTuple):
    """What the teacher would do in some positions.

    Attributes:
        ones: (N, M) int16, the numbers of the input's ones.
        counts: (N,) int64, how many of them count.
        logits: (N, outputs) float32, the teacher's, by the network's outputs; MASKED where not legal.
        games: (N,) the positions, of the form that the teacher plays.
        relabellings: (N,) int64, of the suits.
    """

    ones: NDArray[np.int16]
    counts: NDArray[np.int64]
    logits: NDArray[np.float32]
    games: NDArray[np.void]
    relabellings: NDArray[np.int64]


@jit_apart
def start_streams(games: Any, streams: Any) -> None:
    """The random stream of each hand's actions, from its match's seed."""
    for i in range(games.shape[0]):
        streams[i] = stream_of(games[i]["seed"], _EXPLORATION)


@jit_apart
def mask_and_act(
    games: Any,
    tables: Any,
    active: Any,
    outputs: Any,
    labels: Any,
    relabellings: Any,
    temperature: float,
    random: float,
    streams: Any,
    values: Any,
    logits: Any,
) -> None:
    """Write the teacher's logits for each active game, and take an action drawn from them, or a random one.

    Args:
        games: what is played.
        tables: their rules.
        active: (N,) which games.
        outputs: (N, outputs) of the teacher.
        labels: (T, 24, actions), the output of each action under each relabelling at each table.
        relabellings: (N,)
        temperature: of the teacher's policy.
        random: share of the actions that are random.
        streams: of the games.
        values: (1, actions) of room to work in.
        logits: (N, outputs), written.
    """
    for j in range(active.shape[0]):
        game = games[active[j]]
        names = labels[game["table"], relabellings[j]]
        for action in range(logits.shape[1]):
            logits[j, action] = MASKED
        rest = game["legal"]
        while rest:
            action = rulebook.action_of(game, lowest(rest))
            values[0, action] = outputs[j, names[action]]
            logits[j, names[action]] = values[0, action] / temperature
            rest &= rest - 1
        stream = next_state(streams[active[j]])
        by_chance = uniform(stream) < random
        stream = next_state(stream)
        if by_chance:
            action = rulebook.random_action(game, stream)
        else:
            action = sampled_action(game, values, 0, IDENTITY, temperature, stream)
        streams[active[j]] = stream
        rulebook.apply(game, tables[game["table"]], action)


@jit_apart
def list_all_ones(words: Any, ones: Any, count: Any) -> None:
    """`list_ones` of every row."""
    for j in range(words.shape[0]):
        count[j] = list_ones(words, j, ones, j)


def tables_of(trained_for: TrainedFor) -> tuple[list[Rules], NDArray[np.float64]]:
    """The tables of a checkpoint's training, each a match of one hand, and their shares, large hands' larger."""
    rules, shares = [], []
    deck = Deck.of(trained_for.deck) if trained_for.deck else STANDARD_DECK
    for players in trained_for.players:
        peak = min(len(deck) // players, trained_for.max_hand_size)
        sizes = [1 + size / peak for size in range(1, peak + 1)]
        for size, weight in enumerate(sizes, 1):
            for bids in trained_for.bids:
                for hook in trained_for.hook:
                    rules.append(Rules(players, (size,), bids=bids, hook=hook, deck=deck))
                    shares.append(weight / sum(sizes))
    return rules, np.array(shares) / sum(shares)


class School:
    """Hands that the teacher plays with itself; an iteration depends on the seed, its number and the teacher alone."""

    def __init__(self, teacher: PolicyBot, options: Options) -> None:
        if not isinstance(teacher.network, FrozenNetwork):
            raise ValueError(
                f"{options.teacher!r} cannot be a teacher: it must be a checkpoint that was trained, not distilled"
            )
        self.teacher, self.options = teacher, options
        self.network = teacher.network
        if teacher.trained_for is not None:
            rules, self._shares = tables_of(teacher.trained_for)
        else:
            rules, shares = Config.from_json(teacher.meta["config"]).mixture()
            self._shares = np.array(shares)
        self._simulator = Simulator(rules, options.hands, seed=0, observe=False)
        self.tables = self._simulator.tables
        self.labels = np.broadcast_to(LABELS[:, :NUM_ACTIONS], (len(rules), *LABELS[:, :NUM_ACTIONS].shape))
        if self.network.every_table:
            self.tables = widened_tables(self.tables)
            self.labels = np.maximum(labels_of(self.tables), 0)

    def lessons(self, iteration: int) -> Lessons:
        """Every decision with a choice of the iteration's hands."""
        random = np.random.default_rng((self.options.seed, iteration))
        simulator = self._simulator
        simulator.games["table"] = random.choice(len(self._shares), self.options.hands, p=self._shares)
        simulator.reset(random.integers(2**63, size=self.options.hands))
        games, tables = simulator.games, self.tables
        if self.network.every_table:
            games = widened_games(games)
        streams = np.empty(len(games), dtype=np.uint64)
        start_streams(games, streams)
        parts: list[tuple[NDArray[Any], ...]] = []
        active = np.arange(len(games))
        room = np.empty((1, self.labels.shape[2]), dtype=np.float32)
        while left := play_forced(games, tables, active):
            active = active[:left]
            views = games[active]
            outputs, ones, count, relabellings = self._judged(views)
            logits = np.empty(outputs.shape, dtype=np.float32)
            mask_and_act(
                games, tables, active, outputs, self.labels, relabellings, self.teacher.own_temperature,
                self.options.random, streams, room, logits,
            )  # fmt: skip
            parts.append((ones[:, : int(count.max())].copy(), count, logits, views, relabellings))
        most = max(ones.shape[1] for ones, *_ in parts)
        padded = [np.pad(ones, ((0, 0), (0, most - ones.shape[1]))) for ones, *_ in parts]
        return Lessons(np.concatenate(padded), *(np.concatenate([part[k] for part in parts]) for k in (1, 2, 3, 4)))

    def _judged(self, views: NDArray[np.void]) -> tuple[NDArray[Any], ...]:
        """The teacher's outputs in some positions, the ones of its inputs, how many they are, and the relabellings."""
        relabellings = np.empty(len(views), dtype=np.int64)
        if self.network.every_table:
            words = np.empty((len(views), NUM_WORDS), dtype=np.int64)
            encode_wide_views(views, self.tables, words, relabellings)
            ones, count = np.empty((len(views), 2 * MAX_ONES), dtype=np.int16), np.empty(len(views), dtype=np.int64)
            list_all_ones(words, ones, count)
            return self.network(words), ones, count, relabellings
        inputs = np.empty((len(views), self.network.num_inputs), dtype=np.int8)
        scratch = np.empty((1, OBSERVATION_SIZE), dtype=np.int8)
        encode_views(views, self.tables, self.network._sources, scratch, inputs, relabellings)
        return self.network(inputs), *ones_of(inputs), relabellings


def divergence(logits: Tensor, targets: Tensor) -> Tensor:
    """Kullback-Leibler divergence (B,), in nats, of the student's policy from the teacher's; logits (B, A) of both."""
    legal = targets > MASKED / 2  # (B, A)
    teacher = torch.log_softmax(targets, dim=1)
    student = torch.log_softmax(logits.masked_fill(~legal, MASKED), dim=1)
    return (teacher.exp() * (teacher - student)).masked_fill(~legal, 0.0).sum(dim=1)


def examine(student: FastNetwork, lessons: Lessons, school: School, scale: float) -> dict[str, float]:
    """How a student does on lessons that it did not learn from, in its whole numbers.

    Returns:
        "agreement", the share of positions in which both prefer the same action; "kl", "kl_bids" and "kl_cards",
        mean divergence in nats.
    """
    outputs, _ = student.evaluate(lessons.games, school.tables)
    if student.every_table:  # by the actions' own names
        names = school.labels[lessons.games["table"], lessons.relabellings]  # (N, actions)
        named, outputs = outputs, np.zeros(lessons.logits.shape, dtype=np.float32)
        rows = np.arange(len(names))[:, None]
        np.maximum.at(outputs, (rows, names), named)
        np.minimum.at(outputs, (rows, names), named)
    logits = torch.from_numpy(outputs / scale)  # (N, A)
    targets = torch.from_numpy(lessons.logits)
    found = divergence(logits, targets).numpy().astype(np.float64)
    legal = lessons.logits > MASKED / 2
    same = np.where(legal, logits.numpy(), -np.inf).argmax(axis=1) == lessons.logits.argmax(axis=1)
    bids = lessons.games["phase"] != PLAY
    return {
        "agreement": float(same.mean()),
        "kl": float(found.mean()),
        "kl_bids": float(found[bids].mean()),
        "kl_cards": float(found[~bids].mean()),
    }


@dataclass
class Counters:
    """How far a run is."""

    iteration: int = 0
    decisions: int = 0
    cpu_seconds: float = 0.0


def save_state(folder: Path, student: Student, optimiser: torch.optim.Optimizer, counters: Counters) -> None:
    """Write everything that the next iteration depends on, in one file; the counters are its metadata."""
    tensors = {f"student.{name}": tensor for name, tensor in student.state_dict().items()}
    for name, parameter in student.named_parameters():
        for moment, tensor in optimiser.state.get(parameter, {}).items():
            tensors[f"{moment}/{name}"] = tensor
    write_whole(folder / STATE, tensor_bytes(tensors, metadata={"counters": json.dumps(vars(counters))}))


def load_state(folder: Path, student: Student, optimiser: torch.optim.Optimizer) -> Counters:
    """The inverse of `save_state`.

    Raises:
        ValueError: if the file is damaged or is not the state of such a run.
    """
    try:
        with safe_open(folder / STATE, framework="pt") as file:
            counters = Counters(**json.loads((file.metadata() or {})["counters"]))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        own = {k.removeprefix("student."): v for k, v in tensors.items() if k.startswith("student.")}
        student.load_state_dict(own)
    except (SafetensorError, KeyError, TypeError, RuntimeError) as error:
        raise ValueError(f"{folder / STATE} is not the state of this run, or is damaged: {error}") from None
    for name, parameter in student.named_parameters():
        moments = {k.split("/")[0]: v for k, v in tensors.items() if k.endswith(f"/{name}")}
        if moments:
            optimiser.state[parameter] = moments
    return counters


def distil(options: Options, console: Console) -> dict[str, float]:
    """Run or resume a distillation; returns what `examine` finds at its end.

    Raises:
        ValueError: if there is no such teacher, or the folder holds another run.
    """
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    source = find_checkpoint(options.teacher)
    teacher = PolicyBot.load(source)
    school, student = School(teacher, options), Student(options.width, teacher.network.every_table)
    optimiser = torch.optim.Adam(student.parameters(), lr=options.lr, fused=True)
    counters = Counters()
    _claim(options)
    if (options.folder / STATE).exists():
        counters = load_state(options.folder, student, optimiser)
        console.print(f"resuming {options.folder} after {counters.decisions:,} decisions")
    console.print(f"{source.name} plays {options.hands} hands to be held out")
    held_out = school.lessons(HELD_OUT)
    scale = teacher.own_temperature
    results: dict[str, float] = {}
    saved = time.monotonic()
    last = counters.decisions >= options.decisions
    while not last:
        start, cpu_start = time.monotonic(), time.process_time()
        lessons = school.lessons(counters.iteration)
        loss = learn(student, optimiser, lessons, options, counters)
        counters.iteration += 1
        before, counters.decisions = counters.decisions, counters.decisions + len(lessons.counts)
        counters.cpu_seconds += time.process_time() - cpu_start
        last = counters.decisions >= options.decisions
        results = examine(student.quantised(scale), held_out, school, scale)
        rate = (counters.decisions - before) / (time.monotonic() - start)
        minutes = max(0, options.decisions - counters.decisions) / rate / 60
        console.print(
            f"{counters.decisions:>12,} decisions {rate:>8,.0f}/s {minutes:>6.1f} min left  KL {loss:.4f}; held out: "
            f"agreement {results['agreement']:.2%}  KL {results['kl']:.4f} (bids {results['kl_bids']:.4f}, cards "
            f"{results['kl_cards']:.4f})",
            soft_wrap=True,
        )
        if last or time.monotonic() - saved >= 60 * options.save_minutes:
            save_state(options.folder, student, optimiser, counters)
            saved = time.monotonic()
    results = results or examine(student.quantised(scale), held_out, school, scale)
    told: dict[str, Any] = {"decisions": counters.decisions, "hands": counters.iteration * options.hands}
    told |= {"cpu_hours": round(counters.cpu_seconds / 3600, 3), "seed": options.seed, "config": plain(options)}
    told["held_out"] = {name: round(value, 4) for name, value in results.items()}
    save_student(options.folder / "checkpoint", student.quantised(scale), source.name, teacher.meta, told)
    console.print(
        f"Saved: {options.folder / 'checkpoint'}. Play against it: ohhell play --opponents {options.folder}/checkpoint",
        soft_wrap=True,
    )
    return results


def learn(
    student: Student, optimiser: torch.optim.Optimizer, lessons: Lessons, options: Options, counters: Counters
) -> float:
    """One pass over an iteration's lessons in random order; the mean divergence on the way."""
    order = np.random.default_rng((options.seed, counters.iteration, 1)).permutation(len(lessons.counts))
    number = max(1, round(len(order) / options.minibatch_size))
    total = 0.0
    for k, rows in enumerate(np.array_split(order, number)):
        done = min(1.0, (counters.decisions + k * options.minibatch_size) / options.decisions)
        for group in optimiser.param_groups:
            group["lr"] = options.lr * (0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2)
        logits = student(lessons.ones[rows], lessons.counts[rows])
        loss = divergence(logits, torch.from_numpy(lessons.logits[rows])).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        student.limit_weights()
        total += loss.item() * len(rows)
    return total / len(order)


def _claim(options: Options) -> None:
    """Write the run's options into its folder, or compare them with those there."""
    path = options.folder / CONFIG
    now = {name: value for name, value in plain(options).items() if name not in _FREE}
    now["weights_sha256"] = hashlib.sha256((find_checkpoint(options.teacher) / WEIGHTS).read_bytes()).hexdigest()
    if path.exists():
        check_same_run(options.folder, json.loads(path.read_text()), now, _FREE)
    options.folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(now, indent=2) + "\n")


def _run(options: Options, console: Console) -> None:
    distil(options, console)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return run_command(Options, _run, "ohhell distil", arguments, mistakes=(ValueError,))


if __name__ == "__main__":
    sys.exit(main())
