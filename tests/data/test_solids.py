from __future__ import annotations

import numpy as np
import pytest

from unweave.data.solids import Box, Capsule, Cylinder, Solid

SOLIDS = [Box(0.7, 1.5), Cylinder(0.7, 1.6), Capsule(0.9, 1.8), Capsule(0.6, 2.1)]
STEP = 0.002


def inside(solid: Solid, points: np.ndarray) -> np.ndarray:
    x, y, z = points
    if isinstance(solid, Box):
        return (np.abs(x) < solid.radius) & (np.abs(y) < solid.radius) & (z > 0) & (z < solid.height)
    if isinstance(solid, Cylinder):
        return (x**2 + y**2 < solid.radius**2) & (z > 0) & (z < solid.height)
    axis = np.clip(z, solid.radius, solid.height - solid.radius)
    return x**2 + y**2 + (z - axis) ** 2 < solid.radius**2


def rays(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rays from all around towards points in and near the solid."""
    rng = np.random.default_rng(0)
    origins = rng.normal(size=(3, n))
    origins *= 5 / np.linalg.norm(origins, axis=0)
    targets = rng.uniform(-1.5, 2.5, size=(3, n))
    directions = targets - origins
    return origins, directions / np.linalg.norm(directions, axis=0)


@pytest.mark.parametrize("solid", SOLIDS, ids=repr)
def test_entry_is_the_first_point_inside(solid: Solid):
    origins, directions = rays(400)
    walk = np.arange(0, 12, STEP)
    steps = inside(solid, origins[:, :, None] + walk * directions[:, :, None])
    first = np.where(steps.any(axis=1), walk[steps.argmax(axis=1)], np.inf)
    entry = solid.entry(origins, directions)
    met = np.isfinite(first)
    assert 50 < met.sum() < 350
    late = first[met] - entry[met]
    assert late.min() >= -1e-9
    # The walk may step over a corner that the ray only grazes.
    assert np.quantile(late, 0.98) <= STEP + 1e-9
    missed = np.isfinite(entry) & ~met
    assert missed.sum() <= 3


@pytest.mark.parametrize("solid", SOLIDS, ids=repr)
def test_normals_point_out_of_the_surface(solid: Solid):
    origins, directions = rays(2000)
    entry = solid.entry(origins, directions)
    met = np.isfinite(entry)
    points = (origins + np.where(met, entry, 0) * directions)[:, met]
    normals = solid.normals(points)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=0), 1, atol=1e-9)
    assert ((normals * directions[:, met]).sum(axis=0) < 0).all()
    assert not inside(solid, points + 1e-6 * normals).any()
    assert inside(solid, points - 1e-6 * normals).mean() > 0.999  # but for the very edges


@pytest.mark.parametrize("solid", SOLIDS, ids=repr)
def test_bound_contains_the_solid(solid: Solid):
    points = np.random.default_rng(0).uniform(-2, 3, size=(3, 100_000))
    points = points[:, inside(solid, points)]
    reach = np.linalg.norm(points - [[0], [0], [solid.height / 2]], axis=0)
    assert points.shape[1] > 500
    assert reach.max() <= solid.bound
