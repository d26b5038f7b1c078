"""Players by name, and the random player."""

import sys
from types import ModuleType

import numpy as np
import pytest

from ohhell_env.arena.results import contents, weights_hash
from ohhell_env.bots import BOTS, Bot, make_bot
from ohhell_env.bots.policy.bot import load_policy
from ohhell_env.bots.random import RandomBot
from ohhell_env.bots.spec import checkpoint_of
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator


def test_every_name_makes_a_bot_with_the_seed_given() -> None:
    for name in BOTS:
        assert isinstance(make_bot(name, seed=7), Bot)
        assert make_bot(name, seed=7).seed == 7


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'deep_thought' is not known") as error:
        make_bot("deep_thought")
    assert all(name in str(error.value) for name in BOTS)


def test_a_parameter_where_none_is_taken_is_refused() -> None:
    with pytest.raises(ValueError, match="takes no parameter"):
        make_bot("random:3")


def test_a_factory_of_your_own_is_called_with_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = ModuleType("my_players")
    monkeypatch.setitem(sys.modules, "my_players", mine)
    monkeypatch.setattr(mine, "careful", lambda seed: RandomBot(seed), raising=False)
    monkeypatch.setattr(mine, "broken", lambda seed: "no bot", raising=False)
    assert make_bot("my_players:careful", seed=11).seed == 11
    with pytest.raises(ValueError, match="returned str"):
        make_bot("my_players:broken")
    with pytest.raises(ValueError, match="no function 'absent'"):
        make_bot("my_players:absent")
    with pytest.raises(ValueError, match="no module 'no_such_players'"):
        make_bot("no_such_players:careful")


def test_the_random_player_uses_every_legal_option_alike() -> None:
    simulator = Simulator(Rules(ramp=(5,), hook=False), 12_000, seed=1, observe=False)
    bids = make_bot("random", seed=3).act(simulator) - 52
    counts = np.bincount(bids, minlength=6)
    assert counts.sum() == 12_000
    assert (abs(counts - 2_000) < 5 * np.sqrt(2_000 * 5 / 6)).all()


def test_a_shipped_checkpoint_goes_by_its_name_with_and_without_its_folder() -> None:
    by_name, by_folder = make_bot("mix512"), make_bot("checkpoints/mix512")
    simulator = Simulator(num_games=5, seed=1)
    assert by_name.act(simulator).tolist() == by_folder.act(simulator).tolist()
    folder = checkpoint_of("mix512")
    assert folder is not None
    for spec in ("checkpoints/mix512", "search+policy:mix512:3", str(folder)):
        assert checkpoint_of(spec) == folder
    assert contents(["mix512", "checkpoints/mix512", "random", "search:5"]) == dict.fromkeys(
        ("mix512", "checkpoints/mix512"), weights_hash(folder)
    )
    for spec in ("random", "heuristic", "search:9", "my_players:careful", "nobody"):
        assert checkpoint_of(spec) is None


@pytest.mark.parametrize("spec", ["checkpoints/none", "search+policy:none", "search+policy:none:3"])
def test_a_checkpoint_that_is_not_there_is_a_value_error_everywhere(spec: str) -> None:
    for ask in (make_bot, checkpoint_of, lambda spec: contents([spec])):
        with pytest.raises(ValueError, match=r"there is no checkpoint '.*none': shipped are .*mix512"):
            ask(spec)
    with pytest.raises(ValueError, match="there is no checkpoint 'none'"):
        load_policy("none")
