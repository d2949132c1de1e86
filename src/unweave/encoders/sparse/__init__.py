"""Sparse autoencoders on codes: many features, few of them active in each row.

>>> import numpy as np
>>> from unweave.encoders.sparse import fit_sparse
>>> codes = np.random.default_rng(0).normal(size=(200, 4))
>>> found = fit_sparse(codes, features=8, k=2, steps=10, progress=False)
>>> found.encode(codes).shape
(200, 8)

Notes
-----
`settings` (the equations), `network` (forward pass, losses, norms), `fit` (the loop), `state` (checkpoint, order of
rows), `folder`, `scaling`, `autoencoder` (encode, decode), `statistics`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.late import public_name

if TYPE_CHECKING:
    from unweave.encoders.sparse.autoencoder import SparseAutoencoder as SparseAutoencoder
    from unweave.encoders.sparse.fit import fit_sparse as fit_sparse
    from unweave.encoders.sparse.settings import SparseSettings as SparseSettings
    from unweave.encoders.sparse.statistics import SparseStatistics as SparseStatistics

_HOME = {
    "SparseAutoencoder": "autoencoder",
    "SparseSettings": "settings",
    "SparseStatistics": "statistics",
    "fit_sparse": "fit",
}
__all__ = ["SparseAutoencoder", "SparseSettings", "SparseStatistics", "fit_sparse"]


def __getattr__(name: str) -> object:
    """Import a public name on first use: the command line's help needs the settings but not torch."""
    return public_name(__name__, _HOME, name)
