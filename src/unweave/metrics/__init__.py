"""Scores of how well codes disentangle known factors: pure functions of arrays.

>>> from unweave.metrics import mig
>>> mig([[0.0, 0.3], [0.0, 0.3], [1.0, 0.3], [1.0, 0.3]], [[0], [0], [1], [1]])
1.0
"""

from __future__ import annotations

from unweave.metrics.active_units import active_units
from unweave.metrics.beta_vae_score import beta_vae_score
from unweave.metrics.boosting import BoostedTrees
from unweave.metrics.codebook import Codebook
from unweave.metrics.compare import compare
from unweave.metrics.dci import DCI, dci, importance_matrix
from unweave.metrics.dci_es import DCIES, dci_es, loss_capacity_curves
from unweave.metrics.dci_matched import dci_matched
from unweave.metrics.dcimig import dcimig
from unweave.metrics.description import Description, describe
from unweave.metrics.distance_correlation import (
    distance_correlation,
    factor_distance_correlation,
    factor_distance_correlations,
    perceived_correlation,
)
from unweave.metrics.downstream import Downstream, downstream
from unweave.metrics.elbo import Elbo, elbo, kl_per_code
from unweave.metrics.evaluate import evaluate
from unweave.metrics.explicitness import explicitness
from unweave.metrics.factor_vae_score import factor_vae_score
from unweave.metrics.im import im
from unweave.metrics.info_mec import InfoMEC, info_mec
from unweave.metrics.irs import irs
from unweave.metrics.jacobian import ima_contrast, jacobian_orthogonality
from unweave.metrics.jemmig import jemmig
from unweave.metrics.k_sparse_probing import k_sparse_probing
from unweave.metrics.label_noise import label_noise_correlation, noisy_labels
from unweave.metrics.linear_probe import linear_probe
from unweave.metrics.linearity import axis_alignment, axis_orientation, linearity
from unweave.metrics.mcc import mcc
from unweave.metrics.med import med
from unweave.metrics.metric import Metric, metric
from unweave.metrics.mig import mig
from unweave.metrics.mig_sup import mig_sup
from unweave.metrics.minimality import minimality, sufficiency
from unweave.metrics.modularity import modularity
from unweave.metrics.pairwise_mi import pairwise_mi
from unweave.metrics.pool import Pool
from unweave.metrics.presets import (
    PRESETS,
    ConstantFactor,
    DistinctValues,
    FewSamples,
    LeftOut,
    LooksTransposed,
    NumberedLabels,
    Strangers,
)
from unweave.metrics.rdc import mcc_rdc
from unweave.metrics.request import Request
from unweave.metrics.resampling import Sampled, by_rows
from unweave.metrics.sap import sap
from unweave.metrics.table import GROUPS, METRICS
from unweave.metrics.total_correlation import total_correlation
from unweave.metrics.unfairness import Unfairness, unfairness, unfairness_matrix
from unweave.metrics.wasserstein import wasserstein_independence
from unweave.metrics.z_max_variance import z_max_variance

__all__ = [
    "DCI",
    "DCIES",
    "GROUPS",
    "METRICS",
    "PRESETS",
    "BoostedTrees",
    "Codebook",
    "ConstantFactor",
    "Description",
    "DistinctValues",
    "Downstream",
    "Elbo",
    "FewSamples",
    "InfoMEC",
    "LeftOut",
    "LooksTransposed",
    "Metric",
    "NumberedLabels",
    "Pool",
    "Request",
    "Sampled",
    "Strangers",
    "Unfairness",
    "active_units",
    "axis_alignment",
    "axis_orientation",
    "beta_vae_score",
    "by_rows",
    "compare",
    "dci",
    "dci_es",
    "dci_matched",
    "dcimig",
    "describe",
    "distance_correlation",
    "downstream",
    "elbo",
    "evaluate",
    "explicitness",
    "factor_distance_correlation",
    "factor_distance_correlations",
    "factor_vae_score",
    "im",
    "ima_contrast",
    "importance_matrix",
    "info_mec",
    "irs",
    "jacobian_orthogonality",
    "jemmig",
    "k_sparse_probing",
    "kl_per_code",
    "label_noise_correlation",
    "linear_probe",
    "linearity",
    "loss_capacity_curves",
    "mcc",
    "mcc_rdc",
    "med",
    "metric",
    "mig",
    "mig_sup",
    "minimality",
    "modularity",
    "noisy_labels",
    "pairwise_mi",
    "perceived_correlation",
    "sap",
    "sufficiency",
    "total_correlation",
    "unfairness",
    "unfairness_matrix",
    "wasserstein_independence",
    "z_max_variance",
]
