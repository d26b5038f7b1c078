"""Card faces and backs, drawn by code: pips where the printers put them, courts of our own, jokers and extra ranks too.

Everything is drawn in units of a card 60 wide and 84 high.
"""

from __future__ import annotations

import math
from functools import lru_cache

from ohhell_env.render.paint import GOLD, INK, PAPER, RED, Colour, Point, draw_suit, font, pygame, reduced, suit_colour
from ohhell_env.render.scene import Face, face_of

WIDE, HIGH = 60, 84
RATIO = HIGH / WIDE
PIPS_FROM = 64  # pixels of width from which on a face has its pips; smaller ones have one large suit

EDGE: Colour = (196, 190, 178)
SKIN: Colour = (243, 216, 188)
NAVY: Colour = (38, 62, 110)
BACK: Colour = (44, 68, 116)
BACK_LINE: Colour = (122, 148, 196)

# Pips by column from the left: heights from the top of the pips' field (0) to its bottom (1).
_TWO, _THREE, _FOUR = (0.0, 1.0), (0.0, 0.5, 1.0), (0.0, 1 / 3, 2 / 3, 1.0)
PIPS: dict[str, tuple[tuple[float, ...], ...]] = {
    "A": ((), (0.5,), ()),
    "2": ((), _TWO, ()),
    "3": ((), _THREE, ()),
    "4": (_TWO, (), _TWO),
    "5": (_TWO, (0.5,), _TWO),
    "6": (_THREE, (), _THREE),
    "7": (_THREE, (0.25,), _THREE),
    "8": (_THREE, (0.25, 0.75), _THREE),
    "9": (_FOUR, (0.5,), _FOUR),
    "10": (_FOUR, (1 / 6, 5 / 6), _FOUR),
    "11": (_FOUR, (1 / 6, 0.5, 5 / 6), _FOUR),
    "12": (_FOUR, _FOUR, _FOUR),
    "13": (_FOUR, (0.0, 0.25, 0.5, 0.75, 1.0), _FOUR),
    "S": ((), _TWO, ()),  # the super two, with a star
}
COLUMNS = (19.6, 30.0, 40.4)
FIELD = (16.0, 68.0)  # heights of the highest and the lowest pip


@lru_cache(maxsize=512)
def card_picture(name: str | None, width: int) -> pygame.Surface:
    """A card ``width`` pixels wide by its name, or its back for None; made once for each size."""
    size = (width, round(width * RATIO))
    return reduced(size, lambda large, k: _Card(large, large.get_width() / WIDE, width >= PIPS_FROM).draw(name))


class _Card:
    """One card on a surface of its own, ``unit`` pixels to a unit."""

    def __init__(self, surface: pygame.Surface, unit: float, detailed: bool) -> None:
        self.surface = surface
        self.unit = unit
        self.detailed = detailed

    def draw(self, name: str | None) -> None:
        self._box(0, 0, WIDE, HIGH, EDGE, 5.5)
        self._box(0.6, 0.6, WIDE - 1.2, HIGH - 1.2, PAPER, 5)
        if name is None:
            self._back()
            return
        face = face_of(name)
        colour = suit_colour(face.suit)
        if face.suit is None:
            self._joker()
        elif not self.detailed:
            self._suit(face.suit, (37, 55), 34, colour)
        elif face.index in PIPS:
            self._pips(face.index, face.suit, colour)
        else:
            _Court(self, face).draw()
        self._corner(face, colour)

    def _corner(self, face: Face, colour: Colour) -> None:
        """The index with its suit or star: at two corners of a detailed card, larger and once on a small one."""
        size, centre = (14.5, 7.8) if self.detailed else (24.0, 11.8)
        index = font(round(size * self.unit)).render(face.index.removeprefix("JOKER").strip(), True, colour)
        widest = (11.0 if self.detailed else 17.5) * self.unit
        if index.get_width() > widest:
            index = pygame.transform.smoothscale(index, (round(widest), index.get_height()))
        top = 2.2 if self.detailed else 2.0
        corner = pygame.Surface(self.surface.get_size(), pygame.SRCALPHA)
        corner.blit(index, (centre * self.unit - index.get_width() / 2, top * self.unit))
        below = top + index.get_height() / self.unit + (2.6 if self.detailed else 5.5)
        if face.suit is None:
            self._star((centre, below), size * 0.36, corner)
        else:
            draw_suit(corner, face.suit, (centre * self.unit, below * self.unit), size * 0.58 * self.unit, colour)
        self.surface.blit(corner, (0, 0))
        if self.detailed:
            self.surface.blit(pygame.transform.rotate(corner, 180), (0, 0))

    def _pips(self, index: str, suit: int, colour: Colour) -> None:
        if index == "A":
            self._suit(suit, (30, 42), 27, colour)
            return
        if index == "S":
            self._star((30, 42), 9)
        crowded = max(map(len, PIPS[index])) > 4 or sum(map(len, PIPS[index])) > 10
        size = 9.6 if crowded else 11.6
        for x, heights in zip(COLUMNS, PIPS[index]):
            for height in heights:
                y = FIELD[0] + height * (FIELD[1] - FIELD[0])
                self._suit(suit, (x, y), size, colour, height > 0.5)

    def _joker(self) -> None:
        """A jester's cap with bells; the word down the left edge."""
        if self.detailed:
            text = pygame.transform.rotate(font(round(10 * self.unit)).render("JOKER", True, INK), -90)
            self.surface.blit(text, (3.5 * self.unit, 29 * self.unit))
        for points, colour in (
            (((34, 56), (16, 36), (20, 60)), RED),
            (((28, 56), (35, 24), (44, 56)), GOLD),
            (((38, 56), (55, 36), (52, 60)), NAVY),
        ):
            self.polygon(points, colour)
        self._box(19, 54, 34, 8, INK, 3)
        for x, y in ((16, 36), (35, 24), (55, 36)):
            self.circle((x, y), 3.2, GOLD)

    def _back(self) -> None:
        self._box(3.5, 3.5, WIDE - 7, HIGH - 7, BACK, 3)
        field = pygame.Rect(*(round(v * self.unit) for v in (6, 6, WIDE - 12, HIGH - 12)))
        self.surface.set_clip(field)
        for k in range(-HIGH, WIDE + HIGH, 6):
            for end in (k + HIGH, k - HIGH):
                start, stop = (k * self.unit, 0.0), (end * self.unit, HIGH * self.unit)
                pygame.draw.line(self.surface, BACK_LINE, start, stop, max(1, round(0.7 * self.unit)))
        self.surface.set_clip(None)
        pygame.draw.rect(self.surface, BACK_LINE, field, max(1, round(0.8 * self.unit)))

    def _star(self, centre: Point, radius: float, surface: pygame.Surface | None = None) -> None:
        turns = [(math.radians(36 * k - 90), radius * (0.42 if k % 2 else 1)) for k in range(10)]
        points = [
            ((centre[0] + r * math.cos(t)) * self.unit, (centre[1] + r * math.sin(t)) * self.unit) for t, r in turns
        ]
        pygame.draw.polygon(self.surface if surface is None else surface, GOLD, points)

    def _suit(self, suit: int, centre: Point, size: float, colour: Colour, turned: bool = False) -> None:
        at = (centre[0] * self.unit, centre[1] * self.unit)
        draw_suit(self.surface, suit, at, size * self.unit, colour, turned)

    def _box(self, x: float, y: float, width: float, height: float, colour: Colour, radius: float) -> None:
        box = pygame.Rect(*(round(v * self.unit) for v in (x, y, width, height)))
        pygame.draw.rect(self.surface, colour, box, border_radius=round(radius * self.unit))

    def polygon(self, points: tuple[Point, ...], colour: Colour) -> None:
        pygame.draw.polygon(self.surface, colour, [(x * self.unit, y * self.unit) for x, y in points])

    def circle(self, centre: Point, radius: float, colour: Colour) -> None:
        pygame.draw.circle(
            self.surface, colour, (centre[0] * self.unit, centre[1] * self.unit), max(1, radius * self.unit)
        )

    def ellipse(self, centre: Point, width: float, height: float, colour: Colour) -> None:
        box = (centre[0] - width / 2, centre[1] - height / 2, width, height)
        pygame.draw.ellipse(self.surface, colour, pygame.Rect(*(round(v * self.unit) for v in box)))


class _Court:
    """Jack, queen, king: a figure in a frame, the lower half the upper one turned round."""

    def __init__(self, card: _Card, face: Face) -> None:
        self.card, self.face = card, face
        self.robe = RED if face.suit in (1, 2) else NAVY
        self.other = NAVY if face.suit in (1, 2) else RED
        dark: dict[str, Colour] = {"J": (138, 92, 48), "Q": (176, 122, 52), "K": (92, 82, 76)}
        self.hair = dark[face.index]

    def draw(self) -> None:
        card, unit = self.card, self.card.unit
        frame = pygame.Rect(*(round(v * unit) for v in (13, 9, 34, 66)))
        pygame.draw.rect(card.surface, (252, 244, 222), frame)
        self._shoulders()
        {"J": self._jack, "Q": self._queen, "K": self._king}[self.face.index]()
        at = (17.6 * unit, 14.4 * unit)
        draw_suit(card.surface, self.face.suit or 0, at, 7 * unit, suit_colour(self.face.suit))
        half = pygame.Surface((frame.width, frame.height // 2))
        half.blit(card.surface, (0, 0), (frame.left, frame.top, frame.width, frame.height // 2))
        turned = pygame.transform.rotate(half, 180)
        card.surface.blit(turned, (frame.left, frame.top + frame.height - frame.height // 2))
        pygame.draw.rect(card.surface, (150, 156, 172), frame, max(1, round(0.6 * unit)))

    def _shoulders(self) -> None:
        card = self.card
        card.polygon(((13, 42), (14, 36), (22, 30.5), (38, 30.5), (46, 36), (47, 42)), self.robe)
        card.polygon(((23, 30), (37, 30), (33, 42), (27, 42)), self.other)
        card.polygon(((26.2, 30), (33.8, 30), (31.6, 42), (28.4, 42)), GOLD)
        for x in (17.5, 42.5):
            for y in (36.5, 40.5):
                card.circle((x, y), 0.9, GOLD)

    def _head(self) -> None:
        card = self.card
        card.polygon(((27.5, 26), (32.5, 26), (33, 32), (27, 32)), SKIN)
        card.ellipse((30, 22.5), 10.6, 13, SKIN)
        for x in (27.9, 32.1):
            card.circle((x, 22), 0.65, INK)
        card.polygon(((29.9, 22.6), (30.8, 25), (29.6, 25)), (214, 176, 146))
        card.ellipse((30, 26.9), 3, 0.9, (190, 84, 76))

    def _jack(self) -> None:
        card = self.card
        card.ellipse((30, 23.5), 14.4, 13.6, self.hair)
        self._head()
        card.polygon(((22.4, 18.4), (24, 13.4), (37, 12.4), (37.8, 18.4)), self.other)
        card.polygon(((22, 19.4), (22, 17.2), (38, 17.2), (38, 19.4)), GOLD)
        card.polygon(((36, 17), (39.5, 10.5), (44, 12.5), (41, 13.6), (42.4, 15.4), (39.4, 15.6)), self.robe)

    def _queen(self) -> None:
        card = self.card
        card.ellipse((30, 25), 17, 18, self.hair)
        self._head()
        card.ellipse((30, 16.9), 9.4, 3.4, self.hair)
        card.polygon(((23, 16.4), (21.8, 11.6), (25.6, 13.6), (30, 9.8), (34.4, 13.6), (38.2, 11.6), (37, 16.4)), GOLD)
        for x, y in ((21.9, 11.6), (30, 9.9), (38.1, 11.6)):
            card.circle((x, y + 0.4), 1.2, self.robe)

    def _king(self) -> None:
        card = self.card
        card.ellipse((30, 24.4), 15, 15.6, self.hair)
        self._head()
        beard = ((24.6, 24), (26.6, 25.8), (33.4, 25.8), (35.4, 24), (34.4, 30.4), (30, 33.6), (25.6, 30.4))
        card.polygon(beard, self.hair)
        card.ellipse((30, 27.3), 3.2, 1.1, (190, 84, 76))
        card.polygon(((23, 17.8), (22.2, 10.2), (26.2, 13.4), (30, 9.6), (33.8, 13.4), (37.8, 10.2), (37, 17.8)), GOLD)
        card.polygon(((23, 17.8), (22.9, 15.8), (37.1, 15.8), (37, 17.8)), self.robe)
