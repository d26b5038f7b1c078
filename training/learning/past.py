"""Past policies of a run: the average of the weights at some iterations, kept in its folder, as opponents later on."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
from safetensors.torch import save as tensor_bytes

from ohhell_env.bots.policy.bot import fill_network
from ohhell_env.bots.policy.network import PolicyNetwork
from training.learning.checkpoint import write_atomically
from training.learning.network import TrainingNetwork

EVERY = 0.05  # of the run, from one that is kept to the next
FOLDER = "past"
_DRAW = 2  # number of an iteration's random stream that draws one of them


class PastPolicies:
    """Those that a run has kept.

    Args:
        folder: the run's.
        network: one of the same shape.
        iterations: numbers of the iterations after which they were kept; their files are read.
        bf16: as `TrainingNetwork`.

    Raises:
        ValueError: if a file is missing or damaged.
    """

    def __init__(self, folder: Path, network: PolicyNetwork, iterations: list[int], bf16: bool) -> None:
        self._folder = folder / FOLDER
        self._bf16 = bf16
        self.iterations = iterations
        self._networks = []
        for iteration in iterations:
            path = self._path(iteration)
            if not path.is_file():
                raise ValueError(f"{path} is missing: the run cannot go on as if never stopped")
            past = copy.deepcopy(network)
            fill_network(past, path.read_bytes(), str(path))
            self._networks.append(TrainingNetwork(past, bf16))

    def keep(self, iteration: int, network: PolicyNetwork, write: bool) -> None:
        """Keep a copy of the network as it is after an iteration; one process writes the file."""
        self.iterations.append(iteration)
        self._networks.append(TrainingNetwork(copy.deepcopy(network), self._bf16))
        if write:
            self._folder.mkdir(exist_ok=True)
            write_atomically(self._path(iteration), tensor_bytes(network.state_dict()))

    def drawn(self, seed: int, iteration: int) -> TrainingNetwork | None:
        """The one that plays in an iteration; None while there is none."""
        if not self._networks:
            return None
        random = np.random.default_rng((seed, iteration, 0, _DRAW))
        return self._networks[random.integers(len(self._networks))]

    def _path(self, iteration: int) -> Path:
        return self._folder / f"{iteration:08d}.safetensors"
