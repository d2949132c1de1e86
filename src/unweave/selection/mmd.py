"""Maximum mean discrepancy of point clouds with paired points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.metrics.inputs import generator, whole_number

FREQUENCIES, POINTS = 10, 11
"""Random streams: of the kernel's features, and of the points whose median distance is the bandwidth."""
MEDIAN_POINTS = 2_000
"""Number of points for the median distance."""
EXACT = 4_000
"""By default, clouds of at most this many points are compared exactly."""
CHUNK = 1 << 22
"""Largest number of feature values held at once."""


def mmd2(x: ArrayLike, y: ArrayLike, *, bandwidth: float | None = None, features: int = 0, seed: int = 0) -> float:
    r"""Return the unbiased squared maximum mean discrepancy [Gretton2012]_ of two clouds of paired points.

        MMD^2 = 1 / (n (n - 1)) sum over i != j of k(x_i, x_j) + k(y_i, y_j) - k(x_i, y_j) - k(x_j, y_i)

    with k(x, y) = exp(-|x - y|^2 / 2 h^2); their lemma 6, equation 4. A point is not compared with its partner, so that
    identical clouds score exactly 0, and two samples of one distribution 0 on average.

    Parameters
    ----------
    x, y
        Points (n, d).
    bandwidth
        h; by default the median distance between points of both clouds.
    features
        0 computes all n^2 kernel values; otherwise this many random Fourier features [Rahimi2007]_ replace them.
    seed
        Seed of the features and of the points for the median.

    Returns
    -------
    float
        The discrepancy, at most 2; for similar clouds it may be slightly below 0.

    References
    ----------
    .. [Gretton2012] Gretton, Borgwardt, Rasch, Schölkopf and Smola, "A Kernel Two-Sample Test", JMLR 2012.
    .. [Rahimi2007] Rahimi and Recht, "Random Features for Large-Scale Kernel Machines", NeurIPS 2007.

    Examples
    --------
    >>> from unweave.selection import mmd2
    >>> mmd2([[0.0], [1.0]], [[0.0], [1.0]])
    0.0
    >>> round(mmd2([[0.0], [1.0]], [[9.0], [8.0]], bandwidth=1.0), 3)
    1.213
    """
    clouds = [np.asarray(each, dtype=np.float64) for each in (x, y)]
    if clouds[0].ndim != 2 or clouds[0].shape != clouds[1].shape:
        raise UsageError(f"clouds must have the same shape (points, d), got {clouds[0].shape} and {clouds[1].shape}")
    if not all(np.isfinite(cloud).all() for cloud in clouds):
        raise UsageError("points hold NaN or an infinity")
    return float(mmd2_pairs(clouds, bandwidth=bandwidth, features=features, seed=seed)[0, 1])


def mmd2_pairs(
    clouds: Sequence[np.ndarray], *, bandwidth: float | None = None, features: int | None = None, seed: int = 0
) -> np.ndarray:
    """Return `mmd2` of every pair of clouds (n, d), symmetric, with NaN on the diagonal and one bandwidth for all.

    `features` of None is 0, exact, for clouds of at most 4,000 points, and 1,024 for larger ones.
    """
    if len(clouds[0]) < 2:
        raise UsageError(f"the discrepancy needs at least two points, got {len(clouds[0])}")
    if bandwidth is None:
        bandwidth = median_distance(clouds, seed)
    elif not bandwidth > 0:
        raise UsageError(f"bandwidth must be a number above 0, got {bandwidth!r}")
    if features is None:
        features = 0 if len(clouds[0]) <= EXACT else 1_024
    scaled = [cloud / bandwidth for cloud in clouds]
    if whole_number(features, "features", 0) == 0:
        return _exact(scaled)
    return _by_features(scaled, features, seed)


def median_distance(clouds: Sequence[np.ndarray], seed: int = 0) -> float:
    """Return the median distance between points of all clouds, over 2,000 points drawn by the seed.

    Where it is 0, since half of the points are the same, it is the mean distance; and 1 where that is 0 too.
    """
    rows = np.cumsum([len(cloud) for cloud in clouds])
    rng = generator(seed, POINTS)
    drawn = np.sort(rng.choice(rows[-1], size=min(MEDIAN_POINTS, int(rows[-1])), replace=False))
    places = np.searchsorted(rows, drawn, side="right")
    starts = np.concatenate([[0], rows[:-1]])
    points = np.stack([clouds[r][row - starts[r]] for r, row in zip(places, drawn, strict=True)])
    distances = np.sqrt(_squares(points, points))[np.triu_indices(len(points), 1)]
    return float(np.median(distances)) or float(distances.mean()) or 1.0


def _squares(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the squared distances (n, k) of points (n, d) and (k, d), in float64."""
    centre = x.mean(axis=0, dtype=np.float64)
    x, y = x - centre, y - centre
    return np.maximum((x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1) - 2 * x @ y.T, 0)


def _kernel_sum(x: np.ndarray, y: np.ndarray) -> float:
    """Return the sum of k(x_i, y_j) over all i and j, for points in units of the bandwidth."""
    size = max(1, CHUNK // len(y))
    parts = (x[start : start + size] for start in range(0, len(x), size))
    return float(sum(np.exp(-_squares(part, y) / 2).sum() for part in parts))


def _partners(x: np.ndarray, y: np.ndarray) -> float:
    """Return the sum over i of k(x_i, y_i)."""
    return float(np.exp(-((x - y).astype(np.float64) ** 2).sum(axis=1) / 2).sum())


def _exact(clouds: list[np.ndarray]) -> np.ndarray:
    count, n = len(clouds), len(clouds[0])
    own = [_kernel_sum(cloud, cloud) - n for cloud in clouds]
    pairs = np.full((count, count), np.nan)
    for i in range(count):
        for j in range(i):
            if np.array_equal(clouds[i], clouds[j]):
                pairs[i, j] = pairs[j, i] = 0.0
                continue
            cross = _kernel_sum(clouds[i], clouds[j]) - _partners(clouds[i], clouds[j])
            pairs[i, j] = pairs[j, i] = (own[i] + own[j] - 2 * cross) / (n * (n - 1))
    return pairs


def _by_features(clouds: list[np.ndarray], features: int, seed: int) -> np.ndarray:
    r"""Return the pairs from mean features: MMD^2 is the mean over frequencies of |phi_x(w) - phi_y(w)|^2.

    phi are empirical characteristic functions, and w is drawn from the kernel's spectrum, N(0, I). All terms are
    non-negative before the points' own and their partners' kernels are taken off, which are computed exactly: so the
    error is relative to MMD^2 itself, about 1 / sqrt(features) of it, however small it is.
    """
    count, n = len(clouds), len(clouds[0])
    frequencies = generator(seed, FREQUENCIES).standard_normal((clouds[0].shape[1], features)).astype(np.float32)
    means = np.stack([_mean_features(cloud, frequencies) for cloud in clouds])  # (R, 2 features)
    pairs = np.full((count, count), np.nan)
    for i in range(count):
        for j in range(i):
            apart = n**2 * float(((means[i] - means[j]) ** 2).sum()) / features
            pairs[i, j] = pairs[j, i] = (apart - 2 * (n - _partners(clouds[i], clouds[j]))) / (n * (n - 1))
    return pairs


def _mean_features(cloud: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    features = frequencies.shape[1]
    total = np.zeros(2 * features)
    size = max(1, CHUNK // features)
    for start in range(0, len(cloud), size):
        angles = cloud[start : start + size].astype(np.float32) @ frequencies
        total[:features] += np.cos(angles).sum(axis=0, dtype=np.float64)
        total[features:] += np.sin(angles, out=angles).sum(axis=0, dtype=np.float64)
    return total / len(cloud)
