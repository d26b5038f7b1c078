"""Exploiters: what they learn, what they leave alone, and that their gain is a lower bound of the exact one."""

from pathlib import Path

import numpy as np
import pytest
import torch

import training.best_response
from ohhell_env.arena.exact import Tree, policy_of
from ohhell_env.bots.policy.bot import PolicyBot
from ohhell_env.rules.cards import Deck
from ohhell_env.rules.rules import Rules
from training.best_response import exploiter_gain, main, set_up, train_exploiter
from training.learning.checkpoint import Counters, save_checkpoint
from training.learning.config import Config
from training.learning.network import ActorCritic, PolicyNetwork, TrainingNetwork

EIGHT = "AC KC QC AD KD QD AH KH"
RULES = Rules(3, (1,), bids="open", deck=Deck.of(EIGHT))
CONFIG = Config(
    learner="dmc",
    decisions=20_000,
    players=(3,),
    width=64,
    depth=1,
    deck=EIGHT,
    hands=512,
    minibatch_size=128,
    lr=3e-3,
    epsilon=0.2,
    ema=0.9,
)
PPO = Config(**{**vars(CONFIG), "learner": "ppo", "update_epochs": 2})


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def policy(seed, width=64):
    torch.manual_seed(seed)
    """The network alone, which is what exploiters learn against."""
    return PolicyBot(PolicyNetwork(width, 1).frozen(), endgame=False)


@pytest.mark.parametrize("learner", ["dmc", "ppo"])
def test_an_exploiter_learns_from_its_own_seat_alone_while_the_others_play_the_policys_best_action(learner):
    frozen, other = policy(1), policy(2)
    rules = Rules(4, (3,))
    config = Config(learner=learner, width=64, depth=1, hands=200, players=(4,))
    _, others, collector = set_up(frozen, rules, config)
    certain = PolicyNetwork(64, 1) if learner == "dmc" else ActorCritic(64, 1)
    certain.take_weights(set_up(other, rules, config)[1])
    experience = collector.collect(TrainingNetwork(certain), 5, 0.0, others)
    seats = {hand: set(experience.seat[experience.hand == hand]) for hand in set(experience.hand)}
    assert all(len(own) == 1 for own in seats.values()) and len(set.union(*seats.values())) == 4
    assert set(collector._simulator.tables["players"]) == {4}
    played = collector._simulator.games.copy()

    again = collector.start(5)
    own = np.array([next(iter(seats.get(i, {-1}))) for i in range(200)])
    for _ in range(4 * 4 - 1):  # but for the last card, with which the next match would begin
        mine = again.games["player"] == own
        again.step(np.where(mine, other.act(again), frozen.act(again)))
    assert np.array_equal(again.games["bids"], played["bids"])
    assert np.array_equal(again.games["plays"][:, :11], played["plays"][:, :11])


@pytest.mark.parametrize("config", [CONFIG, PPO], ids=["dmc", "ppo"])
def test_an_exploiter_comes_close_to_the_exact_best_response_and_never_beyond(config):
    frozen = policy(3)
    tree = Tree(RULES)
    profile = [tree.write_out(policy_of(frozen))] * 3
    exact = tree.responses(profile)
    exploiter = train_exploiter(frozen, RULES, config)
    strategy = tree.write_out(policy_of(exploiter))
    values = [tree.values([*profile[:s], strategy, *profile[s + 1 :]])[s] for s in range(3)]
    gained, possible = np.mean(values - exact.values), np.mean(exact.best - exact.values)
    assert possible > 2
    assert 0.9 * possible < gained <= possible + 1e-9

    found = exploiter_gain(frozen, {7: policy(3), 8: exploiter}, RULES, 400, seed=0)
    assert found.seed == 8 and found.chosen[7].mean == pytest.approx(0)
    assert found.gain.low < np.mean(values) < found.gain.high


def test_an_exploiter_may_be_trained_by_the_processors_clock(monkeypatch):
    config = Config(**{**vars(CONFIG), "decisions": 10**9, "cpu_minutes": 1.0})
    clock = iter(range(0, 10_000, 7))
    monkeypatch.setattr(training.best_response.time, "process_time", lambda: next(clock))
    learned = []
    monkeypatch.setattr(
        training.best_response, "learning_rate", lambda config, step, done: learned.append(done) or 1e-3
    )
    train_exploiter(policy(3), RULES, config)
    assert sorted(set(learned)) == pytest.approx([7 * k / 60 for k in range(9)])


@pytest.mark.parametrize("config", [CONFIG, PPO], ids=["dmc", "ppo"])
def test_training_an_exploiter_leaves_the_policy_as_it_was_and_is_repeatable(config):
    frozen = policy(4)
    before = {name: tensor.copy() for name, tensor in frozen.network.tensors.items()}
    first, second = (train_exploiter(frozen, RULES, Config(**{**vars(config), "decisions": 3000})) for _ in range(2))
    for name, tensor in frozen.network.tensors.items():
        assert np.array_equal(tensor, before[name])
        assert np.array_equal(first.network.tensors[name], second.network.tensors[name])
    assert not np.array_equal(first.network.tensors["head.weight"], frozen.network.tensors["head.weight"])


@pytest.fixture
def checkpoint(tmp_path):
    network = PolicyNetwork(64, 1)
    network.take_weights(policy(5).network)
    save_checkpoint(tmp_path / "one", network, CONFIG, Counters())
    return str(tmp_path / "one")


def test_the_command_reports_exact_values(checkpoint, capsys):
    assert main([checkpoint, "--exact", "--deck", EIGHT, "--players", "3", "--hands", "1", "--set", "bids=open"]) == 0
    found = Tree(RULES).responses([Tree(RULES).write_out(policy_of(policy(5)))] * 3)
    output = capsys.readouterr().out
    assert f"NashConv {found.nash_conv:.4f} points" in output
    assert all(f"{value:+.4f}" in output for value in [*found.values, *found.best])


def test_the_command_trains_exploiters_and_reports_their_gain(checkpoint, capsys):
    arguments = ["--deck", EIGHT, "--players", "3", "--hands", "1", "--decisions", "2000", "--deals", "50"]
    assert main([checkpoint, *arguments, "--exploiters", "2", "--lr", "3e-3"]) == 0
    output = capsys.readouterr().out
    assert "exploiter 1," in output and "exploiter 2," in output and "on 50 other deals: +" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["random", "--hands", "2"], "player 'random' is not a checkpoint"),
        (["random", "--hands", "ramp"], "give the size of a single hand"),
        (["random", "--exact"], "are too many to follow exactly"),
        (["search:9", "--exact", "--players", "3", "--hands", "1", "--deck", EIGHT], "SearchBot is random"),
        (["nobody", "--hands", "2"], "player 'nobody' is not known"),
        (["random", "--hands", "2", "--temperature", "1"], "temperature is for --exact"),
    ],
)
def test_mistakes_are_told_in_a_line(arguments, message, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error and Path(__file__).name not in error and "Traceback" not in error
