"""One seat of the table as a Gymnasium environment, for single-agent libraries: the other seats are bots inside it."""

from __future__ import annotations

import operator
from typing import Any, Never

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from ohhell_env.envs.aec import known_options
from ohhell_env.envs.lineup import Opponents
from ohhell_env.envs.seat_form import Observation, SeatForm
from ohhell_env.kernel.state import MATCH_OVER
from ohhell_env.rules.rules import Rules
from ohhell_env.table.game import Game, illegal_action_text
from ohhell_env.table.text import table_text


class SeatEnv(SeatForm, gymnasium.Env[Observation, Any]):
    """A match from one seat's point of view; ``gymnasium.make("OhHell-v0", ...)`` takes the same arguments.

    An episode is a match. Every observation is a decision of this seat, up to the last, which shows the match's end.
    The rewards of an episode add up to the seat's score of the match, by the kind of ``reward``; where the lowest total
    wins, to minus that, so that a higher return is always better.

    A match is decided by its seed and the actions alone: ``reset(seed=s)`` plays the deals of
    ``ohhell_v0.env().reset(seed=s)``, and the opponents' chance comes from streams of their own.

    Attributes:
        observation_space: ``Box(0, 1, (D,), int8)``, as `ohhell_env.observation_layout` describes it; or, with
            ``dict_observation``, ``Dict(observation: that, action_mask: Box(0, 1, (A,), int8))``.
        action_space: ``Discrete(A)``; see `ohhell_env.ohhell_v0`.
        seat: the seat in this match.
        info: of every step: ``action_mask`` (A,) int8, ``score`` (points of this match so far), ``win_share`` (0 until
            the match is over), ``seat``, ``illegal`` (whether an illegal action ended the match).

    Args:
        rules: the table's `Rules` or the name of a preset.
        players: short for the default rules with this many players.
        opponents: a player's spec string (see `ohhell_env.bots.make_bot`) or a `Bot` for all other seats, or one for
            each, clockwise from this seat's left.
        pool: ``opponents`` may be of any number, and each seat's player is drawn from them anew each match.
        opponents_seed: seed of the bots' own random streams.
        seat: the seat, or "rotate": another one each match, drawn from the match's seed.
        reward: "points", "zero_sum" or "win", as in `ohhell_env.ohhell_v0`.
        illegal_reward: an illegal action changes nothing on the table, gives this reward and ends the episode
            (terminated). With None it raises ValueError instead, and the episode goes on.
        dict_observation: put the mask into the observation too.
        render_mode: the table as this seat sees it: "ansi": `render` returns it as text; "rgb_array": as a picture,
            (800, 1280, 3) uint8; "human": every reset and step shows it in a window. The last two need the extra
            ``render``.

    Raises:
        ValueError: for a value that is not allowed, naming it.
    """

    metadata = {"render_modes": ["human", "ansi", "rgb_array"], "render_fps": 2}

    _hands_shown = 0  # finished hands of the match that the window has shown

    def __init__(
        self,
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
        self.table, self.observation_space, self.action_space = self.set_up(
            rules, players, opponents, pool, opponents_seed, seat, reward, illegal_reward, dict_observation,
            render_mode, unknown,
        )  # fmt: skip
        self.seat = max(self.lineup.seat, 0)
        self._seats = np.zeros(1, dtype=np.int64)
        self._lineup = np.zeros((1, self.rules.players), dtype=np.int64)
        self._agent = ""  # the AEC environment's name for the seat
        self._over = True  # no match to act in

    @property
    def game(self) -> Game:
        """The whole table as it stands, read-only."""
        return self.table.game

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a match and let the others act until it is this seat's turn.

        Args:
            seed: 0..2**63-1 makes the match repeatable; without one the match is the next after the one before, which
                depends on that match's seed alone, not on how far it got.
            options: ``"deals"`` and ``"dealer"`` as in `ohhell_env.ohhell_v0`, ``"seat"``: the seat in this match.

        Raises:
            ValueError: if the seed or an option is not allowed, or a key is nearly that of one; the environment has
                then not changed.
        """
        options = known_options(options, ("deals", "dealer", "seat"))
        seat = options.pop("seat", None)
        if seat is not None:
            self.lineup.check_seat(seat)
        self.table.reset(seed, options)
        super().reset(seed=seed)
        self.lineup.draw(self.table.games, np.zeros(1, np.int64), self._seats, self._lineup, seat)
        self.seat = int(self._seats[0])
        self._agent = self.table.possible_agents[self.seat]
        self._over = False
        self._hands_shown = 0
        self._let_others_act()
        return self._seen(illegal=False)

    def upload_decks(self, decks: Any) -> None:
        """Decks in place of the shuffle from the next deal on; see `ohhell_env.envs.aec.OhHellEnv.upload_decks`."""
        self.table.upload_decks(decks)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Bid or play, and let the others act until it is this seat's turn again or the match is over.

        Raises:
            ResetNeeded: if there is no match to act in.
            ValueError: if the action is not in the action space; or illegal, where ``illegal_reward`` is None.
        """
        if self._over:
            raise ResetNeeded("there is no match to act in: call reset() before step()")
        action = check_action(action, self.num_actions)
        if not self.table.observe(self._agent)["action_mask"][action]:
            if self.illegal_reward is None:
                raise ValueError(illegal_action_text(self.game, action))
            gymnasium.logger.warn(f"the match ends here: {illegal_action_text(self.game, action)}")
            self._over = True
            observation, info = self._seen(illegal=True)
            return observation, self.illegal_reward, True, False, info
        self.table.step(action)
        reward = self.table.rewards[self._agent] + self._let_others_act()
        self._over = self.table.terminations[self._agent]
        observation, info = self._seen(illegal=False)
        return observation, reward, self._over, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """(A,) bool, True for each action open to this seat; all True once the match is over."""
        if self._over:
            return np.ones(self.num_actions, dtype=np.bool_)
        mask: NDArray[np.bool_] = self.table.observe(self._agent)["action_mask"].astype(np.bool_)
        return mask

    def render(self) -> Any:
        """The table as this seat sees it: text (mode "ansi"), a picture (H, W, 3) uint8 ("rgb_array"), or a window.

        Raises:
            ModuleNotFoundError: for a picture or a window without pygame, which the extra ``render`` installs.
        """
        if self.render_mode is None:
            gymnasium.logger.warn(f"render() needs a render_mode, one of {self.metadata['render_modes']}")
            return None
        if self.render_mode == "ansi":
            return table_text(self.game, self.seat)
        from ohhell_env.render.scene import scene_of

        scene = scene_of(self.game, self.seat)
        if self.render_mode == "rgb_array":
            from ohhell_env.render.table import TablePainter

            self._drawing = self._drawing or TablePainter()
            return self._drawing.frame(scene)
        from ohhell_env.render.window import TableWindow

        self._drawing = self._drawing or TableWindow(fps=self.metadata["render_fps"])
        past = self.game.past_hands
        if len(past) > self._hands_shown and self.game.phase != MATCH_OVER:  # first the hand that is just over
            self._drawing.show(scene_of(past[-1], self.seat))
        self._hands_shown = len(past)
        self._drawing.show(scene)
        return None

    def close(self) -> None:
        """Close the window, if one is open."""
        self.close_drawing()
        super().close()

    def get_action_meanings(self) -> list[str]:
        """Each action as text."""
        return self.table.get_action_meanings()

    def _let_others_act(self) -> float:
        """Up to this seat's turn or the match's end; what this seat is rewarded with on the way."""
        reward = 0.0
        table = self.table
        while table.agent_selection != self._agent and not table.terminations[self._agent]:
            bot = self.lineup.bots[self._lineup[0, table.games["player"][0]]]
            table.step(bot.action(table))
            reward += table.rewards[self._agent]
        return reward

    def _seen(self, illegal: bool) -> tuple[Observation, dict[str, Any]]:
        observation = self.table.observe(self._agent)["observation"].copy()
        mask = self.action_masks().astype(np.int8)
        told = self.table.infos[self._agent]
        info = {
            "action_mask": mask,
            "score": told["score"],
            "win_share": told["win_share"],
            "seat": self.seat,
            "illegal": illegal,
        }
        if self.render_mode == "human":
            self.render()
        return self.form_of_observation(observation, mask), info


def check_action(action: Any, num_actions: int) -> int:
    """An action as int; `ValueError` when it is not in the action space."""
    try:
        number = operator.index(action)
    except TypeError:
        number = -1
    if not 0 <= number < num_actions:
        raise ValueError(f"action {action!r} is not in the action space; use a whole number 0..{num_actions - 1}")
    return number
