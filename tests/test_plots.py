"""The plots of a folder show what the run, its evaluations and its reports say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from ohhell_env.arena.evaluate import main as evaluate
from training import plots
from training.learning.progress import Progress

QUIET = Console(quiet=True)


def a_run(folder: Path, iterations: int = 30, resumed_after: int | None = None) -> Path:
    """A folder as training leaves it; with ``resumed_after`` the iterations behind that are done twice."""
    folder.mkdir(exist_ok=True)
    for first in [0] if resumed_after is None else [0, resumed_after]:
        progress = Progress(folder, first, QUIET)
        for k in range(first + 1, iterations + 1):
            progress.report(
                k, {"decisions": 1000 * k, "points_a_hand": k / 10, "epsilon": 0.1, "minutes_left": 1,
                    "decisions_per_s": 5.0, "bids_made": 0.5},
                {"value_loss": 1 / k, "explained_variance": float("nan")},
            )  # fmt: skip
            if k % 10 == 0:
                progress.evaluated(k, "heuristic", {"4p 5c": k + 0.5 + first, "mean": float(k + first)})
        progress.close()
    return folder


def pixels(path: Path) -> Any:
    from matplotlib.image import imread

    return imread(path)


def test_a_run_gives_curves_and_a_table_of_its_evaluations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = a_run(tmp_path / "run")
    assert plots.main([str(folder)]) == 0
    assert "curves.png" in capsys.readouterr().out
    for name in ("curves.png", "evaluations.png"):
        picture = pixels(folder / name)
        assert picture.shape[0] > 200 and picture.std() > 0.02, "something is drawn"
    before = (folder / "curves.png").read_bytes()
    assert plots.main([str(folder)]) == 0
    assert (folder / "curves.png").read_bytes() == before, "the same run, the same bytes"


def test_the_curves_are_the_runs_figures(tmp_path: Path) -> None:
    columns = plots.read_progress(a_run(tmp_path / "run"))
    assert columns["decisions"].tolist() == [1000.0 * k for k in range(1, 31)]
    assert columns["points_a_hand"].tolist() == pytest.approx([k / 10 for k in range(1, 31)])


def test_a_resumed_runs_evaluations_are_those_that_count(tmp_path: Path) -> None:
    found = plots.read_evaluations(a_run(tmp_path / "run", resumed_after=15) / "tb")
    steps, values = found["heuristic"]["4p 5c"]
    assert steps.tolist() == [10, 20, 30]
    assert values.tolist() == [10.5, 35.5, 45.5], "those after iteration 15 come from the resumed run"


def test_a_report_is_plotted_as_a_table_of_strength(tmp_path: Path) -> None:
    command = "random --vs random --players 3 --hands 1,2 --deals 20 --out"
    assert evaluate([*command.split(), str(tmp_path / "evals")]) == 0
    assert plots.main([str(tmp_path), "--out", str(tmp_path / "pictures")]) == 0
    assert [path.name for path in (tmp_path / "pictures").iterdir()] == ["strength.png"]
    assert pixels(tmp_path / "pictures" / "strength.png").std() > 0.02


def test_the_shipped_checkpoints_have_their_strength_plotted(tmp_path: Path) -> None:
    folder = Path(__file__).resolve().parent.parent / "checkpoints" / "mix512"
    reports = plots.read_reports(folder)
    assert len(reports) == len(json.loads((folder / "evaluations.json").read_text()))
    assert plots.plot_folder(folder, tmp_path) == [tmp_path / "strength.png"]


def test_a_moving_mean_is_the_mean_of_the_neighbours() -> None:
    values = np.array([1.0, 2.0, np.nan, 4.0, 8.0])
    expected = [np.nanmean(values[max(0, k - 1) : k + 2]) for k in range(5)]
    assert plots.moving_mean(values, 1).tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "nothing to plot"),
        ({"progress.csv": "iteration,decisions\n"}, "holds no iteration yet"),
        ({"progress.csv": "iteration,decisions\n1,many\n"}, "progress.csv is damaged"),
        ({"report.json": "{"}, "report.json is damaged"),
        ({"report.json": "{}"}, "report.json is damaged"),
    ],
)
def test_what_cannot_be_plotted_is_told(
    files: dict[str, str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert plots.main([str(tmp_path)]) == 2
    assert reason in capsys.readouterr().err
    assert not list(tmp_path.glob("*.png"))
    assert plots.main([str(tmp_path / "nowhere")]) == 2
