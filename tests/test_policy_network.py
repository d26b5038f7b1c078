"""The policy network as it plays: its outputs are those of the network that was trained, and it needs no torch."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from ohhell_env.bots.policy.bot import load_policy
from ohhell_env.bots.policy.network import FrozenNetwork
from ohhell_env.simulator import Simulator
from training.learning.network import PolicyNetwork


def some_inputs(network: FrozenNetwork, rows: int, share: float = 0.1) -> np.ndarray:
    return (np.random.default_rng(3).random((rows, network.num_inputs)) < share).astype(np.int8)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.parametrize(("width", "depth"), [(64, 1), (128, 2), (64, 4)])
@pytest.mark.parametrize("sections", [("hand", "bids"), ("hand", "unseen", "trick")])
def test_a_frozen_network_is_the_trained_one_as_it_was(width: int, depth: int, sections: tuple[str, ...]) -> None:
    torch.manual_seed(width + depth)
    network = PolicyNetwork(width, depth, sections)
    frozen = network.frozen()
    inputs = some_inputs(frozen, 700)  # more than are worked on at a time
    inputs[0], inputs[1] = 0, 1
    with torch.no_grad():
        before = network(torch.from_numpy(inputs)).numpy()
        for parameter in network.parameters():
            parameter += 1.0
        outputs = frozen(inputs)
        assert outputs.shape == before.shape and outputs.dtype == np.float32
        assert np.allclose(outputs, before, atol=1e-5)
        assert not np.allclose(network(torch.from_numpy(inputs)).numpy(), before, atol=1e-2)
    again = PolicyNetwork(width, depth, sections)
    again.take_weights(frozen)
    assert np.allclose(again(torch.from_numpy(inputs)).detach().numpy(), before, atol=1e-6)


def test_outputs_are_the_same_bit_for_bit_in_any_batch() -> None:
    network = PolicyNetwork(128, 3).frozen()
    inputs = some_inputs(network, 1030)
    together = network(inputs)
    assert np.array_equal(together[::-1], network(inputs[::-1]))
    for k in (0, 511, 512, 1029):
        assert np.array_equal(network(inputs[k : k + 1])[0], together[k])


def test_weights_that_are_no_numbers_do_not_pass_for_zeros() -> None:
    network = PolicyNetwork(64, 2).frozen()
    tensors = {**network.tensors, "trunk.2.bias": np.full(64, np.nan, dtype=np.float32)}
    outputs = FrozenNetwork(tensors, **network.describe())(some_inputs(network, 3))
    assert np.isnan(outputs).all()


def test_outputs_can_be_scaled() -> None:
    network = PolicyNetwork(64, 1).frozen()
    inputs = some_inputs(network, 5)
    assert np.allclose(network.scaled(15.0)(inputs), 15 * network(inputs), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("change", ["narrow", "wide", "float", "flat"])
def test_inputs_that_do_not_fit_are_refused(change: str) -> None:
    network = PolicyNetwork(64, 1).frozen()
    inputs = some_inputs(network, 4)
    bad = {
        "narrow": inputs[:, :-1],
        "wide": np.pad(inputs, ((0, 0), (0, 1))),
        "float": inputs.astype(np.float32),
        "flat": inputs[0],
    }[change]
    with pytest.raises(ValueError, match=rf"this network takes int8 \(B, {network.num_inputs}\)"):
        network(bad)


def test_a_network_of_another_shape_is_refused() -> None:
    network = PolicyNetwork(64, 1).frozen()
    with pytest.raises(ValueError, match=r"missing \['trunk.2.bias', 'trunk.2.weight'\]"):
        FrozenNetwork(network.tensors, 64, 2)
    with pytest.raises(ValueError, match=r"trunk.0.weight is float32 \(64, \d+\), expected float32 \(64, \d+\)"):
        FrozenNetwork(network.tensors, 64, 1, ("hand",))
    with pytest.raises(ValueError, match="width is a multiple of 64"):
        FrozenNetwork(network.tensors, 100, 1)
    with pytest.raises(ValueError, match="the network given is"):
        PolicyNetwork(128, 1).take_weights(network)


def test_a_checkpoint_plays_where_there_is_no_torch() -> None:
    """In an interpreter in which importing torch fails, as where only the base package is installed."""
    code = """
import sys
sys.modules["torch"] = None
from ohhell_env import Simulator
from ohhell_env.bots import make_bot
simulator = Simulator(num_games=9, seed=1)
print(*make_bot("checkpoints/mix512").act(simulator))
make_bot("search+policy:mix512:2")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = load_policy("mix512").act(Simulator(num_games=9, seed=1))
    assert [int(action) for action in done.stdout.split()] == expected.tolist()
