"""The policy player: a trained network behind the interface of the bots."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.base import Bot, UnfamiliarTableWarning
from ohhell_env.bots.endgame import keep_to_sure_options
from ohhell_env.bots.policy import every_table_layout
from ohhell_env.bots.policy.every_table_weights import for_hands_alone, with_match_inputs
from ohhell_env.bots.policy.fast import KIND, FastNetwork
from ohhell_env.bots.policy.fast_every_table import FastEveryTableNetwork
from ohhell_env.bots.policy.features import (
    INPUT_HASH,
    LABELS,
    best_action,
    chance_of,
    sampled_action,
    softmax_over_legal,
)
from ohhell_env.bots.policy.network import EVERY_TABLE, LOGIT_SCALE, OUTPUTS, FrozenNetwork, read_network, read_tensors
from ohhell_env.bots.policy.trained_for import TrainedFor
from ohhell_env.kernel.jit import jit, lowest, stream_of
from ohhell_env.kernel.rulebook import action_of
from ohhell_env.observation.standard import LAYOUT_HASH

WEIGHTS, META, CARD = "weights.safetensors", "meta.json", "README.md"
FORMAT = 1
Objective = Literal["points", "match"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
ENVIRONMENT = "ohhell_v0"
VALUES_SHOWN_AT = 0.05  # temperature: half a point, by which an option may be worse and still be likely
_PACKAGE = Path(__file__).resolve().parents[2]
# Shipped checkpoints stand inside the installed package, and beside it in a checkout.
CHECKPOINT_FOLDERS = (_PACKAGE / "checkpoints", _PACKAGE.parent / "checkpoints")


def input_layout(network: Mapping[str, Any]) -> str:
    """Hash of the input's layout, by a network's `describe`."""
    return every_table_layout.LAYOUT_HASH if is_for_every_table(network) else INPUT_HASH


def is_for_every_table(network: Mapping[str, Any]) -> bool:
    """Whether a network, by its `describe`, has the input for every table."""
    return bool(network.get("every_table")) or tuple(network.get("sections", ())) == EVERY_TABLE


@jit
def choose_actions(views: Any, keys: Any, values: Any, relabellings: Any, temperature: float, actions: Any) -> None:
    """The best action for each view, or one drawn at a temperature above 0 by the decision's key."""
    for j in range(views.shape[0]):
        if temperature > 0:
            stream = stream_of(keys[j], 0)
            actions[j] = sampled_action(views[j], values, j, relabellings[j], temperature, stream)
        else:
            actions[j] = best_action(views[j], values, j, relabellings[j])


@jit
def write_probabilities(views: Any, values: Any, relabellings: Any, temperature: float, chances: Any) -> None:
    """The probabilities with which `choose_actions` chooses, (N, NUM_ACTIONS) by the actions' own names."""
    for j in range(views.shape[0]):
        view = views[j]
        for action in range(chances.shape[1]):
            chances[j, action] = 0.0
        if temperature <= 0:
            chances[j, best_action(view, values, j, relabellings[j])] = 1.0
            continue
        highest, total = softmax_over_legal(view, values, j, relabellings[j], temperature)
        rest = view["legal"]
        while rest:
            action = action_of(view, lowest(rest))
            chances[j, action] = chance_of(values[j, LABELS[relabellings[j], action]], highest, total, temperature)
            rest &= rest - 1


class PolicyBot(Bot):
    """Plays the network's best legal action.

    Args:
        network: the network.
        seed: seed of the bot's own random stream.
        temperature: above 0, actions are drawn with probability proportional to exp(value / temperature).
        name: what it was loaded by.
        meta: the checkpoint's meta.json.
        outputs: what the network's outputs are: "values", in tens of points, or "logits" divided by LOGIT_SCALE.
        trained_for: the tables of its training; at others it warns, once, where it is known.
        objective: what it plays matches for: "points" of the hands, or "match", the chance of winning.
        endgame: in a hand's last tricks, keep to the cards that are sure to get the most that can still be had,
            whatever lies where, if there are any (`endgame.sure_options`); the network chooses among them.

    Raises:
        ValueError: for a negative temperature, or other outputs.
    """

    def __init__(
        self,
        network: FrozenNetwork | FastNetwork,
        seed: int = 0,
        temperature: float = 0.0,
        name: str = "policy",
        meta: dict[str, Any] | None = None,
        outputs: str = "values",
        trained_for: TrainedFor | None = None,
        endgame: bool = True,
        objective: Objective = "points",
    ) -> None:
        super().__init__(seed)
        if outputs not in OUTPUTS:
            raise ValueError(f"outputs={outputs!r} is not known; use one of {', '.join(map(repr, OUTPUTS))}")
        if not temperature >= 0:
            raise ValueError(f"temperature={temperature!r} is not allowed; use 0 (the best action) or more")
        self.network = network
        self.plays_wide = network.every_table
        self.temperature = float(temperature)
        self.name = name
        self.meta = meta or {}
        self.outputs = outputs
        self.trained_for = trained_for
        self._checked: NDArray[np.void] | None = None  # tables that a warning was considered for
        self.endgame = endgame
        self.objective = objective

    @classmethod
    def load(
        cls,
        name_or_path: str | Path,
        seed: int = 0,
        temperature: float = 0.0,
        objective: Objective | None = None,
    ) -> PolicyBot:
        """As `load_policy`."""
        folder = find_checkpoint(name_or_path)
        network, meta = load_checkpoint(folder)
        own: Objective = meta.get("objective", "points")
        objective = objective or own
        if objective == "match" and own != "match":
            raise ValueError(
                f"{folder.name} was not trained to win matches and plays for points; "
                f"search+policy:{folder.name}:K:match searches with it for the chance of winning"
            )
        if objective == "points" and own == "match":
            network = without_match(network)
        trained_for = TrainedFor.from_json(meta["tables"]) if meta["tables"] is not None else None
        return cls(network, seed, temperature, folder.name, meta, meta["outputs"], trained_for, objective=objective)

    @property
    def knows_values(self) -> bool:
        """Whether the network's outputs are values, in units of POINTS_PER_UNIT points; otherwise they are logits."""
        return self.outputs == "values"

    @property
    def own_temperature(self) -> float:
        """The temperature at which people see its preferences: that of its own policy, or half a point for values."""
        return VALUES_SHOWN_AT if self.knows_values else 1 / LOGIT_SCALE

    def values(self, views: NDArray[np.void], tables: NDArray[np.void]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The network's values for each view, (N, actions) float32 by relabelled action, and the relabellings.

        Those of a network for every table are by the actions' own names: every relabelling is then the identity.
        """
        return self.network.evaluate(views, tables)

    def probabilities(self, views: NDArray[np.void], tables: NDArray[np.void]) -> NDArray[np.float64]:
        """How likely `choose` is to choose each action in each view: (N, actions of its form)."""
        values, relabellings = self.values(views, tables)
        if self.endgame:
            views = views.copy()
            keep_to_sure_options(views, tables)
        chances = np.empty(values.shape, dtype=np.float64)
        write_probabilities(views, values, relabellings, self.temperature, chances)
        return chances

    def warn_if_unfamiliar(self, tables: NDArray[np.void]) -> None:
        """Give an `UnfamiliarTableWarning`, once, if this was not trained for these tables."""
        if self.trained_for is None or self._checked is tables:
            return
        self._checked = tables
        if told := self.trained_for.differences(tables):
            # the usual filter shows a text once for each place: so this line is the place, whoever asked
            said = f"{self.name} was trained for {self.trained_for}; here it meets {told}"
            warnings.warn(said, UnfamiliarTableWarning, stacklevel=1)
            self.trained_for = None

    def choose(self, views: NDArray[np.void], tables: NDArray[np.void], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        self.warn_if_unfamiliar(tables)
        values, relabellings = self.values(views, tables)
        if self.endgame:
            keep_to_sure_options(views, tables)
        actions = np.empty(len(views), dtype=np.int64)
        choose_actions(views, keys, values, relabellings, self.temperature, actions)
        return actions


def load_policy(
    name_or_path: str | Path, seed: int = 0, temperature: float = 0.0, objective: Objective | None = None
) -> PolicyBot:
    """A player from a shipped checkpoint's name ("NAME" or "checkpoints/NAME") or a checkpoint folder's path.

    Args:
        name_or_path: the checkpoint.
        seed: as of `PolicyBot`.
        temperature: likewise.
        objective: what it plays matches for; what it was trained for by default. In single hands it is all the same.

    Raises:
        ValueError: if there is no such checkpoint (the message names those there are), it was made for another
            observation, its files are damaged or not a checkpoint's, or it was not trained for ``objective="match"``.
    """
    return PolicyBot.load(name_or_path, seed, temperature, objective)


def without_match(network: FrozenNetwork | FastNetwork) -> FrozenNetwork | FastNetwork:
    """A network for every table that plays each hand of a match as a single hand."""
    tensors = for_hands_alone(network.tensors)
    if isinstance(network, FastNetwork):
        return FastEveryTableNetwork(tensors, network.width, network.scale)
    return FrozenNetwork(tensors, **network.describe())


def shipped_checkpoints() -> dict[str, Path]:
    """Folders of the checkpoints that come with the package, by name."""
    return {meta.parent.name: meta.parent for root in CHECKPOINT_FOLDERS for meta in sorted(root.glob(f"*/{META}"))}


def student_of(weights_sha256: str) -> Path | None:
    """The folder of a shipped fast policy that was distilled from a checkpoint of these weights; None for none."""
    for folder in shipped_checkpoints().values():
        teacher = json.loads((folder / META).read_text(encoding="utf-8")).get("teacher")
        if teacher and teacher["weights_sha256"] == weights_sha256:
            return folder
    return None


def find_checkpoint(name_or_path: str | Path) -> Path:
    """The folder of a shipped checkpoint by name, or the folder that a path names.

    Raises:
        ValueError: if there is neither.
    """
    shipped = shipped_checkpoints()
    name = str(name_or_path).removeprefix("checkpoints/")
    if name in shipped:
        return shipped[name]
    folder = Path(name_or_path)
    if not (folder / META).is_file():
        names = ", ".join(shipped) or "none"
        raise ValueError(
            f"there is no checkpoint {str(name_or_path)!r}: shipped are {names}; a path must lead to a folder with "
            f"{META} and {WEIGHTS}"
        )
    return folder


def load_checkpoint(folder: Path) -> tuple[FrozenNetwork | FastNetwork, dict[str, Any]]:
    """A checkpoint's network and meta.json, every part checked before it is used.

    Raises:
        ValueError: saying which file is wrong, what it holds and what was expected.
    """
    meta = _read_meta(folder / META)
    path = folder / WEIGHTS
    if not path.is_file():
        raise ValueError(f"{folder} has no {WEIGHTS}")
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != meta["weights_sha256"]:
        raise ValueError(
            f"{path} is not the file that {META} describes (damaged, cut short, or another run's): SHA-256 {found}, "
            f"expected {meta['weights_sha256']}"
        )
    description = dict(meta["network"])
    if description.pop("kind", None) == KIND:
        tensors = read_tensors(data, str(path))
        if description.pop("every_table", False):
            return FastEveryTableNetwork(with_match_inputs(tensors), **description, source=str(path)), meta
        return FastNetwork(tensors, **description, source=str(path)), meta
    return read_network(data, description, str(path)), meta


def _read_meta(path: Path) -> dict[str, Any]:
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not a checkpoint's {META}: {error}") from None
    needed = (
        "format",
        "environment",
        "observation_layout",
        "input_layout",
        "network",
        "outputs",
        "tables",
        "weights_sha256",
    )
    if not isinstance(meta, dict) or (missing := [key for key in needed if key not in meta]):
        lacks = "" if not isinstance(meta, dict) else f": it lacks {', '.join(missing)}"
        raise ValueError(f"{path} is not a checkpoint's {META}{lacks}")
    network = meta["network"] if isinstance(meta["network"], dict) else {}
    older = every_table_layout.HAND_LAYOUT_HASH  # without the match's sections
    if is_for_every_table(network) and meta["input_layout"] in (older, INPUT_HASH if "every_table" in network else ""):
        meta["input_layout"] = every_table_layout.LAYOUT_HASH
    for key, ours in (
        ("format", FORMAT),
        ("environment", ENVIRONMENT),
        ("observation_layout", LAYOUT_HASH),
        ("input_layout", input_layout(network)),
    ):
        if meta[key] != ours:
            raise ValueError(
                f"{path}: the checkpoint was made for {key} {meta[key]!r}, this package has {ours!r}; use the release "
                "that it was made with, or a newer checkpoint"
            )
    if meta["outputs"] not in OUTPUTS:
        raise ValueError(f"{path}: outputs are {meta['outputs']!r}; known are {', '.join(map(repr, OUTPUTS))}")
    return meta
