"""GeoManCEr: split a data manifold into submanifolds whose tangent spaces its holonomy does not mix [Pfau2020]_."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from unweave.errors import UsageError
from unweave.geometry.dimension import several_dims
from unweave.geometry.factorisation import Factorisation
from unweave.geometry.factors import explained, label_axes
from unweave.geometry.gap import rises
from unweave.geometry.inputs import DoubtfulFactors, check_options, checked, distinct, given_graph
from unweave.geometry.neighbours import Graph, graph_of_edges, nearest, symmetric
from unweave.geometry.tangents import Tangents, tangent_spaces, usual_neighbours, with_bias
from unweave.progress import OnProgress, silent

CLEAR = 3.0
"""The least ratio of the spectrum above the values near zero; below it, none counts as near zero."""
FLAT = 6.0
"""If there are more values near zero than curved factors can have, a ratio of at least this indicates flat factors."""
BETWEEN = 1.4
"""A value with this ratio to the next, though not near zero, may belong to a further factor."""
NOISY = 0.8
"""If the factors' projections explain a smaller share of the tensors, on average, the factors are not curved."""
VANISHING = 0.05
"""Share of the next eigenvalue below which an eigenvalue counts as zero."""
LARGE = 0.15
"""A mean tilt, in radians, above which factors are only roughly right."""


def geomancer(
    points: Any,
    dim: int | None = None,
    *,
    neighbours: int | None = None,
    tangent_neighbours: int | None = None,
    spectrum: int = 10,
    count: int | None = None,
    gamma: float | None = None,
    graph: Any = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> Factorisation:
    """Find the factors of the manifold that points (n, D) lie on.

    Parameters
    ----------
    points
        Points in a space whose distances are those of the manifold; without the true metric the factors cannot be
        found.
    dim
        The dimension of the manifold; by default the estimate of `estimate_dim`.
    neighbours
        Number of nearest neighbours between which tensors are carried; by default twice the dimension.
    tangent_neighbours
        Number of nearest neighbours that a tangent space is fitted to; by default three for each coefficient of a
        second-order fit, 3 k (k + 3) / 2, or all neighbours of a given graph. With fewer than half of that the fit is
        of first order.
    spectrum
        Number of eigenvalues to compute.
    count, gamma
        The number of factors, if it is known, or the eigenvalue below which tensors count as parallel. Without either,
        the largest ratio between neighbours in the spectrum decides.
    graph
        Edges (e, 2) between points, in place of nearest neighbours.
    seed
        Seed of the vectors that the eigensolver starts from.
    on_progress
        Called as `on_progress(stage, done, 1)`, where `done` is the finished share of the stage.

    Returns
    -------
    Factorisation
        The factors at every point, with the spectrum and estimates of the error.

    Examples
    --------
    >>> points = sample("S^2 x S^2", n=1000).points
    >>> found = geomancer(points, dim=4)
    >>> found.count, found.dims
    (2, (2, 2))
    """
    x = checked(points)
    dim = several_dims(x).dim if dim is None else dim
    check_options(x, dim, spectrum, count, gamma)
    on_progress = on_progress or silent
    on_progress("neighbours", 0.0, 1)
    if graph is None:
        rows, back = distinct(x)
        x = x[rows]
        links, near = _nearest(x, dim, neighbours, tangent_neighbours)
    else:
        back = np.arange(len(x))
        links = given_graph(graph, len(x))
        near = links.rows(dim) if tangent_neighbours is None else nearest(x, tangent_neighbours)
    on_progress("tangents", 0.0, 1)
    tangents = tangent_spaces(x, near, dim)
    kept, links = _largest_part(links, dim)
    tilts = with_bias(x, near, tangents)
    inside = Tangents(tangents.frames[kept], tangents.tilts[kept])
    found = _factorise(inside, tilts[kept], links, spectrum, count, gamma, seed, on_progress)
    return _spread(found, Tangents(tangents.frames, tilts), kept, back)


def _nearest(x: np.ndarray, dim: int, graph: int | None, tangent: int | None) -> tuple[Graph, np.ndarray]:
    """Return the graph of nearest neighbours, and those that tangent spaces are fitted to."""
    graph = 2 * dim if graph is None else graph
    tangent = usual_neighbours(dim, len(x)) if tangent is None else tangent
    if min(graph, tangent) < dim:
        raise UsageError(
            f"a tangent space of dimension {dim} needs {dim} neighbours or more, not {min(graph, tangent)}"
        )
    near = nearest(x, max(graph, tangent))
    return symmetric(near[:, :graph]), near[:, :tangent]


def _factorise(
    tangents: Tangents,
    whole: np.ndarray,
    graph: Graph,
    wanted: int,
    count: int | None,
    gamma: float | None,
    seed: int,
    on_progress: OnProgress,
) -> Factorisation:
    """Factorise points with these tangent spaces, and their tilts with bias, on a connected graph."""
    # numba takes a second to import; users who only sample or compare should not wait for it.
    from unweave.geometry.connection import connection
    from unweave.geometry.diagonalise import diagonalise
    from unweave.geometry.laplacian import Laplacian
    from unweave.geometry.mixing import mixing
    from unweave.geometry.spectrum import bottom

    frames, errors = tangents.frames, np.tan(tangents.tilts)
    dim = frames.shape[2]
    on_progress("connection", 0.0, 1)
    laplacian = Laplacian(graph, connection(frames, graph))
    found = bottom(laplacian, max(wanted, count or 0), seed=seed, on_progress=on_progress)
    factors = count or _number_of_factors(found.values, gamma, dim)
    on_progress("components", 0.0, 1)
    matrices = laplacian.matrices(found.vectors[:, :, : factors - 1])
    rotations, diagonals = diagonalise(matrices)
    labels, dims, odd = label_axes(diagonals, factors)
    squares = (matrices.astype(float) ** 2).sum(axis=(1, 2, 3))
    share = explained(diagonals, squares, labels) if factors > 1 else np.ones(len(frames))
    within = 0.0
    if factors > 1 and rises(found.values)[factors - 2 : factors - 1].min(initial=np.inf) < BETWEEN:
        within = np.inf  # nothing separates these fields from the next: the factors are arbitrary
    elif factors > 1:
        above = float(found.values[min(factors, len(found.values)) - 1])
        within = mixing(laplacian, frames, errors, matrices, above, seed)
    tilts = np.arctan(np.hypot(np.tan(whole) / factors**0.5, within))  # a factor has its share of the whole
    on_progress("components", 1.0, 1)
    if len(frames) <= (least := usual_neighbours(dim)):
        warnings.warn(
            f"{len(frames)} points are too few for a manifold of dimension {dim}, whose tangent spaces are fitted to "
            f"{least} neighbours: do not trust the result",
            DoubtfulFactors,
            stacklevel=3,
        )
    elif count != 1:
        _warn(found.values, factors, dims, odd, share, dim, float(tilts.mean()))
    sure = share * np.cos(tilts) ** 2
    return Factorisation(frames @ rotations, labels, found.values, factors, dims, tilts, sure, odd)


def _number_of_factors(values: np.ndarray, gamma: float | None, dim: int) -> int:
    """Return one more than the number of eigenvalues below gamma, or below the largest ratio if it is clear."""
    if gamma is not None:
        return min(int((values < gamma).sum()) + 1, dim)
    rise = rises(values)[: _most_factors(dim) - 1]
    return int(np.argmax(rise)) + 2 if rise.max(initial=0) >= CLEAR else 1


def _most_factors(dim: int) -> int:
    """Return the largest possible number of factors: curved ones have at least two dimensions, and one may be flat."""
    return (dim + 1) // 2


def _warn(
    values: np.ndarray,
    count: int,
    dims: tuple[int, ...],
    odd: np.ndarray,
    share: np.ndarray,
    dim: int,
    tilt: float = 0.0,
) -> None:
    """Warn about signs that the points are not a product of curved manifolds."""
    flat = "flat directions, such as circles, tori and planes, have no holonomy and cannot be separated"
    most = _most_factors(dim)
    rise = rises(values)[most - 1 :]
    if count == 1 and _is_flat(values, dim):
        text = "the manifold is flat, as a plane, a swiss roll and a torus are: without holonomy, it has no factors"
    elif count == 1 and rise.max(initial=0) >= FLAT:
        text = f"{most + int(np.argmax(rise))} eigenvalues are near zero, too many for curved factors: {flat}"
    elif count == 1:
        text = (
            "the spectrum has no clear gap: the manifold is one factor, or its points are too few to tell, or its "
            "factors differ in scale (unweave.geometry.whiten corrects that)"
        )
    elif dims.count(1) > 1:
        text = f"several factors have dimension 1: {flat}"
    elif share.mean() < NOISY:
        text = (
            f"the tensors found are not those of {count} curved factors: "
            "distances are not those of a product, or some directions are flat"
        )
    elif 1 in dims:
        text = "a factor of dimension 1 is flat; one can be separated from the other factors, but several could not be"
    elif not dims:
        text = f"most points do not fall into {count} factors; more points, or another number of neighbours, may help"
    elif rises(values)[count - 1 : most - 1].max(initial=0) >= BETWEEN:
        text = f"eigenvalue {count} is neither near zero nor like the rest: more points may show another factor"
    elif odd.mean() > 0.2:
        text = f"at {odd.mean():.0%} of the points the components do not add up by themselves; more points may help"
    elif tilt > LARGE:
        text = (
            f"the factors are about {tilt:.2f} radians off (their mean tilt): more points, less noise, or one scale "
            "for all (unweave.geometry.whiten) may help"
        )
    else:
        return
    warnings.warn(text, DoubtfulFactors, stacklevel=4)


def _is_flat(values: np.ndarray, dim: int) -> bool:
    """Return whether as many eigenvalues vanish as a flat manifold has parallel tensors: all but the identity."""
    parallel = dim * (dim + 1) // 2 - 1
    return parallel < len(values) and values[parallel - 1] < VANISHING * values[parallel]


def _largest_part(graph: Graph, dim: int) -> tuple[np.ndarray, Graph]:
    """Return the points of the largest connected part, and its graph; nothing is carried between parts."""
    parts, part = graph.parts()
    sizes = np.bincount(part, minlength=1)
    kept = np.nonzero(part == np.argmax(sizes))[0]
    if len(kept) < dim + 2:
        raise UsageError(f"the largest connected part of the graph has only {len(kept)} points: pass more neighbours")
    if parts == 1:
        return kept, graph
    left = len(part) - len(kept)
    warnings.warn(
        f"{left} points are not connected with the largest part and are left unfactorised; more neighbours may help",
        DoubtfulFactors,
        stacklevel=3,
    )
    place = np.full(len(part), -1)
    place[kept] = np.arange(len(kept))
    inside = place[graph.sources] >= 0
    return kept, graph_of_edges(place[graph.sources[inside]], place[graph.targets[inside]], len(kept))


def _spread(found: Factorisation, tangents: Tangents, kept: np.ndarray, back: np.ndarray) -> Factorisation:
    """Return the factors of all points: those left out get arbitrary axes, and equal points the same."""
    n, _, dim = tangents.frames.shape
    axes, labels = tangents.frames.copy(), np.zeros((n, dim), int)
    if found.dims:  # arbitrary axes in the right numbers, so that every point has every factor
        labels[:] = np.repeat(np.arange(len(found.dims)), found.dims)
    sure, odd, tilts = np.zeros(n), np.ones(n, bool), tangents.tilts.copy()
    axes[kept], labels[kept], sure[kept], odd[kept] = found.axes, found.labels, found.confidence, found.odd
    tilts[kept] = found.tilts
    of_points = {"axes": axes, "labels": labels, "tilts": tilts, "confidence": sure, "odd": odd}
    return replace(found, **{name: each[back] for name, each in of_points.items()})
