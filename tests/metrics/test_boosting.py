"""Boosted trees against scikit-learn's, which they must equal where codes have few values and no two splits tie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier

from unweave.errors import UsageError
from unweave.metrics.boosting import BoostedTrees, Parts


def draw(classes, n, seed, codes=6):
    """One good code, one of use, the others noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=n)
    values = rng.normal(size=(n, codes))
    values[:, 0] += labels
    values[:, 1] -= 0.3 * (labels % 2)
    return values, labels


def levels(codes):
    """Codes of 250 equally common values."""
    return np.floor(codes.argsort(axis=0).argsort(axis=0) * (250 / len(codes)))


@pytest.mark.parametrize(("classes", "rounds", "seed"), [(2, 10, 5), (3, 10, 5), (4, 10, 5), (10, 5, 5)])
def test_few_values_give_the_trees_of_scikit_learn(classes, rounds, seed):
    """On a seed where no two splits tie, or lots fall alike."""
    codes, labels = draw(classes, 1500, seed, codes=4)
    codes = levels(codes)
    plain = GradientBoostingClassifier(n_estimators=rounds, random_state=0).fit(codes, labels)
    ours = BoostedTrees(rounds=rounds).fit(codes, labels)
    np.testing.assert_allclose(ours.feature_importances_, plain.feature_importances_, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(codes), plain.predict_proba(codes), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(codes), plain.predict(codes))


def test_unseen_values_fall_on_the_same_side():
    """Thresholds are halfway between the values a node holds, not between those the code has."""
    codes, labels = draw(3, 400, seed=1)
    codes = np.round(codes, 1)
    unseen = np.random.default_rng(2).normal(size=(2000, 6))
    plain = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(codes, labels)
    ours = BoostedTrees(rounds=3).fit(codes, labels)
    np.testing.assert_allclose(ours.predict_proba(unseen), plain.predict_proba(unseen), atol=1e-9)


@pytest.mark.parametrize(("rate", "depth"), [(0.5, 1), (0.1, 2), (0.02, 4)])
def test_rate_and_depth(rate, depth):
    codes, labels = draw(2, 1500, seed=5)
    codes = levels(codes)
    plain = GradientBoostingClassifier(n_estimators=2, learning_rate=rate, max_depth=depth, random_state=0)
    ours = BoostedTrees(rounds=2, rate=rate, depth=depth).fit(codes, labels)
    expected = plain.fit(codes, labels)
    np.testing.assert_allclose(ours.feature_importances_, expected.feature_importances_, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(codes), expected.predict_proba(codes), atol=1e-9)


@pytest.mark.parametrize("classes", [2, 4, 11])
def test_a_tree_is_the_best_of_all_cuts(classes):
    """The first tree of each class, level by level, against every cut of every code between rows."""
    codes, labels = draw(classes, 240, seed=8, codes=3)
    ours = BoostedTrees(rounds=1, depth=3).fit(codes, labels)
    chances = ours.predict_proba(codes)
    wanted = np.repeat(np.log(np.bincount(labels) / 240)[None], 240, axis=0)
    for k in range(classes) if classes > 2 else [1]:
        p = np.mean(labels == k)
        leaves = split(codes, (labels == k) - p, np.arange(240), depth=3)
        for leaf in leaves:
            shrinkage = (classes - 1) / classes if classes > 2 else 1.0
            wanted[leaf, k] += 0.1 * shrinkage * np.mean((labels == k)[leaf] - p) / (p * (1 - p))
    wanted = np.exp(wanted) / np.exp(wanted).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(chances, wanted, atol=1e-8)


def split(codes, residuals, rows, depth):
    """Return the rows of each leaf of a tree that splits where squared residuals fall most."""
    best, sides = -1.0, None
    for code in codes[rows].T:
        for cut in np.unique(code)[:-1]:
            below, above = rows[code <= cut], rows[code > cut]
            gain = sum(residuals[side].sum() ** 2 / len(side) for side in (below, above))
            if gain > best + 1e-9:
                best, sides = gain, (below, above)
    if depth == 0 or sides is None:
        return [rows]
    return [leaf for side in sides for leaf in split(codes, residuals, side, depth - 1)]


def test_quick_trees_predict_as_well():
    codes, labels = draw(6, 3000, seed=0, codes=5)
    fresh, truth = draw(6, 3000, seed=1, codes=5)
    thorough = BoostedTrees(rounds=50).fit(codes, labels).predict(fresh)
    quick = BoostedTrees(rounds=50, bins=128, thorough=False).fit(codes, labels).predict(fresh)
    assert (quick != thorough).any()
    assert np.mean(quick == truth) == pytest.approx(np.mean(thorough == truth), abs=0.01)


def test_quick_trees_find_the_gap_within_a_part():
    """Clusters of classes, of which no edge is that of a part: cuts must fall between values, not between parts."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(7), [300, 410, 120, 530, 90, 350, 200])
    codes = labels[:, None] + 0.01 * rng.normal(size=(2000, 1))
    ours = BoostedTrees(bins=16, thorough=False).fit(codes, labels)
    assert ours.predict(codes).tolist() == labels.tolist()


def test_rows_are_asked_in_blocks_of_any_length():
    codes, labels = draw(3, 700, seed=9)
    ours = BoostedTrees(rounds=3, depth=4).fit(codes, labels)
    alone = np.concatenate([ours.predict_proba(row[None]) for row in codes])
    np.testing.assert_array_equal(ours.predict_proba(codes), alone)


@pytest.mark.slow
def test_many_values_come_close_to_scikit_learn():
    codes, labels = draw(6, 10_000, seed=0, codes=10)
    plain = GradientBoostingClassifier(random_state=0).fit(codes, labels)
    ours = BoostedTrees().fit(codes, labels)
    np.testing.assert_allclose(ours.feature_importances_, plain.feature_importances_, atol=0.02)
    fresh, truth = draw(6, 10_000, seed=1, codes=10)
    assert np.mean(ours.predict(fresh) == truth) == pytest.approx(np.mean(plain.predict(fresh) == truth), abs=0.01)


def test_what_does_not_matter():
    """Exactly, although small nodes have many splits that are as good as each other."""
    codes, labels = draw(5, 701, seed=3)
    importances = BoostedTrees(rounds=40).fit(codes, labels).feature_importances_
    rng = np.random.default_rng(4)
    rows, places, signs = rng.permutation(701), rng.permutation(6), np.array([-1, 1, -1, -1, 1, -1])

    def again(*arrays):
        return BoostedTrees(rounds=40).fit(*arrays).feature_importances_

    np.testing.assert_array_equal(again(codes[rows], labels[rows]), importances)
    np.testing.assert_allclose(again(codes[:, places], labels), importances[places], atol=1e-14)
    np.testing.assert_allclose(again(codes * signs, labels), importances, atol=1e-14)
    np.testing.assert_array_equal(again(codes * 1000.0 + 7.0, labels), importances)


def test_duplicates_share():
    """By lot, so that neither takes all; a code turned round is a duplicate too."""
    codes, labels = draw(3, 500, seed=6, codes=2)
    alone = BoostedTrees().fit(codes, labels).feature_importances_
    both = BoostedTrees().fit(np.hstack([codes, -codes]), labels).feature_importances_
    np.testing.assert_allclose(both[:2] + both[2:], alone, atol=0.01)
    np.testing.assert_allclose(both[:2], both[2:], atol=0.2)


def test_it_learns_any_labels():
    codes, labels = draw(3, 300, seed=7)
    names = np.array(["a", "b", "c"])
    ours = BoostedTrees(rounds=20).fit(codes, names[labels])
    assert ours.classes_.tolist() == ["a", "b", "c"]
    assert np.mean(ours.predict(codes) == names[labels]) > 0.8
    np.testing.assert_allclose(ours.predict_proba(codes).sum(axis=1), 1.0)


@pytest.mark.parametrize("labels", [[4, 4, 4, 4], [4, 4, 4, 2]])
def test_constant_codes_leave_the_shares_of_the_classes(labels):
    ours = BoostedTrees().fit(np.ones((4, 2)), labels)
    assert ours.predict([[0.0, 5.0]]).tolist() == [4]
    assert ours.feature_importances_.tolist() == [0.0, 0.0]
    np.testing.assert_allclose(ours.predict_proba([[1.0, 1.0]])[0, -1], labels.count(4) / 4)


def test_rare_classes_do_not_overflow():
    labels = np.zeros(3000, dtype=int)
    labels[7], labels[8:10] = 1, 2
    codes = np.random.default_rng(0).normal(size=(3000, 3))
    ours = BoostedTrees().fit(codes, labels)
    assert np.isfinite(ours.predict_proba(codes)).all()
    assert ours.predict(codes).tolist() == labels.tolist()


def test_neighbouring_numbers_are_told_apart():
    codes = np.array([[1.0], [np.nextafter(np.float32(1), np.float32(2))]] * 5)
    labels = np.array([0, 1] * 5)
    assert BoostedTrees().fit(codes, labels).predict(codes).tolist() == labels.tolist()


def test_parts_are_even():
    codes = np.random.default_rng(0).normal(size=(5001, 1))
    parts = Parts(codes, 256)
    counts = np.bincount(parts.rows[:, 0])
    assert parts.sizes[0] == len(counts) == 255
    assert set(counts) <= {19, 20}
    np.testing.assert_array_equal(parts.rising[0], codes[parts.order[0], 0])
    np.testing.assert_array_equal(parts.rows[parts.order[0], 0], np.repeat(np.arange(255), counts))
    np.testing.assert_array_equal(np.diff(parts.starts[0, :256]), counts)
    np.testing.assert_array_equal(Parts(-codes, 256).rows, 254 - parts.rows)


@pytest.mark.parametrize("decimals", [9, 1])
def test_parts_turned_round_are_those_of_the_negative(decimals):
    codes = np.round(np.random.default_rng(1).normal(size=(900, 2)), decimals)
    turned, expected = Parts(codes, 100), Parts(codes * [1, -1], 100)
    turned.turn(1)
    for name in ("rows", "sizes", "rising", "starts"):
        np.testing.assert_array_equal(getattr(turned, name), getattr(expected, name), err_msg=name)
    np.testing.assert_array_equal(codes[turned.order[1], 1], codes[expected.order[1], 1])


def test_parts_of_heavy_ties():
    """Half of the rows share one value, and the others still have their parts."""
    code = np.concatenate([np.zeros(2000), np.random.default_rng(0).normal(size=2000)])
    parts = Parts(code[:, None], 64)
    counts = np.bincount(parts.rows[:, 0])
    assert (counts > 0).all()
    assert parts.sizes[0] > 30
    assert counts.max() < 2150


def test_it_is_a_classifier_to_scikit_learn():
    copy: Any = clone(BoostedTrees(rounds=7, depth=2))
    assert copy.get_params() == {"rounds": 7, "rate": 0.1, "depth": 2, "bins": 256, "thorough": True}
    assert copy.set_params(depth=4).depth == 4
    with pytest.raises(UsageError, match="no option 'deep'"):
        copy.set_params(deep=3)


@pytest.mark.parametrize("options", [{"rounds": 0}, {"depth": 8}, {"depth": 0}, {"bins": 300}, {"bins": 1}])
def test_options_are_checked(options):
    with pytest.raises(UsageError, match=next(iter(options))):
        BoostedTrees(**options).fit([[0.0], [1.0]], [0, 1])


def test_inputs_are_checked():
    with pytest.raises(UsageError, match="not fitted"):
        BoostedTrees().predict([[0.0]])
    with pytest.raises(UsageError, match="rows but y"):
        BoostedTrees().fit([[0.0], [1.0]], [0, 1, 2])
    with pytest.raises(UsageError, match="columns"):
        BoostedTrees(rounds=1).fit([[0.0], [1.0]], [0, 1]).predict([[0.0, 1.0]])


@pytest.mark.parametrize("seed", range(5))
def test_the_last_bit_of_a_code_changes_nothing(seed):
    """Codes are cast to single precision, as scikit-learn does: noise of 1e-12 is lost there."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(5, size=600)
    codes = (labels[:, None] + rng.normal(size=(600, 4))).astype(np.float32).astype(np.float64)
    moved = codes * (1 + 1e-12 * rng.normal(size=codes.shape))
    one, other = (BoostedTrees(rounds=20).fit(some, labels) for some in (codes, moved))
    np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)
    np.testing.assert_array_equal(one.predict(codes), other.predict(moved))
