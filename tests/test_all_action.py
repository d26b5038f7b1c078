"""The all-action learner: which decisions are kept, what their options bring, the regression, the step and the gate."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file

import training.train
from ohhell_env.bots.policy.bot import META, PolicyBot, load_policy
from ohhell_env.bots.policy.fast_every_table import FastEveryTableNetwork
from ohhell_env.bots.policy.network import FrozenNetwork
from ohhell_env.kernel.rulebook import FIRST_BID, apply
from ohhell_env.kernel.state import HAND_OVER
from training.learning import all_action
from training.learning.all_action import FLOOR, AllAction, WithSpread, all_action_loss, duel, moved_network
from training.learning.all_action_collector import centred, play_out
from training.learning.checkpoint import STATE, Counters, save_checkpoint, save_student
from training.learning.config import Config
from training.learning.network import PolicyNetwork, TrainingNetwork
from training.learning.student import Student
from training.train import train

TINY = {
    "players": (3, 4), "max_hand_size": 3, "width": 64, "depth": 1, "hands": 64, "minibatch_size": 128,
    "eval_minutes": 0.0, "save_minutes": 0.0, "precision": "fp32", "decisions": 1000, "ema": 0.9,
}  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A checkpoint of a random network."""
    folder = tmp_path_factory.mktemp("start") / "one"
    torch.manual_seed(3)
    config = Config(learner="dmc", **TINY)
    save_checkpoint(folder, PolicyNetwork(64, 1), config, Counters())
    return str(folder)


def tiny(start, folder="unused", **options):
    return Config(
        folder=Path(folder), learner="all-action", init_from=start, held_out_iterations=1, gate_deals=40,
        **{**TINY, **options},
    )  # fmt: skip


def collected(config, iteration=0):
    learner = AllAction(config)
    collector = learner.collector()
    return learner, collector, collector.collect(TrainingNetwork(learner.network()), iteration, 0.0)


def test_returns_are_centred_over_the_options():
    values = np.array([[1, 2, 6], [4, 9, 0]], dtype=np.float32)
    mask = np.array([[True, True, False], [True, True, True]])
    assert centred(values, mask) == pytest.approx(np.array([[-0.5, 0.5, 0], [-1 / 3, 14 / 3, -13 / 3]]))


def test_contested_decisions_are_kept_with_their_close_options_alone(start):
    _, collector, experience = collected(tiny(start, close_cards=0.05, close_bids=0.1))
    assert 20 < len(experience.actions) < len(collector._hand)
    best = np.where(experience.mask, experience.outputs, -np.inf).max(axis=1)
    behind = np.where(experience.mask, best[:, None] - experience.outputs, 0)
    assert (experience.mask.sum(axis=1) > 1).all() and behind.max() <= 0.1
    outputs = collector._old(experience.inputs)
    assert outputs == pytest.approx(experience.outputs, abs=1e-6), "those of the policy that the run starts from"
    returns = experience.option_returns
    assert (
        returns.sum(axis=1) == pytest.approx(np.zeros(len(returns)), abs=1e-5)
        and (returns[~experience.mask] == 0).all()
    )
    assert np.abs(returns).max() > 0.5


def test_an_options_return_is_what_the_hand_brings_where_it_is_taken_and_all_play_their_best_from_there(start):
    """Every option of a first bid, replayed action by action."""
    config = tiny(start, close_cards=100.0, close_bids=100.0, players=(3,), max_hand_size=2)
    learner, collector, _ = collected(config)
    simulator = collector.start(5)
    games, tables = simulator.games.copy(), simulator.tables
    bot = PolicyBot(learner.old(), endgame=False)
    tried = np.zeros((len(games), 70), dtype=bool)
    relabellings = np.zeros(len(games), dtype=np.int64)
    for i, game in enumerate(games):
        tried[i, FIRST_BID : FIRST_BID + game["hand_size"] + 1] = True
    found = collector._returns(games, tried, relabellings)
    for i in range(10):
        for bid in range(int(games[i]["hand_size"]) + 1):
            copy = games[i : i + 1].copy()
            apply(copy[0], tables[copy[0]["table"]], FIRST_BID + bid)
            while copy[0]["phase"] != HAND_OVER:
                values = bot.probabilities(copy, tables)
                apply(copy[0], tables[copy[0]["table"]], int(values[0].argmax()))
            points, seat = copy[0]["scores"][:3], int(games[i]["player"])
            expected = (points[seat] - (points.sum() - points[seat]) / 2) / 10
            assert found[i, FIRST_BID + bid] == pytest.approx(expected, abs=1e-6)


def test_the_loss_is_the_weighted_regression_and_the_spreads_likelihood():
    outputs = torch.tensor([[1.0, 3.0, 9.0, 0.5]], requires_grad=True)
    mask = torch.tensor([[True, True, False]])
    old, returns = torch.tensor([[1.0, 1.0, 5.0]]), torch.tensor([[-0.5, 0.5, 0.0]])
    loss, figures = all_action_loss(outputs, mask, old, returns)
    weight = 1 / (np.exp(0.5) + FLOOR)
    assert figures["regression_loss"].item() == pytest.approx(0.5 * weight * 2 * (1.0 - 0.5) ** 2)
    assert figures["variance_loss"].item() == pytest.approx(0.5 * (0.5 / np.exp(0.5) + 0.5))
    assert figures["correlation"].item() == pytest.approx(1, abs=1e-5)
    loss.backward()
    assert outputs.grad[0, 2] == 0 and outputs.grad[0, 1] > 0 > outputs.grad[0, 0]
    assert outputs.grad[0, 3].item() == pytest.approx(0.5 * (1 - 0.5 / np.exp(0.5))), "the likelihood's alone"


def test_the_trunk_does_not_learn_from_the_spread():
    policy = WithSpread(64, 1)
    inputs = torch.ones(3, policy.num_inputs, dtype=torch.int8)
    TrainingNetwork(policy)(inputs)[:, -1].sum().backward()
    assert policy.trunk[0].weight.grad is None or not policy.trunk[0].weight.grad.any()
    assert policy.critic.weight.grad.any()


def test_learning_on_many_positions_finds_options_that_bring_more(start):
    """A random policy has much to learn: on held-out positions the choice learned brings more than the old one."""
    config = tiny(start, hands=512, close_cards=100.0, close_bids=100.0, lr=3e-3, final_lr=1e-3, warmup=0)
    learner, collector, experience = collected(config)
    from functools import partial

    from training.learning.optimisation import gradient_step

    torch.manual_seed(0)
    network = learner.network()
    network.take_weights(learner.old())
    trained = TrainingNetwork(network)
    optimiser = torch.optim.Adam(trained.parameters(), lr=3e-3)
    batch = tuple(torch.from_numpy(array) for array in learner.arrays(experience, trained))
    for _ in range(40):
        gradient_step(trained, optimiser, batch, 1.0, partial(learner.loss, 0.0))
    factor, gains = all_action.chosen_factor(config, learner.old(), network.frozen(), collector)
    assert gains[0.0] == pytest.approx(0, abs=1e-9) and factor > 0 and gains[factor] > 0.05
    returns = duel(
        PolicyBot(moved_network(learner.old(), network.frozen(), factor)), PolicyBot(learner.old()), collector, 600, 1
    )
    assert returns.mean() > 2 * returns.std() / np.sqrt(600)


def test_the_step_is_a_multiple_of_the_change_of_all_weights():
    torch.manual_seed(1)
    old, new = PolicyNetwork(64, 1).frozen(), PolicyNetwork(64, 1).frozen()
    moved = moved_network(old, new, 3.0)
    for name in old.tensors:
        assert moved.tensors[name] == pytest.approx(
            old.tensors[name] + 3 * (new.tensors[name] - old.tensors[name]), abs=1e-5
        )
    same = moved_network(old, new, 0.0)
    assert all(np.array_equal(same.tensors[name], old.tensors[name]) for name in old.tensors)


def test_a_player_against_itself_is_level_in_a_duel(start):
    learner, collector, _ = collected(tiny(start))
    bot = PolicyBot(learner.old())
    assert duel(bot, bot, collector, 30, 1) == pytest.approx(np.zeros(30), abs=1e-9)


def test_a_run_saves_what_it_chose_and_resumes_bit_for_bit(start, tmp_path, monkeypatch):
    class Always:
        asked = True

    config = tiny(start, tmp_path / "whole", opponents=("heuristic",))
    train(config, Console(quiet=True))
    selection = json.loads((tmp_path / "whole/selection.json").read_text())
    assert set(selection) == {"factor", "held_out", "ahead", "half"} and len(selection["held_out"]) == 7
    bot = load_policy(tmp_path / "whole/checkpoint")
    assert bot.outputs == load_policy(start).outputs == "values" and isinstance(bot.network, FrozenNetwork)
    if selection["factor"] == 0:
        old = load_policy(start).network
        assert all(np.array_equal(bot.network.tensors[name], old.tensors[name]) for name in old.tensors)
    monkeypatch.setattr(training.train, "StopAfterIteration", Always)
    rows = len((tmp_path / "whole/progress.csv").read_text().splitlines()) - 1
    assert rows > 1
    for _ in range(rows):
        train(dataclasses.replace(config, folder=tmp_path / "stopped"), Console(quiet=True))
    whole, stopped = (load_file(tmp_path / name / STATE) for name in ("whole", "stopped"))
    assert whole.keys() == stopped.keys() and all(torch.equal(whole[name], stopped[name]) for name in whole)
    weights = [(tmp_path / name / "checkpoint/weights.safetensors").read_bytes() for name in ("whole", "stopped")]
    assert weights[0] == weights[1]


def test_where_the_gate_is_not_passed_the_old_policy_stays(start, tmp_path, monkeypatch):
    monkeypatch.setattr(all_action, "chosen_factor", lambda *_: (4.0, {0.0: 0.0, 4.0: 0.1}))
    monkeypatch.setattr(all_action, "duel", lambda *_: np.array([-0.2, 0.1]))
    console = Console(record=True, width=300)
    train(tiny(start, tmp_path, decisions=200), console)
    assert "the old policy stays" in console.export_text()
    assert json.loads((tmp_path / "selection.json").read_text())["factor"] == 0
    old, new = load_policy(start).network, load_policy(tmp_path / "checkpoint").network
    assert all(np.array_equal(new.tensors[name], old.tensors[name]) for name in old.tensors)


def test_it_plays_options_out_at_every_table(start):
    config = tiny(start, rules=("oh_hell", "nomination_whist", "penguin_whist", "cooperative"), close_bids=100.0)
    _, collector, experience = collected(config)
    assert len(experience.actions) > 20 and np.abs(experience.option_returns).max() > 0
    games = collector.start(3).games.copy()
    play_out(collector._player, games, collector._simulator.tables)
    assert (games["phase"] == HAND_OVER).all()


def test_a_student_for_every_table_plays_options_out_there(start, tmp_path):
    config = tiny(start, rules=("oh_hell", "penguin_whist"), close_bids=100.0, student=str(tmp_path / "fast"))
    meta = json.loads((Path(start) / META).read_text())
    told = {"decisions": 0, "hands": 0, "cpu_hours": 0.0, "seed": 1, "config": {"teacher": "start"}}
    told["held_out"] = dict.fromkeys(("agreement", "kl", "kl_bids", "kl_cards"), 0.0)
    save_student(tmp_path / "fast", Student(every_table=True).quantised(1.0), "start", meta, told)
    _, collector, experience = collected(config)
    assert isinstance(collector._player, FastEveryTableNetwork)
    assert np.abs(experience.option_returns).max() > 0
    games = collector.start(3).games.copy()
    play_out(collector._player, games, collector._simulator.tables)
    assert (games["phase"] == HAND_OVER).all()
    with pytest.raises(
        ValueError, match=r"has the input for every table, and the run's policy has that of the standard form"
    ):
        collected(dataclasses.replace(config, rules=(), sections=tiny(start).sections))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"init_from": ""}, "name it with --init-from"), ({"close_cards": -1.0}, "close_cards=-1.0 is not allowed")],
)
def test_options_that_make_no_sense_are_refused(options, message, start):
    with pytest.raises(ValueError, match=message):
        AllAction(dataclasses.replace(tiny(start), **options))
