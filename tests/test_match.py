"""Playing for the match: its equity, hands of matches to train on, players who choose by the chance of winning."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from ohhell_env.bots import make_bot
from ohhell_env.bots.policy.bot import PolicyBot, load_policy, without_match
from ohhell_env.bots.policy.equity import Equity, features, match_equity, shapes, stakes_of
from ohhell_env.bots.policy.every_table_layout import BITS, NUM_INPUTS, NUM_OUTPUTS, OUT_BID
from ohhell_env.bots.policy.network import EVERY_TABLE, FrozenNetwork
from ohhell_env.bots.policy.search import PolicySearchBot, in_points
from ohhell_env.bots.spec import checkpoint_of, split_objective
from ohhell_env.kernel.state import HAND_OVER, compile_rules
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
from training.learning.collector import Collector
from training.learning.config import Config
from training.learning.match import MATCHES, equity_changes, standings_of
from training.train import train

TABLES = (Rules(ramp=(5, 3, 2)), Rules(players=3, ramp=(4, 1)), Rules(players=3, ramp=(4, 1), scoring="negative"))


def equity_of(totals, hands, dealer=0, number=0, rules=TABLES):
    """One row: totals of the seats, hands that are over, who deals next."""
    tables = compile_rules(rules)
    row = np.zeros((1, 7))
    row[0, : len(totals)] = totals
    one = (np.array([value]) for value in (number, hands, dealer))
    return match_equity()(tables, *one, row)[0]


# --- Equity --------------------------------------------------------------------------------------------------------


def test_after_the_last_hand_equity_is_the_share_of_the_win():
    assert equity_of([30, 41, 41, 10], hands=3).tolist() == [0, 0.5, 0.5, 0, 0, 0, 0]
    assert equity_of([30, 41, 12], hands=2, number=1).tolist() == [0, 1, 0, 0, 0, 0, 0]
    assert equity_of([30, 41, 12], hands=2, number=2).tolist() == [0, 0, 1, 0, 0, 0, 0], "the lowest total wins"


@pytest.mark.parametrize("hands", [0, 1, 2])
def test_equity_adds_up_to_one_and_rises_with_ones_own_total(hands):
    found = np.array([equity_of([20 + more, 25, 18, 30], hands) for more in range(-15, 31, 5)])
    assert found.sum(axis=1) == pytest.approx(1) and (found[:, 4:] == 0).all()
    assert (np.diff(found[:, 0]) > -0.02).all() and found[-1, 0] > found[0, 0] + 0.3


def test_equity_knows_no_seat_by_its_number():
    totals = [20.0, 35.0, 31.0, 8.0]
    for turn in range(1, 4):
        turned = equity_of(np.roll(totals, turn), 1, dealer=turn)
        assert np.roll(turned[:4], -turn) == pytest.approx(equity_of(totals, 1)[:4], abs=1e-6)


def test_behind_by_more_than_a_hand_can_bring_is_nearly_lost_and_level_is_open():
    assert equity_of([0, 40, 0, 0], hands=2)[0] < 0.03 < 0.15 < equity_of([30, 30, 30, 30], hands=2)[0]
    lowest = equity_of([0, 40, 0], hands=1, number=2)
    assert lowest[1] < 0.03 < 0.2 < min(lowest[0], lowest[2]), "the lowest total wins"


def test_stakes_are_what_making_a_bid_brings_beyond_missing_it():
    """Base rules, 4 players: with 3 cards bids up to 2 are usual, with 5 up to 3, and making b brings 10 + b."""
    stakes = stakes_of(compile_rules(TABLES))
    assert stakes[0, :4].tolist() == pytest.approx([11.5, 11, 11, 0]) and stakes[1, 1] == pytest.approx(10.5)


def test_weights_of_another_shape_are_refused():
    tensors = {name: np.zeros(shape, np.float32) for name, shape in shapes().items()}
    assert Equity(tensors).logits(np.zeros((1, 3, 15), np.float32)).shape == (1, 3)
    with pytest.raises(ValueError, match="the weights of the match equity are"):
        Equity({**tensors, "0.weight": np.zeros((3, 3), np.float32)})


def test_features_of_absent_seats_do_not_matter_to_the_others():
    tables = compile_rules(TABLES)
    totals = np.array([[10.0, 12, 8, 0, 0, 0, 0]])
    one = (np.array([value]) for value in (1, 1, 2))
    numbers, hands, dealers = one
    few = features(tables, stakes_of(tables), numbers, hands, dealers, totals[:, :3])
    many = features(tables, stakes_of(tables), numbers, hands, dealers, totals)
    assert np.array_equal(few, many[:, :3])


# --- Hands of matches to train on ------------------------------------------------------------------------------------


def options(**changes):
    usual = {"rules": ("oh_hell", "blob"), "players": (4,), "max_hand_size": 4, "match": 0.5, "hands": 64}
    return Config(**{**usual, "width": 64, "depth": 1, **changes})


def test_hands_of_matches_stand_as_matches_of_heuristic_players_do():
    rules = [Rules(ramp=(3, 2, 1)), Rules(ramp=(2, 1))]
    simulator = Simulator(rules, 1, seed=1, observe=False)
    found = standings_of(rules, simulator.form)
    assert found.games.shape == (2, 3, MATCHES) and (found.units > 0).all()
    for hand in range(3):
        assert (found.games["hand"][0, hand] == hand).all() and (found.games["hand_size"][0, hand] == 3 - hand).all()
        bids = found.games["made"][0, hand] + found.games["missed"][0, hand]
        assert (bids[:, :4] == hand).all() and (bids[:, 4:] == 0).all()
    assert found.games["scores"][0, 2].max() >= 20 and (found.games["scores"][:, 0] == 0).all()
    again = standings_of(rules, simulator.form)
    assert np.array_equal(found.units, again.units) and found.games.tobytes() == again.games.tobytes()


def test_a_share_of_the_hands_are_hands_of_matches_and_return_the_change_of_equity():
    collector = Collector(options())
    simulator = collector.start(3)
    games = simulator.games
    single = len(collector.shares)
    matches = games["table"] >= single
    assert 15 < matches.sum() < 50 and (games["hand"][matches] > 0).any() and (games["hand"][~matches] == 0).all()
    assert games["hand_size"].max() == 4, "max_hand_size holds for matches, too"
    sizes = simulator.tables["hand_sizes"][games["table"], games["hand"]]
    assert np.array_equal(games["hand_size"], sizes)
    assert (games["scores"][matches].max(axis=1) > 0).any() and (games["scores"][~matches] == 0).all()
    held = np.array([[int(hand).bit_count() for hand in hands] for hands in games["hands"][:, :4]])
    assert (held == games["hand_size"][:, None]).all(), "dealt once"
    collector.collect(lambda inputs: torch.zeros(len(inputs), collector._outputs), 3, 0.0)
    assert (games["phase"] == HAND_OVER).all()
    returns = collector._returns_of(games)
    assert returns[matches].sum(axis=1) == pytest.approx(0, abs=1e-6)
    units = collector._matches.standings(simulator.form).units[games["table"][matches] - single, games["hand"][matches]]
    assert returns[matches] == pytest.approx(equity_changes(games[matches], simulator.tables) / units[:, None])
    assert 0.2 < returns[matches][:, :4].std() < 2, "in units of the spread"


def test_processes_share_the_hands_of_matches_as_they_share_the_others():
    whole = Collector(options()).start(2).games
    halves = [Collector(options(), rank, 2).start(2).games for rank in range(2)]
    for rank, half in enumerate(halves):
        assert half.tobytes() == whole[rank::2].tobytes()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"rules": (), "match": 0.5}, "match=0.5 is for runs with --rules or --tables"),
        ({"rules": ("cooperative",), "match": 0.5}, "several hands in a given order"),
        ({"match": 1.5}, "match=1.5 is not allowed"),
    ],
)
def test_what_cannot_be_trained_on_matches_is_refused(changes, told):
    with pytest.raises(ValueError, match=told):
        options(**changes)


def test_a_run_with_matches_ships_a_policy_that_plays_for_them(tmp_path: Path):
    config = options(
        folder=tmp_path / "run", decisions=600, eval_minutes=0, warmup=0, minibatch_size=256, max_hand_size=2
    )
    train(config, Console(quiet=True))
    bot = load_policy(tmp_path / "run" / "checkpoint")
    assert bot.objective == "match" and bot.meta["objective"] == "match"
    card = (tmp_path / "run" / "checkpoint" / "README.md").read_text()
    assert "for the chance of winning" in card and "--match 0.5" in card
    assert load_policy(tmp_path / "run" / "checkpoint", objective="points").objective == "points"


# --- Players -------------------------------------------------------------------------------------------------------


def player_of_totals():
    """A network that bids 0 in a single hand, and 2 where a total is told."""
    tensors = {"trunk.0.weight": np.zeros((64, NUM_INPUTS), np.float32), "trunk.0.bias": np.zeros(64, np.float32)}
    tensors["trunk.0.weight"][0, BITS["lead"] : BITS["hands_done"]] = 1
    head, bias = np.zeros((NUM_OUTPUTS, 64), np.float32), np.zeros(NUM_OUTPUTS, np.float32)
    head[OUT_BID + 2, 0] = 1
    bias[OUT_BID] = 0.5
    return FrozenNetwork({**tensors, "head.weight": head, "head.bias": bias}, 64, 1, EVERY_TABLE)


def test_a_policy_sees_the_match_unless_it_plays_for_points():
    simulator = Simulator([Rules(ramp=(4,)), Rules(ramp=(4, 3))], 2, seed=2, observe=False)
    network = player_of_totals()
    assert PolicyBot(network).act(simulator).tolist() == [52, 54]
    assert PolicyBot(without_match(network)).act(simulator).tolist() == [52, 52]


def test_an_objective_is_typed_behind_the_players_name():
    assert split_objective("mix512:match") == ("mix512", "match") and split_objective("mix512") == ("mix512", None)
    assert checkpoint_of("search+policy:mix512:20:match") == checkpoint_of("mix512:points") == checkpoint_of("mix512")
    assert make_bot("search+policy:mix512:5:match").objective == "match"
    assert make_bot("mix512:points").objective == make_bot("search+policy:mix512").objective == "points"
    with pytest.raises(ValueError, match=r"was not trained to win matches.*search\+policy:mix512:K:match"):
        make_bot("mix512:match")


def test_search_for_the_match_takes_the_option_that_wins_more_often():
    """Two options in five worlds: the first has more points, the second wins where the first does not."""
    returns = np.array([12.0, 11, 12, 11, 12, 11, 12, 11, 12, 11])
    chances = np.array([0.0, 0, 0, 1, 0, 0, 0, 1, 0, 0])
    assert returns.reshape(5, 2).mean(0).argmax() == 0
    scaled = in_points(chances, returns)
    assert scaled.reshape(5, 2).mean(0).argmax() == 1 and scaled.std() == pytest.approx(returns.std())
    assert in_points(np.ones(10), returns) is returns, "the match is decided"


def test_search_for_the_match_is_the_same_in_single_hands_and_another_in_a_last_hand():
    fast = load_policy("mix512-fast")
    bots = [PolicySearchBot(fast, worlds=10, objective=objective) for objective in ("points", "match")]
    single = Simulator(Rules(ramp=(6,)), 12, seed=3, observe=False)
    assert bots[0].act(single).tolist() == bots[1].act(single).tolist()
    last = Simulator(replace(Rules(), ramp=(1, 6)), 12, seed=3, observe=False)
    for _ in range(8):  # four bids and four cards, all games alike
        last.step(last.current().action_mask.argmax(axis=1))
    assert (last.games["hand"] == 1).all()
    last.games["scores"][:] = 0
    for k, lead in enumerate([11, 8, 4]):
        last.games["scores"][np.arange(12), (last.games["player"] + 1 + k) % 4] = lead
    assert bots[0].act(last).tolist() != bots[1].act(last).tolist(), "behind, it must bid more"
