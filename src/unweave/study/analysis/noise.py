r"""Whether scores with noisy labels order specifications like those with clean labels [Holtz2022]_, table 3.

Seeds are random, specifications are fixed. The interval resamples seeds, the same ones for every specification and for
clean and noisy scores, takes the correlation of the means each time, and widens the percentiles of Fisher's
:math:`z = \operatorname{artanh} r` for the small number of seeds (see `seeds.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars

from unweave.errors import UsageError
from unweave.study.analysis.seeds import FEW_SEEDS, stretched
from unweave.study.analysis.tidy import groups_of, settings_of_cells

RESAMPLES = 2_000
CLOSE_TO_ONE = 1 - 1e-9
NOISE = "label_noise"
KINDS = ("pearson", "spearman")


def noise_robustness(
    table: polars.DataFrame,
    metrics: Sequence[str] | None = None,
    *,
    over: Literal["specifications", "runs"] = "specifications",
    seed: int = 0,
) -> polars.DataFrame:
    """Return how well scores under each regime of label noise correlate with those on clean labels.

    Parameters
    ----------
    table
        What `unweave.study.score_under_noise` returns: a row for each run, metric and regime, with `label_noise` 0 for
        clean labels.
    metrics
        Which; by default all of the table.
    over
        "specifications": scores are averaged over the seeds of each specification (all settings but the seed) first.
        "runs": every run is a point.
    seed
        Seed of the resampling.

    Returns
    -------
    polars.DataFrame
        data, metric, label_noise, pearson and spearman, each with low and high (95 % over resampled seeds), points (the
        specifications or runs) and seeds. A correlation is null if a score is constant or there are fewer than three
        points, and has no interval with fewer than five seeds.
    """
    if NOISE not in table.columns:
        raise UsageError(f"the table has no column {NOISE}; make it with unweave.study.score_under_noise")
    if over not in ("specifications", "runs"):
        raise UsageError(f"over must be specifications or runs, not '{over}'")
    known = table["metric"].unique(maintain_order=True).to_list()
    for metric in metrics or ():
        if metric not in known:
            raise UsageError(f"the table has no metric '{metric}' (it has: {', '.join(known)})")
    rows = []
    for (data,), part in table.group_by("data", maintain_order=True):
        for metric in metrics or known:
            chosen = part.filter(polars.col("metric") == metric)
            rows += [{"data": data, "metric": metric, **found} for found in _regimes(chosen, over, seed)]
    numbers = [f"{kind}{end}" for kind in KINDS for end in ("", "_low", "_high")]
    schema = {"data": polars.String, "metric": polars.String, NOISE: polars.Int64}
    return polars.DataFrame(
        rows, schema={**schema, **dict.fromkeys(numbers, polars.Float64), "points": polars.Int64, "seeds": polars.Int64}
    )


def _regimes(chosen: polars.DataFrame, over: str, seed: int) -> list[dict[str, object]]:
    """Return a row for each regime of one metric on one data set."""
    settings = [name for name in settings_of_cells(chosen) if name != NOISE]
    cells, seeds = groups_of(chosen, settings), groups_of(chosen, ["seed"])
    regimes = sorted(chosen[NOISE].unique().to_list())
    if not len(chosen) or 0 not in regimes:
        return []
    cube = np.full((len(regimes), cells.max() + 1, seeds.max() + 1), np.nan)
    places = [regimes.index(found) for found in chosen[NOISE].to_list()]
    cube[places, cells, seeds] = chosen["value"].cast(polars.Float64).fill_null(np.nan).to_numpy()
    cube[:, np.isnan(cube).any(axis=0)] = np.nan  # a run counts where all of its scores are there
    return [{NOISE: regime, **_both(cube[[0, at]], over, seed)} for at, regime in enumerate(regimes) if regime]


def _both(pair: np.ndarray, over: str, seed: int) -> dict[str, object]:
    """Return both correlations of clean and noisy scores (2, specifications, seeds), with their intervals."""
    count = pair.shape[2]
    drawn = np.random.default_rng(seed).integers(count, size=(RESAMPLES, count))
    found: dict[str, object] = {"points": int(np.isfinite(_points(pair, over)).all(axis=0).sum()), "seeds": count}
    for kind in KINDS:
        value = _correlation(_points(pair, over), kind)
        low = high = None
        if value is not None and count >= FEW_SEEDS:
            again = [_correlation(_points(pair[:, :, some], over), kind) for some in drawn]
            z = np.arctanh(np.clip([r for r in again if r is not None], -CLOSE_TO_ONE, CLOSE_TO_ONE))
            ends = stretched(z, float(np.arctanh(np.clip(value, -CLOSE_TO_ONE, CLOSE_TO_ONE))), count)
            low, high = np.tanh(ends).tolist()
        found |= {kind: value, f"{kind}_low": low, f"{kind}_high": high}
    return found


def _points(pair: np.ndarray, over: str) -> np.ndarray:
    """Return the points (2, n): means over the available seeds, or all runs."""
    if over == "runs":
        return pair.reshape(2, -1)
    there = np.isfinite(pair[0])
    sums = np.where(there, pair, 0.0).sum(axis=2)
    with np.errstate(invalid="ignore"):
        return sums / there.sum(axis=1)


def _correlation(points: np.ndarray, kind: str) -> float | None:
    """Return Pearson's correlation of two rows, or that of their ranks; None if one is constant."""
    from scipy.stats import rankdata

    points = points[:, np.isfinite(points).all(axis=0)]
    if points.shape[1] < 3 or not (np.ptp(points, axis=1) > 0).all():
        return None
    if kind == "spearman":
        points = rankdata(points, axis=1)
    a, b = points - points.mean(axis=1, keepdims=True)
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))
