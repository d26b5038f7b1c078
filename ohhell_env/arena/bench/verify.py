"""Verify a result: count its figures again from its jobs, and play some of these jobs again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from random import Random

from ohhell_env.arena.bench.pins import decisions
from ohhell_env.arena.bench.play import Outcome
from ohhell_env.arena.bench.players import Player
from ohhell_env.arena.bench.protocol import PLAYED, jobs, signature
from ohhell_env.arena.bench.result import Result, result_of
from ohhell_env.arena.bench.runner import run


def verify(
    result: Result,
    player: Player,
    sample: int = 12,
    workers: int = 1,
    on_progress: Callable[[int], None] = lambda done: None,
) -> tuple[int, list[str]]:
    """Compare a result with what its player comes to here.

    Args:
        result: the result.
        player: its player.
        sample: jobs to play again, drawn by a hash of the result; 0 for all.
        workers: processes to play in.
        on_progress: called with the number of jobs just finished.

    Returns:
        How many jobs were played again, and what is different, in words; nothing where all is the same.

    Raises:
        ArenaError: if the player cannot be made.
    """
    data = result.data
    wrong = []
    if data["signature"] != signature():
        wrong.append("the protocol's signature: other tables, opponents or seeds")
        return 0, wrong
    tracks = list(data["tracks"])
    work = jobs(result.quick, [track for track in tracks if track in PLAYED])
    outcomes = {key: Outcome.from_json(one) for key, one in data["jobs"].items()}
    if [job.key for job in work] != list(outcomes):
        wrong.append("the list of jobs: not those of the protocol")
        return 0, wrong
    if decisions(player) != data["player"]["decisions"]:
        wrong.append(f"the player: {player.name} decides otherwise here")
    counted = result_of(data["player"], outcomes, result.quick, tracks, None).data["figures"]
    given = [one for one in data["figures"] if one["track"] in PLAYED]
    for one, other in zip(given, counted, strict=True):
        if one != other:
            wrong.append(
                f"a figure, {one['track']} {one['part']}: counted from the jobs it is {other['score']['mean']}"
            )
    if 0 < sample < len(work):
        work = Random(hashlib.sha256(result.text().encode()).hexdigest()).sample(work, sample)
    played = run(player, work, workers, None, on_progress)
    wrong += [f"job {key}" for key, one in played.items() if one.to_json() != outcomes[key].to_json()]
    return len(work), wrong
