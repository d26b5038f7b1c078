"""Training at any list of tables: which hands are dealt, what they bring, their unit, runs that resume, who plays."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file

import training.train
from ohhell_env.bots.policy.bot import PolicyBot, load_policy
from ohhell_env.bots.policy.network import EVERY_TABLE
from ohhell_env.kernel.state import WIDE_FORM
from ohhell_env.rules.presets import PRESETS, player_counts, preset
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.sample import random_rules, split_of
from ohhell_env.simulator import Simulator
from training.learning.checkpoint import STATE
from training.learning.config import Config
from training.learning.learners import learner_of
from training.learning.network import PolicyNetwork, TrainingNetwork
from training.learning.tables import (
    SPREADS,
    Entry,
    heuristic_returns,
    measured_spreads,
    mixture_of,
    read_entries,
    single_hands,
    table_spread,
    write_returns,
)
from training.learning.validation import one_against_rest, watched_tables
from training.train import first_network, train

TINY = {
    "width": 64, "depth": 1, "hands": 64, "minibatch_size": 256, "eval_minutes": 0.0, "save_minutes": 0.0,
    "precision": "fp32", "max_hand_size": 3,
}  # fmt: skip
MANY = ("oh_hell", "nomination_whist", "pocha", "seven_down", "penguin_whist", "oh_sh", "mormon_bridge", "crazy_whist")


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def tiny(folder="unused", **options):
    return Config(folder=Path(folder), **{**TINY, "rules": MANY, "decisions": 2000, **options})


def test_each_hand_of_a_ramp_is_a_table_as_often_as_it_comes_and_larger_ones_more_often():
    hands = single_hands(preset("crazy_whist"), 0, 1.0)
    rules, shares = mixture_of([Entry("crazy_whist", (), (), 1.0)])
    assert len(hands) == 32 and len(rules) == 8 and sum(shares) == pytest.approx(1)
    eight = {one.ramp: share for one, share in zip(rules, shares, strict=True)}
    assert eight[("8 no trump",)] / eight[(4,)] == pytest.approx(2 / 1.5)
    rotating = Rules(ramp=(2, 3, 4), trump=("diamonds", "none"), bids="open")
    assert [one.trump for one, _ in single_hands(rotating, 0, 1.0)] == ["diamonds", "none", "diamonds"]
    assert [one.ramp for one, _ in single_hands(rotating, 3, 1.0)] == [(2,), (3,)]
    with pytest.raises(ValueError, match="no hand of ramp"):
        single_hands(rotating, 1, 1.0)


def test_a_file_lists_tables_with_players_changes_and_weights(tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps(Rules(players=3, ramp=(2,), scoring="blob").to_json()))
    (tmp_path / "tables.toml").write_text(
        '[[table]]\nrules = "blob"\nplayers = [3, 5, 5]\nset = ["hook=no"]\nweight = 3\n'
        '[[table]]\nrules = "mine.json"\n'
    )
    config = tiny(rules=(), tables=str(tmp_path / "tables.toml"), players=(4,))
    rules, shares = config.mixture()
    assert sum(shares) == pytest.approx(1)
    mine = [share for one, share in zip(rules, shares, strict=True) if one.players == 3 and one.hook]
    assert mine == [pytest.approx(1 / 4)], "a file has its own number of players"
    assert sum(s for one, s in zip(rules, shares, strict=True) if one.players == 5) == pytest.approx(3 / 4 * 2 / 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "holds x; it must hold tables alone"),
        ("[[table]]\ncolour = 1", "table 1 has colour; a table has rules, players, set, weight, random"),
        ('[[table]]\nrandom = 5\nrules = "blob"', "random=5 must be a number of tables, with nothing else"),
        ("[[table]]\nrandom = 0", "random=0 must be a number of tables"),
        ("[[table]]\nweight = 0", "weight=0 is not allowed"),
        ('[[table]]\nset = "hook=no"', "must be a list"),
        ("[[table", "is no TOML file"),
    ],
)
def test_a_file_of_tables_that_is_wrong_is_refused_with_what_is(text, message, tmp_path):
    (tmp_path / "tables.toml").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_entries(tmp_path / "tables.toml")
    with pytest.raises(ValueError, match="there is no file of tables"):
        read_entries(tmp_path / "nowhere.toml")


def test_random_tables_are_those_that_may_be_trained_on_a_hand_of_each(tmp_path):
    (tmp_path / "tables.toml").write_text('[[table]]\nrules = "oh_hell"\n[[table]]\nrandom = 30\nweight = 3\n')
    config = tiny(rules=(), tables=str(tmp_path / "tables.toml"), players=(4,), max_hand_size=0)
    rules, shares = config.mixture()
    at_random = [share for share in shares if share == pytest.approx(3 / 4 / 30)]
    assert 28 <= len(at_random) <= 30 and sum(shares) == pytest.approx(1)
    assert {one.players for one in rules} > {4} and all(one.num_hands == 1 or one.ramp == "drawn" for one in rules)
    assert [one.to_json() for one in config.mixture().rules] == [one.to_json() for one in rules]
    assert len(watched_tables(config)) == 2
    assert not {split_of(random_rules(seed)) for seed in range(30)} - {"train"}


def test_rules_are_dealt_at_the_players_asked_for_that_they_allow():
    config = tiny(rules=("oh_hell", "oh_sh"), players=(2, 4, 10), max_hand_size=0)
    found = {(one.deck.name, one.players) for one in config.mixture().rules}
    assert {players for deck, players in found if deck == "standard 52"} == {2, 4, 10}
    assert {players for deck, players in found if deck != "standard 52"} <= set(player_counts("oh_sh"))
    assert config.sections == EVERY_TABLE and Config.from_json(json.loads(json.dumps(config.to_json()))) == config


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": ("whist",)}, "rules 'whist' are not known"),
        ({"rules": (), "set": ("hook=no",)}, "give those too"),
        ({"deck": "AC KC QC AD"}, "deck and sections are not for runs with rules"),
        ({"rules": ("oh_hell",), "set": ("hook=maybe",)}, "use yes or no"),
    ],
)
def test_tables_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        tiny(**options)


def played(rules, seed=0, hands=20):
    simulator = Simulator(rules, hands, seed=seed, observe=False, form=WIDE_FORM)
    while (live := np.flatnonzero(simulator.games["phase"] != 2)).size:
        from ohhell_env.bots.random import RandomBot
        from training.learning.tables import take_actions

        take_actions(simulator.games, simulator.tables, live, RandomBot(seed).act(simulator, live))
    returns = np.zeros((hands, 10))
    write_returns(simulator.games, simulator.tables, returns)
    return simulator, returns


def test_a_hand_brings_its_points_less_the_others_mean_fewer_are_better_where_the_lowest_wins_and_all_share():
    for rules, sign in ((Rules(ramp=(3,)), 1), (Rules(ramp=(3,), scoring="negative"), -1)):
        simulator, returns = played(rules)
        for i in range(20):
            points = np.array(simulator[i].points, dtype=float)
            assert returns[i, :4] == pytest.approx(sign * (points - (points.sum() - points) / 3))
        assert rules.lowest == (sign < 0) and np.abs(returns).max() > 1
    simulator, returns = played(preset("cooperative"), hands=200)
    made = np.array([(game["bids"][:4] == game["taken"][:4]).all() for game in simulator.games])
    assert 0 < made.sum() < 200
    assert (returns[made, :4] > 0).all() and len(set(returns[made, :4].ravel())) == 1 and (returns[~made] == 0).all()


def test_a_table_where_heuristic_players_never_make_a_bid_has_the_spread_of_its_stake():
    rules = dataclasses.replace(preset("oh_sh", players=2), ramp=(25,))
    assert heuristic_returns(rules, 256).std() < 1
    assert 20 < table_spread(rules) < 30


def test_where_they_make_their_bids_the_spread_is_that_of_their_returns():
    assert table_spread(Rules(ramp=(5,))) == heuristic_returns(Rules(ramp=(5,)), 256).std()


def test_a_tables_unit_is_its_spread_measured_once_and_kept(tmp_path, monkeypatch):
    def cents(bid, taken, hand_size, players):
        return (10 + bid) / 100 if bid == taken else 0

    rules = [Rules(ramp=(3,)), Rules(ramp=(3,), scoring=cents), preset("cooperative")]
    first = measured_spreads(rules, tmp_path)
    assert first[0] == pytest.approx(heuristic_returns(rules[0], 256).std(), abs=1e-5)
    assert first[0] == pytest.approx(100 * first[1], rel=0.02) and (first > 0).all()
    monkeypatch.setattr("training.learning.tables.heuristic_returns", lambda *_: pytest.fail("it was measured"))
    assert np.array_equal(measured_spreads(rules, tmp_path), first)
    with pytest.raises(ValueError, match="does not hold the spreads of this run's tables"):
        measured_spreads([Rules(ramp=(4,))], tmp_path)
    (tmp_path / SPREADS).write_text("[1]")
    with pytest.raises(ValueError, match="does not hold the spreads"):
        measured_spreads(rules, tmp_path)


@pytest.mark.parametrize("learner", ["ppo", "dmc"])
def test_a_run_on_many_tables_learns_saves_and_resumes_bit_for_bit(learner, tmp_path, monkeypatch):
    class Always:
        asked = True

    config = tiny(tmp_path / "whole", learner=learner, opponents=("heuristic",), past=0.3, past_from=0.2)
    train(config, Console(quiet=True))
    monkeypatch.setattr(training.train, "StopAfterIteration", Always)
    rows = len((tmp_path / "whole/progress.csv").read_text().splitlines()) - 1
    assert rows > 2
    for _ in range(rows):
        train(dataclasses.replace(config, folder=tmp_path / "stopped"), Console(quiet=True))
    whole, stopped = (load_file(tmp_path / name / STATE) for name in ("whole", "stopped"))
    assert whole.keys() == stopped.keys() and all(torch.equal(whole[name], stopped[name]) for name in whole)
    bot = load_policy(tmp_path / "whole/checkpoint")
    assert bot.plays_wide and bot.trained_for is None
    assert "oh_hell, nomination_whist" in (tmp_path / "whole/checkpoint/README.md").read_text()


@pytest.mark.parametrize("name", PRESETS)
def test_a_network_for_every_table_plays_each_preset_to_its_end(name):
    counts = player_counts(name)
    rules = [preset(name, players=players) for players in sorted({counts[0], counts[-1]})]
    torch.manual_seed(1)
    bot = PolicyBot(PolicyNetwork(64, 1, EVERY_TABLE).frozen())
    simulator = Simulator(rules, 4, seed=1, observe=False)
    batch = simulator.current()
    for _ in range(120):
        actions = bot.act(simulator)
        assert batch.action_mask[np.arange(4), actions].all()
        batch = simulator.step(actions)


def test_what_is_collected_is_a_choice_among_the_networks_outputs():
    config = tiny(rules=("penguin_whist", "nomination_whist", "oh_sh"), max_hand_size=0, hands=100)
    learner = learner_of(config)
    torch.manual_seed(2)
    network = TrainingNetwork(learner.network())
    experience = learner.collector().collect(network, 1, 0.0)
    rows = np.arange(len(experience.actions))
    assert experience.mask[rows, experience.actions].all() and (experience.mask.sum(axis=1) > 1).all()
    used = np.flatnonzero(np.bincount(experience.actions, minlength=127))
    assert (used >= 101).any() and ((used >= 96) & (used < 100)).any() and (used < 64).any(), "slots, trumps, cards"
    outputs = network(torch.from_numpy(experience.inputs)).detach()
    log_probs = torch.log_softmax(outputs[:, :-1].masked_fill(~torch.from_numpy(experience.mask), -1e9), 1)
    assert log_probs[rows, experience.actions].numpy() == pytest.approx(experience.log_probs, abs=1e-5)


def test_a_run_for_every_table_starts_from_mix512_and_plays_alike_at_standard_tables(tmp_path):
    config = tiny(tmp_path, init_from="mix512", width=512, depth=3, rules=("oh_hell",))
    network, lineage = first_network(config)
    old, new = load_policy("mix512"), PolicyBot(network.frozen())
    simulator = Simulator([Rules(), Rules(players=6, ramp=(5,), bids="open")], 60, seed=3, observe=False)
    for _ in range(4):
        simulator.play_random(6)
        views, tables, _ = new.views(simulator)
        mask = simulator.current().action_mask == 1
        bots = PolicyBot(old.network, 0, 0.1), PolicyBot(network.frozen(), 0, 1.5)
        chances = [bot.probabilities(views, tables) for bot in bots]
        assert chances[0][mask] == pytest.approx(chances[1][mask], abs=1e-4)
        assert np.array_equal(old.act(simulator), new.act(simulator))
    assert lineage and lineage[-1]["decisions"] == old.meta["decisions"]


def test_a_network_for_the_standard_form_is_refused_other_tables():
    with pytest.raises(ValueError, match="a network for the standard form cannot play"):
        learner_of(Config()).collector(tables=([preset("pocha")], [1.0]))


def test_a_run_is_watched_at_a_hand_of_each_of_its_rules():
    found = watched_tables(tiny(max_hand_size=0))
    assert len(found) == len(MANY) and "oh_hell 5p 6c" in found
    bot = PolicyBot(PolicyNetwork(64, 1, EVERY_TABLE).frozen())
    assert one_against_rest(bot, bot, found["oh_hell 5p 6c"], 6) == pytest.approx(0, abs=1e-9)
    assert set(watched_tables(Config())) >= {"4p 5c", "7p 5c"}


def test_the_player_for_every_table_learns_the_standard_game_in_a_third_all_presets_and_random_tables():
    def others(rules):
        return {key: value for key, value in rules.to_json().items() if key not in ("players", "ramp", "hook", "bids")}

    mixture = Config(tables="training/every_table.toml").mixture()
    standard = [
        (one, share)
        for one, share in zip(mixture.rules, mixture.shares, strict=True)
        if 3 <= one.players <= 7 and others(one) == others(Rules())
    ]
    assert sum(share for _, share in standard) > 1 / 3
    assert len({(one.players, one.bids, one.hook) for one, _ in standard}) == 20
    entries = read_entries(Path("training/every_table.toml"))
    assert {entry.rules for entry in entries} == set(PRESETS) and any(entry.random for entry in entries)
    for name in PRESETS:
        counts = player_counts(name)
        listed = {players for entry in entries if entry.rules == name for players in entry.players}
        assert {min(counts), 4, max(counts)} <= listed <= set(counts)
