"""Facts of a hand that tables of one form keep in other fields than those of the other, or have once for all.

What a seat holds and sees, which cards beat which, what it wants; and what only some tables have, such as a trick's
worth, at what it is everywhere else. Callers need not ask which form a table is of.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ohhell_env.kernel import rulebook, standard, wide_play
from ohhell_env.kernel.jit import ONE, Int, by_form, jit, jit_apart, popcount
from ohhell_env.kernel.state import BLIND, NAME_SUIT, NAME_TRUMP, NO_TRUMP, NONE, PASS_OR_NIL
from ohhell_env.kernel.wide_bidding import HIDDEN_CARDS
from ohhell_env.rules.cards import JOKERS, NUM_RANKS, NUM_SUITS
from ohhell_env.rules.ramps import GOLDEN_HAND

Game = Any  # a record of state.GAME or WIDE_GAME
Table = Any  # a record of state.TABLE or WIDE_TABLE


# --- Cards ----------------------------------------------------------------------------------------------------------


@jit
def _cards_left(game: Game, seat: Int) -> Int:
    return np.int64(game["hand_size"]) - popcount(game["played"][seat])


@jit
def _wide_cards_left(game: Game, seat: Int) -> Int:
    return popcount(game["slots"][seat])


@jit
def _held_twice(game: Game, seat: Int) -> Int:
    return np.int64(0)


@jit
def _wide_held_twice(game: Game, seat: Int) -> Int:
    return game["held_twice"][seat]


@jit
def _has_pairs(game: Game, table: Table) -> bool:
    return False


@jit
def _wide_has_pairs(game: Game, table: Table) -> bool:
    return bool(table["pairs"] != 0)


@jit
def _classes(game: Game) -> Int:
    return NUM_SUITS


@jit
def _wide_classes(game: Game) -> Int:
    return NUM_SUITS + 1  # without trump jokers are a class of their own


@jit
def _loose_jokers(game: Game, table: Table) -> Int:
    return np.int64(0)


@jit
def _wide_loose_jokers(game: Game, table: Table) -> Int:
    return table["suit_cards"][NO_TRUMP, JOKERS] if game["trump"] == NO_TRUMP else np.int64(0)


@jit
def _higher_cards(game: Game, table: Table, card: Int) -> Int:
    return standard.suit_mask(card // NUM_RANKS) & ~((ONE << (card + 1)) - 1)


@jit
def _wide_higher_cards(game: Game, table: Table, card: Int) -> Int:
    return table["higher"][game["trump"], card]


@jit
def _plain_suit(game: Game, table: Table, suit: Int) -> Int:
    return standard.suit_mask(suit)


@jit
def _wide_plain_suit(game: Game, table: Table, suit: Int) -> Int:
    return table["suit_cards"][NO_TRUMP, suit]


@jit
def _plain_rank(game: Game, table: Table, card: Int) -> Int:
    return card % NUM_RANKS


@jit
def _wide_plain_rank(game: Game, table: Table, card: Int) -> Int:
    return np.int64(table["ranks"][NO_TRUMP, card])


cards_left = by_form(_cards_left, _wide_cards_left)  # how many cards a seat holds, told from what it has played
held_twice = by_form(_held_twice, _wide_held_twice)  # cards that a seat holds twice
has_pairs = by_form(_has_pairs, _wide_has_pairs)  # whether cards stand in the deck twice
classes = by_form(_classes, _wide_classes)  # suits that a hand falls into
loose_jokers = by_form(_loose_jokers, _wide_loose_jokers)  # jokers that belong to no suit, there being no trump
# Cards of its suit that beat a card. Jokers without trump belong to whichever suit is led: cards of every suit that
# beat them there, and they are among those that beat the others.
higher_cards = by_form(_higher_cards, _wide_higher_cards)
plain_suit = by_form(_plain_suit, _wide_plain_suit)  # cards of a suit where there is no trump
plain_rank = by_form(_plain_rank, _wide_plain_rank)  # strength of a card in its suit where there is no trump


# --- What a seat sees and wants -------------------------------------------------------------------------------------


@jit
def _seen_others(game: Game, table: Table, seat: Int) -> Any:
    return np.int64(0), np.int64(0)


@jit_apart
def _wide_seen_others(game: Game, table: Table, seat: Int) -> Any:
    once, twice = np.int64(0), np.int64(0)
    for other in range(table["players"]):
        if other != seat:
            held = rulebook.seen_hand(game, table, seat, other)
            twice |= (once & held) | rulebook.seen_twice(game, table, seat, other)
            once |= held
    return once, twice


@jit
def _hidden_held(game: Game, table: Table, seat: Int) -> Int:
    held = np.int64(0)
    for other in range(table["players"]):
        if other != seat:
            held += _cards_left(game, other)
    return held


@jit_apart
def _wide_hidden_held(game: Game, table: Table, seat: Int) -> Int:
    held = np.int64(0)
    for other in range(table["players"]):
        if other != seat and not wide_play.sees_cards(game, table, seat, other):
            held += popcount(game["slots"][other])
    return held


@jit
def _sees_own(game: Game, table: Table, seat: Int) -> bool:
    return True


@jit
def _wide_sees_own(game: Game, table: Table, seat: Int) -> bool:
    return wide_play.sees_cards(game, table, seat, seat)


@jit
def _knows_cards(game: Game, table: Table) -> bool:
    return True


@jit
def _wide_knows_cards(game: Game, table: Table) -> bool:
    return bool(table["own_cards"] != HIDDEN_CARDS)


@jit
def _contract(game: Game, seat: Int) -> Int:
    return np.int64(game["bids"][seat])


@jit
def _wide_contract(game: Game, seat: Int) -> Int:
    if game["special"] & GOLDEN_HAND:
        return np.int64(game["hand_size"])
    return max(np.int64(game["bids"][seat]), 0)


seen_others = by_form(_seen_others, _wide_seen_others)  # cards that a seat sees with others, and those it sees twice
hidden_held = by_form(_hidden_held, _wide_hidden_held)  # cards that the others hold and a seat does not see
sees_own = by_form(_sees_own, _wide_sees_own)  # whether a seat sees its own cards
knows_cards = by_form(_knows_cards, _wide_knows_cards)  # whether seats know the cards that they play
contract = by_form(_contract, _wide_contract)  # tricks that a seat wants


# --- Decisions ------------------------------------------------------------------------------------------------------


@jit
def _speaks_otherwise(game: Game) -> bool:
    return False


@jit
def _wide_speaks_otherwise(game: Game) -> bool:
    phase = game["phase"]
    return bool((phase == BLIND) | (phase == PASS_OR_NIL) | (phase == NAME_TRUMP) | (phase == NAME_SUIT))


@jit
def _decision_number(game: Game, table: Table) -> Int:
    bids = 0
    for seat in range(table["players"]):
        bids += game["bids"][seat] != NONE
    return game["hand"] * 256 + bids + game["num_plays"]


@jit
def _wide_decision_number(game: Game, table: Table) -> Int:
    deals = np.int64(game["hand"]) + 128 * game["deals"]  # at most 128 hands; deals of one have no limit
    return deals * 512 + game["num_calls"] + 2 * game["num_plays"] - (game["phase"] == NAME_SUIT)


speaks_otherwise = by_form(_speaks_otherwise, _wide_speaks_otherwise)  # whether it is neither a bid nor a card's turn
decision_number = by_form(_decision_number, _wide_decision_number)  # numbers a match's decisions
