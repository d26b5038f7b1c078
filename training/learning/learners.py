"""The learners by name: the one list of them."""

from __future__ import annotations

from training.learning.all_action import AllAction
from training.learning.config import Config
from training.learning.dmc import DMC
from training.learning.learner import Learner
from training.learning.ppo import PPO

LEARNERS: dict[str, type[Learner]] = {"ppo": PPO, "dmc": DMC, "all-action": AllAction}


def learner_of(config: Config) -> Learner:
    """The learner that a run's options name."""
    return LEARNERS[config.learner](config)
