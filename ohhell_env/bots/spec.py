"""Players by name: the spec strings that every command and function accepts."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ohhell_env.bots.base import Bot
from ohhell_env.bots.heuristic import HeuristicBot
from ohhell_env.bots.policy.bot import OBJECTIVES, Objective, PolicyBot, find_checkpoint, shipped_checkpoints
from ohhell_env.bots.policy.search import PolicySearchBot
from ohhell_env.bots.random import RandomBot
from ohhell_env.bots.search import SearchBot

SEARCH_WITH = "search+policy"


def _random(parameter: str, seed: int) -> Bot:
    _refuse_parameter("random", parameter)
    return RandomBot(seed)


def _heuristic(parameter: str, seed: int) -> Bot:
    _refuse_parameter("heuristic", parameter)
    return HeuristicBot(seed)


def _search(parameter: str, seed: int) -> Bot:
    if not parameter:
        return SearchBot(seed)
    if not parameter.isdecimal() or int(parameter) < 1:
        raise ValueError(
            f"player 'search:{parameter}' is not known; use search:N with N rollouts per decision, 1 or more"
        )
    return SearchBot(seed, rollouts=int(parameter))


BOTS: Mapping[str, Callable[[str, int], Bot]] = MappingProxyType(
    {"random": _random, "heuristic": _heuristic, "search": _search}
)
"""The bots that have a name: name -> function (text after the colon, seed) -> Bot."""

_FORMS = (
    "random",
    "heuristic",
    "search or search:N (N rollouts per decision; search alone is search:400)",
    "module:factory (called as factory(seed=seed), returns a Bot)",
    "checkpoints/NAME or NAME of a shipped checkpoint, or the path of a checkpoint's folder; NAME:points plays matches "
    "for points though it was trained to win them",
    "search+policy:NAME or search+policy:NAME:K (K determinizations per decision; NAME a shipped checkpoint or a path)",
    "search+policy:NAME:K:match (searches for the chance of winning the match)",
)


def make_bot(spec: str, seed: int = 0) -> Bot:
    """The player that a spec string names.

    Args:
        spec: ``random``, ``heuristic``, ``search``, ``search:N``, ``module:factory``, ``checkpoints/NAME`` or
            ``NAME`` of a shipped checkpoint, the path of a checkpoint's folder, or ``search+policy:NAME:K``.
        seed: seed of the bot's own random stream, 0..2**63-1.

    Raises:
        ValueError: if there is no such player (the message lists those there are), or a parameter is not allowed.
    """
    name, _, parameter = spec.partition(":")
    if name in BOTS:
        return BOTS[name](parameter, seed)
    if name == SEARCH_WITH:
        return _search_with_policy(parameter, seed)
    if checkpoint_of(spec) is not None:
        checkpoint, objective = split_objective(spec)
        return PolicyBot.load(checkpoint, seed, objective=objective)
    if name and parameter:
        return _from_factory(spec, seed)
    raise ValueError(f"player {spec!r} is not known; use one of:\n  " + "\n  ".join(_FORMS))


def checkpoint_of(spec: str) -> Path | None:
    """The folder of the checkpoint that a player uses, by its spec; None for one that uses none.

    Raises:
        ValueError: if the spec names a checkpoint that is not there.
    """
    name, _, parameter = spec.partition(":")
    if name in BOTS:
        return None
    if name == SEARCH_WITH:
        return find_checkpoint(split_worlds(split_objective(parameter)[0])[0])
    spec = split_objective(spec)[0]
    if spec.startswith("checkpoints/") or spec in shipped_checkpoints() or Path(spec).is_dir():
        return find_checkpoint(spec)
    return None


def is_factory(spec: str) -> bool:
    """Whether a spec is a ``module:factory``."""
    name, _, parameter = spec.partition(":")
    return bool(name and parameter) and name not in BOTS and checkpoint_of(spec) is None


def _refuse_parameter(name: str, parameter: str) -> None:
    if parameter:
        raise ValueError(f"player '{name}:{parameter}' is not known: {name!r} takes no parameter")


def _search_with_policy(parameter: str, seed: int) -> Bot:
    spec = f"{SEARCH_WITH}:{parameter}"
    rest, objective = split_objective(parameter)
    name, count = split_worlds(rest)
    if not name or (count is not None and not (count.isdecimal() and int(count) >= 1)):
        raise ValueError(
            f"player {spec!r} is not known; use {SEARCH_WITH}:NAME:K with K determinizations per decision, 1 or more"
        )
    options = {} if count is None else {"worlds": int(count)}
    return PolicySearchBot.load(name, seed, objective=objective or "points", **options)


def split_worlds(parameter: str) -> tuple[str, str | None]:
    """``NAME:K`` as (NAME, K), and ``NAME`` as (NAME, None); the path of a folder is a NAME, whatever it holds."""
    name, colon, count = parameter.rpartition(":")
    return (name, count) if colon and not Path(parameter).is_dir() else (parameter, None)


def split_objective(spec: str) -> tuple[str, Objective | None]:
    """``NAME:match`` as (NAME, "match"), ``NAME:points`` likewise, and ``NAME`` as (NAME, None)."""
    name, _, last = spec.rpartition(":")
    for objective in OBJECTIVES:
        if last == objective and name and not Path(spec).is_dir():
            return name, objective
    return spec, None


def _from_factory(spec: str, seed: int) -> Bot:
    bot = call_factory(spec, seed)
    if not isinstance(bot, Bot):
        raise ValueError(f"player {spec!r}: the factory returned {type(bot).__name__}, not an ohhell_env.bots.Bot")
    return bot


def call_factory(spec: str, seed: int) -> Any:
    """What the factory of ``module:factory`` returns, called as ``factory(seed=seed)``.

    Raises:
        ValueError: if there is no such module or function.
    """
    module, _, factory = spec.partition(":")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module is there, something that it imports is not
        raise ValueError(
            f"player {spec!r}: there is no module {error.name!r}; use one of:\n  " + "\n  ".join(_FORMS)
        ) from None
    make = getattr(found, factory, None)
    if not callable(make):
        raise ValueError(f"player {spec!r}: module {module!r} has no function {factory!r}")
    return make(seed=seed)
