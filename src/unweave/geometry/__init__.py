"""The geometry of data: factors of a manifold from its holonomy (GeoManCEr).

>>> from unweave.geometry import sample
>>> sample("S^2 x S^2", n=5).points.shape
(5, 6)

Notes
-----
One file per step. The numba kernels are in `second_order` (tangent spaces), `connection`, `laplacian` with `simd`
(vector registers as Python numbers) and `diagonalise`. `bias` compares fits at two neighbourhood sizes; `whitening`
gives all factors the same scale.
"""

from __future__ import annotations

from unweave.geometry.analogies import analogy, local_coordinates
from unweave.geometry.angles import chance_error, subspace_error, unaligned_error
from unweave.geometry.dimension import Dimension, estimate_dim
from unweave.geometry.factorisation import Factorisation
from unweave.geometry.geomancer import geomancer
from unweave.geometry.inputs import DoubtfulFactors
from unweave.geometry.manifolds import Sample, sample
from unweave.geometry.whitening import Whitened, whiten

__all__ = [
    "Dimension",
    "DoubtfulFactors",
    "Factorisation",
    "Sample",
    "Whitened",
    "analogy",
    "chance_error",
    "estimate_dim",
    "geomancer",
    "local_coordinates",
    "sample",
    "subspace_error",
    "unaligned_error",
    "whiten",
]
