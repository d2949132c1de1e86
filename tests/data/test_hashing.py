from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from unweave.data.hashing import below, draw_bytes, draw_words, mix

WHOLE = 2**64


def slow_mix(word: int) -> int:
    """The same scrambling in Python's own integers."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % WHOLE
    word = (word ^ word >> 27) * 0x94D049BB133111EB % WHOLE
    return word ^ word >> 31


def bits(words: np.ndarray) -> np.ndarray:
    """(n,) words as (n, 64) bits."""
    return np.unpackbits(words.astype("<u8")[:, None].view(np.uint8), axis=1)


def test_mixing_gives_the_published_sequence():
    states = [(1234567 + k * 0x9E3779B97F4A7C15) % WHOLE for k in (1, 2, 3, 4, 5)]
    assert mix(np.array(states, dtype=np.uint64)).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_words_are_the_documented_hash(seed: int):
    indices = [0, 1, 737_279, 2**40]
    expected = [
        [slow_mix((slow_mix((slow_mix(seed) + i) % WHOLE) + (j + 1) * 0x9E3779B97F4A7C15) % WHOLE) for j in range(5)]
        for i in indices
    ]
    assert draw_words(seed, np.array(indices), 5).tolist() == expected


def test_bytes_are_those_of_the_words():
    indices = np.arange(7)
    words = draw_words(3, indices, 3)
    expected = [b"".join(int(word).to_bytes(8, "little") for word in row)[:19] for row in words]
    assert [row.tobytes() for row in draw_bytes(3, indices, 19)] == expected


def test_fewer_words_are_the_first_of_more():
    indices = np.array([5, 900, 5])
    np.testing.assert_array_equal(draw_words(0, indices, 3), draw_words(0, indices, 100)[:, :3])
    np.testing.assert_array_equal(draw_words(0, indices[::-1], 3), draw_words(0, indices, 3)[::-1])
    assert draw_words(0, indices[:0], 3).shape == (0, 3)


@pytest.mark.parametrize(
    "draws",
    [
        draw_bytes(0, np.arange(100), 10_000),
        draw_bytes(0, np.arange(100_000), 10),
        np.concatenate([draw_bytes(seed, np.array([0]), 10) for seed in range(50_000)]),
    ],
    ids=["along the counter", "along the index", "along the seed"],
)
def test_bytes_are_uniform_and_independent(draws: np.ndarray):
    assert 1e-3 < stats.chisquare(np.bincount(draws.ravel(), minlength=256)).pvalue < 1 - 1e-3
    for axis in (0, 1):  # the high halves of neighbours, as a table of 16×16
        one, next_one = np.moveaxis(draws >> 4, axis, 0)[:-1], np.moveaxis(draws >> 4, axis, 0)[1:]
        pairs = np.bincount((16 * one.astype(int) + next_one).ravel(), minlength=256)
        assert 1e-3 < stats.chisquare(pairs).pvalue < 1 - 1e-3


def test_every_bit_of_seed_and_index_changes_half_of_the_bits():
    indices = np.arange(4000)
    words = draw_words(0, indices, 1)[:, 0]
    for bit in range(62):
        for others in (draw_words(0, indices ^ (1 << bit), 1), draw_words(1 << bit, indices, 1)):
            flipped = bits(words ^ others[:, 0]).mean(axis=0)
            assert np.abs(flipped - 0.5).max() < 5 * 0.5 / np.sqrt(4000)


def test_no_two_images_share_their_words():
    words = draw_words(0, np.arange(100_000), 2).ravel()
    assert len(np.unique(words)) == len(words)


@pytest.mark.parametrize("limit", [1, 2, 7, 211, 100_000])
def test_integers_below_a_limit(limit: int):
    words = draw_words(0, np.arange(500_000), 1)[:, 0]
    numbers = below(words, limit)
    assert numbers.tolist()[:1000] == [(word >> 32) * limit >> 32 for word in words.tolist()[:1000]]
    assert numbers.min() >= 0
    if limit == 1:
        assert numbers.max() == 0
    else:
        assert 1e-3 < stats.chisquare(np.bincount(numbers, minlength=limit)).pvalue < 1 - 1e-3
    assert below(np.array([2**64 - 1], dtype=np.uint64), limit).tolist() == [limit - 1]
