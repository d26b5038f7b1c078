"""A checkpoint says which tables it was trained for, and warns once where it plays at others."""

import json
import warnings
from pathlib import Path

import pytest

from ohhell_env.arena.evaluate import main as evaluate
from ohhell_env.bots import make_bot
from ohhell_env.bots.base import UnfamiliarTableWarning
from ohhell_env.bots.policy.bot import META, PolicyBot, load_policy
from ohhell_env.bots.policy.trained_for import TrainedFor
from ohhell_env.kernel.state import compile_rules
from ohhell_env.rules.cards import Deck
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
from training.learning.checkpoint import Counters, save_checkpoint, tables_of
from training.learning.config import Config
from training.learning.network import PolicyNetwork

TWENTY = "AC KC QC JC TC AD KD QD JD TD AH KH QH JH TH AS KS QS JS TS"


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        (Rules(), ""),
        (Rules(7, bids="open", hook=False), ""),
        (Rules(trump="none"), "trump that is not turned up"),
        (Rules(scoring="exact_with_penalty"), "another scoring"),
        (Rules(lowest_wins=True), "another scoring"),
        (Rules(deck=Deck.of(TWENTY)), "other cards"),
        (Rules(scoring="exact_with_penalty", trump="none"), "trump that is not turned up, another scoring"),
    ],
    ids=range(7),
)
def test_what_differs_from_the_usual_tables(rules: Rules, told: str) -> None:
    assert TrainedFor().differences(compile_rules((rules,))) == told


def test_what_differs_from_narrower_tables() -> None:
    narrow = TrainedFor(players=(3, 4), max_hand_size=5, bids=("open",), hook=(True,), deck=TWENTY)
    deck = Deck.of(TWENTY)
    assert narrow.differences(compile_rules((Rules(4, (5,), bids="open", deck=deck),))) == ""
    several = compile_rules((Rules(5, (2,), hook=False, deck=deck), Rules(3, (6,), bids="open", deck=deck)))
    assert narrow.differences(several) == "5 players, sealed bids, no hook, hands of 6"
    assert TrainedFor.from_json(json.loads(json.dumps(narrow.to_json()))) == narrow
    assert str(narrow) == "3 to 4 players, hands of 1 to 5, 20 cards, open bids, hook, trump turned, scoring 'exact'"
    with pytest.raises(ValueError, match="colour"):
        TrainedFor.from_json({"colour": 1})


@pytest.mark.parametrize("spec", ["mix512", "search+policy:mix512:1"])
def test_a_checkpoint_warns_once_off_its_tables_and_never_at_them(spec: str) -> None:
    at_home, abroad = Simulator(Rules(ramp=(2,)), 1, seed=1), Simulator(Rules(ramp=(2,), trump="none"), 1, seed=1)
    bot = make_bot(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bot.act(at_home)
    expected = "mix512 was trained for 3 to 7 players, .*; here it meets trump that is not"
    with pytest.warns(UnfamiliarTableWarning, match=expected) as told:
        bot.act(abroad)
        bot.act(abroad)
        bot.act(Simulator(Rules(ramp=(2,), trump="none"), 1, seed=2))
    assert len(told) == 1


def test_a_command_warns_once_whatever_its_workers(capfd: pytest.CaptureFixture[str]) -> None:
    options = ["--set", "trump=none", "--hands", "1", "--deals", "4", "--workers", "2"]
    with pytest.warns(UnfamiliarTableWarning, match="mix512 was trained for") as told:
        assert evaluate(["mix512", "--vs", "search+policy:mix512:1", *options]) == 0
    assert len({str(one.message) for one in told}) == 1
    assert "trained for" not in capfd.readouterr().err, "the workers leave it to the command"


def test_a_run_writes_its_tables_and_what_its_outputs_are(tmp_path: Path) -> None:
    config = Config(learner="dmc", width=64, depth=1, players=(3, 5), max_hand_size=4, sealed=1.0, hook=0.0)
    save_checkpoint(tmp_path / "one", PolicyNetwork(64, 1), config, Counters())
    bot = load_policy(tmp_path / "one")
    assert bot.trained_for == tables_of(config) == TrainedFor((3, 5), 4, ("sealed",), (False,))
    assert (bot.outputs, bot.knows_values, load_policy("mix512").outputs) == ("values", True, "logits")
    ppo = Config(learner="ppo", width=64, depth=1)
    save_checkpoint(tmp_path / "two", PolicyNetwork(64, 1), ppo, Counters())
    assert load_policy(tmp_path / "two").outputs == "logits" and tables_of(ppo) == TrainedFor()


def test_outputs_that_are_not_known_are_refused(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "one", PolicyNetwork(64, 1), Config(width=64, depth=1), Counters())
    meta = json.loads((tmp_path / "one" / META).read_text())
    (tmp_path / "one" / META).write_text(json.dumps({**meta, "outputs": "hats"}))
    with pytest.raises(ValueError, match="outputs are 'hats'; known are 'values', 'logits'"):
        load_policy(tmp_path / "one")
    with pytest.raises(ValueError, match="outputs='hats' is not known"):
        PolicyBot(PolicyNetwork(64, 1).frozen(), outputs="hats")
