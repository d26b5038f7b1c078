"""The README says what is so: its examples run, and its generated parts are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ohhell_env import Rules, Simulator, ohhell_v0
from ohhell_env.observation.decode import layout_table, observation_text
from ohhell_env.rules.presets import preset, preset_table

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def observed_example() -> str:
    """The observation that the README shows as text: player_2, about to play to the second trick of a small hand."""
    simulator = Simulator(Rules(ramp=(5, 4, 3)), seed=12)
    while len(simulator[0].tricks) < 1 or len(simulator[0].trick) < 2:
        simulator.step([simulator[0].legal_actions[len(simulator[0].legal_actions) // 2]])
    return observation_text(simulator.current().observation[0])


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_every_python_example_runs(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(EXAMPLES[number], f"README example {number + 1}", "exec"), {})


def test_the_table_of_sections_is_the_codes() -> None:
    assert layout_table() in README


def test_the_table_of_presets_is_the_codes() -> None:
    assert preset_table() in README


def test_the_sizes_of_the_wide_form_are_the_codes() -> None:
    env = ohhell_v0.env(preset("pocha"))
    sizes = (env.action_space("player_0").n, env.observation_space("player_0")["observation"].shape[0])
    assert f"`Discrete({sizes[0]})`, an observation of {sizes[1]} entries" in README


def test_the_observation_shown_is_a_real_one() -> None:
    assert observed_example() in README
