"""The result of a benchmark run: from outcomes to ``result.json`` and back, and as tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from ohhell_env import __version__
from ohhell_env.arena.bench.exploitability import Exploitability
from ohhell_env.arena.bench.pins import scale
from ohhell_env.arena.bench.play import Outcome
from ohhell_env.arena.bench.protocol import HUNDRED, NAME, QUICK_WAVES, VERSION, WAVES, ZERO, jobs, signature
from ohhell_env.arena.bench.score import figures
from ohhell_env.arena.intervals import Estimate
from ohhell_env.arena.matches import ArenaError
from ohhell_env.arena.tables import new_table

FORMAT = 1


@dataclass(frozen=True)
class Result:
    """What a player came to.

    Attributes:
        data: the content of ``result.json``; docs/bench.md says what each entry is.
    """

    data: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The player's name."""
        return str(self.data["player"]["name"])

    @property
    def quick(self) -> bool:
        """Whether it is a run of the quick protocol."""
        return bool(self.data["quick"])

    def score(self, track: str, part: str = "") -> Estimate:
        """A figure on the scale; NaN where the player has none."""
        for one in self.data["figures"]:
            if (one["track"], one["part"]) == (track, part):
                return _estimate(one["score"])
        return Estimate(np.nan, np.nan, np.nan, 0)

    def text(self) -> str:
        """``result.json``: the same result gives the same bytes."""
        return json.dumps(self.data, indent=1, sort_keys=False) + "\n"


def result_of(
    player: Mapping[str, Any],
    outcomes: Mapping[str, Outcome],
    quick: bool,
    tracks: Sequence[str],
    exploitability: Exploitability | None,
) -> Result:
    """The result of a run.

    Args:
        player: the player's name, hashes and version, as JSON data.
        outcomes: of every job of the run.
        quick: whether they are those of the quick protocol.
        tracks: the tracks that were run.
        exploitability: what the exact solver found; None where it was not asked, or the player's chances are unknown.
    """
    found = (
        figures(outcomes, *scale(list(outcomes)), waves=QUICK_WAVES if quick else WAVES, tracks=tracks)
        if outcomes
        else []
    )
    return Result(
        {
            "format": FORMAT,
            "benchmark": NAME,
            "version": VERSION,
            "signature": signature(),
            "package": __version__,
            "quick": quick,
            "tracks": list(tracks),
            "scale": {"0": ZERO, "100": HUNDRED},
            "player": dict(player),
            "figures": [*(one.to_json() for one in found), *exploited(exploitability)],
            "jobs": {job.key: {"seed": job.cell.seed, **outcomes[job.key].to_json()} for job in jobs(quick, tracks)},
        }
    )


def exploited(found: Exploitability | None) -> list[dict[str, Any]]:
    """The figure of the track exploitability: 0 is `random`, 100 an equilibrium. It is exact: no interval."""
    if found is None:
        return []
    return [
        {
            "track": "exploitability",
            "part": "",
            "measure": "NashConv, points",
            "score": _exact(100 * (1 - sum(found.player.values()) / sum(found.random.values()))),
            "value": _exact(float(np.mean(list(found.player.values())))),
            "zero": _exact(float(np.mean(list(found.random.values())))),
            "hundred": _exact(0.0),
            "tables": {name: round(value, 6) for name, value in found.player.items()},
            "cells": len(found.player),
            "cells_played": len(found.player),
        }
    ]


def _exact(value: float) -> dict[str, Any]:
    return {"mean": round(value, 6), "low": None, "high": None, "n": 1}


def read_result(path: Path) -> Result:
    """A ``result.json``.

    Raises:
        ArenaError: if it is none, or of another version of the protocol.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        kind = data["benchmark"], data["version"], data["format"]
    except FileNotFoundError:
        raise ArenaError(f"there is no file {str(path)!r}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ArenaError(f"{str(path)!r} is not a result of {NAME}: {error}") from error
    if kind != (NAME, VERSION, FORMAT):
        raise ArenaError(f"{str(path)!r} is of {kind[0]} {kind[1]}, format {kind[2]}; this is {NAME} {VERSION}")
    return Result(data)


def _estimate(data: Mapping[str, Any]) -> Estimate:
    mean, low, high = (np.nan if data[end] is None else data[end] for end in ("mean", "low", "high"))
    return Estimate(mean, low, high, data["n"])


def print_result(result: Result, console: Console) -> None:
    """The table of a run."""
    quick = " --quick" if result.quick else ""
    console.print()
    console.print(Text.assemble((f"{NAME} {VERSION}{quick}: ", "bold"), (result.name, "bold")))
    title = f"0 is {ZERO}, 100 is {HUNDRED}; ±: half of the 95 % interval"
    table = new_table(title, "track", ["score", "raw", "", f"{ZERO}", f"{HUNDRED}", "tables"])
    table.columns[3].justify = "left"
    for one in result.data["figures"]:
        cells = "all" if one["cells"] == one["cells_played"] else f"{one['cells_played']} of {one['cells']}"
        percent = one["measure"].startswith(("matches", "hands"))
        times, digits = (100.0, 1) if percent else (1.0, 2)
        table.add_row(
            f"  {one['part']}" if one["part"] and one["track"] == "core" else " ".join((one["track"], one["part"])),
            Text(_estimate(one["score"]).text(digits=1), style="bold"),
            _estimate(one["value"]).text(times, digits),
            f"{'% of ' if percent else ''}{one['measure']}",
            _estimate(one["zero"])._replace(low=np.nan).text(times, digits),
            _estimate(one["hundred"])._replace(low=np.nan).text(times, digits),
            cells,
        )
    console.print(table)
    if any(one["cells"] != one["cells_played"] for one in result.data["figures"]):
        console.print(Text(f"Tables that {result.name} does not play count as if {ZERO} had played.", style="dim"))
    if quick:
        console.print(Text("A quick result: few deals, wide intervals. Quote a full one.", style="dim"))


COLUMNS = {
    "core": ("core", ""),
    "match, wins": ("match", "wins"),
    "variants": ("variants", ""),
    "train": ("generalisation", "train"),
    "test": ("generalisation", "test"),
    "test-families": ("generalisation", "test-families"),
    "with itself": ("cooperation", "self"),
    "cross-play": ("cooperation", "cross-play"),
    "exploitability": ("exploitability", ""),
}
"""The columns of a table of several results."""


def markdown(results: Sequence[Result]) -> str:
    """Several results as a Markdown table, best core score first, full results before quick ones."""
    ordered = sorted(results, key=lambda one: (one.quick, -np.nan_to_num(one.score("core").mean, nan=-1e9), one.name))
    lines = [f"| player | {' | '.join(COLUMNS)} |", f"| --- |{' ---: |' * len(COLUMNS)}"]
    for one in ordered:
        cells = [one.score(*column).text(digits=1) for column in COLUMNS.values()]
        name = f"`{one.name}`" + (" (quick)" if one.quick else "")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)
