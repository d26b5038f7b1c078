"""Writing what a run saves: its state, to resume from, and checkpoints, to play with. No pickle anywhere."""

from __future__ import annotations

import functools
import hashlib
import json
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as numpy_bytes
from safetensors.torch import save as tensor_bytes

from ohhell_env.bots.policy.bot import CARD, ENVIRONMENT, FORMAT, META, WEIGHTS, input_layout
from ohhell_env.bots.policy.every_table_weights import with_match_inputs
from ohhell_env.bots.policy.fast import KIND, FastNetwork
from ohhell_env.bots.policy.network import FrozenNetwork
from ohhell_env.bots.policy.trained_for import TrainedFor
from ohhell_env.bots.policy.vectors import MIDDLE
from ohhell_env.files import write_whole
from ohhell_env.observation.standard import LAYOUT_HASH
from training.learning.config import Config
from training.learning.learners import learner_of
from training.learning.network import PolicyNetwork

STATE = "latest.safetensors"
_MOMENTS = ("exp_avg", "exp_avg_sq", "step")


@dataclass
class Counters:
    """How far a run is.

    Attributes:
        iteration: iterations done.
        steps: gradient steps done.
        decisions: decisions trained on.
        hands: hands played.
        cpu_seconds: CPU time used.
        precision: arithmetic of the network, chosen at the start: "fp32" or "bf16".
        past: iterations after which a past policy was kept.
        lineage: the runs that its first weights came from, oldest first, each as `stage_of` describes it.
    """

    iteration: int = 0
    steps: int = 0
    decisions: int = 0
    hands: int = 0
    cpu_seconds: float = 0.0
    precision: str = "fp32"
    past: list[int] = field(default_factory=list)
    lineage: list[dict[str, Any]] = field(default_factory=list)


def stage_of(meta: dict[str, Any]) -> dict[str, Any]:
    """What a later run's checkpoint says about the run behind a meta.json."""
    return {name: meta[name] for name in ("decisions", "hands", "cpu_hours", "seed", "commit", "config")}


def stages(meta: dict[str, Any]) -> list[dict[str, Any]]:
    """All runs that made a checkpoint, the last one its own."""
    return [*meta.get("lineage", []), stage_of(meta)]


def save_state(
    folder: Path,
    network: PolicyNetwork,
    average: PolicyNetwork,
    optimiser: torch.optim.Optimizer,
    counters: Counters,
) -> None:
    """Write everything that the next iteration depends on, in one file; the counters are its metadata."""
    tensors = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    tensors |= {f"average.{name}": tensor for name, tensor in average.state_dict().items()}
    for name, parameter in network.named_parameters():
        for moment in _MOMENTS:
            if parameter in optimiser.state:
                tensors[f"{moment}.{name}"] = optimiser.state[parameter][moment]
    write_whole(folder / STATE, tensor_bytes(tensors, metadata={"counters": json.dumps(vars(counters))}))


def load_state(
    folder: Path, network: PolicyNetwork, average: PolicyNetwork, optimiser: torch.optim.Optimizer
) -> Counters:
    """The inverse of `save_state`.

    Raises:
        ValueError: if the file is damaged or is not the state of such a run.
    """
    path = folder / STATE
    try:
        with safe_open(path, framework="pt") as file:
            counters = Counters(**json.loads((file.metadata() or {})["counters"]))
            arrays = with_match_inputs({name: file.get_tensor(name).numpy() for name in file.keys()})  # noqa: SIM118
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        for part, module in (("network.", network), ("average.", average)):
            module.load_state_dict({k.removeprefix(part): v for k, v in tensors.items() if k.startswith(part)})
        for name, parameter in network.named_parameters():
            if f"step.{name}" in tensors:
                optimiser.state[parameter] = {
                    moment: tensors[f"{moment}.{name}"].to(parameter.device) for moment in _MOMENTS
                }
    except (SafetensorError, KeyError, TypeError, RuntimeError) as error:
        raise ValueError(f"{path} is not the state of this run, or is damaged: {error}") from None
    return counters


@functools.cache
def commit() -> str:
    """The checkout's commit, with a + where files differ from it; "unknown" outside a checkout."""
    git = ("git", "-C", str(Path(__file__).parent))
    try:
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        changed = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changed.stdout.strip() else "")


@torch.no_grad()
def scale_outputs(network: PolicyNetwork, scale: float) -> None:
    """Multiply a network's outputs; not a critic's."""
    for parameter in network.head.parameters():
        parameter.mul_(scale)


def take_weights(network: PolicyNetwork, given: FrozenNetwork, scale: float) -> None:
    """Let training start from a checkpoint's network of the same shape, its outputs times the learner's scale."""
    network.take_weights(given)
    scale_outputs(network, scale)


def tables_of(config: Config) -> TrainedFor | None:
    """The tables that a run trains for; None of a network for every table."""
    if config.every_table:
        return None
    rules = config.mixture().rules
    return TrainedFor(
        players=tuple(sorted({one.players for one in rules})),
        max_hand_size=max(one.peak for one in rules) if not config.max_hand_size else config.max_hand_size,
        bids=tuple(sorted({one.bids for one in rules})),
        hook=tuple(sorted({one.hook for one in rules})),
        deck=config.deck,
    )


def objective_of(configs: Sequence[dict[str, Any]]) -> str:
    """What a policy plays matches for, by the options of the runs that made it: "match" or "points"."""
    return "match" if any(config.get("match") for config in configs) else "points"


def save_checkpoint(folder: Path, network: PolicyNetwork, config: Config, counters: Counters) -> None:
    """Write a checkpoint folder that `load_policy` reads: weights, meta.json, model card.

    Its outputs are the network's divided by the learner's scale, so that logits can be used like values.
    """
    folder.mkdir(parents=True, exist_ok=True)
    weights = numpy_bytes(network.frozen().scaled(1 / learner_of(config).output_scale).tensors)
    meta = {
        "format": FORMAT,
        "environment": ENVIRONMENT,
        "observation_layout": LAYOUT_HASH,
        "input_layout": input_layout(network.describe()),
        "network": network.describe(),
        "outputs": learner_of(config).outputs,
        "objective": objective_of([*(stage["config"] for stage in counters.lineage), config.to_json()]),
        "tables": tables.to_json() if (tables := tables_of(config)) else None,
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
        "decisions": counters.decisions,
        "hands": counters.hands,
        "cpu_hours": round(counters.cpu_seconds / 3600, 3),
        "precision": counters.precision,
        "seed": config.seed,
        "commit": commit(),
        "config": config.to_json(),
        "lineage": counters.lineage,
    }
    write_whole(folder / WEIGHTS, weights)
    write_whole(folder / META, (json.dumps(meta, indent=2) + "\n").encode())
    write_whole(folder / CARD, model_card(folder.name, meta).encode())


def save_student(
    folder: Path, network: FastNetwork, teacher: str, teacher_meta: dict[str, Any], told: dict[str, Any]
) -> None:
    """Write the checkpoint folder of a fast policy, as `save_checkpoint` does.

    Args:
        folder: where.
        network: the student.
        teacher: the name of the checkpoint that it learned from.
        teacher_meta: that one's meta.json.
        told: decisions, hands, cpu_hours, seed, config and held_out of the run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    weights = numpy_bytes(network.tensors)
    meta = {
        "format": FORMAT,
        "environment": ENVIRONMENT,
        "observation_layout": LAYOUT_HASH,
        "input_layout": input_layout(network.describe()),
        "network": network.describe(),
        "outputs": teacher_meta["outputs"],
        "objective": teacher_meta.get("objective", "points"),
        "tables": teacher_meta["tables"],
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
        "teacher": {"name": teacher, "weights_sha256": teacher_meta["weights_sha256"]},
        "precision": "int16",
        "commit": commit(),
        **told,
    }
    write_whole(folder / WEIGHTS, weights)
    write_whole(folder / META, (json.dumps(meta, indent=2) + "\n").encode())
    write_whole(folder / CARD, model_card(folder.name, meta).encode())


def distil_command(config: dict[str, Any]) -> str:
    """The command of a distillation with these options."""
    words = [f"--{option.replace('_', '-')} {value}" for option, value in config.items() if option != "teacher"]
    return " ".join(["ohhell distil", config["teacher"], *words])


def student_card(name: str, meta: dict[str, Any]) -> str:
    """The README.md of a fast policy."""
    tables, held_out = meta["tables"], meta["held_out"]
    trained_for = "all that its teacher was trained for" if tables is None else str(TrainedFor.from_json(tables))
    return "\n".join(
        [
            f"# {name}",
            "",
            f"A fast policy: {network_text(meta['network'])}, distilled from `{meta['teacher']['name']}`. It plays "
            "rollouts, and for people on slow machines.",
            "",
            "| | |",
            "| --- | --- |",
            f"| environment | {meta['environment']}, observation layout `{meta['observation_layout']}` |",
            f"| tables | {trained_for} |",
            f"| teacher | `{meta['teacher']['name']}`, weights `{meta['teacher']['weights_sha256'][:16]}` |",
            f"| distilled on | {meta['decisions']:,} decisions of {meta['hands']:,} hands |",
            f"| CPU time | {60 * meta['cpu_hours']:.1f} minutes |",
            f"| held out | the teacher's best action in {held_out['agreement']:.1%} of the positions; divergence "
            f"{held_out['kl']:.3f} nats (bids {held_out['kl_bids']:.3f}, cards {held_out['kl_cards']:.3f}) |",
            f"| seed | {meta['seed']} |",
            f"| commit | `{meta['commit']}` |",
            "",
            "Made by:",
            "",
            f"    {distil_command(meta['config'])}",
            "",
        ]
    )


def network_text(network: dict[str, Any]) -> str:
    """A checkpoint's network as text, from its description."""
    if network.get("kind") == KIND:
        return f"{network['width']} x {MIDDLE}, int16"
    return f"{network['width']} x {network['depth']}"


def train_command(config: dict[str, Any]) -> str:
    """The command of a run with these options, as `Config.to_json` gives them."""
    defaults = Config(learner=config["learner"]).to_json() | {"learner": Config().learner}
    words = ["ohhell", "train"]
    for option, value in config.items():
        if option == "folder" or value != defaults[option]:
            words += [f"--{option.replace('_', '-')}", *(map(str, value) if isinstance(value, list) else [str(value)])]
    return shlex.join(words)


def tables_text(config: Config) -> str:
    """The tables of a run in words."""
    largest = f"up to {config.max_hand_size} cards" if config.max_hand_size else "of every size"
    if config.rules or config.tables:
        listed = ", ".join([*config.rules, *([f"those of {config.tables}"] if config.tables else [])])
        return f"{listed}{', with ' + ' '.join(config.set) if config.set else ''}; hands {largest}"
    players = sorted(set(config.players))
    return (
        f"{players[0]} to {players[-1]} players, hands {largest}, bids sealed at {config.sealed:.0%} "
        f"of the tables and open at the others, hook on at {config.hook:.0%}"
    )


def model_card(name: str, meta: dict[str, Any]) -> str:
    """The checkpoint's README.md."""
    if "teacher" in meta:
        return student_card(name, meta)
    config = Config.from_json(meta["config"])
    runs = stages(meta)
    against = ""
    if config.opponents:
        against = f", {' and '.join(config.opponents)} in some seats of {config.opponents_share:.0%} of the hands"

    def parts(of: str, form: str) -> str:
        return f" ({' and '.join(format(run[of], form) for run in runs)}, one run after the other)" if runs[1:] else ""

    return "\n".join(
        [
            f"# {name}",
            "",
            f"A perceptron of {meta['network']['depth']} layers of {meta['network']['width']} units, trained by "
            f"self-play ({config.learner}) on single hands for their points{against}.",
            "",
            "| | |",
            "| --- | --- |",
            f"| environment | {meta['environment']}, observation layout `{meta['observation_layout']}` |",
            f"| tables | {tables_text(config)} |",
            f"| trained on | {sum(run['decisions'] for run in runs):,} decisions{parts('decisions', ',')} "
            f"of {sum(run['hands'] for run in runs):,} hands |",
            f"| CPU time | {sum(run['cpu_hours'] for run in runs):.2f} hours{parts('cpu_hours', '.2f')} |",
            f"| seed | {meta['seed']} |",
            f"| commit | `{meta['commit']}` |",
            "",
            "Trained by:",
            "",
            *(f"    {train_command(run['config'])}" for run in runs),
            "",
            "In a single hand it plays for points, in a match for the chance of winning it."
            if meta.get("objective") == "match"
            else "It plays for the points of the hand; the score of the match is not among its inputs.",
            "",
        ]
    )
