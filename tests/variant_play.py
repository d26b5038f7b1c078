"""One hand laid out by name at any table, played on the slow referee or in the environment by the same words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from referee_table import SUIT_LETTERS
from variant_kernel import PHASES, SUIT_WORDS, words_of
from variant_tables import referee_for

from ohhell_env import Game, Rules, ohhell_v0
from ohhell_env.rules.cards import card_name


class RefereeTable:
    """A match at the referee's table; the decks in `rules.deals` are dealt one after the other."""

    def __init__(self, rules: Rules) -> None:
        self.game = referee_for(rules, 0)
        self._deals: Iterator[list[str]] = (
            [card_name(card, rules.deck.card_set) for card in deal] for deal in rules.deals
        )
        self._deal()

    def _deal(self) -> None:
        order = next(self._deals, self.game.deck)
        self.game.deal(order, cut=self.game.deck[0])

    def act(self, *moves: Any) -> None:
        """Bids and positions as numbers, all else in words; the next hand is dealt when one is over."""
        for move in moves:
            self.game.act(move)
            if self.game.phase == "deal":
                self.points_before = tuple(self.game.last_points or ())
                self._deal()

    @property
    def legal(self) -> set[Any]:
        return self.game.legal()

    @property
    def phase(self) -> str:
        return self.game.phase

    @property
    def turn(self) -> int | None:
        return self.game.turn

    @property
    def trump(self) -> str | None:
        words = {letter: word for word, letter in SUIT_LETTERS.items()}
        return None if self.game.trump_suit is None else words[self.game.trump_suit]

    @property
    def taken(self) -> tuple[int, ...]:
        return tuple(self.game.taken)

    @property
    def points(self) -> tuple[float, ...]:
        """Of the hand that was finished last."""
        return self.points_before if self.game.last_points is None else tuple(self.game.last_points)

    @property
    def scores(self) -> tuple[float, ...]:
        return tuple(self.game.scores)

    @property
    def win_shares(self) -> tuple[float, ...]:
        return tuple(self.game.win_shares())


class EnvironmentTable:
    """The same in the AEC environment."""

    def __init__(self, rules: Rules) -> None:
        self.env = ohhell_v0.env(rules)
        self.env.reset(seed=1)
        self.words = words_of(rules)

    @property
    def game(self) -> Game:
        return self.env.unwrapped.game  # type: ignore[no-any-return]

    def _allowed(self) -> dict[Any, int]:
        agent = self.env.agent_selection
        if self.env.terminations[agent]:
            return {}
        return {self.words[action]: action for action in self.env.infos[agent]["action_mask"].nonzero()[0].tolist()}

    def act(self, *moves: Any) -> None:
        """Bids and positions as numbers, all else in words; the next hand is dealt when one is over."""
        for move in moves:
            self.env.step(self._allowed()[move])

    @property
    def legal(self) -> set[Any]:
        return set(self._allowed())

    @property
    def phase(self) -> str:
        return PHASES.get(self.game.phase, "over")

    @property
    def turn(self) -> int | None:
        return self.game.player

    @property
    def trump(self) -> str | None:
        return None if self.game.trump is None else SUIT_WORDS[self.game.trump]

    @property
    def taken(self) -> tuple[int, ...]:
        return self.game.taken

    @property
    def points(self) -> tuple[float, ...]:
        """Of the hand that was finished last."""
        return self.game.past_hands[-1].points

    @property
    def scores(self) -> tuple[float, ...]:
        return self.game.scores

    @property
    def win_shares(self) -> tuple[float, ...]:
        return self.game.win_shares


def deal_order(deck: Sequence[str], hands: Sequence[str], dealer: int, turned: str = "") -> list[str]:
    """The whole deck so that it deals these hands and then turns this card."""
    piles = [hand.split() for hand in hands]
    first = (dealer + 1) % len(piles)
    dealt = [card for one_round in zip(*piles[first:], *piles[:first], strict=True) for card in one_round]
    rest = list(deck)
    for card in dealt + turned.split():
        rest.remove(card)
    return dealt + turned.split() + rest


def one_hand(*hands: str, turned: str = "", special: str = "", **options: Any) -> Rules:
    """A match of the hand given; seat 0 bids and leads first; no hook, open bids, no trump unless said otherwise."""
    size = len(hands[0].split())
    defaults: dict[str, Any] = {"hook": False, "bids": "open", "first_dealer": len(hands) - 1}
    defaults |= {"ramp": (f"{size} {special}" if special else size,), "players": len(hands)}
    if not turned and "trump" not in options:
        defaults["trump"] = "none"
    rules = Rules(**defaults | options)
    deck = [card_name(card, rules.deck.card_set) for card in rules.deck.cards]
    dealer = int(rules.first_dealer)
    return Rules(**defaults | options | {"deals": (deal_order(deck, hands, dealer, turned),)})


SUITS = set(SUIT_LETTERS)
NIL_HANDS = ["2C 3C 4C 5C", "2D 3D 4D 5D", "2H 3H 4H 5H"]
TABLES: dict[str, Any] = {"referee": RefereeTable, "environment": EnvironmentTable}
