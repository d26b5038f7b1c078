"""The seat environment: one seat's match with bots in the others, alone and many at once."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from aec_play import REWARDS, SHORT, TABLES
from gymnasium.utils.env_checker import check_env

import ohhell_env
from ohhell_env import Rules, SeatEnv, SeatVectorEnv, ohhell_v0
from ohhell_env.bots import make_bot
from ohhell_env.table.text import table_text

THREE_HANDS = Rules(ramp=(3, 2, 1))


def choose(mask: np.ndarray, decision: int) -> int:
    """Some legal action, the same for the same mask and decision."""
    legal = np.flatnonzero(mask)
    return int(legal[(decision * 7 + 3) % len(legal)])


def episode(env: Any, **reset: Any) -> list[Any]:
    """An episode of some legal actions: what was seen, done and got."""
    observation, info = env.reset(**reset)
    seen: list[Any] = []
    over = False
    while not over:
        action = choose(info["action_mask"], len(seen))
        before = (observation.tolist(), info["action_mask"].tolist(), info["score"], info["seat"])
        observation, reward, over, truncated, info = env.step(action)
        assert not truncated and not info["illegal"]
        seen.append((*before, action, reward))
    return [*seen, (observation.tolist(), info["score"], info["win_share"])]


def reward_of(seen: list[Any]) -> float:
    return sum(step[-1] for step in seen[:-1])


@pytest.mark.parametrize("dict_observation", [False, True])
@pytest.mark.parametrize("seat", [2, "rotate"])
def test_it_passes_gymnasiums_own_check(dict_observation: bool, seat: Any, recwarn: Any) -> None:
    env = gymnasium.make("OhHell-v0", players=4, opponents="heuristic", seat=seat, dict_observation=dict_observation)
    check_env(env.unwrapped)
    complaints = [str(one.message) for one in recwarn if "the match ends here" not in str(one.message)]
    assert not complaints, "check_env tries illegal actions, and nothing else is to be warned of"


@pytest.mark.parametrize("name", TABLES)
def test_the_return_is_the_seats_score(name: str) -> None:
    env = SeatEnv(TABLES[name], opponents="random", seat="rotate")
    seen = episode(env, seed=5)
    assert reward_of(seen) == seen[-1][1] == env.game.scores[env.seat]
    assert seen[-1][2] == env.game.win_shares[env.seat]


@pytest.mark.parametrize("reward", REWARDS)
def test_every_kind_of_reward_adds_up_to_what_it_says(reward: str) -> None:
    env = SeatEnv(THREE_HANDS, opponents="random", reward=reward, seat=1)
    for seed in range(10):
        got = reward_of(episode(env, seed=seed))
        scores, shares = env.game.scores, env.game.win_shares
        due = {"points": scores[1], "zero_sum": scores[1] - sum(scores) / 4, "win": shares[1]}
        assert got == pytest.approx(due[reward])


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("opponents", ["heuristic", "random"])
def test_it_is_the_match_of_the_aec_environment(name: str, opponents: str) -> None:
    env, table = SeatEnv(SHORT[name], opponents=opponents, seat=1), ohhell_v0.env(SHORT[name])
    bot = make_bot(opponents)
    seen = episode(env, seed=11)
    table.reset(seed=11)
    decisions = iter(seen[:-1])
    for agent in table.agent_iter():
        observation, _, terminated, _, _ = table.last()
        if terminated:
            table.step(None)
        elif agent == "player_1":
            shown, mask, score, seat, action, _ = next(decisions)
            assert (shown, mask) == (observation["observation"].tolist(), observation["action_mask"].tolist())
            assert (score, seat) == (table.game.scores[1], 1)
            table.step(action)
        else:
            table.step(bot.action(table))
    assert next(decisions, None) is None
    assert table.game.scores == env.game.scores


def test_one_seed_is_one_episode_and_the_next_ones_follow_from_it() -> None:
    env, again = (SeatEnv(THREE_HANDS, opponents=["random", "heuristic"], pool=True, seat="rotate") for _ in range(2))
    first = [episode(env, seed=3), *(episode(env) for _ in range(5))]
    episode(again, seed=99)
    assert [episode(again, seed=3), *(episode(again) for _ in range(5))] == first
    assert len({str(one) for one in first}) == 6
    assert len({one[0][3] for one in first}) > 1, "the seat moves"


def test_deals_do_not_depend_on_opponents_nor_on_their_seed() -> None:
    deals, plays = set(), set()
    for opponents, seed in [("random", 0), ("random", 1), ("heuristic", 0)]:
        env = SeatEnv(THREE_HANDS, opponents=opponents, opponents_seed=seed)
        plays.add(str(episode(env, seed=4)))
        deals.add(tuple(hand.deal_order for hand in env.game.hands_so_far))
    assert len(deals) == 1
    assert len(plays) == 3


def test_opponents_sit_clockwise_from_the_learners_left() -> None:
    env = SeatEnv(THREE_HANDS, opponents=["random", "heuristic", "search:2"], seat="rotate")
    for seed in range(8):
        env.reset(seed=seed)
        sitting = [env._lineup[0, (env.seat + k) % 4] for k in range(4)]
        assert sitting == [-1, 0, 1, 2]
    assert [type(bot).__name__ for bot in env.lineup.bots] == ["RandomBot", "HeuristicBot", "SearchBot"]


def test_a_pool_is_drawn_from_anew_each_match() -> None:
    env = SeatEnv(THREE_HANDS, opponents=("random", "heuristic"), pool=True)
    sitting = []
    for seed in range(200):
        env.reset(seed=seed)
        sitting.append(env._lineup[0, 1:].tolist())
    assert {tuple(one) for one in sitting} == {(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)}
    assert 0.4 < np.mean(sitting) < 0.6


def test_a_rotating_seat_is_each_seat_about_equally_often_and_dealer_as_often_as_any() -> None:
    env = SeatEnv(Rules(ramp=(1,)), opponents="random", seat="rotate")
    seats = []
    for _ in range(400):
        env.reset(seed=1 if not seats else None)
        seats.append(env.seat)
    assert all(70 <= seats.count(seat) <= 130 for seat in range(4))


def test_options_give_the_deal_the_dealer_and_the_seat() -> None:
    env = SeatEnv(Rules(ramp=(2,)), opponents="random")
    deck = list(range(52))
    env.reset(seed=1, options={"deals": [deck], "dealer": 2, "seat": 3})
    assert (env.seat, env.game.dealer) == (3, 2)
    assert env.game.hands[3] == (0, 4)
    env.reset(seed=1)
    assert env.seat == 0, "an option is for one match"
    before = env.game.deal_order
    with pytest.raises(ValueError, match=r"seat=4 is not allowed; use a seat 0\.\.3"):
        env.reset(seed=2, options={"seat": 4})
    assert env.game.deal_order == before


def test_an_illegal_action_ends_the_episode_with_its_reward_and_a_warning() -> None:
    env = SeatEnv(THREE_HANDS, illegal_reward=-7)
    _, info = env.reset(seed=1)
    events = env.game.events()
    with pytest.warns(UserWarning, match=r"the match ends here: action 0 .*player_0 bids now, allowed: bid 0"):
        _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated, info["illegal"]) == (-7, True, False, True)
    assert env.game.events() == events, "nothing changed on the table"
    assert info["action_mask"].all() and env.action_masks().all(), "no distribution stumbles over an empty mask"
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    assert not env.reset()[1]["illegal"]
    episode(env)


def test_without_an_illegal_reward_an_illegal_action_is_refused_and_the_match_goes_on() -> None:
    env, clean = (SeatEnv(THREE_HANDS, illegal_reward=None) for _ in range(2))
    env.reset(seed=1)
    for wrong in (0, 51):
        with pytest.raises(ValueError, match=r"is not legal; player_0 bids now"):
            env.step(wrong)
    for nonsense in (-1, env.num_actions, 1.5, None):
        with pytest.raises(ValueError, match="is not in the action space"):
            env.step(nonsense)
    clean.reset(seed=1)
    action = choose(env.action_masks(), 0)
    mine, theirs = env.step(action), clean.step(action)
    assert mine[0].tolist() == theirs[0].tolist() and mine[1:4] == theirs[1:4]


def test_a_step_before_the_first_reset_is_refused() -> None:
    for env in (SeatEnv(), SeatVectorEnv(2)):
        with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
            env.step(0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seat": 4}, "seat=4 is not allowed; use a seat 0..3, or 'rotate'"),
        ({"seat": "left"}, "seat='left' is not allowed"),
        ({"opponents": ["random", "random"]}, "opponents names 2 players for 3 seats"),
        ({"opponents": [], "pool": True}, "opponents is empty"),
        ({"opponents": "nobody"}, "player 'nobody' is not known"),
        ({"reward": "money"}, "reward='money' is not known"),
        ({"render_mode": "rgb"}, "render_mode='rgb' is not"),
        ({"players": 99}, "players=99 is not allowed"),
    ],
)
@pytest.mark.parametrize("form", [SeatEnv, SeatVectorEnv])
def test_what_is_not_allowed_is_refused_with_what_is(form: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:
        form(**arguments)
    assert message in str(error.value)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_plays_on_alike(duplicate: Any) -> None:
    env = SeatEnv(THREE_HANDS, opponents="random", seat="rotate")
    env.reset(seed=2)
    env.step(choose(env.action_masks(), 0))
    twin = duplicate(env)
    for decision in range(5):
        action = choose(env.action_masks(), decision)
        mine, theirs = env.step(action), twin.step(action)
        assert mine[0].tolist() == theirs[0].tolist() and mine[1:3] == theirs[1:3]
    assert episode(env) == episode(twin)


def test_arrays_handed_out_are_never_written_again() -> None:
    env = SeatEnv(THREE_HANDS, opponents="random")
    kept: list[tuple[np.ndarray, bytes]] = []
    for seed in range(2):
        observation, info = env.reset(seed=seed)
        over = False
        while not over:
            kept += [(array, array.tobytes()) for array in (observation, info["action_mask"], env.action_masks())]
            observation, _, over, _, info = env.step(choose(info["action_mask"], len(kept)))
    assert all(array.tobytes() == then for array, then in kept)


def test_it_renders_what_the_seat_sees() -> None:
    env = SeatEnv(THREE_HANDS, seat=2, render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == table_text(env.game, 2) != table_text(env.game)


def test_actions_have_names() -> None:
    meanings = SeatEnv().get_action_meanings()
    assert len(meanings) == SeatEnv().action_space.n
    assert (meanings[0], meanings[52]) == ("play 2C", "bid 0")


def test_it_is_registered_with_gymnasium() -> None:
    env = gymnasium.make("OhHell-v0", rules=THREE_HANDS, opponents="random")
    assert isinstance(env.unwrapped, ohhell_env.SeatEnv)
    assert episode(env, seed=1) == episode(SeatEnv(THREE_HANDS, opponents="random"), seed=1)
