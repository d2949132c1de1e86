from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.sparse.csgraph import connected_components

from unweave.errors import UsageError
from unweave.geometry import chance_error, sample, subspace_error, unaligned_error
from unweave.geometry.components import COSINE, group_axes
from unweave.geometry.factors import explained, label_axes


def test_axes_are_joined_as_connected_parts():
    rng = np.random.default_rng(0)
    diagonals = rng.normal(size=(100, 6, 2))
    for values, labels in zip(diagonals, group_axes(diagonals), strict=True):
        unit = values / np.linalg.norm(values, axis=1, keepdims=True)
        _, expected = connected_components(unit @ unit.T > COSINE)
        np.testing.assert_array_equal(labels[:, None] == labels, expected[:, None] == expected)
        assert list(dict.fromkeys(labels)) == list(range(labels.max() + 1))


def test_an_axis_of_no_eigenvalues_stands_alone():
    np.testing.assert_array_equal(group_axes(np.array([[[1.0], [0.0], [2.0], [0.0]]])), [[0, 1, 0, 2]])


def three_factors(n: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues of axes of three factors of dimensions 2, 2 and 1 in a random order, and that order."""
    rng = np.random.default_rng(0)
    ideal = np.array([[1.0, 0.2], [1.0, 0.2], [-0.7, 0.9], [-0.7, 0.9], [-0.6, -2.2]])
    order = rng.permuted(np.tile(np.arange(5), (n, 1)), axis=1)
    return ideal[order] * rng.uniform(0.5, 2, (n, 1, 1)) + noise * rng.normal(size=(n, 5, 2)), order // 2


def test_labels_mean_the_same_factor_at_every_point():
    diagonals, truth = three_factors(500, 0.05)
    labels, dims, odd = label_axes(diagonals, 3)
    assert sorted(dims) == [1, 2, 2]
    assert not odd.any()
    name = {int(label): int(truth[0, axis]) for axis, label in enumerate(labels[0])}
    np.testing.assert_array_equal(np.vectorize(name.get)(labels), truth)


def test_points_that_do_not_add_up_are_noted_and_filled():
    diagonals, truth = three_factors(500, 0.02)
    diagonals[:7] = np.random.default_rng(1).normal(size=(7, 5, 2))
    labels, dims, odd = label_axes(diagonals, 3)
    assert 0 < odd[:7].sum() == odd.sum()
    assert all(sorted((row == j).sum() for j in range(3)) == [1, 2, 2] for row in labels)
    assert dims[labels[10, 0]] == (2 if truth[10, 0] < 2 else 1)


def test_points_that_agree_on_nothing_keep_their_own_factors():
    diagonals = np.random.default_rng(1).normal(size=(50, 6, 4))
    labels, dims, odd = label_axes(diagonals, 2)
    assert dims == ()
    np.testing.assert_array_equal(labels, group_axes(diagonals))
    np.testing.assert_array_equal(odd, labels.max(axis=1) != 1)


def test_the_explained_share_is_1_for_projections_and_less_for_others():
    labels = np.array([[0, 0, 1]])
    assert explained(np.array([[[1.0], [1.0], [-2.0]]]), np.array([6.0]), labels) == pytest.approx([1])
    assert explained(np.array([[[2.0], [0.0], [-2.0]]]), np.array([8.0]), labels) == pytest.approx([0.75])


def test_the_error_is_the_best_match_over_all_orders():
    rng = np.random.default_rng(0)
    dims = (2, 2, 3)
    turns = np.linalg.qr(rng.normal(size=(10, 7, 7)))[0]
    frames = [np.tile(np.eye(7)[:, part], (10, 1, 1)) for part in (slice(0, 2), slice(2, 4), slice(4, 7))]
    found = [[turn[:, 4:], turn[:, :2], turn[:, 2:4]] for turn in turns]
    errors = subspace_error(found, frames)
    for i in range(10):
        expected = min(
            np.mean([
                subspace_angles(found[i][a], frames[b][i]).max() if found[i][a].shape[1] == dims[b] else np.pi / 2
                for b, a in enumerate(order)
            ])
            for order in permutations(range(3))
        )  # fmt: skip
        assert errors[i] == pytest.approx(expected)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 1.5])
def test_a_known_angle(angle):
    turn = np.eye(4)
    turn[[0, 0, 2, 2], [0, 2, 0, 2]] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
    frames = [np.eye(4)[None, :, :2], np.eye(4)[None, :, 2:]]
    least = min(angle, np.pi / 2)  # the other match is at right angles in its second axis
    assert subspace_error([[turn[:, 2:], turn[:, :2]]], frames) == pytest.approx([least], abs=1e-14)


def test_another_number_of_factors_is_a_right_angle():
    frames = [np.eye(4)[None, :, :2], np.eye(4)[None, :, 2:]]
    np.testing.assert_allclose(subspace_error([[np.eye(4)]], frames), np.pi / 2)
    with pytest.raises(UsageError, match="1 points have components"):
        subspace_error([[np.eye(4)]], [np.zeros((2, 4, 2))])


def test_chance_of_two_planes_is_that_of_random_planes():
    rng = np.random.default_rng(5)
    angles = []
    for _ in range(2000):
        turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
        one = np.arccos(np.linalg.svd(turn[:2, :2], compute_uv=False)[-1].clip(0, 1))
        other = np.arccos(np.linalg.svd(turn[:2, 2:], compute_uv=False)[-1].clip(0, 1))
        angles.append(min(one, other))
    assert chance_error([2, 2]) == pytest.approx(np.mean(angles), abs=0.03)


def test_the_unaligned_error_of_a_rotated_and_scaled_copy_is_none():
    drawn = sample("S^2 x S^2", 60, seed=2)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    found = [[turn @ frame[i] for frame in drawn.frames] for i in range(60)]
    errors = unaligned_error(3 * drawn.points @ turn.T, found, drawn.points, drawn.frames)
    np.testing.assert_allclose(errors, 0, atol=1e-6)
    swapped = [
        [np.concatenate([a[:, :1], b[:, :1]], axis=1), np.concatenate([a[:, 1:], b[:, 1:]], axis=1)] for a, b in found
    ]
    assert unaligned_error(3 * drawn.points @ turn.T, swapped, drawn.points, drawn.frames).mean() > 1.4
