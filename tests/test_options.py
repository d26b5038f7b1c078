"""One style of options: how every command names a table, what is refused, and files that are never half written."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ohhell_env.__main__ import COMMANDS, main
from ohhell_env.commands import rules as rules_command
from ohhell_env.files import whole_file, write_whole
from ohhell_env.options import RulesOptions, run_command
from ohhell_env.rules.cards import Deck
from ohhell_env.rules.presets import PRESETS, player_counts, preset
from ohhell_env.rules.ramps import DRAWN
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.scoring import SCORINGS, basic
from ohhell_env.rules.typed import command_options, load_rules, read_change, rules_named

SMALL = "AC KC QC AD KD QD AH KH QH"
CHANGES = [
    ("players=5", 5),
    ("ramp=up-down", "up-down"),
    ("ramp=7..1..7", "7..1..7"),
    ("ramp=5", (5,)),
    ("ramp=8 no trump, 7, 5 blind", ("8 no trump", 7, "5 blind")),
    ("hook=no", False),
    ("hook=TRUE", True),
    ("bids=open", "open"),
    ("trump=hearts", "hearts"),
    ("trump=hearts,none", ("hearts", "none")),
    ("scoring=bid+10 / tricks taken", "bid+10 / tricks taken"),
    ("scoring=ohhell_env.rules.scoring:basic", basic),
    ("deck=double deck", "double deck"),
    (f"deck={SMALL}", Deck.of(SMALL)),
    ('deck={"name": "nine", "cards": ["2C", "3C"]}', Deck.of("2C 3C", "nine")),
    ("first_dealer=2", 2),
    ("first_dealer=random", "random"),
    ("cap=9", 9),
    ("lowest_wins=none", None),
    ("lowest_wins=yes", True),
    ('deals=[["2C", "3C"]]', [["2C", "3C"]]),
]


@pytest.mark.parametrize(("text", "value"), CHANGES)
def test_a_change_is_read_as_rules_take_it(text: str, value: Any) -> None:
    option, read = read_change(text)
    assert (option, read) == (text.partition("=")[0], value)
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hook", "'hook' is not OPTION=VALUE, for example bids=open"),
        ("bid=open", "no option 'bid'; did you mean 'bids'"),
        ("hook=maybe", "hook=maybe: use yes or no"),
        ("cap=many", "cap=many: use a whole number"),
        ("deck=2C XX", "deck=2C XX: 'XX' is not a card"),
        ("scoring=nowhere:points", "scoring=nowhere:points: there is no such function"),
        ("deals=[1", "deals="),
    ],
)
def test_a_change_that_cannot_be_read_is_refused_by_name(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        read_change(text)


def test_every_option_of_the_rules_can_be_typed_and_read_back() -> None:
    values: dict[str, Any] = {
        "players": 5, "ramp": (3, "2 blind", 1), "hook": False, "bids": "open", "trump": ("hearts", "none"),
        "scoring": "blob", "deck": Deck.of(SMALL, "nine"), "first_dealer": "random", "cap": 4, "knocking": True,
        "cooperative": True, "attempts": 7, "nil_round": True, "blind_bids": True, "full_deal": "last",
        "lead_trump": "broken", "must_trump": True, "duplicates": "ante", "own_cards": "hidden", "hands_shown": True,
        "lowest_wins": True, "deals": (Deck.of(SMALL).cards,),
    }  # fmt: skip
    needs: dict[str, dict[str, Any]] = {
        "knocking": {"bids": "together", "hook": False},
        "cooperative": {"bids": "open", "hook": False},
        "duplicates": {"deck": "double deck"},
        "deals": {"deck": Deck.of(SMALL), "players": 3},
        "sort_hands": {"own_cards": "hidden"},
    }
    for option in fields(Rules):
        value = values.get(option.name, True)  # an option that is new here: most are on or off
        rules = Rules(**{option.name: value, **needs.get(option.name, {})})
        typed = command_options(rules)
        assert rules_named(typed[1], int(typed[3]), typed[5:]) == rules, typed


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_typed_by_its_name_and_survives_a_file(name: str, tmp_path: Path) -> None:
    for players in player_counts(name):
        rules = preset(name, players=players)
        typed = command_options(rules)
        assert typed == ["--rules", name, "--players", str(players)]
        assert rules_named(name, players) == rules
    path = write_whole(tmp_path / "table.json", json.dumps(PRESETS[name].to_json()))
    assert load_rules(path) == rules_named(str(path)) == PRESETS[name]


@pytest.mark.parametrize("name", [name for name in PRESETS if PRESETS[name].ramp != DRAWN])
def test_a_single_hand_of_a_preset_can_be_typed(name: str) -> None:
    """A preset differs from the defaults of `Rules`, and a change may bring a default back."""
    rules = replace(PRESETS[name], ramp=(3,), cap=0, sort_hands=False)
    typed = command_options(rules)
    assert rules_named(typed[1], int(typed[3]), typed[5:]) == rules, typed


def test_a_table_is_named_by_its_hands_apart() -> None:
    assert command_options(Rules(players=3, ramp=(5,)), without=("ramp",)) == ["--rules", "oh_hell", "--players", "3"]
    blob = replace(preset("blob"), hook=False)
    assert command_options(blob) == ["--rules", "blob", "--players", "4", "--set", "hook=no"]
    with pytest.raises(ValueError, match="has no name; write the rules to a file"):
        command_options(Rules(scoring=lambda bid, taken, hand_size: 1.0))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "there is no rules file"),
        ("{", "Expecting property name"),
        ('{"playas": 3}', "unknown options ['playas']"),
        ('{"players": 1}', "players=1 is not allowed"),
    ],
)
def test_a_rules_file_that_is_missing_or_wrong_is_told_in_words(content: str | None, told: str, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))}.*{re.escape(told)}|{re.escape(told)}.*{path.name}"):
        load_rules(path)


def test_a_preset_says_for_how_many_players_it_is() -> None:
    with pytest.raises(ValueError, match="the preset 'hassenpfeffer' is for 2 to 7 players: "):
        preset("hassenpfeffer", players=8)
    with pytest.raises(ValueError, match=r"players is given twice, as 5 and as 6"):
        rules_named("oh_hell", 5, ["players=6"])


# Commands #############################################################################################################

PLAYING = ["play", "watch", "evaluate", "tournament", "rules"]


@pytest.mark.parametrize("name", PLAYING)
def test_every_command_that_plays_names_its_table_in_the_same_way(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    module = import_module(COMMANDS[name][0])
    assert issubclass(module.Options, RulesOptions)
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert f"usage: ohhell {name}" in shown
    assert all(option in shown for option in ("--rules", "--players", "--set"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["play", "--set", "bids=whispered"],
        ["watch", "random", "--set", "bids=whispered"],
        ["evaluate", "random", "--vs", "random", "--set", "bids=whispered"],
        ["tournament", "random", "heuristic", "--out", "none", "--set", "bids=whispered"],
        ["rules", "blob", "--set", "bids=whispered"],
    ],
)
def test_every_command_refuses_a_wrong_table_in_the_same_words(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert told == "error: bids='whispered' is not allowed; use one of 'sealed', 'open', 'together'\n"
    assert not list(tmp_path.iterdir())


def test_changes_may_be_given_together_or_apart(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--set", "bids=open", "ramp=3"], ["--set", "bids=open", "--set", "ramp=3"]):
        assert main(["rules", *arguments, "--json"]) == 0
        assert Rules.from_json(json.loads(capsys.readouterr().out)) == Rules(bids="open", ramp=(3,))


def test_the_presets_are_listed_and_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    listed = capsys.readouterr().out
    assert all(f"{name} " in listed for name in PRESETS)
    assert main(["rules", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {name: Rules.from_json(one["rules"]) for name, one in data.items()} == PRESETS
    assert data["trickster"]["players"] == [2, 3, 4, 5]
    assert main(["rules", "blob", "--rules", "pocha"]) == 2
    assert "two tables are named" in capsys.readouterr().err


def test_every_option_is_listed_with_its_meaning(capsys: pytest.CaptureFixture[str]) -> None:
    told = rules_command.option_help()
    assert list(told) == [option.name for option in fields(Rules)]
    assert all(len(about["meaning"]) > 20 for about in told.values())
    assert main(["rules", "--options"]) == 0
    shown = capsys.readouterr().out
    assert all(f"{name} (default: " in shown for name in told)
    assert all(name in " ".join(shown.split()) for name in SCORINGS)


def test_a_command_that_is_not_there_is_told_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evalute"]) == 2
    assert "there is no command 'evalute'; did you mean 'evaluate'?" in capsys.readouterr().err


# Files ################################################################################################################


def test_a_warning_for_users_is_one_line_and_others_keep_their_place(capsys: pytest.CaptureFixture[str]) -> None:
    def run(options: RulesOptions, console: Any) -> None:
        for category in (UserWarning, DeprecationWarning):
            print(warnings.formatwarning("beware", category, "file.py", 7, ""), end="")

    before = warnings.formatwarning
    assert run_command(RulesOptions, run, "ohhell test", []) == 0
    assert capsys.readouterr().out == "warning: beware\nfile.py:7: DeprecationWarning: beware\n"
    assert warnings.formatwarning is before


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    assert write_whole(path, "größer") == path
    assert path.read_bytes() == "größer".encode()
    with pytest.raises(RuntimeError), whole_file(path) as temporary:
        temporary.write_text("half")
        assert temporary.suffix == path.suffix
        raise RuntimeError
    assert path.read_text(encoding="utf-8") == "größer"
    assert [one.name for one in tmp_path.iterdir()] == ["report.json"]
