"""Many scores of one set of codes, each with its interval, as one table."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite, nan
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError, unknown
from unweave.metrics.inputs import DRAW, INTERVAL, GivenPair, check, check_codes, generator, split, whole_number
from unweave.metrics.label_noise import REGIMES, noisy_labels
from unweave.metrics.metric import Metric
from unweave.metrics.presets import PRESETS, LeftOut, warn_of_few, warn_of_strangers
from unweave.metrics.resampling import interval
from unweave.metrics.table import GROUPS, METRICS
from unweave.metrics.trial import try_out

if TYPE_CHECKING:
    import polars

    from unweave.metrics.codebook import Codebook

Options = Mapping[str, Mapping[str, Any]]


def evaluate(
    codes: ArrayLike,
    factors: ArrayLike | None = None,
    metrics: str | Sequence[str] = "all",
    *,
    test: GivenPair | None = None,
    codebook: Codebook | None = None,
    log_variances: ArrayLike | None = None,
    reconstruction: ArrayLike | None = None,
    jacobians: ArrayLike | None = None,
    preset: str = "paper",
    options: Options | None = None,
    label_noise: int | None = None,
    names: Sequence[str] | None = None,
    seed: int = 0,
    intervals: bool = True,
    replicates: int | None = None,
    watch: Callable[[str, int, int], None] | None = None,
    keep: Callable[[polars.DataFrame], None] | None = None,
) -> polars.DataFrame:
    """Score codes (n, d), of any encoder, against the known factors (n, k) of the same samples.

    `metrics` is a name or several names of `METRICS`, or a group: "all", or "study" (those of the large published
    study). A group leaves out what the inputs do not suffice for; without factors only label-free scores are left.
    A metric of a group that refuses its inputs is left out too, with a warning.

    - A metric that fits a predictor judges it on `test=(codes, factors)`, or else on a third of the rows, held out by
      `seed`.
    - A metric that intervenes on factors needs a `codebook`, its sample counts set by `preset`: "paper" or "fast".
    - Scores of a sampled representation, and the terms of the ELBO, need the posteriors' `log_variances` (n, d) beside
      their means, which the codes then are; with `reconstruction` (n,), each sample's loss.
    - Scores of a decoder need its `jacobians` (samples, pixels, d).
    - `options={"mig": {"bins": 30}}` changes options of a metric by hand.
    - `label_noise` is a regime (1, 2 or 3) of noise put on the factors beforehand; see `noisy_labels`, which may take
      the factors' `names`. A codebook's factors stay as they are.

    The table has a row a score: metric, value, low, high (the 95 % interval from `replicates` half-samples, by
    default 200 where that is cheap and 5 to 10 where each is another fit; null without `intervals` or with fewer
    than 20 rows), seconds (of the metric and its intervals) and options (JSON).
    `watch` is told each metric's name before it starts, how many are done, and of how many; `keep` is given its
    rows as soon as they are there, for an interrupt may come.

    >>> evaluate([[0.0], [1.0]] * 200, [[0], [1]] * 200, "mig").columns
    ['metric', 'value', 'low', 'high', 'seconds', 'options']
    """
    from threadpoolctl import ThreadpoolController

    changes = check_request(metrics, preset, options, label_noise)
    inputs: dict[str, Any] = {"seed": seed, "encode": codebook, "jacobians": jacobians, "label_noise": label_noise}
    inputs |= _rows_given(codes, factors, test, label_noise, names, seed)
    inputs |= _posterior(inputs["codes"], log_variances, reconstruction, seed)
    chosen = choose(metrics, inputs)
    if replicates is not None:
        whole_number(replicates, "replicates", 2)
    if factors is not None and any("factors" in METRICS[name].needs for name in chosen):
        warn_of_few(inputs["factors"])
    if inputs["test"] is not None and factors is not None and any("test" in METRICS[name].needs for name in chosen):
        warn_of_strangers(inputs["factors"], np.asarray(inputs["test"][1]))

    rows: list[tuple[object, ...]] = []
    for done, name in enumerate(chosen):
        if watch:
            watch(name, done, len(chosen))
        settings = METRICS[name].chosen_options(preset, changes.get(name, {}))
        try:
            # Matrices are small: a second thread of linear algebra would mostly wait, and be in the way of others.
            with ThreadpoolController().select(internal_api="openblas").limit(limits=1):
                found = list(_rows(name, METRICS[name], inputs, settings, (replicates,) if intervals else None))
        except UsageError as error:
            if name in ([metrics] if isinstance(metrics, str) else metrics):
                raise
            warnings.warn(f"{name} is left out: {error}", LeftOut, stacklevel=2)  # a group is what can be had
            continue
        rows += found
        if keep:
            keep(_table(found))
    return _table(rows)


def _table(rows: Sequence[tuple[object, ...]]) -> polars.DataFrame:
    import polars

    schema = dict.fromkeys(("metric", "value", "low", "high", "seconds", "options"), polars.Float64)
    schema |= {"metric": polars.String, "options": polars.String}
    return polars.DataFrame(rows, schema=schema, orient="row")


def choose(metrics: str | Sequence[str], inputs: Mapping[str, Any] | None = None) -> list[str]:
    """Return the metrics asked for, each once, in the order given; of a group, those the inputs suffice for.

    Without `inputs` nothing is left out: only the names are checked.
    """
    if not isinstance(metrics, str | Sequence):
        raise UsageError(f"metrics must be a name or several names, got {metrics!r}")
    asked = [metrics] if isinstance(metrics, str) else [str(name) for name in metrics]
    if not asked:
        raise UsageError(f"no metric is asked for (known: {', '.join([*GROUPS, *METRICS])})")
    chosen: dict[str, None] = {}
    for name in asked:
        if name in GROUPS:
            chosen |= dict.fromkeys(n for n in GROUPS[name] if inputs is None or not METRICS[n].missing(inputs))
        elif name not in METRICS:
            raise unknown("metric", name, [*METRICS, *GROUPS])
        else:
            if inputs is not None and (missing := METRICS[name].missing(inputs)):
                raise UsageError(f"the metric '{name}' needs {' and '.join(missing)}")
            chosen[name] = None
    return list(chosen)


def check_request(
    metrics: str | Sequence[str], preset: str, options: Options | None, label_noise: int | None
) -> Options:
    """Return the options, tried on a small world: a mistake in what is asked for is answered before any work."""
    chosen, options = choose(metrics), {} if options is None else options
    if not isinstance(preset, str) or preset not in PRESETS:
        raise unknown("preset", str(preset), PRESETS)
    if label_noise is not None and (not isinstance(label_noise, int | np.integer) or label_noise not in REGIMES):
        raise UsageError(f"label_noise must be 1, 2 or 3, got {label_noise!r}")
    if not isinstance(options, Mapping) or not all(isinstance(changes, Mapping) for changes in options.values()):
        raise UsageError(f"options must be a mapping such as {{'mig': {{'bins': 30}}}}, got {options!r}")
    for name, changes in options.items():
        if name not in METRICS:
            raise unknown("metric", str(name), METRICS)
        settings = METRICS[name].chosen_options(preset, changes)
        if name not in chosen:
            raise UsageError(f"there are options for '{name}', which is not among the metrics asked for")
        try:
            try_out(METRICS[name], settings)
        except UsageError as error:
            raise UsageError(f"{name}: {error}") from error
    return options


def _rows_given(
    codes: ArrayLike,
    factors: ArrayLike | None,
    test: GivenPair | None,
    label_noise: int | None,
    names: Sequence[str] | None,
    seed: int,
) -> dict[str, Any]:
    """Return codes, factors and test rows, checked, with noise on the labels where that is asked for."""
    if factors is None:
        values = check_codes(codes)
        return {"codes": values, "means": values, "test": test}
    split(codes, factors, test, seed)  # a mistake in the test rows is answered before any work
    values, labels = check(codes, factors)
    given = {"codes": values, "means": values, "factors": labels, "test": test}
    return given if label_noise is None else given | _with_noise(labels, test, label_noise, names, seed)


def _with_noise(
    factors: np.ndarray, test: GivenPair | None, regime: int, names: Sequence[str] | None, seed: int
) -> dict[str, Any]:
    """Return the factors, and those of the test rows, under one draw of noise."""
    judged = np.empty((0, factors.shape[1]), np.int64) if test is None else check(*test, label="test ")[1]
    noisy = noisy_labels(np.concatenate([factors, judged]), regime=regime, names=names, seed=seed)
    changed: dict[str, Any] = {"factors": noisy[: len(factors)]}
    return changed if test is None else changed | {"test": (test[0], noisy[len(factors) :])}


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


def _rows(
    name: str, metric: Metric, inputs: Mapping[str, Any], settings: Mapping[str, Any], halves: tuple[int | None] | None
) -> Iterator[tuple[object, ...]]:
    start = perf_counter()
    sampled = metric.sampled(inputs, settings)
    # A fresh generator each: a metric's interval does not depend on which others are asked for.
    rng = generator(inputs["seed"], INTERVAL)
    values = np.atleast_1d(sampled.score).tolist()
    bounds = interval(sampled, metric.range, *halves, rng) if halves else None
    seconds, described = perf_counter() - start, json.dumps(_described(metric, inputs, settings))
    for row, value, ends in zip(metric.names(name), values, bounds or [(nan, nan)] * len(values), strict=True):
        low, high = (end if isfinite(end) else None for end in ends)
        yield row, value, low, high, seconds, described


def _described(metric: Metric, inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metric's options and all else that its score depends on: how many rows, which of them, the seed."""
    described = dict(settings)
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
    return described | {"seed": inputs["seed"]}
