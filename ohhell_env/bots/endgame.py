"""The last tricks of a hand, exactly: options that are sure whatever lies where, and a dealt hand solved to its end.

`sure_options` is a proof from what one seat can see. The others are taken as one adversary who, at each of their
turns, may play any card that the seat cannot place, as far as voids shown allow: what holds against it holds in every
deal. `solve` needs a deal: it walks through every line of play, each seat taking what is best for itself (max^n,
Luckhardt and Irani 1986, "An Algorithmic Solution of N-Person Games").
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ohhell_env.kernel import rulebook
from ohhell_env.kernel.facts import (
    cards_left,
    contract,
    has_pairs,
    higher_cards,
    knows_cards,
    loose_jokers,
    seen_others,
)
from ohhell_env.kernel.jit import ONE, Int, jit, jit_apart, left_of, lowest, popcount
from ohhell_env.kernel.rulebook import bid_value, suit_cards, suit_of, takes, unseen_cards
from ohhell_env.kernel.state import HAND_OVER, NO_TRUMP, NONE, PLAY
from ohhell_env.rules.cards import NUM_SUITS
from ohhell_env.rules.limits import WIDE_MAX_PLAYERS

SURE_CARDS = 3  # cards a seat holds at most where `sure_options` looks for proofs
SOLVED = 12  # cards in all hands at most where three or more each are solved; two each always are
SPOIL = 0.01  # of the others' mean value is taken off: between lines that are equal to a seat, it spoils
LEVELS = 3 * WIDE_MAX_PLAYERS + 4  # of `solve`: decisions on one line of play, suits of jokers too, and its end


# --- What is sure whatever lies where -----------------------------------------------------------------------------


@jit
def is_provable(game: Any, table: Any) -> bool:
    """Whether `sure_options` looks for proofs at a table.

    Not with second copies, jokers without trump, own cards hidden, nor where a seat wants more than its own points.
    """
    alike = has_pairs(game, table) or loose_jokers(game, table) != 0
    return bool(not alike and not rulebook.is_cooperative(game, table) and knows_cards(game, table))


@jit
def beaters(game: Any, table: Any, card: Int) -> Int:
    """Bit mask of the cards that take a trick from a card of the suit led, or from a trump."""
    trump = np.int64(game["trump"])
    higher = higher_cards(game, table, card)
    if trump != NO_TRUMP and suit_of(game, table, card) != trump:
        higher |= suit_cards(game, table, trump)
    return higher


@jit
def possible_cards(game: Any, table: Any, seat: Int, unseen: Int) -> Int:
    """The unseen cards that a seat may hold by the voids that it has shown."""
    voids = np.int64(game["voids"][seat])
    for suit in range(NUM_SUITS):
        if (voids >> suit) & 1:
            unseen &= ~suit_cards(game, table, suit)
    return unseen


@jit
def cards_in(cards: Any, part: Int) -> Int:
    """Bit mask of the cards that a part of a hand holds, bit k of it standing for ``cards[k]``."""
    mask = np.int64(0)
    for k in range(SURE_CARDS):
        if (part >> k) & 1:
            mask |= ONE << cards[k]
    return mask


@jit_apart
def least_of(
    game: Any, table: Any, cards: Any, part: Int, more: Int, legal: Int, led: Int, unseen: Int, least: Any
) -> float:
    """The value that a seat makes sure of with the best of its legal cards, played to a trick to come.

    Args:
        game: the hand; nothing of its current trick is read.
        table: the rules.
        cards: (SURE_CARDS,) the cards of the seat's hand.
        part: those it holds before the trick, as `cards_in` takes them.
        more: tricks that it takes until then, from now on.
        legal: bit mask of the cards that it may play.
        led: suit led by another seat; NONE where the seat leads itself.
        unseen: bit mask of the cards that the others may hold.
        least: as `write_least` fills it, for smaller parts.
    """
    others = table["players"] - 1
    best = -np.inf
    for k in range(SURE_CARDS):
        if (part >> k) & 1 and (legal >> cards[k]) & 1:
            card = np.int64(cards[k])
            after = part ^ (ONE << k)
            suit = suit_of(game, table, card)
            higher = unseen & beaters(game, table, card)
            can_win = True
            can_lose = True
            if led != NONE and suit != led and suit != game["trump"]:
                can_win = False
            else:
                can_lose = higher != 0
                if led != NONE and suit == led:
                    can_win = (unseen & suit_cards(game, table, suit) & ~higher) != 0
                if after == 0 and popcount(unseen & ~higher) < others:
                    can_win = False  # somebody's last card is a higher one
            value = least[after, more + 1, 1] if can_win else np.inf
            if can_lose:
                value = min(value, least[after, more, 0])
            best = max(best, value)
    return best


@jit_apart
def write_least(game: Any, table: Any, seat: Int, cards: Any, count: Int, unseen: Int, least: Any) -> None:
    """The values that a seat makes sure of from the start of a trick on: ``least[part, more, leads]``.

    ``part`` is any part of its hand but the whole, ``more`` the tricks it takes until then from now on, ``leads``
    whether it leads; arguments as in `least_of`.
    """
    bid = contract(game, seat)
    taken = np.int64(game["taken"][seat])
    for more in range(count + 1):
        least[0, more, 0] = bid_value(game, table, seat, bid, taken + more)
        least[0, more, 1] = least[0, more, 0]
    for part in range(1, (1 << count) - 1):  # what a part loses is a smaller number
        hand = cards_in(cards, part)
        for more in range(count - popcount(part) + 1):
            legal = rulebook.leads(game, table, hand)
            least[part, more, 1] = least_of(game, table, cards, part, more, legal, np.int64(NONE), unseen, least)
            worst = np.inf
            for suit in range(NUM_SUITS):
                following = suit_cards(game, table, suit)
                if unseen & following:
                    legal = rulebook.follows(game, table, hand, hand & following)
                    worst = min(worst, least_of(game, table, cards, part, more, legal, suit, unseen, least))
            least[part, more, 0] = worst


@jit_apart
def sure_options(game: Any, table: Any) -> Int:
    """The legal cards after which the seat to act gets the most that it still can, whatever lies where.

    Reads what the seat knows, so a view and a full game give the same answer.

    Returns:
        Bits of ``game["legal"]``; 0 where no card is proved to do so, at tables that `is_provable` leaves out, and
        with more than `SURE_CARDS` cards in hand.
    """
    seat = np.int64(game["player"])
    none = np.int64(0)
    if game["phase"] != PLAY or not is_provable(game, table):
        return none
    hand = np.int64(game["hands"][seat])
    count = cards_left(game, seat)
    if count > SURE_CARDS or popcount(hand) != count:
        return none
    cards = np.zeros(SURE_CARDS, dtype=np.int64)
    rest = hand
    for k in range(count):
        cards[k] = lowest(rest)
        rest ^= ONE << cards[k]
    players = table["players"]
    taken = np.int64(game["taken"][seat])
    most = -np.inf
    for more in range(count + 1):
        most = max(most, bid_value(game, table, seat, contract(game, seat), taken + more))
    seen, _twice = seen_others(game, table, seat)
    unseen = unseen_cards(game, table, seat) | seen  # all that the others may hold
    least = np.empty((1 << SURE_CARDS, SURE_CARDS + 1, 2))
    write_least(game, table, seat, cards, count, unseen, least)
    behind = none  # cards that those who play after the seat may hold
    other = seat
    for _ in range(players - 1 - game["in_trick"]):
        other = left_of(other, players)
        behind |= possible_cards(game, table, other, unseen)
    sure = none
    for k in range(count):
        card = cards[k]
        if (game["legal"] >> card) & 1:
            after = (1 << count) - 1 - (1 << k)
            can_win = game["best"] == NONE or takes(game, table, card, np.int64(game["best"]))
            can_lose = not can_win or (behind & beaters(game, table, card)) != 0
            if not (can_win and least[after, 1, 1] < most) and not (can_lose and least[after, 0, 0] < most):
                sure |= ONE << card
    return sure


@jit
def keep_to_sure_options(views: Any, tables: Any) -> None:
    """Take from ``legal`` of each view all but the sure options, where there are any."""
    for j in range(views.shape[0]):
        sure = sure_options(views[j], tables[views[j]["table"]])
        if sure:
            views[j]["legal"] = sure


# --- A dealt hand solved ------------------------------------------------------------------------------------------


@jit
def is_solvable(game: Any, table: Any) -> bool:
    """Whether few enough cards are left in a hand that is being played for `solve` to be quick."""
    if game["phase"] != PLAY or not knows_cards(game, table):
        return False
    tricks = np.int64(game["hand_size"]) - game["num_plays"] // table["players"]
    return bool(tricks <= 2 or (tricks == 3 and tricks * table["players"] <= SOLVED))


@jit
def gain(game: Any, table: Any, seat: Int) -> Any:
    """What a finished hand is worth to a seat (`rulebook.hand_value`), minus a little of the others' mean."""
    players = table["players"]
    others = 0.0
    for other in range(players):
        if other != seat:
            others += rulebook.hand_value(game, table, other)
    return rulebook.hand_value(game, table, seat) - SPOIL * others / (players - 1)


@jit_apart
def solve(stack: Any, table: Any, rest: Any, values: Any) -> None:
    """What each seat gets when all play on from ``stack[0]`` and each takes what is best for itself, seeing all cards.

    Args:
        stack: (LEVELS,) of games; the first is the hand to solve, at a decision or at its end. It is played on.
        table: the rules.
        rest: (LEVELS,) int64 to work in.
        values: (LEVELS, seats) float64; the answer, by `gain`, is ``values[0]``. Of equal options the lowest is taken.
    """
    players = table["players"]
    level = 0
    rulebook.take_forced_actions(stack[0], table)
    if stack[0]["phase"] == HAND_OVER:
        for seat in range(players):
            values[0, seat] = gain(stack[0], table, seat)
        return
    rest[0] = stack[0]["legal"]
    values[0, stack[0]["player"]] = -np.inf
    while True:
        if rest[level]:
            option = lowest(rest[level])
            rest[level] ^= ONE << option
            stack[level + 1] = stack[level]
            child = stack[level + 1]
            rulebook.apply(child, table, rulebook.action_of(child, option))
            rulebook.take_forced_actions(child, table)
            if child["phase"] != HAND_OVER:
                level += 1
                rest[level] = child["legal"]
                values[level, child["player"]] = -np.inf
                continue
            for seat in range(players):
                values[level + 1, seat] = gain(child, table, seat)
        elif level == 0:
            return
        else:
            level -= 1
        mover = stack[level]["player"]
        if values[level + 1, mover] > values[level, mover]:
            for seat in range(players):
                values[level, seat] = values[level + 1, seat]
