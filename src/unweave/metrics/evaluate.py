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

from unweave import compiled, late
from unweave.errors import UsageError, called, saying_once, warn_user
from unweave.metrics.floors import Bounds, bounds
from unweave.metrics.gathering import carried_factors, gather
from unweave.metrics.inputs import (
    INTERVAL,
    GivenPair,
    generator,
    varying,
    warn_of_constant_codes,
    warn_of_inputs,
)
from unweave.metrics.metric import Metric
from unweave.metrics.pool import Pool
from unweave.metrics.presets import LeftOut, warn_of_unseen_values
from unweave.metrics.request import Request, lacking, or_swapped
from unweave.metrics.resampling import Sampled, interval
from unweave.metrics.table import GROUPS, metric_of
from unweave.progress import OnProgress, reporting

if TYPE_CHECKING:
    import polars

    from unweave.metrics.codebook import Codebook

OnScores: TypeAlias = "Callable[[polars.DataFrame], None]"
Rows: TypeAlias = list[dict[str, object]]
NUMBERS = ("value", "low", "high", "floor", "ceiling", "adjusted", "seconds")
OVERHEADS = ("encoding", "compilation")
"""Rows for the time that belongs to no single metric. Late imports have no row: every process does them once."""
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
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
    on_result: OnScores | None = None,
    **settings: Any,
) -> polars.DataFrame:
    """Score codes (n, d), of any encoder, against the known factors (n, k) of the same samples.

    Parameters
    ----------
    codes
        One row for each sample; posterior means where there are posteriors. A mapping from names to codes of the same
        samples gives one table with a column `key`. The result of `unweave.encoders.encode` has its own factors.
    factors
        Whole numbers, each value a class, or strings, which are numbered. Numbers that are not whole are continuous:
        only metrics that take values as numbers accept them, unless you set `bin_factors`. Without factors only
        label-free scores are computed.
    metrics
        A name or several names of `METRICS`, or a group: "all", "study" (those of the large published study) or
        "overcomplete" (for many more latents than factors). A group leaves out metrics whose inputs are missing and,
        with a warning, metrics that cannot take them.
    test
        Rows `(codes, factors)` on which metrics that fit a predictor test it; without them a third of the rows is held
        out.
    codebook
        The codes of a grid of factors, for the metrics that intervene on factors.
    pool
        Rows `(codes, factors)` from which β-VAE and FactorVAE scores draw, where there is no codebook or in the preset
        "fast"; by default all rows given.
    log_variances, reconstruction
        The posteriors' log-variances (n, d), for scores of their samples, and each sample's loss (n,), for the terms of
        the ELBO.
    jacobians
        Of the decoder (samples, pixels, d).
    names
        The names of the factors, for `details` and for label noise.
    progress
        Whether to show a bar. By default it is shown on a terminal and in a notebook, after two seconds.
    on_progress
        A function to call instead of showing a bar: with each metric's name before it starts, the number done and the
        total.
    on_result
        A function that receives each metric's rows as soon as they are computed, in case of an interruption.
    **settings
        The other fields of `Request`: preset, options, label_noise, bin_factors, categorical, seed, intervals,
        replicates, floors, details.

    Returns
    -------
    polars.DataFrame
        A row for each score, or each part of one: metric; value; low and high, its 95 % interval over images ("would
        another draw of this many rows change the score?"; it does not cover training seeds); floor (the same codes,
        factors shuffled), ceiling (the factors themselves as codes) and adjusted = (value - floor) / (ceiling - floor);
        seconds; options (JSON). Null where the number does not exist. The rows `encoding` and `compilation` hold
        seconds alone.

    Examples
    --------
    >>> evaluate([[0.0], [1.0]] * 200, [[0], [1]] * 200, "mig").columns
    ['metric', 'value', 'low', 'high', 'floor', 'ceiling', 'adjusted', 'seconds', 'options']
    """
    request = Request.of(metrics, settings)
    factors = carried_factors(codes) if factors is None else factors
    if isinstance(codes, Mapping):
        if not (codebook is log_variances is reconstruction is jacobians is pool is None):
            raise UsageError("a mapping of codes takes only factors and test: leave out the other inputs")
        with saying_once(), reporting(on_progress, progress) as told:
            return _each_key(codes, factors, test, request, names, told, on_result)
    given = gather(codes, factors, test, request, names, codebook, pool, log_variances, reconstruction, jacobians)
    warn_of_constant_codes(given["codes"])
    with reporting(on_progress, progress) as told:
        return score(given, request, told, on_result)


def score(
    inputs: dict[str, Any],
    request: Request,
    on_progress: OnProgress | None = None,
    on_result: OnScores | None = None,
) -> polars.DataFrame:
    """Return the table of scores of gathered inputs."""
    import polars

    from unweave.score_frame import Scores

    chosen = request.choose(inputs)
    warn_once(inputs, request, chosen)
    tables = [_table([], request)]
    before = overheads(inputs) | ({"encoding": 0.0} if "encoding" in inputs else {})
    for found in each_metric(chosen, request, lambda name: list(_score_rows(name, inputs, request)), on_progress):
        tables.append(_table(found, request))
        if on_result:
            on_result(tables[-1])
    spent = {name: overheads(inputs)[name] - before.get(name, 0.0) for name in OVERHEADS}
    tables.append(_table([{"metric": n, "seconds": s, "options": "{}"} for n, s in spent.items() if s > 0], request))
    if on_result and len(tables[-1]):
        on_result(tables[-1])
    return Scores(polars.concat(tables))


def each_metric(
    chosen: Sequence[str], request: Request, rows_of: Callable[[str], Rows], on_progress: OnProgress | None = None
) -> Iterator[Rows]:
    """Yield the rows of each metric; a metric of a group that cannot take its inputs is left out, with a warning."""
    from threadpoolctl import ThreadpoolController

    for done, name in enumerate(chosen):
        if on_progress:
            on_progress(name, done, len(chosen))
        try:
            # Matrices are small: a second thread of linear algebra would mostly wait and slow others down.
            with ThreadpoolController().select(internal_api="openblas").limit(limits=1):
                found = rows_of(name)
        except UsageError as error:
            if name in request.by_name:
                raise
            warn_user(f"{name} is left out: {error}", LeftOut)  # a group means whatever can be computed
            continue
        yield found


def warn_once(inputs: Mapping[str, Any], request: Request, chosen: Sequence[str]) -> None:
    """Warn once about unusual inputs."""
    factors = inputs.get("factors")
    warn_of_inputs(inputs["codes"], factors if any("factors" in metric_of(name).needs for name in chosen) else None)
    if factors is None:
        return
    if inputs["test"] is not None and any("test" in metric_of(name).needs for name in chosen):
        warn_of_unseen_values(factors, np.asarray(inputs["test"][1]))
    asked = {name for group in request.by_name for name in GROUPS.get(group, ())}
    if inputs["continuous"] and (left := [name for name in asked if "classes" in lacking(metric_of(name), inputs)]):
        hint = f"bin_factors=10 (--bin-factors 10) includes them{or_swapped(inputs)}"
        text = f"factors are continuous: {len(left)} metrics that need classes are left out; {hint}"
        warnings.warn(text, LeftOut, stacklevel=4)


def _each_key(
    codes: Mapping[str, ArrayLike],
    factors: ArrayLike | None,
    test: GivenPair | None,
    request: Request,
    names: Sequence[str] | None,
    on_progress: OnProgress | None,
    on_result: OnScores | None,
) -> polars.DataFrame:
    """Score several codes of the same samples; the column `key` says which."""
    import polars

    from unweave.score_frame import Scores

    if not codes:
        raise UsageError("the mapping of codes is empty")
    tables = []
    for key, own in codes.items():

        def keyed(table: polars.DataFrame, key: str = str(key)) -> polars.DataFrame:
            return table.select(polars.lit(key).alias("key"), polars.all())

        with called(str(key)):
            inputs = gather(own, factors, _test_of(key, test), request, names)
        warn_of_constant_codes(inputs["codes"], str(key))
        told = None if on_progress is None else lambda name, *done, key=key: on_progress(f"{key}: {name}", *done)
        kept = None if on_result is None else lambda table, keyed=keyed: on_result(keyed(table))
        tables.append(keyed(score(inputs, request, told, kept)))
    return Scores(polars.concat(tables))


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


def _score_rows(name: str, inputs: Mapping[str, Any], request: Request) -> Iterator[dict[str, object]]:
    """Yield the rows of one metric: one for each of its parts, then, if requested, one for each factor."""
    metric, settings = metric_of(name), request.settings_of(name)
    start, before = perf_counter(), sum(overheads(inputs).values())
    sampled = metric.sampled(inputs, settings)
    values = np.atleast_1d(sampled.score).astype(np.float64)
    around = bounds(metric, inputs, settings) if request.floors else Bounds.unknown(len(values))
    # A fresh generator each: a metric's interval does not depend on which other metrics are requested.
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
    """Return the seconds spent so far on work that belongs to no single metric."""
    book = inputs["encode"]
    encoding = inputs.get("encoding", 0.0) + (0.0 if book is None else book.seconds)
    return {"encoding": encoding, "imports": late.seconds(), "compilation": compiled.seconds()}


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
    """Return the metric's options and all else that its score depends on: how many rows, which rows, the seed."""
    described = {name: value if _plain(value) else repr(value) for name, value in settings.items()}
    if "codes" in metric.needs or "means" in metric.needs:
        described |= {"rows": len(inputs["codes"])}
    if "test" in metric.needs:
        described |= {"test": "split" if inputs["test"] is None else "given"}
    if not {"factors", "source"}.isdisjoint(metric.needs) and inputs.get("label_noise") is not None:
        described |= {"label_noise": inputs["label_noise"]}
    if inputs.get("categorical") and not {"codes", "encode", "source"}.isdisjoint(metric.needs):
        described |= {"categorical": list(inputs["categorical"])}
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
