"""Codes against factors: what each latent knows of each factor, and which latent belongs to which factor."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from unweave.explorer.opened import Array, Opened
from unweave.explorer.refusals import Refused
from unweave.metrics.correlation import standardised
from unweave.metrics.dci import importance_matrix
from unweave.metrics.inputs import bin_factors
from unweave.report.association import BINS, normalised_information

KINDS = ("mi", "importance", "correlation")
LEAST = 0.05
"""A latent that knows a smaller share of every factor follows none."""


def matrix(opened: Opened, kind: str) -> dict[str, Any]:
    """Return a table of latents × factors, and the order of latents that makes matched ones a diagonal."""
    seen = opened.labelled()
    values = opened.keep(("matrix", kind), lambda: table_of(opened, kind))
    matched = matches(values)
    own = [latent for latent in matched if latent is not None]
    return {
        "kind": kind,
        "factors": list(opened.factors),
        "latents": list(range(opened.latents)),
        "values": values,
        "matched": matched,
        "order": [*own, *(int(latent) for latent in seen.order if latent not in own)],
        "sampled": len(seen.codes),
        "of": opened.total,
    }


def table_of(opened: Opened, kind: str) -> Array:
    """Return the table (latents, factors).

    mi: the share I(z; v) / H(v) of a factor that is known from a latent alone. importance: how much boosted trees that
    predict the factor from all latents use one, as in DCI. correlation: Pearson's, from -1 to 1.
    """
    seen = opened.labelled()
    if kind == "correlation":
        return standardised(seen.codes).T @ standardised(seen.factors.astype(np.float64))
    classes = bin_factors(seen.factors, BINS)
    if kind == "importance":
        return importance_matrix(seen.codes, classes, learner="quick-gbt")
    return normalised_information(seen.codes, classes)


def matches(values: Array) -> list[int | None]:
    """Return the latent of each factor: one to one, so that the strengths of all pairs have the largest sum."""
    latents, factors = linear_sum_assignment(np.abs(np.nan_to_num(values)), maximize=True)
    found = dict(zip(factors.tolist(), latents.tolist(), strict=True))
    return [found.get(factor) for factor in range(values.shape[1])]


def followed(opened: Opened) -> list[str | None]:
    """Return for each latent the factor it knows the largest share of, if that is worth a name."""
    seen = opened.survey
    if seen is None or not opened.factors or seen.factors.shape[1] != len(opened.factors) or len(seen.codes) < 2:
        return [None] * opened.latents
    values = opened.keep(("matrix", "mi"), lambda: table_of(opened, "mi"))
    return [opened.factors[int(row.argmax())] if row.max() >= LEAST else None for row in values]


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
