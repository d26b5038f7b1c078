"""Shipped checkpoints: each still plays as when it was published; publishing, model card and leaderboard."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from ohhell_env.arena.evaluate import main as evaluate_command
from ohhell_env.arena.matches import ArenaError
from ohhell_env.arena.results import weights_hash
from ohhell_env.bots.policy import bot as policy
from ohhell_env.bots.policy.bot import META, WEIGHTS, PolicyBot, load_policy, shipped_checkpoints
from ohhell_env.bots.policy.network import FrozenNetwork
from ohhell_env.rules.rules import Rules
from training import publish
from training.learning.checkpoint import Counters, save_checkpoint
from training.learning.config import Config
from training.learning.golden import GOLDEN, golden_differences, golden_values
from training.learning.network import PolicyNetwork

ROOT = Path(__file__).parents[1]
SHIPPED = shipped_checkpoints()


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_checkpoint_plays_as_when_it_was_published(name: str) -> None:
    assert golden_differences(load_policy(name), SHIPPED[name] / GOLDEN) == []


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_checkpoints_card_is_the_generated_one(name: str) -> None:
    meta, evaluations = (
        json.loads((SHIPPED[name] / file).read_text(encoding="utf-8")) for file in (META, publish.EVALUATIONS)
    )
    assert (SHIPPED[name] / "README.md").read_text(encoding="utf-8") == publish.card(name, meta, evaluations)


def test_the_leaderboard_is_the_generated_one() -> None:
    root = ROOT / "checkpoints"
    assert (root / "README.md").read_text(encoding="utf-8") == publish.leaderboard(root)


def run_of(folder: Path, seed: int, decisions: int = 1_000) -> Path:
    """A run's checkpoint with random weights, always the same."""
    torch.manual_seed(seed)
    config = Config(width=64, depth=1, seed=seed)
    save_checkpoint(folder / "checkpoint", PolicyNetwork(64, 1), config, Counters(decisions=decisions, hands=70))
    return folder / "checkpoint"


def evaluated(player: str | Path, opponent: str, out: Path, *options: str) -> Path:
    arguments = [str(player), "--vs", opponent, "--deals", "4", "--out", str(out), *options]
    assert evaluate_command(arguments) == 0
    return out


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two published checkpoints, measured."""
    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("published")
    one, two = run_of(root / "one", 1), run_of(root / "two", 2)
    shipped = root / "checkpoints"
    evaluated(one, "heuristic", root / "evals" / "one" / "a", "--players", "5", "--hands", "1,2", "--set", "bids=open")
    evaluated(f"search+policy:{one}:2", str(one), root / "evals" / "one" / "b", "--hands", "1", "--set", "hook=no")
    evaluated(two, "heuristic", root / "evals" / "two", "--players", "3", "--hands", "1")
    publish.publish(one, "one", [root / "evals" / "one"], shipped)
    publish.publish(two, "two", [root / "evals" / "two"], shipped)
    publish.publish(run_of(root / "three", 3), "three", [], shipped)
    return shipped


def test_a_published_checkpoint_has_the_weights_of_the_run_and_plays_by_its_name(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "CHECKPOINT_FOLDERS", (published,))
    assert set(shipped_checkpoints()) == {"one", "two", "three"}
    run = published.parent / "one" / "checkpoint"
    assert (published / "one" / WEIGHTS).read_bytes() == (run / WEIGHTS).read_bytes()
    assert golden_values(load_policy("one")) == golden_values(load_policy(run))


def test_golden_values_tell_weights_that_have_changed(published: Path, tmp_path: Path) -> None:
    golden = published / "one" / GOLDEN
    bot = PolicyBot.load(published / "one")
    assert golden_differences(bot, golden) == []
    moved = {"head.bias": bot.network.tensors["head.bias"] + np.float32(1e-3)}
    bot = PolicyBot(FrozenNetwork(bot.network.tensors | moved, **bot.network.describe()))
    assert len(golden_differences(bot, golden)) == len(json.loads(golden.read_text())) == 20
    kept = json.loads(golden.read_text())
    kept[3]["values"]["bid 9"] = 0.0
    (tmp_path / GOLDEN).write_text(json.dumps(kept))
    (difference,) = golden_differences(PolicyBot.load(published / "one"), tmp_path / GOLDEN)
    assert difference.startswith("position 3: it was")


def test_the_card_tells_the_strength_and_how_to_measure_it_again(published: Path) -> None:
    card = (published / "one" / "README.md").read_text()
    assert card.startswith("# one\n") and "1,000 decisions" in card and "--folder runs/policy" in card
    table = "5 players, open bids, hook, one seat against the rest"
    report = json.loads((published.parent / "evals" / "one" / "a" / "report.json").read_text())
    lead = report["differences"][0]["points"]
    row = (
        f"| checkpoints/one | heuristic | {table} | 1, 2 | 4 | {lead['mean']:+.2f} ±{lead['high'] - lead['mean']:.2f} |"
    )
    assert row in card
    assert f"| checkpoints/one | heuristic | {table} | 2 | 4 |" in card
    assert (
        "    ohhell evaluate search+policy:one:2 --vs checkpoints/one --rules oh_hell --players 4 --set hook=no "
        "--hands 1 --deals 4 --seed 0\n"
    ) in card
    assert str(published.parent) not in card


def test_the_command_of_the_card_gives_its_numbers_again(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "CHECKPOINT_FOLDERS", (published,))
    card = (published / "two" / "README.md").read_text()
    (line,) = (line for line in card.splitlines() if "ohhell evaluate" in line)
    assert evaluate_command([*line.split()[2:], "--out", str(tmp_path)]) == 0
    again = json.loads((tmp_path / "report.json").read_text())
    (kept,) = json.loads((published / "two" / publish.EVALUATIONS).read_text())
    assert again["settings"] == kept["settings"]
    assert again["differences"] == kept["differences"]


def test_the_leaderboard_has_the_best_first_and_the_unmeasured_last(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (published / "README.md").read_text()
    assert text == publish.leaderboard(published)
    names = [line.split("](")[0].removeprefix("| [") for line in text.splitlines() if line.startswith("| [")]
    means = {name: [one.mean for one in publish.standing(published / name)[1]["heuristic"]] for name in ("one", "two")}
    best = max(means, key=lambda name: sum(means[name]) / len(means[name]))
    assert len(means["one"]) == 2 and len(means["two"]) == 1
    assert names == [best, "two" if best == "one" else "one", "three"]
    monkeypatch.setattr(publish, "shipped_checkpoints", lambda: {name: published / name for name in sorted(names)})
    assert publish.best_shipped() == f"checkpoints/{best}"


def test_a_result_of_the_benchmark_stands_in_the_leaderboard_as_long_as_it_is_of_these_weights(tmp_path: Path) -> None:
    runs = [run_of(tmp_path / str(seed), seed) for seed in (1, 2)]
    score = {"mean": 51.2, "low": 50.0, "high": 52.4, "n": 9}
    result = {
        "benchmark": "OhHell-Bench",
        "version": "v1",
        "format": 1,
        "quick": True,
        "player": {"name": "one", "weights": weights_hash(runs[0])},
        "figures": [{"track": "core", "part": "", "score": score}],
    }
    (tmp_path / "result.json").write_text(json.dumps(result))
    folder = publish.publish(runs[0], "one", to=tmp_path / "to", bench=tmp_path / "result.json")
    assert "| 51.2 ±1.2 (quick) |" in (tmp_path / "to" / "README.md").read_text()
    with pytest.raises(ArenaError, match="measured 'one', which is not this checkpoint"):
        publish.publish(runs[1], "two", to=tmp_path / "to", bench=tmp_path / "result.json")
    assert not (tmp_path / "to" / "two").exists()
    publish.publish(runs[1], "one", to=tmp_path / "to")
    assert folder.joinpath(publish.BENCH).exists() and "51.2" not in (tmp_path / "to" / "README.md").read_text()


def test_a_report_of_other_weights_is_refused_and_nothing_is_written(published: Path, tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="is not this checkpoint or has other weights"):
        publish.publish(run_of(tmp_path, 9), "nine", [published.parent / "evals" / "two"], tmp_path / "to")
    with pytest.raises(ArenaError, match="not a folder with a report"):
        publish.publish(run_of(tmp_path, 9), "nine", [tmp_path / "checkpoint"], tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_a_report_by_rules_that_the_command_cannot_give_is_refused(published: Path, tmp_path: Path) -> None:
    shutil.copytree(published.parent / "evals" / "two", tmp_path / "evals")
    report = json.loads((tmp_path / "evals" / "report.json").read_text())
    rules = Rules.from_json(report["settings"]["rules"][0])
    report["settings"]["rules"][0] = replace(rules, scoring=lambda bid, taken, size: taken - bid).to_json()
    (tmp_path / "evals" / "report.json").write_text(json.dumps(report))
    with pytest.raises(ArenaError, match="rules that no option of the command gives"):
        publish.publish(published / "two", "two", [tmp_path / "evals"], tmp_path / "to")


@pytest.mark.parametrize("name", ["", "../up", "a/b", "two words", ".hidden"])
def test_a_name_that_is_no_folders_name_is_refused(published: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(ArenaError, match="is not allowed; use letters"):
        publish.publish(published / "two", name, [], tmp_path)


def test_the_command_tells_what_is_wrong_with_a_checkpoint_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = run_of(tmp_path, 4)
    assert publish.main([str(source), "four", "--to", str(tmp_path / "to")]) == 0
    assert "Written" in capsys.readouterr().out
    save_file({"weight": torch.zeros(2)}, source / WEIGHTS)
    assert publish.main([str(source), "four", "--to", str(tmp_path / "to")]) == 2
    assert capsys.readouterr().err.startswith(f"error: {source} cannot be published: ")
