"""``ohhell view RECORD``: a match as one HTML page, to step through in any browser, without a network.

    ohhell view match.jsonl --open
    ohhell view match.jsonl --policy mix512 --search 400     # opinions on every decision, mistakes marked

Opinions that a file RECORD.review.json holds (--keep writes it, `ohhell_env.records.review` describes it) are shown
unasked.
"""

from __future__ import annotations

import argparse
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from ohhell_env.records.match import seat_names
from ohhell_env.records.notation import CutOffError, write_whole
from ohhell_env.records.replay import Replay, load_replay
from ohhell_env.records.review import Review, load_review, review, review_path, save_review
from ohhell_env.render.replay_html import replay_page

FAILED = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status: 2 when the record is damaged or something asked for is not to be had."""
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except (ValueError, OSError) as error:
        words = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.strerror else str(error)
        print(f"error: {words}", file=sys.stderr)
        return FAILED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ohhell view", description="A recorded match as one HTML page for any browser."
    )
    parser.add_argument("record", type=Path, help="the record of a match, JSON lines (ohhell_env.records.notation)")
    parser.add_argument("--out", type=Path, help="the page's file; the record's name with .html by default")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument(
        "--policy", metavar="NAME", help="a checkpoint whose probabilities (of dmc: values too) are shown"
    )
    parser.add_argument(
        "--search", metavar="K", type=int, default=0, help="mark mistakes by K play-outs for each decision, e.g. 400"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the play-outs (default: 0)")
    parser.add_argument("--keep", action="store_true", help="write the opinions to RECORD.review.json too")
    parser.add_argument(
        "--names", metavar="A,B,...", help="names of the seats (default: those of RECORD.players, if it is there)"
    )
    parser.add_argument(
        "--finished", action="store_true", help="show the finished hands only, as of a record that is cut short"
    )
    return parser


def _run(options: argparse.Namespace) -> None:
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


def _opinions(options: argparse.Namespace, replay: Replay) -> Review:
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
        asked.append(f"{mistakes} mistake{'s' * (mistakes != 1)} by {opinions.search['playouts']} play-outs a decision")
    return ", ".join(asked) or "no opinions (--policy NAME, --search K)"


if __name__ == "__main__":
    sys.exit(main())
