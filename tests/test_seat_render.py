"""The seat environments drawn: pictures and windows of what the seat sees, through Gymnasium's own wrappers too."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import RenderCollection

from ohhell_env import Rules, SeatEnv, SeatVectorEnv
from ohhell_env.render.grid import GridPainter
from ohhell_env.render.scene import scene_of
from ohhell_env.render.table import TablePainter

TWO_HANDS = Rules(ramp=(2, 1))


def first(mask: Any) -> int:
    return int(np.flatnonzero(mask)[0])


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def test_a_seat_is_drawn_as_it_sees_the_table() -> None:
    env: Any = gymnasium.make("OhHell-v0", rules=TWO_HANDS, seat=2, opponents="random", render_mode="rgb_array")
    env.reset(seed=3)
    picture = env.render()
    assert picture.shape == (800, 1280, 3) and picture.dtype == np.uint8
    game = env.unwrapped.game
    np.testing.assert_array_equal(picture, TablePainter().frame(scene_of(game, 2)))
    assert not np.array_equal(picture, TablePainter().frame(scene_of(game, None)))
    env.close()


def test_gymnasiums_wrappers_collect_the_pictures_of_a_match() -> None:
    env: Any = RenderCollection(
        gymnasium.make("OhHell-v0", rules=TWO_HANDS, opponents="random", render_mode="rgb_array", seat="rotate")
    )
    _, info = env.reset(seed=3)
    over, steps = False, 0
    while not over:
        _, _, over, _, info = env.step(first(info["action_mask"]))
        steps += 1
    frames = env.render()
    assert len(frames) == steps + 1
    assert len({frame.tobytes() for frame in frames}) > 1


def test_a_window_shows_every_decision_and_closes() -> None:
    env = SeatEnv(TWO_HANDS, opponents="random", render_mode="human")
    _, info = env.reset(seed=3)
    over = False
    while not over:
        _, _, over, _, info = env.step(first(info["action_mask"]))
    assert env._hands_shown == 2
    window = env._drawing
    env.close()
    assert window.closed and env._drawing is None


def test_the_vector_form_gives_a_picture_of_each_match_and_a_grid_of_a_few() -> None:
    envs: Any = gymnasium.make_vec(
        "OhHell-v0",
        num_envs=3,
        vectorization_mode="vector_entry_point",
        rules=TWO_HANDS,
        opponents="random",
        seat="rotate",
        render_mode="rgb_array",
    )
    with pytest.raises(gymnasium.error.ResetNeeded, match="no match to show"):
        envs.render()
    envs.reset(seed=3)
    frames = envs.render()
    assert len(frames) == envs.num_envs and all(frame.shape == (400, 640, 3) for frame in frames)
    for i, frame in enumerate(frames):
        alone = scene_of(envs.unwrapped.simulator[i], int(envs.unwrapped.seats[i]))
        np.testing.assert_array_equal(frame, TablePainter(640).frame(alone))
    grid = envs.unwrapped.grid(3)
    assert grid.shape == (800, 1280, 3)
    np.testing.assert_array_equal(grid[:400, :640], frames[0])
    np.testing.assert_array_equal(grid[:400, 640:], frames[1])
    np.testing.assert_array_equal(grid[400:, :640], frames[2])
    with pytest.raises(ValueError, match="tables=4 is not allowed; use 1 to 3"):
        envs.unwrapped.grid(4)
    with pytest.raises(ValueError, match="tables=0"):
        GridPainter(0)
    envs.close()


def test_a_window_shows_the_first_matches() -> None:
    envs = SeatVectorEnv(11, TWO_HANDS, opponents="random", render_mode="human")
    _, infos = envs.reset(seed=3)
    envs.step(np.array([first(mask) for mask in infos["action_mask"]]))
    window = envs._drawing
    assert window.tables == 9
    envs.close()
    assert window.closed


def test_an_unknown_render_mode_is_refused() -> None:
    for make in (SeatEnv, SeatVectorEnv):
        with pytest.raises(ValueError, match="render_mode='rgb' is not known; use one of"):
            make(rules=TWO_HANDS, render_mode="rgb")
