"""What a hand brought each seat, as exact values and training count it, and how many decisions a hand may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import jit
from ohhell_env.kernel.state import form_of
from ohhell_env.rules.rules import Rules


def longest(rules: Sequence[Rules]) -> int:
    """The most decisions that a hand of these tables may have."""
    once, each = form_of(rules).decisions
    return max(one.players * (once + each * max(one.hand_sizes)) for one in rules)


@jit
def write_returns(games: Any, tables: Any, returns: Any) -> None:
    """What the hand just over brought each seat: ``returns`` (H, S), 0 for absent seats.

    Its worth minus the mean of the others'; at a cooperative table, where all have the same, its worth.
    """
    for i in range(games.shape[0]):
        game = games[i]
        table = tables[game["table"]]
        players = table["players"]
        total = 0.0
        for seat in range(returns.shape[1]):
            returns[i, seat] = rulebook.hand_value(game, table, seat) if seat < players else 0.0
            total += returns[i, seat]
        if not rulebook.is_cooperative(game, table):
            for seat in range(players):
                own = returns[i, seat]
                returns[i, seat] = own - (total - own) / (players - 1)
