"""Latents against factors: what each latent knows of each factor, and which latent matches which factor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from unweave.explorer.opened import Array, Opened
from unweave.explorer.refusals import Refused
from unweave.metrics.correlation import standardised, strengths
from unweave.metrics.dci import importance_matrix
from unweave.metrics.inputs import bin_factors
from unweave.report.association import BINS, normalised_information

if TYPE_CHECKING:
    from unweave.report.surveys import Survey

KINDS = ("mi", "importance", "correlation")
LEAST = 0.05
"""A latent that knows a smaller share of every factor follows none."""
SHUFFLES, FEW_SHUFFLES = 20, 5
MANY_CELLS = 2_000
"""A table of more cells, which takes long, is shuffled a few times only."""
BEYOND = 4.0
"""Standard deviations above the mean of shuffled factors: of pure noise, about one table in 300 reaches beyond."""


def matrix(opened: Opened, kind: str) -> dict[str, Any]:
    """Return a table of latents × factors, and the order of latents that makes matched ones a diagonal."""
    seen = opened.labelled()
    values = kept(opened, kind)
    judged = "mi" if kind == "importance" else kind
    by, floor = (values if kind == judged else kept(opened, judged)), noise_floor(opened, judged)
    matched = matches(np.where(np.abs(by) > floor, values, 0.0))
    own = [latent for latent in matched if latent is not None]
    return {
        "kind": kind,
        "factors": list(opened.factors),
        "latents": list(range(opened.latents)),
        "values": values,
        "matched": matched,
        "floor": floor if kind == judged else None,
        "order": [*own, *(int(latent) for latent in seen.order if latent not in own)],
        "sampled": len(seen.codes),
        "of": opened.total,
    }


def kept(opened: Opened, kind: str) -> Array:
    """Return the table (latents, factors), computed once."""
    return opened.keep(("matrix", kind), lambda: table_of(opened, kind))


def noise_floor(opened: Opened, kind: str) -> float:
    """Return the strength that a latent must exceed to know more of a factor than noise does, computed once."""
    return opened.keep(("floor", kind), lambda: floor_of(opened, kind))


def floor_of(opened: Opened, kind: str) -> float:
    """Return how much latents seem to know of factors that belong to other images, by mi or correlation.

    The rows of the factors are shuffled, which leaves nothing to know of them, and the largest strength in the table is
    found; the floor is the mean of that over shuffles, plus four standard deviations. The importance of boosted trees
    sums to one even where they predict nothing, so that it has no such floor: its pairs are judged by mi.
    """
    seen, rng = opened.labelled(), np.random.default_rng(0)
    classes = seen.factors.astype(np.float64) if kind == "correlation" else bin_factors(seen.factors, BINS)
    times = SHUFFLES if opened.latents * len(opened.factors) <= MANY_CELLS else FEW_SHUFFLES
    shuffled = (rng.permutation(classes) for _ in range(times))
    strongest = np.array([np.abs(_strengths(seen, some, kind)).max() for some in shuffled])
    noise = float(strongest.mean() + BEYOND * strongest.std(ddof=1))
    return noise if kind == "correlation" else max(noise, LEAST)


def _strengths(seen: Survey, factors: Array, kind: str) -> Array:
    if kind == "mi":
        return normalised_information(seen.codes, factors, categorical=seen.categorical)
    found = standardised(seen.codes).T @ standardised(factors)
    for latent in seen.categorical:  # of a category, how far the factor's mean depends on it: no sign
        found[latent] = strengths(seen.codes[:, [latent]], factors, [0])[0]
    return found


def table_of(opened: Opened, kind: str) -> Array:
    """Return the table (latents, factors).

    mi: the share I(z; v) / H(v) of a factor that is known from a latent alone. importance: how much boosted trees that
    predict the factor from all latents use one, as in DCI. correlation: Pearson's, from -1 to 1; of a categorical
    latent that of the factor with its mean in each category.
    """
    seen = opened.labelled()
    if kind == "correlation":
        return _strengths(seen, seen.factors.astype(np.float64), kind)
    classes = bin_factors(seen.factors, BINS)
    if kind == "importance":
        return importance_matrix(seen.codes, classes, learner="quick-gbt")
    return _strengths(seen, classes, kind)


def matches(values: Array) -> list[int | None]:
    """Return the latent of each factor: one to one, so that the strengths of all pairs have the largest sum.

    A pair without any strength is none.
    """
    strengths = np.abs(np.nan_to_num(values))
    pairs = zip(*linear_sum_assignment(strengths, maximize=True), strict=True)
    found = {int(factor): int(latent) for latent, factor in pairs if strengths[latent, factor] > 0}
    return [found.get(factor) for factor in range(values.shape[1])]


def followed(opened: Opened) -> list[str | None]:
    """Return for each latent the factor it knows the largest share of, of those that it knows beyond noise."""
    seen = opened.survey
    if seen is None or not opened.factors or seen.factors.shape[1] != len(opened.factors) or len(seen.codes) < 2:
        return [None] * opened.latents
    values = kept(opened, "mi")
    beyond = np.where(values > noise_floor(opened, "mi"), values, 0.0)
    return [opened.factors[int(row.argmax())] if row.any() else None for row in beyond]


def scatter(opened: Opened, latent: int, factor: int) -> dict[str, Any]:
    """Return a latent and a factor of all sampled images."""
    seen = opened.labelled()
    if not 0 <= latent < opened.latents:
        raise Refused(f"'latent' must be from 0 to {opened.latents - 1}, not {latent}")
    if not 0 <= factor < len(opened.factors):
        raise Refused(f"'factor' must be from 0 to {len(opened.factors) - 1}, not {factor}")
    return {
        "latent": latent,
        "factor": opened.factors[factor],
        "x": seen.codes[:, latent],
        "y": seen.factors[:, factor],
        "images": opened.indices,
        "sampled": len(seen.codes),
        "of": opened.total,
    }
