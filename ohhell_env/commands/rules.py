"""``ohhell rules [NAME]``: the presets, one table in English or as a file of rules, and the options of a table."""

from __future__ import annotations

import inspect
import json
import re
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

import tyro
from rich import box
from rich.console import Console
from rich.table import Table

from ohhell_env.options import RulesOptions, UsageError, run_command
from ohhell_env.rules.cards import DECKS
from ohhell_env.rules.description import describe
from ohhell_env.rules.presets import PRESETS, changed_options, player_counts
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.scoring import SCORINGS


@dataclass(frozen=True)
class Options(RulesOptions):
    """List the presets, or describe one table: a preset or a file, with any changes."""

    name: tyro.conf.Positional[Annotated[str | None, tyro.conf.arg(metavar="PRESET|FILE.json")]] = None
    """The table to describe; the same as --rules."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """As JSON. That of one table is a file of rules: ohhell rules blob --set bids=sealed --json > mine.json"""
    options: tyro.conf.FlagCreatePairsOff[bool] = False
    """List the options of a table, for --set, with what they mean and their defaults."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return run_command(Options, _run, "ohhell rules", arguments)


def _run(options: Options, console: Console) -> None:
    default = type(options)()
    if options.name is not None and options.rules != default.rules:
        raise UsageError(f"two tables are named, {options.name!r} and --rules {options.rules}; name one")
    chosen = RulesOptions(rules=options.name or options.rules, players=options.players, set=options.set)
    if options.options:
        print(json.dumps(option_help(), indent=1)) if options.json else _print_options(console)
    elif chosen == RulesOptions() and options.name is None:
        print(json.dumps(preset_data(), indent=1)) if options.json else _print_presets(console)
    else:
        rules = chosen.table_rules()
        print(json.dumps(rules.to_json(), indent=1) if options.json else describe(rules))


def preset_data() -> dict[str, dict[str, object]]:
    """For each preset the numbers of players that it allows, its description, and its options."""
    return {
        name: {"players": player_counts(name), "description": describe(rules), "rules": rules.to_json()}
        for name, rules in PRESETS.items()
    }


def option_help() -> dict[str, dict[str, Any]]:
    """For each option of `Rules` its default, what the class's docstring says of it, and names that it takes."""
    text = inspect.getdoc(Rules) or ""
    section = text[text.index("Attributes:\n") + len("Attributes:\n") :]
    entries = re.findall(r"^    (\w+): (.*(?:\n {8,}.*)*)", section, flags=re.MULTILINE)
    told = {name: " ".join(words.split()) for name, words in entries}
    defaults = Rules().to_json()
    names = {"scoring": list(SCORINGS), "deck": list(DECKS)}
    return {
        option.name: {
            "default": defaults.get(option.name, option.default),
            "meaning": told[option.name],
            **({"names": names[option.name]} if option.name in names else {}),
        }
        for option in fields(Rules)
    }


def _print_presets(console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in ("preset", "players", "differs from oh_hell in"):
        table.add_column(column, overflow="fold")
    for name in PRESETS:
        counts = player_counts(name)
        table.add_row(name, f"{counts[0]} to {counts[-1]}", ", ".join(changed_options(name)) or "nothing")
    console.print(table)
    console.print(
        "\nOne in English:       ohhell rules blob"
        "\nWith changes:        ohhell rules blob --players 5 --set bids=sealed ramp=7..1..7"
        "\nAs a file of rules:  ohhell rules blob --set bids=sealed --json > mine.json"
        "\nWhat can be changed: ohhell rules --options",
        markup=False,
    )


def _print_options(console: Console) -> None:
    for option, about in option_help().items():
        value = about["default"]
        default = {"True": "yes", "False": "no", "None": "none", "()": "none"}.get(str(value), value)
        console.print(f"[bold]{option}[/bold] (default: {default})")
        lines = textwrap.wrap(str(about["meaning"]), console.width - 4)
        if "names" in about:
            lines += textwrap.wrap(f"Names: {', '.join(map(str, about['names']))}", console.width - 4)
        console.print(textwrap.indent("\n".join(lines), "    "), markup=False)


if __name__ == "__main__":
    sys.exit(main())
