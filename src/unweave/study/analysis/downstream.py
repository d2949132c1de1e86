"""Whether runs with high scores are more useful to a learner, or to one with few labels."""

from __future__ import annotations

from collections.abc import Sequence

import polars

from unweave.errors import UsageError
from unweave.study.analysis.rank_correlations import correlations
from unweave.study.analysis.tidy import one_row_per_run

PREFIX, ACCURACY = "downstream-", "-accuracy-"
MOST = "10000"
"""Train rows of the accuracy in the denominator."""
FEWER = ("100", "1000")
SCHEMA = {
    "data": polars.String,
    "score": polars.String,
    "learner": polars.String,
    "target": polars.String,
    "correlation": polars.Float64,
    "low": polars.Float64,
    "high": polars.Float64,
    "runs": polars.Int64,
    "seeds": polars.Int64,
}


def downstream_agreement(table: polars.DataFrame, scores: Sequence[str]) -> polars.DataFrame:
    """Return the rank correlation of scores with downstream accuracy and sample efficiency on each data set.

    The sample efficiency is accuracy(100) / accuracy(10000) and accuracy(1000) / accuracy(10000), if the table has
    these accuracies.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it, of one step, with "downstream-logistic" or "downstream-gbt".
    scores
        Scores to compare with, such as "mig".

    Returns
    -------
    polars.DataFrame
        data, score, learner ("logistic", "gbt"), target ("accuracy-10", …, "efficiency-100", "efficiency-1000"),
        correlation, low, high (95 % over seeds), runs, seeds.
    """
    known = table["metric"].unique(maintain_order=True).to_list()
    accuracies = [name for name in known if name.startswith(PREFIX) and ACCURACY in name]
    if not accuracies:
        raise UsageError("the table has no downstream accuracy; add the metric downstream-logistic or downstream-gbt")
    runs = _with_efficiencies(one_row_per_run(table, list(dict.fromkeys([*scores, *accuracies]))), accuracies)
    targets = [*accuracies, *(name for name in runs.columns if name.startswith(PREFIX) and name not in accuracies)]
    rows = []
    for data, score, target, found in correlations(runs, scores, targets):
        learner, kind = _parts(target)
        rows.append({"data": data, "score": score, "learner": learner, "target": kind, **vars(found)})
    return polars.DataFrame(rows, schema=SCHEMA)


def _with_efficiencies(runs: polars.DataFrame, accuracies: Sequence[str]) -> polars.DataFrame:
    """Return the runs with a column for each sample efficiency that their accuracies allow."""
    ratios = []
    for learner in dict.fromkeys(_parts(name)[0] for name in accuracies):
        most = f"{PREFIX}{learner}{ACCURACY}{MOST}"
        for rows in FEWER:
            few = f"{PREFIX}{learner}{ACCURACY}{rows}"
            if few in accuracies and most in accuracies:
                ratios.append((polars.col(few) / polars.col(most)).alias(f"{PREFIX}{learner}-efficiency-{rows}"))
    return runs.with_columns(ratios)


def _parts(target: str) -> tuple[str, str]:
    """Return the learner and the target in the name of a column.

    >>> _parts("downstream-logistic-accuracy-100")
    ('logistic', 'accuracy-100')
    """
    learner, kind, rows = target.removeprefix(PREFIX).rsplit("-", 2)
    return learner, f"{kind}-{rows}"
