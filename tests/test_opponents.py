"""Past policies and bots as opponents: which seats they have, what is learned from, what of them is kept."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from ohhell_env.bots import make_bot
from ohhell_env.bots.base import Bot
from ohhell_env.kernel.jit import lowest
from ohhell_env.kernel.rulebook import action_of
from ohhell_env.kernel.state import BID
from ohhell_env.rules.cards import NUM_CARDS
from training.learning.checkpoint import STATE, load_state
from training.learning.collector import Collector
from training.learning.config import Config
from training.learning.network import ActorCritic, PolicyNetwork, TrainingNetwork
from training.learning.past import PastPolicies
from training.learning.ppo import PolicyCollector
from training.train import first_network, train

TINY = {
    "learner": "dmc", "players": (3, 5), "max_hand_size": 4, "width": 64, "depth": 1, "hands": 400,
    "minibatch_size": 512, "eval_minutes": 0.0, "save_minutes": 0.0, "precision": "fp32",
}  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def tiny(folder="unused", **options):
    return Config(folder=Path(folder), **{**TINY, **options})


def bidder(tricks, kind=PolicyNetwork):
    """A network that always likes one bid best."""
    torch.manual_seed(0)
    network = kind(64, 1)
    with torch.no_grad():
        network.head.weight.zero_()
        network.head.bias.zero_()
        network.head.bias[NUM_CARDS + tricks] = 99.0
    return TrainingNetwork(network)


def bids_of(games):
    """(hand, seat) -> bid."""
    return {(i, seat): int(bid) for i, game in enumerate(games) for seat, bid in enumerate(game["bids"]) if bid >= 0}


@pytest.mark.parametrize(("collector", "kind"), [(Collector, PolicyNetwork), (PolicyCollector, ActorCritic)])
def test_a_past_policy_plays_one_or_two_seats_of_its_share_of_the_hands_and_is_not_learned_from(collector, kind):
    collector = collector(tiny(past=0.25, hook=0.0))
    experience = collector.collect(bidder(0, kind), 3, 0.0, bidder(1).policy.frozen())
    bids = bids_of(collector._simulator.games)
    past = [sum(bid for (hand, _), bid in bids.items() if hand == i) for i in range(400)]
    assert set(past) == {0, 1, 2} and (np.array(past) > 0).mean() == pytest.approx(0.25, abs=0.07)
    assert abs(past.count(1) - past.count(2)) < 40
    learned = set(zip(experience.hand.tolist(), experience.seat.tolist(), strict=True))
    assert {seat for seat, bid in bids.items() if bid == 0} == learned, "a bid is always a choice"
    assert not np.isin(experience.actions, NUM_CARDS + 1).any()
    for name, array in experience._asdict().items():
        if isinstance(array, np.ndarray) and len(array):
            assert len(array) == len(experience.actions), name
    seats = [seat for (_, seat), bid in bids.items() if bid == 1]
    assert set(seats) == set(range(5)), "any seat"


def test_only_the_network_that_learns_explores():
    collector = Collector(tiny(past=1.0, hook=0.0, players=(4,)))
    collector.collect(bidder(0), 3, 1.0, bidder(1).policy.frozen())
    bids = np.array(list(bids_of(collector._simulator.games).values()))
    assert (bids == 1).sum() >= 400 and (bids > 1).any()


def test_without_a_past_policy_collection_is_as_it_was():
    plain, with_option = Collector(tiny()), Collector(tiny(past=0.5))
    network = bidder(0)
    one, other = plain.collect(network, 1, 0.2), with_option.collect(network, 1, 0.2)
    assert np.array_equal(one.actions, other.actions) and len(one.actions) == len(other.inputs)


def test_past_policies_come_late_and_are_those_of_the_run(tmp_path, monkeypatch):
    drawn = []
    collect = Collector.collect

    def watch(self, network, iteration, epsilon, frozen=None):
        drawn.append((iteration, frozen))
        return collect(self, network, iteration, epsilon, frozen)

    monkeypatch.setattr(Collector, "collect", watch)
    config = tiny(tmp_path, decisions=12_000, hands=50, past=0.2, past_from=0.5)
    average = train(config, Console(quiet=True))
    network, _ = first_network(config)
    optimiser = torch.optim.Adam(network.parameters())
    counters = load_state(tmp_path, network, first_network(config)[0], optimiser)
    assert counters.iteration == len(drawn) and len(counters.past) == 20
    started = [iteration for iteration, frozen in drawn if frozen is not None]
    assert started == list(range(started[0], counters.iteration))
    assert started[0] == pytest.approx(counters.iteration / 2, rel=0.1)
    assert len({id(frozen) for _, frozen in drawn if frozen is not None}) > 5
    past = PastPolicies(tmp_path, network, counters.past)
    last, now = past._networks[-1].tensors, average.frozen().tensors
    assert all(np.array_equal(last[name], now[name]) for name in now)


def test_a_run_whose_past_is_missing_or_damaged_is_refused(tmp_path):
    config = tiny(tmp_path, decisions=3000, hands=50, past=0.2)
    train(config, Console(quiet=True))
    assert (tmp_path / STATE).exists()
    file = sorted((tmp_path / "past").iterdir())[0]
    data = file.read_bytes()
    further = dataclasses.replace(config, decisions=6000)
    file.write_bytes(data[:-20])
    with pytest.raises(ValueError, match="is not a safetensors file, or is cut short"):
        train(further, Console(quiet=True))
    file.unlink()
    with pytest.raises(ValueError, match="is missing: the run cannot continue"):
        train(further, Console(quiet=True))
    file.write_bytes(data)
    train(further, Console(quiet=True))


class Bidder(Bot):
    """Bids all tricks; plays its lowest card."""

    def choose(self, views, tables, keys):
        cards = [action_of(view, lowest(view["legal"])) for view in views]
        return np.where(views["phase"] == BID, NUM_CARDS + views["hand_size"], cards)


@pytest.mark.parametrize(("collector", "kind"), [(Collector, PolicyNetwork), (PolicyCollector, ActorCritic)])
def test_bots_play_some_seats_of_their_share_of_the_hands_and_are_not_learned_from(collector, kind):
    options = tiny(opponents=("any",), opponents_share=0.5, hook=0.0, players=(4,))
    collector = collector(options, bots=[Bidder()])
    experience = collector.collect(bidder(0, kind), 3, 0.0)
    bids = bids_of(collector._simulator.games)
    theirs = np.array([sum(bids[hand, seat] > 0 for seat in range(4)) for hand in range(400)])
    assert (theirs > 0).mean() == pytest.approx(0.5, abs=0.08) and set(theirs) == {0, 1, 2, 3}
    learned = set(zip(experience.hand.tolist(), experience.seat.tolist(), strict=True))
    assert {seat for seat, bid in bids.items() if bid == 0} == learned
    assert not (experience.actions > NUM_CARDS).any()
    assert {seat for (_, seat), bid in bids.items() if bid > 0} == set(range(4)), "any seat"


def test_bots_play_alike_whatever_process_has_their_hands():
    options = tiny(opponents=("random", "heuristic"), opponents_share=0.5)
    network = bidder(0)
    whole = Collector(options, bots=[make_bot(spec) for spec in options.opponents])
    half = Collector(options, 1, 2, bots=[make_bot(spec) for spec in options.opponents])
    whole.collect(network, 3, 0.1)
    half.collect(network, 3, 0.1)
    assert np.array_equal(whole._simulator.games["bids"][1::2], half._simulator.games["bids"])
    assert np.array_equal(whole._simulator.games["taken"][1::2], half._simulator.games["taken"])


def test_an_opponent_that_is_not_known_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError, match="hat"):
        train(tiny(tmp_path / "run", opponents=("hat",)), Console(quiet=True))
    assert not (tmp_path / "run").exists()
