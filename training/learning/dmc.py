"""Deep Monte Carlo (Zha et al. 2021): the value of each action taken is regressed to the hand's return."""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import NDArray
from torch import Tensor, nn

from training.learning.collector import Experience
from training.learning.learner import Learner, Metrics
from training.learning.network import PolicyNetwork
from training.learning.optimisation import falling


def dmc_loss(values: Tensor, actions: Tensor, returns: Tensor) -> Tensor:
    """Mean squared error of the values of the actions taken.

    Args:
        values: (B, A) float, the network's output.
        actions: (B,) int64, relabelled actions.
        returns: (B,) float, the hand's return.
    """
    taken = values.gather(1, actions[:, None])[:, 0]  # (B,)
    return (taken - returns).square().mean()


class DMC(Learner):
    """Outputs are values; the best one is played, or a random one in a share epsilon of the decisions."""

    @property
    def outputs(self) -> Literal["logits", "values"]:
        return "values"

    def network(self) -> PolicyNetwork:
        return PolicyNetwork(self.config.width, self.config.depth, self.config.sections)

    def exploration(self, done: float) -> float:
        return falling(self.config.epsilon, self.config.final_epsilon, done)

    def arrays(self, experience: Experience, average: nn.Module) -> tuple[NDArray[Any], ...]:
        return experience.inputs, experience.actions, experience.returns

    def loss(self, done: float, outputs: Tensor, *batch: Tensor) -> tuple[Tensor, Metrics]:
        actions, returns = batch
        loss = dmc_loss(outputs, actions, returns)
        return loss, {"value_loss": loss.detach()}
