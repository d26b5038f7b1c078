"""CleanRL's style: masked PPO in one loop over the vector seat environment; then compared with random. PyTorch only.

python -m training.examples.cleanrl_ppo
"""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

import ohhell_env  # noqa: F401 registers OhHell-v0
from ohhell_env.adapters import missing_extra
from training.examples.margin import FIVE_CARDS, Margin, margin_over_random, quick_core

try:
    import torch
    from torch import nn
    from torch.distributions import Categorical
except ImportError as error:
    raise missing_extra(error, "train") from error

ENVS, STEPS, EPOCHS, PARTS = 64, 48, 4, 6
GAE_LAMBDA, CLIP, ENTROPY, VALUE = 0.95, 0.2, 0.01, 0.02  # gamma is 1: a match is short


class Result(NamedTuple):
    """The margin over random; and for the matches finished in training their rewards added up, and their scores."""

    margin: Margin
    returns: list[float]
    scores: list[float]


def network(inputs: int, outputs: int) -> nn.Sequential:
    """Two hidden layers."""
    layers = [nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, outputs)]
    return nn.Sequential(*layers)


def main(decisions: int = 400_000, hands: int = 4000, seed: int = 1) -> Result:
    """Train for so many decisions, then play so many hands."""
    torch.manual_seed(seed)
    envs = gymnasium.make_vec(
        "OhHell-v0",
        num_envs=ENVS,
        vectorization_mode="vector_entry_point",
        rules=FIVE_CARDS,
        opponents="random",
        seat="rotate",
    )
    assert isinstance(envs.single_action_space, gymnasium.spaces.Discrete)
    inputs, num_actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)  # type: ignore[index]
    actor, critic = network(inputs, num_actions), network(inputs, 1)
    weights = [*actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(weights, lr=5e-4, eps=1e-5)

    observations = torch.zeros((STEPS, ENVS, inputs))
    masks = torch.zeros((STEPS, ENVS, num_actions), dtype=torch.bool)
    actions = torch.zeros((STEPS, ENVS), dtype=torch.int64)
    log_probs, rewards, overs, values = (torch.zeros((STEPS, ENVS)) for _ in range(4))
    returns, scores, running = [], [], np.zeros(ENVS)

    def policy(observation: torch.Tensor, mask: torch.Tensor) -> Categorical:
        return Categorical(logits=actor(observation).masked_fill(~mask, -torch.inf))

    seen, infos = envs.reset(seed=seed)
    for _ in range(max(1, decisions // (STEPS * ENVS))):
        for t in range(STEPS):
            observations[t] = torch.from_numpy(seen)
            masks[t] = torch.from_numpy(infos["action_mask"])
            with torch.no_grad():
                chances = policy(observations[t], masks[t])
                actions[t] = chances.sample()
                log_probs[t] = chances.log_prob(actions[t])
                values[t] = critic(observations[t]).squeeze(-1)
            seen, reward, over, _, infos = envs.step(actions[t].numpy())
            rewards[t], overs[t] = torch.from_numpy(reward), torch.from_numpy(over)
            running += reward
            if over.any():
                returns += running[over].tolist()
                scores += infos["final_info"]["score"][over].tolist()
                running[over] = 0.0

        # Generalised advantages; `seen` is already the next match's where one ended.
        with torch.no_grad():
            after = critic(torch.from_numpy(seen).float()).squeeze(-1)
        advantages, ahead = torch.zeros_like(rewards), torch.zeros(ENVS)
        for t in reversed(range(STEPS)):
            on = 1 - overs[t]
            ahead = rewards[t] + on * (after + GAE_LAMBDA * ahead) - values[t]
            advantages[t], after = ahead, values[t]
        targets = advantages + values

        x, m, a = observations.flatten(0, 1), masks.flatten(0, 1), actions.flatten()  # (T * N, ..)
        old, adv, target = log_probs.flatten(), advantages.flatten(), targets.flatten()
        for _ in range(EPOCHS):
            for part in torch.randperm(len(x)).chunk(PARTS):
                chances = policy(x[part], m[part])
                ratio = (chances.log_prob(a[part]) - old[part]).exp()
                gain = (adv[part] - adv[part].mean()) / (adv[part].std() + 1e-8)
                policy_loss = -torch.min(gain * ratio, gain * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
                value_loss = (critic(x[part]).squeeze(-1) - target[part]).square().mean()
                # Categorical's own entropy is not a number where a logit is -inf.
                entropy = -(chances.probs * chances.logits.masked_fill(~m[part], 0.0)).sum(-1).mean()
                optimizer.zero_grad()
                (policy_loss + VALUE * value_loss - ENTROPY * entropy).backward()
                nn.utils.clip_grad_norm_(weights, 0.5)
                optimizer.step()

    def greedy(observation: NDArray[np.int8], mask: NDArray[np.bool_]) -> NDArray[Any]:
        with torch.no_grad():
            logits = actor(torch.from_numpy(observation).float()).numpy()
        return np.where(mask, logits, -np.inf).argmax(axis=1)

    margin = margin_over_random(greedy, hands)
    print(margin)
    quick_core(greedy, "cleanrl_ppo")
    return Result(margin, returns, scores)


if __name__ == "__main__":
    import tyro

    tyro.cli(main)
