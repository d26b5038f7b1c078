"""From views of any form to the outputs of a network for every table, and back to the actions' own names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.policy.every_table import write_words
from ohhell_env.bots.policy.every_table_layout import NUM_WORDS
from ohhell_env.bots.policy.every_table_suits import labels_of, relabelling_of
from ohhell_env.kernel.jit import jit_apart
from ohhell_env.kernel.state import form_of_records
from ohhell_env.kernel.widening import widened_actions, widened_games, widened_tables

Network = Callable[[NDArray[np.int64]], NDArray[np.float32]]  # (N, NUM_WORDS) -> (N, NUM_OUTPUTS)


@jit_apart
def encode_wide_views(views: Any, tables: Any, words: Any, relabellings: Any) -> None:
    """The input for the seat to act in each view of the wide form, suits in the order of play."""
    for j in range(views.shape[0]):
        view = views[j]
        table = tables[view["table"]]
        viewer = np.int64(view["player"])
        relabellings[j] = relabelling_of(view, table, viewer)
        write_words(view, table, viewer, relabellings[j], words, j)


class EveryTableEncoder:
    """Shows views to a network for every table. It remembers the tables that it last saw in the wide form."""

    def __init__(self) -> None:
        self._seen: NDArray[np.void] | None = None

    def outputs(self, network: Network, views: NDArray[np.void], tables: NDArray[np.void]) -> NDArray[np.float32]:
        """The network's outputs for each view, (N, actions of the views' form) float32, by the actions' own names.

        An action that the table does not have, as a card that is not in its deck, has the output of another.
        """
        if self._seen is not tables:
            self._wide = widened_tables(tables)
            labels = labels_of(self._wide)[:, :, widened_actions(form_of_records(views))]  # (T, 24, A)
            self._labels = np.maximum(labels, 0)
            self._seen = tables
        words = np.empty((len(views), NUM_WORDS), dtype=np.int64)
        relabellings = np.empty(len(views), dtype=np.int64)
        encode_wide_views(widened_games(views), self._wide, words, relabellings)
        labels = self._labels[views["table"], relabellings]  # (N, A)
        return np.take_along_axis(network(words), labels, axis=1)
