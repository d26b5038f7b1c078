"""Well-known tables by name: `PRESETS`, and `preset` to take one with changes."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from ohhell_env.rules.cards import Deck
from ohhell_env.rules.limits import WIDE_MAX_PLAYERS, WIDE_MIN_PLAYERS
from ohhell_env.rules.ramps import ramp_text
from ohhell_env.rules.rules import Rules

_SEVEN = (7, 6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7)
_CRAZY = ("8 no trump", 7, 6, 5, 4, 3, 2, 1)

PRESETS: dict[str, Rules] = {
    # base rules
    "oh_hell": Rules(),
    # up-and-down page
    "up_and_down_the_river": Rules(ramp="up-down", bids="open"),
    "oh_pshaw": Rules(ramp="up-down", bids="open", trump="none"),
    "blob": Rules(ramp="up-down", bids="open", scoring="blob"),
    "nomination_whist": Rules(ramp="up-down", bids="open", trump="named"),
    # seven-down rules: trump is not led to the first trick, one-card hands are held to the forehead
    "seven_down": Rules(
        ramp=_SEVEN, bids="open", scoring="seven_down", lead_trump="not first", own_cards="forehead", trump="turned"
    ),
    # online table, as the table stands before anybody chooses options
    "trickster": Rules(ramp="10..1..10", bids="open", scoring="bid+10 / tricks taken"),
    # encyclopedia
    "hassenpfeffer": Rules(ramp=_SEVEN, bids="open", hook=False, scoring="exact_with_penalty"),
    "old_heck": Rules(ramp="up-down", bids="open", scoring="exact_with_set_penalty"),
    "crazy_whist": Rules(ramp=_CRAZY * 4, bids="open", scoring="basic"),
    "seven_up_seven_down": Rules(ramp=_SEVEN, bids="open"),
    "mormon_bridge": Rules(ramp="up-down", bids="open", deck="double deck", cap=15, duplicates="ante"),  # type: ignore[arg-type]
    "pocha": Rules(ramp="up-down", bids="open", deck="spanish", full_deal="last"),  # type: ignore[arg-type]
    "oh_sh": Rules(
        players=6,
        ramp="up-down, no trump twice",
        bids="open",
        deck="oh sh",  # type: ignore[arg-type]
        must_trump=True,
        scoring="oh_sh",
    ),
    "penguin_whist": Rules(ramp="up-down", bids="open", own_cards="hidden", sort_hands=True),
    "cooperative": Rules(ramp="drawn", trump="drawn", bids="open", hook=False, cooperative=True, scoring="binary"),
}


# Where each is from: a name in docs/sources.md; the encyclopedia where none is given.
SOURCES = {
    "oh_hell": "base rules",
    "up_and_down_the_river": "up-and-down page",
    "oh_pshaw": "up-and-down page",
    "blob": "up-and-down page",
    "nomination_whist": "up-and-down page",
    "seven_down": "seven-down rules",
    "trickster": "online table",
}


def player_counts(name: str) -> tuple[int, ...]:
    """The numbers of players that a preset can be played with."""
    counts = []
    for players in range(WIDE_MIN_PLAYERS, WIDE_MAX_PLAYERS + 1):
        try:
            replace(PRESETS[name], players=players)
        except ValueError:
            continue
        counts.append(players)
    return tuple(counts)


def preset_table() -> str:
    """The presets as a Markdown table, as docs/rules.md shows it."""
    lines = [
        "| preset | source | players | form at 3 to 7 players | differs from the default game in |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, rules in PRESETS.items():
        counts = player_counts(name)
        lines.append(
            f"| `{name}` | {SOURCES.get(name, 'encyclopedia')} | {counts[0]} to {counts[-1]} | "
            f"{'standard' if rules.standard else 'wide'} | {'; '.join(changed_options(name)) or 'nothing'} |"
        )
    return "\n".join(lines)


def changed_options(name: str) -> list[str]:
    """What a preset changes in the default game: ``["ramp up-down", "bids open"]``."""
    rules = PRESETS[name]
    return [
        f"{option.name} {short_value(getattr(rules, option.name))}"
        for option in fields(rules)
        if getattr(rules, option.name) != option.default
    ]


def short_value(value: Any) -> str:
    """A value as the table of presets writes it."""
    if isinstance(value, Deck):
        return value.name
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ramp_text(value)
    return str(value)


def preset(name: str = "oh_hell", **changes: Any) -> Rules:
    """The rules of a well-known table, with changes: ``preset("oh_hell", players=5, hook=False)``.

    Raises:
        ValueError: if the preset or an option is not known, or the result is not allowed.
    """
    if name not in PRESETS:
        raise ValueError(f"rules {name!r} are not known; use one of {', '.join(sorted(PRESETS))}")
    unknown = set(changes) - set(Rules.__dataclass_fields__)
    if unknown:
        raise ValueError(f"unknown options {sorted(unknown)}; known are {sorted(Rules.__dataclass_fields__)}")
    try:
        return replace(PRESETS[name], **changes)
    except ValueError as error:
        counts = player_counts(name)
        if changes.get("players", counts[0]) in counts:
            raise
        raise ValueError(f"the preset {name!r} is for {counts[0]} to {counts[-1]} players: {error}") from None
