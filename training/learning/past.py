"""Past policies of a run: the average of the weights at some iterations, kept in its folder, as opponents later on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors.numpy import save as tensor_bytes

from ohhell_env.bots.policy.network import FrozenNetwork, read_network
from ohhell_env.files import write_whole
from training.learning.network import PolicyNetwork

EVERY = 0.05  # of the run, from one that is kept to the next
FOLDER = "past"
_DRAW = 2  # number of an iteration's random stream that draws one of them


class PastPolicies:
    """Those that a run has kept.

    Args:
        folder: the run's.
        network: one of the same shape.
        iterations: numbers of the iterations after which they were kept; their files are read.

    Raises:
        ValueError: if a file is missing or damaged.
    """

    def __init__(self, folder: Path, network: PolicyNetwork, iterations: list[int]) -> None:
        self._folder = folder / FOLDER
        self.iterations = iterations
        self._networks = []
        for iteration in iterations:
            path = self._path(iteration)
            if not path.is_file():
                raise ValueError(f"{path} is missing: the run cannot continue as if never stopped")
            self._networks.append(read_network(path.read_bytes(), network.describe(), str(path)))

    def keep(self, iteration: int, network: PolicyNetwork, write: bool) -> None:
        """Keep a copy of the network as it is after an iteration; one process writes the file."""
        self.iterations.append(iteration)
        past = network.frozen()
        self._networks.append(past)
        if write:
            self._folder.mkdir(exist_ok=True)
            write_whole(self._path(iteration), tensor_bytes(past.tensors))

    def drawn(self, seed: int, iteration: int) -> FrozenNetwork | None:
        """The one that plays in an iteration; None while there is none."""
        if not self._networks:
            return None
        random = np.random.default_rng((seed, iteration, 0, _DRAW))
        return self._networks[random.integers(len(self._networks))]

    def _path(self, iteration: int) -> Path:
        return self._folder / f"{iteration:08d}.safetensors"
