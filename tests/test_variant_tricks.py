"""Tricks worked out by hand for every other table in the sources: who may play what, who wins, who sees what."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from referee_views import bid_seen, blind_seen, seen_hands, unplaced
from variant_play import NIL_HANDS, SUITS, TABLES, RefereeTable, deal_order, one_hand


@pytest.fixture(params=TABLES)
def sit_down(request: pytest.FixtureRequest) -> Any:
    """From rules with given deals to a table at which the first hand is dealt."""
    return TABLES[request.param]


# --- Double deck -----------------------------------------------------------------------------------------------------

SEVEN = ["3S", "QH", "7H", "QH", "8D", "7H", "3S"]


def seven_players(sit_down: Any, duplicates: str) -> Any:
    table = sit_down(one_hand(*SEVEN, turned="AH", deck="double deck", duplicates=duplicates))
    table.act(0, 1, 0, 0, 0, 0, 0)
    table.act(*SEVEN)
    return table


def test_exception_the_first_queen_of_hearts_wins_the_trick_of_the_example(sit_down: Any) -> None:
    assert seven_players(sit_down, "exception").points == (10, 11, 10, 10, 10, 10, 10)


def test_pinochle_rule_the_first_queen_has_precedence(sit_down: Any) -> None:
    assert seven_players(sit_down, "first").points == (10, 11, 10, 10, 10, 10, 10)


def test_up_the_ante_a_last_trick_that_nobody_can_win_is_lost(sit_down: Any) -> None:
    assert seven_players(sit_down, "ante").points == (10, 0, 10, 10, 10, 10, 10)


def test_up_the_ante_the_same_player_leads_again_and_the_next_trick_counts_double(sit_down: Any) -> None:
    table = sit_down(one_hand("KC 2C QD", "KC 3C 2D", "AD 5D 3D", deck="double deck", duplicates="ante"))
    table.act(1, 2, 0, "KC", "KC", "AD")
    assert (table.taken, table.turn) == ((0, 0, 0), 0)
    table.act("2C", "3C", "5D")
    assert (table.taken, table.turn) == ((0, 2, 0), 1)
    table.act("2D", "3D", "QD")
    assert table.points == (11, 12, 10)


def test_up_the_ante_counts_on_until_somebody_wins(sit_down: Any) -> None:
    hands = ("KC 2C QD", "KC 2C 2D")
    table = sit_down(one_hand(*hands, deck="double deck", duplicates="ante"))
    table.act(3, 0)
    table.act("KC", "KC")
    assert (table.taken, table.turn) == ((0, 0), 0)
    table.act("2C", "2C")
    assert (table.taken, table.turn) == ((0, 0), 0)
    table.act("QD", "2D")
    assert table.points == (13, 10)


def test_cancelled_trumps_leave_the_trick_to_the_suit_led(sit_down: Any) -> None:
    for duplicates in ("ante", "exception"):
        table = sit_down(one_hand("3S", "QH", "QH", "5S", turned="AH", deck="double deck", duplicates=duplicates))
        table.act(0, 0, 0, 1, "3S", "QH", "QH", "5S")
        assert table.points == (10, 10, 10, 11)


# --- Own cards, others' cards ----------------------------------------------------------------------------------------


def test_on_the_forehead_all_see_the_cards_of_the_others_but_not_their_own_until_one_is_led() -> None:
    table = RefereeTable(one_hand("KC", "AS", "3C", own_cards="forehead"))
    assert seen_hands(table.game, 1) == [Counter(["KC"]), None, Counter(["3C"])]
    table.act(0, 1, 0)
    assert seen_hands(table.game, 1)[1] is None
    table.act("KC")
    assert seen_hands(table.game, 1)[1] == Counter(["AS"])


def test_in_larger_hands_nothing_is_on_the_forehead() -> None:
    table = RefereeTable(one_hand("KC 2C", "AS 2S", "3C 3D", own_cards="forehead"))
    assert seen_hands(table.game, 1) == [None, Counter(["AS", "2S"]), None]


def test_penguin_whist_seats_play_by_position_and_are_told_which_ones_follow_suit(sit_down: Any) -> None:
    table = sit_down(one_hand("KC 2C 9H", "AS 3C 4C", "3D 4D 5D", own_cards="hidden"))
    table.act(1, 1, 1)
    assert table.legal == {0, 1, 2}
    table.act(2)  # the 9H
    assert table.legal == {0, 1, 2}
    table.act(0, 1)
    assert (table.turn, table.legal, table.taken) == (0, {0, 1}, (1, 0, 0))
    table.act(1)  # the 2C
    assert table.legal == {1, 2}


def test_penguin_whist_nobody_ever_sees_their_own_cards() -> None:
    table = RefereeTable(one_hand("KC 2C", "AS 3C", own_cards="hidden"))
    for move in (1, 1, 0, 1):
        assert seen_hands(table.game, 0)[0] is None
        assert "2C" in unplaced(table.game, 0)
        table.act(move)


def test_all_hands_may_lie_face_up() -> None:
    table = RefereeTable(one_hand("KC 2C", "AS 2S", "3C 3D", hands_shown=True))
    assert seen_hands(table.game, 2) == [Counter(["KC", "2C"]), Counter(["AS", "2S"]), Counter(["3C", "3D"])]


def test_sealed_blind_bids_and_sealed_bids_stay_hidden_but_a_pass_and_a_nil_are_heard() -> None:
    game = RefereeTable(one_hand("2C 3C", "2D 3D", "2H 3H", blind_bids=True, bids="sealed")).game
    for move in (2, "pass", 1):
        game.act(move)
    assert [blind_seen(game, 1, seat) for seat in range(3)] == ["hidden", "pass", "hidden"]
    for move in (2, 0, 1):
        game.act(move)
    assert [blind_seen(game, 1, seat) for seat in range(3)] == [2, "pass", 1]
    game = RefereeTable(one_hand(*NIL_HANDS, nil_round=True, bids="sealed")).game
    for move in (0, "pass", "pass", 3):
        game.act(move)
    assert [bid_seen(game, 2, seat) for seat in range(3)] == [0, "hidden", None]


# --- Leading trump, playing trump ------------------------------------------------------------------------------------


def test_after_the_first_trick_trump_may_be_led(sit_down: Any) -> None:
    table = sit_down(one_hand("KS AC 2C", "2S 3C 4C", "3S 5C 6C", trump="spades", lead_trump="not first"))
    table.act(1, 1, 1)
    assert table.legal == {"AC", "2C"}
    table.act("AC", "3C", "5C")
    assert table.legal == {"KS", "2C"}


def test_trump_may_be_led_once_it_is_broken(sit_down: Any) -> None:
    hands = ("KS AC KC QC", "2S 3C 4C 2D", "3S 5C 6C 7C")
    table = sit_down(one_hand(*hands, trump="spades", lead_trump="broken"))
    table.act(1, 1, 1, "AC", "3C", "5C", "KC", "4C", "6C")
    assert table.legal == {"QC"}
    table.act("QC", "2S", "7C")
    assert (table.turn, table.legal) == (1, {"2D"})


def test_broken_trump_may_be_led(sit_down: Any) -> None:
    hands = ("KC AC 2D", "2S 3S 3C", "5C 6C 7D")
    table = sit_down(one_hand(*hands, trump="spades", lead_trump="broken"))
    table.act(1, 1, 1, "AC", "3C", "5C", "KC", "2S", "6C")
    assert (table.turn, table.legal) == (1, {"3S"})
    hands = ("KC AC 2D", "2S 3S 4D", "5C 6C 7D")
    table = sit_down(one_hand(*hands, trump="spades", lead_trump="broken"))
    table.act(1, 1, 1, "AC", "2S", "5C")
    assert (table.turn, table.legal) == (1, {"3S", "4D"})


def test_a_lead_of_trump_that_nobody_could_help_does_not_break_it(sit_down: Any) -> None:
    hands = ("4S 3S 2S", "AS KS 4D", "5S 6C 7D")
    table = sit_down(one_hand(*hands, trump="spades", lead_trump="broken"))
    table.act(1, 1, 1, "4S", "AS", "5S")
    assert (table.turn, table.legal) == (1, {"4D"}), "online table: broken is dumped on a trick"
    table.act("4D", "7D", "2S")
    assert (table.turn, table.legal) == (0, {"3S"})


@pytest.mark.parametrize("lead_trump", ["broken", "not first"])
def test_who_has_only_trumps_may_lead_them(sit_down: Any, lead_trump: str) -> None:
    table = sit_down(one_hand("KS 2S", "AC 2C", trump="spades", lead_trump=lead_trump))
    table.act(1, 1)
    assert table.legal == {"KS", "2S"}


def test_who_cannot_follow_suit_must_play_trump_where_the_table_says_so(sit_down: Any) -> None:
    for must, allowed in ((True, {"2S"}), (False, {"2S", "2D"})):
        table = sit_down(one_hand("KC AC", "2S 2D", "3C 4C", trump="spades", must_trump=must))
        table.act(1, 1, 1, "KC")
        assert table.legal == allowed


# --- Decks -----------------------------------------------------------------------------------------------------------


def test_in_spain_the_three_ranks_next_to_the_ace(sit_down: Any) -> None:
    table = sit_down(one_hand("KC", "3C", "2C", "7C", deck="spanish"))
    table.act(0, 1, 0, 0, "KC", "3C", "2C", "7C")
    assert table.points == (10, 11, 10, 10)
    table = sit_down(one_hand("3C", "AC", deck="spanish"))
    table.act(0, 1, "3C", "AC")
    assert table.points == (10, 11)


def test_the_six_handed_500_pack_has_elevens_twelves_and_red_thirteens_between_ten_and_jack(sit_down: Any) -> None:
    table = sit_down(one_hand("TH", "11H", "13H", "12H", "JH", deck="five hundred"))
    table.act(0, 0, 0, 0, 1, "TH", "11H", "13H", "12H", "JH")
    assert table.points == (10, 10, 10, 10, 11)


def test_the_joker_of_500_is_the_highest_trump(sit_down: Any) -> None:
    table = sit_down(one_hand("2H AH", "* 3C", "KH 4H", trump="hearts", deck="five hundred"))
    table.act(0, 1, 0, "AH")
    assert table.legal == {"*"}  # it belongs to hearts, so it must follow
    table.act("*", "KH")
    assert table.taken == (0, 1, 0)


def test_without_trump_the_joker_of_500_is_the_highest_card_of_the_suit_led(sit_down: Any) -> None:
    table = sit_down(one_hand("AH 2C", "* 3H", deck="five hundred"))
    table.act(1, 1, "AH")
    assert table.legal == {"*", "3H"}
    table.act("*")
    assert (table.taken, table.turn) == ((0, 1), 1)


RANKS_IN_TRUMP = ["SH", "2H", "*S", "*1", "*2", "*L", "AH", "KH", "QH", "3H"]


def test_oh_sh_the_super_two_is_highest_then_the_two_the_jokers_and_the_ace(sit_down: Any) -> None:
    for high, low in pairwise(RANKS_IN_TRUMP):
        for hands in ((high, low), (low, high)):
            table = sit_down(one_hand(*hands, trump="hearts", deck="oh sh"))
            table.act(0, 0, *hands)
            assert table.points == tuple(0 if card == high else 10 for card in hands)


def test_oh_sh_of_two_aces_the_first_ranks_higher(sit_down: Any) -> None:
    table = sit_down(one_hand("AH", "AH", trump="hearts", deck="oh sh"))
    table.act(1, 0, "AH", "AH")
    assert table.points == (11, 10)


def test_oh_sh_without_trump_the_super_two_is_no_higher_than_the_two(sit_down: Any) -> None:
    for hands in (("SH", "2H"), ("2H", "SH")):
        table = sit_down(one_hand(*hands, deck="oh sh"))
        table.act(1, 0, *hands)
        assert table.points == (11, 10)
    table = sit_down(one_hand("SH", "3H", deck="oh sh"))
    table.act(0, 1, "SH", "3H")
    assert table.points == (10, 11)


def test_oh_sh_without_trump_a_joker_saves_the_ace_of_the_example(sit_down: Any) -> None:
    table = sit_down(one_hand("AH 2C", "AH *L", deck="oh sh"))
    table.act(1, 1, "AH")
    assert table.legal == {"AH", "*L"}
    table.act("*L")
    assert table.taken == (1, 0)


def test_oh_sh_who_leads_a_joker_without_trump_names_the_suit_whose_highest_card_wins(sit_down: Any) -> None:
    table = sit_down(one_hand("*S 2C", "3D 3H", "AH 4C", deck="oh sh"))
    table.act(0, 1, 0, "*S")
    assert (table.phase, table.turn, table.legal) == ("name suit", 0, SUITS)
    table.act("diamonds")
    assert (table.phase, table.turn, table.legal) == ("play", 1, {"3D"})
    table.act("3D", "AH")
    assert table.taken == (0, 1, 0)


def test_oh_sh_with_no_cards_of_the_suit_named_who_led_the_joker_gets_the_trick(sit_down: Any) -> None:
    table = sit_down(one_hand("*L 2C", "*S 3H", "AH 4C", deck="oh sh"))
    table.act(0, 1, 0, "*L", "spades", "*S", "AH")
    assert table.taken == (1, 0, 0)


def test_with_trump_a_joker_led_is_trump_and_nothing_is_named(sit_down: Any) -> None:
    table = sit_down(one_hand("*L 2C", "2H 3H", trump="hearts", deck="oh sh"))
    table.act(0, 1, "*L")
    assert (table.phase, table.legal) == ("play", {"2H", "3H"})


def test_if_a_joker_is_turned_up_the_dealer_names_trump_or_makes_it_no_trump(sit_down: Any) -> None:
    for word, trump in (("hearts", "hearts"), ("none", None)):
        table = sit_down(one_hand("2C 3C", "4C 5C", "6C 7C", turned="*1", trump="turned", deck="oh sh"))
        assert (table.phase, table.turn, table.legal) == ("name trump", 2, {*SUITS, "none"})
        table.act(word)
        assert (table.phase, table.turn, table.trump) == ("bid", 0, trump)


def test_the_deal_goes_round_from_the_dealers_left() -> None:
    assert deal_order(["1", "2", "3", "4", "5"], ["1 2", "3 4"], dealer=0, turned="5") == ["3", "1", "4", "2", "5"]
