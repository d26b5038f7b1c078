"""Many games at once: step with auto-reset, random play inside the kernel, clones and saved states."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import Int, entry_point, jit, next_state, seed_of, stream_of
from ohhell_env.kernel.state import (
    HAND_OVER,
    MATCH_OVER,
    NONE,
    Form,
    check_seed,
    compile_rules,
    form_of,
    form_of_records,
    given_decks,
    own_arrays,
)
from ohhell_env.observation.packed import packed_size
from ohhell_env.observation.standard import encode, observation_size
from ohhell_env.rules.rules import Rules
from ohhell_env.table.game import Game, illegal_action_text

_FIRST_SPREAD = 2  # numbers of a seed's streams from here on seed the games of a simulator


class Batch(NamedTuple):
    """What a step of N games returns. A and D are the sizes of the action space and of the observation.

    Attributes:
        observation: (N, D) int8 of 0 and 1, as the seat to act sees its game; (0, D) from a simulator without
            observations; (N, W) int64 with a bit for each entry from one with ``observe="packed"``, see
            `observation.packed`.
        action_mask: (N, A) int8, 1 for each action that the seat to act may take; never empty.
        player: (N,) int64, the seat to act.
        reward: (N, P) float32 for each seat, from this step alone; 0 for absent seats.
        hand_over: (N,) bool, this step finished a hand.
        match_over: (N,) bool, this step finished a match; the other fields then show the next match's first decision.
    """

    observation: NDArray[Any]
    action_mask: NDArray[np.int8]
    player: NDArray[np.int64]
    reward: NDArray[np.float32]
    hand_over: NDArray[np.bool_]
    match_over: NDArray[np.bool_]


@jit
def start_games(games: Any, tables: Any, decks: Any, seeds: Any, rollouts: Any) -> None:
    """A new match in every game, from its own seed."""
    for i in range(games.shape[0]):
        table = tables[games[i]["table"]]
        rulebook.start_match(games[i], table, decks, seeds[i], table["first_dealer"])
        rollouts[i] = stream_of(seeds[i], rulebook.ROLLOUTS)


@jit
def restart_games(games: Any, tables: Any, decks: Any) -> None:
    """A new match in every game, each with a seed from its own stream."""
    for i in range(games.shape[0]):
        rulebook.start_next_match(games[i], tables[games[i]["table"]], decks)


@jit
def first_illegal(games: Any, actions: Any) -> Int:
    """Index of the first game whose action is not legal; NONE when all are."""
    for i in range(games.shape[0]):
        if not rulebook.is_legal(games[i], actions[i]):
            return i
    return NONE


@jit
def observe_current(games: Any, tables: Any, start: Int, stop: Int, observation: Any, mask: Any, player: Any) -> None:
    """Write the decision that each game start..stop-1 waits for."""
    for i in range(start, stop):
        game = games[i]
        rulebook.write_mask(game, mask, i)
        player[i] = game["player"]
        if observation.shape[0] > 0:
            encode(game, tables[game["table"]], game["player"], observation, i)


@jit
def step_games(
    games: Any,
    tables: Any,
    decks: Any,
    start: Int,
    stop: Int,
    actions: Any,
    kind: Int,
    observation: Any,
    mask: Any,
    player: Any,
    reward: Any,
    hand_over: Any,
    match_over: Any,
) -> None:
    """Apply a legal action in each game start..stop-1, deal on where a hand or a match ends, and show the result."""
    for i in range(start, stop):
        game = games[i]
        table = tables[game["table"]]
        for seat in range(reward.shape[1]):
            reward[i, seat] = 0.0
        hand_over[i] = False
        match_over[i] = False
        rulebook.apply(game, table, actions[i])  # not `rulebook.step`: it would count references to arrays each time
        if game["phase"] == HAND_OVER:
            hand_over[i] = True
            rulebook.deal_on(game, table, decks, kind, reward, i)
            if game["phase"] == MATCH_OVER:
                match_over[i] = True
                rulebook.start_next_match(game, table, decks)
        rulebook.write_mask(game, mask, i)
        player[i] = game["player"]
        if observation.shape[0] > 0:
            encode(game, table, game["player"], observation, i)


@jit
def step_all(
    games: Any,
    tables: Any,
    decks: Any,
    actions: Any,
    kind: Int,
    observation: Any,
    mask: Any,
    player: Any,
    reward: Any,
    hand_over: Any,
    match_over: Any,
) -> Int:
    """`step_games` for all games, or the index of the first whose action is not legal, and nothing changed."""
    bad = first_illegal(games, actions)
    if bad == NONE:
        step_games(
            games,
            tables,
            decks,
            0,
            games.shape[0],
            actions,
            kind,
            observation,
            mask,
            player,
            reward,
            hand_over,
            match_over,
        )
    return bad


@cache
def compiled_step_all(form: Form, entry: str) -> Callable[..., int]:
    """`step_all` without the dispatcher in front."""
    games, tables = np.zeros(1, form.game), compile_rules((Rules(),), form)
    entries, flags = np.zeros((1, 1), np.int8), np.zeros(1, np.bool_)
    numbers, points = np.zeros(1, np.int64), np.zeros((1, 1), np.float32)
    observation = np.zeros((1, 1), entry)
    return entry_point(
        step_all, games, tables, entries, numbers, 0, observation, entries, numbers, points, flags, flags
    )


@jit
def play_random_games(
    games: Any, tables: Any, decks: Any, start: Int, stop: Int, rollouts: Any, decisions: Int
) -> None:
    """Advance each game start..stop-1 by ``decisions`` uniformly random decisions."""
    for i in range(start, stop):
        game = games[i]
        table = tables[game["table"]]
        stream = rollouts[i]
        for _ in range(decisions):
            stream = next_state(stream)
            rulebook.apply(game, table, rulebook.random_action(game, stream))
            if game["phase"] == HAND_OVER:
                rulebook.deal_on(game, table, decks)
                if game["phase"] == MATCH_OVER:
                    rulebook.start_next_match(game, table, decks)
        rollouts[i] = stream


@jit
def observe_games(games: Any, tables: Any, start: Int, stop: Int, viewers: Any, observation: Any) -> None:
    """Write what seat ``viewers[i]`` sees of each game start..stop-1."""
    for i in range(start, stop):
        encode(games[i], tables[games[i]["table"]], viewers[i], observation, i)


@jit
def spread_seed(seed: Int, seeds: Any) -> None:
    """A seed for each of many games from one seed; a game's seed depends on its number, not on how many there are."""
    for i in range(seeds.shape[0]):
        seeds[i] = seed_of(stream_of(seed, _FIRST_SPREAD + i))


class Simulator:
    """N independent games in one array.

    A game depends on its seed and the actions taken in it alone, not on its neighbours, their number or threads.

    Args:
        rules: one table's rules for all games, or a sequence of tables: game i plays by ``rules[i % len(rules)]``. If
            one of them needs the wide form, all are played in it.
        num_games: N, at least 1.
        seed: an int (each game gets a seed of its own from it), a sequence of N ints (game i's match is then the one
            that ``env.reset(seed=seed[i])`` plays), or None for a seed from the operating system.
        reward: "points" (a hand's points when it ends), "zero_sum" (minus the table's mean), or "win" (share of the
            win, when the match ends). Higher is better in each: where the lowest total wins, points count negative.
        observe: write observations; without them a simulator takes a third of the memory and steps faster. "packed"
            writes them as bits, W = ceil(D / 64) words of int64: an eighth of the memory, and at wide tables about
            half the time. `unpack_bits` gives the (N, D) int8 back.
        threads: step games in this many threads, for large N.
        decks: decks for the first hands of every match, in the order dealt; hands beyond them are shuffled.
        form: hold the games in this form, `state.WIDE_FORM`, which has room for every table, even if they need less.

    Raises:
        ValueError: for a value that is not allowed, naming it.
    """

    def __init__(
        self,
        rules: Rules | Sequence[Rules] | None = None,
        num_games: int = 1,
        seed: int | ArrayLike | None = None,
        *,
        reward: str = "points",
        observe: bool | Literal["packed"] = True,
        threads: int = 1,
        decks: Sequence[str | Sequence[str | int]] = (),
        form: Form | None = None,
    ) -> None:
        if rules is None or isinstance(rules, Rules):
            rules = (rules or Rules(),)
        self.rules: tuple[Rules, ...] = tuple(rules)
        if not self.rules:
            raise ValueError("rules is an empty sequence; give at least one Rules")
        if num_games < 1:
            raise ValueError(f"num_games={num_games!r} is not allowed; use 1 or more")
        if threads < 1:
            raise ValueError(f"threads={threads!r} is not allowed; use 1 or more")
        if observe not in (True, False, "packed"):
            raise ValueError(f"observe={observe!r} is not allowed; use True, False or 'packed'")
        self.reward = reward
        self._kind = rulebook.reward_kind(reward)
        self.observe = observe
        self.threads = threads
        self.players = max(one.players for one in self.rules)
        self.form = form or form_of(self.rules)
        size = observation_size(self.form)
        self._width, self._entry = (packed_size(size), "int64") if observe == "packed" else (size, "int8")
        self.tables = compile_rules(self.rules, self.form)
        self._decks = given_decks(decks, self.rules)
        self._rollouts = np.zeros(num_games, dtype=np.uint64)
        self._pool: ThreadPoolExecutor | None = None
        self._own: Batch | None = None  # the last batch seen, which need not be checked again
        self.games: NDArray[np.void] = np.zeros(num_games, dtype=self.form.game)
        self.games["table"] = np.arange(num_games) % len(self.rules)
        self._start(secrets.randbits(63) if seed is None else seed)

    @property
    def num_games(self) -> int:
        """N."""
        return len(self.games)

    def __len__(self) -> int:
        return len(self.games)

    def __getitem__(self, index: int) -> Game:
        """A read-only view of game ``index``; ``str()`` of it is readable text."""
        game = self.games[index]
        return Game(game, self.rules[game["table"]])

    def reset(self, seed: int | ArrayLike | None = None, out: Batch | None = None) -> Batch:
        """Start a new match in every game: from ``seed``, or else each with a seed from its own stream."""
        if seed is None:
            restart_games(self.games, self.tables, self._decks)
        else:
            self._start(seed)
        return self.current(out)

    def current(self, out: Batch | None = None) -> Batch:
        """The decisions that the games wait for, with no reward; for after a restore."""
        batch = self._batch(out)
        batch.reward[:] = 0
        batch.hand_over[:] = False
        batch.match_over[:] = False
        self._spread(
            observe_current, self.games, self.tables, after=(batch.observation, batch.action_mask, batch.player)
        )
        return batch

    def step(self, actions: ArrayLike, out: Batch | None = None) -> Batch:
        """Take one action in every game and move on to the next decision, into a new hand or match where one ends.

        Args:
            actions: (N,) whole numbers, each legal in its game.
            out: an earlier `Batch` of this simulator whose arrays to write into; new arrays otherwise.

        Raises:
            ValueError: if an action is not legal, naming the game and the action; no game has then changed.
        """
        chosen = np.asarray(actions)
        if chosen.shape != self.games.shape or chosen.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be {len(self)} whole numbers; got shape {chosen.shape}, dtype {chosen.dtype}"
            )
        chosen = np.ascontiguousarray(chosen, dtype=np.int64)
        batch = self._batch(out)
        if self.threads == 1:
            bad = compiled_step_all(self.form, self._entry)(
                self.games, self.tables, self._decks, chosen, self._kind, *batch
            )
        else:
            bad = first_illegal(self.games, chosen)
            if bad == NONE:
                self._spread(step_games, self.games, self.tables, self._decks, after=(chosen, self._kind, *batch))
        if bad != NONE:
            raise ValueError(f"game {bad}: {illegal_action_text(self[bad], int(chosen[bad]))}")
        return batch

    def play_random(self, decisions: int) -> None:
        """Advance every game by ``decisions`` uniformly random legal decisions, inside the kernel.

        The choices come from a random stream of each game's own, apart from the stream of its deals.
        """
        if decisions < 0:
            raise ValueError(f"decisions={decisions!r} is not allowed; use 0 or more")
        self._spread(
            play_random_games, self.games, self.tables, self._decks, after=(self._rollouts, np.int64(decisions))
        )

    def observation(self, viewer: int | ArrayLike) -> NDArray[Any]:
        """What one seat (or seat ``viewer[i]`` of game i) sees, whoever is to act: as in `Batch`."""
        viewers = np.ascontiguousarray(np.broadcast_to(viewer, self.games.shape), dtype=np.int64)
        players = self.tables["players"][self.games["table"]]
        if (bad := np.flatnonzero((viewers < 0) | (viewers >= players))).size:
            i = bad[0]
            raise ValueError(f"game {i}: viewer {viewers[i]} is not a seat; seats are 0..{players[i] - 1}")
        observation = np.empty((len(self), self._width), dtype=self._entry)
        self._spread(observe_games, self.games, self.tables, after=(viewers, observation))
        return observation

    def clone(self) -> Simulator:
        """An independent copy: both play on alike when given the same actions."""
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None, "_own": None}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(own_arrays(attributes))

    def _start(self, seed: int | ArrayLike) -> None:
        start_games(self.games, self.tables, self._decks, game_seeds(seed, len(self)), self._rollouts)

    def _forms(self) -> list[tuple[tuple[int, ...], str]]:
        """Shape and dtype of each array of this simulator's batches."""
        n = len(self)
        return [
            ((n if self.observe else 0, self._width), self._entry),
            ((n, self.form.num_actions), "int8"),
            ((n,), "int64"),
            ((n, self.players), "float32"),
            ((n,), "bool"),
            ((n,), "bool"),
        ]

    def _batch(self, out: Batch | None) -> Batch:
        if out is None:
            out = Batch(*(np.empty(shape, dtype) for shape, dtype in self._forms()))
        elif out is not self._own:
            usable = all(array.flags.c_contiguous and array.flags.writeable for array in out)
            if not usable or [(array.shape, str(array.dtype)) for array in out] != self._forms():
                raise ValueError(
                    f"out must be a Batch of {len(self)} games and {self.players} seats as step() returns it"
                )
        self._own = out
        return out

    def _spread(self, function: Callable[..., None], *before: Any, after: tuple[Any, ...]) -> None:
        """Call a kernel loop over all games, cut into one range a thread."""
        n = len(self)
        if self.threads == 1:
            function(*before, 0, n, *after)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads)
        cuts = [n * k // self.threads for k in range(self.threads + 1)]
        waiting = [self._pool.submit(function, *before, start, stop, *after) for start, stop in pairwise(cuts)]
        for one in waiting:
            one.result()


def game_seeds(seed: int | ArrayLike, num_games: int) -> NDArray[np.int64]:
    """The seed of each game of a simulator: (num_games,) int64, spread from one seed or checked one by one."""
    seeds = np.empty(num_games, dtype=np.int64)
    if np.ndim(seed) == 0:
        spread_seed(check_seed(seed), seeds)
        return seeds
    given = list(np.asarray(seed))
    if len(given) != num_games:
        raise ValueError(f"seed has {len(given)} entries for {num_games} games")
    seeds[:] = [check_seed(one) for one in given]
    return seeds


def observed(games: NDArray[np.void], tables: NDArray[np.void]) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """What the seats to act in some games, or in a bot's views of them, see and may do: (N, D) int8, (N, A) bool."""
    form = form_of_records(games)
    observation = np.empty((len(games), observation_size(form)), dtype=np.int8)
    mask, player = np.empty((len(games), form.num_actions), dtype=np.int8), np.empty(len(games), dtype=np.int64)
    observe_current(games, tables, 0, len(games), observation, mask, player)
    return observation, mask.astype(np.bool_)
