"""Match equity: each seat's chance of winning a match, from the totals, the hands to come and who deals.

Points are compared in stakes, what making a bid is worth beyond missing it at a hand size, so that one small network
serves every scoring and direction. For each seat it makes a number from how the seat stands; a softmax over the seats
makes chances of them, which add up to one. After the last hand equity is the share of the win, exactly.
`training.equity` fits it to matches.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load

from ohhell_env.bots.policy.every_table import stake
from ohhell_env.kernel.jit import jit_apart
from ohhell_env.kernel.state import FIXED, GAME
from ohhell_env.kernel.widening import widened_games, widened_tables
from ohhell_env.rules.cards import NUM_SUITS

WEIGHTS = Path(__file__).with_name("equity.safetensors")
HIDDEN = 24  # units of each of the two layers
FEATURES = (
    *("lead / spread", "ahead of the mean / spread", "lead / stake", "log hands left", "1 / hands left"),
    *("players", "next size", "deals next", "bids first next", "deals last"),
    *("behind by over a stake", "behind", "level or ahead", "ahead", "ahead by over a stake"),
)
_STEPS = np.array([-1.02, -0.02, -1e-9, 0.02, 1.02])  # of the lead in stakes


def shapes() -> dict[str, tuple[int, ...]]:
    """Names and shapes of the weights, float32."""
    layers = ((HIDDEN, len(FEATURES)), (HIDDEN, HIDDEN), (1, HIDDEN))
    found: dict[str, tuple[int, ...]] = {}
    for k, shape in enumerate(layers):
        found |= {f"{k}.weight": shape, f"{k}.bias": shape[:1]}
    return found


@jit_apart
def _write_stakes(games: Any, tables: Any, fixed: Any, stakes: Any) -> None:
    for t in range(tables.shape[0]):
        table = tables[t]
        for hand in range(table["num_hands"]):
            games[0]["hand_size"] = table["hand_sizes"][hand]
            games[0]["special"] = table["specials"][hand]
            if fixed[t]:
                games[0]["trump"] = table["trumps"][hand]
                stakes[t, hand] = stake(games[0], table, np.int64(0))
                continue
            for suit in range(NUM_SUITS):
                games[0]["trump"] = suit
                stakes[t, hand] += stake(games[0], table, np.int64(0)) / NUM_SUITS


def stakes_of(tables: NDArray[np.void]) -> NDArray[np.float64]:
    """What making a bid is worth at each hand of each table's ramp: (T, H) float64, 0 beyond the ramp.

    In the mean of the suits where trump is not known before the deal.
    """
    wide = widened_tables(tables)
    stakes = np.zeros((len(wide), wide["hand_sizes"].shape[1]))
    game = widened_games(np.zeros(1, dtype=GAME))
    _write_stakes(game, wide, wide["trump_from"] == FIXED, stakes)
    return stakes


def features(
    tables: NDArray[np.void],
    stakes: NDArray[np.float64],
    numbers: NDArray[np.int64],
    hands: NDArray[np.int64],
    dealers: NDArray[np.int64],
    totals: NDArray[np.float64],
) -> NDArray[np.float32]:
    """How each seat stands: (N, S, len(FEATURES)) float32; anything for absent seats.

    Args:
        tables: (T,) of TABLE or WIDE_TABLE.
        stakes: of them, by `stakes_of`.
        numbers: (N,) of the tables.
        hands: (N,) hands that are over, fewer than the table has.
        dealers: (N,) seat that deals the next one.
        totals: (N, S) points so far.
    """
    table, seats = tables[numbers], np.arange(totals.shape[1])
    players = table["players"]
    here = seats < players[:, None]  # (N, S)
    sign = np.where(table["lowest"] == 1, -1.0, 1.0)
    worth = np.where(here, sign[:, None] * totals, -np.inf)
    top = np.sort(worth, axis=1)
    others = np.where(worth == top[:, -1:], np.where((worth == top[:, -1:]).sum(1, keepdims=True) > 1, top[:, -1:],
                      top[:, -2:-1]), top[:, -1:])  # fmt: skip
    present = np.where(here, worth, 0.0)
    mean = (present.sum(1, keepdims=True) - present) / (players - 1)[:, None]
    to_come = np.where(np.arange(stakes.shape[1]) >= hands[:, None], stakes[numbers], 0.0)  # (N, H)
    spread = np.sqrt(np.square(to_come).sum(1))[:, None]
    unit = stakes[numbers, hands][:, None]
    left = (table["num_hands"] - hands)[:, None]
    lead = np.where(here, present - others, 0.0)
    sizes = table["hand_sizes"][np.arange(len(numbers)), hands]
    place = (seats - dealers[:, None]) % players[:, None]
    last = (seats - dealers[:, None] - left + 1) % players[:, None]
    columns = [
        np.clip(lead / spread, -4, 4),
        np.clip((present - mean) / spread, -4, 4),
        np.clip(lead / unit, -6, 6) / 2,
        np.log(left) / 2,
        1.0 / left,
        (players - 4)[:, None] / 3,
        sizes[:, None] / 10,
        place == 0,
        place == 1,
        last == 0,
        *((lead / unit >= step) for step in _STEPS),
    ]
    return np.stack([np.broadcast_to(one, here.shape) for one in columns], axis=2).astype(np.float32)


class Equity:
    """The chance of each seat to win.

    Args:
        tensors: the weights, float32, by the names and shapes of `shapes`.

    Raises:
        ValueError: if they are others.
    """

    def __init__(self, tensors: Mapping[str, NDArray[np.float32]]) -> None:
        found = {name: (tensor.shape, str(tensor.dtype)) for name, tensor in tensors.items()}
        wanted = {name: (shape, "float32") for name, shape in shapes().items()}
        if found != wanted:
            raise ValueError(f"the weights of the match equity are {found}; expected {wanted}")
        self.tensors = dict(tensors)
        self._seen: tuple[NDArray[np.void], NDArray[np.float64]] | None = None

    def __call__(
        self,
        tables: NDArray[np.void],
        numbers: NDArray[np.int64],
        hands: NDArray[np.int64],
        dealers: NDArray[np.int64],
        totals: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Equity of each seat between two hands: (N, S) float64; 0 for absent seats. Arguments as `features`.

        After the last hand (``hands`` is then the number of all of them) it is the share of the win.
        """
        if self._seen is None or self._seen[0] is not tables:
            self._seen = tables, stakes_of(tables)
        table = tables[numbers]
        here = np.arange(totals.shape[1]) < table["players"][:, None]
        worth = np.where(here, np.where(table["lowest"] == 1, -1.0, 1.0)[:, None] * totals, -np.inf)
        wins = worth == worth.max(axis=1, keepdims=True)
        found: NDArray[np.float64] = wins / wins.sum(axis=1, keepdims=True)
        on = np.flatnonzero(hands < table["num_hands"])
        if len(on):
            given = features(tables, self._seen[1], numbers[on], hands[on], dealers[on], totals[on])
            found[on] = chances(self.logits(given), here[on])
        return found

    def logits(self, given: NDArray[np.float32]) -> NDArray[np.float32]:
        """(N, S, len(FEATURES)) -> (N, S)."""
        t, hidden = self.tensors, given
        for k in range(3):
            hidden = hidden @ t[f"{k}.weight"].T + t[f"{k}.bias"]
            hidden = np.maximum(hidden, 0) if k < 2 else hidden
        out: NDArray[np.float32] = hidden[:, :, 0]
        return out


def chances(logits: NDArray[np.float32], here: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A softmax over the seats that are there: (N, S) -> (N, S)."""
    raised = np.where(here, logits.astype(np.float64), -np.inf)
    weights = np.exp(raised - raised.max(axis=1, keepdims=True))
    found: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return found


@cache
def match_equity() -> Equity:
    """The one that is shipped.

    Raises:
        ValueError: if its file is damaged.
    """
    return Equity(load(WEIGHTS.read_bytes()))
