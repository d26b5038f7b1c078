"""Write the golden files anew: ``python tests/make_golden.py``. Their tests import what is expected from here.

A change of these files is a change of the game's behaviour, and the commit says why.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tables import PLAYERS

from ohhell_env import ohhell_v0, preset
from ohhell_env.bots.random import RandomBot
from ohhell_env.observation.decode import observation_text
from ohhell_env.records.notation import write_record
from ohhell_env.rules.cards import SUIT_NAMES, CardSet
from ohhell_env.rules.description import describe
from ohhell_env.rules.presets import PRESETS
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
from ohhell_env.speed import pick_random
from ohhell_env.table.events import (
    BidMade,
    BidsShown,
    CardPlayed,
    CardShown,
    CardsSeen,
    Event,
    HandDealt,
    HandScored,
    Said,
    SuitNamed,
    TrickTaken,
    TrumpMade,
)
from ohhell_env.table.text import hand_text, table_text

GOLDEN = Path(__file__).parent / "golden"
GAMES = 500
VIEWED = 100  # games whose observations are signed
# What is signed: the game for each number of players, and every preset.
TABLES = {
    **{str(players): Rules(players=players) for players in PLAYERS},
    **{name: preset(name) for name in PRESETS if name != "cooperative"},
    "cooperative": preset("cooperative", attempts=3),  # random play would hardly come to an end
}
# What is told as a story: the same for the numbers of players, and presets of the wide form, cut to a few hands.
STORIES = {
    **{f"{players}_players": Rules(players=players, ramp=(3, 1, 2)) for players in PLAYERS},
    **{
        name: preset(name, ramp=(3, 1, 2))
        for name in ("nomination_whist", "seven_down", "crazy_whist", "pocha", "oh_sh", "penguin_whist")
    },
    "mormon_bridge": preset("mormon_bridge", ramp=(3, 1, 2), cap=0),
    "cooperative": preset("cooperative", ramp=(3, 1, 2), trump="turned", attempts=2),
}


def told(event: Event, card_set: CardSet) -> str:
    """One event as one line of a story."""
    match event:
        case HandDealt(number, dealer, size, cards, turned):
            hands = [
                f"  player_{seat}: {'hidden' if c is None else hand_text(c, card_set)}" for seat, c in enumerate(cards)
            ]
            trump = "nothing turned" if turned is None else f"{card_set.symbol(turned)} turned"
            return "\n".join(["", f"hand {number}: {size} cards, player_{dealer} deals, {trump}", *hands])
        case BidMade(seat, bid):
            return f"player_{seat} bids {'?' if bid is None else bid}"
        case BidsShown(bids):
            return f"bids shown: {' '.join(map(str, bids))}"
        case CardPlayed(seat, card):
            return f"player_{seat} plays {card_set.symbol(card)}"
        case TrickTaken(seat):
            return "-> nobody" if seat is None else f"-> player_{seat}"
        case HandScored(points):
            return f"points: {' '.join(f'{p:g}' for p in points)}"
        case CardsSeen(cards):
            hands = [f"  player_{seat}: {hand_text(c, card_set)}" for seat, c in enumerate(cards) if c is not None]
            return "\n".join(["now seen:", *hands])
        case CardShown(card):
            return f"{card_set.symbol(card)} shown"
        case TrumpMade(trump, seat):
            by = "" if seat is None else f" by player_{seat}"
            return f"trump{by}: {'none' if trump is None else SUIT_NAMES[trump]}"
        case Said(seat, what, bid):
            return f"player_{seat} says {what}{'' if bid is None else f' {bid}'}"
        case SuitNamed(seat, suit):
            return f"player_{seat} names {SUIT_NAMES[suit]}"
    raise AssertionError(event)


def trace(rules: Rules) -> str:
    """A short match of random play: its story as player_1 saw it, one observation, and its record."""
    env = ohhell_v0.env(rules)
    env.reset(seed=rules.players)
    bot = RandomBot(seed=1)
    seen = ""
    while not any(env.terminations.values()):
        observation = env.last()[0]
        if not seen and env.unwrapped.game.tricks:
            seen = observation_text(observation["observation"], rules.deck.card_set)
        env.step(bot.action(env))
    game = env.unwrapped.game
    story = "\n".join(told(event, rules.deck.card_set) for event in game.events(viewer=1))
    table, record = table_text(game), write_record(game)
    return f"{describe(game.rules)}\n{story}\n\n{table}\n\nAfter the first trick:\n{seen}\n\n{record}"


def matches(rules: Rules, games: int) -> Iterator[bytes]:
    """Everything that whole matches of random play show, step by step, but the observations."""
    simulator = Simulator(rules, games, seed=rules.players, observe=False)
    batch = simulator.reset()
    streams = np.arange(games, dtype=np.uint64)
    actions = np.empty(games, dtype=np.int64)
    ended = np.zeros(games, dtype=bool)
    while not ended.all():
        pick_random(simulator.games, streams, actions)
        batch = simulator.step(actions, out=batch)
        yield actions.astype(np.int16).tobytes()
        yield np.packbits(batch.action_mask, axis=1).tobytes()
        yield batch.player.astype(np.int8).tobytes()
        if batch.hand_over.any():
            yield batch.reward.tobytes()
        if batch.match_over.any():
            yield simulator.games["seed"].tobytes()
        ended |= batch.match_over


def observations(rules: Rules) -> Iterator[bytes]:
    """Every seat's observation in some games at all stages of a match."""
    simulator = Simulator(rules, VIEWED, seed=rules.players, observe=False)
    for _ in range(40):
        simulator.play_random(17)
        for seat in range(rules.players):
            yield np.packbits(simulator.observation(seat), axis=1).tobytes()


def digest(parts: Iterator[bytes]) -> str:
    """A hash of all parts in order."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
    return whole.hexdigest()[:32]


def signature(name: str) -> dict[str, str]:
    """The behaviour of one of TABLES as two hashes."""
    rules, games = TABLES[name], GAMES if name.isdigit() else GAMES // 5
    return {"matches": digest(matches(rules, games)), "observations": digest(observations(rules))}


if __name__ == "__main__":
    for name, rules in STORIES.items():
        (GOLDEN / f"match_{name}.txt").write_text(trace(rules), encoding="utf-8")
    signatures = {name: signature(name) for name in TABLES}
    (GOLDEN / "signature.json").write_text(json.dumps(signatures, indent=2) + "\n", encoding="utf-8")
