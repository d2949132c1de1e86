"""Claiming the folder of a run: new, to be resumed, finished, or somebody else's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path

from unweave.config import Config
from unweave.errors import UsageError
from unweave.files import write_json
from unweave.runs import CONFIG, Run

LOCK = ".lock"


def claim(folder: Path, config: Config, resume: bool | None) -> Run:
    """Return the run of `config` in `folder`, creating it where there is none.

    `resume` True demands a run that is there, False a new one, None takes either. A folder with another
    configuration, or with anything that is no run, is left alone.
    """
    run = _existing(folder)
    if run is None:
        if resume:
            raise UsageError(f"there is nothing to resume in '{folder}'")
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / CONFIG, {"unweave": version("unweave"), "id": config.id, **config.to_json()})
        return Run.open(folder)
    if resume is False:
        raise UsageError(f"'{folder}' holds a run already; choose another folder, or resume it")
    if differences := run.settings.differences(config):
        raise UsageError(f"'{folder}' holds another run ({', '.join(differences)}); choose another folder")
    return run


def _existing(folder: Path) -> Run | None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"'{folder}' is a file; a run needs a folder")
    if not folder.is_dir():
        return None
    if (folder / CONFIG).is_file():
        return Run.open(folder)
    # Hidden files are our own: the lock, and what a killed process had begun to write.
    if any(not entry.name.startswith(".") for entry in folder.iterdir()):
        raise UsageError(f"'{folder}' is not empty and not a run; choose another folder")
    return None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for this process; the system frees it even when the process is killed."""
    with (folder / LOCK).open("w") as file:
        with suppress(ImportError):  # no such locks on Windows: there, two processes are not told apart
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"another process is training in '{folder}'") from None
        for left_over in folder.glob(".*.tmp"):  # of a process that was killed while writing
            left_over.unlink()
        yield
