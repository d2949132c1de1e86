"""Pairs differ in as many factors as asked, triplets are in order: against loops and counted probabilities."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from unweave.data import Table, load
from unweave.data.restricted import Restricted
from unweave.data.sampling import draw_pairs, draw_triplets
from unweave.errors import UsageError

SIZES = (3, 1, 4, 2, 8)
CELLS = np.array(list(product(*map(range, SIZES))))
VARYING = 4


def table(rows: slice | np.ndarray = slice(None)) -> Table:
    factors = CELLS[rows]
    return Table(np.zeros((len(factors), 2, 2, 1), np.uint8), factors, sizes=SIZES)


def pairs(n: int, seed: int = 0, **options) -> tuple[np.ndarray, np.ndarray]:
    first, second = draw_pairs(table(), n, np.random.default_rng(seed), **options)
    return CELLS[first], CELLS[second]


def near(count, n: int, share) -> bool:
    return bool(np.all(np.abs(np.asarray(count) - n * share) < 5 * np.sqrt(n * share)))


@pytest.mark.parametrize("changed", range(1, VARYING + 1))
def test_exactly_that_many_factors_take_another_value(changed):
    a, b = pairs(6000, changed=changed)
    assert ((a != b).sum(axis=1) == changed).all()
    assert near((a != b).sum(axis=0)[[0, 2, 3, 4]], 6000, changed / VARYING)
    steps = ((b - a) % SIZES)[:, 4]
    assert near(np.bincount(steps, minlength=8)[1:], 6000, changed / VARYING / 7), "every other value is as likely"


def test_by_default_one_to_all_but_one_change():
    a, b = pairs(6000)
    count = np.bincount((a != b).sum(axis=1), minlength=VARYING + 1)
    assert count[0] == count[VARYING] == 0
    assert near(count[1:VARYING], 6000, 1 / (VARYING - 1))


def test_pairs_are_as_likely_in_both_directions():
    small = Table(np.zeros((6, 2, 2, 1), np.uint8), list(product(range(3), range(2))))
    first, second = draw_pairs(small, 60_000, np.random.default_rng(1), changed=1)
    count = np.zeros((6, 6))
    np.add.at(count, (first, second), 1)
    assert (np.abs(count - count.T) < 5 * np.sqrt(count + count.T + 1)).all()


@pytest.mark.parametrize("rule", ["redrawn", "dlib"])
@pytest.mark.parametrize("changed", [None, 2])
def test_factors_that_are_drawn_again(changed, rule):
    # How many factors differ: m (or, in disentanglement_lib, one or m) are drawn again, each keeps its value with
    # probability 1 / size.
    sizes, expected = [size for size in SIZES if size > 1], np.zeros(VARYING + 1)
    for m in [changed] if changed else range(1, VARYING):
        for number in (1, m) if rule == "dlib" else (m, m):
            for chosen in combinations(sizes, number):
                for kept in product((True, False), repeat=number):
                    odds = [1 / s if same else 1 - 1 / s for s, same in zip(chosen, kept, strict=True)]
                    share = 0.5 / comb(VARYING, number) / (1 if changed else VARYING - 1)
                    expected[number - sum(kept)] += share * np.prod(odds)
    assert expected.sum() == pytest.approx(1)
    a, b = pairs(20_000, changed=changed, rule=rule)
    count = np.bincount((a != b).sum(axis=1), minlength=VARYING + 1)
    assert near(count[expected > 0], 20_000, expected[expected > 0])
    assert not count[expected == 0].any()


def test_a_single_factor_that_varies_changes():
    line = Table(np.zeros((5, 2, 2, 1), np.uint8), np.arange(5)[:, None])
    first, second = draw_pairs(line, 50, np.random.default_rng(0))
    assert (first != second).all()


def test_no_image_is_its_partner_that_is_held_out():
    kept = Restricted(table(), exclude="factor0=1&factor4>=2")
    for rule in ("exact", "dlib", "laplace"):
        cells = CELLS[draw_pairs(kept, 2000, np.random.default_rng(0), rule=rule)]
        assert not ((cells[..., 0] == 1) & (cells[..., 4] >= 2)).any()
        assert (cells[1, :, 0] == 1).any()
    with pytest.raises(UsageError, match="there is no partner"):
        draw_pairs(Restricted(table(), keep="factor0=0"), 10, np.random.default_rng(0), changed=VARYING)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"changed": 5}, "has 4 factors that vary"),
        ({"changed": 0}, "has 4 factors that vary"),
        ({"rule": "exakt"}, "did you mean 'exact'"),
        ({"rule": "laplace", "changed": 2}, "leave out changed"),
        ({"rule": "laplace", "step_rate": 0.0}, "step_rate must be a positive number"),
        ({"always_shared": "factor9"}, "factor9"),
        ({"always_shared": "factor0,factor2,factor3,factor4"}, "no factor that varies"),
        ({"always_shared": "factor0, factor2", "changed": 3}, "has 2 factors that vary"),
    ],
)
def test_pairs_that_cannot_be(options, message):
    with pytest.raises(UsageError, match=message):
        pairs(3, **options)


def test_pairs_need_a_grid_with_something_to_change():
    with pytest.raises(UsageError, match="not a full grid"):
        draw_pairs(table(np.arange(50)), 3, np.random.default_rng(0))
    single = Table(np.zeros((1, 2, 2, 1), np.uint8), [[0, 0]])
    with pytest.raises(UsageError, match="no factor that varies"):
        draw_pairs(single, 3, np.random.default_rng(0))


def apart(a: list[int], b: list[int], by: str) -> Fraction:
    """How far apart two images are, term by term from section 5.2 of Michlo (2022)."""
    if by == "category":
        return Fraction(a[2] != b[2])
    total = Fraction(0)
    for i, j, size in zip(a, b, SIZES, strict=True):
        if by == "difference":
            total += i != j
        else:
            total += Fraction(abs(i - j), 1 if by == "distance" or size == 1 else size - 1)
    return total


@pytest.mark.parametrize("by", ["difference", "distance", "distance-scaled", "category"])
@pytest.mark.parametrize("rows", [slice(None), np.arange(0, len(CELLS), 3)], ids=["grid", "no grid"])
def test_triplets_are_in_order(by, rows):
    data = table(rows)
    triplets = draw_triplets(data, 1500, np.random.default_rng(4), by=by, category="factor2")
    rng = np.random.default_rng(4)
    drawn = np.stack([data.sample(1500, rng) for _ in range(3)])
    np.testing.assert_array_equal(triplets[0], drawn[0])
    strict = 0
    for column, before in zip(triplets.T, drawn.T, strict=True):
        a, p, n = data.values(column).tolist()
        near, far = apart(a, p, by), apart(a, n, by)
        assert near <= far
        strict += near < far
        assert sorted(column) == sorted(before)
        if near == far:
            np.testing.assert_array_equal(column, before)  # a tie is no reason to swap
    assert strict > 500


def test_triplets_of_data_with_names():
    data = load("xysquares:size=32")
    triplets = draw_triplets(data, 20, np.random.default_rng(0))
    assert triplets.shape == (3, 20)
    with pytest.raises(UsageError, match="did you mean 'distance'"):
        draw_triplets(data, 3, np.random.default_rng(0), by="distanse")
    with pytest.raises(UsageError, match="no factor is called 'shape'"):
        draw_triplets(data, 3, np.random.default_rng(0), by="category", category="shape")
