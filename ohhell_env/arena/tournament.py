"""Rate many players: `ohhell tournament A B C ... --out DIR`: mixed tables, ratings, resumable."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console

from ohhell_env.arena.matches import ArenaError, bot_seeds, checked_deals, rotations, tables_for
from ohhell_env.arena.options import TableOptions, plots
from ohhell_env.arena.results import ResultsFolder, contents
from ohhell_env.arena.standings import Standings, standings_of
from ohhell_env.arena.workers import Contest, MakeBot, Portion, play_portions, portions
from ohhell_env.bots import make_bot
from ohhell_env.files import write_whole
from ohhell_env.options import progress, run_command
from ohhell_env.rules.rules import Rules

FORMAT = 2
MAX_CONTESTANTS = 30


@dataclass(frozen=True)
class Options(TableOptions):
    """Rate many players at mixed tables; the same command in the same folder continues where it was stopped."""

    contestants: tyro.conf.Positional[tuple[str, ...]]
    """The players: random, heuristic, search:400, checkpoints/NAME, module:factory; two or more."""
    out: Path
    """Folder for the results as they are played, the standings and the plot."""
    deals: int = 1000
    """Deals in all, each replayed with every player of the table in every seat."""


def line_ups(contestants: int, players: int) -> list[tuple[int, ...]]:
    """Every table of as many different contestants as it has room for, each equally often or nearly so."""
    everybody, rest = divmod(players, contestants)
    return [
        tuple(sorted([*range(contestants)] * everybody + list(chosen)))
        for chosen in combinations(range(contestants), rest)
    ]


def schedule(contestants: int, players: int, deals: int, seed: int) -> NDArray[np.int64]:
    """Contestants in their seats for every deal: (deals, players, players), each line-up in all its rotations.

    Line-ups take turns in an order drawn from the seed; who sits left of whom is drawn for every deal.
    """
    possible = line_ups(contestants, players)
    order = np.random.default_rng(seed).permutation(len(possible))
    seats = np.empty((deals, players, players), dtype=np.int64)
    for deal in range(deals):
        table = possible[order[deal % len(possible)]]
        seats[deal] = rotations(np.random.default_rng([seed, deal]).permutation(table).tolist())
    return seats


def tournament(
    contestants: Sequence[str],
    out: Path | str,
    *,
    players: int | None = None,
    hands: str = "ramp",
    deals: int = 1000,
    rules: str | Rules = "oh_hell",
    seed: int = 0,
    workers: int = 1,
    make: MakeBot = make_bot,
    on_start: Callable[[int, str], None] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Standings:
    """Rate many players; plays what the folder lacks and writes ``standings.json`` there.

    Args:
        contestants: specs of two or more players.
        out: the tournament's folder.
        players: seats at the table; as the rules have it by default.
        hands: "ramp" for full matches, or hand sizes as in "5" or "3,5,10" for one single-hand match of each.
        deals: deals in all, at least 2; each is replayed in every rotation of its table.
        rules: a preset's name, or the rules themselves.
        seed: of the tables, the deals and the players' random choices.
        workers: processes to play in.
        make: makes a bot from a spec and a seed.
        on_start: called once with the number of deals that the folder has already, and what was repaired in it.
        on_progress: called with the number of deals just kept.

    Raises:
        ArenaError: for an argument that is not allowed or a folder of another tournament, before anything is played;
            or a bot's illegal action.
    """
    tables = tables_for(hands, rules, players=players)
    if not 2 <= len(contestants) <= MAX_CONTESTANTS:
        raise ArenaError(f"{len(contestants)} players given; a tournament has 2 to {MAX_CONTESTANTS}")
    seeds = checked_deals(seed, deals, len(tables), workers)
    contest = Contest(tables, tuple(contestants), tuple(bot_seeds(seed, len(contestants))), make)
    contest.bots()  # a player that does not exist must not leave a folder behind
    seats = schedule(len(contestants), tables[0].players, deals, seed)
    settings = {
        "format": FORMAT,
        "contestants": list(contestants),
        "contents": contents(contestants),
        "hands": hands,
        "deals": deals,
        "seed": seed,
        "rules": [table.to_json() for table in tables],
    }
    results = ResultsFolder(Path(out), settings, seats, len(tables))
    if on_start:
        on_start(int(results.done.sum()), results.repaired)
    _play_missing(results, contest, portions(seeds, seats), workers, on_progress)
    standings = standings_of(seats, results.totals, tables, contestants, settings)
    write_whole(Path(out) / "standings.json", json.dumps(standings.to_json(), indent=1) + "\n")
    return standings


def _play_missing(
    results: ResultsFolder,
    contest: Contest,
    work: Sequence[Portion],
    workers: int,
    on_progress: Callable[[int], None] | None,
) -> None:
    """Play every portion that has a deal missing, as a whole, and keep the deals that were missing."""
    firsts = np.cumsum([0, *(len(portion.seeds) for portion in work)])
    missing = [k for k in range(len(work)) if not results.done[firsts[k] : firsts[k + 1]].all()]
    with contextlib.closing(play_portions(contest, [work[k] for k in missing], workers)) as finished:
        for index, played in finished:
            before = int(results.done.sum())
            results.add(int(firsts[missing[index]]), played)
            if on_progress:
                on_progress(int(results.done.sum()) - before)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return run_command(Options, _run, "ohhell tournament", arguments)


def _run(options: Options, console: Console) -> None:
    from ohhell_env.arena.tables import print_standings

    kept = 0
    with progress("playing", options.deals, "deals") as meter:

        def on_start(done: int, repaired: str) -> None:
            if repaired:
                meter.tell(repaired)
            if done:
                meter.tell(f"{done:,} of {options.deals:,} deals are in {options.out} already")
            on_progress(done)

        def on_progress(deals: int) -> None:
            nonlocal kept
            kept += deals
            meter.advance(deals)

        try:
            standings = tournament(
                options.contestants,
                options.out,
                deals=options.deals,
                on_start=on_start,
                on_progress=on_progress,
                **options.table(),
            )
        except KeyboardInterrupt:
            told = f"{kept:,} of {options.deals:,} deals are kept in {options.out}; the same command plays the rest"
            raise KeyboardInterrupt(told) from None
    print_standings(standings, console)
    written = [options.out / "standings.json"]
    if drawing := plots():
        written.append(drawing.plot_standings(standings, options.out / "standings.png"))
    console.print(f"\nWritten: {', '.join(map(str, written))}", soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())
