"""Collection: many hands at once, every seat played by the network; decisions with a choice are kept with returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ohhell_env.arena.returns import longest, write_returns
from ohhell_env.bots.base import Bot
from ohhell_env.bots.policy.every_table import write_words
from ohhell_env.bots.policy.every_table_layout import NUM_WORDS
from ohhell_env.bots.policy.every_table_suits import labels_of, relabelling_of
from ohhell_env.bots.policy.features import (
    IDENTITY,
    LABELS,
    NUM_DERIVED,
    best_action,
    canonical_relabelling,
    input_sources,
    random_relabelling,
    sampled_action,
    uniform,
    write_input,
)
from ohhell_env.bots.policy.network import POINTS_PER_UNIT, FrozenNetwork, num_outputs
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import Int, by_form, jit, lowest, next_state, stream_of
from ohhell_env.kernel.state import HAND_OVER, NO_TRUMP, NONE, WIDE_FORM
from ohhell_env.observation.standard import OBSERVATION_SIZE
from ohhell_env.rules.description import describe
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
from training.learning.config import Config
from training.learning.match import MatchHands

# Numbers of an iteration's random streams that draw the seats of others; training.learning.past has 2.
_PAST_SEATS, _BOT_SEATS = 1, 3
LEARNER, PAST, BOTS = 0, 1, 2  # who plays a seat; bot k is BOTS + k
_NEVER = -1e9  # value of what a bot does not do
EXPLORATION = 2  # number of a match's random stream that decides explorations and relabellings

Tables = tuple[list[Rules], list[float]]  # and how often each is drawn
# (number of the iteration, (H,) players of each hand's table) -> (H, S) of LEARNER, PAST, BOTS + k
Seats = Callable[[int, NDArray[np.int64]], NDArray[np.int8]]


class Experience(NamedTuple):
    """The decisions of some finished hands, in the order taken; those with a single legal action are not among them.

    Attributes:
        inputs: (N, D) int8, or packed (N, D / 64) int64, what the network saw.
        actions: (N,) int64, the network's output for the action taken, under the relabelled suits.
        returns: (N,) float32, what the hand brought the seat (`arena.returns.write_returns`; of a hand of a match
            `training.learning.match`), in units of its table.
        hand: (N,) int64, which hand of the iteration.
        seat: (N,) int64, the seat that decided.
        points: mean points a seat and hand.
        bids_made: share of bids made exactly.
        decisions: all decisions, forced ones too.
        values: (N,) float32, what the network expected in returns: the value of the action taken, or its critic's of
            the position.
        mask: (N, outputs) bool, legal actions, relabelled. This and what follows only where a policy is collected.
        log_probs: (N,) float32, log probability with which the action was drawn.
        outputs: (N, outputs) float32, the network's where options are tried; the mask is then that of these options.
        option_returns: (N, outputs) float32, what each of them brings, minus their mean.
    """

    inputs: NDArray[Any]
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]
    hand: NDArray[np.int64]
    seat: NDArray[np.int64]
    points: float
    bids_made: float
    decisions: int
    values: NDArray[np.float32]
    mask: NDArray[np.bool_] = np.empty((0, 0), dtype=np.bool_)
    log_probs: NDArray[np.float32] = np.empty(0, dtype=np.float32)
    outputs: NDArray[np.float32] = np.empty((0, 0), dtype=np.float32)
    option_returns: NDArray[np.float32] = np.empty((0, 0), dtype=np.float32)

    def only(self, rows: NDArray[np.bool_]) -> Experience:
        """Some of the decisions: copies of those rows of all arrays, (N,) bool."""
        arrays: dict[str, Any] = {
            name: value[rows] for name, value in self._asdict().items() if isinstance(value, np.ndarray) and len(value)
        }
        return self._replace(**arrays)


@jit
def _write_row(
    game: Any, table: Any, viewer: Int, relabelling: Int, sources: Any, scratch: Any, out: Any, row: Int
) -> None:
    write_input(game, table, viewer, relabelling, sources, scratch, out, row)


@jit
def _write_wide_row(
    game: Any, table: Any, viewer: Int, relabelling: Int, sources: Any, scratch: Any, out: Any, row: Int
) -> None:
    write_words(game, table, viewer, relabelling, out, row)


@jit
def _known_trump(game: Any) -> Int:
    return np.int64(game["trump"])


@jit
def _known_wide_trump(game: Any) -> Int:
    return np.int64(game["trump"]) if game["trump_known"] else np.int64(NO_TRUMP)


# Games of the standard form are played by networks for it, games of the wide form by those for every table.
write_row = by_form(_write_row, _write_wide_row)
suits_in_order = by_form(canonical_relabelling, relabelling_of)
known_trump = by_form(_known_trump, _known_wide_trump)


@jit
def start_hands(games: Any, streams: Any, number: Int) -> None:
    """The random stream of each hand's explorations, from its match's seed."""
    for i in range(games.shape[0]):
        streams[i] = stream_of(games[i]["seed"], number)


@jit
def write_decisions(
    games: Any,
    tables: Any,
    active: Any,
    streams: Any,
    canonical: bool,
    sources: Any,
    observation: Any,
    inputs: Any,
    hand: Any,
    seat: Any,
    relabellings: Any,
    start: Int,
) -> Int:
    """Write the next decision of each active hand from row ``start`` on; finished hands leave ``active``.

    Returns:
        How many decisions there are; ``active[:that]`` are their hands.
    """
    row = np.int64(start)
    for k in range(active.shape[0]):
        i = active[k]
        game = games[i]
        table = tables[game["table"]]
        rulebook.take_forced_actions(game, table)
        if game["phase"] != HAND_OVER:
            if canonical:
                relabellings[row] = suits_in_order(game, table, np.int64(game["player"]))
            else:
                streams[i] = next_state(streams[i])
                relabellings[row] = random_relabelling(known_trump(game), streams[i])
            viewer = np.int64(game["player"])
            write_row(game, table, viewer, relabellings[row], sources, observation, inputs, row)
            hand[row] = i
            seat[row] = game["player"]
            active[row - start] = i
            row += 1
    return row - start


@jit
def take_decisions(
    games: Any,
    tables: Any,
    values: Any,
    streams: Any,
    epsilon: float,
    temperature: float,
    hand: Any,
    who: Any,
    labels: Any,
    relabellings: Any,
    actions: Any,
    start: Int,
) -> None:
    """Choose by the values of each decision from row ``start`` on, explore where the LEARNER decides, and act.

    ``values`` (B, A) are by the actions' own names, ``actions`` become outputs of the network.
    """
    for j in range(values.shape[0]):
        row = start + j
        i = hand[row]
        game = games[i]
        stream = next_state(streams[i])
        explore = who[row] == LEARNER and uniform(stream) < epsilon
        stream = next_state(stream)
        if explore:
            action = rulebook.random_action(game, stream)
        elif temperature > 0:
            action = sampled_action(game, values, j, IDENTITY, temperature, stream)
        else:
            action = best_action(game, values, j, IDENTITY)
        streams[i] = stream
        actions[row] = labels[game["table"], relabellings[row], action]
        rulebook.apply(game, tables[game["table"]], action)


@jit
def write_masks(games: Any, hand: Any, labels: Any, relabellings: Any, start: int, stop: int, mask: Any) -> None:
    """Legal actions of decisions start..stop-1 as outputs of the network: ``mask[row]``, (N, A) bool."""
    for row in range(start, stop):
        game = games[hand[row]]
        for action in range(mask.shape[1]):
            mask[row, action] = False
        rest = game["legal"]
        while rest:
            mask[row, labels[game["table"], relabellings[row], rulebook.action_of(game, lowest(rest))]] = True
            rest &= rest - 1


@jit
def score_hands(games: Any, tables: Any, points: Any) -> Any:
    """Each seat's points for its finished hand: (H, S); how many bids were made, and how many there were."""
    made = 0
    bids = 0
    for i in range(games.shape[0]):
        game = games[i]
        table = tables[game["table"]]
        for seat in range(table["players"]):
            points[i, seat] = rulebook.hand_points(game, table, seat)
            made += game["bids"][seat] == game["taken"][seat]
            bids += game["bids"][seat] != NONE
    return made, bids


class Collector:
    """Plays iterations of hands on the run's mixture of tables.

    An iteration depends on the run's seed, its number and the networks alone: nothing of it has to be saved.

    Args:
        config: the run's options.
        rank: number of this process; it plays every ``processes``-th hand.
        processes: how many there are.
        tables: other tables than the run's, and how often each is drawn.
        bots: the players of ``config.opponents``.
        seats: who plays each seat, where it is not as the options say.
        units: (T,) points in a unit of return at each table; POINTS_PER_UNIT by default.

    Raises:
        ValueError: if the run's network cannot play a table.
    """

    _critic = 0  # columns of the network's output behind those for actions

    def __init__(
        self,
        config: Config,
        rank: int = 0,
        processes: int = 1,
        tables: Tables | None = None,
        bots: Sequence[Bot] = (),
        seats: Seats | None = None,
        units: NDArray[np.float64] | None = None,
    ) -> None:
        self.config = config
        self._bots = bots
        self._whose = seats
        self._share = slice(rank, None, processes)
        hands = config.hands // processes
        rules, self.shares = tables or config.mixture()
        self._units = np.full(len(rules), POINTS_PER_UNIT) if units is None else units
        self._matches: MatchHands | None = None
        if config.match and tables is None:
            whole = config.matches()
            self._matches = MatchHands(whole, len(rules), config.match, config.max_hand_size)
            self._units = np.concatenate([self._units, np.ones(len(whole.rules))])
            rules = [*rules, *whole.rules]
        every = config.every_table
        self._simulator = Simulator(rules, hands, seed=0, observe=False, form=WIDE_FORM if every else None)
        if self._simulator.form is WIDE_FORM and not every:
            raise ValueError(
                f"sections={config.sections}: a network for the standard form cannot play {describe(rules[0])}; use "
                "--rules, with which a run trains a network for every table"
            )
        self._seats_of_form, self._outputs = self._simulator.form.players, num_outputs(config.sections)
        self._sources = np.empty((0, 0), dtype=np.int16) if every else input_sources(config.sections)
        # (T, 24, actions) the network's output for each action; an action that is not the table's has any.
        self._labels = (
            np.maximum(labels_of(self._simulator.tables), 0) if every else np.tile(LABELS, (len(rules), 1, 1))
        )
        self._labels = self._labels[:, :, : self._simulator.form.num_actions]
        self._scratch = np.empty((1, OBSERVATION_SIZE), dtype=np.int8)
        self._allocate(hands * longest(rules))

    @property
    def _temperature(self) -> float:
        """At which actions are drawn; 0 for the best ones."""
        return self.config.temperature

    def _allocate(self, capacity: int) -> None:
        """Room for what is kept of so many decisions."""
        if self.config.every_table:
            self._inputs: NDArray[Any] = np.empty((capacity, NUM_WORDS), dtype=np.int64)
        else:
            self._inputs = np.empty((capacity, self._sources.shape[1] + NUM_DERIVED), dtype=np.int8)
        self._hand, self._seat, self._relabellings, self._actions = np.empty((4, capacity), dtype=np.int64)
        self._who = np.empty(capacity, dtype=np.int8)  # who decides, as in `_seats`
        self._values = np.empty(capacity, dtype=np.float32)

    def start(self, iteration: int) -> Simulator:
        """The iteration's hands as they are dealt."""
        random = np.random.default_rng((self.config.seed, iteration))
        tables = random.choice(len(self.shares), self.config.hands, p=self.shares)
        seeds = random.integers(2**63, size=self.config.hands)
        self._simulator.games["table"] = tables[self._share]
        if self._matches is None:
            self._simulator.reset(seeds[self._share])
        else:
            self._matches.start(self._simulator, seeds, random, self._share)
        return self._simulator

    @torch.no_grad()
    def collect(
        self, network: nn.Module, iteration: int, epsilon: float, frozen: FrozenNetwork | None = None
    ) -> Experience:
        """Play the iteration's hands to their ends. The arrays returned are valid until the next call.

        Args:
            network: plays, and its decisions are those returned.
            iteration: its number.
            epsilon: share of these decisions that are random.
            frozen: plays some seats, and does not explore.
        """
        simulator = self.start(iteration)
        self._frozen = frozen
        whose = self._seats(iteration)  # (H, S)
        games, tables = simulator.games, simulator.tables
        streams = np.empty(len(games), dtype=np.uint64)
        start_hands(games, streams, EXPLORATION)
        active = np.arange(len(games))
        start = 0
        while True:
            count = write_decisions(
                games, tables, active, streams, self.config.relabel == "canonical", self._sources, self._scratch,
                self._inputs, self._hand, self._seat, self._relabellings, start,
            )  # fmt: skip
            if count == 0:
                break
            active = active[:count]
            rows = slice(start, start + count)
            self._who[rows] = whose[self._hand[rows], self._seat[rows]]
            values = self._evaluate(network, start, start + count)  # (count, A)
            by_action = np.take_along_axis(values, self._labels_of(rows), axis=1)
            take_decisions(
                games, tables, by_action, streams, epsilon, self._temperature,
                self._hand, self._who, self._labels, self._relabellings, self._actions, start,
            )  # fmt: skip
            self._keep(start, start + count, values)
            start += count
        experience = self._experience(start)
        return experience.only(self._who[:start] == LEARNER) if whose.any() else experience

    def _seats(self, iteration: int) -> NDArray[np.int8]:
        """Who plays each seat: (H, S) of LEARNER, PAST, BOTS + k."""
        if self._whose is not None:
            return self._whose(iteration, self._players())
        whose = np.full((len(self._simulator), self._seats_of_form), LEARNER, dtype=np.int8)
        if self._bots:
            random = self._stream(iteration, _BOT_SEATS)
            chosen = random.random(self.config.hands) < self.config.opponents_share  # (H,)
            share = random.random(self.config.hands)[self._share]
            bots = random.integers(len(self._bots), size=self.config.hands)[self._share]
            number = 1 + np.floor(share * (self._players() - 1))  # one to all but one
            taken = self._places(random) < np.where(chosen[self._share], number, 0)[:, None]
            whose = np.where(taken, BOTS + bots[:, None], whose).astype(np.int8)
        if self._frozen is not None:
            random = self._stream(iteration, _PAST_SEATS)
            hands = self.config.hands
            number = random.integers(1, 3, hands) * (random.random(hands) < self.config.past)  # (H,)
            whose[self._places(random) < number[self._share, None]] = PAST
        return whose

    def _stream(self, iteration: int, number: int) -> np.random.Generator:
        return np.random.default_rng((self.config.seed, iteration, 0, number))

    def _players(self) -> NDArray[np.int64]:
        players: NDArray[np.int64] = self._simulator.tables["players"][self._simulator.games["table"]]
        return players

    def _places(self, random: np.random.Generator) -> NDArray[np.int64]:
        """Each hand's seats in random order, absent ones last: (H, S)."""
        keys = random.random((self.config.hands, self._seats_of_form))[self._share]
        keys[np.arange(self._seats_of_form) >= self._players()[:, None]] = np.inf
        places: NDArray[np.int64] = keys.argsort(axis=1).argsort(axis=1)
        return places

    def _evaluate(self, network: nn.Module, start: int, stop: int) -> NDArray[np.float32]:
        """The values by which decisions start..stop-1 are about to be taken: (stop - start, A)."""
        rows = slice(start, stop)
        inputs, hand = torch.from_numpy(self._inputs[rows]), self._hand[rows]
        who = self._who[rows]  # (N,)
        outputs: NDArray[np.float32]
        if not who.any():
            outputs = network(inputs).cpu().numpy()
            return outputs
        outputs = np.zeros((len(hand), self._outputs + self._critic), dtype=np.float32)
        for player in np.unique(who).tolist():
            chosen = np.flatnonzero(who == player)
            if player >= BOTS:
                actions = self._bots[player - BOTS].act(self._simulator, hand[chosen])
                outputs[chosen, : self._outputs] = _NEVER
                outputs[chosen, self._labels_of(rows)[chosen, actions]] = 0.0
            elif player == PAST and self._frozen is not None:
                outputs[chosen, : self._outputs] = self._frozen(self._inputs[rows][chosen])
            else:
                outputs[chosen] = network(inputs[chosen]).cpu().numpy()
        return outputs

    def _labels_of(self, rows: slice) -> NDArray[np.int64]:
        """The network's output for each action, at each of some decisions: (B, actions)."""
        labels: NDArray[np.int64] = self._labels[
            self._simulator.games["table"][self._hand[rows]], self._relabellings[rows]
        ]
        return labels

    def _keep(self, start: int, stop: int, outputs: NDArray[np.float32]) -> None:
        """Keep the network's outputs for decisions start..stop-1, once their actions are chosen."""
        rows = slice(start, stop)
        self._values[rows] = np.take_along_axis(outputs, self._actions[rows, None], axis=1)[:, 0]

    def _experience(self, count: int) -> Experience:
        games, tables = self._simulator.games, self._simulator.tables
        points = np.zeros((len(games), self._seats_of_form))
        made, bids = score_hands(games, tables, points)
        returns = self._returns_of(games)
        players = self._players()
        hand, seat = self._hand[:count], self._seat[:count]
        return Experience(
            self._inputs[:count],
            self._actions[:count],
            returns[hand, seat].astype(np.float32),
            hand,
            seat,
            float(points.sum() / players.sum()),
            float(made / max(bids, 1)),
            int((players * (1 + games["hand_size"])).sum()),
            self._values[:count],
        )

    def _returns_of(self, games: NDArray[np.void]) -> NDArray[np.float64]:
        """What each seat's hand, just over, brought it, in units of its table: (N, S); 0 for absent seats."""
        returns = np.zeros((len(games), self._seats_of_form))
        write_returns(games, self._simulator.tables, returns)
        returns /= self._units[games["table"], None]
        if self._matches is not None:
            self._matches.put_returns(games, self._simulator.tables, returns)
        return returns
