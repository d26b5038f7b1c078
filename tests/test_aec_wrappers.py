"""The environment treats wrong use as PettingZoo's three usual wrappers do, which it does without."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aec_play import drain, everything, illegal, legal, over, play
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from ohhell_env import Rules, ohhell_v0
from ohhell_env.envs.aec import OhHellEnv
from ohhell_env.kernel.rulebook import NUM_ACTIONS

RULES = Rules(ramp=(3, 2, 1))
OUT_OF_BOUNDS = [NUM_ACTIONS, -1, 2**70, -(2**70), 3.0, np.float32(3), None, "3", [3], np.array([3]), np.bool_(True)]
WHOLE_NUMBERS = [int, *(np.dtype(kind).type for kind in "bBhHiIlLqQ"), np.array]


def wrapped(illegal_reward: float = -1.0, **arguments: Any) -> Any:
    raw = ohhell_v0.raw_env(RULES, **arguments)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(raw, illegal_reward)))


def both(seed: int | None = 7, illegal_reward: float = -1.0, **arguments: Any) -> tuple[Any, Any]:
    ours, theirs = (
        ohhell_v0.env(RULES, illegal_reward=illegal_reward, **arguments),
        wrapped(illegal_reward, **arguments),
    )
    if seed is not None:
        ours.reset(seed=seed)
        theirs.reset(seed=seed)
    return ours, theirs


def outcome(call: Callable[[], Any]) -> tuple[str, str]:
    """What comes of a call: the kind of result or of error, and the error's words before the first colon."""
    try:
        return "returned", type(call()).__name__
    except Exception as error:
        return type(error).__name__, str(error).split(":")[0]


def said(call: Callable[[], Any]) -> list[str]:
    """What PettingZoo's logger was told meanwhile."""
    EnvLogger.flush()
    call()
    return list(dict.fromkeys(EnvLogger.mqueue))


def books(env: Any) -> dict[str, Any]:
    """All bookkeeping but the masks in infos, which the stock wrappers leave to those who are done."""
    seen = everything(env)
    for info in [*seen["infos"].values(), *seen["observations"].values()]:
        del info["action_mask"]
    return seen


# --- Before the first reset --------------------------------------------------------------------------------------

ATTRIBUTES = ["agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "num_agents"]


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_what_a_reset_makes_cannot_be_read_before_it(name: str) -> None:
    ours, theirs = both(seed=None)
    assert outcome(lambda: getattr(ours, name)) == outcome(lambda: getattr(theirs, name))
    assert outcome(lambda: getattr(ours, name)) == ("AttributeError", f"{name} cannot be accessed before reset")
    assert not hasattr(ours, name) and not hasattr(ohhell_v0.raw_env(), name)


@pytest.mark.parametrize(
    "call",
    [
        lambda env: env.step(0),
        lambda env: env.step(None),
        lambda env: env.observe("player_0"),
        lambda env: env.state(),
        lambda env: env.render(),
        lambda env: env.agent_iter(),
        lambda env: env.last(),
    ],
    ids=["step", "step None", "observe", "state", "render", "agent_iter", "last"],
)
def test_nothing_can_be_done_before_the_first_reset(call: Callable[[Any], Any]) -> None:
    ours, theirs = both(seed=None)
    assert outcome(lambda: call(ours)) == outcome(lambda: call(theirs))
    assert outcome(lambda: call(ours))[0] in ("AssertionError", "AttributeError")
    assert outcome(lambda: call(ohhell_v0.raw_env())) == outcome(lambda: call(ours))


@pytest.mark.parametrize("name", ["possible_agents", "max_num_agents", "metadata", "render_mode", "rules"])
def test_what_an_environment_is_can_be_read_before_the_first_reset(name: str) -> None:
    ours, theirs = both(seed=None)
    assert getattr(ours, name) == getattr(theirs, name)
    assert ours.observation_space("player_3") == theirs.observation_space("player_3")
    assert ours.action_space("player_3") == theirs.action_space("player_3")


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    for env in both():
        with pytest.raises(AttributeError, match="colour"):
            env.colour  # noqa: B018


# --- Illegal moves -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decisions", [0, 3, 4, 9, 15, 16, 20, 26])
@pytest.mark.parametrize("reward", ["points", "zero_sum", "win"])
def test_an_illegal_move_ends_the_match_as_the_wrappers_end_it(decisions: int, reward: str) -> None:
    ours, theirs = both(reward=reward, illegal_reward=-7.5)
    play(ours, 3, decisions)
    play(theirs, 3, decisions)
    mover, action = ours.agent_selection, illegal(ours)[decisions % 5]
    warning = said(lambda: ours.step(action))
    assert warning == said(lambda: theirs.step(action)) and "Illegal move made" in warning[0]
    assert books(ours) == books(theirs)
    assert ours.rewards == {agent: -7.5 if agent == mover else 0.0 for agent in ours.agents}
    assert set(ours.terminations.values()) == set(ours.truncations.values()) == {True}
    while ours.agents:
        assert ours.last()[1:4] == theirs.last()[1:4]
        ours.step(None)
        theirs.step(None)
        assert books(ours) == books(theirs)


def test_the_illegal_reward_is_minus_one_unless_told_otherwise() -> None:
    env = ohhell_v0.env(RULES)
    env.reset(seed=1)
    mover = env.agent_selection
    env.step(0)
    assert env.rewards == {agent: -1.0 * (agent == mover) for agent in env.agents}
    assert dict(drain(env)) == {agent: -1.0 * (agent == mover) for agent in env.possible_agents}


def test_a_legal_match_is_the_same_with_and_without_the_wrappers() -> None:
    ours, theirs = both()
    rng, same = np.random.default_rng(4), np.random.default_rng(4)
    for _ in range(2):
        while not over(ours):
            assert everything(ours) == everything(theirs)
            play(ours, rng, 1)
            play(theirs, same, 1)
        assert everything(ours) == everything(theirs)
        assert drain(ours) == drain(theirs)
        ours.reset()
        theirs.reset()


@pytest.mark.parametrize("decisions", [0, 3, 5, 18])
def test_the_raw_environment_refuses_an_illegal_move_says_what_is_allowed_and_changes_nothing(decisions: int) -> None:
    env = ohhell_v0.raw_env(RULES)
    env.reset(seed=7)
    play(env, 3, decisions)
    before, arrays = everything(env), (env.rewards, env.infos, env.observe(env.agent_selection)["observation"])
    words = [f"bid {a - 52}" if a >= 52 else f"play {'23456789TJQKA'[a % 13]}{'CDHS'[a // 13]}" for a in legal(env)]
    for action in [*illegal(env), NUM_ACTIONS, -1, 2**62]:
        with pytest.raises(ValueError) as refusal:
            env.step(action)
        assert str(refusal.value).startswith(f"action {action} (")
        assert f"{env.agent_selection} {'bids' if decisions in (0, 3, 18) else 'plays'} now" in str(refusal.value)
        assert str(refusal.value).endswith("allowed: " + ", ".join(words))
        assert everything(env) == before
    assert arrays[0] is env.rewards and arrays[1] is env.infos
    assert arrays[2] is env.observe(env.agent_selection)["observation"]


# --- Actions outside the space -----------------------------------------------------------------------------------


@pytest.mark.parametrize("action", OUT_OF_BOUNDS, ids=repr)
def test_what_is_no_action_is_refused_as_the_wrappers_refuse_it(action: Any) -> None:
    ours, theirs = both()
    for decisions in (0, 5):
        play(ours, 3, decisions)
        play(theirs, 3, decisions)
        before = everything(ours)
        assert outcome(lambda: ours.step(action)) == ("AssertionError", "action is not in action space")
        assert outcome(lambda: theirs.step(action)) == ("AssertionError", "action is not in action space")
        assert everything(ours) == before


@pytest.mark.parametrize("kind", WHOLE_NUMBERS, ids=lambda kind: kind.__name__)
def test_whole_numbers_of_every_kind_are_actions(kind: Callable[[int], Any]) -> None:
    ours, theirs = both()
    action = legal(ours)[1]
    ours.step(kind(action))
    theirs.step(action)
    assert everything(ours) == everything(theirs)
    ours.step(kind(illegal(ours)[1]))
    assert set(ours.terminations.values()) == {True}, "an illegal one is seen as such too"


# --- agent_iter, and steps after the end -------------------------------------------------------------------------


def test_a_step_after_the_end_warns_and_does_nothing() -> None:
    ours, theirs = both()
    for env in (ours, theirs):
        play(env, 1)
        drain(env)
        warning = said(lambda env=env: env.step(None))
        assert len(warning) == 1 and "step() called after all agents are terminated" in warning[0]
        assert said(lambda env=env: env.step(3)) == warning
        assert env.agents == [] and env.rewards == {}


def iterate(env: Any, stop: int | None = None, **arguments: Any) -> list[str]:
    """A loop over agent_iter that forgets to step from decision `stop` on."""
    seen = []
    for decision, agent in enumerate(env.agent_iter(**arguments)):
        seen.append(agent)
        if decision != stop:
            env.step(None if over(env) else legal(env)[0])
    return seen


def test_agent_iter_goes_round_the_match_and_the_dead_steps() -> None:
    ours, theirs = both()
    seen = iterate(ours)
    assert seen == iterate(theirs)
    assert len(seen) == 3 * 4 + 4 * (3 + 2 + 1) + 4 and seen[-4:] == ours.possible_agents


def test_agent_iter_stops_after_so_many() -> None:
    ours, theirs = both()
    assert iterate(ours, max_iter=5) == iterate(theirs, max_iter=5) == [f"player_{seat}" for seat in (1, 2, 3, 0, 1)]


@pytest.mark.parametrize("stop", [0, 3])
def test_agent_iter_without_a_step_is_an_error(stop: int) -> None:
    ours, theirs = both()
    words = "need to call step() or reset() in a loop over `agent_iter`"
    assert outcome(lambda: iterate(ours, stop)) == outcome(lambda: iterate(theirs, stop)) == ("AssertionError", words)
    for env in (ours, theirs):
        env.reset(seed=1)
        assert iterate(env, max_iter=1) == ["player_1"]


def test_a_second_loop_over_agent_iter_needs_a_step_before_it() -> None:
    def leave_and_come_back(env: Any) -> list[str]:
        for agent in env.agent_iter():
            return [agent, *iterate(env)]
        raise AssertionError("nobody to act")

    ours, theirs = both()
    assert outcome(lambda: leave_and_come_back(ours)) == outcome(lambda: leave_and_come_back(theirs))


def test_a_reset_in_a_loop_over_agent_iter_begins_anew() -> None:
    def with_a_reset(env: Any) -> list[str]:
        seen = []
        for agent in env.agent_iter(max_iter=12):
            seen.append(agent)
            env.reset(seed=2) if len(seen) == 6 else env.step(legal(env)[0])
        return seen

    ours, theirs = both()
    assert with_a_reset(ours) == with_a_reset(theirs)


def test_the_stock_wrappers_go_round_the_checked_environment_too() -> None:
    env = OrderEnforcingWrapper(TerminateIllegalWrapper(AssertOutOfBoundsWrapper(ohhell_v0.env(RULES)), -1.0))
    plain = ohhell_v0.env(RULES)
    for one in (env, plain):
        one.reset(seed=3)
        play(one, 3)
    assert everything(env) == everything(plain)
    assert isinstance(env.unwrapped, OhHellEnv)
