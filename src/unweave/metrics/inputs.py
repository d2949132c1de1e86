"""Checks of the arrays that every metric takes; each mistake raises a `UsageError` of one line."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.metrics.presets import (
    ConstantCodes,
    ConstantFactor,
    DistinctValues,
    LooksTransposed,
    NumberedLabels,
    warn_of_few,
    warn_user,
)
from unweave.metrics.reading import Read, read, renumber, whole_columns

Pair: TypeAlias = tuple[np.ndarray, np.ndarray]
"""Codes (n, d) float64 and factors (n, k) of the same n rows, int64, or float64 where continuous ones are allowed."""
GivenPair: TypeAlias = tuple[ArrayLike, ArrayLike]
"""The same as users pass them: lists, tensors, data frames, other types, unchecked."""

LARGEST = 1e100
"""Larger codes raise a `UsageError`: their squares, which variances need, would overflow."""
MOST_BINS = 10_000
"""More bins would be finer than any sample, and fill the memory with empty counts."""
TURNED = 10
"""Codes and factors that both have this many times more columns than rows count as transposed."""
MOST_LISTED = 8
"""The most factors that a warning lists; for more, it gives their number."""
SPLIT, INTERVAL, DRAW, FIT, FLOOR = 0, 1, 2, 3, 4
"""Random streams of one seed: the split, the subsets behind an interval, what a metric draws, its learner, a floor."""


def check(codes: ArrayLike, factors: ArrayLike, label: str = "", *, continuous: bool = False) -> Pair:
    """Return codes (n, d) as float64 and factors (n, k) as int64; `label` goes before their names.

    With `continuous`, factors are float64 if any of them is not whole; without it, such factors raise a `UsageError`.
    Columns of strings are numbered in alphabetical order, with a warning.
    """
    values, labels = _read_pair(codes, factors, label)
    _warn_of_texts(labels, f"{label}factor")
    return values, _check_factors(labels.numbers, f"{label}factors", continuous)


def check_sets(
    codes: ArrayLike, factors: ArrayLike, test: GivenPair | None, *, continuous: bool = False
) -> tuple[Pair, Pair | None]:
    """Return the train rows and, where they are given, the test rows, both as `check` does.

    Strings have the same numbers in both, and the factors the same type.
    """
    values, labels = _read_pair(codes, factors, "")
    _warn_of_texts(labels, "factor")
    train = _check_factors(labels.numbers, "factors", continuous)
    if test is None:
        return (values, train), None
    if not isinstance(test, tuple | list) or len(test) != 2:
        raise UsageError("test must be a pair: test=(codes, factors)")
    test_values, test_labels = _read_pair(*test, "test ")
    _check_columns("codes", values, test_values)
    tested = _check_test_factors(labels, test_labels, continuous)
    kind = np.result_type(train, tested)
    return (values, train.astype(kind, copy=False)), (test_values, tested.astype(kind, copy=False))


def check_codes(codes: ArrayLike, name: str = "codes") -> np.ndarray:
    """Return codes (n, d) without factors, as float64; error messages call them `name`."""
    values = _check_codes(read(codes, name), name)
    if len(values) < 2:
        raise UsageError(f"{name} need at least two samples, got {len(values)}")
    return values


def check_factors(factors: ArrayLike, name: str = "factors", *, continuous: bool = False) -> np.ndarray:
    """Return factors (n, k) without codes, as `check` does; error messages call them `name`."""
    labels = read(factors, name)
    _warn_of_texts(labels, name.removesuffix("s"))
    return _check_factors(labels.numbers, name, continuous)


def split(
    codes: ArrayLike, factors: ArrayLike, test: GivenPair | None, seed: int, *, continuous: bool = False
) -> tuple[Pair, Pair]:
    """Return train rows and test rows, checked as `check` does.

    With `test` these are the two sets given; without it, one third of the rows, drawn by the seed, is held out.
    """
    (values, labels), tested = check_sets(codes, factors, test, continuous=continuous)
    if tested is not None:
        return (values, labels), tested
    order = generator(seed, SPLIT).permutation(len(values))
    held, kept = np.split(order, [max(1, len(values) // 3)])
    return (values[kept], labels[kept]), (values[held], labels[held])


def train_and_test(
    codes: ArrayLike, factors: ArrayLike, test: GivenPair | None, seed: int, *, continuous: bool = False
) -> tuple[Pair, Pair]:
    """Return the rows to fit on and the rows to test on, without the factors that have a single value."""
    train, held_out = split(codes, factors, test, seed, continuous=continuous)
    varies = varying(np.concatenate([train[1], held_out[1]]))
    return (train[0], train[1][:, varies]), (held_out[0], held_out[1][:, varies])


def varying(factors: np.ndarray) -> np.ndarray:
    """Return which factors (k,) take more than one value; a metric leaves the others out of its mean."""
    varies = _varies(factors)
    if not varies.any():
        raise UsageError("every factor has a single value: there is nothing to measure")
    return varies


def is_continuous(factors: ArrayLike) -> np.ndarray:
    """Return which factors (k,) hold a value that is not a whole number."""
    return ~whole_columns(read(factors, "factors").numbers)


def bin_factors(factors: ArrayLike, bins: int) -> np.ndarray:
    """Return factors (n, k) as classes, int64: continuous ones in groups of nearly equal counts, others unchanged.

    The rule for a column with a value that is not whole:

    - With at most `bins` different values, each value is a class.
    - Otherwise `bins` - 1 cuts are made, each between two neighbouring values, so that equal values stay together. The
      j-th cut is the one with the number of rows below it closest to j n / `bins`, the lower one of two equally close.
      Without equal values the counts of all classes thus differ by at most one; cuts that coincide leave fewer classes.

    Classes are numbered from 0 up in the order of the values. A column of whole numbers, or of strings, stays
    unchanged, however many values it has.

    >>> bin_factors([[0.1, 7], [0.9, 7], [0.5, 8], [0.3, 9]], bins=2).tolist()
    [[0, 7], [1, 7], [1, 8], [0, 9]]
    """
    return _bin(check_factors(factors, continuous=True), None, bins)[0]


def bin_pair(train_factors: ArrayLike, test_factors: ArrayLike, bins: int) -> Pair:
    """Return the factors of train and test rows as classes, both by the cuts that `bin_factors` makes in the train
    rows.

    A column is binned where either set has a value that is not whole.
    """
    labels, test_labels = read(train_factors, "factors"), read(test_factors, "test factors")
    _warn_of_texts(labels, "factor")
    tested = _check_test_factors(labels, test_labels, continuous=True)
    return _bin(_check_factors(labels.numbers, "factors", continuous=True), tested, bins)


def warn_of_inputs(codes: ArrayLike, factors: ArrayLike | None = None) -> None:
    """Warn about inputs that can be scored but are probably mistakes; `evaluate` calls it once, metrics do not.

    Fewer rows than columns, factors of one value, whole numbers that differ in every row, and few rows.
    """
    values = read(codes, "codes").numbers
    labels = None if factors is None else read(factors, "factors").numbers
    if labels is not None and TURNED * len(values) <= min(values.shape[1], labels.shape[1]):
        shapes = f"{len(values)} rows and {values.shape[1]:,} and {labels.shape[1]:,} columns"
        raise UsageError(f"codes and factors have {shapes}: a row must be a sample; pass codes.T and factors.T")
    transposed = _warn_of_shape(values, "codes")
    if labels is not None:
        transposed |= _warn_of_shape(labels, "factors")
        _warn_of_constants(labels)
        distinct = _distinct(labels)
        if distinct and not transposed:
            listed = _listed([column + 1 for column in distinct])
            warn_user(f"{listed} as many values as rows: continuous or an index?", DistinctValues)
        labels = np.delete(labels, distinct, axis=1)
    if not transposed:  # no further warning is needed
        warn_of_few(labels, values)


def warn_of_constant_codes(codes: np.ndarray, name: str = "") -> None:
    """Warn if all latents are constant; a run has a warning of its own. `name` is that of one of several codes."""
    if not _varies(codes).any():
        said = "all latents are constant: every row of codes is the same; check what wrote them"
        warn_user(f"{name}: {said}" if name else said, ConstantCodes)


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


def bin_count(bins: int, name: str = "bins") -> int:
    """Return the number of bins that codes, or factors, are cut into."""
    if whole_number(bins, name, 2) > MOST_BINS:
        raise UsageError(f"{name} must be at most {MOST_BINS:,}, got {bins}")
    return int(bins)


def _read_pair(codes: ArrayLike, factors: ArrayLike, label: str) -> tuple[np.ndarray, Read]:
    """Return checked codes, and factors with the same number of rows, as read."""
    values = _check_codes(read(codes, f"{label}codes"), f"{label}codes")
    labels = read(factors, f"{label}factors")
    (rows, columns), (others, widths) = values.shape, labels.numbers.shape
    if rows != others:
        turned = columns == others or widths == rows or columns == widths > max(rows, others)
        hint = "; transposed? A row is a sample" if turned else ""
        raise UsageError(f"{label}codes have {rows} rows but {label}factors have {others}{hint}")
    if rows < 2:
        raise UsageError(f"{label}codes need at least two samples, got {rows}")
    return values, labels


def _check_codes(table: Read, name: str) -> np.ndarray:
    if table.texts:
        column, texts = next(iter(table.texts.items()))
        raise UsageError(f"{name} must be numbers, got strings in column {column + 1}, such as {texts[0][:40]!r}")
    codes = table.numbers.astype(np.float64, copy=False)
    odd = ~(np.abs(codes) <= LARGEST)  # written so that NaN is odd too
    if odd.any():
        raise UsageError(f"{name} hold NaN, an infinity or a value beyond {LARGEST:g}{_first(odd)}")
    return codes


def _first(odd: np.ndarray) -> str:
    """Return how many entries are odd, and where the first one is, in brackets."""
    row, column = np.argwhere(odd)[0]
    return f" ({odd.sum():,} of {odd.size:,} entries, the first in row {row + 1:,}, column {column + 1})"


def _check_factors(array: np.ndarray, name: str, continuous: bool) -> np.ndarray:
    if array.dtype.kind == "b":
        return array.astype(np.int64)
    if not ((array >= -(2**53)) & (array <= 2**53)).all():  # above it, floats skip whole numbers
        odd = ~np.isfinite(array) if array.dtype.kind == "f" else np.zeros(array.shape, dtype=bool)
        if odd.any():
            raise UsageError(f"{name} hold NaN or an infinity{_first(odd)}: leave these rows out")
        raise UsageError(f"{name} hold a value beyond 2**53: number the values from 0 up")
    whole = array.astype(np.int64)
    if (whole == array).all():
        return whole
    if continuous:
        return array.astype(np.float64, copy=False)
    row, column = np.argwhere(whole != array)[0]
    raise UsageError(
        f"{name.removesuffix('s')} {column + 1} is continuous ({array[row, column]}): this metric needs classes; "
        "give factors as whole numbers, or bin them: evaluate(..., bin_factors=10)"
    )


def _check_test_factors(train: Read, test: Read, continuous: bool) -> np.ndarray:
    """Return the factors of test rows, with strings numbered as in the train rows."""
    _check_columns("factors", train.numbers, test.numbers)
    return _check_factors(renumber(test, train, "test factors", "factors").numbers, "test factors", continuous)


def _check_columns(name: str, train: np.ndarray, test: np.ndarray) -> None:
    if train.shape[1] != test.shape[1]:
        raise UsageError(f"test {name} have {test.shape[1]} columns but {name} have {train.shape[1]}")


def _bin(train: np.ndarray, test: np.ndarray | None, bins: int) -> Pair:
    """Return both sets of factors as classes, by cuts in the first; without a second set, return the first twice."""
    count = bin_count(bins, "bin_factors")
    sets = (train, train if test is None else test)
    whole = whole_columns(sets[0]) & whole_columns(sets[1])
    binned = tuple(np.empty(each.shape, np.int64) for each in sets)
    for column, keep in enumerate(whole):
        cuts = None if keep else _cuts(train[:, column], count)
        for given, classes in zip(sets, binned, strict=True):
            values = given[:, column]
            classes[:, column] = values if cuts is None else np.searchsorted(cuts, values, side="right")
    return binned[0], binned[1]


def _cuts(column: np.ndarray, bins: int) -> np.ndarray:
    """Return the values, ascending, at which a new class begins; `bin_factors` states the rule."""
    values, counts = np.unique(column, return_counts=True)
    if len(values) <= bins:
        return values[1:]
    below = np.cumsum(counts)[:-1] * bins  # whole numbers throughout: rows below a cut, and j n, both times `bins`
    wanted = np.arange(1, bins) * len(column)
    upper = np.minimum(np.searchsorted(below, wanted), len(below) - 1)
    lower = np.maximum(upper - 1, 0)
    nearest = np.where(np.abs(wanted - below[lower]) <= np.abs(below[upper] - wanted), lower, upper)
    return values[1:][np.unique(nearest)]


def _varies(factors: np.ndarray) -> np.ndarray:
    return (factors != factors[0]).any(axis=0)


def _distinct(factors: np.ndarray) -> list[int]:
    """Return the columns of whole numbers in which every row has a different value."""
    whole = np.flatnonzero(whole_columns(factors))
    return [int(column) for column in whole if len(np.unique(factors[:, column])) == len(factors)]


def _warn_of_texts(table: Read, name: str) -> None:
    for column, texts in table.texts.items():
        ends = [f"{texts[place][:40]!r} = {place}" for place in sorted({0, len(texts) - 1})]
        listed = (" ... " if len(texts) > 2 else ", ").join(ends)
        warn_user(f"{name} {column + 1} holds strings: numbered in alphabetical order, {listed}", NumberedLabels)


def _warn_of_shape(array: np.ndarray, name: str) -> bool:
    """Warn about fewer rows than columns, and return whether this is the case."""
    rows, columns = array.shape
    if rows < columns:
        warn_user(f"{name} have {rows:,} rows and {columns:,} columns: transposed?", LooksTransposed)
    return rows < columns


def _warn_of_constants(factors: np.ndarray) -> None:
    constant = np.flatnonzero(~_varies(factors)) + 1
    if 0 < len(constant) < factors.shape[1]:  # if no factor varies, metrics raise
        left = "is left out" if len(constant) == 1 else "are left out"
        warn_user(f"{_listed(constant.tolist())} a single value and {left}", ConstantFactor)


def _listed(numbers: list[int]) -> str:
    """Return the beginning of a sentence about these factors."""
    if len(numbers) == 1:
        return f"factor {numbers[0]} has"
    more = f" and {len(numbers) - MOST_LISTED} more" if len(numbers) > MOST_LISTED else ""
    return f"factors {', '.join(map(str, numbers[:MOST_LISTED]))}{more} have"
