"""What every learner must have, the figures that a run logs, and the network fed by the numbers of its ones."""

import csv
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from training.learning import distributed
from training.learning.config import OWN_DEFAULTS, WITHOUT, Config
from training.learning.learners import LEARNERS, learner_of
from training.learning.network import ActorCritic, TrainingNetwork
from training.learning.optimisation import gradient_step
from training.learning.ppo import ppo_loss
from training.train import main, train

ROOT = Path(__file__).parents[1]
TINY = {
    "players": (3, 4), "max_hand_size": 3, "width": 64, "depth": 1, "hands": 32, "minibatch_size": 128,
    "eval_minutes": 0.0, "save_minutes": 0.0, "precision": "fp32", "decisions": 1000,
}  # fmt: skip
FIGURES = {
    "ppo": {"policy_loss", "value_loss", "entropy", "approx_kl", "clipfrac"},
    "dmc": {"value_loss"},
    "all-action": {"regression_loss", "variance_loss", "correlation"},
}
FROM_NOTHING = ("ppo", "dmc")  # learners that need no policy to start from


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def test_learners_are_told_apart_in_one_place():
    assert set(LEARNERS) == set(OWN_DEFAULTS) == set(WITHOUT) == set(FIGURES)
    asked = re.compile(r"learner [!=]= |isinstance\([^)]*(PPO|DMC|ActorCritic)")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in (ROOT / "training").rglob("*.py")
        for line in path.read_text().splitlines()
        if asked.search(line) and path.name != "network.py"
    ]
    assert found == []


@pytest.mark.parametrize("learner", FROM_NOTHING)
def test_a_learner_plays_learns_and_tells_its_figures(learner):
    torch.manual_seed(0)
    learner = learner_of(Config(learner=learner, **TINY))
    network = TrainingNetwork(learner.network())
    experience = learner.collector().collect(network, 0, learner.exploration(0.0))
    arrays = learner.arrays(experience, network)
    assert {len(array) for array in arrays} == {len(experience.actions)} == {len(experience.values)}
    batch = tuple(torch.from_numpy(array) for array in arrays)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    figures = gradient_step(network, optimiser, batch, 1.0, partial(learner.loss, 0.0))
    assert set(figures) == {"loss", "grad_norm"} | FIGURES[learner.config.learner]
    assert all(np.isfinite(value) for value in figures.values()) and figures["grad_norm"] > 0


def test_the_values_kept_by_dmc_are_those_of_the_actions_taken():
    torch.manual_seed(0)
    learner = learner_of(Config(learner="dmc", **TINY))
    network = TrainingNetwork(learner.network())
    experience = learner.collector().collect(network, 0, 0.5)
    values = network(torch.from_numpy(experience.inputs)).detach().numpy()
    taken = values[np.arange(len(values)), experience.actions]
    assert experience.values == pytest.approx(taken, abs=1e-5)


def test_the_figures_of_ppo_are_those_of_the_minibatch():
    """Two decisions of two actions; the policy gives each .5, and drew them at .5 and .4."""
    outputs = torch.tensor([[0.0, 0.0, 0.3], [0.0, 0.0, -0.1]])
    mask = torch.ones(2, 2, dtype=torch.bool)
    given = (
        torch.tensor([0, 1]),
        mask,
        torch.tensor([0.5, 0.4]).log(),
        torch.tensor([1.0, -2.0]),
        torch.tensor([0.5, 0.2]),
    )
    loss, figures = ppo_loss(outputs, *given, clip_coef=0.2, vf_coef=0.5, ent_coef=0.1)
    expected = {
        "policy_loss": -(1.0 * 1.0 - 2.0 * 1.25) / 2,
        "value_loss": (0.2**2 + 0.3**2) / 2,
        "entropy": np.log(2),
        "approx_kl": (0.25 - np.log(1.25)) / 2,
        "clipfrac": 0.5,
    }
    assert {name: value.item() for name, value in figures.items()} == pytest.approx(expected, abs=1e-6)
    assert loss.item() == pytest.approx(
        expected["policy_loss"] + 0.5 * expected["value_loss"] - 0.1 * expected["entropy"], abs=1e-6
    )


@pytest.mark.parametrize("learner", FROM_NOTHING)
def test_a_run_logs_each_figure_apart(learner, tmp_path):
    train(Config(learner=learner, folder=tmp_path, **TINY), Console(quiet=True))
    with (tmp_path / "progress.csv").open() as file:
        rows = list(csv.DictReader(file))
    losses = FIGURES[learner] | {"loss", "grad_norm", "explained_variance"}
    assert losses <= set(rows[0]) and all(np.isfinite(float(row[name])) for row in rows for name in losses)
    tags = EventAccumulator(str(tmp_path / "tb")).Reload().Tags()["scalars"]
    assert {tag.removeprefix("losses/") for tag in tags if tag.startswith("losses/")} == losses
    assert {"charts/points_a_hand", "charts/lr"} <= set(tags)


def test_a_network_fed_by_indices_is_the_dense_one_forward_and_backward():
    torch.manual_seed(1)
    policy = ActorCritic(128, 2)
    inputs = (torch.rand(37, policy.num_inputs) < 0.1).to(torch.int8)
    inputs[0], inputs[1] = 0, 1
    results = []
    for by_index in (False, True):
        policy.zero_grad()
        outputs = TrainingNetwork(policy, by_index=by_index)(inputs)
        outputs.sin().sum().backward()
        results.append([outputs.detach(), *(p.grad.clone() for p in policy.parameters())])
    for one, other in zip(*results, strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-4 * float(one.abs().max()))


@pytest.mark.parametrize("learner", FROM_NOTHING)
def test_a_run_by_indices_learns_what_one_by_rows_does(learner, tmp_path, monkeypatch):
    config = Config(learner=learner, folder=tmp_path / "rows", **{**TINY, "decisions": 200})
    rows = train(config, Console(quiet=True))
    monkeypatch.setattr("training.train.TrainingNetwork", partial(TrainingNetwork, by_index=True))
    indices = train(Config.from_json({**config.to_json(), "folder": str(tmp_path / "indices")}), Console(quiet=True))
    for one, other in zip(rows.parameters(), indices.parameters(), strict=True):
        assert torch.allclose(one, other, rtol=1e-3, atol=1e-5)


def test_a_device_that_is_not_there_is_refused_by_name(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(distributed.torch.cuda, "device_count", lambda: 0)
    assert main(["--device", "cuda", "--folder", str(tmp_path / "run")]) == 1
    assert "device='cuda' is unavailable" in capsys.readouterr().out
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "flag", ["update-epochs", "minibatch-size", "clip-coef", "ent-coef", "vf-coef", "max-grad-norm", "device"]
)
def test_the_flags_are_those_that_users_of_pytorch_know(flag, capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    output = capsys.readouterr().out
    assert f"--{flag} " in output and output.startswith("usage: ohhell train ")
