"""The scoring examples of the sources, one by one: what the package's scorings, and the referee's, say to each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from referee_table import SCORES
from variant_play import TABLES, one_hand

from ohhell_env.rules.scoring import num_arguments, resolve

Points = Callable[..., float]
LETTERS = "CDHS"


@pytest.fixture(params=["package", "referee"])
def points(request: pytest.FixtureRequest) -> Points:
    """points(scoring, bid, taken[, hand size, players, trump letter])."""

    def by_package(name: str, bid: int, taken: int, size: int = 7, players: int = 4, trump: str | None = None) -> float:
        arguments = (bid, taken, size, players, 4 if trump is None else LETTERS.index(trump))
        return resolve(name)(*arguments[: num_arguments(resolve(name))])

    def by_referee(name: str, bid: int, taken: int, size: int = 7, players: int = 4, trump: str | None = None) -> float:
        return float(SCORES[name](bid, taken, size, players, trump))

    return by_package if request.param == "package" else by_referee


# --- Encyclopedia, Scoring, in its order -----------------------------------------------------------------------------


def test_basic_a_point_a_trick_and_ten_more_for_the_contract(points: Points) -> None:
    assert points("basic", 3, 3) == 13
    assert points("basic", 3, 4) == 4
    assert points("basic", 3, 2) == 2


def test_exact_ten_plus_the_bid_or_nothing(points: Points) -> None:
    assert points("exact", 3, 3) == 13
    assert points("exact", 3, 4) == points("exact", 3, 2) == 0


def test_exact_with_penalty_missing_a_three_bid_scores_minus_three_and_a_zero_bid_zero(points: Points) -> None:
    assert points("exact_with_penalty", 3, 3) == 13
    assert points("exact_with_penalty", 3, 2) == points("exact_with_penalty", 3, 4) == -3
    assert points("exact_with_penalty", 0, 2) == 0


def test_exact_with_set_penalty_a_bid_of_four_is_worth_14_or_5_or_minus_10(points: Points) -> None:
    assert points("exact_with_set_penalty", 4, 4) == 14
    assert points("exact_with_set_penalty", 4, 5) == 5
    assert points("exact_with_set_penalty", 4, 3) == -10


def test_reduced_zero_a_zero_made_scores_only_five(points: Points) -> None:
    assert points("reduced_zero", 0, 0) == 5
    assert points("reduced_zero", 2, 2) == 12
    assert points("reduced_zero", 0, 3) == 3


def test_adjusted_zero_in_the_first_round_a_zero_is_worth_6_and_a_one_11(points: Points) -> None:
    assert points("adjusted_zero", 0, 0, 1) == 6
    assert points("adjusted_zero", 1, 1, 1) == 11
    assert points("adjusted_zero", 0, 0, 10) == 15


def test_progressive_bidding_and_making_four_tricks_is_26_points(points: Points) -> None:
    assert points("progressive", 4, 4) == 26
    assert points("progressive", 4, 5) == 5
    assert points("progressive", 0, 0) == 10


def test_montreal_ten_plus_twice_the_tricks_or_nothing(points: Points) -> None:
    assert points("montreal", 3, 3) == 16
    assert points("montreal", 3, 4) == 0


def test_negative_three_overtricks_add_six_points(points: Points) -> None:
    assert points("negative", 1, 4) == 6
    assert points("negative", 4, 1) == 6
    assert points("negative", 2, 3) == 1
    assert points("negative", 2, 2) == 0


def test_simplified_negative_the_square_of_the_tricks_off(points: Points) -> None:
    assert points("simplified_negative", 1, 4) == points("simplified_negative", 4, 1) == 9
    assert points("simplified_negative", 2, 2) == 0


def test_spades_double_the_points_of_the_round(points: Points) -> None:
    assert points("spades_double", 3, 3, trump="S") == 26
    assert points("spades_double", 3, 3, trump="H") == points("spades_double", 3, 3) == 13
    assert points("spades_double", 3, 2, trump="S") == 0


def test_trick_scoring_the_bid_itself_half_a_point_for_zero_and_one_off_for_each_trick(points: Points) -> None:
    assert points("trick", 3, 3) == 3
    assert points("trick", 0, 0) == 0.5
    assert points("trick", 3, 2) == points("trick", 2, 3) == -1


def test_binary_ten_or_nothing(points: Points) -> None:
    assert points("binary", 0, 0) == points("binary", 5, 5) == 10
    assert points("binary", 5, 4) == 0


def test_binary_with_nil_rule_a_nil_counts_more_where_there_are_more_tricks_than_players(points: Points) -> None:
    assert points("binary_nil", 0, 0, 5, 4) == 20
    assert points("binary_nil", 0, 1, 5, 4) == -10
    assert points("binary_nil", 0, 0, 4, 4) == 10
    assert points("binary_nil", 0, 1, 4, 4) == 0
    assert points("binary_nil", 2, 2, 5, 4) == 10


def test_scratch_fewest_scratches_win_and_among_equals_who_bid_the_most(points: Points) -> None:
    def total(*hands: tuple[int, int]) -> float:
        return sum(points("scratch", bid, taken) for bid, taken in hands)

    bold, timid = total((7, 7), (1, 0)), total((0, 0), (5, 4))
    assert bold > timid
    assert total((0, 0), (0, 0)) > total(*[(7, 7)] * 100, (1, 0))
    assert total((2, 2), (1, 1), (4, 0)) == total((3, 3), (0, 0), (0, 2))


# --- The other seeds -------------------------------------------------------------------------------------------------


def test_64_card_version_the_examples_of_its_inventors(points: Points) -> None:
    assert points("oh_sh", 3, 3) == 19
    assert points("oh_sh", 1, 2) == -3
    assert points("oh_sh", 4, 3) == -12
    assert points("oh_sh", 0, 0) == 10
    assert points("oh_sh", 0, 1) == -5


def test_seven_down_the_examples_of_the_house_rules(points: Points) -> None:
    assert points("seven_down", 0, 0) == 5
    assert points("seven_down", 3, 2) == -1
    assert points("seven_down", 1, 4) == -3
    assert points("seven_down", 1, 1) == 11
    assert points("seven_down", 2, 2) == 12
    assert points("seven_down", 3, 3) == 13


def test_blob_miss_your_bid_and_you_lose_points(points: Points) -> None:
    assert points("blob", 3, 3) == 13
    assert points("blob", 3, 1) == points("blob", 1, 3) == -2


def test_up_and_down_the_examples_of_the_rules_page(points: Points) -> None:
    assert [points("exact", bid, won, 1) for bid, won in [(1, 1), (0, 0), (1, 0), (0, 1)]] == [11, 10, 0, 0]
    assert [points("exact", bid, won, 5) for bid, won in [(3, 3), (2, 1), (0, 0), (2, 2)]] == [13, 0, 10, 12]


def test_online_table_a_bid_of_two_is_worth_12_and_with_three_tricks_only_3(points: Points) -> None:
    assert points("bid+10 / tricks taken", 2, 2) == 12
    assert points("bid+10 / tricks taken", 2, 3) == 3


@pytest.mark.parametrize(
    ("made", "worth"), [("bid+10", 13), ("2bid+10", 16), ("3bid+10", 19), ("10bid+10", 40), ("bid^2+10", 19)]
)
@pytest.mark.parametrize(("missed", "cost"), [("zero", 0), ("tricks taken", 5), ("-off", -2), ("-5 off", -10)])
def test_online_table_every_way_to_score_a_bid_of_three(
    points: Points, made: str, worth: int, missed: str, cost: int
) -> None:
    assert points(f"{made} / {missed}", 3, 3) == worth
    assert points(f"{made} / {missed}", 3, 5) == cost


# --- Points and who wins ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sit_down", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize(
    ("options", "scores", "shares"),
    [
        ({"scoring": "negative"}, (1, 1, 0), (0, 0, 1)),  # as in golf, the lowest wins
        ({"scoring": "negative", "lowest_wins": False}, (1, 1, 0), (0.5, 0.5, 0)),
        ({"scoring": "exact"}, (0, 0, 11), (0, 0, 1)),
        ({"scoring": "exact", "lowest_wins": True}, (0, 0, 11), (0.5, 0.5, 0)),
    ],
)
def test_the_highest_or_the_lowest_total_wins_as_the_scoring_or_the_table_says(
    sit_down: Any, options: dict[str, object], scores: tuple[float, ...], shares: tuple[float, ...]
) -> None:
    table = sit_down(one_hand("2C", "3C", "AC", **options))
    table.act(1, 1, 1, "2C", "3C", "AC")
    assert (table.scores, table.win_shares) == (scores, shares)
