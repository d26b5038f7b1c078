"""Estimates from a seat's own cards: each card's chance to take a trick, the distribution of tricks, bid and play.

One rule decides everything: the expected points of the seat's own bid, with the cards' tricks as independent Bernoulli
variables. Reads the seat's own hand and what is public, nothing else, so a view and a full game give the same answer.

Fitted to the default game. At tables of the wide form the same features are read from their decks and options; a second
copy of a card counts as another card of the same strength in one's own hand, and is left out of what others may hold.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ohhell_env.kernel.jit import ONE, Int, by_form, jit, jit_apart, left_of, lowest, popcount
from ohhell_env.kernel.rulebook import bid_value, suit_cards, suit_of, takes
from ohhell_env.kernel.standard import suit_mask
from ohhell_env.kernel.state import BID, NO_TRUMP, NONE
from ohhell_env.rules.cards import NUM_RANKS, NUM_SUITS
from ohhell_env.rules.limits import WIDE_MAX_HAND_SIZE, WIDE_NUM_KINDS
from ohhell_env.rules.ramps import GOLDEN_HAND

# What the chance of a card is told from, in the order of `WEIGHTS`.
FEATURES = (
    "one",
    "above",  # higher cards of the suit that the others are expected to hold
    "sqrt_above",
    "trumps_out",  # trumps that the others are expected to hold
    "suit_out",  # cards of the suit that the others are expected to hold
    "length",  # own cards of the suit
    "tricks_left",
    "players",
    "pressure",  # tricks that the others need beyond their share, for each trick left
    "shortness",  # 1 / tricks left
)
NUM_FEATURES = len(FEATURES)
PRESSURE = FEATURES.index("pressure")

# Log-odds that a card takes a trick, by feature, for side cards and for trumps. Fitted, together with LEADS, by maximum
# likelihood of the tricks taken (a sum of independent chances) in 320,000 positions of this player's own games with
# 3 to 7 players and 1 to 13 cards, two bids in five and three cards in a hundred changed at random; twice, the second
# time on games of the first. CONTROL, WANTS and DUCKS were then compared head to head.
WEIGHTS = np.array(
    [
        [1.33, -0.837, -0.538, -0.108, 0.239, -0.32, 0.14, -0.37, -1.328, -2.294],
        [2.81, 0.796, -4.932, -0.021, -0.021, 0.394, 0.154, 0.188, -1.167, -0.812],
    ]
)
CONTROL = 1.5  # how far a seat can steer its cards towards the tricks that it wants: log-odds for each trick a card
LEADS = 1.66  # log-odds, over the tricks left, that side cards gain where the seat leads next
WANTS, DUCKS = 0.9, 0.7  # chance that a seat which can win a trick does: needing tricks, needing none

MAX_SUIT = 32  # no suit has more kinds of card, jokers included

# Working memory of one decision.
NOTES = np.dtype(
    [
        ("cards", np.int64, (WIDE_MAX_HAND_SIZE,)),  # the hand, highest card number first
        ("features", np.float64, (WIDE_MAX_HAND_SIZE, NUM_FEATURES)),
        ("value", np.float64, (WIDE_NUM_KINDS,)),  # expected points of each option, a bid or a card
        ("chance", np.float64, (WIDE_MAX_HAND_SIZE,)),  # that the card takes a trick, one way or another
        ("tricks", np.float64, (WIDE_MAX_HAND_SIZE + 2,)),  # distribution of the tricks that some cards take
        ("none_of", np.float64, (MAX_SUIT + 1,)),  # chance that a seat holds none of k given unseen cards
    ],
    align=True,
)

Notes = Any  # a record of NOTES


@jit
def unseen_cards(game: Any, table: Any, seat: Int) -> Int:
    """Bit mask of the cards that a seat cannot place: not held, played or turned up."""
    seen = game["hands"][seat]
    for other in range(table["players"]):
        seen |= game["played"][other]
    if game["turned"] != NONE:
        seen |= ONE << game["turned"]
    return table["deck_mask"] & ~seen


@jit
def _held_twice(game: Any, seat: Int) -> Int:
    return np.int64(0)


@jit
def _wide_held_twice(game: Any, seat: Int) -> Int:
    return game["held_twice"][seat]


@jit
def _has_pairs(game: Any, table: Any) -> bool:
    return False


@jit
def _wide_has_pairs(game: Any, table: Any) -> bool:
    return bool(table["pairs"] != 0)


@jit
def _cards_left(game: Any, seat: Int) -> Int:
    return np.int64(game["hand_size"]) - popcount(game["played"][seat])


@jit
def _wide_cards_left(game: Any, seat: Int) -> Int:
    return popcount(game["slots"][seat])


@jit
def _classes(game: Any) -> Int:
    return NUM_SUITS


@jit
def _wide_classes(game: Any) -> Int:
    return NUM_SUITS + 1  # without trump jokers are a class of their own


@jit
def _higher_cards(game: Any, table: Any, card: Int) -> Int:
    return suit_mask(card // NUM_RANKS) & ~((ONE << (card + 1)) - 1)


@jit_apart
def _wide_higher_cards(game: Any, table: Any, card: Int) -> Int:
    trump = np.int64(game["trump"])
    rest = suit_cards(game, table, np.int64(table["suits"][trump, card]))
    higher = np.int64(0)
    while rest:
        other = lowest(rest)
        rest ^= ONE << other
        if table["ranks"][trump, other] > table["ranks"][trump, card]:
            higher |= ONE << other
    return higher


@jit
def _contract(game: Any, seat: Int) -> Int:
    return np.int64(game["bids"][seat])


@jit
def _wide_contract(game: Any, seat: Int) -> Int:
    if game["special"] & GOLDEN_HAND:
        return np.int64(game["hand_size"])
    return max(np.int64(game["bids"][seat]), 0)


held_twice = by_form(_held_twice, _wide_held_twice)  # cards that a seat holds twice
has_pairs = by_form(_has_pairs, _wide_has_pairs)  # whether cards stand in the pack twice
cards_left = by_form(_cards_left, _wide_cards_left)  # how many cards a seat holds, told from what it has played
classes = by_form(_classes, _wide_classes)  # suits that a hand falls into
higher_cards = by_form(_higher_cards, _wide_higher_cards)  # cards of the same suit that beat a card
contract = by_form(_contract, _wide_contract)  # tricks that a seat wants


@jit
def pressure(game: Any, table: Any, seat: Int, left: Int) -> Any:
    """Tricks that the others still need beyond their share, for each trick left; unknown bids left out."""
    if table["sealed"] and game["phase"] == BID:
        return 0.0
    players = table["players"]
    beyond = 0.0
    for other in range(players):
        bid = np.int64(game["bids"][other])
        if other != seat and bid >= 0:
            beyond += max(bid - game["taken"][other], 0) - left / players
    return beyond / left


@jit_apart
def weigh_hand(game: Any, table: Any, seat: Int, unseen: Int, left: Int, notes: Notes) -> Int:
    """Write a seat's cards, their features and their chances in ``left`` tricks; returns how many cards there are."""
    players = table["players"]
    hand = game["hands"][seat]
    held = 0
    for other in range(players):
        if other != seat:
            held += cards_left(game, other)
    out = held / max(popcount(unseen), 1)  # share of the unseen cards that is in hands, not in the stock
    trump = np.int64(game["trump"])
    trumps_out = out * popcount(unseen & suit_cards(game, table, trump)) if trump != NO_TRUMP else 0.0
    squeeze = pressure(game, table, seat, left)
    twice = held_twice(game, seat)
    total = popcount(hand) + popcount(twice)
    count = total
    for s in range(classes(game)):
        suit = suit_cards(game, table, s)
        mine = hand & suit
        copies = twice & suit
        length = popcount(mine) + popcount(copies)
        suit_out = out * popcount(unseen & suit)
        kind = np.int64(s == trump)
        while mine:
            card = lowest(mine)
            if (copies >> card) & 1:  # the next time round it is the other copy's turn
                copies ^= ONE << card
            else:
                mine ^= ONE << card
            count -= 1
            above = out * popcount(unseen & higher_cards(game, table, card))
            notes["cards"][count] = card
            features = notes["features"]
            features[count, 0] = 1.0
            features[count, 1] = above
            features[count, 2] = math.sqrt(above)
            features[count, 3] = trumps_out
            features[count, 4] = suit_out
            features[count, 5] = length
            features[count, 6] = left
            features[count, 7] = players
            features[count, 8] = squeeze
            features[count, 9] = 1.0 / left
            log_odds = 0.0
            for f in range(NUM_FEATURES):
                log_odds += WEIGHTS[kind, f] * features[count, f]
            notes["chance"][count] = 1.0 / (1.0 + math.exp(-log_odds))
            if kind == 1 and above == 0.0 and not has_pairs(game, table):
                notes["chance"][count] = 1.0  # the highest trump takes its trick, whatever lies where
    return total


@jit
def write_tricks(game: Any, table: Any, notes: Notes, count: Int, skip: Int, wish: Int, leads: bool) -> Int:
    """Distribution of the tricks of a hand that steers towards ``wish``: ``notes["tricks"][t]``.

    Card ``skip`` (an index, or NONE) is left out; returns how many cards are in it. It is the sum of independent
    chances, each moved by the same log-odds towards the wish; side cards also by the lead.
    """
    chance = notes["chance"]
    tricks = notes["tricks"]
    rest = 0
    expected = 0.0
    for k in range(count):
        if k != skip:
            expected += chance[k]
            rest += 1
    tricks[0] = 1.0
    if rest == 0:
        return 0
    wish = min(max(wish, 0), rest)
    steer = math.exp(CONTROL * (wish - expected) / rest)
    lead = math.exp(LEADS / rest) if leads else 1.0
    used = 0
    for k in range(count):
        if k != skip:
            moved = chance[k] * steer
            if suit_of(game, table, notes["cards"][k]) != game["trump"]:
                moved *= lead
            win = moved / (1.0 - chance[k] + moved)
            tricks[used + 1] = 0.0
            for j in range(used + 1):
                t = used + 1 - j
                tricks[t] = tricks[t] * (1.0 - win) + tricks[t - 1] * win
            tricks[0] *= 1.0 - win
            used += 1
    return rest


@jit_apart
def rest_value(
    game: Any, table: Any, seat: Int, notes: Notes, count: Int, skip: Int, bid: Int, taken: Int, leads: bool
) -> float:
    """Expected `rulebook.bid_value` of a bid with so many tricks taken, the cards but ``skip`` still to play."""
    rest = write_tricks(game, table, notes, count, skip, bid - taken, leads)
    value = 0.0
    for t in range(rest + 1):
        value += notes["tricks"][t] * bid_value(game, table, seat, bid, taken + t)
    return value


@jit_apart
def best_bid(game: Any, table: Any, seat: Int, legal: Int, notes: Notes) -> Int:
    """The legal bid (bit mask ``legal``) with the highest expected points for a seat's hand; the lowest of equals."""
    size = np.int64(game["hand_size"])
    count = weigh_hand(game, table, seat, unseen_cards(game, table, seat), size, notes)
    leads = seat == game["leader"]
    best = NONE
    best_value = -np.inf
    for bid in range(count + 1):
        if (legal >> bid) & 1:
            value = rest_value(game, table, seat, notes, count, NONE, bid, 0, leads)
            notes["value"][bid] = value
            if value > best_value:
                best = bid
                best_value = value
    return best


@jit
def write_none_of(notes: Notes, left: Int, unseen: Int) -> None:
    """``notes["none_of"][k]``: chance that a seat with ``left`` of the unseen cards holds none of k given ones."""
    without = 1.0 - left / max(popcount(unseen), 1)
    chance = 1.0
    for k in range(MAX_SUIT + 1):
        notes["none_of"][k] = chance
        chance *= without


@jit
def win_chance(game: Any, table: Any, seat: Int, card: Int, unseen: Int, notes: Notes) -> float:
    """Chance that a card, played now, takes the current trick."""
    led = np.int64(game["led_suit"])
    trump = np.int64(game["trump"])
    suit = suit_of(game, table, card)
    if led == NONE:
        led = suit
    elif game["best"] != NONE and not takes(game, table, card, np.int64(game["best"])):
        return 0.0
    none_of = notes["none_of"]
    players = table["players"]
    no_higher = none_of[popcount(unseen & higher_cards(game, table, card))]
    no_led = none_of[popcount(unseen & suit_cards(game, table, led))]
    ruffs = 0.0  # chance that a seat without the led suit can beat the card
    if suit == trump and led != trump:
        ruffs = 1.0 - no_higher
        no_higher = 1.0
    elif trump != NO_TRUMP and led != trump:
        ruffs = 1.0 - none_of[popcount(unseen & suit_cards(game, table, trump))]
    chance = 1.0
    other = seat
    for _ in range(players - 1 - game["in_trick"]):
        other = left_of(other, players)
        voids = np.int64(game["voids"][other])
        void = (voids >> led) & 1
        can_ruff = 0.0 if trump != NO_TRUMP and (voids >> trump) & 1 else ruffs
        beaten = can_ruff if void else (1.0 - no_higher) + no_led * can_ruff
        keen = WANTS if game["bids"][other] > game["taken"][other] else DUCKS
        chance *= 1.0 - keen * min(beaten, 1.0)
    return chance


@jit_apart
def best_card(game: Any, table: Any, notes: Notes) -> Int:
    """The legal card with the highest expected value for the seat to act; the highest card number of equals.

    Each card either takes the trick or not; what follows is judged by `rest_value`. When nothing changes the points
    any more, the seat spoils: it fights for tricks where the others want more than there are, else it gives them away.
    """
    seat = np.int64(game["player"])
    unseen = unseen_cards(game, table, seat)
    left = popcount(game["hands"][seat]) + popcount(held_twice(game, seat))
    count = weigh_hand(game, table, seat, unseen, left - 1, notes)
    write_none_of(notes, count, unseen)
    bid = contract(game, seat)
    taken = np.int64(game["taken"][seat])
    fight = 1e-6 if notes["features"][0, PRESSURE] > 0.0 else -1e-6
    best = NONE
    best_value = -np.inf
    for k in range(count):
        card = notes["cards"][k]
        if (game["legal"] >> card) & 1:
            wins = win_chance(game, table, seat, card, unseen, notes)
            value = wins * fight
            if wins > 0.0:
                value += wins * rest_value(game, table, seat, notes, count, k, bid, taken + 1, True)
            if wins < 1.0:
                value += (1.0 - wins) * rest_value(game, table, seat, notes, count, k, bid, taken, False)
            notes["value"][card] = value
            if value > best_value:
                best = card
                best_value = value
    return best
