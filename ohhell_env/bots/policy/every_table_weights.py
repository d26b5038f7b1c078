"""Weights of a policy for tables of the standard form as weights of one for every table, of the same outputs there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.policy.every_table_layout import (
    BITS,
    HAND_ONLY,
    HAND_WORDS,
    MAX_COUNT,
    NUM_INPUTS,
    NUM_OUTPUTS,
    OUT_BID,
    SUIT_BITS,
    WORD,
    WORDS,
)
from ohhell_env.bots.policy.features import DERIVED, HAND_SECTIONS
from ohhell_env.observation.sections import MAX_NEED, MIN_NEED
from ohhell_env.observation.standard import LAYOUT
from ohhell_env.observation.wide import CHOICES, FLAGS, TRUMP_FROM
from ohhell_env.rules.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from ohhell_env.rules.limits import (
    MAX_HAND_SIZE,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_BIDS,
    WIDE_MIN_PLAYERS,
    WIDE_NUM_BIDS,
)

_CARDS = np.arange(NUM_CARDS)
_CARD_BITS = SUIT_BITS * (_CARDS // NUM_RANKS) + _CARDS % NUM_RANKS  # bit of a word of cards -> card 0..51


def same_inputs(sections: Sequence[str] = HAND_SECTIONS) -> NDArray[np.int64]:
    """Pairs (bit of the input for every table, entry of the input for the standard form) of one meaning: (K, 2).

    A bit may have two entries: of a card in the trick, its suit's and its rank's.

    Args:
        sections: those of the observation that the standard form's input is made of, as `PolicyNetwork` has them.
    """
    old, at = {}, 0
    for name, size in (
        *((name, LAYOUT[name].stop - LAYOUT[name].start) for name in sections),
        *((name, size) for name, size, _ in DERIVED),
    ):
        old[name] = at
        at += size
    pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []

    def add(name: str, new: object, entries: object) -> None:
        if name in old:
            bits, rest = np.broadcast_arrays(np.asarray(new, dtype=np.int64), np.asarray(entries, dtype=np.int64))
            pairs.append((bits.ravel(), old[name] + rest.ravel()))

    for name, number in (("hand", 1), ("unseen", 1), ("played", MAX_PLAYERS), ("above", 3), ("below", 2), ("legal", 1)):
        for k in range(number):
            add(name, WORD * (WORDS[name] + k) + _CARD_BITS, NUM_CARDS * k + _CARDS)
    add("beats", WORD * WORDS["winning_cards"] + _CARD_BITS, _CARDS)
    add("turned", WORD * WORDS["turned"] + _CARD_BITS, _CARDS % NUM_RANKS)
    for k in range(MAX_PLAYERS):
        bits, row = WORD * (WORDS["trick"] + k) + _CARD_BITS, (NUM_SUITS + NUM_RANKS) * k
        add("trick", bits, row + _CARDS // NUM_RANKS)
        add("trick", bits, row + NUM_SUITS + _CARDS % NUM_RANKS)
        bids = np.arange(NUM_BIDS + 2)
        classes = np.where(bids < NUM_BIDS, bids, bids - NUM_BIDS + WIDE_NUM_BIDS)  # hidden, and not yet
        add("bids", BITS["bids"] + (WIDE_NUM_BIDS + 2) * k + classes, (NUM_BIDS + 2) * k + bids)
    voids, needs = MAX_PLAYERS * NUM_SUITS, MAX_PLAYERS * (MAX_NEED - MIN_NEED + 1)
    for name, size in (
        ("voids", voids), ("need", needs), ("leader", MAX_PLAYERS), ("led_suit", NUM_SUITS), ("winning", MAX_PLAYERS),
        ("trump", NUM_SUITS + 1), ("bid_sum", LAYOUT["bid_sum"].stop - LAYOUT["bid_sum"].start),
        ("forbidden", NUM_BIDS), ("dealer", MAX_PLAYERS), ("hand_size", MAX_HAND_SIZE),
        ("tricks_left", MAX_HAND_SIZE + 1),
    ):  # fmt: skip
        add(name, BITS[name] + np.arange(size), np.arange(size))
    players = np.arange(MAX_PLAYERS - MIN_PLAYERS + 1)
    add("players", BITS["players"] + MIN_PLAYERS - WIDE_MIN_PLAYERS + players, players)
    turned = BITS["choices"] + list(CHOICES).index("trump_from") + TRUMP_FROM.index("turned")
    add("table", [BITS["flags"] + FLAGS.index("sealed"), BITS["flags"] + FLAGS.index("hook"), turned], [0, 1, 2])
    for name in ("length", "unseen_length"):
        for suit in range(NUM_SUITS):
            count = np.arange(NUM_RANKS + 1)
            add(name, BITS[name] + (MAX_COUNT + 1) * suit + count, (NUM_RANKS + 1) * suit + count)
    return np.stack([np.concatenate(part) for part in zip(*pairs, strict=True)], axis=1)


def same_outputs() -> NDArray[np.int64]:
    """Pairs (output for every table, output for the standard form) of one action: (NUM_ACTIONS, 2)."""
    bids = np.arange(NUM_BIDS)
    new, old = np.concatenate([_CARD_BITS, OUT_BID + bids]), np.concatenate([_CARDS, NUM_CARDS + bids])
    return np.stack([new, old], axis=1)


def for_every_table(
    tensors: Mapping[str, NDArray[np.float32]], sections: Sequence[str] = HAND_SECTIONS
) -> dict[str, NDArray[np.float32]]:
    """A standard policy's weights for the inputs and outputs of every table; what it has not met has weight 0.

    Args:
        tensors: as `network.FrozenNetwork` has them.
        sections: of the observation that it is fed.
    """
    first, head, bias = (tensors[name] for name in ("trunk.0.weight", "head.weight", "head.bias"))
    weight = np.zeros((len(first), NUM_INPUTS), dtype=np.float32)
    new, old = same_inputs(sections).T
    np.add.at(weight.T, new, first.T[old])
    outputs, biases = np.zeros((NUM_OUTPUTS, head.shape[1]), np.float32), np.zeros(NUM_OUTPUTS, np.float32)
    new, old = same_outputs().T
    outputs[new], biases[new] = head[old], bias[old]
    return {**tensors, "trunk.0.weight": weight, "head.weight": outputs, "head.bias": biases}


FIRST_LAYERS = ("trunk.0.weight", "first.weight")  # of networks for every table, and of fast ones


def with_match_inputs(tensors: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The weights of a network from before the match's sections with 0 for these; those of others as they are.

    Args:
        tensors: by name; the first layer's are (W, inputs), under names that end in one of `FIRST_LAYERS`.
    """
    found = dict(tensors)
    for name, tensor in tensors.items():
        if name.endswith(FIRST_LAYERS) and tensor.ndim == 2 and tensor.shape[1] == WORD * HAND_WORDS:
            found[name] = np.pad(tensor, ((0, 0), (0, NUM_INPUTS - tensor.shape[1])))
    return found


def for_hands_alone(tensors: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The weights of a network for every table with 0 for all that tells of other hands."""
    kept = np.unpackbits(HAND_ONLY.view(np.uint8), bitorder="little").astype(bool)
    return {
        name: np.where(kept, tensor, tensor.dtype.type(0)) if name.endswith(FIRST_LAYERS) else tensor
        for name, tensor in tensors.items()
    }
