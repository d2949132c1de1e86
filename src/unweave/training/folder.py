"""Claim the folder of a run: new, resumed, trained further, finished, or in use by another process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from unweave.config import Config
from unweave.data.identity import with_relative_path
from unweave.errors import UsageError
from unweave.files import is_temporary, is_whole_archive, locked, write_json
from unweave.origins import Origin
from unweave.runs import (
    CHECKPOINT,
    CONFIG,
    FILES,
    PUBLISHED,
    SNAPSHOTS,
    STATUS,
    TENSORBOARD,
    WEIGHTS,
    Run,
    read_json,
    status_of,
)
from unweave.tracing import TRACES

AGAIN = "--overwrite (in Python, overwrite=True) starts again"
"""The remedy if a run cannot be continued."""
ConfigAt = Callable[[int], Config]
"""Returns the requested configuration for a number of steps."""


@contextmanager
def claimed(
    folder: Path,
    config_at: ConfigAt,
    steps: int,
    *,
    resume: bool | None,
    overwrite: bool = False,
    origins: Mapping[str, Origin] | None = None,
) -> Iterator[Run]:
    """Lock the folder for this process, and give its run of `config_at(steps)`; a new one if there is none.

    `resume` True requires an existing run, False a new one, None accepts both; `overwrite` removes an existing run. A
    run that differs only in its number of steps becomes a run of `steps`, unless it has more. A folder with another
    configuration, or with anything that is not a run, is not changed. `origins` are recorded in a new run.
    """
    _refuse_what_is_no_run(folder)
    if resume and overwrite:
        raise UsageError("resume and overwrite exclude each other; leave out one of the two")
    if resume and not _reached_a_checkpoint(folder):
        raise UsageError(f"there is nothing to resume in '{folder}'")
    folder.mkdir(parents=True, exist_ok=True)

    def taken() -> None:
        raise UsageError(f"another process is training in '{folder}'")

    with locked(folder, taken):
        for part in (SNAPSHOTS, TRACES):
            for left_over in filter(is_temporary, (folder / part).glob(".*")):
                left_over.unlink()
        if overwrite:
            _remove_run(folder)
        yield _run(folder, config_at, steps, resume, origins or {})


def _reached_a_checkpoint(folder: Path) -> bool:
    """Return whether the folder holds a run that reached a checkpoint; otherwise there is nothing to lose."""
    return (folder / WEIGHTS).is_file() or (folder / CHECKPOINT).is_file()


def _run(folder: Path, config_at: ConfigAt, steps: int, resume: bool | None, origins: Mapping[str, Origin]) -> Run:
    if (folder / CHECKPOINT).is_file():
        _remove_damaged_status(folder)
    status, config = status_of(folder), config_at(steps)
    if not _reached_a_checkpoint(folder):
        if status["step"]:
            raise _gone(folder, status["step"], WEIGHTS)
        return _record(folder, config, origins)
    if status["state"] == "unfinished" and status["step"] and not (folder / CHECKPOINT).is_file():
        raise _gone(folder, status["step"], CHECKPOINT)
    if resume is False:
        raise UsageError(f"'{folder}' already holds a run; choose another folder, or resume it")
    run = Run.open(folder)
    differences = run.settings.differences(config)
    others = [text for text in differences if not text.startswith("training.steps ")]
    if len(others) == 1 and others[0].startswith("net.weights "):
        # The checkpoint replaces the initial weights of modules, so resume=True accepts any.
        if not resume:
            hint = "resume=True continues from its checkpoint anyway"
            raise UsageError(f"'{folder}' holds a run whose modules started from other weights; {hint}")
        config = replace(config, net=run.settings.net)
    elif others:
        raise _refusal(run, config_at, differences, others)
    return _at_another_length(run, config) if len(differences) > len(others) else run


def _at_another_length(run: Run, config: Config) -> Run:
    """Change the number of steps of a run, which then continues from its checkpoint."""
    steps = config.training.steps
    if run.step > steps:
        raise UsageError(
            f"'{run.path}' has already been trained for {run.step:,} steps, more than {steps:,}; "
            f"choose another folder, or {AGAIN}"
        )
    if not (run.path / CHECKPOINT).is_file():
        raise UsageError(
            f"'{run.path}' has finished and has no {CHECKPOINT} (earlier versions removed it), so it cannot be "
            f"trained further; choose another folder, or {AGAIN}"
        )
    if not is_whole_archive(run.path / CHECKPOINT):  # checked before anything is changed
        raise UsageError(
            f"'{run.path / CHECKPOINT}' is damaged, so the run cannot be trained further; "
            f"choose another folder, or {AGAIN}"
        )
    # Status first: a run that is killed in between is unfinished, with the old or the new number of steps.
    write_json(run.path / STATUS, {**run.status, "state": "unfinished"})
    return _record(run.path, config, run.origins)


def _refusal(run: Run, config_at: ConfigAt, differences: list[str], others: list[str]) -> UsageError:
    """Return the error for a configuration that differs in more than its number of steps."""
    steps = run.settings.training.steps
    if len(differences) > len(others) and not config_at(steps).differences(run.settings):
        return UsageError(
            f"'{run.path}' was trained for {steps:,} steps, and settings depend on that number "
            f"({', '.join(others)}), so it cannot be trained further; choose another folder, or {AGAIN}"
        )
    return UsageError(f"'{run.path}' holds another run ({', '.join(differences)}); choose another folder, or {AGAIN}")


def _record(folder: Path, config: Config, origins: Mapping[str, Origin]) -> Run:
    """Write the configuration, and return its run."""
    own = {"origins": origins} if origins else {}
    plain = {**config.to_json(), "data": with_relative_path(config.data, folder)}
    write_json(folder / CONFIG, {"unweave": version("unweave"), "id": config.id, **plain, **own})
    return Run.open(folder)


def _gone(folder: Path, step: int, name: str) -> UsageError:
    return UsageError(
        f"'{folder}' holds a run that had reached step {step:,}, but its {name} is missing; put it back, or {AGAIN}"
    )


def _remove_damaged_status(folder: Path) -> None:
    """Remove a damaged status; the checkpoint holds the step."""
    try:
        status_of(folder)
    except UsageError:
        (folder / STATUS).unlink()


def _remove_run(folder: Path) -> None:
    """Remove the files of a run and no others; the configuration, which marks a folder as a run, comes last."""
    kept = [path for part in (SNAPSHOTS, TRACES) for path in (folder / part).glob("*.safetensors")]
    inside = [*(folder / TENSORBOARD).glob("events.out.tfevents.*"), *kept]
    for path in [*inside, *(folder / name for name in FILES)]:
        path.unlink(missing_ok=True)


def _refuse_what_is_no_run(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"'{folder}' is a file; a run needs a folder")
    if not folder.is_dir():
        return
    if (folder / PUBLISHED).is_file():
        raise UsageError(f"'{folder}' is a published run, which is not trained further; choose another folder")
    if (folder / CONFIG).is_file():
        if "unweave" not in read_json(folder / CONFIG):
            raise UsageError(f"'{folder / CONFIG}' does not belong to a run of unweave; choose another folder")
        return
    # Hidden files are our own: the lock, and incomplete files of a killed process.
    if any(not entry.name.startswith(".") for entry in folder.iterdir()):
        raise UsageError(f"'{folder}' is not empty and not a run; choose another folder")
