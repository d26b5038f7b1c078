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
from ohhell_env.kernel.state import MATCH_OVER, NONE, check_seed, compile_rules, parse_decks
from ohhell_env.options import UsageError
from ohhell_env.rules.presets import preset
from ohhell_env.rules.ramps import DRAWN, ramp_hand
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator, game_seeds
from ohhell_env.table.game import illegal_action_text

COOPERATIVE_DEALS = 10
"""How often the arena deals a hand of a cooperative match that sets no limit of its own."""


class ArenaError(UsageError):
    """An argument that the arena does not accept, or a player's illegal action."""


class Played(NamedTuple):
    """Everything that the reports are made from.

    D deals are each replayed in R seatings; a deal is one match by each of T rules, of at most H hands, for P seats.
    At cooperative tables a hand may be dealt several times: bids and tricks are those of its first deal, points and
    ``succeeded`` those of its last.

    Attributes:
        seats: (D, R, P) int64, number of the contestant in each seat.
        bids: (D, R, T, H, P) int8; NONE where nobody bids, and where there is no such hand.
        taken: (D, R, T, H, P) int8, tricks; NONE where there is no such hand.
        points: (D, R, T, H, P) float64, points of the hand.
        sizes: (D, R, T, H) int8, cards dealt to each seat; 0 where there is no such hand.
        dealers: (D, R, T, H) int8, seat that dealt; NONE where there is no such hand.
        deals: (D, R, T, H) int16, how many times the hand was dealt.
        succeeded: (D, R, T, H) bool, at cooperative tables whether all made their bids; elsewhere true for each hand.
        wins: (D, R, T, P) float64, share of the match's win.
    """

    seats: NDArray[np.int64]
    bids: NDArray[np.int8]
    taken: NDArray[np.int8]
    points: NDArray[np.float64]
    sizes: NDArray[np.int8]
    dealers: NDArray[np.int8]
    deals: NDArray[np.int16]
    succeeded: NDArray[np.bool_]
    wins: NDArray[np.float64]

    @classmethod
    def join(cls, parts: Sequence[Played]) -> Played:
        """The deals of several runs, one after the other."""
        return cls(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


class Totals(NamedTuple):
    """What each match came to, from `totals_of`.

    Attributes:
        points: (D, R, T, P) float64, the match's points.
        made: (D, R, T, P) float64, bids made.
        bids: (D, R, T, P) float64, bids; golden and miser hands have none.
        wins: (D, R, T, P) float64, share of the match's win.
        hands: (D, R, T) float64, hands played.
        succeeded: (D, R, T) float64, hands in which all made their bids, at cooperative tables; elsewhere all hands.
        deals: (D, R, T) float64, deals of all hands.
    """

    points: NDArray[np.float64]
    made: NDArray[np.float64]
    bids: NDArray[np.float64]
    wins: NDArray[np.float64]
    hands: NDArray[np.float64]
    succeeded: NDArray[np.float64]
    deals: NDArray[np.float64]


def totals_of(played: Played) -> Totals:
    """Sums over the hands of each match."""
    bids = played.bids != NONE
    sums = (
        np.round(played.points.sum(axis=3), 9),  # totals that tie must be equal
        (bids & (played.bids == played.taken)).sum(axis=3),
        bids.sum(axis=3),
        played.wins,
        (played.sizes > 0).sum(axis=3),
        played.succeeded.sum(axis=3),
        played.deals.sum(axis=3),
    )
    return Totals(*(one.astype(np.float64) for one in sums))


def tables_for(hands: str = "ramp", rules: str | Rules = "oh_hell", players: int | None = None) -> tuple[Rules, ...]:
    """The rules of the matches that make up one deal.

    Args:
        hands: "ramp" for a full match, or hands as a ramp has them, as in "5", "3,5,10" or "5 blind,8 no trump", for
            a match of a single hand of each. Where the rules draw hand sizes and trump from a second deck, trump of a
            single hand is cut.
        rules: a preset's name, or the rules themselves. A cooperative table without a limit of its own deals a hand
            at most `COOPERATIVE_DEALS` times, so that weak players come to an end.
        players: seats at the table; as the rules have it by default.

    Raises:
        ArenaError: for an option that is not allowed.
    """
    changes: dict[str, Any] = {} if players is None else {"players": players}
    try:
        base = preset(rules, **changes) if isinstance(rules, str) else replace(rules, **changes)
        if base.cooperative and base.attempts == 0:
            base = replace(base, attempts=COOPERATIVE_DEALS)
    except ValueError as error:
        raise ArenaError(str(error)) from error
    if hands == "ramp":
        return (base,)
    allowed = (
        f"use 'ramp' or sizes from 1 to {base.peak} ({base.players} players, {len(base.deck)} cards), as in 3,5,10, "
        "or with a rule of their own, as in '5 blind'"
    )
    entries: list[int | str] = [int(one) if one.isdecimal() else one for one in map(str.strip, hands.split(","))]
    trump = "cut" if base.trump == DRAWN else base.trump
    tables = []
    for entry in entries:
        try:
            kind = ramp_hand(entry)
        except ValueError:
            raise ArenaError(f"hands={hands!r} is not understood; {allowed}") from None
        if not 1 <= kind.size <= base.peak:
            raise ArenaError(f"hands={hands!r}: no hand of {kind.size}; {allowed}")
        try:
            tables.append(replace(base, ramp=(entry,), trump=trump, cap=0))
        except ValueError as error:
            raise ArenaError(f"hands={hands!r}: {error}") from error
    if len(set(entries)) < len(entries):
        raise ArenaError(f"hands={hands!r} names a size twice; {allowed}")
    return tuple(tables)


def directions(tables: Sequence[Rules]) -> NDArray[np.float64]:
    """(T,) 1.0 where the highest total wins, -1.0 where the lowest does: points times this are better when higher."""
    return np.array([rulebook.direction(table) for table in compile_rules(tables)])


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


def own_tables(contestants: int, players: int) -> NDArray[np.int64]:
    """Seatings (R, P) with each contestant in all seats of a table of its own: R is the number of contestants."""
    return np.arange(contestants)[:, None].repeat(players, axis=1)


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
def advance(games: Any, tables: Any, decks: Any, active: Any, actions: Any, hands: Any, wins: Any) -> Int:
    """One action in each game that ``active`` numbers; results are stored as hands and matches end.

    Returns NONE, or the place in ``active`` of the first action that is not legal; no game has then changed.
    """
    for j in range(active.shape[0]):
        if not rulebook.is_legal(games[active[j]], actions[j]):
            return j
    finished = np.empty_like(games[:1])
    for j in range(active.shape[0]):
        game = games[active[j]]
        table = tables[game["table"]]
        if rulebook.step(game, table, actions[j], decks, finished=finished):
            note_hand(finished[0], table, hands[active[j], finished[0]["hand"]])
            if game["phase"] == MATCH_OVER:
                for seat in range(table["players"]):
                    wins[active[j], seat] = rulebook.win_share(game, table, seat)
    return NONE


@jit
def note_hand(game: Any, table: Any, hand: Any) -> None:
    """Write down what a hand came to (phase HAND_OVER), in a record of `hand_record`."""
    hand["deals"] += 1
    for seat in range(table["players"]):
        if hand["deals"] == 1:
            hand["bids"][seat] = game["bids"][seat]
            hand["taken"][seat] = game["taken"][seat]
        hand["points"][seat] = rulebook.hand_points(game, table, seat)
    if hand["deals"] == 1:
        hand["sizes"] = game["hand_size"]
        hand["dealers"] = game["dealer"]
    hand["succeeded"] = not rulebook.is_lost(game, table)


def hand_record(players: int) -> np.dtype[np.void]:
    """What is written down of a hand; the fields are those of `Played`."""
    seats = [("points", np.float64, (players,)), ("bids", np.int8, (players,)), ("taken", np.int8, (players,))]
    return np.dtype(
        [*seats, ("sizes", np.int8), ("dealers", np.int8), ("deals", np.int16), ("succeeded", np.bool_)], align=True
    )


def play(
    tables: Sequence[Rules],
    seeds: NDArray[np.int64],
    seats: ArrayLike,
    bots: Sequence[Bot],
    names: Sequence[str] | None = None,
) -> Played:
    """Play every deal in every seating, all games side by side.

    Args:
        tables: T rules, all for P players.
        seeds: (D, T) seeds of the matches; a match's deals depend on its seed alone.
        seats: numbers of the contestants in their seats, (D, R, P), or (R, P) for the same seatings in every deal.
        bots: the contestants.
        names: what errors call them; their classes' names by default.

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
    hands = np.zeros((len(simulator), num_hands), dtype=hand_record(players))
    for field in ("bids", "taken", "dealers"):
        hands[field] = NONE
    wins = np.zeros((len(simulator), players))
    decks = parse_decks((), tables)
    active = np.arange(len(simulator))
    while active.size:
        who = contestants[active, simulator.games["player"][active]]
        actions = np.full(len(active), NONE, dtype=np.int64)
        for number, bot in enumerate(bots):
            turns = np.flatnonzero(who == number)
            if turns.size:
                actions[turns] = bot.act(simulator, active[turns])
        bad = advance(simulator.games, simulator.tables, decks, active, actions, hands, wins)
        if bad != NONE:
            told = illegal_action_text(simulator[int(active[bad])], int(actions[bad]))
            name = names[who[bad]] if names else type(bots[who[bad]]).__name__
            raise ArenaError(f"player {name!r}: {told}")
        active = active[simulator.games["phase"][active] != MATCH_OVER]
    shape = (deals, replays, num_tables)
    whole = hands.reshape(*shape, num_hands)
    arrays = {name: np.ascontiguousarray(whole[name]) for name in whole.dtype.names or ()}
    return Played(seats=seated.copy(), wins=wins.reshape(*shape, players), **arrays)
