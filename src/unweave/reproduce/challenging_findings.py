"""Answers to the five questions of the large-scale study from a table of scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars

from unweave.reproduce.challenging_published import (
    CELLS,
    METHODS,
    METRICS,
    RUNS,
    TRANSFER,
    published_data,
    published_shares,
)
from unweave.reproduce.frame import Row
from unweave.study import analysis

NAN = float("nan")
SAMPLED, MEAN = "total-correlation-sampled", "total-correlation"
LABEL_FREE = (
    "elbo-bound", "elbo-rate", "elbo-distortion", SAMPLED, MEAN, "wasserstein-normalised", "pairwise-mi"
)  # fmt: skip
ACCURACY, FEW_ROWS = "downstream-gbt-accuracy-10000", "downstream-gbt-accuracy-100"


class Answer(NamedTuple):
    """The answer to a question: rows of numbers, and sentences."""

    rows: list[Row]
    notes: list[str]


def answers(table: polars.DataFrame) -> Answer:
    """Return the rows and sentences of all five questions.

    Parameters
    ----------
    table
        run, data, method, strength, seed, step, metric, value.
    """
    found = [
        correlated_codes(table),
        agreeing_metrics(table),
        method_or_seed(table),
        choosing(table),
        downstream(table),
    ]
    return Answer([row for answer in found for row in answer.rows], [note for answer in found for note in answer.notes])


def correlated_codes(table: polars.DataFrame) -> Answer:
    """Question 1: does more regularisation make codes, sampled and mean, less correlated?"""
    rows, falls, rises, cases = [], 0, 0, 0
    if not {SAMPLED, MEAN} <= {*table["metric"]}:
        return Answer([], [])
    runs = analysis.one_row_per_run(table, [SAMPLED, MEAN])
    for (data, method), own in runs.group_by("data", "method", maintain_order=True):
        if method == "annealed-vae" or own["strength"].n_unique() < 2:
            continue  # as in the published study: its strength is a capacity, and more capacity regularises less
        cases += 1
        for name, metric in (("sampled", SAMPLED), ("mean", MEAN)):
            slope = analysis.rank_correlation(
                own["strength"].to_numpy(), own[metric].to_numpy(), own["seed"].to_numpy()
            )
            if slope.correlation is None:
                continue
            falls += name == "sampled" and slope.correlation < 0
            rises += name == "mean" and slope.correlation > 0
            what = f"1. rank correlation of strength and total correlation of {name} codes, {method}, {data}"
            rows.append(_correlation_row(what, slope.correlation, slope.low, slope.high))
    note = (
        f"1. Published: as regularisation grows, the total correlation of sampled codes falls and that of mean codes "
        f"rises. Ours: it falls in {falls} and rises in {rises} of {cases} pairs of method and data set."
    )
    return Answer(rows, [note] if cases else [])


def agreeing_metrics(table: polars.DataFrame) -> Answer:
    """Question 2: do metrics rank models in the same way?"""
    there = present(table, METRICS)
    rows, notes = [], []
    for (data,), found in analysis.metric_agreement(table, there).group_by("data", maintain_order=True):
        pairs = {(row["first"], row["second"]): row["correlation"] for row in found.iter_rows(named=True)}
        pairs = {pair: value for pair, value in pairs.items() if value is not None}
        with_modularity = [value for pair, value in pairs.items() if "modularity" in pair]
        others = [value for pair, value in pairs.items() if "modularity" not in pair]
        if not others:
            continue
        rows.append(_row(f"2. mean rank correlation of metrics but modularity, {data}", float(np.mean(others))))
        if with_modularity:
            rows.append(
                _row(f"2. mean rank correlation of modularity with the others, {data}", float(np.mean(with_modularity)))
            )
        best = sorted(pairs, key=lambda pair: -pairs[pair])[:2]
        notes.append(
            f"2. On {data}, the pairs that agree most are "
            + " and ".join(f"{METRICS[a]} with {METRICS[b]} ({_two(pairs[a, b])})" for a, b in best)
            + ". Published: all except modularity agree mildly; β-VAE with FactorVAE score and MIG with DCI strongly."
        )
    return Answer(rows, notes)


def method_or_seed(table: polars.DataFrame) -> Answer:
    """Question 3: how much is due to the method, to its strength, and to the seed?"""
    rows, below, count = [], 0, 0
    for metric in present(table, METRICS):
        for shares in analysis.variance_shares(table, metric):
            below, count = below + (shares.method < 0.5), count + 1
            rows += _share_rows(table, shares)
    chance, strengths = good_run_of_a_bad_strength(table)
    notes = [
        f"3. Published: strengths and seeds matter more than methods. Ours: the method alone explains less than half "
        f"of the variance in {below} of {count} cases (metric and data set). Shares are adjusted for the number of "
        f"groups, and are 0 where the adjusted one is negative; the interval is over training seeds."
    ]
    if strengths:
        notes.append(
            f"3. A run of a method's worst strength beats one of its best in {100 * chance:.0f} % of pairs of seeds, "
            f"on average over {strengths} cases (metric, method and data set); 0 % would mean that seeds do not matter."
        )
    return Answer(rows, notes)


def _share_rows(table: polars.DataFrame, shares: analysis.Shares) -> Iterator[Row]:
    own = table.filter((polars.col("data") == shares.data) & (polars.col("metric") == shares.metric))
    groups = own["method"].n_unique(), own.select("method", "strength").n_unique()
    printed = published_shares(shares.data, shares.metric)
    beside = f" (beside {published_data(shares.data)})" if printed else ""
    parts = (
        ("the method", shares.method, shares.method_adjusted),
        ("method and strength", shares.cell, shares.cell_adjusted),
    )
    for place, ((what, share, adjusted), count) in enumerate(zip(parts, groups, strict=True)):
        low, high = analysis.share_interval(share, shares.runs, count)
        published = printed[place] if printed else None
        theirs = None if published is None else analysis.share_interval(published / 100, RUNS, (METHODS, CELLS)[place])
        yield Row(
            f"3. variance of {METRICS[shares.metric]} explained by {what}, {shares.data}{beside}, %",
            published,
            100 * max(adjusted, 0.0),
            100 * low,
            100 * high,
            None if theirs is None else (100 * theirs[0], 100 * theirs[1]),
        )


def good_run_of_a_bad_strength(table: polars.DataFrame) -> tuple[float, int]:
    """Return how often a run of a method's worst strength beats one of its best, and over how many cases."""
    chances = []
    for metric in present(table, METRICS):
        cells = analysis.cells_of(table, metric)
        settings = analysis.settings_of_cells(table)
        grouped: dict[tuple[object, object], list[np.ndarray]] = {}
        for cell, scores in cells.items():
            named = dict(zip(settings, cell, strict=True))
            grouped.setdefault((named["data"], named["method"]), []).append(scores.to_numpy())
        for own in grouped.values():
            ordered = sorted(own, key=lambda scores: float(scores.mean()))
            if len(ordered) > 1 and np.ptp(np.concatenate(ordered)) > 0:
                chances.append(analysis.improvement(ordered[0], ordered[-1]).value)
    return (float(np.mean(chances)) if chances else NAN), len(chances)


def choosing(table: polars.DataFrame) -> Answer:
    """Question 4: can a good model be chosen without labels, or by scores on other data or of other metrics?"""
    there = present(table, METRICS)
    rows = []
    found = analysis.transfer(table, there)
    names = {
        "same": "the same metric and data, another seed",
        "other_data": "the same metric, other data",
        "other_metric": "another metric, the same data",
        "both_other": "another metric and other data",
    }
    for field, what in names.items():
        value = getattr(found, field)
        if value is not None:
            rows.append(_row(f"4. chosen by {what}: better than a random choice, %", 100 * value, TRANSFER.get(field)))
    notes = _dominance(table, there)
    free = present(table, LABEL_FREE)
    if free:
        agreement = analysis.label_free_agreement(table, free, there)
        notes += _label_free_notes(agreement, free)
    return Answer(rows, notes)


def _dominance(table: polars.DataFrame, metrics: Sequence[str]) -> list[str]:
    """Return how many methods are best for some metric and data set, each at its best strength."""
    best = set()
    for metric in metrics:
        found = analysis.summary(table, metric).group_by("data", "method").agg(polars.col("value").max())
        for _, own in found.group_by("data"):
            best.add(own.sort("value")["method"][-1])
    return [f"4. Published: no method dominates. Ours: {len(best)} methods are best by some metric on some data set."]


def _label_free_notes(agreement: polars.DataFrame, free: Sequence[str]) -> list[str]:
    """Return the correlation of each label-free score with supervised ones over metrics and data sets."""
    lines = []
    for name in free:
        values = agreement.filter(polars.col("label_free") == name)["correlation"].drop_nulls().to_list()
        if values:
            lines.append(f"{name} {_two(float(np.mean(values)))} ({_two(min(values))} to {_two(max(values))})")
    told = ", ".join(lines)
    return [
        f"4. Rank correlation of label-free with supervised scores, mean and extremes over metrics and data sets: "
        f"{told}. Published: no clear pattern."
    ]


def downstream(table: polars.DataFrame) -> Answer:
    """Question 5: do higher scores mean better, or cheaper, downstream predictions?"""
    if ACCURACY not in {*table["metric"]}:
        return Answer([], [])
    rows, notes = [], []
    found = analysis.downstream_agreement(table, present(table, METRICS)).filter(polars.col("learner") == "gbt")
    targets = {"accuracy-10000": "accuracy of trees from 10,000 rows", "efficiency-100": "sample efficiency of trees"}
    for target, what in targets.items():
        own = found.filter(polars.col("target") == target)
        for row in own.drop_nulls("correlation").iter_rows(named=True):
            name = f"5. rank correlation of {METRICS[row['score']]} and {what}, {row['data']}"
            rows.append(_correlation_row(name, row["correlation"], row["low"], row["high"]))
        values = own["correlation"].drop_nulls().to_list()
        if values:
            notes.append(
                f"5. Rank correlation of scores with the {what}: {_two(float(np.mean(values)))} on average, "
                f"{_two(min(values))} to {_two(max(values))}."
            )
    notes.append(
        "5. Efficiency is accuracy(100) / accuracy(10,000). Published: scores correlate with accuracy; higher scores "
        "do not reliably mean fewer samples."
    )
    return Answer(rows, notes)


def present(table: polars.DataFrame, metrics: Sequence[str] | dict[str, str]) -> list[str]:
    """Return the metrics that the table has."""
    there = {*table["metric"]}
    return [metric for metric in metrics if metric in there]


def _two(value: float) -> str:
    """Return a correlation with two decimals and a true minus sign."""
    return f"{value:.2f}".replace("-", "−")


def _correlation_row(what: str, value: float, low: float | None, high: float | None) -> Row:
    """Return a row for a correlation, whose interval is over training seeds."""
    return Row(what, None, value, NAN if low is None else low, NAN if high is None else high)


def _row(what: str, ours: float, published: float | None = None) -> Row:
    return Row(what, published, ours, NAN, NAN)
