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
DIGITS = 2
"""Significant digits of a prediction: more are noise of the pairs drawn, and would order equal factors."""
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

    def agreement(self) -> polars.DataFrame:
        """Return Spearman correlations of each prediction with each outcome, and their 95 % intervals over runs.

        Returns
        -------
        polars.DataFrame
            predicted, learnt; `correlation`, `low`, `high` over all factors of all runs; `within`, `within_low`,
            `within_high`: the mean over runs of the correlation over the factors of one run; the number of runs, and
            of those whose factors differ in the prediction. Null if undefined, or with too few runs.
        """
        import polars

        rows = [self._agreement(before, after) for before in PREDICTED for after in LEARNT]
        return polars.DataFrame(rows, infer_schema_length=None)

    def _agreement(self, before: str, after: str) -> dict[str, object]:
        import polars

        known = self.rows.drop_nulls([before, after]).with_columns(
            polars.col(before).cast(polars.Float64).round_sig_figs(DIGITS)
        )
        numbers = known["run"].cast(str).rank("dense").to_numpy()
        pooled = rank_correlation(known[before].to_numpy(), known[after].to_numpy(), numbers)
        each = [
            rank_correlation(part[before].to_numpy(), part[after].to_numpy(), np.zeros(len(part))).correlation
            for part in known.partition_by("run")
        ]
        inside = [value for value in each if value is not None]
        mean = over_seeds(inside) if inside else None
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
            "runs_within": len(inside),
        }

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
    pairs: int = 16_384,
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
        With `rows`, one per factor and run, `agreement()` and `by_verdict()`.

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

    return Predictions(polars.DataFrame(rows, infer_schema_length=None))


def learned(
    codes: NDArray[np.float32], factors: NDArray[np.int64], categorical: Sequence[int] = ()
) -> dict[str, NDArray[np.float64]]:
    """Return `LEARNT` of each factor (k,), from codes (n, latents) and factors (n, k)."""
    shares = known(information(*bin_or_number(codes.astype(np.float64), BINS, categorical), factors))
    return {"information": shares.max(axis=0), "gap": top_gap(shares)}


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
