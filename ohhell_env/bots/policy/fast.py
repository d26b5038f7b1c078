"""Fast policies: a small network of whole numbers, from the game's record to an action in one compiled function.

The rows of the input's ones are added up in 16 bits, which makes 128 to 512 units; a layer of 32 and the outputs of the
legal actions follow. The design is that of the evaluation of Stockfish (Nasu 2018, "Efficiently updatable
neural-network-based evaluation functions for computer shogi"). Arithmetic is of whole numbers throughout, so a
decision is the same on every machine. ``ohhell distil`` makes one from a larger policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.policy.features import LABELS, best_action, sampled_action
from ohhell_env.bots.policy.vectors import (
    HIDDEN_LIMIT,
    MIDDLE,
    MIDDLE_LIMIT,
    WIDE_BLOCK,
    add_clipped,
    dot,
    mix,
)
from ohhell_env.bots.policy.words import (
    CARD_ROWS,
    EVERY_CARD,
    INPUT_OF_SLOT,
    MAX_ONES,
    NUM_INPUTS,
    NUM_SLOTS,
    NUM_WORDS,
    TURNED_ROWS,
    UNSEEN,
    UNSEEN_ROWS,
    list_ones,
    quick_relabelling,
    renamed,
    write_words,
)
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import Int, jit, jit_apart, lowest, next_state
from ohhell_env.kernel.rulebook import NUM_ACTIONS
from ohhell_env.kernel.state import HAND_OVER

KIND = "quantised"
# What a whole number stands for: a weight of the first layer 1 / HIDDEN_UNIT, one of the others 1 / WEIGHT_UNIT.
WEIGHT_UNIT = 64
OUTPUT_UNIT = WEIGHT_UNIT * WEIGHT_UNIT  # of the outputs' sums
WEIGHT_LIMIT = 127  # weights of the others
EXACT = 2**24  # whole numbers below this are exact in float32


class Weights(NamedTuple):
    """A fast policy as the compiled functions take it.

    Attributes:
        first: (W / 128, NUM_SLOTS, 128) int16, rows by slot.
        first_bias: (W,) int16
        second: (W, MIDDLE) float32 of whole numbers
        second_bias: (MIDDLE,) float32
        head: (NUM_ACTIONS, MIDDLE) float32 of whole numbers
        head_bias: (NUM_ACTIONS,) float32
        scale: what a unit of the outputs' sums is worth.
    """

    first: NDArray[np.int16]
    first_bias: NDArray[np.int16]
    second: NDArray[np.float32]
    second_bias: NDArray[np.float32]
    head: NDArray[np.float32]
    head_bias: NDArray[np.float32]
    scale: float


class Scratch(NamedTuple):
    """Room to work in: the words, slots of ones, units of both layers, and outputs of one position."""

    words: NDArray[np.int64]
    ones: NDArray[np.int16]
    hidden: NDArray[np.float32]
    middle: NDArray[np.float32]
    values: NDArray[np.float32]


def scratch_for(weights: Weights, words: int = NUM_WORDS, actions: int = NUM_ACTIONS) -> Scratch:
    """Room for the positions of one thread."""
    return Scratch(
        np.zeros((1, words), dtype=np.int64),
        np.zeros((1, 2 * MAX_ONES), dtype=np.int16),
        np.zeros((1, len(weights.first_bias)), dtype=np.float32),
        np.zeros((1, MIDDLE), dtype=np.float32),
        np.zeros((1, actions), dtype=np.float32),
    )


@jit
def judge(game: Any, table: Any, relabelling: Int, weights: Any, scratch: Any, values: Any, row: Int) -> None:
    """Outputs for the legal actions of the seat to act into ``values[row]``, (N, NUM_ACTIONS) by relabelled action.

    Cards unseen are those that are not in hand, played, turned up or missing from the deck: their weights are folded
    into those of these, and the missing ones stand in their place.
    """
    write_words(game, table, game["player"], relabelling, scratch.words, 0)
    scratch.words[0, UNSEEN] = renamed(EVERY_CARD & ~table["deck_mask"], relabelling)
    count = list_ones(scratch.words, 0, scratch.ones, 0)
    for block in range(weights.first.shape[0]):
        add_clipped(weights.first, block, scratch.ones, 0, count, weights.first_bias, scratch.hidden)
    mix(scratch.hidden, 0, weights.second, weights.second_bias, scratch.middle)
    rest = game["legal"]
    while rest:
        label = LABELS[relabelling, rulebook.action_of(game, lowest(rest))]
        total = dot(scratch.middle, 0, weights.head, label) + weights.head_bias[label]
        values[row, label] = np.float32(total * weights.scale)
        rest &= rest - 1


@jit
def decide(game: Any, table: Any, weights: Any, scratch: Any, temperature: float, stream: np.uint64) -> Int:
    """The best legal action of the seat to act, or one drawn at a temperature above 0."""
    relabelling = quick_relabelling(game, table, game["player"])
    judge(game, table, relabelling, weights, scratch, scratch.values, 0)
    if temperature > 0:
        return sampled_action(game, scratch.values, 0, relabelling, temperature, stream)
    return best_action(game, scratch.values, 0, relabelling)


@jit_apart
def judge_views(views: Any, tables: Any, weights: Any, scratch: Any, values: Any, relabellings: Any) -> None:
    """`judge` for each of some views, or games."""
    for j in range(views.shape[0]):
        table = tables[views[j]["table"]]
        relabellings[j] = quick_relabelling(views[j], table, views[j]["player"])
        judge(views[j], table, relabellings[j], weights, scratch, values, j)


@jit_apart
def play_out(games: Any, tables: Any, weights: Any, scratch: Any, temperature: float, streams: Any) -> Int:
    """Play every game's hand to its end by a fast policy in all seats; how many decisions had a choice."""
    decisions = np.int64(0)
    for i in range(games.shape[0]):
        game = games[i]
        table = tables[game["table"]]
        stream = streams[i]
        while game["phase"] != HAND_OVER:
            legal = game["legal"]
            if legal & (legal - 1) == 0:
                action = rulebook.action_of(game, lowest(legal))
            else:
                stream = next_state(stream)
                action = decide(game, table, weights, scratch, temperature, stream)
                decisions += 1
            rulebook.apply(game, table, action)
        streams[i] = stream
    return decisions


class FastNetwork:
    """A quantised network, for positions of the standard form.

    Args:
        tensors: by name: "first.weight" (W, NUM_INPUTS) int16 and "first.bias" (W,) int16; "second.weight" (MIDDLE, W)
            int16 and "second.bias" (MIDDLE,) int32; "head.weight" (NUM_ACTIONS, MIDDLE) int16 and "head.bias"
            (NUM_ACTIONS,) int32.
        width: units of the first layer, a multiple of 128.
        scale: what a unit of the outputs' sums is worth, in the units of other checkpoints' outputs.
        source: where the weights are from, for errors.

    Raises:
        ValueError: if names, shapes or dtypes differ, or sums could leave the whole numbers that are exact.
    """

    every_table = False
    num_inputs, num_outputs = NUM_INPUTS, NUM_ACTIONS
    most_ones = 196  # of an input

    def __init__(
        self, tensors: Mapping[str, NDArray[Any]], width: int = 128, scale: float = 1.0, source: str = "the weights"
    ) -> None:
        if width < 1 or width % WIDE_BLOCK:
            raise ValueError(f"{source}: width={width} is not allowed; use a multiple of {WIDE_BLOCK}")
        self.width, self.scale = width, scale
        wanted = {
            "first.weight": ((width, self.num_inputs), np.int16),
            "first.bias": ((width,), np.int16),
            "second.weight": ((MIDDLE, width), np.int16),
            "second.bias": ((MIDDLE,), np.int32),
            "head.weight": ((self.num_outputs, MIDDLE), np.int16),
            "head.bias": ((self.num_outputs,), np.int32),
        }
        missing, extra = sorted(set(wanted) - set(tensors)), sorted(set(tensors) - set(wanted))
        if missing or extra:
            raise ValueError(
                f"{source} does not hold this network: missing {missing or 'none'}, unknown {extra or 'none'}"
            )
        for name, (shape, dtype) in wanted.items():
            found = tensors[name]
            if found.shape != shape or found.dtype != dtype:
                raise ValueError(f"{source}: {name} is {found.dtype} {found.shape}, expected {np.dtype(dtype)} {shape}")
        self.tensors = {name: tensors[name].copy() for name in wanted}
        self._check_sums(source)
        self.weights = self._compiled()

    def _check_sums(self, source: str) -> None:
        t = {name: np.abs(tensor.astype(np.int64)) for name, tensor in self.tensors.items()}
        first = int(t["first.weight"].max()) * self.most_ones + int(t["first.bias"].max())
        second = int((t["second.weight"].sum(axis=1) * HIDDEN_LIMIT + t["second.bias"]).max())
        head = int((t["head.weight"].sum(axis=1) * MIDDLE_LIMIT + t["head.bias"]).max())
        for layer, sums, limit in (("first", first, 2**15), ("second", second, EXACT), ("head", head, EXACT)):
            if sums >= limit:
                raise ValueError(f"{source}: sums of layer {layer} can reach {sums}, beyond {limit}")

    def _compiled(self) -> Weights:
        """The weights as the compiled functions take them."""
        t = self.tensors
        rows, bias = self._rows()
        blocks = rows.reshape(len(rows), -1, WIDE_BLOCK).transpose(1, 0, 2)
        return Weights(
            np.ascontiguousarray(blocks),
            bias,
            np.ascontiguousarray(t["second.weight"].T.astype(np.float32)),
            t["second.bias"].astype(np.float32),
            t["head.weight"].astype(np.float32),
            t["head.bias"].astype(np.float32),
            float(self.scale),
        )

    def _rows(self) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
        """The first layer's rows by slot, and its bias; those of unseen cards are folded into the others."""
        t = self.tensors
        rows = np.zeros((NUM_SLOTS, self.width), dtype=np.int16)
        used = INPUT_OF_SLOT >= 0
        rows[used] = t["first.weight"].T[INPUT_OF_SLOT[used]]
        unseen = rows[UNSEEN_ROWS].copy()  # (52, W)
        for start in CARD_ROWS:  # in hand, or played by a seat
            rows[start : start + len(unseen)] -= unseen
        rows[TURNED_ROWS] -= unseen[: rows[TURNED_ROWS].shape[0]]  # the card turned up is of suit 0
        rows[UNSEEN_ROWS] = -unseen
        return rows, t["first.bias"] + unseen.sum(axis=0, dtype=np.int16)

    def evaluate(
        self, views: NDArray[np.void], tables: NDArray[np.void]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Outputs of the legal actions in each view, (N, NUM_ACTIONS) by relabelled action, and the relabellings.

        The outputs of other actions are 0.
        """
        values = np.zeros((len(views), NUM_ACTIONS), dtype=np.float32)
        relabellings = np.empty(len(views), dtype=np.int64)
        judge_views(views, tables, self.weights, scratch_for(self.weights), values, relabellings)
        return values, relabellings

    def play_out(
        self, games: NDArray[np.void], tables: NDArray[np.void], temperature: float, streams: NDArray[np.uint64]
    ) -> int:
        """Play every game's hand to its end in all seats; how many decisions had a choice.

        Args:
            games: (N,) of `state.GAME`, changed.
            tables: the rules.
            temperature: at which actions are drawn; 0 for the best ones.
            streams: (N,) states of the games' random streams, moved on.
        """
        return int(play_out(games, tables, self.weights, scratch_for(self.weights), float(temperature), streams))

    def describe(self) -> dict[str, Any]:
        """The arguments beside the weights that build this network again, as plain data."""
        return {"kind": KIND, "every_table": self.every_table, "width": self.width, "scale": self.scale}
