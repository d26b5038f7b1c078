"""Self-play training: symmetry of suits, what is collected, the gradient, runs that are killed, checkpoints."""

import csv
import dataclasses
import hashlib
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
import tyro
from rich.console import Console
from safetensors.torch import load_file, save_file

import training.learning.throughput
from ohhell_env.bots.base import look
from ohhell_env.bots.policy.bot import META, WEIGHTS, PolicyBot, load_policy
from ohhell_env.bots.policy.features import LABELS, NUM_RELABELLINGS, PERMUTATIONS, relabelled_observation
from ohhell_env.bots.random import RandomBot
from ohhell_env.kernel.state import GAME, NONE
from ohhell_env.rules.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, cards_of, mask_of
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
from training.learning.checkpoint import STATE, Counters, load_state, save_checkpoint, stage_of, stages, train_command
from training.learning.collector import Collector
from training.learning.config import Config
from training.learning.dmc import DMC, dmc_loss
from training.learning.network import ActorCritic, PolicyNetwork, TrainingNetwork
from training.learning.optimisation import average_weights, gradient_step, learning_rate
from training.learning.validation import one_against_rest
from training.train import first_network, no_more_than, train

ROOT = Path(__file__).parents[1]
TINY = {
    "learner": "dmc", "players": (3, 4), "max_hand_size": 3, "width": 64, "depth": 1, "hands": 32,
    "minibatch_size": 128, "eval_minutes": 0.0, "precision": "fp32",
}  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def tiny(folder, **options):
    return Config(folder=Path(folder), **{**TINY, "decisions": 1000, "save_minutes": 0.0, **options})


def games_in_progress(rules, decisions, num_games=40, seed=5):
    simulator = Simulator(rules, num_games, seed=seed)
    simulator.play_random(decisions)
    return simulator


def with_suits_renamed(games, relabelling):
    """The same positions in a world where suit s is called PERMUTATIONS[relabelling][s]."""
    suit_names = PERMUTATIONS[relabelling]

    def card(old):
        return old if old == NONE else NUM_RANKS * int(suit_names[old // NUM_RANKS]) + old % NUM_RANKS

    def cards(mask):
        return mask_of(card(one) for one in cards_of(mask))

    renamed = games.copy()
    for new, old in zip(renamed, games, strict=True):
        for seat in range(7):
            new["hands"][seat], new["played"][seat] = cards(old["hands"][seat]), cards(old["played"][seat])
            new["voids"][seat] = sum(1 << suit_names[s] for s in range(NUM_SUITS) if old["voids"][seat] >> s & 1)
        for k in range(NUM_CARDS):
            new["deck"][k], new["plays"][k] = card(int(old["deck"][k])), card(int(old["plays"][k]))
        new["turned"], new["best"] = card(int(old["turned"])), card(int(old["best"]))
        new["trump"] = suit_names[old["trump"]] if old["trump"] < NUM_SUITS else NUM_SUITS
        new["led_suit"] = suit_names[old["led_suit"]] if old["led_suit"] >= 0 else NONE
        if old["phase"] == 1:
            new["legal"] = cards(old["legal"])
    return renamed


@pytest.mark.parametrize("decisions", [2, 7, 21, 30])
def test_a_relabelled_observation_is_the_observation_of_the_game_with_suits_renamed(decisions):
    simulator = games_in_progress([Rules(), Rules(players=3, ramp=(7,)), Rules(players=5, bids="open")], decisions)
    before = simulator.games.copy()
    seen = simulator.observation(0)
    for relabelling in range(NUM_RELABELLINGS):
        simulator.games[:] = with_suits_renamed(before, relabelling)
        assert np.array_equal(simulator.observation(0), seen[:, relabelled_observation(relabelling)])


@pytest.mark.parametrize("decisions", [2, 6, 15, 28])
def test_a_policy_plays_the_renamed_card_where_the_suits_are_renamed(decisions):
    rules = [
        Rules(ramp=(13,)),
        Rules(ramp=(9,)),
        Rules(players=6, ramp=(7,)),
        Rules(players=3, ramp=(12,), bids="open"),
    ]
    simulator = games_in_progress(rules, decisions)
    before = simulator.games.copy()
    torch.manual_seed(0)
    bot = PolicyBot(PolicyNetwork(64, 2).frozen())
    actions = bot.act(simulator)
    assert len(set(actions)) > 3
    for relabelling in range(NUM_RELABELLINGS):
        simulator.games[:] = with_suits_renamed(before, relabelling)
        assert np.array_equal(bot.act(simulator), LABELS[relabelling, actions])


def test_a_policy_with_a_temperature_tries_more_and_answers_alike_in_any_batch():
    simulator = games_in_progress(Rules(ramp=(8,)), 3, num_games=200)
    bot = PolicyBot(PolicyNetwork(64, 1).frozen(), temperature=1.0, seed=3)
    together = bot.act(simulator)
    assert [int(bot.act(simulator, [i])[0]) for i in range(20)] == together[:20].tolist()
    mask = simulator.current().action_mask
    assert mask[np.arange(200), together].all()
    assert (together != PolicyBot(bot.network).act(simulator)).mean() > 0.3


def test_a_policy_draws_actions_with_the_probability_of_its_values():
    simulator = Simulator(Rules(ramp=(2,)), 1, seed=1)
    views, keys = np.empty(1, dtype=GAME), np.empty(1, dtype=np.int64)
    look(simulator.games, simulator.tables, np.arange(1), 0, views, keys)
    network = PolicyNetwork(64, 1)
    with torch.no_grad():
        network.head.weight.zero_()
        network.head.bias.zero_()
        network.head.bias[NUM_CARDS : NUM_CARDS + 3] = torch.tensor([0.0, 0.5, 1.0])
    bot = PolicyBot(network.frozen(), temperature=0.5)
    many = 20_000
    chosen = bot.choose(views.repeat(many), simulator.tables, np.arange(many)) - NUM_CARDS
    expected = np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum()
    assert np.bincount(chosen, minlength=3) / many == pytest.approx(expected, abs=0.01)


def replay(collector, iteration):
    """The iteration's hands again, by the bids and cards on record: (hand, seat) of each decision with a choice."""
    played = collector._simulator.games.copy()
    simulator = collector.start(iteration)
    choices = {i: [] for i in range(len(played))}
    for i, game in enumerate(played):
        one = Simulator(simulator.rules[game["table"]], 1, seed=[int(game["seed"])])
        batch = one.current()
        while not batch.hand_over[0]:
            seat, place = int(batch.player[0]), int(one.games[0]["num_plays"])
            action = NUM_CARDS + game["bids"][seat] if one.games[0]["phase"] == 0 else game["plays"][place]
            if batch.action_mask[0].sum() > 1:
                choices[i].append((seat, int(action)))
            batch = one.step([action])
    return choices


@pytest.mark.parametrize("relabel", ["random", "canonical"])
def test_every_decision_with_a_choice_is_collected_once_in_order_and_forced_ones_are_not(relabel):
    collector = Collector(tiny("unused", relabel=relabel))
    experience = collector.collect(PolicyNetwork(64, 1), 3, 0.3)
    found = {i: [] for i in range(32)}
    for hand, seat, action in zip(experience.hand, experience.seat, experience.actions, strict=True):
        found[hand].append((int(seat), int(action)))
    expected = replay(collector, 3)
    for hand, choices in expected.items():
        assert [seat for seat, _ in found[hand]] == [seat for seat, _ in choices]
        for (_, label), (_, action) in zip(found[hand], choices, strict=True):
            assert label % NUM_RANKS == action % NUM_RANKS if action < NUM_CARDS else label == action
    assert 0 < len(experience.actions) < experience.decisions


def test_returns_are_the_points_of_the_game_less_the_mean_of_the_others_in_tens():
    collector = Collector(tiny("unused", sealed=0.5, hook=0.5))
    experience = collector.collect(PolicyNetwork(64, 1), 0, 0.2)
    scores = [collector._simulator[i].points for i in range(32)]
    for hand, seat, value in zip(experience.hand, experience.seat, experience.returns, strict=True):
        others = [points for s, points in enumerate(scores[hand]) if s != seat]
        assert value == pytest.approx((scores[hand][seat] - sum(others) / len(others)) / 10, abs=1e-6)
    assert experience.points == pytest.approx(np.mean([point for points in scores for point in points]))
    made = [point > 0 for points in scores for point in points]
    assert experience.bids_made == pytest.approx(np.mean(made))


def test_an_iteration_depends_on_its_number_and_the_network_alone():
    network = PolicyNetwork(64, 1)
    first, second = Collector(tiny("unused")), Collector(tiny("unused"))
    first.collect(network, 0, 0.1)
    one, other = first.collect(network, 1, 0.1), second.collect(network, 1, 0.1)
    assert np.array_equal(one.inputs, other.inputs) and np.array_equal(one.actions, other.actions)


def test_the_mixture_holds_every_table_that_the_options_allow():
    rules, shares = Config(players=(3, 7, 7), max_hand_size=5).mixture()
    assert {(one.players, one.hand_sizes[0], one.bids, one.hook) for one in rules} == {
        (p, n, bids, hook) for p in (3, 7) for n in range(1, 6) for bids in ("sealed", "open") for hook in (True, False)
    }
    assert sum(shares) == pytest.approx(1)
    seven = sum(share for one, share in zip(rules, shares, strict=True) if one.players == 7)
    assert seven == pytest.approx(2 / 3)


def test_the_loss_moves_the_value_of_the_action_taken_and_no_other():
    values = torch.tensor([[1.0, 2.0, 3.0], [0.0, -1.0, 4.0]], requires_grad=True)
    loss = dmc_loss(values, torch.tensor([2, 0]), torch.tensor([1.0, 1.0]))
    loss.backward()
    assert loss.item() == pytest.approx((4 + 1) / 2)
    assert values.grad.tolist() == [[0, 0, 2], [-1, 0, 0]]


def test_the_layer_that_skips_zeros_is_the_dense_layer_forward_and_backward():
    torch.manual_seed(1)
    network = PolicyNetwork(128, 2)
    inputs = (torch.rand(37, network.num_inputs) < 0.1).to(torch.int8)
    inputs[0], inputs[1] = 0, 1
    results = []
    for run in (network, TrainingNetwork(network)):
        network.zero_grad()
        values = run(inputs)
        values.sin().sum().backward()
        results.append([values.detach(), *(p.grad.clone() for p in network.parameters())])
    for dense, sparse in zip(*results, strict=True):
        assert torch.allclose(dense, sparse, rtol=1e-4, atol=1e-4 * float(dense.abs().max()))


def test_learning_rate_and_exploration_run_from_their_start_to_their_end():
    config = Config(learner="dmc", lr=1e-3, final_lr=1e-4, warmup=9, epsilon=0.1, final_epsilon=0.02)
    assert learning_rate(config, 0, 0) == pytest.approx(1e-4)
    assert learning_rate(config, 9, 0) == pytest.approx(1e-3)
    assert learning_rate(config, 99, 0.5) == pytest.approx(5.5e-4)
    assert learning_rate(config, 99, 1) == pytest.approx(1e-4)
    assert [DMC(config).exploration(done) for done in (0, 0.5, 1)] == pytest.approx([0.1, 0.06, 0.02])


def test_the_average_of_the_weights_follows_at_its_decay():
    network, average = PolicyNetwork(64, 1), PolicyNetwork(64, 1)
    before = average.head.bias.detach().clone()
    average_weights(average, network, 0.9, step=10**6)
    assert torch.allclose(average.head.bias, 0.9 * before + 0.1 * network.head.bias)


def test_gradient_steps_learn_what_a_hand_brings():
    collector = Collector(tiny("unused", hands=256))
    experience = collector.collect(PolicyNetwork(64, 1), 0, 1.0)
    learner = DMC(tiny("unused"))
    batch = tuple(torch.from_numpy(array) for array in learner.arrays(experience, PolicyNetwork(64, 1)))
    network = TrainingNetwork(PolicyNetwork(64, 1))
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    losses = [gradient_step(network, optimiser, batch, 1.0, partial(learner.loss, 0.0))["loss"] for _ in range(40)]
    assert losses[-1] < 0.6 * losses[0]


def test_training_stops_where_a_loss_is_no_number(tmp_path):
    network = PolicyNetwork(64, 1)
    with torch.no_grad():
        network.head.bias.fill_(float("nan"))
    save_checkpoint(tmp_path / "bad", network, tiny(tmp_path), Counters())
    with pytest.raises(FloatingPointError, match=r"iteration 0, gradient step 0: loss nan"):
        train(tiny(tmp_path / "run", init_from=str(tmp_path / "bad")), Console(quiet=True))
    assert not (tmp_path / "run" / STATE).exists()


def test_a_run_starts_from_a_checkpoint_and_tells_what_made_it(tmp_path):
    train(tiny(tmp_path / "one"), Console(quiet=True))
    first = load_policy(tmp_path / "one/checkpoint")
    config = tiny(tmp_path / "two", init_from=str(tmp_path / "one/checkpoint"), learner="ppo")
    network, lineage = first_network(config)
    inputs = torch.randint(0, 2, (9, network.num_inputs), dtype=torch.int8)
    logits = network(inputs).detach().numpy()
    assert np.allclose(logits, 15 * first.network(inputs.numpy()), rtol=1e-4, atol=1e-5)
    train(config, Console(quiet=True))
    train(dataclasses.replace(config, decisions=2000), Console(quiet=True))
    meta = load_policy(tmp_path / "two/checkpoint").meta
    optimiser = torch.optim.Adam(network.parameters())
    load_state(tmp_path / "two", ActorCritic(64, 1), network, optimiser)
    shipped = load_policy(tmp_path / "two/checkpoint").network
    logits = network(inputs).detach().numpy()
    assert np.allclose(logits, 15 * shipped(inputs.numpy()), rtol=1e-4, atol=1e-5)
    assert meta["lineage"] == lineage == [stage_of(first.meta)]
    assert [run["decisions"] for run in stages(meta)] == [first.meta["decisions"], meta["decisions"]]
    card = (tmp_path / "two/checkpoint/README.md").read_text()
    assert f"{first.meta['decisions'] + meta['decisions']:,} decisions ({first.meta['decisions']:,} and " in card
    one, two = (line for line in card.splitlines() if "ohhell train" in line)
    assert f"--folder {tmp_path}/one --decisions 1000" in one
    assert f"--folder {tmp_path}/two --decisions 2000" in two
    assert f"--init-from {tmp_path}/one/checkpoint" in two


def command(folder, launcher=("-m", "training.train"), **options):
    arguments = ["--folder", str(folder)]
    for name, value in {**TINY, "save_minutes": 0.0, **options}.items():
        values = value if isinstance(value, tuple) else (value,)
        arguments += ["--" + name.replace("_", "-"), *map(str, values)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, *launcher, *arguments],
        env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def wait_for_rows(process, folder, rows):
    path = folder / "progress.csv"
    deadline = time.monotonic() + 120
    while not path.exists() or path.read_text().count("\n") < rows:
        assert process.poll() is None and time.monotonic() < deadline, process.stdout.read()
        time.sleep(0.005)


@pytest.mark.parametrize("decisions", [1, 777])
def test_a_run_stops_at_the_decisions_asked_for_and_says_what_is_where(decisions, tmp_path):
    console = Console(record=True, width=300, file=io.StringIO())
    train(tiny(tmp_path, decisions=decisions), console)
    meta = json.loads((tmp_path / "checkpoint/meta.json").read_text())
    assert meta["decisions"] == decisions
    told = console.export_text()
    assert f"Finished: {decisions:,} decisions in " in told
    assert f"{tmp_path}/latest.safetensors (the run, to resume), {tmp_path}/checkpoint (the player)" in told
    assert f"ohhell train --folder {tmp_path} --decisions {2 * decisions}" in told
    assert f"ohhell evaluate {tmp_path}/checkpoint --vs heuristic" in told


@pytest.mark.parametrize("left", [3, 50, 299])
def test_processes_share_what_a_run_has_left_and_draw_it_from_all_that_they_found(left):
    found = [100, 130, 70]
    rows = [no_more_than((np.arange(found[k]),), left, found, (1, 5, k))[0] for k in range(3)]
    assert sum(map(len, rows)) == left and all(len(np.unique(one)) == len(one) > 0 for one in rows)
    assert left < 50 or all(one.mean() == pytest.approx(n / 2, abs=n / 4) for one, n in zip(rows, found, strict=True))
    whole = np.arange(100)
    assert no_more_than((whole,), 300, found, (1, 5, 0))[0] is whole


def test_a_command_with_a_pack_is_quoted():
    config = tiny("some where", deck="AC KC QC AD KD QD AH KH QH AS KS QS")
    command = train_command(config.to_json())
    assert "--deck 'AC KC QC" in command and "--folder 'some where'" in command
    assert tyro.cli(Config, args=shlex.split(command)[2:]) == config


RUNS = ("killed", "whole")


def test_a_run_that_is_killed_and_one_that_is_stopped_end_as_if_never_interrupted(tmp_path):
    options = {"decisions": 6000, "past": 0.5, "past_from": 0.2}
    process = command(tmp_path / "killed", **options)
    wait_for_rows(process, tmp_path / "killed", 6)
    process.kill()
    process.wait()
    assert 0 < json.loads((tmp_path / "killed/checkpoint/meta.json").read_text())["decisions"] < 6000
    process = command(tmp_path / "killed", **options)
    wait_for_rows(process, tmp_path / "killed", 15)
    process.send_signal(signal.SIGINT)
    told = process.communicate()[0]
    assert process.returncode == 0
    assert "stopping after this iteration" in told and "Stopped after " in told and " of the run, about " in told
    (line,) = (line for line in told.splitlines() if line.startswith("Go on:"))
    command_of_it = shlex.split(line.removeprefix("Go on:"))
    assert command_of_it[:4] == ["ohhell", "train", "--folder", str(tmp_path / "killed")]
    config = tiny(tmp_path / "killed", **options)
    assert tyro.cli(Config, args=command_of_it[2:]) == config
    train(config, Console(quiet=True))
    train(dataclasses.replace(config, folder=tmp_path / "whole"), Console(quiet=True))
    killed, whole = (load_file(tmp_path / name / STATE) for name in RUNS)
    assert killed.keys() == whole.keys() and len(killed) == 20
    for name in whole:
        assert torch.equal(killed[name], whole[name]), name
    past = [{file.name: file.read_bytes() for file in (tmp_path / name / "past").iterdir()} for name in RUNS]
    assert len(past[0]) > 10 and past[0] == past[1]
    rows = [(tmp_path / name / "progress.csv").read_text().split("\n") for name in RUNS]
    assert [row.split(",")[:2] for row in rows[0]] == [row.split(",")[:2] for row in rows[1]]


def test_a_run_ends_when_its_processor_time_is_used_up_and_its_schedules_with_it(tmp_path):
    console = Console(quiet=True)
    config = tiny(tmp_path, decisions=10**9, cpu_minutes=0.02, lr=1e-3, final_lr=1e-5)
    train(config, console)
    with (tmp_path / "progress.csv").open() as file:
        rows = list(csv.DictReader(file))
    hours = [float(row["cpu_hours"]) for row in rows]
    assert len(rows) > 3 and hours[-2] < 0.02 / 60 <= hours[-1]
    assert float(rows[-1]["lr"]) < 2e-4 and float(rows[-1]["minutes_left"]) == 0
    train(config, console)
    assert len((tmp_path / "progress.csv").read_text().splitlines()) == len(rows) + 1, "nothing was left to do"


@pytest.mark.parametrize("faster", ["fp32", "bf16"])
def test_the_faster_arithmetic_is_taken_told_and_kept_with_the_run(faster, tmp_path, monkeypatch):
    def rate(network, inputs):
        assert inputs.dtype == torch.int8 and 0.05 < inputs.float().mean() < 0.11
        return 2000.0 if ("bf16" if network.bf16 else "fp32") == faster else 1000.0

    monkeypatch.setattr(training.learning.throughput, "bare_rate", rate)
    config = tiny(tmp_path, decisions=300, precision="auto")
    console = Console(record=True, width=200, file=io.StringIO())
    train(config, console)
    told = console.export_text()
    assert f"arithmetic: {faster} (forward and backward" in told and f"{faster} 2,000" in told
    assert json.loads((tmp_path / "checkpoint/meta.json").read_text())["precision"] == faster
    monkeypatch.setattr(
        training.learning.throughput, "bare_rate", lambda network, inputs: pytest.fail("it was chosen already")
    )
    train(dataclasses.replace(config, decisions=600), Console(quiet=True))
    assert json.loads((tmp_path / "checkpoint/meta.json").read_text())["precision"] == faster


def test_in_bf16_outputs_and_gradients_are_those_of_fp32_to_its_precision():
    torch.manual_seed(1)
    policy = ActorCritic(64, 2)
    inputs = (torch.rand(50, policy.num_inputs) < 0.1).to(torch.int8)
    results = []
    for bf16 in (False, True):
        policy.zero_grad()
        outputs = TrainingNetwork(policy, bf16)(inputs)
        outputs.square().sum().backward()
        results.append([outputs.detach(), *(p.grad.clone() for p in policy.parameters())])
    for exact, rounded in zip(*results, strict=True):
        assert rounded.dtype == torch.float32 and not torch.equal(exact, rounded)
        assert torch.allclose(exact, rounded, rtol=0.05, atol=0.05 * float(exact.abs().max()))


@pytest.mark.long  # two interpreters that import torch
@pytest.mark.parametrize("learner", ["dmc", "ppo"])
def test_two_processes_train_as_one_does(learner, tmp_path):
    options = {
        "learner": learner,
        "decisions": 1500,
        "minibatch_size": 100_000,
        "lr": 1e-2,
        "past": 0.3,
        "past_from": 0.1,
    }
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "training.train"]
    process = command(tmp_path / "two", launcher, **options)
    output = process.communicate()[0]
    assert process.returncode == 0, output
    train(tiny(tmp_path / "one", **options), Console(quiet=True))
    two, one = (load_file(tmp_path / name / STATE) for name in ("two", "one"))
    assert one["step.head.bias"] == two["step.head.bias"] > 3
    for name in one:
        assert torch.allclose(one[name], two[name], rtol=1e-3, atol=1e-5), name


def test_a_folder_with_another_run_is_refused(tmp_path):
    train(tiny(tmp_path, decisions=10), Console(quiet=True))
    with pytest.raises(ValueError, match=r"other options: lr 0.001 -> 0.002"):
        train(tiny(tmp_path, decisions=10, lr=2e-3), Console(quiet=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decisions": 0}, "decisions=0 is not allowed"),
        ({"players": (2,)}, r"players=\(2,\) is not allowed; use numbers from 3 to 7"),
        ({"width": 100}, "width=100 is not allowed; use a multiple of 64"),
        ({"epsilon": 0.01, "final_epsilon": 0.1}, "final_epsilon=0.1 is not allowed; use 0 to 0.01"),
        ({"learner": "dmc", "epsilon": 0.0, "final_epsilon": 0.0}, "nothing would ever be explored"),
        ({"sections": ("hand", "hat")}, r"sections \['hat'\] are not in the observation"),
        ({"lr": float("nan")}, "lr=nan is not allowed"),
        ({"sealed": 1.5}, "sealed=1.5 is not allowed; use 0 to 1"),
        ({"deck": "AC KC"}, "too few for players=3"),
        ({"cpu_minutes": -1.0}, "cpu_minutes=-1.0 is not allowed"),
        ({"precision": "fp8"}, "precision='fp8' is not known; use 'auto', 'fp32' or 'bf16'"),
        ({"learner": "dmc", "magnet": 0.1}, "magnet=0.1 is for learner='ppo'"),
        ({"opponents_share": -0.1}, "opponents_share=-0.1 is not allowed; use 0 to 1"),
        ({"past": 1.5}, "past=1.5 is not allowed; use 0 to 1"),
    ],
)
def test_options_that_make_no_sense_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        Config(**options)


def test_a_configuration_survives_json():
    config = tiny("somewhere", deck="AC KC QC AD KD QD AH KH QH AS KS QS", epsilon=0.2)
    assert Config.from_json(json.loads(json.dumps(config.to_json()))) == config
    with pytest.raises(ValueError, match="unknown options colour"):
        Config.from_json({"colour": 1})


def test_an_equal_player_has_no_advantage():
    torch.manual_seed(2)
    bot = PolicyBot(PolicyNetwork(64, 1).frozen())
    assert one_against_rest(bot, bot, Rules(players=5, ramp=(3,)), 20) == pytest.approx(0, abs=1e-6)


@pytest.fixture
def checkpoint(tmp_path):
    torch.manual_seed(4)
    network = PolicyNetwork(64, 2)
    save_checkpoint(tmp_path / "one", network, tiny(tmp_path), Counters(7, 70, 700, 7000, 36.0))
    return tmp_path / "one", network


def test_a_checkpoint_plays_as_the_network_that_was_saved(checkpoint):
    folder, network = checkpoint
    bot = load_policy(folder)
    simulator = games_in_progress(Rules(ramp=(3,)), 9)
    assert np.array_equal(bot.act(simulator), PolicyBot(network.frozen()).act(simulator))
    assert (bot.name, bot.meta["decisions"], bot.meta["cpu_hours"]) == ("one", 700, 0.01)
    card = (folder / "README.md").read_text()
    assert "# one" in card and "700 decisions of 7,000 hands" in card and "ohhell train" in card


def change_meta(folder, **changes):
    meta = json.loads((folder / META).read_text())
    (folder / META).write_text(json.dumps({**meta, **changes}))


def change_weights(folder, change):
    """Other weights, with the checksum to match: the shapes themselves must be checked."""
    tensors = load_file(folder / WEIGHTS)
    change(tensors)
    save_file(tensors, folder / WEIGHTS)
    change_meta(folder, weights_sha256=hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest())


DAMAGE = {
    "another observation layout": (
        lambda folder: change_meta(folder, observation_layout="0123"),
        "made for observation_layout '0123', this package has",
    ),
    "another environment": (lambda folder: change_meta(folder, environment="x_v9"), "made for environment 'x_v9'"),
    "another format": (lambda folder: change_meta(folder, format=99), "made for format 99"),
    "weights cut short": (
        lambda folder: (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-100]),
        "damaged, cut short, or another run's",
    ),
    "no weights": (lambda folder: (folder / WEIGHTS).unlink(), "has no weights.safetensors"),
    "a meta that is no JSON": (lambda folder: (folder / META).write_text("{"), "is not a checkpoint's meta.json"),
    "a foreign meta": (lambda folder: (folder / META).write_text('{"a": 1}'), "it lacks format, environment"),
    "a wrong shape": (
        lambda folder: change_weights(folder, lambda t: t.update({"head.bias": torch.zeros(71)})),
        r"head.bias is float32 \(71,\), expected float32 \(70,\)",
    ),
    "a missing tensor": (
        lambda folder: change_weights(folder, lambda t: t.pop("head.bias")),
        r"missing \['head.bias'\], unknown none",
    ),
    "weights that are no tensors": (
        lambda folder: (
            (folder / WEIGHTS).write_bytes(b"\x80\x04pickle"),
            change_meta(folder, weights_sha256="37f9c7a9b2f3b7a0"),
        ),
        "SHA-256",
    ),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_checkpoint_that_does_not_fit_is_refused_with_what_differs(checkpoint, what):
    damage, message = DAMAGE[what]
    damage(checkpoint[0])
    with pytest.raises(ValueError, match=message):
        load_policy(checkpoint[0])


def test_a_checkpoint_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(ValueError, match="there is no checkpoint 'nobody': shipped are"):
        load_policy("nobody")


def test_a_state_that_is_damaged_is_refused(tmp_path):
    train(tiny(tmp_path, decisions=10), Console(quiet=True))
    (tmp_path / STATE).write_bytes((tmp_path / STATE).read_bytes()[:-50])
    with pytest.raises(ValueError, match=r"is not the state of this run, or is damaged"):
        train(tiny(tmp_path, decisions=500), Console(quiet=True))


def test_a_policy_plays_whole_matches_against_random_players():
    simulator = Simulator(Rules(players=6), 4, seed=8)
    bots = [PolicyBot(PolicyNetwork(64, 1).frozen()), RandomBot(1)]
    batch, matches = simulator.current(), 0
    while matches < 4:
        first = batch.player < 3
        actions = np.where(first, bots[0].act(simulator), bots[1].act(simulator))
        batch = simulator.step(actions)
        matches += int(batch.match_over.sum())
