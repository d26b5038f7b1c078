"""The wheel in an environment that has the package's own dependencies and nothing else: every command works there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
PLAY = ["play", "--players", "2", "--set", "ramp=1", "--opponents", "random", "--seed", "1", "--record", "match.jsonl"]


def dependencies(name: str = "ohhell-env") -> Iterator[metadata.Distribution]:
    """The distributions that installing the package brings, without any extra, from what is installed here."""
    waiting, seen = [Requirement(name)], set()
    while waiting:
        wanted = waiting.pop()
        key = (wanted.name.lower().replace("_", "-"), *sorted(wanted.extras))
        if key in seen:
            continue
        seen.add(key)
        for text in required(wanted.name):
            needed = Requirement(text)
            extras = ["", *wanted.extras]
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
        if wanted.name != name:
            yield metadata.distribution(wanted.name)


def required(name: str) -> list[str]:
    """What a distribution requires; of this one, what the checkout says."""
    if name == "ohhell-env":
        import tomllib

        data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        return list(data["project"]["dependencies"])
    return metadata.requires(name) or []


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment ``env`` that the wheel is installed in, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "env", symlinks=True)
    (site,) = (folder / "env").glob("lib/python*/site-packages")
    others = folder / "dependencies"
    others.mkdir()
    for distribution in dependencies():
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            if not (others / top).exists():
                (others / top).symlink_to(str(distribution.locate_file(top)))
    (site / "dependencies.pth").write_text(f"{others}\n")
    python = str(folder / "env" / "bin" / "python")
    install = ["-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, *install], check=True, capture_output=True, text=True)
    return folder


def run(installed: Path, *arguments: str, typed: str = "", status: int = 0) -> subprocess.CompletedProcess[str]:
    """``ohhell ARGUMENTS`` there, in a folder of its own."""
    there = installed / "there"
    there.mkdir(exist_ok=True)
    unwanted = ("PYTHONPATH", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    done = subprocess.run(
        [installed / "env" / "bin" / "ohhell", *arguments],
        cwd=there, env=environment, input=typed, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_it_has_its_dependencies_and_no_library_for_learning_or_drawing(installed: Path) -> None:
    for module, there in (("tyro", True), ("torch", False), ("matplotlib", False), ("pygame", False)):
        code = f"import importlib.util; print(importlib.util.find_spec({module!r}) is not None)"
        done = subprocess.run(
            [installed / "env" / "bin" / "python", "-c", code], capture_output=True, text=True, cwd=installed
        )
        assert done.stdout.strip() == str(there), module


def test_it_evaluates_bots_and_the_shipped_checkpoint(installed: Path) -> None:
    arguments = ["--deals", "2", "--hands", "1", "--players", "3", "--out", "out"]
    done = run(installed, "evaluate", "checkpoints/mix512", "--vs", "random", *arguments)
    assert "checkpoints/mix512 against random" in done.stdout
    report = json.loads((installed / "there" / "out" / "report.json").read_text())
    assert report["players"][0]["hands"] == 2 * 3
    assert 'the picture needs matplotlib: pip install "ohhell-env[plots]"' in done.stderr
    assert not (installed / "there" / "out" / "report.png").exists()


def test_it_rates_players(installed: Path) -> None:
    done = run(installed, "tournament", "random", "heuristic", "--deals", "2", "--hands", "1", "--out", "cup")
    assert "Standings" in done.stdout
    assert (installed / "there" / "cup" / "standings.json").exists()


def test_it_plays_and_shows_the_match(installed: Path) -> None:
    done = run(installed, *PLAY, typed="0\n\n\n\n\n\n" * 3)
    assert "match.jsonl" in done.stdout
    done = run(installed, "view", "match.jsonl")
    assert "match.html: " in done.stdout
    assert "<html" in (installed / "there" / "match.html").read_text(encoding="utf-8")


def test_it_describes_tables(installed: Path) -> None:
    assert "mormon_bridge" in run(installed, "rules").stdout
    (installed / "there" / "mine.json").write_text(run(installed, "rules", "blob", "--json").stdout)
    assert "Scoring: blob" in run(installed, "rules", "mine.json").stdout


def test_it_says_where_the_rest_is(installed: Path) -> None:
    told = run(installed, "train", status=2).stderr
    assert "ohhell train is a part of the project's source" in told
    told = run(installed, "watch", "random", "--save", "table.png", status=2).stderr
    assert 'pip install "ohhell-env[render]"' in told
