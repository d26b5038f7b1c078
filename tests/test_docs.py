"""README and docs/ say what is so: examples run, links lead somewhere, generated tables are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ohhell_env import Rules, Simulator, ohhell_v0
from ohhell_env.__main__ import COMMANDS
from ohhell_env.observation.decode import layout_table, observation_text
from ohhell_env.rules.presets import PRESETS, SOURCES, preset, preset_table

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in PAGES}
EXAMPLES = [
    pytest.param(code, id=f"{name}-{number}")
    for name, text in TEXTS.items()
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL), 1)
]
NAMED = ("ohhell_env", "training", "tests", "docs", "checkpoints", "integrations")  # folders whose files pages name


def without_code(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    headings = re.findall(r"^#+ (.*)$", without_code(page.read_text(encoding="utf-8")), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def observed_example() -> str:
    """The observation that the docs show as text: player_2, about to play to the second trick of a small hand."""
    simulator = Simulator(Rules(ramp=(5, 4, 3)), seed=12)
    while len(simulator[0].tricks) < 1 or len(simulator[0].trick) < 2:
        simulator.step([simulator[0].legal_actions[len(simulator[0].legal_actions) // 2]])
    return observation_text(simulator.current().observation[0])


@pytest.mark.parametrize("code", EXAMPLES)
def test_every_python_example_runs(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "example", "exec"), {"__name__": "example"})


@pytest.mark.parametrize("page", PAGES, ids=list(TEXTS))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        other = page.parent / file if file else page
        assert other.exists(), f"{page.name}: {target}"
        assert not anchor or anchor in anchors(other), f"{page.name}: {target} has no such heading"


@pytest.mark.parametrize("name", TEXTS)
def test_every_file_named_exists(name: str) -> None:
    for path in re.findall(rf"`((?:{'|'.join(NAMED)})/[\w./-]*)`", TEXTS[name]):
        assert "NAME" in path or (ROOT / path).exists(), path


@pytest.mark.parametrize("name", TEXTS)
def test_every_command_named_exists(name: str) -> None:
    text = TEXTS[name]
    for command in re.findall(r"(?:^|\n|`|bin/)ohhell ([a-z][a-z-]*)", text):
        assert command in COMMANDS, command
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    for target in re.findall(r"(?:^|\n|`)make ([a-z-]+)", text):
        assert target in targets, target


def test_the_readme_is_short_and_links_every_page() -> None:
    assert len(TEXTS["README.md"].encode()) <= 8_000
    for name in TEXTS:
        assert name == "README.md" or f"]({name})" in TEXTS["README.md"], name


def test_the_tables_of_sections_are_the_codes() -> None:
    assert layout_table() in TEXTS["docs/observation.md"]
    assert layout_table(wide=True) in TEXTS["docs/observation.md"]


def test_the_table_of_presets_is_the_codes() -> None:
    assert preset_table() in TEXTS["docs/rules.md"]
    for name in PRESETS:
        assert f"| {SOURCES.get(name, 'encyclopedia')} |" in TEXTS["docs/sources.md"]
        assert f"`{name}`" in TEXTS["docs/sources.md"]


def test_every_option_of_the_rules_is_in_the_table_of_options() -> None:
    options = TEXTS["docs/rules.md"].split("## Options")[1].split("\n## ")[0]
    assert [option for option in Rules.__dataclass_fields__ if f"`{option}`" not in options] == []


def test_the_sizes_of_the_spaces_are_the_codes() -> None:
    for rules in (Rules(), preset("pocha")):
        env = ohhell_v0.env(rules)
        actions, size = env.action_space("player_0").n, env.observation_space("player_0")["observation"].shape[0]
        for entry in (f"`Discrete({actions})`", f"`Box(0, 1, ({size},), int8)`", f"`Box(0, 1, ({actions},), int8)`"):
            assert entry in TEXTS["docs/observation.md"]


def test_the_observation_shown_is_a_real_one() -> None:
    assert observed_example() in TEXTS["docs/observation.md"]


def test_the_text_of_every_folder_names_each_of_its_files() -> None:
    folders = [
        *(file.parent for file in (ROOT / "ohhell_env").glob("*/**/__init__.py")),
        *(ROOT / "training" / name for name in (".", "learning")),
    ]
    assert len(folders) > 10
    for folder in folders:
        text = (folder / "__init__.py").read_text(encoding="utf-8").split('"""')[1]
        files = {file.stem for file in folder.glob("*.py")} - {"__init__"}
        assert sorted(name for name in files if f"`{name}`" not in text) == [], folder.name


def test_the_architecture_shows_every_folder() -> None:
    for file in (ROOT / "ohhell_env").glob("*/__init__.py"):
        assert f" {file.parent.name}/ " in TEXTS["docs/architecture.md"], file.parent.name
