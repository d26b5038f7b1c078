"""The card table seen from above: a scene drawn with pygame, seats round the felt, trump and scores at the side.

The drawing reads a `Scene` only, so it cannot show what the scene's viewer may not see.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.render.faces import RATIO, card_picture
from ohhell_env.render.paint import (
    CREAM,
    GOLD,
    GREEN,
    INK,
    LINE,
    MUTED,
    PANEL,
    PLATE,
    ROSE,
    Colour,
    Point,
    fitted,
    place,
    pygame,
    rounded,
    suit_picture,
    text_width,
    write,
)
from ohhell_env.render.scene import Scene, SeatScene, TrickScene
from ohhell_env.rules.cards import SUIT_NAMES

# All lengths are for a picture 1280 wide and 800 high; others are scaled.
WIDTH, HEIGHT = 1280, 800
FELT = 1016  # width of the table; the rest is the side panel
CENTRE = (508.0, 392.0)
ROUND = 3.0  # exponent of the seats' superellipse: 2 is an ellipse, more is nearer to a rectangle
REACH = (368.0, 316.0)  # from the centre to the middle of the seats beside and across

HAND_CARD, OWN_CARD, TRICK_CARD, SMALL_CARD = 52, 84, 74, 40  # widths
PLATE_SIZE = (184, 46)
ROW_LIMIT = 13  # cards in one row of a hand at the side
ROW_STEP = 34  # from one row to the next


@dataclass(frozen=True)
class Spot:
    """Where a seat is drawn: its middle, its cards' width, and the width that its hand may take."""

    middle: Point
    card: int
    room: float
    towards: Point  # where its card of the trick lies


@cache
def spots(players: int) -> tuple[Spot, ...]:
    """The seats' places, the viewer's at the bottom and the others clockwise from there."""
    found = []
    room = 252.0 if players < 8 else 216.0
    wide, high = (150, 92) if players < 6 else (176, 134) if players < 8 else (200, 136)
    for k in range(players):
        turn = math.pi * (0.5 + 2 * k / players)
        x, y = (math.copysign(abs(v) ** (2 / ROUND), v) for v in (math.cos(turn), math.sin(turn)))
        lies = (CENTRE[0] + wide * math.cos(turn), CENTRE[1] - 18 + high * math.sin(turn))
        found.append(Spot((CENTRE[0] + REACH[0] * x, CENTRE[1] + REACH[1] * y), HAND_CARD, room, lies))
    # The viewer's hand is as wide as the seats beside it leave room for.
    beside = found[1].middle
    own_room = 680.0 if beside[1] < 560 else 2 * (CENTRE[0] - beside[0] - room / 2 - 6)
    found[0] = Spot((CENTRE[0], 708.0), OWN_CARD, own_room, found[0].towards)
    return tuple(found)


def hand_places(count: int, card: int, room: float) -> list[Point]:
    """Where each card of a hand lies, from the middle of its block's upper edge; two rows where one is too full."""
    rows = 2 if count > ROW_LIMIT and card < OWN_CARD else 1
    longest = -(-count // rows)
    step = min(card * (0.5 if card == OWN_CARD else 0.46), (room - card) / max(longest - 1, 1))
    found = []
    for k in range(count):
        row, column = divmod(k, longest)
        here = longest if row < rows - 1 else count - longest * (rows - 1)
        width = card + step * (here - 1)
        found.append((column * step - width / 2, float(row * ROW_STEP)))
    return found


class TablePainter:
    """Draws scenes, all of one size; what does not change is drawn once and kept.

    Args:
        width: of the pictures, in pixels; they are 5/8 as high.

    Raises:
        ValueError: for a width below 480.
    """

    def __init__(self, width: int = WIDTH) -> None:
        if width < 480:
            raise ValueError(f"width={width!r} is not allowed; use 480 pixels or more")
        self.scale = width / WIDTH
        self.size = (width, round(HEIGHT * self.scale))
        self.surface = pygame.Surface(self.size)

    def frame(self, scene: Scene) -> NDArray[np.uint8]:
        """The scene as pixels: (H, W, 3) uint8, red, green, blue; a new array."""
        pixels = np.frombuffer(pygame.image.tobytes(self.draw(scene), "RGB"), dtype=np.uint8)
        return pixels.reshape(self.size[1], self.size[0], 3).copy()

    def draw(self, scene: Scene) -> pygame.Surface:
        """The scene on the painter's own surface, which the next drawing overwrites."""
        self.surface.blit(_background(self.size), (0, 0))
        for seat, spot in self.places(scene):
            self._hand(scene.seats[seat], spot)
            self._plate(scene, scene.seats[seat], spot)
        self._trick(scene)
        self._side(scene)
        return self.surface

    @staticmethod
    def places(scene: Scene) -> Iterator[tuple[int, Spot]]:
        """Each seat with its place; the viewer sits at the bottom."""
        players = len(scene.seats)
        for k, spot in enumerate(spots(players)):
            yield ((scene.viewer or 0) + k) % players, spot

    # --- Helpers in the units of the layout --------------------------------------------------------------------------

    def _px(self, length: float) -> int:
        return max(1, round(length * self.scale))

    def _at(self, point: Point) -> Point:
        return point[0] * self.scale, point[1] * self.scale

    def _write(self, text: str, size: int, colour: Colour, at: Point, anchor: float = 0.0, room: float = 0.0) -> float:
        """Text in the units of the layout; returns its width."""
        size = self._px(size)
        text = fitted(text, size, room * self.scale) if room else text
        return write(self.surface, text, size, colour, self._at(at), anchor) / self.scale

    def _card(self, name: str | None, width: float, at: Point, alpha: float = 1.0) -> None:
        """A card with its shadow, its upper left corner at ``at``."""
        w = self._px(width)
        shadow = rounded(w + self._px(4), round(w * RATIO) + self._px(4), self._px(5), (0, 0, 0, 46))
        place(self.surface, shadow, self._at((at[0] - 2, at[1] - 1)), alpha)
        place(self.surface, card_picture(name, w), self._at(at), alpha)

    def _box(
        self,
        size: Point,
        radius: float,
        at: Point,
        fill: tuple[int, ...] | None,
        line: Colour | None = None,
        line_width: float = 2,
    ) -> None:
        picture = rounded(self._px(size[0]), self._px(size[1]), self._px(radius), fill, line, line_width * self.scale)
        place(self.surface, picture, self._at(at))

    def _suit(self, suit: int, size: float, colour: Colour, middle: Point) -> None:
        picture = suit_picture(suit, self._px(size), colour)
        place(self.surface, picture, self._at((middle[0] - size / 2, middle[1] - size / 2)))

    # --- Seats -------------------------------------------------------------------------------------------------------

    def hand_box(self, seat: SeatScene, spot: Spot) -> list[tuple[float, float, float]]:
        """Upper left corner and width of each card of a seat's hand, in the units of the layout."""
        places = hand_places(len(seat.cards), spot.card, spot.room)
        top = spot.middle[1] + 23 - 0.72 * spot.card * RATIO - (places[-1][1] if places else 0)
        top -= 22 if spot.card == OWN_CARD else 0
        return [(spot.middle[0] + x, top + y, spot.card) for x, y in places]

    def _hand(self, seat: SeatScene, spot: Spot) -> None:
        boxes = self.hand_box(seat, spot)
        for name, (x, y, width) in zip(seat.cards, boxes, strict=True):
            self._card(name, width, (x, y))
        for position, (x, y, _) in zip(seat.positions, boxes):
            self._box((22, 22), 11, (x + 6, y + 7), PLATE, GOLD)
            self._write(str(position), 13, CREAM, (x + 17, y + 18.5), 0.5)

    def _plate(self, scene: Scene, seat: SeatScene, spot: Spot) -> None:
        """Name, dealer button, contract, and what is still needed."""
        width = PLATE_SIZE[0]
        left, top = spot.middle[0] - width / 2, spot.middle[1] + 23
        edge = GOLD if seat.to_act or seat.winner else None
        self._box(PLATE_SIZE, 10, (left, top), (*PLATE, 236), edge)
        text = left + 13
        if seat.dealer:
            self._box((20, 20), 10, (left + 10, top + 5), CREAM)
            self._write("D", 13, INK, (left + 20, top + 15.5), 0.5)
            text = left + 37
        right = left + width - 13
        name_colour = GOLD if seat.to_act or seat.winner else CREAM
        self._write(seat.name, 16, name_colour, (text, top + 15), room=right - text)
        outcome, colour = _outcome(scene, seat)
        taken = self._write(outcome, 14, colour, (right, top + 33), 1.0)
        room = right - left - 19 - taken
        self._write(_contract(scene, seat), 14, MUTED, (left + 13, top + 33), room=room)

    # --- The middle --------------------------------------------------------------------------------------------------

    def shown_trick(self, scene: Scene) -> tuple[TrickScene, bool]:
        """The trick in the middle, and whether it is finished: the last one stays until the next card is led."""
        finished = scene.tricks_done > 0 and not scene.trick.plays
        return (scene.last_trick, True) if scene.last_trick is not None and finished else (scene.trick, False)

    def trick_box(self, scene: Scene, seat: int) -> tuple[float, float, float]:
        """Upper left corner and width of a seat's card of the trick, in the units of the layout."""
        card = TRICK_CARD if len(scene.seats) < 8 else 60
        spot = next(spot for number, spot in self.places(scene) if number == seat)
        return spot.towards[0] - card / 2, spot.towards[1] - card * RATIO / 2, card

    def _trick(self, scene: Scene) -> None:
        trick, finished = self.shown_trick(scene)
        for seat, name in trick.plays:
            x, y, card = self.trick_box(scene, seat)
            wins = seat == trick.winner
            if wins:
                self._box((card + 8, card * RATIO + 8), 9, (x - 4, y - 4), GOLD)
            self._card(name, card, (x, y), 1.0 if wins or not finished else 0.62)
        if scene.phase == "match over":
            self._announce(scene.status(), 19, GOLD)
        elif finished:
            name = "nobody" if trick.winner is None else scene.seats[trick.winner].name
            self._announce(f"{name} {'take' if name == 'you' else 'takes'} the trick", 16, GOLD)
        elif not trick.plays or scene.phase == "name suit":
            self._announce(scene.status(), 17, CREAM)
        elif trick.named is not None:
            self._announce(f"{SUIT_NAMES[trick.named]} named", 16, CREAM)
        if scene.trick.worth > 1 and scene.phase == "play":
            self._write(f"this trick counts for {scene.trick.worth}", 14, GOLD, (CENTRE[0], CENTRE[1] + 8), 0.5)

    def _announce(self, text: str, size: int, colour: Colour) -> None:
        """Text in the middle of the table, in two lines where one is too long."""
        x, y, room = CENTRE[0], CENTRE[1] - 18, 220
        if text_width(text, self._px(size)) <= room * self.scale:
            self._write(text, size, colour, (x, y), 0.5)
            return
        words = text.split()
        half = min(range(1, len(words) + 1), key=lambda k: abs(len(" ".join(words[:k])) - len(text) / 2))
        for line, part in enumerate((words[:half], words[half:])):
            self._write(" ".join(part), size, colour, (x, y - 10 + 20 * line), 0.5, room=room)

    # --- The side panel ----------------------------------------------------------------------------------------------

    def _side(self, scene: Scene) -> None:
        left, right = FELT + 24.0, WIDTH - 24.0
        self._write(f"Hand {scene.hand_number} of {scene.num_hands}", 25, CREAM, (left, 42))
        bid = "" if scene.bid_total is None else f", {scene.bid_total} bid"
        self._write(scene.size_text + bid, 15, MUTED, (left, 70), room=right - left)
        self._trump(scene, (left, 98))
        y = self._scores(scene, left, right, 240.0)
        if scene.last_trick is not None:
            self._last_trick(scene, scene.last_trick, left, right, y + 30)

    def _trump(self, scene: Scene, at: Point) -> None:
        """The card that makes trump, and the trump suit as text."""
        card = scene.turned or scene.shown
        x, y = at[0] + 90, at[1] + 72 * RATIO / 2
        if card is None:
            self._box((72, 72 * RATIO), 7, at, None, LINE)
        else:
            self._card(card, 72, at)
            if scene.shown is not None:
                self._write("in play", 13, MUTED, (x, at[1] + 94))
        if scene.trump is None:
            first, _, rest = scene.trump_text.partition(" not ")
            self._write(first, 19, CREAM, (x, y - 11 * bool(rest)))
            self._write(f"not {rest}" if rest else "", 15, MUTED, (x, y + 11))
            return
        self._write("trump", 14, MUTED, (x, y - 26))
        self._write(SUIT_NAMES[scene.trump], 20, CREAM, (x, y - 4))
        colour = (226, 84, 82) if scene.trump in (1, 2) else CREAM
        self._suit(scene.trump, 24, colour, (x + 12, y + 24))

    def _scores(self, scene: Scene, left: float, right: float, y: float) -> float:
        """Names, the last hand's points and the totals; returns where it ends."""
        self._write("Scores", 14, MUTED, (left, y))
        self._write("last hand", 14, MUTED, (right - 62, y), 1.0)
        self._write("total", 14, MUTED, (right, y), 1.0)
        best = (min if scene.lowest else max)(seat.score or 0.0 for seat in scene.seats)
        y += 20
        for seat in scene.seats:
            self._rule(left, right, y - 7)
            leads = seat.score == best and any(other.score != best for other in scene.seats)
            self._write(seat.name, 15, GOLD if leads else CREAM, (left, y + 7), room=112)
            if seat.points is not None:
                self._write(f"{seat.points:+g}", 15, GREEN if seat.points > 0 else MUTED, (right - 62, y + 7), 1.0)
            total = "" if seat.score is None else f"{seat.score:g}"
            self._write(total, 16, GOLD if leads else CREAM, (right, y + 7), 1.0)
            y += 27
        self._rule(left, right, y - 7)
        return y

    def _rule(self, left: float, right: float, y: float) -> None:
        pygame.draw.line(self.surface, LINE, self._at((left, y)), self._at((right, y)))

    def _last_trick(self, scene: Scene, trick: TrickScene, left: float, right: float, y: float) -> None:
        """The last finished trick in the order played, the winner's card framed."""
        self._write("Last trick", 14, MUTED, (left, y))
        step = min(SMALL_CARD + 8.0, (right - left - SMALL_CARD) / max(len(trick.plays) - 1, 1))
        for k, (seat, name) in enumerate(trick.plays):
            x, top = left + k * step, y + 24 - 6 * (seat == trick.winner)
            if seat == trick.winner:
                self._box((SMALL_CARD + 6, SMALL_CARD * RATIO + 6), 6, (x - 3, top - 3), GOLD)
            self._card(name, SMALL_CARD, (x, top))
        name = "nobody" if trick.winner is None else scene.seats[trick.winner].name
        self._write(f"taken by {name}", 14, CREAM, (left, y + 100), room=right - left)


def _contract(scene: Scene, seat: SeatScene) -> str:
    if seat.bid is None and not scene.bidding:
        return f"taken {seat.taken}"  # a hand without bids
    if seat.bid == "hidden":
        return f"bid is {seat.bid_text}"
    if seat.bid is None:
        return seat.bid_text or "to bid"
    return f"bid {seat.bid_text}" + ("" if scene.bidding else f", taken {seat.taken}")


def _outcome(scene: Scene, seat: SeatScene) -> tuple[str, Colour]:
    """What a seat still needs, or what the hand has brought it."""
    if scene.phase in ("hand over", "match over"):
        points = seat.points or 0.0
        made = seat.need == 0 if seat.need is not None else points > 0
        return f"{points:+g}", GREEN if made else ROSE
    if seat.need is None or scene.bidding:
        return "", CREAM
    if seat.need < 0:
        return f"{-seat.need} over", ROSE
    out_of_reach = seat.need > scene.hand_size - scene.tricks_done
    return ("has it", GREEN) if seat.need == 0 else (f"needs {seat.need}", ROSE if out_of_reach else CREAM)


@lru_cache(maxsize=4)
def _background(size: tuple[int, int]) -> pygame.Surface:
    """Felt with a wooden rim in a dark room, and the side panel; smooth by how far a pixel is inside each edge."""
    width, height = size
    scale = width / WIDTH
    x = np.arange(width, dtype=np.float32)[:, None] / scale
    y = np.arange(height, dtype=np.float32)[None, :] / scale
    # 1 on the table's edge, 0 in its middle.
    reach = (np.abs((x - CENTRE[0]) / 492) ** 3.4 + np.abs((y - 396) / 384) ** 3.4) ** np.float32(1 / 3.4)
    glow = np.minimum(((x - CENTRE[0]) / 620) ** 2 + ((y - 380) / 480) ** 2, 1.4)[..., None]
    felt = np.array((56, 111, 94), np.float32) * (1 - 0.36 * glow)
    wood = np.array((108, 75, 51), np.float32) * (1 - 0.45 * np.clip((reach - 0.965) / 0.035, 0, 1))[..., None]
    picture = np.broadcast_to(np.array((17, 21, 24), np.float32), felt.shape)
    picture = _over(picture, wood, (1 - reach) * 440 * scale)
    picture = _over(picture, felt * 0.62, (0.967 - reach) * 440 * scale)
    picture = _over(picture, felt, (0.960 - reach) * 440 * scale)
    picture[round(FELT * scale) :] = PANEL
    surface = pygame.Surface(size)
    pygame.surfarray.blit_array(surface, picture.astype(np.uint8))
    return surface


def _over(below: NDArray[Any], above: NDArray[Any], inside: NDArray[Any]) -> NDArray[Any]:
    """One picture over another where ``inside`` (pixels from the edge) is positive, the edge smoothed."""
    share = np.clip(inside + 0.5, 0, 1)[..., None]
    mixed: NDArray[Any] = below + (above - below) * share
    return mixed
