"""Trees of the same rows are fitted once, and of other rows again."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from unweave.metrics import BoostedTrees
from unweave.metrics.fits import fitted_trees


def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    factor = rng.integers(3, size=80)
    return np.column_stack([factor + 0.3 * rng.normal(size=80), rng.normal(size=80)]), factor


def test_the_same_rows_are_fitted_once():
    codes, factor = draw(0)
    first = fitted_trees(codes, factor)
    assert fitted_trees(codes.copy(), factor.copy()) is first
    expected = BoostedTrees().fit(codes, factor)
    np.testing.assert_array_equal(first.feature_importances_, expected.feature_importances_)
    np.testing.assert_array_equal(first.predict(codes), expected.predict(codes))


def test_other_rows_are_fitted_again():
    codes, factor = draw(0)
    first = fitted_trees(codes, factor)
    moved = codes.copy()
    moved[7, 1] += 1e-9
    assert fitted_trees(moved, factor) is not first
    assert fitted_trees(codes, factor[::-1]) is not first
    assert fitted_trees(codes[:, ::-1], factor) is not first


def test_rows_that_were_changed_in_place_are_other_rows():
    codes, factor = draw(1)
    first = fitted_trees(codes, factor)
    codes[:, 0] = 0.0
    assert fitted_trees(codes, factor) is not first


def test_rows_are_not_kept():
    codes, factor = draw(2)
    seen = weakref.ref(codes)
    fitted_trees(codes, factor)
    del codes
    gc.collect()
    assert seen() is None


def test_a_failure_is_not_remembered(monkeypatch):
    codes, factor = draw(3)
    fit = BoostedTrees.fit
    monkeypatch.setattr(BoostedTrees, "fit", lambda *_: (_ for _ in ()).throw(MemoryError))
    with pytest.raises(MemoryError):
        fitted_trees(codes, factor)
    monkeypatch.setattr(BoostedTrees, "fit", fit)
    assert fitted_trees(codes, factor).predict(codes).shape == (80,)


@pytest.mark.parametrize(("values", "rounds"), [(2, 100), (4, 100), (10, 40), (60, 10)])
def test_a_quick_fit_has_fewer_rounds_where_each_has_many_trees(values, rounds):
    factor = np.arange(240) % values
    model = fitted_trees(factor[:, None] * 1.0, factor, quick=True)
    assert model.rounds == rounds
    assert fitted_trees(factor[:, None] * 1.0, factor).rounds == 100
