"""What must hold of every metric: a new one in the table joins these tests by itself."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.metrics import METRICS

FELT_SCALE = {"sap"}  # a penalised classifier: the scale of a code matters to it

every_metric = pytest.mark.parametrize("name", METRICS)


def inputs_of(codes, factors):
    """The first 400 rows to score or fit on, the others to judge on."""
    return {"codes": codes[:400], "factors": factors[:400], "test": (codes[400:], factors[400:]), "seed": 0}


def score(name, codes, factors):
    metric, inputs = METRICS[name], inputs_of(codes, factors)
    return metric.function(**{need: inputs[need] for need in metric.needs}, **metric.options)


@pytest.fixture
def sample(worlds):
    """Codes without ties, so that no value lies on an edge of a bin, where a sign would matter."""
    return worlds["noisy"](600, np.random.default_rng(0))


@every_metric
def test_a_python_float_in_range(name, worlds):
    low, high = METRICS[name].range
    for world in worlds.values():
        value = score(name, *world(600, np.random.default_rng(1)))
        assert type(value) is float
        assert low <= value <= high


@every_metric
def test_perfect_beats_useless_and_duplicated(name, worlds):
    scores = {world: score(name, *worlds[world](600, np.random.default_rng(1))) for world in worlds}
    assert scores["perfect"] > scores["useless"] + 0.05
    assert scores["perfect"] > scores["duplicated"] + 0.05


@every_metric
def test_the_order_of_codes_and_of_factors_does_not_matter(name, sample):
    codes, factors = sample
    assert score(name, codes[:, ::-1], factors[:, [1, 2, 0]]) == pytest.approx(score(name, codes, factors), abs=1e-12)


@every_metric
def test_the_sign_of_a_code_does_not_matter(name, sample):
    codes, factors = sample
    signs = np.array([-1, 1, -1, 1, -1, -1])
    assert score(name, codes * signs, factors) == pytest.approx(score(name, codes, factors), abs=1e-12)


@every_metric
def test_the_scale_of_a_code_does_not_matter(name, sample):
    codes, factors = sample
    scales = np.array([0.01, 3.7, 1.0, 20.0, 0.5, 100.0])
    same = score(name, codes * scales, factors) == pytest.approx(score(name, codes, factors), abs=1e-12)
    assert same != (name in FELT_SCALE)


@every_metric
def test_the_order_of_rows_does_not_matter(name, sample):
    codes, factors = sample
    order = np.concatenate([np.random.default_rng(2).permutation(400), 400 + np.random.default_rng(3).permutation(200)])
    assert score(name, codes[order], factors[order]) == pytest.approx(score(name, codes, factors), abs=1e-12)


@every_metric
def test_types_and_lists_give_the_same_score(name, sample):
    codes, factors = sample[0].astype(np.float32), sample[1]
    expected = score(name, codes.astype(np.float64), factors)
    assert score(name, codes, factors.astype(np.uint8)) == expected
    assert score(name, codes.tolist(), factors.astype(float).tolist()) == expected


@every_metric
def test_the_inputs_are_left_as_they_were(name, sample):
    before = [array.copy() for array in sample]
    score(name, *sample)
    np.testing.assert_array_equal(sample[0], before[0])
    np.testing.assert_array_equal(sample[1], before[1])


@every_metric
def test_constant_codes_tell_nothing_apart(name, sample):
    assert score(name, np.ones((600, 4)), sample[1]) == 0.0


@every_metric
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_codes_that_are_not_numbers_are_refused(name, bad, sample):
    sample[0][7, 1] = bad
    with pytest.raises(UsageError, match="NaN"):
        score(name, *sample)


@every_metric
def test_wrong_shapes_are_refused(name, sample):
    codes, factors = sample
    with pytest.raises(UsageError, match="rows"):
        score(name, codes[:399], factors[:398])
    with pytest.raises(UsageError, match="two dimensions"):
        score(name, codes[:, 0], factors)
    with pytest.raises(UsageError, match="at least two samples"):
        score(name, codes[:1], factors[:1])


@every_metric
def test_the_table_names_every_option(name):
    metric = METRICS[name]
    parameters = set(inspect.signature(metric.function).parameters)
    assert set(metric.needs) | set(metric.options) <= parameters
    assert parameters - {"test", "seed"} <= set(metric.needs) | set(metric.options)


@every_metric
def test_the_score_to_resample_is_the_functions(name, sample):
    sampled = METRICS[name].sampled(inputs_of(*sample))
    assert sampled.score == score(name, *sample)
    everything = np.ones((1, sampled.units), dtype=bool)
    np.testing.assert_allclose(sampled.rescore(everything), [sampled.score], atol=1e-12)
