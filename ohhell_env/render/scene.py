"""What one viewer may see of a table, as plain data: all that the drawing and the terminal screens read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from ohhell_env.kernel.state import BID, BLIND, HAND_OVER, MATCH_OVER, NAME_TRUMP, PASS_OR_NIL
from ohhell_env.observation.wide import PHASES
from ohhell_env.rules.cards import JOKERS, SUIT_NAMES, SUITS, CardSet
from ohhell_env.table.actions import deed
from ohhell_env.table.game import Game, Viewer

SUIT_ORDER = "SHCD"  # colours alternate; trumps stand before all


@dataclass(frozen=True)
class Face:
    """What is printed on a card: its index, and its suit 0..3; jokers have None."""

    index: str
    suit: int | None


def face_of(name: str) -> Face:
    """A card by its name in a `CardSet`: ``TD`` has the index 10 and the suit diamonds, ``*1`` is joker 1."""
    if name.startswith("*"):
        return Face(f"JOKER {name[1:]}".rstrip(), None)
    return Face(name[:-1].replace("T", "10"), SUITS.index(name[-1]))


@dataclass(frozen=True)
class SeatScene:
    """One seat: ``cards`` has None for each card seen from behind; ``bid`` is None before it, "hidden" while sealed."""

    name: str
    cards: tuple[str | None, ...]
    bid: int | str | None
    taken: int
    score: float | None  # None where totals are hidden
    points: float | None  # of the last finished hand; None before there is one
    dealer: bool
    to_act: bool
    winner: bool  # of the match, alone or shared
    positions: tuple[int, ...] = ()  # of cards that are played by position: their numbers from 1
    pledge: str | None = None  # what it said before the bidding: "pass", "nil" or "blind"
    first_bid: int | str | None = None  # its blind bid, "hidden" while sealed; or its bid of the round before

    @property
    def need(self) -> int | None:
        """Tricks still to take for the bid, negative when there are too many; None while the bid is not known."""
        return self.bid - self.taken if isinstance(self.bid, int) else None

    @property
    def bid_text(self) -> str:
        """The bid and what was said before it: "", "3", "sealed", "passed", "0, nil", "3, blind 2", "before 3"."""
        bid = "" if self.bid is None else "sealed" if self.bid == "hidden" else str(self.bid)
        first = "?" if self.first_bid == "hidden" else self.first_bid
        said = {"nil": "nil", "blind": f"blind {first}"}.get(self.pledge or "", "")
        if bid:
            return bid + (f", {said}" if said else "")
        return said or ("passed" if self.pledge == "pass" else "" if first is None else f"before {first}")


@dataclass(frozen=True)
class TrickScene:
    """Cards on the table, (seat, card) in the order played, and the seat that wins them as they lie, if one does."""

    plays: tuple[tuple[int, str], ...]
    winner: int | None
    named: int | None = None  # the suit named for the joker that leads it
    worth: int = 1  # how many tricks it counts for


@dataclass(frozen=True)
class Scene:
    """A table as one viewer sees it; ``viewer`` is None for one who has no seat, whatever they see."""

    viewer: int | None
    phase: str  # one of `PHASES`
    hand_number: int
    num_hands: int
    hand_size: int
    trump: int | None
    turned: str | None
    seats: tuple[SeatScene, ...]
    trick: TrickScene  # its plays are empty before a lead
    last_trick: TrickScene | None  # the last finished one: of this hand, or before its first card of the hand before
    tricks_done: int  # finished tricks of this hand
    bidding: bool = False  # whether bids are still to be made
    trump_known: bool = True
    shown: str | None = None  # the card that made trump and is in play
    special: str = ""  # this hand's own rules, as "no trump"
    deals: int = 1  # how many times this hand has been dealt
    lowest: bool = False  # whether the lowest total wins

    @property
    def bid_total(self) -> int | None:
        """Sum of the bids; None while any is unknown."""
        bids = [seat.bid for seat in self.seats]
        return sum(bid for bid in bids if isinstance(bid, int)) if all(isinstance(b, int) for b in bids) else None

    @property
    def actor(self) -> int | None:
        """Seat to act; None between hands and after the match."""
        return next((number for number, seat in enumerate(self.seats) if seat.to_act), None)

    @property
    def size_text(self) -> str:
        """Cards of the hand, and what is special about it: "8 cards", "8 cards no trump", "1 card, deal 2"."""
        size = f"{self.hand_size} card{'s' * (self.hand_size != 1)}"
        return size + (f" {self.special}" if self.special else "") + (f", deal {self.deals}" if self.deals > 1 else "")

    @property
    def trump_text(self) -> str:
        """The trump suit as text."""
        if not self.trump_known:
            return "trump not yet known"
        return "no trump" if self.trump is None else f"trump {SUIT_NAMES[self.trump]}"

    def status(self) -> str:
        """What the table waits for, as text."""
        if self.phase == "match over":
            return self.result()
        if self.phase == "hand over" or self.actor is None:
            return f"hand {self.hand_number} is over"
        name = self.seats[self.actor].name
        return f"{name} {deed(PHASES.index(self.phase), not self.trick.plays, name == 'you')}"

    def result(self) -> str:
        """Who has won the match."""
        winners = [seat.name for seat in self.seats if seat.winner]
        if not winners:
            return "the match is lost by all"
        verb = "win" if len(winners) > 1 or winners[0] == "you" else "wins"
        return f"{' and '.join(winners)} {verb}{'' if len(winners) == 1 else ' together'}"


def scene_of(game: Game, viewer: Viewer = None, names: Sequence[str] | None = None, totals: bool = True) -> Scene:
    """The table as a viewer sees it.

    Args:
        game: the table.
        viewer: a seat, which sees what a player there sees; "table" sees no hands; None sees everything.
        names: of the players by seat; ``player_0`` and so on by default.
        totals: whether the match's totals are shown (online table, "Hide player points").

    Raises:
        ValueError: if ``viewer`` is none of these, or there are not as many names as seats.
    """
    game.check_viewer(viewer)
    names = [f"player_{seat}" for seat in range(game.players)] if names is None else names
    if len(names) != game.players:
        raise ValueError(f"{len(names)} names for {game.players} seats")
    card_set = game.rules.deck.card_set
    bids, first_bids = game.visible_bids(viewer), game.visible_first_bids(viewer)
    past = game.past_hands
    points = game.points if game.phase in (HAND_OVER, MATCH_OVER) else past[-1].points if past else None
    seats = tuple(
        SeatScene(
            name=names[seat],
            cards=_hand(game, viewer, seat),
            bid=bids[seat],
            taken=game.taken[seat],
            score=game.scores[seat] if totals else None,
            points=points[seat] if points else None,
            dealer=seat == game.dealer,
            to_act=seat == game.player,
            winner=game.win_shares[seat] > 0,
            positions=_positions(game, viewer, seat),
            pledge=game.pledges[seat],
            first_bid=first_bids[seat],
        )
        for seat in range(game.players)
    )
    tricks = game.tricks
    last = tricks or (past[-1].tricks if past and not game.trick else ())
    return Scene(
        viewer=viewer if isinstance(viewer, int) else None,
        phase=PHASES[game.phase],
        hand_number=game.hand_number,
        num_hands=game.num_hands,
        hand_size=game.hand_size,
        trump=game.trump if game.trump_known else None,
        turned=None if game.turned is None else card_set.names[game.turned],
        seats=seats,
        trick=TrickScene(_named(game.trick, card_set), game.winning, game.named_suit, game.worth),
        last_trick=TrickScene(_named(last[-1].plays, card_set), last[-1].winner, last[-1].named) if last else None,
        tricks_done=len(tricks),
        bidding=game.phase in (BID, BLIND, PASS_OR_NIL) or (game.phase == NAME_TRUMP and None in game.bids),
        trump_known=game.trump_known,
        shown=None if game.shown is None else card_set.names[game.shown],
        special=game.special,
        deals=game.deals,
        lowest=game.rules.lowest,
    )


def _named(plays: Iterable[tuple[int, int]], card_set: CardSet) -> tuple[tuple[int, str], ...]:
    return tuple((seat, card_set.names[card]) for seat, card in plays)


def _hand(game: Game, viewer: Viewer, seat: int) -> tuple[str | None, ...]:
    """A hand in the order in which it is held, None for cards that the viewer does not see."""
    cards, card_set = game.hands[seat], game.rules.deck.card_set
    if not game.sees_cards(viewer, seat):
        return (None,) * len(cards)
    return tuple(
        card_set.names[card] for card in sorted_cards(cards, card_set, game.trump if game.trump_known else None)
    )


def _positions(game: Game, viewer: Viewer, seat: int) -> tuple[int, ...]:
    """The positions of a hand that lies face down and is played by them."""
    if game.rules.own_cards != "hidden" or game.sees_cards(viewer, seat):
        return ()
    return tuple(slot + 1 for slot, _ in game.slots(seat))


def sorted_cards(cards: Iterable[int], card_set: CardSet, trump: int | None = None) -> list[int]:
    """Cards as people hold them: jokers, trumps, then the other suits, in each the highest first."""
    suits = [JOKERS, trump, *(SUITS.index(letter) for letter in SUIT_ORDER)]
    return sorted(
        cards, key=lambda card: (suits.index(card_set.suit(card)), -card_set.strength(card, trump is not None))
    )


def by_suit(names: Iterable[str]) -> list[tuple[int | None, tuple[str, ...]]]:
    """Sorted cards, suit by suit: (suit, its cards)."""
    groups = groupby(names, key=lambda name: face_of(name).suit)
    return [(suit, tuple(cards)) for suit, cards in groups]
