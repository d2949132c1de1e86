"""The factors that were found on a data manifold, and their file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from unweave.errors import UsageError
from unweave.files import write_atomically


@dataclass(frozen=True)
class Factorisation:
    """The factors of a data manifold, at every point."""

    axes: np.ndarray
    """(n, D, k): an orthonormal basis of the tangent space at every point, each column in one factor."""
    labels: np.ndarray
    """(n, k): the factor of every column. Where `dims` is not empty, a label means the same factor at every point."""
    spectrum: np.ndarray
    """The smallest eigenvalues of the connection Laplacian, ascending, between 0 and 2."""
    count: int
    """The number of factors: one more than the eigenvalues below the gap."""
    dims: tuple[int, ...]
    """The dimension of every factor; empty where points do not agree on them."""
    tilts: np.ndarray
    """(n,), radians: estimated angle of each factor to the true one, due to noise, curvature and a metric that is not a
    product's; π/2 if the requested number of factors is not in the spectrum, so that they are arbitrary."""
    confidence: np.ndarray
    """(n,), 0 to 1: cos² tilt, times the share of the tensors that multiples of the factors' projections explain."""
    odd: np.ndarray
    """(n,) bool: points whose axes do not form the factors' dimensions; each axis went to the nearest factor."""

    @property
    def components(self) -> list[list[np.ndarray]]:
        """For every point the orthonormal bases (D, k_j) of its factors."""
        found: list[list[np.ndarray]] = []
        for axes, labels in zip(self.axes, self.labels, strict=True):
            found.append([axes[:, labels == j] for j in range(int(labels.max()) + 1)])
        return found

    def basis(self, factor: int) -> np.ndarray:
        """Return the basis (n, D, k_j) of one factor at every point."""
        if not 0 <= factor < len(self.dims):
            raise UsageError(f"there is no factor {factor}: there are {len(self.dims)}, counted from 0")
        own = np.nonzero(self.labels == factor)[1].reshape(len(self.labels), self.dims[factor])
        return np.take_along_axis(self.axes, own[:, None, :], axis=2)

    def save(self, path: Path, points: np.ndarray | None = None) -> None:
        """Write everything, with the points, as a .npz file, which NumPy reads without unweave."""
        content = BytesIO()
        arrays: dict[str, Any] = asdict(self) if points is None else {**asdict(self), "points": points}
        np.savez_compressed(content, **arrays)
        write_atomically(path, content.getvalue())

    @classmethod
    def read(cls, path: Path) -> Factorisation:
        """Return what `save` wrote; nothing in the file is ever executed."""
        try:
            file = np.load(path, allow_pickle=False)
            found: dict[str, Any] = {name: file[name] for name in cls.__dataclass_fields__}
        except (LookupError, ValueError, OSError, EOFError) as error:
            raise UsageError(f"'{path}' does not hold factors that unweave geomancer wrote") from error
        dims = tuple(int(size) for size in found.pop("dims"))
        found["count"] = int(found["count"])
        return cls(**found, dims=dims)
