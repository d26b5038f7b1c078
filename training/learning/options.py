"""What the options of long runs have in common: ranges, plain data, and whether a run may go on with other ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

# The least and the greatest value of options that mean the same in every run.
RANGES: dict[str, tuple[float, float]] = {
    "decisions": (1, 10**13),
    "seed": (0, 2**63 - 1),
    "threads": (1, 1024),
    "hands": (1, 10**6),
    "minibatch_size": (1, 10**6),
    "lr": (1e-9, 1),
    "save_minutes": (0, 10**6),
}


def check_ranges(options: Any, more: Mapping[str, tuple[float, float]]) -> None:
    """Refuse a value outside its range.

    Args:
        options: a dataclass.
        more: the least and the greatest value of its options that are not in RANGES.

    Raises:
        ValueError: naming the option, its value and what is allowed.
    """
    for option, (low, high) in {**RANGES, **more}.items():
        value = getattr(options, option)
        if not low <= value <= high:
            raise ValueError(f"{option}={value!r} is not allowed; use {low} to {high}")


def plain(options: Any) -> dict[str, Any]:
    """A dataclass of options as plain data for JSON."""
    values = {field.name: getattr(options, field.name) for field in dataclasses.fields(options)}
    return {
        name: list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value
        for name, value in values.items()
    }


def check_same_run(folder: Path, before: Mapping[str, Any], now: Mapping[str, Any], free: Collection[str]) -> None:
    """Refuse to resume a run with options that would make it another run.

    Args:
        folder: the run's.
        before: the options that it was started with.
        now: those that it is to go on with.
        free: names of options that may differ.

    Raises:
        ValueError: naming each option that differs, with both values.
    """
    changed = [
        f"{name} {before.get(name)!r} -> {value!r}"
        for name, value in now.items()
        if name not in free and before.get(name) != value
    ]
    if changed:
        raise ValueError(
            f"{folder} holds a run with other options: {'; '.join(changed)}. Use those, or another --folder"
        )
