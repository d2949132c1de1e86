"""What every metric demands of its arrays, checked once, each mistake answered in one line."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError

Pair: TypeAlias = tuple[np.ndarray, np.ndarray]
"""Codes (n, d) float64 and factors (n, k) int64 of the same n rows."""
GivenPair: TypeAlias = tuple[ArrayLike, ArrayLike]
"""The same as a user gives them: lists, other types, unchecked."""

LARGEST = 1e100
"""Larger codes are refused: their squares, which variances need, would overflow."""
MOST_BINS = 10_000
"""More would be finer than any sample, and fill the memory with counts of nothing."""
SPLIT, INTERVAL, DRAW, FIT = 0, 1, 2, 3
"""Random streams of one seed: the split, the subsets behind an interval, what a metric draws, its learner."""


def check(codes: ArrayLike, factors: ArrayLike, label: str = "") -> Pair:
    """Return codes (n, d) as float64 and factors (n, k) as int64; `label` goes before their names."""
    values = _check_codes(_table(codes, f"{label}codes"), f"{label}codes")
    labels = _check_factors(_table(factors, f"{label}factors"), f"{label}factors")
    if len(values) != len(labels):
        raise UsageError(f"{label}codes have {len(values)} rows but {label}factors have {len(labels)}")
    if len(values) < 2:
        raise UsageError(f"{label}codes need at least two samples, got {len(values)}")
    return values, labels


def check_codes(codes: ArrayLike, name: str = "codes") -> np.ndarray:
    """Return codes (n, d) that come alone, as float64; a mistake calls them by `name`."""
    values = _check_codes(_table(codes, name), name)
    if len(values) < 2:
        raise UsageError(f"{name} need at least two samples, got {len(values)}")
    return values


def check_factors(factors: ArrayLike, name: str = "factors") -> np.ndarray:
    """Return factors (n, k) that come alone, as int64; a mistake calls them by `name`."""
    return _check_factors(_table(factors, name), name)


def split(codes: ArrayLike, factors: ArrayLike, test: GivenPair | None, seed: int) -> tuple[Pair, Pair]:
    """Return the rows to fit on and the rows to judge on.

    With `test` these are the two sets given; without it, one third of the rows, drawn by the seed, is held out.
    """
    values, labels = check(codes, factors)
    if test is None:
        order = generator(seed, SPLIT).permutation(len(values))
        held, kept = np.split(order, [max(1, len(values) // 3)])
        return (values[kept], labels[kept]), (values[held], labels[held])
    if not isinstance(test, tuple | list) or len(test) != 2:
        raise UsageError("test must be a pair: test=(codes, factors)")
    judged = check(*test, label="test ")
    for name, ours, theirs in zip(("codes", "factors"), (values, labels), judged, strict=True):
        if ours.shape[1] != theirs.shape[1]:
            raise UsageError(f"test {name} have {theirs.shape[1]} columns but {name} have {ours.shape[1]}")
    return (values, labels), judged


def varying(factors: np.ndarray) -> np.ndarray:
    """Return which factors (k,) take more than one value; a metric leaves the others out of its mean."""
    varies = (factors != factors[0]).any(axis=0)
    if not varies.any():
        raise UsageError("every factor has a single value: there is nothing to measure")
    return varies


def generator(seed: int, stream: int) -> np.random.Generator:
    """Return the random generator of one stream of a seed."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise UsageError(f"seed must be a whole number from 0 up, got {seed!r}")
    return np.random.default_rng(np.random.SeedSequence(int(seed), spawn_key=(stream,)))


def whole_number(value: int, name: str, least: int) -> int:
    """Return an option that must be a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise UsageError(f"{name} must be a whole number from {least} up, got {value!r}")
    return int(value)


def bin_count(bins: int) -> int:
    """Return the number of bins that codes are cut into."""
    if whole_number(bins, "bins", 2) > MOST_BINS:
        raise UsageError(f"bins must be at most {MOST_BINS:,}, got {bins}")
    return int(bins)


def _table(values: ArrayLike, name: str) -> np.ndarray:
    """Return an array of two non-empty dimensions that holds real numbers."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"{name} cannot be read as one array: {str(error).splitlines()[0]}") from error
    if array.dtype.kind not in "biuf":
        raise UsageError(f"{name} must be numbers, got an array of type {array.dtype}")
    if array.ndim != 2:
        hint = "; give a single column as array[:, None]" if array.ndim == 1 else ""
        raise UsageError(f"{name} must have two dimensions (samples, columns), got shape {array.shape}{hint}")
    if 0 in array.shape:
        raise UsageError(f"{name} are empty: shape {array.shape}")
    return array


def _check_codes(array: np.ndarray, name: str) -> np.ndarray:
    codes = array.astype(np.float64, copy=False)
    if not (np.abs(codes) <= LARGEST).all():  # written so that NaN fails too
        raise UsageError(f"{name} hold NaN, an infinity or a value beyond {LARGEST:g}")
    return codes


def _check_factors(array: np.ndarray, name: str) -> np.ndarray:
    if array.dtype.kind == "b":
        return array.astype(np.int64)
    if not ((array >= -(2**53)) & (array <= 2**53)).all():  # beyond it, floats skip whole numbers
        kinds = "NaN, an infinity or " if array.dtype.kind == "f" else ""
        raise UsageError(f"{name} hold {kinds}a value beyond 2**53: number the values from 0 up")
    whole = array.astype(np.int64)
    if (whole != array).any():
        raise UsageError(f"{name} must be whole numbers (each value a class), got {array[whole != array][0]}")
    return whole
