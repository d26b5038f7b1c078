"""The policy network as it is trained: `FrozenNetwork` in torch, with a first layer that skips the zeros of its input.

About 76 of the 967 inputs are ones, and the first layer is half of the network. Adding up the weights of the ones,
instead of multiplying by zeros, takes 512x3 from 12,300 to 19,000 decisions/s forward and backward and 256x3 from
35,000 to 52,000 (one core of an AMD EPYC, batches of 4096).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ohhell_env.bots.policy.every_table_weights import for_every_table
from ohhell_env.bots.policy.features import HAND_SECTIONS
from ohhell_env.bots.policy.network import EVERY_TABLE, FrozenNetwork, num_inputs, num_outputs
from ohhell_env.bots.policy.sparse import add_rows, in_blocks, ones_of
from ohhell_env.bots.policy.vectors import BLOCK
from ohhell_env.kernel.jit import jit


@jit
def add_to_rows(index: Any, count: Any, gradient: Any, out: Any) -> None:
    """``out[.., j, ..] += gradient[b]`` for the ones j of each row b; gradient (B, W), out (W / 64, D, 64)."""
    row = np.empty(BLOCK, dtype=np.float32)
    for block in range(out.shape[0]):
        for b in range(count.shape[0]):
            for c in range(BLOCK):
                row[c] = gradient[b, block * BLOCK + c]
            for k in range(count[b]):
                j = np.uint64(index[b, k])
                for c in range(BLOCK):
                    out[block, j, c] += row[c]


class SparseLinear(torch.autograd.Function):
    """``nn.Linear`` for inputs of zeros and ones, as `ones_of` takes them; they get no gradient."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Inputs (B, D) int8 or (B, D / 64) int64, weight (W, D), bias (W,) -> (B, W) float32."""
        rows = inputs.numpy()
        index, count = ones_of(rows)
        out = torch.empty(len(rows), len(weight))  # (B, W)
        add_rows(index, count, in_blocks(weight.detach().numpy()), bias.detach().numpy(), out.numpy())
        ctx.ones = index, count
        ctx.num_inputs = weight.shape[1]
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor]:
        """Gradient (B, W) of the output -> those of weight and bias."""
        gradient = gradients[0].contiguous()
        blocks = torch.zeros(gradient.shape[1] // BLOCK, ctx.num_inputs, BLOCK)
        index, count = ctx.ones
        add_to_rows(index, count, gradient.numpy(), blocks.numpy())
        return None, blocks.transpose(1, 2).reshape(-1, ctx.num_inputs), gradient.sum(0)


def sum_of_ones(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The same layer on whatever device its weights are: its inputs move there as the numbers of their ones.

    They are some 150 bytes per decision in place of 970.
    """
    index, count = ones_of(inputs.numpy())
    index = index[:, : max(1, int(count.max(initial=0)))]
    ones = torch.from_numpy(index[np.arange(index.shape[1]) < count[:, None]])  # (total,) int16
    starts = torch.from_numpy(np.cumsum(count) - count)  # (B,)
    device = weight.device
    rows = nn.functional.embedding_bag(ones.to(device).long(), weight.t(), starts.to(device), mode="sum")
    hidden: Tensor = rows + bias  # (B, W)
    return hidden


class PolicyNetwork(nn.Module):
    """The network that `FrozenNetwork` describes, with weights to train.

    Args:
        width, depth, sections: as `FrozenNetwork`.
    """

    def __init__(self, width: int = 512, depth: int = 3, sections: Sequence[str] = HAND_SECTIONS) -> None:
        super().__init__()
        self.width, self.depth, self.sections = width, depth, tuple(sections)
        self.num_inputs, self.num_outputs = num_inputs(self.sections), num_outputs(self.sections)
        layers: list[nn.Module] = []
        for fan_in, fan_out in pairwise([self.num_inputs, *[width] * depth]):
            layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        self.head = nn.Linear(width, self.num_outputs)

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs for all actions: (B, D) zeros and ones, not packed, of any dtype -> (B, num_outputs) float32."""
        hidden = self.trunk(inputs.float())  # (B, width)
        values: Tensor = self.head(hidden)  # (B, A)
        return values

    def frozen(self) -> FrozenNetwork:
        """A copy of the network as it is now, to play with; without a critic."""
        state = {
            name: tensor.cpu().numpy() for name, tensor in self.state_dict().items() if not name.startswith("critic.")
        }
        return FrozenNetwork(state, **self.describe())

    def take_weights(self, given: FrozenNetwork) -> None:
        """Take over the weights of a network of the same shape; a critic stays as it is.

        A network for every table can take over those of one for the standard form, too: see `every_table_weights`.

        Raises:
            ValueError: if it is of another shape.
        """
        if self.sections == EVERY_TABLE and not given.every_table:
            mapped = for_every_table(given.tensors, given.sections)
            given = FrozenNetwork(mapped, given.width, given.depth, self.sections)
        if given.describe() != self.describe():
            raise ValueError(f"the network given is {given.describe()}, this one is {self.describe()}")
        state = {name: torch.from_numpy(tensor) for name, tensor in given.tensors.items()}
        self.load_state_dict(state, strict=False)  # a checkpoint has no critic

    def describe(self) -> dict[str, Any]:
        """The arguments that build this network again, as plain data."""
        return {"width": self.width, "depth": self.depth, "sections": list(self.sections)}


class ActorCritic(PolicyNetwork):
    """A `PolicyNetwork` whose values are logits, and a critic on its trunk that only training uses.

    Args:
        width, depth, sections: as `PolicyNetwork`.
    """

    detached = False  # whether the trunk is left alone by the critic's gradient

    def __init__(self, width: int = 512, depth: int = 3, sections: Sequence[str] = HAND_SECTIONS) -> None:
        super().__init__(width, depth, sections)
        self.critic = nn.Linear(width, 1)


class TrainingNetwork(nn.Module):
    """A `PolicyNetwork` as training runs it: the same function of int8 inputs, and the same parameters.

    That of an `ActorCritic` has the critic's value in one column more.

    Args:
        policy: the network whose parameters it uses and trains, on the device that they are on.
        bf16: multiply matrices in bfloat16, behind the first layer; weights, sums and outputs stay float32.
        by_index: feed the first layer by `sum_of_ones`; by default, where the device is not the CPU.
    """

    def __init__(self, policy: PolicyNetwork, bf16: bool = False, by_index: bool | None = None) -> None:
        super().__init__()
        self.policy = policy
        self.bf16 = bf16
        self.by_index = policy.head.weight.device.type != "cpu" if by_index is None else by_index

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self.policy.head.weight.device

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs for all actions, and the critic's value if there is one: (B, num_outputs [+ 1]) float32.

        The inputs, (B, D) int8 or packed (B, D / 64) int64, are in the CPU's memory; the outputs are on the network's
        device.
        """
        first = self.policy.trunk[0]
        layer: Any = sum_of_ones if self.by_index else SparseLinear.apply
        hidden: Tensor = layer(inputs, first.weight, first.bias)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            hidden = self.policy.trunk[1:](hidden)  # (B, width)
            values: Tensor = self.policy.head(hidden)  # (B, A)
            if isinstance(self.policy, ActorCritic):
                seen = hidden.detach() if self.policy.detached else hidden
                values = torch.cat([values, self.policy.critic(seen)], dim=1)  # (B, A + 1)
        return values.float()
