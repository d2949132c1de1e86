"""The training-dynamics score: do decoders that differ only in their seed treat samples in the same way?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError, unknown
from unweave.hardware import cores
from unweave.metrics.inputs import generator, whole_number
from unweave.progress import OnProgress, silent
from unweave.selection.diffusion import Diffusion
from unweave.selection.embedding import left_singular_vectors, threads
from unweave.selection.mmd import mmd2_pairs
from unweave.selection.multislice import multislice

START = 12
"""Random stream of the first block of the singular vectors."""
CHOICES = {
    "normalise": ("none", "moment", "length", "units"),
    "bandwidth": ("adaptive", "moment"),
}


@dataclass(frozen=True)
class Dynamics:
    """Options of the training-dynamics score: everything that [Holtz2022]_ leave open."""

    alpha: float = 5.0
    """Exponent of the kernel within a moment, as in m-phate. With 2, samples with many units are all about equally
    near, and a few steps mix them: two unrelated random traces (50, 500, 64) score 0.00003, but 0.58 with 5. The paper
    prints |d|^alpha / sigma^2, which depends on the scale of activations unless alpha is 2; here it is
    (|d| / sigma)^alpha, as in m-phate."""
    neighbours: int = 5
    """The bandwidth sigma is the distance to the neighbour of this rank; m-phate uses 2."""
    bandwidth: Literal["adaptive", "moment"] = "adaptive"
    """"adaptive": a sigma for each moment and sample, as in the paper. "moment": their median at each moment."""
    moment_neighbours: int | None = None
    """The bandwidth epsilon is the distance to the moment of this rank; None: half of the moments (m-phate: 25)."""
    epsilon: float = 1.0
    """Factor that multiplies epsilon."""
    normalise: Literal["none", "moment", "length", "units"] = "moment"
    """"none": unchanged activations. "moment": at each moment, mean 0 over samples and mean square length 1, so that
    growth and drift of a layer do not count as change. "length": each activation has length 1. These are invariant to
    rotations of units. "units": mean 0 and variance 1 over units, as in m-phate: invariant to permutations only."""
    steps: int = 8
    """Diffusion steps t."""
    dimension: int = 8
    """Number of singular vectors of the embedding."""
    trivial: bool = False
    """Whether to include the first singular vector, which is nearly constant."""
    scaled: bool = False
    """Whether singular vectors are multiplied by their values; distances are then diffusion distances."""
    features: int | None = None
    """Random features of the MMD; 0: exact; None: exact up to 4,000 points (moments x samples), then 1,024."""
    mmd_bandwidth: float | None = None
    """Bandwidth of the MMD's Gaussian kernel; None: the median distance of points of all realisations."""

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise unknown(f"choice of {name}", str(getattr(self, name)), known)
        for name in ("alpha", "epsilon"):
            _above_zero(name, getattr(self, name))
        for name in ("neighbours", "steps", "dimension"):
            whole_number(getattr(self, name), name, 1)
        if self.moment_neighbours is not None:
            whole_number(self.moment_neighbours, "moment_neighbours", 1)
        if self.features is not None:
            whole_number(self.features, "features", 0)
        if self.mmd_bandwidth is not None:
            _above_zero("mmd_bandwidth", self.mmd_bandwidth)


def dynamics(traces: ArrayLike | Sequence[ArrayLike], *, seed: int = 0, **options: Any) -> float:
    r"""Training-dynamics score [Holtz2022]_: how differently realisations of one specification learn; lower is better.

        score = mean over pairs of realisations (r, s) of MMD^2(U_r, U_s)

    where the rows of U_r embed the points (moment, sample) of realisation r. A kernel joins samples that the decoder
    treats similarly at a moment, and each sample to itself across moments; a random walk of t steps on it gives the
    diffusion kernel; the left singular vectors of the diffusion kernels of all realisations, stacked, are U.

    Parameters
    ----------
    traces
        Activations of hidden units (realisations, moments, samples, units) on the same samples at the same moments; or
        a sequence of (moments, samples, units), whose numbers of units may differ.
    seed
        Seed of the first block of the singular vectors and of the random features.
    **options
        Fields of `Dynamics`, and `threads` (all cores) and `on_progress`.

    Returns
    -------
    float
        The score, from 0 (the same dynamics; it may be slightly negative by chance) to 2.

    Notes
    -----
    The score depends only on distances between activations: the order of units, their signs, any rotation of them
    (except with `normalise="units"`) and a common factor change nothing. Samples correspond across realisations; units
    do not.

    The paper leaves open: m, the moments, the layers, mean or sampled codes (choices of who records traces); alpha, the
    rules for sigma and epsilon, t, normalisation, the dimension of the embedding, weights of singular vectors, whether
    the trivial one counts, the kernel, bandwidth and estimator of the MMD. `benchmarks/dynamics_options.py` changes one
    at a time (`docs/results/dynamics-options.csv`). Synthetic traces with known answers rule out alpha 1, 1, 2 or 32
    steps and 2 dimensions; the defaults are among the remaining values. 24 runs on rooms3d, reported nowhere else, do
    not decide between these: Spearman's correlation with MIG over six specifications is between -0.7 and 0.5 for all
    of them, and chance alone has a standard deviation of 0.45.

    References
    ----------
    .. [Holtz2022] Holtz, Mishne and Cloninger, "Evaluating Disentanglement in Generative Models Without Knowledge of
       Latent Factors", 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.selection import dynamics
    >>> trace = np.random.default_rng(0).normal(size=(4, 30, 6)).cumsum(axis=0)
    >>> abs(dynamics([trace, -trace[:, :, ::-1]])) < 1e-6
    True
    >>> dynamics(np.random.default_rng(0).normal(size=(2, 4, 30, 6)).cumsum(axis=1)) > 0.01
    True
    """
    pairs = dynamics_pairs(traces, seed=seed, **options)
    return float(np.mean(pairs[np.tril_indices(len(pairs), -1)]))


def dynamics_pairs(
    traces: ArrayLike | Sequence[ArrayLike],
    *,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> np.ndarray:
    """Return the unbiased MMD^2 of every pair of realisations, of which `dynamics` is the mean.

    Parameters
    ----------
    traces, seed, **options
        As for `dynamics`.
    threads
        Number of threads; None: as many as this process may use. It does not change the result.
    on_progress
        Called at each stage.

    Returns
    -------
    array
        Symmetric (R, R), NaN on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.selection import dynamics_pairs
    >>> trace = np.random.default_rng(0).normal(size=(4, 30, 6)).cumsum(axis=0)
    >>> bool(abs(dynamics_pairs([trace, -trace])[0, 1]) < 1e-6)
    True
    """
    chosen = _options(options)
    points = dynamics_embedding(traces, seed=seed, threads=threads, on_progress=on_progress, **options)
    clouds = list(points.reshape(len(points), -1, points.shape[-1]))
    (on_progress or silent)("discrepancies", 0, None)
    return mmd2_pairs(clouds, bandwidth=chosen.mmd_bandwidth, features=chosen.features, seed=seed)


def dynamics_embedding(
    traces: ArrayLike | Sequence[ArrayLike],
    *,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> np.ndarray:
    """Return the joint embedding of all realisations, which `dynamics_pairs` compares.

    Parameters
    ----------
    traces, seed, threads, on_progress, **options
        As for `dynamics_pairs`.

    Returns
    -------
    array
        Points (realisations, moments, samples, dimension), float32.
    """
    chosen = _options(options)
    arrays = checked_traces(traces)
    moments, samples = arrays[0].shape[:2]
    report = on_progress or silent
    rng = generator(seed, START)
    skipped = 0 if chosen.trivial else 1
    with _threads(threads) as mapping:
        walks = []
        for walk in mapping(lambda trace: Diffusion.of(multislice(trace, chosen), chosen.steps), arrays):
            walks.append(walk)
            report("kernels", len(walks), len(arrays))
        report("joint embedding", 0, None)
        points, values = left_singular_vectors(walks, chosen.dimension + skipped, rng, mapping)
    if chosen.scaled:
        points *= values.astype(np.float32)
    return points[:, :, skipped:].reshape(len(arrays), moments, samples, -1)


def checked_traces(traces: ArrayLike | Sequence[ArrayLike]) -> list[np.ndarray]:
    """Return traces (moments, samples, units_r) of two realisations or more, floats of any precision."""
    arrays = [_trace(each, place) for place, each in enumerate(_listed(traces))]
    if len(arrays) < 2:
        raise UsageError(f"dynamics need at least two realisations, got {len(arrays)}: train more seeds")
    shape = arrays[0].shape[:2]
    for place, array in enumerate(arrays):
        if array.shape[:2] != shape:
            sizes = [f"{moments} moments of {samples} samples" for moments, samples in (shape, array.shape[:2])]
            raise UsageError(
                f"realisations must have the same moments and samples: realisation 1 has {sizes[0]}, realisation "
                f"{place + 1} has {sizes[1]}"
            )
    if shape[0] < 2:
        raise UsageError(f"dynamics need at least two moments, got {shape[0]}: record traces more often")
    if shape[1] < 3:
        raise UsageError(f"dynamics need at least three samples, got {shape[1]}: record traces of more samples")
    return arrays


def _listed(traces: Any) -> list[Any]:
    if isinstance(traces, np.ndarray) and traces.ndim != 4:
        raise UsageError(f"traces must have shape (realisations, moments, samples, units), got {traces.shape}")
    try:
        return list(traces)
    except TypeError:
        raise UsageError("traces must be an array or a sequence of arrays (moments, samples, units)") from None


def _trace(values: ArrayLike, place: int) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise UsageError(f"realisation {place + 1} cannot be read as one array: {error}") from error
    if array.dtype.kind not in "biuf" or array.ndim != 3 or array.size == 0:
        kind = f"{array.dtype} of shape {array.shape}"
        raise UsageError(f"realisation {place + 1} must be numbers (moments, samples, units), got {kind}")
    if not np.isfinite(array).all():
        moment, sample, unit = (int(each) + 1 for each in np.argwhere(~np.isfinite(array))[0])
        where = f"moment {moment}, sample {sample}, unit {unit}"
        raise UsageError(f"realisation {place + 1} holds NaN or an infinity (the first at {where})")
    return array


def _options(given: dict[str, Any]) -> Dynamics:
    known = [each.name for each in fields(Dynamics)]
    for name in given:
        if name not in known:
            raise unknown("option of dynamics", name, known)
    return Dynamics(**given)


def _above_zero(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise UsageError(f"{name} must be a number above 0, got {value!r}")


def _threads(count: int | None) -> Any:
    return threads(whole_number(count, "threads", 1) if count is not None else cores())
