"""A policy's input as bits is the input as bytes, at every kind of table and in every phase."""

import numpy as np
import pytest

from ohhell_env.bots.policy.features import NUM_DERIVED, canonical_relabelling, input_sources, write_input
from ohhell_env.bots.policy.words import (
    INPUT_OF_SLOT,
    MAX_ONES,
    NUM_INPUTS,
    NUM_SLOTS,
    NUM_WORDS,
    PLACES,
    list_ones,
    quick_relabelling,
    write_words,
)
from ohhell_env.kernel.jit import jit
from ohhell_env.kernel.standard import beating, beats
from ohhell_env.observation.standard import OBSERVATION_SIZE, blind
from ohhell_env.rules.cards import NUM_CARDS, Deck
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator

SOURCES = input_sources()
SHORT = Deck.of("AC KC QC JC TC 9C 8C AD KD QD JD TD 9D AH KH QH JH TH AS KS QS JS")


@jit
def write_both(games, tables, viewers, sources, scratch, inputs, words, index, counts, relabellings):
    for i in range(games.shape[0]):
        table = tables[games[i]["table"]]
        relabellings[i, 0] = canonical_relabelling(games[i], table, viewers[i])
        relabellings[i, 1] = quick_relabelling(games[i], table, viewers[i])
        write_input(games[i], table, viewers[i], relabellings[i, 0], sources, scratch, inputs, i)
        write_words(games[i], table, viewers[i], relabellings[i, 0], words, i)
        counts[i] = list_ones(words, i, index, i)


def both(games, tables, viewers):
    n = len(games)
    inputs, words = np.empty((n, SOURCES.shape[1] + NUM_DERIVED), np.int8), np.empty((n, NUM_WORDS), np.int64)
    index, counts, relabellings = np.empty((n, MAX_ONES), np.int16), np.empty(n, np.int64), np.empty((n, 2), np.int64)
    scratch = np.empty((1, OBSERVATION_SIZE), np.int8)
    write_both(games, tables, viewers, SOURCES, scratch, inputs, words, index, counts, relabellings)
    return inputs, words, index, counts, relabellings


def test_every_entry_of_the_input_has_a_slot_of_its_own():
    used = INPUT_OF_SLOT[INPUT_OF_SLOT >= 0]
    assert sorted(used) == list(range(NUM_INPUTS)) and SOURCES.shape[1] + NUM_DERIVED == NUM_INPUTS
    assert {word for *_, word, _ in PLACES} == set(range(NUM_WORDS))


@pytest.mark.parametrize(
    "options", [{}, {"bids": "open"}, {"hook": False}, {"trump": "none"}, {"deck": SHORT}], ids=str
)
def test_words_hold_the_input_of_the_seat_to_act(options):
    rules = [Rules(players=p, ramp=(n,), **options) for p in range(3, 8) for n in (1, 2, 3, 7, 10) if n * p <= 22]
    if "deck" not in options:
        rules += [Rules(players=p, ramp=(52 // p,), **options) for p in range(3, 8)]
    simulator = Simulator(rules, 20 * len(rules), seed=3, observe=False)
    seen = 0
    for _ in range(60):
        simulator.play_random(1)
        games, tables = simulator.games, simulator.tables
        inputs, words, index, counts, relabellings = both(games, tables, games["player"].astype(np.int64))
        assert np.array_equal(relabellings[:, 0], relabellings[:, 1])
        bits = (words[:, :, None] >> np.arange(64)) & 1  # (N, W, 64)
        slots = bits.reshape(len(games), NUM_SLOTS)
        assert not slots[:, INPUT_OF_SLOT < 0].any()
        found = np.zeros_like(inputs)
        found[:, INPUT_OF_SLOT[INPUT_OF_SLOT >= 0]] = slots[:, INPUT_OF_SLOT >= 0]
        assert np.array_equal(found, inputs)
        assert np.array_equal(counts, inputs.sum(axis=1)) and counts.max() < MAX_ONES
        for i in range(0, len(games), 37):
            assert index[i, : counts[i]].tolist() == np.flatnonzero(slots[i]).tolist()
        seen += len(games)
    assert seen > 19_000


def test_words_tell_nothing_that_is_hidden():
    """Those of the game are those of the view, in which there is nothing that the seat may not know."""
    simulator = Simulator([Rules(players=p, ramp=(6,)) for p in (3, 5, 7)], 300, seed=5, observe=False)
    for _ in range(30):
        simulator.play_random(1)
        views = np.empty_like(simulator.games)
        for i, game in enumerate(simulator.games):
            blind(simulator.games, i, game["player"], simulator.tables[game["table"]], views, i)
        players = simulator.games["player"].astype(np.int64)
        game_words, view_words = (both(games, simulator.tables, players)[1] for games in (simulator.games, views))
        assert np.array_equal(game_words, view_words)


def test_the_cards_that_beat_a_card_are_those_that_take_the_trick_from_it():
    for trump in range(5):
        for best in range(NUM_CARDS):
            mask = int(beating(np.int64(best), np.int64(trump)))
            assert [mask >> card & 1 for card in range(64)] == [
                card < NUM_CARDS and bool(beats(card, best, trump)) for card in range(64)
            ]
