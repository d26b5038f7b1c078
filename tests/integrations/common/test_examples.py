"""The examples with other libraries: seconds of training, no illegal action, rewards that add up to the true scores."""

from pathlib import Path

import numpy as np
import pytest
from libraries import library


def test_sb3_maskable_ppo_learns_a_seat() -> None:
    library("sb3_contrib")
    from training.examples.sb3_maskable_ppo import main

    margin = main(decisions=20_000, hands=1000)
    assert margin.illegal == 0
    assert margin.difference - margin.half_width > 0, "it beats random"


@pytest.mark.parametrize("dict_observation", [False, True])
def test_sb3s_vector_environment_tells_returns_that_are_the_scores(dict_observation: bool) -> None:
    library("sb3_contrib")
    from ohhell_env import Rules, SeatVectorEnv
    from ohhell_env.adapters.sb3 import SeatVecEnv

    rules = Rules(ramp=(3, 2, 1))
    arguments = {"rules": rules, "opponents": "random", "seat": "rotate", "dict_observation": dict_observation}
    envs, plain = SeatVecEnv(5, **arguments), SeatVectorEnv(5, **arguments)
    envs.seed(7)
    seen, (expected, _) = envs.reset(), plain.reset(seed=7)
    ended = 0
    for _ in range(40):
        for one in ("observation", "action_mask") if dict_observation else (slice(None),):
            assert np.array_equal(seen[one], expected[one])
        masks = np.stack(envs.env_method("action_masks"))
        assert np.array_equal(masks, plain.action_masks())
        actions = masks.argmax(axis=1)
        seen, rewards, dones, infos = envs.step(actions)
        expected, reward, over, _, told = plain.step(actions)
        assert np.array_equal(rewards, reward) and np.array_equal(dones, over)
        for i in np.flatnonzero(over):
            ended += 1
            assert infos[i]["episode"]["r"] == infos[i]["score"] == told["final_info"]["score"][i]
            assert infos[i]["episode"]["l"] == sum(rules.hand_sizes) + rules.num_hands
    assert ended >= 15


@pytest.mark.filterwarnings("ignore:.*the match ends here")  # it tries illegal actions
def test_sb3s_own_check_passes_on_the_seat_environment() -> None:
    library("sb3_contrib")
    from stable_baselines3.common.env_checker import check_env

    from ohhell_env import SeatEnv

    check_env(SeatEnv())


def test_sb3_maskable_ppo_takes_the_single_seat_environment_too() -> None:
    sb3 = library("sb3_contrib")
    from ohhell_env import Rules, SeatEnv

    for dict_observation, policy in ((False, "MlpPolicy"), (True, "MultiInputPolicy")):
        # Without an illegal reward an illegal action raises.
        env = SeatEnv(Rules(ramp=(2,)), opponents="random", illegal_reward=None, dict_observation=dict_observation)
        sb3.MaskablePPO(policy, env, n_steps=64, batch_size=64, device="cpu").learn(128)


@pytest.mark.parametrize("name", ["MaskablePPO", "PPO", "DQN"])
@pytest.mark.parametrize("dict_observation", [False, True])
def test_the_benchmark_plays_models_that_sb3_saved(name: str, dict_observation: bool, tmp_path: Path) -> None:
    library("sb3_contrib")
    import sb3_contrib
    import stable_baselines3

    from ohhell_env import Rules, SeatEnv, Simulator
    from ohhell_env.arena.bench.players import as_player
    from ohhell_env.simulator import observed

    env = SeatEnv(Rules(ramp=(2,)), opponents="random", dict_observation=dict_observation)
    make = getattr(sb3_contrib if name == "MaskablePPO" else stable_baselines3, name)
    model = make("MultiInputPolicy" if dict_observation else "MlpPolicy", env, device="cpu", seed=1)
    model.save(tmp_path / "model.zip")
    simulator = Simulator(Rules(ramp=(2,)), 32, seed=1)
    saved, loaded = as_player(str(tmp_path / "model.zip")), as_player(model)
    actions = saved.make(0).act(simulator)
    assert np.array_equal(actions, loaded.make(0).act(simulator))
    seen, masks = observed(simulator.games, simulator.tables)
    assert masks[np.arange(32), actions].all()
    if name == "MaskablePPO":
        given = {"observation": seen, "action_mask": masks.astype(np.int8)} if dict_observation else seen
        assert np.array_equal(actions, model.predict(given, action_masks=masks, deterministic=True)[0])


def test_tianshou_dqn_plays_itself_at_the_aec_environment() -> None:
    library("tianshou")
    from training.examples.tianshou_dqn import main

    margin, returns, scores = main(decisions=2000, hands=300)
    assert margin.illegal == 0
    assert len(scores) == 32 and sorted(returns) == sorted(scores) and any(scores)


def test_torchrl_ppo_plays_itself_at_the_aec_environment() -> None:
    library("torchrl")
    from training.examples.torchrl_ppo import main

    margin, returns, scores = main(decisions=1600, hands=300)
    assert margin.illegal == 0
    assert returns.shape == (64, 4) and returns.equal(scores) and returns.any()


def test_torchrls_own_check_passes() -> None:
    library("torchrl")
    from torchrl.envs.utils import check_env_specs

    from ohhell_env import Rules
    from ohhell_env.adapters.torchrl import torchrl_env

    check_env_specs(torchrl_env(Rules(ramp=(2, 1))))


def test_torchrl_takes_the_simultaneous_form() -> None:
    library("torchrl")
    from torchrl.envs.libs.pettingzoo import PettingZooWrapper

    from ohhell_env import Rules, ohhell_v0

    env = PettingZooWrapper(env=ohhell_v0.parallel_env(Rules(ramp=(2, 1)), illegal_reward=None))
    rows = env.rollout(100)
    assert rows["next", "done"][-1].item()
    final = rows["next", "player"][-1]
    assert rows["next", "player", "reward"].sum(0).squeeze(-1).equal(final["info", "score"])


def test_the_loop_in_cleanrls_style_learns_a_seat() -> None:
    library("torch")
    from training.examples.cleanrl_ppo import main

    margin, returns, scores = main(decisions=20_000, hands=1000)
    assert margin.illegal == 0
    assert returns == scores and len(scores) > 3000
    assert margin.difference - margin.half_width > 0, "it beats random"
