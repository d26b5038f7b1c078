"""All-action regression: every option of a contested decision is played out from the true cards, and learned from.

At a decision of a self-play hand, each option that the policy thinks close to its best one is taken in a copy of the
game, and all seats play the copy out greedily. The copies have the same cards, so most of the luck cancels when options
are compared; over many hands the hidden cards have the right distribution given what the seat knows, since they are
those of the hand itself. The policy's outputs, centred over these options, are regressed to the old outputs plus the
centred returns:

    minimise  1/2 w sum_options (centred(output - old output) - centred return)^2,  w = 1 / (predicted variance + floor)

A head on the (detached) trunk predicts the sum of the squared returns, by its Gaussian likelihood; where the deal's
luck is large, a decision counts for little.

The policy that plays is the one that the run starts from, all the run long: so the data do not depend on what is
learned. At the end the step is chosen: old + k (average - old), with the k that is best on held-out positions, and the
result must be ahead of the old policy on fresh deals; otherwise the old one is what the run ships. The next round is a
run that starts from this one's checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from torch import Tensor, nn

from ohhell_env.arena.returns import write_returns
from ohhell_env.bots.base import Bot
from ohhell_env.bots.policy.bot import META, PolicyBot, find_checkpoint, load_checkpoint
from ohhell_env.bots.policy.network import FrozenNetwork
from ohhell_env.files import write_whole
from ohhell_env.kernel.state import HAND_OVER
from ohhell_env.simulator import Simulator
from training.learning.all_action_collector import AllActionCollector
from training.learning.collector import (
    Collector,
    Experience,
    Seats,
    Tables,
)
from training.learning.config import Config
from training.learning.learner import Learner, Metrics
from training.learning.network import ActorCritic, PolicyNetwork
from training.learning.tables import take_actions

FLOOR = 0.02  # of the predicted variance, in squared units of return
HELD_OUT = 10**9  # number of the first iteration of held-out positions
FACTORS = (0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)  # of the step learned, that are tried


class WithSpread(ActorCritic):
    """A `PolicyNetwork` with a head for the variance of its options' returns; the trunk does not learn from it."""

    detached = True


def all_action_loss(outputs: Tensor, mask: Tensor, old: Tensor, returns: Tensor) -> tuple[Tensor, Metrics]:
    """The weighted regression of the change of the centred outputs to the centred returns, and the spread's likelihood.

    Args:
        outputs: (B, A + 1) float, and in the last column the logarithm of the predicted sum of squared returns.
        mask: (B, A) bool, the options that were tried, two or more.
        old: (B, A) float, the outputs of the policy that played.
        returns: (B, A) float, centred over the options; 0 elsewhere.

    Returns:
        The loss, and regression_loss, variance_loss, and correlation: of the change and the returns, weighted. On data
        that are met once, it is that on held-out data.
    """
    change = (outputs[:, :-1] - old).masked_fill(~mask, 0.0)
    change = (change - change.sum(1, keepdim=True) / mask.sum(1, keepdim=True)).masked_fill(~mask, 0.0)  # (B, A)
    squares = returns.square().sum(1)  # (B,)
    log_variance = outputs[:, -1].clamp(-12, 12)
    likelihood = 0.5 * (squares / log_variance.exp() + log_variance)  # (B,)
    weight = 1 / (log_variance.detach().exp() + FLOOR)
    regression = 0.5 * (weight * (change - returns).square().sum(1)).mean()
    variance_loss = likelihood.mean()
    with torch.no_grad():
        both, of_change, of_returns = (
            (weight * product.sum(1)).mean() for product in (change * returns, change.square(), returns.square())
        )
        metrics = {
            "regression_loss": regression.detach(),
            "variance_loss": variance_loss.detach(),
            "correlation": both / (of_change * of_returns).clamp_min(1e-12).sqrt(),
        }
    return regression + variance_loss, metrics


class Selection(NamedTuple):
    """How a run's step was chosen.

    Attributes:
        factor: of the step from the old policy to the average of the weights; 0 where the gate was not passed.
        held_out: for each factor tried, what a held-out decision gains, in units of return.
        ahead: what the new policy is ahead by on fresh deals, a hand, in units of return; nan where it is the old one.
        half: half of its 95 % interval.
    """

    factor: float
    held_out: dict[float, float]
    ahead: float
    half: float


class AllAction(Learner):
    """Outputs are those of the checkpoint that the run starts from, moved by what its options brought."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        if not config.init_from:
            raise ValueError("learner='all-action' improves a policy: name it with --init-from")

    @property
    def outputs(self) -> Literal["logits", "values"]:
        meta = json.loads((find_checkpoint(self.config.init_from) / META).read_text(encoding="utf-8"))
        found: Literal["logits", "values"] = meta["outputs"]
        return found

    def network(self) -> PolicyNetwork:
        return WithSpread(self.config.width, self.config.depth, self.config.sections)

    def old(self) -> FrozenNetwork:
        """The policy that the run starts from, in the run's shape.

        Raises:
            ValueError: if it does not fit.
        """
        network = PolicyNetwork(self.config.width, self.config.depth, self.config.sections)
        given = load_checkpoint(find_checkpoint(self.config.init_from))[0]
        if not isinstance(given, FrozenNetwork):
            raise ValueError(
                f"init_from={self.config.init_from!r} is a fast policy; improve the one that it is made from"
            )
        network.take_weights(given)
        return network.frozen()

    def collector(
        self,
        rank: int = 0,
        processes: int = 1,
        tables: Tables | None = None,
        bots: Sequence[Bot] = (),
        seats: Seats | None = None,
        units: NDArray[np.float64] | None = None,
    ) -> Collector:
        old = self.old()
        player = load_checkpoint(find_checkpoint(self.config.student))[0] if self.config.student else old
        return AllActionCollector(self.config, rank, processes, tables, bots, seats, units, old, player)

    def arrays(self, experience: Experience, average: nn.Module) -> tuple[NDArray[Any], ...]:
        return experience.inputs, experience.mask, experience.outputs, experience.option_returns

    def loss(self, done: float, outputs: Tensor, *batch: Tensor) -> tuple[Tensor, Metrics]:
        return all_action_loss(outputs, *batch)

    def finish(self, average: PolicyNetwork, collector: Collector, console: Console) -> PolicyNetwork:
        """The old policy moved by the best factor of the step learned, if that is ahead of it on fresh deals."""
        old = self.old()
        factor, gains = chosen_factor(self.config, old, average.frozen(), collector)
        ahead = half = float("nan")
        if factor:
            moved = PolicyBot(moved_network(old, average.frozen(), factor))
            returns = duel(moved, PolicyBot(old), collector, self.config.gate_deals, self.config.seed)
            ahead, half = float(returns.mean()), float(1.96 * returns.std(ddof=1) / np.sqrt(len(returns)))
        told = ", ".join(f"{k:g}: {gain:+.4f}" for k, gain in gains.items())
        console.print(f"gain per held-out decision by factor of the step: {told}", highlight=False, soft_wrap=True)
        if factor:
            console.print(
                f"factor {factor:g} against the old policy on {self.config.gate_deals} fresh deals: {ahead:+.4f} "
                f"±{half:.4f} units of return per hand; {'it is kept' if ahead > 0 else 'the old policy stays'}",
                highlight=False, soft_wrap=True,
            )  # fmt: skip
        else:
            console.print("no step gains on held-out positions: the old policy stays; learn from more decisions")
        kept = factor if ahead > 0 else 0.0
        selection = Selection(kept, gains, ahead, half)
        write_whole(self.config.folder / "selection.json", json.dumps(selection._asdict(), indent=1) + "\n")
        network = self.network()
        network.take_weights(moved_network(old, average.frozen(), kept))
        return network


def moved_network(old: FrozenNetwork, new: FrozenNetwork, factor: float) -> FrozenNetwork:
    """The network at old + factor (new - old)."""
    tensors = {
        name: old.tensors[name] + np.float32(factor) * (new.tensors[name] - old.tensors[name]) for name in new.tensors
    }
    return FrozenNetwork(tensors, **old.describe())


def chosen_factor(
    config: Config, old: FrozenNetwork, new: FrozenNetwork, collector: Collector
) -> tuple[float, dict[float, float]]:
    """The factor that is best on held-out positions, and the mean gain of a decision for each.

    A decision gains what the option that is then the best of those tried brings more than the old policy's.
    """
    gains = dict.fromkeys(FACTORS, 0.0)
    decisions = 0
    for k in range(config.held_out_iterations):
        experience = collector.collect(nn.Identity(), HELD_OUT + k, 0.0)
        at = np.arange(len(experience.actions))
        for factor in FACTORS:
            outputs = moved_network(old, new, factor)(experience.inputs)
            best = np.where(experience.mask, outputs, -np.inf).argmax(axis=1)
            gains[factor] += float((experience.option_returns[at, best] - experience.returns).sum())
        decisions += len(at)
    gains = {factor: gain / max(decisions, 1) for factor, gain in gains.items()}
    return max(gains, key=gains.__getitem__), gains


def duel(candidate: Bot, opponent: Bot, collector: Collector, deals: int, seed: int) -> NDArray[np.float64]:
    """What the candidate is ahead by in one seat against the opponent in all others, on fresh deals.

    Returns:
        (deals,) float64, the mean over the seats, in units of return.
    """
    simulator, shares = collector._simulator, collector.shares
    random = np.random.default_rng((seed, HELD_OUT, 0, 1))
    numbers = random.choice(len(shares), deals, p=shares)
    players = simulator.tables["players"][numbers]
    deal = np.repeat(np.arange(deals), players)
    place = np.concatenate([np.arange(one) for one in players])
    games = Simulator(simulator.rules, len(deal), seed=0, observe=False, form=simulator.form)
    games.games["table"] = numbers[deal]
    games.reset(random.integers(2**62, 2**63, size=deals)[deal])
    active = np.arange(len(deal))
    while len(active):
        turns = games.games["player"][active] == place[active]
        for bot, chosen in ((candidate, active[turns]), (opponent, active[~turns])):
            if len(chosen):
                take_actions(games.games, games.tables, chosen, bot.act(games, chosen))
        active = active[games.games["phase"][active] != HAND_OVER]
    returns = np.zeros((len(deal), simulator.form.players))
    write_returns(games.games, games.tables, returns)
    own = returns[np.arange(len(deal)), place] / collector._units[numbers[deal]]
    ahead: NDArray[np.float64] = np.bincount(deal, own) / players
    return ahead
