"""The training loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import torch

from unweave.config import Config, Training
from unweave.data import Data, Dataset, as_dataset, load
from unweave.data.labels import Labels
from unweave.devices import choose_device, denormals_as_zero, torch_threads
from unweave.errors import UsageError
from unweave.memory import keep_freed_memory
from unweave.methods import Method, OrthogonalJacobian, method_name
from unweave.nets import Modules, Net
from unweave.progress import Bar
from unweave.runs import CHECKPOINT, Run
from unweave.tracing import Tracing
from unweave.training import trackers
from unweave.training.by_name import chosen_method
from unweave.training.diagnosis import Diagnosis
from unweave.training.folder import claimed
from unweave.training.interrupt import Interrupted, deferred_interrupts
from unweave.training.origins import origins_of
from unweave.training.resolve import check_snapshots, resolved
from unweave.training.state import TrainingState
from unweave.training.status import diverged, reported_as_diverged, write_status
from unweave.training.step import take_step
from unweave.training.streams import seeded_torch
from unweave.training.traces import Tracer, check_hidden, check_traces

OnRow = Callable[[dict[str, float]], object]
"""Called with every row of the log: step, seconds, loss and terms."""


def train(
    method: Method | str,
    *,
    data: Data,
    out: str | Path | None = None,
    steps: int = Training.steps,
    batch: int = Training.batch,
    lr: float = Training.lr,
    seed: int = Training.seed,
    net: str | Modules = Net.name,
    latents: int = Net.latents,
    width: float = Net.width,
    depth: int = Net.depth,
    standardise: bool = Training.standardise,
    precision: str = Training.precision,
    weight_decay: float = Training.weight_decay,
    clip: float = Training.clip,
    labels: Labels | None = None,
    jacobian: OrthogonalJacobian | None = None,
    device: str = "auto",
    threads: int | None = None,
    checkpoint_every: int = 1000,
    log_every: int = 50,
    snapshots: Sequence[int] = (),
    trace_every: int | None = None,
    trace_samples: int | None = None,
    resume: bool | None = None,
    overwrite: bool = False,
    track: Sequence[str] = (),
    progress: bool | None = None,
    on_result: OnRow | None = None,
    **fields: Any,
) -> Run:
    """Train a method on a data set and return the run.

    The same call on the same folder resumes an interrupted run. On the same machine, device and number of threads it
    ends with the same weights, bit for bit, as if it had never stopped. A finished run is returned unchanged; with more
    `steps` its training continues, and the result equals a run with that number of steps from the start.

    Parameters
    ----------
    method
        A `Method`, or its name, with its fields as further arguments: `train("beta-vae", beta=4, data=…)`.
    data
        A data set, or its name, with options after a colon: "xysquares:spacing=4". For your own data, the path of a
        file or folder, or an array without factors: images, uint8 (n, H, W) or (n, H, W, C), or vectors (n, D).
    out
        The run's folder; by default a subfolder of `runs/`, named after method, data and identity.
    steps, batch, lr, seed, standardise, precision, weight_decay, clip
        See `unweave.config.Training`.
    net, latents, width, depth
        See `unweave.nets.Net`. A net is a name, or two modules of your own, (encoder, decoder). The encoder maps
        images, float (n, C, H, W), to features (n, F), on top of which the method adds its own layer. The decoder maps
        codes (n, latents) to (n, C, H, W). The modules are tested on a batch and copied, so yours do not change.
    labels
        A few labelled images, for an additional supervised term: see `unweave.data.labels.Labels`.
    jacobian
        An additional term that makes the columns of the decoder's Jacobian orthogonal: see
        `unweave.methods.OrthogonalJacobian`.
    device
        "auto", "cpu", "cuda", "mps" …
    threads
        Number of CPU threads; by default torch's own choice.
    checkpoint_every, log_every
        Steps between two checkpoints, and between two rows of the log.
    snapshots
        Steps after which the weights are saved: `run.at(step)` is the run at that step.
    trace_every, trace_samples
        Steps between two traces (by default there are none), and the number of images (by default 100). `run.traces()`
        gives the activations of the decoder's hidden layers for these images at step 0, N, 2 N, … and the last step.
        The images are the same for every run on a data set.
    resume
        True requires a run that can be resumed, False a new folder; None accepts both.
    overwrite
        Remove the existing run in the folder and start again; other files are not removed.
    track
        Any of "tensorboard" and "wandb".
    progress
        Whether to show a progress bar; by default on a terminal and in a notebook, after two seconds.
    on_result
        Called with every row of the log.
    **fields
        The fields of a method that is given by name. A schedule may be written as text: `beta="1:4@50%"`.

    Returns
    -------
    Run
        The run in its folder.
    """
    if checkpoint_every < 1 or log_every < 1:
        raise UsageError("checkpoint_every and log_every must be at least 1")
    if threads is not None and threads < 1:
        raise UsageError(f"training needs at least one thread, not {threads}")
    chosen = chosen_method(method, fields, ARGUMENTS)
    keep_freed_memory()
    data = _loaded(data, progress)
    training = Training(steps, batch, lr, seed, standardise, precision, weight_decay, clip)
    tracing = Tracing.of(trace_every, trace_samples)
    if tracing and not chosen.decoder:
        raise UsageError(f"{method_name(chosen)} has no decoder to trace: leave out trace_every")
    tracer = tracing and Tracer(tracing, data, steps)
    modules = None if isinstance(net, str) else net
    body = _net(net, latents, width, depth)
    asked = Config(chosen, data.description, body, training, labels, jacobian)

    @cache
    def config_at(steps: int) -> Config:
        return resolved(replace(asked, training=replace(training, steps=steps)), data)

    config = config_at(steps)
    folder = Path(out) if out is not None else _default_folder(config)
    place = choose_device(device)
    trackers.check(track)
    if not body.is_builtin:
        # Report a mismatch before anything is written.
        model = config.build(data.shape, torch.Generator(), modules)
        if tracing:
            check_hidden(model)
        if jacobian:
            jacobian.check_decoder(model)
    origins = origins_of(config, data, modules, folder)
    with (
        claimed(folder, config_at, steps, resume=resume, overwrite=overwrite, origins=origins) as run,
        torch_threads(threads),
        denormals_as_zero(),
        seeded_torch(seed, place),
        Bar("training", unit=" steps", shown=progress) as bar,
    ):
        _check_snapshots(snapshots, run, steps)
        check_traces(tracing, run, steps)
        if run.state == "finished" and _is_whole(Run.open(folder, net=modules)):
            return Run.open(folder, device=device, data=data, net=modules)
        state = TrainingState.initial(config, data, place, log_every, modules)
        state.restore(folder)
        watchers = trackers.start(track, folder, config)
        try:
            notify = [tracker.log for tracker in watchers] + ([on_result] if on_result else [])
            _fit(state, config, data, folder, checkpoint_every, frozenset(snapshots), tracer, notify, bar)
        finally:
            for tracker in watchers:
                tracker.close()
    return Run.open(folder, device=device, data=data, net=modules)


ARGUMENTS = [name for name in signature(train).parameters if name not in ("method", "fields")]
"""The arguments of `train`, whose names a method's fields cannot use."""


def _fit(
    state: TrainingState,
    config: Config,
    data: Dataset,
    folder: Path,
    checkpoint_every: int,
    snapshots: frozenset[int],
    tracer: Tracer | None,
    notify: list[OnRow],
    bar: Bar,
) -> None:
    """Train from the state's step to the last one, and write checkpoints and a status into the folder."""
    steps, model = config.training.steps, state.model
    clock = time.perf_counter() - state.seconds
    diagnosis = Diagnosis(len(data), steps, config.method.categories_of(config.net.latents))
    with deferred_interrupts() as stop, _exact(model.device):
        if state.step in snapshots and state.step < steps:
            state.save_snapshot(folder)  # of a run that ended here and continues
        if tracer is not None:
            tracer.begin(model, state.step, folder)
        while state.step < steps:
            with reported_as_diverged(state, folder):
                q = take_step(state, config, data)
            bar("training", state.step, steps)
            state.seconds = time.perf_counter() - clock

            last, stopping = state.step == steps, stop.received
            save = last or stopping or state.step % checkpoint_every == 0
            row_due = last or state.history.due(state.step)
            traced = tracer is not None and tracer.is_due(state.step)
            if (save or row_due or traced) and not state.finite():
                raise diverged(state, folder)
            row = _timed(state) if row_due else None
            if state.history.due(state.step):
                state.history.close_window(state.step)
            if state.step in snapshots and not last:
                state.save_snapshot(folder)
            if tracer is not None and traced:
                tracer.save(model, state.step, folder)
            if save:
                state.save(folder, last=last)
                write_status(state, data, folder, "unfinished")
            if row is not None:  # after the checkpoint, because a callback may fail
                bar.terms({name: value for name, value in row.items() if name not in ("step", "seconds")})
                for tell in notify:
                    tell(row)
                diagnosis.check(row, q)
            if stopping and not last:
                raise Interrupted(state.step, folder)
    # After the loop, not in its last step: a run that was killed after its last checkpoint comes straight here.
    if not _is_whole(Run.open(folder)):
        state.save(folder, last=True)
    write_status(state, data, folder, "finished")


def _timed(state: TrainingState) -> dict[str, float]:
    """Return the row of the current window with the time, which is not saved, so that equal runs have equal logs."""
    return {"step": state.step, "seconds": state.seconds, **state.history.row(state.step)}


def _is_whole(run: Run) -> bool:
    """Return whether the weights can be read; without a checkpoint to restore them, raise the error."""
    try:
        return bool(run.model)
    except UsageError:
        if not (run.path / CHECKPOINT).is_file():
            raise
        return False


def _check_snapshots(snapshots: Sequence[int], run: Run, steps: int) -> None:
    """Raise a `UsageError` for snapshots that this run cannot have."""
    check_snapshots(snapshots, steps)
    if passed := [step for step in snapshots if step < run.step and not run.has_snapshot(step)]:
        late = f"'{run.path}' has passed step {passed[0]:,} without a snapshot"
        raise UsageError(f"{late}; train again in another folder")


def _loaded(data: Data, progress: bool | None) -> Dataset:
    """Return the data set, with a progress bar while it is read."""
    if not isinstance(data, str | Path):
        return as_dataset(data)
    with Bar(f"loading {data}", shown=progress) as bar:
        return load(data, on_progress=bar)


def _net(net: str | Modules, latents: int, width: float, depth: int) -> Net:
    if isinstance(net, str):
        return Net(net, latents, width, depth)
    for name, value, usual in (("width", width, Net.width), ("depth", depth, Net.depth)):
        if value != usual:
            raise UsageError(f"{name} applies only to nets given by name, not to modules of your own: leave it out")
    return Net.of(net, latents)


def _default_folder(config: Config) -> Path:
    return Path("runs") / f"{method_name(config.method)}-{config.data['name']}-{config.id[:8]}"


@contextmanager
def _exact(device: torch.device) -> Iterator[None]:
    """On CUDA, allow only deterministic algorithms."""
    if device.type != "cuda":
        yield
        return
    with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True):
        yield
