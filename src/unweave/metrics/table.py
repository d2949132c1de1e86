"""The table of metrics: to add one, write its file and one entry here."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from unweave.metrics.active_units import active_units, sample_active_units
from unweave.metrics.beta_vae_score import beta_vae_score, sample_beta_vae_score
from unweave.metrics.dci import dci, sample_dci
from unweave.metrics.dci_es import dci_es, sample_dci_es
from unweave.metrics.dcimig import dcimig, sample_dcimig
from unweave.metrics.distance_correlation import (
    distance_correlation,
    factor_distance_correlation,
    perceived_correlation,
    sample_distance_correlation,
    sample_factor_distance_correlation,
    sample_perceived_correlation,
)
from unweave.metrics.downstream import downstream, sample_downstream
from unweave.metrics.elbo import elbo_terms, sample_elbo_terms
from unweave.metrics.explicitness import explicitness, sample_explicitness
from unweave.metrics.factor_vae_score import factor_vae_score, sample_factor_vae_score
from unweave.metrics.im import im, sample_im
from unweave.metrics.info_mec import info_mec, sample_info_mec
from unweave.metrics.irs import irs, sample_irs
from unweave.metrics.jacobian import (
    ima_contrast,
    jacobian_orthogonality,
    sample_ima_contrast,
    sample_jacobian_orthogonality,
)
from unweave.metrics.jemmig import jemmig, sample_jemmig
from unweave.metrics.linear_probe import linear_probe, sample_linear_probe
from unweave.metrics.linearity import (
    axis_alignment,
    axis_orientation,
    linearity,
    sample_axis_alignment,
    sample_axis_orientation,
    sample_linearity,
)
from unweave.metrics.mcc import mcc, sample_mcc
from unweave.metrics.med import med, sample_med
from unweave.metrics.metric import Metric
from unweave.metrics.mig import mig, sample_mig
from unweave.metrics.mig_sup import mig_sup, sample_mig_sup
from unweave.metrics.modularity import modularity, sample_modularity
from unweave.metrics.pairwise_mi import pairwise_mi, sample_pairwise_mi
from unweave.metrics.sap import sample_sap, sap
from unweave.metrics.total_correlation import sample_total_correlation, total_correlation
from unweave.metrics.unfairness import sample_unfairness, unfairness
from unweave.metrics.wasserstein import sample_wasserstein_independence, wasserstein_independence
from unweave.metrics.z_max_variance import sample_z_max_variance, z_max_variance

FITTED = ("codes", "factors", "test", "seed")
INTERVENED = ("encode", "seed")
BINS = {"bins": 20}
POSITIVE = (0.0, inf)
VOTES = {"votes": 10_000, "test_votes": 5_000, "batch": 64, "variance_rows": 10_000, "threshold": 0.05}
FEW_VOTES = {"votes": 700, "test_votes": 350, "variance_rows": 1_000}
TRAVERSALS, FEW_TRAVERSALS = {"traversals": 1024}, {"traversals": 128}
PAIRS = {**TRAVERSALS, "pairs": 128}
SIZES = (10, 100, 1_000, 10_000)

DCI_PARTS = ("disentanglement", "completeness", "informativeness")
DOWNSTREAM_PARTS = (*map(str, SIZES), "efficiency")


def _supervised() -> dict[str, Metric]:
    """Return the scores of codes against factors."""
    return {
        "mig": Metric(mig, "Chen et al. 2018", "compactness", options=BINS, sample=sample_mig),
        "mig-sup": Metric(mig_sup, "Li et al. 2020", "modularity", options=BINS, sample=sample_mig_sup),
        "jemmig": Metric(jemmig, "Do & Tran 2020", "compactness", options=BINS, sample=sample_jemmig),
        "dcimig": Metric(dcimig, "Sepliarskaia et al. 2019", "modularity", options=BINS, sample=sample_dcimig),
        "modularity": Metric(modularity, "Ridgeway & Mozer 2018", "modularity", options=BINS, sample=sample_modularity),
        "med": Metric(med, "Cao et al. 2022", "modularity", options=BINS | {"top": None}, sample=sample_med),
        "info-mec": Metric(
            info_mec,
            "Hsu et al. 2023",
            "all three",
            needs=("codes", "factors", "seed"),
            options={"pruning": "range", "neighbours": 10, "discrete": False},
            parts=("modularity", "explicitness", "compactness"),
            sample=sample_info_mec,
        ),
        "im": Metric(im, "Vu et al. 2024", "compactness", range=POSITIVE, sample=sample_im),
        "mcc": Metric(mcc, "Hyvärinen & Morioka 2016", "compactness", options={"kind": "linear"}, sample=sample_mcc),
        "mcc-rank": Metric(mcc, "Hyvärinen & Morioka 2016", "compactness", options={"kind": "rank"}, sample=sample_mcc),
        "irs": Metric(irs, "Suter et al. 2019", "robustness", options=BINS | {"quantile": 0.99}, sample=sample_irs),
        "distance-correlation": Metric(
            distance_correlation,
            "Michlo 2022",
            "distances",
            needs=("codes", "factors", "seed"),
            options={"pairs": 131_072},
            fast={"pairs": 16_384},
            range=(-1.0, 1.0),
            sample=sample_distance_correlation,
        ),
    }


def _fitted() -> dict[str, Metric]:
    """Return the scores that fit predictors of the factors."""
    learners = {"dci": "gbt", "dci-random-forest": "random-forest", "dci-lasso": "lasso", "dci-logistic": "logistic"}
    return {
        "sap": Metric(
            sap, "Kumar et al. 2018", "compactness", needs=FITTED, options={"kind": "classifier"}, sample=sample_sap
        ),
        "sap-correlation": Metric(
            sap, "Kumar et al. 2018", "compactness", options={"kind": "correlation"}, sample=sample_sap
        ),
        **{
            name: Metric(
                dci,
                "Eastwood & Williams 2018",
                "all three",
                needs=FITTED,
                options={"learner": learner},
                parts=DCI_PARTS,
                sample=sample_dci,
            )
            for name, learner in learners.items()
        },
        "dci-es": Metric(
            dci_es,
            "Eastwood et al. 2023",
            "explicitness",
            needs=FITTED,
            options={"probe": "rff", "targets": "classes", "axis": None},
            parts=("explicitness", "size"),
            range=(-1.0, inf),
            sample=sample_dci_es,
        ),
        "explicitness": Metric(
            explicitness, "Ridgeway & Mozer 2018", "explicitness", needs=FITTED, sample=sample_explicitness
        ),
        "r2": Metric(
            linear_probe, "least squares", "explicitness", needs=FITTED, range=(-inf, 1.0), sample=sample_linear_probe
        ),
        **{
            f"downstream-{learner}": Metric(
                downstream,
                "Locatello et al. 2019",
                "usefulness",
                needs=FITTED,
                options={"learner": learner, "sizes": SIZES},
                range=POSITIVE,
                parts=DOWNSTREAM_PARTS,
                sample=sample_downstream,
            )
            for learner in ("logistic", "gbt")
        },
    }


def _intervening() -> dict[str, Metric]:
    """Return the scores that change one factor, or keep one, and need a grid of them."""
    return {
        "beta-vae-score": Metric(
            beta_vae_score,
            "Higgins et al. 2017",
            "modularity",
            needs=INTERVENED,
            options={"points": 10_000, "test_points": 5_000, "batch": 64},
            fast={"points": 500, "test_points": 250},
            sample=sample_beta_vae_score,
        ),
        "factor-vae-score": Metric(
            factor_vae_score,
            "Kim & Mnih 2018",
            "modularity",
            needs=INTERVENED,
            options=VOTES,
            fast=FEW_VOTES,
            sample=sample_factor_vae_score,
        ),
        "z-max-variance": Metric(
            z_max_variance,
            "Kim et al. 2019",
            "modularity",
            needs=INTERVENED,
            options=VOTES | {"batch": 100, "rescaled": False},
            fast=FEW_VOTES,
            sample=sample_z_max_variance,
        ),
        "factor-distance-correlation": Metric(
            factor_distance_correlation,
            "Michlo 2022",
            "distances",
            needs=INTERVENED,
            options=PAIRS,
            fast=FEW_TRAVERSALS,
            sample=sample_factor_distance_correlation,
        ),
        "perceived-correlation": Metric(
            perceived_correlation,
            "Michlo 2022",
            "distances",
            needs=INTERVENED,
            options=PAIRS,
            fast=FEW_TRAVERSALS,
            sample=sample_perceived_correlation,
        ),
        **{
            name: Metric(
                function,
                "Michlo 2022",
                measures,
                needs=INTERVENED,
                options=TRAVERSALS,
                fast=FEW_TRAVERSALS,
                sample=sample,
            )
            for name, measures, function, sample in (
                ("linearity", "linearity", linearity, sample_linearity),
                ("axis-alignment", "compactness", axis_alignment, sample_axis_alignment),
                ("axis-orientation", "compactness", axis_orientation, sample_axis_orientation),
            )
        },
        "unfairness": Metric(
            unfairness,
            "Locatello et al. 2019",
            "fairness",
            needs=INTERVENED,
            options={"rows": 10_000, "points": 100},
            fast={"rows": 2_000},
            parts=("mean", "max"),
            sample=sample_unfairness,
        ),
    }


def _label_free() -> dict[str, Metric]:
    """Return the scores that need no factors; independence is measured of posterior means and of their samples."""
    independence = {
        "total-correlation": Metric(
            total_correlation,
            "Locatello et al. 2019",
            "independence",
            needs=("codes",),
            range=POSITIVE,
            sample=sample_total_correlation,
        ),
        "wasserstein": Metric(
            wasserstein_independence,
            "Locatello et al. 2019",
            "independence",
            needs=("codes",),
            range=POSITIVE,
            parts=("distance", "normalised"),
            sample=sample_wasserstein_independence,
        ),
        "pairwise-mi": Metric(
            pairwise_mi,
            "Locatello et al. 2019",
            "independence",
            needs=("codes",),
            options=BINS,
            range=POSITIVE,
            sample=sample_pairwise_mi,
        ),
    }
    return {
        **independence,
        **{f"{name}-sampled": replace(metric, representation="sampled") for name, metric in independence.items()},
        "active-units": Metric(
            active_units,
            "Burda et al. 2016",
            "capacity",
            needs=("codes",),
            options={"threshold": 0.01},
            range=POSITIVE,
            sample=sample_active_units,
        ),
        "elbo": Metric(
            elbo_terms,
            "Kingma & Welling 2014",
            "likelihood",
            needs=("means", "log_variances", "reconstruction"),
            range=(-inf, inf),
            parts=("kl", "reconstruction", "bound"),
            sample=sample_elbo_terms,
        ),
        "jacobian-orthogonality": Metric(
            jacobian_orthogonality,
            "Rolínek et al. 2019",
            "geometry",
            needs=("jacobians",),
            options={"dead": 0.001},
            sample=sample_jacobian_orthogonality,
        ),
        "ima-contrast": Metric(
            ima_contrast,
            "Gresele et al. 2021",
            "geometry",
            needs=("jacobians",),
            options={"dead": 0.001},
            range=POSITIVE,
            sample=sample_ima_contrast,
        ),
    }


METRICS: dict[str, Metric] = _supervised() | _fitted() | _intervening() | _label_free()

OTHER_LEARNERS = ("dci-random-forest", "dci-lasso", "dci-logistic")

GROUPS: dict[str, tuple[str, ...]] = {
    "all": tuple(name for name in METRICS if name not in OTHER_LEARNERS),
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
"""Names that stand for several metrics: all but DCI with other learners, and those of disentanglement_lib's study."""
