"""Fast policies for every table: as `fast`, with the input and outputs of `every_table_layout`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.policy.every_table import list_ones, write_words
from ohhell_env.bots.policy.every_table_layout import NUM_INPUTS, NUM_OUTPUTS, NUM_WORDS
from ohhell_env.bots.policy.every_table_suits import labels_of, relabelling_of
from ohhell_env.bots.policy.fast import FastNetwork, scratch_for
from ohhell_env.bots.policy.features import IDENTITY, best_action, sampled_action
from ohhell_env.bots.policy.vectors import add_clipped, dot, mix
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import Int, jit_apart, lowest, next_state
from ohhell_env.kernel.state import HAND_OVER, WIDE_GAME, WIDE_NUM_ACTIONS, form_of_records
from ohhell_env.kernel.widening import widened_actions, widened_games, widened_tables


@jit_apart
def judge(game: Any, table: Any, labels: Any, weights: Any, scratch: Any, values: Any, row: Int) -> None:
    """Outputs for the legal actions of the seat to act into ``values[row]``, (N, WIDE_NUM_ACTIONS) by their own names.

    The game is of the wide form; ``labels`` (24, WIDE_NUM_ACTIONS) is the output of each action under each relabelling
    at its table.
    """
    relabelling = relabelling_of(game, table, np.int64(game["player"]))
    write_words(game, table, np.int64(game["player"]), relabelling, scratch.words, 0)
    count = list_ones(scratch.words, 0, scratch.ones, 0)
    for block in range(weights.first.shape[0]):
        add_clipped(weights.first, block, scratch.ones, 0, count, weights.first_bias, scratch.hidden)
    mix(scratch.hidden, 0, weights.second, weights.second_bias, scratch.middle)
    rest = game["legal"]
    while rest:
        action = rulebook.action_of(game, lowest(rest))
        label = labels[relabelling, action]
        total = dot(scratch.middle, 0, weights.head, label) + weights.head_bias[label]
        values[row, action] = np.float32(total * weights.scale)
        rest &= rest - 1


@jit_apart
def judge_views(views: Any, tables: Any, labels: Any, weights: Any, scratch: Any, values: Any) -> None:
    """`judge` for each of some views, or games."""
    for j in range(views.shape[0]):
        number = views[j]["table"]
        judge(views[j], tables[number], labels[number], weights, scratch, values, j)


@jit_apart
def play_out(games: Any, tables: Any, labels: Any, weights: Any, scratch: Any, warmth: float, streams: Any) -> Int:
    """Play every game's hand to its end by a fast policy in all seats; how many decisions had a choice.

    Actions are drawn at a temperature ``warmth`` above 0, else the best ones are taken.
    """
    decisions = np.int64(0)
    for i in range(games.shape[0]):
        game = games[i]
        number = game["table"]
        table = tables[number]
        stream = streams[i]
        while game["phase"] != HAND_OVER:
            legal = game["legal"]
            if legal & (legal - 1) == 0:
                action = rulebook.action_of(game, lowest(legal))
            else:
                stream = next_state(stream)
                judge(game, table, labels[number], weights, scratch, scratch.values, 0)
                if warmth > 0:
                    action = sampled_action(game, scratch.values, 0, IDENTITY, warmth, stream)
                else:
                    action = best_action(game, scratch.values, 0, IDENTITY)
                decisions += 1
            rulebook.apply(game, table, action)
        streams[i] = stream
    return decisions


class FastEveryTableNetwork(FastNetwork):
    """A quantised network for every table; the arguments are those of `FastNetwork`.

    Its "first.weight" is (W, every_table_layout.NUM_INPUTS), its head has every_table_layout.NUM_OUTPUTS rows.
    """

    every_table = True
    num_inputs, num_outputs = NUM_INPUTS, NUM_OUTPUTS
    most_ones = 400

    def _rows(self) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
        return np.ascontiguousarray(self.tensors["first.weight"].T), self.tensors["first.bias"]

    def evaluate(
        self, views: NDArray[np.void], tables: NDArray[np.void]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Outputs of the legal actions in each view, (N, actions of the views' form) by the actions' own names.

        The outputs of other actions are 0, and every relabelling is IDENTITY.
        """
        wide, labels = self._shown(tables)
        values = np.zeros((len(views), WIDE_NUM_ACTIONS), dtype=np.float32)
        scratch = scratch_for(self.weights, NUM_WORDS, WIDE_NUM_ACTIONS)
        judge_views(widened_games(views), wide, labels, self.weights, scratch, values)
        own = np.ascontiguousarray(values[:, widened_actions(form_of_records(views))])
        return own, np.full(len(views), IDENTITY, dtype=np.int64)

    def play_out(
        self, games: NDArray[np.void], tables: NDArray[np.void], temperature: float, streams: NDArray[np.uint64]
    ) -> int:
        """As `FastNetwork.play_out`, for games of the wide form.

        Raises:
            ValueError: if they are of the standard form; `widened_games` makes wide ones of them.
        """
        if games.dtype != WIDE_GAME:
            raise ValueError("a network for every table plays out games of the wide form; see kernel.widening")
        wide, labels = self._shown(tables)
        scratch = scratch_for(self.weights, NUM_WORDS, WIDE_NUM_ACTIONS)
        return int(play_out(games, wide, labels, self.weights, scratch, float(temperature), streams))

    def _shown(self, tables: NDArray[np.void]) -> tuple[NDArray[np.void], NDArray[np.int64]]:
        """The tables in the wide form, and the output of each action there: (T, 24, WIDE_NUM_ACTIONS)."""
        if self._seen is None or self._seen[0] is not tables:
            wide = widened_tables(tables)
            self._seen = tables, wide, np.maximum(labels_of(wide), 0)
        return self._seen[1], self._seen[2]

    _seen: tuple[NDArray[np.void], NDArray[np.void], NDArray[np.int64]] | None = None
