"""Score a run: encode its images once, gather what the metrics need from the model, and compute the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.collapse import carried, collapse
from unweave.data.identity import data_identity
from unweave.data.table import require_factors, require_grid
from unweave.errors import UsageError, warn_user
from unweave.metrics.codebook import Codebook
from unweave.metrics.compare import called, compare_inputs
from unweave.metrics.evaluate import OnScores, score
from unweave.metrics.gathering import gather
from unweave.metrics.inputs import DRAW, generator
from unweave.metrics.presets import PRESETS, LeftOut
from unweave.metrics.request import Request
from unweave.metrics.table import GROUPS, metric_of
from unweave.progress import OnProgress
from unweave.runs import Run
from unweave.text import data_name

if TYPE_CHECKING:
    import polars

JACOBIANS = 64
"""Number of samples at which the decoder's Jacobian is computed."""
CHUNK = 1024
"""Number of images drawn at once."""
SHARED = 0.05
"""Largest fraction of test rows that may also be train rows."""


class Unfinished(UserWarning):
    """The scored run has not finished training."""


class Collapsed(UserWarning):
    """The scored model uses none of its latents."""


def score_run(
    run: Run,
    request: Request,
    *,
    samples: int | None = None,
    test_samples: int | None = None,
    on_progress: OnProgress | None = None,
    on_result: OnScores | None = None,
) -> polars.DataFrame:
    """Score a run on random images of its data set; see `Run.evaluate`."""
    inputs = gather_run(run, request, samples, test_samples, on_progress)
    return score(inputs, request, on_progress, on_result)


def compare_runs(
    runs: Mapping[str, Run],
    request: Request,
    *,
    samples: int | None = None,
    test_samples: int | None = None,
    on_progress: OnProgress | None = None,
    on_result: OnScores | None = None,
) -> polars.DataFrame:
    """Compare runs on one data set with the first of them, on the same random images; see `unweave.compare`."""
    _check_comparable(runs)
    inputs = {}
    for name, run in runs.items():
        told = None if on_progress is None else _renamed(on_progress, name)
        with called(name):
            inputs[name] = gather_run(run, request, samples, test_samples, told, name)
    return compare_inputs(inputs, request, on_progress, on_result)


def _check_comparable(runs: Mapping[str, Run]) -> None:
    """Raise a `UsageError` for fewer than two runs, a run given twice, and runs of several data sets."""
    if len(runs) < 2:
        raise UsageError(f"compare takes two or more runs, got {len(runs)}")
    folders: dict[Path, str] = {}
    (first, baseline), *others = runs.items()
    for name, run in runs.items():
        if (earlier := folders.setdefault(run.path.resolve(), name)) != name:
            raise UsageError(f"'{run.path}' is given twice, as {earlier} and {name}: compare it with another run")
    for name, run in others:
        if data_identity(run.settings.data) != data_identity(baseline.settings.data):
            ours, theirs = (data_name(each.settings.data) for each in (baseline, run))
            raise UsageError(f"{first} was trained on {ours} and {name} on {theirs}: compare runs of one data set")


def _renamed(on_progress: OnProgress, name: str) -> OnProgress:
    return lambda what, done, total: on_progress(f"{name}: {what}", done, total)


def gather_run(
    run: Run,
    request: Request,
    samples: int | None = None,
    test_samples: int | None = None,
    on_progress: OnProgress | None = None,
    name: str = "",
) -> dict[str, Any]:
    """Return all inputs of the requested metrics; warnings refer to the run by `name`.

    Runs of one data set get the same images for the same seed.
    """
    if len(request.categorical):
        raise UsageError("leave out categorical, which is for codes of your own: a run knows its categorical latents")
    request = replace(request, categorical=tuple(np.flatnonzero(run.categories).tolist()))
    preset = PRESETS[request.preset]
    rows = preset.samples if samples is None else samples
    test_rows = preset.test_samples if test_samples is None else test_samples
    if rows < 2 or test_rows < 2:
        raise UsageError("scores need at least two samples, and two test samples")
    if len(run.data) < 4:
        raise UsageError(f"scores need at least four images, but the data set has {len(run.data)}")
    _check_named(run, [name for name in request.by_name if name not in GROUPS])
    needs = {need for name in request.choose() for need in metric_of(name).needs}
    labelled = run.data.is_labelled
    if not labelled:
        _warn_of_left_out(run, request)
        test_rows = 0  # nothing is fitted
    pooled = preset.pool if "source" in needs and labelled and not run.data.continuous else 0
    indices, rows, test_rows = _draw(len(run.data), rows, test_rows, pooled, request.seed)

    started = perf_counter()
    means, log_variances = _encode_rows(run, indices, on_progress)
    _warn(run, means, log_variances, name)
    train, held_out = slice(0, rows), slice(rows, rows + test_rows)
    factors = run.data.values(indices) if labelled else None
    given: dict[str, Any] = {"pool": (means, factors) if pooled else None}
    if run.data.is_grid and ("encode" in needs or ("source" in needs and not pooled)):
        given["codebook"] = Codebook(run.encode, run.data, on_progress=on_progress)
        given["codebook"].add(indices, means)
    if log_variances is not None and run.has_posterior:
        given["log_variances"] = log_variances[train]
        if "reconstruction" in needs:
            codes = _sample(means[train], log_variances[train], request.seed)
            given["reconstruction"] = _reconstruction(run, indices[train], codes)
    if "jacobians" in needs and run.has_decoder and not any(run.categories):
        given["jacobians"] = run.jacobians(means[:JACOBIANS])
    if factors is None:
        inputs = gather(means[train], None, None, request, **given)
    else:
        test = means[held_out], factors[held_out]
        inputs = gather(means[train], factors[train], test, request, run.data.factors.names, **given)
    return inputs | {"encoding": perf_counter() - started}


def _check_named(run: Run, names: Sequence[str]) -> None:
    """Raise a `UsageError` for metrics requested by name that the run does not support; a group leaves them out."""
    for name in names:
        if metric_of(name).supervised:
            require_factors(run.data, f"the metric '{name}'")
        if "encode" in metric_of(name).needs:
            require_grid(run.data, "a metric that intervenes on factors")
        if what := lacking_model(run, name):
            raise UsageError(f"the metric '{name}' needs {what}")


def lacking_model(run: Run, name: str) -> str:
    """Return in words what a metric needs and the run's model does not have, or nothing."""
    metric = metric_of(name)
    if not run.has_decoder and not {"jacobians", "reconstruction"}.isdisjoint(metric.needs):
        return "a decoder, but this model has none: it learns only codes"
    if not run.has_posterior and (metric.representation == "sampled" or "log_variances" in metric.needs):
        mixed = any(run.categories) and not all(run.categories)  # Gaussian posteriors beside categories
        return (
            "Gaussian posteriors of all latents, but some latents are categorical"
            if mixed
            else "posteriors, but the codes of this model are points"
        )
    if any(run.categories) and ("jacobians" in metric.needs or metric.categories == "none"):
        return "numeric codes, but some latents are categorical"
    return ""


def _warn_of_left_out(run: Run, request: Request) -> None:
    """Warn how many metrics of a group are left out because the data set has no factors."""
    left_out = sum(metric_of(name).supervised for name in request.choose())
    if left_out:
        text = f"{run.data.name} has no factors: {left_out} metrics that compare codes with factors are left out"
        warn_user(text, LeftOut)


def _warn(run: Run, means: np.ndarray, log_variances: np.ndarray | None, name: str) -> None:
    """Warn about a run that has not finished, and about a model that uses none of its latents, or hardly any."""
    if run.state != "finished":
        planned = run.settings.training.steps
        state = f"{'has' if run.state == 'failed' else 'is'} {run.state}, at step {run.step:,} of {planned:,}"
        warn_user(f"{name or 'the run'} {state}: these are scores of a half-trained model", Unfinished)
    carries = carried(means, log_variances, run.categories)
    if collapsed := collapse(means, carries, log_variances is None, run.categories):
        warn_user(f"{name}: {collapsed}" if name else collapsed, Collapsed)


def _draw(images: int, rows: int, test_rows: int, pooled: int, seed: int) -> tuple[np.ndarray, int, int]:
    """Return the indices of random images, the number of train rows, and the number of test rows that follow.

    From a large data set, images are drawn independently, as in the published studies. If more than `SHARED` of the
    test rows would also be train rows, and could be predicted from memory, each image is used at most once; a data set
    with fewer images than requested is used completely, in the same proportion. Images for the pool alone come last.
    """
    rng = np.random.default_rng(seed)
    if rows <= SHARED * images:
        return rng.integers(images, size=max(rows + test_rows, pooled)), rows, test_rows
    if images < rows + test_rows:
        least = 2 if test_rows else 0
        rows = min(max(2, round(images * rows / (rows + test_rows))), images - least)
        test_rows = images - rows
    return rng.permutation(images)[: max(rows + test_rows, pooled)], rows, test_rows


def _encode_rows(run: Run, indices: np.ndarray, on_progress: OnProgress | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the posterior means and log-variances of images; each distinct image is encoded once.

    Codes that are points have no log-variances.
    """
    distinct, inverse = np.unique(indices, return_inverse=True)
    means, log_variances = [], []
    for start in range(0, len(distinct), CHUNK):
        mean, log_variance = run.posterior(run.data.inputs(distinct[start : start + CHUNK]))
        means.append(mean)
        log_variances.append(log_variance)
        if on_progress:
            on_progress("encoding", min(start + CHUNK, len(distinct)), len(distinct))
    found = None if log_variances[0] is None else np.concatenate(log_variances)[inverse]
    return np.concatenate(means)[inverse], found


def _sample(means: np.ndarray, log_variances: np.ndarray, seed: int) -> np.ndarray:
    """Return one sample of each posterior."""
    return means + np.exp(log_variances / 2) * generator(seed, DRAW).normal(size=means.shape)


def _reconstruction(run: Run, indices: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the reconstruction loss (n,) of each image from its code."""
    parts = [slice(start, start + CHUNK) for start in range(0, len(indices), CHUNK)]
    return np.concatenate([run.losses(run.data.inputs(indices[part]), codes[part]) for part in parts])
