"""Sparse autoencoders on codes: many features, few of them active in each row.

>>> import numpy as np
>>> from unweave.encoders.sparse import fit_sparse
>>> codes = np.random.default_rng(0).normal(size=(200, 4))
>>> found = fit_sparse(codes, features=8, k=2, steps=10, progress=False)
>>> found.encode(codes).shape
(200, 8)
"""

from __future__ import annotations

from unweave.encoders.sparse.autoencoder import SparseAutoencoder
from unweave.encoders.sparse.fit import fit_sparse
from unweave.encoders.sparse.settings import SparseSettings
from unweave.encoders.sparse.statistics import SparseStatistics

__all__ = ["SparseAutoencoder", "SparseSettings", "SparseStatistics", "fit_sparse"]
