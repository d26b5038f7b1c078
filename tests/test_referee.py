"""What the slow referee must hold to: statements about the game, each checked on hands laid out by name."""

import random
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest
from referee import FULL_DECK, IllegalMove, Referee, default_ramp, exact_score, rank_of, suit_of, trick_winner

EVERY_TABLE = [3, 4, 5, 6, 7]
NEXT_TO_ACT = {"bid", "play"}


def stacked(hands: Sequence[str], dealer: int = 0, turned: str = "") -> list[str]:
    """A deck that deals `hands` (a string of cards a seat), then turns up `turned`, then the rest in deck order."""
    piles = [hand.split() for hand in hands]
    first = (dealer + 1) % len(piles)
    round_the_table = piles[first:] + piles[:first]
    dealt = [card for one_round in zip(*round_the_table, strict=True) for card in one_round]
    top = dealt + turned.split()
    return top + [card for card in FULL_DECK if card not in top]


def one_hand(size: int, players: int = 4, **options: Any) -> Referee:
    """A dealt hand of `size` cards from a deck in order; the last seat deals, so that seat 0 bids and leads first."""
    game = Referee(players=players, ramp=[size], first_dealer=players - 1, **options)
    game.deal(FULL_DECK)
    return game


def laid_out(hands: Sequence[str], turned: str = "", **options: Any) -> Referee:
    """A match of the one hand given; the last seat deals, so that seat 0 bids and leads first."""
    players = len(hands)
    game = Referee(players=players, ramp=[len(hands[0].split())], first_dealer=players - 1, **options)
    game.deal(stacked(hands, dealer=players - 1, turned=turned))
    return game


def make(game: Referee, *moves: int | str) -> Referee:
    for move in moves:
        game.act(move)
    return game


def some_move(game: Referee, rng: random.Random) -> Any:
    return rng.choice(sorted(game.legal(), key=str))


def shuffled(cards: Sequence[str], rng: random.Random) -> list[str]:
    return rng.sample(cards, len(cards))


def play_out_hand(game: Referee, rng: random.Random) -> Referee:
    while game.phase in NEXT_TO_ACT:
        game.act(some_move(game, rng))
    return game


def everything(game: Referee) -> dict[str, Any]:
    return deepcopy(vars(game))


def refuses(game: Referee, move: Any, reason: str) -> bool:
    """`move` is refused for `reason`, and not a thing has changed."""
    before = everything(game)
    with pytest.raises(IllegalMove, match=reason):
        game.act(move)
    return everything(game) == before


# --- The ramp ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "hands"), [(3, 33), (4, 25), (5, 19), (6, 15), (7, 13)])
def test_a_match_has_so_many_hands(players: int, hands: int) -> None:
    assert len(default_ramp(players)) == len(Referee(players).ramp) == hands


def test_four_players_go_from_thirteen_down_to_one_and_back_up() -> None:
    down_and_up = [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
    assert default_ramp(4) == down_and_up


def test_a_small_deck_has_a_shorter_ramp() -> None:
    assert Referee(3, deck=["2C", "3C", "4C", "2H", "3H", "4H", "5H"]).ramp == [2, 1, 2]


def test_the_hands_of_a_given_ramp_come_in_its_order() -> None:
    rng = random.Random(1)
    game = Referee(5, ramp=[2, 7, 1])
    seen: list[tuple[int, int, int]] = []
    while game.phase == "deal":
        assert game.next_hand_size == game.ramp[len(seen)]
        game.deal(FULL_DECK)
        seen.append((game.hand_number, game.hand_size, game.view(0)["hands_left"]))
        play_out_hand(game, rng)
    assert seen == [(0, 2, 2), (1, 7, 1), (2, 1, 0)]
    assert (game.phase, game.next_hand_size) == ("over", None)


def test_impossible_tables_are_refused() -> None:
    for options, reason in [
        ({"players": 2}, "3 to 7"),
        ({"players": 8}, "3 to 7"),
        ({"ramp": []}, "no hands"),
        ({"ramp": [14]}, "cannot be dealt"),
        ({"ramp": [3, 0]}, "cannot be dealt"),
        ({"deck": ["2C", "2C", "3C", "4C"]}, "different cards"),
        ({"deck": ["2C", "3C", "4C", "1C"]}, "different cards"),
        ({"trump": "spades"}, "trump"),
        ({"first_dealer": 4}, "first_dealer"),
    ]:
        with pytest.raises(ValueError, match=reason):
            Referee(**options)  # type: ignore[arg-type]


# --- Deal and trump ----------------------------------------------------------------------------------------------


def test_the_cards_go_round_one_at_a_time_from_the_dealers_left() -> None:
    game = Referee(4, ramp=[2])
    game.deal(["2C", "3D", "4H", "5S", "6C", "7D", "8H", "9S", "TD"])
    assert game.hands == [{"5S", "9S"}, {"2C", "6C"}, {"3D", "7D"}, {"4H", "8H"}]
    assert (game.turned, game.trump_suit) == ("TD", "D")
    assert (game.phase, game.turn) == ("bid", 1)


def test_seat_one_deals_first_and_the_deal_passes_to_the_left() -> None:
    rng = random.Random(2)
    game = Referee(3, ramp=[1] * 5)
    dealers = []
    while game.phase == "deal":
        dealers.append(game.dealer)
        game.deal(FULL_DECK)
        assert game.turn == (game.dealer + 1) % 3
        assert game.legal() == {0, 1}
        play_out_hand(game, rng)
    assert dealers == [0, 1, 2, 0, 1]


def test_another_first_dealer_shifts_the_deal_round_the_table() -> None:
    game = Referee(4, ramp=[1], first_dealer=2)
    game.deal(["AS", "KS", "QS", "JS", "2D"])
    assert game.hands == [{"KS"}, {"QS"}, {"JS"}, {"AS"}]
    assert game.turn == 3


def test_the_turned_card_is_out_of_play() -> None:
    game = one_hand(2)
    assert game.turned == FULL_DECK[8]
    assert all(game.turned not in hand for hand in game.hands)
    for seat in range(4):
        assert game.view(seat)["turned"] == game.turned
        assert game.turned not in game.view(seat)["unseen"]


def test_four_hands_of_thirteen_use_the_pack_and_have_no_trump() -> None:
    game = one_hand(13)
    assert sorted(card for hand in game.hands for card in hand) == sorted(FULL_DECK)
    assert (game.turned, game.trump_suit) == (None, None)


def test_only_the_first_and_the_last_hand_of_four_players_lack_a_trump() -> None:
    rng = random.Random(3)
    for players in EVERY_TABLE:
        game = Referee(players)
        without = []
        while game.phase == "deal":
            game.deal(shuffled(FULL_DECK, rng))
            if game.trump_suit is None:
                without.append(game.hand_number)
            play_out_hand(game, rng)
        assert without == ([0, 24] if players == 4 else [])


@pytest.mark.parametrize(("players", "size", "dealt", "unseen_by_all"), [(5, 10, 50, 1), (3, 17, 51, 0), (7, 7, 49, 2)])
def test_full_hands_leave_a_turned_card_and_these_unseen(
    players: int, size: int, dealt: int, unseen_by_all: int
) -> None:
    assert default_ramp(players)[0] == size
    game = one_hand(size, players)
    assert sum(len(hand) for hand in game.hands) == dealt
    assert game.turned == FULL_DECK[dealt]
    play_out_hand(game, random.Random(4))
    for seat in range(players):
        assert game.view(seat)["unseen"] == set(FULL_DECK[dealt + 1 :])
        assert len(game.view(seat)["unseen"]) == unseen_by_all


def test_a_game_without_trump_turns_nothing() -> None:
    game = one_hand(3, trump="none")
    assert (game.turned, game.trump_suit) == (None, None)
    assert len(game.view(0)["unseen"]) == 52 - 3


def test_the_deal_may_stop_after_the_last_card_needed() -> None:
    game = Referee(3, ramp=[2])
    with pytest.raises(ValueError, match="needs 7 cards"):
        game.deal(FULL_DECK[:6])
    game.deal(FULL_DECK[:7])
    assert game.turned == FULL_DECK[6]
    no_trump = Referee(3, ramp=[2], trump="none")
    no_trump.deal(FULL_DECK[:6])
    assert no_trump.turned is None


def test_a_wrong_deal_changes_nothing() -> None:
    game = Referee(3, ramp=[1, 1], deck=["2C", "3C", "4C", "5C"])
    before = everything(game)
    for order, reason in [
        (["2C", "3C", "4C"], "needs 4 cards"),
        (["2C", "3C", "4C", "4C"], "twice"),
        (["2C", "3C", "4C", "AS"], "not in this deck"),
    ]:
        with pytest.raises(ValueError, match=reason):
            game.deal(order)
    assert everything(game) == before

    game.deal(["2C", "3C", "4C", "5C"])
    before = everything(game)
    with pytest.raises(IllegalMove, match="no deal now"):
        game.deal(["2C", "3C", "4C", "5C"])
    assert everything(game) == before


# --- Bidding -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize(
    ("size", "others", "dealer_may_bid"),
    [
        (4, [2, 0, 1], {0, 2, 3, 4}),
        (5, [2, 0, 1], {0, 1, 3, 4, 5}),
        (5, [3, 1, 2], {0, 1, 2, 3, 4, 5}),
        (10, [2, 3, 1], {0, 1, 2, 3, 5, 6, 7, 8, 9, 10}),
        (1, [1, 0, 0], {1}),
        (1, [0, 0, 0], {0}),
    ],
)
def test_the_dealer_may_not_make_the_bids_fit(
    size: int, others: list[int], dealer_may_bid: set[int], sealed: bool
) -> None:
    game = make(one_hand(size, sealed=sealed), *others)
    assert game.turn == game.dealer
    assert game.legal() == dealer_may_bid
    hooked = set(range(size + 1)) - dealer_may_bid
    assert game.view(game.dealer)["forbidden"] == (hooked.pop() if hooked else None)
    assert all(game.view(seat)["forbidden"] is None for seat in range(3))


def test_without_the_hook_every_number_is_open() -> None:
    game = make(one_hand(5, hook=False), 2, 0, 1)
    assert game.legal() == {0, 1, 2, 3, 4, 5}
    assert game.view(3)["forbidden"] is None
    assert make(game, 2).bids == [2, 0, 1, 2]


def test_only_the_dealer_is_hooked() -> None:
    game = one_hand(2)
    for bid in (2, 0, 0):
        assert game.legal() == {0, 1, 2}
        assert game.forbidden_bid() is None
        assert game.view(3)["forbidden"] is None
        game.act(bid)
    assert game.legal() == {1, 2}


def test_there_is_always_a_bid_left() -> None:
    for players in EVERY_TABLE:
        for others in range(2 ** (players - 1)):
            game = one_hand(1, players)
            make(game, *(others >> seat & 1 for seat in range(players - 1)))
            assert game.legal()


def test_bids_go_clockwise_and_the_dealer_bids_last() -> None:
    game = Referee(5, ramp=[3], first_dealer=1)
    game.deal(FULL_DECK)
    order = []
    while game.phase == "bid":
        assert game.turn is not None
        order.append(game.turn)
        game.act(0)
    assert order == [2, 3, 4, 0, 1]
    assert (game.phase, game.turn, game.leader) == ("play", 2, 2)


def test_sealed_bids_are_seen_by_their_owner_only_until_the_last_is_in() -> None:
    game = make(one_hand(5), 2, 0)
    assert game.view(0)["bids"] == [2, "hidden", None, None]
    assert game.view(1)["bids"] == ["hidden", 0, None, None]
    assert game.view(2)["bids"] == ["hidden", "hidden", None, None]
    assert game.view(3)["bids"] == ["hidden", "hidden", None, None]
    assert game.view(0)["need"] == [2, None, None, None]
    assert [game.view(seat)["bid_sum"] for seat in range(4)] == [None] * 4
    make(game, 1)
    assert game.view(3)["bids"] == ["hidden", "hidden", "hidden", None]
    assert game.view(3)["need"] == [None] * 4
    make(game, 4)
    for seat in range(4):
        assert game.view(seat)["bids"] == [2, 0, 1, 4]
        assert game.view(seat)["need"] == [2, 0, 1, 4]
        assert game.view(seat)["bid_sum"] == 2


def test_open_bids_are_seen_as_they_are_made() -> None:
    game = one_hand(5, sealed=False)
    assert game.view(0)["bid_sum"] == -5
    make(game, 2, 0)
    for seat in range(4):
        assert game.view(seat)["bids"] == [2, 0, None, None]
        assert game.view(seat)["need"] == [2, 0, None, None]
        assert game.view(seat)["bid_sum"] == -3


def test_before_the_first_deal_there_is_nothing_to_know() -> None:
    for sealed in (True, False):
        view = Referee(4, sealed=sealed).view(0)
        assert (view["phase"], view["turn"], view["dealer"], view["hand_size"]) == ("deal", None, 0, 13)
        assert view["bids"] == view["need"] == [None] * 4
        assert (view["bid_sum"], view["forbidden"], view["turned"]) == (None, None, None)
        assert view["unseen"] == set(FULL_DECK)


def test_nobody_but_the_dealer_learns_from_anothers_sealed_bid() -> None:
    low, high = make(one_hand(5), 1, 0, 1), make(one_hand(5), 1, 4, 1)
    for seat in (0, 2):
        assert low.view(seat) == high.view(seat)
    assert (low.view(3).pop("forbidden"), high.view(3).pop("forbidden")) == (3, None)


@pytest.mark.parametrize("sealed", [True, False])
def test_the_hidden_cards_make_no_difference_to_a_view(sealed: bool) -> None:
    one = laid_out(["2C 3C", "4C 5H", "6C 7D"], turned="TS", sealed=sealed)
    two = laid_out(["2C 3C", "4C 7D", "AS 5H"], turned="TS", sealed=sealed)
    for move in (1, 0, 0, "2C", "4C"):
        assert one.view(0) == two.view(0)
        make(one, move)
        make(two, move)
    assert one.view(0) == two.view(0)


def test_a_bid_is_a_whole_number_from_0_through_the_hand() -> None:
    game = make(one_hand(5), 2, 0)
    assert refuses(game, -1, "bids are 0 to 5")
    assert refuses(game, 6, "bids are 0 to 5")
    for nonsense in (1.0, "1", "2C", None, True, [1]):
        assert refuses(game, nonsense, "not a whole number")
    make(game, 1)
    assert refuses(game, 2, "dealer is hooked")


# --- Play --------------------------------------------------------------------------------------------------------


def test_any_card_may_lead_and_the_others_follow_if_they_can() -> None:
    game = laid_out(["2C AS", "3C 4S", "5D TS", "6D 7H"], turned="2S")
    make(game, 0, 0, 0, 0)
    assert game.legal() == {"2C", "AS"}
    make(game, "2C")
    assert game.legal() == {"3C"}
    make(game, "3C")
    assert game.legal() == {"5D", "TS"}  # none of the led suit: anything, trump or not
    make(game, "5D")
    assert game.legal() == {"6D", "7H"}
    make(game, "7H")
    assert (game.trick_winners, game.turn, game.leader) == ([1], 1, 1)
    assert game.tricks == [[(0, "2C"), (1, "3C"), (2, "5D"), (3, "7H")]]


def test_trump_must_be_followed_like_any_suit() -> None:
    game = make(laid_out(["AS 2C", "2S 3C", "KC QC"], turned="KS"), 0, 0, 0, "AS")
    assert game.legal() == {"2S"}


def test_trump_may_lead_at_once() -> None:
    game = make(laid_out(["AS 2C", "2S 3C", "KC QC"], turned="KS"), 0, 0, 0)
    assert "AS" in game.legal()


@pytest.mark.parametrize(
    ("cards", "turned", "winner"),
    [
        ("KH AH 5D QH", "2D", "5D"),  # diamonds trump
        ("TS KS 7S AS", "2C", "AS"),  # clubs trump
        ("2H AS KS AD", "", "2H"),  # no trump: an off-suit ace loses to the led deuce
        ("2H AS KS AD", "3C", "2H"),  # trump that nobody plays changes nothing
        ("KH 5D AH 9D", "2D", "9D"),  # the higher of two trumps
        ("5D AH 9D 8D", "2D", "9D"),  # trump led
    ],
)
def test_the_highest_trump_wins_or_else_the_highest_of_the_led_suit(cards: str, turned: str, winner: str) -> None:
    seats = cards.split()
    game = laid_out(seats, turned=turned, trump="turned" if turned else "none")
    make(game, 0, 0, 0, 0, *seats)
    assert game.trick_winners == [seats.index(winner)]
    assert game.taken[seats.index(winner)] == 1
    assert trick_winner(list(enumerate(seats)), turned[1:] or None) == seats.index(winner)


def test_an_ace_beats_a_king_down_to_a_deuce_in_every_suit() -> None:
    for suit in "CDHS":
        for low, high in zip("23456789TJQK", "3456789TJQKA", strict=True):
            for trump in (None, *"CDHS"):
                assert trick_winner([(4, low + suit), (2, high + suit)], trump) == 2
                assert trick_winner([(4, high + suit), (2, low + suit)], trump) == 4
    assert rank_of("2H") == 0
    assert rank_of("AS") == 12
    assert suit_of("TD") == "D"


def test_the_winner_leads_the_next_trick() -> None:
    game = laid_out(["2C 3C", "AC 5H", "6C 7D"], turned="2S")
    make(game, 0, 0, 0)
    make(game, "2C", "AC", "6C")
    assert (game.leader, game.turn) == (1, 1)
    make(game, "5H")
    assert (game.leader, game.turn) == (1, 2)
    make(game, "7D", "3C")
    assert game.trick_winners == [1, 1]
    assert game.taken == [0, 2, 0]


def test_the_view_follows_the_trick() -> None:
    game = make(laid_out(["KH 2C", "AH 3C", "5D 4C", "QH 5C"], turned="2D"), 1, 0, 0, 0)
    in_order = [(0, 0, None, None, 2), (1, 0, "H", 0, 2), (2, 0, "H", 1, 2), (3, 0, "H", 2, 2), (2, 2, None, None, 1)]
    for card, expected in zip(["KH", "AH", "5D", "QH", None], in_order, strict=True):
        view = game.view(3)
        assert (view["turn"], view["leader"], view["led_suit"], view["winning"], view["tricks_left"]) == expected
        if card:
            make(game, card)
    assert view["need"] == [1, 0, -1, 0]
    assert view["trick"] == []
    assert view["played"] == [{"KH"}, {"AH"}, {"5D"}, {"QH"}]
    assert view["hand"] == {"5C"}


def test_failing_to_follow_shows_a_void() -> None:
    game = make(laid_out(["2C AS", "3C 4S", "5D TS", "6D 7H"], turned="2S"), 0, 0, 0, 0)
    make(game, "2C", "3C", "TS")
    assert game.view(0)["voids"] == [set(), set(), {"C"}, set()]
    make(game, "7H", "5D")  # seat 2 ruffed, so it leads
    assert game.view(1)["voids"] == [set(), set(), {"C"}, {"C"}]
    make(game, "6D", "AS", "4S")
    assert game.view(2)["voids"] == [{"D"}, {"D"}, {"C"}, {"C"}]


def test_voids_are_forgotten_at_the_next_deal() -> None:
    game = Referee(3, ramp=[1, 1])
    game.deal(stacked(["2C", "3D", "4D"], turned="5S"))
    make(game, 0, 0, 0, "3D", "4D", "2C")
    assert game.view(1)["voids"] == [{"D"}, set(), set()]
    game.deal(FULL_DECK)
    assert game.view(1)["voids"] == [set(), set(), set()]
    assert game.view(1)["played"] == [set(), set(), set()]


def test_unplayable_cards_are_refused() -> None:
    game = make(laid_out(["2C AS", "3C 4S", "5D TS", "6D 7H"], turned="2S"), 0, 0, 0, 0)
    for nonsense in ("3C", "2S", "KC", "2c", "", 0, None, ["2C"]):
        assert refuses(game, nonsense, "not in its hand")
    make(game, "2C")
    assert refuses(game, "4S", "holds C, the led suit")


def test_nobody_moves_between_hands() -> None:
    game = Referee(3, ramp=[1])
    assert refuses(game, 0, "nobody can move")
    assert game.legal() == set()
    game.deal(FULL_DECK)
    play_out_hand(game, random.Random(5))
    assert game.phase == "over"
    assert game.turn is None
    assert game.legal() == set()
    assert refuses(game, "2C", "nobody can move")
    with pytest.raises(IllegalMove, match="no deal now"):
        game.deal(FULL_DECK)


# --- Scoring -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bid", "taken", "points"), [(0, 0, 10), (0, 1, 0), (2, 3, 0), (3, 2, 0), (10, 10, 20)])
def test_a_bid_made_exactly_is_worth_ten_and_the_bid(bid: int, taken: int, points: int) -> None:
    assert exact_score(bid, taken, 10) == points


def test_bid_nought_and_take_none_is_ten_but_take_one_is_nothing() -> None:
    game = make(laid_out(["2C", "AC", "3C"], turned="2S"), 0, 0, 0, "2C", "AC", "3C")
    assert game.taken == [0, 1, 0]
    assert game.last_points == game.scores == [10, 0, 10]


def test_bid_two_and_take_three_is_nothing() -> None:
    game = make(laid_out(["AC KC QC", "2C 3C 4C", "5C 6C 7C"], turned="2S"), 2, 1, 1)
    make(game, "AC", "2C", "5C", "KC", "3C", "6C", "QC", "4C", "7C")
    assert game.taken == [3, 0, 0]
    assert game.scores == [0, 0, 0]


def test_bid_ten_and_take_ten_is_twenty() -> None:
    all_ten = "AS KS QS JS TS 9S 8S 7S 6S 5S"
    others = [" ".join(rank + suit for rank in "23456789TJ") for suit in "CDH"]
    game = laid_out([all_ten, *others], turned="4S")
    make(game, 10, 0, 0, 1)
    play_out_hand(game, random.Random(6))
    assert game.taken == [10, 0, 0, 0]
    assert game.scores == [20, 10, 10, 0]


def test_another_way_to_score_sees_the_bid_the_tricks_and_the_hand() -> None:
    seen = []

    def score(bid: int, taken: int, hand_size: int) -> float:
        seen.append((bid, taken, hand_size))
        return -0.5 * abs(bid - taken)

    game = laid_out(["AC KC", "2C 3C", "5C 6C"], turned="2S", score=score)
    make(game, 1, 1, 2, "AC", "2C", "5C", "KC", "3C", "6C")
    assert seen == [(1, 2, 2), (1, 0, 2), (2, 0, 2)]
    assert game.last_points == game.scores == [-0.5, -0.5, -1.0]


def between_two_hands() -> Referee:
    game = Referee(3, ramp=[2, 1])
    game.deal(stacked(["2C 3C", "AC 5H", "6C 7D"], turned="2S"))
    return make(game, 1, 2, 0, "AC", "6C", "2C", "5H", "7D", "3C")


def test_a_finished_hand_stays_on_the_table_until_the_next_deal() -> None:
    game = between_two_hands()
    assert (game.phase, game.turn, game.leader, game.dealer) == ("deal", None, None, 1)
    assert (game.hand_number, game.hand_size, game.next_hand_size) == (0, 2, 1)
    assert game.legal() == set()
    assert game.bids == [0, 1, 2]
    assert game.taken == [0, 2, 0]
    assert game.trick_winners == [1, 1]
    assert game.tricks == [[(1, "AC"), (2, "6C"), (0, "2C")], [(1, "5H"), (2, "7D"), (0, "3C")]]
    assert game.last_points == [10, 0, 0]
    view = game.view(2)
    assert view["bids"] == [0, 1, 2]
    assert view["need"] == [0, -1, 2]
    assert view["bid_sum"] == 1
    assert view["turned"] == "2S"
    assert (view["leader"], view["tricks_left"], view["hands_left"], view["phase"]) == (None, 0, 1, "deal")


def test_the_next_deal_clears_the_table_but_not_the_scores() -> None:
    game = between_two_hands()
    game.deal(FULL_DECK)
    assert (game.hand_number, game.hand_size, game.next_hand_size) == (1, 1, None)
    assert game.bids == [None, None, None]
    assert game.taken == [0, 0, 0]
    assert game.tricks == []
    assert game.trick_winners == []
    assert game.last_points is None
    assert game.scores == [10, 0, 0]


# --- End ---------------------------------------------------------------------------------------------------------


def test_the_highest_total_wins() -> None:
    game = make(laid_out(["AC", "2C", "3C"], turned="2S"), 1, 0, 1, "AC", "2C", "3C")
    assert game.scores == [11, 10, 0]
    assert game.win_shares() == [1.0, 0.0, 0.0]


def test_a_tie_on_top_is_shared() -> None:
    game = make(laid_out(["2C", "AC", "3C"], turned="2S"), 0, 0, 0, "2C", "AC", "3C")
    assert game.scores == [10, 0, 10]
    assert game.win_shares() == [0.5, 0.0, 0.5]
    level = make(laid_out(["2C", "AC", "3C", "4C"], turned="2S", score=lambda bid, taken, size: 0), 0, 0, 0, 0)
    make(level, "2C", "AC", "3C", "4C")
    assert level.win_shares() == [0.25] * 4


def test_nobody_has_won_before_the_end() -> None:
    game = Referee(3, ramp=[1])
    with pytest.raises(IllegalMove, match="not over"):
        game.win_shares()


# --- Whole matches -----------------------------------------------------------------------------------------------


def check_cards(game: Referee) -> None:
    """Every card is in one place, and each seat can place exactly what it has seen."""
    held = [card for hand in game.hands for card in hand]
    played = [card for trick in [*game.tricks, game.trick] for _, card in trick]
    turned = [game.turned] if game.turned else []
    on_table = held + played + turned
    assert len(set(on_table)) == len(on_table) == game.players * game.hand_size + len(turned)
    stock = set(game.deck) - set(on_table)
    for seat in range(game.players):
        assert game.played[seat] == {card for trick in [*game.tricks, game.trick] for who, card in trick if who == seat}
        others = set(held) - game.hands[seat]
        view = game.view(seat)
        assert view["hand"] == game.hands[seat]
        assert view["unseen"] == others | stock
        assert all(suit_of(card) not in view["voids"][seat] for card in game.hands[seat])


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize("players", EVERY_TABLE)
def test_a_whole_match_keeps_every_card_and_every_point(players: int, sealed: bool) -> None:
    rng = random.Random(players)
    game = Referee(players, ramp=default_ramp(players)[::3], sealed=sealed, hook=sealed)
    totals = [0.0] * players
    hands = 0
    while game.phase == "deal":
        game.deal(shuffled(FULL_DECK, rng))
        while game.phase in NEXT_TO_ACT:
            check_cards(game)
            game.act(some_move(game, rng))
        check_cards(game)
        hands += 1
        assert sum(game.taken) == len(game.tricks) == game.hand_size
        assert not any(game.hands)
        bids = [bid for bid in game.bids if bid is not None]
        assert len(bids) == players
        assert not game.hook or sum(bids) != game.hand_size
        assert game.last_points == [
            10 + bid if bid == taken else 0 for bid, taken in zip(bids, game.taken, strict=True)
        ]
        totals = [total + points for total, points in zip(totals, game.last_points, strict=True)]
        assert game.scores == totals
    assert hands == len(game.ramp)
    assert game.dealer == hands % players
    shares = game.win_shares()
    assert sum(shares) == pytest.approx(1)
    assert all((share > 0) == (total == max(totals)) for share, total in zip(shares, totals, strict=True))


def test_a_tiny_deck_plays_to_the_end() -> None:
    rng = random.Random(7)
    deck = ["2C", "AC", "TD", "KD", "3H", "JH", "9S"]
    game = Referee(3, deck=deck, ramp=[2, 1, 2], first_dealer=2)
    while game.phase == "deal":
        game.deal(shuffled(deck, rng))
        while game.phase in NEXT_TO_ACT:
            check_cards(game)
            game.act(some_move(game, rng))
    assert game.phase == "over"


def test_only_legal_moves_are_allowed_all_match_long() -> None:
    rng = random.Random(8)
    game = Referee(4, ramp=[5, 1, 2])
    while game.phase == "deal":
        game.deal(shuffled(FULL_DECK, rng))
        while game.phase in NEXT_TO_ACT:
            moves: Sequence[Any] = range(-1, game.hand_size + 2) if game.phase == "bid" else FULL_DECK
            before = everything(game)
            for move in set(moves) - game.legal():
                with pytest.raises(IllegalMove):
                    game.act(move)
            assert everything(game) == before
            game.act(some_move(game, rng))


def test_a_view_is_a_copy() -> None:
    rng = random.Random(9)
    game = Referee(4, ramp=[10])
    game.deal(shuffled(FULL_DECK, rng))
    while game.phase in NEXT_TO_ACT:
        before = everything(game)
        view = game.view(1)
        for part in view.values():
            for inner in part if isinstance(part, list) else []:
                if isinstance(inner, set):
                    inner.clear()
            if isinstance(part, (list, set)):
                part.clear()
        game.legal().clear()
        assert everything(game) == before
        game.act(some_move(game, rng))


def test_the_game_says_where_it_stands() -> None:
    assert "hand 0 of 5 cards, bid, dealer 3, turn 1" in repr(make(one_hand(5), 2))
