"""The game's record (`GAME`) and the compiled form of a table's rules (`TABLE`), field by field.

Static rules and dynamic state are two records with two names. A game is one element of a structured array: it is
copied by assignment, saved as bytes, and steps the same alone or among a million.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.rules.cards import JOKERS, NUM_CARDS, NUM_SUITS, SUIT_NAMES, card_name, mask_of, parse_cards
from ohhell_env.rules.limits import (
    MAX_HAND_SIZE,
    MAX_HANDS,
    MAX_PLAYERS,
    NUM_BIDS,
    WIDE_MAX_HAND_SIZE,
    WIDE_MAX_PLAYERS,
    WIDE_NUM_BIDS,
    WIDE_NUM_CARDS,
    WIDE_NUM_KINDS,
)
from ohhell_env.rules.ramps import DRAWN, RANDOM
from ohhell_env.rules.rules import DUPLICATES, FULL_DEALS, LEAD_TRUMP, NO_DEALS, OWN_CARDS, Rules
from ohhell_env.rules.scoring import resolve, tabulate

MAX_SEED = 2**63 - 1
NONE = -1
NO_TRUMP = NUM_SUITS

# Phases of a match. Those of the second line are of the wide form: to bid before the cards are dealt or wait, to pass
# or bid zero before trump is shown, to name the trump suit, to name the suit of a joker led without trump.
BID, PLAY, HAND_OVER, MATCH_OVER = range(4)
BLIND, PASS_OR_NIL, NAME_TRUMP, NAME_SUIT = range(4, 8)

# What a seat has said before the bidding.
PASSED, NIL, BLIND_BID = range(3)


# In every per-seat field, seats that the table does not have stay at the value of a fresh deal (0, or NONE for bids).
def _game_fields(seats: int, cards: int, words: Any = (), shorts: Any = ()) -> list[Any]:
    return [
        ("seed", np.int64),  # () 0..2**63-1; the match replays from it
        ("stream", np.uint64),  # () random stream of the deals, and of nothing else
        ("legal", np.int64),  # () bit per option open to `player`: bids in BID, cards in PLAY; 0 otherwise
        ("hands", np.int64, (seats,)),  # (S,) bit masks of cards still held
        ("played", np.int64, (seats,)),  # (S,) bit masks of cards played in this hand
        ("scores", np.float64, (seats,)),  # (S,) match totals, points
        *words,
        ("table", np.int32),  # () index of the game's rules among the simulator's tables
        ("hand", np.int16),  # () number of the hand, 0..num_hands-1
        ("phase", np.int16),  # () BID, PLAY, HAND_OVER, MATCH_OVER; in the wide form also those below
        ("hand_size", np.int16),  # () cards dealt to each seat, tricks in this hand
        ("dealer", np.int16),  # () seat
        ("player", np.int16),  # () seat to act; NONE in HAND_OVER and MATCH_OVER
        ("leader", np.int16),  # () seat that leads, or led, the current trick; left of the dealer while bidding
        ("turned", np.int16),  # () card turned up, out of play; NONE
        ("trump", np.int16),  # () suit 0..3; NO_TRUMP
        ("num_plays", np.int16),  # () cards played in this hand
        ("in_trick", np.int16),  # () cards in the current trick, 0..players-1
        ("led_suit", np.int16),  # () suit of the current trick; NONE before its lead
        ("winning", np.int16),  # () seat that wins the current trick as it stands; NONE before its lead
        ("best", np.int16),  # () that seat's card; NONE
        *shorts,
        # What each seat's bids came to in the hands of the match that are over, deals of a hand that failed too.
        ("made", np.int16, (seats,)),  # (S,) bids made
        ("missed", np.int16, (seats,)),  # (S,) bids missed
        ("over", np.int16, (seats,)),  # (S,) tricks beyond its bids
        ("under", np.int16, (seats,)),  # (S,) tricks short of its bids
        ("bids", np.int8, (seats,)),  # (S,) 0..hand_size; NONE = not yet
        ("taken", np.int8, (seats,)),  # (S,) tricks, 0..hand_size
        ("voids", np.int8, (seats,)),  # (S,) bit per suit in which the seat has failed to follow
        ("deck", np.int8, (cards,)),  # (C,) cards in the order dealt; those beyond the deal stand as they fell
        ("plays", np.int8, (cards,)),  # (C,) cards in the order played; NONE beyond num_plays
    ]


# Decisions before the play: nil or blind round, seven rounds of bids, trump named.
MAX_CALLS = 9 * WIDE_MAX_PLAYERS

# What only the wide form has.
_WORDS = [
    ("sizes_left", np.int64),  # () random ramp: bit per hand size still to come
    ("held_twice", np.int64, (WIDE_MAX_PLAYERS,)),  # (S,) cards of `hands` that the seat holds twice
    ("played_twice", np.int64, (WIDE_MAX_PLAYERS,)),  # (S,) cards of `played` that the seat has played twice
    ("deals", np.int64),  # () how many times this hand has been dealt, from 1; without an end at cooperative tables
    ("slots", np.int64, (WIDE_MAX_PLAYERS,)),  # (S,) bit per card still held, by position in the order dealt
]
_SHORTS = [
    ("first_action", np.int16),  # () the action that bit 0 of `legal` stands for
    ("special", np.int16),  # () bits of `ramps.SPECIALS`
    ("trump_known", np.int16),  # () 0 while trump is not shown, or not named
    ("shown", np.int16),  # () card that made trump and is in play: the dealer's last, or the one cut; NONE
    ("drawn", np.int16),  # () suit of the second deck's card; NONE
    ("rounds", np.int16),  # () knocking: rounds of bids that fitted
    ("worth", np.int16),  # () tricks that the current trick counts for
    ("num_calls", np.int16),  # () decisions before the play in this hand
    ("broken", np.int16),  # () 1 once a trump has been played to a trick that another suit led, in this hand
]
_BYTES = [
    ("pledges", np.int8, (WIDE_MAX_PLAYERS,)),  # (S,) PASSED, NIL or BLIND_BID; NONE
    ("first_bids", np.int8, (WIDE_MAX_PLAYERS,)),  # (S,) the blind bid, or the bid of the round before; NONE
    ("winners", np.int8, (WIDE_MAX_HAND_SIZE,)),  # (T,) seat that took each trick; NONE: nobody, or not yet
    ("named", np.int8, (WIDE_MAX_HAND_SIZE,)),  # (T,) suit named for the joker that led to each trick; NONE
    ("calls", np.int8, (MAX_CALLS,)),  # (C,) options taken before the play, in order; NONE beyond num_calls
]


def _record(fields: list[Any]) -> np.dtype[np.void]:
    """A record type whose bytes are its fields: padding would be bytes that copying leaves undefined."""
    end = -sum(np.dtype([one]).itemsize for one in fields) % 8
    record = np.dtype([*fields, ("filler", np.int8, (end,))] if end else fields, align=True)  # filler is always 0
    assert record.itemsize == sum(record[name].itemsize for name in record.names or ())
    return record


GAME = _record(_game_fields(MAX_PLAYERS, NUM_CARDS))
WIDE_GAME = _record(_game_fields(WIDE_MAX_PLAYERS, WIDE_NUM_CARDS, _WORDS, _SHORTS) + _BYTES)

# How trump is made, and what the other options of the wide form read in a table.
TURNED, FIXED, NAMED, CUT, DRAWN_TRUMP = range(5)


def _table_fields(cards: int) -> list[Any]:
    return [
        ("players", np.int64),  # ()
        ("num_hands", np.int64),  # () 1..MAX_HANDS
        ("hook", np.int64),  # () 0, 1
        ("sealed", np.int64),  # () 0, 1
        ("turn_up", np.int64),  # () 1: the card after the deal, where there is one, makes trump
        ("lowest", np.int64),  # () 1: the lowest total wins
        ("first_dealer", np.int64),  # () seat; NONE: drawn at random
        ("deck_size", np.int64),  # () cards in the deck
        ("deck", np.int8, (cards,)),  # (C,) the deck; NONE beyond deck_size
        ("deck_mask", np.int64),  # () the deck as a bit mask
        ("hand_sizes", np.int8, (MAX_HANDS,)),  # (H,) 0 beyond num_hands
    ]


TABLE = np.dtype([*_table_fields(NUM_CARDS), ("points", np.float64, (MAX_HAND_SIZE + 1,) * 3)], align=True)
WIDE_TABLE = np.dtype(
    [
        *_table_fields(WIDE_NUM_CARDS),
        ("pairs", np.int64),  # () cards that stand in the deck twice
        ("specials", np.int8, (MAX_HANDS,)),  # (H,) bits of `ramps.SPECIALS`
        ("random_ramp", np.int64),  # () 1: each hand size once, in random order
        ("peak", np.int64),  # () the largest hand
        ("trump_from", np.int64),  # () TURNED, FIXED, NAMED, CUT, DRAWN_TRUMP
        ("trumps", np.int8, (MAX_HANDS,)),  # (H,) FIXED: trump of each hand, 0..4
        ("full_deal", np.int64),  # () index in `rules.FULL_DEALS`
        ("lead_trump", np.int64),  # () index in `rules.LEAD_TRUMP`
        ("must_trump", np.int64),  # () 0, 1
        ("duplicates", np.int64),  # () index in `rules.DUPLICATES`
        ("own_cards", np.int64),  # () index in `rules.OWN_CARDS`
        ("hands_shown", np.int64),  # () 0, 1
        ("sort_hands", np.int64),  # () 0, 1: hidden hands of three cards and more lie sorted by suit
        ("knocking", np.int64),  # () 0, 1
        ("cooperative", np.int64),  # () 0, 1
        ("attempts", np.int64),  # () deals of one hand in a cooperative match; 0: no limit
        ("nil_round", np.int64),  # () 0, 1
        ("blind_bids", np.int64),  # () 0, 1
        ("suits", np.int8, (NUM_SUITS + 1, WIDE_NUM_KINDS)),  # [trump, card] suit, or JOKERS
        ("ranks", np.int8, (NUM_SUITS + 1, WIDE_NUM_KINDS)),  # [trump, card] strength within the suit
        ("suit_cards", np.int64, (NUM_SUITS + 1, NUM_SUITS + 1)),  # [trump, suit] bit mask
        # [trump, card] bit mask of the cards that beat it in its suit; a joker without trump is of every suit
        ("higher", np.int64, (NUM_SUITS + 1, WIDE_NUM_KINDS)),
        ("points", np.float64, (NUM_SUITS + 1, *(WIDE_MAX_HAND_SIZE + 1,) * 3)),  # [trump, hand_size, bid, taken]
    ],
    align=True,
)


@dataclass(frozen=True)
class Form:
    """The sizes of a form of tables.

    Attributes:
        name: "standard" or "wide".
        players, kinds, cards, hand_size: the most seats, kinds of card, cards in a deck, cards in a hand.
        copies: of a card that a deck may have.
        decisions: of a seat in a hand, at most: ``decisions[0] + decisions[1] * hand size``.
        game, table: dtypes of its records.
        num_bids, first_bid, num_actions: of its action space; bid b is ``first_bid + b``.
    """

    name: str
    players: int
    kinds: int
    cards: int
    hand_size: int
    copies: int
    decisions: tuple[int, int]
    game: np.dtype[np.void]
    table: np.dtype[np.void]
    num_bids: int
    first_bid: int
    num_actions: int

    def __reduce__(self) -> tuple[Any, ...]:
        return form_named, (self.name,)  # there is one object for each form


# Actions of the wide form: 0..62 play that card, 63 + b bid b, then to pass, to name a suit (4 for no trump), and to
# play the card at a position in the order dealt.
WIDE_FIRST_BID = WIDE_NUM_KINDS
WIDE_PASS = WIDE_FIRST_BID + WIDE_NUM_BIDS
WIDE_FIRST_SUIT = WIDE_PASS + 1
WIDE_FIRST_SLOT = WIDE_FIRST_SUIT + NUM_SUITS + 1
WIDE_NUM_ACTIONS = WIDE_FIRST_SLOT + WIDE_MAX_HAND_SIZE
PASS = WIDE_PASS - WIDE_FIRST_BID  # as an option among bids

STANDARD_FORM = Form(
    "standard",
    MAX_PLAYERS,
    NUM_CARDS,
    NUM_CARDS,
    MAX_HAND_SIZE,
    1,
    (1, 1),
    GAME,
    TABLE,
    NUM_BIDS,
    NUM_CARDS,
    NUM_CARDS + NUM_BIDS,
)
WIDE_FORM = Form(
    "wide",
    WIDE_MAX_PLAYERS,
    WIDE_NUM_KINDS,
    WIDE_NUM_CARDS,
    WIDE_MAX_HAND_SIZE,
    2,
    (10, 2),  # blind bids, rounds of bids, trump named; a joker's suit beside each card
    WIDE_GAME,
    WIDE_TABLE,
    WIDE_NUM_BIDS,
    WIDE_FIRST_BID,
    WIDE_NUM_ACTIONS,
)


def form_named(name: str) -> Form:
    """The form with this name."""
    return {form.name: form for form in (STANDARD_FORM, WIDE_FORM)}[name]


def form_of(rules: Sequence[Rules]) -> Form:
    """The form that holds some tables: the standard one unless one of them needs the wide one."""
    return STANDARD_FORM if all(one.standard for one in rules) else WIDE_FORM


def form_of_records(games: Any) -> Form:
    """The form of an array of games, or of one of them."""
    return WIDE_FORM if games.dtype == WIDE_GAME else STANDARD_FORM


def compile_rules(rules: Sequence[Rules], form: Form | None = None) -> NDArray[np.void]:
    """The rules of some tables as the kernel reads them: array of the form's table records, one element a table."""
    form = form or form_of(rules)
    tables = np.zeros(len(rules), dtype=form.table)
    for table, one in zip(tables, rules, strict=True):
        table["players"] = one.players
        table["num_hands"] = one.num_hands
        table["hook"] = one.hook
        table["sealed"] = one.bids != "open"
        table["turn_up"] = one.trump == "turned"
        table["lowest"] = one.lowest
        table["first_dealer"] = NONE if one.first_dealer == "random" else one.first_dealer
        table["deck_size"] = len(one.deck)
        table["deck"] = NONE
        table["deck"][: len(one.deck)] = one.deck.cards
        table["deck_mask"] = mask_of(one.deck.cards)
        table["hand_sizes"][: one.num_hands] = one.hand_sizes
        if form is STANDARD_FORM:
            table["points"] = tabulate(resolve(one.scoring), one.hand_sizes, one.players)
        else:
            _compile_options(table, one)
    return tables


# Options whose values a table of the wide form holds as they are.
_NUMBERS = (
    *("must_trump", "hands_shown", "sort_hands", "knocking", "cooperative", "attempts", "nil_round", "blind_bids"),
)


def _compile_options(table: Any, rules: Rules) -> None:
    """The fields of a table that only the wide form has."""
    card_set = rules.deck.card_set
    table["pairs"] = mask_of(rules.deck.pairs)
    table["specials"][: rules.num_hands] = [kind.special for kind in rules.ramp_hands]
    table["random_ramp"] = rules.ramp == RANDOM
    table["peak"] = rules.peak
    origins = {"turned": TURNED, "named": NAMED, "cut": CUT, DRAWN: DRAWN_TRUMP}
    table["trump_from"] = origins.get(rules.trump, FIXED) if isinstance(rules.trump, str) else FIXED
    if table["trump_from"] == FIXED:
        sequence = (rules.trump,) if isinstance(rules.trump, str) else rules.trump
        turns = [NO_TRUMP if one == "none" else SUIT_NAMES.index(one) for one in sequence]
        table["trumps"][: rules.num_hands] = [turns[hand % len(turns)] for hand in range(rules.num_hands)]
    table["full_deal"] = FULL_DEALS.index(rules.full_deal)
    table["lead_trump"] = LEAD_TRUMP.index(rules.lead_trump)
    table["duplicates"] = DUPLICATES.index(rules.duplicates)
    table["own_cards"] = OWN_CARDS.index(rules.own_cards)
    for option in _NUMBERS:
        table[option] = getattr(rules, option)
    scoring = resolve(rules.scoring)
    for trump in range(NUM_SUITS + 1):
        for card in set(rules.deck.cards):
            suit = card_set.suit(card)
            suit = trump if suit == JOKERS else suit
            table["suits"][trump, card] = suit
            table["ranks"][trump, card] = card_set.strength(card, trump != NO_TRUMP)
            table["suit_cards"][trump, suit] |= 1 << card
        for card in set(rules.deck.cards):
            for other in set(rules.deck.cards):
                suits = {table["suits"][trump, card], table["suits"][trump, other]}
                if table["ranks"][trump, other] > table["ranks"][trump, card] and (len(suits) == 1 or JOKERS in suits):
                    table["higher"][trump, card] |= 1 << other
        table["points"][trump] = tabulate(scoring, rules.hand_sizes, rules.players, trump, WIDE_MAX_HAND_SIZE)


def given_decks(decks: Any, rules: Sequence[Rules]) -> NDArray[np.int8]:
    """As `parse_decks`, for decks that take the place of the shuffle.

    Raises:
        ValueError: also where a table is cooperative and there are decks: it would deal one of them again and again.
    """
    parsed = parse_decks(decks, rules)
    if len(parsed) and any(one.cooperative for one in rules):
        raise ValueError(NO_DEALS)
    return parsed


def later_decks(before: NDArray[np.int8], decks: Any, rules: Rules, hand: int) -> NDArray[np.int8]:
    """The decks of a match by hand, as `rulebook.shuffle` reads them, with new ones from one hand on.

    Args:
        before: (K, C) int8, the decks of the match so far.
        decks: decks for the hands from ``hand`` on, in place of all that were given for those; none: the shuffle.
        rules: the table's.
        hand: number of the first hand that they are for, from 0.

    Returns:
        (hand + L, C) int8, rows of NONE for hands that are shuffled.

    Raises:
        ValueError: if a deck is not exactly the table's whole deck, or the match is cooperative.
    """
    if rules.cooperative:
        raise ValueError(NO_DEALS)
    if not isinstance(decks, Iterable) or isinstance(decks, str):
        raise ValueError(f"deals={decks!r} is not a list of decks")
    decks = list(decks)
    out = np.full((hand + len(decks), before.shape[1]), NONE, dtype=np.int8)
    kept = min(hand, len(before))
    out[:kept] = before[:kept]
    if decks:
        out[hand:] = parse_decks(decks, (rules,))
    return out


def parse_decks(decks: Any, rules: Sequence[Rules]) -> NDArray[np.int8]:
    """Given decks as the kernel reads them: (K, C) int8, the order dealt, NONE beyond a short deck's end.

    C is 52, or 104 in the wide form. Without ``decks`` they are those of the rules, which must then agree.

    Raises:
        ValueError: if a deck is not exactly the table's deck, naming the deck and the card.
    """
    if not isinstance(decks, Iterable) or isinstance(decks, str):
        raise ValueError(f"deals={decks!r} is not a list of decks")
    decks = list(decks)
    if not decks:
        if any(one.deals != rules[0].deals for one in rules):
            raise ValueError("tables with different deals cannot share a simulator")
        decks = list(rules[0].deals)
    out = np.full((len(decks), form_of(rules).cards), NONE, dtype=np.int8)
    for k, deck in enumerate(decks):
        try:
            cards = parse_cards(deck, rules[0].deck.card_set)
        except ValueError as error:
            raise ValueError(f"deals[{k}]: {error}") from error
        for one in rules:
            _check_deck(f"deals[{k}]", cards, one)
        out[k, : len(cards)] = cards
    return out


def _check_deck(name: str, cards: list[int], rules: Rules) -> None:
    """A given deck must hold each card as often as the table's deck does."""
    given, wanted = Counter(cards), Counter(rules.deck.cards)
    if given == wanted:
        return
    missing = sorted((wanted - given).elements())
    foreign = sorted(card for card in given if card not in wanted)
    repeated = sorted(card for card in given - wanted if card in wanted)
    text = "".join(
        f", {what} {' '.join(card_name(card, rules.deck.card_set) for card in which)}"
        for what, which in (("missing", missing), ("not in the deck", foreign), ("repeated", repeated))
        if which
    )
    raise ValueError(f"{name} is not a whole deck of {len(rules.deck)} cards: {len(cards)} given{text}")


def own_arrays(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes as they come out of a pickle, with arrays of their own: those in foreign buffers cannot be written."""
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in attributes.items()}


def check_seed(seed: Any) -> int:
    """A seed as int; `ValueError` when it is not a whole number from 0 to 2**63 - 1."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed={seed!r} is not allowed; use a whole number from 0 to 2**63 - 1")
    return int(seed)
