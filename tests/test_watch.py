"""Looking on: every action is shown, pictures and animations are what the table was, keys do what they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ohhell_env import Rules
from ohhell_env.commands.watch import main, save_animation, scenes, show_window
from ohhell_env.records.match import Match
from ohhell_env.records.notation import load_record
from ohhell_env.render.paint import pygame
from ohhell_env.render.scene import Scene
from ohhell_env.render.table import TablePainter

RULES = Rules(players=3, ramp=(2, 1))
BOTS = ["heuristic", "random", "heuristic"]
ACTIONS = 3 * (1 + 2) + 3 * (1 + 1)


def watched(**options: int) -> list[Scene]:
    return list(scenes(Match(RULES, seed=1), BOTS, **options))


def test_every_action_and_the_end_of_every_hand_is_shown() -> None:
    phases = [scene.phase for scene in watched()]
    assert len(phases) == 1 + ACTIONS + 1
    assert (phases.count("hand over"), phases[-1]) == (1, "match over")


def test_one_may_begin_with_a_later_hand_and_sit_with_one_seat() -> None:
    later = watched(first_hand=2, viewer=1)
    assert {scene.hand_number for scene in later} == {2}
    assert len(later) == 1 + 6
    assert {scene.viewer for scene in later} == {1}
    assert all(card is None for scene in later for card in scene.seats[0].cards)


def test_who_looks_on_sees_no_hands_and_totals_only_where_they_are_shown() -> None:
    shown = list(scenes(Match(RULES, seed=1), BOTS, viewer="table", totals=False))
    assert {scene.viewer for scene in shown} == {None}
    assert all(card is None for scene in shown for seat in scene.seats for card in seat.cards)
    assert {seat.score for scene in shown for seat in scene.seats} == {None}
    assert any(seat.bid == "hidden" for scene in shown for seat in scene.seats)
    frame = TablePainter(640).frame(shown[3])
    assert not np.array_equal(frame, TablePainter(640).frame(watched()[3]))


def test_a_saved_picture_is_the_table_as_it_stood(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture, record = tmp_path / "match.png", tmp_path / "match.jsonl"
    arguments = ["heuristic", "random", "--players", "3", "--seed", "5", "--scenes", "9", "--width", "640"]
    assert main([*arguments, "--save", str(picture), "--record", str(record)]) == 0
    *_, last = (scene for scene, _ in zip(scenes(Match(Rules(players=3), 5), BOTS, 5), range(9)))
    saved = pygame.surfarray.array3d(pygame.image.load(picture)).swapaxes(0, 1)
    np.testing.assert_array_equal(saved, TablePainter(640).frame(last))
    assert load_record(record).trick
    assert sorted(file.name for file in tmp_path.iterdir()) == ["match.jsonl", "match.jsonl.players", "match.png"]
    assert "hand 1 of 33" in capsys.readouterr().out


def test_an_animation_has_a_frame_for_each_scene_and_lingers_where_a_hand_ends(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    shown = watched()
    assert save_animation(iter(shown), tmp_path / "match.gif", fps=4, width=480) == len(shown)
    animation = image.open(tmp_path / "match.gif")
    assert (animation.n_frames, animation.size) == (len(shown), (480, 300))
    times = []
    for number, scene in enumerate(shown):
        animation.seek(number)
        times.append(animation.info["duration"])
        difference = np.abs(np.asarray(animation.convert("RGB")).astype(int) - TablePainter(480).frame(scene))
        assert np.percentile(difference, 99.5) < 24, "a palette of 160 colours is near enough"
    assert times == [750 if "over" in scene.phase else 250 for scene in shown]
    with pytest.raises(ValueError, match="nothing to show"):
        save_animation(iter(()), tmp_path / "none.gif", fps=4)


def press(*keys: int) -> None:
    for key in keys:
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key))


def shown_until_closed(*keys: int) -> int:
    """How many scenes a window shows when these keys are pressed before the first."""
    pygame.display.init()
    press(*keys)
    taken = []
    show_window((taken.append(scene) or scene for scene in watched()), fps=2)
    assert not pygame.display.get_init()
    return len(taken)


def test_a_window_runs_to_the_end_and_q_closes_it() -> None:
    everything = shown_until_closed()
    assert everything == ACTIONS + 2
    assert shown_until_closed(pygame.K_q) == 1
    assert shown_until_closed(pygame.K_SPACE, pygame.K_q) == 1
    assert shown_until_closed(pygame.K_UP, pygame.K_DOWN) == everything


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], "player 'nobody' is not known"),
        (["random", "--viewer", "4"], "--viewer 4 is not a seat; seats are 0..3, or table: no hands"),
        (["random", "--viewer", "tables"], "--viewer tables is not a seat"),
        (["random", "--hand", "26"], "--hand 26 is not a hand of this match; use 1 to 25"),
        (["random"] * 5, "5 players for 4 seats"),
        (["random", "--fps", "0"], "--fps must be above 0"),
        (["random", "--save", "none.png", "--scenes", "0"], "--scenes 1 or more"),
    ],
)
def test_a_bad_option_is_refused_by_name(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")
