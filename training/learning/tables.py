"""The tables of a run: hands of presets, rules files and options, how often each is dealt, in which unit it returns.

A table's points may be 10 a hand or 1, so returns are scaled by the table's own spread: the standard deviation of what
a hand brings a seat when heuristic players have all seats, or a share of the stake where those hardly ever make a bid.
It is measured once and kept with the run.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohhell_env.arena.returns import longest, write_returns
from ohhell_env.bots.heuristic import HeuristicBot
from ohhell_env.bots.policy.every_table import stake
from ohhell_env.files import write_whole
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import jit
from ohhell_env.kernel.state import HAND_OVER
from ohhell_env.rules.limits import WIDE_MAX_PLAYERS
from ohhell_env.rules.ramps import DRAWN, GOLDEN_HAND, MISER_HAND, RANDOM, special_text
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.sample import random_rules
from ohhell_env.rules.typed import rules_named
from ohhell_env.simulator import Simulator

SPREADS = "spreads.json"  # in a run's folder
UNIT = 1.5  # spreads in a unit of return; about the 10 points of the base rules
LEAST = 0.3  # of the stake, that a spread is at least; the standard deviation of a Bernoulli draw with chance 0.1
HANDS = 256  # of heuristic players, that a table's spread is measured on
SEED = 2**62 + 2**32  # far from the seeds that training and evaluation deal from
_ENTRY = {
    "rules": "oh_hell",
    "players": (),
    "set": (),
    "weight": 1.0,
    "random": 0,
}  # what a file says of a table, and its defaults


class Mixture(NamedTuple):
    """Tables, each a hand of its own, and how often each is dealt.

    Attributes:
        rules: the tables; a match is a single hand, but where its size is drawn.
        shares: of the hands; they add up to 1.
    """

    rules: list[Rules]
    shares: list[float]


class Entry(NamedTuple):
    """A line of a run's list of tables.

    Attributes:
        rules: preset or rules file, as typed.
        players: seats, each number as often as it stands here; empty: as the rules have it.
        set: changes, as OPTION=VALUE.
        weight: how often it is dealt, beside the others.
        random: in place of these rules so many random tables, the first ones of `random_rules`' split "train".
    """

    rules: str
    players: tuple[int, ...]
    set: tuple[str, ...]
    weight: float
    random: int = 0


def read_entries(path: Path) -> list[Entry]:
    """The tables that a TOML file lists.

    An entry is a ``[[table]]`` with any of ``rules`` (a preset, or a rules file beside this one), ``players`` (a number
    or a list), ``set`` (a list of "OPTION=VALUE") and ``weight``; or with ``random``, how many random tables, and
    ``weight``.

    Raises:
        ValueError: if it cannot be read, saying what is wrong in which entry.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"there is no file of tables {str(path)!r}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no TOML file: {error}") from None
    listed = data.get("table")
    if set(data) != {"table"} or not isinstance(listed, list) or not listed:
        raise ValueError(f"{path} holds {', '.join(data) or 'nothing'}; it must hold tables alone, each [[table]]")
    return [_entry(one, f"{path}, table {number}", path.parent) for number, one in enumerate(listed, 1)]


def _entry(data: Mapping[str, Any], where: str, folder: Path) -> Entry:
    if unknown := sorted(set(data) - set(_ENTRY)):
        raise ValueError(f"{where} has {', '.join(unknown)}; a table has {', '.join(_ENTRY)}")
    rules, players, changes, weight, random = ({**_ENTRY, **data}[name] for name in _ENTRY)
    if "random" in data and (set(data) - {"random", "weight"} or type(random) is not int or not 1 <= random <= 10**5):
        raise ValueError(f"{where}: random={random!r} must be a number of tables, with nothing else but a weight")
    players = (players,) if isinstance(players, int) else tuple(players)
    if not isinstance(rules, str) or not all(isinstance(one, int) for one in players):
        raise ValueError(f"{where}: rules={rules!r} must be a name, players={players!r} whole numbers")
    if isinstance(changes, str) or not all(isinstance(one, str) for one in changes):
        raise ValueError(f'{where}: set={changes!r} must be a list of "OPTION=VALUE"')
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < float("inf"):
        raise ValueError(f"{where}: weight={weight!r} is not allowed; use a number above 0")
    if rules.endswith(".json"):
        rules = str(folder / rules)
    return Entry(rules, players, tuple(changes), float(weight), random)


def allows(rules: str, players: int, changes: Sequence[str]) -> bool:
    """Whether some rules with these changes can be played by so many."""
    try:
        rules_named(rules, players, changes)
    except ValueError:
        return False
    return True


def mixture_of(entries: Sequence[Entry], max_hand_size: int = 0, large_hands: float = 1.0) -> Mixture:
    """The hands of some tables.

    Args:
        entries: the tables.
        max_hand_size: the largest hand dealt, in cards; 0 for no limit.
        large_hands: how much more often the largest hand is dealt than a hand of no cards would be.

    Raises:
        ValueError: if an entry is no table, or has no hand that is small enough.
    """
    found: dict[str, tuple[Rules, float]] = {}
    total = sum(entry.weight for entry in entries)
    for entry in entries:
        for one, part in weighted_hands(entry, max_hand_size, large_hands):
            key = json.dumps(one.to_json(), sort_keys=True)
            found[key] = one, found.get(key, (one, 0.0))[1] + part * entry.weight / total
    return Mixture([one for one, _ in found.values()], [share for _, share in found.values()])


def weighted_hands(entry: Entry, max_hand_size: int, large_hands: float) -> list[tuple[Rules, float]]:
    """The hands of an entry and their shares of it, which add up to 1; of a random table it is one hand, drawn."""
    found = []
    for seed in range(entry.random):
        hands = single_hands(random_rules(seed), max_hand_size, large_hands)
        weights = np.array([weight for _, weight in hands])
        chosen = np.random.default_rng(seed).choice(len(hands), p=weights / weights.sum())
        found.append((hands[chosen][0], 1 / entry.random))
    if entry.random:
        return found
    counts = entry.players or (None,)
    for players in counts:
        hands = single_hands(rules_named(entry.rules, players, entry.set), max_hand_size, large_hands)
        total = sum(weight for _, weight in hands)
        found += [(one, weight / total / len(counts)) for one, weight in hands]
    return found


def single_hands(rules: Rules, max_hand_size: int, large_hands: float) -> list[tuple[Rules, float]]:
    """Each hand of a ramp as a match of its own, and its weight; a ramp whose sizes are drawn stays as it is."""
    if rules.ramp == DRAWN:
        return [(rules, 1.0)]
    hands = [hand for hand in rules.ramp_hands if not max_hand_size or hand.size <= max_hand_size]
    if not hands:
        raise ValueError(f"max_hand_size={max_hand_size}: no hand of ramp={rules.ramp!r} is as small")
    largest = max(hand.size for hand in hands)
    found = []
    for number, hand in enumerate(rules.ramp_hands):
        if hand in hands:
            trump = rules.trump if isinstance(rules.trump, str) else rules.trump[number % len(rules.trump)]
            entry: int | str = f"{hand.size} {special_text(hand.special)}" if hand.special else hand.size
            one = replace(rules, ramp=(entry,), cap=0, trump=trump, deals=())
            found.append((one, 1 + large_hands * hand.size / largest))
    return found


def has_standings(rules: Rules) -> bool:
    """Whether hands of a table's matches can be trained on: several hands in a given order, each seat for itself."""
    return rules.num_hands > 1 and not rules.cooperative and rules.ramp not in (DRAWN, RANDOM)


def matches_of(entries: Sequence[Entry]) -> Mixture:
    """The tables of whose matches hands are dealt, and how often: those of `has_standings`, random ones aside.

    Raises:
        ValueError: if there is none.
    """
    found: list[tuple[Rules, float]] = []
    for entry in entries:
        counts = () if entry.random else entry.players or (None,)
        every = [rules_named(entry.rules, players, entry.set) for players in counts]
        found += [(rules, entry.weight / len(counts)) for rules in every if has_standings(rules)]
    if not found:
        raise ValueError("match needs tables with matches of several hands in a given order, not cooperative ones")
    total = sum(weight for _, weight in found)
    return Mixture([rules for rules, _ in found], [weight / total for _, weight in found])


def heuristic_returns(rules: Rules, hands: int) -> NDArray[np.float64]:
    """What each seat's hand brings, (hands * players,), where heuristic players have all seats."""
    seeds = np.arange(SEED, SEED + hands)
    simulator = Simulator(rules, hands, seeds, observe=False)
    bot = HeuristicBot()
    games, tables = simulator.games, simulator.tables
    active = np.arange(hands)
    for _ in range(longest([rules])):
        if not len(active):
            break
        actions = bot.act(simulator, active)
        take_actions(games, tables, active, actions)
        active = active[games["phase"][active] != HAND_OVER]
    returns = np.zeros((hands, WIDE_MAX_PLAYERS))
    write_returns(games, tables, returns)
    return returns[:, : rules.players].ravel()


@jit
def take_actions(games: Any, tables: Any, active: Any, actions: Any) -> None:
    """One action in each active game, which stays at the end of its hand."""
    for j in range(active.shape[0]):
        game = games[active[j]]
        rulebook.apply(game, tables[game["table"]], actions[j])


def table_spread(rules: Rules) -> float:
    """The spread of a table, in points: the standard deviation of the returns of heuristic players.

    It is at least 0.3 of the stake, as if a seat made its bid in one hand of ten: where heuristic players hardly ever
    make one (two players with more than twenty cards each), their returns do not say what a better player's would be.
    """
    simulator = Simulator(rules, 1, [SEED], observe=False)
    game, table = simulator.games[0], simulator.tables[simulator.games["table"][0]]
    bids = not any(hand.special & (GOLDEN_HAND | MISER_HAND) for hand in rules.ramp_hands)
    least = LEAST * stake(game, table, np.int64(0)) if bids else 0.0
    return max(float(heuristic_returns(rules, HANDS).std()), least, 1e-3)


def measured_spreads(
    rules: Sequence[Rules], folder: Path, write: bool = True, on_progress: Callable[[int], None] = lambda done: None
) -> NDArray[np.float64]:
    """The spread of each table: what its file in the run's folder says, or else measured now and kept there.

    Args:
        rules: the tables.
        folder: the run's.
        write: whether this process keeps them.
        on_progress: called with 1 for each table that is measured.

    Raises:
        ValueError: if the file is damaged or is another run's.
    """
    path = folder / SPREADS
    names = [json.dumps(one.to_json(), sort_keys=True) for one in rules]
    if path.is_file():
        try:
            kept = {one["rules"]: float(one["spread"]) for one in json.loads(path.read_text(encoding="utf-8"))}
            return np.array([kept[name] for name in names])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} does not hold the spreads of this run's tables: {error}") from None
    spreads = np.empty(len(rules))
    for k, one in enumerate(rules):
        spreads[k] = table_spread(one)
        on_progress(1)
    if write:
        folder.mkdir(parents=True, exist_ok=True)
        rows = [{"rules": name, "spread": round(spread, 6)} for name, spread in zip(names, spreads, strict=True)]
        write_whole(path, json.dumps(rows, indent=1) + "\n")
    return spreads.round(6)
