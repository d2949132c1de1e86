"""Check the inputs of metrics and collect them under the names of the metrics' parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.metrics.inputs import (
    DRAW,
    GivenPair,
    bin_factors,
    bin_pair,
    check_codes,
    check_sets,
    generator,
    is_continuous,
)
from unweave.metrics.mislabelled import with_label_noise
from unweave.metrics.one_hot import check_categorical
from unweave.metrics.pool import Pool
from unweave.metrics.request import Request
from unweave.metrics.table import metric_of

if TYPE_CHECKING:
    from unweave.metrics.codebook import Codebook


def gather(
    codes: ArrayLike,
    factors: ArrayLike | None,
    test: GivenPair | None,
    request: Request,
    names: Sequence[str] | None = None,
    codebook: Codebook | None = None,
    pool: GivenPair | None = None,
    log_variances: ArrayLike | None = None,
    reconstruction: ArrayLike | None = None,
    jacobians: ArrayLike | None = None,
) -> dict[str, Any]:
    """Return all inputs of metrics, checked, by the names of their parameters."""
    inputs: dict[str, Any] = {"seed": request.seed, "encode": codebook, "jacobians": jacobians, "names": names}
    inputs |= _rows(codes, factors, test, request)
    inputs["categorical"] = check_categorical(request.categorical, inputs["codes"].shape[1])
    _check_names(names, inputs.get("factors"))
    inputs |= _posterior(inputs, log_variances, reconstruction, request.seed)
    if any("source" in metric_of(name).needs for name in request.choose()):
        inputs |= _source(inputs, request, codebook, pool)
    return inputs if request.label_noise is None else with_label_noise(inputs, request.label_noise)


def carried_factors(codes: Any) -> np.ndarray | None:
    """Return the factors that come with the result of `unweave.encoders.encode`; None for plain arrays."""
    if not isinstance(codes, Mapping):
        return getattr(codes, "factors", None)
    found = [getattr(each, "factors", None) for each in codes.values()]
    if not found or found[0] is None:
        return None
    if any(each is None or not np.array_equal(each, found[0]) for each in found):
        raise UsageError("these are codes of different samples: encode them with one seed, or pass factors")
    return found[0]


def _source(
    inputs: Mapping[str, Any], request: Request, codebook: Codebook | None, pool: GivenPair | None
) -> dict[str, Any]:
    """Return the source of batches that share a factor's value, if there is one."""
    if codebook is not None and request.preset != "fast":
        return {"source": codebook}
    if inputs.get("factors") is None or inputs["continuous"]:
        return {}
    return {"source": _all_rows(inputs) if pool is None else Pool(*pool)}


def _all_rows(inputs: Mapping[str, Any]) -> Pool:
    """Return a pool of all given rows, train and test."""
    pairs = [(inputs["codes"], inputs["factors"]), *([] if inputs["test"] is None else [inputs["test"]])]
    codes, factors = (np.concatenate(arrays) for arrays in zip(*pairs, strict=True))
    return Pool(codes, factors)


def _check_names(names: Sequence[str] | None, factors: np.ndarray | None) -> None:
    if names is not None and factors is not None and len(names) != factors.shape[1]:
        raise UsageError(f"there are {factors.shape[1]} factors but {len(names)} names: pass one name for each factor")


def _rows(codes: ArrayLike, factors: ArrayLike | None, test: GivenPair | None, request: Request) -> dict[str, Any]:
    """Return codes, factors and test rows, checked, with continuous factors binned if requested."""
    if factors is None:
        if test is not None or request.label_noise is not None:
            raise UsageError("test rows and label noise need factors")
        values = check_codes(codes)
        return {"codes": values, "means": values, "test": None, "continuous": False}
    (values, labels), held_out = check_sets(codes, factors, test, continuous=True)
    if request.bin_factors is not None and held_out is None:
        labels = bin_factors(labels, request.bin_factors)
    test_codes, test_labels = held_out or (values[:0], labels[:0])
    if request.bin_factors is not None and held_out is not None:
        labels, test_labels = bin_pair(labels, test_labels, request.bin_factors)
    continuous = bool(is_continuous(labels).any())
    given = {"codes": values, "means": values, "factors": labels, "continuous": continuous}
    return given | {"test": held_out and (test_codes, test_labels), "label_noise": None}


def _posterior(
    inputs: Mapping[str, Any], log_variances: ArrayLike | None, reconstruction: ArrayLike | None, seed: int
) -> dict[str, np.ndarray]:
    """Return what is given of the posteriors: the log-variances, a sample of each, the reconstruction losses."""
    known: dict[str, np.ndarray] = {}
    codes = inputs["codes"]
    if log_variances is not None:
        spread = check_codes(log_variances, "log_variances")
        if spread.shape != codes.shape:
            raise UsageError(f"log_variances have shape {spread.shape} but codes {codes.shape}")
        noise = generator(seed, DRAW).normal(size=codes.shape)
        noise[:, inputs["categorical"]] = 0.0  # categories are not sampled
        known = {"log_variances": spread, "sampled": codes + np.exp(spread / 2) * noise}
    if reconstruction is not None:
        losses = np.asarray(reconstruction)
        if losses.dtype.kind not in "biuf":
            raise UsageError(f"reconstruction must be numbers, got an array of type {losses.dtype}")
        known["reconstruction"] = losses.astype(np.float64)
    return known
