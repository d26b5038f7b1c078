"""The kernel's functions for tables of the wide form: what only the other tables of the sources have.

The kernel pairs them with the default game's by `jit.by_form`. `Rules` says which source an option is from, and
what is played where the source leaves it open.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ohhell_env.kernel.jit import ONE, Int, below, jit, jit_apart, left_of, next_state, nth_bit, popcount
from ohhell_env.kernel.state import (
    BID,
    BLIND,
    BLIND_BID,
    CUT,
    DRAWN_TRUMP,
    FIXED,
    MAX_CALLS,
    NAME_SUIT,
    NAME_TRUMP,
    NAMED,
    NIL,
    NO_TRUMP,
    NONE,
    PASS,
    PASS_OR_NIL,
    PASSED,
    PLAY,
    TURNED,
    WIDE_FIRST_BID,
    WIDE_FIRST_SLOT,
    WIDE_FIRST_SUIT,
)
from ohhell_env.rules.cards import JOKERS, NUM_CARDS, NUM_RANKS
from ohhell_env.rules.limits import WIDE_MAX_HAND_SIZE, WIDE_MAX_PLAYERS, WIDE_NUM_CARDS
from ohhell_env.rules.ramps import BLIND_HAND, GOLDEN_HAND, MISER_HAND, NO_TRUMP_HAND
from ohhell_env.rules.rules import FULL_DEALS, OWN_CARDS

ACE = NUM_RANKS - 1
FIRST_CHANGE = 3  # knocking: rounds of fitting bids after which everybody must change theirs
LAST_ROUND = 6  # and after which bids stand as they are
LEAST_SORTED = 3  # cards of a hand that is sorted
MOVE = 2  # how far a blind bid may be moved

FULL_LAST, FULL_CUT = FULL_DEALS.index("last"), FULL_DEALS.index("cut")
HIDDEN_CARDS = OWN_CARDS.index("hidden")

Game = Any  # a record of state.WIDE_GAME
Table = Any  # a record of state.WIDE_TABLE


# --- Sizes and cards ---------------------------------------------------------------------------------------------


@jit
def seats(game: Game) -> Int:
    """Seats that the record has room for."""
    return WIDE_MAX_PLAYERS


@jit
def cards(game: Game) -> Int:
    """Cards that the record has room for."""
    return WIDE_NUM_CARDS


@jit
def suit_of(game: Game, table: Table, card: Int) -> Int:
    """The suit that a card counts as: without trump a joker has the suit led, or none (`JOKERS`) when it leads."""
    suit = np.int64(table["suits"][game["trump"], card])
    if suit == JOKERS and game["led_suit"] != NONE:
        return np.int64(game["led_suit"])
    return suit


@jit
def suit_cards(game: Game, table: Table, suit: Int) -> Int:
    """Bit mask of the cards that belong to a suit."""
    return table["suit_cards"][game["trump"], suit]


@jit
def beats(game: Game, table: Table, card: Int, best: Int) -> bool:
    """Whether a card played later takes the trick from the card that wins it so far; of equal ones the first does."""
    trump = np.int64(game["trump"])
    suit, best_suit = suit_of(game, table, card), suit_of(game, table, best)
    higher = table["ranks"][trump, card] > table["ranks"][trump, best]
    return bool(((suit == best_suit) & higher) | ((suit != best_suit) & (suit == trump)))


@jit
def receive(game: Game, seat: Int, card: Int) -> None:
    """A card comes into a hand."""
    bit = ONE << card
    if game["hands"][seat] & bit:
        game["held_twice"][seat] |= bit
    game["hands"][seat] |= bit


@jit
def clear_copies(game: Game, seat: Int) -> None:
    """No second copies held or played."""
    game["held_twice"][seat] = 0
    game["played_twice"][seat] = 0


@jit_apart
def sort_hands(game: Game, table: Table) -> None:
    """Where the table has it, the neighbour puts each hidden hand of three cards and more in the order of its suits.

    Clubs, diamonds, hearts, spades, then jokers; within a suit the cards stay in the order dealt, so positions tell of
    suits alone. The deck itself is put in order: what a record says was dealt is what lies on the table.
    """
    size, players = np.int64(game["hand_size"]), np.int64(table["players"])
    if not table["sort_hands"] or size < LEAST_SORTED:
        return
    suits, deck = table["suits"], game["deck"]
    for first in range(players):
        for last in range(1, size):
            card = deck[first + last * players]
            slot = last
            while slot > 0 and suits[NO_TRUMP, deck[first + (slot - 1) * players]] > suits[NO_TRUMP, card]:
                deck[first + slot * players] = deck[first + (slot - 1) * players]
                slot -= 1
            deck[first + slot * players] = card


@jit
def part_with(game: Game, seat: Int, card: Int) -> None:
    """A card goes from a hand to the table."""
    bit = ONE << card
    if game["held_twice"][seat] & bit:
        game["held_twice"][seat] ^= bit
    else:
        game["hands"][seat] ^= bit
    if game["played"][seat] & bit:
        game["played_twice"][seat] |= bit
    game["played"][seat] |= bit


# --- The hand to deal --------------------------------------------------------------------------------------------


@jit_apart
def start_ramp(game: Game, table: Table) -> None:
    """Before the first hand of a match."""
    game["sizes_left"] = ((ONE << (table["peak"] + 1)) - 2) if table["random_ramp"] else 0
    game["deals"] = 0


@jit_apart
def choose_hand(game: Game, table: Table) -> None:
    """The size of the next hand, its special rules, and the cards that are drawn before it is dealt.

    A hand that is dealt again keeps what was drawn for it.
    """
    game["deals"] += 1
    stream = game["stream"]
    hand = game["hand"]
    if game["deals"] == 1:
        game["special"] = table["specials"][hand]
        game["hand_size"] = table["hand_sizes"][hand]
        game["drawn"] = NONE
        if table["random_ramp"]:
            stream = next_state(stream)
            size = nth_bit(game["sizes_left"], below(stream, popcount(game["sizes_left"])))
            game["sizes_left"] ^= ONE << size
            game["hand_size"] = size
        if table["trump_from"] == DRAWN_TRUMP:
            size = table["peak"] + 1
            while size > table["peak"]:
                stream = next_state(stream)
                card = below(stream, NUM_CARDS)
                rank = card % NUM_RANKS
                size = 1 if rank == ACE else rank + 2
                game["drawn"] = card // NUM_RANKS
            game["hand_size"] = size
    game["shown"] = NONE
    if table["trump_from"] == CUT or (table["full_deal"] == FULL_CUT and uses_whole_deck(game, table)):
        stream = next_state(stream)
        if not game["special"] & NO_TRUMP_HAND:
            game["shown"] = table["deck"][below(stream, table["deck_size"])]
    game["stream"] = stream


@jit
def uses_whole_deck(game: Game, table: Table) -> bool:
    """Whether the deal leaves no card to turn up."""
    return bool(game["hand_size"] * table["players"] == table["deck_size"])


@jit_apart
def open_hand(game: Game, table: Table) -> None:
    """The cards are dealt: to the first thing that anybody has to say."""
    for seat in range(WIDE_MAX_PLAYERS):
        game["pledges"][seat] = NONE
        game["first_bids"][seat] = NONE
        game["slots"][seat] = (ONE << game["hand_size"]) - 1 if seat < table["players"] else 0
    for trick in range(WIDE_MAX_HAND_SIZE):
        game["winners"][trick] = NONE
        game["named"][trick] = NONE
    for call in range(MAX_CALLS):
        game["calls"][call] = NONE
    game["num_calls"] = 0
    game["rounds"] = 0
    game["worth"] = 1
    game["broken"] = 0
    game["trump_known"] = 0
    no_bids = (game["special"] & (GOLDEN_HAND | MISER_HAND)) != 0
    blind_hand = (game["special"] & BLIND_HAND) != 0
    if game["special"] & NO_TRUMP_HAND:
        game["trump_known"] = 1
    elif table["trump_from"] == FIXED:
        set_trump(game, np.int64(table["trumps"][game["hand"]]))
    elif table["trump_from"] == DRAWN_TRUMP:
        set_trump(game, np.int64(game["drawn"]))
    elif table["trump_from"] == NAMED and no_bids:
        game["trump_known"] = 1
    if no_bids:
        show_trump(game, table)
    elif table["blind_bids"] and not blind_hand:
        game["phase"] = BLIND
    elif table["nil_round"] and game["hand_size"] > table["players"]:
        game["phase"] = PASS_OR_NIL
    else:
        show_trump(game, table)


@jit
def set_trump(game: Game, trump: Int) -> None:
    """Trump is known to all from now on."""
    game["trump"] = trump
    game["trump_known"] = 1


@jit_apart
def show_trump(game: Game, table: Table) -> None:
    """Show the card that makes trump, if one does; for a joker the dealer names a suit. Then bidding starts."""
    if not game["trump_known"] and table["trump_from"] != NAMED:
        card = game["shown"]  # the card cut
        if table["trump_from"] == TURNED:
            dealt = game["hand_size"] * table["players"]
            if not uses_whole_deck(game, table):
                card = np.int16(game["deck"][dealt])
                game["turned"] = card
            elif table["full_deal"] == FULL_LAST:
                card = np.int16(game["deck"][dealt - 1])
                game["shown"] = card
        suit = NO_TRUMP if card == NONE else np.int64(table["suits"][NO_TRUMP, card])
        if suit == JOKERS and card != NONE:
            game["phase"] = NAME_TRUMP
            game["player"] = game["dealer"]
            return
        set_trump(game, suit)
    open_bidding(game, table)


@jit_apart
def open_bidding(game: Game, table: Table) -> None:
    """The first seat that still has to bid bids; where nobody has, play starts."""
    game["phase"] = BID
    game["player"] = game["leader"]
    if game["special"] & (GOLDEN_HAND | MISER_HAND):
        game["phase"] = PLAY
    elif game["pledges"][game["leader"]] == NIL:
        next_to_bid(game, table)


# --- Bidding -----------------------------------------------------------------------------------------------------


@jit
def bidder_after(game: Game, table: Table, seat: Int) -> Int:
    """The next seat that bids in this round; NONE after the last."""
    while seat != game["dealer"]:
        seat = left_of(seat, table["players"])
        if game["pledges"][seat] != NIL:
            return np.int64(seat)
    return np.int64(NONE)


@jit
def is_last_bidder(game: Game, table: Table) -> bool:
    """Whether the bid of the seat to act completes the bids."""
    return bool(bidder_after(game, table, np.int64(game["player"])) == NONE)


@jit_apart
def bids_open(game: Game, table: Table, legal: Int) -> Int:
    """What the options of the table leave of the bids 0 to hand size, the hook aside."""
    seat = np.int64(game["player"])
    first = np.int64(game["first_bids"][seat])
    if game["pledges"][seat] == BLIND_BID:
        low: Int = max(first - MOVE, 0)
        legal &= ((ONE << (first + MOVE + 1)) - 1) & ~((ONE << low) - 1)
    if table["nil_round"] and game["pledges"][seat] == PASSED:
        legal &= ~ONE
    if game["rounds"] >= FIRST_CHANGE:
        legal &= ~(ONE << first)
    if table["cooperative"]:
        rest: Int = np.int64(game["hand_size"])
        for other in range(table["players"]):
            if game["bids"][other] > 0:
                rest -= game["bids"][other]
        legal = (ONE << rest) if is_last_bidder(game, table) else (ONE << (rest + 1)) - 1
    return legal


@jit
def note_call(game: Game, option: Int) -> None:
    """Keep a decision before the play."""
    game["calls"][game["num_calls"]] = option
    game["num_calls"] += 1


@jit_apart
def next_to_bid(game: Game, table: Table) -> None:
    """After a bid, or before the first where that seat is nil: the next bidder, or what follows the last bid."""
    seat = bidder_after(game, table, np.int64(game["player"]))
    if seat != NONE:
        game["player"] = seat
        return
    total = np.int64(0)
    for other in range(table["players"]):
        total += game["bids"][other]
    if table["knocking"] and total == game["hand_size"] and game["rounds"] < LAST_ROUND:
        game["rounds"] += 1
        for other in range(table["players"]):
            game["first_bids"][other] = game["bids"][other]
            game["bids"][other] = NONE
        game["player"] = game["leader"]
    elif table["trump_from"] == NAMED and not game["trump_known"]:
        game["phase"] = NAME_TRUMP
        game["player"] = highest_bidder(game, table)
    else:
        game["phase"] = PLAY
        game["player"] = game["leader"]


@jit
def highest_bidder(game: Game, table: Table) -> Int:
    """The seat with the highest bid, the first of equals in the order of bidding."""
    best = np.int64(game["leader"])
    seat = best
    for _ in range(table["players"] - 1):
        seat = left_of(seat, table["players"])
        if game["bids"][seat] > game["bids"][best]:
            best = seat
    return best


@jit_apart
def decide(game: Game, table: Table, option: Int) -> None:
    """Anything but a bid in BID and a card in PLAY."""
    seat = np.int64(game["player"])
    if game["phase"] != NAME_SUIT:
        note_call(game, option)
    if game["phase"] == BLIND or game["phase"] == PASS_OR_NIL:
        if option == PASS:
            game["pledges"][seat] = PASSED
        elif game["phase"] == BLIND:
            game["pledges"][seat] = BLIND_BID
            game["first_bids"][seat] = option
        else:
            game["pledges"][seat] = NIL
            game["bids"][seat] = 0
        if seat == game["dealer"]:
            show_trump(game, table)
        else:
            game["player"] = left_of(seat, table["players"])
    elif game["phase"] == NAME_TRUMP:
        set_trump(game, option)
        if table["trump_from"] == NAMED:
            game["phase"] = PLAY
            game["player"] = game["leader"]
        else:
            open_bidding(game, table)
    else:  # the suit that a joker stands for
        game["led_suit"] = option
        game["named"][game["num_plays"] // table["players"]] = option
        game["phase"] = PLAY
        game["player"] = left_of(seat, table["players"])


@jit_apart
def other_options(game: Game, table: Table) -> Int:
    """Options in the phases that only the wide form has."""
    if game["phase"] == BLIND:
        return ((ONE << (game["hand_size"] + 1)) - 1) | (ONE << PASS)
    if game["phase"] == PASS_OR_NIL:
        return ONE | (ONE << PASS)
    suits = (ONE << JOKERS) - 1
    if game["phase"] == NAME_TRUMP and table["trump_from"] != NAMED:
        return suits | (ONE << NO_TRUMP)  # a joker was turned up
    return suits


@jit
def first_action(game: Game) -> Int:
    """The action that bit 0 of ``game["legal"]`` stands for."""
    return np.int64(game["first_action"])


@jit
def note_first_action(game: Game, table: Table) -> None:
    """Renew ``first_action`` for the phase."""
    if game["phase"] == PLAY:
        game["first_action"] = WIDE_FIRST_SLOT if table["own_cards"] == HIDDEN_CARDS else 0
    elif game["phase"] == NAME_TRUMP or game["phase"] == NAME_SUIT:
        game["first_action"] = WIDE_FIRST_SUIT
    else:
        game["first_action"] = WIDE_FIRST_BID
