from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unweave.selection.diffusion import Diffusion
from unweave.selection.dynamics import Dynamics
from unweave.selection.embedding import left_singular_vectors, threads
from unweave.selection.multislice import multislice, normalised, squared_distances

from . import dense


def trace(seed: int = 0, moments: int = 5, samples: int = 9, units: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(moments, samples, units)).cumsum(axis=0)


def options(alpha: float = 2.0, neighbours: int = 3, moment_neighbours: int = 2, **more) -> Dynamics:
    return Dynamics(alpha=alpha, neighbours=neighbours, moment_neighbours=moment_neighbours, normalise="none", **more)


def as_dense(operator, size: int) -> np.ndarray:
    return operator(np.eye(size, dtype=np.float32))


@pytest.mark.parametrize("alpha", [1.0, 2.0, 2.5, 4.0, 5.0, 20.0])
@pytest.mark.parametrize(("neighbours", "moment_neighbours"), [(1, 1), (3, 2), (8, 4)])
def test_the_blocks_are_the_dense_kernel(alpha, neighbours, moment_neighbours):
    expected = dense.kernel(trace(), alpha=alpha, neighbours=neighbours, moment_neighbours=moment_neighbours)
    kernel = multislice(trace(), options(alpha, neighbours, moment_neighbours))
    blocks = kernel.apply(np.eye(45, dtype=np.float32).reshape(5, 9, 45)).reshape(45, 45)
    np.testing.assert_allclose(blocks, expected, atol=3e-5)
    np.testing.assert_allclose(kernel.degrees.ravel(), expected.sum(axis=1), rtol=1e-5)
    elsewhere = expected.reshape(5, 9, 5, 9)[0, 0, 1:, 1:]
    assert (elsewhere == 0).all()
    assert (blocks.reshape(5, 9, 5, 9)[0, 0, 1:, 1:] == 0).all()


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_diffusion_is_a_power_of_the_dense_walk(steps):
    expected = dense.diffusion(dense.kernel(trace(), alpha=2.0, neighbours=3, moment_neighbours=2), steps)
    walk = Diffusion.of(multislice(trace(), options()), steps)
    np.testing.assert_allclose(as_dense(walk.apply, 45), expected, atol=1e-5)
    np.testing.assert_allclose(as_dense(walk.apply_transposed, 45), expected.T, atol=1e-5)
    np.testing.assert_allclose(walk.apply(np.ones((45, 1))), 1, rtol=1e-5)


@pytest.mark.parametrize(("steps", "dimension"), [(1, 3), (3, 5), (6, 4)])
def test_left_singular_vectors_are_those_of_the_stacked_matrix(steps, dimension):
    traces = [trace(seed) for seed in range(3)]
    walks = [Diffusion.of(multislice(each, options()), steps) for each in traces]
    stacked = np.concatenate(
        [dense.diffusion(dense.kernel(each, alpha=2.0, neighbours=3, moment_neighbours=2), steps) for each in traces]
    )
    left, values, _ = np.linalg.svd(stacked, full_matrices=False)
    found, found_values = left_singular_vectors(walks, dimension, np.random.default_rng(0))
    np.testing.assert_allclose(found_values, values[:dimension], rtol=1e-4)
    flat = found.reshape(-1, dimension)
    aligned = np.abs(np.sum(flat * left[:, :dimension], axis=0))  # equal up to sign
    np.testing.assert_allclose(aligned, 1, atol=2e-3)
    np.testing.assert_allclose(flat.T @ flat, np.eye(dimension), atol=1e-4)


def test_vectors_beyond_the_rank_are_zero():
    walks = [Diffusion.of(multislice(np.ones((2, 3, 4)), options(moment_neighbours=1)), 3)] * 2
    vectors, values = left_singular_vectors(walks, 8, np.random.default_rng(0))
    assert vectors.shape == (2, 6, 8)
    assert np.isfinite(vectors).all()
    assert (vectors[..., 6:] == 0).all()
    assert (values[6:] == 0).all()


def test_threads_change_nothing():
    walks = [Diffusion.of(multislice(trace(seed, 6, 30), options()), 4) for seed in range(4)]
    alone = left_singular_vectors(walks, 4, np.random.default_rng(0))[0]
    with threads(3) as mapping:
        together = left_singular_vectors(walks, 4, np.random.default_rng(0), mapping)[0]
    np.testing.assert_array_equal(alone, together)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 99), st.integers(2, 5), st.integers(3, 8), st.integers(1, 5))
def test_a_kernel_is_symmetric_with_entries_up_to_one(seed, moments, samples, units):
    kernel = multislice(trace(seed, moments, samples, units), Dynamics())
    for blocks in (kernel.within, kernel.across):
        np.testing.assert_allclose(blocks, blocks.transpose(0, 2, 1), rtol=1e-5)
        assert (blocks >= 0).all()
        assert (blocks <= 1).all()
    assert (np.diagonal(kernel.within, axis1=1, axis2=2) == 1).all()
    assert (np.diagonal(kernel.across, axis1=1, axis2=2) == 0).all()


def test_distances_are_exact_far_from_the_origin():
    points = np.random.default_rng(0).normal(size=(1, 6, 3)).astype(np.float32)
    near = squared_distances(points)
    np.testing.assert_allclose(squared_distances(points + np.float32(1000)), near, rtol=2e-3, atol=1e-4)


def test_a_decoder_that_ignores_its_input_has_a_uniform_kernel():
    kernel = multislice(np.full((3, 7, 4), 0.1), Dynamics())
    assert (kernel.within == 1).all()
    assert np.isfinite(kernel.across).all()
    silent = multislice(np.zeros((3, 7, 4)), Dynamics())
    assert (silent.within == 1).all()


def test_rounding_is_no_structure():
    rounding = 1 + 1e-7 * np.random.default_rng(0).normal(size=(3, 7, 4))
    kernel = multislice(rounding.astype(np.float32), options())
    assert kernel.within.min() > 0.9


def test_one_bandwidth_for_a_moment_is_symmetric_before_symmetrising():
    kernel = multislice(trace(), options(bandwidth="moment"))
    squares = squared_distances(trace()[:1].astype(np.float32))[0]
    logs = -np.log(kernel.within[0])
    off = ~np.eye(9, dtype=bool)
    ratio = logs[off] / squares[off]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-3)


@pytest.mark.parametrize("how", ["none", "moment", "length", "units"])
def test_normalisations(how):
    given_trace = trace() * 3 + 1
    found = normalised(given_trace, how)
    assert found.dtype == np.float32
    if how == "none":
        np.testing.assert_allclose(found, given_trace, rtol=1e-6)
    if how == "moment":
        np.testing.assert_allclose(found.mean(axis=1), 0, atol=1e-6)
        np.testing.assert_allclose((found**2).sum(axis=2).mean(axis=1), 1, rtol=1e-5)
    if how == "length":
        np.testing.assert_allclose((found**2).sum(axis=2), 1, rtol=1e-5)
    if how == "units":
        np.testing.assert_allclose(found.mean(axis=2), 0, atol=1e-6)
        np.testing.assert_allclose(found.std(axis=2), 1, rtol=1e-4)
