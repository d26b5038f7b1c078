"""Estimates from a seat's own cards: each card's chance to take a trick, the distribution of tricks, bid and play.

One rule decides everything: the expected points of the seat's own bid, with the cards' tricks as independent Bernoulli
variables. Reads the seat's own hand and what is public, nothing else, so a view and a full game give the same answer.

Fitted to the default game. At tables of the wide form the same features are read from their decks and options: cards
seen with others count where they are, a second copy of a card as another of the same strength, and jokers without
trump as cards of whichever suit is led.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ohhell_env.bots.knowledge import suit_to_name
from ohhell_env.kernel.facts import (
    classes,
    contract,
    has_pairs,
    held_twice,
    hidden_held,
    higher_cards,
    loose_jokers,
    seen_others,
    sees_own,
)
from ohhell_env.kernel.jit import ONE, Int, by_form, jit, jit_apart, left_of, lowest, popcount
from ohhell_env.kernel.rulebook import bid_value, seen_hand, suit_cards, suit_of, takes, unseen_copies
from ohhell_env.kernel.state import BID, NO_TRUMP, NONE
from ohhell_env.rules.cards import NUM_SUITS
from ohhell_env.rules.limits import WIDE_MAX_HAND_SIZE, WIDE_NUM_CARDS, WIDE_NUM_KINDS

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

EXAMPLES = 6  # hands laid out for a seat that does not see its own
MAX_COPIES = 40  # no suit has more cards, second copies and jokers included

# Working memory of one decision.
NOTES = np.dtype(
    [
        ("cards", np.int64, (WIDE_MAX_HAND_SIZE,)),  # the hand, highest card number first
        ("features", np.float64, (WIDE_MAX_HAND_SIZE, NUM_FEATURES)),
        ("value", np.float64, (WIDE_NUM_KINDS,)),  # expected points of each option, a bid or a card
        ("chance", np.float64, (WIDE_MAX_HAND_SIZE,)),  # that the card takes a trick, one way or another
        ("tricks", np.float64, (WIDE_MAX_HAND_SIZE + 2,)),  # distribution of the tricks that some cards take
        ("none_of", np.float64, (MAX_COPIES + 1,)),  # chance that a seat holds none of k given unseen cards
    ],
    align=True,
)

Notes = Any  # a record of NOTES


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


@jit
def copies(mask: Int, once: Int, twice: Int) -> Int:
    """How many cards of a bit mask there are among some that stand there once or twice."""
    return popcount(mask & once) + popcount(mask & twice)


@jit_apart
def weigh_hand(game: Any, table: Any, seat: Int, hand: Int, twice: Int, left: Int, notes: Notes) -> Int:
    """Write a seat's cards, their features and their chances in ``left`` tricks; returns how many cards there are.

    ``hand`` and ``twice`` are the cards that it holds, and those it holds twice. Cards seen with others count in full,
    those that the seat cannot place by the share of them that others hold.
    """
    players = table["players"]
    unseen, unseen_2 = unseen_copies(game, table, seat)
    if not sees_own(game, table, seat):
        unseen &= ~hand  # a hand to try out
    seen, seen_2 = seen_others(game, table, seat)
    out = hidden_held(game, table, seat) / max(popcount(unseen) + popcount(unseen_2), 1)
    trump = np.int64(game["trump"])
    trumps_out = 0.0
    if trump != NO_TRUMP:
        trumps = suit_cards(game, table, trump)
        trumps_out = out * copies(trumps, unseen, unseen_2) + copies(trumps, seen, seen_2)
    squeeze = pressure(game, table, seat, left)
    jokers = loose_jokers(game, table)
    lost = 0.0
    total = popcount(hand) + popcount(twice)
    count = total
    for s in range(classes(game)):
        suit = suit_cards(game, table, s)
        mine = hand & suit
        again = twice & suit
        length = popcount(mine) + popcount(again)
        suit_out = out * copies(suit, unseen, unseen_2) + copies(suit, seen, seen_2)
        kind = np.int64(s == trump)
        while mine:
            card = lowest(mine)
            if (again >> card) & 1:  # the next time round it is the other copy's turn
                again ^= ONE << card
            else:
                mine ^= ONE << card
            count -= 1
            higher = higher_cards(game, table, card)
            above = out * copies(higher, unseen, unseen_2) + copies(higher, seen, seen_2)
            if (jokers >> card) & 1:  # it is of the suit led, whichever that is: the mean of them
                above /= NUM_SUITS
                lost = copies(higher, unseen, unseen_2) / max(copies(~jokers, unseen, unseen_2), 1)
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
            if (jokers >> card) & 1:
                notes["chance"][count] *= 1.0 - min(lost, 1.0)  # to the card led
            if above == 0.0 and (kind == 1 or (jokers >> card) & 1) and not has_pairs(game, table):
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
def write_bid_values(game: Any, table: Any, seat: Int, hand: Int, twice: Int, notes: Notes) -> None:
    """Expected value of each bid 0..hand size with a hand: ``notes["value"]``."""
    size = np.int64(game["hand_size"])
    count = weigh_hand(game, table, seat, hand, twice, size, notes)
    leads = seat == game["leader"]
    for bid in range(size + 1):
        notes["value"][bid] = rest_value(game, table, seat, notes, count, NONE, bid, 0, leads)


@jit
def _write_unseen_values(game: Any, table: Any, seat: Int, notes: Notes) -> None:
    pass  # every seat sees its cards


@jit_apart
def takes_one_trick(game: Any, table: Any, seat: Int, card: Int) -> bool:
    """Whether a card takes the trick of a one-card hand, the others' cards being known."""
    players = table["players"]
    player = np.int64(game["leader"])
    winner = player
    best = np.int64(NONE)
    for _ in range(players):
        played = card if player == seat else lowest(game["hands"][player])
        if best == NONE or takes(game, table, played, best):
            best, winner = played, player
        player = left_of(player, players)
    return bool(winner == seat)


@jit_apart
def _wide_write_unseen_values(game: Any, table: Any, seat: Int, notes: Notes) -> None:
    """The same where the seat does not see its own cards: the mean over hands that it may hold.

    Of one card against cards seen, every card that it may be is tried; else `EXAMPLES` hands are laid out evenly from
    the cards that it cannot place.
    """
    size = np.int64(game["hand_size"])
    unseen, twice = unseen_copies(game, table, seat)
    exact = size == 1 and hidden_held(game, table, seat) == 0
    cards = np.empty(WIDE_NUM_CARDS, dtype=np.int64)
    there = 0
    for s in range(classes(game)):
        rest = unseen & suit_cards(game, table, s)
        while rest:
            card = lowest(rest)
            rest ^= ONE << card
            for _ in range(1 + ((twice >> card) & 1)):
                cards[there] = card
                there += 1
    values = np.zeros(WIDE_MAX_HAND_SIZE + 1)
    tries = there if exact else EXAMPLES
    for number in range(tries):
        if exact:
            taken = np.int64(takes_one_trick(game, table, seat, cards[number]))
            for bid in range(2):
                values[bid] += bid_value(game, table, seat, np.int64(bid), taken) / tries
        else:
            once, again = np.int64(0), np.int64(0)
            for k in range(size):
                bit = ONE << cards[int((k + (number + 0.5) / tries) * there / size)]
                again |= once & bit
                once |= bit
            write_bid_values(game, table, seat, once, again, notes)
            for bid in range(size + 1):
                values[bid] += notes["value"][bid] / tries
    for bid in range(size + 1):
        notes["value"][bid] = values[bid]


write_unseen_values = by_form(_write_unseen_values, _wide_write_unseen_values)


@jit_apart
def best_bid(game: Any, table: Any, seat: Int, legal: Int, notes: Notes) -> Int:
    """The legal bid (bit mask ``legal``) with the highest expected points for a seat; the lowest of equals."""
    if sees_own(game, table, seat):
        write_bid_values(game, table, seat, np.int64(game["hands"][seat]), held_twice(game, seat), notes)
    else:
        write_unseen_values(game, table, seat, notes)
    best = NONE
    for bid in range(np.int64(game["hand_size"]) + 1):
        if (legal >> bid) & 1 and (best == NONE or notes["value"][bid] > notes["value"][best]):
            best = bid
    return best


@jit
def write_none_of(notes: Notes, left: Int, total: Int) -> None:
    """``notes["none_of"][k]``: chance that a seat with ``left`` of ``total`` unseen cards has none of k given ones."""
    without = 1.0 - left / max(total, 1)
    chance = 1.0
    for k in range(MAX_COPIES + 1):
        notes["none_of"][k] = chance
        chance *= without


@jit
def can_beat(game: Any, table: Any, hand: Int, card: Int, led: Int, higher: Int) -> bool:
    """Whether a hand that is seen can beat a card by the rules of following suit; ``higher`` are those of its suit."""
    trump = np.int64(game["trump"])
    suit = suit_of(game, table, card)
    following = hand & suit_cards(game, table, led)
    playable = (following | (hand & loose_jokers(game, table))) if following else hand
    over = higher if suit in (led, trump) else np.int64(0)
    if trump != NO_TRUMP and suit != trump:
        over |= suit_cards(game, table, trump)
    return bool(playable & over)


@jit
def win_chance(game: Any, table: Any, seat: Int, card: Int, unseen: Int, unseen_2: Int, notes: Notes) -> float:
    """Chance that a card, played now, takes the current trick."""
    led = np.int64(game["led_suit"])
    trump = np.int64(game["trump"])
    suit = suit_of(game, table, card)
    jokers = loose_jokers(game, table)
    higher = higher_cards(game, table, card)
    if led == NONE:
        led = suit
        if (jokers >> card) & 1:
            led = suit_to_name(game, table, seat, unseen)
    elif game["best"] != NONE and not takes(game, table, card, np.int64(game["best"])):
        return 0.0
    if (jokers >> card) & 1:
        higher &= suit_cards(game, table, led) | jokers
    none_of = notes["none_of"]
    players = table["players"]
    wild = higher & jokers
    no_higher = none_of[copies(higher & ~jokers, unseen, unseen_2)]
    no_led = none_of[copies(suit_cards(game, table, led), unseen, unseen_2)]
    ruffs = 1.0 - none_of[copies(wild, unseen, unseen_2)]  # chance that a seat without the led suit can beat the card
    if suit == trump and led != trump:
        ruffs = 1.0 - no_higher
        no_higher = 1.0
    elif trump != NO_TRUMP and led != trump:
        ruffs = 1.0 - none_of[copies(suit_cards(game, table, trump), unseen, unseen_2)]
    chance = 1.0
    other = seat
    for _ in range(players - 1 - game["in_trick"]):
        other = left_of(other, players)
        seen = seen_hand(game, table, seat, other)
        voids = np.int64(game["voids"][other])
        void = (voids >> led) & 1
        can_ruff = 0.0 if trump != NO_TRUMP and (voids >> trump) & 1 else ruffs
        beaten = can_ruff if void else (1.0 - no_higher) + no_led * can_ruff
        if seen:
            beaten = 1.0 if can_beat(game, table, seen, card, led, higher) else 0.0
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
    hand, twice = np.int64(game["hands"][seat]), held_twice(game, seat)
    left = popcount(hand) + popcount(twice)
    count = weigh_hand(game, table, seat, hand, twice, left - 1, notes)
    unseen, unseen_2 = unseen_copies(game, table, seat)
    write_none_of(notes, count, popcount(unseen) + popcount(unseen_2))
    bid = contract(game, seat)
    taken = np.int64(game["taken"][seat])
    fight = 1e-6 if notes["features"][0, PRESSURE] > 0.0 else -1e-6
    best = NONE
    best_value = -np.inf
    for k in range(count):
        card = notes["cards"][k]
        if (game["legal"] >> card) & 1:
            wins = win_chance(game, table, seat, card, unseen, unseen_2, notes)
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
