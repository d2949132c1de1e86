"""Opening the runs of runs, folders of runs, and studies."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from unweave.errors import UsageError

if TYPE_CHECKING:
    from unweave.runs import Run
    from unweave.study.study import Study

Given: TypeAlias = "Study | Run | str | Path"


def open_runs(given: Given | Iterable[Given]) -> list[Run]:
    """Return all runs of a study, a folder, a run, or several of these.

    Parameters
    ----------
    given
        A `Study`, a `Run`, the folder of one or a folder of runs; or several.

    Returns
    -------
    list
        The runs; those of a folder in order of their names.
    """
    from unweave.runs import Run
    from unweave.study.study import Study

    if isinstance(given, Study | Run | str | Path):
        given = [given]
    runs: list[Run] = []
    for one in given:
        if isinstance(one, Run):
            runs.append(one)
            continue
        folder = one.path if isinstance(one, Study) else Path(one)
        if not folder.is_dir():
            raise UsageError(f"there is no folder '{folder}'")
        places = [folder] if _is_run(folder) else _below(folder)
        if not places:
            raise UsageError(f"'{folder}' holds no runs: it must be a run, a study, or a folder of runs")
        runs += [Run.open(place) for place in places]
    return runs


def _below(folder: Path) -> list[Path]:
    """Return the run folders in a study, or in a folder."""
    inner = folder / "runs" if (folder / "runs").is_dir() else folder
    return sorted(place for place in inner.iterdir() if _is_run(place))


def _is_run(folder: Path) -> bool:
    from unweave.runs import CONFIG  # loads torch

    return (folder / CONFIG).is_file()
