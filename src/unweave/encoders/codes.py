"""Codes with the factors of their images and a record of how they were made, in memory and as a file."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from unweave.errors import UsageError
from unweave.files import refuse_special, write_atomically


@dataclass(frozen=True, eq=False)
class Codes:
    """The codes of images of a data set."""

    codes: np.ndarray
    """One row for each image (n, d), float32."""
    factors: np.ndarray | None
    """The factors of the images (n, k); None for a data set without labels."""
    indices: np.ndarray
    """The indices of the images (n,)."""
    record: dict[str, Any]
    """How they were made: encoder, weights, layer, pooling, preprocessing, projection, data, versions."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Return the codes, so that `unweave.evaluate({"a": a, "b": b}, a.factors)` takes these objects."""
        return np.array(self.codes, dtype=dtype) if copy or dtype is not None else self.codes

    def __repr__(self) -> str:
        record = self.record
        return (
            f"<codes {self.codes.shape} of {record['encoder']}, layer {record['layer']}, on {record['data']['name']}>"
        )

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write codes, factors, indices and the record (as JSON) to an .npz file, atomically.

        Parameters
        ----------
        path
            The .npz file.
        overwrite
            Whether to replace an existing file.
        """
        path = Path(path)
        check_out(path, overwrite)
        arrays = {"codes": self.codes, "factors": self.factors, "indices": self.indices}
        record = np.array(json.dumps(self.record, ensure_ascii=False))
        buffer = BytesIO()
        np.savez(buffer, **{name: array for name, array in arrays.items() if array is not None}, record=record)
        write_atomically(path, buffer.getvalue())

    @classmethod
    def read(cls, path: str | Path) -> Codes:
        """Return what `save` has written; nothing in the file is executed.

        Parameters
        ----------
        path
            The .npz file.

        Returns
        -------
        Codes
            The codes with their factors, indices and record.
        """
        try:
            with Path(path).open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                return cls(file["codes"], file.get("factors"), file["indices"], json.loads(str(file["record"])))
        except FileNotFoundError as error:
            raise UsageError(f"there is no file '{path}'") from error
        except (OSError, ValueError, KeyError, AttributeError, TypeError, BadZipFile) as error:
            raise UsageError(f"'{path}' is not a complete file of unweave encode; encode again") from error


def check_out(path: Path, overwrite: bool) -> None:
    """Raise a `UsageError` if codes cannot be written to this path; call it before computing them."""
    if path.suffix.lower() != ".npz":
        raise UsageError(f"codes must be written to an .npz file, not to '{path}'")
    if path.is_dir():
        raise UsageError(f"'{path}' is a folder; choose another name")
    refuse_special(path)
    if path.exists() and not overwrite:
        raise UsageError(f"'{path}' already exists; choose another name, or --overwrite (in Python, overwrite=True)")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder '{path.parent}' to write '{path.name}' into; make it first")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"cannot write into '{path.parent}': choose another folder")
