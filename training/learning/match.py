"""Hands of matches to train on: how matches stand between hands, dealt on from there, and what a hand changes.

The return of a hand of a match is the change of the seat's match equity (`bots.policy.equity`), in units of the spread
of that change at this hand of the match. Early in a match that is much the same as points; near its end it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.heuristic import HeuristicBot
from ohhell_env.bots.policy.equity import match_equity
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import jit_apart
from ohhell_env.kernel.state import HAND_OVER, MATCH_OVER, Form, form_of_records, given_decks
from ohhell_env.options import progress
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
from training.learning.tables import UNIT, Mixture, take_actions

MATCHES = 48  # of heuristic players, that a table's standings are taken from
SEED = 2**62 + 2**33  # far from the seeds that training and evaluation deal from
STANDING = ("hand", "dealer", "scores", "made", "missed", "over", "under")  # what a match takes from hand to hand


class Standings(NamedTuple):
    """How matches stand before their hands.

    Attributes:
        games: (T, H, M) of games of which only the fields of STANDING count: M matches before hand h; those of hands
            that a table does not have are never drawn.
        units: (T, H) what a unit of return is, in equity.
    """

    games: NDArray[np.void]
    units: NDArray[np.float64]


@jit_apart
def deal_next(games: Any, tables: Any, decks: Any, chosen: Any) -> None:
    """After HAND_OVER, in each game chosen: the next hand, or the end of the match."""
    for j in range(chosen.shape[0]):
        game = games[chosen[j]]
        rulebook.next_hand(game, tables[game["table"]], decks)


@jit_apart
def deal_from(games: Any, tables: Any, decks: Any, chosen: Any, standings: Any) -> None:
    """Let each game chosen, which has just been started, stand as another one does, and deal that hand."""
    for j in range(chosen.shape[0]):
        game, other = games[chosen[j]], standings[j]
        game["hand"] = other["hand"] - 1
        game["dealer"] = other["dealer"]
        for seat in range(game["scores"].shape[0]):
            game["scores"][seat] = other["scores"][seat]
            game["made"][seat] = other["made"][seat]
            game["missed"][seat] = other["missed"][seat]
            game["over"][seat] = other["over"][seat]
            game["under"][seat] = other["under"][seat]
        rulebook.move_on(game, tables[game["table"]])
        rulebook.start_hand(game, tables[game["table"]], decks)


def equity_changes(games: NDArray[np.void], tables: NDArray[np.void]) -> NDArray[np.float64]:
    """What the hand just over (HAND_OVER) changed of each seat's match equity: (N, S), 0 for absent seats."""
    points = np.zeros(games["scores"].shape)
    _write_points(games, tables, points)
    numbers, hands = games["table"].astype(np.int64), games["hand"].astype(np.int64)
    dealers = games["dealer"].astype(np.int64)
    after = (dealers + 1) % tables["players"][numbers]
    equity = match_equity()
    before = equity(tables, numbers, hands, dealers, games["scores"] - points)
    changes: NDArray[np.float64] = equity(tables, numbers, hands + 1, after, games["scores"]) - before
    return changes


@jit_apart
def _write_points(games: Any, tables: Any, points: Any) -> None:
    for i in range(games.shape[0]):
        table = tables[games[i]["table"]]
        for seat in range(table["players"]):
            points[i, seat] = rulebook.hand_points(games[i], table, seat)


def standings_of(
    rules: Sequence[Rules], form: Form, on_progress: Callable[[int], None] = lambda done: None
) -> Standings:
    """Those of matches that heuristic players play with each other, always the same ones.

    Args:
        rules: T tables, all of `tables.has_standings`.
        form: of the games.
        on_progress: called with 1 for each table.
    """
    longest = max(one.num_hands for one in rules)
    standings = np.zeros((len(rules), longest, MATCHES), dtype=form.game)
    units = np.ones((len(rules), longest))
    for number, one in enumerate(rules):
        changes = _play(one, form, standings[number])
        spreads = changes[: one.num_hands, :, : one.players].std(axis=(1, 2))
        units[number, : one.num_hands] = UNIT * np.maximum(spreads, 1e-3)
        on_progress(1)
    return Standings(standings, units)


def _play(rules: Rules, form: Form, standings: NDArray[np.void]) -> NDArray[np.float64]:
    """Fill (H, M) standings of one table; the changes of equity of each hand, (H, M, S)."""
    simulator = Simulator(rules, MATCHES, SEED + np.arange(MATCHES), observe=False, form=form)
    games, tables, decks = simulator.games, simulator.tables, given_decks((), (rules,))
    changes = np.zeros((len(standings), MATCHES, form.players))
    bot = HeuristicBot()
    standings[0] = games
    active = np.arange(MATCHES)
    while len(active):
        take_actions(games, tables, active, bot.act(simulator, active))
        over = active[games["phase"][active] == HAND_OVER]
        if len(over):
            changes[games["hand"][over], over] = equity_changes(games[over], tables)
            deal_next(games, tables, decks, over)
            on = over[games["phase"][over] != MATCH_OVER]
            standings[games["hand"][on], on] = games[on]
        active = active[games["phase"][active] != MATCH_OVER]
    return changes


class MatchHands:
    """Deals hands of matches in a share of an iteration's hands, and says what they brought.

    Args:
        tables: of the matches, and how often each is drawn.
        first: number of the first of them among the simulator's tables.
        share: of the hands.
        max_hand_size: the largest hand dealt, in cards; 0 for no limit.
    """

    def __init__(self, tables: Mixture, first: int, share: float, max_hand_size: int = 0) -> None:
        self._first, self._share, self._shares = first, share, tables.shares
        self._rules = tables.rules
        self._standings: Standings | None = None
        sizes = [np.array(one.hand_sizes) for one in tables.rules]
        self._hands = [np.flatnonzero(one <= (max_hand_size or one.max())) for one in sizes]
        for one, hands in zip(tables.rules, self._hands, strict=True):
            if not len(hands):
                raise ValueError(f"max_hand_size={max_hand_size}: no hand of ramp={one.ramp!r} is as small")

    def standings(self, form: Form) -> Standings:
        """How the matches stand; the first call plays them."""
        if self._standings is None:
            with progress("playing the matches that hands are taken from", len(self._rules), "tables") as meter:
                self._standings = standings_of(self._rules, form, meter.advance)
        return self._standings

    def start(self, simulator: Simulator, seeds: NDArray[np.int64], random: np.random.Generator, mine: slice) -> None:
        """Start the games at the tables that they are at, a share of them in the middle of a match instead.

        Args:
            simulator: the games.
            seeds: (H,) of the hands of all processes.
            random: what is drawn, alike in all processes.
            mine: those of this process.
        """
        hands = len(seeds)
        chosen = np.flatnonzero((random.random(hands) < self._share)[mine])
        numbers = random.choice(len(self._shares), hands, p=self._shares)[mine][chosen]
        place, which = (random.random(hands)[mine][chosen] for _ in range(2))
        simulator.games["table"][chosen] = self._first + numbers
        simulator.reset(seeds[mine])
        if not len(chosen):
            return
        at = np.array([self._hands[t][int(x * len(self._hands[t]))] for t, x in zip(numbers, place, strict=True)])
        games = self.standings(simulator.form).games[numbers, at, (which * MATCHES).astype(np.int64)]
        deal_from(simulator.games, simulator.tables, given_decks((), simulator.rules), chosen, games)

    def put_returns(self, games: NDArray[np.void], tables: NDArray[np.void], returns: NDArray[np.float64]) -> None:
        """The returns of hands of matches in place of those in points: ``returns`` (N, S)."""
        at = np.flatnonzero(games["table"] >= self._first)
        if len(at):
            units = self.standings(form_of_records(games)).units[games["table"][at] - self._first, games["hand"][at]]
            returns[at] = equity_changes(games[at], tables) / units[:, None]
