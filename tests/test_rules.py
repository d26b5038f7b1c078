"""A table's rules as data: what is allowed, what is refused and in which words, and that they survive being written."""

import json
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from aec_play import TABLES

from ohhell_env import Deck, Rules, ohhell_v0, preset
from ohhell_env.rules.cards import DOUBLE_DECK, STANDARD_DECK, card_name, parse_card, parse_cards
from ohhell_env.rules.description import describe
from ohhell_env.rules.limits import MAX_HAND_SIZE
from ohhell_env.rules.scoring import SCORINGS, TabulatedScoring, num_arguments, resolve, tabulate

TWELVE = Deck.of("AC KC QC JC AD KD QD JD AH KH QH JH")


def third(bid: int, taken: int, hand_size: int) -> float:
    """A third of a point a trick."""
    return taken / 3


# --- The ramp ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "peak", "hands"), [(3, 17, 33), (4, 13, 25), (5, 10, 19), (6, 8, 15), (7, 7, 13)])
def test_the_ramp_goes_from_the_largest_hand_down_to_one_and_up_again(players: int, peak: int, hands: int) -> None:
    rules = Rules(players=players)
    assert (rules.peak, rules.num_hands) == (peak, hands)
    assert rules.hand_sizes == (*range(peak, 0, -1), *range(2, peak + 1))


@pytest.mark.parametrize(
    ("ramp", "sizes"),
    [
        ("down-up", (4, 3, 2, 1, 2, 3, 4)),
        ("up-down", (1, 2, 3, 4, 3, 2, 1)),
        ("down", (4, 3, 2, 1)),
        ("up", (1, 2, 3, 4)),
        ((2,), (2,)),
        ([1, 4, 1], (1, 4, 1)),
        (range(1, 3), (1, 2)),
        ((size for size in (3, 3)), (3, 3)),
    ],
)
def test_named_ramps_and_lists_are_the_hand_sizes_in_order(ramp: Any, sizes: tuple[int, ...]) -> None:
    rules = Rules(players=3, deck=TWELVE, ramp=ramp)
    assert rules.hand_sizes == sizes and rules.num_hands == len(sizes)
    assert hash(rules) == hash(Rules(players=3, deck=TWELVE, ramp=rules.ramp))


def test_no_hand_is_larger_than_the_pack_or_the_arrays_allow() -> None:
    for rules in TABLES.values():
        assert max(rules.hand_sizes) <= rules.peak <= MAX_HAND_SIZE
        assert rules.peak * rules.players <= len(rules.deck)
    assert Rules(ramp=(1,) * 128).num_hands == 128


# --- What is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"players": 1}, "players=1 is not allowed; use a whole number from 2 to 10"),
        ({"players": 11}, "players=11 is not allowed; use a whole number from 2 to 10"),
        ({"players": 4.0}, "players=4.0 is not allowed; use a whole number from 2 to 10"),
        ({"players": True}, "players=True is not allowed; use a whole number from 2 to 10"),
        ({"players": "4"}, "players='4' is not allowed; use a whole number from 2 to 10"),
        ({"players": None}, "players=None is not allowed; use a whole number from 2 to 10"),
        ({"bids": "secret"}, "bids='secret' is not allowed; use one of 'sealed', 'open', 'together'"),
        ({"bids": None}, "bids=None is not allowed; use one of 'sealed', 'open', 'together'"),
        ({"trump": "stars"}, "trump='stars' is not allowed; use one of 'turned', 'none', 'clubs'"),
        ({"trump": 3}, "trump=3 is not allowed; use one of 'turned', 'none', 'clubs'"),
        ({"hook": 1}, "hook=1 is not allowed; use True or False"),
        ({"hook": "on"}, "hook='on' is not allowed; use True or False"),
        ({"first_dealer": 4}, "first_dealer=4 is not allowed; use a whole number from 0 to 3"),
        ({"first_dealer": -1}, "first_dealer=-1 is not allowed; use a whole number from 0 to 3"),
        ({"players": 6, "first_dealer": 6}, "first_dealer=6 is not allowed; use a whole number from 0 to 5"),
        ({"deck": "AC KC"}, "deck='AC KC' is not a Deck; use ohhell_env.rules.cards.Deck.of('AC KC ...')"),
        ({"deck": Deck.of("AC KC QC")}, "deck='3 cards' has 3 cards, too few for players=4"),
        (
            {"ramp": "sideways"},
            "ramp='sideways' is not known; use one of 'down-up', 'up-down', 'down', 'up', 'up-down, pea",
        ),
        ({"ramp": 5}, "ramp=5 is not allowed; use a pattern or a sequence of whole numbers from 1 to 13 (4 players"),
        ({"ramp": None}, "ramp=None is not allowed; use a pattern or a sequence of whole numbers from 1 to 13"),
        ({"ramp": ()}, "ramp=() has 0 hands; a match has 1 to 128"),
        ({"ramp": [1] * 129}, "has 129 hands; a match has 1 to 128"),
        ({"ramp": (3, 14)}, "ramp=(3, 14) holds 14; hand sizes are whole numbers from 1 to 13 (4 players, 52 cards)"),
        ({"ramp": (0,)}, "ramp=(0,) holds 0; hand sizes are whole numbers from 1 to 13"),
        ({"ramp": (2.0,)}, "ramp=(2.0,) holds 2.0; hand sizes are whole numbers from 1 to 13"),
        ({"ramp": (True,)}, "ramp=(True,) holds True; hand sizes are whole numbers from 1 to 13"),
        ({"ramp": ("5",)}, "ramp=('5',) holds '5'; hand sizes are whole numbers"),
        ({"ramp": (5,), "deck": TWELVE}, "holds 5; hand sizes are whole numbers from 1 to 3 (4 players, 12 cards)"),
        ({"scoring": "golf"}, "scoring='golf' is not known; use one of 'exact', 'basic', 'exact_with_penalty'"),
        (
            {"scoring": 10},
            "scoring=10 must be a name or a function (bid, taken, hand_size[, players[, trump]]) -> points",
        ),
        ({"scoring": None}, "scoring=None must be a name or a function"),
        ({"scoring": lambda bid: 0}, "scoring(bid=0, taken=0, hand_size=1) failed: "),
        ({"scoring": lambda b, t, n: 1 / (b - 7)}, "scoring(bid=7, taken=0, hand_size=7) failed: division by zero"),
        (
            {"scoring": lambda b, t, n: float("nan")},
            "scoring(bid=0, taken=0, hand_size=1) returned nan; points must be",
        ),
        ({"scoring": lambda b, t, n: -float("inf")}, "returned -inf; points must be a finite number"),
        ({"scoring": lambda b, t, n: None}, "scoring(bid=0, taken=0, hand_size=1) failed: "),
        ({"scoring": lambda b, t, n: "many"}, "scoring(bid=0, taken=0, hand_size=1) failed: "),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_with_option_value_and_what_is(
    options: dict[str, Any], message: str
) -> None:
    for make in (Rules, preset):
        with pytest.raises(ValueError) as refusal:
            make(**options)
        assert message in str(refusal.value)


def test_a_scoring_is_tried_only_where_it_can_be_needed() -> None:
    asked = set()

    def scoring(bid: int, taken: int, hand_size: int) -> float:
        asked.add((bid, taken, hand_size))
        return 0

    Rules(ramp=(2, 1, 2), scoring=scoring)
    assert asked == {(bid, taken, size) for size in (1, 2) for bid in range(size + 1) for taken in range(size + 1)}


def test_rules_cannot_be_changed_once_made() -> None:
    with pytest.raises(FrozenInstanceError):
        Rules().players = 5  # type: ignore[misc]


def test_equal_rules_are_equal_and_every_option_counts() -> None:
    others = [Rules(players=5), Rules(ramp="up"), Rules(hook=False), Rules(bids="open"), Rules(trump="none")]
    others += [Rules(scoring="basic"), Rules(deck=Deck.of(range(1, 52))), Rules(first_dealer=1), Rules(cap=5)]
    others += [Rules(bids="together", hook=False, knocking=True), Rules(full_deal="last"), Rules(lead_trump="broken")]
    others += [Rules(bids="open", hook=False, cooperative=True), Rules(attempts=2), Rules(nil_round=True)]
    others += [Rules(blind_bids=True), Rules(must_trump=True), Rules(deck=DOUBLE_DECK, duplicates="ante")]
    others += [Rules(own_cards="hidden"), Rules(hands_shown=True), Rules(lowest_wins=True), Rules(deals=[range(52)])]
    others += [Rules(own_cards="hidden", sort_hands=True)]
    assert len({Rules(), Rules(players=4), *others}) == 1 + len(others) == 1 + len(fields(Rules))


# --- Presets -----------------------------------------------------------------------------------------------------


def test_the_default_is_the_game_of_the_rule_book() -> None:
    rules = Rules()
    assert rules == preset() == preset("oh_hell") == ohhell_v0.env().rules
    assert (rules.players, rules.ramp, rules.hook, rules.bids, rules.trump) == (4, "down-up", True, "sealed", "turned")
    assert (rules.scoring, rules.deck, rules.first_dealer) == ("exact", STANDARD_DECK, 0)


def test_a_preset_takes_changes() -> None:
    assert preset("oh_hell", players=5, hook=False) == Rules(players=5, hook=False)
    assert preset(ramp=[3, 2]) == Rules(ramp=(3, 2))


def test_an_unknown_preset_or_option_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"rules .whist. are not known; use one of blob, cooperative"):
        preset("whist")
    with pytest.raises(ValueError, match=r"unknown options \['jokers'\]; known are \['attempts', 'bids', 'blind_bids'"):
        preset("oh_hell", jokers=2)
    with pytest.raises(ValueError, match=r"unknown options \['jokers'\]; known are"):
        Rules.from_json({"jokers": 2})


# --- In words ----------------------------------------------------------------------------------------------------


def test_the_description_tells_every_choice_apart() -> None:
    described = [
        *(Rules(players=players) for players in range(3, 8)),
        *(Rules(ramp=ramp) for ramp in ("up-down", "down", "up", (5,), (3, 3, 1))),
        Rules(hook=False),
        Rules(bids="open"),
        Rules(trump="none"),
        Rules(scoring="basic"),
        Rules(scoring=third),
        Rules(deck=Deck.of(range(48))),
        *(Rules(first_dealer=seat) for seat in (1, 2, 3)),
    ]
    assert len({describe(rules) for rules in described}) == len(described)


def test_the_description_of_the_default_game_reads_like_the_rule_book() -> None:
    text = describe(Rules())
    for words in (
        "4 players, standard 52 cards, 25 hands of 13..1..13 cards each.",
        "player_0 deals first",
        "turned up and its suit is trump",
        "bids stay sealed until all are in",
        "The dealer may not make the bids add up",
        "Scoring: exact. Made exactly: 10 + bid. Missed either way: 0.",
        "The highest total wins; a tie is shared.",
    ):
        assert words in text
    other = describe(Rules(hook=False, bids="open", trump="none", scoring=third, first_dealer=3, ramp=(5,)))
    for words in (
        "one hand of 5 cards",
        "player_3 deals first",
        "There is no trump.",
        "every bid is seen as it is made",
        "The bids may add up",
        "Scoring: third. A third of a point a trick.",
    ):
        assert words in other


@pytest.mark.parametrize(
    ("ramp", "words"),
    [
        ("down-up", "25 hands of 13..1..13 "),
        ("up-down", "25 hands of 1..13..1 "),
        ("down", "13 hands of 13..1 "),
        ((1, 2), "2 hands of 1..2 "),
        ((3, 3, 1), "3 hands of 3, 3, 1 "),
        ((7, 1, 7), "3 hands of 7, 1, 7 "),
        ((5, 5), "2 hands of 5, 5 "),
    ],
)
def test_the_ramp_in_words(ramp: Any, words: str) -> None:
    assert words in describe(Rules(ramp=ramp))


def test_the_description_counts_cards_in_english() -> None:
    text = describe(Rules(players=3, deck=Deck.of("AC KC AD KD AH KH"), ramp=(1,)))
    assert "cards cards" not in text and "1 cards" not in text


@pytest.mark.parametrize(
    "scoring", [lambda bid, taken, hand_size: 0, TabulatedScoring.from_json({"1": [[0, 0], [0, 0]]})]
)
def test_a_scoring_without_words_is_described_as_what_it_is(scoring: Any) -> None:
    line = next(line for line in describe(Rules(ramp=(1,), scoring=scoring)).splitlines() if "Scoring" in line)
    assert ". ." not in line and "lambda" not in line and "stores" not in line and "record" not in line


# --- As data -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_rules_survive_json_and_pickle(name: str) -> None:
    rules = TABLES[name]
    data = json.loads(json.dumps(rules.to_json()))
    assert set(data) == {field.name for field in fields(Rules) if not field.metadata.get("late")}
    read = Rules.from_json(data)
    assert read.to_json() == rules.to_json() and read.hand_sizes == rules.hand_sizes
    assert read.deck.cards == rules.deck.cards
    assert read == rules or rules.deck != STANDARD_DECK
    assert pickle.loads(pickle.dumps(rules)) == rules
    assert data == rules.to_json(), "reading leaves the data as they were"


def test_rules_with_a_named_pack_survive_json() -> None:
    rules = Rules(players=3, deck=Deck("twelve", TWELVE.cards))
    assert Rules.from_json(rules.to_json()) == rules


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *[
            ("players", 11),
            ("ramp", [20]),
            ("ramp", 5),
            ("hook", "yes"),
            ("bids", 1),
            ("trump", []),
            ("first_dealer", 4),
        ],
        *[("scoring", {"13": [[0]]}), ("scoring", {}), ("scoring", [1]), ("deck", ["2C"]), ("deck", "2C 2C 3C")],
        *[("deck", "joker"), ("scoring", {"x": []}), ("deck", [])],
    ],
)
def test_data_that_are_no_rules_are_refused(option: str, value: Any) -> None:
    with pytest.raises(ValueError):
        Rules.from_json({**Rules().to_json(), option: value})


@pytest.mark.parametrize(
    ("option", "value"),
    [("deck", 5), ("deck", None), ("deck", [None]), ("deck", [float("inf")]), ("scoring", {"13": 5})],
)
def test_data_of_the_wrong_type_are_refused_as_values(option: str, value: Any) -> None:
    with pytest.raises(ValueError, match=option):
        Rules.from_json({**Rules().to_json(), option: value})


# --- Scorings ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bid", "taken", "exact", "basic"), [(0, 0, 10, 10), (0, 1, 0, 1), (2, 3, 0, 3), (10, 10, 20, 20)]
)
def test_the_named_scorings_give_what_the_rule_book_says(bid: int, taken: int, exact: float, basic: float) -> None:
    assert (SCORINGS["exact"](bid, taken, 10), SCORINGS["basic"](bid, taken, 10)) == (exact, basic)


@pytest.mark.parametrize(
    "scoring",
    [
        *(scoring for scoring in SCORINGS.values() if num_arguments(scoring) == 3),
        third,
        lambda bid, taken, hand_size: -hand_size,
        lambda bid, taken, hand_size: np.float32(bid),
        lambda bid, taken, hand_size: Fraction(bid, 4),
        lambda bid, taken, hand_size: bid == taken,
    ],
)
def test_any_function_is_tabulated_as_it_is_for_the_hand_sizes_that_occur(scoring: Callable[..., float]) -> None:
    table = tabulate(scoring, [1, 5, 5])
    assert table.shape == (MAX_HAND_SIZE + 1,) * 3 and table.dtype == np.float64
    for size in range(MAX_HAND_SIZE + 1):
        for bid in range(MAX_HAND_SIZE + 1):
            for taken in range(MAX_HAND_SIZE + 1):
                occurs = size in (1, 5) and bid <= size and taken <= size
                assert table[size, bid, taken] == (float(scoring(bid, taken, size)) if occurs else 0)
    data = json.loads(json.dumps(TabulatedScoring.to_json(scoring, [5, 1])))
    assert list(data) == ["1", "5"]
    assert np.array_equal(tabulate(TabulatedScoring.from_json(data), [1, 5]), table)


def test_points_of_a_scoring_reach_the_score() -> None:
    env = ohhell_v0.env(Rules(ramp=(1,), scoring=lambda bid, taken, hand_size: 100 * bid + 10 * taken + hand_size))
    env.reset(seed=1)
    for _ in range(8):
        env.step(int(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])[-1]))
    hand = env.game.past_hands[0]
    assert list(env.game.scores) == [
        100 * bid + 10 * taken + 1 for bid, taken in zip(hand.bids, hand.taken, strict=True)
    ]
    assert sum(hand.taken) == 1 and sum(hand.bids) > 1


def test_a_scorings_name_or_function_is_resolved() -> None:
    assert resolve("exact") is SCORINGS["exact"] and resolve(third) is third


# --- Cards and decks ---------------------------------------------------------------------------------------------


def test_every_card_has_one_name_that_reads_back() -> None:
    names = [card_name(card) for card in range(52)]
    assert (names[0], names[12], names[13], names[51]) == ("2C", "AC", "2D", "AS")
    assert [parse_card(name) for name in names] == list(range(52)) == parse_cards(" ".join(names))
    assert {parse_card(name) for name in ("TD", "10d", "t♦", " TD ", "10♦")} == {21}


@pytest.mark.parametrize("name", ["", "T", "D", "1D", "11D", "TX", "TDD", "DT", "♦", "T D", "110D", "joker"])
def test_what_names_no_card_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a card; a card is a rank"):
        parse_card(name)


@pytest.mark.parametrize("number", [-1, 52, 10**30])
def test_what_numbers_no_card_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match=r"is not a card number; cards are 0\.\.51"):
        card_name(number)
    with pytest.raises(ValueError, match=r"is not a card number; cards are 0\.\.51"):
        parse_cards([number])


@pytest.mark.parametrize("number", [3.7, True])
def test_a_card_is_no_fraction(number: Any) -> None:
    with pytest.raises(ValueError, match="card"):
        parse_cards([number])


def test_a_deck_holds_each_card_once_or_twice() -> None:
    assert len(STANDARD_DECK) == 52 and Deck.of("3C 2C").cards == (0, 1) and Deck.of([1, "2C"]) == Deck.of("2C 3C")
    with pytest.raises(ValueError, match="holds 2C 3 times; a deck may hold a card at most twice"):
        Deck.of("2C 3C 2C 2C")
    with pytest.raises(ValueError, match="is empty; a deck needs at least one card"):
        Deck.of("")
