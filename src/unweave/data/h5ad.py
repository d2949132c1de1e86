"""Read AnnData's h5ad files with h5py alone: a dense or sparse matrix, and columns that describe its rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unweave.errors import UsageError, unknown

SPARSE = {"csr_matrix": "csr_array", "csc_matrix": "csc_array"}


def read_h5ad(path: Path, factors: Sequence[str], layer: str) -> tuple[Any, list[str], dict[str, list[str]]]:
    """Return the matrix X or a layer, the names of its columns, and columns of `obs` as texts.

    A sparse matrix stays sparse.
    """
    try:
        import h5py
    except ImportError:
        raise UsageError(f"reading '{path.name}' needs h5py: pip install 'unweave[hdf5]'") from None
    try:
        with h5py.File(path, "r") as file:
            place = f"layers/{layer}" if layer else "X"
            if place not in file:
                layers = list(file["layers"]) if "layers" in file else []  # pyright: ignore
                raise unknown("layer", layer or "X", layers)
            return _matrix(file[place]), _index(file["var"]), _columns(file["obs"], factors)
    except (OSError, KeyError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"'{path}' cannot be read as an h5ad file, or is damaged: {error}") from error


def _matrix(found: Any) -> Any:
    """Return a matrix as an array or a sparse matrix of scipy."""
    if not hasattr(found, "keys"):
        return found[()]
    from scipy import sparse

    kind = _text(found.attrs["encoding-type"])
    if kind not in SPARSE:
        raise UsageError(f"a matrix of kind '{kind}' cannot be read; store it dense or as a csr_matrix")
    parts = tuple(found[part][()] for part in ("data", "indices", "indptr"))
    return getattr(sparse, SPARSE[kind])(parts, shape=tuple(found.attrs["shape"])).tocsr()


def _index(group: Any) -> list[str]:
    return [_text(name) for name in group[_text(group.attrs["_index"])][()]]


def _columns(obs: Any, names: Sequence[str]) -> dict[str, list[str]]:
    known = [name for name in obs if name != _text(obs.attrs["_index"])]
    for name in names:
        if name not in known:
            raise unknown("column of obs", name, known)
    return {name: _column(obs[name]) for name in names}


def _column(found: Any) -> list[str]:
    """Return the cells of a column as texts; a missing category is an empty text."""
    if not hasattr(found, "keys"):
        return [_text(cell) for cell in found[()]]
    categories = [_text(category) for category in found["categories"][()]]
    return ["" if code < 0 else categories[code] for code in found["codes"][()]]


def _text(cell: object) -> str:
    return cell.decode() if isinstance(cell, bytes) else str(cell)
