"""Claiming the folder of a run: new, to be resumed, to be trained further, finished, or somebody else's."""

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
"""What helps where a run cannot go on."""
ConfigAt = Callable[[int], Config]
"""The configuration that is asked for, at a number of steps."""


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
    """Hold the folder for this process, and give the run of `config_at(steps)` in it, created where there is none.

    `resume` True demands a run that is there, False a new one, None takes either; `overwrite` removes one that is
    there. A run that differs in nothing but its number of steps becomes one of `steps`, unless it has more. A folder
    with another configuration, or with anything that is no run, is left alone. `origins` are recorded in a new run.
    """
    _refuse_what_is_no_run(folder)
    if resume and overwrite:
        raise UsageError("a run is either resumed or overwritten; leave out one of the two")
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
    """Tell whether the folder holds a run that reached a checkpoint; one that did not has nothing to lose."""
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
        raise UsageError(f"'{folder}' holds a run already; choose another folder, or resume it")
    run = Run.open(folder)
    differences = run.settings.differences(config)
    others = [text for text in differences if not text.startswith("training.steps ")]
    if len(others) == 1 and others[0].startswith("net.weights "):
        # A checkpoint replaces the weights that modules start from: who insists on it may go on with any.
        if not resume:
            hint = "resume=True goes on from its checkpoint all the same"
            raise UsageError(f"'{folder}' holds a run whose modules started from other weights; {hint}")
        config = replace(config, net=run.settings.net)
    elif others:
        raise _refusal(run, config_at, differences, others)
    return _at_another_length(run, config) if len(differences) > len(others) else run


def _at_another_length(run: Run, config: Config) -> Run:
    """Make the run one of another number of steps, which it goes on to from where it is."""
    steps = config.training.steps
    if run.step > steps:
        raise UsageError(
            f"'{run.path}' has been trained for {run.step:,} steps already, more than {steps:,}; "
            f"choose another folder, or {AGAIN}"
        )
    if not (run.path / CHECKPOINT).is_file():
        raise UsageError(
            f"'{run.path}' has finished and has no {CHECKPOINT} (earlier versions removed it), so that it cannot be "
            f"trained further; choose another folder, or {AGAIN}"
        )
    if not is_whole_archive(run.path / CHECKPOINT):  # before anything is changed: the run stays what it is
        raise UsageError(
            f"'{run.path / CHECKPOINT}' is damaged, so that the run cannot be trained further; "
            f"choose another folder, or {AGAIN}"
        )
    # The status first: a run that dies in between is an unfinished one, of the old length or the new one.
    write_json(run.path / STATUS, {**run.status, "state": "unfinished"})
    return _record(run.path, config, run.origins)


def _refusal(run: Run, config_at: ConfigAt, differences: list[str], others: list[str]) -> UsageError:
    """Return why a configuration that differs in more than its steps is none that the run can go on with."""
    steps = run.settings.training.steps
    if len(differences) > len(others) and not config_at(steps).differences(run.settings):
        return UsageError(
            f"'{run.path}' was trained for {steps:,} steps, and what it did depends on that number "
            f"({', '.join(others)}): it cannot be trained further; choose another folder, or {AGAIN}"
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
        f"'{folder}' holds a run that had reached step {step:,}, but its {name} is gone; put it back, or {AGAIN}"
    )


def _remove_damaged_status(folder: Path) -> None:
    """Remove a status that says nothing: the checkpoint knows the step."""
    try:
        status_of(folder)
    except UsageError:
        (folder / STATUS).unlink()


def _remove_run(folder: Path) -> None:
    """Remove the files of a run, and no others; its configuration, which says that it is one, comes last."""
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
            raise UsageError(f"'{folder / CONFIG}' is not of a run of unweave; choose another folder")
        return
    # Hidden files are our own: the lock, and what a killed process had begun to write.
    if any(not entry.name.startswith(".") for entry in folder.iterdir()):
        raise UsageError(f"'{folder}' is not empty and not a run; choose another folder")
