"""The AEC environment keeps PettingZoo's interface: its conformance tests, and the conventions of those who use it."""

import importlib.util
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from aec_play import REWARDS, SHORT, TABLES, drain, everything, legal, over, play, started
from pettingzoo.test import api_test, render_test, seed_test

from ohhell_env import Rules, ohhell_v0
from ohhell_env.observation.decode import decode
from ohhell_env.observation.standard import OBSERVATION_SIZE, SECTIONS, observation_layout
from ohhell_env.table.text import table_text

# What api_test says to any third-party environment with a mask: it knows those of PettingZoo by name. Masks are empty
# in what a finished agent sees.
EXPECTED_WARNINGS = {
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Observation is not a NumPy array",
    "Action mask numpy array is all zeros (no legal actions).",
}


@pytest.fixture(params=TABLES, ids=str)
def rules(request: pytest.FixtureRequest) -> Rules:
    return TABLES[request.param]


@pytest.fixture(params=SHORT, ids=str)
def short(request: pytest.FixtureRequest) -> Rules:
    return SHORT[request.param]


# --- PettingZoo's own tests --------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [ohhell_v0.env, ohhell_v0.raw_env])
def test_pettingzoos_api_test_finds_nothing(rules: Rules, make: Any) -> None:
    for reward in REWARDS:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            api_test(make(rules, reward=reward), num_cycles=60)
        assert {str(warning.message) for warning in said} <= EXPECTED_WARNINGS


def test_pettingzoos_seed_test_finds_nothing(rules: Rules) -> None:
    seed_test(lambda: ohhell_v0.env(rules), num_cycles=200)


def test_pettingzoos_render_test_finds_nothing(rules: Rules) -> None:
    render_test(lambda render_mode: ohhell_v0.env(rules, render_mode=render_mode))


# --- Conventions -------------------------------------------------------------------------------------------------


def test_the_metadata_are_what_pettingzoo_expects() -> None:
    assert ohhell_v0.env().metadata == {
        "name": "ohhell_v0",
        "render_modes": ["human", "ansi", "rgb_array"],
        "is_parallelizable": False,
        "render_fps": 2,
    }
    assert str(ohhell_v0.env()) == str(ohhell_v0.raw_env().unwrapped) == "ohhell_v0"


def test_agents_are_numbered_players(rules: Rules) -> None:
    env = ohhell_v0.env(rules)
    assert env.possible_agents == [f"player_{seat}" for seat in range(rules.players)]
    assert env.max_num_agents == rules.players


@pytest.mark.skipif(importlib.util.find_spec("pettingzoo.env_registry") is None, reason="PettingZoo has no registry")
def test_pettingzoos_registry_makes_the_environment() -> None:
    import pettingzoo

    env = pettingzoo.make("aec", "ohhell/ohhell_v0", players=5, reward="win", render_mode="ansi")
    assert type(env) is type(ohhell_v0.env())
    assert (len(env.possible_agents), env.render_mode) == (5, "ansi")


def test_spaces_are_the_same_objects_at_every_call(rules: Rules) -> None:
    env = ohhell_v0.env(rules)
    spaces = [(env.observation_space(agent), env.action_space(agent)) for agent in env.possible_agents]
    env.reset(seed=1)
    play(env, 1)
    for agent, (observation_space, action_space) in zip(env.possible_agents, spaces, strict=True):
        assert env.observation_space(agent) is env.observation_spaces[agent] is observation_space
        assert env.action_space(agent) is env.action_spaces[agent] is action_space
    assert len({id(space) for _, space in spaces}) == rules.players, "agents' spaces are seeded one by one"


def test_every_observation_and_mask_lies_in_its_space_at_every_moment(short: Rules) -> None:
    env = started(short)
    rng = np.random.default_rng(3)
    while True:
        for agent in env.possible_agents:
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            assert {key: (part.dtype, part.ndim) for key, part in observation.items()} == {
                "observation": (np.int8, 1),
                "action_mask": (np.int8, 1),
            }
        if over(env):
            break
        play(env, rng, 1)


def test_gymnasium_samples_from_the_mask(short: Rules) -> None:
    env = started(short)
    while not over(env):
        agent = env.agent_selection
        action = env.action_space(agent).sample(env.observe(agent)["action_mask"])
        assert action == env.action_space(agent).sample(np.eye(70, dtype=np.int8)[action])
        assert action in legal(env)
        env.step(action)


def test_infos_are_numbers_under_fixed_keys_with_the_mask_of_the_observation(short: Rules) -> None:
    env = started(short)
    rng = np.random.default_rng(4)
    while True:
        assert list(env.infos) == env.agents
        for agent, info in env.infos.items():
            assert list(info) == ["action_mask", "score", "win_share"]
            assert type(info["score"]) is type(info["win_share"]) is float
            mask = info["action_mask"]
            assert mask.dtype == np.int8 and mask.shape == (70,)
            assert np.array_equal(mask, env.observe(agent)["action_mask"])
            assert mask.any() == (agent == env.agent_selection and not over(env))
        assert env.last()[4] is env.infos[env.agent_selection]
        if over(env):
            break
        play(env, rng, 1)


def test_any_agent_is_observed_at_any_time_even_after_the_end(short: Rules) -> None:
    env = started(short)
    play(env, 5)
    at_the_end = [env.observe(agent)["observation"].tolist() for agent in env.possible_agents]
    drain(env)
    assert [env.observe(agent)["observation"].tolist() for agent in env.possible_agents] == at_the_end
    assert env.state().any()
    assert all(decode(np.array(one, np.int8))["phase"] == "match over" for one in at_the_end)


def test_all_agents_are_done_in_the_same_step_and_say_so_with_pythons_bools(short: Rules) -> None:
    env = started(short)
    rng = np.random.default_rng(6)
    while not over(env):
        assert {*env.terminations.values()} == {*env.truncations.values()} == {False}
        assert all(type(done) is bool for done in [*env.terminations.values(), *env.truncations.values()])
        play(env, rng, 1)
    assert env.agents == env.possible_agents
    assert all(done is True for done in env.terminations.values())
    assert all(cut is False for cut in env.truncations.values())


def test_unknown_options_of_reset_are_ignored() -> None:
    env, other = started(), ohhell_v0.env()
    other.reset(seed=7, options={"options": 1, "colour": "red"})
    assert everything(env) == everything(other)
    env.reset(seed=7, options=None)
    assert everything(env) == everything(other)


@pytest.mark.parametrize("arguments", [{"rules": "oh_hell"}, {"players": 4}, {"rules": Rules(), "players": 4}, {}])
def test_the_default_table_has_many_names(arguments: dict[str, Any]) -> None:
    assert ohhell_v0.env(**arguments).rules == Rules()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rules": "whist"}, r"rules 'whist' are not known; use one of blob, cooperative"),
        ({"players": 11}, r"players=11 is not allowed; use a whole number from 2 to 10"),
        ({"rules": Rules(players=5), "players": 4}, r"players=4 contradicts rules.players=5"),
        ({"render_mode": "ascii"}, r"render_mode='ascii' is not known; use one of \['human', 'ansi', 'rgb_array'\]"),
        ({"reward": "money"}, r"reward='money' is not known; use one of 'points', 'zero_sum', 'win'"),
    ],
)
def test_a_bad_argument_is_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    for make in (ohhell_v0.env, ohhell_v0.raw_env):
        with pytest.raises(ValueError, match=message):
            make(**arguments)


@pytest.mark.parametrize("rules", [5, {"players": 5}, Rules], ids=repr)
def test_rules_that_are_no_rules_are_refused_by_name(rules: Any) -> None:
    with pytest.raises(ValueError, match="rules="):
        ohhell_v0.env(rules)


def test_rendering_without_a_mode_warns_and_returns_nothing() -> None:
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert started().render() is None


def test_rendering_shows_the_table_and_changes_nothing() -> None:
    env, unseen = started(render_mode="ansi"), started()
    rng, same = np.random.default_rng(1), np.random.default_rng(1)
    while not over(env):
        text = env.render()
        assert text.endswith(table_text(env.game))
        assert all(agent in text for agent in env.possible_agents)
        play(env, rng, 1)
        play(unseen, same, 1)
    assert "wins" in env.render() or "share the win" in env.render()
    assert everything(env) == everything(unseen)


def test_the_documentation_says_what_the_spaces_are() -> None:
    env = ohhell_v0.env()
    observation_space, action_space = env.observation_space("player_0"), env.action_space("player_0")
    assert isinstance(observation_space, gymnasium.spaces.Dict)
    assert f"`{action_space}`" in (ohhell_v0.__doc__ or "")
    parts = ", ".join(f"{key}: {observation_space[key]}" for key in ("observation", "action_mask"))
    assert f"`Dict({parts})`" in (ohhell_v0.__doc__ or "")
    assert list(observation_layout()) == [section.name for section in SECTIONS]
    ends = [0, *(part.stop for part in observation_layout().values())]
    assert [part.start for part in observation_layout().values()] == ends[:-1] and ends[-1] == OBSERVATION_SIZE
