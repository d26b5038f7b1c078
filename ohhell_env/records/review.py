"""What a checkpoint and the search think of the decisions of a match, and the file beside a record that keeps it.

The file, ``RECORD.review.json``, is optional. It holds

    {"review": "ohhell", "version": 1, "record": SHA-256 of the record's bytes,
     "policy": null or {"name", "temperature"}, "search": null or {"rollouts", "seed"},
     "decisions": [{"position": 3, "options": [{"action": "bid 2", "probability", "value", "points", "error"}]}]}

with an entry for every position in which a seat had a choice. A position is counted from 0, one after each deal and
one after each move (`records.replay.Replay`). Of an option's figures those that were not asked for are left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.policy.bot import load_policy
from ohhell_env.bots.policy.features import LABELS
from ohhell_env.bots.policy.network import POINTS_PER_UNIT
from ohhell_env.bots.search import SearchBot
from ohhell_env.files import write_whole
from ohhell_env.records.replay import Replay

FORMAT, VERSION = "ohhell", 1
BATCHES = 10  # independent parts of a decision's rollouts; from their spread comes the standard error
CLEAR, SMALLEST = 3.0, 0.5  # a mistake loses at least this many standard errors and points
_FIGURES = ("probability", "value", "points", "error")


class Option(NamedTuple):
    """Opinions of one legal action; None where no opinion was asked for.

    Attributes:
        action: the action's number.
        probability: with which the policy chooses it, 0..1.
        value: points of this hand more than the mean of the others', as the policy's network expects; None for a
            network that knows probabilities only.
        points: mean points of this hand in the search's rollouts, minus a hundredth of the others'.
        error: standard error of the difference to the option with the most points; 0 for that one itself.
    """

    action: int
    probability: float | None = None
    value: float | None = None
    points: float | None = None
    error: float | None = None


class Mistake(NamedTuple):
    """A decision that the search finds clearly worse than another: the points lost and their standard error."""

    position: int
    seat: int
    chosen: int
    best: int
    loss: float
    error: float


@dataclass(frozen=True)
class Review:
    """Opinions of the decisions of a match.

    Attributes:
        policy: the checkpoint's name and the temperature of its probabilities; None without a checkpoint.
        search: the rollouts per decision and the seed; None without a search.
        decisions: the options of each position in which a seat had a choice, in the order of the actions.
    """

    policy: dict[str, Any] | None = None
    search: dict[str, Any] | None = None
    decisions: dict[int, tuple[Option, ...]] = field(default_factory=dict)

    def mistakes(self, replay: Replay) -> list[Mistake]:
        """Decisions that lose `SMALLEST` points and `CLEAR` standard errors at least, the largest loss first."""
        found = []
        for position, options in self.decisions.items():
            chosen = next((one for one in options if one.action == replay.chosen(position)), None)
            best = max(options, key=lambda one: -math.inf if one.points is None else one.points)
            if chosen is None or chosen.points is None or best.points is None:
                continue
            loss, error = best.points - chosen.points, chosen.error or 0.0
            if loss >= max(SMALLEST, CLEAR * error):
                seat = int(replay.games[position]["player"])
                found.append(Mistake(position, seat, chosen.action, best.action, round(loss, 4), error))
        return sorted(found, key=lambda mistake: -mistake.loss)


def review(
    replay: Replay,
    policy: str | None = None,
    rollouts: int = 0,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
    positions: Sequence[int] | None = None,
) -> Review:
    """Ask a checkpoint and the search about every choice of a match, or about some.

    Args:
        replay: the match.
        policy: a shipped checkpoint's name or a folder's path; None for none.
        rollouts: hands that the search plays out for a decision; 0 for no search.
        seed: seed of the search's random stream.
        on_progress: called with the number of decisions the search is done with, and of all.
        positions: those of `Replay.choices` to ask about; all by default. A review of some is not kept in a file.

    Raises:
        ValueError: if there is no such checkpoint, it, or the search, cannot play this table, or a number is out of
            range.
    """
    if rollouts < 0:
        raise ValueError(f"search={rollouts} is not allowed; use 0 (no search) or more rollouts per decision")
    positions = replay.choices if positions is None else list(positions)
    figures: dict[str, Any] = dict.fromkeys(_FIGURES)
    about_policy = about_search = None
    if policy is not None and positions:
        about_policy, figures["probability"], figures["value"] = _ask_policy(replay, positions, policy)
    if rollouts and positions:
        about_search = {"rollouts": rollouts, "seed": seed}
        figures["points"], figures["error"] = _ask_search(replay, positions, rollouts, seed, on_progress)
    decisions = {}
    for k, position in enumerate(positions):
        decisions[position] = tuple(
            Option(action, *(None if rows is None else round(float(rows[k, action]), 4) for rows in figures.values()))
            for action in replay.game(position).legal_actions
        )
    return Review(about_policy, about_search, decisions)


def _ask_policy(replay: Replay, positions: list[int], name: str) -> tuple[dict[str, Any], Any, Any]:
    """The checkpoint's description, its probabilities and its values in points: (K, actions) each, values or None."""
    bot = load_policy(name)
    bot.temperature = bot.own_temperature
    views, _, _ = bot.views(replay, positions)
    about = {"name": bot.name, "temperature": round(bot.temperature, 3)}
    probabilities = bot.probabilities(views, replay.tables)
    if not bot.knows_values:
        return about, probabilities, None
    values, relabellings = bot.values(views, replay.tables)
    return (
        about,
        probabilities,
        POINTS_PER_UNIT * np.take_along_axis(values, LABELS[relabellings, : values.shape[1]], axis=1),
    )


def _ask_search(
    replay: Replay, positions: list[int], rollouts: int, seed: int, on_progress: Callable[[int, int], None] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean points of each option and the standard error of its difference to the best: (K, actions) each."""
    points = []
    errors = []
    for k, position in enumerate(positions):
        means = np.concatenate(
            [
                SearchBot(seed * BATCHES + batch, max(rollouts // BATCHES, 1)).estimates(
                    replay, [position], prior=False
                )
                for batch in range(BATCHES)
            ]
        )  # (BATCHES, actions)
        mean = means.mean(axis=0)
        behind = means[:, [np.nanargmax(mean)]] - means
        points.append(mean)
        errors.append(behind.std(axis=0, ddof=1) / math.sqrt(BATCHES))
        if on_progress:
            on_progress(k + 1, len(positions))
    return np.array(points), np.array(errors)


def review_path(record: str | Path) -> Path:
    """Where a record's review stands: beside it, under its name with ``.review.json`` added."""
    return Path(f"{record}.review.json")


def save_review(opinions: Review, replay: Replay, path: str | Path) -> None:
    """Write a review to a file, whole or not at all."""
    data = {
        "review": FORMAT,
        "version": VERSION,
        "record": replay.digest,
        "policy": opinions.policy,
        "search": opinions.search,
        "decisions": [
            {
                "position": position,
                "options": [_option_json(option, replay.game(position).action_text) for option in options],
            }
            for position, options in opinions.decisions.items()
        ],
    }
    write_whole(path, json.dumps(data) + "\n")


def load_review(path: str | Path, replay: Replay) -> Review:
    """Read a file written by `save_review` for this record.

    Raises:
        ValueError: if the file is damaged or another record's, saying what is wrong.
    """
    try:
        data = json.loads(Path(path).read_bytes())
        if data["review"] != FORMAT or data["version"] != VERSION:
            raise ValueError(f"not a review of format {FORMAT!r}, version {VERSION}")
        if data["record"] != replay.digest:
            raise ValueError("it was made for another record, or the record has changed since")
        decisions = {int(one["position"]): _options(replay, one) for one in data["decisions"]}
        if list(decisions) != replay.choices:
            raise ValueError("its decisions are not the record's")
        policy = data["policy"] and {
            "name": str(data["policy"]["name"]),
            "temperature": float(data["policy"]["temperature"]),
        }
        search = data["search"] and {"rollouts": int(data["search"]["rollouts"]), "seed": int(data["search"]["seed"])}
    except KeyError as error:
        raise ValueError(f"{path} is not a review of this record: {error} is missing") from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is not a review of this record: {error}") from None
    return Review(policy, search, decisions)


def _option_json(option: Option, words: Callable[[int], str]) -> dict[str, Any]:
    figures = {name: getattr(option, name) for name in _FIGURES if getattr(option, name) is not None}
    return {"action": words(option.action), **figures}


def _options(replay: Replay, decision: dict[str, Any]) -> tuple[Option, ...]:
    position = decision["position"]
    if not 0 <= position < len(replay):
        raise ValueError(f"position {position!r} is not one of the record's 0..{len(replay) - 1}")
    game = replay.game(position)
    legal = game.legal_actions
    words = [one["action"] for one in decision["options"]]
    if words != [game.action_text(action) for action in legal]:
        raise ValueError(f"position {position}: the options {words} are not the legal actions")
    options = []
    for action, one in zip(legal, decision["options"], strict=True):
        figures = [None if one.get(name) is None else float(one[name]) for name in _FIGURES]
        if not all(figure is None or math.isfinite(figure) for figure in figures):
            raise ValueError(f"position {position}: {one} holds something that is not a number")
        options.append(Option(action, *figures))
    return tuple(options)
