"""A learner: which network is trained, how it plays for experience, what is minimised, which figures it reports.

`train` knows learners by this interface alone; `learners` lists them. A learner holds the run's options and nothing
else, so that a run is resumed from its weights and counters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from torch import Tensor, nn

from ohhell_env.bots.base import Bot
from training.learning.collector import Collector, Experience, Seats, Tables
from training.learning.config import Config
from training.learning.network import PolicyNetwork

Metrics = dict[str, Tensor]  # figures of a minibatch by CleanRL's names, scalars without gradient


class Learner(ABC):
    """One way to learn from self-play.

    Args:
        config: the run's options.
    """

    output_scale: ClassVar[float] = 1.0  # a checkpoint's outputs times this are the network's
    collector_type: ClassVar[type[Collector]] = Collector

    def __init__(self, config: Config) -> None:
        self.config = config

    @property
    @abstractmethod
    def outputs(self) -> Literal["logits", "values"]:
        """What the network's outputs mean."""

    @abstractmethod
    def network(self) -> PolicyNetwork:
        """A new network; its weights are drawn from torch's random stream."""

    def collector(
        self,
        rank: int = 0,
        processes: int = 1,
        tables: Tables | None = None,
        bots: Sequence[Bot] = (),
        seats: Seats | None = None,
        units: NDArray[np.float64] | None = None,
    ) -> Collector:
        """What plays the run's hands; arguments as `Collector`."""
        return self.collector_type(self.config, rank, processes, tables, bots, seats, units)

    def exploration(self, done: float) -> float:
        """Share of decisions taken at random after this share of the run; 0 where the policy explores by itself."""
        return 0.0

    @abstractmethod
    def arrays(self, experience: Experience, average: nn.Module) -> tuple[NDArray[Any], ...]:
        """What an iteration learns from: the inputs, and the further arguments of `loss`, a row for each decision.

        Args:
            experience: the iteration's decisions.
            average: the network with the average of the weights as the iteration began.
        """

    @abstractmethod
    def loss(self, done: float, outputs: Tensor, *batch: Tensor) -> tuple[Tensor, Metrics]:
        """What is minimised, a mean over the minibatch, and the figures to report of it.

        Args:
            done: share of the run that is done, 0..1.
            outputs: (B, A) or (B, A + 1) float32, the network's.
            batch: rows of what `arrays` returns, after the inputs.
        """

    def finish(self, average: PolicyNetwork, collector: Collector, console: Console) -> PolicyNetwork:
        """What a run that is done ships: the average of the weights.

        Args:
            average: that network.
            collector: the run's.
            console: where to say what was chosen.
        """
        return average
