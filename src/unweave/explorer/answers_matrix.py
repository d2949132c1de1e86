"""Latents against factors: the information of each latent about each factor, and the matched pairs."""

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
"""A latent with less than this share of every factor's information follows none."""
SHUFFLES, FEW_SHUFFLES = 20, 5
MANY_CELLS = 2_000
"""Tables with more cells are shuffled only a few times, because they take long."""
BEYOND = 4.0
"""Standard deviations above the mean of shuffled factors; about one table in 300 of pure noise exceeds it."""


def matrix(opened: Opened, kind: str) -> dict[str, Any]:
    """Return a table of latents × factors, and the order of latents that puts matched pairs on the diagonal."""
    seen = opened.labelled()
    values = cached_table(opened, kind)
    strength = "mi" if kind == "importance" else kind
    by, floor = (values if kind == strength else cached_table(opened, strength)), noise_floor(opened, strength)
    matched = matches(np.where(np.abs(by) > floor, values, 0.0))
    own = [latent for latent in matched if latent is not None]
    return {
        "kind": kind,
        "factors": list(opened.factors),
        "latents": list(range(opened.latents)),
        "values": values,
        "matched": matched,
        "floor": floor if kind == strength else None,
        "order": [*own, *(int(latent) for latent in seen.order if latent not in own)],
        "sampled": len(seen.codes),
        "of": opened.total,
    }


def cached_table(opened: Opened, kind: str) -> Array:
    """Return the table (latents, factors), computed once."""
    return opened.cached(("matrix", kind), lambda: table_of(opened, kind))


def noise_floor(opened: Opened, kind: str) -> float:
    """Return the noise floor: the strength that a latent must exceed to follow a factor; computed once."""
    return opened.cached(("floor", kind), lambda: floor_of(opened, kind))


def floor_of(opened: Opened, kind: str) -> float:
    """Return the noise floor of mi or correlation: the strength that latents reach on shuffled factors.

    For each shuffle of the factors' rows, which removes all dependence, the largest strength in the table is taken. The
    floor is the mean over shuffles plus four standard deviations. The importance of boosted trees sums to one even if
    they predict nothing, so it has no floor: its pairs are compared with the floor of mi.
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
    for latent in seen.categorical:  # for a category, how much the factor's mean depends on it; without a sign
        found[latent] = strengths(seen.codes[:, [latent]], factors, [0])[0]
    return found


def table_of(opened: Opened, kind: str) -> Array:
    """Return the table (latents, factors).

    mi: the share I(z; v) / H(v) of a factor's entropy that one latent explains. importance: how much boosted trees that
    predict the factor from all latents use this one, as in DCI. correlation: Pearson's, from -1 to 1; for a categorical
    latent, the correlation of the factor with its mean in each category.
    """
    seen = opened.labelled()
    if kind == "correlation":
        return _strengths(seen, seen.factors.astype(np.float64), kind)
    classes = bin_factors(seen.factors, BINS)
    if kind == "importance":
        return importance_matrix(seen.codes, classes, learner="quick-gbt")
    return _strengths(seen, classes, kind)


def matches(values: Array) -> list[int | None]:
    """Return the latent of each factor: the one-to-one matching with the largest sum of strengths.

    Pairs with strength 0 are left out.
    """
    strengths = np.abs(np.nan_to_num(values))
    pairs = zip(*linear_sum_assignment(strengths, maximize=True), strict=True)
    found = {int(factor): int(latent) for latent, factor in pairs if strengths[latent, factor] > 0}
    return [found.get(factor) for factor in range(values.shape[1])]


def followed(opened: Opened) -> list[str | None]:
    """Return for each latent the factor that it has most information about, among those above the noise floor."""
    seen = opened.survey
    if seen is None or not opened.factors or seen.factors.shape[1] != len(opened.factors) or len(seen.codes) < 2:
        return [None] * opened.latents
    values = cached_table(opened, "mi")
    beyond = np.where(values > noise_floor(opened, "mi"), values, 0.0)
    return [opened.factors[int(row.argmax())] if row.any() else None for row in beyond]


def scatter(opened: Opened, latent: int, factor: int) -> dict[str, Any]:
    """Return the values of a latent and a factor for all sampled images."""
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
