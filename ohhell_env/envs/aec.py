"""The PettingZoo AEC environment: one table behind `last()` and `step()`. It translates; the rules are the kernel's.

PettingZoo's three usual wrappers cost twenty times what a step costs, so what they check is checked here.
"""

from __future__ import annotations

import operator
import secrets
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, Never, NoReturn

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.env import AECIterable, AECIterator
from pettingzoo.utils.env_logger import EnvLogger

from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import Int, entry_point, jit
from ohhell_env.kernel.state import (
    HAND_OVER,
    MATCH_OVER,
    NONE,
    STANDARD_FORM,
    Form,
    check_seed,
    compile_rules,
    form_of,
    given_decks,
    later_decks,
    own_arrays,
)
from ohhell_env.observation.standard import encode, observation_layout, observation_size
from ohhell_env.rules.presets import preset
from ohhell_env.rules.rules import Rules
from ohhell_env.table.actions import action_text
from ohhell_env.table.game import Game, Viewer, illegal_action_text
from ohhell_env.table.text import table_text

STATE_SIZE = STANDARD_FORM.players * STANDARD_FORM.kinds + observation_size(STANDARD_FORM)

_HAND_OVER, _MATCH_OVER = 16, 32  # what `step_table` and `next_table_hand` return in place of a seat
_INT8 = np.dtype(np.int8)  # np.empty takes a dtype in half the time that it takes a type


@jit
def observe_table(games: Any, tables: Any, viewer: Int, observation: Any) -> None:
    """What one seat sees."""
    encode(games[0], tables[0], viewer, observation.reshape((1, observation.shape[0])), 0)


@jit
def observe_current(games: Any, tables: Any, observation: Any, mask: Any) -> Int:
    """Observation and mask of the seat to act, which is returned."""
    rulebook.write_mask(games[0], mask.reshape((1, mask.shape[0])), 0)
    observe_table(games, tables, games[0]["player"], observation)
    return np.int64(games[0]["player"])


@jit
def start_table(games: Any, tables: Any, decks: Any, seed: Int, dealer: Int, observation: Any, mask: Any) -> Int:
    """A new match; returns the seat to act."""
    rulebook.start_match(games[0], tables[0], decks, seed, dealer)
    return observe_current(games, tables, observation, mask)


@jit
def step_table(games: Any, tables: Any, action: Int, observation: Any, mask: Any) -> Int:
    """One action: the next seat to act, _HAND_OVER, or NONE for an illegal action, which changes nothing."""
    game = games[0]
    if not rulebook.is_legal(game, action):
        return np.int64(NONE)
    rulebook.apply(game, tables[0], action)
    if game["phase"] == HAND_OVER:
        return np.int64(_HAND_OVER)
    return observe_current(games, tables, observation, mask)


@jit
def next_table_hand(
    games: Any, tables: Any, decks: Any, kind: Int, observation: Any, mask: Any, reward: Any, finished: Any
) -> Int:
    """After _HAND_OVER: the rewards, the finished hand for the record, and the next hand or the match's end.

    Returns the next seat to act, or _MATCH_OVER.
    """
    game = games[0]
    table = tables[0]
    rulebook.deal_on(game, table, decks, kind, reward, 0, finished)
    if game["phase"] == MATCH_OVER:
        return np.int64(_MATCH_OVER)
    return observe_current(games, tables, observation, mask)


@cache
def compiled_next_hand(form: Form) -> Callable[..., int]:
    """`next_table_hand` without the dispatcher in front."""
    games, tables, entries = np.zeros(1, form.game), compile_rules((Rules(),), form), np.zeros(1, np.int8)
    decks, reward = np.zeros((1, 1), np.int8), np.zeros((1, 1))
    return entry_point(next_table_hand, games, tables, decks, 0, entries, entries, reward, games)


@cache
def compiled_step_table(form: Form) -> Callable[..., int]:
    """`step_table` without the dispatcher in front."""
    entries = np.zeros(1, np.int8)
    return entry_point(step_table, np.zeros(1, form.game), compile_rules((Rules(),), form), 0, entries, entries)


class OhHellEnv(AECEnv[str, Any, Any]):
    """See `ohhell_env.ohhell_v0` for the rules, the spaces and the arguments.

    Attributes:
        rules: the table's rules.
        viewer: the seat whose view `render` shows, and nothing that this seat may not know; "table" shows what lies
            face up for all and no hands; None shows everything.
        totals: whether `render` shows the match's totals (online table, "Hide player points").
        games: array of one record, `state.GAME` or ``WIDE_GAME``; bots read it.
        tables: array of one record, `state.TABLE` or ``WIDE_TABLE``.
        form: which of the two the table has, and the sizes that follow from it.
        flat: whether observations are the vector alone, and the mask stands in infos alone.
    """

    metadata = {
        "name": "ohhell_v0",
        "render_modes": ["human", "ansi", "rgb_array"],
        "is_parallelizable": False,
        "render_fps": 2,
    }

    _ready = False  # whether reset() was called
    _actor: str | None = None  # the agent whose mask and observation are at hand
    _drawing: Any = None  # the painter or window, once something was drawn
    viewer: Viewer = None
    totals: bool = True

    def __init__(
        self,
        rules: Rules | str | None = None,
        *,
        players: int | None = None,
        render_mode: str | None = None,
        reward: str = "points",
        illegal_reward: float | None = None,
        flat: bool = False,
        **unknown: Never,
    ) -> None:
        refuse_unknown(unknown)
        super().__init__()  # type: ignore[no-untyped-call]
        if rules is None or isinstance(rules, str):
            rules = preset(rules or "oh_hell", **({} if players is None else {"players": players}))
        elif not isinstance(rules, Rules):
            raise ValueError(f"rules={rules!r} is not allowed; use a Rules, the name of a preset, or None")
        elif players not in (None, rules.players):
            raise ValueError(f"players={players} contradicts rules.players={rules.players}; give one of them")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode={render_mode!r} is not known; use one of {self.metadata['render_modes']}")
        self.rules = rules
        self.render_mode = render_mode
        self.illegal_reward = None if illegal_reward is None else float(illegal_reward)
        self._kind = rulebook.reward_kind(reward)
        self.form = form_of((rules,))
        self.tables = compile_rules((rules,), self.form)
        self.games: NDArray[np.void] = np.zeros(1, dtype=self.form.game)
        self._step, self._num_actions = compiled_step_table(self.form), self.form.num_actions
        self._size = observation_size(self.form)
        self._reward = np.zeros((1, rules.players))
        self.possible_agents = [f"player_{seat}" for seat in range(rules.players)]
        self._seat = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._nobody = dict.fromkeys(self.possible_agents, 0.0)
        self.action_spaces = {agent: spaces.Discrete(self.form.num_actions) for agent in self.possible_agents}
        self.flat = flat
        self.observation_spaces = {agent: self._one_space() for agent in self.possible_agents}
        self.state_space = spaces.Box(0, 1, (self._hands_size + self._size,), np.int8)

    def _one_space(self) -> spaces.Space[Any]:
        """The space of one agent's observations."""
        observation = spaces.Box(0, 1, (self._size,), np.int8)
        if self.flat:
            return observation
        return spaces.Dict(observation=observation, action_mask=spaces.Box(0, 1, (self.form.num_actions,), np.int8))

    @property
    def _hands_size(self) -> int:
        """Entries of `state` that say who holds what; in the wide form second copies have rows of their own."""
        return self.form.players * self.form.kinds * self.form.copies

    def __getattr__(self, name: str) -> Any:
        if name in ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "num_agents"):
            raise AttributeError(f"{name} cannot be accessed before reset")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_drawing": None, "_step": None}  # neither pictures nor machine code are kept

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(own_arrays(attributes))
        self._step = compiled_step_table(self.form)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    @property
    def game(self) -> Game:
        """The table as it stands, read-only; ``game.past_hands`` are the match's finished hands."""
        if not self._ready:
            EnvLogger.error_state_before_reset()
        return Game(self.games[0], self.rules, self._past)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a match.

        Args:
            seed: 0..2**63-1 makes the match repeatable; without one the match is the next after the one before, which
                depends on that match's seed alone, not on how far it got.
            options: ``"deals"``: decks for the first hands, each a whole deck of names or numbers in the order dealt;
                ``"dealer"``: seat of the first dealer. Other keys, which wrappers may pass, are ignored.

        Raises:
            ValueError: if the seed, a deck or the dealer is not allowed, for decks in a cooperative match, and for a
                key that is nearly one of these; the environment has then not changed.
        """
        options = known_options(options, ("deals", "dealer"))
        decks = given_decks(options.get("deals", ()), (self.rules,))
        dealer = first_dealer(options, self.tables)
        if seed is not None:
            seed = check_seed(seed)
        else:
            seed = int(rulebook.next_seed(self.games["seed"][0])) if self._ready else secrets.randbits(63)
        self.games = np.zeros(1, dtype=self.form.game)  # a new array: views of the match before keep showing that match
        self._decks = decks
        self._past: list[NDArray[np.void]] = []
        self._ready = self._updated = True
        self._observation = np.empty(self._size, dtype=np.int8)
        self._mask = np.empty(self._num_actions, dtype=np.int8)
        seat = start_table(self.games, self.tables, decks, seed, dealer, self._observation, self._mask)
        self.agents = self.possible_agents[:]
        self.rewards = self._nobody.copy()
        self._cumulative_rewards = self._nobody.copy()
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection: str | None = None  # type: ignore[assignment]
        self._paid = False
        self._set_scores()
        self.agent_selection = self._actor = actor = self.possible_agents[seat]
        self.infos[actor] = {"action_mask": self._mask, "score": 0.0, "win_share": 0.0}
        if self.render_mode == "human":
            self.render()

    def upload_decks(self, decks: Any) -> None:
        """Decks in place of the shuffle from the next deal of this match on (online table, "Allow deck upload").

        Args:
            decks: as ``options["deals"]`` of `reset`; they replace those that were given for these hands before. An
                empty list goes back to the shuffle, whose deals do not depend on what was uploaded.

        Raises:
            ValueError: if a deck is not allowed, or the match is cooperative.
        """
        if not self._ready:
            raise ValueError("there is no match to upload decks to: call reset() first")
        self._decks = later_decks(self._decks, decks, self.rules, int(self.games["hand"][0]) + 1)

    def step(self, action: Any) -> None:
        """Bid or play for ``agent_selection``; for an agent that is done, only None."""
        agent = self._actor
        if agent is None:
            self._step_out_of_turn(action)
            return
        self._updated = True
        observation = np.empty(self._size, _INT8)
        mask = np.empty(self._num_actions, _INT8)
        try:
            result = self._step(self.games, self.tables, operator.index(action), observation, mask)
        except (TypeError, OverflowError):
            self._refuse(agent, action)
        if result < 0:
            self._refuse_illegal(agent, operator.index(action))
            return
        self._cumulative_rewards[agent] = 0.0
        if self._paid:
            self.rewards = self._nobody.copy()
            self._paid = False
        self._observation, self._mask = observation, mask
        self.infos[agent] = self._waiting[agent]
        if result >= _HAND_OVER:
            result = self._next_hand()
            if result == _MATCH_OVER:
                self._end(False)
        if result < _HAND_OVER:
            self.agent_selection = self._actor = actor = self.possible_agents[result]
            self.infos[actor] = {"action_mask": self._mask, "score": self._scores[actor], "win_share": 0.0}
        if self.render_mode == "human":
            self.render()

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        agent = self.agent_selection
        seen: Any = None
        if observe:
            acting = agent == self._actor and not self.flat  # the usual case without a call
            seen = {"observation": self._observation, "action_mask": self._mask} if acting else self.observe(agent)
        return (
            seen,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def observe(self, agent: str) -> Any:
        """What an agent sees now, whoever is to act: see `observation_space`."""
        if agent == self._actor:
            return self._observation if self.flat else {"observation": self._observation, "action_mask": self._mask}
        if not self._ready:
            EnvLogger.error_observe_before_reset()
        observation = np.empty(self._size, dtype=np.int8)
        observe_table(self.games, self.tables, self._seat[agent], observation)
        if self.flat:
            return observation
        return {"observation": observation, "action_mask": np.zeros(self._num_actions, np.int8)}

    def state(self) -> NDArray[np.int8]:
        """Everything, for centralised critics: (STATE_SIZE,) int8 of zeros and ones.

        First the cards that each seat holds, (7, 52) by absolute seat; then the observation that player_0 would have
        if every bid were open. At tables of the wide form (2, 10, 63), the second time for second copies.
        """
        if not self._ready:
            EnvLogger.error_state_before_reset()
        state = np.zeros(self._hands_size + self._size, dtype=np.int8)
        hands = state[: self._hands_size].reshape(-1, self.form.players, self.form.kinds)
        for seat, cards in enumerate(self.game.hands):
            hands[0, seat, list(cards)] = 1
            hands[-1, seat, [card for card in cards if cards.count(card) == 2 or len(hands) == 1]] = 1
        open_tables = self.tables.copy()
        open_tables["sealed"] = 0
        observation = state[self._hands_size :]
        observe_table(self.games, open_tables, 0, observation)
        observation[observation_layout(self.rules)["table"].start] = self.tables["sealed"][0]
        return state

    def render(self) -> str | NDArray[np.uint8] | None:
        """The table as ``viewer`` sees it: text in mode "ansi", a picture in mode "rgb_array" ((H, W, 3) uint8).

        Mode "human" shows it in a window, and renders by itself at every reset and step.

        Raises:
            ModuleNotFoundError: for a picture or a window without pygame, which the extra ``render`` installs.
        """
        if not self._ready:
            EnvLogger.error_render_before_reset()
        if self.render_mode is None:
            gymnasium.logger.warn(
                "render() was called without a render_mode; make the environment with one of "
                f"{self.metadata['render_modes']}"
            )
            return None
        game = self.game
        if self.render_mode == "ansi":
            text = table_text(game, self.viewer, self.totals)
            if game.past_hands and not any(bid is not None for bid in game.bids):
                text = f"{table_text(game.past_hands[-1], self.viewer, self.totals)}\n\n{text}"
            return text
        from ohhell_env.render.scene import scene_of

        scene = scene_of(game, self.viewer, totals=self.totals)
        if self.render_mode == "rgb_array":
            from ohhell_env.render.table import TablePainter

            self._drawing = self._drawing or TablePainter()
            frame: NDArray[np.uint8] = self._drawing.frame(scene)
            return frame
        from ohhell_env.render.window import TableWindow

        self._drawing = self._drawing or TableWindow(fps=self.metadata["render_fps"])
        if self._paid and game.phase != MATCH_OVER:  # first the hand that is just over
            self._drawing.show(scene_of(game.past_hands[-1], self.viewer, totals=self.totals))
        self._drawing.show(scene)
        return None

    def get_action_meanings(self) -> list[str]:
        """Each action as text."""
        return [action_text(action, self.rules) for action in range(self._num_actions)]

    def close(self) -> None:
        """Close the window, if one is open."""
        if self._drawing is not None and self.render_mode == "human":
            self._drawing.close()
        self._drawing = None

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, Any, Any]:
        if not self._ready:
            EnvLogger.error_agent_iter_before_reset()
        return _OrderedIterable(self, max_iter)  # type: ignore[no-untyped-call]

    def _step_out_of_turn(self, action: Any) -> None:
        """A step when nobody is to act: before the first reset, for an agent that is done, or after all are."""
        if not self._ready:
            EnvLogger.error_step_before_reset()
        elif not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
        else:
            self._updated = True
            self._was_dead_step(action)

    def _set_scores(self) -> None:
        """Renew what infos say of the scores; whoever is not to act has an empty mask."""
        scores = self.games["scores"][0, : len(self.possible_agents)].tolist()
        self._scores: dict[str, float] = dict(zip(self.possible_agents, scores, strict=True))
        over = self.games["phase"][0] == MATCH_OVER
        shares = self.game.win_shares if over else self._nobody.values()
        self._waiting = {
            agent: {"action_mask": np.zeros(self._num_actions, _INT8), "score": self._scores[agent], "win_share": share}
            for agent, share in zip(self.possible_agents, shares, strict=True)
        }
        self.infos = self._waiting.copy()

    def _next_hand(self) -> int:
        """Hand out the rewards of the hand just over and deal the next; the seat to act or _MATCH_OVER."""
        finished: NDArray[np.void] = np.zeros(1, self.form.game)
        result = compiled_next_hand(self.form)(
            self.games,
            self.tables,
            self._decks,
            self._kind,
            self._observation,
            self._mask,
            self._reward,
            finished,
        )
        self._past.append(finished[0])
        self._paid = True
        self.rewards = dict(zip(self.possible_agents, self._reward[0].tolist(), strict=True))
        self._accumulate_rewards()
        self._reward[:] = 0
        self._set_scores()
        return result

    def _end(self, truncated: bool) -> None:
        """Everybody is done; nobody is to act."""
        self._actor = None
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._deads_step_first()

    def _refuse(self, agent: str, action: Any) -> NoReturn:
        raise AssertionError(
            f"action is not in action space: {action!r} from {agent}; use a whole number 0..{self._num_actions - 1}"
        )

    def _refuse_illegal(self, agent: str, action: int) -> None:
        """As PettingZoo's wrappers do: warn, give the mover the illegal reward, and end the match for everybody."""
        if self.illegal_reward is None:
            raise ValueError(illegal_action_text(self.game, action))
        if not 0 <= action < self._num_actions:
            self._refuse(agent, action)
        EnvLogger.warn_on_illegal_move()
        self._cumulative_rewards[agent] = 0.0
        self.rewards = self._nobody.copy()
        self.rewards[agent] = self.illegal_reward
        self._accumulate_rewards()
        self.infos[agent] = self._waiting[agent]
        self._end(True)


def refuse_unknown(arguments: Mapping[str, Any]) -> None:
    """`TypeError` for arguments that an environment does not have, with where the table's options go."""
    for name, value in arguments.items():
        if name in Rules.__dataclass_fields__:
            raise TypeError(
                f"{name}={value!r} is an option of the table, not of the environment: put it into the rules, as in "
                f"rules=Rules({name}={value!r}) or rules=preset('oh_hell', {name}={value!r})"
            )
        raise TypeError(f"unexpected argument {name}={value!r}; see help(ohhell_env.ohhell_v0) for those there are")


def known_options(options: dict[str, Any] | None, known: Sequence[str]) -> dict[str, Any]:
    """The options of a reset that are ours; other keys are left to wrappers.

    Raises:
        ValueError: for a key that is nearly one of ours, and so probably meant to be it.
    """
    for key in options or {}:
        near = get_close_matches(str(key).lower(), known, 1, cutoff=0.7)
        if near and key not in known:
            raise ValueError(
                f"options: {key!r} is not known; did you mean {near[0]!r}? Known are {', '.join(map(repr, known))}"
            )
    return {key: value for key, value in (options or {}).items() if key in known}


def first_dealer(options: dict[str, Any], tables: NDArray[np.void]) -> int:
    """Seat of the first dealer: by the options of a reset, or else as the table has it, NONE where it is drawn.

    Raises:
        ValueError: if the option is not a seat.
    """
    if "dealer" not in options:
        return int(tables["first_dealer"][0])
    dealer, players = options["dealer"], int(tables["players"][0])
    whole = isinstance(dealer, (int, np.integer)) and not isinstance(dealer, bool)
    if not (whole and 0 <= dealer < players):
        raise ValueError(f"dealer={dealer!r} is not allowed; use a seat 0..{players - 1}")
    return int(dealer)


class _OrderedIterable(AECIterable[str, Any, Any]):
    def __iter__(self) -> AECIterator[str, Any, Any]:
        return _OrderedIterator(self.env, self.max_iter)


class _OrderedIterator(AECIterator[str, Any, Any]):
    env: OhHellEnv

    def __next__(self) -> str:
        agent: str = super().__next__()
        assert self.env._updated, "need to call step() or reset() in a loop over `agent_iter`"
        self.env._updated = False
        return agent
