"""The static export: a folder with the page and all its answers, which works from disk without a server."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unweave.errors import UsageError
from unweave.explorer.app import create_app
from unweave.explorer.asking import Asker
from unweave.explorer.export_files import Writer, replacing
from unweave.explorer.opened import SAMPLES, Opened
from unweave.explorer.sending import plain
from unweave.explorer.state import Explorer
from unweave.progress import OnProgress, silent

MOST_RUNS = 20
"""Default number of runs whose images are computed in advance."""
MOST_LATENTS = 32
"""Largest number of latents with traversals per run: those with most information."""
STEPS = 11
"""Number of images over the range of a slider."""
SHOWN_STEPS = 9
"""Number of images in a row of the grid of traversals."""
SAVED = 64
"""Approximate size in pixels of an image in a saved picture."""
STARTS = 4
"""Number of images whose codes the sliders can start from."""
POINTS = 250
"""Largest number of points in a scatter plot."""
MOST_COMPARED = 12
"""Up to this many runs on a data set, all pairs are compared; above, only neighbours."""
KINDS = ("mi", "importance", "correlation")
EVERY = 0.1

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Exported:
    """The result of an export; as a path it is the page to open."""

    page: Path
    bytes: int
    runs: int
    """Number of runs with sliders."""
    of: int
    """Number of runs in the table."""

    def __fspath__(self) -> str:
        return str(self.page)


def write_export(
    folder: str | Path,
    out: str | Path,
    *,
    runs: int | Sequence[str] = MOST_RUNS,
    samples: int = SAMPLES,
    on_progress: OnProgress | None = None,
) -> Exported:
    """Write a folder that shows runs and studies in a browser without a server.

    Parameters
    ----------
    folder
        A folder of runs and studies, at any depth; or one run, or one study.
    out
        The folder to write: a new one, or an earlier export, which is replaced. If an error occurs, it does not change.
    runs
        The number of runs whose images are computed in advance, one of each setting before a second of any; or the
        paths of these runs within the folder. The tables contain all runs.
    samples
        Number of random images that are encoded for each run.
    on_progress
        Called as `on_progress(what, done, total)`.

    Returns
    -------
    Exported
        The page to open, the size of the folder in bytes, and the numbers of runs.
    """
    root, told = Path(folder), on_progress or silent
    if not root.is_dir():
        raise UsageError(f"there is no folder '{root}'")
    first = Explorer(root, samples=samples)
    _refuse_nothing(first, root)
    with replacing(Path(out)) as unfinished:
        writer = Writer(unfinished)
        tables = _tables(first)
        chosen = _chosen(tables, runs)
        opened = {}
        for place, run in enumerate(chosen):
            told("opening", place, len(chosen))
            opened[run] = first.open(run)
        collector = _Collector(Explorer(root, samples=samples, given=opened), writer)
        collector.front(tables, chosen)
        for place, run in enumerate(chosen):
            told("runs", place, len(chosen))
            collector.run(run, opened[run])
        collector.data(opened)
        collector.comparisons(opened)
        collector.geometry()
        told("runs", len(chosen), len(chosen))
        size = writer.finish()
    total = max((table["table"]["total"] for table in tables.values()), default=0)
    return Exported(Path(out) / "index.html", size, len(chosen), total)


def _refuse_nothing(explorer: Explorer, root: Path) -> None:
    """Raise a `UsageError` if the pages would be empty; codes in files need the server."""
    about = explorer.about()
    if not about["points"] and not any(study["planned"] for study in about["studies"]):
        raise UsageError(f"nothing to show below '{root}': it has no runs, studies or manifolds; give another folder")


def _tables(explorer: Explorer) -> dict[str, dict[str, Any]]:
    """Return the table and the groups of every study or folder of runs."""
    found = {}
    for study in explorer.about()["studies"]:
        table, _ = explorer.table(study["id"])
        found[study["id"]] = {"table": plain(table), "groups": json.loads(explorer.groups(study["id"]))}
    return found


def _chosen(tables: Mapping[str, Mapping[str, Any]], runs: int | Sequence[str]) -> list[str]:
    """Return the runs whose images are computed, in the order of the table."""
    known = dict.fromkeys(run for table in tables.values() for run in table["table"]["rows"]["id"])
    if not isinstance(runs, int):
        missing = [run for run in runs if run not in known]
        if missing:
            raise UsageError(f"there is no run '{missing[0]}' in the folder")
        return [run for run in known if run in set(runs)]
    if runs < 0:
        raise UsageError(f"runs must be 0 or more, not {runs}")
    wanted = set(list(dict.fromkeys(_by_turns(tables)))[:runs])
    return [run for run in known if run in wanted]


def _by_turns(tables: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield one run of each group, then a second of each, and so on."""
    groups = [[*group["runs"], *group["copies"]] for table in tables.values() for group in table["groups"]["groups"]]
    for turn in range(max(map(len, groups), default=0)):
        yield from (group[turn] for group in groups if turn < len(group))


def _first(table: Mapping[str, Any], chosen: Sequence[str]) -> dict[str, Any]:
    """Return a table with the chosen runs first: pages show the first run until another is chosen."""
    there = set(chosen)
    order = sorted(range(table["total"]), key=lambda place: table["rows"]["id"][place] not in there)
    return {**table, "rows": {name: [column[place] for place in order] for name, column in table["rows"].items()}}


@dataclass
class _Collector:
    """Makes all requests that the pages would make, and passes the answers to the writer under their keys."""

    explorer: Explorer
    writer: Writer
    asker: Asker = field(init=False)

    def __post_init__(self) -> None:
        self.asker = Asker(create_app(self.explorer))

    def front(self, tables: Mapping[str, Mapping[str, Any]], chosen: Sequence[str]) -> None:
        """Store what every page loads first."""
        self.writer.first("index", {}, {**plain(self.explorer.about()), "static": True})
        for study, found in tables.items():
            self.writer.json("tables", "table", {"study": study}, _first(found["table"], chosen))
            self.writer.json("tables", "groups", {"study": study}, found["groups"])

    def run(self, run: str, opened: Opened) -> None:
        """Store the page of a run and its matrices."""
        about = self.asker.json("run", {"run": run})
        self._json(run, "run/curves", {"run": run})
        if about is None:
            return
        self.writer.json(run, "run", {"run": run}, {**about, "starts": _starts(opened)})
        if not about["latents"]:
            return
        if about["labelled"]:
            self._matrices(run, about)
        if opened.kind == "images":
            self._pictures(run, about, _starts(opened))

    def _matrices(self, run: str, about: Mapping[str, Any]) -> None:
        for kind in KINDS:
            self._json(run, "matrix", {"run": run, "kind": kind})
        for latent in about["order"][:MOST_LATENTS]:
            for factor in range(len(about["factors"])):
                params = {"run": run, "latent": latent, "factor": factor}
                found = self.asker.json("scatter", params)
                if found is not None:
                    self.writer.json(run, "scatter", params, _fewer(found))

    def _pictures(self, run: str, about: Mapping[str, Any], starts: Sequence[int]) -> None:
        """Store traversals from the first image and from others, and one picture of all latents."""
        self._picture(run, "run/traversals", {"run": run}, {"steps": SHOWN_STEPS})
        scale = max(1, min(8, round(SAVED / about["shape"][1])))
        for path in ("run/traversals", "run/animation"):  # to download, with names
            named = {"run": run, "labels": 1, "rows": "used"}
            self._picture(run, path, named, {"steps": SHOWN_STEPS, "scale": scale})
        self._picture(run, "run/reconstructions", {"run": run}, {"n": 6})
        self._traversals(run, about, {}, {})
        for image in starts:
            self._picture(run, "run/image", {"run": run, "image": image})
            found = self._json(run, "run/code", {"run": run, "image": image})
            if found is not None and image != starts[0]:
                code = ",".join(f"{value:.6g}" for value in found["code"])
                self._traversals(run, about, {"image": image}, {"z": code})

    def _traversals(self, run: str, about: Mapping[str, Any], key: Params, start: Params) -> None:
        """Store a strip for each latent, over the range of its slider; a single image for a latent without effect."""
        for latent in about["order"][:MOST_LATENTS]:
            low, high = _ends(about["latents"][latent])
            steps = STEPS if about["latents"][latent]["active"] is not False else 1
            asked = {"steps": steps, "low": low, "high": high, **start}
            self._picture(run, "run/traversal", {"run": run, "latent": latent, **key}, asked)

    def data(self, opened: Mapping[str, Opened]) -> None:
        """Store the page of each data set, as the first run on it sees it."""
        seen = set()
        for run, each in opened.items():
            name = json.dumps(each.data.description, sort_keys=True, default=str) if each.data is not None else None
            if name is None or name in seen:
                continue
            seen.add(name)
            about = self._json(run, "data", {"run": run})
            self._perceived(run)
            for factor in (about or {"factors": []})["factors"]:
                self._json(run, "data/distances", {"run": run, "factor": factor["name"]})
                self._picture(run, "data/traversal", {"run": run, "factor": factor["name"], "seed": 0})
            self._picture(run, "data/samples", {"run": run, "n": 40, "seed": 0})

    def _perceived(self, run: str) -> None:
        """Store what a loss sees of a data set, as soon as it is computed."""
        while (found := self.asker.json("data/perceive", {"run": run})) is not None:
            if found["state"] != "computing":
                self.writer.json(run, "data/perceive", {"run": run}, found)
                return
            time.sleep(EVERY)

    def comparisons(self, opened: Mapping[str, Opened]) -> None:
        """Store the comparisons of runs on one data set."""
        by_data: dict[str, list[str]] = {}
        for run, each in opened.items():
            if each.data is not None:
                by_data.setdefault(json.dumps(each.data.description, sort_keys=True, default=str), []).append(run)
        for runs in by_data.values():
            for place, left in enumerate(runs):
                near = runs if len(runs) <= MOST_COMPARED else [runs[place - 1], runs[(place + 1) % len(runs)]]
                for right in near:
                    self._json(left, "compare", {"left": left, "right": right})

    def geometry(self) -> None:
        """Store the points of manifolds and their factors."""
        for points in self.explorer.about()["points"]:
            self._json(points["id"], "geometry", {"points": points["id"]})

    def _json(self, part: str, path: str, params: Params) -> Any:
        """Store an answer, and return it; None if there is none."""
        found = self.asker.json(path, params)
        if found is not None:
            self.writer.json(part, path, params, found)
        return found

    def _picture(self, part: str, path: str, params: Params, asked: Params | None = None) -> None:
        """Store a picture under the parameters that the page uses; `asked` are those that the server needs."""
        found = self.asker.ask(path, {**params, **(asked or {})})
        if found is not None:
            self.writer.picture(part, path, params, found)


def _starts(opened: Opened) -> list[int]:
    """Return the images that sliders can start from; the first is the one that the run's page shows."""
    return [int(index) for index in opened.indices[:STARTS]] if opened.run is not None else []


def _ends(latent: Mapping[str, Any]) -> tuple[float, float]:
    """Return the ends of a latent's slider, as in lib/sliders.js."""
    if latent["categories"]:
        return 0, latent["categories"] - 1
    low, high = latent["quantiles"][0], latent["quantiles"][-1]
    return (low, high) if high > low else (low - 1, low + 1)


def _fewer(scatter: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scatter plot with fewer, random points, and codes rounded to few digits."""
    fewer = {name: part[:POINTS] if isinstance(part, list) else part for name, part in scatter.items()}
    codes = [None if value is None else float(f"{value:.3g}") for value in fewer["x"]]
    return {**fewer, "x": codes, "sampled": len(codes)}
