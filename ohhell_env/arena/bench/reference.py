"""Make the protocol's data file: the outcomes of the players of the scale, and the pins of all that must not change."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ohhell_env.arena.bench.pins import REFERENCE, all_pins, reference
from ohhell_env.arena.bench.players import as_player
from ohhell_env.arena.bench.protocol import HUNDRED, PLAYED, VERSION, ZERO, jobs
from ohhell_env.arena.bench.runner import Kept, run
from ohhell_env.files import write_whole
from ohhell_env.options import progress


def write_reference(
    folder: Path, workers: int = 1, play: bool = True, quick: bool = False, tracks: Sequence[str] = PLAYED
) -> Path:
    """Write the data file, after each track that was played; outcomes of other jobs stay, unless a pin has changed.

    Args:
        folder: where finished jobs are kept, in a folder for each player.
        workers: processes to play in.
        play: whether the players of the scale play; without, all outcomes stay as they are, whatever has changed.
        quick: whether to play the quick protocol's jobs only; full runs have no scale then.
        tracks: whose jobs to play.
    """
    path = Path(__file__).with_name(REFERENCE)
    pins = all_pins()
    kept = reference() if path.exists() else {"pins": {}, "outcomes": {}}
    same = not play or {**kept["pins"], "protocol": pins["protocol"]} == pins  # with more waves those played stay
    outcomes = {spec: dict(kept["outcomes"].get(spec, {})) if same else {} for spec in (ZERO, HUNDRED)}
    for track in [track for track in PLAYED if play and track in tracks]:
        work = jobs(quick, [track])
        for spec, found in outcomes.items():
            settings = {"player": spec, "pins": {name: pin for name, pin in pins.items() if name != "protocol"}}
            keep = Kept(folder / spec.replace(":", "-"), settings)
            with progress(f"{VERSION}: {track}, {spec}", len(work), "jobs") as meter:
                played = run(as_player(spec), work, workers, keep, meter.advance)
            found |= {key: one.to_json() for key, one in played.items()}
        write_whole(path, _text({"version": VERSION, "pins": pins}, outcomes))
    return write_whole(path, _text({"version": VERSION, "pins": pins}, outcomes))


def _text(head: dict[str, Any], outcomes: dict[str, Any]) -> str:
    """JSON with a line for each job, so that a change can be read."""
    players = []
    for spec, found in outcomes.items():
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(one)}" for key, one in found.items())
        players.append(f"{json.dumps(spec)}: {{\n{lines}\n}}")
    start = json.dumps(head, indent=1).removesuffix("\n}")
    return f'{start},\n "outcomes": {{\n' + ",\n".join(players) + "\n}\n}\n"
