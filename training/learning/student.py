"""The network that a fast policy is trained as: the arithmetic of `FastNetwork` with rounded weights, in torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ohhell_env.bots.policy.fast import EXACT, OUTPUT_UNIT, WEIGHT_LIMIT, WEIGHT_UNIT, FastNetwork
from ohhell_env.bots.policy.fast_every_table import FastEveryTableNetwork
from ohhell_env.bots.policy.sparse import add_rows, in_blocks
from ohhell_env.bots.policy.vectors import BLOCK, HIDDEN_LIMIT, HIDDEN_UNIT, MIDDLE, MIDDLE_LIMIT
from training.learning.network import add_to_rows

# Of the layers' biases, in their units: with the weights' limits sums of the first layer stay in 16 bits, and those of
# the second are exact in float32.
BIAS_LIMIT, SECOND_BIAS_LIMIT = 3000, 2**20


class SumOfOnes(torch.autograd.Function):
    """``nn.Linear`` for inputs given as the numbers of their ones."""

    @staticmethod
    def forward(ctx: Any, ones: NDArray[np.int16], count: NDArray[np.int64], weight: Tensor, bias: Tensor) -> Tensor:
        """Ones (B, M) of which ``count`` (B,) count, weight (W, D), bias (W,) -> (B, W) float32."""
        out = torch.empty(len(count), len(weight))  # (B, W)
        add_rows(ones, count, in_blocks(weight.detach().numpy()), bias.detach().numpy(), out.numpy())
        ctx.ones, ctx.num_inputs = (ones, count), weight.shape[1]
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, None, Tensor, Tensor]:
        """Gradient (B, W) of the output -> those of weight and bias."""
        gradient = gradients[0].contiguous()
        blocks = torch.zeros(gradient.shape[1] // BLOCK, ctx.num_inputs, BLOCK)
        ones, count = ctx.ones
        add_to_rows(ones, count, gradient.numpy(), blocks.numpy())
        return None, None, blocks.transpose(1, 2).reshape(-1, ctx.num_inputs), gradient.sum(0)


def rounded(weight: Tensor, unit: int) -> Tensor:
    """Weights in steps of 1 / unit; the gradient passes as if they were not rounded."""
    return weight + ((weight * unit).round() / unit - weight).detach()


class Student(nn.Module):
    """A sum of rows, a layer of 32 and the logits of all actions, both layers clipped.

    Args:
        width: units of the first layer, a multiple of 128.
        every_table: whether it has the inputs and outputs of a network for every table.
    """

    def __init__(self, width: int = 128, every_table: bool = False) -> None:
        super().__init__()
        self.width = width
        self.kind = FastEveryTableNetwork if every_table else FastNetwork
        self.first = nn.Linear(self.kind.num_inputs, width)
        self.second = nn.Linear(width, MIDDLE)
        self.head = nn.Linear(MIDDLE, self.kind.num_outputs)
        with torch.no_grad():  # some 90 of the inputs are ones
            self.first.weight.uniform_(-0.02, 0.02)
            self.first.bias.fill_(0.5)
            self.second.bias.fill_(0.5)

    def forward(self, ones: NDArray[np.int16], count: NDArray[np.int64]) -> Tensor:
        """Ones (B, M) of which ``count`` (B,) count -> logits (B, outputs) float32."""
        hidden = SumOfOnes.apply(ones, count, rounded(self.first.weight, HIDDEN_UNIT), self.first.bias)  # (B, W)
        hidden = hidden.clamp(0, HIDDEN_LIMIT / HIDDEN_UNIT)
        middle = nn.functional.linear(hidden, rounded(self.second.weight, WEIGHT_UNIT), self.second.bias)  # (B, 32)
        middle = middle.clamp(0, MIDDLE_LIMIT / WEIGHT_UNIT)
        logits: Tensor = nn.functional.linear(middle, rounded(self.head.weight, WEIGHT_UNIT), self.head.bias)
        return logits  # (B, A)

    @torch.no_grad()
    def limit_weights(self) -> None:
        """Bring the weights back to where the sums of whole numbers stay exact; after each gradient step."""
        limit = (2**15 - 1 - BIAS_LIMIT) // self.kind.most_ones / HIDDEN_UNIT
        self.first.weight.clamp_(-limit, limit)
        self.first.bias.clamp_(-BIAS_LIMIT / HIDDEN_UNIT, BIAS_LIMIT / HIDDEN_UNIT)
        whole = min(WEIGHT_LIMIT, (EXACT - SECOND_BIAS_LIMIT) // (HIDDEN_LIMIT * self.width))
        self.second.weight.clamp_(-whole / WEIGHT_UNIT, whole / WEIGHT_UNIT)
        bias = SECOND_BIAS_LIMIT / (HIDDEN_UNIT * WEIGHT_UNIT)
        self.second.bias.clamp_(-bias, bias)
        self.head.weight.clamp_(-WEIGHT_LIMIT / WEIGHT_UNIT, WEIGHT_LIMIT / WEIGHT_UNIT)

    def quantised(self, scale: float) -> FastNetwork:
        """The network in whole numbers, its outputs the logits times a scale."""

        def whole(tensor: Tensor, unit: int, dtype: Any) -> NDArray[Any]:
            return (tensor.detach() * unit).round().numpy().astype(dtype)

        sums = HIDDEN_UNIT * WEIGHT_UNIT  # of the second layer
        tensors = {
            "first.weight": whole(self.first.weight, HIDDEN_UNIT, np.int16),
            "first.bias": whole(self.first.bias, HIDDEN_UNIT, np.int16),
            "second.weight": whole(self.second.weight, WEIGHT_UNIT, np.int16),
            "second.bias": whole(self.second.bias, sums, np.int32),
            "head.weight": whole(self.head.weight, WEIGHT_UNIT, np.int16),
            "head.bias": whole(self.head.bias, OUTPUT_UNIT, np.int32),
        }
        return self.kind(tensors, self.width, scale / OUTPUT_UNIT)
