"""The input for every table: at standard tables what the standard input tells, nothing hidden in it, suits alike."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save

from ohhell_env.bots.policy.bot import load_policy
from ohhell_env.bots.policy.every_table import list_ones, write_words
from ohhell_env.bots.policy.every_table_layout import (
    BITS,
    HAND_LAYOUT_HASH,
    HAND_ONLY,
    HAND_WORDS,
    LAYOUT_HASH,
    MATCH_SECTIONS,
    NUM_INPUTS,
    NUM_WORDS,
    OUT_BID,
)
from ohhell_env.bots.policy.every_table_suits import labels_of, relabelling_of
from ohhell_env.bots.policy.every_table_weights import for_every_table, same_inputs
from ohhell_env.bots.policy.features import LABELS, canonical_relabelling, input_sources
from ohhell_env.bots.policy.network import EVERY_TABLE, encode_views, num_inputs
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


# --- The match -----------------------------------------------------------------------------------------------------


def section(words, name, rows):
    """(N, rows, bins) of the bits of one of the match's sections."""
    size = dict(MATCH_SECTIONS)[name]
    return bits_of(words)[:, BITS[name] : BITS[name] + size].reshape(len(words), rows, -1)


def test_leads_and_records_are_in_the_input_of_a_match():
    """Base rules, 4 players: the second hand, of 3 cards, where making a bid is worth 11 points in the mean."""
    simulator = Simulator(Rules(ramp=(5, 3)), 1, seed=1, observe=False)
    while simulator.games["hand"][0] == 0:
        simulator.play_random(1)
    game = simulator.games[0]
    player = int(game["player"])
    for k, (score, made, missed, over, under) in enumerate(
        [(20, 3, 1, 0, 2), (8, 0, 2, 2, 0), (20, 0, 0, 0, 0), (60, 9, 1, 4, 0)]
    ):
        seat = (player + k) % 4
        for name, value in zip(
            ("scores", "made", "missed", "over", "under"), (score, made, missed, over, under), strict=True
        ):
            game[name][seat] = value
    words, _ = words_of(widened_games(simulator.games), widened_tables(simulator.tables))
    lead = section(words, "lead", 9)[0]
    assert [one.tolist().index(1) if one.any() else None for one in lead[:4]] == [11, 8, 2, None]
    assert section(words, "hands_done", 1)[0, 0].tolist() == [0, 1, 0, 0, 0, 0]
    made, over, under = (section(words, f"record_{name}", 10)[0] for name in ("made", "over", "under"))
    assert [one.tolist().index(1) if one.any() else None for one in made[:4]] == [4, 0, None, 5]
    assert [one.tolist().index(1) if one.any() else None for one in over[:4]] == [0, 4, None, 2]
    assert [one.tolist().index(1) if one.any() else None for one in under[:4]] == [2, 0, None, 0]
    simulator.tables["lowest"] = 1
    words, _ = words_of(widened_games(simulator.games), widened_tables(simulator.tables))
    assert [int(one.argmax()) for one in section(words, "lead", 9)[0][:3]] == [0, 8, 16], "behind is ahead"


@pytest.mark.parametrize("name", ["oh_hell", "blob", "pocha", "crazy_whist"])
def test_nothing_of_the_match_is_in_the_input_of_a_single_hand(name):
    size = preset(name).hand_sizes[0]
    simulator = Simulator(
        [preset(name), replace(preset(name), ramp=(size,), trump="turned", cap=0)], 2, seed=2, form=WIDE_FORM
    )
    simulator.play_random(4)
    words, _ = words_of(simulator.games, simulator.tables)
    assert (words[0] & ~HAND_ONLY).any() and not (words[1] & ~HAND_ONLY).any()
    assert not HAND_ONLY[HAND_WORDS : NUM_WORDS - 1].any() and HAND_ONLY[:HAND_WORDS].any()


def test_a_checkpoint_from_before_the_inputs_of_the_match_plays_as_it_did(tmp_path):
    """Its weights are for fewer inputs; those of the match count for nothing, in matches too."""
    bot = load_policy("mix512")
    rng = np.random.default_rng(1)
    tensors = for_every_table(bot.network.tensors, bot.network.sections)
    tensors["trunk.0.weight"] += rng.normal(0, 0.05, tensors["trunk.0.weight"].shape).astype(np.float32)
    older = {**tensors, "trunk.0.weight": tensors["trunk.0.weight"][:, : 64 * HAND_WORDS].copy()}
    folder = tmp_path / "older"
    folder.mkdir()
    data = save(older)
    meta = {
        **bot.meta,
        "tables": None,
        "input_layout": HAND_LAYOUT_HASH,
        "weights_sha256": hashlib.sha256(data).hexdigest(),
    }
    meta["network"] = {**bot.meta["network"], "sections": list(EVERY_TABLE)}
    (folder / "weights.safetensors").write_bytes(data)
    (folder / "meta.json").write_text(json.dumps(meta))
    loaded = load_policy(folder)
    simulator = Simulator([preset("oh_hell"), preset("blob")], 40, seed=3, observe=False, form=WIDE_FORM)
    for _ in range(4):
        simulator.play_random(40)
        words, _ = words_of(simulator.games, simulator.tables)
        assert (words[:, HAND_WORDS:] != 0).any()
        hidden = bits_of(words)[:, : 64 * HAND_WORDS].astype(np.float32)
        for layer in range(bot.network.depth):
            hidden = np.maximum(hidden @ older[f"trunk.{2 * layer}.weight"].T + older[f"trunk.{2 * layer}.bias"], 0)
        expected = hidden @ older["head.weight"].T + older["head.bias"]
        assert loaded.network(words) == pytest.approx(expected, abs=1e-4)
    meta["input_layout"] = "0123456789abcdef"
    (folder / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(ValueError, match="input_layout"):
        load_policy(folder)


def test_the_older_layout_is_the_one_that_was():
    assert HAND_LAYOUT_HASH == "1a3b89b0b471a69d" and HAND_LAYOUT_HASH != LAYOUT_HASH
