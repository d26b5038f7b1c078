"""Adapters and examples where their library is missing: an error that says what to install."""

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [
        ("ohhell_env.adapters.sb3", "stable_baselines3", "sb3"),
        ("ohhell_env.adapters.textarena", "textarena", "textarena"),
        ("ohhell_env.adapters.torchrl", "torchrl", "torchrl"),
        ("ohhell_env.adapters.open_spiel", "pyspiel", "openspiel"),
        ("training.examples.open_spiel_cfr", "pyspiel", "openspiel"),
        ("training.examples.open_spiel_ismcts", "pyspiel", "openspiel"),
        ("training.examples.rllib_ppo", "ray", "rllib"),
        ("training.examples.sb3_maskable_ppo", "stable_baselines3", "sb3"),
        ("training.examples.tianshou_dqn", "tianshou", "tianshou"),
        ("training.examples.torchrl_ppo", "torchrl", "torchrl"),
        ("training.examples.cleanrl_ppo", "torch", "train"),
    ],
)
def test_a_missing_library_is_an_error_that_names_the_extra(
    module: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(("ohhell_env.adapters.", "training.examples."))]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name == library or name.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)  # its import fails from here on
    with pytest.raises(ImportError, match=re.escape(f"pip install 'ohhell-env[{extra}]'")):
        importlib.import_module(module)


@pytest.mark.parametrize(("module", "library"), [("benchmarl_ippo", "benchmarl"), ("agilerl_ppo", "agilerl")])
def test_a_missing_library_that_no_extra_has_is_an_error_that_names_its_environment(
    module: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"training.examples.{module}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    assert (ROOT / "integrations" / f"{library}.txt").exists()
    with pytest.raises(ImportError, match=f"integrations/{library}.txt"):
        importlib.import_module(f"training.examples.{module}")


def test_every_extra_that_is_asked_for_can_be_installed() -> None:
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    files = [*(ROOT / "ohhell_env" / "adapters").glob("*.py"), *(ROOT / "training" / "examples").glob("*.py")]
    asked = {
        extra
        for file in files
        for extra in re.findall(r'missing_extra\(error, "(\w+)"\)', file.read_text(encoding="utf-8"))
    }
    assert {"sb3", "textarena", "tianshou", "torchrl", "train"} <= asked
    for extra in asked:
        assert re.search(rf"^{extra} = \[", declared, flags=re.MULTILINE), extra


def test_every_example_is_in_the_docs_with_its_extra() -> None:
    page = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
    examples = {file.stem for file in (ROOT / "training" / "examples").glob("*.py")} - {"__init__", "margin"}
    assert [name for name in sorted(examples) if f"`{name}`" not in page] == []
