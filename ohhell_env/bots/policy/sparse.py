"""The arithmetic of a policy's forward pass: add up the weights of what is not zero, 64 units at a time.

Of the inputs of a policy one in twelve is a one, and of the units of a trained network's hidden layers one in six to
one in sixteen is not zero. Passing over the zeros makes a network of three layers of 512 about three times as fast as
a matrix library does, and every position's sums are added in one order: its outputs are the same, bit for bit, in any
batch and any process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.policy.vectors import BLOCK, add_ones, add_scaled
from ohhell_env.kernel.jit import jit, jit_apart, lowest

ROWS = 512  # positions worked on at a time
MAX_ONES = 1024  # of packed inputs: more than any position has


@jit
def find_ones(inputs: Any, start: Any, index: Any, count: Any) -> None:
    """Columns of the ones of rows ``start + b`` of ``inputs`` (N, D) into ``index[b, :count[b]]``; index (B, D + 1)."""
    for b in range(count.shape[0]):
        found = np.int64(0)
        for j in range(inputs.shape[1]):
            index[b, np.uint64(found)] = j  # overwritten unless it is a one: cheaper than a branch
            found += inputs[start + b, j] != 0
        count[b] = found


@jit
def find_bits(words: Any, start: Any, index: Any, count: Any) -> None:
    """As `find_ones`, of rows of 64-bit words (N, W): bit b of word w is number 64 w + b."""
    for b in range(count.shape[0]):
        found = np.int64(0)
        for w in range(words.shape[1]):
            rest = np.int64(words[start + b, w])
            while rest:
                index[b, np.uint64(found)] = 64 * w + lowest(rest)
                rest &= rest - 1
                found += 1
        count[b] = found


@jit
def find_positive(hidden: Any, index: Any, scale: Any, count: Any) -> None:
    """As `find_ones`, for what a ReLU leaves of ``hidden`` (B, W) float32, with their values in ``scale``."""
    for b in range(count.shape[0]):
        found = np.int64(0)
        for j in range(hidden.shape[1]):
            unit = hidden[b, j]
            index[b, np.uint64(found)] = j
            scale[b, np.uint64(found)] = unit
            found += not (unit <= 0)  # what is no number stays one
        count[b] = found


@jit
def add_rows(index: Any, count: Any, weights: Any, bias: Any, out: Any) -> None:
    """``out[b] = bias + sum of the weights`` of the ones of row b; weights (W / 64, D, 64), out (B, W)."""
    for block in range(weights.shape[0]):
        for b in range(count.shape[0]):
            add_ones(weights, block, index, index, b, count[b], bias, out)


@jit
def add_scaled_rows(index: Any, scale: Any, count: Any, weights: Any, bias: Any, out: Any) -> None:
    """``out[b] = bias + weights @ row b``, given what of the row is not zero; shapes as `add_rows`."""
    for block in range(weights.shape[0]):
        for b in range(count.shape[0]):
            add_scaled(weights, block, index, scale, b, count[b], bias, out)


@jit_apart
def forward(
    inputs: Any, packed: bool, first: Any, first_bias: Any, hidden: Any, hidden_bias: Any, head: Any, bias: Any
) -> Any:
    """Outputs (N, head's units) float32 of a perceptron with ReLU for inputs of zeros and ones.

    Args:
        inputs: (N, D) int8, or packed in words of 64 bits (N, D / 64) int64
        packed: which of the two
        first: (W / 64, D, 64) float32, weights of the first layer
        first_bias: (W,)
        hidden: (L - 1, W / 64, W, 64), weights of the hidden layers behind it
        hidden_bias: (L - 1, W)
        head: (U / 64, W, 64), weights of the outputs, U a multiple of 64
        bias: (U,)
    """
    width = first_bias.shape[0]
    out = np.empty((inputs.shape[0], bias.shape[0]), dtype=np.float32)
    ones = np.empty((ROWS, MAX_ONES if packed else inputs.shape[1] + 1), dtype=np.int16)
    index = np.empty((ROWS, width + 1), dtype=np.int16)
    scale = np.empty((ROWS, width + 1), dtype=np.float32)
    units = np.empty((ROWS, width), dtype=np.float32)
    counts = np.empty(ROWS, dtype=np.int64)
    for start in range(0, inputs.shape[0], ROWS):
        rows = min(ROWS, inputs.shape[0] - start)
        count = counts[:rows]
        if packed:
            find_bits(inputs, start, ones, count)
        else:
            find_ones(inputs, start, ones, count)
        add_rows(ones, count, first, first_bias, units)
        for layer in range(hidden.shape[0]):
            find_positive(units, index, scale, count)
            add_scaled_rows(index, scale, count, hidden[layer], hidden_bias[layer], units)
        find_positive(units, index, scale, count)
        add_scaled_rows(index, scale, count, head, bias, out[start : start + rows])
    return out


def in_blocks(weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """A layer's weights (W, D) as `add_rows` takes them: (W / 64, D, 64)."""
    return np.ascontiguousarray(weight.reshape(-1, BLOCK, weight.shape[1]).transpose(0, 2, 1))


def ones_of(inputs: NDArray[Any]) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """Columns of the ones of each row, (B, K) of which the first ``count[b]`` count; and those counts, (B,).

    Args:
        inputs: (B, D) int8, or packed in words of 64 bits (B, D / 64) int64.
    """
    count = np.empty(len(inputs), dtype=np.int64)
    if inputs.dtype == np.int64:
        index = np.empty((len(inputs), MAX_ONES), dtype=np.int16)
        find_bits(inputs, 0, index, count)
    else:
        index = np.empty((len(inputs), inputs.shape[1] + 1), dtype=np.int16)
        find_ones(inputs, 0, index, count)
    return index, count
