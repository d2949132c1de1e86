"""The state of a study's folder: its active, failed and planned runs."""

from __future__ import annotations

from pathlib import Path

from unweave.explorer.places import HERE, PLAN


def under_way(study: str, path: Path) -> tuple[set[str], set[str]]:
    """Return the identities of the runs of a study that are being trained now, and of those that failed."""
    from unweave.study.folder import StudyFolder

    prefix = "" if study == HERE else f"{study}/"
    running = StudyFolder(path).driver().get("running")
    names = [name for name in running if isinstance(name, str)] if isinstance(running, list) else []
    failed = (file.stem for file in (path / "failures").glob("*.txt"))
    return {f"{prefix}runs/{name}" for name in names}, {f"{prefix}runs/{name}" for name in failed}


def planned(path: Path) -> int:
    """Return the number of planned runs of a study."""
    from unweave.study.integrity import read_object

    tasks = (read_object(path / PLAN) or {}).get("tasks")
    return len(tasks) if isinstance(tasks, list) else 0
