"""Reading a drawn table: which card, or back, lies where."""

from __future__ import annotations

from functools import cache

import numpy as np

from ohhell_env.render.faces import RATIO, card_picture
from ohhell_env.render.paint import PAPER, pygame
from ohhell_env.render.scene import Scene
from ohhell_env.render.table import TablePainter
from ohhell_env.rules.cards import FIVE_HUNDRED, NUM_CARDS, OH_SH, STANDARD

DECK = list(STANDARD.names)
EXTRA = [*FIVE_HUNDRED.names[NUM_CARDS:], *OH_SH.names[NUM_CARDS:]]


@cache
def corner(name: str | None, width: int) -> np.ndarray:
    """The pixels of a card's upper left corner, which overlapping cards leave visible."""
    card = pygame.Surface((width, round(width * RATIO)))
    card.fill(PAPER)
    card.blit(card_picture(name, width), (0, 0), special_flags=pygame.BLEND_PREMULTIPLIED)
    return cut(pygame.surfarray.array3d(card).swapaxes(0, 1), 0, 0)


def cut(pixels: np.ndarray, x: float, y: float) -> np.ndarray:
    left, top = round(x), round(y)
    return pixels[top + 4 : top + 30, left + 4 : left + 13].astype(int)


def read_card(frame: np.ndarray, place: tuple[float, float, float]) -> str | None:
    """The one card, or back, whose corner is at a place of a picture."""
    x, y, width = place
    seen = cut(frame, x, y)
    names = [*DECK, *EXTRA, None]
    matches = [name for name in names if np.abs(seen - corner(name, round(width))).max() <= 2]
    assert len(matches) == 1, f"{matches} at {place}"
    return matches[0]


def read_hands(painter: TablePainter, frame: np.ndarray, scene: Scene) -> dict[int, tuple[str | None, ...]]:
    return {
        seat: tuple(read_card(frame, place) for place in painter.hand_box(scene.seats[seat], spot))
        for seat, spot in painter.places(scene)
    }
