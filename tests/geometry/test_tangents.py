"""Tangent spaces, rough and fitted, the dimension, and the gap of a spectrum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import orth, subspace_angles

from unweave.errors import UsageError
from unweave.geometry import estimate_dim, sample
from unweave.geometry.angles import largest_angle
from unweave.geometry.gap import rises, split
from unweave.geometry.neighbours import nearest, nearest_of
from unweave.geometry.second_order import CLOSE, refined
from unweave.geometry.tangents import coefficients, principal_spaces, tangent_spaces, usual_neighbours


@pytest.mark.parametrize("width", [5, 40])  # fewer coordinates than neighbours, and more
def test_rough_spaces_are_principal_components(width):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, width)) * np.linspace(3, 0.1, width)
    near = nearest(points, 12)
    frames = principal_spaces(points, near, 3).frames
    for i in range(50):
        right = np.linalg.svd(points[near[i]] - points[i])[2]
        np.testing.assert_allclose(frames[i] @ frames[i].T, right[:3].T @ right[:3], atol=1e-8)


def test_a_frame_is_complete_where_neighbours_are_not():
    for width in (4, 40):  # too few for a fit, and enough by number alone
        frames = tangent_spaces(np.zeros((6, 9)), np.zeros((6, width), int), 3).frames
        np.testing.assert_allclose(frames.transpose(0, 2, 1) @ frames, np.tile(np.eye(3), (6, 1, 1)), atol=1e-12)


def plain_fit(offsets: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """Return J of the least-squares fit offsets = c + J u + Q(u, u), u = F^T offsets, by scipy's own means."""
    u = offsets @ frame
    k = u.shape[1]
    squares = np.stack([u[:, a] * u[:, b] for a in range(k) for b in range(a + 1)], axis=1)
    terms = np.column_stack([u, np.ones(len(u)), squares])
    return np.linalg.lstsq(terms, offsets, rcond=None)[0][:k].T


@pytest.mark.parametrize("name", ["S^2", "S^2 x S^1", "S^2 x S^2"])
def test_the_fit_is_a_fixed_point_of_least_squares(name):
    """Where the fit ends, the surface fitted over the space is tangent to it."""
    drawn = sample(name, 400, seed=1, ambient=9)
    k = drawn.dim
    near = nearest(drawn.points, usual_neighbours(k, 400))
    frames = tangent_spaces(drawn.points, near, k).frames
    for i in range(0, 400, 20):
        offsets = np.concatenate([np.zeros((1, 9)), drawn.points[near[i]] - drawn.points[i]])
        assert subspace_angles(orth(plain_fit(offsets, frames[i])), frames[i]).max() < CLOSE


def test_one_round_is_a_whole_step_and_a_half():
    drawn = sample("S^2 x S^2", 300, seed=2)
    near = nearest(drawn.points, 42)
    rough = principal_spaces(drawn.points, near[:, :24], 4)
    fitted = refined(drawn.points, near, rough, 21).frames
    for i in range(0, 300, 30):
        offsets = np.concatenate([np.zeros((1, 6)), drawn.points[near[i]] - drawn.points[i]])
        frame = rough.frames[i]
        for _ in range(8):
            frame = np.linalg.qr(plain_fit(offsets, frame))[0]
            tilt = plain_fit(offsets, frame) - frame
            frame = np.linalg.qr(frame + tilt / 2)[0]
            if np.linalg.norm(tilt, axis=0).max() < CLOSE:
                break
        assert subspace_angles(frame, fitted[i]).max() < 1e-5


def tangent_error(name: str, n: int, noise: float = 0.0) -> tuple[float, float]:
    """Return the mean angle to the true tangent spaces of the rough ones and of the fitted."""
    drawn = sample(name, n, seed=3, noise=noise)
    k, truth = drawn.dim, np.concatenate(drawn.frames, axis=2)
    near = nearest(drawn.points, usual_neighbours(k, n))
    rough = principal_spaces(drawn.points, near[:, : 6 * k], k).frames
    fitted = tangent_spaces(drawn.points, near, k).frames
    return float(largest_angle(rough, truth).mean()), float(largest_angle(fitted, truth).mean())


@pytest.mark.parametrize(
    ("name", "n", "noise", "least"),
    [("S^2 x S^2", 500, 0, 20), ("S^2 x SO(3)", 2000, 0, 10), ("S^2 x S^2", 2000, 0.05, 2), ("S^2 x S^2", 60, 0, 1)],
)
def test_bending_no_longer_passes_for_tilt(name, n, noise, least):
    rough, fitted = tangent_error(name, n, noise)
    assert fitted * least < rough


@pytest.mark.parametrize(("name", "noise"), [("S^2 x S^2", 0.05), ("S^2 x S^2", 0.1), ("S^2 x S^1", 0.1)])
def test_the_standard_error_is_about_the_error(name, noise):
    drawn = sample(name, 1500, seed=7, noise=noise)
    k, truth = drawn.dim, np.concatenate(drawn.frames, axis=2)
    near = nearest(drawn.points, usual_neighbours(k, 1500))
    found = tangent_spaces(drawn.points, near, k)
    error = largest_angle(found.frames, truth)
    assert 0.6 < found.tilts.mean() / error.mean() < 1.4
    assert np.corrcoef(found.tilts, error)[0, 1] > 0.05
    rough = principal_spaces(drawn.points, near[:, : 6 * k], k)  # bending, not noise, makes its error: that is larger
    assert found.tilts.mean() < rough.tilts.mean() < largest_angle(rough.frames, truth).mean()


def test_the_standard_error_is_that_of_least_squares():
    """Of offsets = J u + noise by textbook: s² tr (A^T A)^-1, which NumPy's own inverse gives."""
    drawn = sample("S^2", 300, seed=1, noise=0.02)
    near = nearest(drawn.points, 15)
    found = tangent_spaces(drawn.points, near, 2)
    for i in range(0, 300, 30):
        offsets = np.concatenate([np.zeros((1, 3)), drawn.points[near[i]] - drawn.points[i]])
        u = offsets @ found.frames[i]
        terms = np.column_stack([u, np.ones(16), u[:, 0] ** 2, u[:, 1] ** 2, u[:, 0] * u[:, 1]])
        left = offsets - terms @ np.linalg.lstsq(terms, offsets, rcond=None)[0]
        expected = np.sqrt((left**2).sum() / (16 - 6) * np.trace(np.linalg.inv(terms.T @ terms)[:2, :2]))
        assert np.tan(found.tilts[i]) == pytest.approx(expected, rel=0.05)  # the last half step came after it


def surface_error(n: int) -> float:
    """Return the mean error on the surface z = x² + x³ - y³ + x y at points off its rim."""
    x, y = np.random.default_rng(0).uniform(-1, 1, size=(2, n))
    points = np.stack([x, y, x**2 + x**3 - y**3 + x * y], axis=1)
    slopes = 2 * x + 3 * x**2 + y, x - 3 * y**2
    normals = np.stack([-slopes[0], -slopes[1], np.ones(n)], axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    frames = tangent_spaces(points, nearest(points, 15), 2).frames
    sines = np.linalg.norm((frames * normals[:, :, None]).sum(axis=1), axis=1)
    return float(sines[np.maximum(abs(x), abs(y)) < 0.8].mean())


def test_the_error_falls_with_the_square_of_the_distance_of_neighbours():
    """Sixteen times the points of a surface make that distance a quarter."""
    assert 11 < surface_error(1000) / surface_error(16_000) < 23


def test_points_with_few_neighbours_keep_their_rough_space():
    drawn = sample("S^2", 100)
    near = nearest(drawn.points, 15)
    near[7, 3:] = 7
    rough = principal_spaces(drawn.points, near, 2)
    fitted = refined(drawn.points, near, rough, 7)
    np.testing.assert_array_equal(fitted.frames[7], rough.frames[7])
    assert fitted.tilts[7] == rough.tilts[7]
    assert not np.array_equal(fitted.frames[8], rough.frames[8])


def test_the_number_of_terms():
    assert [coefficients(k) for k in (1, 2, 4, 10)] == [2, 5, 14, 65]
    assert usual_neighbours(4, 10_000) == 42
    assert usual_neighbours(4, 30) == 29
    assert usual_neighbours(20, 10_000) == 120  # first order


@pytest.mark.parametrize(
    ("name", "n", "noise"),
    [
        ("S^2 x S^2", 3000, 0), ("S^2", 3000, 0), ("R^3", 3000, 0), ("S^1", 100, 0.01), ("S^2 x S^3", 3000, 0),
        ("S^2 x SO(3)", 1000, 0), ("S^5 x S^5", 2000, 0), ("S^2 x S^2", 2000, 0.05),
    ],
)  # fmt: skip
def test_the_dimension_is_estimated(name, n, noise):
    drawn = sample(name, n, noise=noise, ambient=12)
    estimate = estimate_dim(drawn.points)
    assert estimate.dim == drawn.dim
    assert estimate.ratio > 3
    assert len(estimate.unexplained) == drawn.dim + 1
    assert estimate.unexplained[0] == 1
    assert (np.diff(estimate.unexplained) < 0).all()


def test_the_dimension_of_noise_is_not_clear():
    estimate = estimate_dim(np.random.default_rng(0).normal(size=(60, 30)))
    assert (estimate.dim, estimate.ratio) == (7, 1.0)  # eight would need 66 neighbours
    assert estimate_dim(np.eye(3)).dim >= 1
    with pytest.raises(UsageError, match="3 finite points or more"):
        estimate_dim(np.full((9, 2), np.nan))


def test_the_nearest_of_some_are_those_of_all():
    points = np.random.default_rng(0).normal(size=(200, 3))
    rows = np.array([3, 0, 150])
    np.testing.assert_array_equal(nearest_of(points, rows, 9), nearest(points, 9)[rows])


def test_the_steepest_rise_is_not_the_widest_gap():
    values = np.array([0.001, *[0.02] * 9, 0.06])
    assert split(values) == 1
    assert np.argmax(np.diff(values)) == 9
    np.testing.assert_allclose(rises(values)[0], (0.02 + 0.003) / (0.001 + 0.003))
    assert split(np.array([-1e-7, 0, 1e-9, 0.05, 0.06])) == 3
    assert split(np.zeros(4)) in (1, 2, 3)
    assert split(np.array([0.1])) == 1
