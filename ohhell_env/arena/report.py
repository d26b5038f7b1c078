"""The results of an evaluation: points, bids made and wins of each player, and the differences between players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.arena.intervals import Estimate, difference_of, mean_of
from ohhell_env.arena.matches import Played, directions
from ohhell_env.kernel.state import NONE
from ohhell_env.rules.rules import Rules


@dataclass(frozen=True)
class Line:
    """Some of a player's hands.

    Attributes:
        points: points per hand.
        made: share of the bids made.
        share: these hands' share of all the player's hands.
    """

    points: Estimate
    made: Estimate
    share: Estimate

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"points": self.points.to_json(), "made": self.made.to_json(), "share": self.share.to_json()}


@dataclass(frozen=True)
class Together:
    """What the cooperative tables came to at which a player sat, each seat counted.

    Attributes:
        hands_made: share of the hands in which all made their bids, in however many deals.
        first_deals: share of the hands in which all made their bids in the first deal.
        deals: deals per hand.
    """

    hands_made: Estimate
    first_deals: Estimate
    deals: Estimate

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {name: one.to_json() for name, one in vars(self).items()}


@dataclass(frozen=True)
class PlayerReport:
    """One player's results.

    Attributes:
        name: its spec.
        points: points per hand.
        made: share of the bids made.
        wins: share of the match win, for each seat that it had.
        hands: hands played, over all seats.
        together: at a cooperative table what its tables came to; elsewhere None.
        by_hand_size: hand size -> its hands of that size.
        by_bid: bid -> its hands with that bid; empty where nobody bids.
        by_seat: seats left of the dealer, 1..P (P is the dealer) -> its hands there.
    """

    name: str
    points: Estimate
    made: Estimate
    wins: Estimate
    hands: int
    together: Together | None
    by_hand_size: dict[int, Line]
    by_bid: dict[int, Line]
    by_seat: dict[int, Line]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        groups = {"by_hand_size": self.by_hand_size, "by_bid": self.by_bid, "by_seat": self.by_seat}
        return {
            "name": self.name,
            "points": self.points.to_json(),
            "made": self.made.to_json(),
            "wins": self.wins.to_json(),
            "hands": self.hands,
            **({} if self.together is None else {"together": self.together.to_json()}),
            **{name: {str(key): line.to_json() for key, line in group.items()} for name, group in groups.items()},
        }


@dataclass(frozen=True)
class DifferenceReport:
    """Player A minus player B (or minus all others together), paired by deal.

    Attributes:
        a: A's spec.
        b: B's spec, or "all others".
        points: points per hand.
        made: share of the bids made.
        wins: share of the match win for each seat.
        value: what decides who is better: points per hand, turned round where the lowest total wins; at cooperative
            tables the percentage of hands that all made in their first deal. More is better.
        by_hand_size: hand size -> points per hand.
    """

    a: str
    b: str
    points: Estimate
    made: Estimate
    wins: Estimate
    value: Estimate
    by_hand_size: dict[int, Estimate]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "a": self.a,
            "b": self.b,
            "points": self.points.to_json(),
            "made": self.made.to_json(),
            "wins": self.wins.to_json(),
            "value": self.value.to_json(),
            "by_hand_size": {str(size): one.to_json() for size, one in self.by_hand_size.items()},
        }


@dataclass(frozen=True)
class Report:
    """An evaluation: player A first, then its opponents.

    Attributes:
        settings: everything that the result depends on; the same settings give the same report.
        players: one report a player.
        differences: A minus each opponent, then A minus all of them where there are several.
    """

    settings: Mapping[str, Any]
    players: tuple[PlayerReport, ...]
    differences: tuple[DifferenceReport, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "settings": dict(self.settings),
            "players": [player.to_json() for player in self.players],
            "differences": [difference.to_json() for difference in self.differences],
        }


def report_on(played: Played, tables: Sequence[Rules], specs: Sequence[str], settings: Mapping[str, Any]) -> Report:
    """Count what the contestants ``specs`` played by ``tables``."""
    count = _Count(played, tables)
    names = unique_names(specs)
    players = tuple(_player(count, number, name) for number, name in enumerate(names))
    opponents = list(range(1, len(names)))
    pairs = [([k], names[k]) for k in opponents]
    if len(opponents) > 1:
        pairs.append((opponents, "all others"))
    return Report(settings, players, tuple(_difference(count, names[0], others, name) for others, name in pairs))


def unique_names(specs: Sequence[str]) -> list[str]:
    """Names for contestants: the spec, numbered from the second of the same spec on."""
    names = []
    for k, spec in enumerate(specs):
        earlier = specs[:k].count(spec)
        names.append(f"{spec} #{earlier + 1}" if earlier else spec)
    return names


class _Count:
    """Sums over the hands of each deal, chosen by player, hand size, bid and seat."""

    def __init__(self, played: Played, tables: Sequence[Rules]) -> None:
        players = played.bids.shape[-1]
        self.sizes = played.sizes[..., None]  # (D, R, T, H, 1)
        dealers = played.dealers[..., None].astype(np.int64)  # (D, R, T, H, 1)
        self.places = (np.arange(players) - dealers - 1) % players + 1  # (D, R, T, H, P) seats left of the dealer
        self.players = players
        self.cooperative = tables[0].cooperative
        self.bids = played.bids
        self.points = played.points
        self.worth = played.points * directions(tables)[:, None, None]  # more is better
        self.bidding = played.bids != NONE
        self.made = self.bidding & (played.bids == played.taken)
        self.wins = played.wins
        self.seats = played.seats[:, :, None, None]  # (D, R, 1, 1, P)
        self.succeeded = np.broadcast_to(played.succeeded[..., None], self.bids.shape)
        self.deals = np.broadcast_to(played.deals[..., None], self.bids.shape)

    def hands_of(self, contestants: Sequence[int]) -> NDArray[np.bool_]:
        """(D, R, T, H, P), true for the hands that these contestants played."""
        mask: NDArray[np.bool_] = np.isin(self.seats, contestants) & (self.sizes > 0)
        return mask

    def wins_of(self, contestants: Sequence[int]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Sums and counts (D,) of the share of the win for each seat."""
        seated = np.broadcast_to(np.isin(self.seats[..., 0, :], contestants), self.wins.shape)
        return per_deal(self.wins, seated), per_deal(seated)


def per_deal(values: NDArray[Any], where: NDArray[np.bool_] | None = None) -> NDArray[Any]:
    """Sum over everything but the first axis, of those elements where ``where`` is true: (D,)."""
    axes = tuple(range(1, values.ndim))
    result: NDArray[Any] = values.sum(axis=axes) if where is None else np.where(where, values, 0).sum(axis=axes)
    return result


def _player(count: _Count, number: int, name: str) -> PlayerReport:
    hands = count.hands_of([number])
    total = per_deal(hands)

    def line(chosen: NDArray[np.bool_]) -> Line:
        n = per_deal(chosen)
        return Line(
            mean_of(per_deal(count.points, chosen), n),
            mean_of(per_deal(count.made, chosen), per_deal(chosen & count.bidding), proportion=True),
            mean_of(n, total, proportion=True),
        )

    def share(values: NDArray[Any], proportion: bool = True) -> Estimate:
        return mean_of(per_deal(values, hands), total, proportion=proportion)

    whole = line(hands)
    together = None
    if count.cooperative:
        at_once = count.succeeded & (count.deals == 1)
        together = Together(share(count.succeeded), share(at_once), share(count.deals, proportion=False))
    bids = np.unique(count.bids[hands & count.bidding])
    return PlayerReport(
        name=name,
        points=whole.points,
        made=whole.made,
        wins=mean_of(*count.wins_of([number])),
        hands=int(total.sum()),
        together=together,
        by_hand_size={size: line(hands & (count.sizes == size)) for size in _sizes(count)},
        by_bid={int(bid): line(hands & (count.bids == bid)) for bid in bids},
        by_seat={place: line(hands & (count.places == place)) for place in range(1, count.players + 1)},
    )


def _difference(count: _Count, name: str, others: Sequence[int], other_name: str) -> DifferenceReport:
    hands_a, hands_b = count.hands_of([0]), count.hands_of(others)

    def difference(values: NDArray[Any], chosen: NDArray[np.bool_] | bool = True) -> Estimate:
        a, b = hands_a & chosen, hands_b & chosen
        return difference_of(per_deal(values, a), per_deal(a), per_deal(values, b), per_deal(b))

    return DifferenceReport(
        a=name,
        b=other_name,
        points=difference(count.points),
        made=difference(count.made, count.bidding),
        wins=difference_of(*count.wins_of([0]), *count.wins_of(others)),
        value=difference(100.0 * (count.succeeded & (count.deals == 1)) if count.cooperative else count.worth),
        by_hand_size={size: difference(count.points, count.sizes == size) for size in _sizes(count)},
    )


def _sizes(count: _Count) -> list[int]:
    return [int(size) for size in np.unique(count.sizes) if size > 0]
