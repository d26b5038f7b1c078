"""The policy network: one perceptron for every table of 3 to 7 players and every hand size."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from torch import Tensor, nn

from ohhell_env.bots.policy.features import HAND_SECTIONS, NUM_DERIVED, input_sources
from ohhell_env.kernel.rulebook import NUM_ACTIONS

LOGIT_SCALE = 15.0  # a logit of a policy learned by gradients is so many times the output of its checkpoint


class PolicyNetwork(nn.Module):
    """A trunk of equal layers with ReLU, and a head with one value for each action: 52 cards, 18 bids.

    Trained by Deep Monte Carlo a value is the hand's expected return, in tens of points more than the others' mean.
    Trained by policy gradients it is the action's logit, in a checkpoint divided by LOGIT_SCALE: the policy is drawn
    from at temperature 1 / LOGIT_SCALE, and whatever weighs values up against each other can take either kind.

    Args:
        width: units of each hidden layer.
        depth: hidden layers.
        sections: names of the observation's sections that are its input, in this order; those of
            `policy_input.DERIVED` follow them.
    """

    def __init__(self, width: int = 512, depth: int = 3, sections: Sequence[str] = HAND_SECTIONS) -> None:
        super().__init__()
        self.width, self.depth, self.sections = width, depth, tuple(sections)
        self.num_inputs = input_sources(self.sections).shape[1] + NUM_DERIVED
        sizes = [self.num_inputs, *[width] * depth]
        layers: list[nn.Module] = []
        for fan_in, fan_out in pairwise(sizes):
            layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        self.head = nn.Linear(width, NUM_ACTIONS)

    def forward(self, inputs: Tensor) -> Tensor:
        """Values of all actions, legal or not, under the relabelled suits.

        Args:
            inputs: (B, D) zeros and ones of any dtype, as `policy_input.write_input` writes them.

        Returns:
            (B, NUM_ACTIONS) float32.
        """
        hidden = self.trunk(inputs.float())  # (B, width)
        values: Tensor = self.head(hidden)  # (B, A)
        return values

    def describe(self) -> dict[str, Any]:
        """The arguments that build this network again, as plain data."""
        return {"width": self.width, "depth": self.depth, "sections": list(self.sections)}
