"""`ohhell bench PLAYER`: the standard figures of a player. `ohhell bench verify`, `table`; `--reference` makes v1."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console

from ohhell_env.arena.bench.exploitability import Exploitability, exploitability
from ohhell_env.arena.bench.pins import decisions, scale
from ohhell_env.arena.bench.play import Outcome
from ohhell_env.arena.bench.players import Player, as_player
from ohhell_env.arena.bench.protocol import NAME, PLAYED, TRACKS, VERSION, jobs, signature
from ohhell_env.arena.bench.reference import write_reference
from ohhell_env.arena.bench.result import Result, markdown, print_result, read_result, result_of
from ohhell_env.arena.bench.runner import Kept, run
from ohhell_env.arena.bench.verify import verify
from ohhell_env.arena.matches import ArenaError
from ohhell_env.files import write_whole
from ohhell_env.notice import say
from ohhell_env.options import UsageError, progress, run_command

RESULT, PICTURE = "result.json", "result.png"


@dataclass(frozen=True)
class Options:
    """Measure a player by OhHell-Bench v1: on each track `random` is 0 and `search:1000` is 100.

    ohhell bench verify RESULT.json plays a sample of a result again; ohhell bench table RESULT.json ... prints several.
    """

    player: tyro.conf.Positional[str | None] = None
    """The player: heuristic, checkpoints/NAME, a folder, model.zip of Stable-Baselines3, module:factory."""
    quick: bool = False
    """The first deals only: under two CPU-minutes for a network; the result is marked as quick."""
    tracks: tuple[str, ...] = tuple(TRACKS)
    """Some of: core match variants generalisation cooperation exploitability."""
    workers: int = 1
    """Processes to play in; they change the time taken and nothing else."""
    out: Path | None = None
    """Folder for result.json, the picture and finished jobs, from which a run continues; bench/PLAYER by default."""
    wide: bool = False
    """A function or model plays the tables of the wide form, too, whose observations are larger."""
    reference: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False
    """Make the protocol's own data file: play random and search:1000, and pin all its players anew. For a new version
    of the protocol; takes long, and continues."""
    pin: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False
    """Only pin the protocol's players and rules anew, the outcomes as they are: for a change that moves no figure."""


def bench(
    player: Any,
    *,
    quick: bool = False,
    tracks: Sequence[str] = tuple(TRACKS),
    workers: int = 1,
    out: str | Path | None = None,
    name: str | None = None,
    wide: bool = False,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Result:
    """Measure a player; the same player gives the same result, whatever ``workers`` is.

    Args:
        player: a spec as `make_bot` takes it, the path of a model that Stable-Baselines3 saved, a `Bot`, a function
            (observations (N, D) int8, masks (N, A) bool) -> actions (N,), or a model of Stable-Baselines3, torch or
            RLlib. See `bench.players`.
        quick: the first deals only.
        tracks: some of `protocol.TRACKS`.
        workers: processes to play in; more than one needs a player that can be pickled.
        out: folder for ``result.json`` and finished jobs, from which a run continues; nothing is kept without.
        name: what to call the player; by default its spec, or the function's own name.
        wide: whether a function or model plays tables of the wide form too.
        on_progress: called with the number of jobs just finished.

    Raises:
        ArenaError: for an argument that is not allowed, a player that cannot be made, or an illegal action.
    """
    whom = as_player(player, name, wide)
    if unknown := [track for track in tracks if track not in TRACKS]:
        raise ArenaError(f"track {unknown[0]!r} is not known; use {', '.join(TRACKS)}")
    chosen = [track for track in TRACKS if track in tracks]
    about = described(whom)
    work = jobs(quick, [track for track in chosen if track in PLAYED])
    keep = None
    if out is not None:
        keep = Kept(Path(out), {"version": VERSION, "signature": signature(), "player": about})
        if keep.repaired:
            say(keep.repaired)
    if work:
        scale([job.key for job in work])  # before anything is played
    outcomes = run(whom, work, workers, keep, on_progress)
    result = result_of(about, outcomes, quick, chosen, _exploitability(whom, chosen))
    if out is not None:
        write_whole(Path(out) / RESULT, result.text())
    return result


def described(player: Player) -> dict[str, Any]:
    """Who it is: its name, and hashes of its decisions at fixed positions and of its weights."""
    return {"name": player.name, "decisions": decisions(player), "weights": player.content()}


def _exploitability(player: Player, tracks: Sequence[str]) -> Exploitability | None:
    if "exploitability" not in tracks:
        return None
    try:
        return exploitability(player)
    except ArenaError:
        raise
    except ValueError as error:
        say(f"exploitability is left out: {error}")
        return None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["verify"]:
        return run_command(VerifyOptions, _verify, "ohhell bench verify", given[1:])
    if given[:1] == ["table"]:
        return run_command(TableOptions, _table, "ohhell bench table", given[1:])
    return run_command(Options, _run, "ohhell bench", given)


def _run(options: Options, console: Console) -> None:
    if options.reference or options.pin:
        folder = options.out or Path("bench") / "reference"
        write_reference(folder, options.workers, options.reference, options.quick, options.tracks)
        return
    if options.player is None:
        raise UsageError("no player: ohhell bench PLAYER, as in ohhell bench heuristic --quick")
    out = options.out or Path("bench") / _folder_name(options.player)
    work = jobs(options.quick, options.tracks)
    with progress(f"{NAME} {VERSION}: {options.player}", len(work), "jobs") as meter:
        result = bench(
            options.player,
            quick=options.quick,
            tracks=options.tracks,
            workers=options.workers,
            out=out,
            wide=options.wide,
            on_progress=meter.advance,
        )
    print_result(result, console)
    spent = _seconds(out)
    written = [out / RESULT]
    if drawing := _pictures():
        written.append(drawing.draw_result(result, out / PICTURE))
    console.print(
        f"\nCPU time of all jobs in {out}: {spent / 60:.1f} minutes. Written: {', '.join(map(str, written))}",
        soft_wrap=True,
    )


def _seconds(folder: Path) -> float:
    lines = (folder / "jobs.jsonl").read_text(encoding="utf-8").splitlines() if (folder / "jobs.jsonl").exists() else []
    return sum(Outcome.from_json(json.loads(line)).seconds for line in lines)


def _pictures() -> Any:
    from ohhell_env.arena.options import plots

    if plots() is None:
        return None
    from ohhell_env.arena.bench import picture

    return picture


def _folder_name(player: str) -> str:
    return re.sub(r"[^\w.+-]+", "-", player).strip("-.")


@dataclass(frozen=True)
class VerifyOptions:
    """Play a sample of a result's jobs again and compare, and count all its figures anew."""

    result: tyro.conf.Positional[Path]
    """The result.json."""
    jobs: int = 12
    """Jobs to play again, drawn by the result's own hash; 0 for all."""
    player: str | None = None
    """The player's spec or path here, where it is another than the result's name."""
    workers: int = 1
    """Processes to play in."""
    wide: bool = False
    """As in ohhell bench."""


def _verify(options: VerifyOptions, console: Console) -> int:
    result = read_result(options.result)
    player = as_player(options.player or result.name, result.name, options.wide)
    with progress(f"verify {result.name}", options.jobs, "jobs") as meter:
        played, wrong = verify(result, player, options.jobs, options.workers, meter.advance)
    for line in wrong:
        console.print(f"differs: {line}")
    told = "DIFFERENT" if wrong else "the same"
    console.print(f"{options.result}: all figures counted again, {played} jobs of {result.name} played again: {told}")
    return 1 if wrong else 0


@dataclass(frozen=True)
class TableOptions:
    """Print several results as one Markdown table."""

    results: tyro.conf.Positional[tuple[Path, ...]]
    """Files result.json."""


def _table(options: TableOptions, console: Console) -> None:
    print(markdown([read_result(path) for path in options.results]))


if __name__ == "__main__":
    sys.exit(main())
