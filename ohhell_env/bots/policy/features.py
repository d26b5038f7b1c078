"""What a policy network is fed: chosen sections of the observation and what a card player would work out from them.

Suits are relabelled so that trump is suit 0. The rules treat suits alike but for trump, so renaming them changes
nothing: a network that sees trump always as suit 0 and the others ordered by the viewer's holding learns one position
where it would meet up to 24. A relabelling is a number 0..23 that stands for a permutation of the suits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.kernel.jit import ONE, Int, below, jit, lowest, popcount
from ohhell_env.kernel.rulebook import action_of
from ohhell_env.kernel.standard import SUIT, beats
from ohhell_env.kernel.state import NO_TRUMP, NONE, PLAY, WIDE_NUM_ACTIONS
from ohhell_env.observation.sections import relative
from ohhell_env.observation.standard import LAYOUT, LAYOUT_HASH, OBSERVATION_SIZE, SECTIONS, encode_standard
from ohhell_env.rules.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from ohhell_env.rules.limits import MAX_PLAYERS

# One hand is played for its points, so the match's score is left out; `turn` and `phase` say nothing new to the seat
# to act, and `taken` is what `bids` and `need` leave of each other.
HAND_SECTIONS = tuple(s.name for s in SECTIONS if s.name not in ("hands_left", "score_gap", "taken", "turn", "phase"))

PERMUTATIONS: NDArray[np.int64] = np.array(list(permutations(range(NUM_SUITS))))  # [relabelling, suit] -> new label
NUM_RELABELLINGS = len(PERMUTATIONS)
IDENTITY = 0

# Relabellings that make each trump suit (or, in the last row, no trump) suit 0: _CHOICES[trump, :_NUM_CHOICES[trump]].
_NUM_CHOICES = np.array([6, 6, 6, 6, 24])
_CHOICES = np.zeros((NUM_SUITS + 1, NUM_RELABELLINGS), dtype=np.int64)
for _suit in range(NUM_SUITS):
    _CHOICES[_suit, :6] = np.flatnonzero(PERMUTATIONS[:, _suit] == 0)
_CHOICES[NO_TRUMP] = np.arange(NUM_RELABELLINGS)
# The relabelling that gives label 0 to suit a, 1 to b, 2 to c and 3 to the fourth: _BY_ORDER[a, b, c].
_BY_ORDER = np.zeros((NUM_SUITS,) * 3, dtype=np.int64)
for _number, _labels in enumerate(PERMUTATIONS):
    _BY_ORDER[tuple(np.argsort(_labels)[:3])] = _number

# LABELS[relabelling, action] is the action under its new name; bids keep theirs. Under the identity every action of the
# wide form does, too: values that are sorted by the actions' own names are read under it.
LABELS = np.tile(np.arange(WIDE_NUM_ACTIONS), (NUM_RELABELLINGS, 1))
LABELS[:, :NUM_CARDS] = (NUM_RANKS * PERMUTATIONS[:, :, None] + np.arange(NUM_RANKS)).reshape(NUM_RELABELLINGS, -1)

# Where suits stand in a row of a section: (entries a suit, first of them), for the sections that know suits.
_SUITED = {
    "hand": NUM_RANKS,
    "unseen": NUM_RANKS,
    "played": NUM_RANKS,
    "voids": 1,
    "trump": 1,
    "trick": 1,
    "led_suit": 1,
}


def relabelled_observation(relabelling: int) -> NDArray[np.int64]:
    """For each entry of an observation after a relabelling the entry that it comes from: (OBSERVATION_SIZE,)."""
    source = np.arange(OBSERVATION_SIZE)
    for section in SECTIONS:
        if section.name in _SUITED:
            width = _SUITED[section.name]
            rows = source[LAYOUT[section.name]].reshape(-1, section.shape[-1])
            old = rows.copy()
            for suit, label in enumerate(PERMUTATIONS[relabelling]):
                rows[:, width * label : width * (label + 1)] = old[:, width * suit : width * (suit + 1)]
    return source


def input_sources(sections: Sequence[str] = HAND_SECTIONS) -> NDArray[np.int16]:
    """For each relabelling and input of these sections the observation's entry that it is: (NUM_RELABELLINGS, D) int16.

    Raises:
        ValueError: if a section is not one of the observation.
    """
    if unknown := [name for name in sections if name not in LAYOUT]:
        raise ValueError(f"sections {unknown} are not in the observation; it has {', '.join(LAYOUT)}")
    wanted = np.concatenate([np.arange(LAYOUT[name].start, LAYOUT[name].stop) for name in sections])
    sources = [relabelled_observation(number)[wanted] for number in range(NUM_RELABELLINGS)]
    return np.array(sources, dtype=np.int16)


# Worked out from what the viewer sees: name, size, what a one means. Suits and cards under their new names.
DERIVED = (
    ("length", NUM_SUITS * (NUM_RANKS + 1), "cards 0..13 that the viewer holds of each suit"),
    ("unseen_length", NUM_SUITS * (NUM_RANKS + 1), "cards 0..13 unseen of each suit"),
    ("above", 3 * NUM_CARDS, "cards held over which 0, 1, 2 of their suit are unseen"),
    ("below", 2 * NUM_CARDS, "cards held under which 0, 1 of their suit are unseen"),
    ("legal", NUM_CARDS, "cards that may be played"),
    ("beats", NUM_CARDS, "cards that may be played and would be winning the trick so far"),
)
NUM_DERIVED = sum(size for _, size, _ in DERIVED)
_LENGTH, _UNSEEN_LENGTH, _ABOVE, _BELOW, _LEGAL, _BEATS = (
    sum(size for _, size, _ in DERIVED[:k]) for k in range(len(DERIVED))
)
INPUT_HASH = hashlib.sha256(repr((LAYOUT_HASH, [(name, size) for name, size, _ in DERIVED])).encode()).hexdigest()[:16]


@jit
def write_derived(game: Any, table: Any, viewer: Int, relabelling: Int, inputs: Any, row: Int, start: Int) -> None:
    """The sections of DERIVED into ``inputs[row, start:]``."""
    for j in range(NUM_DERIVED):
        inputs[row, np.uint64(start + j)] = 0
    hand = game["hands"][viewer]
    seen = hand
    for seat in range(table["players"]):
        seen |= game["played"][seat]
    if game["turned"] != NONE:
        seen |= ONE << game["turned"]
    unseen = table["deck_mask"] & ~seen
    for suit in range(NUM_SUITS):
        label = PERMUTATIONS[relabelling, suit]
        held, out = (hand >> (NUM_RANKS * suit)) & SUIT, (unseen >> (NUM_RANKS * suit)) & SUIT
        row_of_lengths = start + label * (NUM_RANKS + 1)
        inputs[row, np.uint64(row_of_lengths + _LENGTH + popcount(held))] = 1
        inputs[row, np.uint64(row_of_lengths + _UNSEEN_LENGTH + popcount(out))] = 1
        while held:
            rank = lowest(held)
            held &= held - 1
            at = start + NUM_RANKS * label + rank
            above, below = popcount(out >> rank), popcount(out & ((ONE << rank) - 1))
            if above < 3:
                inputs[row, np.uint64(at + _ABOVE + NUM_CARDS * above)] = 1
            if below < 2:
                inputs[row, np.uint64(at + _BELOW + NUM_CARDS * below)] = 1
            card = NUM_RANKS * suit + rank
            if game["phase"] == PLAY and game["player"] == viewer and (game["legal"] >> card) & 1:
                inputs[row, np.uint64(at + _LEGAL)] = 1
                if game["in_trick"] > 0 and beats(card, game["best"], game["trump"]):
                    inputs[row, np.uint64(at + _BEATS)] = 1


@jit
def random_relabelling(trump: Int, stream: np.uint64) -> Int:
    """A uniformly random relabelling among those that make trump suit 0; among all of them where there is no trump."""
    return _CHOICES[trump, below(stream, _NUM_CHOICES[trump])]


@jit
def suit_holding(game: Any, viewer: Int, suit: Int) -> Int:
    """A suit's length and cards in the viewer's hand in one number: the longer, then the stronger, is the greater."""
    cards = (game["hands"][viewer] >> (NUM_RANKS * suit)) & SUIT
    return (np.int64(popcount(cards)) << NUM_RANKS) | cards


@jit
def suit_marks(game: Any, players: Int, viewer: Int, suit: Int) -> Int:
    """Who is void in a suit and whose card in the trick is of it, by relative seat, in one number."""
    marks = np.int64(0)
    for seat in range(players):
        marks |= ((np.int64(game["voids"][seat]) >> suit) & 1) << relative(seat, viewer, players)
    first = game["num_plays"] - game["in_trick"]
    for k in range(game["in_trick"]):
        if game["plays"][first + k] // NUM_RANKS == suit:
            marks |= ONE << (MAX_PLAYERS + k)
    return marks


@jit
def comes_first(game: Any, table: Any, viewer: Int, a: Int, b: Int) -> bool:
    """Whether suit a goes before suit b in the order of play: by all that the viewer sees of them, never by name."""
    one, other = suit_holding(game, viewer, a), suit_holding(game, viewer, b)
    if one != other:
        return bool(one > other)
    players = table["players"]
    for k in range(players):
        seat = viewer + k if viewer + k < players else viewer + k - players
        one = (game["played"][seat] >> (NUM_RANKS * a)) & SUIT
        other = (game["played"][seat] >> (NUM_RANKS * b)) & SUIT
        if one != other:
            return bool(one > other)
    one, other = suit_marks(game, players, viewer, a), suit_marks(game, players, viewer, b)
    if one != other:
        return bool(one > other)
    deck = table["deck_mask"]  # a short deck may treat its suits unequally
    return bool((deck >> (NUM_RANKS * a)) & SUIT > (deck >> (NUM_RANKS * b)) & SUIT)


@jit
def canonical_relabelling(game: Any, table: Any, viewer: Int) -> Int:
    """Trump to suit 0, the others by the viewer's holding; suits that cannot be told apart stay in their order."""
    a, b, c, d = np.int64(0), np.int64(1), np.int64(2), np.int64(3)
    trump = game["trump"]
    # A sorting network of five exchanges.
    if goes_before(game, table, viewer, trump, b, a):
        a, b = b, a
    if goes_before(game, table, viewer, trump, d, c):
        c, d = d, c
    if goes_before(game, table, viewer, trump, c, a):
        a, c = c, a
    if goes_before(game, table, viewer, trump, d, b):
        b, d = d, b
    if goes_before(game, table, viewer, trump, c, b):
        b, c = c, b
    return _BY_ORDER[a, b, c]


@jit
def goes_before(game: Any, table: Any, viewer: Int, trump: Int, a: Int, b: Int) -> bool:
    """As `comes_first`, with trump before everything."""
    if a == trump or b == trump:
        return bool(a == trump)
    return comes_first(game, table, viewer, a, b)


@jit
def write_input(
    game: Any, table: Any, viewer: Int, relabelling: Int, sources: Any, observation: Any, inputs: Any, row: Int
) -> None:
    """The network's input for a seat into ``inputs[row]``, (N, D) int8; ``observation`` is a row of scratch space."""
    encode_standard(game, table, viewer, observation, 0)
    for j in range(sources.shape[1]):
        inputs[row, j] = observation[0, np.uint64(sources[relabelling, j])]
    write_derived(game, table, viewer, relabelling, inputs, row, sources.shape[1])


@jit
def best_action(game: Any, values: Any, row: Int, relabelling: Int) -> Int:
    """The legal action of the greatest value in ``values[row]``, (N, NUM_ACTIONS) under the new names."""
    rest = game["legal"]
    best = np.int64(-1)
    while rest:
        action = action_of(game, lowest(rest))
        if best < 0 or values[row, LABELS[relabelling, action]] > values[row, LABELS[relabelling, best]]:
            best = action
        rest &= rest - 1
    return best


@jit
def uniform(stream: np.uint64) -> float:
    """A random number 0 <= x < 1 from a stream's state."""
    return float(below(stream, ONE << 31) / 2147483648.0)


@jit
def softmax_over_legal(game: Any, values: Any, row: Int, relabelling: Int, temperature: float) -> Any:
    """What `chance_of` needs of ``values[row]``: the greatest value of a legal action, and the softmax's sum."""
    highest = values[row, LABELS[relabelling, best_action(game, values, row, relabelling)]]
    total = 0.0
    rest = game["legal"]
    while rest:
        label = LABELS[relabelling, action_of(game, lowest(rest))]
        total += np.exp((values[row, label] - highest) / temperature)
        rest &= rest - 1
    return highest, total


@jit
def chance_of(value: float, highest: float, total: float, temperature: float) -> Any:
    """The softmax's probability of a legal action of this value, by what `softmax_over_legal` returned."""
    return np.exp((value - highest) / temperature) / total


@jit
def sampled_action(game: Any, values: Any, row: Int, relabelling: Int, temperature: float, stream: np.uint64) -> Int:
    """A legal action with probability proportional to exp(value / temperature)."""
    highest, total = softmax_over_legal(game, values, row, relabelling, temperature)
    left = uniform(stream)
    action = np.int64(-1)
    rest = game["legal"]
    while rest:
        action = action_of(game, lowest(rest))
        left -= chance_of(values[row, LABELS[relabelling, action]], highest, total, temperature)
        if left < 0:
            return action
        rest &= rest - 1
    return action
