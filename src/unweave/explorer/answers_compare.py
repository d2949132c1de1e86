"""Two runs side by side: their latents, matched, and their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from unweave.explorer.answers_run import scores
from unweave.explorer.opened import Array, Opened
from unweave.explorer.refusals import Unable
from unweave.metrics.correlation import standardised
from unweave.metrics.rdc import canonical, with_categories

if TYPE_CHECKING:
    from unweave.report.surveys import Survey


def comparison(left: Opened, right: Opened) -> dict[str, Any]:
    """Return the latents matched one to one by the correlation of their codes on the same images, and the scores."""
    one, other = left.seen(), right.seen()
    _refuse_other_images(left, right)
    ours, theirs = one.used, other.used
    correlations = _correlations(one, other)[np.ix_(ours, theirs)]
    pairs = _pairs(ours, theirs, correlations)
    return {
        "pairs": pairs,
        "rest_left": _rest(one.order, {pair["left"] for pair in pairs}),
        "rest_right": _rest(other.order, {pair["right"] for pair in pairs}),
        "start": {"left": left.start(), "right": right.start(), "image": int(left.indices[0])},
        "scores": _both_scores(left, right),
        "sampled": len(one.codes),
        "of": left.total,
    }


def _correlations(one: Survey, other: Survey) -> Array:
    """Return the correlation of each latent of one run with each of the other; for categories, the largest possible."""
    left, right = standardised(one.codes), standardised(other.codes)
    found = left.T @ right
    if one.categorical or other.categorical:
        ours = with_categories(left[:, :, None], one.codes, one.categorical)
        theirs = with_categories(right[:, :, None], other.codes, other.categorical)
        largest = canonical(ours, theirs)
        rows, columns = list(one.categorical), list(other.categorical)
        found[rows], found[:, columns] = largest[rows], largest[:, columns]
    return found


def _refuse_other_images(left: Opened, right: Opened) -> None:
    names = [opened.data.description if opened.data is not None else None for opened in (left, right)]
    same = names[0] == names[1] and left.total == right.total and np.array_equal(left.indices, right.indices)
    if not same:
        raise Unable(f"'{left.name}' and '{right.name}' have different data sets, so their latents cannot be matched")


def _pairs(ours: Array, theirs: Array, correlations: Array) -> list[dict[str, Any]]:
    """Return the pairs of used latents, in the order of the left ones, the most informative first."""
    if not correlations.size:
        return []
    rows, columns = linear_sum_assignment(np.abs(correlations), maximize=True)
    return [
        {
            "left": int(ours[row]),
            "right": int(theirs[column]),
            "sign": 1 if correlations[row, column] >= 0 else -1,
            "agreement": float(min(abs(correlations[row, column]), 1.0)),
        }
        for row, column in zip(rows, columns, strict=True)
    ]


def _rest(order: Array, matched: set[int]) -> list[int]:
    return [int(latent) for latent in order if latent not in matched]


def _both_scores(left: Opened, right: Opened) -> list[dict[str, Any]]:
    found = [_current(opened) for opened in (left, right)]
    names = dict.fromkeys([*found[0], *found[1]])
    return [{"metric": name, "left": found[0].get(name), "right": found[1].get(name)} for name in names]


def _current(opened: Opened) -> dict[str, float | None]:
    """Return the newest score of each metric for the current weights, without scores on noisy labels."""
    rows = [row for row in scores(opened) if row["current"] and '"label_noise"' not in (row["options"] or "")]
    return {row["metric"]: row["value"] for row in rows}
