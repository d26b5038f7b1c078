"""Packed observations: a bit for each entry, 64 to a word of int64, as ``Simulator(observe="packed")`` writes them.

Entry e of an observation is bit ``e % 64`` of word ``e // 64``, where bit 0 is the lowest; bit 63 is the sign. A row of
D entries takes W = ceil(D / 64) words; the bits of the last word beyond D are zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD = 64  # entries in a word


def packed_size(size: int) -> int:
    """W: words for observations of ``size`` entries."""
    return -(-size // WORD)


def _checked_words(shape: tuple[int, ...], dtype: str, size: int) -> None:
    if dtype != "int64" or not shape or shape[-1] != packed_size(size):
        raise ValueError(
            f"packed observations of {size} entries are int64 of shape (..., {packed_size(size)}); got {dtype} of shape"
            f" {tuple(shape)}"
        )


def unpack_bits(words: NDArray[np.int64], size: int) -> NDArray[np.int8]:
    """The entries of packed observations, (..., W) int64: (..., size) int8 of 0 and 1.

    Raises:
        ValueError: where the words are not those of so many entries.
    """
    words = np.asarray(words)
    _checked_words(words.shape, words.dtype.name, size)
    # Little-endian bytes, whatever the machine's order: entry 0 is the lowest bit of byte 0.
    octets = np.ascontiguousarray(words).astype("<i8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=size, bitorder="little").view(np.int8)


def unpack_bits_torch(words: Any, size: int, dtype: Any = None) -> Any:
    """The same for a tensor, on its device: (..., size) of 0 and 1 in ``dtype``, by default int8.

    Raises:
        ValueError: where the words are not those of so many entries.
    """
    _checked_words(tuple(words.shape), str(words.dtype).removeprefix("torch."), size)
    places = words.new_ones(WORD).cumsum(0) - 1  # (64,): 0..63; by the tensor, so that nothing here imports torch
    bits = (words.unsqueeze(-1) >> places) & 1  # (..., W, 64)
    flat = bits.flatten(-2)[..., :size]  # (..., D)
    return flat.char() if dtype is None else flat.to(dtype)
