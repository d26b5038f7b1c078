"""Every bot at every table: legal, repeatable, blind to what it may not see; and positions with one right answer."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import chain

import numpy as np
import pytest

from ohhell_env.arena.self_play import play_hands, self_play
from ohhell_env.bots import Bot, make_bot
from ohhell_env.kernel.rulebook import FIRST_BID
from ohhell_env.kernel.state import BID
from ohhell_env.rules.cards import Deck, cards_of, mask_of, parse_card, parse_cards
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator

SPECS = ["random", "heuristic", "search:12"]
THINKERS = ["heuristic", "search:400"]
HALF_A_DECK = Deck.of([card for card in range(52) if card % 2])


def far_off(bid: int, taken: int, hand_size: int) -> float:
    """A point lost for each trick off."""
    return -abs(bid - taken)


def every_table() -> list[Rules]:
    """Every player count, hands of 1, 2, 5 and the peak, and the options that change what a bot must do."""
    tables = []
    for players in range(3, 8):
        for size in (1, 2, 5, Rules(players=players).peak):
            tables += [
                Rules(players=players, ramp=(size,)),
                Rules(players=players, ramp=(size,), bids="open"),
                Rules(players=players, ramp=(size,), hook=False, trump="none", bids="open"),
                Rules(players=players, ramp=(size,), scoring=far_off),
            ]
        tables.append(Rules(players=players, ramp=(len(HALF_A_DECK) // players,), deck=HALF_A_DECK))
    return tables


@pytest.mark.parametrize("spec", SPECS)
def test_a_bot_plays_legally_at_every_table_and_changes_nothing_itself(spec: str) -> None:
    bot = make_bot(spec, seed=1)
    rules = every_table()
    simulator = Simulator(rules, len(rules), seed=2, observe=False)
    finished = np.zeros(len(rules), dtype=bool)
    while not finished.all():
        before = simulator.games.tobytes()
        actions = bot.act(simulator)
        assert simulator.games.tobytes() == before
        finished |= simulator.step(actions).hand_over  # refuses what is not legal


def some_tables(seed: int, plays: int) -> Simulator:
    """Games of all player counts at their decision number ``plays``."""
    simulator = Simulator([Rules(players=players, ramp=(5,)) for players in range(3, 8)], 20, seed, observe=False)
    simulator.play_random(plays)
    return simulator


@pytest.mark.parametrize("plays", [0, 2, 9, 14])
@pytest.mark.parametrize("spec", SPECS)
def test_a_choice_depends_on_seed_and_game_but_not_on_the_batch(spec: str, plays: int) -> None:
    simulator = some_tables(3, plays)
    actions = make_bot(spec, seed=5).act(simulator)
    order = np.random.default_rng(1).permutation(len(simulator))
    bot = make_bot(spec, seed=5)
    assert (bot.act(simulator, order) == actions[order]).all()
    assert [int(bot.act(simulator, [k])[0]) for k in range(len(simulator))] == actions.tolist()


def test_another_seed_is_another_random_player() -> None:
    simulator = some_tables(4, 0)
    assert (make_bot("random", seed=1).act(simulator) != make_bot("random", seed=2).act(simulator)).any()


def deal_hidden_cards_anew(simulator: Simulator, rng: np.random.Generator) -> None:
    """Mix the cards that the seat to act cannot see, voids shown being kept, and the bids that are sealed."""
    for game, table in zip(simulator.games, simulator.tables[simulator.games["table"]]):
        viewer, players = int(game["player"]), int(table["players"])
        others = [seat for seat in range(players) if seat != viewer]
        if game["phase"] == BID:
            start = players * int(game["hand_size"]) + 1
            pool = [*chain.from_iterable(cards_of(game["hands"][seat]) for seat in others), *game["deck"][start:]]
            pool = [int(card) for card in rng.permutation(pool)]
            for seat in others:
                count = int(game["hands"][seat]).bit_count()
                game["hands"][seat], pool = mask_of(pool[:count]), pool[count:]
                if game["bids"][seat] >= 0:
                    game["bids"][seat] = rng.integers(game["hand_size"] + 1)
            game["deck"][start:] = pool
        else:  # whole hands of equal size change places; with a void shown they stay
            free = [seat for seat in others if game["voids"][seat] == 0]
            sizes = {int(game["hands"][seat]).bit_count() for seat in free}
            for size in sizes:
                same = [seat for seat in free if int(game["hands"][seat]).bit_count() == size]
                game["hands"][same] = game["hands"][np.roll(same, 1)]


@pytest.mark.parametrize("plays", [0, 2, 8, 12])
@pytest.mark.parametrize("spec", SPECS)
def test_what_a_seat_may_not_know_changes_no_choice(spec: str, plays: int) -> None:
    simulator = some_tables(6, plays)
    bot = make_bot(spec, seed=2)
    actions = bot.act(simulator)
    hidden = simulator.games["hands"].copy()
    deal_hidden_cards_anew(simulator, np.random.default_rng(plays))
    assert (simulator.games["hands"] != hidden).any()
    assert (bot.act(simulator) == actions).all()


def test_one_line_plays_in_a_loop_of_single_games() -> None:
    simulator = Simulator(Rules(ramp=(2,)), 1, seed=1, observe=False)
    bot = make_bot("heuristic")
    for _ in range(12):
        batch = simulator.step([bot.action(simulator)])
    assert batch.hand_over.all()


WITHOUT_COMPILER = """
import json
from ohhell_env.bots import make_bot
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
simulator = Simulator([Rules(players=3, ramp=(3,)), Rules(ramp=(2,), bids="open")], 4, seed=9, observe=False)
bots = [make_bot(spec, seed=3) for spec in ("random", "heuristic", "search:6")]
choices = []
for _ in range(11):
    choices.append([bot.act(simulator).tolist() for bot in bots])
    simulator.step(choices[-1][2])
print(json.dumps(choices))
"""


def test_bots_choose_alike_with_and_without_the_compiler() -> None:
    choices = []
    for disabled in ("0", "1"):
        run = subprocess.run(
            [sys.executable, "-c", WITHOUT_COMPILER],
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            check=True,
        )
        choices.append(json.loads(run.stdout))
    assert choices[0] == choices[1]


# --- Positions with an answer ------------------------------------------------------------------------------------


def laid_out(hands: Sequence[str], turned: str, moves: Sequence[int | str] = (), **options: object) -> Simulator:
    """One open hand of the cards given; seat 0 bids and leads first. Moves: a number is a bid, a name a card."""
    piles = [parse_cards(hand) for hand in hands]
    top = [*chain.from_iterable(zip(*piles)), parse_card(turned)]
    deck = [*top, *(card for card in range(52) if card not in top)]
    rules = Rules(players=len(hands), ramp=(len(piles[0]),), bids="open", first_dealer=len(hands) - 1, **options)  # type: ignore[arg-type]
    simulator = Simulator(rules, 1, seed=0, observe=False, decks=[deck])
    for move in moves:
        simulator.step([FIRST_BID + move if isinstance(move, int) else parse_card(move)])
    return simulator


def answer(spec: str, simulator: Simulator) -> int:
    return make_bot(spec, seed=1).action(simulator)


@pytest.mark.parametrize("spec", THINKERS)
def test_needing_every_trick_the_highest_trump_is_led_first(spec: str) -> None:
    hands = ["KH QH 4H", "2C 9D JS", "3C TD 8H", "5S 6D 7C"]
    assert answer(spec, laid_out(hands, "2H", [3, 0, 0, 1])) == parse_card("KH")


@pytest.mark.parametrize("spec", THINKERS)
def test_with_the_bid_met_a_sure_trick_is_shed_when_somebody_else_wins(spec: str) -> None:
    hands = ["4H 9D JC 8C", "AH AS 2D 3D", "5H KD KC 2S", "6H TD QC 4S"]
    moves = [0, 1, 2, 0, "4H", "AH", "5H", "6H", "2D", "KD", "TD", "9D", "KC", "QC", "JC"]
    assert answer(spec, laid_out(hands, "2H", moves)) == parse_card("AS")


@pytest.mark.parametrize("spec", THINKERS)
def test_last_to_play_the_cheapest_winner_takes_the_one_trick_needed_beside_the_ace(spec: str) -> None:
    hands = ["8S 4C", "2S 6D", "3S 7D", "9S AS"]
    assert answer(spec, laid_out(hands, "2H", [0, 0, 1, 2, "8S", "2S", "3S"])) == parse_card("9S")


@pytest.mark.parametrize("spec", THINKERS)
def test_last_to_play_with_one_needed_in_all_the_ace_takes_it_and_the_nine_is_kept(spec: str) -> None:
    hands = ["8S 4C", "2S 6D", "3S 7D", "9S AS"]
    assert answer(spec, laid_out(hands, "2H", [0, 0, 0, 1, "8S", "2S", "3S"])) == parse_card("AS")


@pytest.mark.parametrize("spec", THINKERS)
def test_the_dealer_bids_one_on_the_ace_of_trumps(spec: str) -> None:
    assert answer(spec, laid_out(["9C", "KC", "4D", "AH"], "2H", [1, 1, 0])) == FIRST_BID + 1


def chance_of_one_card(card: int, turned: int, leads: bool) -> float:
    """Exact chance that a single card takes the trick; the 50 unseen cards lie at random, bids tell nothing."""
    suit, trump = card // 13, turned // 13
    unseen = [other for other in range(52) if other not in (card, turned)]
    higher = sum(other // 13 == suit and other > card for other in unseen)
    trumps = sum(other // 13 == trump for other in unseen)
    beaten_by = higher if suit == trump else higher + trumps
    if suit == trump or leads:
        return math.comb(50 - beaten_by, 3) / math.comb(50, 3)
    lower = sum(other // 13 == suit and other < card for other in unseen)  # a lower one must be led
    return lower / 50 * math.comb(49 - beaten_by, 2) / math.comb(49, 2)


@pytest.mark.parametrize("leads", [True, False])
def test_one_card_bids_agree_with_the_exact_table(leads: bool) -> None:
    turned = parse_card("6H")
    bot: Bot = make_bot("search:20000", seed=1)
    checked = 0
    for card in range(52):
        if card == turned:
            continue
        chance = chance_of_one_card(card, turned, leads)
        margin = 11 * chance - 10 * (1 - chance)
        if abs(margin) > 0.3:
            seat = 0 if leads else 1
            deck = [other for other in range(52) if other not in (card, turned)]
            deck.insert(seat, card)
            deck.insert(4, turned)
            # Sealed for the second seat: the table then holds as it stands, no bid tells it anything.
            rules = Rules(ramp=(1,), bids="open" if leads else "sealed", first_dealer=3)
            simulator = Simulator(rules, 1, seed=card, observe=False, decks=[deck])
            for _ in range(seat):
                simulator.step([FIRST_BID])
            assert bot.action(simulator) - FIRST_BID == (margin > 0), (card, margin)
            checked += 1
    assert checked > 40


def test_the_heuristic_player_holds_its_strength() -> None:
    for size, points in ((3, 6.2), (5, 5.9), (10, 6.3)):
        measured = self_play(make_bot("heuristic"), Rules(ramp=(size,), bids="open"), 1_000, seed=1)
        assert measured.points - 3 * measured.points_error > points - 0.4
        assert measured.points > points


def lead_over_the_table(bot: Bot, others: Bot, rules: Rules, deals: int) -> tuple[float, float]:
    """Margin per hand over the other seats' mean, the same deals in every seat: (mean, its standard error)."""
    ahead = np.zeros(deals)
    for seat in range(rules.players):
        bots = [others] * rules.players
        bots[seat] = bot
        scores = play_hands(bots, rules, deals, seed=1)["scores"][:, : rules.players]
        ahead += (scores[:, seat] - (scores.sum(axis=1) - scores[:, seat]) / (rules.players - 1)) / rules.players
    return float(ahead.mean()), float(ahead.std() / np.sqrt(deals))


@pytest.mark.parametrize("players", [3, 4, 5, 6, 7])
def test_the_heuristic_player_beats_the_random_player(players: int) -> None:
    rules = Rules(players=players, ramp=(5,))
    mean, error = lead_over_the_table(make_bot("heuristic"), make_bot("random"), rules, 100)
    assert mean > 4 * error


@pytest.mark.long
@pytest.mark.parametrize("players", [3, 4, 5, 6, 7])
def test_the_searching_player_beats_the_heuristic_player(players: int) -> None:
    rules = Rules(players=players, ramp=(5,))
    mean, error = lead_over_the_table(make_bot("search:400"), make_bot("heuristic"), rules, 300)
    assert mean > 2 * error
