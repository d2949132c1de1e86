"""Fitting a sparse autoencoder to codes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from unweave.devices import torch_threads
from unweave.encoders.sparse.autoencoder import SparseAutoencoder
from unweave.encoders.sparse.folder import STATISTICS, Asked, claimed
from unweave.encoders.sparse.scaling import Scaling
from unweave.encoders.sparse.settings import SparseSettings
from unweave.encoders.sparse.state import RowOrder, SparseState
from unweave.errors import UsageError, unknown
from unweave.files import write_json
from unweave.hardware import machine
from unweave.memory import keep_freed_memory
from unweave.metrics.inputs import check_codes
from unweave.progress import OnProgress, reporting
from unweave.runs import STATUS, status_of
from unweave.training.interrupt import Interrupted, deferred_interrupts
from unweave.versions import versions

Save = Callable[[SparseState, bool], None]
"""Saves a state; the flag says whether it is the last."""


def fit_sparse(
    codes: ArrayLike,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    checkpoint_every: int = 1000,
    log_every: int = 50,
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
    **settings: Any,
) -> SparseAutoencoder:
    """Fit a sparse autoencoder to codes, on the CPU.

    With a folder, the same call continues after an interruption, and ends with the same bytes as an uninterrupted one
    (on the same machine and number of threads). With more steps it trains further.

    Parameters
    ----------
    codes
        Codes (n, d) with at least two rows. They are centred and scaled to mean square 1; the folder records both.
    out
        The folder: config.json, weights.safetensors, log.parquet, statistics.json, and a checkpoint. None: nothing is
        saved.
    overwrite
        Remove the sparse autoencoder in the folder and the sparse.npz of `unweave sparsify`, and start again; no other
        file is removed.
    threads
        Number of CPU threads; by default torch's choice.
    checkpoint_every, log_every
        Steps between two checkpoints, and between two rows of the log.
    progress, on_progress
        Whether to show a progress bar, and a function to call instead.
    **settings
        The fields of `SparseSettings`: features, k, kind, steps, batch, lr, aux_k, aux_weight, dead_after, seed …

    Returns
    -------
    SparseAutoencoder
        With `encode`, `decode` and `statistics`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.encoders.sparse import fit_sparse
    >>> codes = np.random.default_rng(0).normal(size=(100, 3))
    >>> int((fit_sparse(codes, features=6, k=2, steps=5, progress=False).encode(codes) > 0).sum(1).max())
    2
    """
    for name in settings:
        if name not in SparseSettings.__dataclass_fields__:
            raise unknown("option of fit_sparse", name, SparseSettings.__dataclass_fields__)
    if checkpoint_every < 1 or log_every < 1 or (threads is not None and threads < 1):
        raise UsageError("checkpoint_every, log_every and threads must be at least 1")
    values = check_codes(codes)
    chosen = SparseSettings(**settings).resolve(values.shape[1])
    scaling = Scaling.of(values)
    x = scaling.apply(values)
    keep_freed_memory()
    state = SparseState.initial(chosen, x, scaling, log_every)
    with reporting(on_progress, progress, "fitting") as told, torch_threads(threads):
        if out is None:
            _fit(state, x, told)
            return SparseAutoencoder.of(chosen, state.weights())
        folder = Path(out)
        with claimed(folder, Asked.of(chosen, values), overwrite=overwrite):
            _fit_in_folder(state, x, folder, checkpoint_every, told)
            found = SparseAutoencoder.of(chosen, state.weights())
            write_json(folder / STATISTICS, found.statistics(values)._asdict())
            return found


def _fit_in_folder(state: SparseState, x: np.ndarray, folder: Path, every: int, told: OnProgress) -> None:
    """Take the remaining steps, and save the state regularly, at an interrupt and at the end."""
    state.restore(folder)
    start = time.perf_counter() - float(status_of(folder).get("seconds", 0.0))

    def save(state: SparseState, last: bool) -> None:
        _refuse_infinite(state)
        state.save(folder, last=last)
        _write_status(folder, state.step, time.perf_counter() - start, "finished" if last else "unfinished")

    with deferred_interrupts() as stop:
        for _ in take_steps(state, x, told):
            due = state.step % every == 0 or stop.received
            if due and state.step < state.network.settings.steps:
                save(state, False)
            if stop.received and state.step < state.network.settings.steps:
                raise Interrupted(state.step, folder)
        save(state, True)


def _fit(state: SparseState, x: np.ndarray, told: OnProgress) -> None:
    for _ in take_steps(state, x, told):
        pass


def take_steps(state: SparseState, x: np.ndarray, told: OnProgress) -> Iterator[int]:
    """Take one step after another, each on the next rows, and yield its number."""
    network, settings = state.network, state.network.settings
    rows, data = RowOrder(len(x), settings.batch, settings.seed), torch.from_numpy(x)
    while state.step < settings.steps:
        batch = data[torch.from_numpy(rows(state.step))]
        done = network(batch)
        loss = torch.stack(list(done.terms.values())).sum()
        state.optimiser.zero_grad()
        loss.backward()
        network.remove_parallel_gradient()
        state.optimiser.step()
        network.normalise_directions()
        active = (done.active > 0).sum() / len(batch)
        state.history.add(loss, done.terms, {"l0": active, "dead": network.dead.double().mean()})
        state.step += 1
        if state.history.due(state.step):
            _refuse_infinite(state)
            state.history.close_window(state.step)
        told("fitting", state.step, settings.steps)
        yield state.step
    _refuse_infinite(state)


def _refuse_infinite(state: SparseState) -> None:
    """Raise a `UsageError` after a step that was too large; weights show it before the loss does."""
    if not state.history.finite():
        raise UsageError(f"the loss is no longer finite at step {state.step:,}; try a smaller lr")
    if not all(bool(torch.isfinite(weight).all()) for weight in state.network.parameters()):
        raise UsageError(f"the weights are no longer finite at step {state.step:,}; try a smaller lr")


def _write_status(folder: Path, step: int, seconds: float, phase: str) -> None:
    """Write the one file that holds times."""
    here = {"threads": torch.get_num_threads(), "machine": machine(), "versions": versions()}
    write_json(folder / STATUS, {"state": phase, "step": step, "seconds": round(seconds, 3), **here})
