"""Scoring codes in files for `unweave evaluate`: one file with its factors, or several of the same samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unweave.cli.arrays import (
    read_codes,
    read_codes_and_factors,
    read_factor_names,
    read_factors,
    read_optional,
    read_test_codes_and_factors,
)
from unweave.errors import UsageError
from unweave.metrics import GROUPS

if TYPE_CHECKING:
    import polars

    from unweave.cli.evaluate import Evaluate


def score_files(options: Evaluate, finished: list[polars.DataFrame]) -> polars.DataFrame:
    """Score codes in a file; each finished table is appended to `finished`."""
    if not options.codes:
        raise UsageError("name a run, or give --codes and --factors; for example: unweave evaluate runs/first")
    _refuse_of_runs(options)
    if bool(options.test_codes) != bool(options.test_factors):
        raise UsageError("--test-codes and --test-factors must be given together")
    _refuse_beyond_files(options.metrics)
    from unweave import metrics

    if options.factors:
        codes, factors, test = read_codes(options.codes), read_factors(options.factors), None
    else:
        (codes, factors), test = read_codes_and_factors(options.codes), read_test_codes_and_factors(options.codes)
    if options.test_codes and options.test_factors:
        test = read_codes(options.test_codes, test=True), read_factors(options.test_factors, test=True)
    if factors is None and (options.label_noise or test is not None):
        raise UsageError("--label-noise, --test-codes and --test-factors need --factors")
    if factors is None:
        refuse_without_factors(options.metrics, options.codes)
    names = None if factors is None else read_factor_names(options.factors or options.codes)
    return metrics.evaluate(
        codes,
        factors,
        test=test,
        names=names,
        on_result=finished.append,
        **options.settings,
    )


def score_several(options: Evaluate, finished: list[polars.DataFrame]) -> polars.DataFrame:
    """Score several files of codes of the same samples, as one table."""
    _refuse_of_runs(options)
    _refuse_beyond_files(options.metrics)
    from unweave import metrics

    codes, factors = {}, None if options.factors is None else read_factors(options.factors)
    for number, (key, path) in enumerate(zip(_keys(options.files), options.files, strict=True)):
        _refuse_test_arrays(path)
        codes[key], own = read_codes_and_factors(path)
        if options.factors is None and number and not _equal(own, factors):
            first = options.files[0]
            raise UsageError(
                f"'{first}' and '{path}' hold codes of different samples; encode both with one seed, or give --factors"
            )
        factors = factors if number or options.factors is not None else own
    _refuse_other_images(options.files)
    if factors is None:
        refuse_without_factors(options.metrics, options.files[0])
    names = None if factors is None else read_factor_names(options.factors or options.files[0])
    return metrics.evaluate(codes, factors, names=names, on_result=finished.append, **options.settings)


def refuse_without_factors(names: Sequence[str], codes: Path) -> None:
    """Raise a `UsageError` for a metric that compares codes with factors, where their file has none."""
    from unweave.metrics.table import metric_of

    lacks = {".npz": "array named factors", ".parquet": "columns whose names begin with factor"}
    for name in names:
        if name not in GROUPS and metric_of(name).supervised:
            what = lacks.get(codes.suffix.lower(), "factors")
            raise UsageError(f"the metric '{name}' needs factors, but '{codes}' has no {what}; give --factors FILE")


def _refuse_other_images(files: Sequence[Path]) -> None:
    """Raise a `UsageError` if the files record different images."""
    found = [(path, indices) for path in files if (indices := read_optional(path, "indices")) is not None]
    for path, indices in found[1:]:
        if not np.array_equal(indices, found[0][1]):
            raise UsageError(f"'{found[0][0]}' and '{path}' have different image indices; encode both with one seed")


def _refuse_test_arrays(path: Path) -> None:
    """Raise a `UsageError` for a file whose test rows would be ignored."""
    for name in ("test_codes", "test_factors"):
        if read_optional(path, name) is not None:
            raise UsageError(f"'{path}' holds {name}, but several files are scored without test rows; score it alone")


def _equal(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    return (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))


def _keys(files: Sequence[Path]) -> list[str]:
    """Return the names of files in the table: file names, or paths if file names are not unique."""
    stems = [path.stem for path in files]
    keys = stems if len(set(stems)) == len(stems) else [str(path) for path in files]
    for key in keys:
        if keys.count(key) > 1:
            raise UsageError(f"'{key}' is given twice")
    return keys


def _refuse_of_runs(options: Evaluate) -> None:
    """Raise a `UsageError` for options that apply only to runs."""
    if options.samples or options.test_samples:
        raise UsageError("--samples and --test-samples are for a run; with files, all rows are scored")
    if options.step is not None:
        raise UsageError("--step is for a run that keeps snapshots, not for files")
    if options.data:
        raise UsageError("--data is for a run, not for files")


def _refuse_beyond_files(names: Sequence[str]) -> None:
    """Raise a `UsageError` for metrics that need more than codes and factors, which is all that files hold."""
    from unweave.metrics.table import metric_of

    held: dict[str, bool] = dict.fromkeys(("codes", "means", "factors", "source"), True)
    for name in names:
        if name not in GROUPS and (lacking := metric_of(name).missing(held)):
            needs = " and ".join(dict.fromkeys(lacking))
            raise UsageError(f"the metric '{name}' needs {needs}; score a run instead: unweave evaluate RUN")
