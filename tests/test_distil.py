"""Distilling: a student of whole numbers that does as its teacher does, and a run that goes on where it stopped."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

import training.distil
from ohhell_env.bots import make_bot
from ohhell_env.bots.policy.bot import META, WEIGHTS, PolicyBot, load_policy
from ohhell_env.bots.policy.fast import FastNetwork
from ohhell_env.bots.policy.fast_every_table import FastEveryTableNetwork
from ohhell_env.bots.policy.network import EVERY_TABLE
from ohhell_env.bots.policy.trained_for import TrainedFor
from ohhell_env.kernel.state import WIDE_GAME
from ohhell_env.rules.presets import preset
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
from training.distil import MASKED, Options, School, distil, divergence, main, tables_of
from training.learning.checkpoint import Counters, save_checkpoint
from training.learning.config import Config
from training.learning.network import PolicyNetwork
from training.learning.student import Student
from training.publish import publish

QUIET = Console(quiet=True)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    """Random weights whose policy is far from uniform."""
    torch.set_num_threads(1)
    torch.manual_seed(3)
    network = PolicyNetwork(64, 1)
    with torch.no_grad():
        network.head.weight *= 60
    path = tmp_path_factory.mktemp("teachers") / "teacher"
    save_checkpoint(path, network, Config(width=64, depth=1, players=(3,), max_hand_size=3), Counters(decisions=7))
    return path


def options(teacher, folder, **others):
    return Options(str(teacher), Path(folder), **{"decisions": 3000, "hands": 128, "save_minutes": 0.0, **others})


@pytest.fixture(scope="module")
def distilled(teacher, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "student"
    results = distil(options(teacher, folder, decisions=30_000, hands=1024), QUIET)
    return folder, results


def test_a_student_learns_what_its_teacher_does(distilled, teacher):
    _, results = distilled
    school = School(PolicyBot.load(teacher), options(teacher, "none", hands=256))
    torch.manual_seed(1)
    untaught = Student().quantised(1 / 15)
    before = training.distil.examine(untaught, school.lessons(5), school, 1 / 15)
    assert results["kl"] < 0.6 * before["kl"] and results["agreement"] > before["agreement"] + 0.15
    assert results["kl"] == pytest.approx(results["kl"]) and results["kl_bids"] > 0 and results["kl_cards"] > 0


def test_a_student_is_a_checkpoint_like_any_other(distilled, teacher, tmp_path):
    folder, results = distilled
    bot = load_policy(folder / "checkpoint")
    assert isinstance(bot.network, FastNetwork) and bot.outputs == "logits"
    assert bot.trained_for == load_policy(teacher).trained_for == TrainedFor(players=(3,), max_hand_size=3)
    assert bot.meta["teacher"]["name"] == "teacher" and bot.meta["held_out"]["kl"] == round(results["kl"], 4)
    simulator = Simulator(Rules(3, (3,)), 50, seed=1, observe=False)
    assert np.array_equal(make_bot(str(folder / "checkpoint")).act(simulator), bot.act(simulator))
    shipped = publish(folder / "checkpoint", "quick", [], tmp_path)
    card = (shipped / "README.md").read_text()
    assert "128 x 32, int16, distilled from `teacher`" in card and "ohhell distil" in card
    assert "| [quick](quick/README.md) | 128 x 32, int16 |" in (tmp_path / "README.md").read_text()
    assert len(json.loads((shipped / "golden.json").read_text())) == 20


def test_a_run_that_is_stopped_ends_as_if_never_interrupted(teacher, tmp_path, monkeypatch):
    whole = distil(options(teacher, tmp_path / "whole"), QUIET)
    examine, calls = training.distil.examine, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) in (2, 4):
            raise KeyboardInterrupt
        return examine(*arguments)

    monkeypatch.setattr(training.distil, "examine", interrupted)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            distil(options(teacher, tmp_path / "stopped"), QUIET)
    assert distil(options(teacher, tmp_path / "stopped"), QUIET) == whole
    ends = [(tmp_path / name / "checkpoint" / WEIGHTS).read_bytes() for name in ("whole", "stopped")]
    assert ends[0] == ends[1]
    assert distil(options(teacher, tmp_path / "whole"), QUIET) == whole, "a run that is done only tells its end again"
    longer = distil(options(teacher, tmp_path / "whole", decisions=6000), QUIET)
    assert longer["kl"] < whole["kl"], "a run can be made longer"


def test_the_quantised_student_is_the_one_that_learns(teacher):
    school = School(PolicyBot.load(teacher), options(teacher, "none"))
    torch.manual_seed(2)
    student, lessons = Student(), school.lessons(0)
    outputs, _ = student.quantised(1.0).evaluate(lessons.games, school.tables)
    logits = student(lessons.ones, lessons.counts).detach().numpy()
    legal = lessons.logits > MASKED / 2
    assert np.abs(outputs - logits)[legal].max() < 0.05  # the middle layer is rounded down to 1/64


@pytest.mark.parametrize("every_table", [False, True])
@pytest.mark.parametrize("width", [128, 512])
def test_weights_within_their_limits_keep_all_sums_exact(width, every_table):
    student = Student(width, every_table)
    with torch.no_grad():
        for parameter in student.parameters():
            parameter.fill_(99.0 if parameter.dim() > 1 else 999.0)
        student.head.bias.fill_(100.0)
    student.limit_weights()
    assert student.quantised(1.0).width == width  # refuses sums that could leave the exact whole numbers


def test_lessons_are_every_decision_with_a_choice_and_depend_on_the_iteration_alone(teacher):
    school = School(PolicyBot.load(teacher), options(teacher, "none"))
    first, other, again = school.lessons(1), school.lessons(2), school.lessons(1)
    for name in ("counts", "logits", "games"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    counted = np.arange(first.ones.shape[1]) < first.counts[:, None]
    assert np.array_equal(first.ones[counted], again.ones[counted])
    assert not np.array_equal(first.games["seed"][:128], other.games["seed"][:128])
    assert ((first.logits > MASKED / 2).sum(axis=1) >= 2).all()
    views = first.games
    probabilities = PolicyBot(school.teacher.network, temperature=school.teacher.own_temperature, endgame=False)
    expected = probabilities.probabilities(views, school.tables).max(axis=1)
    assert torch.softmax(torch.from_numpy(first.logits), 1).max(1).values.numpy() == pytest.approx(expected, abs=1e-5)


def test_a_teacher_for_every_table_has_a_student_for_every_table(tmp_path):
    rules = ("oh_sh", "oh_hell")
    config = Config(rules=rules, width=64, depth=1, max_hand_size=3, sections=EVERY_TABLE)
    torch.manual_seed(3)
    network = PolicyNetwork(64, 1, EVERY_TABLE)
    with torch.no_grad():
        network.head.weight *= 60
    save_checkpoint(tmp_path / "teacher", network, config, Counters())
    run = options(tmp_path / "teacher", tmp_path / "run", decisions=25_000, hands=512)
    school = School(PolicyBot.load(tmp_path / "teacher"), run)
    lessons = school.lessons(0)
    assert lessons.games.dtype == WIDE_GAME and len(set(lessons.games["table"])) > 4
    torch.manual_seed(1)
    student = Student(every_table=True)
    untaught = training.distil.examine(student.quantised(1 / 15), lessons, school, 1 / 15)
    logits = torch.from_numpy(lessons.logits)
    by_torch = divergence(student(lessons.ones, lessons.counts).detach(), logits).mean().item()
    assert untaught["kl"] == pytest.approx(by_torch, abs=0.02), "whole numbers, gathered by the actions' names"
    results = distil(run, QUIET)
    assert results["kl"] < 0.7 * untaught["kl"] and results["agreement"] > untaught["agreement"] + 0.1
    bot = make_bot(str(tmp_path / "run" / "checkpoint"))
    assert isinstance(bot.network, FastEveryTableNetwork) and bot.plays_wide
    simulator = Simulator([preset("oh_sh", players=4), Rules()], 20, seed=1, observe=False)
    batch = simulator.current()
    for _ in range(30):
        batch = simulator.step(bot.act(simulator), out=batch)


def test_divergence_is_that_of_the_distributions_over_legal_actions():
    logits = torch.tensor([[1.0, 2.0, 50.0], [0.0, 0.0, 0.0]])
    targets = torch.tensor([[0.0, 1.0, MASKED], [1.0, 1.0, 1.0]])
    assert divergence(logits, targets).tolist() == pytest.approx([0.0, 0.0], abs=1e-6)
    odd = torch.tensor([[3.0, 0.0, -20.0]])
    p, q = torch.softmax(targets[:1, :2], 1), torch.softmax(odd[:, :2], 1)
    assert divergence(odd, targets[:1]).item() == pytest.approx(float((p * (p / q).log()).sum()), abs=1e-6)


def test_the_tables_of_a_teacher_are_drawn_with_large_hands_more_often():
    rules, shares = tables_of(TrainedFor(players=(3, 7), max_hand_size=8))
    assert shares.sum() == pytest.approx(1) and len(rules) == len(shares) == 4 * (8 + 7)
    by_size = {size: sum(s for r, s in zip(rules, shares) if r.hand_sizes[0] == size) for size in (1, 7, 8)}
    assert by_size[7] > by_size[1] and {one.players for one in rules} == {3, 7}


def test_mistakes_are_told_in_a_line(teacher, distilled, tmp_path, capsys):
    folder, _ = distilled
    assert main(["nobody", "--folder", str(tmp_path / "x")]) == 2
    assert "there is no checkpoint 'nobody'" in capsys.readouterr().err
    assert main([str(folder / "checkpoint"), "--folder", str(tmp_path / "x")]) == 2
    assert "must be a checkpoint that was trained, not distilled" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main([str(teacher), "--folder", str(folder), "--random", "1.5"])
    assert "random=1.5 is not allowed; use 0 to 1" in capsys.readouterr().err
    assert main([str(teacher), "--folder", str(folder), "--seed", "9"]) == 2
    assert "seed 1 -> 9" in capsys.readouterr().err
    assert not (tmp_path / "x").exists() and json.loads((folder / "checkpoint" / META).read_text())["seed"] == 1
