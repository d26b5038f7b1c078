"""Packed observations: the same entries as bits, at every preset, compiled or not, and back again."""

import os
import subprocess
import sys

import numpy as np
import pytest

from ohhell_env import Simulator, preset, unpack_bits, unpack_bits_torch
from ohhell_env.observation.packed import packed_size
from ohhell_env.rules.presets import PRESETS


@pytest.mark.parametrize("name", PRESETS)
def test_packed_observations_have_the_entries_of_the_others(name: str) -> None:
    plain, packed = (Simulator(preset(name), 16, seed=3, observe=observe) for observe in (True, "packed"))
    one, other = plain.reset(), packed.reset()
    size = one.observation.shape[1]
    for step in range(60):
        assert other.observation.shape == (16, -(-size // 64)) and other.observation.dtype == np.int64
        assert np.array_equal(unpack_bits(other.observation, size), one.observation)
        for seat in range(plain.players):
            assert np.array_equal(unpack_bits(packed.observation(seat), size), plain.observation(seat))
        chances = np.random.default_rng(step).random(one.action_mask.shape)
        actions = np.argmax(one.action_mask * (1 + chances), axis=1)
        one, other = plain.step(actions), packed.step(actions, out=other)
        for left, right in zip(one[1:], other[1:], strict=True):
            assert np.array_equal(left, right)
        plain.play_random(step)
        packed.play_random(step)
        one, other = plain.current(), packed.current()


def test_entry_e_is_bit_e_modulo_64_of_word_e_div_64() -> None:
    words = np.zeros((3, 2), np.int64)
    words[0, 0] = 1
    words[1, 0] = np.int64(-(2**63))
    words[2, 1] = 1 << 35
    entries = unpack_bits(words, 100)
    assert entries.shape == (3, 100) and entries.dtype == np.int8
    assert [np.flatnonzero(row).tolist() for row in entries] == [[0], [63], [99]]
    assert np.array_equal(unpack_bits(words[0], 100), entries[0]), "any shape before the words"
    assert np.array_equal(unpack_bits(words[::2, :], 100), entries[::2]), "not contiguous"


def test_tensors_unpack_alike() -> None:
    torch = pytest.importorskip("torch")
    words = np.random.default_rng(1).integers(-(2**63), 2**63 - 1, (5, 4, 3))
    for size in (129, 192):
        tensor = unpack_bits_torch(torch.from_numpy(words), size)
        assert tensor.dtype == torch.int8 and np.array_equal(tensor.numpy(), unpack_bits(words, size))
    floats = unpack_bits_torch(torch.from_numpy(words), 129, torch.float32)
    assert floats.dtype == torch.float32 and floats.sum() == unpack_bits(words, 129).sum()


@pytest.mark.parametrize(("shape", "dtype"), [((4, 3), np.int64), ((4, 2), np.int32), ((), np.int64)])
def test_words_of_another_size_are_refused(shape: tuple[int, ...], dtype: type) -> None:
    with pytest.raises(ValueError, match=r"packed observations of 100 entries are int64 of shape \(\.\.\., 2\); got"):
        unpack_bits(np.zeros(shape, dtype), 100)
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"packed observations of 100 entries"):
        unpack_bits_torch(torch.from_numpy(np.zeros(shape, dtype)), 100)


def test_other_ways_to_observe_are_refused() -> None:
    with pytest.raises(ValueError, match="observe='bits' is not allowed; use True, False or 'packed'"):
        Simulator(observe="bits")
    assert packed_size(64) == 1 and packed_size(65) == 2


UNCOMPILED = """
import hashlib
from ohhell_env import Simulator, preset
for name in ("oh_hell", "oh_sh", "penguin_whist"):
    simulator = Simulator(preset(name), 2, seed=5, observe="packed")
    batch = simulator.reset()
    digest = hashlib.sha256(batch.observation.tobytes())
    for _ in range(25):
        batch = simulator.step(batch.action_mask.argmax(axis=1))
        digest.update(batch.observation.tobytes())
    print(digest.hexdigest())
"""


def test_plain_python_packs_alike() -> None:
    words = [
        subprocess.run(
            [sys.executable, "-c", UNCOMPILED],
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for disabled in ("0", "1")
    ]
    assert words[0] == words[1]
