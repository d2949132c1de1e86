"""The state of the server: the folder, opened runs, and the tables of studies."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.explorer.opened import SAMPLES, Opened, OpenedCache
from unweave.explorer.places import HERE, PLAN, Index
from unweave.explorer.refusals import Missing
from unweave.explorer.studies import planned, under_way
from unweave.explorer.table_json import table_json, to_json

if TYPE_CHECKING:
    from unweave.runs import Run

OWN = "your model"
PAUSE = 1.0
"""Seconds between sending the first table and importing what models need, so that the page can be drawn."""
ALONE = 20.0
"""Seconds until that is imported if no table is requested."""


class Explorer:
    """An explored folder; nothing is ever written into it."""

    def __init__(self, root: Path | None, *, samples: int = SAMPLES, given: Mapping[str, Run | Opened] | None = None):
        """Explore a folder.

        Parameters
        ----------
        root
            The folder; None if only `given` is shown.
        samples
            Number of random images that are encoded.
        given
            Runs and models in memory, by identity.
        """
        self.root = root
        self.samples = samples
        self.given = dict(given or {})
        self.index = Index(root) if root is not None else None
        self._opened = OpenedCache()
        self._tables: dict[str, tuple[str, dict[str, Any], bytes]] = {}
        self._groups: dict[str, tuple[str, bytes]] = {}
        self._planned: dict[Path, tuple[int, int]] = {}
        self._lock, self._grouping = threading.Lock(), threading.Lock()
        self._answered = threading.Event()
        self._reader: Any = None

    def open(self, identity: str, step: int | None = None) -> Opened:
        """Return an opened run, file of codes or given model; it is opened again if it has changed."""
        from unweave.explorer.opening import open_run, read_codes, read_run

        given = self.given.get(identity)
        if isinstance(given, Opened):
            return given
        index = self._index(identity)
        name = Path(identity).name or (self.root.resolve().name if self.root else "run")
        if given is not None:
            state = (_state(given.path), None)
            return self._opened.get((identity, None), state, lambda: open_run(given, name, self.samples))
        if identity in index.places().files:
            file = index.file(identity, "codes")
            return self._opened.get(identity, _stat(file.path), lambda: read_codes(file.path, name, self.samples))
        path = index.run(identity)
        state = (_state(path), step)
        return self._opened.get((identity, step), state, lambda: read_run(path, name, self.samples, step))

    def if_open(self, identity: str) -> Opened | None:
        """Return a run if it is open and has not changed; otherwise None."""
        given = self.given.get(identity)
        if isinstance(given, Opened):
            return given
        path = given.path if given is not None else self.index.known(identity) if self.index is not None else None
        if path is None:
            return None
        return self._opened.found((identity, None), (_state(path), None))

    def warm(self) -> None:
        """Read in advance what the first page shows, then import what the others need."""
        with suppress(Exception):  # errors are shown when the page requests this
            studies = self.about()["studies"]
            self._grouped(studies[0]["id"] if studies else HERE)
            self._answered.wait(ALONE)  # imports keep the interpreter busy
            time.sleep(PAUSE)
            import_module("unweave.explorer.app").heavy()
            import_module("unweave.runs")

    def _index(self, identity: str) -> Index:
        if self.index is None:
            raise Missing(f"'{identity}' does not exist")
        return self.index

    def about(self) -> dict[str, Any]:
        """Return what there is to explore."""
        rest = {"version": version("unweave"), "static": False}
        if self.index is None or self.root is None:
            counts = dict.fromkeys(("runs", "planned", "done"), len(self.given))
            own = {"id": HERE, "name": OWN, **counts, "running": False}
            return {**rest, "root": OWN, "studies": [own], "runs": len(self.given), "codes": [], "points": []}
        places = self.index.places(fresh=True)
        files = {kind: [] for kind in ("codes", "points", "array")}
        for identity, file in places.files.items():
            width = "latents" if file.kind == "codes" else "dim"
            files[file.kind].append({"id": identity, "rows": file.rows, width: file.columns})
        studies = [self._study(identity) for identity in places.folders()]
        name = self.root.resolve().name
        return {
            **rest,
            "root": name,
            "studies": studies,
            "runs": len(places.runs),
            "codes": files["codes"],
            "points": files["points"],
        }

    def _study(self, identity: str) -> dict[str, Any]:
        index = self._index(identity)
        places = index.places()
        found = places.below(identity)
        path = places.studies.get(identity)
        name = (self.root.resolve().name if self.root else "") if identity == HERE else identity
        running, failed = self._under_way(identity)
        planned = max(len(found), self._plan_of(path) if path is not None else 0)
        done = len(found) - len([run for run in found if run in running or run in failed])
        counts = {"runs": len(found), "planned": planned, "done": done}
        return {"id": identity, "name": name, **counts, "running": bool(running)}

    def _given(self) -> dict[str, Any]:
        """Return the table of what is given, if there is no folder."""
        names = {"name": "text", "data": "text", "method": "text", "seed": "seed", "state": "state"}
        rows: dict[str, list[Any]] = {"id": list(self.given), **{name: [None] * len(self.given) for name in names}}
        rows["name"], rows["state"] = [OWN for _ in self.given], ["finished" for _ in self.given]
        columns = [
            {"name": name, "kind": kind, "differs": name == "name", "higher_is_better": None}
            for name, kind in names.items()
        ]
        return {"columns": columns, "rows": rows, "total": len(self.given), "stamp": "given"}

    def _under_way(self, study: str) -> tuple[set[str], set[str]]:
        """Return the runs below a folder that are being trained, and those that failed, over all its studies."""
        running: set[str] = set()
        failed: set[str] = set()
        for identity, path in self._index(study).places().studies.items():
            if study in (HERE, identity) or identity.startswith(f"{study}/"):
                found = under_way(identity, path)
                running |= found[0]
                failed |= found[1]
        return running, failed

    def _plan_of(self, path: Path) -> int:
        """Return the number of planned runs of a study; its plan is read again only if it has changed."""
        state = hash(_stat(path / PLAN))
        if self._planned.get(path, (0, 0))[0] != state:
            self._planned[path] = (state, planned(path))
        return self._planned[path][1]

    def table(self, study: str) -> tuple[dict[str, Any], bytes]:
        """Return the table of a study, and the same as JSON; both are made again only if something has changed."""
        from unweave.explorer.answers_study import table

        if self.index is None:
            return (found := self._given()), table_json(found)
        study = self._same(study)
        look, running, failed = self._look(study)
        stamp = f"{look.stamp}-{abs(hash((frozenset(running), frozenset(failed)))):x}"[:32]
        with self._lock:
            if self._tables.get(study, ("",))[0] != stamp:
                found = {**table(look, running, failed), "stamp": stamp}
                self._tables[study] = (stamp, found, table_json(found))
            return self._tables[study][1:]

    def _same(self, study: str) -> str:
        """Return the folder itself instead of a study that contains all its runs: they have the same table."""
        if self.index is None:
            return study
        places = self.index.places(fresh=True)
        return HERE if study != HERE and 0 < len(places.below(study)) == len(places.runs) else study

    def progress(self) -> dict[str, int]:
        """Return the progress of reading, without waiting: runs found in the folder, and runs read so far."""
        read, of = self._reader.progress if self._reader is not None else (0, 0)
        return {"found": self.index.found if self.index is not None else 0, "read": read, "of": of}

    def groups(self, study: str) -> bytes:
        """Return the groups of a study's runs, as JSON."""
        found = self._grouped(study)
        self._answered.set()
        return found

    def _grouped(self, study: str) -> bytes:
        from unweave.explorer.answers_study import groups

        found, _ = self.table(study)
        study = self._same(study)
        with self._grouping:
            if self._groups.get(study, ("",))[0] != found["stamp"]:
                self._groups[study] = (found["stamp"], to_json(groups(found)).encode())
            return self._groups[study][1]

    def changes(self, study: str, stamp: str) -> dict[str, Any]:
        """Return whether the table of a study has changed since a stamp, and the number of runs in each state."""
        found, _ = self.table(study)
        states = Counter(found["rows"]["state"])
        counts = {"done": states.pop("finished", 0), **dict(states)}
        path = None if self.index is None else self.index.places().studies.get(study)
        if path is not None:
            counts["todo"] = max(0, self._plan_of(path) - found["total"])
        return {"stamp": found["stamp"], "changed": found["stamp"] != stamp, "counts": counts}

    def _look(self, study: str) -> tuple[Any, set[str], set[str]]:
        from unweave.explorer.records import Reader

        runs = self._index(study).below(study)
        with self._lock:
            self._reader = self._reader or Reader()
        return self._reader.look(study, runs), *self._under_way(study)


def _state(path: Path) -> tuple[Any, ...]:
    """Return a text that changes when a run is trained further."""
    return tuple(_stat(path / name) for name in ("config.json", "weights.safetensors"))


def _stat(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
