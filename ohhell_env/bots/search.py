"""The searching player: determinized Monte Carlo, with rollouts in which every seat pursues its bid.

For each decision a number of determinizations is dealt, called worlds here; in each of them every option is tried and
the hand played out by the rules of `hand_model` with a little noise, with the same random numbers for all options. The
option with the highest mean points of the searching seat is taken. The method is perfect-information Monte Carlo
(Ginsberg 2001, "GIB: Imperfect Information in a Computationally Challenging Game"), except that nobody in the rollouts
sees more than a player would.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ohhell_env.bots.base import Bot, Tables
from ohhell_env.bots.endgame import LEVELS, gain, is_solvable, solve, sure_options
from ohhell_env.bots.hand_model import NOTES, best_bid
from ohhell_env.bots.heuristic import plain_option, rule_option
from ohhell_env.bots.sampling import likely_world, new_plan, plan_deals
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.facts import sees_own
from ohhell_env.kernel.jit import (
    ONE,
    Int,
    below,
    clamp,
    jit,
    jit_apart,
    lowest,
    next_state,
    nth_bit,
    popcount,
    stream_of,
)
from ohhell_env.kernel.state import BID, HAND_OVER, NONE, PLAY, form_of_records
from ohhell_env.observation.sealed import open_bids
from ohhell_env.observation.sections import SEALED
from ohhell_env.rules.cards import cards_of

DEFAULT_ROLLOUTS = 400
CARD_NOISE = 30  # in a thousand: decisions of a rollout that are taken at random
BID_NOISE = 150  # in a thousand: sampled bids that are off by one
PRIOR = 20.0  # worlds that the rules' own estimate of an option counts for in a search of a few worlds
FADES = 100.0  # worlds after which it counts for half of that
SOLVED_PRIOR = 1.0  # worlds that it counts for where each world is solved exactly
_NO_WORLD = "view {}: no deal of the unseen cards fits the hand sizes and the voids shown"


@jit
def happens(stream: np.uint64, thousandths: Int) -> bool:
    """A Bernoulli draw: True with probability ``thousandths / 1000``."""
    return bool(below(stream, 1000) < thousandths)


@jit
def sampled_bid(game: Any, table: Any, seat: Int, legal: Int, notes: Any, stream: np.uint64) -> Int:
    """A bid that a seat could make with its hand: the best by rule, now and then one off; always one of ``legal``."""
    bid = best_bid(game, table, seat, legal, notes)
    if happens(stream, BID_NOISE):
        other = clamp(bid + 2 * below(next_state(stream), 2) - 1, 0, np.int64(game["hand_size"]))
        if (legal >> other) & 1:
            bid = other
    return bid


@jit_apart
def fill_sealed_bids(game: Any, table: Any, notes: Any, stream: np.uint64) -> np.uint64:
    """Sample the bids that are made but sealed from the hands of this world; returns the stream's next state.

    The dealer knows more: its mask tells the sum of the others' bids, or that the sum is beyond the hand size.
    Sampled bids are moved by one, seat by seat, until they agree with that.
    """
    players = table["players"]
    size = np.int64(game["hand_size"])
    every = (ONE << (size + 1)) - 1
    total = 0
    sealed = 0
    for seat in range(players):
        if game["bids"][seat] == SEALED:
            bid = sampled_bid(game, table, seat, open_bids(game, table, np.int64(seat), every), notes, stream)
            stream = next_state(next_state(stream))
            game["bids"][seat] = bid
            total += bid
            sealed += 1
    if sealed and table["hook"] and game["player"] == game["dealer"]:
        might = open_bids(game, table, np.int64(game["player"]), every)
        closed = might & ~game["legal"]
        low = size - lowest(closed) if closed else size + 1
        high = low if closed else size * sealed
        if closed == 0 and might != every:
            low = 0  # the bid that the hook forbids may be one that is not open anyway
        while total < low or total > high:
            step = 1 if total < low else -1
            stream = next_state(stream)
            seat = below(stream, players)
            moved = game["bids"][seat] + step
            if seat != game["player"] and moved >= 0 and moved <= size:
                game["bids"][seat] = moved
                total += step
    return stream


@jit_apart
def play_out(game: Any, table: Any, notes: Any, stream: np.uint64) -> None:
    """Bid and play a hand to its end, every seat by its rules and its own knowledge, with a little noise."""
    while game["phase"] != HAND_OVER:
        legal = game["legal"]
        if legal & (legal - 1) == 0:
            option = lowest(legal)
        elif game["phase"] == BID:
            option = sampled_bid(game, table, np.int64(game["player"]), legal, notes, stream)
            stream = next_state(next_state(stream))
        else:
            stream = next_state(stream)
            if happens(stream, CARD_NOISE):
                stream = next_state(stream)
                option = nth_bit(legal, below(stream, popcount(legal)))
            else:
                option = plain_option(game, table, notes)
        rulebook.apply(game, table, rulebook.action_of(game, option))


@jit
def prior_weight(view: Any, table: Any, worlds: Int) -> Any:
    """Worlds that the rules' own estimate of an option counts for beside so many that are dealt."""
    bids = view["phase"] == BID
    if not bids and not (view["phase"] == PLAY and sees_own(view, table, np.int64(view["player"]))):
        return 0.0  # the rules estimate bids and cards
    if is_solvable(view, table):
        return SOLVED_PRIOR
    return PRIOR * FADES / (FADES + worlds)


@jit_apart
def judge_options(view: Any, table: Any, worlds: Int, key: Int, with_prior: bool, memory: Any) -> bool:
    """Write how much each legal option of a view is worth, on average, to ``worth``; False when no world fits the view.

    Each world is played out once for every option, or solved where few enough cards are left. With ``with_prior``
    the rules' own estimates of the options, which stand in ``notes["value"]``, count for some worlds.
    """
    boards, notes, plans, worth, stack, rest, values = memory
    seat = np.int64(view["player"])
    legal = view["legal"]
    if not plan_deals(view, table, seat, plans[0]):
        return False
    prior = prior_weight(view, table, worlds) if with_prior else 0.0
    exact = is_solvable(view, table)
    for option in range(worth.shape[0]):
        worth[option] = notes[0]["value"][option] * prior
    for number in range(worlds):
        stream, fits = likely_world(plans[0], view, table, boards, notes[0], stream_of(key, number))
        if not fits:
            return False
        stream = fill_sealed_bids(boards[0], table, notes[0], stream)
        options = legal
        while options:
            option = lowest(options)
            options ^= ONE << option
            if exact:
                stack[0] = boards[0]
                rulebook.apply(stack[0], table, rulebook.action_of(stack[0], option))
                solve(stack, table, rest, values)
                worth[option] += values[0, seat]
            else:
                boards[1] = boards[0]
                rulebook.apply(boards[1], table, rulebook.action_of(boards[1], option))
                play_out(boards[1], table, notes[0], stream)
                worth[option] += gain(boards[1], table, seat)
    for option in range(worth.shape[0]):
        worth[option] /= worlds + prior
    return True


@jit
def choose_by_search(views: Any, tables: Any, keys: Any, rollouts: Int, memory: Any, actions: Any) -> Int:
    """The option with the highest expected gain for each view; returns the first view that no world fits, or NONE.

    A seat that plays by position, without seeing its cards, takes what the rules take: its options are alike to it.
    """
    notes, worth = memory[1], memory[3]
    for j in range(views.shape[0]):
        view = views[j]
        table = tables[view["table"]]
        best = rule_option(view, table, notes[0])  # of equal options this one is taken
        legal = sure_options(view, table)
        legal = legal if legal else view["legal"]
        if popcount(legal) > 1 and (view["phase"] != PLAY or sees_own(view, table, np.int64(view["player"]))):
            view["legal"] = legal
            if not judge_options(view, table, max(rollouts // popcount(legal), 1), keys[j], True, memory):
                return j
            for option in range(worth.shape[0]):
                if (legal >> option) & 1 and worth[option] > worth[best]:
                    best = option
        actions[j] = rulebook.action_of(view, best)
    return NONE


def working_memory(views: NDArray[np.void]) -> tuple[NDArray[Any], ...]:
    """What `judge_options` works in: boards, notes, plan, worth of options; stack, options and values of `solve`."""
    form = form_of_records(views)
    return (
        np.zeros(3, dtype=form.game),
        np.zeros(1, dtype=NOTES),
        new_plan(views),
        np.zeros(form.kinds),
        np.zeros(LEVELS, dtype=form.game),
        np.zeros(LEVELS, dtype=np.int64),
        np.zeros((LEVELS, form.players)),
    )


class SearchBot(Bot):
    """Determinized Monte Carlo.

    Args:
        seed: seed of the bot's own random stream.
        rollouts: hands played out for one decision, in all: each legal option gets an equal share, at least one.

    Raises:
        ValueError: if ``rollouts`` is less than 1; from `choose`, if a view is one that no play can lead to.
    """

    def __init__(self, seed: int = 0, rollouts: int = DEFAULT_ROLLOUTS) -> None:
        super().__init__(seed)
        if rollouts < 1:
            raise ValueError(f"rollouts={rollouts!r} is not allowed; use 1 or more")
        self.rollouts = rollouts

    def choose(self, views: NDArray[np.void], tables: NDArray[np.void], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        actions = np.empty(len(views), dtype=np.int64)
        bad = choose_by_search(views, tables, keys, self.rollouts, working_memory(views), actions)
        if bad != NONE:
            raise ValueError(_NO_WORLD.format(bad))
        return actions

    def estimates(
        self, source: Tables | Any, games: ArrayLike | None = None, prior: bool = True
    ) -> NDArray[np.float64]:
        """What the search expects of each action of the seats to act.

        Args:
            source: a simulator or an AEC environment, as for `act`; it is not changed.
            games: numbers of games in it; all by default.
            prior: count the rules' own estimate of an option for some worlds, as `choose` does; without, the mean is
                that of the rollouts alone.

        Returns:
            (N, A) float64, A the actions of the form of table: the seat's mean `rulebook.hand_value`, minus `SPOIL` of
            the others'; NaN where an action is not legal. 0 for each position where a seat plays by position without
            seeing its cards: they are alike to it.

        Raises:
            ValueError: as `act`, or if a view is one that no play can lead to.
        """
        views, tables, keys = self.views(source, games)
        means = np.full((len(views), form_of_records(views).num_actions), np.nan)
        memory = working_memory(views)
        notes, worth = memory[1], memory[3]
        for j, view in enumerate(views):
            table = tables[view["table"]]
            options = list(cards_of(view["legal"]))
            if view["phase"] == PLAY and not sees_own(view, table, int(view["player"])):
                means[j, [rulebook.action_of(view, option) for option in options]] = 0.0
                continue
            if prior:
                rule_option(view, table, notes[0])
            worlds = max(self.rollouts // len(options), 1)
            if not judge_options(view, table, worlds, keys[j], prior, memory):
                raise ValueError(_NO_WORLD.format(j))
            means[j, [rulebook.action_of(view, option) for option in options]] = worth[options]
        return means
