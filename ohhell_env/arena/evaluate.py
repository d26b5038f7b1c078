"""Compare one player with others: `ohhell evaluate A --vs B C`, or `evaluate()` from Python."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import tyro
from rich.console import Console

from ohhell_env.arena.matches import (
    ArenaError,
    Played,
    bot_seeds,
    checked_deals,
    one_against_rest,
    own_tables,
    tables_for,
)
from ohhell_env.arena.options import TableOptions, plots
from ohhell_env.arena.report import Report, report_on
from ohhell_env.arena.results import contents
from ohhell_env.arena.workers import Contest, MakeBot, play_portions, portions
from ohhell_env.bots import make_bot
from ohhell_env.files import write_whole
from ohhell_env.options import progress, run_command
from ohhell_env.rules.rules import Rules

FORMAT = 2


@dataclass(frozen=True)
class Options(TableOptions):
    """Measure a player against others on the same deals in every seat, so that the luck of the deal cancels.

    With --records FOLDER: compare people and bots from records of matches instead (ohhell evaluate --records . --help).
    """

    player: tyro.conf.Positional[str]
    """The player to measure, A: random, heuristic, search:400, checkpoints/NAME, module:factory."""
    vs: tuple[str, ...]
    """Its opponents, B, C, ...; in turn they fill all the other seats."""
    deals: int = 1000
    """Deals, each replayed in every seating; the intervals rest on their number."""
    seating: Literal["one", "many", "table"] | None = None
    """one: A has one seat, the opponents the others. many: an opponent has one seat, A all the others. table: each
    player has a table of its own. By default one, and table where the rules are cooperative."""
    out: Path | None = None
    """Folder for report.json and report.png."""


def evaluate(
    player: str,
    vs: Sequence[str],
    *,
    players: int | None = None,
    hands: str = "ramp",
    deals: int = 1000,
    rules: str | Rules = "oh_hell",
    seating: str | None = None,
    seed: int = 0,
    workers: int = 1,
    make: MakeBot = make_bot,
    on_progress: Callable[[int], None] | None = None,
) -> Report:
    """Measure a player against others; the same arguments give the same report, whatever ``workers`` is.

    Args:
        player: spec of the player to measure, A.
        vs: specs of its opponents, which fill the other seats in turn.
        players: seats at the table; as the rules have it by default.
        hands: "ramp" for full matches, or hand sizes as in "5" or "3,5,10" for one single-hand match of each.
        deals: deals, at least 2; each is replayed with every contestant in every seat.
        rules: a preset's name, or the rules themselves.
        seating: "one" (A in one seat), "many" (an opponent in one seat, A in all the others) or "table" (each player
            in all seats of a table of its own); None for "one", and for "table" where the rules are cooperative.
        seed: of the deals and of the players' random choices.
        workers: processes to play in.
        make: makes a bot from a spec and a seed.
        on_progress: called with the number of deals just finished.

    Raises:
        ArenaError: for an argument that is not allowed, before anything is played; or a bot's illegal action.
    """
    tables = tables_for(hands, rules, players=players)
    if not vs:
        raise ArenaError("no opponents: name at least one after --vs")
    if seating is None:
        seating = "table" if tables[0].cooperative else "one"
    if seating not in ("one", "many", "table"):
        raise ArenaError(f"seating={seating!r} is not known; use 'one', 'many' or 'table'")
    seeds = checked_deals(seed, deals, len(tables), workers)
    specs = (player, *vs)
    if seating == "table":
        arrangements = own_tables(len(specs), tables[0].players)
    else:
        arrangements = one_against_rest(len(vs), tables[0].players, many=seating == "many")
    contest = Contest(tables, specs, tuple(bot_seeds(seed, len(specs))), make)
    work = portions(seeds, np.broadcast_to(arrangements, (deals, *arrangements.shape)))
    done: dict[int, Played] = {}
    with contextlib.closing(play_portions(contest, work, workers)) as results:
        for index, played in results:
            done[index] = played
            if on_progress:
                on_progress(len(played.seats))
    settings = {
        "format": FORMAT,
        "players": list(specs),
        "contents": contents(specs),
        "seating": seating,
        "hands": hands,
        "deals": deals,
        "seatings": len(arrangements),
        "seed": seed,
        "rules": [table.to_json() for table in tables],
    }
    return report_on(Played.join([done[index] for index in range(len(work))]), tables, specs, settings)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status. With ``--records`` it is `arena.people`'s."""
    given = sys.argv[1:] if arguments is None else arguments
    if any(one.partition("=")[0] == "--records" for one in given):
        from ohhell_env.arena import people

        return people.main(given)
    return run_command(Options, _run, "ohhell evaluate", arguments)


def _run(options: Options, console: Console) -> None:
    from ohhell_env.arena.tables import print_report

    with progress("playing", options.deals, "deals") as meter:
        report = evaluate(
            options.player,
            options.vs,
            deals=options.deals,
            seating=options.seating,
            on_progress=meter.advance,
            **options.table(),
        )
    print_report(report, console)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        text = json.dumps(report.to_json(), indent=1) + "\n"
        written = [write_whole(options.out / "report.json", text)]
        if drawing := plots():
            written.append(drawing.plot_report(report, options.out / "report.png"))
        console.print(f"\nWritten: {', '.join(map(str, written))}", soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())
