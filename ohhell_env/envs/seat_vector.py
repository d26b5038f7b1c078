"""Many seat environments at once on the batched simulator: Gymnasium's vector form, opponents asked for all games."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, Never

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ohhell_env.envs.aec import first_dealer, known_options
from ohhell_env.envs.lineup import Opponents
from ohhell_env.envs.seat_form import Observation, SeatForm
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import Int, jit
from ohhell_env.kernel.state import MATCH_OVER, MAX_SEED, NONE, check_seed, given_decks
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator, game_seeds
from ohhell_env.table.game import illegal_action_text

PICTURE_WIDTH = 640  # of the picture of a match, in pixels
TABLES_IN_WINDOW = 9  # at most

# Gymnasium 1.0 has no names for the modes.
_AUTORESET = getattr(gymnasium.vector, "AutoresetMode", None)


@jit
def find_legal(games: Any, actions: Any, legal: Any) -> None:
    """Whether each game's action is legal."""
    for i in range(games.shape[0]):
        legal[i] = rulebook.is_legal(games[i], actions[i])


@jit
def start_all(games: Any, tables: Any, decks: Any, seeds: Any, dealer: Int) -> None:
    """A match of its own seed in every game."""
    for i in range(games.shape[0]):
        rulebook.start_match(games[i], tables[games[i]["table"]], decks, seeds[i], dealer)


@jit
def act_in(
    games: Any,
    tables: Any,
    decks: Any,
    given: Any,
    chosen: Any,
    actions: Any,
    kind: Int,
    paid: Any,
    seats: Any,
    reward: Any,
) -> None:
    """Take a legal action in each chosen game, deal on where a hand ends, stop where a match does.

    ``given[i]`` is the number of decks that game i's match has been given. ``reward[i]`` grows by what seat
    ``seats[i]`` is paid; ``paid`` is (1, P) scratch.
    """
    for j in range(chosen.shape[0]):
        i = chosen[j]
        game = games[i]
        table = tables[game["table"]]
        paid[:] = 0.0
        if rulebook.step(game, table, actions[j], decks[: given[i]], kind, paid, 0):
            reward[i] += paid[0, seats[i]]


@jit
def find_turns(games: Any, seats: Any, lineups: Any, turns: Any) -> Int:
    """``turns[i]``: the number of the bot that game i waits for, NONE for the learner or nobody; how many wait."""
    waiting = 0
    for i in range(games.shape[0]):
        game = games[i]
        turns[i] = NONE
        if game["phase"] != MATCH_OVER:
            turns[i] = lineups[i, game["player"]]
            waiting += turns[i] != NONE
    return waiting


@jit
def start_next(games: Any, tables: Any, decks: Any, chosen: Any) -> None:
    """A new match in each chosen game, with a seed from its own stream."""
    for i in chosen:
        rulebook.start_next_match(games[i], tables[games[i]["table"]], decks)


@jit
def win_shares(games: Any, tables: Any, seats: Any, shares: Any) -> None:
    """``shares[i]``: what seat ``seats[i]`` has of the win in each game; 0 until its match is over."""
    for i in range(games.shape[0]):
        game = games[i]
        over = game["phase"] == MATCH_OVER
        shares[i] = rulebook.win_share(game, tables[game["table"]], seats[i]) if over else 0.0


class SeatVectorEnv(SeatForm, gymnasium.vector.VectorEnv[Observation, Any, Any]):
    """`ohhell_env.SeatEnv` for N matches, on the batched simulator instead of N Python environments.

    ``gymnasium.make_vec("OhHell-v0", num_envs=N, vectorization_mode="vector_entry_point", ...)`` makes it. Match i of
    ``reset(seed=s)`` is the match of ``SeatEnv.reset(seed=s + i)``; the same actions give the same match in both forms,
    and so do the matches after it. Every array returned is new.

    Autoreset is of the kind SAME_STEP: where a match ends, the observation and the info returned are already those of
    the next match's first decision, and the end is in ``infos["final_obs"]`` and ``infos["final_info"]``, in the rows
    that ``infos["_final_obs"]`` marks.

    Args:
        num_envs: N.
        rules, players, opponents, pool, opponents_seed, seat, reward, dict_observation: see `SeatEnv`.
        illegal_reward: as there, game by game; with None an illegal action raises ValueError and no game changes.
        render_mode: "rgb_array": `render` returns a picture of each match, as Gymnasium's vector wrappers want them;
            "human": every reset and step shows the first nine in one window. `grid` is one picture of a few at any
            time. All show what the learner's seat sees, and need the extra ``render``.

    Raises:
        ValueError: for a value that is not allowed, naming it.
    """

    metadata = {
        "render_modes": ["human", "rgb_array"],
        "render_fps": 2,
        "autoreset_mode": _AUTORESET.SAME_STEP if _AUTORESET else "SameStep",
    }

    def __init__(
        self,
        num_envs: int = 1,
        rules: Rules | str | None = None,
        *,
        players: int | None = None,
        opponents: Opponents = "heuristic",
        pool: bool = False,
        opponents_seed: int = 0,
        seat: int | str = 0,
        reward: str = "points",
        illegal_reward: float | None = -1.0,
        dict_observation: bool = False,
        render_mode: str | None = None,
        **unknown: Never,
    ) -> None:
        _, self.single_observation_space, self.single_action_space = self.set_up(
            rules, players, opponents, pool, opponents_seed, seat, reward, illegal_reward, dict_observation,
            render_mode, unknown,
        )  # fmt: skip
        self.simulator = Simulator(self.rules, num_envs, seed=0, reward=reward)
        self.num_envs = num_envs
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._started = False
        self._kind = rulebook.reward_kind(reward)
        self._all = np.arange(num_envs)
        self._decks = given_decks((), (self.rules,))
        self._given = np.zeros(num_envs, dtype=np.int64)  # (N,) decks that each match has been given
        self._seats = np.zeros(num_envs, dtype=np.int64)
        self._lineups = np.zeros((num_envs, self.rules.players), dtype=np.int64)
        self._turns = np.zeros(num_envs, dtype=np.int64)
        self._paid = np.zeros((1, self.rules.players))

    @property
    def seats(self) -> NDArray[np.int64]:
        """(N,) the learner's seat in each match."""
        return self._seats.copy()

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start N matches.

        Args:
            seed: match i plays ``seed + i`` of one seed, or ``seed[i]`` of N; without one, each game plays the match
                after its last one.
            options: ``"deals"``, ``"dealer"`` and ``"seat"`` as in `SeatEnv`, for these N matches; those that follow
                them are dealt as ever.

        Raises:
            ValueError: if the seed or an option is not allowed, or a key is nearly that of one; nothing has then
                changed.
        """
        options = known_options(options, ("deals", "dealer", "seat"))
        decks = given_decks(options.get("deals", ()), (self.rules,))
        dealer = first_dealer(options, self.simulator.tables)
        if (seat := options.get("seat")) is not None:
            self.lineup.check_seat(seat)
        seeds = self._seeds(seed)
        games, self._decks, self._given = self.simulator.games, decks, np.full(self.num_envs, len(decks))
        start_all(games, self.simulator.tables, decks, seeds, dealer)
        self._started = True
        self.lineup.draw(games, self._all, self._seats, self._lineups, seat)
        self._let_others_act(np.zeros(self.num_envs))
        self._observe()
        return self.form_of_observation(self._batch.observation, self._batch.action_mask), self._infos()

    def _seeds(self, seed: int | Sequence[int] | None) -> NDArray[np.int64]:
        """(N,) seeds of the matches to start."""
        if isinstance(seed, (int, np.integer)):
            first = check_seed(seed)
            seed = [(first + i) % (MAX_SEED + 1) for i in range(self.num_envs)]
        if seed is None and not self._started:
            seed = [secrets.randbits(63) for _ in range(self.num_envs)]
        if seed is None:
            return np.array([rulebook.next_seed(one) for one in self.simulator.games["seed"]])
        return game_seeds(seed, self.num_envs)

    def step(self, actions: Any) -> tuple[Observation, Any, Any, Any, dict[str, Any]]:
        """One action in each match: (N,) whole numbers.

        Returns:
            Observations, rewards (N,) float64, terminations (N,) bool, truncations (all False), infos.

        Raises:
            ResetNeeded: before the first reset.
            ValueError: if an action is not in the action space; or illegal, where ``illegal_reward`` is None.
        """
        if not self._started:
            raise gymnasium.error.ResetNeeded("there is no match to act in: call reset() before step()")
        chosen = self._check(actions)
        games = self.simulator.games
        legal = np.empty(self.num_envs, dtype=np.bool_)
        find_legal(games, chosen, legal)
        bad = np.flatnonzero(~legal)
        if len(bad) and self.illegal_reward is None:
            i = bad[0]
            raise ValueError(f"game {i}: {illegal_action_text(self.simulator[i], int(chosen[i]))}")
        reward = np.zeros(self.num_envs)
        acting = np.flatnonzero(legal)
        self._act(acting, chosen[acting], reward)
        self._let_others_act(reward)
        reward[bad] = self.illegal_reward or 0.0
        over = ~legal | (games["phase"] == MATCH_OVER)
        ended = np.flatnonzero(over)
        final = self._end(ended, ~legal) if len(ended) else {}
        self._observe()
        observations = self.form_of_observation(self._batch.observation, self._batch.action_mask)
        return observations, reward, over, np.zeros(self.num_envs, dtype=np.bool_), {**self._infos(), **final}

    def action_masks(self) -> NDArray[np.bool_]:
        """(N, A) bool, True for each action open to the learner; no row is empty."""
        return self._batch.action_mask.astype(np.bool_)

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """A picture of each match ((400, 640, 3) uint8) in mode "rgb_array"; in mode "human" the window is renewed.

        Raises:
            ModuleNotFoundError: without pygame, which the extra ``render`` installs.
        """
        if self.render_mode is None:
            gymnasium.logger.warn(f"render() needs a render_mode, one of {self.metadata['render_modes']}")
            return None
        if self.render_mode == "rgb_array":
            from ohhell_env.render.table import TablePainter

            self._drawing = self._drawing or TablePainter(PICTURE_WIDTH)
            return tuple(self._drawing.frame(self._scene(i)) for i in range(self.num_envs))
        from ohhell_env.render.window import TableWindow

        shown = min(self.num_envs, TABLES_IN_WINDOW)
        self._drawing = self._drawing or TableWindow(fps=self.metadata["render_fps"], tables=shown)
        self._drawing.show(*map(self._scene, range(shown)))
        return None

    def grid(self, tables: int = 4, width: int = 1280) -> NDArray[np.uint8]:
        """The first few matches in one picture, in any render mode: (H, W, 3) uint8.

        Args:
            tables: how many, at most N.
            width: of the picture in pixels; more where a table would be narrower than 480.

        Raises:
            ValueError: if there are not as many matches.
            ModuleNotFoundError: without pygame, which the extra ``render`` installs.
        """
        if not 1 <= tables <= self.num_envs:
            raise ValueError(f"tables={tables!r} is not allowed; use 1 to {self.num_envs}")
        from ohhell_env.render.grid import GridPainter

        return GridPainter(tables, width).frame([self._scene(i) for i in range(tables)])

    def _scene(self, i: int) -> Any:
        from ohhell_env.render.scene import scene_of

        if not self._started:
            raise gymnasium.error.ResetNeeded("there is no match to show: call reset() before render()")
        return scene_of(self.simulator[i], int(self._seats[i]))

    def close_extras(self, **kwargs: Any) -> None:
        """Close the window, if one is open."""
        self.close_drawing()

    def _check(self, actions: Any) -> NDArray[np.int64]:
        chosen = np.asarray(actions)
        size = self.num_actions
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise ValueError(f"actions must be {self.num_envs} whole numbers; got {chosen.dtype} of {chosen.shape}")
        if (bad := np.flatnonzero((chosen < 0) | (chosen >= size))).size:
            raise ValueError(
                f"game {bad[0]}: action {chosen[bad[0]]} is not in the action space; use a whole number 0..{size - 1}"
            )
        return np.ascontiguousarray(chosen, dtype=np.int64)

    def _act(self, chosen: NDArray[np.int64], actions: NDArray[np.int64], reward: NDArray[np.float64]) -> None:
        simulator = self.simulator
        act_in(
            simulator.games,
            simulator.tables,
            self._decks,
            self._given,
            chosen,
            actions,
            self._kind,
            self._paid,
            self._seats,
            reward,
        )

    def _let_others_act(self, reward: NDArray[np.float64]) -> None:
        """Until each game waits for the learner or is over; each bot is asked for all games that wait for it."""
        while find_turns(self.simulator.games, self._seats, self._lineups, self._turns):
            for number, bot in enumerate(self.lineup.bots):
                waiting = np.flatnonzero(self._turns == number)
                if len(waiting):
                    self._act(waiting, bot.act(self.simulator, waiting), reward)

    def _end(self, ended: NDArray[np.int64], illegal: NDArray[np.bool_]) -> dict[str, Any]:
        """Start the next match in these games; what the infos tell of the end of those before."""
        over = np.zeros(self.num_envs, dtype=np.bool_)
        over[ended] = True
        mask = np.ones((self.num_envs, self.num_actions), dtype=np.int8)
        final = {
            "final_obs": self.form_of_observation(self.simulator.observation(self._seats), mask.copy()),
            "_final_obs": over,
            "final_info": self._told(mask, self._win_shares(), illegal, over),
            "_final_info": over,
        }
        self._given[ended] = 0
        start_next(self.simulator.games, self.simulator.tables, self._decks[:0], ended)
        self.lineup.draw(self.simulator.games, ended, self._seats, self._lineups)
        self._let_others_act(np.zeros(self.num_envs))
        return final

    def _win_shares(self) -> NDArray[np.float64]:
        shares = np.zeros(self.num_envs)
        win_shares(self.simulator.games, self.simulator.tables, self._seats, shares)
        return shares

    def _observe(self) -> None:
        self._batch = self.simulator.current()
        if self.render_mode == "human":
            self.render()

    def _infos(self) -> dict[str, Any]:
        nothing = np.zeros(self.num_envs)
        every = np.ones(self.num_envs, dtype=np.bool_)
        return self._told(self._batch.action_mask.copy(), nothing, nothing.astype(np.bool_), every)

    def _told(self, mask: Any, win_share: Any, illegal: Any, rows: Any) -> dict[str, Any]:
        """One array for each of `SeatEnv`'s infos, and as Gymnasium has it beside each, which rows it is for."""
        told = {
            "action_mask": mask,
            "score": self.simulator.games["scores"][self._all, self._seats],
            "win_share": win_share,
            "seat": self._seats.copy(),
            "illegal": illegal,
        }
        return {**told, **{f"_{key}": rows.copy() for key in told}}
