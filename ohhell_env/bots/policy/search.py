"""The policy that looks ahead: one-ply search by rollouts of the policy itself over determinizations.

For each decision `beliefs` deals determinizations, called worlds here, that fit what the seat knows and weighs them by
how well the policy explains what the others did; at tables where more is said in a hand than one bid a seat,
`sampling` deals them and weighs them by the bids, as the rules judge them. Each option that the policy does not rule
out is tried in every world, and the hand played out by the policy in all seats, each seat seeing its own cards only.
The option with the highest mean return is taken; the policy's own value of an option counts as a number of worlds. The
return is what training maximises and what the evaluations compare: own points minus the mean of the others'; at a
cooperative table what the hand is worth to all. The method is that of SPARTA's single-agent search (Lerer and others
2020, "Improving Policies via Search in Cooperative Partially Observable Games") with a prior.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.base import Bot
from ohhell_env.bots.endgame import keep_to_sure_options
from ohhell_env.bots.hand_model import NOTES
from ohhell_env.bots.policy.beliefs import deal_boards, fill_sealed, judge_past, recall, resampled, tempered
from ohhell_env.bots.policy.bot import OBJECTIVES, Objective, PolicyBot, student_of
from ohhell_env.bots.policy.equity import match_equity
from ohhell_env.bots.policy.every_table import stake
from ohhell_env.bots.policy.fast import FastNetwork
from ohhell_env.bots.policy.features import LABELS, best_action, sampled_action
from ohhell_env.bots.policy.network import POINTS_PER_UNIT
from ohhell_env.bots.sampling import likely_world, new_plan, plan_deals
from ohhell_env.bots.search import fill_sealed_bids
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import Int, jit, jit_apart, next_state, stream_of
from ohhell_env.kernel.reading import keeps_calls
from ohhell_env.kernel.state import HAND_OVER
from ohhell_env.rules.limits import MAX_PLAYERS, NUM_BIDS

DEFAULT_WORLDS = 20
TRIES = 5  # deals weighed for each world played out
HEALTHY = 0.6  # effective sample size that the weights keep, in worlds played out
PRIOR = 4.0  # worlds that the policy's own value of an option counts for
MARGIN = 0.5  # options whose value is so much below the best one's are ruled out
NOISE = 0.05  # temperature of the rollouts
LEVEL = 1e-6  # standard deviation below which chances of winning are alike
# Numbers of a decision's random streams; worlds are numbered from 0 on in a stream's key of its own.
_DEALS, _SEALED, _CHOICE, _PLAYOUTS = range(4)


@jit
def key_of(key: Int, number: Int) -> Int:
    """A key for one of a decision's uses of chance."""
    return np.int64(stream_of(key, number) >> np.uint64(1))


@jit_apart
def deal_likely(views: Any, tables: Any, plan: Any, room: Any, notes: Any, key: Int, boards: Any) -> bool:
    """Deal a likely world of ``views[0]`` into every board, sealed bids drawn by rule; False when no deal fits.

    ``room`` is (3,) of games to work in.
    """
    view = views[0]
    table = tables[view["table"]]
    if not plan_deals(view, table, np.int64(view["player"]), plan[0]):
        return False
    for w in range(boards.shape[0]):
        stream, fits = likely_world(plan[0], view, table, room, notes[0], stream_of(key, w))
        if not fits:
            return False
        fill_sealed_bids(room[0], table, notes[0], stream)
        boards[w] = room[0]
    return True


@jit_apart
def place_options(boards: Any, tables: Any, chosen: Any, options: Any, key: Int, games: Any, streams: Any) -> None:
    """Take every option in a copy of every chosen world: ``games[k * C + c]``; a world's options share its chance."""
    for k in range(chosen.shape[0]):
        for c in range(options.shape[0]):
            i = k * options.shape[0] + c
            games[i] = boards[chosen[k]]
            streams[i] = stream_of(key, k)
            rulebook.apply(games[i], tables[games[i]["table"]], options[c])


@jit_apart
def play_forced(games: Any, tables: Any, active: Any) -> Int:
    """Take forced actions up to the next choice; finished hands leave ``active``. Returns how many are left."""
    left = np.int64(0)
    for k in range(active.shape[0]):
        game = games[active[k]]
        table = tables[game["table"]]
        rulebook.take_forced_actions(game, table)
        if game["phase"] != HAND_OVER:
            active[left] = active[k]
            left += 1
    return left


@jit_apart
def apply_chosen(
    games: Any, tables: Any, active: Any, values: Any, relabellings: Any, noise: float, streams: Any
) -> None:
    """One action in each active game, drawn from the policy's values."""
    for j in range(values.shape[0]):
        i = active[j]
        game = games[i]
        if noise > 0:
            streams[i] = next_state(streams[i])
            action = sampled_action(game, values, j, relabellings[j], noise, streams[i])
        else:
            action = best_action(game, values, j, relabellings[j])
        rulebook.apply(game, tables[game["table"]], action)


@jit_apart
def write_margins(games: Any, tables: Any, seat: Int, returns: Any) -> None:
    """What each finished game brings the seat, (N,): its points minus the others' mean points.

    At a cooperative table, where all have the same, what the hand is worth.
    """
    for i in range(games.shape[0]):
        table = tables[games[i]["table"]]
        players = table["players"]
        others = 0.0
        for other in range(players):
            if other != seat and not rulebook.is_cooperative(games[i], table):
                others += rulebook.hand_value(games[i], table, other)
        returns[i] = rulebook.hand_value(games[i], table, seat) - others / (players - 1)


def win_chances(games: NDArray[np.void], tables: NDArray[np.void], seat: int) -> NDArray[np.float64]:
    """The seat's match equity in each game whose hand is over: (N,)."""
    numbers, hands = games["table"].astype(np.int64), games["hand"].astype(np.int64) + 1
    dealers = (games["dealer"].astype(np.int64) + 1) % tables["players"][numbers]
    found: NDArray[np.float64] = match_equity()(tables, numbers, hands, dealers, games["scores"])[:, seat]
    return found


def in_points(chances: NDArray[np.float64], returns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Chances of winning in units in which they spread as much as some returns; these where no chance differs."""
    spread = chances.std()
    return returns if spread < LEVEL else chances * (returns.std() / spread)


def play_out_in_steps(
    policy: PolicyBot, games: NDArray[np.void], tables: NDArray[np.void], noise: float, streams: NDArray[np.uint64]
) -> int:
    """Play hands to their ends by a policy in all seats, which judges one decision of every hand at a time.

    Args:
        policy: whose network judges.
        games: (N,) of games, changed.
        tables: the rules.
        noise: temperature at which actions are drawn; 0 for the best ones.
        streams: (N,) states of the games' random streams, moved on.

    Returns:
        How many decisions had a choice.
    """
    decisions = 0
    active = np.arange(len(games))
    while left := play_forced(games, tables, active):
        active = active[:left]
        values, relabellings = policy.values(games[active], tables)
        apply_chosen(games, tables, active, values, relabellings, noise, streams)
        decisions += left
    return decisions


class PolicySearchBot(Bot):
    """Looks one action ahead with the policy's rollouts.

    A decision's rollouts are one batch of the network, and no other decision's are in it: so it comes out the same,
    bit for bit, whatever else is decided in the same call.

    Args:
        policy: gives the prior.
        seed: seed of the bot's own random stream.
        worlds: sampled worlds, in each of which every option that is not ruled out is played out once.
        objective: what is compared after the rollouts of a match's hand: "points", or "match", the chance of winning
            (`equity`), in units in which it spreads as the points do. In a match of a single hand it is the points.
        fast: plays all seats in the rollouts and judges what the others did: a fast policy that was distilled from
            ``policy``; None for ``policy`` itself, some twenty times slower.

    Raises:
        ValueError: if ``worlds`` is less than 1; from `choose`, if a view is one that no play can lead to.
    """

    def __init__(
        self,
        policy: PolicyBot,
        seed: int = 0,
        worlds: int = DEFAULT_WORLDS,
        fast: PolicyBot | None = None,
        objective: Objective = "points",
    ) -> None:
        super().__init__(seed)
        if worlds < 1:
            raise ValueError(f"worlds={worlds!r} is not allowed; use 1 or more")
        if objective not in OBJECTIVES:
            raise ValueError(f"objective={objective!r} is not known; use {' or '.join(map(repr, OBJECTIVES))}")
        self.objective = objective
        self.policy = policy
        self.plays_wide = policy.plays_wide
        self.worlds = worlds
        self.fast = fast or policy

    @classmethod
    def load(
        cls, name_or_path: str | Path, seed: int = 0, worlds: int = DEFAULT_WORLDS, objective: Objective = "points"
    ) -> PolicySearchBot:
        """From a shipped checkpoint's name or a checkpoint folder's path; raises as `load_policy` does.

        Where a fast policy that was distilled from it is shipped too, that one plays the rollouts.
        """
        policy = PolicyBot.load(name_or_path)
        student = student_of(policy.meta["weights_sha256"])
        return cls(policy, seed, worlds, None if student is None else PolicyBot.load(student), objective)

    def warn_if_unfamiliar(self, tables: NDArray[np.void]) -> None:
        self.policy.warn_if_unfamiliar(tables)

    def choose(self, views: NDArray[np.void], tables: NDArray[np.void], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        self.warn_if_unfamiliar(tables)
        actions = np.empty(len(views), dtype=np.int64)
        plan = new_plan(views)
        for j in range(len(views)):
            options, prior = self._options(views[j : j + 1], tables)
            actions[j] = options[0]
            if len(options) > 1:
                boards = self._worlds(views[j : j + 1], tables, int(keys[j]), plan)
                if boards is None:
                    raise ValueError(f"view {j}: no deal of the unseen cards fits the hand sizes and the voids shown")
                mean = self._play_out(boards, tables, options, int(keys[j]))
                worth = mean * self.worlds + prior * self._unit(views[j], tables) * PRIOR
                actions[j] = options[np.argmax(worth)]
        return actions

    def _unit(self, view: Any, tables: NDArray[np.void]) -> float:
        """Points in a unit of the policy's values."""
        if not keeps_calls(view):
            return POINTS_PER_UNIT
        return float(stake(view, tables[view["table"]], np.int64(view["player"])))

    def _options(self, view: NDArray[np.void], tables: NDArray[np.void]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Actions that the policy does not rule out, its best one first, and its values of them: (C,) each.

        In the last tricks, only those that are sure to get the most that can still be had, if there are any.
        """
        if self.policy.endgame:
            keep_to_sure_options(view, tables)
        legal = int(view["legal"][0])
        bits = [option for option in range(legal.bit_length()) if legal >> option & 1]
        actions = np.array([rulebook.action_of(view[0], option) for option in bits], dtype=np.int64)
        if len(actions) == 1:
            return actions, np.zeros(1)
        values, relabellings = self.policy.values(view, tables)
        prior = values[0, LABELS[relabellings[0], actions]].astype(np.float64)
        order = np.argsort(-prior, kind="stable")
        order = order[prior[order] >= prior.max() - MARGIN]
        return actions[order], prior[order]

    def _worlds(
        self, view: NDArray[np.void], tables: NDArray[np.void], key: int, plan: NDArray[np.void]
    ) -> NDArray[np.void] | None:
        """Deals in proportion to how well they explain what the others did, sealed bids drawn: (worlds,) of games."""
        if keeps_calls(view[0]):  # `beliefs` plays again hands in which each seat says its bid and no more
            likely, room = np.empty(self.worlds, dtype=view.dtype), np.empty(3, dtype=view.dtype)
            notes = np.zeros(1, dtype=NOTES)
            return likely if deal_likely(view, tables, plan, room, notes, key_of(key, _DEALS), likely) else None
        table = tables[view["table"][0]]
        players = int(table["players"])
        bids = view["bids"][0, :players]
        decisions = int((bids != -1).sum()) + int(view["num_plays"][0])
        boards = np.empty(self.worlds * TRIES if decisions else self.worlds, dtype=view.dtype)
        if not deal_boards(view, tables, plan, key_of(key, _DEALS), boards):
            return None
        if not decisions:
            return boards
        positions = np.empty(len(boards) * decisions, dtype=view.dtype)
        actions, worlds = np.empty((2, len(positions)), dtype=np.int64)
        count = recall(boards, tables, np.empty(1, dtype=view.dtype), positions, actions, worlds)
        likelihoods = np.zeros(len(boards))
        chances = np.zeros((len(boards), MAX_PLAYERS, NUM_BIDS))
        if count:
            values, relabellings = self.fast.values(positions[:count], tables)
            judge_past(positions[:count], actions, worlds, values, relabellings, likelihoods, chances)
        sums = np.zeros((MAX_PLAYERS + 1, MAX_PLAYERS * NUM_BIDS))
        fill_sealed(boards, tables, chances, sums, key_of(key, _SEALED), likelihoods)
        offset = (key_of(key, _CHOICE) % 2**20) / 2**20
        chosen = resampled(tempered(likelihoods, HEALTHY * self.worlds), self.worlds, offset)
        return boards[chosen]

    def _play_out(
        self, boards: NDArray[np.void], tables: NDArray[np.void], options: NDArray[np.int64], key: int
    ) -> NDArray[np.float64]:
        """Mean return of each option over the worlds: (C,) points."""
        games = np.empty(len(boards) * len(options), dtype=boards.dtype)
        streams = np.empty(len(games), dtype=np.uint64)
        seat = int(boards["player"][0])
        place_options(boards, tables, np.arange(len(boards)), options, key_of(key, _PLAYOUTS), games, streams)
        if isinstance(self.fast.network, FastNetwork) and self.fast.network.every_table == keeps_calls(games[0]):
            self.fast.network.play_out(games, tables, NOISE, streams)
        else:
            play_out_in_steps(self.fast, games, tables, NOISE, streams)
        returns = np.empty(len(games))
        write_margins(games, tables, seat, returns)
        if self.objective == "match" and int(tables["num_hands"][games["table"][0]]) > 1:
            returns = in_points(win_chances(games, tables, seat), returns)
        mean: NDArray[np.float64] = returns.reshape(len(boards), -1).mean(axis=0)
        return mean
