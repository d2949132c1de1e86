"""From a file as published to rows that can be mapped into memory: converted once, whole or not at all."""

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
"""Bytes of rows that are held in memory where they cannot be written."""

Chunks = Callable[[], Iterator[Images]]
"""Start reading a file, and give its rows in pieces."""


class Unreadable(Exception):
    """What is wrong with a file, in words that follow its name and a colon."""


def check_array(
    key: str, found: tuple[tuple[int, ...], np.dtype], shape: tuple[int, ...], dtype: DTypeLike = np.uint8
) -> None:
    """Refuse an array that has not the promised shape and type."""
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
    """Refuse rows that do not run through the grid with the last factor fastest; labels need only rise with it."""
    for axis, (name, size) in enumerate(zip(factors.names, factors.sizes, strict=True)):
        values, ranks = np.unique(labels[:, axis].round(6), return_inverse=True)
        block = prod(factors.sizes[axis + 1 :])
        blocks = ranks.reshape(-1, size, block)
        if len(values) != size or (blocks != np.arange(size)[:, None]).any():
            raise Unreadable(f"its rows are not in the published order: see {name} in {key}")


def shrink(image: Images) -> Images:
    """Resize an image to 64×64 pixels with the filter of Lanczos, as published studies do."""
    from PIL import Image

    return np.asarray(Image.fromarray(image).resize((64, 64), Image.Resampling.LANCZOS))


def collect(shape: tuple[int, ...], chunks: Iterator[NDArray], dtype: DTypeLike = np.uint8) -> NDArray:
    """Return the rows that the chunks make up, in memory."""
    rows = np.empty(shape, dtype)
    start = 0
    for chunk in chunks:
        rows[start : start + len(chunk)] = chunk
        start += len(chunk)
    return rows


def convert(sources: Sequence[Path], target: Path, shape: tuple[int, ...], chunks: Chunks) -> Images:
    """Return the rows that the chunks make up, mapped from `target`, which is written the first time.

    The target carries the time of its newest source and is made again when they differ. Where it cannot be
    written, rows that are not too many are held in memory instead.
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
            f"cannot write '{target}', {memory(prod(shape))} that are made once: {error.strerror}; "
            f"put {sources[0].name} into a folder that has room and can be written"
        ) from error
    rows = _mapped(target, stamp, shape)
    if rows is None:
        raise UsageError(f"'{target}' was changed while it was written; is another program at work there?")
    return rows


def _mapped(target: Path, stamp: int, shape: tuple[int, ...]) -> Images | None:
    """Return the rows in `target`, or None when it is not there, not whole, or not of these sources."""
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
