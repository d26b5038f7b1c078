"""A linear layer whose inputs are mostly zeros: add up the weights of the ones instead of multiplying by the zeros."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ohhell_env.bots.policy.network import PolicyNetwork
from ohhell_env.kernel.jit import jit

BLOCK = 64  # units worked on at a time: their weights fit the second-level cache, and loops of 64 become vectors


@jit
def find_ones(inputs: Any, index: Any, count: Any) -> None:
    """Columns of the ones of each row of ``inputs`` (B, D) into ``index[b, :count[b]]``; index is (B, D + 1)."""
    for b in range(inputs.shape[0]):
        found = np.int64(0)
        for j in range(inputs.shape[1]):
            index[b, np.uint64(found)] = j  # overwritten unless it is a one: cheaper than a branch
            found += inputs[b, j]
        count[b] = found


@jit
def add_rows(index: Any, count: Any, weights: Any, bias: Any, out: Any) -> None:
    """``out[b] = bias + sum of the weights`` of the ones of row b; weights (W / 64, D, 64), out (B, W)."""
    total = np.empty(BLOCK, dtype=np.float32)
    for block in range(weights.shape[0]):
        for b in range(count.shape[0]):
            for c in range(BLOCK):
                total[c] = bias[block * BLOCK + c]
            for k in range(count[b]):
                j = np.uint64(index[b, k])
                for c in range(BLOCK):
                    total[c] += weights[block, j, c]
            for c in range(BLOCK):
                out[b, block * BLOCK + c] = total[c]


def in_blocks(weight: Tensor) -> NDArray[np.float32]:
    """A layer's weights (W, D) as `add_rows` takes them: (W / 64, D, 64)."""
    blocks: NDArray[np.float32] = weight.detach().view(-1, BLOCK, weight.shape[1]).transpose(1, 2).contiguous().numpy()
    return blocks


def ones_of(inputs: NDArray[np.int8]) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """Columns of the ones of each row, (B, D + 1) of which the first ``count[b]`` count; and those counts, (B,)."""
    index = np.empty((len(inputs), inputs.shape[1] + 1), dtype=np.int16)
    count = np.empty(len(inputs), dtype=np.int64)
    find_ones(inputs, index, count)
    return index, count


class FrozenNetwork(nn.Module):
    """A `PolicyNetwork` as it is now, for many int8 inputs at a time; later changes of the weights are not seen."""

    def __init__(self, policy: PolicyNetwork) -> None:
        super().__init__()
        self.width, self.depth, self.sections = policy.width, policy.depth, policy.sections
        self.num_inputs = policy.num_inputs
        layers: list[Any] = [copy.deepcopy(layer) for layer in (*policy.trunk, policy.head)]
        self._blocks = in_blocks(layers[0].weight)
        self._bias: NDArray[np.float32] = layers[0].bias.detach().numpy()
        self._rest = nn.Sequential(*layers[1:])

    def forward(self, inputs: Tensor) -> Tensor:
        """Values of all actions: (B, D) int8 -> (B, NUM_ACTIONS) float32."""
        index, count = ones_of(inputs.numpy())
        hidden = torch.empty(len(inputs), self.width)
        add_rows(index, count, self._blocks, self._bias, hidden.numpy())
        values: Tensor = self._rest(hidden)
        return values
