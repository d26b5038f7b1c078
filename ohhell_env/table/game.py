"""A read-only view of one table, for people and tools: hands, bids, tricks, scores, and what each seat saw happen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ohhell_env.kernel import reading, rulebook
from ohhell_env.kernel.reading import option_field
from ohhell_env.kernel.state import (
    BID,
    BLIND,
    BLIND_BID,
    HAND_OVER,
    MATCH_OVER,
    NAME_SUIT,
    NAME_TRUMP,
    NIL,
    NO_TRUMP,
    NONE,
    PASS_OR_NIL,
    PASSED,
    PLAY,
    WIDE_FIRST_SLOT,
    WIDE_FIRST_SUIT,
    WIDE_PASS,
    Form,
    compile_rules,
    form_of_records,
)
from ohhell_env.rules.cards import cards_of
from ohhell_env.rules.ramps import special_text
from ohhell_env.rules.rules import Rules
from ohhell_env.table.actions import action_text, short_text
from ohhell_env.table.events import (
    BidMade,
    BidsShown,
    CardPlayed,
    CardShown,
    CardsSeen,
    Event,
    HandDealt,
    HandScored,
    Said,
    SuitNamed,
    TrickTaken,
    TrumpMade,
)

# Who looks at a table: a seat; "table", who sees what lies face up for all and no seat's cards; None, who sees all.
Viewer = int | str | None
TABLE_VIEWER = "table"


class Trick(NamedTuple):
    """A finished trick: its cards in the order played, who took it (None: nobody), the suit named for a joker led."""

    plays: tuple[tuple[int, int], ...]  # (seat, card)
    winner: int | None
    named: int | None = None


@lru_cache(maxsize=64)
def _table_of(rules: Rules, form: Form) -> Any:
    return compile_rules((rules,), form)[0]


class Game:
    """One table as it stands. Cards are card numbers of the table's deck, seats 0..players-1, points floats.

    The view is live: it reads the record it was made from. It offers no way to change it.

    Args:
        record: an element of an array of `ohhell_env.kernel.state.GAME` or ``WIDE_GAME``.
        rules: the table's rules.
        past: records of the finished hands of this match, oldest first, where they were kept.
    """

    def __init__(self, record: Any, rules: Rules, past: Sequence[Any] = ()) -> None:
        self._game = record
        self._past = past
        self.rules = rules
        self.form = form_of_records(record)

    @property
    def _table(self) -> Any:
        return _table_of(self.rules, self.form)

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
        """`ohhell_env.kernel.state` BID, PLAY, HAND_OVER, MATCH_OVER; at some tables BLIND .. NAME_SUIT."""
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
    def trump_known(self) -> bool:
        """Whether trump is settled: not while a card is still to be shown, or a suit to be named."""
        return bool(option_field(self._game, "trump_known"))

    @property
    def shown(self) -> int | None:
        """The card that made trump and is in play: the dealer's last, or the one cut."""
        shown = int(option_field(self._game, "shown"))
        return None if shown == NONE or self.phase in (BLIND, PASS_OR_NIL) else shown

    @property
    def special(self) -> str:
        """This hand's own rules: "", or such as "no trump"."""
        return special_text(int(option_field(self._game, "special")))

    @property
    def worth(self) -> int:
        """How many tricks the current trick counts for."""
        return int(option_field(self._game, "worth"))

    @property
    def deals(self) -> int:
        """How many times this hand has been dealt."""
        return int(option_field(self._game, "deals"))

    @property
    def hands(self) -> tuple[tuple[int, ...], ...]:
        """Cards that each seat holds, ascending; a card held twice is listed twice."""
        held = [list(cards_of(self._game["hands"][seat])) for seat in range(self.players)]
        for seat, cards in enumerate(held):
            cards += cards_of(option_field(self._game, "held_twice")[seat])
        return tuple(tuple(sorted(cards)) for cards in held)

    def sees_cards(self, viewer: Viewer, seat: int) -> bool:
        """Whether a viewer may see the cards that a seat holds; ``viewer=None`` sees all, ``"table"`` none."""
        if viewer is None or viewer == TABLE_VIEWER:
            return viewer is None
        return bool(reading.sees_cards(self._game, self._table, viewer, seat))

    def slots(self, seat: int) -> tuple[tuple[int, int], ...]:
        """The positions, in the order dealt, of the cards that a seat still holds, each with its card."""
        return tuple(reading.slots_held(self._game, self._table, seat))

    @property
    def dealt(self) -> tuple[tuple[int, ...], ...]:
        """Cards that each seat was dealt in this hand, ascending."""
        return tuple(tuple(reading.cards_dealt(self._game, self._table, seat)) for seat in range(self.players))

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

    @property
    def sealed(self) -> bool:
        """Whether bids are being made that others do not see yet."""
        if self.rules.bids == "open":
            return False
        return bool(reading.is_bidding(self._game, self._table))

    def visible_bids(self, viewer: Viewer) -> tuple[int | str | None, ...]:
        """Bids as a seat sees them: "hidden" where a bid is made but sealed. ``viewer=None`` sees all."""
        hidden = self.sealed and viewer is not None
        return tuple(
            "hidden" if hidden and bid is not None and seat != viewer and self.pledges[seat] != "nil" else bid
            for seat, bid in enumerate(self.bids)
        )

    @property
    def pledges(self) -> tuple[str | None, ...]:
        """What each seat said before the bidding: "pass", "nil", "blind", or None."""
        return tuple(_PLEDGES.get(int(pledge)) for pledge in option_field(self._game, "pledges")[: self.players])

    def visible_first_bids(self, viewer: Viewer) -> tuple[int | str | None, ...]:
        """Each seat's blind bid, or its bid in the round before this one, as a seat sees it; see `visible_bids`."""
        hidden = self.sealed and viewer is not None
        return tuple(
            None
            if bid == NONE
            else "hidden"
            if hidden and seat != viewer and self.pledges[seat] == "blind"
            else int(bid)
            for seat, bid in enumerate(option_field(self._game, "first_bids")[: self.players])
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
        return tuple(float(rulebook.hand_points(self._game, self._table, seat)) for seat in range(self.players))

    @property
    def win_shares(self) -> tuple[float, ...]:
        """Each seat's share of the win; zeros until the match is over."""
        if self.phase != MATCH_OVER:
            return (0.0,) * self.players
        return tuple(float(rulebook.win_share(self._game, self._table, seat)) for seat in range(self.players))

    @property
    def trick(self) -> tuple[tuple[int, int], ...]:
        """The current trick, (seat, card) in the order played."""
        first, end = self._game["num_plays"] - self._game["in_trick"], self._game["num_plays"]
        cards = [int(card) for card in self._game["plays"][first:end]]
        return tuple(((self.leader + k) % self.players, card) for k, card in enumerate(cards))

    @property
    def winning(self) -> int | None:
        """Seat that wins the current trick as it stands; None before its lead, or where nobody does."""
        return self._optional("winning")

    @property
    def named_suit(self) -> int | None:
        """The suit named for the joker that leads the current trick."""
        if not self._game["in_trick"]:
            return None
        named = int(option_field(self._game, "named")[self._game["num_plays"] // self.players])
        return None if named == NONE else named

    @property
    def tricks(self) -> tuple[Trick, ...]:
        """Finished tricks of this hand, oldest first."""
        tricks, leader = [], (self.dealer + 1) % self.players
        for number in range(int(self._game["num_plays"]) // self.players):
            cards = self._game["plays"][number * self.players : (number + 1) * self.players]
            plays = tuple(((leader + k) % self.players, int(card)) for k, card in enumerate(cards))
            winner = int(reading.trick_winner(self._game, self._table, number, leader))
            named = int(option_field(self._game, "named")[number])
            trick = Trick(plays, None if winner == NONE else winner, None if named == NONE else named)
            leader = leader if trick.winner is None else trick.winner
            tricks.append(trick)
        return tuple(tricks)

    @property
    def legal_actions(self) -> tuple[int, ...]:
        """Actions open to the seat to act, ascending."""
        return tuple(int(rulebook.action_of(self._game, option)) for option in cards_of(self._game["legal"]))

    def action_text(self, action: int) -> str:
        """An action as text, as it is said at this table now: ``play TD``, ``bid 3``, ``blind 3``, ``nil``.

        A card that its own player does not see is not named.
        """
        bid = action - self.form.first_bid
        if self.phase == PLAY and bid < 0 and action in self.legal_actions:
            return (
                action_text(action, self.rules) if self.sees_cards(self.player, self.player or 0) else "play your card"
            )
        if self.phase == BLIND and 0 <= bid < self.form.num_bids:
            return f"blind {bid}"
        if self.phase == PASS_OR_NIL and bid == 0:
            return "nil"
        return action_text(action, self.rules, self.form)

    @property
    def actions_by_text(self) -> dict[str, int]:
        """Lower-case texts that a person may type, each with its legal action: in full, then shorter."""
        texts = [(self.action_text(action), action) for action in self.legal_actions]
        words = {text.lower(): action for text, action in texts}
        for text, action in texts:
            short = short_text(text)
            words.setdefault(short.lower(), action)
            if short.startswith("*"):
                words.setdefault(f"joker {short[1:].lower()}".rstrip(), action)
            if text == "nil" or text.startswith(("blind", "play card")):
                number = "0" if text == "nil" else short
                words.setdefault(number, action)
                words.setdefault(f"{'card' if text.startswith('play') else 'bid'} {number}", action)
        return words

    @property
    def calls(self) -> tuple[tuple[int, int], ...]:
        """What was done before the play of this hand, in order: (phase, action)."""
        return tuple((game.phase, action) for game, action in self._replay() if game.phase not in (PLAY, NAME_SUIT))

    @property
    def failed(self) -> bool:
        """Whether a cooperative hand is over and somebody has missed their bid, so that it is dealt again."""
        return self.phase in (HAND_OVER, MATCH_OVER) and bool(rulebook.is_lost(self._game, self._table))

    def _replay(self) -> Iterator[tuple[Game, int]]:
        """The decisions of this hand from its deal on: the table before each (live: look at once) and the action."""
        games: Any = np.zeros(1, dtype=self.form.game)
        games[0] = self._game
        game = Game(games[0], self.rules)
        rulebook.deal(games[0], self._table)
        calls = reading.calls_made(self._game, self._table)
        plays = [int(card) for card in self._game["plays"][: self._game["num_plays"]]]
        while game.phase not in (HAND_OVER, MATCH_OVER):
            if game.phase == PLAY:
                if not plays:
                    return
                action = game.play_action(plays.pop(0))
            elif game.phase == NAME_SUIT:
                suit = int(option_field(self._game, "named")[games[0]["num_plays"] // self.players])
                if suit == NONE:
                    return
                action = WIDE_FIRST_SUIT + suit
            elif calls:
                action = int(rulebook.action_of(games[0], calls.pop(0)))
            else:
                return
            yield game, action
            rulebook.apply(games[0], self._table, action)

    def play_action(self, card: int) -> int:
        """The legal action that plays a card; of two positions of the same card the first."""
        if self.rules.own_cards != "hidden":
            return card
        slots = [slot for slot, held in self.slots(self.player or 0) if held == card]
        return WIDE_FIRST_SLOT + slots[0] if slots else card

    @property
    def past_hands(self) -> tuple[Game, ...]:
        """The finished hands of this match as they ended, oldest first; empty where they were not kept."""
        return tuple(Game(record, self.rules) for record in self._past)

    def events(self, viewer: Viewer = None) -> list[Event]:
        """Everything that happened, in order, as one seat saw it; ``viewer=None`` sees all cards and bids.

        ``viewer="table"`` sees what lies face up for all: no hands, and sealed bids once all are in.

        From the match's first hand where finished hands were kept (the AEC environment keeps them), else of this hand.

        Raises:
            ValueError: if ``viewer`` is none of these.
        """
        self.check_viewer(viewer)
        return [event for hand in self.hands_so_far for event in hand._hand_events(viewer)]

    @property
    def hands_so_far(self) -> tuple[Game, ...]:
        """The match's finished hands, where they were kept, and then this one, unless it is the last of them."""
        last, deals = self._past[-1:], option_field(self._game, "deals")
        kept = any(one["hand"] == self._game["hand"] and option_field(one, "deals") == deals for one in last)
        return self.past_hands if kept else (*self.past_hands, self)

    def check_viewer(self, viewer: Viewer) -> None:
        """`ValueError` for a viewer who is neither a seat, nor "table" (sees no cards), nor None (sees everything)."""
        seat = isinstance(viewer, (int, np.integer)) and not isinstance(viewer, bool) and 0 <= viewer < self.players
        if not seat and viewer not in (None, TABLE_VIEWER):
            raise ValueError(
                f"viewer={viewer!r} is not a seat; seats are 0..{self.players - 1}, "
                f"{TABLE_VIEWER!r} sees no cards and None sees everything"
            )

    def _hand_events(self, viewer: Viewer) -> Iterator[Event]:
        if reading.keeps_calls(self._game):
            yield from (event for events in self._event_steps(viewer) for event in events)
            return
        cards = tuple(hand if viewer in (None, seat) else None for seat, hand in enumerate(self.dealt))
        yield HandDealt(self.hand_number, self.dealer, self.hand_size, cards, self.turned)
        shown = self.rules.bids == "open" or viewer is None
        for k in range(1, self.players + 1):
            seat = (self.dealer + k) % self.players
            bid = self.bids[seat]
            if bid is not None:
                yield BidMade(seat, bid if shown or seat == viewer else None)
        if self.phase != BID and self.rules.bids != "open":
            yield BidsShown(tuple(bid for bid in self.bids if bid is not None))
        for trick in self.tricks:
            yield from (CardPlayed(*play) for play in trick.plays)
            yield TrickTaken(trick.winner)
        yield from (CardPlayed(*play) for play in self.trick)
        if self.phase in (HAND_OVER, MATCH_OVER):
            yield HandScored(self.points)

    def _event_steps(self, viewer: Viewer) -> Iterator[list[Event]]:
        """The events of the deal, then of each decision, where the record keeps what was said."""
        before: Game | None = None
        action = NONE
        for game, next_action in self._replay():
            now = game.copy()
            yield now._deal_events(viewer) if before is None else before._events_to(now, action, viewer)
            before, action = now, next_action
        if before is None:
            yield self._deal_events(viewer)
        else:
            yield before._events_to(self, action, viewer)

    def copy(self) -> Game:
        """The table as it stands now, which no longer changes."""
        games: Any = np.zeros(1, dtype=self.form.game)
        games[0] = self._game
        return Game(games[0], self.rules, self._past)

    def _deal_events(self, viewer: Viewer) -> list[Event]:
        cards = tuple(hand if self.sees_cards(viewer, seat) else None for seat, hand in enumerate(self.dealt))
        events: list[Event] = [HandDealt(self.hand_number, self.dealer, self.hand_size, cards, self.turned)]
        if self.shown is not None:
            events.append(CardShown(self.shown))
        if reading.keeps_calls(self._game) and self.trump_known and self.turned is None:
            events.append(TrumpMade(self.trump, None))
        return events

    def _events_to(self, after: Game, action: int, viewer: Viewer) -> list[Event]:
        """What happens between this table and the one after an action."""
        seat = self.player if self.player is not None else NONE
        events: list[Event] = []
        if self.phase == PLAY:
            events.append(CardPlayed(seat, int(after._game["plays"][self._game["num_plays"]])))
        elif self.phase == NAME_SUIT:
            events.append(SuitNamed(seat, action - WIDE_FIRST_SUIT))
        elif self.phase == NAME_TRUMP:
            named = action - WIDE_FIRST_SUIT
            events.append(TrumpMade(None if named == NO_TRUMP else named, seat))
        else:
            bid = action - self.form.first_bid
            shown: int | None = bid if seat == viewer or viewer is None or self.rules.bids == "open" else None
            if self.phase == BID:
                events.append(BidMade(seat, shown))
            elif action == WIDE_PASS:
                events.append(Said(seat, "pass", None))
            else:
                nil = self.phase == PASS_OR_NIL
                events.append(Said(seat, "nil" if nil else "blind", bid if nil else shown))
        if self.sealed and not after.sealed and None not in after.bids:
            events.append(BidsShown(tuple(bid for bid in after.bids if bid is not None)))
        elif self.phase == BID and after.phase == BID and after.bids.count(None) == self.players and self.players > 1:
            events.append(BidsShown(tuple(int(bid) for bid in after._game["first_bids"][: self.players])))
        for before, now in ((self.turned, after.turned), (self.shown, after.shown)):
            if before is None and now is not None:
                events.append(CardShown(now))
        if after.trump_known and not self.trump_known and self.phase != NAME_TRUMP:
            events.append(TrumpMade(after.trump, None))
        if after._game["num_plays"] // self.players > self._game["num_plays"] // self.players:
            events.append(TrickTaken(after.tricks[-1].winner))
        seen = tuple(
            after.hands[other] if after.sees_cards(viewer, other) and not self.sees_cards(viewer, other) else None
            for other in range(self.players)
        )
        if any(seen) and after.player is not None:
            events.append(CardsSeen(seen))
        if after.phase in (HAND_OVER, MATCH_OVER):
            events.append(HandScored(after.points))
        return events

    def __repr__(self) -> str:
        return f"<Game: hand {self.hand_number} of {self.num_hands}, {self.hand_size} cards, phase {self.phase}>"

    def _optional(self, field: str) -> int | None:
        value = int(self._game[field])
        return None if value == NONE else value


def news(game: Game, viewer: Viewer, told: tuple[int, int]) -> tuple[list[Event], tuple[int, int]]:
    """What happened since a viewer was last told.

    Args:
        game: the table, with its finished hands.
        viewer: a seat; None sees everything.
        told: how far the viewer has been told: a number of hands, and of events of the next one.

    Returns:
        The events since, in order, and what ``told`` is after them.
    """
    hands = game.hands_so_far
    events: list[Event] = []
    number, heard = told
    for number in range(told[0], len(hands)):
        happened = list(hands[number]._hand_events(viewer))
        events += happened[told[1] if number == told[0] else 0 :]
        heard = len(happened)
    return events, (number, heard)


_PLEDGES = {PASSED: "pass", NIL: "nil", BLIND_BID: "blind"}


def illegal_action_text(game: Game, action: int) -> str:
    """Why an action is refused and what is allowed instead."""
    words = game.action_text(action)
    if game.player is None:
        over = "match" if game.phase == MATCH_OVER else "hand"
        return f"action {action} ({words}) is not legal; the {over} is over"
    allowed = ", ".join(map(game.action_text, game.legal_actions))
    what = {BID: "bids", PLAY: "plays"}.get(game.phase, "speaks")
    return f"action {action} ({words}) is not legal; player_{game.player} {what} now, allowed: {allowed}"
