"""The kernel against the slow referee, move by move: who acts, what is allowed, what it scores, who sees what."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from referee import Referee
from tables import PLAYERS, random_actions, variety

from ohhell_env.observation.decode import decode
from ohhell_env.rules.cards import card_name, parse_card
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.scoring import resolve
from ohhell_env.simulator import Simulator

HANDS = 800  # for each number of players: 4,000 in all
MANY_HANDS = 20_000  # in the long test
SUITS = "CDHS"


def referee_for(rules: Rules) -> Referee:
    return Referee(
        players=rules.players,
        ramp=list(rules.hand_sizes),
        hook=rules.hook,
        sealed=rules.bids == "sealed",
        trump=rules.trump,
        score=resolve(rules.scoring),
        deck=[card_name(card) for card in rules.deck.cards],
        first_dealer=rules.first_dealer,
    )


def deal_as_the_kernel_did(referee: Referee, simulator: Simulator, i: int) -> None:
    referee.deal(
        [card_name(int(card)) for card in simulator.games[i]["deck"] if card >= 0][: len(simulator[i].rules.deck)]
    )


def relative_facts(view: dict, viewer: int, players: int, rules: Rules) -> dict:  # type: ignore[type-arg]
    """The referee's view of a seat in the decoder's terms: relative seats and card numbers."""
    order = [(viewer + k) % players for k in range(players)]
    trick = dict(view["trick"])

    def seat(absolute: int | None) -> int | None:
        return None if absolute is None else (absolute - viewer) % players

    def numbers(cards: set[str]) -> list[int]:
        return sorted(parse_card(card) for card in cards)

    return {
        "players": players,
        "hand": numbers(view["hand"]),
        "unseen": numbers(view["unseen"]),
        "played": [numbers(view["played"][s]) for s in order],
        "voids": [sorted(SUITS.index(suit) for suit in view["voids"][s]) for s in order],
        "turned": None if view["turned"] is None else parse_card(view["turned"]) % 13,
        "trump": None if view["trump"] is None else SUITS.index(view["trump"]),
        "trick": [parse_card(trick[s]) if s in trick else None for s in order],
        "led_suit": None if view["led_suit"] is None else SUITS.index(view["led_suit"]),
        "winning": seat(view["winning"]),
        "bids": [view["bids"][s] for s in order],
        "taken": [view["taken"][s] for s in order],
        "need": [None if view["need"][s] is None else max(-3, min(9, view["need"][s])) for s in order],
        "bid_sum": None if view["bid_sum"] is None else max(-8, min(8, view["bid_sum"])),
        "forbidden": view["forbidden"],
        "turn": seat(view["turn"]),
        "dealer": seat(view["dealer"]),
        "hand_size": view["hand_size"],
        "tricks_left": view["tricks_left"],
        "hands_left": min(view["hands_left"], 32),
        "phase": view["phase"],
        "table": {"sealed": rules.bids == "sealed", "hook": rules.hook, "turn_up": rules.trump == "turned"},
    }


def check_view(referee: Referee, observation: NDArray[np.int8], viewer: int, rules: Rules) -> None:
    view, facts = referee.view(viewer), decode(observation)
    leader = facts.pop("leader")
    if view["phase"] == "play":
        assert leader == (view["leader"] - viewer) % rules.players
    for k, (low, high) in enumerate(facts.pop("score_gap"), start=1):
        gap = view["scores"][viewer] - view["scores"][(viewer + k) % rules.players]
        assert low <= gap < high
    assert facts == relative_facts(view, viewer, rules.players, rules)


@pytest.mark.parametrize("players", PLAYERS)
def test_the_kernel_and_the_referee_agree_on_every_move(players: int) -> None:
    play_beside_each_other(players, HANDS, players)


@pytest.mark.long
@pytest.mark.parametrize("players", PLAYERS)
def test_the_kernel_and_the_referee_agree_on_every_move_of_many_hands(players: int) -> None:
    play_beside_each_other(players, MANY_HANDS, 100 + players)


def play_beside_each_other(players: int, wanted: int, seed: int) -> None:
    """Random matches on the kernel and the referee until so many hands are over."""
    rng = np.random.default_rng(seed)
    tables = variety(players)
    simulator = Simulator(tables, num_games=50, seed=seed)
    referees = [referee_for(simulator[i].rules) for i in range(len(simulator))]
    for i, referee in enumerate(referees):
        deal_as_the_kernel_did(referee, simulator, i)
    batch = simulator.current()
    hands = decisions = 0
    while hands < wanted:
        actions = random_actions(batch.action_mask, rng)
        viewers = rng.integers(players, size=len(simulator))
        views = simulator.observation(viewers)
        rows, options = np.nonzero(batch.action_mask)
        allowed: list[set[int | str]] = [set() for _ in referees]
        for row, option in zip(rows.tolist(), options.tolist(), strict=True):
            allowed[row].add(option - 52 if option >= 52 else card_name(option))
        for i, referee in enumerate(referees):
            assert referee.turn == batch.player[i]
            assert referee.legal() == allowed[i]
            if (decisions + i) % 16 == 0:  # views are slow to compare: a sample, of the seat to act and of any other
                check_view(referee, batch.observation[i], int(batch.player[i]), simulator[i].rules)
                check_view(referee, views[i], int(viewers[i]), simulator[i].rules)
            action = int(actions[i])
            referee.act(action - 52 if action >= 52 else card_name(action))
        decisions += 1
        batch = simulator.step(actions)
        for i in np.flatnonzero(batch.hand_over):
            referee = referees[i]
            hands += 1
            assert referee.last_points == batch.reward[i].tolist()
            assert (referee.phase == "over") == batch.match_over[i]
            if batch.match_over[i]:
                referees[i] = referee_for(simulator[int(i)].rules)
            else:
                assert referee.scores == list(simulator[int(i)].scores)
            deal_as_the_kernel_did(referees[i], simulator, int(i))
        for i in np.flatnonzero(~batch.hand_over)[:5]:
            game, referee = simulator[int(i)], referees[i]
            assert [trick.winner for trick in game.tricks] == referee.trick_winners
            assert [{card_name(card) for card in hand} for hand in game.hands] == referee.hands
