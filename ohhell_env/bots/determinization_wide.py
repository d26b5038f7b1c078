"""Deals of what a seat cannot see at tables of the wide form, each deal that fits equally likely.

As `determinization`, for any deck, and wherever cards lie open or one's own are hidden. A deal must fit the number of
cards of each seat, the suits that a seat has shown not to hold, the card of the dealer that all have seen, and, where
own cards are hidden, the positions that may be played now and the order of suits in which neighbours sort a hand. Two
copies of a card are two cards: deals are counted by cards, not by what they look like.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ohhell_env.bots.determinization import SURPRISE, share_of
from ohhell_env.bots.hand_model import best_bid
from ohhell_env.bots.knowledge import longest_suit
from ohhell_env.kernel import rulebook, wide_bidding
from ohhell_env.kernel.jit import ONE, Int, below, jit, jit_apart, left_of, mix, next_state, popcount
from ohhell_env.kernel.state import (
    BID,
    BLIND,
    CUT,
    NAMED,
    NO_TRUMP,
    NONE,
    PASS_OR_NIL,
    PLAY,
)
from ohhell_env.kernel.wide_bidding import HIDDEN_CARDS, LEAST_SORTED, uses_whole_deck
from ohhell_env.kernel.wide_play import LEAD_BROKEN, LEAD_NOT_FIRST, is_shown_held, sees_cards
from ohhell_env.rules.cards import JOKERS, NUM_SUITS
from ohhell_env.rules.limits import WIDE_MAX_HAND_SIZE, WIDE_MAX_PLAYERS, WIDE_NUM_CARDS
from ohhell_env.rules.ramps import BLIND_HAND, NO_TRUMP_HAND

CLASSES = 5  # of cards: suits that somebody has shown a void in, and all the rest as one
MOST_WAYS = 141_000  # ways are kept for so many divisions of the classes but the largest
ATTEMPTS = 100_000  # hands drawn for a seat that does not see its own until one fits what it may play
NAMED_OTHERWISE = 0.2  # how likely a trump suit is that is not the namer's longest, by the side of that
_SHIFT_32 = np.uint64(32)
CHOOSE = np.array(
    [[math.comb(n, k) for k in range(WIDE_MAX_HAND_SIZE + 1)] for n in range(WIDE_NUM_CARDS + 1)], dtype=np.float64
)

# What is worked out once for a decision. Classes stand in the order of their number; the last is the largest.
WIDE_PLAN = np.dtype(
    [
        ("cards", np.int64, (CLASSES, WIDE_NUM_CARDS)),  # (C, N) cards to deal, by class; a copy is another card
        ("count", np.int64, (CLASSES,)),  # (C,) how many there are
        ("left", np.int64, (CLASSES,)),  # (C,) how many are not dealt yet; they stand first
        ("num_seats", np.int64),  # () seats to deal to, those that lack a class first
        ("num_void", np.int64),  # () how many of them lack a class
        ("seats", np.int64, (WIDE_MAX_PLAYERS,)),  # (S,) in the order dealt
        ("sizes", np.int64, (WIDE_MAX_PLAYERS,)),  # (S,) cards to deal to each of them
        ("lacks", np.int64, (WIDE_MAX_PLAYERS,)),  # (S,) bit per class that each of them lacks
        ("voids", np.int64, (WIDE_MAX_PLAYERS,)),  # (P,) bit per suit that each seat of the table lacks
        ("ways", np.float64, (WIDE_MAX_PLAYERS, MOST_WAYS)),  # [k, division] ways to deal on from the k-th seat
        ("take", np.int64, (CLASSES,)),  # (C,) cards of each class for the seat being dealt to
        ("hand", np.int64, (WIDE_MAX_HAND_SIZE,)),  # (H,) cards drawn for one seat
    ],
    align=True,
)

Plan = Any  # a record of WIDE_PLAN


# --- What is known ------------------------------------------------------------------------------------------------


@jit_apart
def write_voids(game: Any, table: Any, voids: Any) -> None:
    """Suits that each seat is known not to hold, ``voids[seat]``, by all that it has played in this hand.

    Not to follow a suit; where a seat must trump, to play neither; to lead trump when only a hand of trumps may.
    """
    players = table["players"]
    trump = np.int64(game["trump"])
    every = (1 << NUM_SUITS) - 1
    for seat in range(players):
        voids[seat] = game["voids"][seat]
    leader = left_of(np.int64(game["dealer"]), players)
    broken = False
    for first in range(0, game["num_plays"], players):
        number = first // players
        led = np.int64(game["named"][number])
        if led == NONE:
            led = np.int64(table["suits"][trump, game["plays"][first]])
        seat = leader
        for k in range(min(players, game["num_plays"] - first)):
            card = np.int64(game["plays"][first + k])
            suit = np.int64(table["suits"][trump, card])
            if k == 0 and trump != NO_TRUMP and suit == trump:
                early = table["lead_trump"] == LEAD_NOT_FIRST and number == 0
                if early or (table["lead_trump"] == LEAD_BROKEN and not broken):
                    voids[seat] |= every & ~(1 << trump)
            if k > 0 and suit != led and suit != JOKERS:
                if table["must_trump"] and trump != NO_TRUMP and suit != trump:
                    voids[seat] |= 1 << trump
                broken = broken or suit == trump
            seat = left_of(seat, players)
        if game["winners"][number] != NONE:
            leader = np.int64(game["winners"][number])


@jit_apart
def plan_deals(game: Any, table: Any, viewer: Int, plan: Plan) -> Any:
    """Prepare dealing what ``viewer`` cannot see; False when no deal fits (no play leads to such a game)."""
    players = table["players"]
    write_voids(game, table, plan["voids"])
    count = 0
    total = 0
    asked = np.int64(0)  # suits that somebody lacks
    for with_void in (True, False):
        for seat in range(players):
            hidden = not sees_cards(game, table, viewer, seat)
            if hidden and (plan["voids"][seat] != 0) == with_void:
                plan["seats"][count] = seat
                plan["sizes"][count] = popcount(game["slots"][seat])
                if seat == game["dealer"] and is_shown_held(game, table):
                    plan["sizes"][count] -= 1
                total += plan["sizes"][count]
                asked |= plan["voids"][seat]
                count += 1
        if with_void:
            plan["num_void"] = count
    plan["num_seats"] = count
    there = sort_cards(game, table, viewer, asked, plan)
    if total > there:
        return False
    for j in range(plan["num_void"]):
        count_ways(plan, plan["num_void"] - 1 - j)
    return plan["num_void"] == 0 or plan["ways"][0, division(plan, plan["count"])] > 0.0


@jit_apart
def sort_cards(game: Any, table: Any, viewer: Int, asked: Int, plan: Plan) -> Int:
    """Put the cards to deal into classes, the largest last, and the voids with them; returns how many cards."""
    unseen, twice = rulebook.unseen_copies(game, table, viewer)
    class_of = np.zeros(NUM_SUITS + 1, dtype=np.int64)  # of each suit, and of jokers without trump
    counts = np.zeros(CLASSES, dtype=np.int64)
    used = 1  # class 0 is the rest
    for suit in range(NUM_SUITS):
        if (asked >> suit) & 1:
            class_of[suit] = used
            used += 1
    for suit in range(NUM_SUITS + 1):
        cards = rulebook.suit_cards(game, table, suit)
        counts[class_of[suit]] += popcount(unseen & cards) + popcount(twice & cards)
    largest = 0
    for c in range(CLASSES):
        if counts[c] > counts[largest]:
            largest = c
    for suit in range(NUM_SUITS + 1):  # the largest class and the last change places
        if class_of[suit] == largest:
            class_of[suit] = CLASSES - 1
        elif class_of[suit] == CLASSES - 1:
            class_of[suit] = largest
    total = np.int64(0)
    for c in range(CLASSES):
        plan["count"][c] = 0
    for suit in range(NUM_SUITS + 1):
        c = class_of[suit]
        rest = unseen & rulebook.suit_cards(game, table, suit)
        while rest:
            low = rest & -rest
            rest ^= low
            for _ in range(2 if twice & low else 1):
                plan["cards"][c, plan["count"][c]] = popcount(low - 1)
                plan["count"][c] += 1
                total += 1
    for k in range(plan["num_seats"]):
        plan["lacks"][k] = 0
        for suit in range(NUM_SUITS):
            if (plan["voids"][plan["seats"][k]] >> suit) & 1:
                plan["lacks"][k] |= 1 << class_of[suit]
    return total


# --- How many deals there are -------------------------------------------------------------------------------------


@jit
def division(plan: Plan, left: Any) -> Int:
    """The number of a division: how many cards of each class but the last are left."""
    count = plan["count"]
    return ((left[0] * (count[1] + 1) + left[1]) * (count[2] + 1) + left[2]) * (count[3] + 1) + left[3]


@jit
def most_of(plan: Plan, k: Int, c: Int, there: Int) -> Int:
    """The most cards of a class that the k-th seat can get where so many are left."""
    return 0 if (plan["lacks"][k] >> c) & 1 else min(there, plan["sizes"][k])


@jit_apart
def count_ways(plan: Plan, k: Int) -> None:
    """Fill ``ways[k]`` for every division that the seats before the k-th can leave."""
    count = plan["count"]
    dealt = np.int64(0)
    total = np.int64(0)
    for j in range(k):
        dealt += plan["sizes"][j]
    for c in range(CLASSES):
        total += count[c]
    left = np.zeros(CLASSES, dtype=np.int64)
    for a in range(max(count[0] - dealt, 0), count[0] + 1):
        left[0] = a
        for b in range(max(count[1] - dealt, 0), count[1] + 1):
            left[1] = b
            for c in range(max(count[2] - dealt, 0), count[2] + 1):
                left[2] = c
                for d in range(max(count[3] - dealt, 0), count[3] + 1):
                    left[3] = d
                    left[4] = total - dealt - a - b - c - d
                    if left[4] >= 0 and left[4] <= count[4]:
                        plan["ways"][k, division(plan, left)] = divide(plan, k, left, np.inf)


@jit_apart
def divide(plan: Plan, k: Int, left: Any, target: float) -> Any:
    """Walk through the k-th seat's hands by classes, adding up the deals of each, until the sum exceeds ``target``.

    Returns the sum; ``take`` is the hand at which the walk stopped. With an infinite target: the number of deals.
    """
    size = plan["sizes"][k]
    last = k + 1 == plan["num_void"]
    after = np.zeros(CLASSES, dtype=np.int64)
    rest_most = most_of(plan, k, 4, left[4])
    ways = 0.0
    for a in range(most_of(plan, k, 0, left[0]) + 1):
        for b in range(min(most_of(plan, k, 1, left[1]), size - a) + 1):
            for c in range(min(most_of(plan, k, 2, left[2]), size - a - b) + 1):
                most = min(most_of(plan, k, 3, left[3]), size - a - b - c)
                for d in range(max(size - a - b - c - rest_most, 0), most + 1):
                    e = size - a - b - c - d
                    hands = CHOOSE[left[0], a] * CHOOSE[left[1], b] * CHOOSE[left[2], c]
                    hands *= CHOOSE[left[3], d] * CHOOSE[left[4], e]
                    if not last:
                        after[0], after[1], after[2] = left[0] - a, left[1] - b, left[2] - c
                        after[3] = left[3] - d
                        hands *= plan["ways"][k + 1, division(plan, after)]
                    ways += hands
                    if ways > target:
                        plan["take"][0], plan["take"][1], plan["take"][2] = a, b, c
                        plan["take"][3], plan["take"][4] = d, e
                        return ways
    return ways


# --- Dealing ------------------------------------------------------------------------------------------------------


@jit
def draw_card(plan: Plan, c: Int, stream: np.uint64) -> Int:
    """A random card of a class, taken from those left: the drawn ones stand behind them."""
    k = below(stream, plan["left"][c])
    plan["left"][c] -= 1
    cards = plan["cards"]
    card = cards[c, k]
    cards[c, k] = cards[c, plan["left"][c]]
    cards[c, plan["left"][c]] = card
    return card


@jit_apart
def draw_hand(plan: Plan, k: Int, stream: np.uint64) -> np.uint64:
    """Draw the k-th seat's cards into ``hand``; returns the stream's next state."""
    if k < plan["num_void"]:
        stream = next_state(stream)
        ways = plan["ways"][k, division(plan, plan["left"])]
        divide(plan, k, plan["left"], np.int64(mix(stream) >> _SHIFT_32) * 2.0**-32 * ways)
        drawn = 0
        for c in range(CLASSES):
            for _ in range(plan["take"][c]):
                stream = next_state(stream)
                plan["hand"][drawn] = draw_card(plan, c, stream)
                drawn += 1
    else:
        for drawn in range(plan["sizes"][k]):
            stream = next_state(stream)
            place = below(stream, plan["left"].sum())
            c = 0
            while place >= plan["left"][c]:
                place -= plan["left"][c]
                c += 1
            stream = next_state(stream)
            plan["hand"][drawn] = draw_card(plan, c, stream)
    return stream


@jit
def put_back(plan: Plan, left: Any) -> None:
    """Undo draws: the cards drawn stand right behind those left."""
    for c in range(CLASSES):
        plan["left"][c] = left[c]


@jit_apart
def deal_world(plan: Plan, world: Any, table: Any, viewer: Int, stream: np.uint64) -> Any:
    """Deal the unseen cards into the hands of a view and lay out its deck; returns (the stream's next state, success).

    It fails where `ATTEMPTS` hands of the viewer's own, unseen, fit nothing that it may play.
    """
    players = table["players"]
    for c in range(CLASSES):
        plan["left"][c] = plan["count"][c]
    left = np.zeros(CLASSES, dtype=np.int64)
    dealt = np.int64(0)
    for k in range(plan["num_seats"]):
        seat = plan["seats"][k]
        fits = False
        for c in range(CLASSES):
            left[c] = plan["left"][c]
        for _ in range(ATTEMPTS):
            stream = draw_hand(plan, k, stream)
            take_hand(plan, k, world, table, seat)
            stream, fits = lay_out(world, table, seat, viewer, stream)
            if fits:
                break
            put_back(plan, left)
        if not fits:
            return stream, False
        dealt |= ONE << seat
    for seat in range(players):
        if not (dealt >> seat) & 1:
            stream, _fits = lay_out(world, table, np.int64(seat), viewer, stream)
    return lay_out_stock(plan, world, table, stream), True


@jit
def take_hand(plan: Plan, k: Int, world: Any, table: Any, seat: Int) -> None:
    """Give a seat the cards drawn for it, and the one that all know it to hold."""
    world["hands"][seat] = 0
    world["held_twice"][seat] = 0
    for j in range(plan["sizes"][k]):
        rulebook.receive(world, seat, plan["hand"][j])
    if seat == world["dealer"] and is_shown_held(world, table):
        rulebook.receive(world, seat, np.int64(world["shown"]))


@jit
def slot_place(game: Any, table: Any, seat: Int, slot: Int) -> Int:
    """Where in the deck the card lies that a seat receives at a position."""
    players = table["players"]
    place = seat - game["dealer"] - 1
    return slot * players + (place if place >= 0 else place + players)


@jit_apart
def lay_out(world: Any, table: Any, seat: Int, viewer: Int, stream: np.uint64) -> Any:
    """Put a seat's cards at its positions in the deck; returns (the stream's next state, whether they fit there)."""
    size = np.int64(world["hand_size"])
    cards = np.zeros(WIDE_MAX_HAND_SIZE, dtype=np.int64)
    held = 0
    hand, twice = np.int64(world["hands"][seat]), np.int64(world["held_twice"][seat])
    for mask in (hand, twice):
        rest = mask
        while rest:
            low = rest & -rest
            rest ^= low
            cards[held] = popcount(low - 1)
            held += 1
    if held != popcount(world["slots"][seat]):
        return stream, False
    hidden = table["own_cards"] == HIDDEN_CARDS
    if hidden:
        for j in range(held - 1):
            stream = next_state(stream)
            other = j + below(stream, held - j)
            cards[j], cards[other] = cards[other], cards[j]
    if hidden and table["sort_hands"] and size >= LEAST_SORTED:
        stream, fits = lay_out_sorted(world, table, seat, cards, held, stream)
        if not fits:
            return stream, False
    elif hidden and seat == viewer and world["phase"] == PLAY and world["player"] == seat:
        return stream, lay_out_playable(world, table, seat, cards, held)
    else:
        j = 0
        for slot in range(size):
            if (world["slots"][seat] >> slot) & 1:
                world["deck"][slot_place(world, table, seat, slot)] = cards[j]
                j += 1
    if hidden and seat == viewer and world["phase"] == PLAY and world["player"] == seat:
        return stream, rulebook.legal_cards(world, table) == world["legal"]
    return stream, True


@jit_apart
def lay_out_playable(world: Any, table: Any, seat: Int, cards: Any, held: Int) -> bool:
    """Put the cards that may be played at the positions that may be; False where there are not as many of them."""
    hand = np.int64(world["hands"][seat])
    if world["led_suit"] == NONE:
        playable = rulebook.leads(world, table, hand)
    else:
        following = hand & rulebook.suit_cards(world, table, np.int64(world["led_suit"]))
        playable = rulebook.follows(world, table, hand, following)
    count = 0
    for j in range(held):
        count += (playable >> cards[j]) & 1
    if count != popcount(world["legal"]):
        return False
    for wanted in range(2):
        slot = -1
        for j in range(held):
            if (playable >> cards[j]) & 1 == wanted:
                slot += 1
                while not (world["slots"][seat] >> slot) & 1 or (world["legal"] >> slot) & 1 != wanted:
                    slot += 1
                world["deck"][slot_place(world, table, seat, slot)] = cards[j]
    return True


@jit_apart
def lay_out_sorted(world: Any, table: Any, seat: Int, cards: Any, held: Int, stream: np.uint64) -> Any:
    """Put cards in the order of suits among those already played; returns (the stream's next state, whether they fit).

    The hand was sorted by suit when it was dealt, cards of a suit in chance order. So the suits at the positions that
    are played must be those of the cards played; that their chance order put just these there has a probability, with
    which the hand is kept.
    """
    size = np.int64(world["hand_size"])
    suits = table["suits"]
    mine = np.zeros(NUM_SUITS + 1, dtype=np.int64)  # cards of each suit still held
    gone = np.zeros(NUM_SUITS + 1, dtype=np.int64)  # and played
    for j in range(held):
        mine[suits[NO_TRUMP, cards[j]]] += 1
    for mask in (np.int64(world["played"][seat]), np.int64(world["played_twice"][seat])):
        rest = mask
        while rest:
            low = rest & -rest
            rest ^= low
            gone[suits[NO_TRUMP, popcount(low - 1)]] += 1
    slot = 0
    chance = 1.0
    for suit in range(NUM_SUITS + 1):
        both = mine[suit] + gone[suit]
        here = 0
        for k in range(both):
            here += 1 - ((world["slots"][seat] >> (slot + k)) & 1)
        if here != gone[suit]:
            return stream, False
        chance /= CHOOSE[both, here]
        j = 0
        for k in range(both):
            if (world["slots"][seat] >> (slot + k)) & 1:
                while suits[NO_TRUMP, cards[j]] != suit:
                    j += 1
                world["deck"][slot_place(world, table, seat, slot + k)] = cards[j]
                j += 1
        slot += both
    stream = next_state(stream)
    return stream, slot == size and np.int64(mix(stream) >> _SHIFT_32) * 2.0**-32 < chance


@jit_apart
def lay_out_stock(plan: Plan, world: Any, table: Any, stream: np.uint64) -> np.uint64:
    """The card after the deal, and the card cut, where they are still to be shown; returns the stream's next state."""
    if world["phase"] != BLIND and world["phase"] != PASS_OR_NIL:
        return stream
    if not uses_whole_deck(world, table) and world["turned"] == NONE:
        stream = next_state(stream)
        place = below(stream, plan["left"].sum())
        c = 0
        while place >= plan["left"][c]:
            place -= plan["left"][c]
            c += 1
        world["deck"][world["hand_size"] * table["players"]] = plan["cards"][c, place]
    cut = table["trump_from"] == CUT or (table["full_deal"] == wide_bidding.FULL_CUT and uses_whole_deck(world, table))
    if cut and not world["special"] & NO_TRUMP_HAND:
        stream = next_state(stream)
        world["shown"] = table["deck"][below(stream, table["deck_size"])]
    return stream


# --- How likely what was said is ------------------------------------------------------------------------------------


@jit_apart
def rewind_to_bids(world: Any, table: Any, rewound: Any) -> None:
    """Make of a copy of a world the hand before its first bid, every seat with the cards that it was dealt."""
    players = table["players"]
    for seat in range(players):
        held, played = np.int64(world["hands"][seat]), np.int64(world["played"][seat])
        twice = np.int64(world["held_twice"][seat]) | world["played_twice"][seat]
        rewound["hands"][seat] = held | played
        rewound["held_twice"][seat] = twice | (held & played)
        rewound["played"][seat] = 0
        rewound["played_twice"][seat] = 0
        rewound["slots"][seat] = (ONE << np.int64(world["hand_size"])) - 1
        rewound["taken"][seat] = 0
        rewound["voids"][seat] = 0
        rewound["bids"][seat] = NONE
    rewound["num_plays"] = 0
    rulebook.clear_trick(rewound)
    rewound["phase"] = BID
    rewound["leader"] = left_of(np.int64(world["dealer"]), players)
    if table["trump_from"] == NAMED:
        rewound["trump"] = NO_TRUMP


@jit_apart
def bid_likelihood(world: Any, table: Any, viewer: Int, rewound: Any, notes: Any) -> float:
    """How likely the others' known bids and the trump named are in this deal; ``rewound`` is a copy to write to."""
    if world["special"] & BLIND_HAND:
        return 1.0  # bids made without seeing the cards
    players = table["players"]
    size = np.int64(world["hand_size"])
    rewind_to_bids(world, table, rewound)
    every = (ONE << (size + 1)) - 1
    likelihood = 1.0
    bidder = np.int64(rewound["leader"])
    for _ in range(players):
        bid = np.int64(world["bids"][bidder])
        if bid >= 0:
            if bidder != viewer:
                best_bid(rewound, table, bidder, every, notes)
                likelihood *= SURPRISE + share_of(notes, every, size, bid)
            rewound["bids"][bidder] = bid
        bidder = left_of(bidder, players)
    if table["trump_from"] == NAMED and world["trump_known"] and world["phase"] == PLAY:
        namer = wide_bidding.highest_bidder(rewound, table)
        if namer != viewer and longest_suit(rewound, table, namer) != world["trump"]:
            likelihood *= NAMED_OTHERWISE
    return likelihood
