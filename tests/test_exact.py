"""Exact values and best responses at tiny tables: by hand, by brute force, by play, and by what must hold of any."""

from itertools import product
from math import comb

import numpy as np
import pytest
import torch

from ohhell_env.arena.exact import Tree, every_deal, num_deals, policy_of, responses, uniform
from ohhell_env.arena.returns import write_returns
from ohhell_env.bots.heuristic import HeuristicBot
from ohhell_env.bots.policy.bot import PolicyBot
from ohhell_env.bots.random import RandomBot
from ohhell_env.bots.search import SearchBot
from ohhell_env.kernel.rulebook import NUM_ACTIONS
from ohhell_env.kernel.state import HAND_OVER
from ohhell_env.rules.cards import Deck
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
from training.learning.network import PolicyNetwork
from training.learning.tables import take_actions

BID_0, BID_1 = 52, 53


def table(deck, size=1, bids="sealed", hook=False, players=3, trump="turned"):
    return Rules(players, (size,), hook=hook, bids=bids, deck=Deck.of(deck), trump=trump)


FOUR_ACES = table("AC AD AH AS")  # nobody can hold trump: left of the dealer always takes the trick
EIGHT = "AC KC QC AD KD QD AH KH"
TABLES = [
    table(EIGHT, hook=True),
    table(EIGHT, bids="open", hook=True),
    table("AC KC QC AD KD QD", size=2, hook=True),
    table("AC KC QC AD KD QD", size=2, bids="open"),
]


def all_play(tree, policy):
    return [tree.write_out(policy)] * tree.rules.players


def random_policy(seed):
    torch.manual_seed(seed)
    network = PolicyNetwork(64, 1)
    with torch.no_grad():
        network.head.weight *= 20
    return policy_of(PolicyBot(network.frozen(), temperature=1.0))


def pure(tree, strategy, seat, random):
    """A random pure strategy of a seat."""
    changed = [chances.copy() for chances in strategy]
    for depth, chances in zip(tree.depths, changed, strict=True):
        own = depth.player == seat
        chosen = np.where(depth.mask, random.random(depth.mask.shape), -1).argmax(axis=1)
        chances[own] = np.eye(NUM_ACTIONS)[chosen[own]]
    return changed


def test_every_deal_is_there_once():
    rules = table(EIGHT, size=2)
    decks = [tuple(deck) for deck in every_deal(rules)]
    seen = {(*(frozenset(deck[seat:6:3]) for seat in range(3)), deck[6]) for deck in decks}
    assert len(decks) == len(seen) == num_deals(rules) == comb(8, 2) * comb(6, 2) * comb(4, 2) * 2
    assert all(sorted(deck) == list(rules.deck.cards) for deck in decks)
    assert num_deals(table("AC KC QC AD KD QD", size=2)) == 90, "no card is left to turn"
    assert num_deals(table(EIGHT, trump="none")) == 8 * 7 * 6, "no card is turned"


def test_where_the_leader_always_wins_the_values_are_those_worked_out_by_hand():
    """Seat 1 leads and wins. Bids at random make 11 points in half of seat 1's hands, 10 in half of the others'."""
    found = responses(FOUR_ACES, uniform)
    assert found.values == pytest.approx([5 - (5.5 + 5) / 2, 5.5 - 5, 5 - (5.5 + 5) / 2])
    assert found.best == pytest.approx([10 - (5.5 + 5) / 2, 11 - 5, 10 - (5.5 + 5) / 2])
    assert found.nash_conv == pytest.approx(15.5)


def test_bids_that_are_sure_to_be_made_are_an_equilibrium():
    def sure(views, tables):
        return np.eye(NUM_ACTIONS)[np.where(views["player"] == 1, BID_1, BID_0)]

    found = responses(FOUR_ACES, sure)
    assert found.values == pytest.approx([-0.5, 1, -0.5]) and found.nash_conv == pytest.approx(0)


@pytest.mark.parametrize("bids", ["sealed", "open"])
@pytest.mark.parametrize("policy", [uniform, random_policy(1)])
def test_a_best_response_is_the_best_of_all_pure_strategies(bids, policy):
    """Three cards, one each: a seat has 3 information sets, or up to 12 where it has seen bids; all are tried."""
    tree = Tree(table("AC KC AD", bids=bids, hook=True))
    profile = all_play(tree, policy)
    for seat in range(3):
        d, depth = next((d, depth) for d, depth in enumerate(tree.depths) if depth.player[0] == seat)
        choices = [np.flatnonzero(mask) for mask in depth.mask]
        best = -np.inf
        for bid in product(*choices):
            strategy = [chances.copy() for chances in profile[seat]]
            strategy[d] = np.eye(NUM_ACTIONS)[list(bid)]
            best = max(best, tree.values([*profile[:seat], strategy, *profile[seat + 1 :]])[seat])
        assert tree.best_response(profile, seat)[0] == pytest.approx(best)


@pytest.mark.parametrize("rules", TABLES, ids=str)
def test_a_best_response_reaches_what_it_promises_and_nothing_else_reaches_more(rules):
    tree = Tree(rules)
    random = np.random.default_rng(0)
    profile = all_play(tree, random_policy(2))
    for seat in range(3):
        value, response = tree.best_response(profile, seat)
        assert tree.values([*profile[:seat], response, *profile[seat + 1 :]])[seat] == pytest.approx(value)
        for _ in range(10):
            other = pure(tree, response, seat, random)
            assert tree.values([*profile[:seat], other, *profile[seat + 1 :]])[seat] <= value + 1e-9
        for _ in range(10):  # the best strategy with one decision changed
            other = [chances.copy() for chances in response]
            d = random.choice([d for d, depth in enumerate(tree.depths) if (depth.player == seat).any()])
            own = random.choice(np.flatnonzero(tree.depths[d].player == seat))
            other[d][own] = np.eye(NUM_ACTIONS)[random.choice(np.flatnonzero(tree.depths[d].mask[own]))]
            assert tree.values([*profile[:seat], other, *profile[seat + 1 :]])[seat] <= value + 1e-9


@pytest.mark.parametrize("rules", TABLES, ids=str)
def test_values_add_up_to_nothing_and_no_best_response_is_worse_than_what_it_answers(rules):
    for policy in (uniform, random_policy(3), policy_of(HeuristicBot())):
        found = responses(rules, policy)
        assert found.values.sum() == pytest.approx(0)
        assert (found.best >= found.values - 1e-9).all()


@pytest.mark.parametrize("rules", TABLES[1:3], ids=str)
@pytest.mark.parametrize(
    "bot",
    [RandomBot(), HeuristicBot(), *(PolicyBot(PolicyNetwork(64, 1).frozen(), 0, warmth) for warmth in (0.0, 0.1))],
)
def test_exact_values_are_what_bots_reach_in_play(rules, bot):
    tree = Tree(rules)
    hands = 20_000
    simulator = Simulator(rules, hands, seed=4, observe=False)
    batch = simulator.current()
    for _ in range(3 * (rules.hand_sizes[0] + 1)):
        batch = simulator.step(bot.act(simulator), out=batch)
    relative = 1.5 * (batch.reward - batch.reward.mean(axis=1, keepdims=True, dtype=np.float64))
    errors = relative.std(axis=0) / hands**0.5
    values = tree.values(all_play(tree, policy_of(bot)))
    assert (np.abs(relative.mean(axis=0) - values) < 4 * errors + 1e-6).all()


def test_the_dealer_sees_open_bids_and_is_worth_more_for_it():
    """Against the same opponents, who bid alike at both tables, more to see is never worse."""
    sealed, seen = (Tree(table(EIGHT, bids=bids)) for bids in ("sealed", "open"))
    values = [tree.best_response(all_play(tree, uniform), 0)[0] for tree in (sealed, seen)]
    assert values[1] == pytest.approx(values[0]), "bids made at random tell nothing"

    def by_suit(views, tables):  # bids 1 with a trump
        trumps = (views["hands"][np.arange(len(views)), views["player"]] >> (13 * views["trump"].astype(int))) & 8191
        return np.eye(NUM_ACTIONS)[np.where(trumps > 0, BID_1, BID_0)]

    values = [tree.best_response(all_play(tree, by_suit), 0)[0] for tree in (sealed, seen)]
    assert values[1] > values[0] + 0.1


def test_tables_that_are_too_large_and_policies_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"3 players with 3 cards from a deck of 52 are too many to follow exactly"):
        Tree(Rules(players=3, ramp=(3,)))
    with pytest.raises(ValueError, match="has 33 hands"):
        Tree(Rules(players=3))
    with pytest.raises(ValueError, match="SearchBot is random"):
        policy_of(SearchBot())
    tree = Tree(FOUR_ACES)
    for wrong in (lambda v, t: 0.9 * uniform(v, t), lambda v, t: np.eye(NUM_ACTIONS)[np.zeros(len(v), int)]):
        with pytest.raises(ValueError, match="not a distribution over the legal actions"):
            tree.write_out(wrong)


WIDE = {
    "forehead": Rules(3, (1,), bids="open", deck=Deck.of(EIGHT), own_cards="forehead"),
    "named trump": Rules(3, (1,), bids="open", deck=Deck.of("AC KC AD KD AH"), trump="named"),
    "negative": Rules(3, (1,), bids="open", deck=Deck.of(EIGHT), scoring="negative"),
    "cooperative": Rules(3, (2,), bids="open", hook=False, cooperative=True, deck=Deck.of("AC KC QC AD KD QD")),
    "jokers": Rules(3, (1,), bids="open", deck=Deck.of("*S *1 3C 4C 3D", card_set="oh sh")),
    "two copies": Rules(3, (1,), bids="open", deck=Deck.of("AC AC KC AD KD"), duplicates="ante"),
    "last card": Rules(3, (2,), bids="open", deck=Deck.of("AC KC QC AD KD QD"), full_deal="last"),
    "golden": Rules(3, ("2 golden",), bids="open", deck=Deck.of("AC KC QC AD KD QD")),
}


@pytest.mark.parametrize("name", WIDE)
def test_wide_tables_are_walked_as_they_are_played(name):
    """The mean of many hands that random players play is the exact value; a best response gains and is reached."""
    rules = WIDE[name]
    tree = Tree(rules)
    profile = all_play(tree, uniform)
    exact = tree.responses(profile)
    hands = 20_000
    simulator = Simulator(rules, hands, seed=1, observe=False)
    games, bot = simulator.games, RandomBot(3)
    while (live := np.flatnonzero(games["phase"] != HAND_OVER)).size:
        take_actions(games, simulator.tables, live, bot.act(simulator, live))
    returns = np.zeros((hands, 3))
    write_returns(games, simulator.tables, returns)
    error = returns.std(axis=0).max() / np.sqrt(hands)
    assert exact.values == pytest.approx(returns.mean(axis=0), abs=4 * error + 1e-9)
    assert (exact.best >= exact.values - 1e-9).all() and (exact.best - exact.values).max() > 0.01
    for seat in range(3):
        value, response = tree.best_response(profile, seat)
        assert tree.values([*profile[:seat], response, *profile[seat + 1 :]])[seat] == pytest.approx(value)


def test_the_dealers_last_card_is_each_of_its_cards_in_turn():
    decks = list(every_deal(WIDE["last card"]))
    assert len(decks) == num_deals(WIDE["last card"]) == 90 * 2 and len(set(map(tuple, decks))) == 180
    assert {deck[-1] for deck in decks} == set(WIDE["last card"].deck.cards)


def test_on_the_forehead_a_seat_knows_the_others_cards_and_not_its_own():
    tree = Tree(WIDE["forehead"])
    first = tree.depths[0]
    assert first.player.tolist() == [1] * len(first.player)
    assert len(first.views) == 8 * 7 * 6, "two cards of others seen, and the card turned up"


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (Rules(3, (1,), bids="together", hook=False, knocking=True, deck=Deck.of(EIGHT)), "knocking=True cannot be"),
        (Rules(3, (1,), own_cards="hidden", deck=Deck.of(EIGHT)), "own_cards='hidden' cannot be followed"),
        (Rules(3, (1,), trump="cut", deck=Deck.of(EIGHT)), "trump='cut' cannot be followed"),
    ],
)
def test_tables_whose_views_forget_are_refused(rules, message):
    with pytest.raises(ValueError, match=message):
        Tree(rules)
