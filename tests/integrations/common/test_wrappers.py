"""Other people's wrappers and makers of environments: SuperSuit, Gymnasium's recorders, Stable-Baselines3's helpers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from libraries import library

from ohhell_env import Rules, SeatVectorEnv, ohhell_v0

TWO_HANDS = Rules(ramp=(2, 1))


def wrap(name: str, env: Any) -> Any:
    supersuit = library("supersuit")
    wrappers: dict[str, Callable[[Any], Any]] = {
        "pad_observations": supersuit.pad_observations_v0,
        "frame_stack": lambda one: supersuit.frame_stack_v1(one, 3),
        "dtype": lambda one: supersuit.dtype_v0(one, np.float32),
        "flatten": supersuit.flatten_v0,
        "agent_indicator": lambda one: supersuit.agent_indicator_v0(one, type_only=False),
    }
    if name == "all":
        for one in ("dtype", "frame_stack", "flatten", "pad_observations", "agent_indicator"):
            env = wrappers[one](env)
        return env
    return wrappers[name](env)


@pytest.mark.parametrize("name", ["pad_observations", "frame_stack", "dtype", "flatten", "agent_indicator", "all"])
def test_supersuits_wrappers_take_flat_observations(name: str) -> None:
    env = wrap(name, ohhell_v0.env(TWO_HANDS, flat=True))
    plain = ohhell_v0.env(TWO_HANDS)
    rng = np.random.default_rng(1)
    for one in (env, plain):
        one.reset(seed=5)
    for agent in env.agent_iter():
        observation, _, over, _, info = env.last()
        expected = plain.last()[0]
        assert env.observation_space(agent).contains(observation)
        entries = np.asarray(observation, dtype=np.int8).ravel()
        size = len(expected["observation"])
        if name in ("pad_observations", "dtype", "flatten"):
            assert np.array_equal(entries, expected["observation"])
        elif name == "agent_indicator":
            grown = entries.reshape(size, -1) if entries.size % size == 0 else entries[:size, None]
            assert np.array_equal(grown[:, 0], expected["observation"])
        assert np.array_equal(info["action_mask"], plain.infos[agent]["action_mask"])
        action = None if over else int(rng.choice(np.flatnonzero(info["action_mask"])))
        env.step(action)
        plain.step(action)


def test_sb3_makes_environments_by_their_id_and_draws_them() -> None:
    library("stable_baselines3")
    from stable_baselines3.common.env_util import make_vec_env

    envs = make_vec_env("OhHell-v0", n_envs=2, env_kwargs={"rules": TWO_HANDS, "opponents": "random"})
    envs.seed(3)
    envs.reset()
    assert [image.shape for image in envs.get_images()] == [(800, 1280, 3)] * 2
    masks = np.stack(envs.env_method("action_masks"))
    envs.step(masks.argmax(axis=1))
    envs.close()


def test_sb3s_own_vector_form_is_drawn_too() -> None:
    library("stable_baselines3")
    from ohhell_env.adapters.sb3 import SeatVecEnv

    envs = SeatVecEnv(3, rules=TWO_HANDS, opponents="random", render_mode="rgb_array")
    envs.reset()
    assert [image.shape for image in envs.get_images()] == [(400, 640, 3)] * 3
    assert envs.render("rgb_array").shape == (800, 1280, 3)
    envs.close()


def play(env: Any, vector: bool) -> None:
    _, info = env.reset(seed=3)
    for _ in range(4):
        masks = np.atleast_2d(info["action_mask"])
        actions = masks.argmax(axis=1)
        _, _, over, _, info = env.step(actions if vector else int(actions[0]))
        if np.any(over):
            break
    env.close()


def test_gymnasium_records_a_match_as_a_video(tmp_path: Path) -> None:
    library("moviepy")
    made = gymnasium.make("OhHell-v0", rules=TWO_HANDS, opponents="random", render_mode="rgb_array")
    play(gymnasium.wrappers.RecordVideo(made, str(tmp_path), episode_trigger=lambda number: True), vector=False)
    assert [path.suffix for path in tmp_path.iterdir()].count(".mp4") == 1


def test_gymnasium_records_the_vector_form_as_a_video(tmp_path: Path) -> None:
    library("moviepy")
    made: Any = SeatVectorEnv(3, TWO_HANDS, opponents="random", render_mode="rgb_array")
    recorded = gymnasium.wrappers.vector.RecordVideo(
        made, str(tmp_path), video_length=3, step_trigger=lambda step: step == 0
    )
    play(recorded, vector=True)
    assert [path.suffix for path in tmp_path.iterdir()].count(".mp4") == 1
