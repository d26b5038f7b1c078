"""A match in the AEC environment: rewards, reset's options, the state, and the simulator's match of the same seed."""

import re
from typing import Any

import numpy as np
import pytest
from aec_play import REWARDS, SHORT, TABLES, drain, everything, over, play, record_of, repeat, started

from ohhell_env import Rules, Simulator, ohhell_v0
from ohhell_env.observation.decode import decode
from ohhell_env.observation.standard import OBSERVATION_SIZE
from ohhell_env.rules.cards import STANDARD_DECK, card_name
from ohhell_env.table.text import table_text


@pytest.fixture(params=TABLES, ids=str)
def rules(request: pytest.FixtureRequest) -> Rules:
    return TABLES[request.param]


@pytest.fixture(params=SHORT, ids=str)
def short(request: pytest.FixtureRequest) -> Rules:
    return SHORT[request.param]


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
    assert play(given, 1) == play(env, 1)
    assert everything(given) == everything(env), "decks are given for one match; the stream goes on as without them"


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


@pytest.mark.parametrize("deals", [5, [5], [None], [[None] * 52], [[float("inf")] * 52]], ids=repr)
def test_deals_of_the_wrong_type_are_refused_by_name(deals: Any) -> None:
    with pytest.raises(ValueError, match=r"deals|deck"):
        ohhell_v0.env().reset(seed=1, options={"deals": deals})


def test_a_first_reset_that_is_refused_does_not_count() -> None:
    env = ohhell_v0.env()
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=-1)
    with pytest.raises(AssertionError, match=re.escape("reset() needs to be called before step")):
        env.step(0)


def test_a_view_of_the_table_shows_one_match() -> None:
    env = started(Rules(ramp=(2, 1)))
    view = env.game
    play(env, 1)
    env.reset(seed=8)
    assert [hand.hand_number for hand in view.past_hands] == [1, 2] and view.hand_number == 2


@pytest.mark.parametrize("viewer", [4, -1])
def test_only_a_seat_of_the_table_has_a_view_of_it(viewer: int) -> None:
    with pytest.raises(ValueError, match="is not a seat"):
        table_text(started().game, viewer)


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
