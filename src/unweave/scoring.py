"""The scores of a run: its images encoded once, what the metrics ask of the model gathered, the table computed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.collapse import carried, collapse
from unweave.data.table import require_grid
from unweave.errors import UsageError
from unweave.metrics.codebook import Codebook
from unweave.metrics.evaluate import OnProgress, OnScores, gather, score
from unweave.metrics.inputs import DRAW, generator
from unweave.metrics.presets import PRESETS
from unweave.metrics.request import Request
from unweave.metrics.table import METRICS
from unweave.runs import Run

if TYPE_CHECKING:
    import polars

JACOBIANS = 64
"""Samples at which the decoder's Jacobian is taken."""
CHUNK = 1024
"""Images drawn at once."""
SHARED = 0.05
"""The share of test rows that may also be among the train rows."""


class Unfinished(UserWarning):
    """A run is scored that has not finished training."""


class Collapsed(UserWarning):
    """A model is scored that uses none of its latents."""


def score_run(
    run: Run,
    request: Request,
    *,
    samples: int | None = None,
    test_samples: int | None = None,
    on_progress: OnProgress | None = None,
    on_scores: OnScores | None = None,
) -> polars.DataFrame:
    """Score a run on random images of its data set, encoding each distinct one once; see `Run.evaluate`."""
    preset = PRESETS[request.preset]
    rows = preset.samples if samples is None else samples
    test_rows = preset.test_samples if test_samples is None else test_samples
    if rows < 2 or test_rows < 2:
        raise UsageError("scores need at least two samples, and two test samples")
    if len(run.data) < 4:
        raise UsageError(f"scores need four images or more, and the data set has {len(run.data)}")
    needs = {need for name in request.choose() for need in METRICS[name].needs}
    if any("encode" in METRICS[name].needs for name in request.by_name if name in METRICS):
        require_grid(run.data, "a metric that intervenes on factors")  # a group does without it
    pooled = preset.pool if "source" in needs else 0
    indices, rows, test_rows = _draw(len(run.data), rows, test_rows, pooled, request.seed)

    started = perf_counter()
    means, log_variances = _encode_rows(run, indices, on_progress)
    _warn(run, means, log_variances)
    train, held_out = slice(0, rows), slice(rows, rows + test_rows)
    factors = run.data.values(indices)
    given: dict[str, Any] = {"pool": (means, factors) if pooled else None}
    if "encode" in needs and run.data.is_grid:
        given["codebook"] = Codebook(run.encode, run.data, watch=_naming(on_progress, "encoding"))
        given["codebook"].add(indices, means)
    if log_variances is not None:
        given["log_variances"] = log_variances[train]
        if "reconstruction" in needs:
            codes = _sample(means[train], log_variances[train], request.seed)
            given["reconstruction"] = _reconstruction(run, indices[train], codes)
    if "jacobians" in needs:
        given["jacobians"] = run.jacobians(means[:JACOBIANS])
    test = means[held_out], factors[held_out]
    inputs = gather(means[train], factors[train], test, request, run.data.factors.names, **given)
    inputs["encoding"] = perf_counter() - started
    return score(inputs, request, on_progress, on_scores)


def _warn(run: Run, means: np.ndarray, log_variances: np.ndarray | None) -> None:
    """Warn of a run whose scores will change, and of a model that uses none of its latents."""
    if run.state != "finished":
        planned = run.settings.training.steps
        text = f"the run is {run.state}, at step {run.step:,} of {planned:,}: these are scores of a half-trained model"
        warnings.warn(text, Unfinished, stacklevel=4)
    if collapsed := collapse(carried(means, log_variances), log_variances is None):
        warnings.warn(collapsed, Collapsed, stacklevel=4)


def _draw(images: int, rows: int, test_rows: int, pooled: int, seed: int) -> tuple[np.ndarray, int, int]:
    """Return the indices of random images, and how many of them are train rows and, after these, test rows.

    Of a large data set they are drawn independently, as in the published studies. Where more than `SHARED` of the test
    rows would be among the train rows too, and predicted from memory, each image is taken once: of a data set with
    fewer than are asked for, all, in the same proportion. Behind them come images for the pool alone.
    """
    rng = np.random.default_rng(seed)
    if rows <= SHARED * images:
        return rng.integers(images, size=max(rows + test_rows, pooled)), rows, test_rows
    if images < rows + test_rows:
        rows = min(max(2, round(images * rows / (rows + test_rows))), images - 2)
        test_rows = images - rows
    return rng.permutation(images)[: max(rows + test_rows, pooled)], rows, test_rows


def _encode_rows(run: Run, indices: np.ndarray, on_progress: OnProgress | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the posterior means and log-variances of images, each distinct one encoded once.

    Codes that are points have no log-variances.
    """
    distinct, inverse = np.unique(indices, return_inverse=True)
    means, log_variances = [], []
    for start in range(0, len(distinct), CHUNK):
        mean, log_variance = run.posterior(run.data.images(distinct[start : start + CHUNK]))
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
    return np.concatenate([run.losses(run.data.images(indices[part]), codes[part]) for part in parts])


def _naming(on_progress: OnProgress | None, name: str) -> Callable[[int, int], None] | None:
    return None if on_progress is None else lambda done, total: on_progress(name, done, total)
