"""The kernel's functions for tables of the wide form, continued: play, scoring, what a seat sees."""

from __future__ import annotations

from typing import Any

import numpy as np

from ohhell_env.kernel.jit import ONE, Int, jit, jit_apart, left_of
from ohhell_env.kernel.state import (
    BID,
    BLIND,
    BLIND_BID,
    HAND_OVER,
    NAME_SUIT,
    NAME_TRUMP,
    NAMED,
    NO_TRUMP,
    NONE,
    PASS_OR_NIL,
    WIDE_NUM_ACTIONS,
)
from ohhell_env.kernel.wide_bidding import FULL_LAST, HIDDEN_CARDS, beats, suit_cards, suit_of
from ohhell_env.rules.cards import JOKERS
from ohhell_env.rules.ramps import BLIND_HAND, GOLDEN_HAND, MISER_HAND
from ohhell_env.rules.rules import DUPLICATES, LEAD_TRUMP, OWN_CARDS

BLIND_GAIN, BLIND_LOSS = 2.0, 2.0  # factors on the points of a blind bid
MOVED_GAIN, MOVED_LOSS = 1.5, 3.0  # and one that was moved

LEAD_BROKEN, LEAD_NOT_FIRST = LEAD_TRUMP.index("broken"), LEAD_TRUMP.index("not first")
CANCEL_NONE, CANCEL_ANTE = DUPLICATES.index("first"), DUPLICATES.index("ante")
FOREHEAD = OWN_CARDS.index("forehead")

Game = Any  # a record of state.WIDE_GAME
Table = Any  # a record of state.WIDE_TABLE


# --- Play --------------------------------------------------------------------------------------------------------


@jit_apart
def leads(game: Game, table: Table, hand: Int) -> Int:
    """Cards of a hand that may be led."""
    trump = np.int64(game["trump"])
    early = (table["lead_trump"] == LEAD_NOT_FIRST) & (game["num_plays"] == 0)
    unbroken = (table["lead_trump"] == LEAD_BROKEN) & (game["broken"] == 0)
    if trump != NO_TRUMP and (early or unbroken):
        others = hand & ~suit_cards(game, table, trump)
        if others:
            return others
    return hand


@jit_apart
def follows(game: Game, table: Table, hand: Int, following: Int) -> Int:
    """Cards of a hand that may be played to a trick, ``following`` being those of the suit led."""
    trump = np.int64(game["trump"])
    if following:
        return following | (hand & table["suit_cards"][NO_TRUMP, JOKERS] if trump == NO_TRUMP else 0)
    if table["must_trump"] and trump != NO_TRUMP:
        trumps = hand & suit_cards(game, table, trump)
        if trumps:
            return trumps
    return hand


@jit
def slot_card(game: Game, table: Table, seat: Int, slot: Int) -> Int:
    """The card that a seat received at a position."""
    players = table["players"]
    place = seat - game["dealer"] - 1
    return np.int64(game["deck"][slot * players + (place if place >= 0 else place + players)])


@jit_apart
def options_of(game: Game, table: Table, legal: Int) -> Int:
    """The options behind some cards: the cards themselves, or their positions where own cards are hidden."""
    if table["own_cards"] != HIDDEN_CARDS:
        return legal
    seat = np.int64(game["player"])
    options = np.int64(0)
    for slot in range(game["hand_size"]):
        if (game["slots"][seat] >> slot) & 1 and (legal >> slot_card(game, table, seat, slot)) & 1:
            options |= ONE << slot
    return options


@jit_apart
def card_behind(game: Game, table: Table, option: Int) -> Int:
    """The card that an option plays; a position is used up."""
    seat = np.int64(game["player"])
    slot = option
    if table["own_cards"] != HIDDEN_CARDS:
        for k in range(game["hand_size"]):  # the last copy that is still held
            if (game["slots"][seat] >> k) & 1 and slot_card(game, table, seat, k) == option:
                slot = np.int64(k)
    card = slot_card(game, table, seat, slot)
    game["slots"][seat] ^= ONE << slot
    return card


@jit_apart
def is_incomplete(game: Game, table: Table, suit: Int) -> bool:
    """What a card that has just been played changes; whether its player has still to name its suit."""
    if suit == game["trump"] and suit != NO_TRUMP and game["led_suit"] != suit:
        game["broken"] = 1  # a ruff or a discard; a lead that nobody could help breaks nothing
    if table["duplicates"] != CANCEL_NONE:
        cancel(game, table)
    if game["led_suit"] == JOKERS:
        game["phase"] = NAME_SUIT
        return True
    return False


@jit_apart
def cancel(game: Game, table: Table) -> None:
    """Who wins the trick as it stands where two copies of a card cancel each other; NONE: nobody."""
    first = np.int64(game["num_plays"] - game["in_trick"])
    once = np.int64(0)
    twice = np.int64(0)
    for k in range(game["in_trick"]):
        bit = ONE << game["plays"][first + k]
        twice |= once & bit
        once |= bit
    for cancelled in (twice, np.int64(0)):
        seat = np.int64(game["leader"])
        game["winning"] = NONE
        for k in range(game["in_trick"]):
            card = np.int64(game["plays"][first + k])
            suit = suit_of(game, table, card)
            eligible = (suit == game["led_suit"]) | (suit == game["trump"])
            if eligible and not (cancelled >> card) & 1:
                if game["winning"] == NONE or beats(game, table, card, np.int64(game["best"])):
                    game["winning"] = seat
                    game["best"] = card
            seat = left_of(seat, table["players"])
        if game["winning"] != NONE or table["duplicates"] == CANCEL_ANTE:
            break
    if game["winning"] == NONE:
        game["best"] = NONE


@jit_apart
def award_trick(game: Game, table: Table) -> None:
    """A full trick goes to its winner; where nobody wins, the next one counts for it too and its leader leads again."""
    winner = np.int64(game["winning"])
    game["winners"][game["num_plays"] // table["players"] - 1] = winner
    if winner == NONE:
        game["worth"] += 1
        return
    game["taken"][winner] += game["worth"]
    game["worth"] = 1
    game["leader"] = winner


# --- Scoring -----------------------------------------------------------------------------------------------------


@jit
def is_failed(game: Game, table: Table) -> bool:
    """Whether a cooperative hand is over and somebody has missed their bid."""
    if not table["cooperative"]:
        return False
    for seat in range(table["players"]):
        if game["bids"][seat] != game["taken"][seat]:
            return True
    return False


@jit
def blind_factor(table: Table, kept: bool, made: bool, points: float) -> float:
    """What a blind bid multiplies its points by: a miss that the scoring pays for pays no more for being blind."""
    if (points > 0.0) if table["lowest"] else (points < 0.0):
        return BLIND_LOSS if kept else MOVED_LOSS
    if not made:
        return 1.0
    return BLIND_GAIN if kept else MOVED_GAIN


@jit_apart
def bid_points(game: Game, table: Table, seat: Int, bid: Int, taken: Int) -> float:
    """Points of a seat for a bid with so many tricks taken in this hand, the others' results aside."""
    if game["special"] & GOLDEN_HAND:
        return float(-taken if table["lowest"] else taken)
    won = table["points"][game["trump"], game["hand_size"], bid, taken]
    if game["pledges"][seat] == BLIND_BID:
        won *= blind_factor(table, bid == game["first_bids"][seat], bid == taken, won)
    return float(won)


@jit_apart
def hand_points(game: Game, table: Table, seat: Int) -> float:
    """Points of a seat for the hand just over."""
    taken = np.int64(game["taken"][seat])
    if game["special"] & MISER_HAND:
        fewest = taken
        for other in range(table["players"]):
            fewest = min(fewest, np.int64(game["taken"][other]))
        return bid_points(game, table, seat, np.int64(0), np.int64(0) if taken == fewest else taken)
    if is_failed(game, table):
        return 0.0
    return bid_points(game, table, seat, np.int64(game["bids"][seat]), taken)


@jit_apart
def bid_value(game: Game, table: Table, seat: Int, bid: Int, taken: Int) -> float:
    """What a bid with so many tricks taken is worth to a seat, the direction aside.

    In a miser hand, whose points depend on the others' tricks, each trick counts against the seat.
    """
    if game["special"] & MISER_HAND:
        return float(taken if table["lowest"] else -taken)
    return bid_points(game, table, seat, bid, taken)


@jit
def is_cooperative(game: Game, table: Table) -> bool:
    """Whether all seats want the same: that every bid is made."""
    return bool(table["cooperative"] == 1)


@jit
def is_last_hand(game: Game, table: Table) -> bool:
    """After HAND_OVER: whether the match ends with this deal."""
    if is_failed(game, table):
        return bool(table["attempts"] > 0 and game["deals"] >= table["attempts"])
    return bool(game["hand"] + 1 == table["num_hands"])


@jit
def move_on(game: Game, table: Table) -> None:
    """To the next hand, or to the same one again where a cooperative hand has failed."""
    if not is_failed(game, table):
        game["hand"] += 1
        game["deals"] = 0


@jit
def is_lost(game: Game, table: Table) -> bool:
    """Whether a cooperative match has been lost, so that nobody wins."""
    return is_failed(game, table)


# --- What a seat sees --------------------------------------------------------------------------------------------


@jit
def is_bidding(game: Game, table: Table) -> bool:
    """Whether bids are still being made, so that sealed ones are hidden."""
    phase = game["phase"]
    by_dealer = (phase == NAME_TRUMP) & (table["trump_from"] != NAMED)  # for a joker, before the bidding
    return bool((phase == BID) | (phase == BLIND) | (phase == PASS_OR_NIL) | by_dealer)


@jit_apart
def sees_cards(game: Game, table: Table, viewer: Int, seat: Int) -> bool:
    """Whether a viewer may see the cards that a seat holds."""
    phase = game["phase"]
    if phase == HAND_OVER or (phase > HAND_OVER and phase < BLIND):
        return True  # nobody holds any
    if phase == BLIND:
        return False  # not dealt yet
    unseen = table["own_cards"]
    if game["special"] & BLIND_HAND and is_bidding(game, table):
        return False
    forehead = unseen == FOREHEAD and game["hand_size"] == 1
    if seat == viewer:
        before_lead = is_bidding(game, table) or phase == NAME_TRUMP or game["num_plays"] == 0
        return not (unseen == HIDDEN_CARDS or (forehead and before_lead))
    return bool(table["hands_shown"] == 1 or unseen == HIDDEN_CARDS or forehead)


@jit
def is_shown_held(game: Game, table: Table) -> bool:
    """Whether all know that the dealer still holds the card that made trump."""
    shown = game["shown"]
    from_hand = (shown != NONE) & (table["full_deal"] == FULL_LAST)
    return bool(from_hand and not (game["played"][game["dealer"]] >> max(np.int64(shown), 0)) & 1)


@jit
def seen_hand(game: Game, table: Table, viewer: Int, seat: Int) -> Int:
    """Bit mask of the cards held by a seat that a viewer may see."""
    return np.int64(game["hands"][seat]) if sees_cards(game, table, viewer, seat) else np.int64(0)


@jit
def seen_twice(game: Game, table: Table, viewer: Int, seat: Int) -> Int:
    """Bit mask of the cards held by a seat twice, as far as a viewer may see them."""
    return np.int64(game["held_twice"][seat]) if sees_cards(game, table, viewer, seat) else np.int64(0)


@jit_apart
def unseen_copies(game: Game, table: Table, viewer: Int) -> Any:
    """Masks of the cards of the deck of which a viewer cannot place a copy, and can place neither of two copies."""
    once = np.int64(0)
    twice = np.int64(0)
    for seat in range(table["players"]):
        held = seen_hand(game, table, viewer, seat)
        both = seen_twice(game, table, viewer, seat)
        for mask in (held, both, game["played"][seat], game["played_twice"][seat]):
            twice |= once & mask
            once |= mask
    known = game["turned"]
    if is_shown_held(game, table) and not sees_cards(game, table, viewer, np.int64(game["dealer"])):
        known = game["shown"]
    if known != NONE:
        bit = ONE << known
        twice |= once & bit
        once |= bit
    return (table["deck_mask"] & ~once) | (table["pairs"] & ~twice), table["pairs"] & ~once


@jit_apart
def write_mask(game: Game, mask: Any, row: Int) -> None:
    """``mask[row, action]`` = 1 for each legal action, else 0; all zero when nobody is to act."""
    for action in range(WIDE_NUM_ACTIONS):
        mask[row, action] = 0
    options = game["legal"]
    for option in range(64):
        if (options >> option) & 1:
            mask[row, game["first_action"] + option] = 1
