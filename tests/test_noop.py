"""The simultaneous form: who is not to act does nothing, and everything else is as in the AEC environment."""

import copy
from typing import Any

import numpy as np
import pytest
from aec_play import REWARDS, SHORT, TABLES, everything
from pettingzoo.test import parallel_api_test

from ohhell_env import Rules, ohhell_v0

THREE_HANDS = Rules(ramp=(3, 2, 1))


def sampled(env: Any, observations: dict[str, Any], rng: np.random.Generator) -> dict[str, int]:
    return {agent: int(rng.choice(np.flatnonzero(observations[agent]["action_mask"]))) for agent in env.agents}


@pytest.mark.parametrize("name", TABLES)
def test_it_passes_pettingzoos_own_check(name: str, capsys: pytest.CaptureFixture[str], recwarn: Any) -> None:
    parallel_api_test(ohhell_v0.parallel_env(TABLES[name]), num_cycles=300)
    assert "Passed" in capsys.readouterr().out
    assert not recwarn.list


@pytest.mark.parametrize("name", SHORT)
def test_exactly_one_agent_may_act_and_nobodys_mask_is_empty(name: str) -> None:
    env = ohhell_v0.parallel_env(SHORT[name])
    observations, infos = env.reset(seed=3)
    rng = np.random.default_rng(3)
    while env.agents:
        masks = {agent: observations[agent]["action_mask"] for agent in env.agents}
        acting = [agent for agent, mask in masks.items() if not mask[env.noop]]
        assert acting == [f"player_{env.game.player}"]
        assert {agent: np.flatnonzero(mask).tolist() for agent, mask in masks.items()} == {
            agent: list(env.game.legal_actions) if agent in acting else [env.noop] for agent in env.agents
        }
        assert all(set(info) == {"score", "win_share"} for info in infos.values())
        assert all(observations[agent] in env.observation_space(agent) for agent in env.agents)
        observations, _, _, _, infos = env.step(sampled(env, observations, rng))
    for seen in observations.values():
        assert np.flatnonzero(seen["action_mask"]).tolist() == [env.noop], "nor at the end"


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("reward", REWARDS)
def test_it_is_the_match_of_the_aec_environment_and_rewards_add_up(name: str, reward: str) -> None:
    env, table = ohhell_v0.parallel_env(SHORT[name], reward=reward), ohhell_v0.env(SHORT[name], reward=reward)
    observations, _ = env.reset(seed=8)
    table.reset(seed=8)
    rng = np.random.default_rng(8)
    totals = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        for agent in env.agents:
            assert np.array_equal(observations[agent]["observation"], table.observe(agent)["observation"])
        assert np.array_equal(env.state(), table.state())
        actions = sampled(env, observations, rng)
        table.step(actions[table.agent_selection])
        observations, rewards, terminations, truncations, infos = env.step(actions)
        assert rewards == table.rewards
        assert not any(truncations.values())
        totals = {agent: totals[agent] + rewards[agent] for agent in totals}
        assert set(terminations.values()) == {table.terminations["player_0"]}
    scores = dict(zip(env.possible_agents, env.game.scores, strict=True))
    shares = dict(zip(env.possible_agents, env.game.win_shares, strict=True))
    assert {agent: info["score"] for agent, info in infos.items()} == scores
    mean = sum(scores.values()) / len(scores)
    due = {"points": scores, "win": shares, "zero_sum": {agent: score - mean for agent, score in scores.items()}}
    assert totals == pytest.approx(due[reward])


def test_after_the_end_nothing_happens_until_the_next_reset(recwarn: Any) -> None:
    env = ohhell_v0.parallel_env(Rules(ramp=(1,)))
    observations, _ = env.reset(seed=1)
    rng = np.random.default_rng(1)
    while env.agents:
        observations, *_ = env.step(sampled(env, observations, rng))
    assert env.step({}) == ({}, {}, {}, {}, {})
    env.reset()
    assert env.agents == env.possible_agents


@pytest.mark.parametrize("who", [["player_1"], ["player_3"], ["player_1", "player_2"]])
def test_an_illegal_action_ends_the_match_for_everybody(who: list[str], caplog: pytest.LogCaptureFixture) -> None:
    env = ohhell_v0.parallel_env(THREE_HANDS, illegal_reward=-2)
    env.reset(seed=1)
    assert env.game.player == 1
    before = everything(env.table)
    actions = dict.fromkeys(env.agents, env.noop) | {"player_1": 52} | dict.fromkeys(who, 0)
    _, rewards, terminations, truncations, _ = env.step(actions)
    assert "Illegal move made" in caplog.text
    assert rewards == {agent: -2.0 if agent in who else 0.0 for agent in env.possible_agents}
    assert all(terminations.values()) and all(truncations.values()) and not env.agents
    assert everything(env.table) == before, "the table is as it was"


def test_the_agent_to_act_may_not_do_nothing(caplog: pytest.LogCaptureFixture) -> None:
    env = ohhell_v0.parallel_env(THREE_HANDS)
    env.reset(seed=1)
    _, rewards, *_ = env.step({})
    assert "Illegal move made" in caplog.text
    assert rewards == {"player_0": 0, "player_1": -1, "player_2": 0, "player_3": 0}


def test_without_an_illegal_reward_an_illegal_action_is_refused_and_the_match_goes_on() -> None:
    env = ohhell_v0.parallel_env(THREE_HANDS, illegal_reward=None)
    env.reset(seed=1)
    before = everything(env.table)
    with pytest.raises(ValueError, match="player_1 is not legal; it is to act and may take 52, 53"):
        env.step({"player_1": 3})
    with pytest.raises(ValueError, match="player_2 is not legal; it is not to act and may only take 70"):
        env.step({"player_1": 52, "player_2": 52})
    assert everything(env.table) == before and env.agents
    env.step({"player_1": 52})
    assert env.game.bids[1] == 0


def test_a_copy_plays_on_alike_and_arrays_are_never_written_again() -> None:
    env = ohhell_v0.parallel_env(THREE_HANDS)
    observations, _ = env.reset(seed=2)
    kept: list[tuple[np.ndarray, bytes]] = []
    rng = np.random.default_rng(2)
    twin = copy.deepcopy(env)
    while env.agents:
        kept += [(array, array.tobytes()) for seen in observations.values() for array in seen.values()]
        actions = sampled(env, observations, rng)
        observations, rewards, *_ = env.step(actions)
        assert rewards == twin.step(actions)[1]
    assert env.game.events() == twin.game.events()
    assert all(array.tobytes() == then for array, then in kept)


def test_actions_have_names_and_the_last_does_nothing() -> None:
    env = ohhell_v0.parallel_env()
    assert env.get_action_meanings() == [*ohhell_v0.env().get_action_meanings(), "do nothing"]
    assert len(env.get_action_meanings()) == env.action_space("player_0").n == env.noop + 1
