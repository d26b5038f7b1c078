"""Whom the benchmark measures: a spec, a checkpoint, a plain function, a model of Stable-Baselines3, torch or RLlib.

Each becomes a `Player`, which makes a `Bot`. Functions and models get what `SeatVectorEnv` shows: observations (N, D)
int8 of zeros and ones, and masks (N, A) bool of the legal actions.
"""

from __future__ import annotations

import hashlib
import importlib
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.arena.matches import ArenaError
from ohhell_env.arena.results import contents
from ohhell_env.bots.base import Bot
from ohhell_env.bots.spec import call_factory, is_factory, make_bot
from ohhell_env.simulator import observed

Observations = NDArray[np.int8]  # (N, D)
Masks = NDArray[np.bool_]  # (N, A)
Choose = Callable[[Observations, Masks], Any]
Scores = Callable[[Observations, Masks], NDArray[np.floating[Any]]]


class FunctionBot(Bot):
    """A plain function behind the interface of the bots.

    Args:
        choose: observations (N, D) int8, masks (N, A) bool -> legal actions (N,) of whole numbers. Its answer to a row
            must not depend on the other rows or on earlier calls, or results differ from run to run.
        seed: not used; the function has whatever chance it has.
        plays_wide: whether it plays tables of the wide form, whose observations are larger, too.
        probabilities: the chance of each action, (N, A), where it is known: what it gives is then measured exactly
            in the track exploitability.
    """

    def __init__(
        self,
        choose: Choose,
        seed: int = 0,
        *,
        plays_wide: bool = False,
        probabilities: Scores | None = None,
    ) -> None:
        super().__init__(seed)
        self.function = choose
        self.plays_wide = plays_wide
        self.chances = probabilities

    def choose(self, views: NDArray[np.void], tables: NDArray[np.void], keys: NDArray[np.int64]) -> NDArray[np.int64]:
        given = self.function(*observed(views, tables))
        actions = np.asarray(given.detach().cpu().numpy() if hasattr(given, "detach") else given)
        if actions.shape != (len(views),) or actions.dtype.kind not in "iu":
            raise ArenaError(
                f"the player's function must return {len(views)} whole numbers, one for each row; it returned shape "
                f"{actions.shape}, dtype {actions.dtype}"
            )
        return np.array(actions, dtype=np.int64)

    def probabilities(self, views: NDArray[np.void], tables: NDArray[np.void]) -> NDArray[np.float64]:
        """How likely it is to choose each action in each view, (N, A).

        Raises:
            ValueError: where that is not known.
        """
        if self.chances is None:
            raise ValueError("the function's probabilities are not known; give FunctionBot its probabilities=")
        return np.asarray(self.chances(*observed(views, tables)), dtype=np.float64)


@dataclass(frozen=True)
class Greedy:
    """The best legal action by some scores of all actions; equal ones: the first.

    Attributes:
        scores: observations (N, D), masks (N, A) -> scores (N, A), values or logits.
    """

    scores: Scores

    def __call__(self, observations: Observations, masks: Masks) -> NDArray[np.int64]:
        found = np.asarray(self.scores(observations, masks))
        if found.shape != masks.shape:
            raise ArenaError(f"the model's output has shape {found.shape}; scores of all actions are {masks.shape}")
        chosen: NDArray[np.int64] = np.where(masks, found, -np.inf).argmax(axis=1)
        return chosen

    def probabilities(self, observations: Observations, masks: Masks) -> NDArray[np.float64]:
        """All chance on the best action: (N, A)."""
        return np.eye(masks.shape[1])[self(observations, masks)]


@dataclass(frozen=True)
class TorchScores:
    """The output of a torch module: (N, D) float32 -> (N, A) scores, or a tuple that begins with them."""

    module: Any

    def __call__(self, observations: Observations, masks: Masks) -> NDArray[np.floating[Any]]:
        torch = importlib.import_module("torch")
        device = next((parameter.device for parameter in self.module.parameters()), "cpu")
        with torch.no_grad():
            given = self.module(torch.as_tensor(observations, dtype=torch.float32, device=device))
        scores: NDArray[np.floating[Any]] = (given[0] if isinstance(given, tuple) else given).cpu().numpy()
        return scores


@dataclass(frozen=True)
class RllibScores:
    """Logits of an RLModule of RLlib that takes ``observations`` and ``action_mask``, as its masking module does."""

    module: Any

    def __call__(self, observations: Observations, masks: Masks) -> NDArray[np.floating[Any]]:
        torch = importlib.import_module("torch")
        seen = {"observations": torch.as_tensor(observations, dtype=torch.float32)}
        seen["action_mask"] = torch.as_tensor(masks, dtype=torch.float32)
        with torch.no_grad():
            given = self.module.forward_inference({"obs": seen})
        scores: NDArray[np.floating[Any]] = given["action_dist_inputs"].cpu().numpy()
        return scores


@dataclass(frozen=True)
class Sb3Scores:
    """Logits, or values, of a policy of Stable-Baselines3 or sb3-contrib."""

    policy: Any

    def __call__(self, observations: Observations, masks: Masks) -> NDArray[np.floating[Any]]:
        torch = importlib.import_module("torch")
        self.policy.set_training_mode(False)
        seen, _ = self.policy.obs_to_tensor(self._given(observations, masks))
        with torch.no_grad():
            if hasattr(self.policy, "q_net"):
                given = self.policy.q_net(seen)
            else:
                given = self.policy.get_distribution(seen).distribution.logits
        scores: NDArray[np.floating[Any]] = given.cpu().numpy()
        return scores

    def _given(self, observations: Observations, masks: Masks) -> Any:
        spaces = getattr(self.policy.observation_space, "spaces", None)
        return observations if spaces is None else {"observation": observations, "action_mask": masks.astype(np.int8)}


@dataclass(frozen=True)
class Player:
    """Somebody to measure.

    Attributes:
        name: what it is called in results.
        source: a spec, a path of a zip of Stable-Baselines3, a `Bot`, a function or a model.
        plays_wide: whether a function or model plays tables of the wide form too.
    """

    name: str
    source: Any
    plays_wide: bool = False

    def make(self, seed: int) -> Bot:
        """The bot.

        Raises:
            ArenaError: if there is no such player, or it cannot be loaded.
        """
        source: Any = self.source
        try:
            if isinstance(source, str) and source.endswith(".zip"):
                source = sb3_policy(Path(source))
            elif isinstance(source, str) and is_factory(source):
                source = call_factory(source, seed)
            elif isinstance(source, str):
                return make_bot(source, seed)
            return as_bot(source, seed, self.plays_wide)
        except ValueError as error:
            raise error if isinstance(error, ArenaError) else ArenaError(str(error)) from error
        except (ImportError, OSError) as error:
            raise ArenaError(f"player {self.name!r} cannot be loaded: {error}") from error

    def content(self) -> str:
        """SHA-256, shortened, of the file that its weights are in; "" where there is none."""
        if not isinstance(self.source, str):
            return ""
        if self.source.endswith(".zip"):
            return hashlib.sha256(Path(self.source).read_bytes()).hexdigest()[:16]
        return contents([self.source]).get(self.source, "")

    def refuse_processes(self) -> None:
        """Say so where it cannot be sent to other processes.

        Raises:
            ArenaError: naming what to do.
        """
        try:
            pickle.dumps(self)
        except Exception as error:
            raise ArenaError(
                f"player {self.name!r} cannot be sent to other processes ({error}); use workers=1, or a function of a "
                "module"
            ) from error


def as_player(given: Any, name: str | None = None, plays_wide: bool = False) -> Player:
    """The player that a spec, path, bot, function or model is.

    Raises:
        ArenaError: if it is none of these.
    """
    if isinstance(given, Player):
        return given
    if isinstance(given, str | Path):
        return Player(name or str(given), str(given), plays_wide)
    if name is None:
        name = getattr(given, "__qualname__", type(given).__name__)
    if not isinstance(given, Bot) and not callable(given) and not hasattr(given, "policy"):
        raise ArenaError(f"{given!r} is no player; use a spec, a Bot, a function, or a model of SB3, torch or RLlib")
    return Player(name, given, plays_wide)


def as_bot(source: Any, seed: int, plays_wide: bool = False) -> Bot:
    """A bot from a function or a model; a bot stays as it is."""
    if isinstance(source, Bot):
        return source
    torch = sys.modules.get("torch")
    if hasattr(source, "forward_inference"):
        chooser = Greedy(RllibScores(source))
    elif hasattr(source, "obs_to_tensor"):
        chooser = Greedy(Sb3Scores(source))
    elif hasattr(getattr(source, "policy", None), "obs_to_tensor"):
        chooser = Greedy(Sb3Scores(source.policy))
    elif torch is not None and isinstance(source, torch.nn.Module):
        source.eval()
        chooser = Greedy(TorchScores(source))
    elif callable(source):
        chances = getattr(source, "probabilities", None)
        return FunctionBot(source, seed, plays_wide=plays_wide, probabilities=chances)
    else:
        raise ArenaError(f"{source!r} is no player; use a Bot, a function, or a model of SB3, torch or RLlib")
    return FunctionBot(chooser, seed, plays_wide=plays_wide, probabilities=chooser.probabilities)


def sb3_policy(path: Path) -> Any:
    """The policy of a model that Stable-Baselines3 or sb3-contrib saved: PPO, A2C, MaskablePPO, DQN and their like.

    Load only files that you trust: such a zip holds pickled Python.

    Raises:
        ArenaError: if there is no such file, it is no such model, or the library is not installed.
    """
    if not path.is_file():
        raise ArenaError(f"there is no file {str(path)!r}")
    try:
        saved = importlib.import_module("stable_baselines3.common.save_util")
    except ImportError as error:
        raise ArenaError(f"{path} needs Stable-Baselines3: pip install 'ohhell-env[sb3]' ({error})") from error
    data, parameters, _ = saved.load_from_zip_file(path, device="cpu")
    if not data or "policy_class" not in data or "policy" not in (parameters or {}):
        raise ArenaError(f"{path} is not a model that Stable-Baselines3 saved")
    spaces = data["observation_space"], data["action_space"]
    policy = data["policy_class"](*spaces, lambda _: 0.0, **data.get("policy_kwargs", {}))
    policy.load_state_dict(parameters["policy"])
    return policy
