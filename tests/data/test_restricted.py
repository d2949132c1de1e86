from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from unweave.data import Dataset, load
from unweave.data.restricted import Correlated, Restricted, drawn_cells, probabilities
from unweave.data.table import Table
from unweave.errors import UsageError


def small(sizes: tuple[int, ...] = (3, 4, 5), names: tuple[str, ...] = ("shape", "x", "y")) -> Table:
    cells = np.array(list(product(*map(range, sizes))))
    images = np.arange(len(cells), dtype=np.uint8)[:, None, None].repeat(2, axis=1).repeat(2, axis=2)
    return Table(images, cells, names=names)


def frequencies(data: Dataset, n: int = 200_000) -> np.ndarray:
    return np.bincount(data.sample(n, np.random.default_rng(0)), minlength=len(data)) / n


def assert_frequencies_fit(data: Dataset, expected: np.ndarray, n: int = 200_000) -> None:
    """Every frequency lies within five deviations of its binomial, and what cannot come never came."""
    seen = frequencies(data, n)
    assert (np.abs(seen - expected) <= 5 * np.sqrt(expected * (1 - expected) / n)).all()


def joint(sizes: tuple[int, int], strength: float) -> np.ndarray:
    """Return p(a, b), one cell after the other."""
    weights = np.array(
        [
            [np.exp(-((a / (sizes[0] - 1) - b / (sizes[1] - 1)) ** 2) / (2 * strength**2)) for b in range(sizes[1])]
            for a in range(sizes[0])
        ]
    )
    return weights / weights.sum()


@pytest.mark.parametrize("strength", [0.04, 0.2, 0.7, 1e6])
def test_a_correlated_pair_has_the_joint_distribution_of_the_formula(strength: float):
    data = Correlated(small(), pair="x+y", strength=strength)
    expected = np.tile(joint((4, 5), strength) / 3, (3, 1, 1)).ravel()  # the shape stays independent
    np.testing.assert_allclose(data.probabilities, expected, rtol=1e-9, atol=1e-15)
    assert_frequencies_fit(data, expected)


def test_a_correlated_pair_need_be_neither_adjacent_nor_in_order():
    data = Correlated(small(), pair=" y + shape ", strength=0.3)
    assert data.options["pair"] == "y+shape"
    table = data.probabilities.reshape(3, 4, 5)
    np.testing.assert_allclose(table.sum(axis=1).T, joint((5, 3), 0.3), rtol=1e-9)
    np.testing.assert_allclose(table.sum(axis=(0, 2)), 0.25, rtol=1e-9)


@pytest.mark.parametrize("strength", [0.2, 0.4, 0.7])
def test_a_correlated_pair_can_keep_uniform_marginals(strength: float):
    given = Correlated(small(), pair="x+y", strength=strength).probabilities.reshape(3, 4, 5)
    data = Correlated(small(), pair="x+y", strength=strength, marginals="uniform")
    table = data.probabilities.reshape(3, 4, 5)
    for axes, size in (((1, 2), 3), ((0, 2), 4), ((0, 1), 5)):
        np.testing.assert_allclose(table.sum(axis=axes), 1 / size, rtol=1e-8)
    assert np.ptp(given.sum(axis=(0, 1))) > 0.01  # or there would be nothing to mend
    scaled = np.log(table[0] / given[0])  # rows and columns are scaled, the rest of the dependence stays
    np.testing.assert_allclose(scaled - scaled[:1] - scaled[:, :1] + scaled[0, 0], 0, atol=1e-6)
    assert data.options["marginals"] == "uniform"
    assert "marginals" not in Correlated(small(), pair="x+y").options
    assert_frequencies_fit(data, data.probabilities)


def test_marginals_that_cannot_be_made_uniform_are_refused():
    with pytest.raises(UsageError, match="choose a larger strength"):
        Correlated(small(), pair="x+y", strength=0.001, marginals="uniform")
    with pytest.raises(UsageError, match="marginals must be 'uniform' or left out, not 'flat'"):
        Correlated(small(), pair="x+y", marginals="flat")


def test_two_pairs():
    data = Correlated(small((3, 4, 5, 2), ("a", "b", "c", "d")), pair="a+b&c+d", strength=0.3)
    expected = joint((3, 4), 0.3)[:, :, None, None] * joint((5, 2), 0.3)
    np.testing.assert_allclose(data.probabilities, expected.ravel(), rtol=1e-9)


def test_a_large_strength_number_is_uniform_and_a_small_one_is_a_diagonal():
    free = Correlated(small(), pair="x+y", strength=1e9)
    np.testing.assert_allclose(free.probabilities, 1 / 60, rtol=1e-9)
    tied = Correlated(small((2, 4, 4)), pair="x+y", strength=1e-3)
    factors = tied.values(tied.sample(1000, np.random.default_rng(0)))
    np.testing.assert_array_equal(factors[:, 1], factors[:, 2])
    assert len(tied.allowed) == 8


def brute_force(data: Dataset, allowed: Callable[[int, int, int], bool]) -> np.ndarray:
    return np.array([allowed(*map(int, row)) for row in data.values(np.arange(len(data)))])


@pytest.mark.parametrize(
    ("options", "canonical", "allowed"),
    [
        ({"exclude": "shape=0&x>=2"}, {"exclude": "shape=0&x>=2"}, lambda s, x, y: not (s == 0 and x >= 2)),
        ({"exclude": "shape=0|y<2"}, {"exclude": "shape=0|y<2"}, lambda s, x, y: s != 0 and y >= 2),
        ({"exclude": " x == 3 & y>2|x<= 1"}, {"exclude": "x=3&y>2|x<=1"}, lambda s, x, y: x == 2 or (x == 3 and y < 3)),
        ({"keep": "x!=3"}, {"keep": "x!=3"}, lambda s, x, y: x != 3),
        ({"keep": "x<3", "exclude": "y=04"}, {"exclude": "y=4", "keep": "x<3"}, lambda s, x, y: x < 3 and y != 4),
    ],
)  # fmt: skip
def test_a_restricted_set_draws_evenly_from_what_its_conditions_allow(options: dict, canonical: dict, allowed):
    base = small()
    mask = brute_force(base, allowed)
    for part, cells in (("train", mask), ("held-out", ~mask)):
        data = Restricted(base, **options, part=part)
        np.testing.assert_array_equal(data.allowed, np.flatnonzero(cells))
        assert data.options == {**base.options, **canonical, "part": part}
        assert_frequencies_fit(data, cells / cells.sum())


@pytest.mark.parametrize("kind", [Correlated, Restricted])
def test_images_indices_and_statistics_are_those_of_the_base(kind: type):
    base = small()
    data = Correlated(base, pair="x+y") if kind is Correlated else Restricted(base, keep="x=0")
    every = np.arange(len(base))
    assert (len(data), data.factors, data.shape, data.is_grid) == (60, base.factors, base.shape, True)
    np.testing.assert_array_equal(data.images(every), base.images(every))
    np.testing.assert_array_equal(data.values(every), base.values(every))
    assert data.statistics() == base.statistics()
    assert data.nbytes > base.nbytes


def test_one_on_the_other_multiplies_in_either_order():
    base = small()
    mask = base.values(np.arange(60))[:, 1] >= 2
    expected = np.tile(joint((4, 5), 0.3) / 3, (3, 1, 1)).ravel() * mask
    expected /= expected.sum()
    for data in (
        Restricted(Correlated(base, pair="x+y", strength=0.3), keep="x>=2"),
        Correlated(Restricted(base, keep="x>=2"), pair="x+y", strength=0.3),
    ):
        np.testing.assert_allclose(data.probabilities, expected, rtol=1e-9)
        assert_frequencies_fit(data, expected)
        np.testing.assert_array_equal(drawn_cells(data), np.flatnonzero(mask))
    np.testing.assert_allclose(probabilities(base), 1 / 60)


def test_a_table_that_is_no_grid_can_be_restricted_but_not_correlated():
    table = Table(np.zeros((4, 2, 2), np.uint8), [[0, 0], [0, 1], [1, 1], [1, 1]], names=["smiling", "male"])
    data = Restricted(table, exclude="smiling=0&male=0")
    assert data.allowed.tolist() == [1, 2, 3]
    with pytest.raises(UsageError, match="a correlation of factors needs every combination of factors; table is not"):
        Correlated(table, pair="smiling+male")


def test_draws_follow_the_generator(get: Callable[..., Dataset]):
    data = Restricted(get("xysquares", size=32), exclude="x_R>=4&x_B<4")
    first, again, other = (data.sample(50, np.random.default_rng(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_a_description_rebuilds_the_set():
    for name in (
        "xysquares-correlated:pair=x_R+y_R,strength=1,size=32",
        "xysquares-restricted:exclude=x_R=0&y_R>=4|x_B!=3,keep=x_G<2,size=32",
        "xysquares-correlated-restricted:pair=x_R+y_R,strength=0.1,keep=x_G<2,part=held-out,size=32",
    ):
        data = load(name)
        again = load(**json.loads(json.dumps(data.description)))
        assert again.description == data.description
        np.testing.assert_array_equal(probabilities(again), probabilities(data))
    assert load("xysquares-correlated:pair=x_R+y_R,strength=1").options["strength"] == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda base: Correlated(base), r"written pair=x\+one, not ''"),
        (lambda base: Correlated(base, pair="x"), r"written pair=x\+one, not 'x'"),
        (lambda base: Correlated(base, pair="x+shap"), "no factor is called 'shap'; did you mean 'shape'"),
        (lambda base: Correlated(base, pair="x+x"), "two different factors"),
        (lambda base: Correlated(base, pair="x+one"), "'one' has one value"),
        (lambda base: Correlated(base, pair="x+shape", strength=0), "positive number, not 0"),
        (lambda base: Correlated(base, pair="x+shape", strength=float("inf")), "positive number, not inf"),
        (lambda base: Correlated(base, pair="x+shape", strength=True), "positive number, not True"),
        (lambda base: Correlated(base, pair="x+shape", strength=json.loads('"much"')), "positive number, not 'much'"),
        (lambda base: Restricted(base), "table-restricted needs a condition, such as exclude=shape=0&one>=1"),
        (lambda base: Restricted(base, exclude="shap=0"), "no factor is called 'shap'; did you mean 'shape'"),
        (lambda base: Restricted(base, exclude="shape"), "'shape' is not a condition on a factor"),
        (lambda base: Restricted(base, exclude="shape=0&"), "'' is not a condition on a factor"),
        (lambda base: Restricted(base, exclude="shape=big"), "'shape=big' is not a condition"),
        (lambda base: Restricted(base, exclude="shape=3"), "'shape' must lie between 0 and 2"),
        (lambda base: Restricted(base, exclude="shape>=0"), "leaves no image in its part 'train'"),
        (lambda base: Restricted(base, keep="shape>=0", part="held-out"), "leaves no image in its part 'held-out'"),
        (lambda base: Restricted(Restricted(base, keep="x=0"), keep="x=1"), "leaves no image"),
        (lambda base: Restricted(base, keep="shape=0", part="test"), "one of train, held-out, not 'test'"),
    ],
)
def test_mistakes_get_one_clear_line(make: Callable[[Dataset], Dataset], message: str):
    with pytest.raises(UsageError, match=message) as caught:
        make(small((3, 4, 1), ("shape", "x", "one")))
    assert "\n" not in str(caught.value)
