"""Determinizations (worlds): deals of the cards that a seat cannot see, uniform over all that fit what it knows.

What a deal must fit: how many cards each seat holds, and the suits in which a seat has failed to follow. Every card
that the viewer cannot place may lie with any seat or in the stock. Seats that have shown a void are dealt first, by
suit counts drawn in proportion to the number of ways to complete the deal; those numbers are exact counts, worked out
once for a decision. The other seats and the stock then share what is left at random. `likely_world` then prefers
deals that make the known bids plausible.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ohhell_env.bots.hand_model import best_bid
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.facts import cards_left
from ohhell_env.kernel.jit import ONE, Int, below, jit, jit_apart, left_of, mix, next_state, nth_bit, popcount
from ohhell_env.kernel.rulebook import unseen_cards
from ohhell_env.kernel.standard import suit_mask
from ohhell_env.kernel.state import BID, NONE
from ohhell_env.rules.cards import NUM_RANKS, NUM_SUITS
from ohhell_env.rules.limits import MAX_PLAYERS

_COUNTS = NUM_RANKS + 1  # a suit may have 0..13 unseen cards
_SHIFT_32 = np.uint64(32)
CHOOSE = np.array([[math.comb(n, k) for k in range(_COUNTS)] for n in range(_COUNTS)], dtype=np.float64)

SHARPNESS = 0.7  # log-odds of a bid for each point that the bidder's estimate of it is higher
SURPRISE = 0.02  # chance that a bid follows from nothing that the rules see

# What is worked out once for a decision: who is dealt in which order, and how many ways there are to go on.
PLAN = np.dtype(
    [
        ("unseen", np.int64),  # () bit mask of the cards to deal
        ("num_seats", np.int64),  # () seats to deal to, those with voids first
        ("num_void", np.int64),  # () how many of them have shown a void
        ("seats", np.int64, (MAX_PLAYERS,)),  # (S,) in the order dealt
        ("sizes", np.int64, (MAX_PLAYERS,)),  # (S,) cards to deal to each of them
        ("voids", np.int64, (MAX_PLAYERS,)),  # (S,) bit per suit that each of them lacks
        # [k, clubs, diamonds, hearts] ways to deal on from the k-th seat with these numbers of cards left; the
        # number of spades follows from the total.
        ("ways", np.float64, (MAX_PLAYERS, _COUNTS, _COUNTS, _COUNTS)),
        ("take", np.int64, (NUM_SUITS,)),  # (4,) cards of each suit for the seat being dealt to
    ],
    align=True,
)

Plan = Any  # a record of PLAN


@jit_apart
def plan_deals(game: Any, table: Any, viewer: Int, plan: Plan) -> Any:
    """Prepare dealing what ``viewer`` cannot see; False when no deal fits (no play leads to such a game)."""
    unseen = unseen_cards(game, table, viewer)
    plan["unseen"] = unseen
    total = 0
    count = 0
    for with_void in (True, False):
        for seat in range(table["players"]):
            if seat != viewer and (game["voids"][seat] != 0) == with_void:
                plan["seats"][count] = seat
                plan["sizes"][count] = cards_left(game, seat)
                plan["voids"][count] = game["voids"][seat]
                total += plan["sizes"][count]
                count += 1
        if with_void:
            plan["num_void"] = count
    plan["num_seats"] = count
    if total > popcount(unseen):
        return False
    for j in range(plan["num_void"]):
        count_ways(plan, plan["num_void"] - 1 - j)
    return plan["num_void"] == 0 or ways_from(plan, 0, unseen) > 0.0


@jit
def suit_count(mask: Int, suit: Int) -> Int:
    """How many cards of a suit a bit mask has."""
    return popcount(mask & suit_mask(suit))


@jit
def ways_from(plan: Plan, k: Int, pool: Int) -> Any:
    """Ways to deal on from the k-th seat with the cards of ``pool`` left, suits' ranks apart."""
    return plan["ways"][k, suit_count(pool, 0), suit_count(pool, 1), suit_count(pool, 2)]


@jit
def count_ways(plan: Plan, k: Int) -> None:
    """Fill ``ways[k]`` for every division of the suits that the seats before the k-th can leave."""
    unseen = plan["unseen"]
    dealt = 0
    for j in range(k):
        dealt += plan["sizes"][j]
    left = popcount(unseen) - dealt
    clubs_most, diamonds_most, hearts_most = suit_count(unseen, 0), suit_count(unseen, 1), suit_count(unseen, 2)
    for clubs in range(max(clubs_most - dealt, 0), clubs_most + 1):
        for diamonds in range(max(diamonds_most - dealt, 0), diamonds_most + 1):
            for hearts in range(max(hearts_most - dealt, 0), hearts_most + 1):
                spades = left - clubs - diamonds - hearts
                if spades >= 0 and spades < _COUNTS:
                    ways = divide(plan, k, clubs, diamonds, hearts, spades, np.inf)
                    plan["ways"][k, clubs, diamonds, hearts] = ways


@jit
def most_of(plan: Plan, k: Int, suit: Int, there: Int) -> Int:
    """The most cards of a suit that the k-th seat can get where that many are left."""
    return 0 if (plan["voids"][k] >> suit) & 1 else min(there, plan["sizes"][k])


@jit_apart
def divide(plan: Plan, k: Int, clubs: Int, diamonds: Int, hearts: Int, spades: Int, target: float) -> Any:
    """Walk through the k-th seat's hands by suit counts, adding up the deals of each, until the sum exceeds ``target``.

    Returns the sum; ``take`` is the hand at which the walk stopped. With an infinite target: the number of deals.
    """
    size = plan["sizes"][k]
    last = k + 1 == plan["num_void"]
    spades_most = most_of(plan, k, 3, spades)
    ways = 0.0
    for c in range(most_of(plan, k, 0, clubs) + 1):
        for d in range(min(most_of(plan, k, 1, diamonds), size - c) + 1):
            most = min(most_of(plan, k, 2, hearts), size - c - d)
            for h in range(max(size - c - d - spades_most, 0), most + 1):
                s = size - c - d - h
                hands = CHOOSE[clubs, c] * CHOOSE[diamonds, d] * CHOOSE[hearts, h] * CHOOSE[spades, s]
                if not last:
                    hands *= plan["ways"][k + 1, clubs - c, diamonds - d, hearts - h]
                ways += hands
                if ways > target:
                    plan["take"][0] = c
                    plan["take"][1] = d
                    plan["take"][2] = h
                    plan["take"][3] = s
                    return ways
    return ways


@jit
def draw(pool: Int, count: Int, stream: np.uint64) -> Any:
    """``count`` random cards of a bit mask, as (bit mask, the stream's next state)."""
    there = popcount(pool)
    if count == there:
        return pool, stream
    rest = pool
    for k in range(count):
        stream = next_state(stream)
        rest ^= ONE << nth_bit(rest, below(stream, there - k))
    return pool ^ rest, stream


@jit_apart
def deal_world(plan: Plan, world: Any, stream: np.uint64) -> np.uint64:
    """Deal the unseen cards into the other hands of a game; returns the stream's next state."""
    pool = plan["unseen"]
    for k in range(plan["num_seats"]):
        seat = plan["seats"][k]
        if k < plan["num_void"]:
            stream = next_state(stream)
            target = np.int64(mix(stream) >> _SHIFT_32) * 2.0**-32 * ways_from(plan, k, pool)
            divide(plan, k, suit_count(pool, 0), suit_count(pool, 1), suit_count(pool, 2), suit_count(pool, 3), target)
            hand = np.int64(0)
            for suit in range(NUM_SUITS):
                cards, stream = draw(pool & suit_mask(suit), plan["take"][suit], stream)
                hand |= cards
        else:
            hand, stream = draw(pool, plan["sizes"][k], stream)
        world["hands"][seat] = hand
        pool ^= hand
    return stream


@jit_apart
def bid_likelihood(world: Any, table: Any, viewer: Int, rewound: Any, notes: Any) -> float:
    """How likely the others' known bids are, given the hands of this world; ``rewound`` is a game to write to."""
    players = table["players"]
    size = np.int64(world["hand_size"])
    for seat in range(players):
        rewound["hands"][seat] = world["hands"][seat] | world["played"][seat]
        rewound["played"][seat] = 0
        rewound["taken"][seat] = 0
        rewound["bids"][seat] = NONE
    rewound["phase"] = BID
    rewound["leader"] = left_of(np.int64(world["dealer"]), players)
    likelihood = 1.0
    bidder = np.int64(rewound["leader"])
    for _ in range(players):
        bid = np.int64(world["bids"][bidder])
        if bid >= 0:
            if bidder != viewer:
                rewound["player"] = bidder
                legal = rulebook.legal_bids(rewound, table)
                best_bid(rewound, table, bidder, legal, notes)
                likelihood *= SURPRISE + share_of(notes, legal, size, bid)
            rewound["bids"][bidder] = bid
        bidder = left_of(bidder, players)
    return likelihood


@jit
def share_of(notes: Any, legal: Int, size: Int, bid: Int) -> float:
    """Chance of one of the legal bids where each is made in proportion to the exponential of its estimated points."""
    total = 0.0
    for other in range(size + 1):
        if (legal >> other) & 1:
            total += math.exp(SHARPNESS * (notes["value"][other] - notes["value"][bid]))
    return 1.0 / total
