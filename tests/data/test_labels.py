"""A few labels: whose they are, how they are scaled, and how they are spoilt."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import unweave
from unweave.data import Dataset, FactorSpace, Table
from unweave.data.labels import Labelled, Labels, draw_labels
from unweave.errors import UsageError
from unweave.schedules import Schedule

DATA = unweave.load("shapes2d:size=32")
SIZES = np.array(DATA.factors.sizes)


def drawn(seed: int = 0, **settings) -> Labelled:
    return draw_labels(Labels(**settings), DATA, np.random.default_rng(seed))


def truth(labelled: Labelled) -> np.ndarray:
    return DATA.values(labelled.indices)[:, labelled.axes]


class Measured(Dataset):
    """Five images whose two factors are real numbers."""

    name = "measured"
    factors = Table(np.zeros((4, 8, 8, 1), np.uint8), [[0, 0], [0, 1], [1, 0], [1, 1]]).factors
    shape, binary, options = (8, 8, 1), True, {}
    measures = np.array([[0.5, 20.0], [1.5, 10.0], [2.5, 30.0], [1.0, 15.0], [0.6, 29.0]])

    def __len__(self) -> int:
        return 5

    def values(self, indices):
        return self.measures[np.asarray(indices)]

    def _draw(self, indices):
        return np.zeros((len(indices), *self.shape), np.uint8)


def test_perfect_labels_are_the_factors_from_0_to_1():
    labelled = drawn(count=300)
    assert labelled.axes.tolist() == list(range(len(SIZES)))
    expected = [[v / (size - 1) for v, size in zip(row, SIZES, strict=True)] for row in truth(labelled).tolist()]
    np.testing.assert_allclose(labelled.places, expected, rtol=1e-6)


def test_standardised_labels_have_mean_0_and_variance_1_over_the_values_of_a_factor():
    labelled = drawn(count=20_000)
    for j, size in enumerate(SIZES):
        values = np.unique(labelled.standardised[:, j])
        assert len(values) == size
        assert values.mean() == pytest.approx(0, abs=1e-5)
        assert values.var() == pytest.approx(1, rel=1e-5)


def test_the_seed_decides_and_the_number_is_kept():
    first, again, other = drawn(0, count=50), drawn(0, count=50), drawn(1, count=50)
    assert len(first.indices) == len(first.places) == 50
    assert (first.indices == again.indices).all()
    assert (first.indices != other.indices).any()


def test_labelled_images_are_drawn_as_training_draws():
    correlated = unweave.load("xysquares-correlated:size=32,pair=x_R+y_R,strength=0.1")
    labelled = draw_labels(Labels(count=3000), correlated, np.random.default_rng(0))
    ours = correlated.values(labelled.indices)[:, :2].T
    theirs = correlated.values(correlated.sample(3000, np.random.default_rng(1)))[:, :2].T
    expected, found = (np.corrcoef(*pair).tolist()[0][1] for pair in (theirs, ours))
    assert expected > 0.5
    assert found == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5, 1.0])
def test_noise_is_a_share_of_the_labels_spread_over_all_values(noise):
    n = 4000
    labelled = drawn(count=n, kind="noisy", noise=noise)
    values = np.rint(labelled.places * (SIZES - 1)).astype(int)
    differ = values != truth(labelled)
    for j, size in enumerate(SIZES):
        p = noise * (1 - 1 / size)  # a value drawn at random may be the right one
        assert abs(differ[:, j].mean() - p) <= 4 * np.sqrt(p * (1 - p) / n)
    if noise:
        wrong = values[:, -1][differ[:, -1]]
        assert len(np.unique(wrong)) == SIZES[-1]


def test_bins_merge_neighbours_evenly_and_leave_small_factors():
    labelled = drawn(count=20_000, kind="binned", bins=5)
    for j, size in enumerate(SIZES):
        places, exact = labelled.places[:, j], truth(labelled)[:, j]
        assert len(np.unique(places)) == min(size, 5)
        assert {places.min(), places.max()} == {0, 1}
        sets = [set(exact[places == place]) for place in np.unique(places)]  # the values of each bin
        assert sum(map(len, sets)) == size  # no value is in two
        assert max(map(len, sets)) - min(map(len, sets)) <= 1
        assert all(max(low) < min(high) for low, high in pairwise(sets))


def test_partial_labels_are_of_some_factors_and_perfect():
    chosen = {tuple(drawn(seed, count=5, kind="partial", factors=2).axes) for seed in range(60)}
    assert {len(axes) for axes in chosen} == {2}
    assert {axis for axes in chosen for axis in axes} == set(range(len(SIZES)))
    labelled = drawn(3, count=100, kind="partial", factors=2)
    np.testing.assert_allclose(labelled.places, truth(labelled) / (SIZES[labelled.axes] - 1), rtol=1e-6)


def test_partial_labels_of_named_factors():
    names = DATA.factors.names
    labelled = drawn(count=5, kind="partial", factors=f"{names[3]}, {names[1]}")
    assert labelled.axes.tolist() == [1, 3]
    assert len(drawn(count=5, kind="partial", factors="3").axes) == 3


def test_a_factor_that_does_not_vary_has_no_label():
    data = Table(np.zeros((3, 8, 8, 1), np.uint8), [[0, 0, 1], [1, 0, 0], [2, 0, 1]], names=["x", "still", "y"])
    labelled = draw_labels(Labels(count=9), data, np.random.default_rng(0))
    assert labelled.axes.tolist() == [0, 2]
    assert np.isfinite(labelled.standardised).all()
    Labels().check(data, latents=2)
    with pytest.raises(UsageError, match="has a single value in 'table'"):
        Labels(kind="partial", factors="x,still").check(data, latents=3)


def test_real_numbers_lie_between_the_extremes_of_the_labelled_images():
    data = Measured()
    labelled = draw_labels(Labels(count=200), data, np.random.default_rng(0))
    low, high = np.array([0.5, 10.0]), np.array([2.5, 30.0])
    np.testing.assert_allclose(labelled.places, (data.measures[labelled.indices] - low) / (high - low), rtol=1e-5)
    np.testing.assert_allclose(labelled.standardised, (labelled.places - 0.5) * 12**0.5, rtol=1e-5)
    noisy = draw_labels(Labels(count=4000, kind="noisy", noise=0.3), data, np.random.default_rng(0))
    exact = (data.measures[noisy.indices] - low) / (high - low)
    assert (abs(noisy.places - exact) > 1e-6).mean() == pytest.approx(0.3, abs=0.03)
    binned = draw_labels(Labels(count=200, kind="binned", bins=3), data, np.random.default_rng(0))
    assert set(np.unique(binned.places)) == {0, 0.5, 1}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"count": 0}, "there must be at least one labelled image"),
        ({"batch": -1}, "there must be at least one labelled image"),
        ({"term": "l1"}, "no supervised term is called 'l1'"),
        ({"kind": "noise"}, "did you mean 'noisy'"),
        ({"weight": -1.0}, "weight must be a number that is not negative"),
        ({"weight": Schedule(-1, 1, 5)}, "weight must be a number that is not negative"),
        ({"bins": 1}, "at least 2 bins"),
        ({"noise": 1.5}, "between 0 and 1"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(UsageError, match=message):
        Labels(**settings)


@pytest.mark.parametrize(
    ("settings", "latents", "message"),
    [
        ({}, len(SIZES) - 1, f"{len(SIZES)} labelled factors need as many numeric latents"),
        ({"kind": "partial", "factors": 3}, 2, "3 labelled factors need as many numeric latents"),
        ({"kind": "partial", "factors": 0}, 10, "partial labels need 1 to"),
        ({"kind": "partial", "factors": 99}, 10, "partial labels need 1 to"),
        ({"kind": "partial", "factors": "colour"}, 10, "no factor is called 'colour'"),
    ],
)
def test_labels_that_do_not_suit_the_data_or_the_net_are_refused(settings, latents, message):
    with pytest.raises(UsageError, match=message):
        Labels(**settings).check(DATA, latents)
    Labels(**{**settings, "kind": "partial", "factors": 2}).check(DATA, latents=2)


def test_data_without_factors_has_no_labels():
    class Bare(Measured):
        factors = FactorSpace((), ())

    with pytest.raises(UsageError, match="'bare' has no factors"):
        Labels().check(Bare(), 10)


def test_permuted_labels_are_a_renaming_of_the_values():
    true, permuted = drawn(count=3000), drawn(count=3000, kind="permuted")
    np.testing.assert_array_equal(true.indices, permuted.indices)  # the same images are labelled
    np.testing.assert_array_equal(true.classes, truth(true))
    moved = 0
    for j, size in enumerate(SIZES):
        names = {(a, b) for a, b in zip(true.classes[:, j].tolist(), permuted.classes[:, j].tolist(), strict=True)}
        assert len(names) == len({a for a, _ in names}) == len({b for _, b in names}) == size  # one name each
        moved += sum(a != b for a, b in names)
    assert moved > sum(SIZES) / 2
    other = draw_labels(Labels(count=3000, kind="permuted"), DATA, np.random.default_rng(1))
    again = drawn(count=3000, kind="permuted")
    np.testing.assert_array_equal(permuted.places, again.places)
    names = [dict(zip(truth(some)[:, -1], some.classes[:, -1], strict=True)) for some in (permuted, other)]
    assert names[0] != names[1]  # chosen by the seed


def test_the_order_of_permuted_values_says_nothing():
    """Over many seeds, the rank correlation of values and their names has the moments of random permutations."""
    line = Table(np.zeros((12, 2, 2, 1), np.uint8), np.arange(12)[:, None])
    found = []
    for seed in range(300):
        labelled = draw_labels(Labels(count=200, kind="permuted"), line, np.random.default_rng(seed))
        found.append(np.corrcoef(*np.unique([labelled.indices, labelled.classes[:, 0]], axis=1))[0, 1])
    assert np.mean(found) == pytest.approx(0, abs=4 / np.sqrt(300 * 11))
    assert np.var(found) == pytest.approx(1 / 11, rel=0.35)


def test_real_numbers_have_no_classes_unless_they_are_binned():
    with pytest.raises(UsageError, match="a permutation of labels needs factors with classes"):
        Labels(kind="permuted").check(Measured(), 5)
    with pytest.raises(UsageError, match="the term embed needs"):
        Labels(term="embed").check(Measured(), 5)
    Labels(term="embed", kind="binned").check(Measured(), 5)
    labelled = draw_labels(Labels(count=50, kind="binned", bins=3), Measured(), np.random.default_rng(0))
    assert labelled.sizes.tolist() == [3, 3]
    assert set(np.unique(labelled.classes)) == {0, 1, 2}


def test_one_image_has_no_covariance():
    with pytest.raises(UsageError, match="at least 2 labelled images per step"):
        Labels(term="cov", batch=1)
