"""GeoManCEr on products of known manifolds: its error, and the number of factors, against the number of points."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.geometry import DoubtfulFactors, Factorisation, chance_error, geomancer, sample, subspace_error

CURVED = {
    "S² × S²": "S^2 x S^2",
    "S² × S³": "S^2 x S^3",
    "S² × SO(3)": "S^2 x SO(3)",
    "S³ × S³": "S^3 x S^3",
    "S⁵ × S⁵": "S^5 x S^5",
    "E² × E²": "E^2 x E^2",
    "E² × S³": "E^2 x S^3",
    "S² × S² × S²": "S^2 x S^2 x S^2",
    "S² × S⁴ × SO(3)": "S^2 x S^4 x SO(3)",
    "S² × S² × S² × S²": "S^2 x S^2 x S^2 x S^2",
    "S² × S² × S² × S² × S²": "S^2 x S^2 x S^2 x S^2 x S^2",
}
"""Products that holonomy can separate, in our notation and in that of `sample`."""
FLAT = {"T² × S²": "T^2 x S^2", "T² × T²": "T^2 x T^2"}
"""Products with flat factors, which have no holonomy."""
PRODUCTS = CURVED | FLAT


@dataclass(frozen=True)
class Trials:
    """GeoManCEr's results for several samples of one product, with the same number of points."""

    dims: tuple[int, ...]
    """The true dimensions of the factors."""
    errors: tuple[float, ...]
    """The mean over points of the angle to the true factors, in radians."""
    counts: tuple[int, ...]
    """The number of factors found."""
    right: tuple[bool, ...]
    """Whether their number and dimensions are right."""
    warned: tuple[bool, ...]
    """Whether GeoManCEr warned."""

    @property
    def chance(self) -> float:
        """The error of random subspaces of the true dimensions."""
        return chance_error(self.dims)


def trials(product: str, n: int, seeds: Sequence[int]) -> Trials:
    """Draw n points of a product with each seed, and find its factors, given only the dimension."""
    dims: tuple[int, ...] = ()
    errors, counts, right, warned = [], [], [], []
    for seed in seeds:
        drawn = sample(PRODUCTS[product], n, seed=seed)
        dims = tuple(frame.shape[2] for frame in drawn.frames)
        found, doubts = factorised(drawn.points, drawn.dim, seed=seed)
        errors.append(float(subspace_error(found.components, drawn.frames).mean()))
        counts.append(found.count)
        right.append(sorted(found.dims) == sorted(dims))
        warned.append(bool(doubts))
    return Trials(dims, tuple(errors), tuple(counts), tuple(right), tuple(warned))


def factorised(points: np.ndarray, dim: int, **options: Any) -> tuple[Factorisation, list[str]]:
    """Return the factors that GeoManCEr finds, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DoubtfulFactors)
        found = geomancer(points, dim, **options)
    return found, [str(each.message) for each in caught if issubclass(each.category, DoubtfulFactors)]
