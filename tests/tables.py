"""Tables and small steps that several tests share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ohhell_env.rules.cards import Deck, card_name, parse_card
from ohhell_env.rules.presets import PRESETS
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator

PLAYERS = (3, 4, 5, 6, 7)
SHORT_DECK = Deck.of([f"{rank}{suit}" for suit in "CDHS" for rank in "9TJQKA"])


def shortened(rules: Rules) -> Rules:
    """A table with a few small hands of the kinds that it has."""
    if rules.ramp == "drawn":
        return replace(rules, cap=2)
    special = {hand.special for hand in rules.ramp_hands}
    return replace(rules, ramp=(3, 1, "4 no trump") if 1 in special else (3, 1), cap=0)


# Presets of the standard form that differ from others here in their ramp and points alone.
LIKE_OTHERS = ("up_and_down_the_river", "blob", "trickster", "hassenpfeffer", "seven_up_seven_down")
# Every other preset, with a few small hands, and every kind of table that has something of its own to show.
EVERY_TABLE: dict[str, Rules] = {
    **{name: shortened(rules) for name, rules in PRESETS.items() if name not in LIKE_OTHERS},
    "cooperative": shortened(replace(PRESETS["cooperative"], attempts=8)),  # random play would hardly come to an end
    **{f"{name}, two": shortened(replace(PRESETS[name], players=2)) for name in ("nomination_whist", "penguin_whist")},
    "mormon_bridge, ten": shortened(replace(PRESETS["mormon_bridge"], players=10)),
    "pass or nil": Rules(players=3, nil_round=True, ramp=(5, 2), bids="open"),
    "blind bids": Rules(blind_bids=True, ramp=(3, 1)),
    "blind, golden and miser hands": Rules(ramp=("3 blind", "2 golden", "2 miser")),
    "knocking": Rules(players=2, bids="together", hook=False, knocking=True, ramp=(2, 1)),
    "hands shown": Rules(hands_shown=True, ramp=(5,)),
    "jokers led": Rules(players=8, deck="five hundred", trump="none", ramp=(7, 1)),
    "jokers cut": Rules(players=6, deck="oh sh", trump="cut", ramp=(4, 2)),
    "26 cards": Rules(players=2, ramp=(26,)),
    "double deck, exception": Rules(players=2, deck="double deck", duplicates="exception", ramp=(12,), trump="none"),
    "last card": Rules(players=4, ramp=(13,), full_deal="last"),
    "lowest wins": Rules(scoring="negative", ramp=(2, 1)),
}


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
    """A whole deck that deals these hands, seat by seat, and turns this card."""
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
