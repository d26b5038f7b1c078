"""Frozen `Rules`: one table's rules as data, validated on construction; presets by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from ohhell_env.cards import STANDARD_DECK, Deck, card_name
from ohhell_env.limits import MAX_HAND_SIZE, MAX_HANDS, MAX_PLAYERS, MIN_PLAYERS
from ohhell_env.scoring import Scoring, TabulatedScoring, resolve, tabulate


def _down(peak: int) -> tuple[int, ...]:
    return tuple(range(peak, 0, -1))


def _up(peak: int) -> tuple[int, ...]:
    return tuple(range(1, peak + 1))


# Hand sizes from the largest hand that the deck allows: "down-up" is seed 000, the others seed 001, "Order of Hands".
RAMPS: dict[str, Callable[[int], tuple[int, ...]]] = {
    "down-up": lambda peak: _down(peak) + _up(peak)[1:],
    "up-down": lambda peak: _up(peak) + _down(peak)[1:],
    "down": _down,
    "up": _up,
}
BIDS = ("sealed", "open")
TRUMPS = ("turned", "none")


def _check_int(option: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{option}={value!r} is not allowed; use a whole number from {low} to {high}")


def _check_choice(option: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{option}={value!r} is not allowed; use one of {', '.join(map(repr, choices))}")


def _check_sizes(ramp: Any, peak: int, players: int, cards: int) -> tuple[int, ...]:
    allowed = f"whole numbers from 1 to {peak} ({players} players, {cards} cards)"
    try:
        sizes = tuple(ramp)
    except TypeError:
        raise ValueError(f"ramp={ramp!r} is not allowed; use a pattern or a sequence of {allowed}") from None
    if not 1 <= len(sizes) <= MAX_HANDS:
        raise ValueError(f"ramp={ramp!r} has {len(sizes)} hands; a match has 1 to {MAX_HANDS}")
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= peak:
            raise ValueError(f"ramp={ramp!r} holds {size!r}; hand sizes are {allowed}")
    return sizes


def _ramp_text(sizes: Sequence[int]) -> str:
    """Hand sizes with runs shortened: 13..1..13."""
    corners = [sizes[0]]
    for before, here, after in zip(sizes, sizes[1:], sizes[2:], strict=False):
        if after - here != here - before or abs(after - here) != 1:
            corners.append(here)
    corners.append(sizes[-1])
    steps = "..".join(map(str, corners))
    monotone = all(abs(b - a) == 1 for a, b in pairwise(sizes))
    return steps if monotone else ", ".join(map(str, sizes))


@dataclass(frozen=True)
class Rules:
    """The rules of one table. ``Rules()`` is the game of seed 000 for four players.

    Attributes:
        players: seats at the table, 3..7.
        ramp: hand sizes in the order played: a pattern ("down-up", "up-down", "down", "up", up to the largest hand
            that the deck allows) or the sizes themselves, so ``(5,)`` is a match of a single five-card hand.
        hook: whether the dealer, who bids last, may not make the bids add up to the hand size.
        bids: "sealed" (others' bids are seen once all are in) or "open" (seen as each is made).
        trump: "turned" (the next card of the stock; no trump when the deal uses the whole deck) or "none".
        scoring: a name in `ohhell_env.scoring.SCORINGS`, or a function (bid, taken, hand size) -> points.
        deck: the pack; 52 cards by default, any part of them for small games.
        first_dealer: seat that deals the first hand.

    Raises:
        ValueError: naming the option, its value and what is allowed.
    """

    players: int = 4
    ramp: str | tuple[int, ...] = "down-up"
    hook: bool = True
    bids: str = "sealed"
    trump: str = "turned"
    scoring: str | Scoring = "exact"
    deck: Deck = STANDARD_DECK
    first_dealer: int = 0

    def __post_init__(self) -> None:
        _check_int("players", self.players, MIN_PLAYERS, MAX_PLAYERS)
        _check_choice("bids", self.bids, BIDS)
        _check_choice("trump", self.trump, TRUMPS)
        _check_int("first_dealer", self.first_dealer, 0, self.players - 1)
        if not isinstance(self.hook, bool):
            raise ValueError(f"hook={self.hook!r} is not allowed; use True or False")
        if not isinstance(self.deck, Deck):
            raise ValueError(f"deck={self.deck!r} is not a Deck; use ohhell_env.cards.Deck.of('AC KC ...')")
        if len(self.deck) < self.players:
            raise ValueError(f"deck={self.deck.name!r} has {len(self.deck)} cards, too few for players={self.players}")
        if not isinstance(self.ramp, str):
            object.__setattr__(self, "ramp", _check_sizes(self.ramp, self.peak, self.players, len(self.deck)))
        elif self.ramp not in RAMPS:
            known = ", ".join(map(repr, RAMPS))
            raise ValueError(f"ramp={self.ramp!r} is not known; use one of {known} or a sequence of hand sizes")
        tabulate(resolve(self.scoring), self.hand_sizes)  # an unusable scoring is refused here, not in mid-match

    @property
    def peak(self) -> int:
        """The largest hand that the deck allows, in cards."""
        return min(len(self.deck) // self.players, MAX_HAND_SIZE)

    @property
    def hand_sizes(self) -> tuple[int, ...]:
        """Cards in each hand of the match, in the order played."""
        return RAMPS[self.ramp](self.peak) if isinstance(self.ramp, str) else self.ramp

    @property
    def num_hands(self) -> int:
        """Hands in a match."""
        return len(self.hand_sizes)

    def describe(self) -> str:
        """The table's rules in plain English."""
        sizes = self.hand_sizes
        hands = f"one hand of {sizes[0]}" if len(sizes) == 1 else f"{len(sizes)} hands of {_ramp_text(sizes)}"
        cards = "card" if set(sizes) == {1} else "cards"
        pack = self.deck.name if self.deck.name.endswith("cards") else f"{self.deck.name} cards"
        lines = [
            f"{self.players} players, {pack}, {hands} {cards} each.",
            f"player_{self.first_dealer} deals first; the deal moves one seat to the left after every hand.",
            "The card after the deal is turned up and its suit is trump; when the deal uses the whole deck there is "
            "no trump."
            if self.trump == "turned"
            else "There is no trump.",
            "Each player bids the exact number of tricks to take, left of the dealer first, the dealer last; "
            + ("bids stay sealed until all are in." if self.bids == "sealed" else "every bid is seen as it is made."),
            "The dealer may not make the bids add up to the number of tricks."
            if self.hook
            else "The bids may add up to the number of tricks.",
            "Left of the dealer leads. Follow suit if you can. The highest trump, else the highest card of the suit "
            "led, takes the trick and leads the next.",
            f"Scoring: {self._scoring_text()}",
            "The highest total wins; a tie is shared.",
        ]
        return "\n".join(lines)

    def _scoring_text(self) -> str:
        function = resolve(self.scoring)
        if isinstance(function, TabulatedScoring):
            return "by a table of points."
        words = (function.__doc__ or "").strip().split("\n")[0].split(" (seed")[0].rstrip(".")
        name = getattr(function, "__name__", "<custom>")
        named = "a function of the table's own" if name.startswith("<") else name
        return f"{named}. {words}." if words else f"{named}."

    def to_json(self) -> dict[str, Any]:
        """The rules as plain data. A scoring that has no name is written out as its table of points."""
        scoring: Any = self.scoring
        if not isinstance(scoring, str):
            scoring = TabulatedScoring.to_json(scoring, self.hand_sizes)
        cards = [card_name(card) for card in self.deck.cards]
        deck = "standard" if self.deck == STANDARD_DECK else {"name": self.deck.name, "cards": cards}
        ramp = self.ramp if isinstance(self.ramp, str) else list(self.ramp)
        return {
            "players": self.players,
            "ramp": ramp,
            "hook": self.hook,
            "bids": self.bids,
            "trump": self.trump,
            "scoring": scoring,
            "deck": deck,
            "first_dealer": self.first_dealer,
        }

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
        if isinstance(options.get("ramp"), list):
            options["ramp"] = tuple(options["ramp"])
        if isinstance(options.get("scoring"), dict):
            options["scoring"] = TabulatedScoring.from_json(options["scoring"])
        deck = options.get("deck", "standard")
        if isinstance(deck, dict) and set(deck) == {"name", "cards"}:
            options["deck"] = Deck.of(deck["cards"], deck["name"])
        elif deck == "standard":
            options["deck"] = STANDARD_DECK
        else:
            raise ValueError(f"deck={deck!r} is not allowed; use 'standard' or an object with name and cards")
        return cls(**options)


PRESETS: dict[str, Rules] = {"oh_hell": Rules()}


def preset(name: str = "oh_hell", **changes: Any) -> Rules:
    """The rules of a well-known table, with changes: ``preset("oh_hell", players=5, hook=False)``.

    Raises:
        ValueError: if the preset or an option is not known, or the result is not allowed.
    """
    if name not in PRESETS:
        raise ValueError(f"rules {name!r} are not known; use one of {', '.join(sorted(PRESETS))}")
    unknown = set(changes) - set(Rules.__dataclass_fields__)
    if unknown:
        raise ValueError(f"unknown options {sorted(unknown)}; known are {sorted(Rules.__dataclass_fields__)}")
    return replace(PRESETS[name], **changes)
