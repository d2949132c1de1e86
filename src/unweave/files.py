"""Files that are either the old one or the new one, never half of one, in folders that one process writes at a time."""

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
"""The name under which a file is written before it is whole."""


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path` so that a crash or a full disk leaves the old file or the new one.

    The bytes go to a temporary name in the same folder, are flushed to the disk, and the file is then
    renamed over `path`. On any error the temporary file is removed and `path` is as it was. A link is followed; what
    is no file, such as a folder or a device, is refused.
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
    """Refuse a pipe or a device, which may never end, or never begin; a file, a folder and nothing at all pass."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise UsageError(f"'{path}' is not a regular file; choose another name")


def temporary_name(path: Path) -> Path:
    """Return the name in the same folder under which a file is written before it is whole."""
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")


def is_temporary(path: Path) -> bool:
    """Tell whether a killed process has left a file behind that it had begun to write: by its name, which is ours."""
    return bool(TEMPORARY.match(path.name)) and path.is_file()


def write_json(path: Path, value: object) -> None:
    """Write `value` as readable JSON, keys in their own order; NaN and infinities are refused.

    JSON has no NaN, and a file that only Python can read is no JSON file.
    """
    text = json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False)
    write_atomically(path, f"{text}\n".encode())


@contextmanager
def locked(folder: Path, taken: Callable[[], None]) -> Iterator[None]:
    """Keep other processes out of a folder, and remove temporary files that a killed one left there.

    Where another has it, `taken` is called: it raises, or else this waits.
    """
    with exclusive(folder / ".lock", taken):
        for left_over in filter(is_temporary, folder.iterdir()):
            left_over.unlink()
        yield


@contextmanager
def exclusive(path: Path, taken: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock file `path`, or wait for it; the system frees the lock even of a process that is killed.

    Where another has it, `taken` is called first, and may raise.
    """
    with path.open("a") as file:
        with suppress(ImportError):  # no such locks on Windows: there, two processes are not told apart
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                taken()
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_held(path: Path) -> bool:
    """Tell whether a process holds the lock file `path` now."""
    with suppress(FileNotFoundError, ImportError), path.open("rb") as file:  # for reading: it may be somebody else's
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _flush_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a power cut, where the platform lets a folder be flushed."""
    with suppress(OSError):  # Windows opens no folders, some network file systems flush none
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_whole_archive(path: Path) -> bool:
    """Tell whether there is a zip archive, as torch's checkpoints are, and nothing in it is damaged."""
    try:
        with ZipFile(path) as archive:
            return archive.testzip() is None
    except (OSError, BadZipFile):
        return False
