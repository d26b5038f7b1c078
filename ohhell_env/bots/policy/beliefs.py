"""Weighted determinizations: the likelihood of the others' actions under the policy.

Deals come from `determinization`, each that fits the voids equally likely. In each the hand is played again from its
first bid, and every decision of another seat becomes a position for the policy to judge. Bids that are sealed are drawn
from the policy; where the dealer's mask tells something about their sum, they are drawn given that, exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.bots.determinization import deal_world, plan_deals
from ohhell_env.bots.policy.features import LABELS, chance_of, softmax_over_legal, uniform
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import ONE, Int, jit, jit_apart, left_of, lowest, next_state, popcount, stream_of
from ohhell_env.kernel.rulebook import FIRST_BID
from ohhell_env.kernel.state import BID, NONE
from ohhell_env.observation.sections import SEALED
from ohhell_env.rules.limits import MAX_BID, MAX_PLAYERS

TEMPERATURE = 0.1  # of the others' choices, in the policy's values: they take what is best for them, nearly
SURPRISE = 0.05  # chance that a seat's choice follows from nothing that the policy sees
_MAX_SUM = MAX_BID * MAX_PLAYERS


@jit_apart
def deal_boards(views: Any, tables: Any, plan: Any, key: Int, boards: Any) -> bool:
    """Deal what the viewer of ``views[0]`` cannot see into every board; False when no deal fits the view."""
    view = views[0]
    if not plan_deals(view, tables[view["table"]], np.int64(view["player"]), plan[0]):
        return False
    for w in range(boards.shape[0]):
        boards[w] = view
        deal_world(plan[0], boards[w], stream_of(key, w))
    return True


@jit
def rewind(game: Any, table: Any) -> None:
    """Back to the hand's first bid, every seat with the cards that it was dealt."""
    for seat in range(table["players"]):
        game["hands"][seat] |= game["played"][seat]
        game["played"][seat] = 0
        game["bids"][seat] = NONE
        game["taken"][seat] = 0
        game["voids"][seat] = 0
    for k in range(game["num_plays"]):
        game["plays"][k] = NONE
    game["num_plays"] = 0
    rulebook.clear_trick(game)
    game["leader"] = left_of(game["dealer"], table["players"])
    game["player"] = game["leader"]
    game["phase"] = BID
    game["legal"] = rulebook.legal_bids(game, table)


@jit_apart
def recall(boards: Any, tables: Any, scratch: Any, positions: Any, actions: Any, worlds: Any) -> Int:
    """Every decision that the others have taken in this hand, in each board's deal; returns how many there are.

    Args:
        boards: (W,) of GAME, the same view in W deals.
        tables: the rules.
        scratch: (1,) of GAME to work in.
        positions: (W * decisions,) of GAME, written: the game at each decision that had a choice.
        actions: what was done there; SEALED for a bid that is made but hidden.
        worlds: number of the board.
    """
    count = np.int64(0)
    for w in range(boards.shape[0]):
        board = boards[w]
        table = tables[board["table"]]
        scratch[0] = board
        game = scratch[0]
        rewind(game, table)
        decision = np.int64(0)
        while decision < table["players"] + board["num_plays"]:
            if game["phase"] == BID:
                made = np.int64(board["bids"][game["player"]])
                if made == NONE:
                    break
                action = SEALED if made == SEALED else FIRST_BID + made
            else:
                made = np.int64(board["plays"][game["num_plays"]])
                action = made
            if game["player"] != board["player"] and game["legal"] & (game["legal"] - 1) != 0:
                positions[count] = game
                actions[count] = action
                worlds[count] = w
                count += 1
            if game["phase"] == BID:
                rulebook.make_bid(game, table, made)
            else:
                rulebook.play_card(game, table, made)
            decision += 1
    return count


@jit_apart
def judge_past(
    positions: Any, actions: Any, worlds: Any, values: Any, relabellings: Any, likelihoods: Any, chances: Any
) -> None:
    """Log-likelihood of what was done, added up for each world; distributions of the bids that are sealed.

    Args:
        positions: (R,) of GAME, actions and worlds as `recall` writes them.
        actions: (R,)
        worlds: (R,)
        values: (R, NUM_ACTIONS) of the policy at each position, under the relabelled suits.
        relabellings: (R,)
        likelihoods: (W,) added to.
        chances: (W, MAX_PLAYERS, NUM_BIDS) written for the seats whose bids are sealed.
    """
    for j in range(values.shape[0]):
        game = positions[j]
        labels = relabellings[j]
        highest, total = softmax_over_legal(game, values, j, labels, TEMPERATURE)
        blur = SURPRISE / popcount(game["legal"])
        if actions[j] == SEALED:
            for bid in range(game["hand_size"] + 1):
                chance = chance_of(values[j, FIRST_BID + bid], highest, total, TEMPERATURE)
                chances[worlds[j], game["player"], bid] = (1.0 - SURPRISE) * chance + blur
        else:
            chance = chance_of(values[j, LABELS[labels, actions[j]]], highest, total, TEMPERATURE)
            likelihoods[worlds[j]] += np.log((1.0 - SURPRISE) * chance + blur)


@jit
def known_sum(view: Any, table: Any) -> Any:
    """What the seat to bid is told of the sum of the sealed bids by its legal bids: (lowest, highest) possible."""
    size = np.int64(view["hand_size"])
    if table["hook"] == 0 or view["player"] != view["dealer"]:
        return np.int64(0), np.int64(_MAX_SUM)
    closed = ((ONE << (size + 1)) - 1) & ~view["legal"]
    if closed == 0:
        return size + 1, np.int64(_MAX_SUM)
    return size - lowest(closed), size - lowest(closed)


@jit_apart
def fill_sealed(boards: Any, tables: Any, chances: Any, sums: Any, key: Int, likelihoods: Any) -> None:
    """Draw the bids that are made but sealed in every board, and add how likely what is known of their sum was.

    Args:
        boards: (W,) of GAME; the sealed bids are written.
        tables: the rules.
        chances: (W, MAX_PLAYERS, NUM_BIDS) of each bid.
        sums: (MAX_PLAYERS + 1, sums + NUM_BIDS) to work in: chance that the bids of the first k seats have this sum.
        key: of the random numbers.
        likelihoods: (W,) of logarithms, added to.
    """
    for w in range(boards.shape[0]):
        board = boards[w]
        table = tables[board["table"]]
        low, high = known_sum(board, table)
        stream = stream_of(key, w)
        size: Int = np.int64(board["hand_size"])
        sums[0, 0] = 1.0
        most: Int = np.int64(0)
        count = np.int64(0)
        for seat in range(table["players"]):
            if board["bids"][seat] == SEALED:
                for total in range(most + size + 1):
                    chance = 0.0
                    for bid in range(max(total - most, 0), min(total, size) + 1):
                        chance += sums[count, total - bid] * chances[w, seat, bid]
                    sums[count + 1, total] = chance
                most += size
                count += 1
        if count == 0:
            continue
        fits = 0.0
        for total in range(low, min(high, most) + 1):
            fits += sums[count, total]
        likelihoods[w] += np.log(fits)
        left = uniform(stream) * fits
        total = low
        while total < min(high, most) and left >= sums[count, total]:
            left -= sums[count, total]
            total += 1
        for k in range(table["players"]):
            seat = table["players"] - 1 - k
            if board["bids"][seat] == SEALED:
                stream = next_state(stream)
                left = uniform(stream) * sums[count, total]
                count -= 1
                most -= size
                bid = max(total - most, 0)
                while bid < min(total, size) and left >= sums[count, total - bid] * chances[w, seat, bid]:
                    left -= sums[count, total - bid] * chances[w, seat, bid]
                    bid += 1
                board["bids"][seat] = bid
                total -= bid


def tempered(logarithms: NDArray[np.float64], healthy: float) -> NDArray[np.float64]:
    """Weights that add up to one: likelihoods to a power of at most 1, so that the effective sample size is healthy.

    Args:
        logarithms: (W,) of the likelihoods.
        healthy: the effective sample size, 1 / sum of squared weights, to keep: up to W.
    """
    logarithms = logarithms - logarithms.max()
    low, high = 0.0, 1.0
    power = 1.0
    for _ in range(20):
        weights: NDArray[np.float64] = np.exp(power * logarithms)
        weights /= weights.sum()
        if 1.0 / np.square(weights).sum() >= healthy:
            low = power
        else:
            high = power
        if low == 1.0:
            break
        power = (low + high) / 2
    return weights


def resampled(weights: NDArray[np.float64], count: int, offset: float) -> NDArray[np.int64]:
    """Numbers of ``count`` worlds, each about as often as its weight: systematic resampling, offset 0 <= x < 1."""
    marks = (np.arange(count) + offset) / count
    return np.minimum(np.searchsorted(np.cumsum(weights), marks, side="right"), len(weights) - 1)
