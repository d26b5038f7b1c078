"""What a seat sees, as zeros and ones: one table of sections, from which encoder, decoder and documentation follow.

Seats are relative to the viewer: row 0 is the viewer, row 1 the seat to its left. One layout serves 3 to 7 players and
every hand size; rows of absent seats are zero. Everything a seat may know that bears on the rest of the match is here,
except the order of past tricks, which ``Game.events`` tells.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ohhell_env.kernel.jit import ONE, Int, by_form, clamp, jit, left_of, lowest
from ohhell_env.kernel.standard import unseen_cards
from ohhell_env.kernel.state import BID, NONE, STANDARD_FORM, Form
from ohhell_env.observation import wide
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
    clear,
    need_section,
    offsets,
    put,
    put_32,
    put_64,
    relative,
    score_gap_section,
)
from ohhell_env.rules.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from ohhell_env.rules.limits import MAX_HAND_SIZE, MAX_PLAYERS, MIN_PLAYERS, NUM_BIDS
from ohhell_env.rules.rules import Rules

HIDDEN = NUM_BIDS  # class of a bid that is made but sealed
NOT_YET = NUM_BIDS + 1  # class of a bid that is not made

_S = MAX_PLAYERS
SECTIONS = (
    Section("hand", (NUM_CARDS,), "cards that the viewer holds"),
    Section("unseen", (NUM_CARDS,), "cards of the deck that the viewer cannot place: not held, played or turned up"),
    Section("played", (_S, NUM_CARDS), "cards that each seat has played in this hand, the current trick included"),
    Section("voids", (_S, NUM_SUITS), "suits in which each seat has failed to follow in this hand"),
    HANDS_LEFT,
    score_gap_section(_S),
    Section("turned", (NUM_RANKS,), "rank of the card turned up; its suit is trump; none: nothing is turned"),
    Section("trump", (NUM_SUITS + 1,), "trump suit, or no trump"),
    Section("trick", (_S, NUM_SUITS + NUM_RANKS), "suit, then rank, of each seat's card in the current trick"),
    Section("leader", (_S,), "seat that leads the current trick (while bidding: that will lead the first)"),
    Section("led_suit", (NUM_SUITS,), "suit led to the current trick; none: nothing is led"),
    Section("winning", (_S,), "seat that wins the current trick as it stands"),
    Section("bids", (_S, NUM_BIDS + 2), "bid 0..17 of each seat, or `hidden` (made, sealed), or `not yet`"),
    Section("taken", (_S, MAX_HAND_SIZE + 1), "tricks 0..17 that each seat has taken"),
    need_section(_S),
    BID_SUM,
    Section("forbidden", (NUM_BIDS,), "the hook: the bid that the viewer, dealer and to bid, may not make"),
    Section("turn", (_S,), "seat to act; none: the match is over"),
    Section("dealer", (_S,), "seat of the dealer"),
    Section("players", (MAX_PLAYERS - MIN_PLAYERS + 1,), "players at the table, 3..7"),
    Section("hand_size", (MAX_HAND_SIZE,), "cards dealt to each seat, 1..17"),
    Section("tricks_left", (MAX_HAND_SIZE + 1,), "tricks not yet finished, 0..17"),
    Section("phase", (4,), "bidding, playing, hand over, match over"),
    Section("table", (3,), "rules of the table: bids are sealed; the hook is on; a card is turned for trump"),
)


_AT, OBSERVATION_SIZE = offsets(SECTIONS)
LAYOUT: Mapping[str, slice] = MappingProxyType({s.name: slice(_AT[s.name], _AT[s.name] + s.size) for s in SECTIONS})
# Of names and shapes: a section that comes to mean something else takes another name.
LAYOUT_HASH = hashlib.sha256(repr([(s.name, s.shape) for s in SECTIONS]).encode()).hexdigest()[:16]


WIDE_LAYOUT: Mapping[str, slice] = MappingProxyType(
    {s.name: slice(at, at + s.size) for s, at in zip(wide.SECTIONS, wide._AT.values())}
)


def sections(form: Form) -> tuple[Section, ...]:
    """The sections of a form's observation."""
    return SECTIONS if form is STANDARD_FORM else wide.SECTIONS


def observation_size(form: Form) -> int:
    """Entries in an observation of a form."""
    return OBSERVATION_SIZE if form is STANDARD_FORM else wide.OBSERVATION_SIZE


def observation_layout(rules: Rules | None = None) -> Mapping[str, slice]:
    """Where each section of an observation stands: name -> slice.

    One layout for every table of the standard form, which is the default; another for every table of the wide form.
    """
    return LAYOUT if rules is None or rules.standard else WIDE_LAYOUT


# The encoder: one function a section or two that belong together. Offsets are constants to the compiler.
_HAND, _UNSEEN, _PLAYED, _TURNED, _TRUMP = (_AT[s] for s in ("hand", "unseen", "played", "turned", "trump"))
_TRICK, _LEADER, _LED_SUIT, _WINNING, _VOIDS = (_AT[s] for s in ("trick", "leader", "led_suit", "winning", "voids"))
_BIDS, _TAKEN, _NEED, _BID_SUM, _FORBIDDEN = (_AT[s] for s in ("bids", "taken", "need", "bid_sum", "forbidden"))
_TURN, _DEALER, _PLAYERS, _HAND_SIZE = (_AT[s] for s in ("turn", "dealer", "players", "hand_size"))
_TRICKS_LEFT, _HANDS_LEFT, _SCORE_GAP = (_AT[s] for s in ("tricks_left", "hands_left", "score_gap"))
_PHASE, _TABLE = (_AT[s] for s in ("phase", "table"))
_TRICK_ROW = NUM_SUITS + NUM_RANKS
_BID_ROW = NUM_BIDS + 2
_TAKEN_ROW = MAX_HAND_SIZE + 1
_NEED_ROW = MAX_NEED - MIN_NEED + 1
_NUM_GAPS = len(SCORE_GAPS)


@jit
def encode_standard(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Write what ``viewer`` (a seat) sees of a game into ``out[row]``; out is (N, OBSERVATION_SIZE) int8, or words.

    Rows are passed as array and index throughout: a slice would count a reference, which costs more than a section.
    """
    clear(out, row, OBSERVATION_SIZE)
    write_cards(game, table, viewer, out, row)
    write_match(game, table, viewer, out, row)
    write_trick(game, table, viewer, out, row)
    write_contracts(game, table, viewer, out, row)
    write_table(game, table, viewer, out, row)


# The sections before `turned` are stored whole, in ascending order, in widths of 32 and 64: what a store writes beyond
# its section is zero and is overwritten by the store that follows.
@jit
def write_cards(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Sections hand, unseen, played, voids."""
    players = table["players"]
    put_64(out, row, _HAND, game["hands"][viewer])
    put_64(out, row, _UNSEEN, unseen_cards(game, table, viewer))
    voids = np.int64(0)
    seat = viewer
    for k in range(players):
        put_64(out, row, _PLAYED + NUM_CARDS * k, game["played"][seat])
        voids |= np.int64(game["voids"][seat]) << (NUM_SUITS * k)
        seat = left_of(seat, players)
    put_32(out, row, _VOIDS, voids)


@jit
def write_match(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Sections hands_left, score_gap."""
    players = table["players"]
    left = min(table["num_hands"] - 1 - game["hand"], MAX_HANDS_LEFT)
    put_32(out, row, _HANDS_LEFT, (ONE << left) - 1)
    seat = viewer
    for k in range(players - 1):
        seat = left_of(seat, players)
        gap = np.int64(np.floor(game["scores"][viewer] - game["scores"][seat]))
        reached = GAPS_REACHED[clamp(gap, -MAX_GAP, MAX_GAP) + MAX_GAP]
        put_32(out, row, _SCORE_GAP + _NUM_GAPS * k, (ONE << reached) - 1)


@jit
def write_trick(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Sections turned, trump, trick, leader, led_suit, winning."""
    players = table["players"]
    turned: Int = max(np.int64(game["turned"]), 0)
    put(out, row, _TURNED + turned % NUM_RANKS, game["turned"] != NONE)
    put(out, row, _TRUMP + game["trump"], True)
    place = relative(np.int64(game["leader"]), viewer, players)
    put(out, row, _LEADER + place, True)
    first = np.int64(game["num_plays"] - game["in_trick"])
    led = game["in_trick"] > 0
    put(out, row, _LED_SUIT + max(game["led_suit"], 0), led)
    put(out, row, _WINNING + relative(np.int64(game["winning"]) if led else viewer, viewer, players), led)
    for k in range(players):  # seats that have not played write a zero: cheaper than a branch
        played = k < game["in_trick"]
        card = np.int64(game["plays"][min(first + k, NUM_CARDS - 1)]) if played else 0
        put(out, row, _TRICK + _TRICK_ROW * place + card // NUM_RANKS, played)
        put(out, row, _TRICK + _TRICK_ROW * place + NUM_SUITS + card % NUM_RANKS, played)
        place = left_of(place, players)


@jit
def write_contracts(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Sections bids, taken, need, bid_sum, forbidden."""
    players = table["players"]
    sealed = (table["sealed"] == 1) & (game["phase"] == BID)
    total = -np.int64(game["hand_size"])
    seat = viewer
    for k in range(players):
        bid = np.int64(game["bids"][seat])
        taken = np.int64(game["taken"][seat])
        made = bid != NONE
        known = made & ((not sealed) | (k == 0))
        need = clamp(bid - taken, MIN_NEED, MAX_NEED)
        put(out, row, _NEED + _NEED_ROW * k + need - MIN_NEED, known)
        put(out, row, _BIDS + _BID_ROW * k + (bid if known else HIDDEN if made else NOT_YET), True)
        put(out, row, _TAKEN + _TAKEN_ROW * k + taken, True)
        total += bid if known else 0
        seat = left_of(seat, players)
    put(out, row, _BID_SUM + clamp(total, -MAX_SUM_GAP, MAX_SUM_GAP) + MAX_SUM_GAP, not sealed)
    if game["player"] == viewer and game["phase"] == BID:  # the bid that the mask lacks: a view has no others' bids
        closed = ~game["legal"] & ((ONE << (game["hand_size"] + 1)) - 1)
        if closed:
            put(out, row, _FORBIDDEN + lowest(closed), True)


@jit
def write_table(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Sections turn, dealer, players, hand_size, tricks_left, phase, table."""
    players = table["players"]
    if game["player"] != NONE:
        put(out, row, _TURN + relative(np.int64(game["player"]), viewer, players), True)
    put(out, row, _DEALER + relative(np.int64(game["dealer"]), viewer, players), True)
    put(out, row, _PLAYERS + players - MIN_PLAYERS, True)
    put(out, row, _HAND_SIZE + game["hand_size"] - 1, True)
    put(out, row, _TRICKS_LEFT + game["hand_size"] - game["num_plays"] // players, True)
    put(out, row, _PHASE + game["phase"], True)
    put(out, row, _TABLE, table["sealed"] != 0)
    put(out, row, _TABLE + 1, table["hook"] != 0)
    put(out, row, _TABLE + 2, table["turn_up"] != 0)


@jit
def _blind(view: Any, viewer: Int, table: Any) -> None:
    sealed = table["sealed"] == 1 and view["phase"] == BID
    for seat in range(table["players"]):
        if seat != viewer:
            view["hands"][seat] = 0
            if sealed and view["bids"][seat] != NONE:
                view["bids"][seat] = SEALED


encode = by_form(encode_standard, wide.encode)
erase_secrets = by_form(_blind, wide.blind)


@jit
def blind(games: Any, i: Int, viewer: Int, table: Any, views: Any, j: Int) -> None:
    """Copy game i to ``views[j]`` without what ``viewer`` may not know: hidden hands, sealed bids, deck, seed, stream.

    `encode` makes the same of the copy as of the game. A sealed bid reads SEALED, another seat's options are empty.
    """
    views[j] = games[i]
    view = views[j]
    erase_secrets(view, viewer, table)
    view["seed"] = 0
    view["stream"] = 0
    for k in range(view["deck"].shape[0]):
        view["deck"][k] = NONE
    if view["player"] != viewer:
        view["legal"] = 0
