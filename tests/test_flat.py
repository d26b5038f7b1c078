"""Observations without the mask, for wrappers that do not take dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.test import api_test, seed_test

from ohhell_env import Rules, ohhell_v0, preset

TABLES = {"standard": Rules(ramp=(2, 1)), "wide": preset("penguin_whist", cap=2)}


@pytest.mark.parametrize("name", TABLES)
def test_a_flat_observation_is_the_vector_of_the_other_and_the_mask_stands_in_infos(name: str) -> None:
    flat, whole = ohhell_v0.env(TABLES[name], flat=True), ohhell_v0.env(TABLES[name])
    size = whole.observation_space("player_0")["observation"].shape
    assert flat.observation_space("player_0") == spaces.Box(0, 1, size, np.int8)
    for env in (flat, whole):
        env.reset(seed=2)
    rng = np.random.default_rng(1)
    for agent in flat.agent_iter():
        seen, *rest, info = flat.last()
        other, *others, told = whole.last()
        assert np.array_equal(seen, other["observation"]) and rest == others
        assert np.array_equal(info["action_mask"], told["action_mask"])
        for one in flat.agents:
            assert np.array_equal(flat.observe(one), whole.observe(one)["observation"])
            assert flat.observation_space(one).contains(flat.observe(one))
        mask = told["action_mask"]
        action = None if flat.terminations[agent] else int(rng.choice(np.flatnonzero(mask)))
        flat.step(action)
        whole.step(action)


@pytest.mark.filterwarnings("ignore")
def test_pettingzoos_own_checks_pass() -> None:
    make: Any = lambda: ohhell_v0.env(TABLES["standard"], flat=True)  # noqa: E731
    api_test(make(), num_cycles=100)
    seed_test(make, num_cycles=50)
