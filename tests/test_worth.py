"""What a result is worth to a seat: one place says it, and who acts by it plays to win at every table."""

from typing import Any

import numpy as np
import pytest
from test_bots import laid_out, lead_over_the_table

from ohhell_env.bots import make_bot
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import next_state
from ohhell_env.kernel.rulebook import FIRST_BID
from ohhell_env.kernel.state import HAND_OVER
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator

LOWEST: list[dict[str, Any]] = [{"scoring": "negative"}, {"scoring": "simplified_negative"}, {"lowest_wins": True}]


def finished_hands(rules: Rules, count: int = 20) -> Simulator:
    """Games at the end of their first hand, played at random."""
    simulator = Simulator(rules, count, seed=3, observe=False)
    for game in simulator.games:
        table = simulator.tables[0]
        state = np.uint64(game["seed"])
        while game["phase"] != HAND_OVER:
            state = np.uint64(next_state(state))
            rulebook.apply(game, table, rulebook.random_action(game, state))
    return simulator


@pytest.mark.parametrize("options", [{}, *LOWEST])
def test_the_higher_value_is_the_better_total(options: dict[str, Any]) -> None:
    simulator = finished_hands(Rules(players=3, ramp=(3,), **options))
    table = simulator.tables[0]
    shared = 0
    for game in simulator.games:
        values = [rulebook.hand_value(game, table, seat) for seat in range(3)]
        shares = [rulebook.win_share(game, table, seat) for seat in range(3)]
        top = [seat for seat in range(3) if values[seat] == max(values)]
        assert [seat for seat in range(3) if shares[seat]] == top
        shared += len(top) < 3
        for seat in range(3):
            bid, taken = game["bids"][seat], game["taken"][seat]
            assert rulebook.bid_value(game, table, seat, bid, taken) == values[seat]
    assert shared > 5


def test_a_cooperative_hand_is_worth_the_same_to_all_and_only_when_every_bid_is_made() -> None:
    rules = Rules(players=3, ramp=(2,), bids="open", hook=False, cooperative=True, scoring="exact")
    simulator = finished_hands(rules, 60)
    table = simulator.tables[0]
    seen = set()
    for game in simulator.games:
        made = (game["bids"][:3] == game["taken"][:3]).all()
        assert {rulebook.hand_value(game, table, seat) for seat in range(3)} == {rulebook.SUCCESS if made else 0.0}
        seen.add(bool(made))
    assert seen == {True, False}


@pytest.mark.parametrize("options", LOWEST)
def test_where_the_lowest_total_wins_three_low_cards_bid_as_the_points_say(options: dict[str, Any]) -> None:
    simulator = laid_out(["2S 3S 4S", "5S 9D KH", "7S JC QD"], "2H", trump="none", **options)
    bid = make_bot("heuristic").action(simulator) - FIRST_BID
    # Points for a bid that is made are what to avoid where "exact" scoring is turned round.
    assert bid == (0 if "scoring" in options else 3)


@pytest.mark.parametrize("spec", ["heuristic", "search:200"])
@pytest.mark.parametrize(("card", "bid"), [("AH", 1), ("3C", 0)])
def test_where_the_lowest_total_wins_the_dealer_bids_what_one_card_takes(spec: str, card: str, bid: int) -> None:
    simulator = laid_out(["9C", "KC", "4D", card], "2H", [1, 1, 0], scoring="negative")
    assert make_bot(spec, seed=1).action(simulator) == FIRST_BID + bid


@pytest.mark.parametrize("options", LOWEST)
def test_the_heuristic_player_beats_random_where_the_lowest_total_wins(options: dict[str, Any]) -> None:
    rules = Rules(players=4, ramp=(5,), **options)
    mean, error = lead_over_the_table(make_bot("heuristic"), make_bot("random"), rules, 100)
    assert -mean > 4 * error


def test_the_searching_player_beats_random_where_the_lowest_total_wins() -> None:
    rules = Rules(players=4, ramp=(4,), scoring="negative")
    mean, error = lead_over_the_table(make_bot("search:40"), make_bot("random"), rules, 40)
    assert -mean > 4 * error
