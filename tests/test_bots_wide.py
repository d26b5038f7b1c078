"""The bots at tables of the wide form: cards seen are counted, special cards are judged by the rule."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import pytest
from test_bots import lead_over_the_table

from ohhell_env import Rules, Simulator, preset
from ohhell_env.bots import make_bot
from ohhell_env.kernel.state import WIDE_FIRST_BID, compile_rules
from ohhell_env.rules.cards import Deck, card_name, parse_cards


def laid_out(rules: Rules, hands: list[str], stock: str, moves: Sequence[int | str]) -> Simulator:
    """One hand of the cards given, dealer last; moves: a number is a bid, a name a card."""
    card_set = rules.deck.card_set
    piles = [parse_cards(hand, card_set) for hand in hands]
    top = [*chain.from_iterable(zip(*piles)), *parse_cards(stock, card_set)]
    rest = list(rules.deck.cards)
    for card in top:
        rest.remove(card)
    simulator = Simulator(rules, 1, seed=0, observe=False, decks=[[*top, *rest]])
    for move in moves:
        simulator.step([WIDE_FIRST_BID + move if isinstance(move, int) else parse_cards(move, card_set)[0]])
    return simulator


def choice(spec: str, simulator: Simulator) -> str:
    """What a bot does: a card's name, or the bid as a text."""
    action = make_bot(spec, seed=1).action(simulator)
    if WIDE_FIRST_BID <= action < WIDE_FIRST_BID + 27:
        return str(action - WIDE_FIRST_BID)
    return card_name(action, simulator.rules[0].deck.card_set)


FOREHEAD = Rules(players=4, ramp=(1,), bids="open", own_cards="forehead", first_dealer=3, hook=False)


@pytest.mark.parametrize(("shown", "bid"), [("2C 2D 3D", "1"), ("AH KH QH", "0"), ("3H 4H 5H", "0"), ("2C 2D 9H", "0")])
def test_with_its_own_card_on_the_forehead_a_seat_counts_the_cards_it_sees(shown: str, bid: str) -> None:
    others = shown.split()
    position = laid_out(FOREHEAD, [others[0], others[1], others[2], "TS"], "7H", [0, 0, 0])
    assert choice("heuristic", position) == bid


@pytest.mark.parametrize("rules", [FOREHEAD, preset("penguin_whist", ramp=(1,)), preset("penguin_whist", ramp=(4,))])
def test_where_own_cards_are_hidden_counting_beats_bidding_blindly(rules: Rules) -> None:
    mean, error = lead_over_the_table(make_bot("heuristic"), make_bot("random"), rules, 150)
    assert mean > 4 * error
    if rules.hand_sizes == (1,):
        assert mean > 2.0, "0.54 where the cards seen were not counted"


OH_SH = Rules(players=3, ramp=("2 no trump",), bids="open", deck="oh sh", scoring="oh_sh", first_dealer=2, hook=False)  # type: ignore[arg-type]


def test_without_trump_a_joker_that_is_lowest_of_all_is_not_led_for_a_trick() -> None:
    position = laid_out(OH_SH, ["*S AC", "9D 4D", "9H 4H"], "3C", [1, 0, 0])
    assert choice("heuristic", position) == "AC"


def test_without_trump_a_joker_that_is_lowest_of_all_is_thrown_on_what_cannot_be_beaten() -> None:
    position = laid_out(OH_SH, ["9D 4D", "8D 3D", "*S AC"], "3C", [1, 0, 1, "9D", "8D"])
    assert choice("heuristic", position) == "*S"


def test_without_trump_the_joker_of_five_hundred_is_a_sure_trick() -> None:
    rules = Rules(players=3, ramp=(1,), bids="open", trump="none", deck="five hundred", first_dealer=2, hook=False)  # type: ignore[arg-type]
    assert choice("heuristic", laid_out(rules, ["AC", "4D", "*"], "3C", [0, 0])) == "1"


@pytest.mark.parametrize("deck", ["standard", "spanish", "five hundred", "oh sh", "double deck"])
def test_the_cards_above_a_card_are_those_that_take_the_trick_from_it(deck: Any) -> None:
    rules = Rules(players=4, ramp=(3,), bids="open", deck=deck, must_trump=True)
    table = compile_rules([rules])[0]
    card_set = rules.deck.card_set
    for trump in range(5):
        for card in set(rules.deck.cards):
            for other in set(rules.deck.cards):
                suit, other_suit = table["suits"][trump, card], table["suits"][trump, other]
                same = suit == other_suit or 4 in (suit, other_suit)
                above = card_set.strength(other, trump != 4) > card_set.strength(card, trump != 4)
                assert bool(int(table["higher"][trump, card]) >> other & 1) == (same and above)


@pytest.mark.parametrize("special", ["golden", "miser"])
@pytest.mark.parametrize("scoring", ["exact", "negative"])
def test_hands_without_bids_are_played_for_what_wins_them(special: str, scoring: str) -> None:
    rules = Rules(players=3, ramp=(f"5 {special}",), scoring=scoring, bids="open")
    mean, error = lead_over_the_table(make_bot("heuristic"), make_bot("random"), rules, 150)
    assert (-mean if rules.lowest else mean) > 4 * error


def test_a_tiny_deck_of_pairs_is_played() -> None:
    deck = Deck.of(["AC", "AC", "KC", "KC", "AD", "AD", "KD", "KD", "QD"])
    rules = Rules(players=3, ramp=(2,), deck=deck, bids="open", duplicates="ante")
    mean, error = lead_over_the_table(make_bot("heuristic"), make_bot("random"), rules, 200)
    assert mean > 2 * error
