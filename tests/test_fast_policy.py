"""Fast policies: whole numbers throughout, the same by any path, in rollouts and behind the bots' interface."""

import numpy as np
import pytest

from ohhell_env.bots.policy import every_table_layout
from ohhell_env.bots.policy.bot import PolicyBot
from ohhell_env.bots.policy.every_table_encoder import encode_wide_views
from ohhell_env.bots.policy.every_table_suits import labels_of
from ohhell_env.bots.policy.fast import FastNetwork
from ohhell_env.bots.policy.fast_every_table import FastEveryTableNetwork
from ohhell_env.bots.policy.features import LABELS, input_sources
from ohhell_env.bots.policy.network import encode_views
from ohhell_env.bots.policy.vectors import MIDDLE, WIDE_BLOCK, add_clipped, dot, mix
from ohhell_env.bots.policy.words import NUM_INPUTS
from ohhell_env.kernel.jit import jit
from ohhell_env.kernel.rulebook import NUM_ACTIONS
from ohhell_env.kernel.state import HAND_OVER
from ohhell_env.kernel.widening import widened_actions, widened_games, widened_tables
from ohhell_env.observation.standard import OBSERVATION_SIZE
from ohhell_env.rules.cards import Deck
from ohhell_env.rules.presets import preset
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator

SHORT = Deck.of("AC KC QC JC TC 9C 8C AD KD QD JD TD 9D AH KH QH JH TH AS KS QS JS")
TABLES = [Rules(players=p, ramp=(n,)) for p in (3, 5, 7) for n in (1, 3, 7)]
TABLES += [Rules(4, (5,), bids="open", hook=False), Rules(3, (7,), trump="none"), Rules(5, (4,), deck=SHORT)]


def random_tensors(width=128, seed=1):
    random = np.random.default_rng(seed)

    def draw(limit, shape, dtype):
        return random.integers(-limit, limit + 1, shape).astype(dtype)

    return {
        "first.weight": draw(60, (width, NUM_INPUTS), np.int16),
        "first.bias": draw(200, width, np.int16),
        "second.weight": draw(30, (MIDDLE, width), np.int16),
        "second.bias": draw(9000, MIDDLE, np.int32),
        "head.weight": draw(100, (NUM_ACTIONS, MIDDLE), np.int16),
        "head.bias": draw(9000, NUM_ACTIONS, np.int32),
    }


def in_plain_numbers(tensors, games, tables):
    """The network's sums in int64, from the dense input."""
    inputs, relabellings = np.empty((len(games), NUM_INPUTS), np.int8), np.empty(len(games), np.int64)
    encode_views(games, tables, input_sources(), np.empty((1, OBSERVATION_SIZE), np.int8), inputs, relabellings)
    t = {name: tensor.astype(np.int64) for name, tensor in tensors.items()}
    hidden = np.clip(inputs @ t["first.weight"].T + t["first.bias"], 0, 511)
    middle = np.clip((hidden @ t["second.weight"].T + t["second.bias"]) // 128, 0, 255)
    return middle @ t["head.weight"].T + t["head.bias"], relabellings


@pytest.mark.parametrize("width", [128, 256])
def test_outputs_are_the_sums_of_whole_numbers_at_every_table(width):
    tensors = random_tensors(width)
    network = FastNetwork(tensors, width, scale=0.5)
    simulator = Simulator(TABLES, 20 * len(TABLES), seed=2, observe=False)
    compared = 0
    for _ in range(25):
        simulator.play_random(1)
        values, relabellings = network.evaluate(simulator.games, simulator.tables)
        expected, same = in_plain_numbers(tensors, simulator.games, simulator.tables)
        assert np.array_equal(relabellings, same)
        mask = simulator.current().action_mask == 1
        rows, actions = np.nonzero(mask)
        labels = LABELS[relabellings[rows], actions]
        assert np.array_equal(values[rows, labels], (0.5 * expected[rows, labels]).astype(np.float32))
        values[rows, labels] = 0
        assert not values.any(), "nothing is said of what is not legal"
        compared += len(rows)
    assert compared > 15_000


def test_a_play_out_takes_the_decisions_that_the_bot_takes():
    network = FastNetwork(random_tensors())
    bot = PolicyBot(network, endgame=False)
    simulator = Simulator(TABLES, 3 * len(TABLES), seed=4, observe=False)
    games, tables = simulator.games.copy(), simulator.tables
    decisions = network.play_out(games, tables, 0.0, np.arange(len(games), dtype=np.uint64))
    assert (games["phase"] == HAND_OVER).all()
    chosen = 0
    for k in range(len(games)):
        one = Simulator(simulator.rules[games[k]["table"]], 1, observe=False)
        one.games[0] = simulator.games[k]
        one.games["table"] = 0
        batch = one.current()
        while not batch.hand_over[0]:
            seat, place = int(batch.player[0]), int(one.games[0]["num_plays"])
            bidding = one.games[0]["phase"] == 0
            action = 52 + games[k]["bids"][seat] if bidding else games[k]["plays"][place]
            assert bot.act(one)[0] == action
            chosen += batch.action_mask[0].sum() > 1
            batch = one.step(np.array([action]))
    assert chosen == decisions


def test_play_outs_at_a_temperature_differ_by_their_streams_alone():
    network = FastNetwork(random_tensors(), scale=1e-4)
    simulator = Simulator(Rules(ramp=(7,)), 200, seed=4, observe=False)
    streams = np.arange(200, dtype=np.uint64)
    played = []
    for states in (streams, streams, streams + np.uint64(1000)):
        games = simulator.games.copy()
        network.play_out(games, simulator.tables, 1.0, states.copy())
        played.append(games["plays"])
    assert np.array_equal(played[0], played[1]) and (played[0] != played[2]).any(axis=1).mean() > 0.9
    alone = simulator.games[150:151].copy()
    network.play_out(alone, simulator.tables, 1.0, streams[150:151].copy())
    assert np.array_equal(alone["plays"][0], played[0][150])


WIDE_TABLES = [
    preset("oh_sh", players=4),
    Rules(players=8, ramp=(4,)),
    Rules(players=4, ramp=(5,), trump="named"),
    Rules(players=5, ramp=(4,), deck="double deck", bids="together", hook=False),
    Rules(players=3, ramp=(3,), own_cards="forehead"),
]


def for_every_table(seed=1):
    random = np.random.default_rng(seed)
    standard = random_tensors(seed=seed)
    return {
        **standard,
        "first.weight": random.integers(-60, 61, (128, every_table_layout.NUM_INPUTS)).astype(np.int16),
        "head.weight": random.integers(-100, 101, (every_table_layout.NUM_OUTPUTS, MIDDLE)).astype(np.int16),
        "head.bias": random.integers(-9000, 9001, every_table_layout.NUM_OUTPUTS).astype(np.int32),
    }


@pytest.mark.parametrize("tables", [WIDE_TABLES, TABLES], ids=["wide", "standard"])
def test_a_fast_network_for_every_table_sums_whole_numbers_too(tables):
    tensors = for_every_table()
    network = FastEveryTableNetwork(tensors, scale=0.5)
    simulator = Simulator(tables, 10 * len(tables), seed=2, observe=False)
    t = {name: tensor.astype(np.int64) for name, tensor in tensors.items()}
    wide, columns = widened_tables(simulator.tables), widened_actions(simulator.form)
    compared = 0
    for _ in range(12):
        simulator.play_random(1)
        values, relabellings = network.evaluate(simulator.games, simulator.tables)
        assert not relabellings.any() and values.shape == (len(simulator), simulator.form.num_actions)
        words, named = np.empty((len(simulator), every_table_layout.NUM_WORDS), np.int64), np.empty_like(relabellings)
        encode_wide_views(widened_games(simulator.games), wide, words, named)
        inputs = ((words[:, :, None] >> np.arange(64)) & 1).reshape(len(simulator), -1)
        hidden = np.clip(inputs @ t["first.weight"].T + t["first.bias"], 0, 511)
        middle = np.clip((hidden @ t["second.weight"].T + t["second.bias"]) // 128, 0, 255)
        sums = middle @ t["head.weight"].T + t["head.bias"]
        labels = labels_of(wide)[:, :, columns][simulator.games["table"], named]
        rows, actions = np.nonzero(simulator.current().action_mask)
        expected = (0.5 * sums[rows, labels[rows, actions]]).astype(np.float32)
        assert np.array_equal(values[rows, actions], expected)
        compared += len(rows)
    assert compared > 1000


def test_a_play_out_at_wide_tables_takes_the_decisions_that_the_bot_takes():
    network = FastEveryTableNetwork(for_every_table(2), scale=1e-4)
    bot = PolicyBot(network, endgame=False)
    simulator = Simulator(WIDE_TABLES, 4 * len(WIDE_TABLES), seed=4, observe=False)
    games, tables = simulator.games.copy(), simulator.tables
    decisions = network.play_out(games, tables, 0.0, np.arange(len(games), dtype=np.uint64))
    assert (games["phase"] == HAND_OVER).all() and decisions > 100
    for k in range(len(games)):
        one = Simulator(simulator.rules[games[k]["table"]], 1, observe=False)
        one.games[0] = simulator.games[k]
        one.games["table"] = 0
        while one.games[0]["num_plays"] < games[k]["num_plays"] - 1:
            one.step(bot.act(one))
            count = int(one.games[0]["num_plays"])
            assert one.games[0]["plays"][:count].tolist() == games[k]["plays"][:count].tolist()
        assert one.games[0]["bids"].tolist() == games[k]["bids"].tolist()


def test_a_network_for_every_table_plays_out_wide_games_only():
    simulator = Simulator(Rules(ramp=(2,)), 1, seed=1)
    with pytest.raises(ValueError, match="plays out games of the wide form"):
        FastEveryTableNetwork(for_every_table()).play_out(
            simulator.games, simulator.tables, 0.0, np.zeros(1, np.uint64)
        )


@jit
def compiled_parts(weights, index, count, bias, hidden, second, second_bias, middle, head):
    for block in range(weights.shape[0]):
        add_clipped(weights, block, index, 1, count, bias, hidden)
    mix(hidden, 1, second, second_bias, middle)
    return dot(middle, 1, head, 3)


def test_compiled_and_plain_arithmetic_agree():
    random = np.random.default_rng(5)
    weights = random.integers(-900, 900, (2, 50, WIDE_BLOCK)).astype(np.int16)
    index, bias = random.integers(50, size=(2, 40)).astype(np.int16), random.integers(-90, 90, 256).astype(np.int16)
    second = random.integers(-60, 60, (256, MIDDLE)).astype(np.float32)
    head, second_bias = random.integers(-60, 60, (9, MIDDLE)).astype(np.float32), np.arange(32, dtype=np.float32)
    results = []
    for plain in (True, False):
        hidden, middle = np.zeros((2, 256), np.float32), np.zeros((2, MIDDLE), np.float32)
        if plain:
            for block in range(2):
                add_clipped(weights, block, index, 1, 37, bias, hidden)
            mix(hidden, 1, second, second_bias, middle)
            total = dot(middle, 1, head, 3)
        else:
            total = compiled_parts(weights, index, 37, bias, hidden, second, second_bias, middle, head)
        results.append((hidden, middle, total))
    (hidden, middle, total), (hidden_2, middle_2, total_2) = results
    assert np.array_equal(hidden, hidden_2) and np.array_equal(middle, middle_2) and total == total_2
    assert 0 < (hidden[1] > 0).mean() < 1 and middle[1].any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("head.bias"), r"missing \['head.bias'\], unknown none"),
        (lambda t: t.update({"head.bias": t["head.bias"][:-1]}), r"head.bias is int32 \(69,\), expected int32 \(70,\)"),
        (lambda t: t.update({"first.bias": t["first.bias"].astype(np.int32)}), "first.bias is int32"),
        (lambda t: t["first.weight"].__setitem__((0, 0), 300), "sums of layer first can reach"),
        (lambda t: t["second.weight"].fill(300), "sums of layer second can reach"),
        (lambda t: t["head.bias"].__setitem__(0, 2**24), "sums of layer head can reach"),
    ],
)
def test_weights_that_do_not_fit_are_refused(change, message):
    tensors = random_tensors()
    change(tensors)
    with pytest.raises(ValueError, match=message):
        FastNetwork(tensors)


def test_a_width_that_is_no_multiple_of_128_is_refused():
    with pytest.raises(ValueError, match="width=64 is not allowed; use a multiple of 128"):
        FastNetwork(random_tensors(64), 64)
