"""Policy gradients: advantages by hand, masks, the clipped objective, what is collected, runs that go on."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file

import training.train
from ohhell_env.bots.policy.bot import PolicyBot, load_policy
from ohhell_env.kernel.rulebook import NUM_ACTIONS
from ohhell_env.rules.cards import NUM_CARDS
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
from training.learning.checkpoint import STATE
from training.learning.config import Config
from training.learning.network import ActorCritic, PolicyNetwork, TrainingNetwork
from training.learning.optimisation import gradient_step
from training.learning.ppo import (
    PPO,
    PolicyCollector,
    divergences,
    entropies,
    generalised_advantages,
    masked_log_probs,
    ppo_arrays,
    ppo_loss,
)
from training.train import train

TINY = {
    "players": (3, 4), "max_hand_size": 3, "width": 64, "depth": 1, "hands": 32, "minibatch_size": 128,
    "eval_minutes": 0.0, "precision": "fp32",
}  # fmt: skip
WEIGHTS = {"clip_coef": 0.2, "vf_coef": 0.5, "ent_coef": 0.01}


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def tiny(folder="unused", **options):
    return Config(folder=Path(folder), learner="ppo", **{**TINY, "decisions": 1000, "save_minutes": 0.0, **options})


def network(seed=0, width=64):
    torch.manual_seed(seed)
    return TrainingNetwork(ActorCritic(width, 1))


def advantages(decisions, gae_lambda):
    hand, seat, values, returns = zip(*decisions, strict=True)
    return generalised_advantages(
        np.array(hand), np.array(seat), np.array(values, np.float32), np.array(returns, np.float32), gae_lambda
    ).tolist()


# (hand, seat, value, what the hand brought the seat); seat 2 acts last in hand 0, and has one decision in hand 1.
DECISIONS = [
    (0, 1, 0.5, 1.0),
    (0, 2, 0.0, -1.0),
    (1, 2, 0.3, 0.2),
    (0, 1, 0.8, 1.0),
    (0, 2, -0.4, -1.0),
    (0, 1, 0.6, 1.0),
]


def test_an_advantage_bootstraps_from_the_same_seats_next_decision_whoever_acts_in_between():
    assert advantages(DECISIONS, 0) == pytest.approx([0.8 - 0.5, -0.4 - 0.0, 0.2 - 0.3, 0.6 - 0.8, -1 + 0.4, 1 - 0.6])


def test_with_lambda_1_an_advantage_is_the_hands_return_less_the_value():
    assert advantages(DECISIONS, 1) == pytest.approx([1 - 0.5, -1 - 0.0, 0.2 - 0.3, 1 - 0.8, -1 + 0.4, 1 - 0.6])


def test_advantages_fade_with_lambda():
    last, middle = 1 - 0.6, (0.6 - 0.8) + 0.9 * (1 - 0.6)
    expected = [(0.8 - 0.5) + 0.9 * middle, -0.4 + 0.9 * (-1 + 0.4), 0.2 - 0.3, middle, -1 + 0.4, last]
    assert advantages(DECISIONS, 0.9) == pytest.approx(expected)


def test_actions_that_are_not_legal_get_no_probability_and_add_no_entropy():
    logits = torch.tensor([[5.0, 0.0, 0.0, 9.0], [1.0, 2.0, 3.0, 4.0]], requires_grad=True)
    mask = torch.tensor([[False, True, True, False], [False, False, True, False]])
    log_probs = masked_log_probs(logits, mask)
    assert log_probs.exp().tolist() == [[0, 0.5, 0.5, 0], [0, 0, 1, 0]]
    assert entropies(log_probs).tolist() == pytest.approx([np.log(2), 0])
    (entropies(log_probs).sum() + log_probs[:, 2].sum()).backward()
    assert torch.isfinite(logits.grad).all() and (logits.grad[~mask] == 0).all()


def loss_at(logits, value=0.0, actions=(0,), old=(0.5,), advantage=(1.0,), target=(0.0,), **weights):
    outputs = torch.tensor([[*row, value] for row in logits], requires_grad=True)
    mask = torch.ones(len(logits), len(logits[0]), dtype=torch.bool)
    old_log_probs = torch.tensor(old).log()
    loss, _ = ppo_loss(
        outputs, torch.tensor(actions), mask, old_log_probs, torch.tensor(advantage), torch.tensor(target),
        **{"clip_coef": 0.2, "vf_coef": 0.0, "ent_coef": 0.0, **weights},
    )  # fmt: skip
    loss.backward()
    return loss.item(), outputs.grad


def test_the_objective_is_the_advantage_weighted_by_the_ratio_until_it_is_clipped():
    loss, gradient = loss_at([[0.0, 0.0]])
    assert loss == pytest.approx(-1) and gradient[0, :2].tolist() == pytest.approx([-0.5, 0.5])
    loss, gradient = loss_at([[0.0, 0.0]], old=(0.4,))  # 0.5 / 0.4 = 1.25: gone far enough
    assert loss == pytest.approx(-1.2) and (gradient == 0).all()
    loss, gradient = loss_at([[0.0, 0.0]], old=(0.4,), advantage=(-1.0,))  # gone the wrong way: all of it counts
    assert loss == pytest.approx(1.25) and gradient[0, 0] > 0
    loss, gradient = loss_at([[0.0, 0.0]], old=(0.9,), advantage=(-1.0,))
    assert loss == pytest.approx(0.8) and (gradient == 0).all()


def test_value_and_entropy_have_their_weights():
    loss, gradient = loss_at([[0.0, 0.0]], value=0.3, target=(0.5,), advantage=(0.0,), vf_coef=0.5)
    assert loss == pytest.approx(0.5 * 0.04) and gradient[0, 2].item() == pytest.approx(-0.2)
    loss, gradient = loss_at([[1.0, 0.0]], advantage=(0.0,), ent_coef=0.1)
    p = 1 / (1 + np.exp(-1))
    assert loss == pytest.approx(0.1 * (p * np.log(p) + (1 - p) * np.log(1 - p)))
    assert gradient[0, 0] > 0 > gradient[0, 1], "towards the middle"


def loss_with_magnet(logits, magnet, weight, **weights):
    outputs = torch.tensor([[*logits, 0.0]], dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[logit > -100 for logit in logits]])
    loss, _ = ppo_loss(
        outputs, torch.tensor([0]), mask, torch.zeros(1), torch.zeros(1), torch.zeros(1),
        masked_log_probs(torch.tensor([magnet]), mask),
        **{"clip_coef": 0.2, "vf_coef": 0.0, "ent_coef": 0.0, "magnet_coef": weight, **weights},
    )  # fmt: skip
    loss.backward()
    return loss.item(), outputs.grad[0, :-1]


def test_a_magnet_draws_the_policy_to_it_by_the_gradient_of_their_divergence():
    policy, magnet = torch.tensor([0.7, 0.2, 0.1]), torch.tensor([0.3, 0.3, 0.4])
    loss, gradient = loss_with_magnet(policy.log().tolist(), magnet.log().tolist(), 0.5)
    divergence = (policy * (policy / magnet).log()).sum()
    assert loss == pytest.approx(0.5 * divergence.item(), abs=1e-6)
    expected = 0.5 * policy * ((policy / magnet).log() - divergence)  # by hand, through the softmax
    assert gradient.tolist() == pytest.approx(expected.tolist(), abs=1e-6)


def test_a_magnet_is_without_pull_where_the_policy_is_at_it_and_on_actions_that_are_not_legal():
    loss, gradient = loss_with_magnet([0.3, -0.2, 1.0], [1.3, 0.8, 2.0], 1.0)
    assert loss == pytest.approx(0, abs=1e-6) and gradient.tolist() == pytest.approx([0, 0, 0], abs=1e-6)
    loss, gradient = loss_with_magnet([0.3, -1e9, 1.0], [1.3, 5.0, 0.0], 1.0)
    assert np.isfinite(loss) and loss > 0 and gradient[1] == 0 and gradient[0] < 0 < gradient[2]


def test_the_magnet_that_plays_at_random_is_the_bonus_for_entropy():
    _, drawn = loss_with_magnet([1.0, 0.5, -0.3], [0.0, 0.0, 0.0], 0.1)
    _, rewarded = loss_with_magnet([1.0, 0.5, -0.3], [0.0, 0.0, 0.0], 0.0, ent_coef=0.1)
    assert drawn.tolist() == pytest.approx(rewarded.tolist(), abs=1e-6) and drawn.abs().max() > 0.01


def test_the_magnet_of_an_iteration_is_the_average_of_the_weights_at_its_decisions(collected):
    _, experience = collected
    average = network(seed=9)
    learner = PPO(tiny(magnet=0.2))
    arrays = learner.arrays(experience, average)
    mask, magnet = torch.from_numpy(arrays[2]), torch.from_numpy(arrays[-1])
    expected = masked_log_probs(average(torch.from_numpy(experience.inputs)).detach()[:, :-1], mask)
    assert torch.allclose(magnet, expected, atol=1e-5)
    outputs = network()(torch.from_numpy(experience.inputs)).detach()
    rest = [torch.from_numpy(array) for array in arrays[1:]]
    loss, metrics = learner.loss(0.0, outputs, *rest)
    pull = loss - PPO(tiny()).loss(0.0, outputs, *rest)[0]
    assert metrics["magnet_kl"].item() == pytest.approx(pull.item() / 0.2, rel=1e-3)
    log_probs = masked_log_probs(outputs[:, :-1], mask)
    assert pull.item() == pytest.approx(0.2 * divergences(log_probs, magnet).mean().item(), rel=1e-3) and pull > 0


@pytest.fixture(scope="module")
def collected():
    torch.set_num_threads(1)
    collector = PolicyCollector(tiny(hands=64))
    trained = network()
    return trained, collector.collect(trained, 2, 0.0)


def batch_of(experience):
    return tuple(torch.from_numpy(array) for array in ppo_arrays(experience, 0.9))


def test_on_fresh_decisions_every_ratio_is_1(collected):
    trained, experience = collected
    inputs, actions, mask, old_log_probs, _, _ = batch_of(experience)
    log_probs = masked_log_probs(trained(inputs)[:, :-1], mask).gather(1, actions[:, None])[:, 0]
    assert torch.allclose(log_probs, old_log_probs, atol=1e-5)
    assert mask[torch.arange(len(actions)), actions].all() and (mask.sum(dim=1) > 1).all()
    assert (old_log_probs < 0).all()


def test_the_advantages_and_targets_are_those_of_the_values_at_collection(collected):
    trained, experience = collected
    values = trained(torch.from_numpy(experience.inputs))[:, -1].detach().numpy()
    assert experience.values == pytest.approx(values, abs=1e-5)
    expected = generalised_advantages(experience.hand, experience.seat, values, experience.returns, 0.9)
    _, _, _, _, advantage, target = ppo_arrays(experience, 0.9)
    assert advantage == pytest.approx(expected, abs=1e-5) and target == pytest.approx(expected + values, abs=1e-5)


def test_actions_are_drawn_with_the_probabilities_on_record():
    """First bids of the same one-card hand, many times."""
    trained = network()
    with torch.no_grad():
        trained.policy.head.weight.zero_()
        trained.policy.head.bias.zero_()
        trained.policy.head.bias[NUM_CARDS + 1] = 1.0
    collector = PolicyCollector(tiny(players=(3,), max_hand_size=1, hands=4096, hook=0.0))
    experience = collector.collect(trained, 0, 0.0)
    bid_1 = experience.actions == NUM_CARDS + 1
    assert bid_1.mean() == pytest.approx(1 / (1 + np.exp(-1)), abs=0.015)
    assert np.exp(experience.log_probs[bid_1]) == pytest.approx(1 / (1 + np.exp(-1)), abs=1e-6)


@pytest.mark.parametrize("forced", [False, True])
def test_the_gradient_is_finite_whether_or_not_some_decisions_have_a_single_legal_action(collected, forced):
    _, experience = collected
    inputs, actions, mask, old_log_probs, advantage, target = batch_of(experience)
    if forced:
        mask = mask.clone()
        mask[::3] = torch.nn.functional.one_hot(actions[::3], NUM_ACTIONS) == 1
        old_log_probs = torch.where(mask.sum(dim=1) == 1, 0.0, old_log_probs)
    trained = network()
    loss, _ = ppo_loss(trained(inputs), actions, mask, old_log_probs, advantage, target, **WEIGHTS)
    loss.backward()
    assert torch.isfinite(loss) and all(torch.isfinite(p.grad).all() for p in trained.parameters())
    never = ~mask.any(dim=0)
    assert never.any() and (trained.policy.head.bias.grad[never] == 0).all()


def test_steps_on_a_batch_make_good_actions_likelier_and_values_better(collected):
    _, experience = collected
    inputs, actions, mask, old_log_probs, advantage, target = batch_of(experience)
    trained = network()
    optimiser = torch.optim.Adam(trained.parameters(), lr=1e-3)

    def state():
        outputs = trained(inputs).detach()
        log_probs = masked_log_probs(outputs[:, :-1], mask).gather(1, actions[:, None])[:, 0]
        ratio = (log_probs - old_log_probs).exp()
        return (ratio * advantage).mean().item(), (outputs[:, -1] - target).square().mean().item()

    before = state()
    for _ in range(20):
        batch = (inputs, actions, mask, old_log_probs, advantage, target)
        gradient_step(trained, optimiser, batch, 1.0, lambda *given: ppo_loss(*given, **WEIGHTS))
    after = state()
    assert after[0] > before[0] and after[1] < before[1]


def test_a_run_stopped_after_every_iteration_ends_as_one_that_never_was(tmp_path, monkeypatch):
    class Always:
        asked = True

    config = tiny(tmp_path / "whole", decisions=700, update_epochs=2, magnet=0.05, past=0.3, past_from=0.2)
    train(config, Console(quiet=True))
    monkeypatch.setattr(training.train, "StopAfterIteration", Always)
    rows = len((tmp_path / "whole/progress.csv").read_text().splitlines()) - 1
    assert 3 < rows < 9
    for _ in range(rows):
        train(dataclasses.replace(config, folder=tmp_path / "stopped"), Console(quiet=True))
    whole, stopped = (load_file(tmp_path / name / STATE) for name in ("whole", "stopped"))
    assert whole.keys() == stopped.keys() and {"network.critic.bias", "exp_avg.critic.bias"} <= whole.keys()
    for name in whole:
        assert torch.equal(whole[name], stopped[name]), name


def test_a_checkpoint_holds_the_policy_and_plays_by_its_logits(tmp_path):
    average = train(tiny(tmp_path, decisions=10), Console(quiet=True))
    bot = load_policy(tmp_path / "checkpoint")
    assert set(bot.network.tensors) == set(PolicyNetwork(64, 1).state_dict()) and bot.meta["config"]["learner"] == "ppo"
    simulator = Simulator(Rules(ramp=(3,)), 20, seed=1)
    assert np.array_equal(bot.act(simulator), PolicyBot(average.frozen()).act(simulator))
    train(tiny(tmp_path / "next", decisions=10, init_from=str(tmp_path / "checkpoint")), Console(quiet=True))


def test_the_probabilities_of_a_policy_player_are_those_that_the_learner_sees(collected):
    trained, _ = collected
    bot = PolicyBot(trained.policy.frozen(), temperature=1.0)
    simulator = Simulator(Rules(players=3, ramp=(3,)), 50, seed=1)
    mask = simulator.current().action_mask == 1
    chances = bot.probabilities(simulator.games, simulator.tables)
    assert chances.sum(axis=1) == pytest.approx(1) and (chances[~mask] == 0).all() and (chances[mask] > 0).all()
    values, _ = bot.values(simulator.games, simulator.tables)
    bids = masked_log_probs(torch.from_numpy(values), torch.from_numpy(mask)).exp().numpy()
    assert chances == pytest.approx(bids, abs=1e-6), "bids keep their names"
    greedy = PolicyBot(trained.policy.frozen()).probabilities(simulator.games, simulator.tables)
    assert np.array_equal(greedy.argmax(axis=1), PolicyBot(trained.policy.frozen()).act(simulator))
    assert ((greedy == 0) | (greedy == 1)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": "sarsa", "lr": 0.1}, "learner='sarsa' is not known; use 'ppo' or 'dmc' or 'all-action'"),
        ({"gae_lambda": 1.1}, "gae_lambda=1.1 is not allowed; use 0 to 1"),
        ({"ent_coef": 0.01, "final_ent_coef": 0.1}, "final_ent_coef=0.1 is not allowed; use 0 to 0.01"),
        ({"clip_coef": 0.0}, "clip_coef=0.0 is not allowed"),
    ],
)
def test_options_that_make_no_sense_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        Config(**options)


def test_each_learner_has_its_own_defaults_which_options_replace():
    dmc = Config(learner="dmc")
    assert (dmc.lr, dmc.update_epochs) == (1e-3, 1)
    config = Config()
    assert (config.lr, config.update_epochs) == (3e-3, 2) and Config.from_json(config.to_json()) == config
    config = Config(lr=1e-4, final_lr=1e-5, update_epochs=1)
    assert (config.lr, config.update_epochs) == (1e-4, 1)


def test_a_run_goes_on_whatever_the_options_of_the_other_learner_are(tmp_path):
    config = tiny(tmp_path, decisions=10)
    train(config, Console(quiet=True))
    train(dataclasses.replace(config, epsilon=0.5, temperature=1.0), Console(quiet=True))
    with pytest.raises(ValueError, match=r"other options: ent_coef 0.05 -> 0.1"):
        train(dataclasses.replace(config, ent_coef=0.1), Console(quiet=True))
