"""Random tables: `random_rules` draws one over all options, from splits that never overlap; `split_of` tells a table's.

A table is drawn option by option, each from what the options before it leave possible, so it is valid by construction.
A hash of everything that matters in play decides whether a table is for training or for testing: the same table cannot
be drawn from both, by whatever name its scoring or its ramp goes. Three families, `FAMILIES`, are kept for a test of
their own: no table of the other splits has anything of them.

Tables are short, 2 to 6 hands, and none is decided by luck alone: each has a hand of three cards or more that is bid or
played for tricks, and at most ten cards are dealt to a seat.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from random import Random
from typing import Any, TypeVar

from ohhell_env.rules.cards import (
    DECKS,
    JOKERS,
    NUM_SUITS,
    RANKS,
    STANDARD_DECK,
    SUIT_NAMES,
    Deck,
    rank_of,
)
from ohhell_env.rules.ramps import DRAWN, NO_TRUMP_HAND, RANDOM
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.scoring import SCORINGS, num_arguments, resolve, tabulate

SPLITS = ("train", "test", "test-families")
FAMILIES = ("own cards hidden", "jokers", "named trump")
TEST_SHARE = 0.25  # of the tables without a family
MOST_CARDS = 10  # dealt to a seat
LEAST_LARGEST = 3  # cards of a table's largest hand, at least

Value = TypeVar("Value")

# How often each choice is made where all of them are possible; weights need not add up to one.
_PLAYERS = {2: 1.0, 3: 3.0, 4: 4.0, 5: 3.0, 6: 2.0, 7: 1.5, 8: 0.75, 9: 0.5, 10: 0.5}
_DECKS = {"standard": 6.0, "short": 2.0, "double deck": 1.0, "spanish": 1.0}
_JOKER_DECKS = {"five hundred": 1.0, "oh sh": 1.0}
_RAMPS = {"hands": 8.0, "up": 0.5, "down": 0.5, RANDOM: 0.5, DRAWN: 0.5}
_SPECIALS = {"": 10.0, "no trump": 1.0, "blind": 0.7, "golden": 0.4, "miser": 0.4}
_WAYS = {"": 7.0, "knocking": 0.7, "cooperative": 0.8, "nil_round": 1.0, "blind_bids": 1.0}
_BIDS = {"sealed": 4.0, "open": 4.0, "together": 1.0}
_TRUMPS = {"turned": 5.0, "none": 1.0, "suit": 1.0, "sequence": 1.0, "cut": 1.0}
_LEAD_TRUMP = {"any": 6.0, "broken": 1.0, "not first": 1.0}


def random_rules(seed: int, split: str = "train") -> Rules:
    """A random table of a split; ``ohhell_env.describe`` says it in English.

    Args:
        seed: any whole number from 0 on; one seed and split always give the same table. Different seeds may give the
            same table, which is rare.
        split: "train", "test", or "test-families" (tables with at least one of `FAMILIES`).

    Raises:
        ValueError: if the seed is negative or no whole number, or the split is not known.
    """
    whole: Any = seed  # a caller may give anything
    if isinstance(whole, bool) or not isinstance(whole, int) or whole < 0:
        raise ValueError(f"seed={seed!r} is not allowed; use a whole number from 0 on")
    if split not in SPLITS:
        raise ValueError(f"split={split!r} is not known; use one of {', '.join(map(repr, SPLITS))}")
    attempt = 0
    while True:
        rules = _Draw(Random(f"ohhell table {seed} {attempt} {split}"), split == "test-families").rules()
        if split_of(rules) == split:
            return rules
        attempt += 1


def families_of(rules: Rules) -> tuple[str, ...]:
    """Which of `FAMILIES` a table belongs to."""
    jokers = any(rules.deck.card_set.suit(card) == JOKERS for card in rules.deck.cards)
    found = (rules.own_cards != "seen", jokers, rules.trump == "named")
    return tuple(family for family, has in zip(FAMILIES, found, strict=True) if has)


def split_of(rules: Rules) -> str:
    """The split that a table belongs to, drawn or not: "test-families" with a family, else by the hash of its rules."""
    if families_of(rules):
        return "test-families"
    return "test" if int(table_key(rules), 16) % 1000 < 1000 * TEST_SHARE else "train"


def table_key(rules: Rules) -> str:
    """A hash of what matters in play: equal for tables that differ only in how they are written, as hexadecimal text.

    Hands count instead of the ramp's name, each hand's trump instead of the sequence, points instead of the scoring's
    name, cards instead of the deck's. Who deals first and given decks are left out: they are of a match, not of a game.
    """
    scoring = resolve(rules.scoring)
    sizes = sorted(set(rules.hand_sizes))
    largest = max(sizes)
    trumps = range(NUM_SUITS + 1) if num_arguments(scoring) == 5 else (NUM_SUITS,)
    points = [tabulate(scoring, sizes, rules.players, trump, largest)[sizes].tolist() for trump in trumps]
    data = rules.to_json()
    for name in ("scoring", "deck", "ramp", "cap", "first_dealer", "deals", "lowest_wins"):
        data.pop(name, None)
    data["hands"], data["trump"] = _hands_and_trumps(rules)
    if not any(trump != "none" for trump in data["trump"]):
        for option in ("lead_trump", "must_trump"):  # without trump they say nothing
            data.pop(option, None)
    data |= {"points": points, "cards": rules.deck.cards, "order": rules.deck.card_set.order, "lowest": rules.lowest}
    data["by chance"] = rules.ramp if rules.ramp in (RANDOM, DRAWN) else ""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _hands_and_trumps(rules: Rules) -> tuple[list[tuple[int, int]], list[str]]:
    """Each hand's size and special rules, and what makes its trump; that a hand has none is said by its trump alone."""
    turns = (rules.trump,) if isinstance(rules.trump, str) else rules.trump
    hands, trumps = [], []
    for number, hand in enumerate(rules.ramp_hands):
        none = hand.special & NO_TRUMP_HAND
        hands.append((hand.size, hand.special & ~NO_TRUMP_HAND))
        trumps.append("none" if none else turns[number % len(turns)])
    return hands, trumps


class _Draw:
    """One table, option by option."""

    def __init__(self, random: Random, families: bool) -> None:
        self.random = random
        wanted = [family for family in FAMILIES if random.random() < 0.4] if families else []
        if families and not wanted:
            wanted = [self._one(dict.fromkeys(FAMILIES, 1.0))]
        self.hidden, self.jokers, self.named = (family in wanted for family in FAMILIES)

    def rules(self) -> Rules:
        """The table."""
        players, deck = self._seats_and_deck()
        way = self._one(_WAYS)
        own_cards = self._one({"hidden": 1.0, "forehead": 1.0}) if self.hidden else "seen"
        ramp = self._ramp(players, deck, way, own_cards)
        options: dict[str, Any] = {"players": players, "deck": deck, "own_cards": own_cards, **ramp}
        options |= {way: True} if way else {}
        options |= {"attempts": 3} if way == "cooperative" else {}  # a match must end whoever plays
        options |= self._bidding(way)
        options |= self._trump(options)
        blind = way == "blind_bids" or "blind" in str(ramp["ramp"])
        if own_cards == "hidden":
            options["sort_hands"] = options.get("full_deal") != "last" and self._chance(0.5)
        elif own_cards == "seen" and not blind:
            options["hands_shown"] = self._chance(0.04)
        if deck.pairs:
            options["duplicates"] = self._one({"first": 1.0, "ante": 1.0, "exception": 1.0})
        options["scoring"] = self._one(dict.fromkeys(SCORINGS, 1.0))
        options["lowest_wins"] = True if self._chance(0.03) else None
        return Rules(**options)

    def _seats_and_deck(self) -> tuple[int, Deck]:
        """Players, and a deck that gives each of them three cards or more."""
        deck = self._deck()
        most = len(deck) // LEAST_LARGEST
        return self._one({players: weight for players, weight in _PLAYERS.items() if players <= most}), deck

    def _deck(self) -> Deck:
        name = self._one(_JOKER_DECKS if self.jokers else _DECKS)
        if name != "short":
            return DECKS[name]
        lowest = 3 + self._below(6)  # from the fives up, to the tens up
        cards = [card for card in STANDARD_DECK.cards if rank_of(card) >= lowest]
        return Deck(f"{RANKS[lowest]} up, {len(cards)} cards", tuple(cards))

    def _ramp(self, players: int, deck: Deck, way: str, own_cards: str) -> dict[str, Any]:
        peak = min(MOST_CARDS, len(deck) // players)
        pattern = "hands" if self.named else self._one(_RAMPS)
        if pattern == DRAWN and peak < len(deck) // players:
            peak = min(peak, 5)
        if pattern != "hands":
            # As many hands as the largest has cards, or nearly twice as many.
            cap = LEAST_LARGEST + self._below(min(peak, 3 if pattern == DRAWN else 6) - LEAST_LARGEST + 1)
            return {"ramp": pattern, "cap": cap}
        sizes = [1 + self._below(peak) for _ in range(2 + self._below(4))]
        if max(sizes) < LEAST_LARGEST:
            sizes[self._below(len(sizes))] = LEAST_LARGEST + self._below(peak - LEAST_LARGEST + 1)
        if own_cards == "forehead":
            sizes.append(1)  # the only hands that are held to the forehead
        if way == "nil_round" and max(sizes) <= players < peak:
            sizes[0] = players + 1 + self._below(peak - players)  # nil is bid with more tricks than players
        return {"ramp": tuple(self._hand(size, way) for size in sizes)}

    def _hand(self, size: int, way: str) -> int | str:
        special = self._one(_SPECIALS)
        if (way == "cooperative" and special in ("golden", "miser")) or (way == "blind_bids" and special == "blind"):
            special = ""
        return f"{size} {special}" if special and size >= LEAST_LARGEST else size

    def _bidding(self, way: str) -> dict[str, Any]:
        if way == "knocking":
            return {"bids": "together", "hook": False}
        if way == "cooperative":
            return {"bids": "open", "hook": False}
        bids = self._one(_BIDS)
        return {"bids": bids, "hook": bids != "together" and self._chance(0.75)}

    def _trump(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Trump and what is ruled about it."""
        if options["ramp"] == DRAWN:
            trump: str | tuple[str, ...] = DRAWN
        elif self.named:
            trump = "named"
        else:
            trump = self._one(_TRUMPS)
        if trump == "none":
            return {"trump": trump}
        if trump == "suit":
            trump = self._one(dict.fromkeys(SUIT_NAMES, 1.0))
        elif trump == "sequence":
            turns = [self._one(dict.fromkeys((*SUIT_NAMES, "none"), 1.0)) for _ in range(2 + self._below(3))]
            trump = (*turns, self._one(dict.fromkeys(SUIT_NAMES, 1.0)))
        ruled: dict[str, Any] = {"trump": trump, "lead_trump": self._one(_LEAD_TRUMP)}
        ruled["must_trump"] = self._chance(0.12)
        if trump == "turned" and self._may_use_whole_deck(options):
            ruled["full_deal"] = self._one({"none": 1.0, "last": 1.0, "cut": 1.0})
        return ruled

    @staticmethod
    def _may_use_whole_deck(options: Mapping[str, Any]) -> bool:
        """Whether a hand leaves no card to turn up."""
        sizes = {key: options[key] for key in ("players", "deck", "ramp", "cap") if key in options}
        largest: int = max(Rules(**sizes).hand_sizes)
        return bool(largest * options["players"] == len(options["deck"]))

    # Python keeps what `random()` gives for a seed; of its other methods it does not promise that.

    def _below(self, count: int) -> int:
        """A whole number 0..count-1."""
        return int(self.random.random() * count)

    def _chance(self, share: float) -> bool:
        return self.random.random() < share

    def _one(self, weights: Mapping[Value, float]) -> Value:
        """One of the keys, by their weights."""
        rest = self.random.random() * sum(weights.values())
        for value, weight in weights.items():
            rest -= weight
            if rest < 0:
                return value
        return value
