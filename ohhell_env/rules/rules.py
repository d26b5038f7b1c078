"""Frozen `Rules`: one table's rules as data, validated on construction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ohhell_env.rules import ramps
from ohhell_env.rules.cards import (
    DECKS,
    NUM_SUITS,
    STANDARD,
    STANDARD_DECK,
    SUIT_NAMES,
    Deck,
    card_name,
    parse_cards,
)
from ohhell_env.rules.limits import (
    MAX_HAND_SIZE,
    MAX_PLAYERS,
    MIN_PLAYERS,
    WIDE_MAX_HAND_SIZE,
    WIDE_MAX_PLAYERS,
    WIDE_MIN_PLAYERS,
)
from ohhell_env.rules.ramps import BLIND_HAND, DRAWN, GOLDEN_HAND, MISER_HAND, RAMPS, RANDOM, RampHand, ramp_hand
from ohhell_env.rules.scoring import LOWEST_WINS, Scoring, TabulatedScoring, num_arguments, resolve, tabulate

BIDS = ("sealed", "open", "together")
TRUMPS = ("turned", "none", *SUIT_NAMES, "named", "cut", DRAWN)
ROTATION = (*SUIT_NAMES, "none")  # what a sequence of trumps may hold
FULL_DEALS = ("none", "last", "cut")
LEAD_TRUMP = ("any", "broken", "not first")
DUPLICATES = ("first", "ante", "exception")
OWN_CARDS = ("seen", "forehead", "hidden")


NO_DEALS = "cooperative=True cannot have given deals: a hand may be dealt again"
_FLAGS = (*("hook", "knocking", "cooperative", "nil_round", "blind_bids", "must_trump", "hands_shown", "sort_hands"),)


def _check_int(option: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{option}={value!r} is not allowed; use a whole number from {low} to {high}")


def _check_choice(option: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{option}={value!r} is not allowed; use one of {', '.join(map(repr, choices))}")


def _late(default: Any) -> Any:
    """An option that `Rules.to_json` leaves out where it has its default."""
    return field(default=default, metadata={"late": True})


@dataclass(frozen=True)
class Rules:
    """The rules of one table. ``Rules()`` is the base rules for four players. The sources: ``docs/sources.md``.

    Where a source leaves an option open, the option's entry says what is played here.

    Attributes:
        players: seats at the table, 2..10, as far as the deck reaches. The sources say "almost any number" and play
            with 2 to 8; ten is what the records and observations of the wide form have seats for, since every further
            seat makes them longer at every table.
        ramp: hands in the order played. A pattern, up to the largest hand that deck and ``cap`` allow, 26 cards at
            most: "down-up", "up-down", "down", "up", "up-down, peak twice", "up-down, no trump twice" (between up
            and down two hands of the largest size without trump), "up twice", "random" (each size once, in an order
            that the match's seed decides), "drawn" (as many hands as "up-down" has, each of the size that a
            card from a second deck says, ace 1 to king 13, cards beyond the largest hand drawn again); corners as in
            "10..1..10" or "1..10"; or the hands themselves, so ``(5,)`` is a match of a single five-card hand. A hand
            may have rules of its own: "8 no trump"; "5 blind" (everybody bids before any cards are looked at; trump
            is known); "5 golden" (no bids, a point a trick whatever the scoring, which counts against the
            total where the lowest wins: taking tricks is the aim); "5 miser" (no bids; whoever takes
            the fewest tricks, all of them if several, gets what a zero bid made is worth, the others what it is worth
            missed) (encyclopedia, "Order of Hands").
        hook: whether the last to bid, the dealer, may not make the bids add up to the hand size.
        bids: "sealed" (others' bids are seen once all are in), "open" (seen as each is made), or "together" (all at
            once, which is sealed without a last bidder: no hook) (base rules, encyclopedia, online table).
        trump: "turned" (the next card of the stock; see ``full_deal``), "none", a suit's name, a sequence of suits'
            names and "none" that hands take in turn, "named" (one of the four suits, by the highest bidder, the first
            of equals in the order of bidding, once all have bid; a hand without bids has no trump), "cut" (the suit
            of a card cut before the deal and shuffled back in, shown when a blind or nil round is over), "drawn"
            (with ramp "drawn": the suit of the second deck's card). Where a joker is turned or cut, the dealer names
            a suit or no trump before the bidding.
        scoring: a name in `ohhell_env.rules.scoring.SCORINGS`, or a function (bid, taken, hand size[, players[,
            trump]]) -> points.
        deck: a `Deck`, or a name in `ohhell_env.rules.cards.DECKS`; 52 cards by default, any part of them for
            small games.
        first_dealer: seat that deals the first hand, or "random".
        cap: the largest hand of a pattern, where the deck allows more; 0 for none.
        knocking: all bid together; where the sum of the bids fits the hand, all bid again, and from the fourth time
            on nobody may repeat the bid just shown (encyclopedia, "Making bids", 4). The
            seventh bids stand in any case.
        cooperative: the bids must fit: nobody may bid more than what is left, and the last bids the rest. Unless all
            make their bids nobody scores, and the next dealer deals the same hand again (same trump too, where it was
            drawn), until it is made (encyclopedia, "Cooperative Version").
        attempts: most deals of one hand in a cooperative match, the first included, 0..100; when the last of them
            fails the match is lost, and nobody wins. 0 (the default): no limit, as in the source. Players who seldom
            make a hand, random ones above all, then play for very long: set a limit for training and measuring.
        nil_round: in hands of more tricks than players, before trump is shown, each says in turn "pass" or bids zero,
            for all to hear; those who passed then bid one or more, the last of them under the hook (encyclopedia, 6).
        blind_bids: before the cards are dealt each may bid in turn. In the round of bidding such a seat, having seen
            its cards, keeps that bid, for twice what it gains and twice what it loses, or moves it by up to two, for
            1.5 times what it gains and three times what it loses. Where the lowest total wins, points are what it
            loses. Only a bid that is made gains more: a scoring that pays for a miss pays for it as without blind bids
            (encyclopedia, 5).
        full_deal: what makes trump where "turned" finds no card left: "none", "last" (the dealer's last card, shown
            to all), or "cut" (base rules, encyclopedia).
        lead_trump: when trump may be led: "any" time, once "broken" (a trump has been played to a trick that
            another suit led; a lead that nobody could help does not break it), or "not first" (not to
            a hand's first trick); a seat with only trumps may always lead them (seven-down rules, online table).
        must_trump: whether a seat that cannot follow suit must play trump if it can (encyclopedia, "64 Card Version").
        duplicates: what holds between two copies of a card in one trick: "first" (the one played first is higher), or
            cancellation, neither can win; where nobody's card can: "ante" (nobody takes it, its leader leads again,
            and the next trick counts for it too, so three times after two such; a last trick is lost), or "exception"
            (as "first") (encyclopedia, "Double deck").
        own_cards: "seen"; "forehead" (in one-card hands each sees all cards but their own until the first is led,
            whose player is told which it is); or "hidden" (in all hands throughout: seats play by position in the
            order dealt, and are told which positions may be played) (encyclopedia, "Penguin Whist"; seven-down rules).
        hands_shown: whether all hands lie face up (online table, "Show all hands").
        sort_hands: whether with ``own_cards="hidden"`` the neighbours sort each hand of three cards and more by suit
            before the bidding: positions are then those of clubs, diamonds, hearts, spades, jokers, and within a suit
            in the order dealt (encyclopedia, "Penguin Whist").
        lowest_wins: whether the lowest total wins; None as the scoring says.
        deals: decks for the first hands, in the order dealt, in place of the shuffle (online table, "Allow deck
            upload").

    Jokers ("five hundred", "oh sh") belong to the trump suit, as its highest cards in the first and between its twos
    and its ace in the second. Without trump a joker may be played whatever is led; led, its player names the suit to
    follow. It is then the highest card of the suit led in the first, and beaten by any card of it in the second
    (encyclopedia, "64 Card Version"; 500 has no rule for this game).

    Raises:
        ValueError: naming the option, its value and what is allowed.
    """

    players: int = 4
    ramp: str | tuple[int | str, ...] = "down-up"
    hook: bool = True
    bids: str = "sealed"
    trump: str | tuple[str, ...] = "turned"
    scoring: str | Scoring = "exact"
    deck: Deck = STANDARD_DECK  # or a name in DECKS, which becomes the deck
    first_dealer: int | str = 0
    cap: int = _late(0)
    knocking: bool = _late(False)
    cooperative: bool = _late(False)
    attempts: int = _late(0)
    nil_round: bool = _late(False)
    blind_bids: bool = _late(False)
    full_deal: str = _late("none")
    lead_trump: str = _late("any")
    must_trump: bool = _late(False)
    duplicates: str = _late("first")
    own_cards: str = _late("seen")
    hands_shown: bool = _late(False)
    sort_hands: bool = _late(False)
    lowest_wins: bool | None = _late(None)
    deals: tuple[tuple[int, ...], ...] = _late(())  # or names of cards, which become numbers

    def __post_init__(self) -> None:
        self._check_values()
        self._check_ramp()
        self._check_trump()
        self._check_together()
        scoring = resolve(self.scoring)  # an unusable scoring is refused here, not in mid-match
        for trump in range(len(ROTATION)) if num_arguments(scoring) == 5 else (NUM_SUITS,):
            tabulate(scoring, self.hand_sizes, self.players, trump, WIDE_MAX_HAND_SIZE)
        object.__setattr__(self, "deals", tuple(tuple(parse_cards(deal, self.deck.card_set)) for deal in self.deals))
        for number, deal in enumerate(self.deals):
            if tuple(sorted(deal)) != self.deck.cards:
                raise ValueError(
                    f"deals[{number}] is not a whole deck: {len(deal)} cards, not those of {self.deck.name!r}"
                )

    def _check_values(self) -> None:
        """Each option by itself."""
        _check_int("players", self.players, WIDE_MIN_PLAYERS, WIDE_MAX_PLAYERS)
        for option, choices in (
            ("bids", BIDS),
            ("full_deal", FULL_DEALS),
            ("lead_trump", LEAD_TRUMP),
            ("duplicates", DUPLICATES),
            ("own_cards", OWN_CARDS),
        ):
            _check_choice(option, getattr(self, option), choices)
        if self.first_dealer != "random":
            _check_int("first_dealer", self.first_dealer, 0, self.players - 1)
        for option in _FLAGS:
            if not isinstance(getattr(self, option), bool):
                raise ValueError(f"{option}={getattr(self, option)!r} is not allowed; use True or False")
        if self.lowest_wins not in (None, True, False):
            raise ValueError(f"lowest_wins={self.lowest_wins!r} is not allowed; use True, False or None")
        _check_int("cap", self.cap, 0, WIDE_MAX_HAND_SIZE)
        _check_int("attempts", self.attempts, 0, 100)
        if isinstance(self.deck, str) and self.deck in DECKS:
            object.__setattr__(self, "deck", DECKS[self.deck])
        if not isinstance(self.deck, Deck):
            raise ValueError(
                f"deck={self.deck!r} is not a Deck; use ohhell_env.rules.cards.Deck.of('AC KC ...') "
                f"or one of {', '.join(map(repr, DECKS))}"
            )
        if len(self.deck) < self.players:
            raise ValueError(f"deck={self.deck.name!r} has {len(self.deck)} cards, too few for players={self.players}")

    def _check_ramp(self) -> None:
        ramp: Any = self.ramp
        where = f"{self.players} players, {len(self.deck)} cards"
        most = min(len(self.deck) // self.players, WIDE_MAX_HAND_SIZE)
        if not isinstance(ramp, str):
            object.__setattr__(self, "ramp", ramps.check_ramp(ramp, most, where))
        elif ramp not in RAMPS:
            sizes = ramps.corners(ramp)
            if sizes is None:
                known = ", ".join(map(repr, RAMPS))
                raise ValueError(
                    f"ramp={ramp!r} is not known; use one of {known}, corners as in '10..1..10', "
                    "or a sequence of hand sizes"
                )
            ramps.check_ramp(sizes, most, where)
        if self.cap and (not isinstance(self.ramp, str) or self.ramp not in RAMPS):
            raise ValueError(f"cap={self.cap} is not allowed with ramp={ramp!r}, which names its own sizes; use cap=0")

    def _check_trump(self) -> None:
        trump: Any = self.trump
        if not isinstance(trump, str) and isinstance(trump, Sequence):
            if not trump or any(one not in ROTATION for one in trump):
                raise ValueError(f"trump={trump!r} is not allowed; a sequence holds {', '.join(map(repr, ROTATION))}")
            object.__setattr__(self, "trump", tuple(trump))
        elif trump not in TRUMPS:
            known = ", ".join(map(repr, TRUMPS))
            raise ValueError(f"trump={trump!r} is not allowed; use one of {known}, or a sequence of suits")
        if (self.ramp == DRAWN) != (self.trump == DRAWN):
            raise ValueError(f"ramp={self.ramp!r} with trump={trump!r} is not allowed; 'drawn' draws both or neither")
        if self.full_deal != "none" and self.trump != "turned":
            raise ValueError(f"full_deal={self.full_deal!r} needs trump='turned'; with trump={trump!r} use 'none'")
        if self.duplicates != "first" and not self.deck.pairs:
            raise ValueError(
                f"duplicates={self.duplicates!r} needs a deck that holds cards twice, as 'double deck'; "
                f"{self.deck.name!r} holds none"
            )

    def _check_together(self) -> None:
        """What cannot be played with what."""
        no_bids = any(hand.special & (GOLDEN_HAND | MISER_HAND) for hand in self.ramp_hands)
        blind = any(hand.special & BLIND_HAND for hand in self.ramp_hands)
        for wrong, what in (
            (self.bids == "together" and self.hook, "bids='together' needs hook=False: nobody bids last"),
            (self.knocking and self.bids != "together", "knocking=True needs bids='together'"),
            (self.cooperative and (self.bids != "open" or self.hook), "cooperative=True needs bids='open', hook=False"),
            (self.cooperative and no_bids, "cooperative=True cannot have golden or miser hands: nobody bids in them"),
            (self.cooperative and bool(self.deals), NO_DEALS),
            (self.own_cards != "seen" and self.hands_shown, "hands_shown=True needs own_cards='seen'"),
            (self.hands_shown and (blind or self.blind_bids), "hands_shown=True cannot have blind hands or bids"),
            (self.sort_hands and self.own_cards != "hidden", "sort_hands=True needs own_cards='hidden'"),
            (
                self.sort_hands and self.full_deal == "last",
                "sort_hands=True cannot have full_deal='last': the dealer's last card would not lie last",
            ),
        ):
            if wrong:
                raise ValueError(what)
        ways = [o for o in ("knocking", "cooperative", "nil_round", "blind_bids") if getattr(self, o)]
        if len(ways) > 1:
            raise ValueError(
                f"{' and '.join(f'{way}=True' for way in ways)} cannot be played together; use one of them"
            )

    @property
    def peak(self) -> int:
        """The largest hand that deck and cap allow, in cards."""
        most = min(len(self.deck) // self.players, WIDE_MAX_HAND_SIZE)
        if self.ramp == DRAWN:
            most = min(most, 13)
        return min(most, self.cap) if self.cap else most

    @property
    def ramp_hands(self) -> tuple[RampHand, ...]:
        """The hands of the match in the order played, with their special rules."""
        if not isinstance(self.ramp, str):
            return tuple(ramp_hand(entry) for entry in self.ramp)
        entries = RAMPS[self.ramp](self.peak) if self.ramp in RAMPS else ramps.corners(self.ramp) or ()
        return tuple(map(ramp_hand, entries))

    @property
    def hand_sizes(self) -> tuple[int, ...]:
        """Cards in each hand of the match, in the order played; of a random or drawn ramp the sizes that may come."""
        return tuple(hand.size for hand in self.ramp_hands)

    @property
    def num_hands(self) -> int:
        """Hands in a match, those dealt again not counted."""
        return len(self.hand_sizes)

    @property
    def lowest(self) -> bool:
        """Whether the lowest total wins."""
        return resolve(self.scoring) in LOWEST_WINS if self.lowest_wins is None else self.lowest_wins

    @property
    def standard(self) -> bool:
        """Whether the table is of the standard form: the observation and action space of 3 to 7 players, 52 cards."""
        return not self.wide_options

    @property
    def wide_options(self) -> tuple[str, ...]:
        """The options that make the table one of the wide form, each with its value; none at a standard table."""
        wide: list[tuple[str, bool]] = [
            (f"players={self.players}", not MIN_PLAYERS <= self.players <= MAX_PLAYERS),
            (f"deck={self.deck.name!r}", self.deck.card_set != STANDARD or bool(self.deck.pairs)),
            (f"ramp={self.ramp!r}", self.ramp in (RANDOM, DRAWN) or any(hand.special for hand in self.ramp_hands)),
            (f"hands of {max(self.hand_sizes)} cards", max(self.hand_sizes) > MAX_HAND_SIZE),
            (f"trump={self.trump!r}", self.trump not in ("turned", "none")),
            (f"scoring={self.scoring!r} by trump", num_arguments(resolve(self.scoring)) == 5),
        ]
        plain = ("knocking", "cooperative", "nil_round", "blind_bids", "full_deal", "lead_trump", "must_trump")
        for option in fields(self):
            if option.name in (*plain, "own_cards", "hands_shown", "sort_hands"):
                value = getattr(self, option.name)
                wide.append((f"{option.name}={value!r}", value != option.default))
        return tuple(text for text, is_wide in wide if is_wide)

    def to_json(self) -> dict[str, Any]:
        """The rules as plain data, without options later than the first release that have their default.

        A scoring that has no name is written out as its table of points.
        """
        card_set = self.deck.card_set
        deck: Any = next((name for name, known in DECKS.items() if known == self.deck), None)
        if deck is None:
            deck = {"name": self.deck.name, "cards": [card_name(card, card_set) for card in self.deck.cards]}
            deck |= {"card_set": card_set.name} if card_set != STANDARD else {}
        data: dict[str, Any] = {}
        for option in fields(self):
            value = getattr(self, option.name)
            if not option.metadata.get("late") or value != option.default:
                data[option.name] = list(value) if isinstance(value, tuple) else value
        if not isinstance(self.scoring, str):
            data["scoring"] = TabulatedScoring.to_json(self.scoring, self.hand_sizes, self.players)
        data["deck"] = deck
        if self.deals:
            data["deals"] = [[card_name(card, card_set) for card in deal] for deal in self.deals]
        return data

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Rules:
        """The inverse of `to_json`.

        Raises:
            ValueError: for an option that is unknown or whose value is not allowed.
        """
        if not isinstance(data, dict):
            raise ValueError(f"rules={data!r} is not allowed; use an object with the options")
        options = dict(data)
        unknown = set(options) - set(cls.__dataclass_fields__)
        if unknown:
            raise ValueError(f"unknown options {sorted(unknown)}; known are {sorted(cls.__dataclass_fields__)}")
        options.setdefault("deck", "standard")
        return cls(**{option: option_from_json(option, value) for option, value in options.items()})


def option_from_json(option: str, value: Any) -> Any:
    """One option's value from plain data as `Rules.to_json` writes it; what it may be is checked by `Rules`.

    Raises:
        ValueError: for a deck or a scoring of another form.
    """
    if option == "scoring" and isinstance(value, dict):
        return TabulatedScoring.from_json(value)
    if option == "deck":
        if isinstance(value, dict) and {"name", "cards"} <= set(value) <= {"name", "cards", "card_set"}:
            return Deck(value["name"], tuple(value["cards"]), value.get("card_set", STANDARD))
        if isinstance(value, str) and value in DECKS:
            return DECKS[value]
        raise ValueError(
            f"deck={value!r} is not allowed; use one of {', '.join(map(repr, DECKS))} or an object with name and cards"
        )
    return tuple(value) if option in ("ramp", "trump") and isinstance(value, list) else value
