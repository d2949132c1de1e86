"""Is the sentence true? What distances predict for each factor, compared with what training then learnt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unweave.data.identity import data_identity
from unweave.errors import UsageError, called, warn_user
from unweave.methods import method_name
from unweave.metrics.gaps import top_gap
from unweave.metrics.information import bin_or_number, information, known
from unweave.metrics.inputs import DRAW, generator, whole_number
from unweave.perception.perceive import Perception, perceive
from unweave.perception.verdict import WORDS
from unweave.progress import OnProgress, reporting
from unweave.runs import Run
from unweave.study.analysis import over_seeds, rank_correlation
from unweave.study.opening import Given, open_runs
from unweave.text import data_name

if TYPE_CHECKING:
    import polars

PREDICTED = ("signal", "order", "rank", "relative", "worth")
"""What is known about a factor before training."""
LEARNT = ("information", "gap")
"""What is measured after training: the share of a factor's entropy in the best latent, and its lead over the next."""
PAIRS = 16_384
"""Pairs for each factor, as for `perceive`."""
NOISE = 6
"""Standard errors within which factors count as equal: 1 / √pairs for distances that vary as much as their mean."""
BINS = 20
"""Number of equal-width bins of a latent, as for MIG."""
CHUNK = 1024
"""Images drawn at once."""


class LeftOut(UserWarning):
    """Runs that cannot test predictions were left out."""


@dataclass(frozen=True)
class Predictions:
    """Predictions and outcomes, factor by factor and run by run."""

    rows: polars.DataFrame
    """run, data, loss, method, seed, factor, then `PREDICTED`, the verdict, and `LEARNT`."""
    pairs: int = PAIRS
    """Pairs that the predictions were measured on: fewer leave more noise."""

    def agreement(self) -> polars.DataFrame:
        """Return Spearman correlations of each prediction with each outcome, and their 95 % intervals over runs.

        All are over the same factors: those with every prediction and every outcome.

        Returns
        -------
        polars.DataFrame
            predicted, learnt; `correlation`, `low`, `high` over all factors of all runs; `within`, `within_low`,
            `within_high`: the mean of `within()` over its runs; the number of runs, and of those in `within()`. Null
            if undefined, or with too few runs.
        """
        import polars

        known, inside = self._known(), self.within()
        rows = [_agreement(known, inside, before, after) for before in PREDICTED for after in LEARNT]
        return polars.DataFrame(rows, infer_schema_length=None)

    def within(self) -> polars.DataFrame:
        """Return Spearman correlations over the factors of one run, of each prediction with each outcome.

        The runs are the same for every prediction. Left out are runs whose factors are interchangeable, as in
        xysquares, so that only noise orders their predictions: `worth` differs by at most 6 / √pairs of the largest,
        and `order` by at most 6 / √pairs. So are runs in which a prediction or an outcome is constant.

        Returns
        -------
        polars.DataFrame
            run, learnt, and a column for each prediction.
        """
        import polars

        schema = {"run": polars.String, "learnt": polars.String, **dict.fromkeys(PREDICTED, polars.Float64)}
        rows = [row for part in self._known().partition_by("run", maintain_order=True) for row in self._inside(part)]
        return polars.DataFrame(rows, schema=schema)

    def _known(self) -> polars.DataFrame:
        return self.rows.drop_nulls([*PREDICTED, *LEARNT])

    def _inside(self, part: polars.DataFrame) -> list[dict[str, object]]:
        """Return the correlations of one run, a row for each outcome; none if the run cannot compare predictions."""
        if interchangeable(part["worth"].to_numpy(), part["order"].to_numpy(), self.pairs):
            return []
        rows = [
            {before: _spearman(part[before].to_numpy(), part[after].to_numpy()) for before in PREDICTED}
            for after in LEARNT
        ]
        if any(None in row.values() for row in rows):
            return []
        return [{"run": str(part["run"][0]), "learnt": after, **row} for after, row in zip(LEARNT, rows, strict=True)]

    def by_verdict(self) -> polars.DataFrame:
        """Return what was learnt, on average, of factors that the loss sees, half sees, confuses and overlooks.

        Returns
        -------
        polars.DataFrame
            One row per verdict.
        """
        import polars

        means = [polars.col(name).mean() for name in LEARNT]
        found = self.rows.group_by("verdict").agg(polars.len().alias("factors"), *means)
        return found.sort(polars.col("verdict").replace_strict({kind: place for place, kind in enumerate(WORDS)}))


def predicted_and_learned(
    runs: Given | Iterable[Given],
    *,
    pairs: int = PAIRS,
    samples: int = 5000,
    seed: int = 0,
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
) -> Predictions:
    """Compare what distances predict for each factor with what finished runs have learnt of it.

    Each run is compared with the perception of its own data set under its own loss.

    Parameters
    ----------
    runs
        Studies, runs, their folders, or folders of runs; one or several.
    pairs
        Pairs for each factor, as for `perceive`.
    samples
        Number of random images to encode.
    seed
        Seed of the pairs and of the images.
    progress, on_progress
        Whether to show a progress bar, and a function to call instead.

    Returns
    -------
    Predictions
        With `rows`, one per factor and run, `agreement()`, `within()` and `by_verdict()`.

    Examples
    --------
    >>> found = predicted_and_learned("studies/sweep")  # doctest: +SKIP
    >>> found.agreement()  # doctest: +SKIP
    """
    found = _usable(open_runs(runs))
    samples = whole_number(samples, "samples", 2)
    seen: dict[str, Perception] = {}
    rows: list[dict[str, object]] = []
    with reporting(on_progress, progress) as told:
        for number, run in enumerate(found):
            told("runs", number, len(found))
            settings = run.settings
            key = json.dumps([data_identity(settings.data), settings.method.loss, settings.training.standardise])
            if key not in seen:
                standardise = settings.training.standardise or None
                options = {"pairs": pairs, "seed": seed, "standardise": standardise, "others": False}
                seen[key] = perceive(run.data, settings.method.loss, on_progress=told, **options)
            rows += _compared(run, seen[key], samples, seed)
        told("runs", len(found), len(found))
    import polars

    return Predictions(polars.DataFrame(rows, infer_schema_length=None), pairs)


def interchangeable(worth: NDArray[np.float64], order: NDArray[np.float64], pairs: int) -> bool:
    """Return whether a loss sees the same of all factors, up to the noise of the pairs drawn.

    >>> interchangeable(np.array([100.0, 103.0]), np.array([0.5, 0.52]), 16_384)
    True
    >>> interchangeable(np.array([100.0, 103.0]), np.array([0.5, 0.9]), 16_384)
    False
    """
    noise = NOISE / np.sqrt(pairs)
    return bool(np.ptp(worth) <= noise * worth.max() and np.ptp(order) <= noise)


def learned(
    codes: NDArray[np.float32], factors: NDArray[np.int64], categorical: Sequence[int] = ()
) -> dict[str, NDArray[np.float64]]:
    """Return `LEARNT` of each factor (k,), from codes (n, latents) and factors (n, k)."""
    shares = known(information(*bin_or_number(codes.astype(np.float64), BINS, categorical), factors))
    return {"information": shares.max(axis=0), "gap": top_gap(shares)}


def _spearman(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """Return the rank correlation over the factors of one run; None if one of them is constant."""
    return rank_correlation(first, second, np.zeros(len(first))).correlation


def _agreement(known: polars.DataFrame, inside: polars.DataFrame, before: str, after: str) -> dict[str, object]:
    """Return how a prediction agrees with an outcome, over all factors and within runs."""
    numbers = known["run"].cast(str).rank("dense").to_numpy()
    pooled = rank_correlation(known[before].to_numpy(), known[after].to_numpy(), numbers)
    each = inside.filter(learnt=after)[before]
    mean = over_seeds(each.to_numpy()) if len(each) else None
    return {
        "predicted": before,
        "learnt": after,
        "correlation": pooled.correlation,
        "low": pooled.low,
        "high": pooled.high,
        "within": mean and mean.value,
        "within_low": mean and mean.low,
        "within_high": mean and mean.high,
        "runs": known["run"].n_unique(),
        "runs_within": len(each),
    }


def _compared(run: Run, seen: Perception, samples: int, seed: int) -> list[dict[str, object]]:
    """Return a row for each factor of a run."""
    indices = np.unique(run.data.sample(samples, generator(seed, DRAW)))
    parts = [indices[start : start + CHUNK] for start in range(0, len(indices), CHUNK)]
    codes = np.concatenate([run.encode(run.data.inputs(part)) for part in parts])
    values, names = run.data.values(indices), run.data.factors.names
    classes = np.stack([np.unique(column, return_inverse=True)[1] for column in values.T], axis=1)
    outcome = learned(codes, classes, np.flatnonzero(run.categories).tolist())
    about = {
        "run": str(run.path),
        "data": data_name(run.settings.data),
        "loss": seen.loss,
        "method": method_name(run.settings.method),
        "seed": run.settings.training.seed,
    }
    return [
        {
            **about,
            "factor": factor.name,
            **{name: getattr(factor, name) for name in PREDICTED},
            "verdict": factor.kind,
            **{name: float(found[names.index(factor.name)]) for name, found in outcome.items()},
        }
        for factor in seen.factors
    ]


def _usable(runs: Sequence[Run]) -> list[Run]:
    """Return the finished runs whose data have classes for factors; the others are counted in a warning."""
    usable = [run for run in runs if _is_usable(run)]
    if not usable:
        raise UsageError(f"none of {len(runs)} runs is finished and trained on images whose factors are known classes")
    if left := len(runs) - len(usable):
        warn_user(f"left out: {left} of {len(runs)} runs, unfinished or without factors that are classes", LeftOut)
    return usable


def _is_usable(run: Run) -> bool:
    with called(f"'{run.path}'"):
        return run.state == "finished" and run.data.is_labelled and not run.data.continuous
