from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.geometry import sample


@pytest.mark.parametrize(
    ("name", "width", "dims"),
    [
        ("S^2 x S^3", 7, [2, 3]),
        ("SO(3) x S2", 12, [3, 2]),
        ("T^2 × R^3", 7, [2, 3]),
        ("SO(4)", 16, [3, 3]),
        ("SO(5)*S^1", 27, [10, 1]),
        ("E^2 x E^1", 5, [2, 1]),
    ],
)
@pytest.mark.parametrize("embedding", ["standard", "rotated", "stretched"])
def test_frames_are_orthonormal_and_as_wide_as_the_factors(name, width, dims, embedding):
    drawn = sample(name, 20, seed=1, embedding=embedding)
    assert drawn.points.shape == (20, width)
    assert [frame.shape[2] for frame in drawn.frames] == dims
    assert drawn.dim == sum(dims)
    for frame in drawn.frames:
        np.testing.assert_allclose(
            frame.transpose(0, 2, 1) @ frame, np.tile(np.eye(frame.shape[2]), (20, 1, 1)), atol=1e-12
        )


def test_a_sphere_s_frame_is_at_right_angles_to_its_point():
    drawn = sample("S^4", 50)
    np.testing.assert_allclose(np.linalg.norm(drawn.points, axis=1), 1)
    np.testing.assert_allclose(np.einsum("nd,ndk->nk", drawn.points, drawn.frames[0]), 0, atol=1e-12)


def test_an_ellipsoid_s_frame_is_at_right_angles_to_its_normal():
    drawn = sample("E^2", 50)
    squares = np.array([1, 0.75, 0.5]) ** 2
    np.testing.assert_allclose((drawn.points**2 / squares).sum(axis=1), 1)
    np.testing.assert_allclose(np.einsum("nd,ndk->nk", drawn.points / squares, drawn.frames[0]), 0, atol=1e-12)


def test_rotations_are_rotations_and_their_tangents_antisymmetric_in_their_own_axes():
    drawn = sample("SO(4)", 30)
    turn = drawn.points.reshape(30, 4, 4)
    np.testing.assert_allclose(turn @ turn.transpose(0, 2, 1), np.tile(np.eye(4), (30, 1, 1)), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(turn), 1)
    one, other = (
        np.einsum("nji,njkb->nbik", turn, frame.reshape(30, 4, 4, 3))[0] for frame in drawn.frames
    )  # the same at every point, for the frames are left-invariant
    np.testing.assert_allclose(one, -one.transpose(0, 2, 1), atol=1e-12)
    for a in one:  # the two factors of SO(4) are groups that commute
        for b in other:
            np.testing.assert_allclose(a @ b, b @ a, atol=1e-12)
    assert np.abs(one[0] @ one[1] - one[1] @ one[0]).max() > 0.4


def test_a_stretched_frame_is_tangent_to_the_stretched_manifold():
    plain, odd = sample("S^2 x S^1", 2000, seed=3), sample("S^2 x S^1", 2000, seed=3, embedding="stretched", ambient=8)
    into = np.linalg.lstsq(plain.points, odd.points, rcond=None)[0].T
    sizes = np.linalg.svd(into, compute_uv=False)
    assert sizes.max() / sizes.min() == pytest.approx(4)
    for before, after in zip(plain.frames, odd.frames, strict=True):
        moved = into @ before
        np.testing.assert_allclose(after @ (after.transpose(0, 2, 1) @ moved), moved, atol=1e-10)


def test_points_are_uniform_and_noise_is_added():
    drawn = sample("S^2", 20_000)
    np.testing.assert_allclose(drawn.points.mean(axis=0), 0, atol=0.02)
    np.testing.assert_allclose(np.cov(drawn.points.T), np.eye(3) / 3, atol=0.01)
    noisy = sample("S^2", 20_000, noise=0.1)
    assert (noisy.points - drawn.points).std() == pytest.approx(0.1, rel=0.02)
    np.testing.assert_array_equal(sample("S^2 x T^2", 5, seed=4).points, sample("S^2 x T^2", 5, seed=4).points)


@pytest.mark.parametrize("name", ["", "S^0", "SO(1)", "K^2", "S^2 y S^2", "S^2 x"])
def test_no_manifold(name):
    with pytest.raises(UsageError, match="is not a product such as"):
        sample(name)


@pytest.mark.parametrize(
    "options",
    [{"n": 0}, {"noise": -1}, {"embedding": "bent"}, {"ambient": 2}, {"stretch": 0.5, "embedding": "stretched"}],
)
def test_impossible_samples(options):
    arguments: dict[str, Any] = {"n": 5, **options}
    with pytest.raises(UsageError):
        sample("S^2", **arguments)
