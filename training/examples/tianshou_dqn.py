"""Tianshou: DQN for all seats of the AEC environment at once, one network playing itself; then compared with random.

python -m training.examples.tianshou_dqn
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohhell_env import ohhell_v0
from ohhell_env.adapters import missing_extra
from training.examples.margin import FIVE_CARDS, Margin, margin_over_random, quick_core

try:
    import torch
    from tianshou.algorithm import DQN
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv, PettingZooEnv
    from tianshou.trainer import OffPolicyTrainerParams
    from tianshou.utils.net.common import Net
except ImportError as error:
    raise missing_extra(error, "tianshou") from error


class Result(NamedTuple):
    """The margin over random; and for some hands of self-play player_0's rewards added up, and its score."""

    margin: Margin
    returns: NDArray[np.float64]
    scores: NDArray[np.float64]


def main(decisions: int = 100_000, hands: int = 4000, seed: int = 1) -> Result:
    """Train for so many decisions, then play so many hands."""
    np.random.seed(seed)  # noqa: NPY002 Tianshou explores by it
    torch.manual_seed(seed)
    # raw_env: an illegal action raises.
    envs = DummyVectorEnv([lambda: PettingZooEnv(ohhell_v0.raw_env(FIVE_CARDS)) for _ in range(16)])
    envs.seed(list(range(seed, seed + len(envs))))
    table = PettingZooEnv(ohhell_v0.raw_env(FIVE_CARDS))
    size = FIVE_CARDS.players * (FIVE_CARDS.hand_sizes[0] + 1)  # decisions in a match
    net = Net(
        state_shape=table.observation_space["observation"].shape,
        action_shape=table.action_space.n,
        hidden_sizes=[256, 256],
    )
    learner: Any = DQN(
        policy=DiscreteQLearningPolicy(model=net, action_space=table.action_space, eps_training=0.1),
        optim=AdamOptimizerFactory(lr=5e-4),
        gamma=1.0,
        # Rows of all seats stand in one sequence, and a reward seldom falls on a row of its own seat: a horizon of
        # fewer steps than there are seats loses most of it, and the state after n steps is another seat's. The whole
        # match as horizon is right.
        n_step_return_horizon=size,
    )
    everybody = MultiAgentOffPolicyAlgorithm(algorithms=[learner] * len(table.agents), env=table)
    epochs = max(1, decisions // 10_000)
    memory = VectorReplayBuffer(20_000, len(envs))
    everybody.run_training(
        OffPolicyTrainerParams(
            training_collector=Collector(everybody, envs, memory, exploration_noise=True),
            max_epochs=epochs,
            epoch_num_steps=decisions // epochs,
            collection_step_num_env_steps=16 * size,
            batch_size=1024,
            update_step_num_gradient_steps_per_sample=1 / size,
            multi_agent_return_reduction=lambda returns: returns.mean(axis=1),
            verbose=False,
            show_progress=False,
        )
    )
    played = VectorReplayBuffer(64 * size, len(envs))
    returns = Collector(everybody, envs, played).collect(n_episode=32, reset_before_collect=True).returns  # (32, P)

    def greedy(observation: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[Any]:
        values = net(observation)[0].numpy()
        return np.where(masks, values, -np.inf).argmax(axis=1)

    with torch.no_grad():
        margin = margin_over_random(greedy, hands)
    print(margin)
    with torch.no_grad():
        quick_core(greedy, "tianshou_dqn")
    rows = played.sample_indices(0)  # all of them
    return Result(margin, returns[:, 0], played.info.score[rows[played.done[rows]]])


if __name__ == "__main__":
    import tyro

    tyro.cli(main)
