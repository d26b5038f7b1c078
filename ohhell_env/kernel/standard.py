"""The kernel's functions for the standard form; their counterparts are in `wide_bidding` and `wide_play`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ohhell_env.kernel.jit import ONE, Int, jit, left_of, store_4, store_64
from ohhell_env.kernel.state import BID, NONE, PLAY, STANDARD_FORM
from ohhell_env.rules.cards import NUM_CARDS, NUM_RANKS
from ohhell_env.rules.limits import MAX_PLAYERS

FIRST_BID = STANDARD_FORM.first_bid
SUIT = (ONE << NUM_RANKS) - 1  # the clubs' bits; suit s is SUIT << (13 * s)

Game = Any  # a record of state.GAME
Table = Any  # a record of state.TABLE


@jit
def suit_mask(suit: Int) -> Int:
    """Bit mask of a suit's thirteen cards, in the standard form."""
    return SUIT << (NUM_RANKS * np.int64(suit))


@jit
def beats(card: Int, best: Int, trump: Int) -> bool:
    """Whether a card played later takes the trick from the card that wins it so far, in the standard form."""
    suit, best_suit = card // NUM_RANKS, best // NUM_RANKS
    return bool(((suit == best_suit) & (card > best)) | ((suit != best_suit) & (suit == trump)))


@jit
def beating(best: Int, trump: Int) -> Int:
    """Bit mask of the cards that would take the trick from the card that wins it so far: those for which `beats`."""
    suit = best // NUM_RANKS
    higher = suit_mask(suit) & ~((ONE << (best + 1)) - 1)
    trumps = np.int64(suit != trump) * suit_mask(trump)  # without trump, bits that are no cards
    return (higher | trumps) & ((ONE << NUM_CARDS) - 1)


@jit
def seats(game: Game) -> Int:
    """Seats that the record has room for."""
    return MAX_PLAYERS


@jit
def cards(game: Game) -> Int:
    """Cards that the record has room for."""
    return NUM_CARDS


@jit
def suit_of(game: Game, table: Table, card: Int) -> Int:
    """The suit of a card."""
    return card // NUM_RANKS


@jit
def suit_cards(game: Game, table: Table, suit: Int) -> Int:
    """Bit mask of the cards of a suit."""
    return suit_mask(suit)


@jit
def takes(game: Game, table: Table, card: Int, best: Int) -> bool:
    """As `beats`, with the trump of the hand."""
    return beats(card, best, game["trump"])


@jit
def receive(game: Game, seat: Int, card: Int) -> None:
    """A card comes into a hand."""
    game["hands"][seat] |= ONE << card


@jit
def clear_copies(game: Game, seat: Int) -> None:
    """The deck holds no card twice: nothing to do."""


@jit
def sort_hands(game: Game, table: Table) -> None:
    """Everybody sorts their own hand as they like."""


@jit
def part_with(game: Game, seat: Int, card: Int) -> None:
    """A card goes from a hand to the table."""
    bit = ONE << card
    game["hands"][seat] ^= bit
    game["played"][seat] |= bit


@jit
def start_ramp(game: Game, table: Table) -> None:
    """Nothing to do: nothing is drawn before the first hand."""


@jit
def choose_hand(game: Game, table: Table) -> None:
    """The size of the next hand."""
    game["hand_size"] = table["hand_sizes"][game["hand"]]


@jit
def open_hand(game: Game, table: Table) -> None:
    """The cards are dealt: turn the next one up, whose suit is trump; nothing is said before the bidding."""
    dealt = game["hand_size"] * table["players"]
    if table["turn_up"] and dealt < table["deck_size"]:
        game["turned"] = game["deck"][dealt]
        game["trump"] = game["turned"] // NUM_RANKS


@jit
def is_last_bidder(game: Game, table: Table) -> bool:
    """Whether the bid of the seat to act completes the bids: the dealer bids last."""
    return bool(game["player"] == game["dealer"])


@jit
def bids_open(game: Game, table: Table, legal: Int) -> Int:
    """All of the bids 0 to hand size, the hook aside."""
    return legal


@jit
def note_call(game: Game, option: Int) -> None:
    """Nothing to keep: the bids themselves say it."""


@jit
def next_to_bid(game: Game, table: Table) -> None:
    """After a bid: the next seat bids; after the dealer's the first lead is due."""
    if game["player"] == game["dealer"]:
        game["phase"] = PLAY
    game["player"] = left_of(game["player"], table["players"])


@jit
def other_options(game: Game, table: Table) -> Int:
    """Nothing: there are decisions in BID and PLAY only."""
    return np.int64(0)


@jit
def first_action(game: Game) -> Int:
    """The action that bit 0 of ``game["legal"]`` stands for."""
    return FIRST_BID if game["phase"] == BID else 0


@jit
def note_first_action(game: Game, table: Table) -> None:
    """Nothing to do: it follows from the phase."""


@jit
def leads(game: Game, table: Table, hand: Int) -> Int:
    """Any card may be led."""
    return hand


@jit
def follows(game: Game, table: Table, hand: Int, following: Int) -> Int:
    """Cards of a hand that may be played to a trick, ``following`` being those of the suit led: these if any."""
    return following if following else hand


@jit
def options_of(game: Game, table: Table, cards: Int) -> Int:
    """The options behind some cards: the cards themselves."""
    return cards


@jit
def card_behind(game: Game, table: Table, option: Int) -> Int:
    """The card that an option plays: itself."""
    return option


@jit
def is_incomplete(game: Game, table: Table, suit: Int) -> bool:
    """Playing a card is the whole move: nothing else is named."""
    return False


@jit
def award_trick(game: Game, table: Table) -> None:
    """A full trick goes to its winner, who leads the next."""
    game["taken"][game["winning"]] += 1
    game["leader"] = game["winning"]


@jit
def bid_points(game: Game, table: Table, seat: Int, bid: Int, taken: Int) -> Any:
    """Points of a seat for a bid with so many tricks taken in this hand."""
    return table["points"][game["hand_size"], bid, taken]


@jit
def hand_points(game: Game, table: Table, seat: Int) -> Any:
    """Points of a seat for the hand just over."""
    return bid_points(game, table, seat, game["bids"][seat], game["taken"][seat])


@jit
def bid_value(game: Game, table: Table, seat: Int, bid: Int, taken: Int) -> Any:
    """What a bid with so many tricks taken is worth to a seat: its points, the direction aside."""
    return bid_points(game, table, seat, bid, taken)


@jit
def is_cooperative(game: Game, table: Table) -> bool:
    """Everybody plays for themselves."""
    return False


@jit
def is_last_hand(game: Game, table: Table) -> bool:
    """After HAND_OVER: whether the match ends with this hand."""
    return bool(game["hand"] + 1 == table["num_hands"])


@jit
def move_on(game: Game, table: Table) -> None:
    """To the next hand."""
    game["hand"] += 1


@jit
def is_lost(game: Game, table: Table) -> bool:
    """Never: somebody always wins."""
    return False


@jit
def seen_hand(game: Game, table: Table, viewer: Int, seat: Int) -> Int:
    """Bit mask of the cards held by a seat that a viewer may see."""
    return np.int64(game["hands"][seat]) if seat == viewer else np.int64(0)


@jit
def seen_twice(game: Game, table: Table, viewer: Int, seat: Int) -> Int:
    """The deck holds no card twice: nothing to do."""
    return np.int64(0)


@jit
def unseen_cards(game: Game, table: Table, viewer: Int) -> Int:
    """Bit mask of the cards that a viewer cannot place: not held by it, played or turned up."""
    seen = game["hands"][viewer]
    for seat in range(table["players"]):
        seen |= game["played"][seat]
    if game["turned"] != NONE:
        seen |= ONE << game["turned"]
    return table["deck_mask"] & ~seen


@jit
def unseen_copies(game: Game, table: Table, viewer: Int) -> Any:
    """As `unseen_cards`; and no card stands in the deck twice."""
    return unseen_cards(game, table, viewer), np.int64(0)


@jit
def write_mask(game: Game, mask: Any, row: Int) -> None:
    """``mask[row, action]`` = 1 for each legal action, else 0; all zero when nobody is to act."""
    bidding = game["phase"] == BID
    cards = 0 if bidding else game["legal"]
    bids = game["legal"] if bidding else 0
    store_64(mask, row, 0, cards | (bids << FIRST_BID))
    store_4(mask, row, 64, bids >> 12)
    mask[row, 68] = (bids >> 16) & 1
    mask[row, 69] = (bids >> 17) & 1
