"""AgileRL: PPO with action masks plays one seat against the heuristic player, on the vector seat environment.

python -m training.examples.agilerl_ppo

It shows the plumbing: the ten thousand hands of its defaults are too few to tell its play from random.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import tyro

from ohhell_env import Rules, SeatVectorEnv

try:
    from agilerl.algorithms import PPO
    from agilerl.rollouts.on_policy import collect_rollouts
except ImportError as error:
    raise ImportError(f"{error}; integrations/agilerl.txt pins an environment that has it") from error


class Scores(gymnasium.vector.VectorWrapper):
    """Notes the true score of each finished match."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.scores: list[float] = []

    def step(self, actions: Any) -> Any:
        """One decision in each match."""
        *result, infos = super().step(actions)
        if "final_info" in infos:
            self.scores += infos["final_info"]["score"][infos["_final_info"]].tolist()
        return *result, infos


def main(iterations: int = 40, matches: int = 64, hand_size: int = 3, seed: int = 1) -> tuple[list[float], list[float]]:
    """Train for so many iterations; returns AgileRL's sum of rewards and the table's score of each finished match."""
    np.random.seed(seed)  # noqa: NPY002  (AgileRL draws from it)
    # With illegal_reward=None an illegal action would be an error.
    envs = Scores(SeatVectorEnv(matches, Rules(ramp=(hand_size,)), seat="rotate", illegal_reward=None))
    agent = PPO(
        envs.single_observation_space,
        envs.single_action_space,
        num_envs=matches,
        learn_step=matches * (hand_size + 1) * 4,  # a hand of n cards is n + 1 decisions of a seat
        batch_size=256,
        lr=1e-3,
        gamma=1.0,
        share_encoders=False,  # points are large: a value head on the policy's encoder would drown it
        net_config={"encoder_config": {"hidden_size": [128]}, "head_config": {"hidden_size": [128]}},
    )
    returns: list[float] = []
    last: tuple[Any, ...] = (None, None, None, None)
    for iteration in range(1, iterations + 1):
        finished, *last = collect_rollouts(
            agent, envs, last_obs=last[0], last_done=last[1], last_scores=last[2], last_info=last[3]
        )
        returns += [float(one) for one in finished]
        agent.learn()
        if iteration % 10 == 0 or iteration == iterations:
            print(
                f"iteration {iteration}: {len(returns)} hands, {np.mean(returns[-1000:]):.2f} points in the last 1000"
            )
    return returns, envs.scores


if __name__ == "__main__":
    tyro.cli(main)
