"""Random numbers that depend only on a seed, an index and a counter, the same on every platform.

Creating a generator for every image would cost 15 µs each, and numpy may change what a generator's methods return.
Here word j of index i is a hash of (seed, i, j), computed for a whole batch at once in wrapping 64-bit integers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.data.factors import Integers

Words = NDArray[np.uint64]

STEP = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio, made odd


def draw_words(seed: int, indices: Integers, count: int) -> Words:
    """Return `count` random 64-bit words for each index, (n, count), uniform and independent.

    Each index starts its own sequence of SplitMix64 (Steele, Lea and Flood, 2014):

        word(seed, i, j) = mix(mix(mix(seed) + i) + (j + 1) STEP)    modulo 2^64.
    """
    start = mix(np.array([seed], dtype=np.uint64))
    keys = mix(start + indices.astype(np.uint64))
    steps = np.arange(1, count + 1, dtype=np.uint64) * STEP
    return mix(keys[:, None] + steps)


def draw_bytes(seed: int, indices: Integers, count: int) -> NDArray[np.uint8]:
    """Return `count` random bytes for each index, (n, count): eight from each word, the lowest byte first."""
    words = draw_words(seed, indices, -(-count // 8))
    return words.astype("<u8", copy=False).view(np.uint8)[:, :count]


def below(words: Words, limit: int) -> Integers:
    """Turn random words into random integers 0..limit-1, limit at most 2^32; no integer is favoured by more than 2^-32.

    >>> below(np.array([0, 2**63, 2**64 - 1], dtype=np.uint64), 6)
    array([0, 3, 5])
    """
    return ((words >> 32) * np.uint64(limit) >> 32).astype(np.int64)


def mix(words: Words) -> Words:
    """Scramble words in place with a bijection: each input bit changes half of the output bits."""
    shifted = np.empty_like(words)  # allocating memory in each line would take three times as long
    words ^= np.right_shift(words, 30, out=shifted)
    words *= 0xBF58476D1CE4E5B9
    words ^= np.right_shift(words, 27, out=shifted)
    words *= 0x94D049BB133111EB
    words ^= np.right_shift(words, 31, out=shifted)
    return words
