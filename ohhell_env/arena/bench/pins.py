"""What the protocol stands on, hashed: the rules, the observations, and the decisions of its players.

Games are played at random at many tables. The rules' pin is a hash of what was legal, whose turn it was, and what the
hands brought; a player's pin is a hash of what it would have done at positions on the way.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.arena.bench.play import Outcome
from ohhell_env.arena.bench.players import Player, as_player
from ohhell_env.arena.bench.protocol import HUNDRED, MIXED, VERSION, ZERO, first_wave, signature
from ohhell_env.arena.matches import ArenaError
from ohhell_env.bots import Bot, make_bot
from ohhell_env.bots.base import UnfamiliarTableWarning
from ohhell_env.rules.presets import PRESETS
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.sample import SPLITS, random_rules
from ohhell_env.simulator import Simulator

REFERENCE = f"reference-{VERSION}.json"  # beside this file
PINNED = MIXED  # search:1000 is the code of search:100
STEPS = 96  # decisions of each game
EVERY = 16  # of these one is asked of the players
SEED = 20_26


def tables() -> dict[str, tuple[Rules, ...]]:
    """Tables to look at: those of the standard form, and others."""
    standard = [
        Rules(players=players, bids=bids, ramp="up-down") for players in range(3, 8) for bids in ("sealed", "open")
    ]
    presets = [rules for rules in PRESETS.values() if rules.standard]
    others = [rules for rules in PRESETS.values() if not rules.standard]
    drawn = [random_rules(number, split) for split in SPLITS for number in range(4)]
    return {"standard": (*standard, *presets), "every table": (*others, *drawn)}


def random_play(group: tuple[Rules, ...], games: int) -> Iterator[tuple[Simulator, Any]]:
    """Games at random, as (simulator, what the last step returned) before each decision; the choices are fixed."""
    simulator = Simulator(group, games, SEED)
    bot = make_bot("random", SEED)
    batch = simulator.current()
    for _ in range(STEPS):
        yield simulator, batch
        batch = simulator.step(bot.act(simulator))


def world_pins() -> dict[str, str]:
    """Hashes of the protocol's data, of the rules and of the observations."""
    rules, observations = hashlib.sha256(), hashlib.sha256()
    for group in tables().values():
        for _, batch in random_play(group, 2 * len(group)):
            for array in (batch.action_mask, batch.player, batch.reward, batch.hand_over, batch.match_over):
                rules.update(np.ascontiguousarray(array).tobytes())
            observations.update(np.packbits(batch.observation).tobytes())
    return {
        "protocol": signature()[:16],
        "first wave": first_wave()[:16],
        "rules": rules.hexdigest()[:16],
        "observations": observations.hexdigest()[:16],
    }


def decisions(player: Player) -> dict[str, str]:
    """Hashes of a player's decisions at the standard tables and at others; "" where it does not play them.

    Raises:
        ArenaError: if it cannot be made.
    """
    found = {}
    for name, group in tables().items():
        bot = player.make(SEED)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnfamiliarTableWarning)
            try:
                found[name] = _decisions(bot, group)
            except _Refused:
                found[name] = ""
    return found


class _Refused(Exception):
    """The bot does not play these tables."""


def _decisions(bot: Bot, group: tuple[Rules, ...]) -> str:
    digest = hashlib.sha256()
    for step, (simulator, _) in enumerate(random_play(group, len(group))):
        if step % EVERY == 0:
            try:
                views = bot.views(simulator)
            except ValueError as error:
                raise _Refused from error
            digest.update(_bytes(bot.choose(*views)))
    return digest.hexdigest()[:16]


def _bytes(actions: NDArray[np.int64]) -> bytes:
    return np.ascontiguousarray(actions, dtype="<i8").tobytes()


def all_pins() -> dict[str, Any]:
    """Every pin of the protocol, as it is now."""
    return {**world_pins(), "players": {spec: decisions(as_player(spec)) for spec in PINNED}}


@cache
def reference() -> Mapping[str, Any]:
    """The protocol's data file: pins, and the outcomes of `random` and `search:1000`."""
    text = files(__package__).joinpath(REFERENCE).read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def scale(wanted: Sequence[str]) -> tuple[dict[str, Outcome], dict[str, Outcome]]:
    """The outcomes of the two players of the scale, by job.

    Args:
        wanted: the jobs.

    Raises:
        ArenaError: if the protocol's data file does not have them.
    """
    kept = reference()
    ends = [{key: Outcome.from_json(one) for key, one in kept["outcomes"][spec].items()} for spec in (ZERO, HUNDRED)]
    if kept["pins"]["protocol"] != signature()[:16]:
        raise ArenaError(
            f"{REFERENCE} was made for other tables, opponents, seeds or deals than this package has; make it again: "
            "ohhell bench --reference"
        )
    missing = [key for key in wanted if any(key not in end for end in ends)]
    if missing:
        raise ArenaError(
            f"{REFERENCE} lacks {len(missing)} of {len(wanted)} jobs of {ZERO} and {HUNDRED}, which the scale needs, "
            f"first {missing[0]!r}; use --quick if only later waves are missing, or play them: ohhell bench --reference"
        )
    return ends[0], ends[1]


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Which pins are not what they were, in words."""
    found = [name for name in ("protocol", "first wave", "rules", "observations") if before[name] != now[name]]
    for spec, pinned in before["players"].items():
        found += [f"{spec} at {where}" for where in pinned if now["players"].get(spec, {}).get(where) != pinned[where]]
    return found
