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
ROOT = PACKAGE.parent
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


# Names by which code would ask which form a table is of. `Form` itself is a set of sizes, which anybody may use.
ASKING = {"by_form", "STANDARD_FORM", "WIDE_FORM", "WIDE_GAME", "WIDE_TABLE", "form_named", "wide_options"}
INPUTS = "a network reads one of two layouts of input, whatever the table"
TWO_INPUTS = dict.fromkeys(
    ("ohhell_env/bots/base.py", "ohhell_env/bots/policy/fast_every_table.py", "training/learning/collector.py"), INPUTS
)
MAY_ASK = TWO_INPUTS | {
    "ohhell_env/envs/aec.py": "the length of the default game's state, a constant",
    "ohhell_env/rules/rules.py": "says what makes a table one of the wide form",
    "ohhell_env/rules/presets.py": "the documents list which layout of observation each preset has",
    "ohhell_env/bots/sampling.py": "two ways of dealing the same distribution, one faster where all cards differ",
    "ohhell_env/bots/hand_model.py": "a function that is not compiled where every seat sees its cards",
    "ohhell_env/arena/bench/pins.py": "takes samples of both layouts of observation",
    "ohhell_env/adapters/open_spiel.py": "OpenSpiel's chance nodes deal a pack without copies, and bids come first",
}


def asks_for_the_form(text: str) -> set[str]:
    """Names in a Python file by which it asks which form a table is of."""
    found = set()
    named = {ast.Name: "id", ast.Attribute: "attr", ast.alias: "name"}
    for node in ast.walk(ast.parse(text)):
        found |= {getattr(node, named.get(type(node), ""), None)} & ASKING
        if isinstance(node, ast.Attribute) and node.attr == "standard" and isinstance(node.ctx, ast.Load):
            found.add("standard")
        if isinstance(node, ast.Constant) and node.value == "wide":
            found.add("wide")
    return found


def test_no_tool_asks_which_form_a_table_is_of() -> None:
    files = [*PACKAGE.rglob("*.py"), *(ROOT / "training").rglob("*.py")]
    asking = {}
    for file in files:
        name = file.relative_to(ROOT).as_posix()
        if not name.startswith(("ohhell_env/kernel/", "ohhell_env/observation/")):
            asking[name] = asks_for_the_form(file.read_text(encoding="utf-8"))
    assert {name: found for name, found in asking.items() if found and name not in MAY_ASK} == {}
    assert [name for name in MAY_ASK if not asking[name]] == [], "these no longer ask: take them off the list"
    pages = [*PACKAGE.rglob("*.js"), *PACKAGE.rglob("*.html")]
    assert len(pages) > 5
    assert [file.name for file in pages if ".standard" in file.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(
    "text",
    [
        "if rules.standard: pass",
        "from ohhell_env.kernel.jit import by_form",
        "f is state.WIDE_FORM",
        "f.name == 'wide'",
    ],
)
def test_asking_is_noticed(text: str) -> None:
    assert asks_for_the_form(text)
