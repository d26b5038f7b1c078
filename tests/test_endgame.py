"""The last tricks: what is sure is proved, a dealt hand is solved exactly, no bot throws a certain contract away."""

from itertools import chain
from typing import Any

import numpy as np
import pytest
from test_bots import answer, laid_out
from test_bots_worlds import SHORT_DECK, every_world, view_of

from ohhell_env.bots import make_bot
from ohhell_env.bots.endgame import LEVELS, SPOIL, is_solvable, solve, sure_options
from ohhell_env.bots.policy.bot import PolicyBot
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.rulebook import unseen_cards
from ohhell_env.kernel.state import GAME, HAND_OVER, PLAY
from ohhell_env.rules.cards import cards_of, mask_of, parse_card, parse_cards
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator

SPECS = ["heuristic", "search:1", "search:20", "search:400", "search:4000"]


def sure_cards(simulator: Simulator) -> set[int]:
    return set(cards_of(sure_options(simulator.games[0], simulator.tables[0])))


@pytest.mark.parametrize("spec", SPECS)
def test_void_with_the_highest_trump_and_one_trick_needed_the_loser_is_discarded(spec: str) -> None:
    moves = [1, 1, 1, "4D", "2D"]
    position = laid_out(["4D 4H", "2D 2H", "AS AC"], "2S", moves)
    assert sure_cards(position) == {parse_card("AC")}
    assert answer(spec, position) == parse_card("AC")


@pytest.mark.parametrize("spec", SPECS)
def test_needing_both_tricks_the_highest_trump_is_played_now(spec: str) -> None:
    position = laid_out(["4D 4H", "2D 2H", "AS KS"], "2S", [1, 0, 2, "4D", "2D"])
    assert sure_cards(position) == set(parse_cards("AS KS"))
    assert answer(spec, position) in parse_cards("AS KS")


def positions(count: int, size: int, **options: Any) -> list[Simulator]:
    """Tables of the short deck with cards left to choose from, after random bids and cards."""
    found = []
    for seed in range(10 * count):
        simulator = Simulator(Rules(players=3, ramp=(size,), deck=SHORT_DECK, **options), 1, seed, observe=False)
        simulator.play_random(3 + seed % (3 * size - 2))
        game = simulator.games[0]
        if game["phase"] == PLAY and int(game["legal"]).bit_count() > 1:
            found.append(simulator)
        if len(found) == count:
            return found
    raise AssertionError("too few positions")


def paranoid(game: Any, table: Any, seat: int) -> float:
    """What a seat gets that sees all cards when the others do their worst."""
    if game["phase"] == HAND_OVER:
        return float(rulebook.hand_value(game, table, seat))
    values = []
    for option in cards_of(game["legal"]):
        child = game.copy()
        rulebook.apply(child, table, rulebook.action_of(child, option))
        values.append(paranoid(child, table, seat))
    return max(values) if game["player"] == seat else min(values)


@pytest.mark.parametrize("options", [{}, {"trump": "none"}, {"scoring": "negative"}, {"scoring": "basic"}])
def test_what_is_proved_sure_is_so_in_every_deal_against_every_play(options: dict[str, Any]) -> None:
    proved = 0
    holding = 0
    for simulator in positions(60, 3, bids="open", **options):
        view, table = view_of(simulator), simulator.tables[0]
        seat = int(view["player"])
        sure = sure_options(view, table)
        bid, taken = int(view["bids"][seat]), int(view["taken"][seat])
        left = int(view["hands"][seat]).bit_count()
        most = max(rulebook.bid_value(view, table, seat, bid, taken + more) for more in range(left + 1))
        worlds = sorted(every_world(view, table))
        for option in cards_of(view["legal"]):
            holds = True
            for hands in worlds:
                child = view.copy()
                child["hands"][:3] = hands
                rulebook.apply(child, table, option)
                if paranoid(child, table, seat) < most:
                    holds = False
                    break
            holding += holds
            proved += sure >> option & 1
            assert holds or not sure >> option & 1
    assert proved > 0.75 * holding > 3, "nearly all that is sure is found"


def test_what_a_seat_cannot_see_makes_nothing_sure() -> None:
    for simulator in positions(100, 3):
        assert sure_options(simulator.games[0], simulator.tables[0]) == sure_options(
            view_of(simulator), simulator.tables[0]
        )


def best_of_all(game: Any, table: Any, players: int) -> list[float]:
    """Max^n written down plainly: what each seat gets, the first of equal options being taken."""
    if game["phase"] == HAND_OVER:
        values = [float(rulebook.hand_value(game, table, seat)) for seat in range(players)]
        return [own - SPOIL * (sum(values) - own) / (players - 1) for own in values]
    best: list[float] | None = None
    mover = int(game["player"])
    for option in cards_of(game["legal"]):
        child = game.copy()
        rulebook.apply(child, table, rulebook.action_of(child, option))
        values = best_of_all(child, table, players)
        if best is None or values[mover] > best[mover] + 1e-12:
            best = values
    assert best is not None
    return best


@pytest.mark.parametrize(("players", "size"), [(3, 2), (3, 3), (4, 3), (5, 2)])
def test_a_dealt_hand_is_solved_as_by_trying_every_line(players: int, size: int) -> None:
    stack, rest, values = np.zeros(LEVELS, dtype=GAME), np.zeros(LEVELS, dtype=np.int64), np.zeros((LEVELS, 7))
    for seed in range(12):
        simulator = Simulator(Rules(players=players, ramp=(size,)), 1, seed, observe=False)
        simulator.play_random(players + seed % 2)
        assert is_solvable(simulator.games[0], simulator.tables[0])
        stack[0] = simulator.games[0]
        solve(stack, simulator.tables[0], rest, values)
        expected = best_of_all(simulator.games[0].copy(), simulator.tables[0], players)
        assert values[0, :players] == pytest.approx(expected, abs=1e-9)


def certain_positions(count: int) -> list[tuple[Simulator, int, int]]:
    """Two cards left, void in the suit led, one trick needed, the highest trump and a loser: (table, game, trump)."""
    found: list[tuple[Simulator, int, int]] = []
    mover = make_bot("heuristic")
    for seed in range(200):
        players = 3 + seed % 3
        simulator = Simulator(Rules(players=players, ramp=(2,), bids="open"), 200, seed, observe=False)
        for _ in range(players):
            simulator.step(mover.act(simulator))
        for _ in range(players - 1):
            simulator.step(mover.act(simulator))
            table = simulator.tables[0]
            here = Simulator(Rules(players=players, ramp=(2,), bids="open"), 200, seed, observe=False)
            here.games[:] = simulator.games
            for k, game in enumerate(here.games):
                seat, trump, led = int(game["player"]), int(game["trump"]), int(game["led_suit"])
                hand = int(game["hands"][seat])
                trumps = hand & mask_of(card for card in range(52) if card // 13 == trump)
                follows = hand & mask_of(card for card in range(52) if card // 13 == led)
                if trumps.bit_count() != 1 or follows or game["bids"][seat] - game["taken"][seat] != 1:
                    continue
                top = trumps.bit_length() - 1
                out = chain(cards_of(unseen_cards(game, table, seat)), [int(game["best"])])
                if not any(card // 13 == trump and card > top for card in out):
                    found.append((here, k, top))
        if len(found) >= count:
            return found
    raise AssertionError("too few positions")


@pytest.mark.parametrize(("spec", "count"), [("heuristic", 100), ("search:60", 30), ("checkpoints/mix512", 100)])
def test_no_certain_contract_is_thrown_away(spec: str, count: int) -> None:
    bot = make_bot(spec, seed=1)
    for simulator, k, top in certain_positions(count)[:count]:
        assert bot.act(simulator, [k])[0] != top


def test_without_its_end_game_a_policy_plays_by_its_network_alone() -> None:
    bot = PolicyBot.load("mix512")
    bare = PolicyBot(bot.network, endgame=False)
    kept, thrown = 0, 0
    for simulator, k, top in certain_positions(100)[:100]:
        views, tables, keys = bare.views(simulator, [k])
        chances = bot.probabilities(views, tables)
        assert chances[0, top] == 0.0
        assert views["legal"][0] >> top & 1, "asking for probabilities changes no view"
        thrown += bare.choose(views, tables, keys)[0] == top
        kept += 1
    assert 0 < thrown < kept
