"""Matches between bots on equal terms: the same deals with the players in every seat, all in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ohhell_env.bots.base import Bot
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import Int, jit, seed_of, stream_of
from ohhell_env.kernel.state import MATCH_OVER, NONE, check_seed
from ohhell_env.options import UsageError
from ohhell_env.rules.cards import NUM_CARDS
from ohhell_env.rules.description import describe
from ohhell_env.rules.presets import preset
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator, game_seeds
from ohhell_env.table.game import illegal_action_text


class ArenaError(UsageError):
    """An argument that the arena does not accept, or a player's illegal action."""


class Played(NamedTuple):
    """Everything that the reports are made from.

    D deals are each replayed in R seatings; a deal is one match by each of T rules, of at most H hands, for P seats.

    Attributes:
        seats: (D, R, P) int64, number of the contestant in each seat.
        bids: (D, R, T, H, P) int8; NONE where a match has fewer than H hands.
        taken: (D, R, T, H, P) int8, tricks.
        points: (D, R, T, H, P) float64, points of the hand.
        wins: (D, R, T, P) float64, share of the match's win.
    """

    seats: NDArray[np.int64]
    bids: NDArray[np.int8]
    taken: NDArray[np.int8]
    points: NDArray[np.float64]
    wins: NDArray[np.float64]

    @classmethod
    def join(cls, parts: Sequence[Played]) -> Played:
        """The deals of several runs, one after the other."""
        return cls(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def tables_for(hands: str = "ramp", rules: str | Rules = "oh_hell", **changes: Any) -> tuple[Rules, ...]:
    """The rules of the matches that make up one deal.

    Args:
        hands: "ramp" for a full match, or hand sizes as in "5" or "3,5,10" for one single-hand match of each.
        rules: a preset's name, or the rules themselves.
        changes: options of `Rules` to change; None leaves one as it is.

    Raises:
        ArenaError: for an option that is not allowed.
    """
    changes = {option: value for option, value in changes.items() if value is not None}
    try:
        base = preset(rules, **changes) if isinstance(rules, str) else replace(rules, **changes)
    except ValueError as error:
        raise ArenaError(str(error)) from error
    if not base.standard or base.first_dealer == "random":
        raise ArenaError(
            f"rules={rules if isinstance(rules, str) else describe(rules)!r}: the arena plays tables of the standard "
            "form, 3 to 7 players with one deck of 52 (see Rules.standard), and with a given first dealer"
        )
    if hands == "ramp":
        return (base,)
    allowed = (
        f"use 'ramp' or sizes from 1 to {base.peak} ({base.players} players, {len(base.deck)} cards), as in 3,5,10"
    )
    try:
        sizes = [int(size) for size in hands.split(",")]
    except ValueError:
        raise ArenaError(f"hands={hands!r} is not understood; {allowed}") from None
    for size in sizes:
        if not 1 <= size <= base.peak:
            raise ArenaError(f"hands={hands!r}: no hand of {size}; {allowed}")
    if len(set(sizes)) < len(sizes):
        raise ArenaError(f"hands={hands!r} names a size twice; {allowed}")
    return tuple(replace(base, ramp=(size,)) for size in sizes)


def rotations(seating: Sequence[int]) -> NDArray[np.int64]:
    """A seating and all its rotations, so that each contestant sits in every seat: (P, P)."""
    return np.array([np.roll(seating, turn) for turn in range(len(seating))], dtype=np.int64)


def one_against_rest(opponents: int, players: int, many: bool = False) -> NDArray[np.int64]:
    """Seatings (R, P) of contestant 0 against contestants 1..opponents, each of them in every seat equally often.

    Args:
        opponents: how many contestants fill the other seats, in turn; every one of them starts a filling.
        players: P.
        many: the other way round: one seat for each opponent in turn, contestant 0 in all the others.
    """
    if many:
        bases = [[1 + k] + [0] * (players - 1) for k in range(opponents)]
    else:
        bases = [[0] + [1 + (first + k) % opponents for k in range(players - 1)] for first in range(opponents)]
    return np.concatenate([rotations(base) for base in bases])


def deal_seeds(seed: int, deals: int, tables: int = 1) -> NDArray[np.int64]:
    """Seeds (D, T) of the matches of some deals; deal d is the same however many there are."""
    return game_seeds(seed, deals * tables).reshape(deals, tables)


def checked_deals(seed: int, deals: int, tables: int, workers: int) -> NDArray[np.int64]:
    """`deal_seeds` for numbers that a user gave.

    Raises:
        ArenaError: if one of them is not allowed.
    """
    if deals < 2:
        raise ArenaError(f"deals={deals} is not allowed; use 2 or more, an interval needs two")
    if workers < 1:
        raise ArenaError(f"workers={workers} is not allowed; use 1 or more")
    try:
        return deal_seeds(seed, deals, tables)
    except ValueError as error:
        raise ArenaError(str(error)) from error


def bot_seeds(seed: int, contestants: int) -> list[int]:
    """A seed for each contestant: two that are the same bot must not play the same random numbers."""
    base = int(seed_of(np.uint64(stream_of(check_seed(seed), 0))))  # deals use the streams from 2 on
    return [int(one) for one in game_seeds(base, contestants)]


@jit
def advance(
    games: Any, tables: Any, decks: Any, active: Any, actions: Any, bids: Any, taken: Any, points: Any, wins: Any
) -> Int:
    """One action in each game that ``active`` numbers; results are stored as hands and matches end.

    Returns NONE, or the place in ``active`` of the first action that is not legal; no game has then changed.
    """
    for j in range(active.shape[0]):
        if not rulebook.is_legal(games[active[j]], actions[j]):
            return j
    finished = np.empty_like(games[:1])
    for j in range(active.shape[0]):
        i = active[j]
        game = games[i]
        table = tables[game["table"]]
        if rulebook.step(game, table, actions[j], decks, finished=finished):
            hand = finished[0]
            for seat in range(table["players"]):
                bids[i, hand["hand"], seat] = hand["bids"][seat]
                taken[i, hand["hand"], seat] = hand["taken"][seat]
                points[i, hand["hand"], seat] = rulebook.hand_points(hand, table, seat)
            if game["phase"] == MATCH_OVER:
                for seat in range(table["players"]):
                    wins[i, seat] = rulebook.win_share(game, table, seat)
    return NONE


def play(tables: Sequence[Rules], seeds: NDArray[np.int64], seats: ArrayLike, bots: Sequence[Bot]) -> Played:
    """Play every deal in every seating, all games side by side.

    Args:
        tables: T rules, all for P players.
        seeds: (D, T) seeds of the matches; a match's deals depend on its seed alone.
        seats: numbers of the contestants in their seats, (D, R, P), or (R, P) for the same seatings in every deal.
        bots: the contestants.

    Raises:
        ArenaError: if a bot's action is not legal.
    """
    deals, num_tables = seeds.shape
    players, num_hands = tables[0].players, max(rules.num_hands for rules in tables)
    given = np.asarray(seats, dtype=np.int64)
    seated = np.broadcast_to(given, (deals, *given.shape[-2:]))  # (D, R, P)
    replays = seated.shape[1]
    replayed = seeds[:, None].repeat(replays, axis=1).ravel()  # (D * R * T,)
    simulator = Simulator(tables, len(replayed), replayed, observe=False)
    contestants = seated.reshape(-1, players).repeat(num_tables, axis=0)  # (D * R * T, P), as the simulator's games
    bids = np.full((len(simulator), num_hands, players), NONE, dtype=np.int8)
    taken = np.full_like(bids, NONE)
    points = np.zeros(bids.shape)
    wins = np.zeros((len(simulator), players))
    decks = np.empty((0, NUM_CARDS), dtype=np.int8)
    active = np.arange(len(simulator))
    while active.size:
        who = contestants[active, simulator.games["player"][active]]
        actions = np.full(len(active), NONE, dtype=np.int64)
        for number, bot in enumerate(bots):
            turns = np.flatnonzero(who == number)
            if turns.size:
                actions[turns] = bot.act(simulator, active[turns])
        bad = advance(simulator.games, simulator.tables, decks, active, actions, bids, taken, points, wins)
        if bad != NONE:
            told = illegal_action_text(simulator[int(active[bad])], int(actions[bad]))
            raise ArenaError(f"contestant {who[bad]} ({type(bots[who[bad]]).__name__}): {told}")
        active = active[simulator.games["phase"][active] != MATCH_OVER]
    shape = (deals, replays, num_tables)
    hands = (*shape, num_hands, players)
    return Played(
        seats=seated.copy(),
        bids=bids.reshape(hands),
        taken=taken.reshape(hands),
        points=points.reshape(hands),
        wins=wins.reshape(*shape, players),
    )
