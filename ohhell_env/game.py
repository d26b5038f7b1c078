"""A read-only view of one table, for people and tools: hands, bids, tricks, scores, and what each seat saw happen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ohhell_env import kernel
from ohhell_env.cards import card_name, cards_of
from ohhell_env.kernel import FIRST_BID, NUM_ACTIONS
from ohhell_env.render.ansi import table_text
from ohhell_env.rules import Rules
from ohhell_env.state import BID, HAND_OVER, MATCH_OVER, NO_TRUMP, NONE, compile_rules


class HandDealt(NamedTuple):
    """A hand is dealt: ``cards[seat]`` where the viewer sees them, None where not; ``turned`` is everybody's."""

    hand_number: int
    dealer: int
    hand_size: int
    cards: tuple[tuple[int, ...] | None, ...]
    turned: int | None


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


class TrickTaken(NamedTuple):
    """A seat takes the trick."""

    seat: int


class HandScored(NamedTuple):
    """The hand's points for each seat."""

    points: tuple[float, ...]


Event = HandDealt | BidMade | BidsShown | CardPlayed | TrickTaken | HandScored


class Trick(NamedTuple):
    """A finished trick: its cards in the order played, and who took it."""

    plays: tuple[tuple[int, int], ...]  # (seat, card)
    winner: int


@lru_cache(maxsize=64)
def _table_of(rules: Rules) -> Any:
    return compile_rules((rules,))[0]


class Game:
    """One table as it stands. Cards are numbers 0..51, seats 0..players-1, points floats.

    The view is live: it reads the record it was made from. It offers no way to change it.

    Args:
        record: an element of an array of `ohhell_env.state.GAME`.
        rules: the table's rules.
        past: records of the finished hands of this match, oldest first, where somebody kept them.
    """

    def __init__(self, record: Any, rules: Rules, past: Sequence[Any] = ()) -> None:
        self._game = record
        self._past = past
        self.rules = rules

    @property
    def players(self) -> int:
        """Seats at the table."""
        return self.rules.players

    @property
    def seed(self) -> int:
        """The seed from which this match's deals come."""
        return int(self._game["seed"])

    @property
    def phase(self) -> int:
        """`ohhell_env.state` BID, PLAY, HAND_OVER or MATCH_OVER."""
        return int(self._game["phase"])

    @property
    def hand_number(self) -> int:
        """Number of the hand in the match, from 1."""
        return int(self._game["hand"]) + 1

    @property
    def num_hands(self) -> int:
        """Hands in the match."""
        return self.rules.num_hands

    @property
    def hand_size(self) -> int:
        """Tricks in this hand."""
        return int(self._game["hand_size"])

    @property
    def dealer(self) -> int:
        """Seat of the dealer."""
        return int(self._game["dealer"])

    @property
    def player(self) -> int | None:
        """Seat to act; None between hands and after the match."""
        return self._optional("player")

    @property
    def leader(self) -> int:
        """Seat that leads, or led, the current trick; while bidding, the seat left of the dealer."""
        return int(self._game["leader"])

    @property
    def turned(self) -> int | None:
        """The card turned up."""
        return self._optional("turned")

    @property
    def trump(self) -> int | None:
        """Trump suit 0..3; None for no trump."""
        trump = int(self._game["trump"])
        return None if trump == NO_TRUMP else trump

    @property
    def hands(self) -> tuple[tuple[int, ...], ...]:
        """Cards that each seat holds, ascending."""
        return tuple(tuple(cards_of(self._game["hands"][seat])) for seat in range(self.players))

    @property
    def dealt(self) -> tuple[tuple[int, ...], ...]:
        """Cards that each seat was dealt in this hand, ascending."""
        held, played = self._game["hands"], self._game["played"]
        return tuple(tuple(cards_of(held[seat] | played[seat])) for seat in range(self.players))

    @property
    def deal_order(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The cards dealt, in the order dealt, and the stock below the card turned up."""
        deck = [int(card) for card in self._game["deck"][: len(self.rules.deck)]]
        dealt = self.hand_size * self.players
        return tuple(deck[:dealt]), tuple(deck[dealt + (self.turned is not None) :])

    @property
    def bids(self) -> tuple[int | None, ...]:
        """Bid of each seat, sealed ones too; None where it has not bid."""
        return tuple(None if bid == NONE else int(bid) for bid in self._game["bids"][: self.players])

    def visible_bids(self, viewer: int | None) -> tuple[int | str | None, ...]:
        """Bids as a seat sees them: "hidden" where a bid is made but sealed. ``viewer=None`` sees all."""
        sealed = self.rules.bids == "sealed" and self.phase == BID and viewer is not None
        return tuple(
            "hidden" if sealed and bid is not None and seat != viewer else bid for seat, bid in enumerate(self.bids)
        )

    @property
    def taken(self) -> tuple[int, ...]:
        """Tricks that each seat has taken in this hand."""
        return tuple(int(tricks) for tricks in self._game["taken"][: self.players])

    @property
    def scores(self) -> tuple[float, ...]:
        """Match totals."""
        return tuple(float(score) for score in self._game["scores"][: self.players])

    @property
    def points(self) -> tuple[float, ...]:
        """Points of this hand once it is over; zeros before."""
        if self.phase not in (HAND_OVER, MATCH_OVER):
            return (0.0,) * self.players
        table = _table_of(self.rules)
        return tuple(float(kernel.hand_points(self._game, table, seat)) for seat in range(self.players))

    @property
    def win_shares(self) -> tuple[float, ...]:
        """Each seat's share of the win; zeros until the match is over."""
        if self.phase != MATCH_OVER:
            return (0.0,) * self.players
        best = max(self.scores)
        return tuple((score == best) / self.scores.count(best) for score in self.scores)

    @property
    def trick(self) -> tuple[tuple[int, int], ...]:
        """The current trick, (seat, card) in the order played."""
        first, end = self._game["num_plays"] - self._game["in_trick"], self._game["num_plays"]
        cards = [int(card) for card in self._game["plays"][first:end]]
        return tuple(((self.leader + k) % self.players, card) for k, card in enumerate(cards))

    @property
    def winning(self) -> int | None:
        """Seat that wins the current trick as it stands; None before its lead."""
        return self._optional("winning")

    @property
    def tricks(self) -> tuple[Trick, ...]:
        """Finished tricks of this hand, oldest first."""
        tricks, leader = [], (self.dealer + 1) % self.players
        finished = self._game["num_plays"] // self.players
        for start in range(0, finished * self.players, self.players):
            cards = self._game["plays"][start : start + self.players]
            plays = tuple(((leader + k) % self.players, int(card)) for k, card in enumerate(cards))
            best = plays[0]
            for play in plays[1:]:
                if kernel.beats(play[1], best[1], int(self._game["trump"])):
                    best = play
            leader = best[0]
            tricks.append(Trick(plays, leader))
        return tuple(tricks)

    @property
    def legal_actions(self) -> tuple[int, ...]:
        """Actions open to the seat to act, ascending."""
        return tuple(int(kernel.action_of(self._game, option)) for option in cards_of(self._game["legal"]))

    @property
    def past_hands(self) -> tuple[Game, ...]:
        """The finished hands of this match as they ended, oldest first; empty where nobody kept them."""
        return tuple(Game(record, self.rules) for record in self._past)

    def events(self, viewer: int | None = None) -> list[Event]:
        """Everything that happened, in order, as one seat saw it; ``viewer=None`` sees all cards and bids.

        From the match's first hand where finished hands were kept (the AEC environment keeps them), else of this hand.

        Raises:
            ValueError: if ``viewer`` is not a seat.
        """
        self._check_viewer(viewer)
        return [event for hand in self.hands_so_far for event in hand._hand_events(viewer)]

    @property
    def hands_so_far(self) -> tuple[Game, ...]:
        """The match's finished hands, where they were kept, and then this one, unless it is the last of them."""
        kept = bool(self._past) and self._past[-1]["hand"] == self._game["hand"]
        return self.past_hands if kept else (*self.past_hands, self)

    def _check_viewer(self, viewer: int | None) -> None:
        if viewer is not None and not 0 <= viewer < self.players:
            raise ValueError(f"viewer={viewer!r} is not a seat; seats are 0..{self.players - 1}")

    def _hand_events(self, viewer: int | None) -> Iterator[Event]:
        cards = tuple(hand if viewer in (None, seat) else None for seat, hand in enumerate(self.dealt))
        yield HandDealt(self.hand_number, self.dealer, self.hand_size, cards, self.turned)
        shown = self.rules.bids == "open" or viewer is None
        for k in range(1, self.players + 1):
            seat = (self.dealer + k) % self.players
            bid = self.bids[seat]
            if bid is not None:
                yield BidMade(seat, bid if shown or seat == viewer else None)
        if self.phase != BID and self.rules.bids == "sealed":
            yield BidsShown(tuple(bid for bid in self.bids if bid is not None))
        for trick in self.tricks:
            yield from (CardPlayed(*play) for play in trick.plays)
            yield TrickTaken(trick.winner)
        yield from (CardPlayed(*play) for play in self.trick)
        if self.phase in (HAND_OVER, MATCH_OVER):
            yield HandScored(self.points)

    def text(self, viewer: int | None = None) -> str:
        """The table as a card player would write it down; with a viewer, only what that seat sees.

        Raises:
            ValueError: if ``viewer`` is not a seat.
        """
        self._check_viewer(viewer)
        return table_text(self, viewer)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Game: hand {self.hand_number} of {self.num_hands}, {self.hand_size} cards, phase {self.phase}>"

    def _optional(self, field: str) -> int | None:
        value = int(self._game[field])
        return None if value == NONE else value


def action_text(action: int) -> str:
    """An action in words: ``play TD``, ``bid 3``."""
    if 0 <= action < FIRST_BID:
        return f"play {card_name(action)}"
    if FIRST_BID <= action < NUM_ACTIONS:
        return f"bid {action - FIRST_BID}"
    return f"{action} (no action: actions are 0..{NUM_ACTIONS - 1})"


def illegal_action_text(game: Game, action: int) -> str:
    """Why an action is refused and what is allowed instead."""
    if game.player is None:
        over = "match" if game.phase == MATCH_OVER else "hand"
        return f"action {action} ({action_text(action)}) is not legal; the {over} is over"
    allowed = ", ".join(action_text(one) for one in game.legal_actions)
    what = "bids" if game.phase == BID else "plays"
    return f"action {action} ({action_text(action)}) is not legal; player_{game.player} {what} now, allowed: {allowed}"
