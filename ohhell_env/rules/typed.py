"""Tables as people type them: a preset or a rules file, and changes as ``OPTION=VALUE``."""

from __future__ import annotations

import difflib
import importlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ohhell_env.rules.cards import DECKS, Deck
from ohhell_env.rules.presets import PRESETS, preset
from ohhell_env.rules.ramps import RAMPS, corners
from ohhell_env.rules.rules import Rules, option_from_json
from ohhell_env.rules.scoring import SCORINGS, Scoring, TabulatedScoring

_YES, _NO = ("yes", "on", "true"), ("no", "off", "false")
_NAMES = tuple(option.name for option in fields(Rules))


def rules_named(name: str, players: int | None = None, changes: Iterable[str] = ()) -> Rules:
    """The rules that a command's options name.

    Args:
        name: a preset's name, or the path of a file that holds `Rules.to_json`, ending in ``.json``.
        players: seats at the table; as the preset or the file has it by default.
        changes: texts ``OPTION=VALUE``, see `read_change`.

    Raises:
        ValueError: if there is no such preset, file, option or value, or the result is not allowed.
    """
    changed: dict[str, Any] = {} if players is None else {"players": players}
    for text in changes:
        option, value = read_change(text)
        if option in changed:
            raise ValueError(f"{option} is given twice, as {changed[option]!r} and as {value!r}")
        changed[option] = value
    if name in PRESETS or not name.endswith(".json"):
        return preset(name, **changed)
    return replace(load_rules(name), **changed)


def load_rules(path: str | Path) -> Rules:
    """The rules in a file, as `Rules.to_json` gives them (``ohhell rules NAME --json`` writes one).

    Raises:
        ValueError: if there is no such file, or what it holds is not the rules of a table.
    """
    try:
        return Rules.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ValueError(f"there is no rules file {str(path)!r}") from None
    except OSError as error:
        raise ValueError(f"rules file {str(path)!r} cannot be read: {error.strerror}") from None
    except ValueError as error:  # JSON's and Unicode's own errors are among these
        raise ValueError(f"rules file {str(path)!r}: {error}") from None


def read_change(text: str) -> tuple[str, Any]:
    """An option of `Rules` and its value, from ``OPTION=VALUE``.

    Values are written as in `Rules`, and besides:

    - yes or no (on, off, true, false) for an option that is True or False; ``lowest_wins=none`` for None;
    - ``ramp`` with commas, a hand each: ``ramp=5``, ``ramp=7,5,3``, ``ramp="8 no trump,7,5 blind"``;
    - ``trump`` with commas, a suit for each hand in turn: ``trump=hearts,none``;
    - ``deck`` as the cards in it: ``deck="AC KC AD KD AH KH"``;
    - ``scoring`` as ``module:function``;
    - JSON, as in a rules file, for anything: ``deals='[["2C", ...]]'``.

    Raises:
        ValueError: if it is not of this form, there is no such option, or its value cannot be read.
    """
    option, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise ValueError(f"{text!r} is not OPTION=VALUE, for example bids=open")
    if option not in _NAMES:
        near = difflib.get_close_matches(option, _NAMES, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"there is no option {option!r}{hint} Options of a table: {', '.join(_NAMES)}")
    try:
        if value[:1] in ("[", "{"):
            return option, option_from_json(option, json.loads(value))
        kind = str(next(one.type for one in fields(Rules) if one.name == option))
        return option, _READERS.get(option, _BY_TYPE.get(kind, str))(value)
    except ValueError as error:
        raise ValueError(f"{option}={value}: {error}") from None


def _flag(value: str) -> bool:
    if value.lower() not in _YES + _NO:
        raise ValueError("use yes or no")
    return value.lower() in _YES


def _flag_or_none(value: str) -> bool | None:
    return None if value.lower() == "none" else _flag(value)


def _number(value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise ValueError("use a whole number") from None


def _number_or_word(value: str) -> int | str:
    return int(value) if value.lstrip("-").isdecimal() else value


def _ramp(value: str) -> str | tuple[int | str, ...]:
    if value in RAMPS or corners(value) is not None:
        return value
    entries = tuple(_number_or_word(entry.strip()) for entry in value.split(","))
    return entries if value[:1].isdecimal() else value  # a word that is no pattern: `Rules` says what is one


def _trump(value: str) -> str | tuple[str, ...]:
    return tuple(one.strip() for one in value.split(",")) if "," in value else value


def _deck(value: str) -> Deck | str:
    if value in DECKS or " " not in value:
        return value  # a name; `Rules` says which there are
    try:
        return Deck.of(value)
    except ValueError as error:
        raise ValueError(f"{error}; or use one of {', '.join(map(repr, DECKS))}") from None


def _scoring(value: str) -> Scoring | str:
    module, colon, function = value.rpartition(":")
    if value in SCORINGS or not colon:
        return value
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"there is no such function: {error}") from None
    scoring: Scoring = found
    return scoring


_READERS: Mapping[str, Callable[[str], Any]] = {"ramp": _ramp, "trump": _trump, "deck": _deck, "scoring": _scoring}
_BY_TYPE: Mapping[str, Callable[[str], Any]] = {
    "bool": _flag,
    "bool | None": _flag_or_none,
    "int": _number,
    "int | str": _number_or_word,
}
"""How the value of an option is read, by its name or else by its type; other values are taken as they are."""


def command_options(rules: Rules, without: Iterable[str] = ()) -> list[str]:
    """The options of a command that name a table: ``["--rules", "blob", "--players", "5", "--set", "hook=no"]``.

    The preset is the one with the fewest changes; ``without`` names options of `Rules` to leave as the preset has them.

    Raises:
        ValueError: if a value cannot be typed: a scoring that is a function without a name.
    """
    skipped = {"players", *without}
    changed = {
        name: [option for option in _NAMES if option not in skipped and getattr(base, option) != getattr(rules, option)]
        for name, base in PRESETS.items()
    }
    name = min(changed, key=lambda one: len(changed[one]))
    data = rules.to_json()
    chosen = ["--rules", name, "--players", str(rules.players)]
    values = [f"{option}={_typed(option, getattr(rules, option), data)}" for option in changed[name]]
    return [*chosen, *(["--set", *values] if values else [])]


def _typed(option: str, value: Any, data: Mapping[str, Any]) -> str:
    """A value so that `read_change` reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    if option == "scoring" and callable(value) and not isinstance(value, TabulatedScoring):
        raise ValueError(f"scoring={value!r} has no name; write the rules to a file")
    if option in ("ramp", "trump") and isinstance(value, tuple):
        return ",".join(map(str, value))
    plain = data.get(option, value)  # `Rules.to_json` leaves out an option's default, which a preset may differ from
    return plain if isinstance(plain, str) else json.dumps(plain)
