"""What a seat sees at a table of the wide form: its sections and their encoder.

As the standard layout, with room for 2 to 10 players, 63 kinds of card of which there may be two, hands of 26, and with
sections for what only these tables have.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ohhell_env.kernel import wide_bidding, wide_play
from ohhell_env.kernel.jit import (
    ONE,
    Int,
    by_entries,
    clamp,
    jit,
    jit_apart,
    left_of,
    store_64,
    words_on_stack,
)
from ohhell_env.kernel.state import BID, BLIND, BLIND_BID, FIXED, NIL, NO_TRUMP, NONE, PASS_OR_NIL
from ohhell_env.observation.sections import (
    BID_SUM,
    GAPS_REACHED,
    HANDS_LEFT,
    MAX_GAP,
    MAX_HANDS_LEFT,
    MAX_NEED,
    MAX_SUM_GAP,
    MIN_NEED,
    SCORE_GAPS,
    SEALED,
    Section,
    clear_words,
    need_section,
    offsets,
    put_bit,
    relative,
    score_gap_section,
    store_bits,
)
from ohhell_env.rules.cards import JOKERS, NUM_SUITS
from ohhell_env.rules.limits import (
    WIDE_MAX_HAND_SIZE,
    WIDE_MAX_PLAYERS,
    WIDE_MIN_PLAYERS,
    WIDE_NUM_BIDS,
    WIDE_NUM_KINDS,
)
from ohhell_env.rules.ramps import SPECIALS
from ohhell_env.rules.rules import DUPLICATES, FULL_DEALS, LEAD_TRUMP, OWN_CARDS

_S, _C, _B = WIDE_MAX_PLAYERS, WIDE_NUM_KINDS, WIDE_NUM_BIDS
HIDDEN, NOT_YET = _B, _B + 1  # classes of a bid that is made but sealed, and of one that is not made
MAX_DEALS = 8
MAX_WORTH = 5
PLEDGES = ("passed", "nil", "blind")
PHASES = ("bid", "play", "hand over", "match over", "blind", "pass or nil", "name trump", "name suit")
TRUMP_FROM = ("turned", "fixed", "named", "cut", "drawn")
FLAGS = (
    *("sealed", "hook", "lowest", "random_ramp", "must_trump", "hands_shown", "knocking", "cooperative"),
    *("nil_round", "blind_bids", "sort_hands"),
)
CHOICES = {
    "trump_from": TRUMP_FROM,
    "full_deal": FULL_DEALS,
    "lead_trump": LEAD_TRUMP,
    "duplicates": DUPLICATES,
    "own_cards": OWN_CARDS,
}

SECTIONS = (
    Section("hand", (_C,), "cards that the viewer holds and may see"),
    Section("hand_twice", (_C,), "cards that the viewer holds twice and may see"),
    Section("slots", (WIDE_MAX_HAND_SIZE,), "positions, in the order dealt, of the cards that the viewer still holds"),
    Section("unseen", (_C,), "cards of the deck of which the viewer cannot place a copy"),
    Section("unseen_twice", (_C,), "cards of the deck of which the viewer can place neither of two copies"),
    Section("played", (_S, _C), "cards that each seat has played in this hand, the current trick included"),
    Section("played_twice", (_S, _C), "cards that each seat has played twice in this hand"),
    Section("others", (_S - 1, _C), "cards of each other seat that lie face up to the viewer"),
    Section("others_twice", (_S - 1, _C), "of them those that the seat holds twice"),
    Section("voids", (_S, NUM_SUITS), "suits in which each seat has failed to follow in this hand"),
    HANDS_LEFT,
    score_gap_section(_S),
    Section("turned", (_C,), "card turned up, out of play"),
    Section("shown", (_C,), "card that made trump and is in play: the dealer's last card, or the one cut"),
    Section("trump", (NUM_SUITS + 2,), "trump suit, or no trump, or not yet known"),
    Section("trick", (_S, _C), "each seat's card in the current trick"),
    Section("leader", (_S,), "seat that leads the current trick (while bidding: that will lead the first)"),
    Section("led_suit", (NUM_SUITS + 1,), "suit led to the current trick, or a joker whose suit is still to be named"),
    Section("winning", (_S,), "seat that wins the current trick as it stands; none: nobody"),
    Section("worth", (MAX_WORTH,), "multiplier of the trick: how many tricks it counts for, 1..5 or more"),
    Section("bids", (_S, _B + 2), "bid 0..26 of each seat, or `hidden` (made, sealed), or `not yet`"),
    Section("first_bids", (_S, _B + 2), "the same of its blind bid, or of its bid in the round before this one"),
    Section("pledges", (_S, len(PLEDGES)), "what each seat said before the bidding: passed, nil, or bid blind"),
    Section("rounds", (wide_bidding.LAST_ROUND + 1,), "knocking: rounds of bids that have fitted, 0..6"),
    Section("taken", (_S, _B), "tricks 0..26 that each seat has taken"),
    need_section(_S),
    BID_SUM,
    Section("forbidden", (_B,), "bids up to the hand size that the viewer, to bid, may not make"),
    Section("turn", (_S,), "seat to act; none: the match is over"),
    Section("dealer", (_S,), "seat of the dealer"),
    Section("players", (WIDE_MAX_PLAYERS - WIDE_MIN_PLAYERS + 1,), "players at the table, 2..10"),
    Section("hand_size", (WIDE_MAX_HAND_SIZE,), "cards dealt to each seat, 1..26"),
    Section("tricks_left", (WIDE_MAX_HAND_SIZE + 1,), "tricks not yet finished, 0..26"),
    Section("special", (len(SPECIALS),), f"rules of this hand: {', '.join(SPECIALS)}"),
    Section("deals", (MAX_DEALS,), "thermometer: this hand has been dealt at least 1, 2, .. 8 times"),
    Section("broken", (1,), "a trump has been played to a trick that another suit led"),
    Section("phase", (len(PHASES),), ", ".join(PHASES)),
    Section("deck", (_C,), "cards of the deck"),
    Section("pairs", (_C,), "cards that stand in the deck twice"),
    Section(
        "table",
        (len(FLAGS) + sum(map(len, CHOICES.values())),),
        f"rules of the table: {', '.join(FLAGS)}; "
        + "; ".join(f"{option} {', '.join(values)}" for option, values in CHOICES.items()),
    ),
)
_AT, OBSERVATION_SIZE = offsets(SECTIONS)

_HAND, _HAND_TWICE, _SLOTS, _UNSEEN, _UNSEEN_TWICE = (
    _AT[s] for s in ("hand", "hand_twice", "slots", "unseen", "unseen_twice")
)
_PLAYED, _PLAYED_TWICE, _OTHERS, _OTHERS_TWICE = (_AT[s] for s in ("played", "played_twice", "others", "others_twice"))
_VOIDS, _HANDS_LEFT, _SCORE_GAP = (_AT[s] for s in ("voids", "hands_left", "score_gap"))
_TURNED, _SHOWN, _TRUMP, _TRICK = (_AT[s] for s in ("turned", "shown", "trump", "trick"))
_LEADER, _LED_SUIT, _WINNING, _WORTH = (_AT[s] for s in ("leader", "led_suit", "winning", "worth"))
_BIDS, _FIRST_BIDS, _PLEDGES, _ROUNDS = (_AT[s] for s in ("bids", "first_bids", "pledges", "rounds"))
_TAKEN, _NEED, _BID_SUM, _FORBIDDEN = (_AT[s] for s in ("taken", "need", "bid_sum", "forbidden"))
_TURN, _DEALER, _PLAYERS, _HAND_SIZE = (_AT[s] for s in ("turn", "dealer", "players", "hand_size"))
_TRICKS_LEFT, _SPECIAL, _DEALS, _BROKEN = (_AT[s] for s in ("tricks_left", "special", "deals", "broken"))
_PHASE, _DECK, _PAIRS, _TABLE = (_AT[s] for s in ("phase", "deck", "pairs", "table"))
_BID_ROW, _NEED_ROW, _NUM_GAPS = _B + 2, MAX_NEED - MIN_NEED + 1, len(SCORE_GAPS)
_LED_JOKER = NUM_SUITS
_TRUMP_UNKNOWN = NUM_SUITS + 1
assert JOKERS == _LED_JOKER and NO_TRUMP == NUM_SUITS


_WORDS = (OBSERVATION_SIZE + 63) // 64
_LAST = 64 * (_WORDS - 1)  # entry that the last word begins with
_room = words_on_stack(_WORDS)


@jit_apart
def encode_words(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Write what ``viewer`` (a seat) sees of a game of the wide form into ``out[row]``; out is (N, W) int64."""
    clear_words(out, row, OBSERVATION_SIZE)
    write_cards(game, table, viewer, out, row)
    write_unseen(game, table, viewer, out, row)
    write_trick(game, table, viewer, out, row)
    write_bids(game, table, viewer, out, row)
    write_hand(game, table, viewer, out, row)
    write_table(game, table, viewer, out, row)


@jit_apart
def encode_entries(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """The same for an out of (N, D) int8: words first, for there are many more entries than ones."""
    words = _room()
    encode_words(game, table, viewer, words, 0)
    for k in range(_WORDS - 1):
        store_64(out, row, 64 * k, words[0, k])
    for k in range(OBSERVATION_SIZE - _LAST):
        out[row, _LAST + k] = (words[0, _WORDS - 1] >> k) & 1


encode = by_entries(encode_entries, encode_words, place=3)


@jit_apart
def write_cards(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Sections hand, hand_twice, slots, played, played_twice, others, others_twice, voids."""
    players = table["players"]
    if wide_play.sees_cards(game, table, viewer, viewer):
        store_bits(out, row, _HAND, game["hands"][viewer])
        store_bits(out, row, _HAND_TWICE, game["held_twice"][viewer])
    store_bits(out, row, _SLOTS, game["slots"][viewer])
    seat = viewer
    for k in range(players):
        store_bits(out, row, _PLAYED + _C * k, game["played"][seat])
        store_bits(out, row, _PLAYED_TWICE + _C * k, game["played_twice"][seat])
        store_bits(out, row, _VOIDS + NUM_SUITS * k, np.int64(game["voids"][seat]))
        if k > 0 and wide_play.sees_cards(game, table, viewer, seat):
            store_bits(out, row, _OTHERS + _C * (k - 1), game["hands"][seat])
            store_bits(out, row, _OTHERS_TWICE + _C * (k - 1), game["held_twice"][seat])
        seat = left_of(seat, players)


@jit_apart
def write_unseen(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Sections unseen, unseen_twice."""
    unseen, unseen_twice = wide_play.unseen_copies(game, table, viewer)
    store_bits(out, row, _UNSEEN, unseen)
    store_bits(out, row, _UNSEEN_TWICE, unseen_twice)


@jit_apart
def write_trick(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Sections turned, shown, trump, trick, leader, led_suit, winning, worth, broken."""
    players = table["players"]
    early = (game["phase"] == BLIND) | (game["phase"] == PASS_OR_NIL)
    if game["turned"] != NONE:
        put_bit(out, row, _TURNED + game["turned"], True)
    if game["shown"] != NONE and not early:
        put_bit(out, row, _SHOWN + game["shown"], True)
    put_bit(out, row, _TRUMP + (np.int64(game["trump"]) if game["trump_known"] else _TRUMP_UNKNOWN), True)
    place = relative(np.int64(game["leader"]), viewer, players)
    put_bit(out, row, _LEADER + place, True)
    if game["in_trick"] > 0:
        put_bit(out, row, _LED_SUIT + game["led_suit"], True)
        if game["winning"] != NONE:
            put_bit(out, row, _WINNING + relative(np.int64(game["winning"]), viewer, players), True)
    for k in range(game["in_trick"]):
        put_bit(out, row, _TRICK + _C * place + game["plays"][game["num_plays"] - game["in_trick"] + k], True)
        place = left_of(place, players)
    worth: Int = min(np.int64(game["worth"]), MAX_WORTH)
    put_bit(out, row, _WORTH + worth - 1, True)
    put_bit(out, row, _BROKEN, game["broken"] != 0)


@jit
def bid_class(bid: Int, known: bool) -> Int:
    """The class of a bid as it is encoded."""
    if bid == NONE:
        return np.int64(NOT_YET)
    return np.int64(bid) if known else np.int64(HIDDEN)


@jit_apart
def write_bids(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Sections bids, first_bids, pledges, rounds, taken, need, bid_sum, forbidden."""
    players = table["players"]
    sealed = (table["sealed"] == 1) & wide_play.is_bidding(game, table)
    total = -np.int64(game["hand_size"])
    seat = viewer
    for k in range(players):
        bid = np.int64(game["bids"][seat])
        pledge = np.int64(game["pledges"][seat])
        known = (not sealed) | (k == 0) | (pledge == NIL)
        put_bit(out, row, _BIDS + _BID_ROW * k + bid_class(bid, known), True)
        first_known = (not sealed) | (k == 0) | (pledge != BLIND_BID)
        first = bid_class(np.int64(game["first_bids"][seat]), first_known)
        put_bit(out, row, _FIRST_BIDS + _BID_ROW * k + first, True)
        if pledge != NONE:
            put_bit(out, row, _PLEDGES + len(PLEDGES) * k + pledge, True)
        put_bit(out, row, _TAKEN + _B * k + game["taken"][seat], True)
        if bid != NONE and known:
            need = clamp(bid - game["taken"][seat], MIN_NEED, MAX_NEED)
            put_bit(out, row, _NEED + _NEED_ROW * k + need - MIN_NEED, True)
            total += bid
        seat = left_of(seat, players)
    put_bit(out, row, _ROUNDS + game["rounds"], True)
    put_bit(out, row, _BID_SUM + clamp(total, -MAX_SUM_GAP, MAX_SUM_GAP) + MAX_SUM_GAP, not sealed)
    if game["player"] == viewer and game["phase"] == BID:
        store_bits(out, row, _FORBIDDEN, ~game["legal"] & ((ONE << (game["hand_size"] + 1)) - 1))


@jit_apart
def write_hand(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Sections hands_left, score_gap, turn, dealer, players, hand_size, tricks_left, special, deals, phase."""
    players = table["players"]
    left = min(table["num_hands"] - 1 - game["hand"], MAX_HANDS_LEFT)
    store_bits(out, row, _HANDS_LEFT, (ONE << left) - 1)
    seat = viewer
    for k in range(players - 1):
        seat = left_of(seat, players)
        gap = np.int64(np.floor(game["scores"][viewer] - game["scores"][seat]))
        reached = GAPS_REACHED[clamp(gap, -MAX_GAP, MAX_GAP) + MAX_GAP]
        store_bits(out, row, _SCORE_GAP + _NUM_GAPS * k, (ONE << reached) - 1)
    if game["player"] != NONE:
        put_bit(out, row, _TURN + relative(np.int64(game["player"]), viewer, players), True)
    put_bit(out, row, _DEALER + relative(np.int64(game["dealer"]), viewer, players), True)
    put_bit(out, row, _PLAYERS + players - WIDE_MIN_PLAYERS, True)
    put_bit(out, row, _HAND_SIZE + game["hand_size"] - 1, True)
    put_bit(out, row, _TRICKS_LEFT + game["hand_size"] - game["num_plays"] // players, True)
    store_bits(out, row, _SPECIAL, np.int64(game["special"]))
    deals: Int = min(np.int64(game["deals"]), MAX_DEALS)
    store_bits(out, row, _DEALS, (ONE << deals) - 1)
    put_bit(out, row, _PHASE + game["phase"], True)


@jit_apart
def write_table(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Sections deck, pairs, table."""
    store_bits(out, row, _DECK, table["deck_mask"])
    store_bits(out, row, _PAIRS, table["pairs"])
    put_bit(out, row, _TABLE, table["sealed"] != 0)
    put_bit(out, row, _TABLE + 1, table["hook"] != 0)
    put_bit(out, row, _TABLE + 2, table["lowest"] != 0)
    put_bit(out, row, _TABLE + 3, table["random_ramp"] != 0)
    put_bit(out, row, _TABLE + 4, table["must_trump"] != 0)
    put_bit(out, row, _TABLE + 5, table["hands_shown"] != 0)
    put_bit(out, row, _TABLE + 6, table["knocking"] != 0)
    put_bit(out, row, _TABLE + 7, table["cooperative"] != 0)
    put_bit(out, row, _TABLE + 8, table["nil_round"] != 0)
    put_bit(out, row, _TABLE + 9, table["blind_bids"] != 0)
    put_bit(out, row, _TABLE + 10, table["sort_hands"] != 0)
    at = _TABLE + len(FLAGS)
    put_bit(out, row, at + table["trump_from"], True)
    at += len(TRUMP_FROM)
    put_bit(out, row, at + table["full_deal"], True)
    at += len(FULL_DEALS)
    put_bit(out, row, at + table["lead_trump"], True)
    at += len(LEAD_TRUMP)
    put_bit(out, row, at + table["duplicates"], True)
    at += len(DUPLICATES)
    put_bit(out, row, at + table["own_cards"], True)


@jit_apart
def blind(view: Any, viewer: Int, table: Any) -> None:
    """Erase what only the wide form has and ``viewer`` may not know; `encode` makes the same of it as of the game."""
    early = (view["phase"] == BLIND) | (view["phase"] == PASS_OR_NIL)
    sealed = (table["sealed"] == 1) & wide_play.is_bidding(view, table)
    for call in range(view["num_calls"]):
        view["calls"][call] = NONE
    view["num_calls"] = 0
    if early:
        view["shown"] = NONE
    for seat in range(table["players"]):
        if not wide_play.sees_cards(view, table, viewer, seat):
            view["hands"][seat] = 0
            view["held_twice"][seat] = 0
        if sealed and seat != viewer:
            if view["pledges"][seat] == BLIND_BID:
                view["first_bids"][seat] = SEALED
            if view["bids"][seat] != NONE and view["pledges"][seat] != NIL:
                view["bids"][seat] = SEALED


assert TRUMP_FROM.index("fixed") == FIXED
