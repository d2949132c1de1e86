"""Write files atomically, and lock folders so that only one process writes at a time."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from unweave.errors import UsageError

TEMPORARY = re.compile(r"\.([^/\\]+)\.[0-9a-f]{12}\.tmp$")
"""The temporary name of a file that is not complete yet."""


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path` so that a crash or a full disk leaves the old file or the new one.

    The bytes go to a temporary name in the same folder, are flushed to the disk, and the file is then
    renamed over `path`. On any error the temporary file is removed and `path` does not change. Links are followed;
    folders and devices are refused.
    """
    if path.is_dir():
        raise UsageError(f"'{path}' is a folder; choose another name")
    refuse_special(path)  # a device would become a file, for root at least
    if path.is_symlink():
        path = Path(os.path.realpath(path))
    temporary = temporary_name(path)
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:  # an interrupt must not leave a temporary file behind either
        temporary.unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)


def refuse_special(path: Path) -> None:
    """Raise a `UsageError` for a pipe or a device, which may block or never end; other paths pass."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise UsageError(f"'{path}' is not a regular file; choose another name")


def temporary_name(path: Path) -> Path:
    """Return the temporary name, in the same folder, of a file that is not complete yet."""
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")


def is_temporary(path: Path) -> bool:
    """Return whether a file was left incomplete by a killed process, from its name."""
    return bool(TEMPORARY.match(path.name)) and path.is_file()


def write_json(path: Path, value: object) -> None:
    """Write `value` as readable JSON, with keys in their order; NaN and infinities, which JSON lacks, are refused."""
    text = json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False)
    write_atomically(path, f"{text}\n".encode())


@contextmanager
def locked(folder: Path, taken: Callable[[], None]) -> Iterator[None]:
    """Lock a folder, and remove temporary files of killed processes.

    If another process holds the lock, call `taken`, which may raise; otherwise wait.
    """
    with exclusive(folder / ".lock", taken):
        for left_over in filter(is_temporary, folder.iterdir()):
            left_over.unlink()
        yield


@contextmanager
def exclusive(path: Path, taken: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock file `path`, or wait for it; the system also frees the lock of a killed process.

    If another process holds the lock, call `taken` first, which may raise.
    """
    with path.open("a") as file:
        with suppress(ImportError):  # Windows has no such locks: two processes are not kept apart there
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                taken()
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_held(path: Path) -> bool:
    """Return whether a process holds the lock file `path` now."""
    with suppress(FileNotFoundError, ImportError), path.open("rb") as file:  # read-only: it may belong to another user
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _flush_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a power cut, if the platform can flush folders."""
    with suppress(OSError):  # Windows cannot open folders, and some network file systems cannot flush them
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_whole_archive(path: Path) -> bool:
    """Return whether the file is an undamaged zip archive, as torch's checkpoints are."""
    try:
        with ZipFile(path) as archive:
            return archive.testzip() is None
    except (OSError, BadZipFile):
        return False
