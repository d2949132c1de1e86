"""Claiming the folder of a run: new, to be resumed, finished, or somebody else's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from unweave.config import Config
from unweave.errors import UsageError
from unweave.files import locked, write_json
from unweave.runs import CHECKPOINT, CONFIG, WEIGHTS, Run, status_of


@contextmanager
def claimed(folder: Path, config: Config, resume: bool | None) -> Iterator[Run]:
    """Hold the folder for this process, and give the run of `config` in it, created where there is none.

    `resume` True demands a run that is there, False a new one, None takes either. A folder with another
    configuration, or with anything that is no run, is left alone.
    """
    _refuse_what_is_no_run(folder)
    if resume and not _reached_a_checkpoint(folder):
        raise UsageError(f"there is nothing to resume in '{folder}'")
    folder.mkdir(parents=True, exist_ok=True)

    def taken() -> None:
        raise UsageError(f"another process is training in '{folder}'")

    with locked(folder, taken):
        yield _run(folder, config, resume)


def _reached_a_checkpoint(folder: Path) -> bool:
    """Tell whether the folder holds a run that reached a checkpoint; one that did not has nothing to lose."""
    return (folder / WEIGHTS).is_file() or (folder / CHECKPOINT).is_file()


def _run(folder: Path, config: Config, resume: bool | None) -> Run:
    if not _reached_a_checkpoint(folder):
        if step := status_of(folder)["step"]:
            gone = f"'{folder}' holds a run that had reached step {step:,}, but its {WEIGHTS} is gone"
            raise UsageError(f"{gone}; put it back, or remove the folder and train again")
        write_json(folder / CONFIG, {"unweave": version("unweave"), "id": config.id, **config.to_json()})
        return Run.open(folder)
    status = status_of(folder)
    if status["state"] == "unfinished" and status["step"] and not (folder / CHECKPOINT).is_file():
        gone = f"'{folder}' holds a run that had reached step {status['step']:,}, but its {CHECKPOINT} is gone"
        raise UsageError(f"{gone}; put it back, or choose another folder")
    if resume is False:
        raise UsageError(f"'{folder}' holds a run already; choose another folder, or resume it")
    run = Run.open(folder)
    if differences := run.settings.differences(config):
        raise UsageError(f"'{folder}' holds another run ({', '.join(differences)}); choose another folder")
    return run


def _refuse_what_is_no_run(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"'{folder}' is a file; a run needs a folder")
    if not folder.is_dir() or (folder / CONFIG).is_file():
        return
    # Hidden files are our own: the lock, and what a killed process had begun to write.
    if any(not entry.name.startswith(".") for entry in folder.iterdir()):
        raise UsageError(f"'{folder}' is not empty and not a run; choose another folder")
