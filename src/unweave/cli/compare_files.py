"""Comparing codes of the same samples in files, for `unweave compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.cli.arrays import read_codes, read_codes_and_factors, read_factors
from unweave.cli.evaluate_files import refuse_without_factors
from unweave.errors import UsageError

if TYPE_CHECKING:
    import polars

    from unweave.cli.compare import Compare

EXAMPLE = "for example: unweave compare runs/first runs/second"


def compare_files(options: Compare, finished: list[polars.DataFrame]) -> dict[str, dict[str, object]]:
    """Compare codes in files, and return what the page says about each."""
    if not options.codes:
        raise UsageError(f"name two runs, or give --codes A.npy B.npy and --factors; {EXAMPLE}")
    _refuse_without_effect(options)
    from unweave import metrics
    from unweave.metrics.compare import short_names

    stems = [file.with_suffix("") for file in options.codes]
    names = short_names(stems if len(set(stems)) == len(stems) else options.codes)
    codes, factors = _read_codes(names, options)
    if factors is None:
        refuse_without_factors(options.metrics, options.codes[0])
    test = None
    if options.test_factors:
        tested = (read_codes(file, test=True) for file in options.test_codes)
        test = dict(zip(names, tested, strict=True)), read_factors(options.test_factors, test=True)
    metrics.compare(codes, factors=factors, test=test, **options.settings, on_result=finished.append)
    return {
        name: {"file": file, "codes": codes[name].shape[1]} for name, file in zip(names, options.codes, strict=True)
    }


def _read_codes(names: Sequence[str], options: Compare) -> tuple[dict[str, Any], Any]:
    """Return the codes by name, and the factors, of a file of their own or of those files that hold both."""
    if options.factors:
        codes = dict(zip(names, map(read_codes, options.codes), strict=True))
        return codes, read_factors(options.factors)
    pairs = dict(zip(names, map(read_codes_and_factors, options.codes), strict=True))
    held = {name: factors for name, (_, factors) in pairs.items() if factors is not None}
    first = next(iter(held), None)
    for name, factors in held.items():
        if first is not None and not np.array_equal(factors, held[first]):
            raise UsageError(f"the factors in {name} are not those in {first}: compare codes of the same samples")
    return {name: codes for name, (codes, _) in pairs.items()}, None if first is None else held[first]


def _refuse_without_effect(options: Compare) -> None:
    """Raise a `UsageError` for files that cannot be compared, and for options that have no effect on files."""
    if len(options.codes) < 2:
        raise UsageError("one file is not enough to compare: --codes takes two or more")
    refuse_twice(options.codes)
    if options.samples or options.test_samples:
        raise UsageError("--samples and --test-samples are for runs; with files, all rows are scored")
    if options.data:
        raise UsageError("--data is for runs; with files, all rows are scored")
    if bool(options.test_codes) != bool(options.test_factors):
        raise UsageError("--test-codes and --test-factors must be given together")
    if options.test_codes and len(options.test_codes) != len(options.codes):
        counts = f"--codes has {len(options.codes)} files and --test-codes {len(options.test_codes)}"
        raise UsageError(f"{counts}; give one test file for each")


def refuse_twice(paths: Sequence[Path]) -> None:
    """Raise a `UsageError` for a run or file that is given twice."""
    resolved = [path.resolve() for path in paths]
    for place, path in enumerate(paths):
        if resolved[place] in resolved[:place]:
            raise UsageError(f"'{path}' is given twice: compare it with another one")
