"""Orthogonality of Jacobians against loops and closed forms: linear decoders, rotations, dead columns."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.metrics.jacobian import (
    ima_contrast,
    jacobian_orthogonality,
)

RNG = np.random.default_rng(0)
JACOBIANS = RNG.normal(size=(7, 12, 4))


def referee(jacobians):
    cosines = [
        abs(sum(a * b for a, b in zip(j[:, p], j[:, q], strict=True)))
        / math.sqrt(sum(a * a for a in j[:, p]) * sum(b * b for b in j[:, q]))
        for j in jacobians
        for p in range(j.shape[1])
        for q in range(p)
    ]
    return 1 - sum(cosines) / len(cosines)


def ima_referee(jacobians):
    """The published local contrast, column lengths and determinant apart."""
    local = [np.log(np.linalg.norm(j, axis=0)).sum() - 0.5 * np.linalg.slogdet(j.T @ j)[1] for j in jacobians]
    return sum(local) / len(local)


def test_they_are_the_formulas():
    assert jacobian_orthogonality(JACOBIANS) == pytest.approx(referee(JACOBIANS), abs=1e-12)
    assert ima_contrast(JACOBIANS) == pytest.approx(ima_referee(JACOBIANS), abs=1e-12)


def two_columns(angle):
    return np.array([[[1.0, 3 * math.cos(angle)], [0.0, 3 * math.sin(angle)], [0.0, 0.0]]])


@pytest.mark.parametrize("degrees", [90, 60, 30, 5, 120])
def test_two_directions_at_an_angle(degrees):
    angle = math.radians(degrees)
    assert jacobian_orthogonality(two_columns(angle)) == pytest.approx(1 - abs(math.cos(angle)), abs=1e-12)
    assert ima_contrast(two_columns(angle)) == pytest.approx(-math.log(math.sin(angle)), abs=1e-12)


def test_a_rotation_of_the_codes_undoes_it_unless_all_scales_agree():
    """A decoder U S R^T has orthogonal columns for R = 1, and for any R where S is a multiple of 1."""
    u = np.linalg.qr(RNG.normal(size=(12, 4)))[0]
    r = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
    for scales in ([1.0, 2.0, 4.0, 8.0], [3.0, 3.0, 3.0, 3.0]):
        assert jacobian_orthogonality((u * scales)[None]) == pytest.approx(1.0, abs=1e-12)
        assert ima_contrast((u * scales)[None]) == pytest.approx(0.0, abs=1e-12)
    assert jacobian_orthogonality((u * [1.0, 2.0, 4.0, 8.0] @ r.T)[None]) < 0.7
    assert jacobian_orthogonality((u * 3.0 @ r.T)[None]) == pytest.approx(1.0, abs=1e-12)


def test_triangular_factors_do_as_well():
    triangular = np.linalg.qr(JACOBIANS)[1]
    assert jacobian_orthogonality(triangular) == pytest.approx(referee(JACOBIANS), abs=1e-12)
    assert ima_contrast(triangular) == pytest.approx(ima_referee(JACOBIANS), abs=1e-12)


@pytest.mark.parametrize("tiny", [0.0, 1e-6])
def test_dead_columns_are_left_out(tiny):
    with_dead = np.concatenate([JACOBIANS, tiny * RNG.normal(size=(7, 12, 2))], axis=2)
    assert jacobian_orthogonality(with_dead) == pytest.approx(referee(JACOBIANS), abs=1e-12)
    assert ima_contrast(with_dead) == pytest.approx(ima_referee(JACOBIANS), abs=1e-12)
    if tiny:
        assert jacobian_orthogonality(with_dead, dead=1e-9) == pytest.approx(referee(with_dead), abs=1e-12)


@pytest.mark.parametrize("jacobians", [np.zeros((3, 5, 2)), np.ones((3, 5, 1)), JACOBIANS[:, :, :1]])
def test_no_pair_of_columns(jacobians):
    assert jacobian_orthogonality(jacobians) == 1.0
    assert ima_contrast(jacobians) == pytest.approx(0.0, abs=1e-12)
    assert jacobian_orthogonality.sample(jacobians).rescore(np.ones((1, len(jacobians)), bool)).tolist() == [1.0]


def test_parallel_columns_are_the_other_end_and_finite():
    jacobians = np.repeat(JACOBIANS[:, :, :1], 2, axis=2)
    assert jacobian_orthogonality(jacobians) == pytest.approx(0.0, abs=1e-12)
    assert ima_contrast(jacobians) == pytest.approx(-0.5 * math.log(2e-12), abs=1e-6)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_no_scale_is_too_small_or_too_large(scale):
    assert jacobian_orthogonality(JACOBIANS * scale) == pytest.approx(referee(JACOBIANS), abs=1e-12)


def test_a_subset_scores_as_its_samples_do():
    subset = np.arange(7) % 2 == 0
    again = [
        sample(JACOBIANS).rescore(subset[None])[0] for sample in (jacobian_orthogonality.sample, ima_contrast.sample)
    ]
    assert again == pytest.approx([referee(JACOBIANS[subset]), ima_referee(JACOBIANS[subset])], abs=1e-12)


@pytest.mark.parametrize("bad", [JACOBIANS[0], np.zeros((0, 3, 2)), None, [["a"]]])
def test_wrong_shapes_are_refused(bad):
    with pytest.raises(UsageError, match=r"must be numbers of shape \(samples, pixels, codes\)"):
        jacobian_orthogonality(bad)


def test_other_mistakes_get_one_line():
    with pytest.raises(UsageError, match="NaN"):
        ima_contrast(JACOBIANS * np.nan)
    with pytest.raises(UsageError, match="dead must be a number"):
        ima_contrast(JACOBIANS, dead=1.0)
    with pytest.raises(UsageError, match="cannot be read as one array"):
        ima_contrast([[[1.0]], [[1.0, 2.0]]])
