"""TorchRL's environment over the AEC environment."""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.wrappers import BaseWrapper

from ohhell_env.adapters import missing_extra
from ohhell_env.ohhell_v0 import raw_env
from ohhell_env.rules.rules import Rules

try:
    from torchrl.envs.libs.pettingzoo import PettingZooWrapper
    from torchrl.envs.utils import MarlGroupMapType
except ImportError as error:
    raise missing_extra(error, "torchrl") from error


class OneMask(BaseWrapper):  # type: ignore[type-arg]
    """TorchRL takes the mask from the observation, and fails on a second one in other infos."""

    @property
    def infos(self) -> dict[str, dict[str, Any]]:  # type: ignore[override]
        return {
            agent: {key: value for key, value in info.items() if key != "action_mask"}
            for agent, info in self.env.infos.items()
        }


def torchrl_env(rules: Rules | str | None = None, **arguments: Any) -> PettingZooWrapper:
    """All seats in one group, "agents", whose row "mask" marks as the one to act.

    Every row shows every seat's own observation and reward; ``("agents", "action_mask")`` is right for the one to act
    and all True for the others. An illegal action raises ValueError.

    Args:
        rules: the table's `Rules` or the name of a preset.
        arguments: others of `ohhell_env.ohhell_v0.raw_env`.
    """
    table = OneMask(raw_env(rules, **arguments))
    return PettingZooWrapper(env=table, use_mask=True, group_map=MarlGroupMapType.ALL_IN_ONE_GROUP)
