"""Make a run's checkpoint one of those shipped: `ohhell publish RUN/checkpoint NAME --evals FOLDER ...`."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console

from ohhell_env.arena.bench.protocol import NAME as BENCH_NAME
from ohhell_env.arena.bench.protocol import VERSION as BENCH_VERSION
from ohhell_env.arena.bench.result import read_result
from ohhell_env.arena.intervals import Estimate
from ohhell_env.arena.matches import ArenaError, tables_for
from ohhell_env.arena.results import weights_hash
from ohhell_env.bots.policy.bot import CARD, META, WEIGHTS, PolicyBot, load_checkpoint, shipped_checkpoints
from ohhell_env.bots.spec import SEARCH_WITH
from ohhell_env.files import write_whole
from ohhell_env.options import RulesOptions, run_command
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.typed import command_options
from training.learning.checkpoint import model_card, network_text, stage_of, stages
from training.learning.golden import GOLDEN, golden_values

EVALUATIONS = "evaluations.json"
BENCH = "bench.json"  # result.json of `ohhell bench`
BENCHMARK = "heuristic"  # the opponent that the leaderboard is ordered by


@dataclass(frozen=True)
class Options:
    """Copy a checkpoint to where the package finds it, with its golden values, its measured strength and its card."""

    source: tyro.conf.Positional[Path]
    """The checkpoint's folder, RUN/checkpoint; no run may be writing to it."""
    name: tyro.conf.Positional[str]
    """The name to ship it by: letters, digits, dots, dashes and underscores."""
    evals: tuple[Path, ...] = ()
    """Reports of `ohhell evaluate ... --out FOLDER` that it played in: the folders, or ones above them."""
    bench: Path | None = None
    """Its result.json of `ohhell bench`, whose core score stands in the leaderboard."""
    to: Path = Path("checkpoints")
    """The folder of all shipped checkpoints."""


def publish(
    source: Path, name: str, evals: Sequence[Path] = (), to: Path = Path("checkpoints"), bench: Path | None = None
) -> Path:
    """Write ``to/name`` and the leaderboard ``to/README.md``; returns the checkpoint's new folder.

    Args:
        source: a checkpoint's folder.
        name: the name to ship it by.
        evals: folders with report.json in or below them.
        to: the folder of all shipped checkpoints.
        bench: its result of the benchmark.

    Raises:
        ArenaError: if the name, the checkpoint or a report is not usable, before anything is written.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise ArenaError(f"name={name!r} is not allowed; use letters, digits, dots, dashes and underscores")
    try:
        network, meta = load_checkpoint(source)
    except (OSError, ValueError) as error:
        raise ArenaError(f"{source} cannot be published: {error}") from error
    evaluations = _evaluations(evals, name, weights_hash(source))
    files = {
        WEIGHTS: (source / WEIGHTS).read_bytes(),
        META: _json(meta),
        GOLDEN: _json(golden_values(PolicyBot(network))),
        EVALUATIONS: _json(evaluations),
        CARD: card(name, meta, evaluations).encode(),
    }
    if bench is not None:
        if read_result(bench).data["player"]["weights"] != weights_hash(source):
            raise ArenaError(f"{bench} measured {read_result(bench).name!r}, which is not this checkpoint")
        files[BENCH] = bench.read_bytes()
    folder = to / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, data in files.items():
        write_whole(folder / file, data)
    write_whole(to / CARD, leaderboard(to).encode())
    return folder


def _json(data: Any) -> bytes:
    return (json.dumps(data, indent=1) + "\n").encode()


def _evaluations(folders: Sequence[Path], name: str, weights: str) -> list[dict[str, Any]]:
    """The parts of the reports that the card tells, this checkpoint under the name that it is shipped by."""
    found = []
    for folder in folders:
        paths = sorted(folder.rglob("report.json")) if folder.is_dir() else []
        if not paths:
            raise ArenaError(
                f"{folder} is not a folder with a report.json in or below it; evaluate with --out makes one"
            )
        for path in paths:
            report = json.loads(path.read_text(encoding="utf-8"))
            settings = report["settings"]
            mine = {spec for spec, content in settings["contents"].items() if content.split("+")[0] == weights}
            if settings["players"][0] not in mine:
                raise ArenaError(
                    f"{path} measured {settings['players'][0]!r}, which is not this checkpoint or has other weights"
                )
            if not _command_gives(settings):
                raise ArenaError(f"{path} was played by rules that no option of the command gives")
            names = {spec: _shipped_spec(spec, name) for spec in mine}
            settings["players"] = [names.get(spec, spec) for spec in settings["players"]]
            settings["contents"] = {names.get(spec, spec): content for spec, content in settings["contents"].items()}
            differences = [
                {**one, "a": names.get(one["a"], one["a"]), "b": names.get(one["b"], one["b"])}
                for one in report["differences"]
            ]
            found.append({"settings": settings, "differences": differences})
    return sorted(found, key=_place)


def _shipped_spec(spec: str, name: str) -> str:
    """How a player that uses this checkpoint is called once it is shipped."""
    if not spec.startswith(f"{SEARCH_WITH}:"):
        return f"checkpoints/{name}"
    worlds = re.search(r":\d+$", spec)
    return f"{SEARCH_WITH}:{name}{worlds[0] if worlds else ''}"


def _place(report: dict[str, Any]) -> tuple[Any, ...]:
    """Where a report stands in the card: by player, opponents, table."""
    settings = report["settings"]
    rules = settings["rules"][0]
    sizes = [int(size) for size in settings["hands"].split(",") if size.isdecimal()]
    order = (rules["players"], rules["bids"], not rules["hook"], sizes, settings["seating"])
    return settings["players"][0], settings["players"][1:], *order


def card(name: str, meta: dict[str, Any], evaluations: Sequence[dict[str, Any]]) -> str:
    """The model card: how it was made, how strong it is, and the commands that measure that again."""
    if not evaluations:
        return model_card(name, meta)
    lines = [
        "## Measured strength",
        "",
        "Points per hand, bids made and matches (or single hands) won more than the opponents at the same table, the "
        "same deals in every seat; ±: half of the 95 % interval, one observation per deal.",
        "",
        "| player | against | table | cards | deals | points per hand | bids made % | wins % |",
        "| --- | --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for report in evaluations:
        lines += _rows(report)
    lines += ["", "Measured by:", ""]
    lines += [f"    {command(report['settings'])}" for report in evaluations]
    return "\n".join([model_card(name, meta), *lines, ""])


def _rows(report: dict[str, Any]) -> list[str]:
    """A row for each opponent, and one for each hand size where there are several."""
    settings = report["settings"]
    rules = settings["rules"][0]
    seats = "one seat against the rest" if settings["seating"] == "one" else "all seats but one"
    hook = "hook" if rules["hook"] else "no hook"
    table = f"{rules['players']} players, {rules['bids']} bids, {hook}, {seats}"
    rows = []
    for one in report["differences"]:
        start = f"| {one['a']} | {one['b']} | {table} |"
        points, made, wins = (_estimate(one[key]) for key in ("points", "made", "wins"))
        cells = f"{points.n:,} | {points.text(sign=True)} | {made.text(100, 1, sign=True)} | "
        cards = "match" if settings["hands"] == "ramp" else settings["hands"].replace(",", ", ")
        rows.append(f"{start} {cards} | {cells}{wins.text(100, 1, sign=True)} |")
        if len(one["by_hand_size"]) > 1:
            for size, data in one["by_hand_size"].items():
                points = _estimate(data)
                rows.append(f"{start} {size} | {points.n:,} | {points.text(sign=True)} | | |")
    return rows


def _estimate(data: dict[str, Any]) -> Estimate:
    mean, low, high = (float("nan") if data[end] is None else data[end] for end in ("mean", "low", "high"))
    return Estimate(mean, low, high, data["deals"])


def table_options(settings: dict[str, Any]) -> list[str]:
    """The options that name the table of a report; its hand sizes are named by ``--hands``."""
    rules = Rules.from_json(settings["rules"][0])
    return command_options(rules, without=() if settings["hands"] == "ramp" else ("ramp",))


def command(settings: dict[str, Any]) -> str:
    """The command that gives a report again."""
    player, *opponents = settings["players"]
    seating = "" if settings["seating"] == "one" else f" --seating {settings['seating']}"
    return (
        f"ohhell evaluate {player} --vs {' '.join(opponents)} {shlex.join(table_options(settings))} "
        f"--hands {settings['hands']}{seating} --deals {settings['deals']} --seed {settings['seed']}"
    )


def command_rules(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """The rules of the tables that `command` plays at."""
    options = tyro.cli(RulesOptions, args=table_options(settings))
    return [table.to_json() for table in tables_for(settings["hands"], options.table_rules())]


def _command_gives(settings: dict[str, Any]) -> bool:
    """Whether the options of the command can name the tables of a report."""
    try:
        return command_rules(settings) == settings["rules"]
    except ValueError:  # a table of points for the hands of the report alone
        return False


def standing(folder: Path) -> tuple[dict[str, Any], dict[str, list[Estimate]]]:
    """A published checkpoint's meta.json, and its lead in points per hand over each opponent, one estimate a table."""
    meta = json.loads((folder / META).read_text(encoding="utf-8"))
    path = folder / EVALUATIONS
    leads: dict[str, list[Estimate]] = {}
    for report in json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []:
        settings = report["settings"]
        alone = not settings["players"][0].startswith(SEARCH_WITH)
        if alone and settings["seating"] == "one" and len(settings["players"]) == 2:
            one = report["differences"][0]
            leads.setdefault(one["b"], []).extend(_estimate(data) for data in one["by_hand_size"].values())
    return meta, leads


def ranked(folders: Sequence[Path]) -> list[Path]:
    """Published checkpoints, best first: by their mean lead over the benchmark; those without one last, by name."""

    def key(folder: Path) -> tuple[float, str]:
        leads = standing(folder)[1].get(BENCHMARK, [])
        return (-sum(one.mean for one in leads) / len(leads) if leads else float("inf")), folder.name

    return sorted(folders, key=key)


def leaderboard(root: Path) -> str:
    """README.md of the folder of all shipped checkpoints."""
    folders = ranked([path.parent for path in root.glob(f"*/{META}")])
    if not folders:
        return "# Checkpoints\n\nShipped checkpoints live here, one folder each. There are none yet.\n"
    standings = [standing(folder) for folder in folders]
    opponents = sorted({opponent for _, leads in standings for opponent in leads}, key=lambda o: (o != BENCHMARK, o))
    lines = [
        "# Checkpoints",
        "",
        "Shipped policies, best first; each folder's README tells how it was trained and how strong it is at every "
        "table.",
        "",
        f"| checkpoint | network | decisions | CPU-hours | bench, core | "
        f"{' | '.join(f'margin over {o}' for o in opponents)} |",
        f"| --- | --- | ---: | ---: | ---: | {' | '.join('---:' for _ in opponents)} |",
    ]
    for folder, (meta, leads) in zip(folders, standings, strict=True):
        network = network_text(meta["network"])
        cells = [_lead(leads.get(opponent, [])) for opponent in opponents]
        runs = [stage_of(meta)] if "teacher" in meta else stages(meta)
        decisions, hours = (sum(run[of] for run in runs) for of in ("decisions", "cpu_hours"))
        start = (
            f"| [{folder.name}]({folder.name}/README.md) | {network} | {decisions:,} | {hours:.1f} | {_bench(folder)} |"
        )
        lines.append(f"{start} {' | '.join(cells)} |")
    lines += [
        "",
        f"Bench, core: {BENCH_NAME} {BENCH_VERSION}, 0 is `random`, 100 is `search:1000`, ± half of the 95 % interval.",
        "",
        "Margin: points per hand of one seat minus those of the opponent in all other seats, the mean over the tables "
        "and hand sizes measured, and the least of them with its 95 % interval.",
        "",
        "Play with one: `load_policy(NAME)`, or `checkpoints/NAME` and `search+policy:NAME:20` wherever a player is "
        "named. Add one: `ohhell publish RUN/checkpoint NAME --evals FOLDER ...`.",
        "",
    ]
    return "\n".join(lines)


def _bench(folder: Path) -> str:
    """The core score of a checkpoint, if these weights have been measured by the benchmark of today's version."""
    path = folder / BENCH
    if not path.is_file():
        return "–"
    result = read_result(path)
    if result.data["player"]["weights"] != weights_hash(folder):
        return "–"
    return result.score("core").text(digits=1) + (" (quick)" if result.quick else "")


def _lead(leads: Sequence[Estimate]) -> str:
    if not leads:
        return "–"
    least = min(leads, key=lambda one: one.mean)
    mean = sum(one.mean for one in leads) / len(leads)
    return f"{mean:+.2f} over {len(leads)}; least {least.text(sign=True)}"


def best_shipped() -> str | None:
    """Spec of the best checkpoint that comes with the package; None where there is none."""
    folders = ranked(list(shipped_checkpoints().values()))
    return f"checkpoints/{folders[0].name}" if folders else None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return run_command(Options, _run, "ohhell publish", arguments)


def _run(options: Options, console: Console) -> None:
    folder = publish(options.source, options.name, options.evals, options.to, options.bench)
    console.print(f"Written: {folder}, {options.to / CARD}")
    console.print(f"Measure it: ohhell evaluate {folder} --vs heuristic --hands 5")


if __name__ == "__main__":
    sys.exit(main())
