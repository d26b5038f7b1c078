"""Stable-Baselines3's own kind of vector environment over the batched seat environment."""

from __future__ import annotations

import time
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ohhell_env.adapters import missing_extra
from ohhell_env.envs.seat_vector import SeatVectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise missing_extra(error, "sb3") from error


class SeatVecEnv(VecEnv):
    """N seats on the batched simulator for Stable-Baselines3, with ``action_masks`` for sb3-contrib's MaskablePPO.

    The info of a step that ends a match has ``terminal_observation``, ``episode`` (return ``r``, decisions ``l``,
    seconds ``t``: no monitor is needed), ``score``, ``win_share`` and ``illegal``; other infos are empty.

    Args:
        num_envs: N.
        arguments: see `ohhell_env.SeatEnv`.
    """

    def __init__(self, num_envs: int, **arguments: Any) -> None:
        self.envs = SeatVectorEnv(num_envs, **arguments)
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)
        self._actions: NDArray[np.int64] = np.zeros(num_envs, dtype=np.int64)
        self._began = time.monotonic()

    def reset(self) -> Any:
        seeds = [seed for seed in self._seeds if seed is not None]
        observation, _ = self.envs.reset(seed=seeds or None)
        self._reset_seeds()
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, dtype=np.int64)
        return observation

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions = actions

    def step_wait(self) -> Any:
        observation, reward, over, _, told = self.envs.step(self._actions)
        self._returns += reward
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(over):
            final, ended = told["final_info"], told["final_obs"]
            infos[i] = {
                "terminal_observation": {k: v[i] for k, v in ended.items()} if isinstance(ended, dict) else ended[i],
                "episode": {
                    "r": float(self._returns[i]),
                    "l": int(self._lengths[i]),
                    "t": time.monotonic() - self._began,
                },
                **{key: final[key][i].item() for key in ("score", "win_share", "illegal")},
            }
        self._returns[over] = 0.0
        self._lengths[over] = 0
        return observation, reward.astype(np.float32), over, infos

    def close(self) -> None:
        self.envs.close()

    def get_images(self) -> list[Any]:
        """A picture of each match, where they were made with ``render_mode="rgb_array"``."""
        return list(self.envs.render() or ())

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise AttributeError(f"{attr_name} cannot be set: all matches share one environment; make a new one")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        if method_name != "action_masks":
            raise AttributeError(f"{method_name} cannot be called for single matches; only action_masks can")
        masks = self.envs.action_masks()
        return [masks[i] for i in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Any = None
    ) -> list[bool]:
        return [False for _ in self._get_indices(indices)]
