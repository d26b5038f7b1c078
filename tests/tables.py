"""Tables and small steps that several tests share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ohhell_env.cards import Deck, card_name, parse_card
from ohhell_env.rules import Rules
from ohhell_env.simulator import Simulator

PLAYERS = (3, 4, 5, 6, 7)
SHORT_DECK = Deck.of([f"{rank}{suit}" for suit in "CDHS" for rank in "9TJQKA"])


def variety(players: int) -> list[Rules]:
    """Tables that differ in every option: bids, hook, trump, ramp, deck."""
    return [
        Rules(players=players),
        Rules(players=players, bids="open", ramp="up-down"),
        Rules(players=players, hook=False, first_dealer=players - 1),
        Rules(players=players, trump="none", bids="open", hook=False, ramp=(1, 5, 2, 3)),
        Rules(players=players, deck=SHORT_DECK, ramp="down", scoring="basic"),
    ]


def given_deck(*hands: str, turned: str | None, dealer: int = 0) -> list[int]:
    """A whole pack that deals these hands, seat by seat, and turns this card."""
    cards = [[parse_card(card) for card in hand.split()] for hand in hands]
    players, size = len(cards), len(cards[0])
    order = [cards[(dealer + 1 + k) % players][trick] for trick in range(size) for k in range(players)]
    order += [] if turned is None else [parse_card(turned)]
    return order + [card for card in range(52) if card not in order]


def play(simulator: Simulator, *actions: int | str) -> None:
    """Bids (numbers) and cards (names) in game 0."""
    for action in actions:
        simulator.step([parse_card(action) if isinstance(action, str) else 52 + action])


def legal(simulator: Simulator) -> set[int] | set[str]:
    """What the seat to act in game 0 may do: bids as numbers, cards as names."""
    actions = np.flatnonzero(simulator.current().action_mask[0])
    if len(actions) and actions[0] >= 52:
        return {int(action) - 52 for action in actions}
    return {card_name(int(action)) for action in actions}


def random_actions(mask: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.int64]:
    """A random legal action for each row."""
    return np.argmax(mask * (1 + rng.random(mask.shape)), axis=1)


def random_steps(simulator: Simulator, steps: int, seed: int = 0) -> Iterator[NDArray[np.int64]]:
    """Step all games at random; yields the actions after each step."""
    rng = np.random.default_rng(seed)
    batch = simulator.current()
    for _ in range(steps):
        actions = random_actions(batch.action_mask, rng)
        batch = simulator.step(actions)
        yield actions
