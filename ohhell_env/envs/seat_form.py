"""What `SeatEnv` and `SeatVectorEnv` have in common: the table, who sits where, the spaces, what is drawn."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from ohhell_env.envs.aec import OhHellEnv, refuse_unknown
from ohhell_env.envs.lineup import Lineup, Opponents
from ohhell_env.rules.rules import Rules

Observation = Any  # (D,) int8, or a dict of it and the mask; with a leading N in the vector form


class SeatForm:
    """One seat that learns, the others played by bots; the arguments are those of `SeatEnv`.

    Attributes:
        rules: the table's rules.
        lineup: who sits where.
        illegal_reward: what an illegal action is paid; None: it raises ValueError.
        dict_observation: whether the mask is in the observation too.
        render_mode: one of the metadata's, or None.
        num_actions: A, size of the action space.
    """

    metadata: dict[str, Any]
    _drawing: Any = None  # the painter or window, once something was drawn

    def set_up(
        self,
        rules: Rules | str | None,
        players: int | None,
        opponents: Opponents,
        pool: bool,
        opponents_seed: int,
        seat: int | str,
        reward: str,
        illegal_reward: float | None,
        dict_observation: bool,
        render_mode: str | None,
        unknown: dict[str, Any],
    ) -> tuple[OhHellEnv, spaces.Space[Any], spaces.Discrete]:
        """Check the arguments and set the attributes; returns the table, and a seat's observation and action space.

        Raises:
            ValueError: for a value that is not allowed, naming it.
            TypeError: for an argument that is unknown.
        """
        refuse_unknown(unknown)
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode={render_mode!r} is not known; use one of {self.metadata['render_modes']}")
        table = OhHellEnv(rules, players=players, reward=reward)
        self.rules = table.rules
        self.lineup = Lineup(self.rules.players, seat, opponents, pool, opponents_seed)
        self.illegal_reward = None if illegal_reward is None else float(illegal_reward)
        self.dict_observation = dict_observation
        self.render_mode = render_mode
        agent = table.possible_agents[0]
        whole: Any = table.observation_space(agent)
        actions: Any = table.action_space(agent)
        self.num_actions = int(actions.n)
        return table, whole if dict_observation else whole["observation"], actions

    def form_of_observation(self, observation: Any, mask: Any) -> Observation:
        """The observation as the space has it; the mask in it is a copy."""
        return {"observation": observation, "action_mask": mask.copy()} if self.dict_observation else observation

    def close_drawing(self) -> None:
        """Close the window, if one is open."""
        if self._drawing is not None and self.render_mode == "human":
            self._drawing.close()
        self._drawing = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_drawing": None}  # pictures are not kept
