"""Faults that such environments are known for (issues of PettingZoo, Tianshou and others), each a test for ours."""

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aec_play import SHORT, drain, everything, fingerprint, illegal, legal, over, play, record_of, repeat, started

from ohhell_env import Rules, ohhell_v0
from ohhell_env.kernel.rulebook import NUM_ACTIONS

THREE_HANDS = Rules(ramp=(3, 2, 1))


@pytest.fixture(params=SHORT, ids=str)
def rules(request: pytest.FixtureRequest) -> Rules:
    return SHORT[request.param]


def match(env: Any, rng: int) -> list[Any]:
    """A match played at random to its end: each decision's agent, mask, reward and move."""
    random = np.random.default_rng(rng)
    seen: list[Any] = []
    while not over(env):
        seen.append((env.agent_selection, env.last()[1], legal(env), *play(env, random, 1)))
    return [*seen, drain(env)]


def pickled(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))


# PettingZoo #1176: the order of turns was corrupt after an illegal move.
@pytest.mark.parametrize("decisions", [0, 2, 6, 13])
def test_a_legal_match_follows_one_that_an_illegal_move_ended(decisions: int) -> None:
    env, clean = started(THREE_HANDS), started(THREE_HANDS)
    play(env, 1, decisions)
    env.step(illegal(env)[0])
    assert [agent for agent, _ in drain(env)] == env.possible_agents
    env.reset(seed=8)
    clean.reset(seed=8)
    assert env.agent_selection == "player_1", "left of the dealer begins"
    assert match(env, 2) == match(clean, 2)
    assert everything_after(env) == everything_after(clean)


def everything_after(env: Any) -> dict[str, Any]:
    env.reset()
    return everything(env)


# PettingZoo #1307, #1186: deepcopy or pickle lost the hand.
@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickled])
@pytest.mark.parametrize("decisions", [0, 2, 6, 13, 25])
def test_a_copy_made_in_mid_trick_plays_on_alike(rules: Rules, duplicate: Callable[[Any], Any], decisions: int) -> None:
    env = started(rules, reward="zero_sum")
    play(env, 1, decisions)
    twin = duplicate(env)
    assert everything(twin) == everything(env)
    before = everything(env)
    ended = match(twin, 2)
    assert everything(env) == before, "the copy is independent"
    assert match(env, 2) == ended
    for one in (env, twin):
        one.reset()
    assert everything(twin) == everything(env), "the random stream was copied too"
    assert match(twin, 3) == match(env, 3)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickled])
def test_a_copy_made_before_the_first_reset_is_a_fresh_environment(duplicate: Callable[[Any], Any]) -> None:
    env, twin = ohhell_v0.env(THREE_HANDS), duplicate(ohhell_v0.env(THREE_HANDS))
    with pytest.raises(AttributeError, match="agents cannot be accessed before reset"):
        twin.agents  # noqa: B018
    for one in (env, twin):
        one.reset(seed=1)
    assert match(env, 1) == match(twin, 1)


def test_copies_unpickled_from_the_same_buffers_are_independent() -> None:
    env = started(THREE_HANDS)
    buffers: list[Any] = []
    data = pickle.dumps(env, protocol=5, buffer_callback=buffers.append)
    held = [bytes(buffer) for buffer in buffers]
    first, second = (pickle.loads(data, buffers=held) for _ in range(2))
    play(first, 1, 3)
    assert everything(second) == everything(env)


# PettingZoo #1312: a seeded reset changed the rules.
@pytest.mark.parametrize("seed", [None, 5])
def test_a_reset_with_or_without_a_seed_keeps_the_rules(seed: int | None) -> None:
    rules = Rules(players=5, ramp=(2, 3), hook=False, bids="open", trump="none", scoring="basic", first_dealer=3)
    env = ohhell_v0.env(rules, reward="zero_sum")
    for _ in range(3):
        env.reset(seed=seed)
        assert env.rules == env.game.rules == rules
        assert len(env.agents) == 5 and env.game.dealer == 3 and env.game.trump is None
        play(env, 1, 4)
        assert env.game.visible_bids(0) == env.game.bids
        assert len(legal(env)) == 3, "without a hook the dealer may make any bid 0..2"
        play(env, 2)
        assert [hand.hand_size for hand in env.game.past_hands] == [2, 3]
        assert sum(env.game.taken) == 3


# PettingZoo #1223: the seed was ignored.
def test_two_processes_play_the_same_matches_from_the_same_seed() -> None:
    script = "import sys; sys.path[:0] = sys.argv[1:]; from aec_play import fingerprint; print(fingerprint(11, 3))"
    elsewhere = subprocess.run(
        [sys.executable, "-c", script, *sys.path],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert elsewhere.stdout.strip() == fingerprint(11, 3)
    assert fingerprint(12, 3) != fingerprint(11, 3)


def test_another_seed_deals_other_cards() -> None:
    env = ohhell_v0.env()
    deals = set()
    for seed in [*range(100), 2**62, 2**63 - 1]:
        env.reset(seed=seed)
        deals.add(env.game.deal_order)
    assert len(deals) == 102


def test_a_reset_without_a_seed_continues_the_random_stream() -> None:
    env, again = ohhell_v0.env(THREE_HANDS), ohhell_v0.env(THREE_HANDS)
    deals = []
    for one in (env, again):
        one.reset(seed=3)
        for _ in range(4):
            match(one, 1)
            deals.append(one.game.past_hands[0].dealt)
            one.reset()
    assert deals[:4] == deals[4:]
    assert len(set(deals)) == 4
    env.reset(seed=3)
    assert env.game.dealt == deals[0]


def test_an_environment_never_seeded_is_not_always_the_same() -> None:
    deals = set()
    for _ in range(5):
        env = ohhell_v0.env()
        env.reset()
        deals.add(env.game.dealt)
    assert len(deals) == 5


def test_the_numpy_and_python_random_generators_do_not_matter() -> None:
    import random

    env = started(THREE_HANDS)
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    ended = match(env, 1)
    assert random.getstate() == python
    assert str(np.random.get_state()) == str(numpy)  # noqa: NPY002
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    assert match(started(THREE_HANDS), 1) == ended


def test_two_interleaved_environments_do_not_touch_each_other() -> None:
    alone = [match(started(THREE_HANDS, seed), seed) for seed in (1, 2)]
    envs = [started(THREE_HANDS, seed) for seed in (1, 2)]
    random = [np.random.default_rng(seed) for seed in (1, 2)]
    seen: list[list[Any]] = [[], []]
    while not all(over(env) for env in envs):
        for env, rng, ours in zip(envs, random, seen, strict=True):
            if not over(env):
                ours.append((env.agent_selection, env.last()[1], legal(env), *play(env, rng, 1)))
    assert [[*ours, drain(env)] for env, ours in zip(envs, seen, strict=True)] == alone


# Tianshou #900: rewards differed between `rewards` and `last()`.
@pytest.mark.parametrize("reward", ["points", "zero_sum", "win"])
@pytest.mark.parametrize("cut", [False, True])
def test_what_rewards_give_last_shows(rules: Rules, reward: str, cut: bool) -> None:
    env = started(rules, reward=reward, illegal_reward=-5)
    rng = np.random.default_rng(1)
    due = dict.fromkeys(env.agents, 0.0)
    for decision in range(10_000):
        if over(env):
            break
        actor = env.agent_selection
        assert env.last()[1] == pytest.approx(due[actor])
        due[actor] = 0.0
        if cut and decision == 17:
            env.step(illegal(env)[3])
        else:
            play(env, rng, 1)
        due = {agent: due[agent] + env.rewards[agent] for agent in due}
    assert dict(drain(env)) == pytest.approx(due)


# PettingZoo #355, #1260: terminal bookkeeping.
def test_each_agent_gets_its_last_reward_once_and_leaves_in_its_dead_step(rules: Rules) -> None:
    env = started(rules)
    play(env, 1)
    final = dict(env.rewards)
    assert final == dict(zip(env.agents, env.game.past_hands[-1].points, strict=True))
    left = list(env.possible_agents)
    while left:
        assert env.agents == left and env.agent_selection == left[0]
        for mapping in (env.rewards, env.terminations, env.truncations, env.infos):
            assert list(mapping) == left
        observation, _, terminated, truncated, info = env.last()
        assert (terminated, truncated) == (True, False)
        assert not observation["action_mask"].any() and not info["action_mask"].any()
        env.step(None)
        left.pop(0)
        assert set(env.rewards.values()) <= {0.0}, "given already"
    assert env.agents == [] and env.num_agents == 0
    assert list(env.agent_iter()) == []


def test_a_finished_agent_may_only_step_none() -> None:
    env = started(SHORT["one hand"])
    play(env, 1)
    before = everything(env)
    for action in (0, 52, np.int64(1)):
        with pytest.raises(ValueError, match="when an agent is dead, the only valid action is None"):
            env.step(action)
        assert everything(env) == before
    assert len(drain(env)) == 4


# TorchRL #1471: an empty mask crashes a distribution. RLCard: the actor's mask was handed to everybody.
def test_the_actor_always_has_a_legal_action_and_the_others_never(rules: Rules) -> None:
    env = started(rules)
    rng = np.random.default_rng(12)
    while not over(env):
        may = {agent: bool(env.observe(agent)["action_mask"].any()) for agent in env.agents}
        assert may == {agent: agent == env.agent_selection for agent in env.agents}
        play(env, rng, 1)


# PettingZoo #1302, #1038: the mask was off by one.
@pytest.mark.parametrize("name", ["bids open", "one hand", "short deck"])
def test_the_mask_is_one_exactly_where_the_environment_takes_the_action(name: str) -> None:
    env = ohhell_v0.raw_env(SHORT[name])
    env.reset(seed=5)
    rng = np.random.default_rng(5)
    while not over(env):
        taken = []
        for action in range(-2, NUM_ACTIONS + 2):
            trial = copy.deepcopy(env)
            try:
                trial.step(action)
            except ValueError:
                assert record_of(trial.games) == record_of(env.games)
            else:
                assert record_of(trial.games) != record_of(env.games)
                taken.append(action)
        assert taken == legal(env)
        play(env, rng, int(rng.integers(1, 8)))


# SuperSuit #116: an observation changed after it was handed out.
def test_arrays_handed_out_are_never_written_again(rules: Rules) -> None:
    env = started(rules)
    rng = np.random.default_rng(13)
    kept: list[tuple[np.ndarray, bytes]] = []
    handed: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for _ in range(2):
        while not over(env):
            for agent in env.agents:
                arrays = [*env.observe(agent).values(), env.infos[agent]["action_mask"]]
                kept += [(array, array.tobytes()) for array in arrays]
            kept.append((env.state(), env.state().tobytes()))
            for mapping in (env.rewards, env.infos[env.agent_selection]):
                handed.append((mapping, dict(mapping)))
            play(env, rng, 1)
        env.reset()
    assert all(array.tobytes() == then for array, then in kept)
    assert all(now == then for now, then in handed)


# PettingZoo #1233: one agent moving twice running.
def test_the_taker_of_a_trick_leads_the_next_even_twice_running() -> None:
    env = started(Rules(ramp=(6,)))
    twice = 0
    for seed in range(5):
        env.reset(seed=seed)
        play(env, seed, 4)
        while True:
            trick = [env.agent_selection]
            for _ in range(3):
                play(env, seed, 1)
                trick.append(env.agent_selection)
            first = env.possible_agents.index(trick[0])
            assert trick == [f"player_{(first + k) % 4}" for k in range(4)], "clockwise"
            play(env, seed, 1)
            if over(env):
                break
            assert env.agent_selection == f"player_{env.game.tricks[-1].winner}"
            twice += env.agent_selection == trick[-1]
    assert twice > 0, "a last player who takes the trick moves twice running"


def test_the_deal_and_with_it_the_first_bid_moves_left_from_hand_to_hand(rules: Rules) -> None:
    env = started(rules)
    rng = np.random.default_rng(15)
    seats = range(rules.players)
    for hand in range(rules.num_hands):
        dealer = (rules.first_dealer + hand) % rules.players
        bidders = []
        for _ in seats:
            assert env.game.phase == 0 and env.game.hand_number == hand + 1
            bidders.append(env.agent_selection)
            play(env, rng, 1)
        assert bidders == [f"player_{(dealer + 1 + k) % rules.players}" for k in seats]
        assert env.agent_selection == bidders[0], "left of the dealer also leads"
        play(env, rng, rules.players * rules.hand_sizes[hand])
    assert over(env)


def test_the_same_moves_make_the_same_match(rules: Rules) -> None:
    env, again = started(rules), started(rules)
    moves = play(env, 1)
    repeat(again, moves)
    assert everything(env) == everything(again)
