"""Compare codes of several encoders for the same samples: score differences, each with its interval."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError, called, saying_once
from unweave.metrics.evaluate import OnScores, describe, each_metric, overheads, warn_once
from unweave.metrics.gathering import gather
from unweave.metrics.inputs import INTERVAL, generator, warn_of_constant_codes
from unweave.metrics.metric import Metric
from unweave.metrics.presets import FEWEST
from unweave.metrics.request import Request
from unweave.metrics.resampling import halves, spread
from unweave.metrics.table import metric_of
from unweave.progress import OnProgress, reporting

if TYPE_CHECKING:
    import polars

    from unweave.runs import Run

NO_EFFECT = ("floors", "details")
"""Fields of `Request` that do not apply to a difference."""
ROUNDING = 1e-9
"""A smaller difference, as a share of the larger score, is rounding, for example of latents in another order."""
NUMBERS = ("value_a", "value_b", "difference", "low", "high")
MARGIN = 1.1
"""Intervals are a tenth wider than the half-samples suggest.

A ratio of two chances, such as modularity of a latent of noise, does not converge with more rows. Halves then show
three quarters of its variance, and without a margin 9 % of trials declared equal encoders different.
"""
CALLS = "compare(codes_a, codes_b, factors), or compare({'name': codes, …}, factors=factors)"


def compare(
    first: ArrayLike | Mapping[str, ArrayLike] | Mapping[str, Run] | Run | Sequence[Run],
    second: ArrayLike | Run | None = None,
    factors: ArrayLike | None = None,
    metrics: str | Sequence[str] = "all",
    *,
    test: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    samples: int | None = None,
    test_samples: int | None = None,
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
    on_result: OnScores | None = None,
    **settings: Any,
) -> polars.DataFrame:
    r"""Compare the scores of two encoders, or of several with the first, on the same samples.

    The 95 % interval of the difference of two scores, s_b - s_a, is

        s_b - s_a ± 1.1 t sd( s_b(half) - s_a(half) ),    cut to what a difference can be,

    from random halves of the rows, the *same* halves for both [Politis1994]_; 1.1 is a margin for scores whose halves
    show too little of the variance. Effects of the drawn rows on both encoders cancel, so the interval is narrower than
    one combined from the two scores' intervals. It covers the choice of images, not training seeds: two seeds of one
    method may differ as much.

    Parameters
    ----------
    first, second
        Codes (n, d_a) and (n, d_b) of the same n samples in the same order, called "a" and "b" in the table. Or `first`
        alone: a mapping from names to codes, or to runs, each of which is compared with the first. Or two runs, or a
        list of runs, of one data set: they are named after their folders, and scored on the same random images.
    factors
        As for `unweave.evaluate`; a run has its own.
    metrics
        As for `unweave.evaluate`. A group leaves out metrics for which some model lacks the inputs.
    test
        Rows on which metrics that fit a predictor test it: `(test_codes_a, test_codes_b, test_factors)`, or, with a
        mapping, `({name: test_codes, …}, test_factors)`; without them the same third of the rows is held out for all.
    names
        The names of the factors, for label noise.
    samples, test_samples
        How many images to score runs on, as for `Run.evaluate`.
    progress, on_progress, on_result
        Whether to show a bar, a function to call instead, and a function that receives each metric's rows as soon as
        they are computed, as for `unweave.evaluate`.
    **settings
        The other fields of `Request`: preset, options, label_noise, bin_factors, categorical, seed, intervals,
        replicates.

    Returns
    -------
    polars.DataFrame
        A row for each score, or each part of one, and each pair: metric; a and b, the names of the two; value_a and
        value_b; difference, b minus a; low and high, its interval; differs, whether the interval excludes 0; better,
        the name of the better one where they differ and the metric has a direction; seconds spent on both; options
        (JSON). Null where the number does not exist.

    Examples
    --------
    >>> factors = [[0], [1]] * 200
    >>> compare([[0.0], [1.0]] * 200, [[1.0], [0.0]] * 200, factors, "mig")["difference"].item()
    0.0
    """
    for name in NO_EFFECT:
        if name in settings:
            raise UsageError(f"compare has no option {name}, which is for single scores: use evaluate")
    request = Request.of(metrics, settings)
    if runs := _runs(first, second):
        if not (factors is test is names is None):
            raise UsageError("runs have their own factors and test rows: leave out factors and test")
        from unweave.scoring import compare_runs

        with reporting(on_progress, progress) as told:
            kept = {"samples": samples, "test_samples": test_samples, "on_progress": told, "on_result": on_result}
            return compare_runs(runs, request, **kept)
    if not (samples is test_samples is None):
        raise UsageError("samples and test_samples are for runs only: with codes, all rows are scored")
    codes, tests = _by_name(first, second, test)
    inputs = {}
    with saying_once():
        for key, own in codes.items():
            with called(key):
                inputs[key] = gather(own, factors, tests.get(key), request, names)
            warn_of_constant_codes(inputs[key]["codes"], key)
        with reporting(on_progress, progress) as told:
            return compare_inputs(inputs, request, told, on_result)


def compare_inputs(
    inputs: Mapping[str, dict[str, Any]],
    request: Request,
    on_progress: OnProgress | None = None,
    on_result: OnScores | None = None,
) -> polars.DataFrame:
    """Return the table of `compare` of gathered inputs by name, each compared with the first."""
    import polars

    from unweave.score_frame import Scores

    rows = {key: len(own["codes"]) for key, own in inputs.items()}
    first, *others = rows
    for key in others:
        if rows[key] != rows[first]:
            counts = f"'{first}' has {rows[first]:,} rows and '{key}' {rows[key]:,}"
            raise UsageError(f"{counts}: compare takes codes of the same samples, in the same order")
    chosen = _choose(inputs, request)
    warn_once(max(inputs.values(), key=lambda own: own["codes"].shape[1]), request, chosen)
    tables = [_table([])]
    for found in each_metric(chosen, request, lambda name: _rows(name, inputs, request), on_progress):
        tables.append(_table(found))
        if on_result:
            on_result(tables[-1])
    return Scores(polars.concat(tables))


def short_names(paths: Sequence[Path]) -> list[str]:
    """Return the last part of each path, or as many parts as needed to make the names unique.

    >>> short_names([Path("runs/a/model"), Path("runs/b/model")])
    ['a/model', 'b/model']
    """
    parts = [path.resolve().parts for path in paths]
    lengths = range(1, max(map(len, parts)) + 1)
    names = (["/".join(own[-length:]) for own in parts] for length in lengths)
    return next((found for found in names if len(set(found)) == len(found)), [str(path) for path in paths])


class _Halved(NamedTuple):
    """A score, (parts,), and its values on halves of the units, (r, parts): r is 0 without an interval."""

    values: np.ndarray
    halves: np.ndarray
    limits: np.ndarray
    """The least and the largest value of each part, (2, parts)."""
    units: int
    seconds: float


def _rows(name: str, inputs: Mapping[str, Mapping[str, Any]], request: Request) -> list[dict[str, object]]:
    """Return the rows of one metric: for each of its parts, all other models against the first."""
    metric, settings = metric_of(name), request.settings_of(name)
    found = _score_all(metric, inputs, settings, request)
    (a, ours), *others = found.items()
    options = json.dumps(describe(metric, inputs[a], settings))
    rows: list[dict[str, object]] = []
    for part, row in enumerate(metric.names(name)):
        for b, theirs in others:
            numbers = dict(zip(NUMBERS, _difference(ours, theirs)[:, part].tolist(), strict=True))
            if np.isnan([numbers["value_a"], numbers["value_b"]]).any():  # a part that these rows do not have
                continue
            differs = _differs(**numbers)
            better = _better(a, b, numbers["difference"], metric.higher_is_better) if differs else None
            shown = {key: number if isfinite(number) else None for key, number in numbers.items()}
            verdict = {"differs": differs, "better": better, "seconds": ours.seconds + theirs.seconds}
            rows.append({"metric": row, "a": a, "b": b, **shown, **verdict, "options": options})
    return rows


def _score_all(
    metric: Metric[..., Any], inputs: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Any], request: Request
) -> dict[str, _Halved]:
    """Return the scores of all inputs, on all rows and on the same halves of them."""
    found: dict[str, _Halved] = {}
    for key, own in inputs.items():
        with called(key):
            found[key] = _halve(metric, own, settings, request)
    (first, ours), *others = found.items()
    for key, theirs in others:
        if theirs.units != ours.units:
            counts = f"{ours.units:,} units of '{first}' and from {theirs.units:,} of '{key}'"
            raise UsageError(f"the scores would be computed from {counts}: compare needs the same units for all")
    return found


def _halve(metric: Metric[..., Any], own: Mapping[str, Any], settings: Mapping[str, Any], request: Request) -> _Halved:
    """Return a score of all rows and of random halves, which depend only on the seed.

    Each is computed once, in this order, so that a metric that draws at random while it rescores, such as the
    downstream task, makes the same draws for all codes.
    """
    start, before = perf_counter(), sum(overheads(own).values())
    sampled = metric.sampled(own, settings)
    values = np.atleast_1d(sampled.score).astype(np.float64)
    of_halves = np.empty((0, len(values)))
    if request.intervals and sampled.units >= FEWEST:
        count = request.replicates or sampled.replicates
        subsets = halves(sampled.units, count, generator(request.seed, INTERVAL))
        of_halves = sampled.rescore(subsets).reshape(count, -1)
    limits = np.array([np.broadcast_to(end, values.shape) for end in sampled.limits or metric.range])
    seconds = perf_counter() - start - (sum(overheads(own).values()) - before)
    return _Halved(values, of_halves, limits, sampled.units, seconds)


def _difference(a: _Halved, b: _Halved) -> np.ndarray:
    """Return both values, their difference and the ends of its interval, (5, parts), NaN where there is none."""
    with np.errstate(invalid="ignore"):
        difference = b.values - a.values
        reach = MARGIN * spread(b.halves - a.halves) if len(a.halves) else np.full(difference.shape, np.nan)
        least, most = b.limits[0] - a.limits[1], b.limits[1] - a.limits[0]
        low, high = (np.clip(end, least, most) for end in (difference - reach, difference + reach))
    has_interval = np.isfinite(difference) & np.isfinite(reach)
    ends = (np.where(has_interval, end, np.nan) for end in (low, high))
    return np.stack([a.values, b.values, difference, *ends])


def _differs(value_a: float, value_b: float, difference: float, low: float, high: float) -> bool | None:
    """Return whether an interval excludes 0; None without an interval."""
    if not isfinite(low + high):
        return None
    rounding = abs(difference) <= ROUNDING * max(abs(value_a), abs(value_b))
    return not rounding and not low <= 0 <= high


def _better(a: str, b: str, difference: float, higher_is_better: bool | None) -> str | None:
    if higher_is_better is None:
        return None
    return b if (difference > 0) == higher_is_better else a


def _choose(inputs: Mapping[str, Mapping[str, Any]], request: Request) -> list[str]:
    """Return the requested metrics for which all models have the inputs."""
    chosen: list[list[str]] = []
    for key, own in inputs.items():
        with called(key):
            chosen.append(request.choose(own))
    return [name for name in chosen[0] if all(name in others for others in chosen)]


def _runs(first: Any, second: Any) -> dict[str, Run]:
    """Return the given runs by name, or nothing if codes were given."""
    if isinstance(first, Mapping):
        return {str(name): run for name, run in first.items()} if any(map(_is_run, first.values())) else {}
    given = list(first) if second is None and isinstance(first, list | tuple) else [first, second]
    for path in given:
        if isinstance(path, str | Path):
            raise UsageError(f"'{path}' is a path: open the run first, as unweave.Run.open('{path}')")
    if not any(map(_is_run, given)):
        return {}
    if not all(map(_is_run, given)):
        raise UsageError("compare takes two runs, a list of runs, or codes; not a single run, nor a run and codes")
    return dict(zip(short_names([run.path for run in given]), given, strict=True))


def _is_run(value: object) -> bool:
    return hasattr(value, "posterior")  # importing `Run` itself would import torch


def _by_name(first: Any, second: Any, test: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return codes by name, and the pairs of test rows by the same names, where there are any."""
    if not isinstance(first, Mapping):
        if second is None:
            raise UsageError(f"there is nothing to compare with: {CALLS}")
        if test is not None and (not isinstance(test, tuple | list) or len(test) != 3):
            raise UsageError("test must hold three arrays: test=(test_codes_a, test_codes_b, test_factors)")
        return {"a": first, "b": second}, {} if test is None else {"a": (test[0], test[2]), "b": (test[1], test[2])}
    if second is not None:
        raise UsageError("a mapping already holds all codes: pass the factors as factors=…")
    codes = {str(name): own for name, own in first.items()}
    if len(codes) < 2:
        raise UsageError(f"compare takes two or more sets of codes, got {len(codes)}")
    if test is None:
        return codes, {}
    if not isinstance(test, tuple | list) or len(test) != 2 or not isinstance(test[0], Mapping):
        raise UsageError("test must be ({name: test_codes, …}, test_factors)")
    for name in codes:
        if name not in test[0]:
            raise UsageError(f"there are no test codes for '{name}'")
    return codes, {name: (test[0][name], test[1]) for name in codes}


def _table(rows: Sequence[Mapping[str, object]]) -> polars.DataFrame:
    import polars

    texts, numbers = ("metric", "a", "b"), (*NUMBERS, "seconds")
    order = (*texts, *NUMBERS, "differs", "better", "seconds", "options")
    kinds = dict.fromkeys((*texts, "better", "options"), polars.String) | dict.fromkeys(numbers, polars.Float64)
    return polars.DataFrame(list(rows), schema={name: kinds.get(name, polars.Boolean) for name in order})
