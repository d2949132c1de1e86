"""The kernels against plain linear algebra: tangent spaces, connection, Laplacian, spectrum, joint diagonalisation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from unweave.geometry import sample
from unweave.geometry.connection import connection
from unweave.geometry.diagonalise import diagonalise
from unweave.geometry.laplacian import Laplacian, coordinates_of, matrix_of, traceless_basis
from unweave.geometry.neighbours import nearest, symmetric
from unweave.geometry.simd import LANES
from unweave.geometry.spectrum import ACCURACY, bottom
from unweave.geometry.tangents import tangent_spaces


def small(k: int, n: int = 40):
    """Return a graph and random rotations along it."""
    rng = np.random.default_rng(k)
    graph = symmetric(nearest(rng.normal(size=(n, 3)), 4))
    frames = np.linalg.qr(rng.normal(size=(n, k + 1, k)))[0]
    return graph, connection(frames, graph)


def projected(graph, carried) -> np.ndarray:
    """Return the Laplacian on symmetric traceless matrices: blocks of δ_ij - Q ⊗ Q / sqrt(n_i n_j), projected."""
    n, k = len(graph.degrees), carried.shape[1]
    onto = traceless_basis(k).reshape(-1, k * k)
    matrix = np.zeros((n, len(onto), n, len(onto)))
    for entry, (i, j) in enumerate(zip(graph.sources, graph.targets, strict=True)):
        q = carried[entry].astype(float)
        matrix[i, :, j] = -onto @ np.kron(q, q) @ onto.T / np.sqrt(graph.degrees[i] * graph.degrees[j])
    for i in range(n):
        matrix[i, :, i] = np.eye(len(onto))
    return matrix.reshape(n * len(onto), n * len(onto))


@pytest.mark.parametrize("k", [2, 3, 4, 5, 7])
def test_the_basis_is_orthonormal_symmetric_and_traceless(k):
    basis = traceless_basis(k)
    assert len(basis) == k * (k + 1) // 2 - 1
    np.testing.assert_allclose(np.einsum("aij,bij->ab", basis, basis), np.eye(len(basis)), atol=1e-12)
    np.testing.assert_array_equal(basis, basis.transpose(0, 2, 1))
    np.testing.assert_allclose(np.trace(basis, axis1=1, axis2=2), 0, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 7])
def test_a_matrix_has_the_coordinates_that_it_was_made_of(k):
    x = np.random.default_rng(k).normal(size=k * (k + 1) // 2 - 1)
    matrix = np.array(matrix_of(list(x), k, 3.0))
    np.testing.assert_allclose(matrix, 3 * np.einsum("d,dij->ij", x, traceless_basis(k)), atol=1e-12)
    lower = [[matrix[a, b] + 5.0 * (a == b) for b in range(a + 1)] for a in range(k)]  # a trace makes no difference
    np.testing.assert_allclose(coordinates_of(lower), 3 * x, atol=1e-12)


@pytest.mark.parametrize(
    ("k", "lanes"), [(2, LANES), (3, LANES), (4, LANES), (4, 3 * LANES), (5, LANES), (7, 2 * LANES)]
)
def test_a_product_is_that_of_the_matrix(k, lanes):
    graph, carried = small(k)
    laplacian = Laplacian(graph, carried)
    x, before = np.random.default_rng(0).normal(size=(2, 40, laplacian.width, lanes)).astype(np.float32)
    flat, past = (each.reshape(-1, lanes).astype(float) for each in (x, before))
    expected = projected(graph, carried) @ flat
    np.testing.assert_allclose(laplacian.apply(x).reshape(-1, lanes), expected, atol=1e-5)
    shifted = laplacian.apply(x, 0.5, -2.0, before, 3.0)
    np.testing.assert_allclose(shifted.reshape(-1, lanes), 0.5 * expected - 2 * flat - 3 * past, atol=1e-5)
    np.testing.assert_array_equal(before.reshape(-1, lanes), past)
    assert laplacian.apply(x, 0.5, -2.0, before, 3.0, replace=True) is before
    np.testing.assert_array_equal(before, shifted)


def test_a_product_reads_arrays_in_any_order():
    graph, carried = small(4)
    x = np.random.default_rng(0).normal(size=(40, 9, LANES)).astype(np.float32)
    expected = Laplacian(graph, carried).apply(x)
    other = Laplacian(graph, np.asfortranarray(carried)).apply(np.asfortranarray(x))
    np.testing.assert_array_equal(other, expected)


@pytest.mark.parametrize("shape", [(40, 9, LANES + 1), (39, 9, LANES), (40, 8, LANES)])
def test_vectors_that_a_product_would_read_beyond_are_refused(shape):
    with pytest.raises(ValueError, match="vectors must be"):
        Laplacian(*small(4)).apply(np.zeros(shape, np.float32))


def test_it_is_exactly_symmetric_and_its_eigenvalues_lie_between_0_and_2():
    graph, carried = small(4)
    matrix = projected(graph, carried)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-15)
    values = np.linalg.eigvalsh(matrix)
    assert values.min() > -1e-6
    assert values.max() < 2 + 1e-6


@pytest.mark.parametrize(("k", "n"), [(4, 20), (4, 80), (3, 120)])  # by building it, and by filtering
def test_the_bottom_of_the_spectrum(k, n):
    drawn = sample("S^2 x S^2" if k == 4 else "S^2 x S^1", n)
    near = nearest(drawn.points, min(4 * k, n - 1))
    graph = symmetric(near[:, : 2 * k])
    laplacian = Laplacian(graph, connection(tangent_spaces(drawn.points, near, k).frames, graph))
    values, vectors = np.linalg.eigh(projected(graph, laplacian.connection))
    found = bottom(laplacian, 6)
    assert found.values[0] == pytest.approx(values[0], abs=1e-3)
    np.testing.assert_allclose(found.values, values[:6], rtol=0.1)
    assert (found.values >= values[:6] - 1e-5).all()
    below = int(np.argmax(np.diff(found.values))) + 1
    exact = vectors[:, :below]
    angle = subspace_angles(found.vectors[:, :, :below].reshape(-1, below).astype(float), exact).max()
    assert angle < 3 * ACCURACY


def test_carrying_is_the_polar_factor_even_between_frames_at_right_angles():
    rng = np.random.default_rng(0)
    frames = np.linalg.qr(rng.normal(size=(30, 6, 3)))[0]
    frames[0], frames[1] = np.eye(6)[:, :3], np.eye(6)[:, 3:]
    graph = symmetric(np.array([[(i + 1) % 30, (i + 7) % 30] for i in range(30)]))
    carried = connection(frames, graph)
    for entry, (i, j) in enumerate(zip(graph.sources, graph.targets, strict=True)):
        np.testing.assert_allclose(carried[entry] @ carried[entry].T, np.eye(3), atol=1e-5)
        left, sizes, right = np.linalg.svd(frames[i].T @ frames[j])
        if sizes[-1] > 1e-6:
            np.testing.assert_allclose(carried[entry], left @ right, atol=1e-5)
    back = {(int(i), int(j)): q for i, j, q in zip(graph.sources, graph.targets, carried, strict=True)}
    for (i, j), q in back.items():
        np.testing.assert_array_equal(q, back[j, i].T)


def off(matrices: np.ndarray) -> float:
    return float((matrices**2).sum() - (np.diagonal(matrices, axis1=1, axis2=2) ** 2).sum())


def test_matrices_with_common_axes_become_diagonal():
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(20, 5, 5)))[0]
    values = rng.normal(size=(20, 3, 5))
    matrices = np.einsum("nij,nmj,nkj->nmik", axes, values, axes)
    turns, diagonals = diagonalise(matrices)
    np.testing.assert_allclose(turns.transpose(0, 2, 1) @ turns, np.tile(np.eye(5), (20, 1, 1)), atol=1e-10)
    back = np.einsum("nij,njm,nkj->nmik", turns, diagonals, turns)
    np.testing.assert_allclose(back, matrices, atol=1e-7)
    np.testing.assert_allclose(np.sort(diagonals[:, :, 0]), np.sort(values[:, 0]), atol=1e-8)


def test_others_become_as_diagonal_as_they_can():
    rng = np.random.default_rng(1)
    matrices = rng.normal(size=(1, 3, 4, 4))
    matrices = matrices + matrices.transpose(0, 1, 3, 2)
    turn = diagonalise(matrices)[0][0]
    least = off(turn.T @ matrices[0] @ turn)
    for _ in range(300):  # no small turn, and no random one, does better
        near = np.linalg.qr(turn + 0.05 * rng.normal(size=(4, 4)))[0]
        assert off(near.T @ matrices[0] @ near) >= least - 1e-9
        far = np.linalg.qr(rng.normal(size=(4, 4)))[0]
        assert off(far.T @ matrices[0] @ far) > 0.9 * least
