"""Data flow one way: a file imports what stands before it, never what stands after it; and nothing heavy at import."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ohhell_env

PACKAGE = Path(ohhell_env.__file__).parent

# Each file of the package in its place. A name with a dot at its end stands for a whole folder, whose files may import
# one another. Who adds a file gives it a place.
ORDER = [
    "limits",
    "cards",
    "ramps",
    "scoring",
    "wording",
    "rules",
    "presets",
    "jit",
    "state",
    "standard",
    "variants",
    "variants_play",
    "kernel",
    "sections",
    "observation_wide",
    "observation",
    "decoding",
    "render.ansi",
    "events",
    "words",
    "game",
    "render.scene",
    "render.paint",
    "render.faces",
    "render.table",
    "render.window",
    "simulator",
    "notation",
    "replay",
    "aec",
    "noop",
    "ohhell_v0",
    "bots.",
    "review",
    "render.replay_html",
    "view",
    "match",
    "play_screen",
    "play",
    "watch",
    "lineup",
    "seat",
    "seat_vector",
    "adapters.",
    "benchmark",
]
OUTSIDE = {
    *("torch", "pygame", "matplotlib", "ray", "stable_baselines3", "sb3_contrib", "tianshou", "torchrl", "tensordict"),
    *("pyspiel", "open_spiel", "textarena", "training"),
}


def name_of(file: Path) -> str:
    parts = list(file.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def place_of(module: str) -> int | None:
    """Where a module stands in ORDER; None for the package's own __init__ and for names that have no place."""
    for place, name in enumerate(ORDER):
        if module == name or (name.endswith(".") and (module + ".").startswith(name)):
            return place
    return None


FILES = {name_of(file): file for file in sorted(PACKAGE.rglob("*.py"))}
PLACELESS = {"", "render"}  # __init__ files that import nothing of ours


def imports(node: ast.AST, package: str) -> Iterator[str]:
    """Modules that a file imports, in functions too; what only type checkers read does not count."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            parents = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*parents, *([base] if base else [])])
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names)
    type_checkers_only = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    for inner in node.orelse if type_checkers_only else ast.iter_child_nodes(node):
        yield from imports(inner, package)


def ours(module: str) -> set[str]:
    """The package's modules that a module imports, by name in the package."""
    file = FILES[module]
    inside = module if file.name == "__init__.py" else module.rpartition(".")[0]
    found = imports(ast.parse(file.read_text(encoding="utf-8")), f"ohhell_env.{inside}".rstrip("."))
    names = {name.removeprefix("ohhell_env").lstrip(".") for name in found if name.split(".")[0] == "ohhell_env"}
    return {name for name in names if name in FILES and name not in PLACELESS}


def test_every_file_has_its_place() -> None:
    assert {module for module in FILES if place_of(module) is None} == PLACELESS
    missing = [name for name in ORDER if not any(place_of(module) == ORDER.index(name) for module in FILES)]
    assert not missing, "a place for a file that is gone"


@pytest.mark.parametrize("module", [module for module in FILES if module not in PLACELESS])
def test_a_file_imports_only_what_stands_before_it(module: str) -> None:
    place = place_of(module)
    assert place is not None
    for other in ours(module):
        before = place_of(other)
        assert before is not None
        assert before < place or (before == place and ORDER[place].endswith(".")), f"{module} imports {other}"


@pytest.mark.parametrize("module", PLACELESS)
def test_a_package_itself_imports_nothing_of_ours(module: str) -> None:
    assert ours(module) == set()


def test_the_rules_know_no_environment_no_bot_and_no_learning_library() -> None:
    for module, file in FILES.items():
        found = {name.split(".")[0] for name in imports(ast.parse(file.read_text(encoding="utf-8")), "ohhell_env")}
        if place_of(module) is not None and place_of(module) < ORDER.index("aec"):
            assert not found & {"pettingzoo", "gymnasium"}, module
        if module != "benchmark" and not module.startswith(("bots", "adapters")):
            allowed = {"pygame"} if module == "render.paint" else set()
            assert not found & OUTSIDE - allowed, module


def test_the_parser_of_this_test_sees_imports_of_every_form() -> None:
    code = """
import ohhell_env.cards
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from ohhell_env.game import Game
else:
    import ohhell_env.rules
def function():
    from ohhell_env import kernel
    class Inner:
        from . import state
        from ..render import ansi
try:
    from .limits import MAX_HANDS
except ImportError:
    pass
"""
    found = set(imports(ast.parse(code), "ohhell_env.bots"))
    assert {"ohhell_env.cards", "ohhell_env.rules", "ohhell_env.kernel", "ohhell_env.bots.state"} <= found
    assert {"ohhell_env.render.ansi", "ohhell_env.bots.limits"} <= found
    assert not any("game" in name for name in found)


@pytest.mark.parametrize(
    "module",
    ["ohhell_env", *(f"ohhell_env.{name}" for name in ("ohhell_v0", "simulator", "notation", "play", "watch"))],
)
def test_importing_loads_no_learning_and_no_drawing_library(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split())
    assert "ohhell_env" in loaded
    assert not loaded & {*OUTSIDE, "tensorboard", "safetensors"}, (
        "SciPy is Numba's affair: it loads it where it finds it"
    )
    if module == "ohhell_env":
        assert "numba" not in loaded, "importing the package compiles nothing"
    assert run.stderr == ""
