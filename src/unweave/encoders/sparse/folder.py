"""The folder of a sparse autoencoder: its files, and whether a fit may use it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from unweave.encoders.sparse.settings import SPARSE, SparseSettings
from unweave.errors import UsageError
from unweave.files import locked, write_json
from unweave.runs import CHECKPOINT, CONFIG, LOG, STATUS, WEIGHTS, read_json

KIND = "sparse-autoencoder"
STATISTICS = "statistics.json"
FILES = (SPARSE, STATUS, LOG, WEIGHTS, CHECKPOINT, STATISTICS, CONFIG)
"""All files of a fit, and codes made by it; the file that identifies the folder comes last."""
ARRAYS = ("encoder", "encoder_bias", "decoder", "decoder_bias", "threshold", "centre", "scale")
AGAIN = "--overwrite (in Python, overwrite=True) starts again"


@dataclass(frozen=True)
class Asked:
    """A requested fit: the resolved settings, and the identity of the codes."""

    settings: SparseSettings
    codes: dict[str, Any]

    @classmethod
    def of(cls, settings: SparseSettings, codes: np.ndarray) -> Asked:
        """Return the request to fit these settings to codes (n, d), wherever the codes are stored."""
        digest = hashlib.sha256(np.ascontiguousarray(codes).tobytes()).hexdigest()[:16]
        return cls(settings, {"rows": len(codes), "width": codes.shape[1], "digest": digest})

    def to_json(self) -> dict[str, Any]:
        """Return the content of config.json, without unweave's version."""
        return {"kind": KIND, "settings": self.settings.to_json(), "codes": self.codes}


@contextmanager
def claimed(folder: Path, asked: Asked, *, overwrite: bool = False) -> Iterator[None]:
    """Lock the folder for this process, after checking that it is empty or holds the beginning of the same fit.

    A folder with other settings, codes or files is left untouched. More steps than before are allowed, fewer are not.
    """
    _refuse_other_folders(folder)
    folder.mkdir(parents=True, exist_ok=True)

    def taken() -> None:
        raise UsageError(f"another process is fitting a sparse autoencoder in '{folder}'")

    with locked(folder, taken):
        if overwrite:
            for name in FILES:
                (folder / name).unlink(missing_ok=True)
        if (folder / CONFIG).is_file() and (folder / CHECKPOINT).is_file():
            _check_same(folder, asked)
        write_json(folder / CONFIG, {"unweave": version("unweave"), **asked.to_json()})
        yield


def read_settings(folder: Path) -> SparseSettings:
    """Return the settings of the sparse autoencoder in a folder."""
    if not (folder / CONFIG).is_file():
        raise UsageError(f"'{folder}' holds no sparse autoencoder; fit one: unweave sparsify CODES.npz --out {folder}")
    values = read_json(folder / CONFIG)
    if values.get("kind") != KIND:
        raise UsageError(f"'{folder}' holds something else, not a sparse autoencoder; choose another folder")
    try:
        return SparseSettings(**values["settings"])
    except (KeyError, TypeError) as error:
        raise UsageError(f"'{folder / CONFIG}' is damaged; {AGAIN}") from error


def read_weights(folder: Path) -> dict[str, np.ndarray]:
    """Return the arrays of the sparse autoencoder in a folder."""
    path = folder / WEIGHTS
    if not path.is_file():
        raise UsageError(f"'{folder}' has no checkpoint yet; run the same unweave sparsify command again")
    try:
        weights = load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise UsageError(f"'{path}' is damaged; {AGAIN}") from error
    if any(name not in weights for name in ARRAYS):
        raise UsageError(f"'{path}' holds no sparse autoencoder; {AGAIN}")
    return weights


def _check_same(folder: Path, asked: Asked) -> None:
    """Raise a `UsageError` if the request differs from the folder in more than a larger number of steps."""
    before, now = read_json(folder / CONFIG), asked.to_json()
    different = [
        f"{name} {old.get(name)}, not {new.get(name)}"
        for old, new in ((before.get(part, {}), now[part]) for part in ("settings", "codes"))
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name) and name != "steps"
    ]
    if before.get("codes") not in (None, now["codes"]):
        raise UsageError(f"'{folder}' was fitted to other codes; choose another folder, or {AGAIN}")
    if different:
        raise UsageError(f"'{folder}' was fitted with {', '.join(different)}; choose another folder, or {AGAIN}")
    step = read_json(folder / STATUS).get("step", 0) if (folder / STATUS).is_file() else 0
    if step > asked.settings.steps:
        raise UsageError(f"'{folder}' has already been fitted for {step:,} steps; choose another folder, or {AGAIN}")


def _refuse_other_folders(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"'{folder}' is a file; a sparse autoencoder needs a folder")
    if not folder.is_dir():
        return
    if (folder / CONFIG).is_file():
        if read_json(folder / CONFIG).get("kind") != KIND:
            raise UsageError(f"'{folder}' holds something else, not a sparse autoencoder; choose another folder")
    elif any(not entry.name.startswith(".") for entry in folder.iterdir()):  # hidden files are our own
        raise UsageError(f"'{folder}' is not empty and holds no sparse autoencoder; choose another folder")
