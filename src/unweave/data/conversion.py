"""Convert a published file once into rows that can be mapped into memory; the result is complete or absent."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike, NDArray

from unweave.data.dataset import Images
from unweave.data.factors import FactorSpace
from unweave.errors import UsageError
from unweave.files import temporary_name
from unweave.text import memory

SMALL = 500_000_000
"""Largest size in bytes of rows that are kept in memory if they cannot be written."""

Chunks = Callable[[], Iterator[Images]]
"""Starts reading a file, and yields its rows in chunks."""


class Unreadable(Exception):
    """A file cannot be read; the message completes the sentence "FILE: …"."""


def check_array(
    key: str, found: tuple[tuple[int, ...], np.dtype], shape: tuple[int, ...], dtype: DTypeLike = np.uint8
) -> None:
    """Raise `Unreadable` if an array does not have this shape and type."""
    found_shape, found_dtype = found
    if found_dtype.hasobject:
        raise Unreadable(f"{key} holds Python objects, which are never read from a file")
    if found_dtype != np.dtype(dtype):
        raise Unreadable(f"{key} is of type {found_dtype} instead of {np.dtype(dtype)}")
    if found_shape[1:] != shape[1:]:
        raise Unreadable(f"{key} has the shape {found_shape} instead of {shape}")
    if found_shape != shape:
        raise Unreadable(f"{key} has {found_shape[0]:,} rows instead of {shape[0]:,}")


def check_order(key: str, labels: NDArray, factors: FactorSpace) -> None:
    """Raise `Unreadable` unless rows are in grid order, the last factor fastest; labels may be any rising numbers."""
    for axis, (name, size) in enumerate(zip(factors.names, factors.sizes, strict=True)):
        values, ranks = np.unique(labels[:, axis].round(6), return_inverse=True)
        block = prod(factors.sizes[axis + 1 :])
        blocks = ranks.reshape(-1, size, block)
        if len(values) != size or (blocks != np.arange(size)[:, None]).any():
            raise Unreadable(f"its rows are not in the published order: see {name} in {key}")


def shrink(image: Images) -> Images:
    """Resize an image to 64×64 pixels with a Lanczos filter, as published studies do."""
    from PIL import Image

    return np.asarray(Image.fromarray(image).resize((64, 64), Image.Resampling.LANCZOS))


def collect(shape: tuple[int, ...], chunks: Iterator[NDArray], dtype: DTypeLike = np.uint8) -> NDArray:
    """Return the rows of all chunks, in memory."""
    rows = np.empty(shape, dtype)
    start = 0
    for chunk in chunks:
        rows[start : start + len(chunk)] = chunk
        start += len(chunk)
    return rows


def convert(sources: Sequence[Path], target: Path, shape: tuple[int, ...], chunks: Chunks) -> Images:
    """Return the rows of all chunks, mapped from `target`, which is written the first time.

    The target has the modification time of its newest source and is written again if they differ. If it cannot be
    written, the rows are kept in memory instead, unless there are too many.
    """
    stamp = max(source.stat().st_mtime_ns for source in sources)
    rows = _mapped(target, stamp, shape)
    if rows is not None:
        return rows
    try:
        _write(target, stamp, shape, chunks())
    except OSError as error:
        if prod(shape) <= SMALL:
            return collect(shape, chunks())
        raise UsageError(
            f"cannot write '{target}', a converted copy of {memory(prod(shape))}: {error.strerror}; "
            f"put {sources[0].name} into a writable folder with enough space"
        ) from error
    rows = _mapped(target, stamp, shape)
    if rows is None:
        raise UsageError(f"'{target}' was changed while it was being written; is another program using it?")
    return rows


def _mapped(target: Path, stamp: int, shape: tuple[int, ...]) -> Images | None:
    """Return the rows in `target`, or None if it is missing, incomplete, or made from other sources."""
    try:
        rows = np.lib.format.open_memmap(target, mode="r")
        fresh = target.stat().st_mtime_ns == stamp
    except (OSError, ValueError, EOFError):
        return None
    return rows if fresh and rows.shape == shape and rows.dtype == np.uint8 and rows.flags.c_contiguous else None


def _write(target: Path, stamp: int, shape: tuple[int, ...], chunks: Iterator[Images]) -> None:
    """Write the rows under a temporary name in the same folder, flush them, and rename the file."""
    if shutil.disk_usage(target.parent).free < prod(shape):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
    temporary = temporary_name(target)
    try:
        with temporary.open("xb") as file:
            header = {"descr": "|u1", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            for chunk in chunks:
                file.write(np.ascontiguousarray(chunk).data)
            file.flush()
            os.fsync(file.fileno())
        os.utime(temporary, ns=(stamp, stamp))
        os.replace(temporary, target)
    except BaseException:  # an interrupt must not leave gigabytes behind either
        temporary.unlink(missing_ok=True)
        raise
