"""The scores of a run: its images encoded once, what the metrics ask of the model gathered, the table saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.data.table import require_grid
from unweave.errors import UsageError
from unweave.metrics.codebook import Codebook
from unweave.metrics.evaluate import Options, check_request, choose, evaluate
from unweave.metrics.inputs import DRAW, generator
from unweave.metrics.presets import PRESETS
from unweave.metrics.table import METRICS
from unweave.runs import Run

if TYPE_CHECKING:
    import polars

JACOBIANS = 64
"""Samples at which the decoder's Jacobian is taken."""
CHUNK = 1024
"""Images drawn at once."""
SHARED = 0.05
"""The share of test rows that may also be among the rows fitted."""

Watch = Callable[[str, int, int], None]
"""What is done now, how much of it, and of how much."""


def score_run(
    run: Run,
    metrics: str | Sequence[str] = "all",
    *,
    preset: str = "paper",
    samples: int | None = None,
    test_samples: int | None = None,
    options: Options | None = None,
    label_noise: int | None = None,
    seed: int = 0,
    intervals: bool = True,
    watch: Watch | None = None,
    keep: Callable[[polars.DataFrame], None] | None = None,
) -> polars.DataFrame:
    """Score a run on random images of its data set, encoding each distinct one once; see `Run.evaluate`."""
    check_request(metrics, preset, options, label_noise)
    rows = PRESETS[preset].samples if samples is None else samples
    test_rows = PRESETS[preset].test_samples if test_samples is None else test_samples
    if rows < 2 or test_rows < 2:
        raise UsageError("scores need at least two samples, and two test samples")
    if len(run.data) < 4:
        raise UsageError(f"scores need four images or more, and the data set has {len(run.data)}")
    needs = {need for name in choose(metrics) for need in METRICS[name].needs}
    by_name = [metrics] if isinstance(metrics, str) else metrics
    if any("encode" in METRICS[name].needs for name in by_name if name in METRICS):
        require_grid(run.data, "a metric that intervenes on factors")  # a group does without it
    indices, rows = _draw(len(run.data), rows, test_rows, seed)
    means, log_variances = _encode_rows(run, indices, watch)
    factors = run.data.values(indices)
    inputs: dict[str, Any] = {"log_variances": log_variances[:rows]}
    if "encode" in needs and run.data.is_grid:
        inputs["codebook"] = Codebook(run.encode, run.data, watch=_naming(watch, "encoding"))
        inputs["codebook"].add(indices, means)
    if "reconstruction" in needs:
        inputs["reconstruction"] = _reconstruction(run, indices[:rows], means, log_variances, seed)
    if "jacobians" in needs:
        inputs["jacobians"] = run.jacobians(means[:JACOBIANS])
    return evaluate(
        means[:rows],
        factors[:rows],
        metrics,
        test=(means[rows:], factors[rows:]),
        preset=preset,
        options=options,
        label_noise=label_noise,
        names=run.data.factors.names,
        seed=seed,
        intervals=intervals,
        watch=watch,
        keep=keep,
        **inputs,
    )


def _draw(images: int, rows: int, test_rows: int, seed: int) -> tuple[np.ndarray, int]:
    """Return the indices of random images, and how many of them come before those to test on.

    Of a large data set they are drawn independently, as in the published studies. Where more than `SHARED` of the test
    rows would be among the others too, and foretold from memory, each image is taken once: of a data set with fewer
    than are asked for, all, in the same proportion.
    """
    rng = np.random.default_rng(seed)
    if rows <= SHARED * images:
        return rng.integers(images, size=rows + test_rows), rows
    if images < rows + test_rows:
        rows = min(max(2, round(images * rows / (rows + test_rows))), images - 2)
    return rng.permutation(images)[: rows + test_rows], rows


def _encode_rows(run: Run, indices: np.ndarray, watch: Watch | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the posterior means and log-variances of images, each distinct one encoded once."""
    distinct, inverse = np.unique(indices, return_inverse=True)
    means = np.empty((len(distinct), run.model.latents), np.float32)
    log_variances = np.empty_like(means)
    for start in range(0, len(distinct), CHUNK):
        part = slice(start, start + CHUNK)
        means[part], log_variances[part] = run.posterior(run.data.images(distinct[part]))
        if watch:
            watch("encoding", min(part.stop, len(distinct)), len(distinct))
    return means[inverse], log_variances[inverse]


def _reconstruction(
    run: Run, indices: np.ndarray, means: np.ndarray, log_variances: np.ndarray, seed: int
) -> np.ndarray:
    """Return the reconstruction loss (n,) of each image from one sample of its posterior."""
    noise = generator(seed, DRAW).normal(size=means[: len(indices)].shape)
    codes = means[: len(indices)] + np.exp(log_variances[: len(indices)] / 2) * noise
    parts = [slice(start, start + CHUNK) for start in range(0, len(indices), CHUNK)]
    return np.concatenate([run.losses(run.data.images(indices[part]), codes[part]) for part in parts])


def _naming(watch: Watch | None, name: str) -> Callable[[int, int], None] | None:
    return None if watch is None else lambda done, total: watch(name, done, total)
