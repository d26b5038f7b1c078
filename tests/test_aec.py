"""The AEC environment keeps PettingZoo's interface: conformance, conventions, rewards, reset's options."""

import importlib.util
import re
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from aec_play import SHORT, TABLES, drain, everything, legal, over, play, record_of, repeat
from pettingzoo.test import api_test, render_test, seed_test

from ohhell_env import Rules, Simulator, ohhell_v0
from ohhell_env.cards import STANDARD_DECK, card_name
from ohhell_env.observation import OBSERVATION_SIZE, SECTIONS, decode, observation_layout

REWARDS = ["points", "zero_sum", "win"]
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


def started(rules: Rules | None = None, seed: int = 7, **arguments: Any) -> Any:
    env = ohhell_v0.env(rules, **arguments)
    env.reset(seed=seed)
    return env


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


def test_pettingzoos_render_test_finds_nothing(rules: Rules, capsys: pytest.CaptureFixture[str]) -> None:
    render_test(lambda render_mode: ohhell_v0.env(rules, render_mode=render_mode))
    assert "player_0" in capsys.readouterr().out


# --- Conventions -------------------------------------------------------------------------------------------------


def test_the_metadata_are_what_pettingzoo_expects() -> None:
    assert ohhell_v0.env().metadata == {
        "name": "ohhell_v0",
        "render_modes": ["human", "ansi"],
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
        ({"rules": "whist"}, r"rules 'whist' are not known; use one of oh_hell"),
        ({"players": 8}, r"players=8 is not allowed; use a whole number from 3 to 7"),
        ({"rules": Rules(players=5), "players": 4}, r"players=4 contradicts rules.players=5"),
        ({"render_mode": "rgb_array"}, r"render_mode='rgb_array' is not known; use one of \['human', 'ansi'\]"),
        ({"reward": "money"}, r"reward='money' is not known; use one of 'points', 'zero_sum', 'win'"),
    ],
)
def test_a_bad_argument_is_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    for make in (ohhell_v0.env, ohhell_v0.raw_env):
        with pytest.raises(ValueError, match=message):
            make(**arguments)


def test_rendering_without_a_mode_warns_and_returns_nothing() -> None:
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert started().render() is None


def test_rendering_shows_the_table_and_changes_nothing() -> None:
    env, unseen = started(render_mode="ansi"), started()
    rng, same = np.random.default_rng(1), np.random.default_rng(1)
    while not over(env):
        text = env.render()
        assert text.endswith(env.game.text())
        assert all(agent in text for agent in env.possible_agents)
        play(env, rng, 1)
        play(unseen, same, 1)
    assert "wins" in env.render() or "share the win" in env.render()
    assert everything(env) == everything(unseen)


# --- Rewards -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", REWARDS)
def test_rewards_of_a_match_add_up_to_what_was_scored_or_won(short: Rules, reward: str) -> None:
    env = started(short, reward=reward)
    rng = np.random.default_rng(8)
    for _ in range(4):
        env.reset()
        given, shown = dict.fromkeys(env.agents, 0.0), dict.fromkeys(env.agents, 0.0)
        while not over(env):
            shown[env.agent_selection] += env.last()[1]
            play(env, rng, 1)
            for agent in env.agents:
                given[agent] += env.rewards[agent]
        infos = dict(env.infos)
        for agent, last in drain(env):
            shown[agent] += last
        score = {agent: info["score"] for agent, info in infos.items()}
        share = {agent: info["win_share"] for agent, info in infos.items()}
        mean = sum(score.values()) / short.players
        earned = {
            "points": score,
            "zero_sum": {agent: points - mean for agent, points in score.items()},
            "win": share,
        }[reward]
        assert given == pytest.approx(earned) and shown == pytest.approx(earned)
        assert list(score.values()) == list(env.game.scores) and list(share.values()) == list(env.game.win_shares)


def test_a_hands_points_are_given_in_the_step_that_ends_it_and_in_no_other() -> None:
    env = started(Rules(ramp=(2, 1)))
    rng = np.random.default_rng(2)
    hands = 0
    while not over(env):
        before = env.game.hand_number
        play(env, rng, 1)
        if env.game.hand_number != before or over(env):
            hands += 1
            assert list(env.rewards.values()) == list(env.game.past_hands[-1].points)
        else:
            assert set(env.rewards.values()) == {0.0}
    assert hands == 2 == len(env.game.past_hands)


def test_the_win_is_shared_by_all_on_top_and_is_one_in_all() -> None:
    env = started(Rules(ramp=(1,), players=7), reward="win")
    winners_seen = set()
    for seed in range(60):
        env.reset(seed=seed)
        play(env, seed)
        score = {agent: info["score"] for agent, info in env.infos.items()}
        winners = [agent for agent in env.agents if score[agent] == max(score.values())]
        assert env.rewards == {agent: (agent in winners) / len(winners) for agent in env.agents}
        assert sum(env.rewards.values()) == pytest.approx(1)
        assert {agent: info["win_share"] for agent, info in env.infos.items()} == env.rewards
        winners_seen.add(len(winners))
    assert len(winners_seen) > 3, "ties of several sizes occur"


# --- reset(options) ----------------------------------------------------------------------------------------------

PACK = list(STANDARD_DECK.cards)


@pytest.mark.parametrize(
    "deck", [PACK, [card_name(card) for card in PACK], np.array(PACK), " ".join(map(card_name, PACK))]
)
def test_a_given_deck_is_dealt_in_its_order(deck: Any) -> None:
    env = ohhell_v0.env(Rules(ramp=(3, 2)))
    env.reset(seed=1, options={"deals": [deck], "dealer": 1})
    assert env.agent_selection == "player_2" and env.game.dealer == 1
    assert env.game.hands == ((2, 6, 10), (3, 7, 11), (0, 4, 8), (1, 5, 9))
    assert (env.game.turned, env.game.trump) == (12, 0)
    assert env.game.deal_order == (tuple(range(12)), tuple(range(13, 52)))


def test_hands_beyond_the_given_decks_are_those_of_the_seed() -> None:
    env, given = started(Rules(ramp=(4, 3, 2))), ohhell_v0.env(Rules(ramp=(4, 3, 2)))
    given.reset(seed=7, options={"deals": [PACK, PACK[::-1]]})
    play(env, 1)
    play(given, 1)
    dealt, dealt_given = ([hand.deal_order for hand in one.game.past_hands] for one in (env, given))
    assert dealt_given[:2] == [(tuple(PACK[:16]), tuple(PACK[17:])), (tuple(PACK[:-13:-1]), tuple(PACK[-14::-1]))]
    assert dealt_given[2] == dealt[2] and dealt_given[0] != dealt[0]
    given.reset()
    env.reset()
    assert given.game.dealt == env.game.dealt, "decks are given for one match; the stream goes on as without them"


def test_every_seat_may_deal_first(rules: Rules) -> None:
    env = ohhell_v0.env(rules)
    for dealer in range(rules.players):
        env.reset(seed=1, options={"dealer": np.int8(dealer)})
        assert env.game.dealer == dealer
        assert env.agent_selection == f"player_{(dealer + 1) % rules.players}"
    env.reset(seed=1)
    assert env.game.dealer == rules.first_dealer


@pytest.mark.parametrize(
    ("seed", "options", "message"),
    [
        (-1, {}, r"seed=-1 is not allowed; use a whole number from 0 to 2\*\*63 - 1"),
        (2**63, {}, r"seed=9223372036854775808 is not allowed"),
        (1.5, {}, r"seed=1.5 is not allowed"),
        (True, {}, r"seed=True is not allowed"),
        ("1", {}, r"seed='1' is not allowed"),
        (1, {"dealer": 4}, r"dealer=4 is not allowed; use a seat 0..3"),
        (1, {"dealer": -1}, r"dealer=-1 is not allowed; use a seat 0..3"),
        (1, {"dealer": "player_1"}, r"dealer='player_1' is not allowed; use a seat 0..3"),
        (1, {"dealer": True}, r"dealer=True is not allowed"),
        (1, {"dealer": None}, r"dealer=None is not allowed"),
        (1, {"deals": [PACK, PACK[1:]]}, r"deals\[1\] is not a whole deck of 52 cards: 51 given, missing 2C"),
        (1, {"deals": [[1, *PACK[1:]]]}, r"deals\[0\] is not a whole deck .*missing 2C, repeated 3C"),
        (1, {"deals": [[*PACK, 0]]}, r"deals\[0\] is not a whole deck of 52 cards: 53 given, repeated 2C"),
        (1, {"deals": [[52, *PACK[1:]]]}, r"card 52 is not a card number; cards are 0..51"),
        (1, {"deals": ["1C 2C"]}, r"'1C' is not a card; a card is a rank"),
        (1, {"deals": [[]]}, r"deals\[0\] is not a whole deck of 52 cards: 0 given"),
    ],
)
def test_a_refused_reset_says_why_and_changes_nothing(seed: Any, options: dict[str, Any], message: str) -> None:
    env = started(Rules(ramp=(3, 2, 1)))
    moves = play(env, 1, 25)
    before = everything(env)
    with pytest.raises(ValueError, match=message):
        env.reset(seed=seed, options=options)
    assert everything(env) == before
    untouched = started(Rules(ramp=(3, 2, 1)))
    repeat(untouched, moves)
    play(env, 2)
    play(untouched, 2)
    assert everything(env) == everything(untouched)


def test_a_first_reset_that_is_refused_does_not_count() -> None:
    env = ohhell_v0.env()
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=-1)
    with pytest.raises(AssertionError, match=re.escape("reset() needs to be called before step")):
        env.step(0)


# --- state() and the other doors ---------------------------------------------------------------------------------


def test_the_state_is_every_hand_and_the_first_seats_view_with_all_bids_open(short: Rules) -> None:
    env = started(short)
    rng = np.random.default_rng(9)
    while not over(env):
        state, game = env.state(), env.game
        assert state.shape == (7 * 52 + OBSERVATION_SIZE,) == env.state_space.shape
        assert state.dtype == np.int8 and env.state_space.contains(state)
        hands = state[: 7 * 52].reshape(7, 52)
        assert [tuple(np.flatnonzero(hand).tolist()) for hand in hands] == [*game.hands, *[()] * (7 - short.players)]
        facts, seen = decode(state[7 * 52 :]), decode(env.observe("player_0")["observation"])
        assert facts["bids"] == list(game.bids)
        assert facts["taken"] == list(game.taken)
        open_only = {"bids", "need", "bid_sum"}
        assert {key: facts[key] for key in facts.keys() - open_only} == {
            key: seen[key] for key in seen.keys() - open_only
        }
        play(env, rng, 1)


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


@pytest.mark.parametrize("reward", REWARDS)
def test_the_simulator_plays_the_match_of_the_environment(rules: Rules, reward: str) -> None:
    env = started(rules, seed=123, reward=reward)
    simulator = Simulator(rules, 1, seed=[123], reward=reward)
    batch = simulator.current()
    rng = np.random.default_rng(10)
    for _ in range(3 if rules.num_hands < 5 else 1):
        while not over(env):
            observation = env.last()[0]
            assert np.array_equal(batch.observation[0], observation["observation"])
            assert np.array_equal(batch.action_mask[0], observation["action_mask"])
            assert env.agent_selection == f"player_{batch.player[0]}"
            batch = simulator.step(play(env, rng, 1))
            assert batch.reward[0].tolist() == pytest.approx(list(env.rewards.values()), abs=1e-5)
            assert bool(batch.match_over[0]) == over(env)
        env.reset()
        assert record_of(env.games) == record_of(simulator.games), "both go on to the same next match"
