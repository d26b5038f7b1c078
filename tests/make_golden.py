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

from ohhell_env import ohhell_v0
from ohhell_env.bots.random import RandomBot
from ohhell_env.observation.decode import observation_text
from ohhell_env.records.notation import write_record
from ohhell_env.rules.cards import card_symbol
from ohhell_env.rules.description import describe
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
from ohhell_env.speed import pick_random
from ohhell_env.table.events import BidMade, BidsShown, CardPlayed, Event, HandDealt, HandScored, TrickTaken
from ohhell_env.table.text import hand_text, table_text

GOLDEN = Path(__file__).parent / "golden"
GAMES = 10_000


def told(event: Event, players: int) -> str:
    """One event as one line of a story."""
    match event:
        case HandDealt(number, dealer, size, cards, turned):
            hands = [f"  player_{seat}: {'hidden' if c is None else hand_text(c)}" for seat, c in enumerate(cards)]
            trump = "nothing turned" if turned is None else f"{card_symbol(turned)} turned"
            return "\n".join(["", f"hand {number}: {size} cards, player_{dealer} deals, {trump}", *hands])
        case BidMade(seat, bid):
            return f"player_{seat} bids {'?' if bid is None else bid}"
        case BidsShown(bids):
            return f"bids shown: {' '.join(map(str, bids))}"
        case CardPlayed(seat, card):
            return f"player_{seat} plays {card_symbol(card)}"
        case TrickTaken(seat):
            return f"-> player_{seat}"
        case HandScored(points):
            return f"points: {' '.join(f'{p:g}' for p in points)}"
    raise AssertionError(event)


def trace(players: int) -> str:
    """A short match of random play: its story as player_1 saw it, one observation, and its record."""
    env = ohhell_v0.env(Rules(players=players, ramp=(3, 1, 2)))
    env.reset(seed=players)
    bot = RandomBot(seed=1)
    seen = ""
    while not any(env.terminations.values()):
        observation = env.last()[0]
        if not seen and env.unwrapped.game.tricks:
            seen = observation_text(observation["observation"])
        env.step(bot.action(env))
    game = env.unwrapped.game
    story = "\n".join(told(event, players) for event in game.events(viewer=1))
    table, record = table_text(game), write_record(game)
    return f"{describe(game.rules)}\n{story}\n\n{table}\n\nAfter the first trick:\n{seen}\n\n{record}"


def matches(players: int) -> Iterator[bytes]:
    """Everything that GAMES whole matches of random play show, step by step, but the observations."""
    simulator = Simulator(Rules(players=players), GAMES, seed=players, observe=False)
    batch = simulator.reset()
    streams = np.arange(GAMES, dtype=np.uint64)
    actions = np.empty(GAMES, dtype=np.int64)
    while True:
        pick_random(simulator.games, streams, actions)
        batch = simulator.step(actions, out=batch)
        yield actions.astype(np.int8).tobytes()
        yield batch.action_mask.tobytes()
        yield batch.player.astype(np.int8).tobytes()
        if batch.hand_over[0]:
            yield batch.reward.tobytes()
        if batch.match_over[0]:
            yield simulator.games["seed"].tobytes()
            return


def observations(players: int) -> Iterator[bytes]:
    """Every seat's observation in 300 games at all stages of a match."""
    simulator = Simulator(Rules(players=players), 300, seed=players, observe=False)
    for _ in range(40):
        simulator.play_random(17)
        for seat in range(players):
            yield simulator.observation(seat).tobytes()


def digest(parts: Iterator[bytes]) -> str:
    """A hash of all parts in order."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
    return whole.hexdigest()[:32]


def signature(players: int) -> dict[str, str]:
    """The behaviour of one table size as two hashes."""
    return {"matches": digest(matches(players)), "observations": digest(observations(players))}


if __name__ == "__main__":
    for number in PLAYERS:
        (GOLDEN / f"match_{number}_players.txt").write_text(trace(number), encoding="utf-8")
    signatures = {str(number): signature(number) for number in PLAYERS}
    (GOLDEN / "signature.json").write_text(json.dumps(signatures, indent=2) + "\n", encoding="utf-8")
