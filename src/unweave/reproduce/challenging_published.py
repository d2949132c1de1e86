"""The printed numbers of the large-scale study: shares of variance, and how often a choice transfers."""

from __future__ import annotations

METRICS = {
    "beta-vae-score": "β-VAE score",
    "dci-disentanglement": "DCI D",
    "factor-vae-score": "FactorVAE score",
    "mig": "MIG",
    "modularity": "modularity",
    "sap": "SAP",
}
"""The six scores of the study, in the order of its tables."""
RUNS, METHODS, CELLS = 1800, 6, 36
"""The data sets, in the order of the tables' columns."""
BY_METHOD = {
    "cars3d": (1, 36, 26, 34, 37, 13),
    "dsprites-color": (30, 39, 52, 26, 23, 29),
    "dsprites-noisy": (17, 21, 17, 11, 41, 6),
    "dsprites-scream": (89, 50, 76, 45, 60, 56),
    "shapes3d": (31, 21, 14, 20, 26, 10),
    "smallnorb": (68, 71, 58, 71, 62, 62),
    "dsprites": (29, 41, 47, 26, 29, 31),
}
"""Percent of the variance of each score that the objective alone explains."""
BY_CELL = {
    "cars3d": (4, 69, 42, 59, 51, 17),
    "dsprites-color": (69, 80, 61, 76, 40, 56),
    "dsprites-noisy": (26, 42, 25, 29, 50, 20),
    "dsprites-scream": (93, 74, 83, 66, 68, 75),
    "shapes3d": (61, 78, 53, 59, 49, 35),
    "smallnorb": (87, 89, 81, 88, 72, 82),
    "dsprites": (59, 77, 54, 72, 39, 56),
}
"""Percent that the objective and its strength explain together."""
TRANSFER = {"same": 80.7, "other_data": 59.3, "both_other": 54.9}
"""Percent of choices that beat a random one."""
LIKE = {"shapes2d": "dsprites", "rooms3d": "shapes3d"}
"""Our data sets, and the published ones that they are compared with."""


def published_data(name: str) -> str | None:
    """Return the published data set that a name, with its options, is compared with.

    >>> published_data("rooms3d:size=32"), published_data("cars3d"), published_data("xysquares")
    ('shapes3d', 'cars3d', None)
    """
    plain = name.partition(":")[0]
    found = LIKE.get(plain, plain)
    return found if found in BY_METHOD else None


def published_shares(data: str, metric: str) -> tuple[int, int] | None:
    """Return the percentages of variance explained by the objective, and by the objective and its strength."""
    found = published_data(data)
    if found is None or metric not in METRICS:
        return None
    place = list(METRICS).index(metric)
    return BY_METHOD[found][place], BY_CELL[found][place]
