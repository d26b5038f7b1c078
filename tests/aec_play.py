"""Ways to play an AEC environment that several test files share."""

import hashlib
from typing import Any

import numpy as np

from ohhell_env import Deck, Rules, ohhell_v0

# Every player count by the default rules, then each option of a table away from its default.
TABLES: dict[str, Rules] = {
    **{f"{players} players": Rules(players=players) for players in range(3, 8)},
    "bids open": Rules(bids="open", ramp=(5, 4, 3)),
    "no hook": Rules(hook=False, ramp="up-down", players=6),
    "no trump": Rules(trump="none", ramp=(7, 1, 7)),
    "one hand": Rules(ramp=(5,)),
    "one hand of one card": Rules(ramp=(1,), players=7),
    "the whole deck": Rules(ramp=(13,), bids="open", hook=False),
    "short deck": Rules(players=3, deck=Deck.of("AC KC QC JC AD KD QD JD AH KH QH JH")),
    "points a trick": Rules(scoring="basic", players=5, ramp="up"),
    "another first dealer": Rules(first_dealer=2, ramp=(2, 2, 2, 2)),
}
SHORT: dict[str, Rules] = {name: rules for name, rules in TABLES.items() if rules.num_hands < 10}

REWARDS = ["points", "zero_sum", "win"]


def started(rules: Rules | None = None, seed: int = 7, **arguments: Any) -> Any:
    env = ohhell_v0.env(rules, **arguments)
    env.reset(seed=seed)
    return env


def legal(env: Any) -> list[int]:
    return np.flatnonzero(env.infos[env.agent_selection]["action_mask"]).tolist()


def illegal(env: Any) -> list[int]:
    return np.flatnonzero(env.infos[env.agent_selection]["action_mask"] == 0).tolist()


def over(env: Any) -> bool:
    return not env.agents or env.terminations[env.agent_selection]


def play(env: Any, rng: np.random.Generator | int, decisions: int | None = None) -> list[int]:
    """Random legal moves, so many or until the match is over; the moves made."""
    rng = np.random.default_rng(rng)
    moves: list[int] = []
    while not over(env) and len(moves) != decisions:
        moves.append(int(rng.choice(legal(env))))
        env.step(moves[-1])
    return moves


def drain(env: Any) -> list[tuple[str, float]]:
    """The dead steps; who took them, and the reward that each was shown."""
    shown = []
    while env.agents:
        shown.append((env.agent_selection, env.last()[1]))
        env.step(None)
    return shown


def repeat(env: Any, moves: list[int]) -> None:
    for move in moves:
        env.step(move)


def record_of(games: np.ndarray) -> dict[str, list[Any]]:
    """A game's fields; its bytes would not do, since copying an array leaves the gaps between fields as they were."""
    return {name: games[name].tolist() for name in games.dtype.names}


def plain(info: dict[str, Any]) -> dict[str, Any]:
    return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in info.items()}


def everything(env: Any) -> dict[str, Any]:
    """All that can be seen of an environment, and the record behind it."""
    table = env.unwrapped
    return {
        "game": record_of(table.games),
        "past": len(table.game.past_hands),
        "agents": list(env.agents),
        "selection": env.agent_selection,
        "rewards": dict(env.rewards),
        "cumulative": dict(env._cumulative_rewards),
        "terminations": dict(env.terminations),
        "truncations": dict(env.truncations),
        "infos": {agent: plain(info) for agent, info in env.infos.items()},
        "observations": {agent: plain(env.observe(agent)) for agent in env.possible_agents},
        "state": env.state().tolist(),
    }


def fingerprint(seed: int, episodes: int) -> str:
    """A hash of all that is seen in some matches of several tables; only the first of each table is seeded."""
    seen = hashlib.sha256()
    for name, rules in SHORT.items():
        env = ohhell_v0.env(rules)
        for episode in range(episodes):
            env.reset(seed=seed if episode == 0 else None)
            rng = np.random.default_rng(episode)
            while not over(env):
                observation, reward, *_ = env.last()
                seen.update(observation["observation"].tobytes() + observation["action_mask"].tobytes())
                seen.update(f"{name} {env.agent_selection} {reward}".encode())
                play(env, rng, 1)
            seen.update(repr(drain(env)).encode())
    return seen.hexdigest()
