"""The training loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch

from unweave.config import Config, Training, method_name
from unweave.data import Dataset, load
from unweave.data.labels import Labels
from unweave.devices import choose_device
from unweave.errors import UsageError, unknown
from unweave.files import write_json
from unweave.methods import METHODS, Batch, Method
from unweave.nets import Net
from unweave.runs import CHECKPOINT, STATUS, WEIGHTS, Run
from unweave.training import trackers
from unweave.training.diagnosis import Diagnosis
from unweave.training.folder import claimed
from unweave.training.interrupt import Interrupted, deferred_interrupts
from unweave.training.memory import keep_freed_memory
from unweave.training.resolve import resolved
from unweave.training.state import TrainingState

Watch = Callable[[dict[str, float]], None]
"""Called with every row of the log: step, seconds, loss and terms."""


def train(
    method: Method | str,
    *,
    data: Dataset | str,
    out: str | Path | None = None,
    steps: int = Training.steps,
    batch: int = Training.batch,
    lr: float = Training.lr,
    seed: int = Training.seed,
    net: str = Net.name,
    latents: int = Net.latents,
    width: float = Net.width,
    standardise: bool = Training.standardise,
    precision: str = Training.precision,
    weight_decay: float = Training.weight_decay,
    clip: float = Training.clip,
    labels: Labels | None = None,
    device: str = "auto",
    threads: int | None = None,
    checkpoint_every: int = 1000,
    log_every: int = 50,
    resume: bool | None = None,
    track: Sequence[str] = (),
    watch: Watch | None = None,
) -> Run:
    """Train a method on a data set and return the run.

    The same call on the same folder goes on where it stopped, and ends with the same weights, bit for bit, as
    if it had never stopped (on the same machine, device and number of threads). A finished run is returned
    as it is.

    Parameters
    ----------
    method
        A `Method`, or the name of one with its defaults.
    data
        A data set, or its name, with options after a colon: "xysquares:spacing=4".
    out
        The run's folder; by default one below `runs/`, named after method, data and identity.
    steps, batch, lr, seed, standardise, precision, weight_decay, clip
        See `unweave.config.Training`.
    net, latents, width
        See `unweave.nets.Net`.
    labels
        A few labelled images, for a supervised term beside the method's own: see `unweave.data.labels.Labels`.
    device
        "auto", "cpu", "cuda", "mps" …
    threads
        Threads of the CPU; by default torch's own choice.
    checkpoint_every, log_every
        Steps between two checkpoints, and between two rows of the log.
    resume
        True demands a run that can be resumed, False a new folder; None takes what is there.
    track
        Any of "tensorboard" and "wandb".
    watch
        Called with every row of the log.
    """
    if checkpoint_every < 1 or log_every < 1:
        raise UsageError("checkpoint_every and log_every must be at least 1")
    if threads is not None and threads < 1:
        raise UsageError(f"training needs at least one thread, not {threads}")
    keep_freed_memory()
    data = load(data) if isinstance(data, str) else data
    training = Training(steps, batch, lr, seed, standardise, precision, weight_decay, clip)
    config = resolved(Config(_method(method), data.description, Net(net, latents, width), training, labels), data)
    folder = Path(out) if out is not None else _default_folder(config)
    place = choose_device(device)
    trackers.check(track)
    with claimed(folder, config, resume) as run, _threads(threads):
        if run.state == "finished" and run.weights:
            return Run.open(folder, device=device, data=data)
        state = TrainingState.initial(config, data, place, log_every)
        state.restore(folder)
        watchers = trackers.start(track, folder, config)
        try:
            notify = [tracker.log for tracker in watchers] + ([watch] if watch else [])
            _fit(state, config, data, folder, checkpoint_every, notify)
        finally:
            for tracker in watchers:
                tracker.close()
    return Run.open(folder, device=device, data=data)


def _fit(
    state: TrainingState,
    config: Config,
    data: Dataset,
    folder: Path,
    checkpoint_every: int,
    notify: list[Watch],
) -> None:
    """Train from the state's step to the last one, writing checkpoints and a status into the folder."""
    training, method, model = config.training, config.method, state.model
    device = model.device
    clock = time.perf_counter() - state.seconds
    diagnosis = Diagnosis(len(data), training.steps)
    with deferred_interrupts() as stop, _exact(device):
        while state.step < training.steps:
            batch = _draw(method, data, training.batch, state)
            with torch.autocast(device.type, torch.bfloat16, enabled=training.precision == "bf16"):
                q, z = method.infer(model, batch, state.step, state.streams.noise)
                terms = method.terms(model, batch, q, z, state.step)
                if state.supervision is not None:
                    terms["supervised"] = state.supervision.term(model, state.step)
            with torch.no_grad():
                watched = method.watch(model, q, z, state.step)
            loss = torch.stack(list(terms.values())).sum()
            state.optimiser.zero_grad()
            loss.backward()
            if training.clip:
                torch.nn.utils.clip_grad_value_(model.own_parameters(), training.clip)
            state.optimiser.step()
            if state.adversary is not None:
                watched["adversary"] = _train_adversary(state.adversary, method, data, training.batch, state, z)
            state.history.add(loss, terms, watched)
            state.step += 1
            state.seconds = time.perf_counter() - clock

            last, stopping = state.step == training.steps, stop.received
            save = last or stopping or state.step % checkpoint_every == 0
            row_due = last or state.history.due(state.step)
            if (save or row_due) and not state.finite():
                raise _diverged(state, folder)
            row = state.history.close_window(state.step, state.seconds) if row_due else None
            if save:
                state.save(folder)
                _write_status(state, folder, "unfinished")
            if row is not None:  # after the checkpoint: what is told may fail
                for tell in notify:
                    tell(row)
                diagnosis.look(row, q)
            if stopping and not last:
                raise Interrupted(state.step, folder)
    # After the loop, and not in its last step: a run killed after its last checkpoint comes straight here.
    if not (folder / WEIGHTS).is_file():
        state.save(folder)
    _write_status(state, folder, "finished")
    (folder / CHECKPOINT).unlink(missing_ok=True)


def _draw(method: Method, data: Dataset, size: int, state: TrainingState) -> Batch:
    """Return the next batch: its images, and their factors where the method asks for them."""
    indices = method.draw(data, size, state.streams.batches).ravel()
    x = state.model.pixels(data.images(indices))  # (groups * size, C, H, W) in [0, 1] or standardised
    factors = torch.from_numpy(data.values(indices)).to(x.device) if method.labelled else None
    return Batch(x, method.groups, factors, state.streams.choices)


def _train_adversary(
    optimiser: torch.optim.Optimizer, method: Method, data: Dataset, size: int, state: TrainingState, z: torch.Tensor
) -> torch.Tensor:
    """Take the adversary's step on the codes of the batch and of another one, and return its loss."""

    @torch.no_grad()
    def another() -> torch.Tensor:
        batch = _draw(method, data, size, state)
        return method.infer(state.model, batch, state.step, state.streams.noise)[1]

    loss = method.adversary_loss(state.model, z.detach(), another)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss.detach()


def _method(method: Method | str) -> Method:
    if isinstance(method, Method):
        return method
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    return METHODS[method]()


def _default_folder(config: Config) -> Path:
    return Path("runs") / f"{method_name(config.method)}-{config.data['name']}-{config.id[:8]}"


def _write_status(state: TrainingState, folder: Path, phase: str) -> None:
    device = state.model.device
    status = {
        "state": phase,
        "step": state.step,
        "seconds": round(state.seconds, 3),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
    }
    write_json(folder / STATUS, status)


def _diverged(state: TrainingState, folder: Path) -> UsageError:
    """Record in the status that the run failed, and return the error that says so."""
    reason = f"the loss or a weight is no longer a finite number after step {state.step}"
    status = Run.open(folder).status
    write_json(folder / STATUS, {**status, "state": "failed", "reason": reason})
    kept = f"the checkpoint of step {status['step']} is kept" if status["step"] else "no checkpoint was reached"
    return UsageError(f"{reason}; {kept} in '{folder}'; try a smaller lr, or another seed")


@contextmanager
def _exact(device: torch.device) -> Iterator[None]:
    """On CUDA, allow only algorithms whose result is the same every time."""
    if device.type != "cuda":
        yield
        return
    with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True):
        yield


@contextmanager
def _threads(count: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
