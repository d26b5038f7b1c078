"""Standings of a tournament: ratings, points and wins of each player, and the difference of every two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from openskill.models import PlackettLuce

from ohhell_env.arena.intervals import Estimate, difference_of, mean_of
from ohhell_env.arena.matches import Totals, directions
from ohhell_env.arena.report import per_deal, unique_names
from ohhell_env.rules.rules import Rules


@dataclass(frozen=True)
class Standing:
    """One player's place.

    Attributes:
        name: its spec.
        rating: mean of the estimated skill; a new player has 25. None at a cooperative table: nobody is ahead there.
        deviation: standard deviation of that skill; a new player has 8.33.
        points: points per hand.
        above: points per hand above the mean of its tables, below where the lowest total wins: more is better.
        made: share of the bids made.
        wins: share of the match win for each seat.
        hands_made: at a cooperative table the share of hands in which all made their bids; elsewhere None.
        matches: seats played over all matches.
    """

    name: str
    rating: float | None
    deviation: float | None
    points: Estimate
    above: Estimate
    made: Estimate
    wins: Estimate
    hands_made: Estimate | None
    matches: int

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        estimates = {name: getattr(self, name).to_json() for name in ("points", "above", "made", "wins")}
        skill = {"rating": self.rating, "deviation": self.deviation}
        shared = {} if self.hands_made is None else {"hands_made": self.hands_made.to_json()}
        return {"name": self.name, **skill, **estimates, **shared, "matches": self.matches}


@dataclass(frozen=True)
class Standings:
    """The result of a tournament.

    Attributes:
        settings: everything that the result depends on.
        deals: deals played.
            players: best rating first; at a cooperative table, most hands made first.
        differences: (name, other name) -> points per hand of the first minus those of the second, at the tables that
            both were at, paired by deal; both ways round. Where the lowest total wins the sign is turned, so that more
            is better.
    """

    settings: Mapping[str, Any]
    deals: int
    players: tuple[Standing, ...]
    differences: dict[tuple[str, str], Estimate]

    @property
    def cooperative(self) -> bool:
        """Whether the table is a cooperative one."""
        return any(player.hands_made is not None for player in self.players)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        pairs = [{"a": a, "b": b, "points": one.to_json()} for (a, b), one in self.differences.items()]
        players = [player.to_json() for player in self.players]
        return {"settings": dict(self.settings), "deals": self.deals, "players": players, "differences": pairs}


def standings_of(
    seats: NDArray[np.int64], totals: Totals, tables: Sequence[Rules], specs: Sequence[str], settings: Mapping[str, Any]
) -> Standings:
    """Count the deals of a tournament.

    Args:
        seats: (D, R, P) contestants in their seats.
        totals: of the matches.
        tables: the rules of the T matches of a deal.
        specs: the contestants.
        settings: for the record.
    """
    names = unique_names(specs)
    cooperative = tables[0].cooperative
    shape = totals.points.shape
    seated = [np.broadcast_to((seats == k)[:, :, None], shape) for k in range(len(specs))]
    hands, succeeded = (np.broadcast_to(one[..., None], shape) for one in (totals.hands, totals.succeeded))
    worth = totals.points * directions(tables)[:, None]  # more is better
    above = worth - worth.mean(axis=-1, keepdims=True)
    skills: list[tuple[float | None, float | None]] = [(None, None)] * len(specs)
    if not cooperative:
        skills = list(ratings(seats, worth, len(specs)))
    players = []
    for name, mine, (rating, deviation) in zip(names, seated, skills, strict=True):
        total = per_deal(hands, mine)
        players.append(
            Standing(
                name=name,
                rating=rating,
                deviation=deviation,
                points=mean_of(per_deal(totals.points, mine), total),
                above=mean_of(per_deal(above, mine), total),
                made=mean_of(per_deal(totals.made, mine), per_deal(totals.bids, mine), proportion=True),
                wins=mean_of(per_deal(totals.wins, mine), per_deal(mine)),
                hands_made=mean_of(per_deal(succeeded, mine), total, proportion=True) if cooperative else None,
                matches=int(mine.sum()),
            )
        )
    differences = {}
    for a, b in combinations(range(len(specs)), 2):
        sums = [(per_deal(worth, seated[k]), per_deal(hands, seated[k])) for k in (a, b)]
        differences[names[a], names[b]] = difference_of(*sums[0], *sums[1])
        differences[names[b], names[a]] = difference_of(*sums[1], *sums[0])
    players.sort(key=lambda one: -(one.hands_made.mean if one.hands_made else one.rating or 0.0))
    return Standings(settings, len(seats), tuple(players), differences)


def ratings(seats: NDArray[np.int64], worth: NDArray[np.float64], contestants: int) -> list[tuple[float, float]]:
    """Mean and deviation of each contestant's skill, from the order in which every match ended.

    Plackett-Luce of openskill (Weng and Lin 2011), match after match in the order of the deals. Players do not change
    between matches, so tau, the skill's drift, is 0. A contestant with several seats has the mean of their totals.

    Args:
        seats: (D, R, P) contestants in their seats.
        worth: (D, R, T, P) match totals, more is better.
        contestants: how many.
    """
    model = PlackettLuce(tau=0.0)
    skills = [model.rating() for _ in range(contestants)]
    deals, replays, tables, _ = worth.shape
    for deal in range(deals):
        for replay in range(replays):
            who, place = np.unique(seats[deal, replay], return_inverse=True)
            for table in range(tables):
                totals = np.bincount(place, worth[deal, replay, table]) / np.bincount(place)
                order = [float((totals > mine).sum()) for mine in totals]
                for k, team in zip(who, model.rate([[skills[k]] for k in who], ranks=order), strict=True):
                    skills[k] = team[0]
    return [(float(skill.mu), float(skill.sigma)) for skill in skills]
