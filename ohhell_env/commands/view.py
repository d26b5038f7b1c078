"""``ohhell view RECORD``: a match as one HTML page, to step through in any browser, without a network.

    ohhell view match.jsonl --open
    ohhell view match.jsonl --policy mix512 --search 400     # opinions on every decision, mistakes marked

Opinions that a file RECORD.review.json holds (--keep writes it, `ohhell_env.records.review` describes it) are
always shown.
"""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.progress import Progress

from ohhell_env.files import write_whole
from ohhell_env.options import run_command
from ohhell_env.records.match import seat_names
from ohhell_env.records.notation import CutOffError
from ohhell_env.records.replay import Replay, load_replay
from ohhell_env.records.review import Review, load_review, review, review_path, save_review
from ohhell_env.render.replay_html import replay_page


@dataclass(frozen=True)
class Options:
    """A recorded match as one HTML page for any browser."""

    record: tyro.conf.Positional[Path]
    """The record of a match, JSON lines (ohhell_env.records.notation)."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """The page's file; the record's name with .html by default."""
    open: tyro.conf.FlagCreatePairsOff[bool] = False
    """Open the page in the browser."""
    policy: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """A checkpoint whose probabilities are shown, and its values where it has them."""
    search: Annotated[int, tyro.conf.arg(metavar="ROLLOUTS")] = 0
    """Mark mistakes by this many rollouts per decision, for example 400; 0 for none."""
    seed: int = 0
    """Seed of the rollouts."""
    keep: tyro.conf.FlagCreatePairsOff[bool] = False
    """Write the opinions to RECORD.review.json too."""
    names: Annotated[str | None, tyro.conf.arg(metavar="A,B,...")] = None
    """Names of the seats; those of RECORD.players by default, if it is there."""
    finished: tyro.conf.FlagCreatePairsOff[bool] = False
    """Show the finished hands only, as of a record that is cut short."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status: 2 when the record is damaged or something asked for is unavailable."""
    return run_command(Options, _run, "ohhell view", arguments, mistakes=(ValueError, OSError))


def _run(options: Options, _: Console) -> None:
    try:
        replay = load_replay(options.record, options.finished)
    except CutOffError as error:
        hands = {0: "no hand before it is finished", 1: "the finished hand before it is shown with --finished"}
        what = hands.get(error.finished, f"the {error.finished} finished hands before it are shown with --finished")
        raise ValueError(f"{options.record}: {error}; {what}") from None
    except ValueError as error:
        raise ValueError(f"{options.record}: {error}") from None
    out: Path = options.out or options.record.with_suffix(".html")
    if out.resolve() == options.record.resolve():
        raise ValueError(f"--out {out} is the record itself; name another file")
    opinions = _opinions(options, replay)
    names = options.names.split(",") if options.names else seat_names(options.record, replay.rules.players)
    page = replay_page(replay, options.record.name, names, opinions)
    write_whole(out, page)
    print(f"{out}: {len(replay)} positions, {_summary(opinions, replay)}")
    if options.open and not webbrowser.open(out.resolve().as_uri()):
        raise ValueError(f"no browser could be started; open {out} in one yourself")


def _opinions(options: Options, replay: Replay) -> Review:
    kept = review_path(options.record)
    if options.policy is None and not options.search:
        return load_review(kept, replay) if kept.exists() else Review()
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reviewing", total=len(replay.choices))
        opinions = review(
            replay, options.policy, options.search, options.seed, lambda done, _: bar.update(task, completed=done)
        )
    if options.keep:
        save_review(opinions, replay, kept)
    return opinions


def _summary(opinions: Review, replay: Replay) -> str:
    asked = [f"opinions of {opinions.policy['name']}"] if opinions.policy else []
    if opinions.search:
        mistakes = len(opinions.mistakes(replay))
        asked.append(
            f"{mistakes} mistake{'s' * (mistakes != 1)} by {opinions.search['rollouts']} rollouts per decision"
        )
    return ", ".join(asked) or "no opinions (--policy NAME, --search K)"


if __name__ == "__main__":
    sys.exit(main())
