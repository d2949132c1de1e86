"""The names of all metrics. To add one, write its file and a line here."""

from __future__ import annotations

from typing import Any

from unweave.errors import UnknownName, UsageError, unknown
from unweave.metrics.active_units import active_units
from unweave.metrics.beta_vae_score import beta_vae_score
from unweave.metrics.dci import dci
from unweave.metrics.dci_es import dci_es
from unweave.metrics.dci_matched import dci_matched
from unweave.metrics.dcimig import dcimig
from unweave.metrics.distance_correlation import (
    distance_correlation,
    factor_distance_correlation,
    perceived_correlation,
)
from unweave.metrics.downstream import downstream
from unweave.metrics.elbo import elbo
from unweave.metrics.explicitness import explicitness
from unweave.metrics.factor_vae_score import factor_vae_score
from unweave.metrics.im import im
from unweave.metrics.info_mec import info_mec
from unweave.metrics.irs import irs
from unweave.metrics.jacobian import ima_contrast, jacobian_orthogonality
from unweave.metrics.jemmig import jemmig
from unweave.metrics.k_sparse_probing import k_sparse_probing
from unweave.metrics.linear_probe import linear_probe
from unweave.metrics.linearity import axis_alignment, axis_orientation, linearity
from unweave.metrics.mcc import mcc
from unweave.metrics.med import med
from unweave.metrics.metric import KIND, Metric
from unweave.metrics.mig import mig
from unweave.metrics.mig_sup import mig_sup
from unweave.metrics.minimality import minimality, sufficiency
from unweave.metrics.modularity import modularity
from unweave.metrics.pairwise_mi import pairwise_mi
from unweave.metrics.rdc import mcc_rdc
from unweave.metrics.sap import sap
from unweave.metrics.total_correlation import total_correlation
from unweave.metrics.unfairness import unfairness
from unweave.metrics.wasserstein import wasserstein_independence
from unweave.metrics.z_max_variance import z_max_variance

OWN_BOUNDS: dict[str, Any] = {"floor_options": {}, "ceiling_options": {}, "ceiling_rows": None}
"""For learners without a quicker version: the learner itself gives the bounds, the ceiling from all rows."""

METRICS: dict[str, Metric[..., Any]] = {
    "mig": mig,
    "mig-sup": mig_sup,
    "jemmig": jemmig,
    "dcimig": dcimig,
    "modularity": modularity,
    "med": med,
    "minimality": minimality,
    "sufficiency": sufficiency,
    "info-mec": info_mec,
    "im": im,
    "mcc": mcc,
    "mcc-rank": mcc.variant({"kind": "rank"}),
    "mcc-rdc": mcc_rdc,
    "irs": irs,
    "distance-correlation": distance_correlation,
    "sap": sap,
    "sap-correlation": sap.variant({"kind": "correlation"}, continuous=True, unused=("test", "seed")),
    "dci": dci,
    "dci-random-forest": dci.variant({"learner": "random-forest"}, **OWN_BOUNDS),
    "dci-lasso": dci.variant(
        {"learner": "lasso"}, continuous=True, no_floor=("disentanglement", "completeness"), **OWN_BOUNDS
    ),
    "dci-logistic": dci.variant({"learner": "logistic"}, shuffles=25, unsteady=("disentanglement",), **OWN_BOUNDS),
    "dci-matched": dci_matched,
    "dci-es": dci_es,
    "explicitness": explicitness,
    "k-sparse-probing": k_sparse_probing,
    "r2": linear_probe,
    "downstream-logistic": downstream,
    "downstream-gbt": downstream.variant(
        {"learner": "gbt"},
        categories="ranks",
        floor_options={"learner": "quick-gbt", "all_rows": True},
        ceiling_options={"stop_at_perfect": True},
    ),
    "beta-vae-score": beta_vae_score,
    "factor-vae-score": factor_vae_score,
    "z-max-variance": z_max_variance,
    "factor-distance-correlation": factor_distance_correlation,
    "perceived-correlation": perceived_correlation,
    "linearity": linearity,
    "axis-alignment": axis_alignment,
    "axis-orientation": axis_orientation,
    "unfairness": unfairness,
    "total-correlation": total_correlation,
    "wasserstein": wasserstein_independence,
    "pairwise-mi": pairwise_mi,
    "total-correlation-sampled": total_correlation.of_samples(),
    "wasserstein-sampled": wasserstein_independence.of_samples(),
    "pairwise-mi-sampled": pairwise_mi.of_samples(),
    "active-units": active_units,
    "elbo": elbo,
    "jacobian-orthogonality": jacobian_orthogonality,
    "ima-contrast": ima_contrast,
}

OTHER_LEARNERS = ("dci-random-forest", "dci-lasso", "dci-logistic")

OF_MANY_CODES = ("k-sparse-probing", "dci-matched")
"""Metrics for codes with many more latents than factors, such as those of sparse autoencoders."""

GROUPS: dict[str, tuple[str, ...]] = {
    "all": tuple(name for name in METRICS if name not in (*OTHER_LEARNERS, *OF_MANY_CODES)),
    "overcomplete": (*OF_MANY_CODES, "mcc", "mcc-rank", "mig", "sap-correlation"),
    "study": (
        "beta-vae-score",
        "factor-vae-score",
        "mig",
        "dci",
        "modularity",
        "explicitness",
        "sap",
        "total-correlation",
        "wasserstein",
        "pairwise-mi",
        "total-correlation-sampled",
        "wasserstein-sampled",
        "pairwise-mi-sampled",
        "downstream-logistic",
        "downstream-gbt",
    ),
}
"""Names of groups. "all" leaves out DCI with other learners and the metrics for many latents; "overcomplete" has these
and others that take seconds at thousands of latents; "study" has those of disentanglement_lib's study."""
KIND.builtin = METRICS


def known_metrics() -> dict[str, Metric[..., Any]]:
    """Return the metrics by name: unweave's, then those that the user has defined."""
    return {**METRICS, **KIND.own}


def metric_of(name: str) -> Metric[..., Any]:
    """Return the metric of this name, unweave's or the user's; for the name of a part, the error names its metric."""
    try:
        return KIND.find(name)
    except UnknownName as error:
        for known, metric in known_metrics().items():
            if name in metric.names(known):
                raise UsageError(f"'{name}' is a part of the metric '{known}': request '{known}'") from error
        raise unknown("metric", name, [*known_metrics(), *GROUPS]) from error
