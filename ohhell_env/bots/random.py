"""The random player: uniform over legal actions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.base import Bot
from ohhell_env.kernel.jit import jit, stream_of
from ohhell_env.kernel.rulebook import random_action


@jit
def choose_random(views: Any, keys: Any, actions: Any) -> None:
    """A uniformly random legal action for each view."""
    for j in range(views.shape[0]):
        actions[j] = random_action(views[j], stream_of(keys[j], 0))


class RandomBot(Bot):
    """Uniform over legal actions."""

    def choose(self, views: NDArray[np.void], tables: NDArray[np.void], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        actions = np.empty(len(views), dtype=np.int64)
        choose_random(views, keys, actions)
        return actions
