"""Whether scores that need no labels distinguish good runs from bad ones."""

from __future__ import annotations

from collections.abc import Sequence

import polars

from unweave.study.analysis.rank_correlations import correlations
from unweave.study.analysis.tidy import one_row_per_run

SCHEMA = {
    "data": polars.String,
    "label_free": polars.String,
    "supervised": polars.String,
    "correlation": polars.Float64,
    "low": polars.Float64,
    "high": polars.Float64,
    "runs": polars.Int64,
    "seeds": polars.Int64,
}


def label_free_agreement(
    table: polars.DataFrame, label_free: Sequence[str], supervised: Sequence[str]
) -> polars.DataFrame:
    """Return the rank correlation of each label-free score with each supervised one over the runs on each data set.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it, of one step.
    label_free
        Scores that need no factors, such as "elbo-bound", "elbo-rate", "elbo-distortion", "total-correlation" and
        "total-correlation-sampled".
    supervised
        Scores that need factors, such as "mig".

    Returns
    -------
    polars.DataFrame
        data, label_free, supervised, correlation, low, high (95 % over seeds), runs, seeds. The correlation is null
        if a score is constant. Its sign is not adjusted: a loss that is good when low has a negative one.
    """
    runs = one_row_per_run(table, list(dict.fromkeys([*label_free, *supervised])))
    rows = [
        {"data": data, "label_free": one, "supervised": other, **vars(found)}
        for data, one, other, found in correlations(runs, label_free, supervised)
    ]
    return polars.DataFrame(rows, schema=SCHEMA)
