"""The content of the explored folder: runs, studies and files of codes, each with an identity for requests.

A path is never built from a request. A request names an identity, the relative path that the scan has found, which is
only looked up. Links to folders are not followed (targets inside the folder are found anyway), and a run or a file
that is, or contains, a link to the outside is left out.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Literal

from unweave.explorer.arrays import shapes_in
from unweave.explorer.refusals import Missing
from unweave.progress import OnProgress, silent

HERE = "."
"""The identity of the explored folder itself."""
DEPTH = 12
"""Largest depth of folders in a scan."""
CONFIG, PLAN = "config.json", "study.json"  # as in runs/files.py and study/folder.py, which are slow to import
READ = frozenset([CONFIG, "status.json", "log.parquet", "weights.safetensors", "scores.parquet", "snapshots"])
"""The files of a run that are read: none may be a link out of the explored folder."""
SELDOM = 20
"""The folder is scanned again after this many times the duration of a scan, and at least a second."""

Kind = Literal["codes", "points", "array"]


@dataclass(frozen=True)
class File:
    """A file of arrays."""

    path: Path
    kind: Kind
    """codes: written by `unweave encode`; points: written by `unweave geomancer`; array: a .npy file of rows."""
    rows: int
    columns: int


@dataclass(frozen=True)
class Places:
    """The result of a scan, by identity."""

    runs: dict[str, str] = field(default_factory=dict)
    """Folders with a configuration, as text: `Path` objects would be slow for 75,000."""
    studies: dict[str, Path] = field(default_factory=dict)
    """Folders with a plan, study.json."""
    files: dict[str, File] = field(default_factory=dict)

    def below(self, identity: str) -> list[str]:
        """Return the runs in a folder, at any depth; the folder may be a run itself."""
        if identity == HERE:
            return list(self.runs)
        prefix = f"{identity}/"
        return [run for run in self.runs if run == identity or run.startswith(prefix)]

    def folders(self) -> list[str]:
        """Return the folders to choose from: studies, other folders with runs, and everything if there are several."""
        found = dict.fromkeys([*self.studies, *(_holder(run, self.studies) for run in self.runs)])
        return list(found) if len(found) == 1 or HERE in found else [HERE, *found]


def scan(root: Path, on_progress: OnProgress = silent) -> Places:
    """Scan a folder."""
    places = Places()
    real = os.path.realpath(root)
    for folder, identity, names in _walk(str(root), HERE, DEPTH):
        if CONFIG in names:
            if all(_stays(names[name], real) for name in READ & names.keys()):
                places.runs[identity] = folder
                on_progress("looking", len(places.runs), None)
            continue
        if PLAN in names and _stays(names[PLAN], real):
            places.studies[identity] = Path(folder)
        for name in sorted(name for name in names if name.endswith((".npz", ".npy"))):
            if _stays(names[name], real):
                file = _file(names[name])
                if file is not None:
                    places.files[name if identity == HERE else f"{identity}/{name}"] = file
    return places


def _walk(folder: str, identity: str, depth: int) -> Iterator[tuple[str, str, dict[str, os.DirEntry[str]]]]:
    """Yield a folder and its subfolders, except hidden ones and those of runs."""
    try:
        with os.scandir(folder) as found:
            names = {entry.name: entry for entry in found}
    except OSError:  # not readable, or gone
        return
    yield folder, identity, names
    if CONFIG in names or depth == 0:
        return
    for name in sorted(names):
        if name.startswith(".") or (name == "replaced" and PLAN in names):
            continue
        if names[name].is_dir(follow_symlinks=False):
            yield from _walk(names[name].path, name if identity == HERE else f"{identity}/{name}", depth - 1)


def _stays(entry: os.DirEntry[str], real: str) -> bool:
    """Return whether an entry is a file or a folder, but not a link to the outside or a pipe, which may never end."""
    try:
        return (entry.is_file() or entry.is_dir()) and (not entry.is_symlink() or _within(entry.path, real))
    except OSError:  # a link that leads to itself
        return False


def _within(path: str, real: str) -> bool:
    return os.path.realpath(path).startswith(real.rstrip(os.sep) + os.sep)


def _holder(run: str, studies: dict[str, Path]) -> str:
    """Return the folder that a run is listed under: its study, or its parent folder."""
    parent = run.rpartition("/")[0] or HERE
    above = parent.rpartition("/")[0] or HERE
    return above if parent != HERE and parent.rpartition("/")[2] == "runs" and above in studies else parent


_known: dict[tuple[str, int, int], File | None] = {}


def _file(entry: os.DirEntry[str]) -> File | None:
    """Return the content of a file of arrays, from its header; None if there is nothing to explore."""
    try:
        found = entry.stat()
    except OSError:
        return None
    if not S_ISREG(found.st_mode):
        return None
    state = (entry.path, found.st_mtime_ns, found.st_size)
    if state not in _known:
        _known[state] = _described(Path(entry.path))
    return _known[state]


def _described(path: Path) -> File | None:
    shapes = shapes_in(path)
    if len(shapes.get("axes", ())) == 3 and "spectrum" in shapes:
        return File(path, "points", shapes["axes"][0], shapes["axes"][2])
    if len(shapes.get("codes", ())) == 2:
        return File(path, "codes", *shapes["codes"])
    return File(path, "array", *shapes[""]) if len(shapes.get("", ())) == 2 else None


class Index:
    """The content of a folder, scanned again from time to time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock = threading.Lock()
        self._places: Places | None = None
        self._next = 0.0
        self.found = 0
        """Number of runs that the current scan, or the last one, has found."""

    def places(self, *, fresh: bool = False) -> Places:
        """Return the content of the folder, from a recent scan; with `fresh`, scan again if the last one is too old."""
        known = self._places
        if known is not None and not fresh:
            return known  # without waiting for the current scan
        with self._lock:
            if self._places is None or time.monotonic() >= self._next:
                start = time.monotonic()
                self._places = scan(self.root, self._told)
                end = time.monotonic()
                self._next = end + max(1.0, SELDOM * (end - start))
            return self._places

    def _told(self, what: str, done: float, total: float | None) -> None:
        self.found = int(done)

    def known(self, identity: str) -> Path | None:
        """Return the folder of a run in the last scan, without waiting for another."""
        path = None if self._places is None else self._places.runs.get(identity)
        return None if path is None else Path(path)

    def run(self, identity: str) -> Path:
        """Return the folder of a run; raise `Missing` if it does not exist or was removed."""
        for fresh in (False, True):
            path = self.places(fresh=fresh).runs.get(identity)
            if path is not None:
                if Path(path, CONFIG).is_file():
                    return Path(path)
                raise Missing(f"the run '{identity}' is no longer there")
        raise Missing(f"there is no run '{identity}' in the folder")

    def file(self, identity: str, kind: Kind | None = None) -> File:
        """Return a file of arrays; raise `Missing` if it does not exist or was removed."""
        for fresh in (False, True):
            file = self.places(fresh=fresh).files.get(identity)
            if file is not None and kind in (None, file.kind):
                if file.path.is_file():
                    return file
                raise Missing(f"the file '{identity}' is no longer there")
        raise Missing(f"there is no file '{identity}' in the folder")

    def below(self, identity: str) -> dict[str, str]:
        """Return the folders of all runs of a study, or in a folder, by identity."""
        places = self.places(fresh=True)
        found = places.below(identity)
        if not found and identity != HERE and identity not in places.studies:
            raise Missing(f"there is no study and no folder of runs '{identity}'")
        return {run: places.runs[run] for run in found}
