"""RLlib: PPO with action masks; one policy plays all seats of the AEC environment.

python -m training.examples.rllib_ppo
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tyro
from gymnasium import spaces

from ohhell_env import Rules, ohhell_v0
from ohhell_env.adapters import missing_extra
from training.examples.margin import quick_core

try:
    import ray
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.callbacks.callbacks import RLlibCallback
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
except ImportError as error:
    raise missing_extra(error, "rllib") from error


class MaskedTable(PettingZooEnv):
    """RLlib's own wrapper; its masking module wants floats and calls the observation ``observations``."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(ohhell_v0.raw_env(Rules(ramp=(config.get("hand_size", 3),))))  # an illegal action is an error
        for agent, space in self.observation_spaces.items():
            parts = {"observations": space["observation"].shape, "action_mask": space["action_mask"].shape}
            self.observation_spaces[agent] = spaces.Dict(
                {name: spaces.Box(0.0, 1.0, shape, np.float32) for name, shape in parts.items()}
            )
        self.observation_space = spaces.Dict(self.observation_spaces)

    def reset(self, **options: Any) -> Any:
        seen, infos = super().reset(**options)
        return self._renamed(seen), infos

    def step(self, action: dict[str, int]) -> Any:
        seen, *rest = super().step(action)
        return self._renamed(seen), *rest

    def _renamed(self, seen: dict[str, Any]) -> dict[str, Any]:
        return {
            agent: {
                "observations": one["observation"].astype(np.float32),
                "action_mask": one["action_mask"].astype(np.float32),
            }
            for agent, one in seen.items()
        }


class Scores(RLlibCallback):
    """Notes the points of each seat, and how far its rewards are from them: by nothing."""

    def on_episode_end(self, *, episode: Any, metrics_logger: Any = None, **others: Any) -> None:
        for seat in episode.agent_episodes.values():
            score = seat.get_infos(-1)["score"]
            metrics_logger.log_value("points", score, reduce="mean", window=4000)
            metrics_logger.log_value("reward_gap", abs(seat.get_return() - score), reduce="max")


def main(iterations: int = 10, batch: int = 2000, hand_size: int = 3, seed: int = 1) -> dict[str, Any]:
    """Self-play for so many iterations, printing the mean points of a hand; returns the last results."""
    algorithm = (
        PPOConfig()
        .environment(MaskedTable, env_config={"hand_size": hand_size}, disable_env_checking=True)  # it plays at random
        .env_runners(num_env_runners=0, num_envs_per_env_runner=1)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **others: "shared")
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=ActionMaskingTorchRLModule,
                model_config={"fcnet_hiddens": [128, 128], "head_fcnet_hiddens": []},
            )
        )
        .training(train_batch_size_per_learner=batch, minibatch_size=min(batch, 256), num_epochs=4, lr=3e-4, gamma=1.0)
        .callbacks(Scores)
        .debugging(seed=seed)
        .build_algo()
    )
    results: dict[str, Any] = {}
    for iteration in range(1, iterations + 1):
        results = algorithm.train()["env_runners"]
        print(
            f"iteration {iteration}: {results['num_episodes_lifetime']} hands, {results['points']:.2f} points per hand"
        )
    quick_core(algorithm.get_module("shared"), "rllib_ppo")
    algorithm.stop()
    ray.shutdown()
    return results


if __name__ == "__main__":
    tyro.cli(main)
