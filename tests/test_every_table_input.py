"""The input for every table: at standard tables what the standard input tells, nothing hidden in it, suits alike."""

import numpy as np
import pytest

from ohhell_env.bots.policy.bot import load_policy
from ohhell_env.bots.policy.every_table import list_ones, write_words
from ohhell_env.bots.policy.every_table_layout import BITS, NUM_INPUTS, NUM_WORDS, OUT_BID
from ohhell_env.bots.policy.every_table_suits import labels_of, relabelling_of
from ohhell_env.bots.policy.every_table_weights import for_every_table, same_inputs
from ohhell_env.bots.policy.features import LABELS, canonical_relabelling, input_sources
from ohhell_env.bots.policy.network import encode_views, num_inputs
from ohhell_env.kernel.jit import jit_apart
from ohhell_env.kernel.state import NONE, WIDE_FORM, compile_rules
from ohhell_env.kernel.widening import widened_games, widened_tables
from ohhell_env.observation.standard import OBSERVATION_SIZE, blind
from ohhell_env.rules.presets import PRESETS, player_counts, preset
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator

STANDARD = [
    Rules(),
    Rules(players=3, ramp=(17,), bids="open"),
    Rules(players=5, ramp=(8,), hook=False),
    Rules(players=7, ramp=(5,), trump="none"),
    Rules(players=4, ramp=(13,), bids="open"),
    Rules(players=6, ramp=(1,)),
]


@jit_apart
def encode(games, tables, words, relabellings):
    for i in range(games.shape[0]):
        table = tables[games[i]["table"]]
        relabellings[i] = relabelling_of(games[i], table, np.int64(games[i]["player"]))
        write_words(games[i], table, np.int64(games[i]["player"]), relabellings[i], words, i)


@jit_apart
def blind_all(games, tables, views):
    for i in range(games.shape[0]):
        blind(games, i, np.int64(games[i]["player"]), tables[games[i]["table"]], views, i)


@jit_apart
def canonical(games, tables, out):
    for i in range(games.shape[0]):
        out[i] = canonical_relabelling(games[i], tables[games[i]["table"]], np.int64(games[i]["player"]))


def words_of(games, tables):
    words, relabellings = np.empty((len(games), NUM_WORDS), np.int64), np.empty(len(games), np.int64)
    encode(games, tables, words, relabellings)
    return words, relabellings


def bits_of(words):
    """(N, NUM_INPUTS) of 0 and 1."""
    return (words[:, :, None] >> np.arange(64) & 1).reshape(len(words), -1).astype(np.int8)


def positions(rules, decisions, number=40, seed=3):
    simulator = Simulator(rules, number, seed=seed, observe=False)
    simulator.play_random(decisions)
    return simulator


@pytest.mark.parametrize("decisions", [0, 3, 9, 22, 40])
def test_at_standard_tables_the_bits_say_what_the_standard_input_says(decisions):
    simulator = positions(STANDARD, decisions)
    games, tables = widened_games(simulator.games), widened_tables(simulator.tables)
    words, relabellings = words_of(games, tables)
    sources = input_sources()
    old, scratch = np.empty((len(games), num_inputs_standard()), np.int8), np.empty((1, OBSERVATION_SIZE), np.int8)
    expected = np.empty(len(games), np.int64)
    encode_views(simulator.games, simulator.tables, sources, scratch, old, expected)
    assert np.array_equal(relabellings, expected)
    bits = bits_of(words)
    found = np.zeros_like(old)
    new, entry = same_inputs().T
    np.add.at(found.T, entry, bits.T[new])
    assert np.array_equal(found, old)


def num_inputs_standard():
    from ohhell_env.bots.policy.features import HAND_SECTIONS

    return num_inputs(HAND_SECTIONS)


def test_weights_mapped_to_every_table_give_the_same_outputs():
    bot = load_policy("mix512")
    tensors = for_every_table(bot.network.tensors, bot.network.sections)
    for decisions in (0, 7, 30):
        simulator = positions(STANDARD, decisions)
        values, relabellings = bot.values(simulator.games, simulator.tables)
        games, tables = widened_games(simulator.games), widened_tables(simulator.tables)
        words, found = words_of(games, tables)
        hidden = bits_of(words).astype(np.float32)
        for layer in range(bot.network.depth):
            weight, bias = tensors[f"trunk.{2 * layer}.weight"], tensors[f"trunk.{2 * layer}.bias"]
            hidden = np.maximum(hidden @ weight.T + bias, 0)
        outputs = hidden @ tensors["head.weight"].T + tensors["head.bias"]
        labels = labels_of(tables)
        for i, game in enumerate(games):
            legal = [a for a in range(63) if int(game["legal"]) >> a & 1]
            wide = [labels[game["table"], found[i], int(game["first_action"]) + a] for a in legal]
            first = 52 if game["phase"] == 0 else 0
            standard = [LABELS[relabellings[i], first + a] for a in legal]
            assert outputs[i, wide] == pytest.approx(values[i, standard], abs=1e-4)


@pytest.mark.parametrize("name", PRESETS)
def test_nothing_hidden_is_in_the_input_and_a_view_gives_the_same(name):
    counts = player_counts(name)
    rules = [preset(name, players=players) for players in {counts[0], min(4, counts[-1]), counts[-1]}]
    tables = compile_rules(rules, WIDE_FORM)
    for decisions in (0, 2, 5, 11, 30, 71):
        simulator = Simulator(rules, 12, seed=decisions, observe=False)
        simulator.play_random(decisions)
        games = widened_games(simulator.games)
        views = np.empty_like(games)
        blind_all(games, tables, views)
        words, _ = words_of(games, tables)
        assert np.array_equal(words, words_of(views, tables)[0])
        assert bits_of(words).sum(axis=1).max() < 400


def test_each_ones_number_is_listed():
    simulator = positions([preset("mormon_bridge")], 17)
    words, _ = words_of(simulator.games, simulator.tables)
    index = np.empty((1, 1024), np.int16)
    for row in range(len(words)):
        count = list_ones(words, row, index, 0)
        assert np.array_equal(index[0, :count], np.flatnonzero(bits_of(words[row : row + 1])[0]))


@pytest.mark.parametrize("name", PRESETS)
def test_every_legal_action_has_an_output_of_its_own(name):
    simulator = Simulator([preset(name)], 30, seed=4, observe=False)
    tables = widened_tables(simulator.tables)
    labels = labels_of(tables)
    for _ in range(12):
        simulator.play_random(3)
        for game in widened_games(simulator.games):
            legal = [a for a in range(63) if int(game["legal"]) >> a & 1]
            found = labels[game["table"], 7, int(game["first_action"]) + np.array(legal)]
            assert (found != NONE).all() and len(set(found)) == len(legal)


def test_payments_are_in_stakes_and_none_is_told_where_nobody_bids():
    """Base rules, 3 cards, 4 players: bids up to 2 are usual; making 0, 1, 2 brings 10, 11, 12, missing it nothing."""
    simulator = Simulator(Rules(ramp=(3,)), 1, seed=1, observe=False)
    words, _ = words_of(widened_games(simulator.games), widened_tables(simulator.tables))
    pay = bits_of(words)[0, BITS["pay"] :][: 27 * 3 * 15].reshape(27, 3, 15)
    assert pay[:4].sum(axis=2).all() and pay[4:].sum() == 0
    assert [int(pay[bid, 0].argmax()) for bid in range(4)] == [11, 12, 12, 12], "10/11 .. 13/11 stakes"
    assert (pay[:4, 1:].argmax(axis=2) == 7)[:, 1].tolist() == [True, True, True, False], "nothing; 3 of 3 are made"
    golden = Simulator(Rules(ramp=("3 golden",)), 1, seed=1, observe=False)
    words, _ = words_of(golden.games, golden.tables)
    assert bits_of(words)[0, BITS["pay"] :].sum() == 0
    assert NUM_INPUTS == 64 * NUM_WORDS and OUT_BID == 68
