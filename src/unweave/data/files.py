"""The files of the published data sets: where they are kept, and how they are fetched.

A file gets its name only when it is completely on disk and its checksum is right. Until then it is a hidden part,
which no data set reads and which the next fetch resumes.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from unweave.data.download import NoFile, begun_at, discard, download, size_of
from unweave.data.sources import SOURCES, Source, checksum
from unweave.errors import UsageError, unknown
from unweave.files import locked, refuse_special, temporary_name, write_atomically
from unweave.progress import OnProgress
from unweave.text import memory


class WrongChecksum(NoFile):
    """A file is not the published one; the message is the file's checksum."""


def data_folder() -> Path:
    """Return the folder of the data sets: UNWEAVE_DATA or, by default, the user's cache."""
    if chosen := os.environ.get("UNWEAVE_DATA"):
        return Path(chosen).expanduser().absolute()
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "unweave" / "data"


def folder_of(name: str) -> Path:
    """Return the folder of a data set's files, which may not exist yet."""
    return data_folder() / _base(name)


def find(name: str, file: str) -> Path:
    """Return the path of one file of a data set, or raise a `UsageError` that says how to get it."""
    path = data_folder() / name / file
    if path.is_file():
        return path
    raise UsageError(
        f"the files of {name} are not here; run: unweave data fetch {name} (or put {file} into '{path.parent}')"
    )


def missing(name: str) -> list[str]:
    """Return the missing files of a data set."""
    return [source.file for source in _missing(_base(name))]


def status(name: str) -> str:
    """Return whether a data set can be used: "drawn on demand", "here, in FOLDER" or "not here"."""
    if _base(name) not in SOURCES:
        return "drawn on demand"
    return "not here" if missing(name) else f"here, in {folder_of(name)}"


def size_to_fetch(name: str) -> int | None:
    """Return about how many bytes of a data set must still be fetched; None if unknown."""
    sizes = [wanted.size for wanted in _missing(_base(name))]
    return None if None in sizes else sum(filter(None, sizes))


def source(name: str) -> str:
    """Return the URL of a data set's file, or of the folder of its files; "" for a set that is drawn."""
    urls = [source.urls[0] for source in SOURCES.get(_base(name), ()) if not source.alternative]
    if len(urls) > 1:
        return urls[0].removesuffix(urls[0].rpartition("/")[2])
    return urls[0] if urls else ""


def fetch(
    name: str,
    *,
    url: str | None = None,
    from_file: str | Path | Sequence[str | Path] | None = None,
    on_progress: OnProgress | None = None,
) -> list[Path]:
    """Fetch the files of a data set into its folder, check them, and return the paths of all its files.

    They come from the published address and its mirrors, from `url` (of the file, or of a folder if it ends in "/"),
    or from the local files `from_file`. Interrupted downloads are resumed. Files that exist already are checked once
    and kept. A data set that is drawn on demand has no files.
    """
    name = _base(name)
    paths = [from_file] if isinstance(from_file, str | Path) else from_file or []
    if url and paths:
        raise UsageError("fetch either from a URL or from files, not from both")
    folder = data_folder() / name
    if paths and name not in SOURCES:
        raise UsageError(f"{name} is drawn when needed; it has no files")
    _refuse_unchecked(name, folder, given=bool(url or paths))
    if paths or _missing(name):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder, lambda: warnings.warn(f"another process is fetching {name}; waiting for it", stacklevel=5)):
            for path in paths:
                _copy(Path(path), folder, name, on_progress)
            for wanted in [] if paths else _missing(name):  # by now, another process may have fetched them
                _download(wanted, _urls(wanted, url, name), folder, on_progress)
    present = [source for source in SOURCES.get(name, ()) if (folder / source.file).is_file()]
    for source in present:
        _check(folder / source.file, source)
    return [folder / source.file for source in present]


def _refuse_unchecked(name: str, folder: Path, *, given: bool) -> None:
    """Raise a `UsageError` for a file without a published checksum, unless the user has put it into its folder."""
    for wanted in SOURCES.get(name, ()):
        if not wanted.checksum and (given or not (folder / wanted.file).is_file()):
            raise UsageError(
                f"no checksum of {wanted.file} is published, so it must be fetched by hand: "
                f"get it from {wanted.urls[0]} and save it as '{folder / wanted.file}'"
            )


def _base(name: str) -> str:
    """Return the name of the data set that has the files, without options and wrappers."""
    from unweave.data import DATASETS, WRAPPERS  # here, because the data sets import this module

    known = dict.fromkeys([*DATASETS, *SOURCES])
    base = name.partition(":")[0]
    while base not in known:
        suffix = next((suffix for suffix in WRAPPERS if base.endswith(f"-{suffix}")), None)
        if suffix is None:
            raise unknown("data set", name, known)
        base = base.removesuffix(f"-{suffix}")
    return base


def _missing(name: str) -> list[Source]:
    here = {source: (data_folder() / name / source.file).is_file() for source in SOURCES.get(name, ())}
    if any(source.alternative and is_here for source, is_here in here.items()):
        return []
    return [source for source, is_here in here.items() if not (source.alternative or is_here)]


def _urls(wanted: Source, url: str | None, name: str) -> tuple[str, ...]:
    """Return the URLs to try for a file: the published ones, or the given one."""
    if url is None:
        return wanted.urls
    if not re.fullmatch(r"https?://[!-~]+", url):
        raise UsageError(f"'{url}' is not an http:// or https:// URL; for a file on this machine use --from-file")
    if url.endswith("/"):
        return (url + wanted.file,)
    if len([source for source in SOURCES[name] if not source.alternative]) > 1:
        raise UsageError(f"{name} has several files: give the URL of their folder, which ends in '/'")
    return (url,)


def _download(wanted: Source, urls: Sequence[str], folder: Path, on_progress: OnProgress | None) -> None:
    """Fetch one file from the first URL that delivers it complete and with the right checksum."""
    part = folder / f".{wanted.file}.part"
    begun, reasons = begun_at(part), []
    for url in sorted(urls, key=lambda url: url != begun):  # a stable sort: the URL of a started download comes first
        try:
            download(url, part, on_progress)
            return _put(part, folder, [wanted])
        except WrongChecksum as error:
            reasons.append(f"{urlsplit(url).netloc}: wrong checksum, expected {wanted.checksum}, got {error}; removed")
        except NoFile as error:
            reasons.append(f"{urlsplit(url).netloc}: {error}")
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"interrupted{_keep(part)}") from None
        except OSError as error:  # a disk error; network errors are NoFile
            raise OSError(error.errno, f"{error.strerror or error}{_keep(part)}", str(folder / wanted.file)) from error
    raise UsageError(
        f"cannot fetch {wanted.file} ({'; '.join(dict.fromkeys(reasons))}){_keep(part)}; "
        f"get it by hand from {urls[0]} and save it as '{folder / wanted.file}'"
    )


def _keep(part: Path) -> str:
    """Keep a part that can be resumed, and say so; remove any other."""
    if begun_at(part):
        return f"; {memory(size_of(part))} are kept, and the same command resumes from there"
    discard(part)
    return ""


def _copy(path: Path, folder: Path, name: str, on_progress: OnProgress | None) -> None:
    """Copy a local file, and identify it by its checksum."""
    refuse_special(path)
    part = temporary_name(folder / path.name)
    try:
        with path.open("rb") as origin, part.open("wb") as copy:
            total = os.fstat(origin.fileno()).st_size
            while chunk := origin.read(1 << 20):
                copy.write(chunk)
                if on_progress:
                    on_progress(path.name, copy.tell(), total)
            copy.flush()
            os.fsync(copy.fileno())
        _put(part, folder, SOURCES[name])
    except WrongChecksum as error:
        expected = [source.checksum for source in SOURCES[name] if path.name == source.file]
        raise UsageError(
            f"'{path}' is not a published file of {name}: wrong checksum, "
            f"expected {' or '.join(expected or [source.checksum for source in SOURCES[name]])}, got {error}"
        ) from error
    except OSError as error:
        error.filename = error.filename or str(folder)  # the error of a full disk names no file
        raise
    finally:
        part.unlink(missing_ok=True)


def _put(part: Path, folder: Path, candidates: Sequence[Source]) -> None:
    """Rename a part to the file whose checksum it has; remove it if no checksum matches."""
    kinds = dict.fromkeys(source.checksum.partition(":")[0] for source in candidates)
    got = [checksum(part, kind) for kind in kinds]
    found = next((source for source in candidates if source.checksum in got), None)
    if found is None:
        discard(part)
        raise WrongChecksum(" or ".join(got))
    os.replace(part, folder / found.file)
    _mark(folder / found.file)
    discard(folder / f".{found.file}.part")  # its note, or the part of an earlier fetch


def _check(path: Path, source: Source) -> None:
    """Raise a `UsageError` if a file that the user has put there is not the published one."""
    if not source.checksum:
        return
    if _mark_of(path).is_file() and _mark_of(path).read_text(encoding="utf-8") == _state(path):
        return
    got = checksum(path, source.checksum.partition(":")[0])
    if got != source.checksum:
        raise UsageError(
            f"'{path}' is not the published file: wrong checksum, expected {source.checksum}, got {got}; "
            "remove it and fetch it again"
        )
    _mark(path)


def _mark(path: Path) -> None:
    """Record that a file has been checked, because reading all of it each time would take too long."""
    with suppress(OSError):  # a shared folder may be read-only
        write_atomically(_mark_of(path), _state(path).encode())


def _mark_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.checked")


def _state(path: Path) -> str:
    """Return a text that changes when the file does."""
    return f"{path.stat().st_size} {path.stat().st_mtime_ns}"
