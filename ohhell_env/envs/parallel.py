"""The parallel form, for libraries that want an action from every agent at each step; the others take a no-op."""

from __future__ import annotations

import operator
from typing import Any, Never

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv
from pettingzoo.utils.env_logger import EnvLogger

from ohhell_env.envs.aec import OhHellEnv, refuse_unknown
from ohhell_env.rules.rules import Rules
from ohhell_env.table.game import Game


class NoopEnv(ParallelEnv[str, Any, Any]):
    """`ohhell_env.ohhell_v0` as a `ParallelEnv`: one decision a step, and one action more.

    Actions are those of the AEC environment and, last, `noop`. The agent to act may take what its
    mask allows, everybody else only `noop`; so no agent's mask is ever empty, not even at the end. The mask is in the
    observation alone: TorchRL fails on a second one in infos. Each agent's rewards add up to its score.

    Attributes:
        noop: number of the no-op action.

    Args:
        rules, players, reward, render_mode: see `ohhell_env.ohhell_v0`.
        illegal_reward: an illegal action, of the agent to act or of another, changes nothing on the table, gives this
            reward to whoever took it and ends the match for everybody, with a warning. With None it raises ValueError
            instead, and the match goes on.
    """

    metadata = {**OhHellEnv.metadata, "is_parallelizable": True}

    def __init__(
        self,
        rules: Rules | str | None = None,
        *,
        players: int | None = None,
        render_mode: str | None = None,
        reward: str = "points",
        illegal_reward: float | None = -1.0,
        **unknown: Never,
    ) -> None:
        refuse_unknown(unknown)
        self.table = OhHellEnv(rules, players=players, render_mode=render_mode, reward=reward)
        self.rules = self.table.rules
        self.render_mode = render_mode
        self.illegal_reward = None if illegal_reward is None else float(illegal_reward)
        self.possible_agents = self.table.possible_agents[:]
        self.agents: list[str] = []
        first = self.possible_agents[0]
        self.noop = int(self.table.action_space(first).n)  # type: ignore[attr-defined]
        self.action_spaces = {agent: spaces.Discrete(self.noop + 1) for agent in self.possible_agents}
        self.observation_spaces = {
            agent: spaces.Dict(
                observation=self.table.observation_space(agent)["observation"],  # type: ignore[index]
                action_mask=spaces.Box(0, 1, (self.noop + 1,), np.int8),
            )
            for agent in self.possible_agents
        }
        self.state_space = self.table.state_space

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    @property
    def game(self) -> Game:
        """The table as it stands, read-only."""
        return self.table.game

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        self.table.reset(seed, options)
        self.agents = self.possible_agents[:]
        return self._seen(self.agents)

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """One action of each agent; an agent left out takes `noop`.

        Raises:
            ValueError: where ``illegal_reward`` is None, for an illegal action.
            TypeError: for an action that is not a whole number.
        """
        agents = self.agents
        if not agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return {}, {}, {}, {}, {}
        chosen = {agent: operator.index(actions.get(agent, self.noop)) for agent in agents}
        actor = self.table.agent_selection
        mask = self.table.observe(actor)["action_mask"]
        wrong = [
            agent
            for agent, action in chosen.items()
            if not (0 <= action < self.noop and mask[action] if agent == actor else action == self.noop)
        ]
        if wrong and self.illegal_reward is None:
            raise ValueError(self._illegal_text(wrong[0], chosen[wrong[0]]))
        if wrong:
            EnvLogger.warn_on_illegal_move()
            rewards = {agent: self.illegal_reward or 0.0 if agent in wrong else 0.0 for agent in agents}
        else:
            self.table.step(chosen[actor])
            rewards = dict(self.table.rewards)
        over = bool(wrong) or self.table.terminations[agents[0]]
        observations, infos = self._seen(agents)
        if over:
            self.agents = []
        return (
            observations,
            rewards,
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, bool(wrong)),
            infos,
        )

    def upload_decks(self, decks: Any) -> None:
        """Decks in place of the shuffle from the next deal on; see `ohhell_env.envs.aec.OhHellEnv.upload_decks`."""
        self.table.upload_decks(decks)

    def state(self) -> NDArray[np.int8]:
        return self.table.state()

    def render(self) -> Any:
        return self.table.render()

    def close(self) -> None:
        self.table.close()

    def get_action_meanings(self) -> list[str]:
        """Each action as text."""
        return [*self.table.get_action_meanings(), "do nothing"]

    def _seen(self, agents: list[str]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        observations, infos = {}, {}
        for agent in agents:
            seen = self.table.observe(agent)
            mask = np.zeros(self.noop + 1, dtype=np.int8)
            mask[: self.noop] = seen["action_mask"]
            mask[self.noop] = not seen["action_mask"].any()
            observations[agent] = {"observation": seen["observation"], "action_mask": mask}
            infos[agent] = {key: value for key, value in self.table.infos[agent].items() if key != "action_mask"}
        return observations, infos

    def _illegal_text(self, agent: str, action: int) -> str:
        if agent == self.table.agent_selection:
            allowed = ", ".join(str(one) for one in self.game.legal_actions)
            return f"action {action} of {agent} is not legal; it is to act and may take {allowed}"
        return f"action {action} of {agent} is not legal; it is not to act and may only take {self.noop}, which is noop"
