"""The tables that a checkpoint was trained for, and what is different at another."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.kernel.state import compile_rules
from ohhell_env.rules.cards import STANDARD_DECK, Deck
from ohhell_env.rules.limits import MAX_HAND_SIZE, MAX_PLAYERS, MIN_PLAYERS
from ohhell_env.rules.rules import Rules


@dataclass(frozen=True)
class TrainedFor:
    """Tables of the standard form.

    Attributes:
        players: at the table.
        max_hand_size: largest hand, in cards.
        bids, hook: what these options of `Rules` were.
        trump, scoring: likewise; there was one of each.
        deck: the cards, as `Deck.of` takes them; "" for the deck of 52.
    """

    players: tuple[int, ...] = tuple(range(MIN_PLAYERS, MAX_PLAYERS + 1))
    max_hand_size: int = MAX_HAND_SIZE
    bids: tuple[str, ...] = ("open", "sealed")
    hook: tuple[bool, ...] = (False, True)
    trump: str = "turned"
    scoring: str = "exact"
    deck: str = ""

    def __str__(self) -> str:
        hook = " and ".join("hook" if hook else "no hook" for hook in reversed(self.hook))
        cards = "52 cards" if not self.deck else f"{len(self.deck.split())} cards"
        return (
            f"{min(self.players)} to {max(self.players)} players, hands of 1 to {self.max_hand_size}, {cards}, "
            f"{' and '.join(self.bids)} bids, {hook}, trump {self.trump}, scoring {self.scoring!r}"
        )

    def differences(self, tables: NDArray[np.void]) -> str:
        """What the tables, (T,) of `state.TABLE`, have that it was not trained for, as text; "" for nothing."""
        return ", ".join(dict.fromkeys(what for table in tables for what in self._differences(table)))

    def _differences(self, table: Any) -> list[str]:
        players = int(table["players"])
        sizes = [int(size) for size in table["hand_sizes"][: table["num_hands"]]]
        deck = Deck.of(self.deck) if self.deck else STANDARD_DECK
        wrong = {
            f"{players} players": players not in self.players,
            f"hands of {max(sizes)}": max(sizes) > self.max_hand_size,
            f"{'sealed' if table['sealed'] else 'open'} bids": bool(table["sealed"])
            not in {bids != "open" for bids in self.bids},
            "the hook" if table["hook"] else "no hook": bool(table["hook"]) not in self.hook,
            "other cards": sorted(table["deck"][: table["deck_size"]]) != sorted(deck.cards),
            "trump that is not turned up": bool(table["turn_up"]) != (self.trump == "turned"),
        }
        found = [what for what, is_wrong in wrong.items() if is_wrong]
        if self._points_differ(table, players, sizes):
            found.append("another scoring")
        return found

    def _points_differ(self, table: Any, players: int, sizes: list[int]) -> bool:
        like = compile_rules((Rules(players, tuple(sizes), scoring=self.scoring),))[0]
        return bool(table["lowest"] != like["lowest"]) or any(
            not np.array_equal(table["points"][n, : n + 1, : n + 1], like["points"][n, : n + 1, : n + 1])
            for n in set(sizes)
        )

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> TrainedFor:
        """The inverse of `to_json`.

        Raises:
            ValueError: if the data are of another kind.
        """
        try:
            fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
            return cls(**fields)
        except (TypeError, AttributeError) as error:
            raise ValueError(f"the tables of a checkpoint's training are not described as expected: {error}") from None
