"""The worked cases of the rules, dealt and played in the kernel."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from tables import EVERY_TABLE, PLAYERS, given_deck, legal, play

from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import Int, jit
from ohhell_env.kernel.state import BID, MATCH_OVER, NO_TRUMP, PLAY
from ohhell_env.records.match import Match
from ohhell_env.rules.cards import parse_card
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator


def table(*ramp: int, players: int = 4, **options: object) -> Simulator:
    decks = options.pop("decks", ())
    return Simulator(Rules(players=players, ramp=ramp or "down-up", **options), seed=1, decks=decks)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("size", "bids", "allowed"),
    [
        (4, (2, 0, 1), {0, 2, 3, 4}),
        (5, (2, 0, 1), {0, 1, 3, 4, 5}),
        (5, (3, 1, 2), {0, 1, 2, 3, 4, 5}),
        (10, (2, 3, 1), {0, 1, 2, 3, 5, 6, 7, 8, 9, 10}),
        (1, (1, 0, 0), {1}),
        (1, (0, 0, 0), {0}),
    ],
)
def test_the_dealer_may_not_make_the_bids_fit(size: int, bids: tuple[int, ...], allowed: set[int]) -> None:
    simulator = table(size)
    for bid in bids:
        assert legal(simulator) == set(range(size + 1)), "everybody but the dealer may bid anything"
        play(simulator, bid)
    assert legal(simulator) == allowed


def test_without_the_hook_the_dealer_may_bid_anything() -> None:
    simulator = table(4, hook=False)
    play(simulator, 2, 0, 1)
    assert legal(simulator) == {0, 1, 2, 3, 4}


HIGH_AND_LOW = ("5D 2C", "KH 3C", "AH 4C", "QH 6C")  # seats 0..3; seat 1 leads when seat 0 deals


def test_a_small_trump_beats_the_ace_led_against_it() -> None:
    """Diamonds trump; KH led, then AH, QH, 5D: the 5D wins."""
    simulator = table(2, decks=[given_deck(*HIGH_AND_LOW, turned="9D")])
    play(simulator, 0, 0, 0, 0, "KH", "AH", "QH", "5D")
    assert simulator[0].tricks[0].winner == 0
    assert simulator[0].player == 0, "the winner leads the next trick"


def test_the_order_of_the_worked_case_with_the_trump_third() -> None:
    """Diamonds trump; KH led, then AH, 5D, QH: the 5D wins."""
    simulator = table(2, decks=[given_deck("QH 6C", "KH 3C", "AH 4C", "5D 2C", turned="9D")])
    play(simulator, 0, 0, 0, 0, "KH", "AH", "5D", "QH")
    assert simulator[0].tricks[0].winner == 3


def test_the_highest_card_of_the_suit_led_wins_without_trumps_in_the_trick() -> None:
    """Clubs trump; TS led, then KS, 7S, AS: the AS wins."""
    simulator = table(1, decks=[given_deck("AS", "TS", "KS", "7S", turned="2C")])
    play(simulator, 0, 0, 0, 0)
    with pytest.raises(ValueError, match="allowed: play TS"):
        play(simulator, "KS")
    batch = simulator.current()
    for card in ("TS", "KS", "7S"):
        batch = simulator.step([parse_card(card)])
    assert simulator[0].trick[-1] == (3, parse_card("7S"))
    batch = simulator.step([parse_card("AS")])
    assert batch.reward[0].tolist() == [0, 10, 10, 10], "player_0 took the trick that it had not bid"


def test_without_trump_an_ace_of_another_suit_loses_to_the_deuce_led() -> None:
    simulator = table(1, trump="none", decks=[given_deck("AS", "2D", "AC", "AH", turned=None)])
    play(simulator, 1, 0, 0, 1)
    play(simulator, "2D", "AC", "AH")
    assert simulator.step([parse_card("AS")]).reward[0].tolist() == [0, 11, 10, 10]


def test_a_seat_that_can_follow_must_and_one_that_cannot_may_play_anything() -> None:
    simulator = table(2, decks=[given_deck("5D 2C", "KH 3C", "AH 4C", "9S 6C", turned="9D")])
    play(simulator, 0, 0, 0, 0, "KH")
    assert legal(simulator) == {"AH"}
    play(simulator, "AH")
    assert legal(simulator) == {"9S", "6C"}
    play(simulator, "6C")
    assert legal(simulator) == {"5D", "2C"}


@pytest.mark.parametrize(
    ("bid", "taken", "points"), [(0, 0, 10), (0, 1, 0), (2, 3, 0), (10, 10, 20), (3, 3, 13), (3, 2, 0)]
)
def test_scoring(bid: int, taken: int, points: float) -> None:
    assert table(10).tables["points"][0, 10, bid, taken] == points


@pytest.mark.parametrize(("players", "hands"), [(3, 33), (4, 25), (5, 19), (6, 15), (7, 13)])
def test_the_ramp_goes_down_to_one_card_and_up_again(players: int, hands: int) -> None:
    sizes = Rules(players=players).hand_sizes
    assert len(sizes) == hands == 2 * (52 // players) - 1
    assert sizes[0] == sizes[-1] == 52 // players
    assert sizes.count(1) == 1


@pytest.mark.parametrize("players", PLAYERS)
def test_one_card_at_a_time_left_of_the_dealer_first_and_the_next_is_turned(players: int) -> None:
    simulator = Simulator(Rules(players=players), num_games=20, seed=3)
    for i in range(len(simulator)):
        game = simulator[i]
        order, stock = game.deal_order
        for seat in range(players):
            first = (seat - game.dealer - 1) % players
            assert game.hands[seat] == tuple(sorted(order[first::players]))
        assert sorted([*order, *stock, *([] if game.turned is None else [game.turned])]) == list(range(52))
        assert (game.turned is None) == (players * game.hand_size == 52)
        assert game.trump == (None if game.turned is None else game.turned // 13)


def test_cards_left_over_by_a_deal() -> None:
    five, three, seven = (Simulator(Rules(players=p), seed=1)[0] for p in (5, 3, 7))
    assert (five.hand_size, len(five.deal_order[0]), len(five.deal_order[1])) == (10, 50, 1)
    assert (three.hand_size, len(three.deal_order[0]), len(three.deal_order[1])) == (17, 51, 0)
    assert three.turned is not None
    assert (seven.hand_size, len(seven.deal_order[0])) == (7, 49)


def test_four_players_with_thirteen_cards_have_no_trump() -> None:
    simulator = table(13)
    assert simulator.games["trump"][0] == NO_TRUMP
    assert simulator.games["turned"][0] == -1


def test_the_deal_moves_left_and_its_left_neighbour_bids_and_leads_first() -> None:
    simulator = table(1, 1, 1, 1, 1, first_dealer=2)
    for dealer in (2, 3, 0, 1, 2):
        game = simulator[0]
        assert (game.dealer, game.player, game.phase) == (dealer, (dealer + 1) % 4, BID)
        for _ in range(4):
            simulator.step([simulator[0].legal_actions[0]])
        assert (simulator[0].player, simulator[0].phase) == ((dealer + 1) % 4, PLAY)
        for _ in range(4):
            simulator.step([simulator[0].legal_actions[0]])


def test_the_highest_total_wins_and_a_tie_is_shared() -> None:
    simulator = Simulator(
        Rules(ramp=(1,)), seed=1, reward="win", decks=[given_deck("2S", "AS", "3S", "4S", turned="2C")]
    )
    play(simulator, 1, 0, 0, 1, "AS", "3S", "4S")
    batch = simulator.step([parse_card("2S")])
    assert batch.match_over[0]
    assert batch.reward[0].tolist() == [0, 1, 0, 0]

    simulator.reset()
    play(simulator, 0, 0, 0, 0, "AS", "3S", "4S")
    batch = simulator.step([parse_card("2S")])
    assert batch.reward[0] == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])


def test_any_function_of_bid_taken_and_hand_size_can_score() -> None:
    simulator = table(2, scoring=lambda bid, taken, size: 100 * size + 10 * bid - taken / 2)
    points = simulator.tables["points"][0]
    assert points[2, 1, 2] == 209
    assert points[2, 2, 1] == 219.5


@jit
def seats_of_the_first(games: Any) -> Int:
    return rulebook.seats(games[0])


@pytest.mark.parametrize("rules", [Rules(), Rules(players=2)], ids=["standard", "wide"])
def test_compiled_code_takes_the_functions_of_the_records_form(rules: Rules) -> None:
    simulator = Simulator(rules, 1, seed=1, observe=False)
    assert seats_of_the_first(simulator.games) == simulator.form.players


@pytest.mark.parametrize("name", ["oh_hell", "golden and miser", "cooperative", "blind bids"])
def test_each_seats_record_of_bids_is_what_its_hands_came_to(name: str) -> None:
    tables = {**EVERY_TABLE, "oh_hell": Rules(), "golden and miser": Rules(ramp=(3, "4 golden", 2, "3 miser", 5))}
    match, choice = Match(tables[name], seed=4), random.Random(2)
    while match.game.phase != MATCH_OVER:
        match.step(choice.choice(match.game.legal_actions))
    record, players = match.games[0], match.rules.players
    off = np.array([[taken - bid for bid, taken in zip(hand.bids, hand.taken, strict=True)]
                    for hand in match.game.past_hands if None not in hand.bids])  # fmt: skip
    assert len(off) >= 2
    assert record["made"][:players].tolist() == (off == 0).sum(0).tolist()
    assert record["missed"][:players].tolist() == (off != 0).sum(0).tolist()
    assert record["over"][:players].tolist() == np.maximum(off, 0).sum(0).tolist()
    assert record["under"][:players].tolist() == np.maximum(-off, 0).sum(0).tolist()
    again = Simulator(match.rules, 1, seed=5)
    again.games[0] = record
    again.reset()
    assert not any(again.games[field].any() for field in ("made", "missed", "over", "under"))
