"""BenchMARL: a task of the simultaneous form, in which whoever is not to act may only do nothing; IPPO learns it.

python -m training.examples.benchmarl_ippo
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import tyro
from gymnasium import spaces
from pettingzoo.utils.wrappers import BaseParallelWrapper

from ohhell_env import Rules, ohhell_v0

try:
    import torch
    from benchmarl.algorithms import IppoConfig
    from benchmarl.environments import Task
    from benchmarl.environments.pettingzoo.common import PettingZooClass
    from benchmarl.experiment import Callback, Experiment, ExperimentConfig
    from benchmarl.models import MlpConfig
    from torchrl.envs import EnvBase, PettingZooWrapper
except ImportError as error:
    raise ImportError(f"{error}; integrations/benchmarl.txt pins an environment that has it") from error


class FloatTable(BaseParallelWrapper):
    """The simultaneous form with observations of floats, which networks want."""

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The environment's, of float32."""
        parts = self.env.observation_space(agent)
        observation = spaces.Box(0.0, 1.0, parts["observation"].shape, np.float32)  # type: ignore[index]
        return spaces.Dict(observation=observation, action_mask=parts["action_mask"])  # type: ignore[index]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Start a match."""
        observations, infos = super().reset(seed, options)
        return floats(observations), infos

    def step(self, actions: dict[str, int]) -> Any:
        """One decision."""
        observations, *result = super().step(actions)
        return floats(observations), *result


def floats(observations: dict[str, Any]) -> dict[str, Any]:
    """Each agent's observation of float32, its mask as it is."""
    return {agent: {**one, "observation": one["observation"].astype(np.float32)} for agent, one in observations.items()}


class OhHellClass(PettingZooClass):
    """As BenchMARL's own PettingZoo tasks, whose group is named by the agents: ``player``."""

    def get_env_fun(
        self, num_envs: int, continuous_actions: bool, seed: int | None, device: Any
    ) -> Callable[[], EnvBase]:
        """A maker of one table; an illegal action would raise."""
        rules = Rules(**self.config)
        return lambda: PettingZooWrapper(
            FloatTable(ohhell_v0.parallel_env(rules, illegal_reward=None)),
            categorical_actions=True,
            seed=seed,
            device=device,
        )

    def supports_continuous_actions(self) -> bool:
        return False

    def supports_discrete_actions(self) -> bool:
        return True

    def has_state(self) -> bool:
        return False

    def has_render(self, env: EnvBase) -> bool:
        return False

    def max_steps(self, env: EnvBase) -> int:
        """Decisions of a match."""
        rules = Rules(**self.config)
        return sum(rules.players * (1 + size) for size in rules.hand_sizes)

    @staticmethod
    def env_name() -> str:
        return "ohhell"


class OhHellTask(Task):
    """The table; ``get_task(config={...})`` takes options of `Rules`."""

    TABLE = None

    @staticmethod
    def associated_class() -> type[OhHellClass]:
        return OhHellClass


class Scores(Callback):
    """Points of each finished match, as the rewards add up and as the table counts them."""

    def __init__(self) -> None:
        super().__init__()
        self.returns: list[list[float]] = []
        self.scores: list[list[float]] = []

    def on_batch_collected(self, batch: Any) -> None:
        """Note the matches that ended in this batch."""
        after = batch["next"][batch["next", "done"].squeeze(-1)]
        self.returns += after["player", "episode_reward"].squeeze(-1).tolist()  # (matches, P)
        self.scores += after["player", "info", "score"].reshape(len(after), -1).tolist()
        recent = torch.tensor(self.scores[-len(after) :])
        print(f"{len(self.scores)} matches, {recent.mean():.2f} points a seat in the last {len(after)}")


def main(iterations: int = 20, frames: int = 2000, hand_size: int = 3, seed: int = 1) -> Scores:
    """Learn for so many iterations of so many decisions each."""
    config = ExperimentConfig.get_from_yaml()
    config.max_n_iters, config.max_n_frames = iterations, None
    config.on_policy_collected_frames_per_batch = frames
    config.on_policy_n_envs_per_worker, config.on_policy_minibatch_size = 4, min(frames, 250)
    config.on_policy_n_minibatch_iters = 4
    config.lr, config.gamma = 3e-4, 1.0
    config.evaluation = config.render = config.create_json = False
    config.loggers = []
    scores = Scores()
    with tempfile.TemporaryDirectory() as folder:
        config.save_folder = folder
        model = MlpConfig(num_cells=[128, 128], layer_class=torch.nn.Linear, activation_class=torch.nn.ReLU)
        Experiment(
            task=OhHellTask.TABLE.get_task(  # type: ignore[attr-defined]
                config={"players": 4, "ramp": (hand_size,)}
            ),
            algorithm_config=IppoConfig.get_from_yaml(),
            model_config=model,
            critic_model_config=model,
            seed=seed,
            config=config,
            callbacks=[scores],
        ).run()
    return scores


if __name__ == "__main__":
    tyro.cli(main)
