from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from unweave.metrics import dci, dci_matched
from unweave.metrics.dci_matched import matched_codes


def wide_world(rows=900, extra=30, seed=0):
    """Each factor in a code of its own, among mixtures and noise."""
    rng = np.random.default_rng(seed)
    factors = rng.integers((4, 5, 6), size=(rows, 3))
    own = factors + 0.02 * rng.normal(size=factors.shape)
    mixed = factors @ rng.normal(size=(3, extra)) + rng.normal(size=(rows, extra))
    return np.hstack([mixed, own]), factors


def plain_information(code, factor, bins):
    edges = np.linspace(code.min(), code.max(), bins + 1)
    counts = np.histogram2d(code, factor, [edges, np.arange(factor.max() + 2) - 0.5])[0] / len(code)
    outer = counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True)
    own = counts.sum(0)
    shared = np.sum(counts[counts > 0] * np.log(counts[counts > 0] / outer[counts > 0]))
    return shared / -np.sum(own * np.log(own))


def test_the_matching_is_the_best_of_all_assignments():
    rng = np.random.default_rng(0)
    factors = rng.integers(3, size=(200, 2))
    codes = np.hstack([factors @ rng.normal(size=(2, 4)), rng.normal(size=(200, 1))]) + 0.3 * rng.normal(size=(200, 5))
    shares = np.array([[plain_information(z, v, 8) for v in factors.T] for z in codes.T])
    best = max(permutations(range(5), 2), key=lambda a: shares[a[0], 0] + shares[a[1], 1])
    assert matched_codes(codes, factors, 8).tolist() == sorted(best)


def test_it_is_dci_of_the_matched_codes():
    codes, factors = wide_world()
    train, test = (codes[:600], factors[:600]), (codes[600:], factors[600:])
    found = dci_matched(*train, test=test)
    assert found == dci(codes[:600, -3:], factors[:600], test=(codes[600:, -3:], factors[600:]))
    assert min(found) > 0.95


def test_codes_that_are_left_over_do_not_count():
    codes, factors = wide_world()
    assert dci_matched(codes[:, -3:], factors) == dci_matched(codes, factors)
    alone = dci_matched(codes[:, :30], factors)  # without the codes that each have a factor
    assert alone.disentanglement < 0.8
    assert alone.informativeness < 0.8


def test_fewer_codes_than_factors_are_all_taken():
    codes, factors = wide_world(rows=300)
    assert dci_matched(codes[:, -2:], factors) == dci(codes[:, -2:], factors)


def test_a_factor_has_its_own_values():
    codes, factors = wide_world(rows=300)
    details = dci_matched.sample(codes, factors).per_factor
    assert {name: len(values) for name, values in details.items()} == {"completeness": 3, "informativeness": 3}


@pytest.mark.parametrize("bins", [1, 2.5])
def test_wrong_bins_are_answered(bins):
    codes, factors = wide_world(rows=60)
    with pytest.raises(ValueError, match="bins"):
        dci_matched(codes, factors, bins=bins)
