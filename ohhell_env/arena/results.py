"""A tournament's folder: its settings, and a line for each deal as soon as it is played, so that nothing is lost."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.arena.matches import ArenaError, Played, Totals, totals_of
from ohhell_env.bots.policy.bot import WEIGHTS, find_checkpoint, student_of
from ohhell_env.bots.spec import SEARCH_WITH, checkpoint_of
from ohhell_env.files import write_whole

SETTINGS, RESULTS = "tournament.json", "results.jsonl"
NAMES = Totals._fields
BY_SEAT = ("points", "made", "bids", "wins")


class ResultsFolder:
    """The results of a tournament's deals, kept in a folder, where a later run with the same settings continues.

    Args:
        folder: made where it does not exist.
        settings: everything that the results depend on, as JSON data.
        seats: (D, R, P) contestants in their seats for every deal of the tournament.
        num_tables: matches of a deal in each seating, T.

    Attributes:
        totals: of each match; NaN for deals that are not played yet.
        repaired: what was wrong with the file, if a line had to go; "" otherwise.

    Raises:
        ArenaError: if the folder holds another tournament, saying what differs, or a file that is not a tournament's.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any], seats: NDArray[np.int64], num_tables: int) -> None:
        self.folder = folder
        self.seats = seats
        deals, replays, players = seats.shape
        match = (deals, replays, num_tables)
        self.totals = Totals(*(np.full((*match, players) if name in BY_SEAT else match, np.nan) for name in NAMES))
        self.repaired = ""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArenaError(f"folder {str(folder)!r} cannot be used: {error.strerror}") from error
        self._check_settings(json.loads(json.dumps(settings)))
        if self._results.exists():
            self._load()

    @property
    def done(self) -> NDArray[np.bool_]:
        """(D,) the deals that are played."""
        played: NDArray[np.bool_] = ~np.isnan(self.totals.hands[:, 0, 0])
        return played

    def add(self, first: int, played: Played) -> None:
        """Keep deals first, first + 1, ...; they are on the disk when this returns. Deals already kept stay."""
        totals = totals_of(played)
        lines = []
        for k, deal in enumerate(range(first, first + len(played.seats))):
            if not self.done[deal]:
                record = {"deal": deal, "seats": played.seats[k], **{name: getattr(totals, name)[k] for name in NAMES}}
                lines.append(json.dumps(record, default=np.ndarray.tolist) + "\n")
                for name in NAMES:
                    getattr(self.totals, name)[deal] = getattr(totals, name)[k]
        with open(self._results, "a") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())

    @property
    def _results(self) -> Path:
        return self.folder / RESULTS

    def _check_settings(self, settings: dict[str, Any]) -> None:
        path = self.folder / SETTINGS
        if not path.exists():
            if self._results.exists():
                raise ArenaError(f"folder {str(self.folder)!r} has {RESULTS} but no {SETTINGS}; use another folder")
            write_whole(path, json.dumps(settings, indent=1) + "\n")
            return
        try:
            there = dict(json.loads(path.read_text()))
        except ValueError as error:
            raise ArenaError(f"{str(path)!r} is not a tournament's: {error}") from error
        differences = [
            f"{name} is {_short(there.get(name))} there, {_short(settings.get(name))} here"
            for name in sorted({*there, *settings})
            if there.get(name) != settings.get(name)
        ]
        if differences:
            told = "; ".join(differences)
            raise ArenaError(f"folder {str(self.folder)!r} holds another tournament: {told}; use another folder")

    def _load(self) -> None:
        data = self._results.read_bytes()
        at = 0
        for number, line in enumerate(data.splitlines(keepends=True), start=1):
            try:
                if not line.endswith(b"\n"):
                    raise ValueError("the line has no end")
                self._take(json.loads(line))
            except (ValueError, TypeError, KeyError, IndexError) as error:
                if at + len(line) < len(data):
                    raise ArenaError(f"{str(self._results)!r}, line {number} is damaged: {error}") from error
                self.repaired = f"{RESULTS}: the last line was torn; its deal is played again"
                os.truncate(self._results, at)
                return
            at += len(line)

    def _take(self, record: Mapping[str, Any]) -> None:
        deal = record["deal"]
        if not 0 <= deal < len(self.seats) or self.seats[deal].tolist() != record["seats"]:
            raise ValueError(f"deal {deal} with these seats is not in this tournament")
        found = {name: np.asarray(record[name], dtype=float) for name in NAMES}
        for name, array in found.items():
            if array.shape != getattr(self.totals, name).shape[1:] or not np.isfinite(array).all():
                raise ValueError(f"deal {deal} has {name} of another shape")
        for name, array in found.items():
            getattr(self.totals, name)[deal] = array


def contents(specs: Iterable[str]) -> dict[str, str]:
    """What tells a checkpoint's weights from others, for each player that uses one: its spec may stay when they change.

    Of a search it is those of the policy and, after a +, those of the fast policy that plays its rollouts.

    Raises:
        ValueError: if a spec names a checkpoint that is not there.
    """
    found = {}
    for spec in specs:
        folder = checkpoint_of(spec)
        if folder is not None:
            found[spec] = weights_hash(folder)
            student = student_of(sha256_of(folder)) if spec.startswith(SEARCH_WITH) else None
            found[spec] += "" if student is None else f"+{weights_hash(student)}"
    return found


def weights_hash(name_or_path: str | Path) -> str:
    """The beginning of the SHA-256 of a checkpoint's weights."""
    return sha256_of(find_checkpoint(name_or_path))[:16]


def sha256_of(folder: Path) -> str:
    """The SHA-256 of a checkpoint's weights."""
    return hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else text[:117] + "..."
