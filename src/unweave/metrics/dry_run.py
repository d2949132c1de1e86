"""Try the options of a metric on a small data set with known factors, before real data is scored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unweave.data.table import Table
from unweave.metrics.codebook import Codebook
from unweave.metrics.metric import Metric

SIZES, TIMES, LATENTS = (3, 4), 8, 10


def dry_run(metric: Metric[..., Any], options: Mapping[str, Any]) -> None:
    """Compute a metric with these options to raise what is wrong with them; the score is discarded."""
    metric.sampled(_world(), options)


def _world() -> dict[str, Any]:
    """Return all inputs of metrics: codes that follow the factors with some noise."""
    rng = np.random.default_rng(0)
    cells = np.stack(np.unravel_index(np.arange(np.prod(SIZES)), SIZES), axis=1)
    mix = rng.normal(size=(len(SIZES), LATENTS))
    factors = np.tile(cells, (TIMES, 1))
    codes = factors @ mix + 0.1 * rng.normal(size=(len(factors), LATENTS))
    book = Codebook(lambda images: codes[images[:, 0, 0, 0]], _pictures(cells))
    return {
        "codes": codes,
        "means": codes,
        "sampled": codes,
        "factors": factors,
        "test": None,
        "categorical": (),
        "seed": 0,
        "encode": book,
        "source": book,
        "log_variances": np.zeros_like(codes),
        "reconstruction": np.ones(len(codes)),
        "jacobians": rng.normal(size=(8, 16, LATENTS)),
    }


def _pictures(cells: np.ndarray) -> Table:
    """Return a data set with the number of each cell as its one pixel."""
    return Table(np.arange(len(cells), dtype=np.uint8).reshape(-1, 1, 1, 1), cells)
