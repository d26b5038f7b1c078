"""Many games at once: each as if it were alone, repeatable, restorable, and safe from illegal actions."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from tables import PLAYERS, random_actions, random_steps, shortened, variety

from ohhell_env.rules.presets import PRESETS
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Batch, Simulator, game_seeds
from ohhell_env.table.text import table_text


def same(one: Batch, other: Batch) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def play_lowest(simulator: Simulator, steps: int) -> Batch:
    batch = simulator.current()
    for _ in range(steps):
        batch = simulator.step(batch.action_mask.argmax(axis=1), out=batch)
    return batch


@pytest.mark.parametrize("players", PLAYERS)
def test_a_batch_has_the_promised_shapes_and_types(players: int) -> None:
    batch = Simulator(Rules(players=players), num_games=8, seed=1).reset()
    assert [(part.shape, part.dtype) for part in batch] == [
        ((8, 1256), np.int8),
        ((8, 70), np.int8),
        ((8,), np.int64),
        ((8, players), np.float32),
        ((8,), np.bool_),
        ((8,), np.bool_),
    ]


def test_the_mask_is_one_exactly_where_an_action_is_accepted() -> None:
    simulator = Simulator(variety(5), num_games=5, seed=2)
    for _ in random_steps(simulator, 60):
        mask = simulator.current().action_mask
        assert mask.any(axis=1).all(), "somebody can always act"
        for i in range(5):
            accepted = []
            for action in range(-1, 72):
                trial = simulator.clone()
                actions = mask.argmax(axis=1)
                actions[i] = action
                try:
                    trial.step(actions)
                except ValueError:
                    continue
                accepted.append(action)
            assert accepted == np.flatnonzero(mask[i]).tolist()


def test_an_illegal_action_is_refused_by_name_and_changes_nothing() -> None:
    simulator = Simulator(num_games=3, seed=1)
    batch = simulator.reset()
    before = simulator.games.copy()
    actions = batch.action_mask.argmax(axis=1)
    actions[2] = 7
    with pytest.raises(
        ValueError, match=r"game 2: action 7 \(play 9C\) is not legal; player_1 bids now, allowed: bid 0,"
    ):
        simulator.step(actions)
    assert np.array_equal(simulator.games, before)
    for bad in (actions[:2], actions.astype(float), [[1, 2, 3]]):
        with pytest.raises(ValueError, match="actions must be 3 whole numbers"):
            simulator.step(bad)
    assert np.array_equal(simulator.games, before)


def test_a_game_does_not_depend_on_its_neighbours_their_number_or_threads() -> None:
    seeds = game_seeds(9, 60)
    whole = Simulator(num_games=60, seed=9)
    threaded = Simulator(num_games=60, seed=9, threads=3)
    backwards = Simulator(num_games=60, seed=seeds[::-1])
    alone = Simulator(num_games=1, seed=[seeds[17]])
    batch = whole.current()
    for step in range(300):
        actions = random_actions(batch.action_mask, np.random.default_rng(step))
        batch = whole.step(actions)
        assert same(threaded.step(actions), batch)
        turned = backwards.step(actions[::-1])
        assert same(Batch(*(part[::-1] for part in turned)), batch)
        assert same(alone.step(actions[17:18]), Batch(*(part[17:18] for part in batch)))


def test_more_games_of_one_seed_begin_with_the_same_games() -> None:
    assert np.array_equal(game_seeds(4, 10), game_seeds(4, 1000)[:10])
    assert len(set(game_seeds(4, 1000).tolist())) == 1000


def test_random_play_does_not_depend_on_threads_or_batch_or_how_it_is_cut_up() -> None:
    one, two, three = (Simulator(variety(4), num_games=20, seed=5, threads=t) for t in (1, 2, 1))
    one.play_random(500)
    two.play_random(500)
    for decisions in (1, 0, 99, 400):
        three.play_random(decisions)
    assert one.games.tobytes() == two.games.tobytes() == three.games.tobytes()


def test_the_deals_do_not_depend_on_how_the_hands_are_played() -> None:
    lowest, chosen = Simulator(num_games=10, seed=3), Simulator(num_games=10, seed=3)
    deals: list[list[bytes]] = [[], []]
    batches = [lowest.current(), chosen.current()]
    rng = np.random.default_rng(0)
    for _ in range(900):
        picks = (batches[0].action_mask.argmax(axis=1), random_actions(batches[1].action_mask, rng))
        for k, simulator in enumerate((lowest, chosen)):
            batches[k] = simulator.step(picks[k])
            if batches[k].hand_over[0]:
                deals[k].append(simulator.games["deck"][0].tobytes())
    assert len(deals[0]) > 25, "more than one match"
    assert deals[0] == deals[1]


def test_a_clone_plays_on_alike_and_leaves_the_original_alone() -> None:
    simulator = Simulator(num_games=6, seed=8)
    play_lowest(simulator, 100)
    clone = simulator.clone()
    before = simulator.games.copy()
    after = play_lowest(clone, 200)
    assert np.array_equal(simulator.games, before)
    assert same(play_lowest(simulator, 200), after)
    assert simulator.games.tobytes() == clone.games.tobytes()


def test_a_saved_state_is_restored_into_any_place_of_any_simulator() -> None:
    simulator = Simulator(num_games=4, seed=8)
    play_lowest(simulator, 57)
    saved = np.frombuffer(simulator.games.tobytes(), dtype=simulator.games.dtype)
    other = Simulator(num_games=2, seed=1)
    other.games[1] = saved[3]
    assert table_text(other[1]) == table_text(simulator[3])
    for _ in range(100):
        actions = simulator.current().action_mask.argmax(axis=1)
        simulator.step(actions)
        other.step([other.current().action_mask[0].argmax(), actions[3]])
    assert other.games[1] == simulator.games[3]


def test_a_simulator_can_be_pickled() -> None:
    simulator = Simulator(num_games=4, seed=8, threads=2)
    simulator.play_random(50)
    copy = pickle.loads(pickle.dumps(simulator))
    simulator.play_random(50)
    copy.play_random(50)
    assert copy.games.tobytes() == simulator.games.tobytes()


def test_steps_write_into_the_callers_arrays_when_asked_and_never_otherwise() -> None:
    simulator = Simulator(num_games=5, seed=1)
    first = simulator.reset()
    kept = Batch(*(part.copy() for part in first))
    second = simulator.step(first.action_mask.argmax(axis=1))
    assert same(first, kept)
    third = simulator.step(second.action_mask.argmax(axis=1), out=first)
    assert third is first
    assert not same(first, kept)
    with pytest.raises(ValueError, match="out must be a Batch"):
        Simulator(num_games=6, seed=1).step(np.full(6, 52), out=first)


def test_without_observations_the_same_games_are_played() -> None:
    seeing, blind = Simulator(num_games=5, seed=1), Simulator(num_games=5, seed=1, observe=False)
    a, b = play_lowest(seeing, 100), play_lowest(blind, 100)
    assert b.observation.shape == (0, 1256)
    assert same(a._replace(observation=b.observation), b)


def test_a_match_ends_and_the_next_begins_in_the_same_step() -> None:
    simulator = Simulator(Rules(ramp=(1, 2)), num_games=3, seed=1)
    seeds = simulator.games["seed"].copy()
    hands = matches = 0
    total = np.zeros((3, 4))
    batch = simulator.current()
    while not matches:
        scores = simulator.games["scores"][:, :4].copy()
        batch = simulator.step(batch.action_mask.argmax(axis=1))
        hands += batch.hand_over[0]
        matches += batch.match_over[0]
        total += batch.reward
        if not matches:
            assert np.array_equal(total, simulator.games["scores"][:, :4])
    assert hands == 2
    assert np.array_equal(total, scores + batch.reward), "the last hand's points are in the last reward"
    assert (simulator.games["scores"] == 0).all()
    assert (simulator.games["seed"] != seeds).all()
    assert batch.action_mask.any(axis=1).all()


def test_rewards_of_every_kind_come_from_the_same_points() -> None:
    kinds = {
        kind: Simulator(Rules(ramp=(3, 1)), num_games=40, seed=2, reward=kind) for kind in ("points", "zero_sum", "win")
    }
    totals = {kind: np.zeros((40, 4)) for kind in kinds}
    batch = kinds["points"].current()
    running = np.ones(40, dtype=bool)
    for step in range(2 * 4 + 4 * 3 + 4 * 1):
        actions = random_actions(batch.action_mask, np.random.default_rng(step))
        batches = {kind: simulator.step(actions) for kind, simulator in kinds.items()}
        batch = batches["points"]
        for kind in kinds:
            totals[kind] += batches[kind].reward * running[:, None]
        running &= ~batch.match_over
    assert not running.any()
    points = totals["points"]
    np.testing.assert_allclose(totals["zero_sum"], points - points.mean(axis=1, keepdims=True), atol=1e-5)
    best = points == points.max(axis=1, keepdims=True)
    np.testing.assert_allclose(totals["win"], best / best.sum(axis=1, keepdims=True), atol=1e-6)


def test_a_reset_with_a_seed_repeats_and_one_without_goes_on() -> None:
    simulator = Simulator(num_games=4, seed=1)
    first = simulator.reset(seed=6)
    second = simulator.reset()
    assert not np.array_equal(first.observation, second.observation)
    assert same(simulator.reset(seed=6), first)
    assert same(simulator.reset(), second)


def test_given_decks_are_dealt_first_and_do_not_change_what_is_shuffled_after_them() -> None:
    deck = list(range(52))[::-1]
    given, shuffled = Simulator(num_games=2, seed=3, decks=[deck, deck]), Simulator(num_games=2, seed=3)
    for hand in range(4):
        assert (hand < 2) == (given.games["deck"][0].tolist() == deck)
        assert (hand >= 2) == np.array_equal(given.games["deck"], shuffled.games["deck"])
        for simulator in (given, shuffled):
            batch = simulator.current()
            while not (batch := simulator.step(batch.action_mask.argmax(axis=1))).hand_over[0]:
                pass


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_games": 0}, "num_games=0"),
        ({"threads": 0}, "threads=0"),
        ({"rules": []}, "empty sequence"),
        ({"reward": "score"}, "reward='score' is not known; use one of 'points', 'zero_sum', 'win'"),
        ({"seed": -1}, "seed=-1 is not allowed"),
        ({"seed": 1.5}, "seed=1.5 is not allowed"),
        ({"seed": [1, 2]}, "seed has 2 entries for 1 games"),
        ({"decks": [[0, 1]]}, r"deals\[0\] is not a whole deck of 52 cards: 2 given, missing 4C"),
        ({"decks": [[0, *range(51)]]}, "missing AS, repeated 2C"),
    ],
)
def test_what_is_not_allowed_is_refused_by_name(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Simulator(**options)  # type: ignore[arg-type]


def test_a_viewer_must_be_a_seat() -> None:
    with pytest.raises(ValueError, match="game 0: viewer 4 is not a seat"):
        Simulator(num_games=2, seed=1).observation(4)


def test_a_hundred_thousand_games_fit_in_a_hundred_megabytes() -> None:
    simulator = Simulator(num_games=100_000, seed=1, observe=False)
    batch = simulator.current()
    assert simulator.games.nbytes + sum(part.nbytes for part in batch) < 100e6


PROGRAM = """
import hashlib, json, sys
import numpy as np
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
for name, rules in json.load(sys.stdin).items():
    rules = [Rules.from_json(one) for one in rules]
    digest, hands = hashlib.sha256(), 0
    simulator = Simulator(rules, len(rules), seed=11)
    batch = simulator.reset()
    for step in range(24):
        chances = np.random.default_rng(step).random(batch.action_mask.shape)
        batch = simulator.step(np.argmax(batch.action_mask * (1 + chances), axis=1))
        hands += int(batch.hand_over.sum())
        for part in batch:
            digest.update(part.tobytes())
    simulator.play_random(20)
    digest.update(simulator.games.tobytes())
    print(name, hands, digest.hexdigest())
"""
# Hands so short that all are scored and another is dealt.
EVERYWHERE = {
    "sealed and open": [Rules(players=3, ramp=(2, 3)), Rules(players=5, ramp=(2, 1), bids="open", hook=False)],
    **{name: [replace(shortened(PRESETS[name]), players=3)] for name in PRESETS},
}


def run(**environment: str) -> str:
    tables = json.dumps({name: [one.to_json() for one in rules] for name, rules in EVERYWHERE.items()})
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **environment},
        input=tables,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_two_processes_and_plain_python_give_the_same_games_at_every_preset() -> None:
    compiled = run()
    assert all(int(line.split()[-2]) for line in compiled.splitlines()) and compiled.count("\n") == len(EVERYWHERE)
    assert compiled == run()
    assert compiled == run(NUMBA_DISABLE_JIT="1")
