"""Hands worked out by hand for every other table in the sources: its hands, its bids, its trump, its tricks."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from referee_views import bid_seen, card_shown, seen_hands, trump_known, unplaced
from variant_play import NIL_HANDS, SUITS, TABLES, EnvironmentTable, RefereeTable, one_hand

from ohhell_env import Deck, Rules, preset


@pytest.fixture(params=TABLES)
def sit_down(request: pytest.FixtureRequest) -> Any:
    """From rules with given deals to a table at which the first hand is dealt."""
    return TABLES[request.param]


# --- Order of hands --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "hands"),
    [
        (Rules(ramp="up-down"), [*range(1, 14), *range(12, 0, -1)]),  # encyclopedia: 25 deals, from 1 up to 13 and back
        (Rules(ramp="up-down", players=6), [*range(1, 9), *range(7, 0, -1)]),  # encyclopedia: six players, one deck, 8
        (Rules(ramp="up-down", players=7, deck="double deck"), [*range(1, 15), *range(13, 0, -1)]),  # encyclopedia: 14
        (Rules(ramp="up-down, peak twice", players=7), [*range(1, 8), *range(7, 0, -1)]),
        (Rules(ramp="up", players=7), [1, 2, 3, 4, 5, 6, 7]),
        (Rules(ramp="down", players=7), [7, 6, 5, 4, 3, 2, 1]),
        (Rules(ramp="up twice", players=7), [1, 2, 3, 4, 5, 6, 7] * 2),
        (Rules(ramp="10..1..10"), [*range(10, 0, -1), *range(2, 11)]),
        (Rules(ramp="1..10..1"), [*range(1, 11), *range(9, 0, -1)]),
        (Rules(ramp="10..1"), [*range(10, 0, -1)]),
        (Rules(ramp="1..10"), [*range(1, 11)]),
        (Rules(ramp="3..5..5"), [3, 4, 5]),  # online: a one-way ramp, switch and end set to the same
        (
            Rules(ramp="up-down", players=3, deck="double deck", cap=15),
            [*range(1, 16), *range(14, 0, -1)],
        ),  # encyclopedia: 15
        (preset("seven_up_seven_down"), [7, 6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7]),
        (preset("hassenpfeffer"), [7, 6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7]),
        (preset("crazy_whist"), [8, 7, 6, 5, 4, 3, 2, 1] * 4),
        (preset("oh_sh"), [*range(1, 11), 10, 10, *range(10, 0, -1)]),
        (preset("oh_sh", players=4), [*range(1, 17), 16, 16, *range(16, 0, -1)]),  # 64 cards: 16 each
        (preset("oh_sh", players=8), [*range(1, 9), 8, 8, *range(8, 0, -1)]),
        (preset("oh_sh", cap=7), [*range(1, 8), 7, 7, *range(7, 0, -1)]),  # encyclopedia: a shorter game up to 7
        (preset("pocha"), [*range(1, 11), *range(9, 0, -1)]),
    ],
)
def test_the_hands_of_a_match_come_in_this_order(rules: Rules, hands: list[int]) -> None:
    assert list(rules.hand_sizes) == [size for size, _ in RefereeTable(rules).game.ramp] == hands


def test_old_heck_has_33_hands_to_17_and_back_for_three_players_and_13_for_seven() -> None:
    assert preset("old_heck", players=3).num_hands == 33
    assert max(preset("old_heck", players=3).hand_sizes) == 17
    assert preset("old_heck", players=7).num_hands == 13


def test_crazy_whist_plays_its_hands_of_eight_without_trump_and_oh_sh_two_in_the_middle() -> None:
    for name, hands in (("crazy_whist", [0, 8, 16, 24]), ("oh_sh", [10, 11])):
        ramp = RefereeTable(preset(name)).game.ramp
        assert [number for number, (_, words) in enumerate(ramp) if words == {"no trump"}] == hands


# --- Making bids -----------------------------------------------------------------------------------------------------

FOUR_OF_FIVE = ["2C 3C 4C 5C 6C", "2D 3D 4D 5D 6D", "2H 3H 4H 5H 6H", "2S 3S 4S 5S 6S"]


@pytest.mark.parametrize(
    ("size", "bids", "open_to_the_dealer"),
    [
        (5, [2, 0, 1], {0, 1, 3, 4, 5}),  # encyclopedia: the dealer may not bid two
        (5, [3, 1, 2], {0, 1, 2, 3, 4, 5}),  # encyclopedia: free to make any bid
        (10, [2, 3, 1], set(range(11)) - {4}),  # online: prohibited from bidding 4
        (4, [2, 0, 1], {0, 2, 3, 4}),  # up-and-down
        (1, [1, 0, 0], {1}),  # seven-down: the dealer must say 1
        (1, [0, 0, 0], {0}),
    ],
)
@pytest.mark.parametrize("bidding", ["open", "sealed"])
def test_the_dealer_cannot_make_it_work(
    sit_down: Any, size: int, bids: list[int], open_to_the_dealer: set[int], bidding: str
) -> None:
    hands = [" ".join(f"{rank}{suit}" for rank in "23456789TJ"[:size]) for suit in "CDHS"]
    table = sit_down(one_hand(*hands, hook=True, bids=bidding))
    table.act(*bids)
    assert table.legal == open_to_the_dealer


def test_with_public_bidding_there_is_no_restriction(sit_down: Any) -> None:
    table = sit_down(one_hand(*FOUR_OF_FIVE, hook=False))
    table.act(2, 0, 1)
    assert table.legal == set(range(6))


def test_bids_at_the_same_time_are_seen_when_all_have_bid_and_nobody_is_hooked() -> None:
    table = RefereeTable(one_hand(*FOUR_OF_FIVE, bids="together"))
    table.act(2, 0, 1)
    assert table.legal == set(range(6))
    assert [bid_seen(table.game, 1, seat) for seat in range(4)] == ["hidden", 0, "hidden", None]
    table.act(2)
    assert [bid_seen(table.game, 1, seat) for seat in range(4)] == [2, 0, 1, 2]


def test_knocking_everyone_bids_again_while_it_works_and_must_change_after_three_times(sit_down: Any) -> None:
    table = sit_down(one_hand("2C 3C", "2D 3D", "2H 3H", bids="together", knocking=True))
    for _ in range(3):
        assert table.legal == {0, 1, 2}
        table.act(1, 0, 1)
    assert (table.phase, table.turn, table.legal) == ("bid", 0, {0, 2})
    table.act(0)
    assert table.legal == {1, 2}
    table.act(1)
    assert table.legal == {0, 2}
    table.act(2)
    assert table.phase == "play"


def test_knocking_the_seventh_bids_stand_in_any_case(sit_down: Any) -> None:
    table = sit_down(one_hand("2C 3C", "2D 3D", "2H 3H", bids="together", knocking=True))
    for _ in range(2):
        table.act(1, 0, 1)
    for _ in range(2):
        table.act(1, 0, 1, 0, 2, 0)
    assert table.phase == "bid"
    table.act(1, 0, 1)
    assert table.phase == "play"


def test_knocking_bids_that_do_not_work_stand_at_once(sit_down: Any) -> None:
    table = sit_down(one_hand("2C 3C", "2D 3D", "2H 3H", bids="together", knocking=True))
    table.act(1, 1, 1)
    assert table.phase == "play"


def blind_table(sit_down: Any, **options: Any) -> Any:
    hands = ["KC QC JC TC 9C", "2D 3D 4D 5D 6D", "2H 3H 4H 5H 6H"]
    return sit_down(one_hand(*hands, blind_bids=True, **options))


def all_to_the_leader(table: Any) -> None:
    """Seat 0 holds the only clubs and takes all five tricks."""
    for club, diamond, heart in zip("KQJT9", "23456", "23456", strict=True):
        table.act(f"{club}C", f"{diamond}D", f"{heart}H")


def test_blind_bids_are_made_before_the_cards_are_dealt(sit_down: Any) -> None:
    table = blind_table(sit_down)
    assert (table.phase, table.turn, table.legal) == ("blind", 0, {"pass", 0, 1, 2, 3, 4, 5})
    table.act(5, "pass", 3)
    assert (table.phase, table.turn) == ("bid", 0)


def test_a_blind_bid_may_be_moved_by_two_tricks(sit_down: Any) -> None:
    table = blind_table(sit_down)
    table.act(4, "pass", 1)
    assert table.legal == {2, 3, 4, 5}
    table.act(4)
    assert table.legal == {0, 1, 2, 3, 4, 5}
    table.act(0)
    assert table.legal == {0, 1, 2, 3}


def test_a_blind_bid_counts_double_and_one_that_was_moved_one_and_a_half_or_three_times(sit_down: Any) -> None:
    table = blind_table(sit_down, scoring="seven_down")
    table.act(5, 3, 1, 5, 3, 0)
    all_to_the_leader(table)
    assert table.points == (30, -6, 7.5)  # 2 * 15, 2 * -3, 1.5 * 5
    table = blind_table(sit_down, scoring="seven_down")
    table.act(4, "pass", 1, 5, 3, 3)
    all_to_the_leader(table)
    assert table.points == (22.5, -3, -9)  # 1.5 * 15, -3, 3 * -3


def test_where_the_lowest_wins_points_are_what_a_moved_blind_bid_loses(sit_down: Any) -> None:
    table = blind_table(sit_down, scoring="negative")
    table.act(4, 1, "pass", 5, 2, 1)
    all_to_the_leader(table)
    assert table.points == (0, 9, 1)


def test_a_blind_bid_that_fails_gains_nothing_more(sit_down: Any) -> None:
    table = blind_table(sit_down, scoring="basic")  # which pays for misses
    table.act(1, 3, "pass", 1, 1, 0)
    all_to_the_leader(table)
    assert table.points == (5, 0, 10), "bid 1 blind, took 5: a point a trick, once"
    table = blind_table(sit_down, scoring="basic")
    table.act(3, 0, "pass", 4, 0, 0)
    all_to_the_leader(table)
    assert table.points == (5, 20, 10), "the same where it was moved; a blind zero made counts twice"


def test_the_hook_can_force_a_blind_dealer_to_move(sit_down: Any) -> None:
    table = blind_table(sit_down, hook=True)
    table.act("pass", "pass", 2, 3, 0)
    assert table.legal == {0, 1, 3, 4}


def test_in_the_nil_round_the_trump_card_is_face_down_and_each_passes_or_goes_nil(sit_down: Any) -> None:
    table = sit_down(one_hand(*NIL_HANDS, turned="AS", nil_round=True))
    assert (table.phase, table.turn, table.legal, table.trump) == ("nil", 0, {"pass", 0}, None)
    table.act("pass", 0, "pass")
    assert (table.phase, table.turn, table.legal, table.trump) == ("bid", 0, {1, 2, 3, 4}, "spades")
    table.act(4)
    assert table.turn == 2
    assert table.legal == {1, 2, 3, 4}


def test_after_the_nil_round_the_last_bidder_is_hooked_who_may_not_be_the_dealer(sit_down: Any) -> None:
    table = sit_down(one_hand(*NIL_HANDS, turned="AS", nil_round=True, hook=True))
    table.act("pass", "pass", 0, 1)
    assert (table.turn, table.legal) == (1, {1, 2, 4})
    table.act(1)
    assert table.phase == "play"


def test_where_all_go_nil_nobody_bids_again(sit_down: Any) -> None:
    table = sit_down(one_hand(*NIL_HANDS, turned="AS", nil_round=True, hook=True))
    table.act(0, 0, 0)
    assert (table.phase, table.turn, table.trump) == ("play", 0, "spades")


def test_there_is_no_nil_round_unless_the_tricks_are_more_than_the_players(sit_down: Any) -> None:
    table = sit_down(one_hand("2C 3C 4C", "2D 3D 4D", "2H 3H 4H", nil_round=True))
    assert (table.phase, table.legal) == ("bid", {0, 1, 2, 3})


def test_cooperative_bids_must_fit_and_a_missed_hand_is_dealt_again_by_the_next_dealer() -> None:
    rules = Rules(players=3, ramp=(2, 1), bids="open", hook=False, cooperative=True, attempts=2, trump="none")
    table = RefereeTable(rules)
    assert table.legal == {0, 1, 2}
    table.act(1)
    assert table.legal == {0, 1}
    table.act(0)
    assert table.legal == {1}
    table.act(1, *_dealer_takes_both())
    assert (table.points, table.scores) == ((0, 0, 0), (0, 0, 0))
    game = table.game
    assert (game.size, game.dealer, game.turn, game.attempt) == (2, 1, 2, 2)


def test_a_cooperative_hand_is_dealt_until_it_is_made_unless_the_table_sets_a_limit() -> None:
    rules = Rules(players=3, ramp=(2, 1), bids="open", hook=False, cooperative=True, trump="none")
    table = RefereeTable(rules)
    for failed in range(1, 11):
        table.act(1, 0, 1, *_dealer_takes_both())
        assert (table.phase, table.game.attempt, table.game.size) == ("bid", failed + 1, 2)
    table.act(0, 0, 2, *_dealer_takes_both())
    assert (table.game.attempt, table.game.size, sum(table.scores)) == (1, 1, 32)
    env, random, most = EnvironmentTable(rules), Random(1), 0
    while env.phase != "over":
        env.act(random.choice(sorted(env.legal, key=str)))
        most = max(most, env.game.deals)
    assert most > 3 and sum(env.win_shares) == 1, "made at last, by chance"


def test_penguin_whist_hands_of_three_and_more_are_sorted_by_suit_before_the_bidding(sit_down: Any) -> None:
    hands = ("3S AC 2H 7C", "4S 4H 4D 4C", "5C 5S 6C 5D")
    table = sit_down(one_hand(*hands, own_cards="hidden", sort_hands=True))
    table.act(1, 1, 1)
    assert table.legal == {0, 1, 2, 3}, "positions of AC 7C 2H 3S"
    table.act(0)
    assert table.legal == {0}, "4C, 4D, 4H, 4S"
    table.act(0)
    assert table.legal == {0, 1}, "5C, 6C, 5D, 5S"
    unsorted = sit_down(one_hand("3S AC", "4S 4C", "5C 5S", own_cards="hidden", sort_hands=True))
    unsorted.act(1, 1, 1, 1)
    assert unsorted.legal == {1}, "hands of two lie as they were dealt"


def _dealer_takes_both() -> list[str]:
    """The deck in order deals seat 1 the 2C and 5C, seat 2 the 3C and 6C, seat 0 the 4C and 7C."""
    return ["5C", "6C", "7C", "4C", "2C", "3C"]


def test_a_cooperative_match_is_lost_after_so_many_deals_of_one_hand_and_nobody_wins() -> None:
    rules = Rules(players=3, ramp=(2, 1), bids="open", hook=False, cooperative=True, attempts=1, trump="none")
    table = RefereeTable(rules)
    table.act(1, 0, 1, *_dealer_takes_both())
    assert (table.phase, table.game.lost, table.win_shares) == ("over", True, (0, 0, 0))


def test_a_cooperative_hand_that_works_is_scored_and_the_next_one_dealt() -> None:
    rules = Rules(players=3, ramp=(2, 1), bids="open", hook=False, cooperative=True, attempts=1, trump="none")
    table = RefereeTable(rules)
    table.act(0, 0, 2, *_dealer_takes_both())
    assert (table.points, table.game.size, table.game.dealer) == ((12, 10, 10), 1, 1)


# --- Special hands ---------------------------------------------------------------------------------------------------


def test_in_a_trumpless_hand_no_card_is_turned(sit_down: Any) -> None:
    table = sit_down(one_hand("KC", "AS", "2C", special="no trump", trump="spades"))
    table.act(1, 1, 1, "KC", "AS", "2C")
    assert table.points == (11, 0, 0)


def test_in_a_blind_hand_contracts_are_made_before_anybody_looks_and_trump_is_known() -> None:
    table = RefereeTable(one_hand("KC 2C", "AS 2S", "3C 4C", turned="TD", special="blind"))
    game = table.game
    assert (table.trump, card_shown(game), trump_known(game)) == ("diamonds", "TD", True)
    table.act(1, 1)
    assert seen_hands(game, 2) == [None, None, None]
    table.act(1)
    assert seen_hands(game, 2) == [None, None, Counter(["3C", "4C"])]


def test_in_a_golden_hand_nobody_bids_and_a_trick_is_a_point(sit_down: Any) -> None:
    table = sit_down(one_hand("KC 2C", "AS 2S", "3C 4C", special="golden"))
    assert (table.phase, table.turn) == ("play", 0)
    table.act("KC", "AS", "3C", "2C", "2S", "4C")
    assert table.points == (1, 0, 1)


def test_where_the_lowest_total_wins_a_golden_hand_is_won_by_who_takes_the_tricks(sit_down: Any) -> None:
    hands = ("AC KC QC", "2C 3C 4C", "2D 3D 4D")
    table = sit_down(one_hand(*hands, special="golden", scoring="negative"))
    table.act("AC", "2C", "2D", "KC", "3C", "3D", "QC", "4C", "4D")
    assert (table.points, table.win_shares) == ((-3, 0, 0), (1, 0, 0))


def test_where_the_lowest_total_wins_a_miser_hand_is_won_by_who_takes_the_fewest(sit_down: Any) -> None:
    table = sit_down(one_hand("KC 2C", "AS 2S", "3C 4C", special="miser", scoring="negative"))
    table.act("KC", "AS", "3C", "2C", "2S", "4C")
    assert (table.points, table.win_shares) == ((1, 0, 1), (0, 1, 0))


def test_in_a_miser_hand_the_least_tricks_fulfil_the_contract(sit_down: Any) -> None:
    table = sit_down(one_hand("KC 2C", "AS 2S", "3C 4C", special="miser", scoring="seven_down"))
    assert (table.phase, table.turn) == ("play", 0)
    table.act("KC", "AS", "3C", "2C", "2S", "4C")
    assert table.points == (-1, 5, -1)


def test_in_a_miser_hand_in_which_all_take_a_trick_all_have_the_least(sit_down: Any) -> None:
    table = sit_down(one_hand("KC 2D", "AD 2S", special="miser"))
    table.act("KC", "2S", "2D", "AD")
    assert table.points == (10, 10)


# --- Trump suit ------------------------------------------------------------------------------------------------------


def test_spades_are_always_trump_and_nothing_is_turned(sit_down: Any) -> None:
    table = sit_down(one_hand("AH", "2S", "KH", trump="spades"))
    assert table.trump == "spades"
    table.act(0, 1, 0, "AH", "2S", "KH")
    assert table.points == (10, 11, 10)


def test_oh_pshaw_no_card_is_turned_and_every_round_is_no_trump(sit_down: Any) -> None:
    table = sit_down(one_hand("2H", "AS", "KC", trump=preset("oh_pshaw").trump))
    table.act(1, 0, 0, "2H", "AS", "KC")
    assert (table.trump, table.points) == (None, (11, 10, 10))


def test_trump_is_rotated_each_hand_diamonds_clubs_hearts_spades_no_trump(sit_down: Any) -> None:
    order = ("diamonds", "clubs", "hearts", "spades", "none")
    table = sit_down(Rules(players=2, ramp=(1,) * 6, trump=order, bids="open", hook=False))
    seen = []
    for _ in range(6):
        seen.append(table.trump)
        table.act(0, 0)
        table.act(min(table.legal))
        table.act(min(table.legal))
    assert seen == ["diamonds", "clubs", "hearts", "spades", None, "diamonds"]


def test_the_highest_bidder_names_trump_after_everybody_has_bid_and_of_equals_the_first(sit_down: Any) -> None:
    table = sit_down(one_hand("AH KH", "2S 3S", "QH JH", trump="named"))
    table.act(1, 2, 2)
    assert (table.phase, table.turn, table.legal, table.trump) == ("name trump", 1, SUITS, None)
    table.act("spades")
    assert (table.phase, table.turn, table.trump) == ("play", 0, "spades")
    table.act("AH", "2S", "QH")
    assert table.taken == (0, 1, 0)


FULL_HANDS = [" ".join(f"{rank}{suit}" for rank in "23456789TJQKA") for suit in "CDHS"]


def test_when_the_whole_deck_is_dealt_there_is_no_trump(sit_down: Any) -> None:
    assert sit_down(one_hand(*FULL_HANDS, trump="turned")).trump is None


def test_or_the_dealers_last_card_is_shown_and_then_enters_his_hand(sit_down: Any) -> None:
    table = sit_down(one_hand(*FULL_HANDS, trump="turned", full_deal="last"))
    assert table.trump == "spades"
    table.act(0, 0, 0, 0, "2C", "2D", "2H")
    assert "AS" in table.legal


def test_the_dealers_last_card_is_known_to_all_until_it_is_played() -> None:
    game = RefereeTable(one_hand("2C", "3C", "AS", trump="turned", full_deal="last", deck=Deck.of("2C 3C AS"))).game
    assert (card_shown(game), unplaced(game, 0)) == ("AS", Counter(["3C"]))


def test_or_a_card_is_flipped_up_before_the_deal_and_shuffled_back_in() -> None:
    game = RefereeTable(one_hand("2C", "3C", "AS", trump="turned", full_deal="cut", deck=Deck.of("2C 3C AS"))).game
    assert (game.trump_suit, card_shown(game), unplaced(game, 0)) == ("C", "2C", Counter(["3C", "AS"]))
