"""Make the protocol's data file: the outcomes of the players of the scale, and the pins of all that must not change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ohhell_env.arena.bench.pins import REFERENCE, all_pins, reference
from ohhell_env.arena.bench.players import as_player
from ohhell_env.arena.bench.protocol import HUNDRED, PLAYED, VERSION, ZERO, jobs
from ohhell_env.arena.bench.runner import Kept, run
from ohhell_env.files import write_whole
from ohhell_env.options import progress


def write_reference(folder: Path, workers: int = 1, play: bool = True, quick: bool = False) -> Path:
    """Write the data file; with ``play`` the players of the scale play all jobs, else their outcomes stay as they are.

    Args:
        folder: where finished jobs are kept, in a folder for each player.
        workers: processes to play in.
        play: whether to play.
        quick: whether to play the quick protocol's jobs only; full runs have no scale then.
    """
    pins = all_pins()
    path = Path(__file__).with_name(REFERENCE)
    outcomes: dict[str, Any] = {ZERO: {}, HUNDRED: {}}
    if not play and path.exists():
        outcomes = reference()["outcomes"]
    for spec in (ZERO, HUNDRED) if play else ():
        work = jobs(quick, PLAYED)
        settings = {"version": VERSION, "player": {"name": spec, "pins": pins["players"]}}
        keep = Kept(folder / spec.replace(":", "-"), settings)
        with progress(f"{VERSION}: {spec}", len(work), "jobs") as meter:
            found = run(as_player(spec), work, workers, keep, meter.advance)
        outcomes[spec] = {key: outcome.to_json() for key, outcome in found.items()}
    return write_whole(path, _text({"version": VERSION, "pins": pins}, outcomes))


def _text(head: dict[str, Any], outcomes: dict[str, Any]) -> str:
    """JSON with a line for each job, so that a change can be read."""
    players = []
    for spec, found in outcomes.items():
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(one)}" for key, one in found.items())
        players.append(f"{json.dumps(spec)}: {{\n{lines}\n}}")
    start = json.dumps(head, indent=1).removesuffix("\n}")
    return f'{start},\n "outcomes": {{\n' + ",\n".join(players) + "\n}\n}\n"
