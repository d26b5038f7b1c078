"""Proximal policy optimisation (Schulman et al. 2017) with masked actions, as plain functions, and what it collects.

The network's logits are masked in the same way where actions are drawn and where they are learned from, by a
finite number: an illegal action has probability 0, and entropy and gradients stay finite.

The magnet is that of magnetic mirror descent (Sokota et al. 2023): the policy is drawn to one that follows it slowly.

Advantages are in tens of points and are not normalised, so that the entropy's weight is in them too: 0.01 is a tenth
of a point per nat.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ohhell_env.bots.policy.network import LOGIT_SCALE
from ohhell_env.kernel.jit import jit
from training.learning.collector import Collector, Experience, write_masks
from training.learning.learner import Learner, Metrics
from training.learning.network import ActorCritic, PolicyNetwork
from training.learning.optimisation import falling

MASKED = -1e9  # the logit of an action that is not legal
MAGNET_ROWS = 8192  # decisions that the magnet sees at once


def masked_log_probs(logits: Tensor, mask: Tensor) -> Tensor:
    """Log probabilities (B, A) float32 from logits (B, A) over the legal actions, mask (B, A) bool; others -1e9."""
    return torch.log_softmax(logits.float().masked_fill(~mask, MASKED), dim=1)


def entropies(log_probs: Tensor) -> Tensor:
    """Entropy (B,) in nats of each row of `masked_log_probs`."""
    return -(log_probs.exp() * log_probs).sum(dim=1)  # an illegal action adds 0 * -1e9


def divergences(log_probs: Tensor, others: Tensor) -> Tensor:
    """Kullback-Leibler divergence (B,) in nats of each row of `masked_log_probs` from that of another policy."""
    return (log_probs.exp() * (log_probs - others)).sum(dim=1)  # an illegal action adds 0 * 0


def ppo_loss(
    outputs: Tensor,
    actions: Tensor,
    mask: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    targets: Tensor,
    magnet: Tensor | None = None,
    *,
    clip_coef: float,
    vf_coef: float,
    ent_coef: float,
    magnet_coef: float = 0.0,
) -> tuple[Tensor, Metrics]:
    """The clipped objective, the value's squared error, the entropy's bonus and the magnet's pull in one loss.

    Args:
        outputs: (B, A + 1) float, logits and, in the last column, the value.
        actions: (B,) int64, relabelled actions.
        mask: (B, A) bool, legal actions.
        old_log_probs: (B,) float, of the actions when they were drawn.
        advantages: (B,) float.
        targets: (B,) float, for the value.
        magnet: (B, A) float, log probabilities of the policy that this one is drawn to; None for none.
        clip_coef: the ratio of an action's probabilities counts from 1 - clip_coef to 1 + clip_coef.
        vf_coef: of the value's squared error.
        ent_coef: of the mean entropy.
        magnet_coef: of the mean divergence from the magnet.

    Returns:
        The loss, and policy_loss, value_loss (both before they are weighted), entropy (nats), approx_kl (nats, from
        the policy that drew the actions, the estimator k3 of Schulman 2020) and clipfrac (share of the decisions whose
        ratio is beyond the clip).
    """
    log_probs = masked_log_probs(outputs[:, :-1], mask)  # (B, A)
    log_ratio = log_probs.gather(1, actions[:, None])[:, 0] - old_log_probs  # (B,)
    ratio = log_ratio.exp()  # (B,)
    clipped = ratio.clamp(1 - clip_coef, 1 + clip_coef)
    policy_loss = -torch.minimum(ratio * advantages, clipped * advantages).mean()
    value_loss = (outputs[:, -1] - targets).square().mean()
    entropy = entropies(log_probs).mean()
    loss = policy_loss + vf_coef * value_loss - ent_coef * entropy
    with torch.no_grad():
        metrics = {
            "policy_loss": policy_loss.detach(),
            "value_loss": value_loss.detach(),
            "entropy": entropy.detach(),
            "approx_kl": (ratio - 1 - log_ratio).mean(),
            "clipfrac": ((ratio - 1).abs() > clip_coef).float().mean(),
        }
    if magnet is not None:
        divergence = divergences(log_probs, magnet).mean()
        loss = loss + magnet_coef * divergence
        metrics["magnet_kl"] = divergence.detach()
    return loss, metrics


@jit
def write_advantages(
    hand: Any, seat: Any, values: Any, returns: Any, gae_lambda: float, following: Any, advantages: Any
) -> None:
    """As `generalised_advantages`; ``following`` (H, S) is scratch space of -1."""
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
    from the hand's return, which is the only reward.

    Args:
        hand: (N,) which hand; the decisions of one are in the order taken.
        seat: (N,) the seat that decided.
        values: (N,) at each decision.
        returns: (N,) the seat's return for the hand.
        gae_lambda: 0 for the next value alone, 1 for the hand's return alone.

    Returns:
        (N,) float32.
    """
    following = np.full((int(hand.max()) + 1, int(seat.max()) + 1), -1, dtype=np.int64)
    advantages = np.empty(len(hand), dtype=np.float32)
    write_advantages(hand, seat, values, returns, gae_lambda, following, advantages)
    return advantages


class PolicyCollector(Collector):
    """A `Collector` that plays the policy itself, and keeps its probabilities and values with each decision."""

    _critic = 1

    @property
    def _temperature(self) -> float:
        return 1.0  # the probabilities of the logits themselves

    def _allocate(self, capacity: int) -> None:
        super()._allocate(capacity)
        self._mask = np.empty((capacity, self._outputs), dtype=np.bool_)
        self._log_probs = np.empty(capacity, dtype=np.float32)

    def _evaluate(self, network: nn.Module, start: int, stop: int) -> NDArray[np.float32]:
        outputs = super()._evaluate(network, start, stop)  # (stop - start, A + 1)
        labels = self._labels
        write_masks(self._simulator.games, self._hand, labels, self._relabellings, start, stop, self._mask)
        return outputs

    def _keep(self, start: int, stop: int, outputs: NDArray[np.float32]) -> None:
        rows = slice(start, stop)
        logits, mask = torch.from_numpy(outputs[:, :-1]), torch.from_numpy(self._mask[rows])
        actions = torch.from_numpy(self._actions[rows, None])
        self._log_probs[rows] = masked_log_probs(logits, mask).gather(1, actions)[:, 0].numpy()
        self._values[rows] = outputs[:, -1]

    def _experience(self, count: int) -> Experience:
        return super()._experience(count)._replace(mask=self._mask[:count], log_probs=self._log_probs[:count])


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
        outputs = network(torch.from_numpy(experience.inputs[rows])).cpu()  # (B, A + 1)
        log_probs[rows] = masked_log_probs(outputs[:, :-1], torch.from_numpy(experience.mask[rows])).numpy()
    return log_probs


class PPO(Learner):
    """Outputs are logits, and one column more is the critic's value; actions are drawn by the policy itself."""

    output_scale = LOGIT_SCALE
    collector_type = PolicyCollector

    @property
    def outputs(self) -> Literal["logits", "values"]:
        return "logits"

    def network(self) -> PolicyNetwork:
        return ActorCritic(self.config.width, self.config.depth, self.config.sections)

    def arrays(self, experience: Experience, average: nn.Module) -> tuple[NDArray[Any], ...]:
        arrays = ppo_arrays(experience, self.config.gae_lambda)
        return (*arrays, magnet_log_probs(average, experience)) if self.config.magnet else arrays

    def loss(self, done: float, outputs: Tensor, *batch: Tensor) -> tuple[Tensor, Metrics]:
        return ppo_loss(
            outputs,
            *batch,
            clip_coef=self.config.clip_coef,
            vf_coef=self.config.vf_coef,
            ent_coef=falling(self.config.ent_coef, self.config.final_ent_coef, done),
            magnet_coef=self.config.magnet,
        )
