"""Many scores of one set of codes, each with its interval, as one table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from unweave.errors import UsageError, unknown
from unweave.metrics.inputs import INTERVAL, GivenPair, check, generator, whole_number
from unweave.metrics.resampling import interval
from unweave.metrics.table import METRICS, Metric

if TYPE_CHECKING:
    import polars


def evaluate(
    codes: ArrayLike,
    factors: ArrayLike,
    metrics: str | Sequence[str] = "all",
    *,
    test: GivenPair | None = None,
    seed: int = 0,
    intervals: bool = True,
    replicates: int = 200,
) -> polars.DataFrame:
    """Score codes (n, d), of any encoder, against the known factors (n, k) of the same samples.

    `metrics` is "all", a name or several names of `METRICS`. A metric that fits a predictor judges it on
    `test=(codes, factors)`, or else on a third of the rows held out by `seed`.

    The table has a row a metric: metric, value, low, high (the 95 % interval from `replicates` half-samples; null
    without `intervals` or with fewer than 20 rows), seconds (of the score and its interval) and options (JSON).

    >>> evaluate([[0.0], [1.0]] * 10, [[0], [1]] * 10, "mig").columns
    ['metric', 'value', 'low', 'high', 'seconds', 'options']
    """
    import polars

    chosen = choose(metrics)
    values, labels = check(codes, factors)
    inputs = {"codes": values, "factors": labels, "test": test, "seed": seed}
    replicates = whole_number(replicates, "replicates", 10) if intervals else 0
    schema = dict.fromkeys(("metric", "value", "low", "high", "seconds", "options"), polars.Float64)
    schema |= {"metric": polars.String, "options": polars.String}
    return polars.DataFrame(
        [_row(name, METRICS[name], inputs, replicates) for name in chosen], schema=schema, orient="row"
    )


def choose(metrics: str | Sequence[str]) -> list[str]:
    """Return the names of the metrics asked for, each once, in the order given."""
    asked = [metrics] if isinstance(metrics, str) else [str(name) for name in metrics]
    if not asked:
        raise UsageError(f"no metric is asked for (known: {', '.join(METRICS)})")
    for name in asked:
        if name != "all" and name not in METRICS:
            raise unknown("metric", name, METRICS)
    return list(METRICS) if "all" in asked else list(dict.fromkeys(asked))


def _row(name: str, metric: Metric, inputs: Mapping[str, Any], replicates: int) -> tuple[object, ...]:
    start = perf_counter()
    sampled = metric.sampled(inputs)
    # A fresh generator each: a metric's interval does not depend on which others are asked for.
    rng = generator(inputs["seed"], INTERVAL)
    bounds = interval(sampled, metric.range, replicates, rng) if replicates else None
    low, high = bounds or (None, None)
    return name, sampled.score, low, high, perf_counter() - start, json.dumps(_options(metric, inputs))


def _options(metric: Metric, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metric's options and, where it fits a predictor, how many rows it had and which it judged on."""
    options = dict(metric.options)
    if "test" in metric.needs:
        options |= {"rows": len(inputs["codes"]), "test": "split" if inputs["test"] is None else "given"}
        options |= {"seed": inputs["seed"]} if inputs["test"] is None else {}
    return options
