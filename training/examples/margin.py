"""How much better than random a policy plays a seat: the same deals, the same opponents, the seat played by each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohhell_env import Rules, SeatVectorEnv
from ohhell_env.arena.bench.command import bench
from ohhell_env.arena.bench.protocol import HUNDRED, NAME, VERSION, ZERO
from ohhell_env.arena.intervals import Estimate

FIVE_CARDS = Rules(ramp=(5,))  # a match is a single hand of five cards

Choose = Callable[
    [NDArray[np.int8], NDArray[np.bool_]], NDArray[Any]
]  # observations (N, D), masks (N, A): actions (N,)


class Margin(NamedTuple):
    """Points per hand more than random, with its 95 % interval; illegal actions taken."""

    policy: float
    random: float
    difference: float
    half_width: float
    hands: int
    illegal: int

    def __str__(self) -> str:
        low, high = self.difference - self.half_width, self.difference + self.half_width
        return (
            f"{self.policy:.2f} points per hand, random with the same cards {self.random:.2f}: "
            f"{self.difference:+.2f}, 95 % interval {low:+.2f} to {high:+.2f} "
            f"({self.hands} hands, {self.illegal} illegal actions)"
        )


def margin_over_random(choose: Choose, hands: int = 4000, opponents: str = "random", seed: int = 10**9) -> Margin:
    """Play single five-card hands, four players, the seat moving, and each hand again with random in the seat."""
    rng = np.random.default_rng(seed)
    policy, illegal = scores(choose, hands, opponents, seed)
    random, _ = scores(lambda _, masks: np.argmax(masks * rng.random(masks.shape), axis=1), hands, opponents, seed)
    difference = policy - random
    half_width = 1.96 * float(difference.std(ddof=1)) / hands**0.5
    return Margin(float(policy.mean()), float(random.mean()), float(difference.mean()), half_width, hands, illegal)


def quick_core(player: Any, name: str) -> Estimate:
    """Print and return the core score of `ohhell bench --quick`, which can be compared between all examples.

    Args:
        player: a function as ``choose`` above, or a model that `bench` takes.
        name: what to call it.
    """
    score = bench(player, quick=True, tracks=["core"], name=name).score("core")
    print(f"{NAME} {VERSION} --quick, core: {score.text(digits=1)} ({ZERO} 0, {HUNDRED} 100)")
    return score


def scores(choose: Choose, hands: int, opponents: str, seed: int) -> tuple[NDArray[np.float64], int]:
    """The seat's score in each hand, and the number of illegal actions."""
    envs = SeatVectorEnv(hands, FIVE_CARDS, opponents=opponents, seat="rotate")
    observation, _ = envs.reset(seed=seed)
    returns, playing = np.zeros(hands), np.ones(hands, dtype=np.bool_)
    illegal = 0
    while playing.any():  # all hands have as many decisions, so nothing is played in vain
        observation, reward, over, _, infos = envs.step(choose(observation, envs.action_masks()))
        returns += reward * playing
        if over.any():
            illegal += int((infos["final_info"]["illegal"] & playing).sum())
            assert (returns == infos["final_info"]["score"])[over & playing & ~infos["final_info"]["illegal"]].all()
        playing &= ~over
    return returns, illegal
