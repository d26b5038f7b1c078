"""Oh Hell! as a PettingZoo environment, with a batched simulator, bots and trained players.

Importing this package compiles nothing and loads neither torch nor pygame; names load their module when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import gymnasium

_HOMES = {
    "Batch": "simulator",
    "Deck": "rules.cards",
    "Game": "table.game",
    "Rules": "rules.rules",
    "SeatEnv": "envs.seat",
    "SeatVectorEnv": "envs.seat_vector",
    "Simulator": "simulator",
    "decode": "observation.decode",
    "describe": "rules.description",
    "observation_layout": "observation.standard",
    "observation_text": "observation.decode",
    "preset": "rules.presets",
    "table_text": "table.text",
    "unpack_bits": "observation.packed",
    "unpack_bits_torch": "observation.packed",
}
__all__ = [*_HOMES, "ohhell_v0"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "ohhell_v0":
        return import_module("ohhell_env.ohhell_v0")
    if name in _HOMES:
        return getattr(import_module(f"ohhell_env.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'ohhell_env' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


def _register() -> None:
    """Enter the environment in Gymnasium's registry and in PettingZoo's, which 1.26 and older do not have."""
    if "OhHell-v0" not in gymnasium.registry:
        gymnasium.register(
            "OhHell-v0",
            entry_point="ohhell_env.envs.seat:SeatEnv",
            vector_entry_point="ohhell_env.envs.seat_vector:SeatVectorEnv",
        )
    try:
        from pettingzoo.env_registry import registration
    except ImportError:
        return
    if "ohhell/ohhell_v0" not in registration.aec_registry:
        registration.register("aec", "ohhell/ohhell_v0", "ohhell_env.ohhell_v0:env")


_register()
