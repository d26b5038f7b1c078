"""sb3-contrib: MaskablePPO learns a seat against random players, and is compared with random on the same hands.

python -m training.examples.sb3_maskable_ppo
"""

from __future__ import annotations

import numpy as np

from ohhell_env.adapters import missing_extra
from ohhell_env.adapters.sb3 import SeatVecEnv
from training.examples.margin import FIVE_CARDS, Margin, margin_over_random, quick_core

try:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecNormalize
except ImportError as error:
    raise missing_extra(error, "sb3") from error


def main(decisions: int = 400_000, opponents: str = "random", hands: int = 4000, seed: int = 1) -> Margin:
    """Train for so many decisions, then play so many hands."""
    envs = SeatVecEnv(64, rules=FIVE_CARDS, opponents=opponents, seat="rotate")
    model = MaskablePPO(
        "MlpPolicy",
        VecNormalize(envs, norm_obs=False, gamma=1.0),  # points are large numbers for a value head
        n_steps=48,
        batch_size=512,
        n_epochs=4,
        gamma=1.0,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [256, 256]},
        seed=seed,
        device="cpu",
    )
    model.learn(decisions)
    results = list(model.ep_info_buffer or ())
    print(f"last {len(results)} hands in training: {np.mean([result['r'] for result in results]):.2f} points per hand")
    margin = margin_over_random(
        lambda observation, masks: model.predict(observation, action_masks=masks, deterministic=True)[0], hands
    )
    print(margin)
    quick_core(model, "sb3_maskable_ppo")
    return margin


if __name__ == "__main__":
    import tyro

    tyro.cli(main)
