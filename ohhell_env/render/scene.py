"""What one viewer may see of a table, as plain data: all that the drawing and the terminal screens read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from ohhell_env.cards import SUITS, card_name
from ohhell_env.game import Game, HandDealt
from ohhell_env.state import HAND_OVER, MATCH_OVER, PLAY

PHASES = {PLAY: "play", HAND_OVER: "hand over", MATCH_OVER: "match over"}  # all before the play is "bid"
SUIT_ORDER = "SHCD"  # colours alternate; trumps stand before all
RANK_ORDER = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "J", "Q", "K", "A")


@dataclass(frozen=True)
class Face:
    """What is printed on a card: its index, and its suit 0..3; cards without a suit (jokers) have None."""

    index: str
    suit: int | None


def face_of(name: str) -> Face:
    """The face of a card by its name: ``TD`` has the index 10 and the suit diamonds; ``JOKER`` is its own index."""
    index, suit = name[:-1].replace("T", "10"), SUITS.find(name[-1])
    return Face(index, suit) if suit >= 0 and index in RANK_ORDER else Face(name, None)


@dataclass(frozen=True)
class SeatScene:
    """One seat: ``cards`` has None for each card seen from behind; ``bid`` is None before it, "hidden" while sealed."""

    name: str
    cards: tuple[str | None, ...]
    bid: int | str | None
    taken: int
    score: float
    points: float | None  # of the last finished hand; None before there is one
    dealer: bool
    to_act: bool
    winner: bool  # of the match, alone or shared

    @property
    def need(self) -> int | None:
        """Tricks still to take for the bid, negative when there are too many; None while the bid is not known."""
        return self.bid - self.taken if isinstance(self.bid, int) else None


@dataclass(frozen=True)
class TrickScene:
    """Cards on the table, (seat, card) in the order played, and the seat that wins them as they lie."""

    plays: tuple[tuple[int, str], ...]
    winner: int | None


@dataclass(frozen=True)
class Scene:
    """A table as one viewer sees it; ``viewer`` None sees everything."""

    viewer: int | None
    phase: str  # "bid", "play", "hand over", "match over"
    hand_number: int
    num_hands: int
    hand_size: int
    trump: int | None
    turned: str | None
    seats: tuple[SeatScene, ...]
    trick: TrickScene  # its plays are empty before a lead
    last_trick: TrickScene | None  # the last finished one: of this hand, or before its first card of the hand before
    tricks_done: int  # finished tricks of this hand

    @property
    def bid_total(self) -> int | None:
        """Sum of the bids; None while any is unknown."""
        bids = [seat.bid for seat in self.seats]
        return sum(bid for bid in bids if isinstance(bid, int)) if all(isinstance(b, int) for b in bids) else None

    @property
    def actor(self) -> int | None:
        """Seat to act; None between hands and after the match."""
        return next((number for number, seat in enumerate(self.seats) if seat.to_act), None)

    def status(self) -> str:
        """What the table waits for, in words."""
        if self.phase == "match over":
            winners = [seat.name for seat in self.seats if seat.winner]
            return f"{' and '.join(winners)} {_verb('win', winners)}{'' if len(winners) == 1 else ' together'}"
        if self.phase == "hand over" or self.actor is None:
            return f"hand {self.hand_number} is over"
        name = self.seats[self.actor].name
        if self.phase == "bid":
            return f"{name} {_verb('bid', [name])}"
        return f"{name} {_verb('play' if self.trick.plays else 'lead', [name])}"


def _verb(verb: str, names: Sequence[str]) -> str:
    return verb if len(names) > 1 or names[0] == "you" else verb + "s"


def scene_of(game: Game, viewer: int | None = None, names: Sequence[str] | None = None) -> Scene:
    """The table as a viewer sees it.

    Args:
        game: the table.
        viewer: a seat, which sees what a player there sees; None sees everything.
        names: of the players by seat; ``player_0`` and so on by default.

    Raises:
        ValueError: if ``viewer`` is not a seat, or there are not as many names as seats.
    """
    if viewer is not None and not 0 <= viewer < game.players:
        raise ValueError(f"viewer={viewer!r} is not a seat; seats are 0..{game.players - 1}, None sees everything")
    names = [f"player_{seat}" for seat in range(game.players)] if names is None else names
    if len(names) != game.players:
        raise ValueError(f"{len(names)} names for {game.players} seats")
    hands, bids = _hands(game, viewer), game.visible_bids(viewer)
    past = game.past_hands
    points = game.points if game.phase in (HAND_OVER, MATCH_OVER) else past[-1].points if past else None
    seats = tuple(
        SeatScene(
            name=names[seat],
            cards=hands[seat],
            bid=bids[seat],
            taken=game.taken[seat],
            score=game.scores[seat],
            points=points[seat] if points else None,
            dealer=seat == game.dealer,
            to_act=seat == game.player,
            winner=game.win_shares[seat] > 0,
        )
        for seat in range(game.players)
    )
    tricks = game.tricks
    last = tricks or (past[-1].tricks if past and not game.trick else ())
    return Scene(
        viewer=viewer,
        phase=PHASES.get(game.phase, "bid"),
        hand_number=game.hand_number,
        num_hands=game.num_hands,
        hand_size=game.hand_size,
        trump=game.trump,
        turned=None if game.turned is None else card_name(game.turned),
        seats=seats,
        trick=TrickScene(_named(game.trick), game.winning),
        last_trick=TrickScene(_named(last[-1].plays), last[-1].winner) if last else None,
        tricks_done=len(tricks),
    )


def _named(plays: Iterable[tuple[int, int]]) -> tuple[tuple[int, str], ...]:
    return tuple((seat, card_name(card)) for seat, card in plays)


def _hands(game: Game, viewer: int | None) -> tuple[tuple[str | None, ...], ...]:
    """The hands in the order in which they are held, None for cards that the viewer does not see."""
    # The first event says whose cards the viewer was shown; those of a seat of which it says nothing lie face down.
    dealt = next(event for event in game._hand_events(viewer) if isinstance(event, HandDealt))
    return tuple(
        sorted_names(map(card_name, cards), game.trump) if shown is not None else (None,) * len(cards)
        for cards, shown in zip(game.hands, dealt.cards)
    )


def sorted_names(names: Iterable[str], trump: int | None = None) -> tuple[str, ...]:
    """Cards as people hold them: cards without a suit, trumps, then the other suits, in each the highest first."""
    suits = [SUITS.index(letter) for letter in SUIT_ORDER]

    def key(name: str) -> tuple[int, int, str]:
        face = face_of(name)
        if face.suit is None:
            return -2, 0, name
        return -1 if face.suit == trump else suits.index(face.suit), -RANK_ORDER.index(face.index), name

    return tuple(sorted(names, key=key))


def by_suit(names: Iterable[str], trump: int | None = None) -> list[tuple[int | None, tuple[str, ...]]]:
    """Sorted cards, suit by suit: (suit, its cards)."""
    groups = groupby(sorted_names(names, trump), key=lambda name: face_of(name).suit)
    return [(suit, tuple(cards)) for suit, cards in groups]
