"""What must hold of every metric: a new one in the table joins these tests by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.metrics import METRICS, Codebook
from unweave.metrics.resampling import interval

from .conftest import SIZES

every_metric = pytest.mark.parametrize("name", [name for name in METRICS if name != "perceived-correlation"])
"""The perceived correlation looks at images: tests/metrics/test_distance_correlation.py has it."""
of_codes = pytest.mark.parametrize("name", [name for name in METRICS if "codes" in METRICS[name].needs])
of_factors = pytest.mark.parametrize("name", [name for name in METRICS if "factors" in METRICS[name].needs])

ROWS = 400
FELT_SCALE = {
    *("sap", "wasserstein", "wasserstein-sampled", "active-units", "elbo"),  # variances, and a penalised classifier
    *("irs", "distance-correlation", "factor-distance-correlation"),  # distances over all codes together
    *("linearity", "axis-alignment", "axis-orientation"),
    *("info-mec", "downstream-logistic"),
}
"""Metrics to which the scale of a single code matters; to the penalty of the β-VAE score it may or may not."""
FELT_ORDER_OF_CODES = {"dci-random-forest", "dci-es"}
"""A forest draws the codes it may split by, and random features their weights, by position."""
LOOSE = {"dci-lasso": 1e-3, "dci-logistic": 1e-3, "downstream-logistic": 0.01}
"""Solvers stop a little before the end, and trees meet ties."""
DRAWN = {"distance-correlation", "dci-random-forest", "downstream-logistic", "downstream-gbt", "dci-lasso"}
"""Rows, or folds of them, are drawn by position: another order of rows is another draw."""
FELT_DEAD_CODE = {
    **dict.fromkeys(("dci", "dci-lasso", "dci-logistic"), (1,)),  # completeness counts the codes
    **dict.fromkeys(("dci-es", "elbo", "dci-random-forest"), (0, 1, 2)),  # so do draws, and a mean that is not 0 costs
    **dict.fromkeys(("modularity", "linearity", "axis-alignment", "axis-orientation"), (0,)),  # means, and shares of d
    **dict.fromkeys(("pairwise-mi", "pairwise-mi-sampled"), (0,)),
}
"""Metrics, and which of their parts, to which it matters that there is one more code, of one value."""
REORDERED = {"downstream-logistic", "downstream-gbt"}
"""Small sizes are learnt from other rows in each subset; sizes beyond the rows are NaN."""


@dataclass(frozen=True)
class Known:
    """The scores of perfect, useless, duplicated and constant codes; None where nothing is known beforehand."""

    perfect: object
    useless: object
    duplicated: object
    constant: object = 0.0


KNOWN = {
    "mig": Known(1, 0, 0),
    "mig-sup": Known(1, 0, 1),
    "jemmig": Known(1, 0, 0.61, 0.61),  # a duplicate costs what it shares; a constant code no entropy of its own
    "dcimig": Known(1, 0, 1),
    "modularity": Known(1, None, 1),  # of noise, a ratio of nothing to nothing
    "med": Known(1, 0, 1),
    "minimality": Known(1, 0, 1),
    "sufficiency": Known(1, 0, 1),
    "info-mec": Known((1, 1, 1), (None, 0, None), (1, 1, 0.4), (0, 0, 0)),
    "im": Known(30.0, 0, 30.0),
    "mcc": Known(1, 0, 1),
    "mcc-rank": Known(1, 0, 1),
    "mcc-rdc": Known(1, 0.09, 1),  # the best of many functions, of noise too
    "irs": Known(1, 0, 1),
    "distance-correlation": Known(0.9, 0, 0.9),
    "sap": Known(None, 0, 0),
    "sap-correlation": Known(1, 0, 0),
    "dci": Known((1, 1, 1), (0, 0, None), (None, None, 1), (0, 0, None)),
    "dci-random-forest": Known((None, None, 1), (0, 0, None), (None, None, 1), (0, 0, None)),
    "dci-lasso": Known((1, 1, 1), (None, None, 0), (None, None, 1), (0, 0, 0)),
    "dci-logistic": Known((None, None, None), (None, None, None), (None, None, None), (0, 0, None)),
    "dci-matched": Known((1, 1, 1), (None, None, None), (1, 1, 1), (0, 0, None)),
    "dci-es": Known((None, 1), (None, 1), (None, 0.5), (None, 0.75)),
    "explicitness": Known(None, 0.5, None, 0.5),
    "k-sparse-probing": Known(0.9, 0.17, 0.9, 0.17),  # a line for each value; chance is the most frequent value
    "r2": Known(1, 0, 1),
    "downstream-logistic": Known(None, None, None, None),
    "downstream-gbt": Known((None, None, 1, None, None), None, (None, None, 1, None, None), None),
    "beta-vae-score": Known(1, 0.4, 1, 0.34),  # chance is a third; on a small grid noise belongs to its cell
    "factor-vae-score": Known(1, 0.36, 1),
    "z-max-variance": Known(1, 0.39, 1),
    "factor-distance-correlation": Known(1, 0.38, 1),
    "linearity": Known(1, 0.4, 1),
    "axis-alignment": Known(1, 0.16, 0.4),
    "axis-orientation": Known(1, 0.4, 0.4),
    "unfairness": Known((0, 0), None, (0, 0), (0, 0)),
    "total-correlation": Known(0, 0, 40.4),
    "total-correlation-sampled": Known(0, 0, None, 0),
    "wasserstein": Known((0, 0), (0, 0), (None, 0.59), (0, 0)),
    "wasserstein-sampled": Known((0, 0), (0, 0), (None, 0.59), (0, 0)),
    "pairwise-mi": Known(0.05, None, None),
    "pairwise-mi-sampled": Known(None, None, None, None),
    "active-units": Known(3, 3, 6),
    "elbo": Known(None, None, None, None),
    "jacobian-orthogonality": Known(1, 1, 0.8, None),
    "ima-contrast": Known(0, 0, None, None),
}


def with_grid(codes: np.ndarray) -> dict[str, Codebook]:
    """The codes of the grid, under both names by which metrics ask for them."""
    return dict.fromkeys(("encode", "source"), Codebook.of_grid(codes, SIZES.tolist()))


def inputs_of(codes, factors, grid, rows=ROWS) -> dict[str, Any]:
    """All that a metric may ask for: the first rows to score or fit on, the others to test on."""
    kept = codes[:rows]
    noise = np.random.default_rng(9).normal(size=kept.shape)
    return {
        "codes": kept,
        "means": kept,
        "factors": factors[:rows],
        "test": (codes[rows:], factors[rows:]),
        "seed": 0,
        **with_grid(grid),
        "log_variances": np.full(kept.shape, -9.0),
        "sampled": kept + np.exp(-4.5) * noise * (kept.std(axis=0) > 0),
        "reconstruction": np.arange(100.0, 100.0 + rows),
        "jacobians": decoder_of(kept.shape[1]),
    }


def drawn(world, rows, seed) -> tuple[np.ndarray, np.ndarray]:
    return world(rows, np.random.default_rng(seed))


def decoder_of(codes, copies=20):
    """Jacobians of a decoder that moves other pixels for every third code: orthogonal up to three codes."""
    pixels = np.zeros((30, codes))
    pixels[np.arange(codes) % 3, np.arange(codes)] = 1.0
    return np.tile(pixels, (copies, 1, 1))


def score(name, inputs, **changes):
    metric = METRICS[name]
    return metric.sampled(inputs, metric.chosen_options("fast", changes)).score


def changed(inputs, order: slice = slice(None), factor: np.ndarray | float = 1.0):
    """The same inputs with the codes in another order, multiplied by a number each."""
    size = np.log(np.abs(factor))
    test_codes, test_factors = inputs["test"]
    grid = inputs["encode"].codes(np.arange(SIZES.prod()))
    return inputs | {
        **{name: (inputs[name] * factor)[:, order] for name in ("codes", "means", "sampled")},
        "test": ((test_codes * factor)[:, order], test_factors),
        **with_grid((grid * factor)[:, order]),
        "log_variances": (inputs["log_variances"] + 2 * size)[:, order],
        "jacobians": (inputs["jacobians"] / factor)[..., order],
    }


@pytest.fixture
def inputs(worlds, grids):
    """Codes without ties, so that no value lies on an edge of a bin, where a sign would matter."""
    return inputs_of(*drawn(worlds["noisy"], 600, 0), grids["noisy"])


def same(a, b, tolerance=1e-9):
    return np.atleast_1d(a) == pytest.approx(np.atleast_1d(b), abs=tolerance, nan_ok=True)


@every_metric
@pytest.mark.parametrize("world", ["perfect", "useless", "duplicated", "noisy"])
def test_python_floats_in_range(name, world, worlds, grids):
    metric = METRICS[name]
    value = score(name, inputs_of(*drawn(worlds[world], 600, 1), grids[world]))
    parts = value if isinstance(value, tuple) else (value,)
    assert len(parts) == max(len(metric.parts), 1)
    for part in parts:
        assert type(part) is float
        assert metric.range[0] <= part <= metric.range[1] or (np.isnan(part) and name in REORDERED)


@every_metric
@pytest.mark.parametrize("world", ["perfect", "useless", "duplicated", "constant"])
def test_known_worlds_have_known_scores(name, world, worlds, grids):
    expected = np.atleast_1d(np.array(getattr(KNOWN[name], world), dtype=object))
    if (expected == None).all():  # noqa: E711
        return
    if world == "constant":
        _, factors = worlds["perfect"](2400, np.random.default_rng(1))
        inputs = inputs_of(np.ones((2400, 4)), factors, np.ones((SIZES.prod(), 4)), rows=1600)
    else:
        inputs = inputs_of(*drawn(worlds[world], 2400, 1), grids[world], rows=1600)
    for value, known in zip(np.atleast_1d(score(name, inputs)), expected, strict=True):
        if known is not None:
            exact = world == "constant" and known == 0.0 and name != "r2"
            assert value == pytest.approx(known, abs=1e-12 if exact else 0.07 * max(1.0, abs(known)))


@every_metric
def test_the_order_of_codes_does_not_matter(name, inputs):
    moved = score(name, changed(inputs, order=slice(None, None, -1)))
    assert same(moved, score(name, inputs), LOOSE.get(name, 1e-9)) != (name in FELT_ORDER_OF_CODES)


@of_factors
def test_the_order_of_factors_does_not_matter(name, inputs):
    if name in DRAWN:
        return
    order, (test_codes, test_factors) = [1, 2, 0], inputs["test"]
    moved = inputs | {"factors": inputs["factors"][:, order], "test": (test_codes, test_factors[:, order])}
    assert same(score(name, moved), score(name, inputs))


@every_metric
def test_the_sign_of_a_code_does_not_matter(name, inputs):
    tolerance = 0.1 if name in {"dci-random-forest", "dci-es", "dci", "downstream-gbt"} else LOOSE.get(name, 1e-6)
    moved = changed(inputs, factor=np.array([-1, 1, -1, 1, -1, -1]))
    assert same(score(name, moved), score(name, inputs), tolerance)


@every_metric
def test_the_scale_of_a_code_does_not_matter(name, inputs):
    moved = changed(inputs, factor=np.array([0.1, 3.7, 1.0, 20.0, 0.5, 50.0]))
    if name != "beta-vae-score":
        assert same(score(name, moved), score(name, inputs), LOOSE.get(name, 1e-6)) != (name in FELT_SCALE)


@of_codes
def test_the_order_of_rows_does_not_matter(name, inputs):
    if name in DRAWN:
        return
    order = np.random.default_rng(2).permutation(ROWS)
    rows = {"codes", "means", "sampled", "factors", "log_variances", "reconstruction"}
    moved = {key: value[order] if key in rows else value for key, value in inputs.items()}
    assert same(score(name, moved), score(name, inputs), 1e-6)


@of_codes
def test_types_and_lists_give_the_same_score(name, inputs):
    single = inputs["codes"].astype(np.float32)
    test_codes, test_factors = inputs["test"]
    plain = inputs | {"codes": single.astype(np.float64), "sampled": single.astype(np.float64)}
    for codes, factors in (
        (single, inputs["factors"].astype(np.uint8)),
        (single.tolist(), inputs["factors"].astype(float).tolist()),
    ):
        other = inputs | {"codes": codes, "sampled": codes, "factors": factors}
        assert same(score(name, other | {"test": (test_codes.tolist(), test_factors)}), score(name, plain), 0.0)


@every_metric
def test_the_same_seed_gives_the_same_score_and_inputs_are_left_as_they_were(name, inputs):
    before = {key: value.copy() for key, value in inputs.items() if isinstance(value, np.ndarray)}
    assert same(score(name, inputs), score(name, inputs), 0.0)
    for key, value in before.items():
        np.testing.assert_array_equal(inputs[key], value)


@of_codes
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_codes_that_are_not_numbers_are_refused(name, bad, inputs):
    key = "sampled" if METRICS[name].representation == "sampled" else "codes"
    inputs[key][7, 1] = bad
    with pytest.raises(UsageError, match="NaN"):
        score(name, inputs)


@of_codes
def test_wrong_shapes_are_refused(name, inputs):
    codes, factors = inputs["codes"], inputs["factors"]
    flat, single = inputs | {"codes": codes[:, 0], "sampled": codes[:, 0]}, inputs | {"codes": codes[:1]}
    with pytest.raises(UsageError, match="two dimensions"):
        score(name, flat)
    with pytest.raises(UsageError, match="at least two samples"):
        score(name, single | {"sampled": codes[:1], "factors": factors[:1]})


@of_factors
def test_codes_and_factors_must_be_of_the_same_rows(name, inputs):
    with pytest.raises(UsageError, match="rows"):
        score(name, inputs | {"codes": inputs["codes"][:399], "factors": inputs["factors"][:398]})


@of_factors
def test_a_factor_of_one_value_is_left_out(name, inputs):
    test_codes, test_factors = inputs["test"]
    more = inputs | {"factors": with_constant(inputs["factors"]), "test": (test_codes, with_constant(test_factors))}
    assert same(score(name, more), score(name, inputs), 0.05 if name in DRAWN else 1e-9)
    alone = np.zeros((ROWS, 1), int)
    with pytest.raises(UsageError, match="single value"):
        score(name, inputs | {"factors": alone, "test": (test_codes, alone[: len(test_codes)])})


def with_constant(factors):
    return np.hstack([factors, np.full((len(factors), 1), 3)])


@every_metric
def test_one_factor_one_code_and_more_codes_than_rows(name, worlds, grids):
    codes, factors = worlds["noisy"](600, np.random.default_rng(3))
    low, high = METRICS[name].range
    one_factor = inputs_of(codes, factors[:, :1], grids["noisy"])
    one_code = inputs_of(codes[:, :1], factors, grids["noisy"][:, :1])
    wide = inputs_of(np.random.default_rng(4).normal(size=(600, 30)), factors, grids["noisy"])
    few = {"codes", "means", "sampled", "factors", "log_variances", "reconstruction"}
    wide = {key: value[:24] if key in few else value for key, value in wide.items()}
    for inputs in (one_factor, one_code, wide):
        parts = np.atleast_1d(score(name, inputs))
        assert all(low <= part <= high for part in parts[np.isfinite(parts) | (name not in REORDERED)])


@every_metric
def test_the_score_to_resample_is_the_functions(name, inputs):
    metric = METRICS[name]
    sampled = metric.sampled(inputs, metric.chosen_options("fast", {}))
    assert same(sampled.score, score(name, inputs), 0.0)
    everything = np.ones((1, sampled.units), dtype=bool)
    again = np.reshape(sampled.rescore(everything), -1)
    found, known = np.isfinite(again), np.isfinite(np.atleast_1d(sampled.score))
    assert (found == known).all()
    if name not in REORDERED:
        np.testing.assert_allclose(again[found], np.atleast_1d(sampled.score)[found], atol=1e-6)


@every_metric
def test_a_dead_code_changes_nothing(name, inputs):
    """Between two others, where a solver that gives it a direction of its own would stumble."""
    test_codes, test_factors = inputs["test"]
    grid = inputs["encode"].codes(np.arange(SIZES.prod()))

    def with_dead(array, value=0.25):
        return np.insert(array, 1, value, axis=-1)

    dead = inputs | {
        **{key: with_dead(inputs[key]) for key in ("codes", "means", "sampled")},
        "test": (with_dead(test_codes), test_factors),
        **with_grid(with_dead(grid)),
        "log_variances": with_dead(inputs["log_variances"], 0.0),
        "jacobians": with_dead(inputs["jacobians"], 0.0),
    }
    expected, found = np.atleast_1d(score(name, inputs)), np.atleast_1d(score(name, dead))
    parts = [part for part in range(len(expected)) if part not in FELT_DEAD_CODE.get(name, ())]
    np.testing.assert_allclose(found[parts], expected[parts], atol=LOOSE.get(name, 1e-9))


@every_metric
def test_the_ends_of_an_interval_can_be_reached(name, worlds, grids):
    """Perfect codes have the best scores there are, and half of few rows often worse ones: the interval is cut."""
    sampled = METRICS[name].sampled(inputs_of(*drawn(worlds["perfect"], 90, 1), grids["perfect"], rows=60))
    ends = np.array(interval(sampled, METRICS[name].range, 4, np.random.default_rng(0)))
    least, most = (np.broadcast_to(end, len(ends)) for end in sampled.limits or METRICS[name].range)
    values = np.atleast_1d(sampled.score)
    has = np.isfinite(values) | (name not in REORDERED)
    ends, least, most, values = ends[has], least[has], most[has], values[has]
    assert (least <= ends[:, 0]).all()
    assert (ends[:, 0] <= values).all()
    assert (values <= ends[:, 1]).all()
    assert (ends[:, 1] <= most).all()
