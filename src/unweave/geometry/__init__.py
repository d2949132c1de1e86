"""The geometry of data: factors of a manifold by its holonomy.

>>> from unweave.geometry import sample
>>> sample("S^2 x S^2", n=5).points.shape
(5, 6)
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
