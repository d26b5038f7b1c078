"""The policy network as it plays: a perceptron for the tables of the standard form, or for every table, in NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors

from ohhell_env.bots.policy import every_table_layout
from ohhell_env.bots.policy.every_table_encoder import EveryTableEncoder
from ohhell_env.bots.policy.every_table_weights import with_match_inputs
from ohhell_env.bots.policy.features import (
    HAND_SECTIONS,
    IDENTITY,
    NUM_DERIVED,
    canonical_relabelling,
    input_sources,
    write_input,
)
from ohhell_env.bots.policy.sparse import forward, in_blocks
from ohhell_env.bots.policy.vectors import BLOCK
from ohhell_env.kernel.jit import jit
from ohhell_env.kernel.rulebook import NUM_ACTIONS
from ohhell_env.observation.standard import OBSERVATION_SIZE

OUTPUTS = ("values", "logits")  # what a network's outputs are; a checkpoint's meta.json says which
POINTS_PER_UNIT = 10.0  # points in a unit of a value, and of the returns that networks learn from
LOGIT_SCALE = 15.0  # logits of a policy learned by gradients are this many times the outputs of its checkpoint
EVERY_TABLE = ("every table",)  # in place of sections: the input and outputs of `every_table_layout`


@jit
def encode_views(views: Any, tables: Any, sources: Any, observation: Any, inputs: Any, relabellings: Any) -> None:
    """The network's input for the seat to act in each view, suits in the order of play."""
    for j in range(views.shape[0]):
        view = views[j]
        table = tables[view["table"]]
        relabellings[j] = canonical_relabelling(view, table, view["player"])
        write_input(view, table, view["player"], relabellings[j], sources, observation, inputs, j)


def num_inputs(sections: Sequence[str]) -> int:
    """Entries of the input made of some sections of the observation and those of `features.DERIVED`, or EVERY_TABLE."""
    if tuple(sections) == EVERY_TABLE:
        return every_table_layout.NUM_INPUTS
    return int(input_sources(sections).shape[1]) + NUM_DERIVED


def num_outputs(sections: Sequence[str]) -> int:
    """Outputs of the network with that input."""
    return every_table_layout.NUM_OUTPUTS if tuple(sections) == EVERY_TABLE else NUM_ACTIONS


def shapes(width: int, depth: int, sections: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the weights: a trunk of ``depth`` linear layers, each with a ReLU behind it, and a head."""
    found: dict[str, tuple[int, ...]] = {}
    fan_in = num_inputs(sections)
    for layer in range(depth):
        found |= {f"trunk.{2 * layer}.weight": (width, fan_in), f"trunk.{2 * layer}.bias": (width,)}
        fan_in = width
    outputs = num_outputs(sections)
    return found | {"head.weight": (outputs, width), "head.bias": (outputs,)}


class FrozenNetwork:
    """A trunk of equal layers with ReLU, and a head with one output for each action: 52 cards, 18 bids.

    Trained by Deep Monte Carlo an output is the hand's expected return, the points more than the others' mean in units
    of POINTS_PER_UNIT. Trained by policy gradients it is the action's logit, in a checkpoint divided by LOGIT_SCALE:
    the policy is drawn from at temperature 1 / LOGIT_SCALE, and whatever weighs outputs up against each other can take
    either kind.

    Args:
        tensors: the weights, float32, by the names and shapes of `shapes`.
        width: units of each hidden layer, a multiple of 64.
        depth: hidden layers.
        sections: names of the observation's sections that are its input, in this order; those of
            `features.DERIVED` follow them. Or EVERY_TABLE.
        source: where the weights are from, for errors.

    Raises:
        ValueError: if names, shapes or dtypes of the tensors differ from what these arguments make them.
    """

    def __init__(
        self,
        tensors: Mapping[str, NDArray[np.float32]],
        width: int = 512,
        depth: int = 3,
        sections: Sequence[str] = HAND_SECTIONS,
        source: str = "the weights",
    ) -> None:
        if width < 1 or width % BLOCK or depth < 1:
            raise ValueError(
                f"{source}: width={width}, depth={depth}; width is a multiple of {BLOCK}, depth at least 1"
            )
        self.width, self.depth, self.sections = width, depth, tuple(sections)
        self.num_inputs, self.num_outputs = num_inputs(self.sections), num_outputs(self.sections)
        self._encoder = EveryTableEncoder() if self.every_table else None
        self._sources = np.empty((0, 0), dtype=np.int16) if self.every_table else input_sources(self.sections)
        wanted = shapes(width, depth, self.sections)
        missing, extra = sorted(set(wanted) - set(tensors)), sorted(set(tensors) - set(wanted))
        if missing or extra:
            raise ValueError(
                f"{source} does not hold this network: missing {missing or 'none'}, unknown {extra or 'none'}"
            )
        for name, shape in wanted.items():
            if tensors[name].shape != shape or tensors[name].dtype != np.float32:
                raise ValueError(
                    f"{source}: {name} is {tensors[name].dtype} {tensors[name].shape}, expected float32 {shape}"
                )
        self.tensors = {name: tensors[name].copy() for name in wanted}  # later changes of the given ones are not seen
        self._layers = self._blocks()

    def _blocks(self) -> tuple[NDArray[np.float32], ...]:
        """The weights as `forward` takes them."""
        t, hidden = self.tensors, range(1, self.depth)
        blocks = [in_blocks(t[f"trunk.{2 * layer}.weight"]) for layer in hidden]
        biases = [t[f"trunk.{2 * layer}.bias"] for layer in hidden]
        shape = (0, self.width // BLOCK, self.width, BLOCK)
        fill = -self.num_outputs % BLOCK  # zeros to whole blocks
        return (
            in_blocks(t["trunk.0.weight"]),
            t["trunk.0.bias"],
            np.array(blocks, dtype=np.float32) if blocks else np.empty(shape, dtype=np.float32),
            np.array(biases, dtype=np.float32).reshape(-1, self.width),
            in_blocks(np.pad(t["head.weight"], ((0, fill), (0, 0)))),
            np.pad(t["head.bias"], (0, fill)),
        )

    @property
    def every_table(self) -> bool:
        """Whether it plays every table, by packed inputs."""
        return self.sections == EVERY_TABLE

    def __call__(self, inputs: NDArray[Any]) -> NDArray[np.float32]:
        """Outputs for all actions, legal or not, under the relabelled suits.

        Args:
            inputs: (B, D) int8, zeros and ones as `features.write_input` writes them; of a network for every table
                (B, D / 64) int64 as `every_table.write_words` does.

        Returns:
            (B, num_outputs) float32, a row's the same bit for bit whatever the other rows are.

        Raises:
            ValueError: if the inputs are not of the network's own dtype and width.
        """
        packed = self.every_table
        kind, columns = ("int64", self.num_inputs // every_table_layout.WORD) if packed else ("int8", self.num_inputs)
        if inputs.ndim != 2 or inputs.shape[1] != columns or inputs.dtype != kind:
            raise ValueError(f"inputs are {inputs.dtype} {inputs.shape}; this network takes {kind} (B, {columns})")
        outputs: NDArray[np.float32] = forward(np.ascontiguousarray(inputs), packed, *self._layers)
        return outputs[:, : self.num_outputs]

    def evaluate(
        self, views: NDArray[np.void], tables: NDArray[np.void]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Outputs for the seat to act in each view, (N, actions) by relabelled action, and the relabellings.

        Those of a network for every table are by the actions' own names, of the views' form; every relabelling is then
        the identity.
        """
        if self._encoder is not None:
            return self._encoder.outputs(self, views, tables), np.full(len(views), IDENTITY)
        inputs = np.empty((len(views), self.num_inputs), dtype=np.int8)
        relabellings = np.empty(len(views), dtype=np.int64)
        scratch = np.empty((1, OBSERVATION_SIZE), dtype=np.int8)
        encode_views(views, tables, self._sources, scratch, inputs, relabellings)
        return self(inputs), relabellings

    def scaled(self, factor: float) -> FrozenNetwork:
        """The network with its outputs multiplied."""
        heads = {f"head.{part}": np.float32(factor) * self.tensors[f"head.{part}"] for part in ("weight", "bias")}
        return FrozenNetwork(self.tensors | heads, **self.describe())

    def describe(self) -> dict[str, Any]:
        """The arguments beside the weights that build this network again, as plain data."""
        return {"width": self.width, "depth": self.depth, "sections": list(self.sections)}


def read_tensors(data: bytes, path: str) -> dict[str, NDArray[Any]]:
    """The tensors of a safetensors file's bytes.

    Raises:
        ValueError: if the bytes are no safetensors file.
    """
    try:
        return load_tensors(data)
    except SafetensorError as error:
        raise ValueError(f"{path} is not a safetensors file, or is cut short: {error}") from None


def read_network(data: bytes, description: Mapping[str, Any], path: str) -> FrozenNetwork:
    """The network of a safetensors file's bytes; one for every table may be older than the inputs of the match.

    Raises:
        ValueError: if the bytes are no safetensors file, or not of the network that is described.
    """
    tensors = read_tensors(data, path)
    every_table = tuple(description["sections"]) == EVERY_TABLE
    return FrozenNetwork(with_match_inputs(tensors) if every_table else tensors, **description, source=path)
