"""Which direction of a score is better, by its name alone: loading all metrics takes longer than reading many runs."""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


HIGHER = _names(
    """
    mig mig-sup jemmig dcimig modularity med minimality sufficiency im mcc mcc-rank mcc-rdc irs sap sap-correlation
    info-mec-modularity info-mec-explicitness info-mec-compactness explicitness k-sparse-probing r2
    dci-disentanglement dci-completeness dci-informativeness
    dci-random-forest-disentanglement dci-random-forest-completeness dci-random-forest-informativeness
    dci-lasso-disentanglement dci-lasso-completeness dci-lasso-informativeness
    dci-logistic-disentanglement dci-logistic-completeness dci-logistic-informativeness
    dci-matched-disentanglement dci-matched-completeness dci-matched-informativeness dci-es-explicitness dci-es-size
    downstream-logistic-accuracy-10 downstream-logistic-accuracy-100 downstream-logistic-accuracy-1000
    downstream-logistic-accuracy-10000 downstream-logistic-efficiency
    downstream-gbt-accuracy-10 downstream-gbt-accuracy-100 downstream-gbt-accuracy-1000 downstream-gbt-accuracy-10000
    downstream-gbt-efficiency beta-vae-score factor-vae-score z-max-variance distance-correlation
    factor-distance-correlation perceived-correlation linearity axis-alignment axis-orientation jacobian-orthogonality
    """
)
LOWER = _names(
    """
    unfairness-mean unfairness-max total-correlation total-correlation-sampled pairwise-mi pairwise-mi-sampled
    wasserstein-distance wasserstein-normalised wasserstein-sampled-distance wasserstein-sampled-normalised ima-contrast
    """
)
NEITHER = _names("active-units elbo-rate elbo-distortion elbo-bound")
KNOWN: dict[str, bool | None] = {
    **dict.fromkeys(HIGHER, True),
    **dict.fromkeys(LOWER, False),
    **dict.fromkeys(NEITHER, None),
}
"""Whether higher is better, of unweave's own scores; of one that is missing here, its metric says so itself."""
NOT_SCORES = ("encoding", "compilation")
"""Rows that only say how long something took."""


def higher_is_better(score: str) -> bool | None:
    """Return whether higher scores are better; None where neither direction is, or where it is not known.

    >>> higher_is_better("mig"), higher_is_better("total-correlation"), higher_is_better("elbo-rate")
    (True, False, None)
    """
    if score in KNOWN:
        return KNOWN[score]
    from unweave.report.scores import direction_of

    return direction_of(score)
