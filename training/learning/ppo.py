"""Proximal policy optimisation (Schulman et al. 2017) with masked actions, as plain functions, and what it collects.

The network's logits are masked alike where actions are drawn and where they are learned from, by a finite number in
float32: an action that is not legal has probability 0, and entropy and gradients stay numbers.

The magnet is that of magnetic mirror descent (Sokota et al. 2023): the policy is drawn to one that follows it slowly.

Advantages are in tens of points and are not normalised, so that the entropy's weight is in them too: 0.01 is a tenth
of a point for a nat.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ohhell_env.bots.policy.features import LABELS
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import jit, lowest
from ohhell_env.kernel.rulebook import NUM_ACTIONS
from ohhell_env.rules.limits import MAX_PLAYERS
from training.learning.collector import LEARNER, Collector, Experience
from training.learning.config import Config
from training.learning.losses import falling

MASKED = -1e9  # the logit of an action that is not legal
MAGNET_ROWS = 8192  # decisions that the magnet sees at once


def masked_log_probs(logits: Tensor, mask: Tensor) -> Tensor:
    """Log probabilities (B, A) float32 from logits (B, A) over the legal actions, mask (B, A) bool; others -1e9."""
    return torch.log_softmax(logits.float().masked_fill(~mask, MASKED), dim=1)


def entropies(log_probs: Tensor) -> Tensor:
    """Entropy (B,) in nats of each row of `masked_log_probs`."""
    return -(log_probs.exp() * log_probs).sum(dim=1)  # an action that is not legal adds 0 * -1e9


def divergences(log_probs: Tensor, others: Tensor) -> Tensor:
    """Kullback-Leibler divergence (B,) in nats of each row of `masked_log_probs` from that of another policy."""
    return (log_probs.exp() * (log_probs - others)).sum(dim=1)  # an action that is not legal adds 0 * 0


def ppo_loss(
    outputs: Tensor,
    actions: Tensor,
    mask: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    targets: Tensor,
    magnet: Tensor | None = None,
    *,
    clip: float,
    value_weight: float,
    entropy_weight: float,
    magnet_weight: float = 0.0,
) -> Tensor:
    """The clipped objective, the value's squared error, the entropy's bonus and the magnet's pull in one loss.

    Args:
        outputs: (B, A + 1) float, logits and, in the last column, the value.
        actions: (B,) int64, relabelled actions.
        mask: (B, A) bool, legal actions.
        old_log_probs: (B,) float, of the actions when they were drawn.
        advantages: (B,) float.
        targets: (B,) float, for the value.
        magnet: (B, A) float, log probabilities of the policy that this one is drawn to; None for none.
        clip: the ratio of an action's probabilities counts from 1 - clip to 1 + clip.
        value_weight: of the value's squared error.
        entropy_weight: of the mean entropy.
        magnet_weight: of the mean divergence from the magnet.
    """
    log_probs = masked_log_probs(outputs[:, :-1], mask)  # (B, A)
    ratio = (log_probs.gather(1, actions[:, None])[:, 0] - old_log_probs).exp()  # (B,)
    clipped = ratio.clamp(1 - clip, 1 + clip)
    objective = torch.minimum(ratio * advantages, clipped * advantages).mean()
    error = (outputs[:, -1] - targets).square().mean()
    loss = -objective + value_weight * error - entropy_weight * entropies(log_probs).mean()
    return loss if magnet is None else loss + magnet_weight * divergences(log_probs, magnet).mean()


@jit
def write_advantages(
    hand: Any, seat: Any, values: Any, returns: Any, gae_lambda: float, following: Any, advantages: Any
) -> None:
    """As `generalised_advantages`; ``following`` (H, MAX_PLAYERS) is scratch space of -1."""
    for k in range(hand.shape[0] - 1, -1, -1):
        after = following[hand[k], seat[k]]
        if after < 0:
            advantages[k] = returns[k] - values[k]
        else:
            advantages[k] = values[after] - values[k] + gae_lambda * advantages[after]
        following[hand[k], seat[k]] = k


def generalised_advantages(
    hand: NDArray[np.int64],
    seat: NDArray[np.int64],
    values: NDArray[np.float32],
    returns: NDArray[np.float32],
    gae_lambda: float,
) -> NDArray[np.float32]:
    """Generalised advantage estimation (Schulman et al. 2016) along each seat's own decisions of a hand, gamma 1.

    A decision bootstraps from the value at the same seat's next one, whoever acts in between; the last one of a hand
    from what the hand brought, which is the only reward.

    Args:
        hand: (N,) which hand; the decisions of one are in the order taken.
        seat: (N,) the seat that decided.
        values: (N,) at each decision.
        returns: (N,) what the hand brought the seat.
        gae_lambda: 0 for the next value alone, 1 for the hand's return alone.

    Returns:
        (N,) float32.
    """
    following = np.full((int(hand.max()) + 1, MAX_PLAYERS), -1, dtype=np.int64)
    advantages = np.empty(len(hand), dtype=np.float32)
    write_advantages(hand, seat, values, returns, gae_lambda, following, advantages)
    return advantages


@jit
def write_masks(games: Any, hand: Any, relabellings: Any, start: int, stop: int, mask: Any) -> None:
    """Legal actions of decisions start..stop-1 under the relabelled suits: ``mask[row]``, (N, A) bool."""
    for row in range(start, stop):
        game = games[hand[row]]
        for action in range(mask.shape[1]):
            mask[row, action] = False
        rest = game["legal"]
        while rest:
            mask[row, LABELS[relabellings[row], rulebook.action_of(game, lowest(rest))]] = True
            rest &= rest - 1


class PolicyCollector(Collector):
    """A `Collector` that plays the policy itself, and keeps its probabilities and values with each decision."""

    _columns = NUM_ACTIONS + 1

    @property
    def _temperature(self) -> float:
        return 1.0  # the probabilities of the logits themselves

    def _allocate(self, capacity: int) -> None:
        super()._allocate(capacity)
        self._mask = np.empty((capacity, NUM_ACTIONS), dtype=np.bool_)
        self._log_probs = np.empty((capacity, NUM_ACTIONS), dtype=np.float32)
        self._values = np.empty(capacity, dtype=np.float32)

    def _evaluate(self, network: nn.Module, start: int, stop: int) -> NDArray[np.float32]:
        outputs = super()._evaluate(network, start, stop)  # (stop - start, A + 1)
        write_masks(self._simulator.games, self._hand, self._relabellings, start, stop, self._mask)
        rows = slice(start, stop)
        logits, mask = torch.from_numpy(outputs[:, :-1]), torch.from_numpy(self._mask[rows])
        self._log_probs[rows] = masked_log_probs(logits, mask).numpy()
        self._values[rows] = outputs[:, -1]
        return outputs

    def _experience(self, count: int) -> Experience:
        log_probs = self._log_probs[:count]
        return (
            super()
            ._experience(count)
            ._replace(
                values=self._values[:count],
                mask=self._mask[:count],
                log_probs=np.take_along_axis(log_probs, self._actions[:count, None], axis=1)[:, 0],
                entropy=float(entropies(torch.from_numpy(log_probs[self._who[:count] == LEARNER])).mean()),
            )
        )


def ppo_arrays(experience: Experience, gae_lambda: float) -> tuple[NDArray[Any], ...]:
    """What a pass of PPO goes through: inputs, and the arguments of `ppo_loss` after the outputs."""
    values = experience.values
    advantages = generalised_advantages(experience.hand, experience.seat, values, experience.returns, gae_lambda)
    return (
        experience.inputs, experience.actions, experience.mask, experience.log_probs, advantages, advantages + values,
    )  # fmt: skip


@torch.no_grad()
def magnet_log_probs(network: nn.Module, experience: Experience) -> NDArray[np.float32]:
    """What `masked_log_probs` are by another network, at all decisions: (N, A)."""
    log_probs = np.empty(experience.mask.shape, dtype=np.float32)
    for start in range(0, len(log_probs), MAGNET_ROWS):
        rows = slice(start, start + MAGNET_ROWS)
        outputs = network(torch.from_numpy(experience.inputs[rows]))  # (B, A + 1)
        log_probs[rows] = masked_log_probs(outputs[:, :-1], torch.from_numpy(experience.mask[rows])).numpy()
    return log_probs


def ppo_learner(
    config: Config, experience: Experience, done: float, average: nn.Module
) -> tuple[Callable[..., Tensor], tuple[NDArray[Any], ...]]:
    """The loss of an iteration, and the arrays that its passes go through.

    Args:
        config: the run's options.
        experience: the iteration's decisions.
        done: share of the run done.
        average: the average of the weights as the iteration began, the magnet.
    """
    loss_of = functools.partial(
        ppo_loss,
        clip=config.clip,
        value_weight=config.value_weight,
        entropy_weight=falling(config.entropy, config.final_entropy, done),
        magnet_weight=config.magnet,
    )
    arrays = ppo_arrays(experience, config.gae_lambda)
    return loss_of, (*arrays, magnet_log_probs(average, experience)) if config.magnet else arrays
