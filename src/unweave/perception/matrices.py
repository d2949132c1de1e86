"""Mean distance matrices along factors, at every level of a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from unweave.data import Data
from unweave.data.factors import Integers
from unweave.data.table import require_grid
from unweave.errors import UsageError
from unweave.losses import loss_of
from unweave.metrics.inputs import generator, whole_number
from unweave.metrics.one_hot import OneHot
from unweave.metrics.traversals import traversals as cells_of
from unweave.perception.measured import chosen_factors
from unweave.perception.perceived import Floats, Perceived, distances_of
from unweave.progress import OnProgress, reporting
from unweave.runs import CHUNK, Run

Matrices = dict[str, dict[str, Floats]]
"""By factor, then by level: matrices (size, size)."""


def distance_matrices(
    data: Data | None,
    loss: str | None = None,
    *,
    run: Run | None = None,
    traversals: int = 100,
    seed: int = 0,
    standardise: bool | None = None,
    factors: Sequence[str] | None = None,
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
) -> Matrices:
    r"""Average the distances between all images of a traversal over traversals [Michlo2022]_, eq. 3.7.

    Parameters
    ----------
    data
        A data set that is a full grid of factors, or its name; None for that of the run.
    loss
        The name of a reconstruction loss; by default that of the run, or else mse.
    run
        A trained model: the distances between its codes and between its reconstructions are measured too.
    traversals
        Random traversals of each factor.
    seed
        Seed of the traversals.
    standardise
        Whether pixels are standardised; with a run they are as it has them.
    factors
        Names of the factors; by default all that vary.
    progress, on_progress
        Whether to show a progress bar, and a function to call instead.

    Returns
    -------
    dict
        By factor, then by level, a matrix (size, size): "factors" (ℓ1), "data" (perceived) and, with a run, "latents"
        (ℓ2 of posterior means), "posteriors" (symmetric KL divergence in nats, where codes have a variance) and
        "reconstructions" (perceived, of the decoded means, where there is a decoder).

    Examples
    --------
    >>> from unweave.perception import distance_matrices
    >>> distance_matrices("xysquares:spacing=1", traversals=2)["x_R"]["data"][0, :3].round(4).tolist()
    [0.0, 0.0013, 0.0026]
    """
    if data is None and run is None:
        raise UsageError("distance matrices need data, or a run")
    if run is not None:
        loss = loss or run.settings.method.loss
        standardise = run.settings.training.standardise
    given = run.data if data is None and run is not None else data
    seen = Perceived(given, loss or "mse", standardise=standardise)  # pyright: ignore[reportArgumentType]
    require_grid(seen.data, "a distance matrix")
    count, sizes = whole_number(traversals, "traversals", 1), seen.data.factors.sizes
    found: Matrices = {}
    with reporting(on_progress, progress) as told:
        for axis in chosen_factors(seen.data, factors):
            name = seen.data.factors.names[axis]
            cells = cells_of(sizes, axis, seen.data.sample(count, generator(seed, axis + 1)))
            steps = np.arange(sizes[axis])
            found[name] = {
                "factors": np.abs(steps[:, None] - steps).astype(np.float64),
                "data": _data(seen, cells, told, name),
            }
            if run is not None:
                found[name] |= _model(run, seen, cells, told, name)
    return found


def _data(seen: Perceived, cells: Integers, on_progress: OnProgress, name: str) -> Floats:
    """Return the mean matrix of perceived distances of traversals (count, size)."""
    places = _places(cells.shape[1], symmetric=seen.loss.features is not None)
    apart = seen.distances(cells[:, places].reshape(-1, 2), on_progress, name)
    return _matrix(apart.reshape(len(cells), -1).mean(axis=0), places, cells.shape[1])


def _model(run: Run, seen: Perceived, cells: Integers, on_progress: OnProgress, name: str) -> dict[str, Floats]:
    """Return the mean matrices of the model's codes and reconstructions of traversals (count, size)."""
    size = cells.shape[1]
    step = max(1, CHUNK // size)
    sums: dict[str, Floats] = {}
    for start in range(0, len(cells), step):
        on_progress(f"{name} in the model", start, len(cells))
        part = cells[start : start + step]
        means, log_variances = run.posterior(seen.data.inputs(part.ravel()))
        columns = OneHot.with_categories(run.categories)(means)  # any two categories are equally far apart
        levels = {"latents": _euclidean(columns.reshape(-1, size, columns.shape[1]))}
        if log_variances is not None and run.has_posterior:
            levels["posteriors"] = _symmetric_kl(
                *(each.reshape(-1, size, means.shape[1]) for each in (means, log_variances))
            )
        if run.has_decoder:
            levels["reconstructions"] = _reconstructed(run, seen, means, size)
        sums = {level: sums.get(level, 0.0) + found for level, found in levels.items()}
    return {level: found / len(cells) for level, found in sums.items()}


def _euclidean(means: NDArray[np.float32]) -> Floats:
    """Return the summed ℓ2 distances (size, size) of codes (count, size, latents)."""
    apart = means[:, :, None].astype(np.float64) - means[:, None]
    return np.sqrt((apart**2).sum(axis=3)).sum(axis=0)


def _symmetric_kl(means: NDArray[np.float32], log_variances: NDArray[np.float32]) -> Floats:
    """Return the summed (KL(p || q) + KL(q || p)) / 2 of diagonal Gaussians (count, size, latents), in nats."""
    variances = np.exp(log_variances.astype(np.float64))
    p, q = variances[:, :, None], variances[:, None]
    squares = (means[:, :, None].astype(np.float64) - means[:, None]) ** 2
    return (((p + squares) / q + (q + squares) / p - 2) / 4).sum(axis=(0, 3))


def _reconstructed(run: Run, seen: Perceived, codes: NDArray[np.float32], size: int) -> Floats:
    """Return the summed perceived distances (size, size) of the decoded traversals of codes (count · size, latents)."""
    mean = loss_of(run.settings.method.loss).mean
    places = _places(size, symmetric=seen.loss.features is not None)
    summed = np.zeros(len(places))
    with torch.inference_mode():
        for part in codes.reshape(-1, size, codes.shape[1]):
            values = mean(run.model.decode(run.model.embed(torch.from_numpy(part).to(run.model.device)))).float().cpu()
            summed += distances_of(seen.loss, values, places)
    return _matrix(summed, places, size)


def _places(size: int, *, symmetric: bool) -> Integers:
    """Return the pairs (m, 2) of different positions in a traversal, each once if distances are symmetric."""
    first, second = np.nonzero(np.triu(np.ones((size, size)), 1) if symmetric else 1 - np.eye(size))
    return np.stack([first, second], axis=1)


def _matrix(distances: Floats, places: Integers, size: int) -> Floats:
    matrix = np.zeros((size, size))
    if len(places) < size * (size - 1):
        matrix[places[:, 1], places[:, 0]] = distances
    matrix[places[:, 0], places[:, 1]] = distances
    return matrix
