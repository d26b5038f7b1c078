"""Data flow one way: a layer imports those below it, never those above it; and nothing heavy at import."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ohhell_env

PACKAGE = Path(ohhell_env.__file__).parent
LEARNING = {
    *("torch", "ray", "stable_baselines3", "sb3_contrib", "tianshou", "torchrl", "tensordict"),
    *("pyspiel", "open_spiel", "textarena", "training"),
}
DRAWING = {"pygame", "matplotlib"}


def imports(file: Path) -> Iterator[str]:
    """Top-level names of all that a file imports, in functions too."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").split(".")[0]


def test_the_layers_and_the_absence_of_circles_hold() -> None:
    """In a process of its own: import-linter sets up logging for the whole process that it runs in."""
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    run = subprocess.run(
        [sys.executable, "-c", command, "--no-cache"], cwd=PACKAGE.parent, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("folder", ["rules", "kernel", "observation", "table"])
def test_the_rules_know_no_environment_and_no_library_for_learning_or_drawing(folder: str) -> None:
    for file in (PACKAGE / folder).rglob("*.py"):
        assert not set(imports(file)) & {"pettingzoo", "gymnasium", *LEARNING, *DRAWING}, file


@pytest.mark.parametrize(
    "module",
    [
        "ohhell_env",
        *(f"ohhell_env.{name}" for name in ("ohhell_v0", "simulator", "records.notation", "commands.play")),
        "ohhell_env.commands.watch",
    ],
)
def test_importing_loads_no_learning_and_no_drawing_library(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split())
    assert "ohhell_env" in loaded
    assert not loaded & {*LEARNING, *DRAWING, "tensorboard", "starlette", "uvicorn"}, (
        "SciPy is Numba's affair: it loads it where it finds it"
    )
    if module == "ohhell_env":
        assert "numba" not in loaded, "importing the package compiles nothing"
    assert run.stderr == ""
