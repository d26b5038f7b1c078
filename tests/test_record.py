"""``ohhell record``: matches as an offline dataset, read back by Minari itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ohhell_env import Rules, ohhell_v0
from ohhell_env.commands.record import episodes, main
from ohhell_env.options import UsageError

TABLE = ["--set", "ramp=3,1", "--seats", "3"]


def test_an_episode_is_the_match_as_the_seat_lived_it() -> None:
    """Played again in the AEC environment, action by action: the same observations, masks and points."""
    rules = Rules(3, (3, 1))
    (whole,) = episodes(rules, ["heuristic", "random", "search:5"], 4, seed=3)
    assert len(whole) == 12
    for match in range(4):
        seats = whole[3 * match : 3 * match + 3]
        assert [one.seat for one in seats] == [0, 1, 2] and len({one.seed for one in seats}) == 1
        env = ohhell_v0.env(rules)
        env.reset(seed=seats[0].seed)
        at = [0, 0, 0]
        for agent in env.agent_iter():
            observation, _, termination, _, _ = env.last()
            seat = env.possible_agents.index(agent)
            if termination:
                assert np.array_equal(seats[seat].observations[-1], observation["observation"])
                env.step(None)
                continue
            assert np.array_equal(seats[seat].observations[at[seat]], observation["observation"])
            assert np.array_equal(seats[seat].masks[at[seat]], observation["action_mask"])
            env.step(int(seats[seat].actions[at[seat]]))
            at[seat] += 1
        scores = env.unwrapped.game.scores
        assert at == [6, 6, 6] and [one.rewards.sum() for one in seats] == list(scores)
        assert all(len(one.rewards) == 6 and not one.masks[-1].any() for one in seats)


def test_points_come_with_the_last_decision_of_their_hand() -> None:
    (whole,) = episodes(Rules(3, (2, 1)), ["heuristic"], 8)
    for one in whole:
        assert not one.rewards[[0, 1, 3]].any(), "a hand of n cards is a bid and n cards"
    assert any(one.rewards[2] for one in whole) and any(one.rewards[4] for one in whole)


def test_where_the_lowest_total_wins_returns_are_minus_the_points() -> None:
    rewards = [
        [one.rewards.sum() for one in next(episodes(Rules(3, (2,), lowest_wins=lowest), ["random"], 8))]
        for lowest in (False, True)
    ]
    assert rewards[0] == [-one for one in rewards[1]] and any(rewards[0])


def test_players_move_on_by_a_seat_and_one_seed_gives_one_set() -> None:
    rules, players = Rules(3, (1,)), ["heuristic", "random", "search:5"]
    (whole,) = episodes(rules, players, 3)
    assert [[one.player for one in whole[at : at + 3]] for at in (0, 3, 6)] == [
        players,
        [players[2], players[0], players[1]],
        [players[1], players[2], players[0]],
    ]
    (again,) = episodes(rules, players, 3)
    assert all(np.array_equal(one.actions, other.actions) for one, other in zip(whole, again, strict=True))
    parts = list(episodes(rules, players, 70))
    assert [len(part) for part in parts] == [64 * 3, 6 * 3]
    assert all(np.array_equal(one.actions, other.actions) for one, other in zip(whole, parts[0], strict=False))


def test_minari_reads_what_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    minari = pytest.importorskip("minari")
    folder = tmp_path / "set"
    assert main([str(folder), "--players", "heuristic", "random", "random", "--matches", "5", *TABLE]) == 0
    assert "5 matches of 3 seats" in capsys.readouterr().out
    dataset = minari.MinariDataset(str(folder))
    (expected,) = episodes(Rules(3, (3, 1)), ["heuristic", "random", "random"], 5)
    assert dataset.total_episodes == 15 and dataset.total_steps == 15 * 6
    about = dataset.storage.get_episode_metadata(range(15))
    assert [one["seed"] for one in about] == [one.seed for one in expected]
    for found, one in zip(dataset.iterate_episodes(), expected, strict=True):
        assert np.array_equal(found.observations["observation"], one.observations)
        assert np.array_equal(found.observations["action_mask"], one.masks)
        assert np.array_equal(found.actions, one.actions) and np.array_equal(found.rewards, one.rewards)
        assert found.terminations.tolist() == [False] * 5 + [True] and not found.truncations.any()
        assert found.infos["seat"].tolist() == [one.seat] * 7
        assert dataset.observation_space.contains({key: part[0] for key, part in found.observations.items()})
        assert dataset.action_space.contains(found.actions[0])
    assert list(tmp_path.iterdir()) == [folder]


def test_what_cannot_be_recorded_is_refused_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("minari")
    for arguments, told in (
        (["--players", "random", "random"], "2 players are given for 3 seats"),
        (["--players", "nobody"], "player 'nobody' is not known"),
        (["--matches", "0"], "matches=0 is not allowed"),
    ):
        assert main([str(tmp_path / "set"), *arguments, *TABLE]) == 2
        assert told in capsys.readouterr().err and not list(tmp_path.iterdir())
    (tmp_path / "set").mkdir()
    assert main([str(tmp_path / "set"), *TABLE]) == 2
    assert "is there already" in capsys.readouterr().err


def test_arguments_are_checked_before_the_first_match() -> None:
    with pytest.raises(UsageError, match="4 players are given for 3 seats"):
        episodes(Rules(3, (1,)), ["random"] * 4, 1)


def test_a_network_learns_from_a_dataset(tmp_path: Path) -> None:
    """Two hundred small matches of heuristic players are enough to agree with them far more often than by chance."""
    pytest.importorskip("minari")
    from training.examples.behaviour_cloning import main as clone

    assert main([str(tmp_path / "set"), "--matches", "200", "--seats", "3", "--set", "ramp=2"]) == 0
    found = clone(tmp_path / "set", epochs=6, width=64, held_out=0.2, bench=False)
    assert found.agreement > 0.75
