"""The bake-off: what is measured once is read again, means over runs, and the whole command at a tiny size."""

import re
from pathlib import Path

import pytest
import torch

import training.bakeoff
from ohhell_env.arena.intervals import Estimate
from training.bakeoff import Options, as_markdown, averaged, main, mean_of_runs, measure
from training.learning.checkpoint import Counters, save_checkpoint
from training.learning.config import Config
from training.learning.network import PolicyNetwork


@pytest.fixture
def folder(tmp_path):
    """Two untrained runs."""
    for seed, name in enumerate(("dmc-1", "ppo-1")):
        torch.manual_seed(seed)
        save_checkpoint(tmp_path / name / "checkpoint", PolicyNetwork(64, 1), Config(), Counters(decisions=5))
    return tmp_path


def test_an_evaluation_is_made_once_and_again_when_its_weights_or_its_deals_are_others(folder, monkeypatch):
    calls = []
    evaluate = training.bakeoff.evaluate

    def counted(*arguments, **options):
        calls.append(options["deals"])
        return evaluate(*arguments, **options)

    monkeypatch.setattr(training.bakeoff, "evaluate", counted)
    options = Options(folder, hands="1,2", deals=5)
    first = measure(options, "dmc-1", "ppo-1", "one", 1)
    assert set(first) == {1, 2} and first[1].n == 5
    assert measure(options, "dmc-1", "ppo-1", "one", 1) == first and calls == [5]
    assert measure(Options(folder, hands="1,2", deals=6), "dmc-1", "ppo-1", "one", 1)[1].n == 6
    save_checkpoint(folder / "ppo-1" / "checkpoint", PolicyNetwork(64, 1), Config(), Counters())
    measure(Options(folder, hands="1,2", deals=6), "dmc-1", "ppo-1", "one", 1)
    assert calls == [5, 6, 6]


def test_the_mean_of_runs_on_different_deals_has_the_interval_of_independent_estimates():
    mean = mean_of_runs([Estimate(1.0, 0.7, 1.3, 100), Estimate(2.0, 1.6, 2.4, 50)])
    assert mean == pytest.approx((1.5, 1.25, 1.75, 150))


def test_the_table_has_the_mean_over_the_seeds_and_each_run(folder):
    rows = [("dmc - heuristic", seed, {3: Estimate(seed, seed - 0.3, seed + 0.3, 10)}) for seed in (1, 2)]
    assert averaged(rows)["dmc - heuristic"][3].mean == 1.5
    text = as_markdown(Options(folder, seeds=(1,)), rows)
    assert "| **dmc - heuristic** | mean | +1.50 ±0.21 | +1.50 |\n| | 1 | +1.00 ±0.30 | +1.00 |" in text
    assert "| ppo, seed 1 | 0.0 | 5 | 0 |" in text


def test_options_that_make_no_sense_are_refused_before_anything_is_trained(tmp_path, capsys):
    assert main(["--out", str(tmp_path / "none"), "--width", "100"]) == 2
    assert "width=100 is not allowed; use a multiple of 64" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


@pytest.mark.long  # interpreters that import torch
def test_the_whole_command_trains_measures_and_writes_and_does_nothing_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    arguments = ["--out", str(tmp_path), "--width", "64", "--cpu-minutes", "0.01", "--seeds", "1"]
    arguments += ["--hands", "1", "--deals", "5"]
    assert main(arguments) == 0
    text = (tmp_path / "results.md").read_text()
    assert len(re.findall(r"\*\*(dmc|ppo) - ", text)) == 4 and (tmp_path / "results.png").stat().st_size > 1000
    states = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.safetensors")}
    assert main(arguments) == 0 and (tmp_path / "results.md").read_text() == text
    assert states == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.safetensors")}
