from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import ortho_group

from unweave.errors import UsageError
from unweave.selection import agreement, agreement_pairs

from .test_udr import mixed_codes, rank_correlation


def referee(first: np.ndarray, second: np.ndarray, rank: bool) -> float:
    """Return the best sum over all matchings, over the larger number of latents."""
    if first.shape[1] > second.shape[1]:
        first, second = second, first
    d, k = first.shape[1], second.shape[1]
    strength = np.empty((d, k))
    for a in range(d):
        for b in range(k):
            pair = first[:, a], second[:, b]
            strength[a, b] = abs(rank_correlation(*pair) if rank else np.corrcoef(*pair)[0, 1])
    return max(sum(strength[a, chosen[a]] for a in range(d)) for chosen in permutations(range(k), d)) / k


@pytest.mark.parametrize("kind", ["linear", "rank"])
def test_pairs_are_the_best_of_all_matchings(kind):
    codes = mixed_codes()
    found = agreement_pairs(codes, kind=kind)
    for i in range(3):
        for j in range(i):
            assert found[i, j] == found[j, i] == pytest.approx(referee(codes[i], codes[j], kind == "rank"), abs=1e-9)
    assert np.isnan(np.diagonal(found)).all()
    np.testing.assert_allclose(agreement(codes, kind=kind), np.nanmean(found, axis=0))


def test_copies_agree_and_rotations_do_not():
    codes = np.random.default_rng(0).normal(size=(1_000, 5))
    copies = [codes[:, np.random.default_rng(seed).permutation(5)] * -2 + 1 for seed in range(3)]
    np.testing.assert_allclose(agreement(copies), 1, atol=1e-9)
    turned = [codes @ ortho_group.rvs(5, random_state=seed) for seed in range(3)]
    assert agreement(turned).max() < 0.8
    np.testing.assert_allclose(agreement([np.exp(each) for each in copies], kind="rank")[0], 1, atol=1e-9)


def test_a_latent_without_a_partner_counts():
    codes = np.random.default_rng(0).normal(size=(500, 4))
    assert agreement([codes, codes[:, :2]]).tolist() == pytest.approx([0.5, 0.5])
    assert agreement([codes, codes[:, :2]], kl=[[1, 1, 0, 0], [1, 1]]).tolist() == pytest.approx([1.0, 1.0])
    assert agreement([codes, np.zeros((500, 3))], kind="rank").tolist() == [0.0, 0.0]


def test_mistakes():
    with pytest.raises(UsageError, match="no kind of agreement is called 'cubic'"):
        agreement(mixed_codes(), kind="cubic")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="at least two models"):
        agreement(mixed_codes()[:1])
