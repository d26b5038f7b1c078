"""What a policy for every table is fed: a bit for each thing that a seat knows, written into 64-bit words.

The bits are those of the wide observation's sections, what a card player works out, the table itself, what each bid
would pay, and how a match stands; `every_table_layout` says where they are, `every_table_suits` how suits are renamed.

Payments are in units of the table's stake at this hand size: what making a bid is worth beyond missing it by one, in
the mean of the bids that are usual. So a scoring of 10 points and one of 1 look alike where they are alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ohhell_env.bots.policy.every_table_layout import (
    ABOVE,
    BELOW,
    BITS,
    DONE_EDGES,
    EDGES,
    LEAD_EDGES,
    MADE,
    MAX_COUNT,
    NUM_WORDS,
    OFF_EDGES,
    SHARE_EDGES,
    WORD,
    WORDS,
)  # fmt: skip
from ohhell_env.bots.policy.every_table_suits import STANDARD_CARDS, put_bit, put_cards, suit_field
from ohhell_env.bots.policy.features import PERMUTATIONS
from ohhell_env.kernel import rulebook, wide_play
from ohhell_env.kernel.jit import ONE, Int, clamp, jit, jit_apart, left_of, lowest, popcount
from ohhell_env.kernel.state import BID, BLIND, BLIND_BID, NIL, NO_TRUMP, NONE, PASS_OR_NIL, PLAY
from ohhell_env.observation.sections import (
    GAPS_REACHED,
    MAX_GAP,
    MAX_HANDS_LEFT,
    MAX_NEED,
    MAX_SUM_GAP,
    MIN_NEED,
    SCORE_GAPS,
    SEALED,
    relative,
)  # fmt: skip
from ohhell_env.observation.wide import (
    CHOICES,
    FLAGS,
    HIDDEN,
    MAX_DEALS,
    MAX_WORTH,
    NOT_YET,
    PLEDGES,
)  # fmt: skip
from ohhell_env.rules.cards import JOKERS, NUM_SUITS
from ohhell_env.rules.limits import WIDE_MIN_PLAYERS, WIDE_NUM_BIDS
from ohhell_env.rules.ramps import GOLDEN_HAND, MISER_HAND, SPECIALS
from ohhell_env.rules.rules import OWN_CARDS

_PLAYED, _PLAYED_TWICE, _OTHERS, _OTHERS_TWICE, _TRICK = (
    WORDS[name] for name in ("played", "played_twice", "others", "others_twice", "trick")
)
_HAND, _HAND_TWICE, _UNSEEN, _UNSEEN_TWICE = (WORDS[n] for n in ("hand", "hand_twice", "unseen", "unseen_twice"))
_TURNED, _SHOWN, _MISSING, _PAIRS = (WORDS[name] for name in ("turned", "shown", "missing", "pairs"))
_LEGAL, _WINNING_CARDS, _ABOVE, _BELOW = (WORDS[name] for name in ("legal", "winning_cards", "above", "below"))
_AT_SLOTS, _AT_VOIDS, _AT_LEFT, _AT_GAP = (BITS[name] for name in ("slots", "voids", "hands_left", "score_gap"))
_AT_TRUMP, _AT_LEADER, _AT_LED, _AT_WINNING, _AT_WORTH = (
    BITS[name] for name in ("trump", "leader", "led_suit", "winning", "worth")
)
_AT_BIDS, _AT_FIRST, _AT_PLEDGES, _AT_ROUNDS, _AT_TAKEN, _AT_NEED = (
    BITS[name] for name in ("bids", "first_bids", "pledges", "rounds", "taken", "need")
)
_AT_SUM, _AT_FORBIDDEN, _AT_DEALER, _AT_PLAYERS, _AT_SIZE = (
    BITS[name] for name in ("bid_sum", "forbidden", "dealer", "players", "hand_size")
)
_AT_TRICKS, _AT_SPECIAL, _AT_DEALS, _AT_BROKEN, _AT_PHASE = (
    BITS[name] for name in ("tricks_left", "special", "deals", "broken", "phase")
)
_AT_FLAGS, _AT_CHOICES, _AT_LENGTH, _AT_UNSEEN_LENGTH, _AT_PAY = (
    BITS[name] for name in ("flags", "choices", "length", "unseen_length", "pay")
)
_AT_LEAD, _AT_DONE, _AT_MADE, _AT_OVER, _AT_UNDER = (
    BITS[name] for name in ("lead", "hands_done", "record_made", "record_over", "record_under")
)
_BID_ROW, _NEED_ROW, _NUM_GAPS = WIDE_NUM_BIDS + 2, MAX_NEED - MIN_NEED + 1, len(SCORE_GAPS)
_FIRST_CHOICES = np.cumsum([0, *map(len, CHOICES.values())])
_NUM_SPECIALS, _NUM_FLAGS, _NUM_PLEDGES = len(SPECIALS), len(FLAGS), len(PLEDGES)
_HIDDEN_CARDS = OWN_CARDS.index("hidden")


@jit_apart
def write_words(game: Any, table: Any, viewer: Int, relabelling: Int, words: Any, row: Int) -> None:
    """What a seat knows of a game of the wide form into ``words[row]``, (N, NUM_WORDS) int64; the same of its view."""
    for word in range(NUM_WORDS):
        words[row, word] = 0
    write_seen_cards(game, table, viewer, relabelling, words, row)
    write_hand_words(game, table, viewer, relabelling, words, row)
    write_trick(game, table, viewer, relabelling, words, row)
    write_bids(game, table, viewer, words, row)
    write_place(game, table, viewer, words, row)
    write_table(table, relabelling, words, row)
    write_pay(game, table, viewer, words, row)
    if table["num_hands"] > 1:
        write_standing(game, table, viewer, words, row)


@jit_apart
def write_seen_cards(game: Any, table: Any, viewer: Int, relabelling: Int, words: Any, row: Int) -> None:
    """Words played, others, turned, shown, and sections voids, slots."""
    players = table["players"]
    seat = viewer
    for k in range(players):
        put_cards(table, relabelling, game["played"][seat], words, row, _PLAYED + k)
        put_cards(table, relabelling, game["played_twice"][seat], words, row, _PLAYED_TWICE + k)
        for suit in range(NUM_SUITS):
            if (np.int64(game["voids"][seat]) >> suit) & 1:
                put_bit(words, row, _AT_VOIDS + NUM_SUITS * k + PERMUTATIONS[relabelling, suit])
        if k > 0 and wide_play.sees_cards(game, table, viewer, seat):
            put_cards(table, relabelling, game["hands"][seat], words, row, _OTHERS + k - 1)
            put_cards(table, relabelling, game["held_twice"][seat], words, row, _OTHERS_TWICE + k - 1)
        seat = left_of(seat, players)
    if game["turned"] != NONE:
        put_cards(table, relabelling, ONE << game["turned"], words, row, _TURNED)
    early = (game["phase"] == BLIND) | (game["phase"] == PASS_OR_NIL)
    if game["shown"] != NONE and not early:
        put_cards(table, relabelling, ONE << game["shown"], words, row, _SHOWN)
    if table["own_cards"] == _HIDDEN_CARDS and game["phase"] == PLAY and game["player"] == viewer:
        rest = game["legal"]
        while rest:
            put_bit(words, row, _AT_SLOTS + lowest(rest))
            rest &= rest - 1


@jit_apart
def write_hand_words(game: Any, table: Any, viewer: Int, relabelling: Int, words: Any, row: Int) -> None:
    """Words hand, unseen, legal, winning_cards, above, below, and sections length, unseen_length."""
    unseen, unseen_twice = wide_play.unseen_copies(game, table, viewer)
    put_cards(table, relabelling, unseen, words, row, _UNSEEN)
    put_cards(table, relabelling, unseen_twice, words, row, _UNSEEN_TWICE)
    sees = wide_play.sees_cards(game, table, viewer, viewer)
    hand = game["hands"][viewer] if sees else np.int64(0)
    twice = game["held_twice"][viewer] if sees else np.int64(0)
    for suit in range(NUM_SUITS):
        label = PERMUTATIONS[relabelling, suit]
        out = popcount(suit_field(table, unseen, suit)) + popcount(suit_field(table, unseen_twice, suit))
        put_bit(words, row, _AT_UNSEEN_LENGTH + (MAX_COUNT + 1) * label + min(np.int64(out), MAX_COUNT))
        if sees:
            held = popcount(suit_field(table, hand, suit)) + popcount(suit_field(table, twice, suit))
            put_bit(words, row, _AT_LENGTH + (MAX_COUNT + 1) * label + min(np.int64(held), MAX_COUNT))
    if not sees:
        return
    put_cards(table, relabelling, hand, words, row, _HAND)
    put_cards(table, relabelling, twice, words, row, _HAND_TWICE)
    write_strengths(game, table, hand, unseen, unseen_twice, relabelling, words, row)
    if game["phase"] == PLAY and game["player"] == viewer and table["own_cards"] != _HIDDEN_CARDS:
        legal = game["legal"]
        put_cards(table, relabelling, legal, words, row, _LEGAL)
        winning = np.int64(0)
        rest = legal if game["in_trick"] > 0 and game["winning"] != NONE else np.int64(0)
        while rest:
            card = lowest(rest)
            rest &= rest - 1
            if rulebook.takes(game, table, card, np.int64(game["best"])):
                winning |= ONE << card
        put_cards(table, relabelling, winning, words, row, _WINNING_CARDS)


@jit_apart
def write_strengths(
    game: Any, table: Any, hand: Int, unseen: Int, unseen_twice: Int, relabelling: Int, words: Any, row: Int
) -> None:
    """Words above and below: cards held over which 0, 1, 2 of their suit are unseen, and under which 0, 1."""
    trump = np.int64(game["trump"])
    above_0, above_1, above_2, below_0, below_1 = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    rest = hand
    while rest:
        card = lowest(rest)
        bit = ONE << card
        rest &= rest - 1
        suit = np.int64(table["suits"][trump, card])
        rank = table["ranks"][trump, card]
        over, under = np.int64(0), np.int64(0)
        others = unseen & table["suit_cards"][trump, suit]
        while others:
            other = lowest(others)
            others &= others - 1
            copies = 1 + ((unseen_twice >> other) & 1)
            over += copies * (table["ranks"][trump, other] > rank)
            under += copies * (table["ranks"][trump, other] < rank)
        above_0 |= bit if over == 0 else 0
        above_1 |= bit if over == 1 else 0
        above_2 |= bit if over == 2 else 0
        below_0 |= bit if under == 0 else 0
        below_1 |= bit if under == 1 else 0
    put_cards(table, relabelling, above_0, words, row, _ABOVE)
    put_cards(table, relabelling, above_1, words, row, _ABOVE + 1)
    put_cards(table, relabelling, above_2, words, row, _ABOVE + 2)
    put_cards(table, relabelling, below_0, words, row, _BELOW)
    put_cards(table, relabelling, below_1, words, row, _BELOW + 1)


@jit_apart
def write_trick(game: Any, table: Any, viewer: Int, relabelling: Int, words: Any, row: Int) -> None:
    """Words trick, and sections trump, leader, led_suit, winning, worth, broken."""
    players = table["players"]
    trump = np.int64(game["trump"])
    label = np.int64(NUM_SUITS + 1)
    if game["trump_known"]:
        label = np.int64(NUM_SUITS) if trump == NO_TRUMP else PERMUTATIONS[relabelling, trump]
    put_bit(words, row, _AT_TRUMP + label)
    place = relative(np.int64(game["leader"]), viewer, players)
    put_bit(words, row, _AT_LEADER + place)
    if game["in_trick"] > 0:
        led = np.int64(game["led_suit"])
        put_bit(words, row, _AT_LED + (led if led == JOKERS else PERMUTATIONS[relabelling, led]))
        if game["winning"] != NONE:
            put_bit(words, row, _AT_WINNING + relative(np.int64(game["winning"]), viewer, players))
    first = game["num_plays"] - game["in_trick"]
    for k in range(game["in_trick"]):
        put_cards(table, relabelling, ONE << game["plays"][first + k], words, row, _TRICK + place)
        place = left_of(place, players)
    worth: Int = min(np.int64(game["worth"]), MAX_WORTH)
    put_bit(words, row, _AT_WORTH + worth - 1)
    if game["broken"] != 0:
        put_bit(words, row, _AT_BROKEN)


@jit_apart
def write_bids(game: Any, table: Any, viewer: Int, words: Any, row: Int) -> None:
    """Sections bids, first_bids, pledges, rounds, taken (of seats without a known bid), need, bid_sum, forbidden."""
    players = table["players"]
    sealed = (table["sealed"] == 1) & wide_play.is_bidding(game, table)
    total = -np.int64(game["hand_size"])
    seat = viewer
    for k in range(players):
        bid, first = np.int64(game["bids"][seat]), np.int64(game["first_bids"][seat])
        pledge, taken = np.int64(game["pledges"][seat]), np.int64(game["taken"][seat])
        known = (bid != NONE) & (bid != SEALED) & ((not sealed) | (k == 0) | (pledge == NIL))
        put_bit(words, row, _AT_BIDS + _BID_ROW * k + (bid if known else NOT_YET if bid == NONE else HIDDEN))
        if first != NONE:
            first_known = (first != SEALED) & ((not sealed) | (k == 0) | (pledge != BLIND_BID))
            put_bit(words, row, _AT_FIRST + _BID_ROW * k + (first if first_known else HIDDEN))
        if pledge != NONE:
            put_bit(words, row, _AT_PLEDGES + _NUM_PLEDGES * k + pledge)
        if known:
            need = clamp(bid - taken, MIN_NEED, MAX_NEED)
            put_bit(words, row, _AT_NEED + _NEED_ROW * k + need - MIN_NEED)
            total += bid
        elif taken > 0:
            put_bit(words, row, _AT_TAKEN + WIDE_NUM_BIDS * k + taken)
        seat = left_of(seat, players)
    put_bit(words, row, _AT_ROUNDS + game["rounds"])
    if not sealed:
        put_bit(words, row, _AT_SUM + clamp(total, -MAX_SUM_GAP, MAX_SUM_GAP) + MAX_SUM_GAP)
    if game["player"] == viewer and game["phase"] == BID:
        closed = ~game["legal"] & ((ONE << (game["hand_size"] + 1)) - 1)
        while closed:
            put_bit(words, row, _AT_FORBIDDEN + lowest(closed))
            closed &= closed - 1


@jit_apart
def write_place(game: Any, table: Any, viewer: Int, words: Any, row: Int) -> None:
    """Sections hands_left, score_gap (both none in a match of a single hand), dealer .. phase."""
    players = table["players"]
    if table["num_hands"] > 1:
        for k in range(min(table["num_hands"] - 1 - game["hand"], MAX_HANDS_LEFT)):
            put_bit(words, row, _AT_LEFT + k)
        seat = viewer
        for k in range(players - 1):
            seat = left_of(seat, players)
            gap = np.int64(np.floor(game["scores"][viewer] - game["scores"][seat]))
            for reached in range(GAPS_REACHED[clamp(gap, -MAX_GAP, MAX_GAP) + MAX_GAP]):
                put_bit(words, row, _AT_GAP + _NUM_GAPS * k + reached)
    put_bit(words, row, _AT_DEALER + relative(np.int64(game["dealer"]), viewer, players))
    put_bit(words, row, _AT_PLAYERS + players - WIDE_MIN_PLAYERS)
    put_bit(words, row, _AT_SIZE + game["hand_size"] - 1)
    put_bit(words, row, _AT_TRICKS + game["hand_size"] - game["num_plays"] // players)
    for k in range(_NUM_SPECIALS):
        if (np.int64(game["special"]) >> k) & 1:
            put_bit(words, row, _AT_SPECIAL + k)
    deals: Int = min(np.int64(game["deals"]), MAX_DEALS)
    for k in range(deals):
        put_bit(words, row, _AT_DEALS + k)
    put_bit(words, row, _AT_PHASE + game["phase"])


@jit_apart
def write_table(table: Any, relabelling: Int, words: Any, row: Int) -> None:
    """Words missing and pairs, and sections flags and choices: the table itself."""
    put_cards(table, relabelling, STANDARD_CARDS & ~table["deck_mask"], words, row, _MISSING)
    if table["pairs"] == table["deck_mask"]:
        put_bit(words, row, _AT_FLAGS + _NUM_FLAGS)
    else:
        put_cards(table, relabelling, table["pairs"], words, row, _PAIRS)
    flags = table["sealed"] | (table["hook"] << 1) | (table["lowest"] << 2) | (table["random_ramp"] << 3)
    flags |= (table["must_trump"] << 4) | (table["hands_shown"] << 5) | (table["knocking"] << 6)
    flags |= (table["cooperative"] << 7) | (table["nil_round"] << 8) | (table["blind_bids"] << 9)
    for k in range(_NUM_FLAGS):
        if (flags >> k) & 1:
            put_bit(words, row, _AT_FLAGS + k)
    put_bit(words, row, _AT_CHOICES + _FIRST_CHOICES[0] + table["trump_from"])
    put_bit(words, row, _AT_CHOICES + _FIRST_CHOICES[1] + table["full_deal"])
    put_bit(words, row, _AT_CHOICES + _FIRST_CHOICES[2] + table["lead_trump"])
    put_bit(words, row, _AT_CHOICES + _FIRST_CHOICES[3] + table["duplicates"])
    put_bit(words, row, _AT_CHOICES + _FIRST_CHOICES[4] + table["own_cards"])


@jit
def payment(game: Any, table: Any, viewer: Int, bid: Int, what: Int) -> Any:
    """What a bid is worth that is MADE, or missed BELOW or ABOVE by one trick; no fewer than none, no more than all."""
    taken = bid - 1 if what == BELOW else bid + 1 if what == ABOVE else bid
    taken = clamp(taken, 0, np.int64(game["hand_size"]))
    return rulebook.bid_value(game, table, viewer, bid, taken)


@jit_apart
def stake(game: Any, table: Any, viewer: Int) -> float:
    """What making a bid is worth beyond missing it by one, in the mean of bids up to twice the fair share of tricks."""
    size = np.int64(game["hand_size"])
    total = 0.0
    usual = min(size, 2 * size // table["players"] + 1)
    for bid in range(usual + 1):
        made = payment(game, table, viewer, np.int64(bid), MADE)
        low = payment(game, table, viewer, np.int64(bid), BELOW) if bid > 0 else made
        high = payment(game, table, viewer, np.int64(bid), ABOVE) if bid < size else made
        total += max(made - low, made - high)
    return float(max(total / (usual + 1), 1e-6))


@jit_apart
def write_pay(game: Any, table: Any, viewer: Int, words: Any, row: Int) -> None:
    """Section pay: of every bid while the viewer has not bid, of its own from then on; none where nobody bids."""
    if game["special"] & GOLDEN_HAND or game["special"] & MISER_HAND:
        return
    unit = stake(game, table, viewer)
    own = np.int64(game["bids"][viewer])
    low = own if own != NONE else np.int64(0)
    high = own if own != NONE else np.int64(game["hand_size"])
    for bid in range(low, high + 1):
        for what in range(3):
            worth = payment(game, table, viewer, np.int64(bid), what) / unit
            put_bin(words, row, _AT_PAY, np.int64(3 * bid + what), EDGES, worth)


@jit
def put_bin(words: Any, row: Int, at: Int, number: Int, edges: Any, value: float) -> None:
    """A one in the bin of a value: that of the rows of ``len(edges) + 1`` bits from ``at`` on which ``number`` says."""
    place = np.int64(0)
    while place < edges.shape[0] and value >= edges[place]:
        place += 1
    put_bit(words, row, at + number * (edges.shape[0] + 1) + place)


@jit_apart
def write_standing(game: Any, table: Any, viewer: Int, words: Any, row: Int) -> None:
    """The match's sections: lead of the viewer over each other seat in stakes, hands done, each seat's record of bids.

    A lead is how far the viewer's total is ahead: where the lowest total wins, how far it is below.
    """
    players = table["players"]
    unit = stake(game, table, viewer)
    put_bin(words, row, _AT_DONE, np.int64(0), DONE_EDGES, float(game["hand"]))
    seat = viewer
    for k in range(players):
        if k > 0:
            lead = rulebook.direction(table) * (game["scores"][viewer] - game["scores"][seat])
            put_bin(words, row, _AT_LEAD, np.int64(k - 1), LEAD_EDGES, lead / unit)
        bids = np.int64(game["made"][seat]) + game["missed"][seat]
        if bids > 0:
            put_bin(words, row, _AT_MADE, np.int64(k), SHARE_EDGES, game["made"][seat] / bids)
            put_bin(words, row, _AT_OVER, np.int64(k), OFF_EDGES, game["over"][seat] / bids)
            put_bin(words, row, _AT_UNDER, np.int64(k), OFF_EDGES, game["under"][seat] / bids)
        seat = left_of(seat, players)


@jit
def list_ones(words: Any, row: Int, index: Any, at: Int) -> Int:
    """Numbers of the ones of ``words[row]`` into ``index[at]``; how many there are."""
    count = np.int64(0)
    for word in range(words.shape[1]):
        rest = words[row, word]
        while rest:
            index[at, np.uint64(count)] = WORD * word + lowest(rest)
            rest &= rest - 1
            count += 1
    return count
