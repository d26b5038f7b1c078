"""TorchRL: masked PPO for all seats of the AEC environment, one network playing itself; then compared with random.

python -m training.examples.torchrl_ppo
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohhell_env.adapters import missing_extra
from ohhell_env.adapters.torchrl import torchrl_env
from training.examples.margin import FIVE_CARDS, Margin, margin_over_random, quick_core

try:
    import torch
    from tensordict import TensorDict
    from tensordict.nn import TensorDictModule
    from torch import nn
    from torchrl.modules import MaskedCategorical, ProbabilisticActor
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE
except ImportError as error:
    raise missing_extra(error, "torchrl") from error


OBSERVATION = ("agents", "observation", "observation")


class Result(NamedTuple):
    """The margin over random; and for the matches of the last round each seat's rewards added up, and its score."""

    margin: Margin
    returns: torch.Tensor  # (M, P)
    scores: torch.Tensor  # (M, P)


def network(inputs: int, outputs: int) -> nn.Module:
    """Two hidden layers; ``inputs`` is the length of the observation."""
    layers = [nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, outputs)]
    return nn.Sequential(*layers)


class Floats(nn.Module):
    """A network that takes observations of int8."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Observations (..., D) of any number type: outputs (..., outputs) of float32."""
        output: torch.Tensor = self.body(observation.float())
        return output


def finished(rows: TensorDict) -> tuple[torch.Tensor, torch.Tensor]:
    """Of each match that ends in these rows: the sum of each seat's rewards and its score, (M, P) both."""
    reward = rows["next", "agents", "reward"].squeeze(-1)  # (T, P)
    ends = rows["next", "done"].squeeze(-1).nonzero().squeeze(-1).tolist()
    starts = [0, *(end + 1 for end in ends)]
    returns = [reward[start : end + 1].sum(0) for start, end in zip(starts, ends, strict=False)]
    return torch.stack(returns), rows["next", "agents", "info", "score"][ends]


def main(decisions: int = 50_000, hands: int = 4000, seed: int = 1) -> Result:
    """Train for so many decisions, then play so many hands."""
    torch.manual_seed(seed)
    env = torchrl_env(FIVE_CARDS)
    env.set_seed(seed)
    size = FIVE_CARDS.players * (FIVE_CARDS.hand_sizes[0] + 1)  # decisions in a match
    inputs = env.observation_spec[OBSERVATION].shape[-1]
    num_actions = env.observation_spec["agents", "action_mask"].shape[-1]
    logits = Floats(network(inputs, num_actions))
    actor = ProbabilisticActor(
        TensorDictModule(logits, in_keys=[OBSERVATION], out_keys=[("agents", "logits")]),
        in_keys={"logits": ("agents", "logits"), "mask": ("agents", "action_mask")},
        out_keys=[("agents", "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=("agents", "log_prob"),
    )
    critic = TensorDictModule(Floats(network(inputs, 1)), in_keys=[OBSERVATION], out_keys=[("agents", "state_value")])
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, critic_coeff=0.02, normalize_advantage=True)
    ours = ("value", "advantage", "value_target", "action", "reward", "done", "terminated")
    names = {name: ("agents", "state_value" if name == "value" else name) for name in ours}
    loss.set_keys(sample_log_prob=("agents", "log_prob"), **names)
    advantages = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    advantages.set_keys(**{name: key for name, key in names.items() if name != "action"})
    optimizer = torch.optim.Adam(loss.parameters(), lr=5e-4)
    for _ in range(max(1, decisions // (64 * size))):
        with torch.no_grad():
            rows = env.rollout(64 * size, actor, break_when_any_done=False)  # (T,)
            advantages(rows)  # over all rows: each seat has an observation and a value in every one
        acting = rows["agents"][rows["agents", "mask"]]  # (T,): of each row, the seat that acts
        for _ in range(4):
            for part in torch.randperm(len(acting)).split(512):
                parts = loss(TensorDict({"agents": acting[part]}, [len(part)]))
                optimizer.zero_grad()
                (parts["loss_objective"] + parts["loss_critic"] + parts["loss_entropy"]).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()

    def greedy(observation: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[Any]:
        return np.where(masks, logits(torch.from_numpy(observation)).numpy(), -np.inf).argmax(axis=1)

    with torch.no_grad():
        margin = margin_over_random(greedy, hands)
    print(margin)
    with torch.no_grad():
        quick_core(greedy, "torchrl_ppo")
    return Result(margin, *finished(rows))


if __name__ == "__main__":
    import tyro

    tyro.cli(main)
