"""What happens at a table, as one seat sees it: the events that `Game.events` lists."""

from __future__ import annotations

from typing import NamedTuple


class HandDealt(NamedTuple):
    """A hand is dealt: ``cards[seat]`` where the viewer sees them, None where not; everybody sees ``turned``."""

    hand_number: int
    dealer: int
    hand_size: int
    cards: tuple[tuple[int, ...] | None, ...]
    turned: int | None


class CardsSeen(NamedTuple):
    """Cards of this hand that the viewer sees from now on, as in `HandDealt`; None where nothing changes."""

    cards: tuple[tuple[int, ...] | None, ...]


class CardShown(NamedTuple):
    """A card is shown that makes trump: turned up after a round of passes, the dealer's last, or the one cut."""

    card: int


class TrumpMade(NamedTuple):
    """Trump becomes known other than by a card turned up at the deal; ``seat`` named it, unless that is None."""

    trump: int | None  # suit 0..3; None for no trump
    seat: int | None


class Said(NamedTuple):
    """A seat says something before the bidding: "pass", "nil", or "blind" with a bid, None where it is sealed."""

    seat: int
    what: str
    bid: int | None


class BidMade(NamedTuple):
    """A seat has bid; ``bid`` is None where it is sealed to the viewer."""

    seat: int
    bid: int | None


class BidsShown(NamedTuple):
    """Sealed bids are read out."""

    bids: tuple[int, ...]


class CardPlayed(NamedTuple):
    """A seat plays a card."""

    seat: int
    card: int


class SuitNamed(NamedTuple):
    """A seat names the suit of the joker that it has led."""

    seat: int
    suit: int


class TrickTaken(NamedTuple):
    """A seat takes the trick; None: nobody does, and the next one counts for it too."""

    seat: int | None


class HandScored(NamedTuple):
    """The hand's points for each seat."""

    points: tuple[float, ...]


Event = (
    HandDealt
    | CardsSeen
    | CardShown
    | TrumpMade
    | Said
    | BidMade
    | BidsShown
    | CardPlayed
    | SuitNamed
    | TrickTaken
    | HandScored
)
