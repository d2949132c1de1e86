from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.geometry import DoubtfulFactors, Factorisation, geomancer, sample, subspace_error
from unweave.geometry.gap import split


@pytest.fixture(scope="module")
def drawn():
    return sample("S^2 x S^2", 1500, seed=0)


@pytest.fixture(scope="module")
def found(drawn):
    return geomancer(drawn.points, dim=4, seed=0)


def test_two_spheres_are_found(drawn, found):
    assert (found.count, found.dims) == (2, (2, 2))
    assert found.spectrum[0] < 0.05 * found.spectrum[1]
    assert found.odd.mean() < 0.01
    assert subspace_error(found.components, drawn.frames).mean() < 0.04  # a guess at random has 1.0


def test_less_confident_points_have_larger_errors():
    drawn = sample("S^2 x S^2", 1500, noise=0.2)
    with pytest.warns(DoubtfulFactors, match="radians off"):
        found = geomancer(drawn.points, dim=4, count=2)
    errors = subspace_error(found.components, drawn.frames)
    order = np.argsort(found.confidence)
    assert errors[order[:300]].mean() > 1.5 * errors[order[-300:]].mean()
    assert 0.5 < errors.mean() / found.tilts.mean() < 1.6  # so much noise moves points along the manifold, too


@pytest.mark.parametrize(
    ("name", "n", "most"),
    [("S^2 x SO(3)", 1500, 0.1), ("S^2 x S^2 x S^2", 1000, 0.1), ("S^5 x S^5", 1200, 0.1), ("SO(4)", 1500, 0.1)],
)
def test_products_are_found_from_few_points(name, n, most):
    drawn = sample(name, n, seed=5)
    found = geomancer(drawn.points, dim=drawn.dim)
    assert sorted(found.dims) == sorted(frame.shape[2] for frame in drawn.frames)
    assert subspace_error(found.components, drawn.frames).mean() < most


def test_labels_are_the_same_factor_everywhere(drawn, found):
    one = found.basis(0)
    shares = [((frame.transpose(0, 2, 1) @ one) ** 2).sum(axis=(1, 2)) / 2 for frame in drawn.frames]
    agree = (shares[0] > shares[1]).mean()
    assert max(agree, 1 - agree) > 0.98
    with pytest.raises(UsageError, match="there is no factor 2"):
        found.basis(2)


def test_components_are_orthonormal_and_span_the_tangent_space(found):
    axes = np.concatenate(found.components[3], axis=1)
    np.testing.assert_allclose(axes.T @ axes, np.eye(4), atol=1e-6)


def test_seed_turn_scale_shift_and_copies_do_not_matter(drawn, found):
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    rows = np.concatenate([np.arange(1500)[::-1], [5, 5, 7]])
    other = geomancer(7 * drawn.points[rows] @ turn.T + 100, dim=4, seed=3)
    np.testing.assert_allclose(other.spectrum[0], found.spectrum[0], atol=2e-4)
    np.testing.assert_allclose(other.spectrum[1:], found.spectrum[1:], rtol=0.1)
    back = [[turn.T @ basis for basis in bases] for bases in other.components]
    frames = [np.stack([each[j] for each in found.components])[rows] for j in range(2)]
    assert np.median(subspace_error(back, frames)) < 0.1


def test_a_graph_of_one_s_own(drawn):
    from unweave.geometry.neighbours import nearest

    near = nearest(drawn.points, 12)
    edges = np.stack([np.repeat(np.arange(1500), 12), near.ravel()], axis=1)
    with pytest.warns(DoubtfulFactors, match="radians off"):  # by up to 24 neighbours a tangent space is rough
        found = geomancer(drawn.points, dim=4, graph=edges)
    assert subspace_error(found.components, drawn.frames).mean() < 0.35


def test_the_number_of_factors_by_gamma_and_by_hand(drawn, found):
    between = float(found.spectrum[:2].mean())
    assert geomancer(drawn.points, dim=4, gamma=between).count == 2
    assert geomancer(drawn.points, dim=4, count=1).dims == (4,)


def test_a_file_brings_it_back(found, tmp_path):
    found.save(tmp_path / "a.npz")
    again = Factorisation.read(tmp_path / "a.npz")
    assert (again.count, again.dims) == (found.count, found.dims)
    np.testing.assert_array_equal(again.axes, found.axes)
    np.save(tmp_path / "b.npy", np.zeros(3))
    with pytest.raises(UsageError, match="does not hold factors"):
        Factorisation.read(tmp_path / "b.npy")


def test_flat_directions_are_told():
    """All tensors of a flat torus are parallel, so that the holonomy tells no direction from another."""
    with pytest.warns(DoubtfulFactors, match="the manifold is flat, as a plane, a swiss roll and a torus are"):
        assert geomancer(sample("T^4", 1500).points, dim=4, spectrum=12).count == 1


def test_a_swiss_roll_is_called_flat():
    rng = np.random.default_rng(0)
    angle, height = 1.5 * np.pi * (1 + 2 * rng.random(1500)), 21 * rng.random(1500)
    points = np.stack([angle * np.cos(angle), height, angle * np.sin(angle)], axis=1)
    with pytest.warns(DoubtfulFactors, match="the manifold is flat, as a plane, a swiss roll and a torus are"):
        assert geomancer(points, dim=2, neighbours=8).count == 1
    with pytest.warns(DoubtfulFactors, match="no clear gap"):
        geomancer(sample("S^2", 600).points, dim=2, neighbours=8)


def test_five_points_are_called_too_few():
    points = np.random.default_rng(0).normal(size=(5, 3))
    with pytest.raises(UsageError, match="5 points are too few to estimate the dimension of their manifold"):
        geomancer(points)
    with pytest.warns(DoubtfulFactors, match="5 points are too few for a manifold of dimension 2"):
        geomancer(points, dim=2)


def test_the_eigenvalues_near_zero_are_as_many_as_parallel_tensors():
    """A flat part of dimension 2 has 3, a sphere 1, and their common trace is left out: 3 + 1 - 1."""
    drawn = sample("T^2 x S^2", 1500)
    with pytest.warns(DoubtfulFactors, match="3 eigenvalues are near zero, too many for curved factors: flat"):
        found = geomancer(drawn.points, dim=4)
    assert found.count == 1
    assert split(found.spectrum) == 3
    with pytest.warns(DoubtfulFactors, match="a factor of dimension 1 is flat"):
        found = geomancer(sample("S^1 x S^2", 600).points, dim=3)
    assert sorted(found.dims) == [1, 2]


def test_one_sphere_is_one_factor():
    with pytest.warns(DoubtfulFactors, match="one factor"):
        assert geomancer(sample("S^3", 600).points, dim=3).count == 1


def test_watching(drawn):
    seen: list[tuple[str, float]] = []
    geomancer(drawn.points, dim=4, on_progress=lambda stage, done, _: seen.append((stage, done)))
    assert list(dict.fromkeys(stage for stage, _ in seen)) == [
        "neighbours", "tangents", "connection", "spectrum", "components",
    ]  # fmt: skip
    assert all(0 <= done <= 1 for _, done in seen)


def test_an_eigenvalue_in_between_is_told():
    """As S^2 x S^4 x SO(3) has at 5,000 points, where two of its three factors are found as one."""
    from unweave.geometry.geomancer import _warn

    values = np.array([0.0047, 0.0208, 0.034, 0.0344, 0.0347, 0.0351])
    with pytest.warns(DoubtfulFactors, match="eigenvalue 2 is neither near zero nor like the rest"):
        _warn(values, 2, (6, 3), np.zeros(9, bool), np.ones(9), 9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _warn(values[[0, 2, 3, 4, 5]], 2, (6, 3), np.zeros(9, bool), np.ones(9), 9)


def test_a_dimension_that_is_not_clear_is_told():
    points = np.random.default_rng(0).normal(size=(80, 30))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        geomancer(points)
    assert str(caught[0].message).startswith("the dimension is not clear: 8 is the largest that was tried")


MISTAKES = [
    ({"points": np.full((50, 4), np.nan)}, "50 of 50 points hold NaN"),
    ({"points": np.zeros((50, 4))}, "distinct points"),
    ({"points": [[1, 2], [3]]}, "rows of equal length"),
    ({"points": np.zeros(9)}, "must be an array"),
    ({"points": np.zeros((0, 4))}, "must be an array"),
    ({"dim": 9}, "between 2 and the 6 coordinates"),
    ({"dim": 1}, "between 2 and the 6 coordinates"),
    ({"neighbours": 3}, "needs 4 neighbours or more, not 3"),
    ({"neighbours": 500}, "500 neighbours need more than 500 distinct points"),
    ({"spectrum": 1}, "2 eigenvalues or more"),
    ({"count": 5}, "1 to 4 factors"),
    ({"gamma": -1.0}, "gamma"),
    ({"graph": [[0, 1, 2]]}, "array \\(e, 2\\)"),
    ({"graph": [[0, 1]]}, "largest connected part of the graph has only 2 points"),
]


@pytest.mark.parametrize(("options", "says"), MISTAKES)
def test_a_mistake_gets_one_clear_line(drawn, options, says):
    arguments: dict[str, Any] = {"points": drawn.points[:100], "dim": 4, **options}
    with pytest.raises(UsageError, match=says) as raised:
        geomancer(**arguments)
    assert "\n" not in str(raised.value)


def awkward(rng: np.random.Generator) -> np.ndarray:
    """Return points with copies, outliers, far groups, flat or constant coordinates, wild scales or NaN."""
    n, width = int(rng.integers(1, 60)), int(rng.integers(2, 8))
    points = rng.normal(size=(n, width)) * 10.0 ** rng.integers(-8, 9)
    if rng.random() < 0.3:
        points[rng.integers(n, size=n // 2)] = points[0]
    if rng.random() < 0.3:
        points[rng.integers(n)] *= 1e6
    if rng.random() < 0.3:
        points[: n // 3] += 1e4 * np.abs(points).max()
    if rng.random() < 0.2:
        points[:, rng.integers(width)] = 0
    if rng.random() < 0.1:
        points[rng.integers(n), 0] = np.nan
    return points


def test_200_awkward_inputs_end_in_a_result_or_one_clear_line():
    rng = np.random.default_rng(0)
    results, lines = 0, []
    for _ in range(200):
        points = awkward(rng)
        dim = None if rng.random() < 0.2 else int(rng.integers(1, 5))
        neighbours = None if rng.random() < 0.5 else int(rng.integers(1, 12))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtfulFactors)
            try:
                found = geomancer(points, dim, neighbours=neighbours)
            except UsageError as error:
                lines.append(str(error))
                continue
        results += 1
        assert len(found.components) == len(points)
        assert all(np.isfinite(each).all() for each in (found.axes, found.spectrum, found.confidence))
    assert 50 < results < 190
    assert not any("\n" in line for line in lines)
