"""The folder of a sparse autoencoder: its files, and whether what is asked for may be fitted in it."""

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
"""All that fitting writes, and codes made by it; the file that says what the folder is comes last."""
ARRAYS = ("encoder", "encoder_bias", "decoder", "decoder_bias", "threshold", "centre", "scale")
AGAIN = "--overwrite (in Python, overwrite=True) starts again"


@dataclass(frozen=True)
class Asked:
    """What is to be fitted: the settings, with nothing left open, and what the codes are."""

    settings: SparseSettings
    codes: dict[str, Any]

    @classmethod
    def of(cls, settings: SparseSettings, codes: np.ndarray) -> Asked:
        """Return what fitting these settings to codes (n, d) is, wherever the codes lie."""
        digest = hashlib.sha256(np.ascontiguousarray(codes).tobytes()).hexdigest()[:16]
        return cls(settings, {"rows": len(codes), "width": codes.shape[1], "digest": digest})

    def to_json(self) -> dict[str, Any]:
        """Return the content of config.json, but for unweave's version."""
        return {"kind": KIND, "settings": self.settings.to_json(), "codes": self.codes}


@contextmanager
def claimed(folder: Path, asked: Asked, *, overwrite: bool = False) -> Iterator[None]:
    """Hold the folder for this process; what is in it is the beginning of what is asked for, or nothing.

    A folder with other settings, codes or files is left alone. More steps than before are fine, fewer are not.
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
        raise UsageError(f"'{folder}' holds something else than a sparse autoencoder; choose another folder")
    try:
        return SparseSettings(**values["settings"])
    except (KeyError, TypeError) as error:
        raise UsageError(f"'{folder / CONFIG}' is damaged; {AGAIN}") from error


def read_weights(folder: Path) -> dict[str, np.ndarray]:
    """Return the arrays of the sparse autoencoder in a folder."""
    path = folder / WEIGHTS
    if not path.is_file():
        raise UsageError(f"'{folder}' has not reached a checkpoint yet; the command that began it goes on")
    try:
        weights = load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise UsageError(f"'{path}' is damaged; {AGAIN}") from error
    if any(name not in weights for name in ARRAYS):
        raise UsageError(f"'{path}' holds no sparse autoencoder; {AGAIN}")
    return weights


def _check_same(folder: Path, asked: Asked) -> None:
    """Refuse what differs from what the folder holds in more than a larger number of steps."""
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
        raise UsageError(f"'{folder}' has been fitted for {step:,} steps already; choose another folder, or {AGAIN}")


def _refuse_other_folders(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"'{folder}' is a file; a sparse autoencoder needs a folder")
    if not folder.is_dir():
        return
    if (folder / CONFIG).is_file():
        if read_json(folder / CONFIG).get("kind") != KIND:
            raise UsageError(f"'{folder}' holds something else than a sparse autoencoder; choose another folder")
    elif any(not entry.name.startswith(".") for entry in folder.iterdir()):  # hidden files are our own
        raise UsageError(f"'{folder}' is not empty and holds no sparse autoencoder; choose another folder")
