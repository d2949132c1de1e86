"""Scores in groups by what they measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unweave.metrics import METRICS, Metric

QUESTIONS = {
    "modularity": "Does each latent follow one factor only?",
    "compactness": "Is each factor kept in one latent only?",
    "explicitness": "Can the factors be predicted from the codes, and by how simple a predictor?",
    "all three": "Modularity, compactness and explicitness in one number.",
    "robustness": "Does a latent keep its value when factors that it does not follow change?",
    "distances": "Are codes as far apart as the factors of their images?",
    "linearity": "When one factor changes, do the codes move along a line, or along one latent?",
    "usefulness": "How well do classifiers predict the factors from the codes, given few or many labelled rows?",
    "fairness": "Do predictions of one factor change with another that they should not depend on?",
    "independence": "Do the latents depend on each other? No factors are used.",
    "capacity": "How many latents are in use? No factors are used.",
    "likelihood": "What do the codes cost, and what do they keep of an image, in nats? No factors are used.",
    "geometry": "Do the latents change the decoded image in directions of their own? No factors are used.",
    "other": "Scores that this version does not know.",
}
"""What each group of scores asks, in the order of a page."""
PARTS = {"disentanglement": "modularity", "completeness": "compactness", "informativeness": "explicitness"}
"""The group of a part that goes by another name than what it measures."""


@dataclass(frozen=True)
class Origin:
    """Where a row of a table of scores comes from."""

    name: str
    """The metric's name."""
    metric: Metric[..., Any]
    group: str
    """What it measures: a key of `QUESTIONS`."""


def _origins() -> dict[str, Origin]:
    """Return the origin of every row there can be; a part of a score of several is in the group of that part."""
    found = {}
    for name, metric in METRICS.items():
        for row in metric.names(name):
            part = row.removeprefix(f"{name}-")
            part = PARTS.get(part, part) if metric.measures == "all three" else ""
            group = part if part in QUESTIONS else metric.measures
            found[row] = Origin(name, metric, group if group in QUESTIONS else "other")
    return found


ORIGINS = _origins()
