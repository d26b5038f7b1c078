"""Play all jobs of the benchmark in any number of processes; each is on the disk as soon as it is finished."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ohhell_env.arena.bench.play import Outcome, play_job
from ohhell_env.arena.bench.players import Player
from ohhell_env.arena.bench.protocol import Job
from ohhell_env.arena.matches import ArenaError
from ohhell_env.arena.workers import in_processes
from ohhell_env.files import write_whole

SETTINGS, JOBS = "bench.json", "jobs.jsonl"


def run(
    player: Player,
    work: Sequence[Job],
    workers: int = 1,
    keep: Kept | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> dict[str, Outcome]:
    """The outcome of each job, by its key; the same whatever ``workers`` is.

    Args:
        player: whom to measure.
        work: the jobs.
        workers: processes to play in.
        keep: where to keep what is finished, and find what was.
        on_progress: called with 1 for each job just finished.

    Raises:
        ArenaError: for a number of workers that is not allowed, a player that cannot be made or sent to a process, or
            an illegal action.
    """
    if workers < 1:
        raise ArenaError(f"workers={workers} is not allowed; use 1 or more")
    done = {} if keep is None else {job.key: keep.done[job.key] for job in work if job.key in keep.done}
    on_progress(len(done))
    left = [job for job in work if job.key not in done]
    with contextlib.closing(_outcomes(player, left, workers)) as outcomes:
        for job, outcome in outcomes:
            done[job.key] = outcome
            if keep is not None:
                keep.add(job.key, outcome)
            on_progress(1)
    return {job.key: done[job.key] for job in work}


def _outcomes(player: Player, work: Sequence[Job], workers: int) -> Any:
    if workers == 1 or len(work) < 2:
        for job in work:
            yield job, play_job(player, job)
        return
    player.refuse_processes()
    player.make(0)  # mistakes are told before anything starts
    with contextlib.closing(in_processes(_play, work, workers, _start, (player,))) as results:
        for index, outcome in results:
            yield work[index], outcome


_player: Player | None = None  # whom this process measures


def _start(player: Player) -> None:
    global _player
    _player = player


def _play(job: Job) -> Outcome:
    if _player is None:
        raise RuntimeError("the worker was not started")
    return play_job(_player, job)


class Kept:
    """Finished jobs in a folder, a line each, where a later run of the same player continues.

    Args:
        folder: made where it does not exist.
        settings: everything that the outcomes depend on, as JSON data.

    Attributes:
        done: outcomes by the jobs' keys.
        repaired: what was wrong with the file, if a line had to go; "" otherwise.

    Raises:
        ArenaError: if the folder holds another player's results, or those of another protocol, saying what differs.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self.done: dict[str, Outcome] = {}
        self.repaired = ""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArenaError(f"folder {str(folder)!r} cannot be used: {error.strerror}") from error
        path = folder / SETTINGS
        if path.exists():
            self._compare(path, dict(settings))
        elif self._path.exists():
            raise ArenaError(f"folder {str(folder)!r} has {JOBS} but no {SETTINGS}; use another folder")
        else:
            write_whole(path, json.dumps(settings, indent=1) + "\n")
        if self._path.exists():
            self._load()

    def add(self, key: str, outcome: Outcome) -> None:
        """Keep an outcome; it is on the disk when this returns."""
        record = {"job": key, **outcome.to_json(), "seconds": round(outcome.seconds, 3)}
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.done[key] = outcome

    def seconds(self, keys: Iterable[str]) -> float:
        """CPU time of some jobs."""
        return sum(self.done[key].seconds for key in keys)

    @property
    def _path(self) -> Path:
        return self.folder / JOBS

    def _compare(self, path: Path, settings: dict[str, Any]) -> None:
        try:
            there = dict(json.loads(path.read_text(encoding="utf-8")))
        except ValueError as error:
            raise ArenaError(f"{str(path)!r} is not a benchmark's: {error}") from error
        different = [name for name in sorted({*there, *settings}) if there.get(name) != settings.get(name)]
        if different:
            told = "; ".join(f"{name} is {there.get(name)!r} there, {settings.get(name)!r} here" for name in different)
            raise ArenaError(f"folder {str(self.folder)!r} holds other results: {told}; use another folder")

    def _load(self) -> None:
        data = self._path.read_bytes()
        at = 0
        for number, line in enumerate(data.splitlines(keepends=True), start=1):
            try:
                if not line.endswith(b"\n"):
                    raise ValueError("the line has no end")
                record = json.loads(line)
                self.done[record["job"]] = Outcome.from_json(record)
            except (ValueError, TypeError, KeyError) as error:
                if at + len(line) < len(data):
                    raise ArenaError(f"{str(self._path)!r}, line {number} is damaged: {error}") from error
                self.repaired = f"{JOBS}: the last line was torn; its job is played again"
                os.truncate(self._path, at)
                return
            at += len(line)
