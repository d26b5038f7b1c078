"""Sampled deals at tables of the wide form: exactly those in which the play so far is legal, each equally likely."""

from collections import Counter
from itertools import permutations
from math import factorial, prod
from typing import Any

import numpy as np
import pytest

from ohhell_env import Deck, Rules, Simulator, preset
from ohhell_env.bots import make_bot
from ohhell_env.bots.base import look
from ohhell_env.bots.determinization_wide import WIDE_PLAN, deal_world, plan_deals
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import stream_of
from ohhell_env.kernel.state import NAME_SUIT, PLAY, WIDE_GAME
from ohhell_env.kernel.wide_play import is_shown_held, sees_cards
from ohhell_env.rules.cards import cards_of

ONE_DECK = "AC KC QC AD KD QD AH KH QH"
TABLES: dict[str, dict[str, Any]] = {
    "two players": {"players": 2, "ramp": (3,), "deck": Deck.of(ONE_DECK)},
    "pairs": {"players": 3, "ramp": (3,), "deck": Deck.of("AC AC KC KC AD AD KD KD AH KH"), "duplicates": "ante"},
    "must trump": {"players": 3, "ramp": (3,), "deck": Deck.of(ONE_DECK + " JH"), "must_trump": True},
    "trump not led first": {"players": 3, "ramp": (3,), "deck": Deck.of(ONE_DECK + " JH"), "lead_trump": "not first"},
    "trump led when broken": {"players": 3, "ramp": (3,), "deck": Deck.of(ONE_DECK + " JH"), "lead_trump": "broken"},
    "jokers without trump": {
        "players": 3,
        "ramp": ("3 no trump",),
        "deck": Deck.of("*S *1 AC 3C SC AD 3D AH 3H AS", card_set="oh sh"),
    },
    "the dealer's last card shown": {"players": 3, "ramp": (3,), "deck": Deck.of(ONE_DECK), "full_deal": "last"},
    "own cards hidden": {"players": 2, "ramp": (3,), "deck": Deck.of(ONE_DECK), "own_cards": "hidden"},
    "own cards hidden, sorted": {
        "players": 2,
        "ramp": (3,),
        "deck": Deck.of(ONE_DECK),
        "own_cards": "hidden",
        "sort_hands": True,
    },
    "hands shown": {"players": 3, "ramp": (3,), "deck": Deck.of(ONE_DECK + " JH"), "hands_shown": True},
}


def tables_after(rules: Rules, seed: int, moves: int) -> tuple[Any, Any]:
    """A table after so many random decisions: (the view of the seat to act, the table)."""
    simulator = Simulator(rules, 1, seed, observe=False)
    simulator.play_random(moves)
    views, keys = np.empty(1, dtype=WIDE_GAME), np.empty(1, dtype=np.int64)
    look(simulator.games, simulator.tables, np.zeros(1, dtype=np.int64), 0, views, keys)
    return views[0], simulator.tables[0]


def copies(mask: int, twice: int) -> list[int]:
    return [*cards_of(mask), *cards_of(twice)]


def place(view: Any, table: Any, seat: int, slot: int) -> int:
    players = int(table["players"])
    return slot * players + (seat - int(view["dealer"]) - 1) % players


def is_possible(view: Any, table: Any, held: list[list[int]]) -> bool:
    """Whether the hand, played again from these cards, goes as it did and leaves the seat the options that it has."""
    game = view.copy()
    players = int(table["players"])
    plays = [int(card) for card in view["plays"][: view["num_plays"]]]
    gone: list[list[int]] = [[] for _ in range(players)]
    for seat in range(players):
        gone[seat] = copies(int(view["played"][seat]), int(view["played_twice"][seat]))
        game["hands"][seat] = game["held_twice"][seat] = game["played"][seat] = game["played_twice"][seat] = 0
        game["taken"][seat] = game["voids"][seat] = 0
        left, past = list(held[seat]), list(gone[seat])
        for slot in range(int(view["hand_size"])):
            card = left.pop(0) if view["slots"][seat] >> slot & 1 else past.pop(0)
            rulebook.receive(game, seat, card)
            game["deck"][place(view, table, seat, slot)] = card
        game["slots"][seat] = 2 ** int(view["hand_size"]) - 1
    game["num_plays"] = 0
    game["broken"] = 0
    game["worth"] = 1
    game["winners"][:] = -1
    game["named"][:] = -1
    game["plays"][:] = -1
    rulebook.clear_trick(game)
    game["leader"] = game["player"] = (int(view["dealer"]) + 1) % players
    game["phase"] = PLAY
    rulebook.set_legal(game, table)
    for number, card in enumerate(plays):
        seat = int(game["player"])
        option = card
        if table["own_cards"] == 2:
            slots = [s for s in cards_of(game["slots"][seat]) if game["deck"][place(view, table, seat, s)] == card]
            option = slots[0]
        if not int(game["legal"]) >> option & 1:
            return False
        rulebook.apply(game, table, rulebook.action_of(game, option))
        if game["phase"] == NAME_SUIT:
            named = int(view["named"][number // players])
            if named < 0:
                break
            rulebook.apply(game, table, rulebook.action_of(game, named))
    return bool(game["legal"] == view["legal"] and game["player"] == view["player"])


def chance_sorted(view: Any, table: Any, seat: int, held: list[int]) -> float:
    """The chance that a hand dealt, sorted by suit and else in chance order, has these cards at their positions."""
    gone = copies(int(view["played"][seat]), int(view["played_twice"][seat]))
    orders = 0
    for past in permutations(gone):
        left, before = list(held), list(past)
        hand = [left.pop(0) if view["slots"][seat] >> slot & 1 else before.pop(0) for slot in range(len(held + gone))]
        suits = [card // 13 for card in hand]
        orders += suits == sorted(suits)
    return orders / prod(factorial(count) for count in Counter(card // 13 for card in held + gone).values())


def expected(view: Any, table: Any) -> Counter[tuple[Any, ...]]:
    """The weight of each outcome: of all orders of the cards that the viewer cannot place, how many make it.

    Where hands are sorted, each order counts by the chance that sorting leads to it.
    """
    players = int(table["players"])
    viewer = int(view["player"])
    hidden = [seat for seat in range(players) if not sees_cards(view, table, viewer, seat)]
    unseen, twice = rulebook.unseen_copies(view, table, viewer)
    pool = copies(int(unseen), int(twice))
    shown = is_shown_held(view, table) and int(view["dealer"]) in hidden
    needs = [int(view["slots"][seat]).bit_count() - int(shown and seat == view["dealer"]) for seat in hidden]
    outcomes: Counter[tuple[Any, ...]] = Counter()
    possible: dict[tuple[Any, ...], bool] = {}
    for order in permutations(pool, sum(needs)):
        held = [copies(int(view["hands"][seat]), int(view["held_twice"][seat])) for seat in range(players)]
        at = 0
        for seat, need in zip(hidden, needs):
            held[seat] = list(order[at : at + need]) + (
                [int(view["shown"])] if shown and seat == view["dealer"] else []
            )
            at += need
        key = outcome(view, table, held)
        if key not in possible:
            possible[key] = is_possible(view, table, held)
        if possible[key]:
            weight = prod(chance_sorted(view, table, seat, held[seat]) for seat in hidden) if table["sort_hands"] else 1
            if weight:
                outcomes[key] += weight  # type: ignore[assignment]
    return outcomes


def outcome(view: Any, table: Any, held: list[list[int]]) -> tuple[Any, ...]:
    """What a deal is told apart by: each seat's cards, in order where a seat plays by position."""
    viewer = int(view["player"])
    if table["own_cards"] == 2:
        return tuple(tuple(cards) if seat == viewer else tuple(sorted(cards)) for seat, cards in enumerate(held))
    return tuple(tuple(sorted(cards)) for cards in held)


def sampled(view: Any, table: Any, count: int) -> Counter[tuple[Any, ...]]:
    players = int(table["players"])
    viewer = int(view["player"])
    plans, boards = np.zeros(1, dtype=WIDE_PLAN), np.zeros(1, dtype=WIDE_GAME)
    assert plan_deals(view, table, viewer, plans[0])
    outcomes: Counter[tuple[Any, ...]] = Counter()
    for k in range(count):
        boards[0] = view
        _, fits = deal_world(plans[0], boards[0], table, viewer, np.uint64(stream_of(1, k)))
        assert fits
        world = boards[0]
        held = [
            [int(world["deck"][place(view, table, seat, slot)]) for slot in cards_of(world["slots"][seat])]
            for seat in range(players)
        ]
        for seat in range(players):
            assert sorted(held[seat]) == sorted(copies(int(world["hands"][seat]), int(world["held_twice"][seat])))
        outcomes[outcome(view, table, held)] += 1
    return outcomes


@pytest.mark.parametrize("name", TABLES)
def test_every_deal_in_which_the_play_so_far_is_legal_is_equally_likely(name: str) -> None:
    rules = Rules(bids="open", hook=False, **TABLES[name])
    checked = 0
    for seed in range(40):
        view, table = tables_after(rules, seed, rules.players + 1 + seed % (rules.players * (rules.hand_sizes[0] - 1)))
        if view["phase"] != PLAY or view["num_plays"] < 1:
            continue
        outcomes = expected(view, table)
        if not 1 < len(outcomes) < 300:
            continue
        ways = sum(outcomes.values())
        count = 25 * len(outcomes)
        found = sampled(view, table, count)
        assert set(found) <= set(outcomes), (seed, "a deal that does not fit")
        chi_square = sum((found[key] - count * n / ways) ** 2 / (count * n / ways) for key, n in outcomes.items())
        free = len(outcomes) - 1
        assert chi_square < free + 5 * np.sqrt(2 * free) + 5, (seed, chi_square, free)
        checked += 1
        if checked == 5:
            break
    assert checked >= (0 if name == "hands shown" else 3)


@pytest.mark.parametrize(
    ("name", "players"), [("nomination_whist", 3), ("mormon_bridge", 3), ("oh_sh", 3), ("seven_down", 3), ("pocha", 4)]
)
@pytest.mark.parametrize("moves", [1, 4, 9])
def test_hidden_hands_in_other_places_change_no_choice_of_the_search(name: str, players: int, moves: int) -> None:
    simulator = Simulator(preset(name, players=players, ramp=(4,), cap=0), 8, 3, observe=False)
    simulator.play_random(moves)
    bot = make_bot("search:8", seed=2)
    actions = bot.act(simulator)
    for game, table in zip(simulator.games, simulator.tables[simulator.games["table"]]):
        viewer = int(game["player"])
        others = [s for s in range(players) if s != viewer and not game["voids"][s]]
        same = [s for s in others if int(game["slots"][s]) == int(game["slots"][others[0]])]
        hidden = np.array(
            [s for s in same if not sees_cards(game, table, viewer, s) and s != game["dealer"]], dtype=np.int64
        )
        for field in ("hands", "held_twice"):
            game[field][hidden] = game[field][np.roll(hidden, 1)]
    assert (bot.act(simulator) == actions).all()


@pytest.mark.parametrize("name", ["nomination_whist", "oh_sh", "penguin_whist", "cooperative", "mormon_bridge"])
def test_the_search_plays_legally_to_the_end_of_a_match(name: str) -> None:
    rules = preset(name, players=3)
    simulator = Simulator(rules, 2, 4, observe=False)
    bot = make_bot("search:3", seed=1)
    for _ in range(120):
        simulator.step(bot.act(simulator))  # refuses what is not legal
