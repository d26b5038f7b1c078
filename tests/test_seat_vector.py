"""Many seats at once: the matches are those of the single form, whatever stands beside them."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from aec_play import REWARDS, SHORT
from test_seat import THREE_HANDS, choose, episode

from ohhell_env import Rules, SeatEnv, SeatVectorEnv

N = 6
LINEUPS: dict[str, dict[str, Any]] = {
    "heuristic": {"opponents": "heuristic"},
    "random, rotating": {"opponents": "random", "seat": "rotate"},
    "a pool, rotating": {"opponents": ["random", "heuristic"], "pool": True, "seat": "rotate", "opponents_seed": 5},
}


def vector_episodes(envs: SeatVectorEnv, steps: int, **reset: Any) -> list[list[Any]]:
    """So many steps of the actions that `episode` takes; each game's episodes as `episode` tells them."""
    observation, infos = envs.reset(**reset)
    games: list[list[Any]] = [[[]] for _ in range(len(observation))]
    for _ in range(steps):
        actions = [choose(mask, len(game[-1])) for mask, game in zip(infos["action_mask"], games, strict=True)]
        before = [
            (observation[i].tolist(), infos["action_mask"][i].tolist(), infos["score"][i], infos["seat"][i])
            for i in range(len(games))
        ]
        observation, reward, over, truncated, infos = envs.step(np.array(actions))
        assert not truncated.any()
        for i, game in enumerate(games):
            game[-1].append((*before[i], actions[i], reward[i]))
            if over[i]:
                final = infos["final_info"]
                assert final["_score"][i] and infos["_final_obs"][i] and not final["illegal"][i]
                ended = (infos["final_obs"][i].tolist(), final["score"][i], final["win_share"][i])
                game[-1].append(ended)
                game.append([])
    return games


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("lineup", LINEUPS)
def test_one_seed_is_the_same_matches_in_both_forms(name: str, lineup: str) -> None:
    envs = SeatVectorEnv(N, SHORT[name], **LINEUPS[lineup])
    for i, game in enumerate(vector_episodes(envs, 40, seed=21)):
        env = SeatEnv(SHORT[name], **LINEUPS[lineup])
        assert len(game) > 1
        for number, seen in enumerate(game):
            alone = episode(env, seed=21 + i if number == 0 else None)
            assert seen == alone[: len(seen)], "the last of them may be unfinished"


@pytest.mark.parametrize("reward", REWARDS)
def test_kinds_of_reward_are_those_of_the_single_form(reward: str) -> None:
    game = vector_episodes(SeatVectorEnv(1, THREE_HANDS, reward=reward, opponents="random"), 9, seed=3)[0]
    assert game[0] == episode(SeatEnv(THREE_HANDS, reward=reward, opponents="random"), seed=3)


def test_a_match_does_not_depend_on_its_neighbours() -> None:
    many = SeatVectorEnv(N, THREE_HANDS, opponents="random", seat="rotate")
    one = SeatVectorEnv(1, THREE_HANDS, opponents="random", seat="rotate")
    assert vector_episodes(one, 30, seed=[24]) == vector_episodes(many, 30, seed=21)[3:4]


def test_gymnasium_makes_it_and_knows_how_it_resets() -> None:
    envs = gymnasium.make_vec(
        "OhHell-v0", num_envs=3, vectorization_mode="vector_entry_point", players=5, opponents="random"
    )
    assert isinstance(envs, SeatVectorEnv)
    assert envs.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP
    observation, infos = envs.reset(seed=1)
    assert observation in envs.observation_space
    assert np.array([choose(mask, 0) for mask in infos["action_mask"]]) in envs.action_space
    names = ["action_mask", "score", "win_share", "seat", "illegal"]
    assert [name for name in infos if not name.startswith("_")] == names
    assert all(infos[f"_{name}"].all() for name in infos if not name.startswith("_"))


def test_it_tells_what_gymnasiums_own_vector_form_tells() -> None:
    ours = SeatVectorEnv(3, THREE_HANDS, opponents="random")
    theirs = gymnasium.make_vec(
        "OhHell-v0",
        num_envs=3,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP},
        rules=THREE_HANDS,
        opponents="random",
    )
    seen = [ours.reset(seed=7), theirs.reset(seed=7)]
    for decision in range(30):
        (mine, my_infos), (other, other_infos) = seen
        assert np.array_equal(mine, other)
        assert set(my_infos) == set(other_infos)
        for key in ("action_mask", "score", "win_share", "seat", "illegal"):
            assert np.array_equal(my_infos[key], other_infos[key])
        if "final_info" in my_infos:
            assert set(my_infos["final_info"]) == set(other_infos["final_info"])
            for i in np.flatnonzero(my_infos["_final_obs"]):
                assert np.array_equal(my_infos["final_obs"][i], other_infos["final_obs"][i])
                for key in ("action_mask", "score", "win_share", "seat", "illegal"):
                    assert np.array_equal(my_infos["final_info"][key][i], other_infos["final_info"][key][i])
        actions = np.array([choose(mask, decision) for mask in my_infos["action_mask"]])
        steps = [ours.step(actions), theirs.step(actions)]
        assert all(np.array_equal(one, two) for one, two in zip(steps[0][1:4], steps[1][1:4], strict=True))
        seen = [(step[0], step[4]) for step in steps]


def test_an_illegal_action_ends_that_match_alone() -> None:
    envs, clean = (SeatVectorEnv(3, THREE_HANDS, opponents="random", illegal_reward=-3) for _ in range(2))
    clean.reset(seed=1)
    masks = envs.reset(seed=1)[1]["action_mask"]
    legal = np.array([choose(mask, 0) for mask in masks])
    wrong = np.array([legal[0], 0, legal[2]])
    observation, reward, over, truncated, infos = envs.step(wrong)
    expected = clean.step(legal)
    assert over.tolist() == [False, True, False] and not truncated.any()
    assert reward.tolist() == [0, -3, 0]
    assert infos["final_info"]["illegal"].tolist() == [False, True, False]
    assert infos["final_info"]["action_mask"][1].all()
    assert np.array_equal(observation[[0, 2]], expected[0][[0, 2]])
    assert envs.action_masks().any(axis=1).all()
    assert infos["action_mask"][1].sum() > 1, "the next match's first bid"


def test_without_an_illegal_reward_an_illegal_action_is_refused_and_no_match_changes() -> None:
    envs = SeatVectorEnv(3, THREE_HANDS, opponents="random", illegal_reward=None)
    _, infos = envs.reset(seed=1)
    actions = np.array([choose(mask, 0) for mask in infos["action_mask"]])
    games = envs.simulator.games.copy()
    with pytest.raises(ValueError, match=r"game 1: action 3 .* is not legal; player_0 bids now"):
        envs.step(np.array([actions[0], 3, actions[2]]))
    for bad in ([0, 0], [0.5] * 3, actions[:2]):
        with pytest.raises(ValueError, match="actions must be 3 whole numbers"):
            envs.step(np.array(bad))
    with pytest.raises(ValueError, match="game 2: action -1 is not in the action space"):
        envs.step(np.array([actions[0], actions[1], -1]))
    assert np.array_equal(envs.simulator.games, games)
    envs.step(actions)


def test_rows_of_the_mask_are_never_empty_and_arrays_are_never_written_again() -> None:
    envs = SeatVectorEnv(5, Rules(ramp=(1, 2)), opponents="random", dict_observation=True)
    observation, infos = envs.reset(seed=4)
    kept: list[tuple[np.ndarray, bytes]] = []
    for decision in range(20):
        masks = envs.action_masks()
        assert masks.any(axis=1).all()
        assert np.array_equal(observation["action_mask"], masks) and np.array_equal(infos["action_mask"], masks)
        arrays = [*observation.values(), infos["action_mask"], infos["score"], infos["seat"], masks]
        kept += [(array, array.tobytes()) for array in arrays]
        observation, _, _, _, infos = envs.step(np.array([choose(mask, decision) for mask in masks]))
    assert all(array.tobytes() == then for array, then in kept)


def test_a_reset_without_a_seed_continues_each_games_stream() -> None:
    envs, again = (SeatVectorEnv(4, THREE_HANDS, opponents="random") for _ in range(2))
    for one in (envs, again):
        one.reset(seed=9)
    first, second = envs.reset()[0], again.reset()[0]
    assert np.array_equal(first, second)
    assert not np.array_equal(first, envs.reset(seed=9)[0])
    assert not np.array_equal(SeatVectorEnv(4).reset()[0], SeatVectorEnv(4).reset()[0]), "never seeded"
