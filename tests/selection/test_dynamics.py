from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import ortho_group

from unweave.errors import UsageError
from unweave.selection import Dynamics, dynamics, dynamics_embedding, dynamics_pairs

from . import dense

MOMENTS, SAMPLES, UNITS = 8, 60, 24
Z = np.random.default_rng(7).uniform(-1, 1, size=(SAMPLES, 4))


def learning(z: np.ndarray, seed: int, units: int = UNITS) -> np.ndarray:
    """Return the trace of a layer whose weights move from one draw to another."""
    start, end = np.random.default_rng(seed).normal(size=(2, z.shape[1], units))
    return np.stack([np.tanh(z @ ((1 - a) * 0.3 * start + a * end)) for a in np.linspace(0, 1, MOMENTS)])


def other_factors(seed: int) -> np.ndarray:
    """Return a trace that knows other samples: nothing is shared but the time."""
    return learning(np.random.default_rng(seed).uniform(-1, 1, size=Z.shape), seed)


def same(count: int = 3) -> list[np.ndarray]:
    return [learning(Z, 0)] * count


def rotated() -> list[np.ndarray]:
    return [learning(Z, 0) @ ortho_group.rvs(UNITS, random_state=seed) for seed in range(3)]


def permuted() -> list[np.ndarray]:
    return [learning(Z, 0)[:, :, np.random.default_rng(seed).permutation(UNITS)] for seed in range(3)]


def jittered(noise: float) -> list[np.ndarray]:
    trace = learning(Z, 0)
    return [trace + noise * np.random.default_rng(seed).normal(size=trace.shape) for seed in range(3)]


def independent() -> list[np.ndarray]:
    return [other_factors(seed) for seed in range(3)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"normalise": "none"},
        {"normalise": "length"},
        {"alpha": 5.0, "neighbours": 2},
        {"alpha": 2.0, "neighbours": 5, "steps": 8},
        {"steps": 1},
        {"steps": 3, "dimension": 2},
        {"scaled": True},
        {"trivial": True},
        {"bandwidth": "moment"},
        {"features": 512},
        {"epsilon": 0.5, "moment_neighbours": 3},
    ],
    ids=str,
)
def test_known_dynamics_are_ordered_rightly(options):
    zero = [dynamics(traces, **options) for traces in (same(), rotated(), permuted())]
    apart = dynamics(independent(), **options)
    assert zero[0] == 0.0
    np.testing.assert_allclose(zero, 0, atol=1e-6)
    assert apart > 20 * max(map(abs, zero))
    assert apart > 1e-4


def test_less_alike_is_a_larger_score():
    scores = [dynamics(traces) for traces in (same(), jittered(0.01), jittered(0.05), independent())]
    assert scores == sorted(scores)
    assert scores[1] > 1e-8


def test_noise_without_any_structure_is_not_alike():
    noise = np.random.default_rng(0).normal(size=(3, 6, 40, 10))
    assert dynamics(noise) > 1e-3
    assert dynamics([noise[0], noise[0] @ ortho_group.rvs(10, random_state=0)]) < 1e-6


def test_one_that_differs_stands_out_among_pairs():
    pairs = dynamics_pairs([*same(3), other_factors(5)])
    assert pairs.shape == (4, 4)
    np.testing.assert_array_equal(pairs, pairs.T)
    assert np.isnan(np.diagonal(pairs)).all()
    assert pairs[:3, :3][np.tril_indices(3, -1)].tolist() == [0.0, 0.0, 0.0]
    assert (pairs[3, :3] > 1e-3).all()
    assert dynamics([*same(3), other_factors(5)]) == pytest.approx(np.nanmean(pairs))


def test_the_whole_is_that_of_dense_matrices():
    traces = [trace[:4, :8] for trace in independent()[:2]] + [learning(Z[:8], 1)[:4]]
    settings = {"alpha": 2.0, "neighbours": 3, "moment_neighbours": 2}
    points = dense.embedding(traces, steps=2, dimension=3, **settings)
    bandwidth = dense.median_distance(points.reshape(-1, 3))
    found = dynamics_pairs(traces, normalise="none", steps=2, dimension=3, **settings)
    for r in range(3):
        for s in range(r):
            assert found[r, s] == pytest.approx(dense.mmd2(points[r], points[s], bandwidth), abs=2e-4)


def test_units_may_differ_between_architectures():
    wide = np.concatenate([learning(Z, 0)] * 4, axis=2)  # the same distances, twice as long
    assert abs(dynamics([learning(Z, 0), wide])) < 1e-6
    assert dynamics([learning(Z, 0), learning(Z, 1, units=7)]) > 1e-4


def test_neither_the_unit_of_activations_nor_an_offset_counts():
    choices: list[dict[str, Any]] = [{}, {"normalise": "none"}]
    for options in choices:
        moved = [trace * 1000.0 for trace in independent()]
        assert dynamics(moved, **options) == pytest.approx(dynamics(independent(), **options), rel=2e-3)
        offset = [trace + 3.0 for trace in independent()]
        assert dynamics(offset, **options) == pytest.approx(dynamics(independent(), **options), rel=2e-2)


def test_growth_and_drift_of_a_layer_count_without_normalisation_alone():
    grown = learning(Z, 0) * np.linspace(1, 5, MOMENTS)[:, None, None] + np.arange(MOMENTS)[:, None, None]
    traces = [learning(Z, 0), grown]
    assert abs(dynamics(traces, normalise="moment")) < 1e-6
    assert dynamics(traces, normalise="none") > 1e-4


def test_samples_correspond_and_their_order_does_not_matter():
    order = np.random.default_rng(0).permutation(SAMPLES)
    together = [trace[:, order] for trace in independent()]
    assert dynamics(together) == pytest.approx(dynamics(independent()), rel=0.02)
    assert dynamics([learning(Z, 0), learning(Z, 0)[:, order]]) > 1e-4


def test_the_seed_matters_little_and_gives_the_same_bits():
    scores = [dynamics(independent(), seed=seed) for seed in range(4)]
    assert dynamics(independent(), seed=1) == scores[1]
    assert np.std(scores) < 0.05 * np.mean(scores)
    assert dynamics(independent(), threads=1) == dynamics(independent(), threads=3)


def test_arrays_of_any_precision():
    traces = np.stack(independent())
    assert dynamics(traces.astype(np.float16)) == pytest.approx(dynamics(traces), rel=0.05)
    assert dynamics(list(traces.astype(np.float32))) == pytest.approx(dynamics(traces), rel=1e-3)
    assert isinstance(dynamics(traces), float)


def test_dead_decoders_are_alike():
    assert dynamics(np.zeros((2, 4, 9, 3))) == 0.0
    mixed = [np.zeros((MOMENTS, SAMPLES, 3)), learning(Z, 0)]
    assert np.isfinite(dynamics(mixed))


def test_the_embedding_has_a_point_for_each_moment_and_sample():
    points = dynamics_embedding(independent(), dimension=2)
    assert points.shape == (3, MOMENTS, SAMPLES, 2)
    flat = points.reshape(-1, 2)
    np.testing.assert_allclose(flat.T @ flat, np.eye(2), atol=1e-3)
    values = np.linalg.norm(dynamics_embedding(independent(), dimension=2, scaled=True).reshape(-1, 2), axis=0)
    assert values[0] > values[1] > 0


def test_progress_is_told():
    told = []
    dynamics(same(), on_progress=lambda *report: told.append(report))
    assert told[0] == ("kernels", 1, 3)
    assert told[2] == ("kernels", 3, 3)
    assert told[-1][0] == "discrepancies"


def broken() -> np.ndarray:
    traces = np.zeros((2, 3, 5, 4))
    traces[1, 2, 3, 1] = np.nan
    return traces


@pytest.mark.parametrize(
    ("traces", "words"),
    [
        (broken(), r"realisation 2 holds NaN or an infinity \(the first at moment 3, sample 4, unit 2\)"),
        (np.zeros((1, 3, 5, 4)), "at least two realisations"),
        (np.zeros((2, 1, 5, 4)), "at least two moments"),
        (np.zeros((2, 3, 2, 4)), "at least three samples"),
        (np.zeros((3, 5, 4)), "must have shape"),
        ([np.zeros((3, 5, 4)), np.zeros((3, 6, 4))], "realisation 1 has 3 moments of 5 samples, realisation 2 has"),
        ([np.zeros((3, 5)), np.zeros((3, 5))], "realisation 1 must be numbers"),
        ([[["a"]], [["b"]]], "realisation 1 must be numbers"),
        ([], "at least two realisations"),
        (3.0, "must be an array"),
    ],
)
def test_mistakes_are_told_in_one_line(traces, words):
    with pytest.raises(UsageError, match=words) as error:
        dynamics(traces)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alhpa": 2}, "did you mean 'alpha'"),
        ({"alpha": 0}, "alpha must be a number above 0"),
        ({"steps": 0}, "steps must be a whole number from 1 up"),
        ({"dimension": 2.5}, "dimension must be a whole number"),
        ({"normalise": "z"}, "no choice of normalise is called 'z'"),
        ({"bandwidth": "global"}, "no choice of bandwidth"),
        ({"mmd_bandwidth": -1.0}, "mmd_bandwidth must be"),
        ({"features": -1}, "features must be"),
        ({"moment_neighbours": 0}, "moment_neighbours must be"),
        ({"threads": 0}, "threads must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_options_are_checked(options, words):
    with pytest.raises(UsageError, match=words):
        dynamics(same(), **options)


def test_options_are_a_frozen_dataclass():
    with pytest.raises(AttributeError):
        Dynamics().alpha = 3.0  # type: ignore[misc]
