"""Many scores of one set of codes, each with its interval, floor and ceiling, as one table."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from unweave import compiled
from unweave.errors import UsageError, called
from unweave.metrics.floors import Bounds, bounds
from unweave.metrics.inputs import (
    DRAW,
    INTERVAL,
    GivenPair,
    bin_factors,
    bin_pair,
    check_codes,
    check_sets,
    generator,
    is_continuous,
    varying,
    warn_of_inputs,
)
from unweave.metrics.label_noise import noisy_labels
from unweave.metrics.metric import Metric
from unweave.metrics.pool import Pool
from unweave.metrics.presets import LeftOut, warn_of_strangers, warn_user
from unweave.metrics.request import Request, lacking
from unweave.metrics.resampling import Sampled, interval
from unweave.metrics.table import GROUPS, METRICS

if TYPE_CHECKING:
    import polars

    from unweave.metrics.codebook import Codebook

OnProgress: TypeAlias = Callable[[str, int, int], None]
"""What is done now, how much of it, and of how much."""
OnScores: TypeAlias = "Callable[[polars.DataFrame], None]"
Rows: TypeAlias = list[dict[str, object]]
NUMBERS = ("value", "low", "high", "floor", "ceiling", "adjusted", "seconds")
OVERHEADS = ("encoding", "compilation")
"""Rows of seconds that no single metric is to blame for."""
COLUMNS = ("metric", *NUMBERS, "options")


def evaluate(
    codes: ArrayLike | Mapping[str, ArrayLike],
    factors: ArrayLike | None = None,
    metrics: str | Sequence[str] = "all",
    *,
    test: GivenPair | None = None,
    codebook: Codebook | None = None,
    pool: GivenPair | None = None,
    log_variances: ArrayLike | None = None,
    reconstruction: ArrayLike | None = None,
    jacobians: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    on_progress: OnProgress | None = None,
    on_scores: OnScores | None = None,
    **settings: Any,
) -> polars.DataFrame:
    """Score codes (n, d), of any encoder, against the known factors (n, k) of the same samples.

    Parameters
    ----------
    codes
        One row for each sample; posterior means where there are posteriors. A mapping from names to codes of the same
        samples gives one table with a column `key`.
    factors
        Whole numbers, each value a class, or texts, which are numbered. Numbers that are not whole are continuous:
        only metrics that take values as numbers accept them, unless `bin_factors` is set. Without factors only
        label-free scores are left.
    metrics
        A name or several names of `METRICS`, or a group: "all", or "study" (those of the large published study). A
        group leaves out what the inputs do not suffice for, and, with a warning, a metric that refuses them.
    test
        Rows `(codes, factors)` on which metrics that fit a predictor test it; else a third of the rows is held out.
    codebook
        The codes of a grid of factors, for the metrics that intervene on factors.
    pool
        Rows `(codes, factors)` from which β-VAE and FactorVAE scores draw, where there is no codebook or in the preset
        "fast"; by default all rows given.
    log_variances, reconstruction
        Of the posteriors (n, d), for scores of their samples; and each sample's loss (n,), for the terms of the ELBO.
    jacobians
        Of the decoder (samples, pixels, d).
    names
        The names of the factors, for `details` and for label noise.
    on_progress
        Told each metric's name before it starts, how many are done, and of how many.
    on_scores
        Given each metric's rows as soon as they are there, for an interrupt may come.
    **settings
        The other fields of `Request`: preset, options, label_noise, bin_factors, seed, intervals, replicates, floors,
        details.

    Returns
    -------
    polars.DataFrame
        A row for each score, or each part of one: metric; value; low and high, its 95 % interval over images ("would
        another draw of this many rows change it?"; it excludes training seeds); floor (the same codes, factors
        shuffled), ceiling (the factors themselves as codes) and adjusted = (value - floor) / (ceiling - floor);
        seconds; options (JSON). Null where there is no such number. The rows `encoding` and `compilation` hold
        seconds alone.

    Examples
    --------
    >>> evaluate([[0.0], [1.0]] * 200, [[0], [1]] * 200, "mig").columns
    ['metric', 'value', 'low', 'high', 'floor', 'ceiling', 'adjusted', 'seconds', 'options']
    """
    request = Request.of(metrics, settings)
    if isinstance(codes, Mapping):
        if not (codebook is log_variances is reconstruction is jacobians is pool is None):
            raise UsageError("a mapping of codes goes with factors and test rows alone")
        return _each_key(codes, factors, test, request, names, on_progress, on_scores)
    given = gather(codes, factors, test, request, names, codebook, pool, log_variances, reconstruction, jacobians)
    return score(given, request, on_progress, on_scores)


def gather(
    codes: ArrayLike,
    factors: ArrayLike | None,
    test: GivenPair | None,
    request: Request,
    names: Sequence[str] | None = None,
    codebook: Codebook | None = None,
    pool: GivenPair | None = None,
    log_variances: ArrayLike | None = None,
    reconstruction: ArrayLike | None = None,
    jacobians: ArrayLike | None = None,
) -> dict[str, Any]:
    """Return all inputs that metrics may ask for, by their parameters' names, checked."""
    inputs: dict[str, Any] = {"seed": request.seed, "encode": codebook, "jacobians": jacobians, "names": names}
    inputs |= _rows(codes, factors, test, request, names)
    _check_names(names, inputs.get("factors"))
    inputs |= _posterior(inputs["codes"], log_variances, reconstruction, request.seed)
    if not any("source" in METRICS[name].needs for name in request.choose()):
        return inputs
    if codebook is not None and request.preset != "fast":
        return inputs | {"source": codebook}
    if factors is None or inputs["continuous"]:
        return inputs
    return inputs | {"source": _all_rows(inputs) if pool is None else Pool(*pool)}


def _all_rows(inputs: Mapping[str, Any]) -> Pool:
    """Return the pool of all rows given, train and test."""
    pairs = [(inputs["codes"], inputs["factors"]), *([] if inputs["test"] is None else [inputs["test"]])]
    codes, factors = (np.concatenate(arrays) for arrays in zip(*pairs, strict=True))
    return Pool(codes, factors)


def score(
    inputs: dict[str, Any],
    request: Request,
    on_progress: OnProgress | None = None,
    on_scores: OnScores | None = None,
) -> polars.DataFrame:
    """Return the table of scores of gathered inputs."""
    import polars

    chosen = request.choose(inputs)
    warn_once(inputs, request, chosen)
    tables = [_table([], request)]
    before = overheads(inputs) | ({"encoding": 0.0} if "encoding" in inputs else {})
    for found in each_metric(chosen, request, lambda name: list(_score_rows(name, inputs, request)), on_progress):
        tables.append(_table(found, request))
        if on_scores:
            on_scores(tables[-1])
    spent = {name: total - before.get(name, 0.0) for name, total in overheads(inputs).items()}
    tables.append(_table([{"metric": n, "seconds": s, "options": "{}"} for n, s in spent.items() if s > 0], request))
    if on_scores and len(tables[-1]):
        on_scores(tables[-1])
    return polars.concat(tables)


def each_metric(
    chosen: Sequence[str], request: Request, rows_of: Callable[[str], Rows], on_progress: OnProgress | None = None
) -> Iterator[Rows]:
    """Yield the rows of each metric; one of a group that refuses its inputs is left out, with a warning."""
    from threadpoolctl import ThreadpoolController

    for done, name in enumerate(chosen):
        if on_progress:
            on_progress(name, done, len(chosen))
        try:
            # Matrices are small: a second thread of linear algebra would mostly wait, and be in the way of others.
            with ThreadpoolController().select(internal_api="openblas").limit(limits=1):
                found = rows_of(name)
        except UsageError as error:
            if name in request.by_name:
                raise
            warn_user(f"{name} is left out: {error}", LeftOut)  # a group is what can be had
            continue
        yield found


def warn_once(inputs: Mapping[str, Any], request: Request, chosen: Sequence[str]) -> None:
    """Warn, once, of what is odd about the inputs."""
    factors = inputs.get("factors")
    warn_of_inputs(inputs["codes"], factors if any("factors" in METRICS[name].needs for name in chosen) else None)
    if factors is None:
        return
    if inputs["test"] is not None and any("test" in METRICS[name].needs for name in chosen):
        warn_of_strangers(factors, np.asarray(inputs["test"][1]))
    asked = {name for group in request.by_name for name in GROUPS.get(group, ())}
    if inputs["continuous"] and (left := [name for name in asked if "classes" in lacking(METRICS[name], inputs)]):
        text = f"factors are continuous: {len(left)} metrics that need classes are left out; bin_factors=10 keeps them"
        warnings.warn(text, LeftOut, stacklevel=4)


def _check_names(names: Sequence[str] | None, factors: np.ndarray | None) -> None:
    if names is not None and factors is not None and len(names) != factors.shape[1]:
        raise UsageError(f"there are {factors.shape[1]} factors but {len(names)} names: give one name for each")


def _each_key(
    codes: Mapping[str, ArrayLike],
    factors: ArrayLike | None,
    test: GivenPair | None,
    request: Request,
    names: Sequence[str] | None,
    on_progress: OnProgress | None,
    on_scores: OnScores | None,
) -> polars.DataFrame:
    """Score several codes of the same samples; the column `key` says which."""
    import polars

    if not codes:
        raise UsageError("the mapping of codes is empty")
    tables = []
    for key, own in codes.items():

        def keyed(table: polars.DataFrame, key: str = str(key)) -> polars.DataFrame:
            return table.select(polars.lit(key).alias("key"), polars.all())

        with called(str(key)):
            inputs = gather(own, factors, _test_of(key, test), request, names)
        told = None if on_progress is None else lambda name, *done, key=key: on_progress(f"{key}: {name}", *done)
        kept = None if on_scores is None else lambda table, keyed=keyed: on_scores(keyed(table))
        tables.append(keyed(score(inputs, request, told, kept)))
    return polars.concat(tables)


def whole_scores(table: polars.DataFrame) -> polars.DataFrame:
    """Return the scores alone, without overheads and details."""
    import polars

    table = table.filter(~polars.col("metric").is_in(OVERHEADS))
    return table.filter(polars.col("factor").is_null()).drop("factor") if "factor" in table.columns else table


def _test_of(key: str, test: Any) -> GivenPair | None:
    """Return the test rows of one key, where test codes are a mapping too."""
    if test is None or not isinstance(test[0], Mapping):
        return test
    if key not in test[0]:
        raise UsageError(f"there are no test codes for '{key}'")
    return test[0][key], test[1]


def _table(rows: Sequence[Mapping[str, object]], request: Request) -> polars.DataFrame:
    import polars

    schema = dict.fromkeys(COLUMNS, polars.Float64) | {"metric": polars.String, "options": polars.String}
    if request.details:
        schema["factor"] = polars.String
    return polars.DataFrame(list(rows), schema=schema)


def _rows(
    codes: ArrayLike, factors: ArrayLike | None, test: GivenPair | None, request: Request, names: Sequence[str] | None
) -> dict[str, Any]:
    """Return codes, factors and test rows, checked, with groups for continuous factors and noise where asked for."""
    if factors is None:
        if test is not None or request.label_noise is not None:
            raise UsageError("test rows and label noise mean nothing without factors")
        values = check_codes(codes)
        return {"codes": values, "means": values, "test": None, "continuous": False}
    (values, labels), held_out = check_sets(codes, factors, test, continuous=True)
    if request.bin_factors is not None and held_out is None:
        labels = bin_factors(labels, request.bin_factors)
    test_codes, test_labels = held_out or (values[:0], labels[:0])
    if request.bin_factors is not None and held_out is not None:
        labels, test_labels = bin_pair(labels, test_labels, request.bin_factors)
    continuous = bool(is_continuous(labels).any())
    if request.label_noise is not None:
        labels, test_labels = _with_noise(labels, test_labels, request, names, continuous)
    given = {"codes": values, "means": values, "factors": labels, "continuous": continuous}
    return given | {"test": held_out and (test_codes, test_labels), "label_noise": request.label_noise}


def _with_noise(
    factors: np.ndarray, test_factors: np.ndarray, request: Request, names: Sequence[str] | None, continuous: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the factors of train and test rows under one draw of noise."""
    if continuous:
        raise UsageError("label noise is for factors that are classes; set bin_factors")
    regime: Any = request.label_noise
    noisy = noisy_labels(np.concatenate([factors, test_factors]), regime=regime, names=names, seed=request.seed)
    return noisy[: len(factors)], noisy[len(factors) :]


def _posterior(
    codes: np.ndarray, log_variances: ArrayLike | None, reconstruction: ArrayLike | None, seed: int
) -> dict[str, np.ndarray]:
    """Return what is known of the posteriors: the log-variances, a sample of each, the reconstruction losses."""
    known: dict[str, np.ndarray] = {}
    if log_variances is not None:
        spread = check_codes(log_variances, "log_variances")
        if spread.shape != codes.shape:
            raise UsageError(f"log_variances have shape {spread.shape} but codes {codes.shape}")
        noise = generator(seed, DRAW).normal(size=codes.shape)
        known = {"log_variances": spread, "sampled": codes + np.exp(spread / 2) * noise}
    if reconstruction is not None:
        losses = np.asarray(reconstruction)
        if losses.dtype.kind not in "biuf":
            raise UsageError(f"reconstruction must be numbers, got an array of type {losses.dtype}")
        known["reconstruction"] = losses.astype(np.float64)
    return known


def _score_rows(name: str, inputs: Mapping[str, Any], request: Request) -> Iterator[dict[str, object]]:
    """Yield the rows of one metric: one for each of its parts, then, if asked for, one for each factor."""
    metric, settings = METRICS[name], request.settings_of(name)
    start, before = perf_counter(), sum(overheads(inputs).values())
    sampled = metric.sampled(inputs, settings)
    values = np.atleast_1d(sampled.score).astype(np.float64)
    around = bounds(metric, inputs, settings) if request.floors else Bounds.unknown(len(values))
    # A fresh generator each: a metric's interval does not depend on which others are asked for.
    rng = generator(request.seed, INTERVAL)
    ends = interval(sampled, metric.range, request.replicates, rng) if request.intervals else None
    low, high = np.array(ends or [(np.nan, np.nan)] * len(values)).T
    columns = (values, low, high, *around, around.adjust(values, metric))
    seconds = perf_counter() - start - (sum(overheads(inputs).values()) - before)
    described = {"seconds": seconds, "options": json.dumps(describe(metric, inputs, settings))}
    for row, *numbers in zip(metric.names(name), *columns, strict=True):
        if not np.isnan(numbers[0]):  # a part that these rows do not have
            shown = [float(number) if isfinite(number) else None for number in numbers]
            yield {"metric": row, **dict(zip(NUMBERS, shown, strict=False)), **described}
    if request.details:
        yield from _details(name, metric, sampled, inputs, described["options"])


def overheads(inputs: Mapping[str, Any]) -> dict[str, float]:
    """Return the seconds spent so far on what no single metric is to blame for."""
    book = inputs["encode"]
    encoding = inputs.get("encoding", 0.0) + (0.0 if book is None else book.seconds)
    return {"encoding": encoding, "compilation": compiled.seconds()}


def _details(
    name: str, metric: Metric[..., Any], sampled: Sampled[Any], inputs: Mapping[str, Any], options: object
) -> Iterator[dict[str, object]]:
    """Yield a row for each factor and each part of a score that has a value for it."""
    for part, values in sampled.per_factor.items():
        row = f"{name}-{part}" if part else name
        for factor, value in zip(_factor_names(metric, inputs, len(values)), values.tolist(), strict=True):
            yield {"metric": row, "value": value, "options": options, "factor": factor}


def _factor_names(metric: Metric[..., Any], inputs: Mapping[str, Any], count: int) -> list[str]:
    """Return the names of the factors that vary."""
    if "factors" in metric.needs:
        test = inputs["test"] if "test" in metric.needs else None
        rows = [inputs["factors"], *([] if test is None else [test[1]])]
        varies = np.flatnonzero(varying(np.concatenate(rows)))
        names = inputs["names"] or [f"factor {number}" for number in range(1, inputs["factors"].shape[1] + 1)]
    else:
        varies, names = np.flatnonzero(np.array(inputs["encode"].sizes) > 1), inputs["encode"].names
    return [str(names[k]) for k in varies[:count]]


def describe(metric: Metric[..., Any], inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metric's options and all else that its score depends on: how many rows, which of them, the seed."""
    described = {name: value if _plain(value) else repr(value) for name, value in settings.items()}
    if "codes" in metric.needs or "means" in metric.needs:
        described |= {"rows": len(inputs["codes"])}
    if "test" in metric.needs:
        described |= {"test": "split" if inputs["test"] is None else "given"}
    if "factors" in metric.needs and inputs["label_noise"] is not None:
        described |= {"label_noise": inputs["label_noise"]}
    if metric.representation == "sampled":
        described |= {"representation": "sampled"}
    if "encode" in metric.needs:
        described |= {"exact": inputs["encode"].exact}
    if "source" in metric.needs:
        source = inputs["source"]
        described |= {"pool": len(source)} if isinstance(source, Pool) else {"exact": source.exact}
    return described | {"seed": inputs["seed"]}


def _plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | tuple | list)
