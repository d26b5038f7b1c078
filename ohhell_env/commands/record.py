"""``ohhell record``: matches between players as an offline dataset, in the format of Farama's Minari.

An episode is a match as one seat lived it: a step is a decision of this seat. Rewards are points; they come with the
last decision of the seat before the points were written down, and add up to its score, so that a return is the match.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import tyro
from gymnasium import spaces
from numpy.typing import NDArray
from rich.console import Console

from ohhell_env import __version__
from ohhell_env.arena.matches import advance, bot_seeds, deal_seeds, directions, hand_record
from ohhell_env.bots import Bot, make_bot
from ohhell_env.kernel.state import MATCH_OVER, NONE, parse_decks
from ohhell_env.options import UsageError, progress, run_command
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.typed import rules_named
from ohhell_env.simulator import Simulator, observed

AT_ONCE = 64  # matches


@dataclass(frozen=True)
class Options:
    """Play matches between bots and write them as a dataset for offline learning."""

    out: tyro.conf.Positional[Path]
    """Folder of the dataset; it must not exist yet."""
    players: tuple[str, ...] = ("heuristic",)
    """Who plays: one for all seats, or one for each; they move on by a seat from match to match."""
    matches: int = 100
    """Matches; each gives an episode for every seat."""
    format: Literal["minari"] = "minari"
    """The dataset's format."""
    rules: Annotated[str, tyro.conf.arg(metavar="PRESET|FILE.json")] = "oh_hell"
    """A preset of the rules, or a file of rules."""
    seats: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Seats at the table; as the rules have it by default."""
    set: Annotated[
        tuple[tuple[str, ...], ...], tyro.conf.UseAppendAction, tyro.conf.arg(metavar="OPTION=VALUE ...")
    ] = ()
    """Change options of the rules, as in --set ramp=5,3 bids=open."""
    seed: int = 0
    """Seed of the deals and of the players; the same seed gives the same data."""


class Episode(NamedTuple):
    """A match as one seat lived it: T decisions.

    Attributes:
        seed: of the match.
        seat: which.
        player: who sat there.
        observations: (T + 1, D) int8, the last when the match is over.
        masks: (T + 1, A) int8, legal actions; the last is empty.
        actions: (T,) int64.
        rewards: (T,) float64, points; where the lowest total wins, minus points.
    """

    seed: int
    seat: int
    player: str
    observations: NDArray[np.int8]
    masks: NDArray[np.int8]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]


def episodes(rules: Rules, players: Sequence[str], matches: int, seed: int = 0) -> Iterator[list[Episode]]:
    """Matches, some at once, as the episodes of their seats: match by match, seat by seat.

    Args:
        rules: the table.
        players: specs: one for all seats, or one for each seat of the first match. They move on by a seat from match
            to match.
        matches: how many.
        seed: of deals and players.

    Raises:
        UsageError: for an argument that is not allowed, before anything is played.
    """
    if len(players) not in (1, rules.players):
        raise UsageError(f"{len(players)} players are given for {rules.players} seats; name one, or one for each")
    if matches < 1:
        raise UsageError(f"matches={matches} is not allowed; use 1 or more")
    bots = [make_bot(spec, own) for spec, own in zip(players, bot_seeds(seed, len(players)), strict=True)]
    seeds = deal_seeds(seed, matches)[:, 0]
    return (
        _played(rules, bots, players, first, seeds[first : first + AT_ONCE]) for first in range(0, matches, AT_ONCE)
    )


def _played(rules: Rules, bots: list[Bot], names: Sequence[str], first: int, seeds: NDArray[np.int64]) -> list[Episode]:
    """All the seats' episodes of some matches, which are played side by side."""
    simulator = Simulator(rules, len(seeds), seeds, observe=False)
    games, tables, decks = simulator.games, simulator.tables, parse_decks((), (rules,))
    hands = np.zeros((len(games), rules.num_hands), dtype=hand_record(rules.players))
    wins = np.zeros((len(games), rules.players))
    seated = (np.arange(rules.players) - (first + np.arange(len(games)))[:, None]) % len(bots)  # (N, P)
    rows: list[list[list[Any]]] = [[[] for _ in range(rules.players)] for _ in games]
    active = np.arange(len(games))
    while active.size:
        seats = games["player"][active].astype(np.int64)
        seen, masks = observed(games[active], tables)
        actions = np.full(len(active), NONE, dtype=np.int64)
        who = seated[active, seats]
        for number, bot in enumerate(bots):
            turns = np.flatnonzero(who == number)
            if turns.size:
                actions[turns] = bot.act(simulator, active[turns])
        for j, match in enumerate(active):
            score = games["scores"][match, seats[j]]
            rows[match][seats[j]].append((seen[j], masks[j], actions[j], score))
        advance(games, tables, decks, active, actions, hands, wins)
        active = active[games["phase"][active] != MATCH_OVER]
    ends = [simulator.observation(seat) for seat in range(rules.players)]
    direction = float(directions((rules,))[0])
    return [
        _episode(rows[match][seat], ends[seat][match], float(games["scores"][match, seat]), direction)._replace(
            seed=int(seeds[match]), seat=seat, player=names[seated[match, seat]]
        )
        for match in range(len(games))
        for seat in range(rules.players)
    ]


def _episode(steps: list[Any], end: NDArray[np.int8], score: float, direction: float) -> Episode:
    seen, masks, actions, before = (list(column) for column in zip(*steps, strict=True))
    return Episode(
        seed=0,
        seat=0,
        player="",
        observations=np.array([*seen, end], dtype=np.int8),
        masks=np.array([*masks, np.zeros_like(masks[0])], dtype=np.int8),
        actions=np.array(actions, dtype=np.int64),
        rewards=direction * np.diff([*before, score]),
    )


def write_minari(folder: Path, rules: Rules, players: Sequence[str], matches: int, seed: int, tell: Any) -> None:
    """Write a dataset that ``minari.MinariDataset(folder)`` reads.

    Raises:
        UsageError: if Minari is not installed, the folder exists, or an argument is not allowed.
    """
    try:
        storage_class = import_module("minari.dataset.minari_storage").MinariStorage
        buffer_class = import_module("minari.data_collector").EpisodeBuffer
    except ImportError as error:
        raise UsageError(f"the format minari needs the extra data: pip install 'ohhell-env[data]' ({error})") from error
    if folder.exists():
        raise UsageError(f"{str(folder)!r} is there already; name a new folder")
    data = episodes(rules, players, matches, seed)
    temporary = folder.with_name(f".{folder.name}.tmp")
    if temporary.exists():
        raise UsageError(f"{str(temporary)!r} is left from a run that was ended, or another run writes it; remove it")
    folder.parent.mkdir(parents=True, exist_ok=True)
    storage = storage_class.new(temporary, **_spaces(rules))
    for part in data:
        storage.update_episodes([_buffer(buffer_class, one) for one in part])
        tell(len(part) // rules.players)
    about = {"players": list(players), "rules": rules.to_json(), "seed": seed, "package": __version__}
    storage.update_metadata(
        {
            "dataset_id": f"ohhell/{folder.name}-v0",
            "algorithm_name": ", ".join(players),
            "description": f"{matches} matches of Oh Hell!, an episode for each seat. {json.dumps(about)}",
            "minari_version": import_module("minari").__version__,
        }
    )
    temporary.rename(folder)


def _spaces(rules: Rules) -> dict[str, Any]:
    simulator = Simulator(rules, seed=0, observe=False)
    seen, masks = observed(simulator.games, simulator.tables)
    size, actions = seen.shape[1], masks.shape[1]
    parts: dict[str, spaces.Space[Any]] = {
        "observation": spaces.Box(0, 1, (size,), np.int8),
        "action_mask": spaces.Box(0, 1, (actions,), np.int8),
    }
    return {"observation_space": spaces.Dict(parts), "action_space": spaces.Discrete(actions)}


def _buffer(buffer_class: Any, one: Episode) -> Any:
    ends = np.zeros(len(one.actions), dtype=np.bool_)
    terminations = ends.copy()
    terminations[-1] = True
    return buffer_class(
        seed=one.seed,
        observations={"observation": one.observations, "action_mask": one.masks},
        actions=one.actions,
        rewards=one.rewards,
        terminations=terminations,
        truncations=ends,
        infos={"seat": np.full(len(one.actions) + 1, one.seat, dtype=np.int64)},
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return run_command(Options, _run, "ohhell record", arguments)


def _run(options: Options, console: Console) -> None:
    try:
        rules = rules_named(options.rules, options.seats, [change for group in options.set for change in group])
        with progress("playing", options.matches, "matches") as meter:
            write_minari(options.out, rules, options.players, options.matches, options.seed, meter.advance)
    except ValueError as error:
        raise UsageError(str(error)) from error
    console.print(
        f"Written: {options.out}, {options.matches} matches of {rules.players} seats. Read it:\n"
        f'    minari.MinariDataset("{options.out}")',
        soft_wrap=True,
    )


if __name__ == "__main__":
    sys.exit(main())
