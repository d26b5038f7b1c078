"""Golden values: a checkpoint's outputs in some fixed positions, kept beside its weights to detect any change.

A difference says that the weights, the network's input, the dealing or the arithmetic is no longer what it was when the
checkpoint was published; its card's strength would then be another player's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ohhell_env.bots.policy.bot import PolicyBot
from ohhell_env.bots.policy.features import LABELS
from ohhell_env.kernel.rulebook import FIRST_BID
from ohhell_env.rules.cards import card_name
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator

GOLDEN = "golden.json"
TOLERANCE = 1e-5  # in the network's units; processors add up in different orders
# Players, cards, bids, random decisions already taken; the seed is the number in the list.
_POSITIONS = [
    (players, *position)
    for players in range(3, 8)
    for position in ((1, "open", 1), (5, "sealed", 2), (5, "open", 3 * players), (7, "sealed", 4 * players))
]


def golden_values(bot: PolicyBot) -> list[dict[str, Any]]:
    """For each fixed position how it is reached, and the network's values of the legal actions, by name."""
    found = []
    for seed, (players, size, bids, decisions) in enumerate(_POSITIONS):
        simulator = Simulator(Rules(players=players, ramp=(size,), bids=bids), 1, seed=[seed], observe=False)
        simulator.play_random(decisions)
        values, relabellings = bot.values(simulator.games, simulator.tables)
        actions = np.flatnonzero(simulator.current().action_mask[0])
        named = {
            f"bid {action - FIRST_BID}" if action >= FIRST_BID else card_name(int(action)): round(
                float(values[0, LABELS[relabellings[0], action]]), 6
            )
            for action in actions
        }
        position = {"players": players, "cards": size, "bids": bids, "seed": seed, "random_decisions": decisions}
        found.append({**position, "values": named})
    return found


def golden_differences(bot: PolicyBot, path: Path) -> list[str]:
    """Differences from the file, one line per position; empty if there are none."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    now = golden_values(bot)
    if len(kept) != len(now):
        return [f"{path} has {len(kept)} positions, {len(now)} are expected"]
    differences = []
    for number, (old, new) in enumerate(zip(kept, now, strict=True)):
        if {**old, "values": list(old["values"])} != {**new, "values": list(new["values"])}:
            differences.append(f"position {number}: it was {old}, it is {new}")
            continue
        far = max(abs(old["values"][action] - new["values"][action]) for action in old["values"])
        if not far <= TOLERANCE:
            differences.append(f"position {number}: values differ by up to {far:.2g}, {TOLERANCE:g} is allowed")
    return differences
