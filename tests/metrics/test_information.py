"""Binning against numpy's histogram, mutual information against loops over the definition."""

from __future__ import annotations

import math

import hypothesis.extra.numpy as arrays
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from unweave.metrics import information as module
from unweave.metrics.information import bin_codes, information, joint_counts, known, mutual_information, relabel

EIGHTHS = st.integers(-40, 40).map(lambda i: i / 8)  # coarse, so that values fall on the edges of bins


@settings(max_examples=60, deadline=None)
@given(arrays.arrays(float, st.tuples(st.integers(2, 30), st.just(2)), elements=EIGHTHS), st.integers(2, 20))
def test_bins_are_those_of_numpys_histogram(codes, bins):
    binned = bin_codes(codes, bins)
    for j, code in enumerate(codes.T):
        counts, edges = np.histogram(code, bins)
        if code.min() < code.max():
            np.testing.assert_array_equal(binned[:, j], np.digitize(code, edges[:-1]) - 1)
        assert sorted(np.bincount(binned[:, j], minlength=bins)) == sorted(counts)


def test_the_last_bin_is_closed_and_an_edge_belongs_above():
    assert bin_codes(np.array([[0.0], [1.0], [1.5], [2.0], [4.0]]), 4)[:, 0].tolist() == [0, 1, 1, 2, 3]


def test_labels_count_from_zero_and_stay_few():
    np.testing.assert_array_equal(relabel(np.array([7, 5, 7, 6]))[0], [2, 0, 2, 1])
    labels, size = relabel(np.array([2**62, -(2**62), 0, 0]))
    assert (labels.tolist(), size) == ([2, 0, 1, 1], 3)


def direct_information(a, b):
    """I(a; b), the sum of p(x, y) log(p(x, y) / p(x) p(y))."""
    total = 0.0
    for x in set(a):
        for y in set(b):
            both = np.mean((a == x) & (b == y))
            if both:
                total += both * math.log(both / (np.mean(a == x) * np.mean(b == y)))
    return total


def test_information_is_the_definitions():
    rng = np.random.default_rng(0)
    binned, factor = rng.integers(4, size=(50, 3)), rng.integers(5, size=50)
    binned[:, 2] = np.minimum(factor, 3)
    information, entropy = mutual_information(joint_counts(binned, 4, factor))
    np.testing.assert_allclose(information, [direct_information(code, factor) for code in binned.T], atol=1e-12)
    np.testing.assert_allclose(entropy, direct_information(factor, factor), atol=1e-12)


def test_subsets_are_counted_all_at_once():
    rng = np.random.default_rng(1)
    binned, factor = rng.integers(4, size=(40, 3)), rng.integers(5, size=40)
    subsets = rng.random((6, 40)) < 0.5
    together = joint_counts(binned, 4, factor, subsets)
    full = np.ones((1, 40), dtype=bool)
    np.testing.assert_array_equal(joint_counts(binned, 4, factor, full)[..., 0], joint_counts(binned, 4, factor))
    for r, subset in enumerate(subsets):
        for j in range(3):
            expected = np.zeros((5, 4))
            np.add.at(expected, (factor[subset], binned[subset, j]), 1)
            np.testing.assert_array_equal(together[:, j, :, r], expected)


def test_blocks_of_codes_and_subsets_make_no_difference(monkeypatch):
    """All pairs at once, one code with some subsets at a time, and single pairs."""
    rng = np.random.default_rng(2)
    binned, factors = rng.integers(4, size=(40, 3)), rng.integers([2, 5], size=(40, 2))
    subsets = rng.random((6, 40)) < 0.5
    tables = []
    for cells in (10**6, 4 * 5 * 4, 1):
        monkeypatch.setattr(module, "CELLS", cells)
        tables.append(information(binned, 4, factors, subsets))
    for parts in zip(*tables, strict=True):
        np.testing.assert_allclose(parts[1:], [parts[0], parts[0]], atol=1e-14)
    for r, subset in enumerate(subsets):
        alone = information(binned[subset], 4, factors[subset])
        for together, expected in zip(tables[0], alone, strict=True):
            np.testing.assert_allclose(together[..., r], expected, atol=1e-12)
        for j, k in np.ndindex(3, 2):
            direct = direct_information(binned[subset, j], factors[subset, k])
            np.testing.assert_allclose(alone.shared[j, k], direct, atol=1e-12)
            np.testing.assert_allclose(alone.code[j], direct_information(binned[subset, j], binned[subset, j]))
            np.testing.assert_allclose(known(alone)[j, k], direct / alone.factor[k], atol=1e-12)


def test_a_constant_code_knows_exactly_nothing():
    """Rounding would leave it 1e-16 nats, which a ratio of two such numbers makes much of."""
    factors = np.random.default_rng(3).integers([3, 7, 11], size=(1000, 3))
    assert not information(np.zeros((1000, 2), dtype=int), 20, factors).shared.any()
