"""Drawing with pygame: smooth shapes, suits and text, each made once and kept. The one place that imports pygame."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import pairwise

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
try:
    import pygame as pygame  # the other files of the drawing take it from here
except ModuleNotFoundError as error:
    if error.name != "pygame":
        raise
    raise ModuleNotFoundError('drawing tables needs pygame: pip install "ohhell-env[render]"', name="pygame") from None

Colour = tuple[int, int, int]
Point = tuple[float, float]
Outline = Sequence[Point]

SMOOTH = 4  # shapes are drawn this many times larger and then reduced

INK: Colour = (31, 33, 38)
RED: Colour = (184, 40, 46)
PAPER: Colour = (250, 247, 240)
GOLD: Colour = (236, 190, 92)
CREAM: Colour = (240, 236, 224)
MUTED: Colour = (157, 172, 166)
GREEN: Colour = (134, 204, 142)
ROSE: Colour = (230, 134, 122)
PANEL: Colour = (24, 30, 33)
PLATE: Colour = (21, 38, 35)
LINE: Colour = (53, 63, 66)


def suit_colour(suit: int | None) -> Colour:
    """Red for diamonds and hearts, ink for the others."""
    return RED if suit in (1, 2) else INK


def reduced(size: tuple[int, int], draw: Callable[[pygame.Surface, float], object]) -> pygame.Surface:
    """A surface of ``size`` drawn `SMOOTH` times larger (``draw`` gets the surface and the factor) and reduced."""
    large = pygame.Surface((size[0] * SMOOTH, size[1] * SMOOTH), pygame.SRCALPHA)
    draw(large, SMOOTH)
    # Reducing mixes the colour of clear pixels into edges: premultiplied, that is right.
    return pygame.transform.smoothscale(large.premul_alpha(), size)


def place(target: pygame.Surface, source: pygame.Surface, position: Point, alpha: float = 1.0) -> None:
    """Blit a surface made by `reduced`, at an opacity."""
    if alpha < 1:
        source = source.copy()
        source.fill((round(255 * alpha),) * 4, special_flags=pygame.BLEND_RGBA_MULT)
    target.blit(source, (round(position[0]), round(position[1])), special_flags=pygame.BLEND_PREMULTIPLIED)


# --- Suits -------------------------------------------------------------------------------------------------------


def _curve(*points: Point, steps: int = 16) -> list[Point]:
    """A Bézier curve through its first and last point."""
    found = []
    for k in range(steps + 1):
        level, t = list(points), k / steps
        while len(level) > 1:
            level = [(a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t) for a, b in pairwise(level)]
        found.append(level[0])
    return found


def _mirrored(half: Sequence[Point]) -> list[Point]:
    return [*half, *((-x, y) for x, y in reversed(half))]


def _circle(x: float, y: float, radius: float) -> list[Point]:
    turns = [2 * math.pi * k / 40 for k in range(40)]
    return [(x + radius * math.cos(turn), y + radius * math.sin(turn)) for turn in turns]


@cache
def suit_outlines(suit: int) -> list[list[Point]]:
    """Polygons that make a suit's shape, in the square -1..1, y downwards."""
    stem = _mirrored([*_curve((0, 0.05), (-0.04, 0.8), (-0.42, 1.0))])
    if suit == 0:
        return [_circle(0, -0.52, 0.44), _circle(-0.52, 0.2, 0.44), _circle(0.52, 0.2, 0.44), _circle(0, 0, 0.3), stem]
    if suit == 1:
        left = [*_curve((0, -1), (-0.28, -0.45), (-0.76, 0)), *_curve((-0.76, 0), (-0.28, 0.45), (0, 1))]
        return [_mirrored(left)]
    heart = [
        *_curve((0, -0.55), (-0.28, -1.12), (-1.0, -1.0), (-0.94, -0.28)),
        *_curve((-0.94, -0.28), (-0.86, 0.2), (-0.3, 0.5), (0, 0.98)),
    ]
    if suit == 2:
        return [_mirrored(heart)]
    return [_mirrored([(x, -y * 0.94 - 0.06) for x, y in heart]), stem]


def draw_suit(
    target: pygame.Surface, suit: int, centre: Point, size: float, colour: Colour, turned: bool = False
) -> None:
    """Fill a suit's shape, ``size`` high; ``turned`` upside down."""
    sign = -1 if turned else 1
    for outline in suit_outlines(suit):
        points = [(centre[0] + sign * x * size / 2, centre[1] + sign * y * size / 2) for x, y in outline]
        pygame.draw.polygon(target, colour, points)


@lru_cache(maxsize=256)
def suit_picture(suit: int, size: int, colour: Colour) -> pygame.Surface:
    """A suit alone, ``size`` pixels square."""
    return reduced((size, size), lambda large, k: draw_suit(large, suit, (size * k / 2,) * 2, size * k * 0.96, colour))


# --- Shapes and text ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def rounded(
    width: int, height: int, radius: int, fill: tuple[int, ...] | None, line: tuple[int, ...] | None = None,
    line_width: float = 1.5,
) -> pygame.Surface:  # fmt: skip
    """A rectangle with round corners, filled or outlined or both; colours may have an alpha."""

    def draw(large: pygame.Surface, k: float) -> None:
        box = pygame.Rect(0, 0, width * SMOOTH, height * SMOOTH)
        if fill is not None:
            pygame.draw.rect(large, fill, box, border_radius=radius * SMOOTH)
        if line is not None:
            pygame.draw.rect(large, line, box, round(line_width * k), border_radius=radius * SMOOTH)

    return reduced((width, height), draw)


@cache
def font(size: int) -> pygame.font.Font:
    """The font that comes with pygame; capitals are about ``0.7 * size`` pixels high."""
    pygame.font.init()
    return pygame.font.Font(None, round(size * 1.4))


@lru_cache(maxsize=1024)
def text_image(text: str, size: int, colour: Colour) -> pygame.Surface:
    """A line of text on a transparent surface, drawn large and reduced, else small sizes lose the dots of their i's."""
    large = font(size * SMOOTH).render(text, True, colour)
    width, height = (max(1, round(length / SMOOTH)) for length in large.get_size())
    return reduced((width, height), lambda own, _: own.blit(large, (0, 0)))


def text_width(text: str, size: int) -> float:
    """Width of `text_image` in pixels."""
    return font(size * SMOOTH).size(text)[0] / SMOOTH


def write(target: pygame.Surface, text: str, size: int, colour: Colour, at: Point, anchor: float = 0.0) -> int:
    """Write a line whose middle height is ``at[1]``; ``anchor`` 0 starts at ``at[0]``, 0.5 centres, 1 ends there.

    Returns its width in pixels.
    """
    if not text:
        return 0  # pygame's premul_alpha crashes on a surface without pixels
    picture = text_image(text, size, colour)
    place(target, picture, (at[0] - anchor * picture.get_width(), at[1] - picture.get_height() / 2))
    return picture.get_width()


def fitted(text: str, size: int, width: float) -> str:
    """The text, its middle left out where it is wider than ``width`` pixels."""
    if text_width(text, size) <= width:
        return text
    keep = len(text) - 1
    while keep > 1 and text_width(text[: keep - keep // 2] + "…" + text[len(text) - keep // 2 :], size) > width:
        keep -= 1
    return text[: keep - keep // 2] + "…" + text[len(text) - keep // 2 :]
