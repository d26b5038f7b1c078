"""What the all-action learner collects: contested decisions of self-play, and what each of their options brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ohhell_env.bots.base import Bot
from ohhell_env.bots.policy.fast import FastNetwork
from ohhell_env.bots.policy.features import IDENTITY, best_action, sampled_action
from ohhell_env.bots.policy.network import LOGIT_SCALE, FrozenNetwork
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import Int, jit_apart, lowest, next_state
from ohhell_env.kernel.state import HAND_OVER, PLAY
from training.learning.collector import (
    EXPLORATION,
    LEARNER,
    PAST,
    Collector,
    Experience,
    Seats,
    Tables,
    start_hands,
    write_decisions,
    write_masks,
)
from training.learning.config import Config

SAMPLED = 1 / LOGIT_SCALE  # temperature of the half of the hands that is not greedy up to the switch
SWITCHED = 0.7  # of the decisions that a hand may have: the latest that is drawn for the switch
CHUNK = 4096  # positions played out at once
_SWITCH = 4  # number of an iteration's random stream that draws when each hand becomes greedy
Player = FastNetwork | FrozenNetwork


@jit_apart
def take_drawn(games: Any, tables: Any, by_action: Any, hand: Any, temperatures: Any, streams: Any, start: Int) -> None:
    """An action in the game of each decision from row ``start`` on, the best one or at a temperature above 0 drawn."""
    for j in range(by_action.shape[0]):
        i = hand[start + j]
        game = games[i]
        streams[i] = next_state(streams[i])
        if temperatures[j] > 0:
            action = sampled_action(game, by_action, j, IDENTITY, temperatures[j], streams[i])
        else:
            action = best_action(game, by_action, j, IDENTITY)
        rulebook.apply(game, tables[game["table"]], action)


@jit_apart
def place_options(
    positions: Any, tables: Any, tried: Any, labels: Any, relabellings: Any, children: Any, parents: Any, outputs: Any
) -> None:
    """A copy of each position for each of its options that is tried, the option taken; which these are."""
    count = np.int64(0)
    for n in range(positions.shape[0]):
        rest = positions[n]["legal"]
        while rest:
            action = rulebook.action_of(positions[n], lowest(rest))
            rest &= rest - 1
            label = labels[positions[n]["table"], relabellings[n], action]
            if tried[n, label]:
                children[count] = positions[n]
                child = children[count]
                rulebook.apply(child, tables[child["table"]], action)
                parents[count] = n
                outputs[count] = label
                count += 1


@jit_apart
def force_on(games: Any, tables: Any, active: Any) -> Int:
    """Take forced actions up to the next choice; finished hands leave ``active``. Returns how many are left."""
    left = np.int64(0)
    for k in range(active.shape[0]):
        game = games[active[k]]
        rulebook.take_forced_actions(game, tables[game["table"]])
        if game["phase"] != HAND_OVER:
            active[left] = active[k]
            left += 1
    return left


@jit_apart
def take_best(games: Any, tables: Any, active: Any, values: Any, relabellings: Any) -> None:
    """The best action in each active game."""
    for j in range(active.shape[0]):
        game = games[active[j]]
        rulebook.apply(game, tables[game["table"]], best_action(game, values, j, relabellings[j]))


def play_out(player: Player, games: NDArray[np.void], tables: NDArray[np.void]) -> None:
    """Play each game's hand to its end, greedily in all seats."""
    if isinstance(player, FastNetwork):
        player.play_out(games, tables, 0.0, np.zeros(len(games), dtype=np.uint64))
        return
    active = np.arange(len(games))
    while left := force_on(games, tables, active):
        active = active[:left]
        values, relabellings = player.evaluate(games[active], tables)
        take_best(games, tables, active, values, relabellings)


def centred(values: NDArray[np.float32], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Each row's values minus their mean where the mask is; 0 elsewhere: (N, A)."""
    kept = np.where(mask, values, 0)
    found: NDArray[np.float32] = np.where(mask, kept - kept.sum(1, keepdims=True) / mask.sum(1, keepdims=True), 0)
    return found


class AllActionCollector(Collector):
    """A `Collector` of contested decisions, with the return of each of their options.

    The hands are played by the policy that the run starts from: half of them greedily, half with its own
    probabilities up to a decision drawn at random and greedily from there on. Decisions after the switch are kept where
    two options or more are close to the best one.

    Args:
        config, rank, processes, tables, bots, seats, units: as `Collector`.
        old: the policy that plays.
        player: plays the options out.
    """

    def __init__(
        self,
        config: Config,
        rank: int,
        processes: int,
        tables: Tables | None,
        bots: Sequence[Bot],
        seats: Seats | None,
        units: NDArray[np.float64] | None,
        old: FrozenNetwork,
        player: Player,
    ) -> None:
        super().__init__(config, rank, processes, tables, bots, seats, units)
        if isinstance(player, FastNetwork) and player.every_table != config.every_table:
            raise ValueError(
                f"student={config.student!r} has {'the' if player.every_table else 'not the'} input for every table, "
                f"and the run's policy has {'it' if config.every_table else 'that of the standard form'}; distil one "
                f"from {config.init_from!r}"
            )
        self._old, self._player = old, player

    @torch.no_grad()
    def collect(
        self, network: nn.Module, iteration: int, epsilon: float, frozen: FrozenNetwork | None = None
    ) -> Experience:
        """The contested decisions of an iteration's hands; neither network has a part in them."""
        games, tables = self.start(iteration).games, self._simulator.tables
        self._frozen = None
        whose = self._seats(iteration)
        whose[whose == LEARNER] = PAST
        self._frozen = self._old
        sampled, switch = self._switches(iteration)
        choices = np.zeros(len(games), dtype=np.int64)  # of each hand, so far
        streams = np.empty(len(games), dtype=np.uint64)
        start_hands(games, streams, EXPLORATION)
        active = np.arange(len(games))
        kept: list[tuple[NDArray[np.int64], NDArray[np.void], NDArray[np.float32], NDArray[np.bool_]]] = []
        mask = np.zeros((len(self._hand), self._outputs), dtype=np.bool_)
        start = 0
        while True:
            count = write_decisions(
                games, tables, active, streams, self.config.relabel == "canonical", self._sources, self._scratch,
                self._inputs, self._hand, self._seat, self._relabellings, start,
            )  # fmt: skip
            if count == 0:
                break
            active = active[:count]
            rows = slice(start, start + count)
            hand = self._hand[rows]
            self._who[rows] = whose[hand, self._seat[rows]]
            outputs = self._evaluate(network, start, start + count)
            write_masks(games, self._hand, self._labels, self._relabellings, start, start + count, mask)
            greedy = choices[hand] >= switch[hand]
            close = self._close(games["phase"][hand], outputs, mask[rows])
            wanted = np.flatnonzero(greedy & (self._who[rows] == PAST) & (close.sum(axis=1) > 1))
            kept.append((start + wanted, games[hand[wanted]], outputs[wanted], close[wanted]))
            choices[hand] += 1
            by_action = np.take_along_axis(outputs, self._labels_of(rows), axis=1)
            temperatures = np.where(greedy | ~sampled[hand], 0.0, SAMPLED)
            take_drawn(games, tables, by_action, self._hand, temperatures, streams, start)
            start += count
        kept_rows, positions, outputs, close = (np.concatenate(part) for part in zip(*kept, strict=True))
        return self._tried(start, kept_rows, positions, outputs, close)

    def _switches(self, iteration: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Whether each hand is sampled at first, and the number of the choice from which on it is greedy: (H,) each."""
        random = self._stream(iteration, _SWITCH)
        sampled = random.random(self.config.hands) < 0.5
        latest = SWITCHED * self._players() * (1 + self._simulator.games["hand_size"])
        switch = np.floor(random.random(self.config.hands)[self._share] * latest).astype(np.int64)
        return sampled[self._share], switch

    def _close(
        self, phases: NDArray[np.int16], outputs: NDArray[np.float32], mask: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """The legal options that are close to the best one: (B, A)."""
        margin = np.where(phases == PLAY, self.config.close_cards, self.config.close_bids)[:, None]
        legal = np.where(mask, outputs[:, : mask.shape[1]], -np.inf)
        close: NDArray[np.bool_] = legal >= legal.max(axis=1, keepdims=True) - margin
        return close & mask

    def _tried(
        self,
        count: int,
        rows: NDArray[np.int64],
        positions: NDArray[np.void],
        outputs: NDArray[np.float32],
        close: NDArray[np.bool_],
    ) -> Experience:
        """The experience of the decisions in some rows, their close options played out."""
        returns = np.zeros(close.shape, dtype=np.float32)
        for first in range(0, len(rows), CHUNK):
            part = slice(first, first + CHUNK)
            returns[part] = self._returns(positions[part], close[part], self._relabellings[rows[part]])
        whole = super()._experience(count)
        best = np.where(close, outputs, -np.inf).argmax(axis=1)  # (N,)
        returns, at = centred(returns, close), np.arange(len(rows))
        return whole._replace(
            inputs=self._inputs[rows],
            actions=best,
            returns=returns[at, best],
            hand=self._hand[rows],
            seat=self._seat[rows],
            values=centred(outputs, close)[at, best],
            mask=close,
            outputs=outputs,
            option_returns=returns,
        )

    def _returns(
        self, positions: NDArray[np.void], tried: NDArray[np.bool_], relabellings: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """What each option that is tried brings the seat to act, in units: (N, A); 0 for the others."""
        tables = self._simulator.tables
        children = np.empty(int(tried.sum()), dtype=positions.dtype)
        parents, outputs = np.empty((2, len(children)), dtype=np.int64)
        place_options(positions, tables, tried, self._labels, relabellings, children, parents, outputs)
        play_out(self._player, children, tables)
        returns = self._returns_of(children)
        found = np.zeros(tried.shape, dtype=np.float32)
        found[parents, outputs] = returns[np.arange(len(children)), positions["player"][parents]]
        return found
