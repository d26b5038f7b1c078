"""A person's own mistakes in a finished hand, by the search, found in a process of its own so that nobody waits.

The search judges a decision by what its seat could know, and a seat is told of its own decisions only: nothing hidden
is told.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from ohhell_env.bots.search import SearchBot
from ohhell_env.kernel.state import PLAY
from ohhell_env.records.match import Match
from ohhell_env.records.replay import Replay, load_replay
from ohhell_env.records.review import Mistake, review
from ohhell_env.render.terminal import short_choice
from ohhell_env.rules.rules import Rules
from ohhell_env.table.actions import short_text

ROLLOUTS = 200  # for a decision


def own_mistakes(record: Path, hand: int, seats: Iterable[int]) -> dict[int, list[dict[str, Any]]]:
    """The mistakes of some seats in a finished hand of a record, in the order in which they were made.

    Args:
        record: the record's file.
        hand: index of the hand among the finished ones, from 0.
        seats: whose decisions are judged.

    Returns:
        For each seat its mistakes: ``position`` in the replay, ``hand`` (its number), ``trick`` (from 1, 0 before the
        first), ``chosen`` and ``best`` (``text``, and ``card`` by its name where one is played by name), ``loss`` in
        points of the hand.
    """
    replay = load_replay(record, finished=True)
    deals = [position for position, action in enumerate(replay.actions) if action is None]
    start, end = list(pairwise([*deals, len(replay)]))[hand]
    found: dict[int, list[dict[str, Any]]] = {seat: [] for seat in seats}
    asked = [k for k in replay.choices if start <= k < end and replay.game(k).player in found]
    for mistake in sorted(review(replay, rollouts=ROLLOUTS, positions=asked).mistakes(replay)):
        found[mistake.seat].append(_described(replay, mistake))
    return found


def _described(replay: Replay, mistake: Mistake) -> dict[str, Any]:
    game = replay.game(mistake.position)

    def choice(action: int) -> dict[str, Any]:
        words = game.action_text(action)
        names = game.rules.deck.card_set.names
        by_name = words.startswith("play ") and short_text(words) in names
        return {"text": short_choice(words) if by_name else words, "card": short_text(words) if by_name else None}

    return {
        "position": mistake.position,
        "hand": game.hand_number,
        "trick": len(game.tricks) + 1 if game.phase == PLAY else 0,
        "chosen": choice(mistake.chosen),
        "best": choice(mistake.best),
        "loss": round(mistake.loss, 1),
    }


def in_background(record: Path, hand: int, seats: Iterable[int]) -> dict[int, list[dict[str, Any]]]:
    """`own_mistakes`, for a process of its own, which takes the time that the server leaves over."""
    _step_back()
    return own_mistakes(record, hand, seats)


def prepare(rules: Rules) -> None:
    """Compile the search for a table in this process."""
    _step_back()
    SearchBot(0, 1).estimates(Match(rules, 0))


@cache
def _step_back() -> None:
    if hasattr(os, "nice"):
        os.nice(5)
