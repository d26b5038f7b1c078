"""Exact values, best responses and NashConv of policies at tables so small that every deal can be followed to its end.

A table's whole tree is walked breadth first on the kernel's own records, all deals at once. An information set is
what the seat to act sees: the record as `observation.blind` leaves it, which holds every card and bid in order, so
that nobody forgets (perfect recall) and a best response follows by backward induction (Lanctot et al. 2009).

Values are what the hand brings a seat minus the mean of the others', as in training: at a table they add up to 0. At a
cooperative table, where all have the same, they are what it brings all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohhell_env.arena.returns import longest, write_returns
from ohhell_env.bots.base import Bot, look
from ohhell_env.bots.heuristic import HeuristicBot
from ohhell_env.bots.random import RandomBot
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import jit, mix
from ohhell_env.kernel.state import HAND_OVER, NONE, form_of_records
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator, observe_current, observed

MAX_NODES = 3_000_000  # of one depth of the tree: about 2 GB while it is built
_UNSEEN = np.empty((0, 0), dtype=np.int8)  # no observations are wanted

Policy = Callable[[NDArray[np.void], NDArray[np.void]], NDArray[np.float64]]
"""(views, tables) -> probabilities (I, A) of the A actions of their form; the views are as a bot gets them."""

Strategy = list[NDArray[np.float64]]
"""A policy written out: for each depth the probabilities (I, A) at its information sets."""


@jit
def deal_all(games: Any, tables: Any) -> None:
    """Deal every game's deck as it lies."""
    for i in range(games.shape[0]):
        rulebook.deal(games[i], tables[games[i]["table"]])


@jit
def follow(games: Any, tables: Any, parents: Any, actions: Any, children: Any) -> None:
    """``children[j]`` is game ``parents[j]`` after ``actions[j]``."""
    for j in range(parents.shape[0]):
        children[j] = games[parents[j]]
        if children[j]["phase"] != HAND_OVER:
            rulebook.apply(children[j], tables[children[j]["table"]], actions[j])


@jit
def hash_rows(words: Any, hashes: Any) -> None:
    """A 64-bit hash of each row of (N, W) uint64."""
    for i in range(words.shape[0]):
        value = np.uint64(0)
        for k in range(words.shape[1]):
            value = mix(value ^ words[i, k]) + np.uint64(k)
        hashes[i] = value


def every_deal(rules: Rules) -> Iterator[list[int]]:
    """The decks, in the order dealt, that make up all distinct deals of a table's first hand; all are equally likely.

    What is left of the stock comes last, in any order.
    """
    size = rules.hand_sizes[0]
    for hands, stock in every_hands(rules.deck.cards, rules.players, size):
        *others, own = hands  # the dealer's hand is dealt last
        lasts = range(size) if not stock and rules.full_deal == "last" else range(1)
        for last in lasts:  # where the last card dealt makes trump, each of the dealer's cards may be that
            ordered = [*others, (*own[:last], *own[last + 1 :], own[last])]
            dealt = [hand[k] for k in range(size) for hand in ordered]
            for k in range(len(stock) if rules.trump == "turned" else min(len(stock), 1)):
                yield [*dealt, stock[k], *stock[:k], *stock[k + 1 :]]
            if not stock:
                yield dealt


def every_hands(
    cards: tuple[int, ...], seats: int, size: int
) -> Iterator[tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]]:
    """All ways to give ``size`` cards to each of some seats: their hands, and the cards that stay."""
    if seats == 0:
        yield (), cards
        return
    for places in combinations(range(len(cards)), size):  # two copies of a card are two cards: all are equally likely
        hand = tuple(cards[k] for k in places)
        left = tuple(card for k, card in enumerate(cards) if k not in places)
        for hands, stock in every_hands(left, seats - 1, size):
            yield (hand, *hands), stock


def num_deals(rules: Rules) -> int:
    """How many decks `every_deal` gives."""
    left, number = len(rules.deck), 1
    for _ in range(rules.players):
        number *= math.comb(left, rules.hand_sizes[0])
        left -= rules.hand_sizes[0]
    if left == 0 and rules.full_deal == "last":
        return number * rules.hand_sizes[0]
    return number * (max(left, 1) if rules.trump == "turned" else 1)


class Depth(NamedTuple):
    """The decisions of one depth: N positions in I information sets, with M moves.

    Depths at which nobody has a choice are left out.

    Attributes:
        player: (I,) seat to act; NONE for the hands that are over while others go on, which have one move, action 0.
        views: (I,) of game records, what it sees.
        mask: (I, A) bool, legal actions.
        information: (N,) information set of each position.
        parents: (M,) position that each move is made in; the positions of the next depth are the moves, in order.
        actions: (M,) the action.
    """

    player: NDArray[np.int64]
    views: NDArray[np.void]
    mask: NDArray[np.bool_]
    information: NDArray[np.int64]
    parents: NDArray[np.int64]
    actions: NDArray[np.int64]

    def sums(self, moves: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each position the sum over its moves: (M,) or (M, P) -> (N,) or (N, P)."""
        first = np.flatnonzero(np.diff(self.parents, prepend=-1))  # moves are sorted by position, and each has one
        return np.add.reduceat(moves, first, axis=0)


class Responses(NamedTuple):
    """How far some policies are from an equilibrium.

    Attributes:
        values: (P,) margin of each seat: its points minus the mean of the others'.
        best: (P,) the same for a best response in that seat, the others as they are.
        nash_conv: the sum of what the seats could gain; 0 in a Nash equilibrium.
    """

    values: NDArray[np.float64]
    best: NDArray[np.float64]

    @property
    def nash_conv(self) -> float:
        return float((self.best - self.values).sum())


class Tree:
    """All that can happen in a match of one hand.

    Args:
        rules: the table; a match of a single hand.

    Raises:
        ValueError: if the match has more hands, the tree is too large to follow, or a seat's view does not hold all
            that it has seen (bids of earlier rounds, which position a card had).
    """

    def __init__(self, rules: Rules) -> None:
        if rules.num_hands != 1:
            raise ValueError(f"ramp={rules.ramp!r} has {rules.num_hands} hands; the exact tree is that of a single one")
        for wrong, option in (
            (rules.knocking, "knocking=True"),
            (rules.own_cards == "hidden", "own_cards='hidden'"),
            (rules.trump in ("cut", "drawn") or rules.full_deal == "cut", f"trump={rules.trump!r}"),
        ):
            if wrong:
                raise ValueError(
                    f"{option} cannot be followed exactly: a seat's view does not hold all that it has seen"
                )
        self.rules = rules
        self._refuse_above(num_deals(rules))
        decks = np.array(list(every_deal(rules)), dtype=np.int8)
        self.deals = len(decks)
        simulator = Simulator(rules, len(decks), seed=0, observe=False)
        self.tables = simulator.tables
        games = simulator.games
        games["deck"][:, : decks.shape[1]] = decks
        if rules.first_dealer == "random":
            games["dealer"] = 0  # seats are alike
        deal_all(games, self.tables)
        self.actions = simulator.form.num_actions
        self.depths: list[Depth] = []
        for _ in range(longest([rules])):
            over = games["phase"] == HAND_OVER
            if over.all():
                break
            mask = np.empty((len(games), self.actions), dtype=np.int8)
            player = np.empty(len(games), dtype=np.int64)
            observe_current(games, self.tables, 0, len(games), _UNSEEN, mask, player)
            mask[over, 0] = 1
            parents, actions = np.nonzero(mask)  # (M,), (M,)
            self._refuse_above(len(parents))
            if len(parents) > len(games):
                self.depths.append(self._depth(games, player, mask == 1, parents, actions))
            children = np.empty(len(parents), dtype=games.dtype)
            follow(games, self.tables, parents, actions, children)
            games = children
        self.returns = np.zeros((len(games), rules.players))  # (leaves, P)
        write_returns(games, self.tables, self.returns)

    def _refuse_above(self, nodes: int) -> None:
        if nodes > MAX_NODES:
            raise ValueError(
                f"{self.rules.players} players with {self.rules.hand_sizes[0]} cards from a deck of "
                f"{len(self.rules.deck)} are too many to follow exactly: {nodes:,} positions at once, up to "
                f"{MAX_NODES:,} are allowed; take fewer cards"
            )

    def _depth(self, games: NDArray[np.void], player: Any, mask: Any, parents: Any, actions: Any) -> Depth:
        """The positions of one depth, those that look alike to the seat to act in one information set."""
        views, keys = np.zeros(len(games), dtype=games.dtype), np.empty(len(games), dtype=np.int64)
        live = np.flatnonzero(games["phase"] != HAND_OVER)
        seen = np.empty(len(live), dtype=games.dtype)
        look(games, self.tables, live, 0, seen, keys[: len(live)])
        views[live] = seen  # those of hands that are over stay empty: one information set
        player = np.where(games["phase"] == HAND_OVER, NONE, player)
        words = views.view(np.uint64).reshape(len(games), -1)
        hashes = np.empty(len(games), dtype=np.uint64)
        hash_rows(words, hashes)
        _, first, information = np.unique(hashes, return_index=True, return_inverse=True)
        if not np.array_equal(words[first][information], words):
            raise RuntimeError("two different views have the same 64-bit hash")
        return Depth(player[first], views[first], mask[first], information, parents, actions)

    def write_out(self, policy: Policy) -> Strategy:
        """A policy's probabilities at every information set, those of all seats.

        Raises:
            ValueError: if they are not a distribution over the legal actions.
        """
        strategy = []
        for depth in self.depths:
            chances = depth.mask.astype(np.float64)  # (I, A)
            choice = depth.mask.sum(axis=1) > 1
            mask = depth.mask[choice]
            given = np.asarray(policy(depth.views[choice], self.tables), dtype=np.float64)
            if (
                given.shape != mask.shape
                or not (np.where(mask, given, 0) >= 0).all()
                or (given[~mask] != 0).any()
                or not np.allclose(given.sum(axis=1), 1, atol=1e-6)
            ):
                raise ValueError("the policy's probabilities are not a distribution over the legal actions")
            chances[choice] = given
            strategy.append(chances)
        return strategy

    def moves(self, profile: Sequence[Strategy]) -> list[NDArray[np.float64]]:
        """For each depth the probability (M,) of each move, seat s playing ``profile[s]``."""
        chances = []
        for d, depth in enumerate(self.depths):
            by_seat = np.stack([strategy[d] for strategy in profile])  # (P, I, A)
            at = depth.information[depth.parents]
            chances.append(by_seat[depth.player[at], at, depth.actions])
        return chances

    def values(self, profile: Sequence[Strategy]) -> NDArray[np.float64]:
        """What each seat can expect, (P,) points, seat s playing ``profile[s]``."""
        values = self.returns
        for depth, chances in zip(reversed(self.depths), reversed(self.moves(profile)), strict=True):
            values = depth.sums(chances[:, None] * values)  # (N, P)
        means: NDArray[np.float64] = values.mean(axis=0)
        return means

    def best_response(self, profile: Sequence[Strategy], seat: int) -> tuple[float, Strategy]:
        """The most that a seat can reach against the others of ``profile``, and a pure strategy that reaches it.

        At information sets of the other seats the strategy returned is ``profile[seat]``.
        """
        moves = self.moves(profile)
        reaches = [np.full(self.deals, 1 / self.deals)]  # by chance and the others, of each position of each depth
        for depth, chances in zip(self.depths, moves, strict=True):
            own = (depth.player == seat)[depth.information[depth.parents]]
            reaches.append(reaches[-1][depth.parents] * np.where(own, 1.0, chances))
        values = self.returns[:, seat]
        response = [chances.copy() for chances in profile[seat]]
        for d in reversed(range(len(self.depths))):
            depth = self.depths[d]
            at = depth.information[depth.parents]  # (M,)
            totals = np.zeros(depth.mask.shape)  # (I, A) of reach times value
            np.add.at(totals, (at, depth.actions), reaches[d][depth.parents] * values)
            best = np.where(depth.mask, totals, -np.inf).argmax(axis=1)  # (I,)
            own = depth.player == seat
            response[d][own] = np.eye(self.actions)[best[own]]
            values = depth.sums(np.where(own[at], response[d][at, depth.actions], moves[d]) * values)
        return float(values.mean()), response

    def responses(self, profile: Sequence[Strategy]) -> Responses:
        """What each seat has, and what it could have."""
        best = [self.best_response(profile, seat)[0] for seat in range(self.rules.players)]
        return Responses(self.values(profile), np.array(best))


def responses(rules: Rules, policy: Policy) -> Responses:
    """Values and best responses where every seat plays one policy.

    Raises:
        ValueError: as `Tree`, or if the policy's answers are not distributions.
    """
    tree = Tree(rules)
    return tree.responses([tree.write_out(policy)] * rules.players)


def uniform(views: NDArray[np.void], tables: NDArray[np.void]) -> NDArray[np.float64]:
    """The policy of the random player."""
    mask = observed(views, tables)[1]
    chances: NDArray[np.float64] = mask / mask.sum(axis=1, keepdims=True)
    return chances


def policy_of(bot: Bot) -> Policy:
    """A bot's policy: its probabilities, not its samples.

    Raises:
        ValueError: for a bot whose chance is not known, such as a search.
    """
    if isinstance(bot, RandomBot):
        return uniform
    if isinstance(bot, HeuristicBot):
        return lambda views, tables: np.eye(form_of_records(views).num_actions)[
            bot.choose(views, tables, np.zeros(len(views), np.int64))
        ]
    given: Policy | None = getattr(bot, "probabilities", None)
    if given is not None:
        return given
    raise ValueError(
        f"{type(bot).__name__} is random, and its probabilities are not known; exact values are those of "
        "policies, 'heuristic' and 'random'"
    )
