"""Projections of codes to a common width, because scores depend on the number of latents."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from unweave.errors import UsageError, unknown, warn_user
from unweave.progress import OnProgress, silent

WIDTH = 64
"""The default width, or fewer if codes are narrower."""
ITERATIONS, TOLERANCE = 1000, 1e-4
Projected = tuple[np.ndarray, dict[str, Any]]
"""Codes, and the record of how they were made."""
Projection = Callable[[np.ndarray, int, int, OnProgress], Projected]


def project(
    codes: np.ndarray,
    projection: str,
    width: int | None = None,
    *,
    seed: int = 0,
    on_progress: OnProgress = silent,
) -> Projected:
    """Project codes (n, d) to a common width by a projection fitted to them.

    Parameters
    ----------
    codes
        One row per image (n, d).
    projection
        "pca": the first principal components; "ica": independent components of these; "sparse": the features of a TopK
        sparse autoencoder.
    width
        Number of columns to keep; by default 64, or all if there are fewer. A sparse autoencoder takes any number.
    seed
        Seed of the fit.
    on_progress
        Called with the progress.

    Returns
    -------
    tuple[np.ndarray, dict]
        The codes (n, width), float32, and a record of the fit: kind, width, seed, and details such as the share of
        variance kept, or the settings and statistics of a sparse autoencoder.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.random.default_rng(0).normal(size=(200, 20))
    >>> narrow, record = project(codes, "pca", width=5)
    >>> narrow.shape
    (200, 5)
    """
    if projection not in PROJECTIONS:
        raise unknown("projection", projection, PROJECTIONS)
    rows, columns = codes.shape
    most = min(rows, columns)
    if width is None:
        width = min(WIDTH, most)
    if not isinstance(width, int | np.integer) or isinstance(width, bool) or width < 1:
        raise UsageError(f"width must be a whole number, 1 or more, not {width!r}")
    if projection != "sparse" and width > most:
        raise UsageError(
            f"{projection} cannot make {width} columns from {rows} rows with {columns} columns; at most {most}"
        )
    values, record = PROJECTIONS[projection](codes, int(width), seed, on_progress)
    return values.astype(np.float32), {"kind": projection, "width": int(width), "seed": seed, **record}


def _pca(codes: np.ndarray, width: int, seed: int, on_progress: OnProgress) -> Projected:
    from sklearn.decomposition import PCA

    on_progress("principal components", 0, None)
    fit = PCA(width, random_state=seed)
    values = fit.fit_transform(codes)
    return values, {"variance": float(fit.explained_variance_ratio_.sum())}


def _ica(codes: np.ndarray, width: int, seed: int, on_progress: OnProgress) -> Projected:
    """Unmix the principal components; FastICA on all columns would do the same, slowly."""
    from sklearn.decomposition import FastICA
    from sklearn.exceptions import ConvergenceWarning

    values, record = _pca(codes, width, seed, on_progress)
    kept = values.std(0) > 1e-6 * values.std(0).max()
    if not kept.all():
        raise UsageError(f"ica cannot make {width} columns from {int(kept.sum())} directions; ask for fewer")
    on_progress("independent components", 0, None)
    fit = FastICA(whiten="unit-variance", random_state=seed, max_iter=ITERATIONS, tol=TOLERANCE)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ConvergenceWarning)
        values = np.asarray(fit.fit_transform(values))
    converged = not any(issubclass(item.category, ConvergenceWarning) for item in said)
    if not converged:
        warn_user(
            f"ica has not converged after {ITERATIONS} iterations: try a smaller width, or more images", UserWarning
        )
    return values, {**record, "converged": converged}


def _sparse(codes: np.ndarray, width: int, seed: int, on_progress: OnProgress) -> Projected:
    from unweave.encoders.sparse import SparseSettings, fit_sparse

    k = min(SparseSettings.k, width)
    fit = fit_sparse(codes, features=width, k=k, seed=seed, on_progress=on_progress)
    return fit.encode(codes), {"settings": fit.settings.to_json(), **fit.statistics(codes)._asdict()}


PROJECTIONS: dict[str, Projection] = {"pca": _pca, "ica": _ica, "sparse": _sparse}
"""To add one: a function of codes, width, seed and on_progress that returns codes and a record, and a line here."""
