"""SAP against a plain loop over scikit-learn's classifier and numpy's correlation."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from unweave.errors import UsageError
from unweave.metrics import sap
from unweave.metrics.line_svm import SortedCode


def gap(matrix):
    best = np.sort(matrix, axis=0)
    return np.mean(best[-1] - best[-2])


def dual_classifier(**options):
    """The solver that was scikit-learn's default when the score was first published."""
    return LinearSVC(C=0.01, class_weight="balanced", random_state=0).set_params(dual=True, **options)


def classifier_referee(codes, factors, test_codes, test_factors, **options):
    matrix = np.zeros((codes.shape[1], factors.shape[1]))
    for j in range(codes.shape[1]):
        for k in range(factors.shape[1]):
            model = dual_classifier(max_iter=100_000, **options)
            model.fit(codes[:, j].reshape(-1, 1), factors[:, k])
            matrix[j, k] = np.mean(model.predict(test_codes[:, j].reshape(-1, 1)) == test_factors[:, k])
    return gap(matrix)


def correlation_referee(codes, factors):
    return gap(np.array([[np.corrcoef(z, v)[0, 1] ** 2 for v in factors.T] for z in codes.T]))


def test_the_classifier_is_scikit_learns(worlds):
    codes, factors = worlds["noisy"](900, np.random.default_rng(0))
    expected = classifier_referee(codes[:600], factors[:600], codes[600:], factors[600:])
    assert sap(codes[:600], factors[:600], test=(codes[600:], factors[600:])) == pytest.approx(expected, abs=1e-12)


def test_the_correlation_is_pearsons(worlds):
    codes, factors = worlds["noisy"](500, np.random.default_rng(0))
    assert sap(codes, factors, kind="correlation") == pytest.approx(correlation_referee(codes, factors), abs=1e-12)


def test_three_worlds(worlds):
    """Classifiers gain little where a factor has many values: even perfect codes score far below 1."""
    rng = np.random.default_rng(0)
    scores = {name: sap(*worlds[name](1500, rng)) for name in ("perfect", "useless", "duplicated")}
    assert scores["duplicated"] == 0.0
    assert scores["useless"] < 0.04
    assert 0.1 < scores["perfect"] < 0.3


def test_three_worlds_of_correlation(worlds):
    rng = np.random.default_rng(0)
    scores = {name: sap(*worlds[name](1500, rng), kind="correlation") for name in worlds}
    assert scores["perfect"] > 0.98
    assert scores["useless"] < 0.01
    assert scores["duplicated"] == 0.0


def test_two_values_leave_chance_to_the_second_code():
    factors = np.random.default_rng(0).integers(2, size=(3000, 3))
    assert sap(factors * 2.0 - 1.0, factors) == pytest.approx(0.5, abs=0.05)


def test_one_code_has_a_gap_to_nothing():
    factor = np.arange(300)[:, None] % 2
    assert sap(factor * 2.0 - 1.0, factor) == 1.0
    assert sap(factor * 2.0 - 1.0, factor, kind="correlation") == pytest.approx(1.0)


def test_almost_constant_codes_do_not_correlate():
    factor = np.arange(300)[:, None] % 2
    assert sap(factor * 1e-6, factor, kind="correlation") == 0.0  # variance 2.5e-13
    assert sap(factor * 1e-5, factor, kind="correlation") == pytest.approx(1.0)  # variance 2.5e-11
    assert sap(np.ones((300, 2)), factor, kind="correlation") == 0.0


@pytest.mark.parametrize("kind", ["classifier", "correlation"])
def test_factors_with_one_value_are_left_out(kind, worlds):
    codes, factors = worlds["noisy"](300, np.random.default_rng(0))
    with_constant = np.hstack([factors, np.full((300, 1), 3)])
    assert sap(codes, with_constant, kind=kind) == sap(codes, factors, kind=kind)
    with pytest.raises(UsageError, match="single value"):
        sap(codes, with_constant[:, -1:], kind=kind)


def test_a_class_may_be_missing_where_it_is_fitted():
    train, test = np.zeros((10, 1), dtype=int), np.array([[0], [0], [0], [1]])
    assert sap(train * 1.0, train, test=(test * 1.0, test)) == 0.75


def test_the_seed_chooses_the_rows_held_out(worlds):
    codes, factors = worlds["noisy"](300, np.random.default_rng(0))
    assert sap(codes, factors, seed=1) == sap(codes, factors, seed=1)
    assert len({sap(codes, factors, seed=seed) for seed in range(3)}) > 1


def test_no_warning_of_convergence_leaks():
    """Codes this large do not converge in scikit-learn's thousand steps."""
    rng = np.random.default_rng(0)
    codes, factor = 1e6 * rng.normal(size=(60, 1)), rng.integers(3, size=(60, 1))
    with pytest.warns(UserWarning, match="failed to converge"):
        dual_classifier().fit(codes, factor[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0.0 <= sap(codes, factor) <= 1.0


def test_an_unknown_kind_is_named():
    with pytest.raises(UsageError, match="did you mean 'correlation'"):
        sap([[0.0], [1.0]], [[0], [1]], kind="corelation")  # pyright: ignore[reportArgumentType]


def test_a_subset_is_fitted_with_the_penalty_of_the_whole(worlds):
    """The penalty is weighed against the sum of losses: on half of the rows, each loss counts twice."""
    codes, factors = worlds["noisy"](600, np.random.default_rng(0))
    kept = np.arange(600) % 2 == 0
    again = sap.sample(codes[:400], factors[:400], test=(codes[400:], factors[400:])).rescore(kept[None])
    half, rest = kept.nonzero()[0][:200], kept.nonzero()[0][200:]
    expected = classifier_referee(codes[half], factors[half], codes[rest], factors[rest], C=0.01 * 400 / 200)
    np.testing.assert_allclose(again, [expected], atol=1e-12)


def lines():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=400)
    for name, factor in (("two values", noise > 0.5), ("many", rng.integers(25, size=400)), ("rare", noise > 2)):
        factor = factor.astype(int)
        yield f"{name}, related", factor + noise, factor
        yield f"{name}, far from 0", factor + noise + 30.0, factor
        yield f"{name}, tiny", 1e-3 * (factor + noise), factor
        yield f"{name}, ties", np.round(factor + noise), factor
        yield f"{name}, noise", rng.normal(size=400), factor


@pytest.mark.parametrize(("code", "factor"), [pytest.param(*rest, id=name) for name, *rest in lines()])
def test_the_line_is_where_scikit_learns_solver_ends(code, factor):
    places = np.linspace(code.min() - 1, code.max() + 1, 997)
    model = LinearSVC(C=0.01, class_weight="balanced", tol=1e-10, max_iter=10_000).fit(code[:, None], factor)
    found = SortedCode(code).predict(factor, places, 0.01)
    np.testing.assert_array_equal(found, model.predict(places[:, None]))


def test_a_constant_code_predicts_the_commonest_value():
    factor = np.array([4, 5, 5, 5, 6, 6])
    assert SortedCode(np.full(6, 0.3)).predict(factor, np.full(2, 0.3), 0.01).tolist() == [5, 5]


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e99])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_codes_of_any_size_are_fitted(scale, shift):
    factor = np.arange(300)[:, None] % 3
    assert 0.0 <= sap(scale * (shift + factor / 3), factor) <= 1.0


def test_the_scale_and_the_number_of_fitted_rows_matter(worlds):
    """The penalty is weighed against the sum of the losses: not a score of the information alone."""
    codes, factors = worlds["perfect"](6000, np.random.default_rng(0))
    test = (codes[5000:], factors[5000:])
    few, many = (sap(codes[:n], factors[:n], test=test) for n in (300, 5000))
    assert many > few + 0.02
    assert abs(sap(codes[:300] / 100, factors[:300], test=(test[0] / 100, test[1])) - few) > 0.02
