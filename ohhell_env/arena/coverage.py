"""What random tables cover, and how far players are apart on them: ``python -m ohhell_env.arena.coverage``.

Draws tables of each split of `ohhell_env.rules.sample`, counts the values of their options, and measures one player
against another on a sample of them. The picture goes into the docs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from ohhell_env.arena.evaluate import evaluate
from ohhell_env.arena.intervals import Estimate
from ohhell_env.options import progress
from ohhell_env.rules.cards import SUIT_NAMES
from ohhell_env.rules.ramps import SPECIALS
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.sample import SPLITS, families_of, random_rules

_ON_OFF = ("hook", "knocking", "cooperative", "nil_round", "blind_bids", "must_trump", "hands_shown", "sort_hands")


def features(rules: Rules) -> set[str]:
    """What a table has, in short words, for counting."""
    special = {word for hand in rules.ramp_hands for word, bit in SPECIALS.items() if hand.special & bit}
    pattern = rules.ramp if isinstance(rules.ramp, str) else "hands"
    trump = "sequence" if not isinstance(rules.trump, str) else "suit" if rules.trump in SUIT_NAMES else rules.trump
    found = {f"{rules.players} players", f"deck {rules.deck.name.split(',')[0]}", f"ramp {pattern}", f"trump {trump}"}
    found |= {f"bids {rules.bids}", f"largest hand {max(rules.hand_sizes)}"}
    found |= {f"{word} hand" for word in special} | {option for option in _ON_OFF if getattr(rules, option)}
    found |= {f"{option} {getattr(rules, option)}" for option in ("lead_trump", "duplicates", "full_deal")}
    found |= {"lowest wins"} if rules.lowest else set()
    return found | set(families_of(rules))


def shares(tables: Iterable[Rules]) -> dict[str, float]:
    """The share of some tables that has each feature."""
    all_tables = list(tables)
    counts = Counter(feature for rules in all_tables for feature in features(rules))
    return {feature: count / len(all_tables) for feature, count in sorted(counts.items())}


@dataclass(frozen=True)
class Spread:
    """How far two players are apart at one table.

    Attributes:
        seed: of the table in its split.
        margin: one seat of the first against all others of the second: points per hand, better when higher.
    """

    seed: int
    margin: Estimate


def spreads(
    player: str, other: str, split: str, tables: int, deals: int, on_progress: Callable[[int], None] | None = None
) -> list[Spread]:
    """Measure a player against another on the first tables of a split, each on the same deals."""
    found = []
    for seed in range(tables):
        rules = random_rules(seed, split)
        margin = evaluate(player, [other], rules=rules, deals=deals, seed=seed).differences[0].points
        if rules.lowest:
            margin = Estimate(-margin.mean, -margin.high, -margin.low, margin.n)
        found.append(Spread(seed, margin))
        if on_progress:
            on_progress(1)
    return found


def plot_coverage(
    covered: Mapping[str, Mapping[str, float]], measured: Mapping[str, Sequence[Spread]], path: Path
) -> Path:
    """Features of each split as bars, and below them the margins of every table in order; returns the path."""
    from matplotlib.figure import Figure  # the extra plots

    from ohhell_env.arena.plots import errorbars, save

    names = sorted({feature for split in covered.values() for feature in split})
    figure = Figure(figsize=(15, 10), layout="constrained")
    bars, lines = figure.subplots(2, 1, height_ratios=(3, 2))
    places = np.arange(len(names))
    for k, (split, counts) in enumerate(covered.items()):
        bars.bar(places + 0.27 * (k - 1), [100 * counts.get(name, 0.0) for name in names], 0.27, label=split)
    bars.set(xticks=places, ylabel="tables that have it, %")
    bars.set_xticklabels(names, rotation=90, fontsize="x-small")
    bars.legend()
    for name, group in measured.items():
        ordered = sorted((one.margin for one in group), key=lambda margin: margin.mean)
        errorbars(lines, np.linspace(0, 100, len(ordered)).tolist(), ordered, label=name, linewidth=1)
    lines.axhline(0, color="black", linewidth=0.8)
    lines.set(xlabel="tables, from the smallest margin to the largest, %", ylabel="margin, points per hand")
    lines.grid(alpha=0.3)
    lines.legend()
    return save(figure, path)


@dataclass(frozen=True)
class Options:
    """Draw random tables, count what they have, and measure players on some of them."""

    out: Path = Path("random_tables.png")
    """picture to write"""
    tables: int = 1000
    """tables of each split whose options are counted"""
    measured: int = 60
    """tables of each split that are played"""
    deals: int = 50
    """deals at each table, each replayed in every seat"""
    pairs: tuple[str, ...] = ("heuristic/random",)
    """players to compare, as PLAYER/OTHER"""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    options = tyro.cli(Options, args=arguments, description=__doc__)
    covered = {split: shares(random_rules(seed, split) for seed in range(options.tables)) for split in SPLITS}
    measured: dict[str, list[Spread]] = {}
    for pair in options.pairs:
        player, _, other = pair.rpartition("/")
        for split in SPLITS:
            with progress(f"{player} and {other}, {split}", options.measured, "tables") as meter:
                group = spreads(player, other, split, options.measured, options.deals, meter.advance)
            measured[f"{player} against {other}, {split}"] = group
            means = np.array([one.margin.mean for one in group])
            ahead = sum(one.margin.low > 0 for one in group)
            print(
                f"{player} against {other}, {split}: {means.mean():+.2f} points per hand, median "
                f"{np.median(means):+.2f}; ahead at {(means > 0).sum()} of {len(group)} tables, "
                f"by an interval at {ahead}; least {means.min():+.2f} at seed {group[int(means.argmin())].seed}"
            )
    print(f"wrote {plot_coverage(covered, measured, options.out)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
