"""The drawn table: each card lies at its seat, and a seat's picture shows nothing that the seat may not know."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import RenderCollection
from pictures import DECK, EXTRA, read_card, read_hands
from tables import PLAYERS

from ohhell_env import Rules, ohhell_v0
from ohhell_env.bots import make_bot
from ohhell_env.envs.aec import OhHellEnv
from ohhell_env.render.faces import RATIO, card_picture
from ohhell_env.render.paint import GOLD, INK, PAPER, RED, pygame
from ohhell_env.render.scene import Scene, SeatScene, TrickScene, face_of, scene_of, sorted_cards
from ohhell_env.render.table import FELT, PLATE_SIZE, TablePainter, hand_places, spots
from ohhell_env.render.window import TableWindow
from ohhell_env.rules.cards import FIVE_HUNDRED, card_name, parse_cards
from ohhell_env.table.text import table_text


def at_play(players: int, tricks: int = 0, cards: int = 2, **options: Any) -> OhHellEnv:
    """A table in its second hand, some tricks and cards into it."""
    env = ohhell_v0.env(Rules(players=players, ramp=(1, 5, 3)), **options)
    env.reset(seed=players)
    bot = make_bot("heuristic")
    while env.game.hand_number < 2 or None in env.game.bids:
        env.step(bot.action(env))
    for _ in range(tricks * players + cards):
        env.step(bot.action(env))
    return env


# --- The right card at the right seat ----------------------------------------------------------------------------


@pytest.mark.parametrize("players", PLAYERS)
def test_every_hand_lies_at_its_seat(players: int) -> None:
    env, painter = at_play(players), TablePainter()
    scene = scene_of(env.game)
    hands = read_hands(painter, painter.frame(scene), scene)
    assert {seat: sorted(cards) for seat, cards in hands.items()} == {
        seat: sorted(map(card_name, cards)) for seat, cards in enumerate(env.game.hands)
    }


@pytest.mark.parametrize("players", PLAYERS)
def test_a_seat_sees_its_own_cards_and_the_backs_of_the_others(players: int) -> None:
    env, painter = at_play(players), TablePainter()
    for viewer in range(players):
        scene = scene_of(env.game, viewer)
        hands = read_hands(painter, painter.frame(scene), scene)
        assert sorted(hands.pop(viewer)) == sorted(map(card_name, env.game.hands[viewer]))
        assert {seat: len(cards) for seat, cards in hands.items()} == {
            seat: len(cards) for seat, cards in enumerate(env.game.hands) if seat != viewer
        }
        assert {card for cards in hands.values() for card in cards} == {None}


@pytest.mark.parametrize("players", PLAYERS)
def test_the_card_that_wins_is_framed_in_gold(players: int) -> None:
    painter = TablePainter()
    for tricks, cards in ((0, 1), (1, 2), (2, 0)):
        env = at_play(players, tricks, cards)
        scene = scene_of(env.game)
        frame = painter.frame(scene)
        plays, winner = (env.game.trick, env.game.winning) if cards else env.game.tricks[-1][:2]
        assert len(plays) == (cards or players)
        for seat, card in plays:
            x, y, width = painter.trick_box(scene, seat)
            edge = frame[round(y + width / 2), round(x) - 3]
            assert (tuple(edge) == GOLD) == (seat == winner)
            if cards or seat == winner:
                assert read_card(frame, (x, y, width)) == card_name(card)


@pytest.mark.parametrize("players", range(2, 11))
def test_the_viewer_sits_at_the_bottom_and_the_next_seat_to_its_left(players: int) -> None:
    places = [spot.middle for spot in spots(players)]
    assert max(places, key=lambda place: place[1]) == places[0]
    if players > 2:
        assert places[1][0] < places[0][0] < places[-1][0]
        assert places[1][1] == pytest.approx(places[-1][1])


def test_the_card_turned_up_is_shown_beside_the_table() -> None:
    env, painter = at_play(4), TablePainter()
    scene = scene_of(env.game, 0)
    assert read_card(painter.frame(scene), (FELT + 24, 98, 72)) == card_name(env.game.turned)


def test_only_the_seat_to_act_has_a_golden_plate() -> None:
    env, painter = at_play(5), TablePainter()
    for _ in range(5):
        scene = scene_of(env.game, 0)
        frame = painter.frame(scene)
        for seat, spot in painter.places(scene):
            edge = frame[round(spot.middle[1] + 23), round(spot.middle[0])].astype(int)
            assert (np.abs(edge - GOLD).max() < 40) == (seat == env.game.player)
        env.step(env.game.legal_actions[0])


# --- Room for every table ----------------------------------------------------------------------------------------


def crowd(players: int, size: int, trick: int | None = None) -> Scene:
    """A table that no deal need have made: every seat holds the same cards, open."""
    cards = tuple((EXTRA + DECK * 2)[:size])
    seats = tuple(
        SeatScene(f"search+policy:name_{seat}:20", cards, seat, 1, 100.0 - seat, 10.0, seat == 0, seat == 1, False)
        for seat in range(players)
    )
    plays = tuple((seat, DECK[seat]) for seat in range(players))
    return Scene(
        None, "play", 1, 9, size, 3, "QS", seats, TrickScene(plays[:trick], 1), TrickScene(plays, players - 1), 1
    )


def boxes_of(painter: TablePainter, scene: Scene) -> list[pygame.Rect]:
    """What each seat covers: its cards and its plate."""
    found = []
    for seat, spot in painter.places(scene):
        plate = pygame.Rect(spot.middle[0] - PLATE_SIZE[0] / 2, spot.middle[1] + 23, *PLATE_SIZE)
        cards = [pygame.Rect(x, y, w, w * RATIO) for x, y, w in painter.hand_box(scene.seats[seat], spot)]
        found.append(plate.unionall(cards))
    return found


@pytest.mark.parametrize("players", range(2, 11))
def test_no_seat_covers_another_nor_the_trick_nor_leaves_the_table(players: int) -> None:
    painter = TablePainter()
    scene = crowd(players, min(104 // players, 26))
    boxes = boxes_of(painter, scene)
    assert not [pair for pair in combinations(boxes, 2) if pair[0].colliderect(pair[1])]
    assert all(pygame.Rect(0, 0, FELT, 800).contains(box) for box in boxes)
    trick = [painter.trick_box(scene, seat) for seat in range(players)]
    cards = [pygame.Rect(x, y, w, w * RATIO) for x, y, w in trick]
    assert not [pair for pair in combinations(cards, 2) if pair[0].inflate(-2, -2).colliderect(pair[1])]
    assert not [card for card in cards if card.collidelist(boxes) >= 0]


@pytest.mark.parametrize(("players", "size"), [(2, 26), (4, 26), (3, 17), (7, 14), (10, 10)])
def test_every_card_of_the_largest_hands_can_be_read(players: int, size: int) -> None:
    painter, scene = TablePainter(), crowd(players, size)
    frame = painter.frame(scene)
    for seat, spot in painter.places(scene):
        corners = [(x, y) for x, y, _ in painter.hand_box(scene.seats[seat], spot)]
        assert len(set(corners)) == size
        for (x, y), name in zip(corners, scene.seats[seat].cards, strict=True):
            assert read_card(frame, (x, y, spot.card)) == name


def test_a_hand_without_cards_takes_no_place() -> None:
    assert hand_places(0, 52, 200) == []


@pytest.mark.parametrize("width", [480, 1600])
def test_pictures_come_in_every_size(width: int) -> None:
    frame = TablePainter(width).frame(crowd(4, 5))
    assert frame.shape == (width * 5 // 8, width, 3)
    assert (frame == PAPER).all(axis=2).any()


def test_a_picture_too_small_to_be_read_is_refused() -> None:
    with pytest.raises(ValueError, match="width=100 is not allowed; use 480"):
        TablePainter(100)


# --- Faces -------------------------------------------------------------------------------------------------------


def test_a_face_has_the_index_and_the_suit_of_its_name() -> None:
    faces = [face_of(name) for name in ("2C", "TD", "AS", "11H", "13D", "SS", "*", "*S")]
    assert [(face.index, face.suit) for face in faces] == [
        ("2", 0), ("10", 1), ("A", 3), ("11", 2), ("13", 1), ("S", 3), ("JOKER", None), ("JOKER S", None),
    ]  # fmt: skip


@pytest.mark.parametrize("width", [40, 52, 84])
def test_no_two_cards_look_alike_and_suits_have_their_colours(width: int) -> None:
    pictures = {}
    for name in [*DECK, *EXTRA, None]:
        pixels = pygame.surfarray.array3d(card_picture(name, width)).astype(int)
        pictures[pixels.tobytes()] = name
        if name in DECK:
            red, ink = (np.abs(pixels - colour).max(axis=2) < 12 for colour in (RED, INK))
            red_suit = name[-1] in "DH"
            corner_of = (slice(3, width // 3), slice(3, width // 2))
            assert (red[corner_of].any(), ink[corner_of].any()) == (red_suit, not red_suit)
    assert len(pictures) == len(DECK) + len(EXTRA) + 1


def test_hands_are_held_trumps_first_and_high_cards_first() -> None:
    cards = parse_cards("2C AH TH * 3D KS JH AS 11H", FIVE_HUNDRED)
    held = [FIVE_HUNDRED.names[card] for card in sorted_cards(cards, FIVE_HUNDRED, trump=1)]
    assert " ".join(held) == "* 3D AS KS AH JH 11H TH 2C"


# --- Secrets -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", PLAYERS)
def test_a_seats_picture_does_not_change_with_what_is_hidden_from_it(players: int) -> None:
    env = ohhell_v0.env(players=players, render_mode="rgb_array")
    env.reset(seed=1)
    for _ in range(players - 1):  # all but the dealer have made their sealed bids
        env.step(env.game.legal_actions[0])
    env.viewer = 0
    seen = env.render()
    env.viewer = None
    everything = env.render()
    record = env.games[0]
    record["hands"][[1, 2]] = record["hands"][[2, 1]]
    record["bids"][1] += 1
    assert (env.render() != everything).any()
    env.viewer = 0
    np.testing.assert_array_equal(env.render(), seen)


def test_a_viewer_that_is_no_seat_is_refused_and_nothing_is_drawn() -> None:
    env = at_play(4, render_mode="rgb_array")
    env.viewer = 4
    with pytest.raises(ValueError, match=r"viewer=4 is not a seat; seats are 0..3"):
        env.render()


def test_text_too_is_drawn_for_the_viewer() -> None:
    env = ohhell_v0.env(render_mode="ansi")
    env.reset(seed=1)
    env.step(env.game.legal_actions[0])
    env.viewer = 0
    assert "bid ?" in env.render()
    assert env.render() == table_text(env.game, 0)


# --- In the environment ------------------------------------------------------------------------------------------


def test_drawing_changes_nothing_and_draws_each_card_once() -> None:
    env = at_play(4, render_mode="rgb_array")
    first = env.render()
    before, drawn = env.games.tobytes(), card_picture.cache_info().misses
    again = env.render()
    assert env.games.tobytes() == before
    assert card_picture.cache_info().misses == drawn
    assert again is not first
    np.testing.assert_array_equal(again, first)
    assert (first.shape, first.dtype) == ((800, 1280, 3), np.uint8)


def test_an_environment_that_has_drawn_can_be_copied_and_saved() -> None:
    env = at_play(4, render_mode="rgb_array")
    picture = env.render()
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        np.testing.assert_array_equal(twin.render(), picture)


class OneTable(gymnasium.Env[int, int]):
    """All seats of one table as a Gymnasium environment, for Gymnasium's recording wrappers."""

    metadata = OhHellEnv.metadata
    observation_space = action_space = spaces.Discrete(1)
    render_mode = "rgb_array"

    def __init__(self) -> None:
        self.table = ohhell_v0.env(Rules(ramp=(2, 1)), render_mode="rgb_array")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        self.table.reset(seed)
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.table.step(self.table.game.legal_actions[0])
        return 0, 0.0, not self.table.agents or all(self.table.terminations.values()), False, {}

    def render(self) -> Any:
        return self.table.render()


def test_gymnasiums_wrappers_record_a_match_frame_by_frame() -> None:
    env = RenderCollection(OneTable())
    env.reset(seed=1)
    steps, over = 0, False
    while not over:
        _, _, over, _, _ = env.step(0)
        steps += 1
    frames = np.stack(env.render())
    assert frames.shape == (steps + 1, 800, 1280, 3)
    assert all((a != b).any() for a, b in pairwise(frames))


def test_a_window_shows_every_step_and_the_last_trick_of_every_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Scene] = []
    show = TableWindow.show
    monkeypatch.setattr(TableWindow, "show", lambda self, scene: shown.append(scene) or show(self, scene))
    env = ohhell_v0.env(Rules(ramp=(1, 2)), render_mode="human")
    env.reset(seed=1)
    while not all(env.terminations.values()):
        env.step(env.game.legal_actions[0])
    assert pygame.display.get_surface().get_size() == (1280, 800)
    phases = [scene.phase for scene in shown]
    assert phases.count("hand over") == phases.count("match over") == 1
    assert all(scene.trick.plays or scene.last_trick for scene in shown if "over" in scene.phase)
    env.close()
    assert not pygame.display.get_init()
    assert env.render() is None, "the window opens again when it is asked for"
    env.close()


def test_a_closed_window_stays_closed_and_the_match_goes_on() -> None:
    env = ohhell_v0.env(Rules(ramp=(1,)), render_mode="human")
    env.reset(seed=1)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    while not all(env.terminations.values()):
        env.step(env.game.legal_actions[0])
    assert not pygame.display.get_init()


def test_without_pygame_the_error_names_the_extra() -> None:
    code = "import sys; sys.modules['pygame'] = None; import ohhell_env.render.paint"
    root = Path(__file__).resolve().parent.parent
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert 'ModuleNotFoundError: drawing tables needs pygame: pip install "ohhell-env[render]"' in run.stderr
