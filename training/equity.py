"""``ohhell equity``: fit the chance of winning a match from how it stands, to matches that players have played.

    ohhell equity --folder runs/equity          # plays, fits, writes equity.safetensors, report.json, reliability.png
    ohhell equity --folder runs/equity --ship   # and puts it in the place of the one that is shipped

Players have seats in turn, the same in all seats of half the matches. Standings before each hand are learned from by
cross-entropy to the shares of the win. A fifth of the matches is held out; the report has the scores there. A table's
matches are kept in the folder as they are done, so that the same command continues.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table
from safetensors.numpy import load, save
from torch import nn

from ohhell_env.arena.matches import play
from ohhell_env.bots import make_bot
from ohhell_env.bots.policy import equity as shipped
from ohhell_env.bots.policy.equity import FEATURES, HIDDEN, Equity, chances, features, stakes_of
from ohhell_env.files import write_whole
from ohhell_env.kernel.state import compile_rules
from ohhell_env.options import UsageError, progress, run_command
from ohhell_env.rules.limits import WIDE_MAX_PLAYERS
from ohhell_env.rules.presets import preset
from ohhell_env.rules.rules import Rules

SHORT = ((1,), (2, 1), (7, 6), (3, 2, 1), (1, 2, 3, 4), (7, 5, 3), (6, 5, 4, 3, 2, 1))  # ramps of short matches
OTHERS = (
    "up_and_down_the_river",
    "seven_down",
    "trickster",
    "old_heck",
    "blob",
    "oh_pshaw",
    "nomination_whist",
    "pocha",
)
HELD_OUT = 5  # every fifth match
PORTION = 100  # matches played at once


@dataclass(frozen=True)
class Options:
    """Fit the match equity."""

    folder: Path = Path("runs/equity")
    """Where everything is written."""
    matches: int = 400
    """Matches of each table of the base rules; a quarter of that at the others."""
    players: tuple[str, ...] = ("heuristic", "mix512-fast")
    """Players at the tables of the base rules; at the others it is the heuristic."""
    seed: int = 1
    """Seed of matches and fit."""
    epochs: int = 12
    """How often each standing is learned from."""
    ship: bool = False
    """Put the result in the place of the one that is shipped."""


class Standings(NamedTuple):
    """Standings of one or several tables before their hands.

    Attributes:
        given: (N, S, F) float32, `equity.features`.
        here: (N, S) bool, the seats that there are.
        wins: (N, S) float32, each seat's share of the win.
        left: (N,) int64, hands to come.
        match: (N,) int64, number of the match.
    """

    given: NDArray[np.float32]
    here: NDArray[np.bool_]
    wins: NDArray[np.float32]
    left: NDArray[np.int64]
    match: NDArray[np.int64]

    def rows(self, rows: NDArray[np.bool_]) -> Standings:
        """Some of them, (N,) bool."""
        return Standings(self.given[rows], self.here[rows], self.wins[rows], self.left[rows], self.match[rows])


class Series(NamedTuple):
    """Matches at one table.

    Attributes:
        name: of the file.
        rules: the table.
        players: who plays.
        matches: how many.
    """

    name: str
    rules: Rules
    players: tuple[str, ...]
    matches: int


def series(options: Options) -> list[Series]:
    """All that is played."""
    found = []
    for players in range(3, 8):
        found.append(Series(f"oh_hell-{players}", Rules(players=players), options.players, options.matches))
        for ramp in SHORT:
            rules = Rules(players=players, ramp=ramp, bids="open")
            name = f"oh_hell-{players}-{'-'.join(map(str, ramp))}"
            found.append(Series(name, rules, options.players, options.matches))
    few = max(options.matches // 4, 10)
    return found + [Series(name, preset(name), ("heuristic",), few) for name in OTHERS]


def play_matches(rules: Rules, specs: Sequence[str], matches: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Points (M, H, P), dealers (M, H), sizes (M, H) and wins (M, P) of some matches."""
    bots = [make_bot(spec, seed) for spec in specs]
    random = np.random.default_rng(seed)
    seats = random.integers(len(bots), size=(matches, 1, rules.players))
    seats[: matches // 2] = seats[: matches // 2, :, :1]
    seeds = random.integers(2**62, size=(matches, 1))
    parts = [
        play((rules,), seeds[first : first + PORTION], seats[first : first + PORTION], bots, specs)
        for first in range(0, matches, PORTION)
    ]
    return {
        "points": np.concatenate([part.points[:, 0, 0] for part in parts]).astype(np.float64),
        "dealers": np.concatenate([part.dealers[:, 0, 0] for part in parts]).astype(np.float64),
        "wins": np.concatenate([part.wins[:, 0, 0] for part in parts]),
    }


def standings_of(rules: Rules, played: dict[str, NDArray[np.float64]], first: int) -> Standings:
    """Each match before each of its hands; ``first`` is the number of the first match."""
    points, wins = played["points"], played["wins"]
    matches, hands, players = points.shape
    before = np.zeros((matches, hands, WIDE_MAX_PLAYERS))
    before[:, 1:, :players] = points.cumsum(axis=1)[:, :-1]
    match, hand = (index.ravel() for index in np.indices((matches, hands)))
    tables = compile_rules((rules,))
    totals = before.reshape(-1, WIDE_MAX_PLAYERS)
    dealers = played["dealers"].astype(np.int64).ravel()
    given = features(tables, stakes_of(tables), np.zeros_like(hand), hand, dealers, totals)
    here = np.broadcast_to(np.arange(WIDE_MAX_PLAYERS) < players, totals.shape)
    shares = np.zeros(totals.shape, dtype=np.float32)
    shares[:, :players] = wins[match]
    return Standings(given, here, shares, hands - hand, first + match)


def network() -> nn.Sequential:
    """The network that `equity.Equity` describes."""
    sizes = (len(FEATURES), HIDDEN, HIDDEN, 1)
    layers: list[nn.Module] = []
    for fan_in, fan_out in pairwise(sizes):
        layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def fit(standings: Standings, epochs: int, seed: int) -> Equity:
    """The network of least cross-entropy to the shares of the win."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    model = network()
    size = 1024
    steps = epochs * -(-len(standings.given) // size)
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    with progress("fitting", epochs, "epochs") as meter:
        for _ in range(epochs):
            order = random.permutation(len(standings.given))
            for start in range(0, len(order), size):
                rows = order[start : start + size]
                logits = model(torch.from_numpy(standings.given[rows]))[:, :, 0]  # (B, S)
                absent = torch.from_numpy(~standings.here[rows])
                logs = logits.masked_fill(absent, -1e9).log_softmax(1)  # (B, S)
                loss = -(torch.from_numpy(standings.wins[rows]) * logs).sum(1).mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
            meter.advance(1)
    state = model.state_dict()
    return Equity(
        {f"{k}.{part}": state[f"{2 * k}.{part}"].numpy().copy() for k in range(3) for part in ("weight", "bias")}
    )


def scores(found: NDArray[np.float64], standings: Standings) -> dict[str, float]:
    """Log loss and Brier score, a standing, and the error of calibration in ten bins, a seat."""
    here, wins = standings.here, standings.wins
    logs = np.log(np.maximum(found, 1e-9))
    entropy = -np.where(wins > 0, wins * np.log(np.maximum(wins, 1e-9)), 0).sum(1)
    error = sum(abs(told - seen) * share for told, seen, share, _ in reliability(found[here], wins[here]))
    return {
        "log_loss": float((-(wins * logs).sum(1) - entropy).mean()),
        "brier": float(np.where(here, np.square(found - wins), 0).sum(1).mean()),
        "calibration_error": float(error),
    }


def reliability(told: NDArray[np.float64], seen: NDArray[np.float32]) -> list[tuple[float, float, float, float]]:
    """For bins of a tenth each: mean chance told, mean share won, share of the cases, standard error of the second."""
    bins = np.minimum((10 * told).astype(int), 9)
    rows = []
    for number in range(10):
        at = bins == number
        if at.sum() > 1:
            error = float(seen[at].std(ddof=1) / np.sqrt(at.sum()))
            rows.append((float(told[at].mean()), float(seen[at].mean()), float(at.mean()), error))
    return rows


def by_lead(standings: Standings) -> NDArray[np.float64]:
    """The simplest rule: chances by the lead over the mean alone, in spreads of what is to come, at the best slope."""
    best: tuple[float, NDArray[np.float64]] | None = None
    for slope in np.arange(0.5, 6.1, 0.25):
        found = chances((slope * standings.given[:, :, 1]).astype(np.float32), standings.here)
        loss = scores(found, standings)["log_loss"]
        if best is None or loss < best[0]:
            best = loss, found
    assert best is not None
    return best[1]


def report_on(found: NDArray[np.float64], test: Standings, standings: int, matches: int) -> dict[str, Any]:
    """For report.json: scores of the fit and of simpler rules on held-out matches, by hands left, and reliability."""
    even = np.where(test.here, 1 / test.here.sum(1, keepdims=True), 0.0)
    rules = {"equity": found, "lead alone": by_lead(test), "even chances": even}
    parts = {"all": (1, 10**6), "1": (1, 1), "2": (2, 2), "3 to 5": (3, 5), "6 and more": (6, 10**6)}
    by_left = {}
    for name, (low, high) in parts.items():
        at = (test.left >= low) & (test.left <= high)
        some = test.rows(at)
        by_left[name] = {rule: scores(chance[at], some) for rule, chance in rules.items()}
    rows = reliability(found[test.here], test.wins[test.here])
    return {"matches": matches, "standings": standings, "held_out": len(test.left), "hands_left": by_left,
            "reliability": rows}  # fmt: skip


def tell(report: dict[str, Any], console: Console) -> None:
    """The report as tables."""
    table = Table("hands left", "rule", "log loss (nats)", "Brier", "calibration error", box=box.MARKDOWN)
    for left, rules in report["hands_left"].items():
        for rule, found in rules.items():
            table.add_row(left, rule, *(f"{found[name]:.4f}" for name in ("log_loss", "brier", "calibration_error")))
    console.print(table)
    table = Table("told", "won", "standard error", "share of cases", box=box.MARKDOWN)
    for told, won, share, error in report["reliability"]:
        table.add_row(f"{told:.3f}", f"{won:.3f}", f"{error:.3f}", f"{share:.3f}")
    console.print(table)


def draw(rows: Sequence[Sequence[float]], path: Path) -> None:
    """The reliability plot: shares won by the chance that was told."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2, 4.0), layout="constrained")
    axes = figure.add_subplot()
    told, won, _, error = np.array(rows).T
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    axes.errorbar(told, won, yerr=1.96 * error, fmt="o", markersize=4, color="C0")
    axes.set(xlabel="match equity", ylabel="share of the win, held-out matches", xlim=(0, 1), ylim=(0, 1))
    figure.savefig(path, dpi=110)


def run(options: Options, console: Console) -> None:
    """The command."""
    if options.matches < 10 or options.epochs < 1 or not options.players:
        raise UsageError("matches must be 10 or more, epochs 1 or more, and there must be a player")
    torch.set_num_threads(1)
    options.folder.mkdir(parents=True, exist_ok=True)
    told = {**asdict(options), "folder": str(options.folder)}
    parts, first = [], 0
    listed = series(options)
    with progress("playing matches", len(listed), "tables") as meter:
        for number, one in enumerate(listed):
            key = hashlib.sha256(repr((one, options.seed)).encode()).hexdigest()[:8]
            path = options.folder / f"{one.name}-{key}.safetensors"
            if not path.is_file():
                write_whole(path, save(play_matches(one.rules, one.players, one.matches, options.seed + number)))
            parts.append(standings_of(one.rules, load(path.read_bytes()), first))
            first += one.matches
            meter.advance(1)
    every = Standings(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    held = every.match % HELD_OUT == 0
    learned, test = every.rows(~held), every.rows(held)
    equity = fit(learned, options.epochs, options.seed)
    found = chances(equity.logits(test.given), test.here)
    report = report_on(found, test, len(every.given), first)
    write_whole(options.folder / "report.json", json.dumps({"options": told, **report}, indent=1) + "\n")
    weights = options.folder / "equity.safetensors"
    write_whole(weights, save(equity.tensors))
    tell(report, console)
    draw(report["reliability"], options.folder / "reliability.png")
    if options.ship:
        shutil.copyfile(weights, shipped.WEIGHTS)
        console.print(f"shipped as {shipped.WEIGHTS}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return run_command(Options, run, "ohhell equity", arguments)


if __name__ == "__main__":
    sys.exit(main())
