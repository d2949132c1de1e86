"""Open the folder of a run, or a file of codes, for the pages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unweave.errors import UsageError
from unweave.explorer.drawn import draw, sampled
from unweave.explorer.opened import Opened, surveyed
from unweave.explorer.refusals import Unable

if TYPE_CHECKING:
    from unweave.runs import Run

NO_DECODER = "Its method learns only codes: without a decoder, moving latents draws no images."


def open_run(run: Run, name: str, samples: int) -> Opened:
    """Return a run with its model in memory; if it cannot be opened, its warning says why."""
    try:
        model = run.model
    except (UsageError, OSError) as error:
        return Opened(name, "closed", run=run, warning=_without_folder(error, run.path, name))
    kind = "images" if len(model.shape) == 3 else "vectors"
    opened = Opened(name, kind, model.latents, tuple(model.shape), decoder=run.decode, run=run)
    if not run.has_decoder:
        opened.kind, opened.decoder = "codes-only", None
    try:
        return _with_codes(opened, run, samples)
    except (UsageError, OSError, ValueError) as error:
        instead = "sliders follow the prior instead of the codes" if run.has_decoder else "its codes are not shown"
        opened.warning = f"{_without_folder(error, run.path, name)}; {instead}"
        return opened


def _with_codes(opened: Opened, run: Run, samples: int) -> Opened:
    """Add the data set, and the codes of random images."""
    from unweave.report.surveys import collapse

    drawn = draw(run, samples)
    data = drawn.data
    if tuple(data.shape) != opened.shape:
        raise UsageError(f"its data set has images of shape {data.shape}, but its model takes {opened.shape}")
    codes, logs = run.posterior(drawn.inputs)
    if not np.isfinite(codes).all():
        raise UsageError("its codes are not finite")
    opened.survey = surveyed(codes, logs, drawn.values, run.categories)
    opened.data, opened.indices, opened.total = data, drawn.indices, len(data)
    opened.factors, opened.sizes = tuple(data.factors.names), tuple(map(int, data.factors.sizes))
    opened.warning = collapse(opened.survey) or (None if run.has_decoder else NO_DECODER)
    return opened


def read_run(path: Path, name: str, samples: int, step: int | None = None) -> Opened:
    """Open the run in a folder, with its current weights or those after a step."""
    from unweave.runs import Run

    try:
        run = Run.open(path)
        run = run if step is None else run.at(step)
    except (UsageError, OSError) as error:
        return Opened(name, "closed", warning=_without_folder(error, path, name))
    return open_run(run, name, samples)


def _without_folder(error: Exception, path: Path, name: str) -> str:
    """Return an error's message with the run's name instead of its folder, whose path must not be shown."""
    line = str(error)
    for place in (path, path.resolve()):
        line = line.replace(f"'{place}'", f"'{name}'").replace(f"'{place}{os.sep}", f"'{name}{os.sep}")
    return line


def read_codes(path: Path, name: str, samples: int) -> Opened:
    """Open a file of codes, as `unweave encode` writes it, or any .npz file with an array `codes`."""
    arrays = _arrays(path)
    codes, factors = arrays["codes"], arrays.get("factors")
    warning = None if factors is None else _unfit(factors, codes)
    if factors is None or warning:
        factors = np.zeros((len(codes), 0), dtype=np.int64)
    rows = sampled(len(codes), samples)
    opened = Opened(name, "codes-only", codes.shape[1], warning=warning)
    opened.survey = surveyed(codes[rows], None, factors[rows])
    opened.indices, opened.total = rows, len(codes)
    opened.factors = _factor_names(path, factors.shape[1])
    opened.sizes = tuple(len(np.unique(factor)) for factor in factors.T)
    return opened


def _unfit(factors: np.ndarray, codes: np.ndarray) -> str | None:
    """Return why factors are not shown with codes, or None if they can be shown."""
    if factors.ndim != 2:
        return f"its factors are left out: they must be a table (n, k), not of shape {factors.shape}"
    if len(factors) != len(codes):
        return f"its factors are left out: there are {len(codes):,} codes, but {len(factors):,} rows of factors"
    if factors.dtype.kind == "f" and not np.isfinite(factors).all():
        return "its factors are left out: some are not finite numbers"
    return None


def _arrays(path: Path) -> dict[str, np.ndarray]:
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            found = {name: file[name] for name in ("codes", "factors") if name in file.files}
        codes = found["codes"]
        found["codes"] = codes.astype(np.float64)
    except Exception as error:  # a damaged archive fails in many ways
        raise Unable(f"'{path.name}' cannot be read as codes") from error
    if codes.ndim != 2 or not codes.size or not np.isfinite(found["codes"]).all():
        raise Unable(f"the codes in '{path.name}' must be a table of finite numbers")
    return found


def _factor_names(path: Path, count: int) -> tuple[str, ...]:
    """Return the names of factors: those of the data set in the file's record, if it is drawn by unweave."""
    from unweave.data import load, recorded
    from unweave.encoders.codes import Codes

    plain = tuple(f"factor {place}" for place in range(count))
    try:
        description = recorded(Codes.read(path).record["data"])
        names = () if "path" in description else tuple(load(**description).factors.names)
    except (UsageError, OSError, KeyError, TypeError, ValueError):
        return plain
    return names if len(names) == count else plain
