"""The OpenSpiel game: the rules of its own ``oh_hell``, nothing leaks, nothing is forgotten, and its algorithms run."""

import random
from collections import Counter, defaultdict
from math import comb

import numpy as np
import pytest
from libraries import library

from ohhell_env import Rules, Simulator
from ohhell_env.arena.exact import responses, uniform
from ohhell_env.kernel.rulebook import FIRST_BID
from ohhell_env.rules.cards import Deck, parse_card

pyspiel = library("pyspiel")

from open_spiel.python.algorithms import cfr, exploitability, external_sampling_mccfr  # noqa: E402
from open_spiel.python.policy import UniformRandomPolicy  # noqa: E402

from ohhell_env.adapters.open_spiel import register  # noqa: E402
from training.examples import open_spiel_cfr, open_spiel_ismcts  # noqa: E402

TINY = {"players": 3, "hand_size": 1, "deck": "AC KC AD KD"}
SMALL = {"players": 3, "hand_size": 2, "deck": "AC KC QC AD KD QD AH KH QH"}


def load(**params):
    return pyspiel.load_game(register(), params)


def play(state, rng, stop=lambda state: False):
    """Random play by the game's own chances until the end, or until ``stop``."""
    while not state.is_terminal() and not stop(state):
        if state.is_chance_node():
            cards, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(cards, chances)[0])
        else:
            state.apply_action(rng.choice(state.legal_actions()))
    return state


def decisions(game, rng, hands):
    """Every decision of some random hands."""
    for _ in range(hands):
        state = game.new_initial_state()
        while not play(state, rng, lambda state: not state.is_chance_node()).is_terminal():
            yield state
            state.apply_action(rng.choice(state.legal_actions()))


def every_state(state):
    yield state
    for action in state.legal_actions():
        yield from every_state(state.child(action))


def known(state, seat):
    """All that a seat gets of a state, in each form that the game has."""
    return (
        state.information_state_string(seat),
        state.observation_string(seat),
        tuple(state.information_state_tensor(seat)),
        tuple(state.observation_tensor(seat)),
        tuple(state.legal_actions()) if state.current_player() == seat else (),
    )


def our_action(theirs, action):
    """An action of OpenSpiel's own game as ours: it writes the suit first, and bids as bare numbers."""
    text = theirs.action_to_string(theirs.current_player(), action)
    return FIRST_BID + int(text) if text.isdigit() else parse_card(text[1] + text[0])


@pytest.mark.parametrize("players", [3, 4, 5, 6, 7])
def test_200_hands_go_move_by_move_as_in_open_spiels_own_game(players):
    rng = random.Random(players)
    for number in range(200):
        ranks = 13 if number % 2 else rng.randint(max(2, (players + 4) // 4), 13)
        size = rng.randint(1, (4 * ranks - 1) // players)
        theirs = pyspiel.load_game(
            "oh_hell", {"players": players, "num_tricks_fixed": size, "num_cards_per_suit": ranks}
        ).new_initial_state()
        dealt = []
        while theirs.is_chance_node():
            action = rng.choice(theirs.legal_actions())
            dealt.append(action if len(dealt) < 2 else our_action(theirs, action))
            theirs.apply_action(action)
        (_, dealer), cards = dealt[:2], dealt[2:]
        deck = " ".join(rank + suit for suit in "CDHS" for rank in "23456789TJQKA"[:ranks])
        ours = load(
            players=players, hand_size=size, deck=deck, bids="open", scoring="basic", dealer=dealer
        ).new_initial_state()
        for seat in range(players):
            for card in sorted(cards[seat:-1:players]):
                ours.apply_action(card)
        ours.apply_action(cards[-1])
        while not theirs.is_terminal():
            assert ours.current_player() == theirs.current_player()
            legal = {our_action(theirs, action): action for action in theirs.legal_actions()}
            assert ours.legal_actions() == sorted(legal)
            action = rng.choice(sorted(legal))
            ours.apply_action(action)
            theirs.apply_action(legal[action])
        assert ours.is_terminal()
        assert ours.returns() == theirs.returns()


@pytest.mark.parametrize("reward", ["points", "zero_sum", "win"])
def test_a_hand_pays_what_the_simulator_pays_for_the_same_deal_and_moves(reward):
    rng = random.Random(1)
    game = load(players=5, hand_size=4, dealer=3, reward=reward)
    rules = Rules(5, (4,), first_dealer=3)
    for _ in range(10):
        state = play(game.new_initial_state(), rng)
        deck = [card for hand in state.view.deal_order for card in hand]
        deck.insert(20, state.view.turned)
        simulator = Simulator(rules, decks=[deck], seed=0, reward=reward)
        moves = state.history()[game.max_chance_nodes_in_history() :]
        rewards = [simulator.step([move]).reward[0].copy() for move in moves]
        assert np.allclose(sum(rewards), state.returns())
        assert all(game.min_utility() <= one <= game.max_utility() for one in state.returns())
        if game.utility_sum() is not None:
            assert sum(state.returns()) == pytest.approx(game.utility_sum())


def test_every_deal_is_as_likely_as_any_other():
    chances = Counter()

    def deal(state, chance):
        if not state.is_chance_node():
            chances[tuple(state.history())] += chance
            return
        outcomes = state.chance_outcomes()
        assert [card for card, _ in outcomes] == state.legal_actions()
        for card, here in outcomes:
            deal(state.child(card), chance * here)

    deal(load(players=3, hand_size=2, deck="AC KC QC AD KD QD AH").new_initial_state(), 1.0)
    assert len(chances) == comb(7, 2) * comb(5, 2) * comb(3, 2)  # the seventh card is turned up
    assert list(chances.values()) == pytest.approx([1 / len(chances)] * len(chances))


def test_a_deal_of_the_whole_pack_turns_nothing_up():
    game = load(players=4, hand_size=13)
    state = play(game.new_initial_state(), random.Random(1), lambda state: not state.is_chance_node())
    assert (game.max_chance_nodes_in_history(), state.view.turned, state.view.trump) == (52, None, None)
    assert sorted(state.history()) == list(range(52))
    assert play(state, random.Random(1)).is_terminal()


@pytest.mark.parametrize(
    "params",
    [
        {**TINY, "bids": "open"},
        {**TINY, "bids": "sealed"},
        {"players": 3, "hand_size": 2, "deck": "AC KC QC AD KD QD", "hook": False, "bids": "sealed"},
    ],
)
def test_nobody_forgets_and_what_is_open_follows_from_what_is_known(params):
    """Perfect recall: one information state has one set of moves and one past of own information states and moves."""
    seen = defaultdict(set)
    tensors = defaultdict(set)

    def walk(state, pasts, deals):
        if state.is_terminal():
            return
        if state.is_chance_node():
            for card in state.legal_actions() if deals else random.Random(str(state)).sample(state.legal_actions(), 1):
                walk(state.child(card), pasts, deals)
            return
        seat = state.current_player()
        name = state.information_state_string()
        seen[name].add((tuple(state.legal_actions()), pasts[seat]))
        tensors[tuple(state.information_state_tensor())].add(name)
        for action in state.legal_actions():
            after = [*pasts]
            after[seat] = (*pasts[seat], (name, action))
            walk(state.child(action), after, deals)

    walk(load(**params).new_initial_state(), [()] * 3, params["hand_size"] == 1)
    assert len(seen) > 50
    assert {len(one) for one in seen.values()} == {1}
    assert {len(names) for names in tensors.values()} == {1}, "a tensor tells what the text tells"
    assert len(tensors) == len(seen)


@pytest.mark.parametrize("bids", ["sealed", "open"])
@pytest.mark.parametrize(("players", "size"), [(3, 5), (4, 13), (5, 3), (7, 7)])
def test_a_resampled_state_agrees_with_all_that_the_seat_knows(players, size, bids):
    rng = random.Random(size)
    game = load(players=players, hand_size=size, bids=bids)
    changed = 0
    for state in decisions(game, rng, 2):
        viewer = rng.randrange(players)
        for seat in {state.current_player(), viewer}:
            other = state.resample_from_infostate(seat, rng.random)
            assert known(other, seat) == known(state, seat)
            assert other.view.dealt[seat] == state.view.dealt[seat]
            assert other.view.tricks == state.view.tricks
            assert other.current_player() == state.current_player()
            changed += other.view.dealt != state.view.dealt
            check_voids(other.view)
        assert play(other, rng).is_terminal()
    assert changed > 10


def check_voids(view):
    """Who did not follow suit had none left of it, in this deal too."""
    hands = [set(hand) for hand in view.dealt]
    for trick in [*(trick.plays for trick in view.tricks), view.trick]:
        for seat, card in trick:
            if card // 13 != trick[0][1] // 13:
                assert not any(held // 13 == trick[0][1] // 13 for held in hands[seat])
            hands[seat].remove(card)


def test_resampled_states_are_spread_evenly_over_all_that_agree():
    """The dealer of a sealed hand, to bid: all bids that leave it the bids that it has, each with all deals."""
    rng = random.Random(3)
    game = load(players=3, hand_size=2, deck="AC KC QC AD KD QD AH")
    state = play(game.new_initial_state(), rng, lambda state: not state.is_chance_node())
    for bid in (2, 1):  # over already: every bid is open, so the dealer knows only that the two sum to 3 or 4
        state.apply_action(FIRST_BID + bid)
    assert state.legal_actions() == [FIRST_BID, FIRST_BID + 1, FIRST_BID + 2]
    worlds, bids = Counter(), Counter()
    for _ in range(1200):
        other = state.resample_from_infostate(state.current_player(), rng.random)
        worlds[other.view.dealt] += 1
        bids[other.view.bids[1:]] += 1
    assert len(worlds) == comb(4, 2)
    assert max(worlds.values()) - min(worlds.values()) < 90  # 200 each, give or take 13
    assert set(bids) == {(1, 2), (2, 1), (2, 2)}
    assert max(bids.values()) - min(bids.values()) < 110  # 400 each, give or take 16


def test_hidden_cards_leave_no_trace_in_what_a_seat_gets():
    rng = random.Random(5)
    game = load(**SMALL)
    for state in decisions(game, rng, 10):
        seat = state.current_player()
        view = state.view
        if view.trick or view.tricks:
            continue  # what is played binds the rest: the resampled states see to that
        free = sorted({*Deck.of(SMALL["deck"]).cards} - {*view.hands[seat], view.turned})
        order = dict(zip(free, rng.sample(free, len(free)), strict=True))
        cards = [order.get(card, card) for hand in view.dealt for card in hand]
        other = game.new_initial_state()
        for k in range(3):
            for card in sorted(cards[2 * k : 2 * k + 2]):
                other.apply_action(card)
        other.apply_action(view.turned)
        for past in state.full_history()[7:]:
            other.apply_action(past.action)
        assert known(other, seat) == known(state, seat)


def test_a_sealed_bid_is_not_told_until_all_are_in():
    game = load(**SMALL)
    state = play(game.new_initial_state(), random.Random(2), lambda state: not state.is_chance_node())
    after = [state.child(FIRST_BID + bid) for bid in range(3)]
    for seat in (0, 2):
        assert len({known(one, seat) for one in after}) == 1
    assert len({known(one, 1) for one in after}) == 3, "its bidder knows it"


def test_open_spiels_own_checks_of_a_game_pass():
    for params in (TINY, SMALL, {"players": 4, "hand_size": 5}):
        pyspiel.random_sim_test(load(**params), num_sims=5, serialize=True, verbose=False)


def test_cfr_comes_closer_to_equilibrium_in_python_and_in_cpp():
    game = load(**TINY)
    before = exploitability.nash_conv(game, UniformRandomPolicy(game))
    exact = responses(Rules(3, (1,), deck=Deck.of(TINY["deck"])), uniform)
    zero_sum = load(**TINY, reward="zero_sum")
    ours = sum(exact.best - exact.values) * 2 / 3  # less the others' mean there, less the table's mean here
    assert exploitability.nash_conv(zero_sum, UniformRandomPolicy(zero_sum)) == pytest.approx(ours)
    python, cpp = cfr.CFRPlusSolver(game), pyspiel.CFRPlusSolver(game)
    for _ in range(2):
        python.evaluate_and_update_policy()
        cpp.evaluate_and_update_policy()
    after = exploitability.nash_conv(game, python.average_policy())
    assert after < before / 2
    assert pyspiel.nash_conv(game, cpp.average_policy()) == pytest.approx(after)


def test_mccfr_in_cpp_comes_closer_to_equilibrium():
    game = load(**TINY)
    solver = pyspiel.ExternalSamplingMCCFRSolver(game)
    for _ in range(100):
        solver.run_iteration()
    gain = pyspiel.nash_conv(game, solver.average_policy(), True)
    assert gain < pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game)) / 2


def test_mccfr_in_python_samples_hands():
    game = load(players=3, hand_size=2, deck="AC KC QC AD KD QD AH")
    solver = external_sampling_mccfr.ExternalSamplingSolver(game)
    for _ in range(3):
        solver.iteration()
    policy = solver.average_policy()
    for state in decisions(game, random.Random(4), 3):
        chances = policy.action_probabilities(state)
        assert set(chances) <= set(state.legal_actions())
        assert sum(chances.values()) == pytest.approx(1)


def test_what_is_not_allowed_is_refused_with_what_is():
    with pytest.raises(ValueError, match=r"hand_size|ramp"):
        load(players=5, hand_size=11)
    with pytest.raises(ValueError, match="use one of 'sealed', 'open'"):
        load(bids="shouted")
    with pytest.raises(ValueError, match="use one of 'points'"):
        load(reward="money")
    with pytest.raises(ValueError, match="not dealt yet"):
        load().new_initial_state().resample_from_infostate(0, random.random)
    with pytest.raises(ValueError, match="not supported"):
        load().make_py_observer(pyspiel.IIGObservationType(True, False, pyspiel.PrivateInfoType.ALL_PLAYERS))


def test_an_illegal_move_is_refused_and_changes_nothing():
    state = load(**SMALL).new_initial_state()
    state.apply_action(parse_card("KC"))
    with pytest.raises(ValueError, match="cannot be dealt now"):
        state.apply_action(parse_card("QC"))  # a hand is dealt in ascending order
    play(state, random.Random(6), lambda state: not state.is_chance_node())
    before = str(state), state.history()
    for action in (0, FIRST_BID + 3, 1000):
        with pytest.raises(ValueError, match="is not legal; player_1 bids now, allowed: bid 0, bid 1, bid 2"):
            state.apply_action(action)
    assert (str(state), state.history()) == before


def test_the_cfr_example_comes_closer_to_equilibrium():
    gains = open_spiel_cfr.main(iterations=2)
    assert gains[1] < gains[0]


def test_the_ismcts_example_plays_legally_and_is_paid_the_score():
    for state in open_spiel_ismcts.main(hands=4, simulations=20, hand_size=2):
        history = [(past.player, past.action) for past in state.full_history()]
        again = state.get_game().new_initial_state()
        for player, action in history:
            assert again.current_player() == player
            assert action in again.legal_actions()
            again.apply_action(action)
        assert state.returns() == list(state.view.points)
