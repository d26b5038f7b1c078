"""What a seat sees, as zeros and ones: one table of sections, from which encoder, decoder and documentation follow.

Seats are relative to the viewer: row 0 is the viewer, row 1 the seat to its left. One layout serves 3 to 7 players and
every hand size; rows of absent seats are zero. Everything a seat may know that bears on the rest of the match is here,
except the order of past tricks, which ``Game.events`` tells.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env import kernel
from ohhell_env.cards import (
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    RANKS,
    SUIT_NAMES,
    SUIT_SYMBOLS,
    card_id,
    card_symbol,
)
from ohhell_env.jit import ONE, Int, clamp, jit, lowest, store_32, store_64
from ohhell_env.limits import MAX_HAND_SIZE, MAX_PLAYERS, MIN_PLAYERS, NUM_BIDS
from ohhell_env.rules import Rules
from ohhell_env.state import BID, NO_TRUMP, NONE

SEALED = -2  # a bid in a view of `blind`: made, but not to be seen
HIDDEN = NUM_BIDS  # class of a bid that is made but sealed
NOT_YET = NUM_BIDS + 1  # class of a bid that is not made
MIN_NEED, MAX_NEED = -3, 9  # need is clipped to this; bid and taken stand beside it in full
MAX_SUM_GAP = 8  # sum of bids less hand size is clipped to -8..8
MAX_HANDS_LEFT = 32
# Thresholds of (viewer's total - other's total), points: ahead by at least .., behind by less than ..; finest where
# one hand can turn the match.
_AHEAD = (1, 3, 6, 11, 13, 16, 21, 31, 51, 81)
SCORE_GAPS = (*(1 - lead for lead in reversed(_AHEAD)), *_AHEAD)


@dataclass(frozen=True)
class Section:
    """One named part of the observation.

    Attributes:
        name: key of `observation_layout`.
        shape: rows and columns of the part; it is stored flat, row by row.
        meaning: what a one means.
    """

    name: str
    shape: tuple[int, ...]
    meaning: str

    @property
    def size(self) -> int:
        """Entries in the part."""
        return int(np.prod(self.shape))


_S = MAX_PLAYERS
SECTIONS = (
    Section("hand", (NUM_CARDS,), "cards that the viewer holds"),
    Section("unseen", (NUM_CARDS,), "cards of the pack that the viewer cannot place: not held, played or turned up"),
    Section("played", (_S, NUM_CARDS), "cards that each seat has played in this hand, the current trick included"),
    Section("voids", (_S, NUM_SUITS), "suits in which each seat has failed to follow in this hand"),
    Section("hands_left", (MAX_HANDS_LEFT,), "thermometer: at least 1, 2, .. 32 hands follow this one"),
    Section(
        "score_gap",
        (_S - 1, len(SCORE_GAPS)),
        "thermometer for each other seat: viewer's total less theirs is at least "
        + ", ".join(map(str, SCORE_GAPS))
        + " points",
    ),
    Section("turned", (NUM_RANKS,), "rank of the card turned up; its suit is trump; none: nothing is turned"),
    Section("trump", (NUM_SUITS + 1,), "trump suit, or no trump"),
    Section("trick", (_S, NUM_SUITS + NUM_RANKS), "suit, then rank, of each seat's card in the current trick"),
    Section("leader", (_S,), "seat that leads the current trick (while bidding: that will lead the first)"),
    Section("led_suit", (NUM_SUITS,), "suit led to the current trick; none: nothing is led"),
    Section("winning", (_S,), "seat that wins the current trick as it stands"),
    Section("bids", (_S, NUM_BIDS + 2), "bid 0..17 of each seat, or `hidden` (made, sealed), or `not yet`"),
    Section("taken", (_S, MAX_HAND_SIZE + 1), "tricks 0..17 that each seat has taken"),
    Section(
        "need",
        (_S, MAX_NEED - MIN_NEED + 1),
        f"bid - taken of each seat whose bid the viewer knows, clipped to {MIN_NEED}..{MAX_NEED}",
    ),
    Section(
        "bid_sum",
        (2 * MAX_SUM_GAP + 1,),
        f"sum of the bids made less hand size, clipped to {-MAX_SUM_GAP}..{MAX_SUM_GAP}; none: bids are still sealed",
    ),
    Section("forbidden", (NUM_BIDS,), "the hook: the bid that the viewer, dealer and to bid, may not make"),
    Section("turn", (_S,), "seat to act; none: the match is over"),
    Section("dealer", (_S,), "seat of the dealer"),
    Section("players", (MAX_PLAYERS - MIN_PLAYERS + 1,), "players at the table, 3..7"),
    Section("hand_size", (MAX_HAND_SIZE,), "cards dealt to each seat, 1..17"),
    Section("tricks_left", (MAX_HAND_SIZE + 1,), "tricks not yet finished, 0..17"),
    Section("phase", (4,), "bidding, playing, hand over, match over"),
    Section("table", (3,), "rules of the table: bids are sealed; the hook is on; a card is turned for trump"),
)


def _offsets() -> tuple[dict[str, int], int]:
    offsets, at = {}, 0
    for section in SECTIONS:
        offsets[section.name] = at
        at += section.size
    return offsets, at


_AT, OBSERVATION_SIZE = _offsets()
LAYOUT: Mapping[str, slice] = MappingProxyType({s.name: slice(_AT[s.name], _AT[s.name] + s.size) for s in SECTIONS})
LAYOUT_HASH = hashlib.sha256(repr(SECTIONS).encode()).hexdigest()[:16]


def observation_layout(rules: Rules | None = None) -> Mapping[str, slice]:
    """Where each section of an observation stands: name -> slice. The same for every table of 3 to 7 players."""
    return LAYOUT


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
_MAX_GAP = 100
# How many thresholds a gap of -100..100 points reaches.
_GAPS_REACHED = np.array([sum(gap >= t for t in SCORE_GAPS) for gap in range(-_MAX_GAP, _MAX_GAP + 1)])


@jit
def encode(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Write what ``viewer`` (a seat) sees of a game into ``out[row]``; out is (N, OBSERVATION_SIZE) int8.

    Rows are passed as array and index throughout: a slice would count a reference, which costs more than a section.
    """
    for k in range(OBSERVATION_SIZE):
        out[row, k] = 0
    write_cards(game, table, viewer, out, row)
    write_match(game, table, viewer, out, row)
    write_trick(game, table, viewer, out, row)
    write_contracts(game, table, viewer, out, row)
    write_table(game, table, viewer, out, row)


@jit
def relative(seat: Int, viewer: Int, players: Int) -> Int:
    """How many seats to the left of the viewer a seat is."""
    distance = seat - viewer
    return distance if distance >= 0 else distance + players


# The sections before `turned` are stored whole, in ascending order, in widths of 32 and 64: what a store writes beyond
# its section is zero and is overwritten by the store that follows.
@jit
def write_cards(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Sections hand, unseen, played, voids."""
    players = table["players"]
    hand = game["hands"][viewer]
    seen = hand
    for seat in range(players):
        seen |= game["played"][seat]
    if game["turned"] != NONE:
        seen |= ONE << game["turned"]
    store_64(out, row, _HAND, hand)
    store_64(out, row, _UNSEEN, table["pack"] & ~seen)
    voids = np.int64(0)
    seat = viewer
    for k in range(players):
        store_64(out, row, _PLAYED + NUM_CARDS * k, game["played"][seat])
        voids |= np.int64(game["voids"][seat]) << (NUM_SUITS * k)
        seat = kernel.left_of(seat, players)
    store_32(out, row, _VOIDS, voids)


@jit
def write_match(game: Any, table: Any, viewer: Int, out: Any, row: Int) -> None:
    """Sections hands_left, score_gap."""
    players = table["players"]
    left = min(table["num_hands"] - 1 - game["hand"], MAX_HANDS_LEFT)
    store_32(out, row, _HANDS_LEFT, (ONE << left) - 1)
    seat = viewer
    for k in range(players - 1):
        seat = kernel.left_of(seat, players)
        gap = np.int64(np.floor(game["scores"][viewer] - game["scores"][seat]))
        reached = _GAPS_REACHED[clamp(gap, -_MAX_GAP, _MAX_GAP) + _MAX_GAP]
        store_32(out, row, _SCORE_GAP + _NUM_GAPS * k, (ONE << reached) - 1)


@jit
def put(out: Any, row: Int, index: Int, one: bool) -> None:
    """A zero or a one at an index; the unsigned index spares the check for a negative one."""
    out[row, np.uint64(index)] = one


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
        place = kernel.left_of(place, players)


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
        seat = kernel.left_of(seat, players)
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
    out[row, _TABLE] = table["sealed"]
    out[row, _TABLE + 1] = table["hook"]
    out[row, _TABLE + 2] = table["turn_up"]


@jit
def blind(games: Any, i: Int, viewer: Int, table: Any, views: Any, j: Int) -> None:
    """Copy game i to ``views[j]`` without what ``viewer`` may not know: other hands, sealed bids, deck, seed, stream.

    `encode` makes the same of the copy as of the game. A sealed bid reads SEALED, another seat's options are empty.
    """
    views[j] = games[i]
    view = views[j]
    sealed = table["sealed"] == 1 and view["phase"] == BID
    view["seed"] = 0
    view["stream"] = 0
    for k in range(NUM_CARDS):
        view["deck"][k] = NONE
    for seat in range(table["players"]):
        if seat != viewer:
            view["hands"][seat] = 0
            if sealed and view["bids"][seat] != NONE:
                view["bids"][seat] = SEALED
    if view["player"] != viewer:
        view["legal"] = 0


def decode(observation: NDArray[np.int8]) -> dict[str, Any]:
    """An observation's facts in plain Python, by section name.

    Card sections become lists of card numbers, one-hot rows a number or None, per-seat sections a list with one entry
    for each player, relative seats first to last. A bid is a number, ``"hidden"`` or None (not yet). ``trump`` is a
    suit 0..3 or None. ``score_gap`` holds for each other seat the (lowest, highest) gap in points that the bits allow.

    Raises:
        ValueError: if the array is not an observation of this layout.
    """
    vector = np.asarray(observation)
    if vector.shape != (OBSERVATION_SIZE,) or not np.isin(vector, (0, 1)).all():
        raise ValueError(f"an observation is {OBSERVATION_SIZE} zeros and ones; got shape {vector.shape}")
    parts = {s.name: vector[LAYOUT[s.name]].reshape(s.shape) for s in SECTIONS}
    players = _one(parts["players"], "players")
    if players is None:
        raise ValueError("section 'players' is empty: this is not an observation")
    players += MIN_PLAYERS
    facts: dict[str, Any] = {"players": players}
    for section in SECTIONS:
        if section.name not in facts:
            facts[section.name] = _DECODERS[section.name](parts[section.name][: _rows(section, players)], section.name)
    facts["hand_size"] += 1
    return facts


def _rows(section: Section, players: int) -> int:
    per_seat = len(section.shape) == 2
    return players - (section.name == "score_gap") if per_seat else section.shape[0]


def _one(row: NDArray[np.int8], name: str) -> int | None:
    ones = np.flatnonzero(row)
    if len(ones) > 1:
        raise ValueError(f"section {name!r} has {len(ones)} ones where it may have one")
    return int(ones[0]) if len(ones) else None


def _many(row: NDArray[np.int8], name: str) -> list[int]:
    return [int(k) for k in np.flatnonzero(row)]


def _each(decoder: Callable[[NDArray[np.int8], str], Any]) -> Callable[[NDArray[np.int8], str], list[Any]]:
    return lambda rows, name: [decoder(row, name) for row in rows]


def _trick_card(row: NDArray[np.int8], name: str) -> int | None:
    suit, rank = _one(row[:NUM_SUITS], name), _one(row[NUM_SUITS:], name)
    return None if suit is None or rank is None else card_id(suit, rank)


def _bid(row: NDArray[np.int8], name: str) -> int | str | None:
    bid = _one(row, name)
    return {HIDDEN: "hidden", NOT_YET: None}.get(bid, bid) if bid is not None else None


def _shifted(by: int) -> Callable[[NDArray[np.int8], str], int | None]:
    def decoder(row: NDArray[np.int8], name: str) -> int | None:
        index = _one(row, name)
        return None if index is None else index + by

    return decoder


def _gap(row: NDArray[np.int8], name: str) -> tuple[float, float]:
    reached = int(row.sum())
    below = SCORE_GAPS[reached] if reached < len(SCORE_GAPS) else np.inf
    return (SCORE_GAPS[reached - 1] if reached else -np.inf), below


def _suit(row: NDArray[np.int8], name: str) -> int | None:
    suit = _one(row, name)
    return None if suit == NO_TRUMP else suit


_DECODERS: dict[str, Callable[[NDArray[np.int8], str], Any]] = {
    "hand": _many,
    "unseen": _many,
    "played": _each(_many),
    "turned": _one,
    "trump": _suit,
    "trick": _each(_trick_card),
    "leader": _one,
    "led_suit": _one,
    "winning": _one,
    "voids": _each(_many),
    "bids": _each(_bid),
    "taken": _each(_one),
    "need": _each(_shifted(MIN_NEED)),
    "bid_sum": _shifted(-MAX_SUM_GAP),
    "forbidden": _one,
    "turn": _one,
    "dealer": _one,
    "hand_size": _one,
    "tricks_left": _one,
    "hands_left": lambda row, name: int(row.sum()),
    "score_gap": _each(_gap),
    "phase": lambda row, name: ("bid", "play", "hand over", "match over")[_one(row, name) or 0],
    "table": lambda row, name: dict(zip(("sealed", "hook", "turn_up"), map(bool, row), strict=True)),
}


def observation_text(observation: NDArray[np.int8]) -> str:
    """An observation as a person would read it, seats as you, left 1, left 2, ..."""
    facts = decode(observation)
    names = ["you", *(f"left {k}" for k in range(1, facts["players"]))]
    cards = _cards_text
    trump = "none" if facts["trump"] is None else SUIT_NAMES[facts["trump"]]
    if facts["turned"] is not None:
        trump += f" ({RANKS[facts['turned']]}{SUIT_SYMBOLS[facts['trump']]} turned up)"
    lines = [
        f"{facts['players']} players, hand of {facts['hand_size']}, {facts['tricks_left']} tricks left, "
        f"{facts['hands_left']} hands to follow; {facts['phase']}",
        f"trump {trump}; dealer {names[facts['dealer']]}; "
        + ("nobody to act" if facts["turn"] is None else f"to act {names[facts['turn']]}"),
        f"hand    {cards(facts['hand'])}",
        f"unseen  {cards(facts['unseen'])}",
    ]
    if facts["forbidden"] is not None:
        lines.append(f"forbidden bid {facts['forbidden']}")
    if facts["bid_sum"] is not None:
        lines.append(f"bids less tricks {facts['bid_sum']:+d}")
    for seat, name in enumerate(names):
        bid = {None: "-"}.get(facts["bids"][seat], facts["bids"][seat])
        line = f"{name:7} bid {bid}, taken {facts['taken'][seat]}"
        if facts["need"][seat] is not None:
            line += f", needs {facts['need'][seat]}"
        if facts["trick"][seat] is not None:
            line += f", in the trick {card_symbol(facts['trick'][seat])}"
            line += " (winning)" if facts["winning"] == seat else ""
        if facts["played"][seat]:
            line += f", played {cards(facts['played'][seat])}"
        if facts["voids"][seat]:
            line += ", void in " + ", ".join(SUIT_NAMES[suit] for suit in facts["voids"][seat])
        if seat:
            low, high = facts["score_gap"][seat - 1]
            line += f", you lead by {low:g} to under {high:g}"
        lines.append(line)
    return "\n".join(lines)


def _cards_text(cards: list[int]) -> str:
    return " ".join(card_symbol(card) for card in sorted(cards, reverse=True)) or "-"


def layout_table() -> str:
    """The layout as a Markdown table, as the README shows it."""
    lines = ["| section | entries | shape | a one means |", "| --- | --- | --- | --- |"]
    for section in SECTIONS:
        at = LAYOUT[section.name]
        shape = " x ".join(map(str, section.shape))
        lines.append(f"| `{section.name}` | {at.start}..{at.stop - 1} | {shape} | {section.meaning} |")
    return "\n".join(lines)
