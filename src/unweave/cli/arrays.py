"""Arrays out of files: NumPy's own format, and comma-separated values."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from unweave.errors import UsageError


def read_array(path: Path) -> np.ndarray:
    """Return the array in a .npy or .csv file; nothing in it is ever executed."""
    readers = {".npy": _read_npy, ".csv": _read_csv}
    if path.suffix not in readers:
        raise UsageError(f"'{path}' must be a .npy file (numpy.save) or a .csv file")
    try:
        return readers[path.suffix](path)
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror or error}") from error
    except (ValueError, EOFError) as error:
        raise UsageError(f"'{path}' does not hold a plain array of numbers: {error}") from error


def _read_npy(path: Path) -> np.ndarray:
    return np.load(path, allow_pickle=False)


def _read_csv(path: Path) -> np.ndarray:
    """Return the rows of numbers, after a line of names where there is one."""
    with path.open() as file, warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # numpy only warns of an empty file
        try:
            first = file.readline()
            [float(cell) for cell in first.split(",")]
            file.seek(0)
        except ValueError:
            pass  # the line of names
        try:
            values = np.loadtxt(file, delimiter=",", ndmin=2)
        except UserWarning:
            raise ValueError("it has no rows") from None
    whole = values.astype(np.int64)
    return whole if (whole == values).all() else values
