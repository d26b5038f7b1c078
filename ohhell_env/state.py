"""The game's record (`GAME`) and the compiled form of a table's rules (`TABLE`), field by field.

Static rules and dynamic state are two records with two names. A game is one element of a structured array: it is
copied by assignment, saved as bytes, and steps the same alone or among a million.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.cards import NUM_CARDS, NUM_SUITS, card_name, mask_of, parse_cards
from ohhell_env.limits import MAX_HAND_SIZE, MAX_HANDS, MAX_PLAYERS
from ohhell_env.rules import Rules
from ohhell_env.scoring import resolve, tabulate

MAX_SEED = 2**63 - 1
NONE = -1
NO_TRUMP = NUM_SUITS

# Phases of a match.
BID, PLAY, HAND_OVER, MATCH_OVER = range(4)

# In every per-seat field, seats that the table does not have stay at the value of a fresh deal (0, or NONE for bids).
GAME = np.dtype(
    [
        ("seed", np.int64),  # () 0..2**63-1; the match replays from it
        ("stream", np.uint64),  # () random stream of the deals, and of nothing else
        ("legal", np.int64),  # () bit per option open to `player`: bids in BID, cards in PLAY; 0 otherwise
        ("hands", np.int64, (MAX_PLAYERS,)),  # (S,) bit masks of cards still held
        ("played", np.int64, (MAX_PLAYERS,)),  # (S,) bit masks of cards played in this hand
        ("scores", np.float64, (MAX_PLAYERS,)),  # (S,) match totals, points
        ("table", np.int32),  # () index of the game's rules among the simulator's tables
        ("hand", np.int16),  # () number of the hand, 0..num_hands-1
        ("phase", np.int16),  # () BID, PLAY, HAND_OVER, MATCH_OVER
        ("hand_size", np.int16),  # () 1..MAX_HAND_SIZE, tricks in this hand
        ("dealer", np.int16),  # () seat
        ("player", np.int16),  # () seat to act; NONE in HAND_OVER and MATCH_OVER
        ("leader", np.int16),  # () seat that leads, or led, the current trick; left of the dealer while bidding
        ("turned", np.int16),  # () card turned up; NONE
        ("trump", np.int16),  # () suit 0..3; NO_TRUMP
        ("num_plays", np.int16),  # () cards played in this hand, 0..52
        ("in_trick", np.int16),  # () cards in the current trick, 0..players-1
        ("led_suit", np.int16),  # () suit of the current trick; NONE before its lead
        ("winning", np.int16),  # () seat that wins the current trick as it stands; NONE before its lead
        ("best", np.int16),  # () that seat's card; NONE
        ("bids", np.int8, (MAX_PLAYERS,)),  # (S,) 0..hand_size; NONE = not yet
        ("taken", np.int8, (MAX_PLAYERS,)),  # (S,) tricks, 0..hand_size
        ("voids", np.int8, (MAX_PLAYERS,)),  # (S,) bit per suit in which the seat has failed to follow
        ("deck", np.int8, (NUM_CARDS,)),  # (52,) cards in the order dealt; those beyond the deal stand as they fell
        ("plays", np.int8, (NUM_CARDS,)),  # (52,) cards in the order played; NONE beyond num_plays
        ("filler", np.int8, (5,)),  # always 0; without it the record would end in bytes that copying leaves undefined
    ],
    align=True,
)

TABLE = np.dtype(
    [
        ("players", np.int64),  # () 3..MAX_PLAYERS
        ("num_hands", np.int64),  # () 1..MAX_HANDS
        ("hook", np.int64),  # () 0, 1
        ("sealed", np.int64),  # () 0, 1
        ("turn_up", np.int64),  # () 1: the card after the deal, where there is one, makes trump
        ("first_dealer", np.int64),  # () seat
        ("deck_size", np.int64),  # () cards in the pack
        ("deck", np.int8, (NUM_CARDS,)),  # (52,) the pack; NONE beyond deck_size
        ("pack", np.int64),  # () the pack as a bit mask
        ("hand_sizes", np.int8, (MAX_HANDS,)),  # (H,) 0 beyond num_hands
        ("points", np.float64, (MAX_HAND_SIZE + 1,) * 3),  # [hand_size, bid, taken] points
    ],
    align=True,
)

assert GAME.itemsize == sum(GAME[name].itemsize for name in GAME.names or ()), "a game's bytes are its fields"


def compile_rules(rules: Sequence[Rules]) -> NDArray[np.void]:
    """The rules of some tables as the kernel reads them: array of `TABLE`, one element a table."""
    tables = np.zeros(len(rules), dtype=TABLE)
    for table, one in zip(tables, rules, strict=True):
        table["players"] = one.players
        table["num_hands"] = one.num_hands
        table["hook"] = one.hook
        table["sealed"] = one.bids == "sealed"
        table["turn_up"] = one.trump == "turned"
        table["first_dealer"] = one.first_dealer
        table["deck_size"] = len(one.deck)
        table["deck"] = NONE
        table["deck"][: len(one.deck)] = one.deck.cards
        table["pack"] = mask_of(one.deck.cards)
        table["hand_sizes"][: one.num_hands] = one.hand_sizes
        table["points"] = tabulate(resolve(one.scoring), one.hand_sizes)
    return tables


def parse_decks(decks: Any, rules: Sequence[Rules]) -> NDArray[np.int8]:
    """Given decks as the kernel reads them: (K, 52) int8, the order dealt, NONE beyond a short deck's end.

    Raises:
        ValueError: if a deck is not exactly the table's pack, naming the deck and the card.
    """
    if not isinstance(decks, Iterable) or isinstance(decks, str):
        raise ValueError(f"deals={decks!r} is not a list of decks")
    decks = list(decks)
    out = np.full((len(decks), NUM_CARDS), NONE, dtype=np.int8)
    for k, deck in enumerate(decks):
        try:
            cards = parse_cards(deck)
        except ValueError as error:
            raise ValueError(f"deals[{k}]: {error}") from error
        for one in rules:
            missing, foreign = set(one.deck.cards) - set(cards), set(cards) - set(one.deck.cards)
            if missing or foreign or len(cards) != len(one.deck):
                twice = {card for card in cards if cards.count(card) > 1}
                raise ValueError(
                    f"deals[{k}] is not a whole deck of {len(one.deck)} cards: {len(cards)} given"
                    + "".join(
                        f", {what} {' '.join(card_name(card) for card in sorted(which))}"
                        for what, which in (("missing", missing), ("not in the pack", foreign), ("repeated", twice))
                        if which
                    )
                )
        out[k, : len(cards)] = cards
    return out


def own_arrays(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes as they come out of a pickle, with arrays of their own: those in foreign buffers cannot be written."""
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in attributes.items()}


def check_seed(seed: Any) -> int:
    """A seed as int; `ValueError` when it is not a whole number from 0 to 2**63 - 1."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed={seed!r} is not allowed; use a whole number from 0 to 2**63 - 1")
    return int(seed)
