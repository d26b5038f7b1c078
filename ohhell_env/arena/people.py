"""People and bots compared from records: ``ohhell evaluate --records FOLDER``.

Each ``*.jsonl`` record with its ``.players`` file counts, as `ohhell play`, `ohhell serve` and studies write them, with
its finished hands. A participant of a study goes by the code that the record's name begins with.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.console import Console

from ohhell_env.arena.intervals import Estimate, mean_of
from ohhell_env.arena.tables import new_table
from ohhell_env.options import UsageError, progress, run_command
from ohhell_env.records.match import load_seating, seating_path
from ohhell_env.records.notation import RecordError
from ohhell_env.records.replay import load_replay
from ohhell_env.records.review import review

PERSON = "person"
_PARTICIPANT = re.compile(r"(P\d+)-\d+")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Compare people and bots from records."""

    records: Annotated[Path, tyro.conf.arg(metavar="FOLDER")]
    """Folder of records: those of ohhell play, of ohhell serve, or of a study."""
    mistakes: int = 0
    """Rollouts a decision by which the search looks for mistakes, e.g. 200; 0 does not look for any."""


@dataclass
class Tally:
    """What a player did, match by match: an observation for each match, since its hands share players and luck."""

    hands: list[int] = field(default_factory=list)
    points: list[float] = field(default_factory=list)
    made: list[int] = field(default_factory=list)
    bids: list[int] = field(default_factory=list)
    lost: list[float] = field(default_factory=list)  # points by mistakes
    mistakes: list[int] = field(default_factory=list)

    def estimates(self) -> dict[str, Estimate]:
        """Points a hand, share of bids made, mistakes and points lost by them a hand."""
        count = np.array(self.hands)
        return {
            "points": mean_of(np.array(self.points), count),
            "made": mean_of(np.array(self.made), np.array(self.bids), proportion=True),
            "mistakes": mean_of(np.array(self.mistakes), count),
            "lost": mean_of(np.array(self.lost), count),
        }


def tallies(folder: Path, rollouts: int = 0, tell: Any = None) -> dict[str, Tally]:
    """What each player of a folder's records did.

    Args:
        folder: of the records.
        rollouts: by which the search looks for mistakes; 0 for not.
        tell: called after each record.

    Raises:
        UsageError: if there is no record with its players, or one is damaged.
    """
    found: dict[str, Tally] = defaultdict(Tally)
    paths = [path for path in sorted(folder.glob("*.jsonl")) if seating_path(path).exists()]
    if not paths:
        raise UsageError(f"{folder} holds no record (*.jsonl) with its players (*.jsonl.players)")
    for path in paths:
        try:
            _add(path, rollouts, found)
        except RecordError as error:
            raise UsageError(f"{path}: {error}") from None
        if tell is not None:
            tell()
    return dict(found)


def _add(path: Path, rollouts: int, found: dict[str, Tally]) -> None:
    """Count one record's finished hands."""
    try:
        replay = load_replay(path, finished=True)
    except RecordError:
        raise
    except ValueError:  # no hand is finished
        return
    seating = load_seating(path, replay.rules.players)
    participant = _PARTICIPANT.fullmatch(path.stem)
    hands = replay.end.hands_so_far
    wrong = review(replay, rollouts=rollouts).mistakes(replay) if rollouts else []
    names = list(seating.players)
    if seating.person is not None:
        names[seating.person] = participant[1] if participant else PERSON
    for name in dict.fromkeys(names):
        seats = [seat for seat, one in enumerate(names) if one == name]
        played = [(hand, seat) for hand in hands for seat in seats]
        own = [mistake.loss for mistake in wrong if mistake.seat in seats]
        tally = found[name]
        tally.hands.append(len(played))
        tally.points.append(sum(hand.points[seat] for hand, seat in played))
        tally.bids.append(sum(hand.bids[seat] is not None for hand, seat in played))
        tally.made.append(sum(hand.bids[seat] == hand.taken[seat] for hand, seat in played))
        tally.mistakes.append(len(own))
        tally.lost.append(sum(own))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return run_command(Options, _run, "ohhell evaluate", arguments)


def _run(options: Options, console: Console) -> None:
    if options.mistakes < 0:
        raise UsageError(f"--mistakes {options.mistakes} is not allowed; use 0 or more")
    count = len(list(options.records.glob("*.jsonl")))
    with progress("reading", count, "records") as meter:
        found = tallies(options.records, options.mistakes, lambda: meter.advance(1))
    columns = ["matches", "hands", "points per hand", "bids made"]
    if options.mistakes:
        columns += ["mistakes per hand", "points lost per hand"]
    table = new_table(f"{options.records}: finished hands, means ± half of the 95 % interval", "player", columns)
    for name in sorted(found, key=lambda one: -found[one].estimates()["points"].mean):
        tally, figures = found[name], found[name].estimates()
        cells = [str(len(tally.hands)), str(sum(tally.hands)), figures["points"].text(), figures["made"].text(100, 0)]
        if options.mistakes:
            cells += [figures["mistakes"].text(), figures["lost"].text()]
        table.add_row(name, *cells)
    console.print(table)
