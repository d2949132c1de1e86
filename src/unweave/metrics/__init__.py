"""Scores of how well codes disentangle known factors: pure functions of arrays.

>>> from unweave.metrics import mig
>>> mig([[0.0, 0.3], [0.0, 0.3], [1.0, 0.3], [1.0, 0.3]], [[0], [0], [1], [1]])
1.0

Notes
-----
A metric is a file with one function under `@metric(reference, measures, …)`. The function returns a `Sampled`
(`resampling`): the score, the number of its units (rows, votes, traversals), how to score any subset of them, and the
values for single factors if it has them. `metric` turns it into a `Metric`: `mig(codes, factors)` is the plain score,
`mig.sample(…)` the `Sampled`. What a metric needs, its options and the names of its parts are read from its signature
and its named tuple, so that `table` only names it; an entry may set options (`dci.variant({"learner": "lasso"})`).

`gathering` checks and names the inputs; `evaluate` scores them and builds the table. `request` is the frozen dataclass
of what to compute, shared by `evaluate`, `Run.evaluate` and the command line; `dry_run` tries options on a small
example first. `resampling.interval` gives the 95 % interval from half-samples, `floors` the floor (shuffled factors)
and the ceiling (the factors as codes). None of these knows a metric by name. `compare` scores several codes on the same
halves.

Shared pieces:

- `inputs` with `reading` (checks, splits, random streams), `presets` (sample counts, warnings), `scaling`, `ranks`,
  `correlation`, `gaps`, `concentration` (entropy of importances), `pixel_errors` (squared errors of images);
- `one_hot`, `category_columns`, `category_svm` (categorical latents);
- `information` (mutual information of all latents, factors and subsets at once), `neighbours` (mutual information by
  nearest neighbours);
- `codebook` with `cell_index` (codes of a grid of factors), `pool` (rows to draw from if there is no grid),
  `traversals` and `voting` (what interventional metrics draw and count), `mislabelled` (label noise);
- `boosting` with `trees` and `tree_answers` (gradient-boosted trees by scikit-learn's rules, on histograms, compiled by
  numba), `line_svm` (a linear SVM on one latent, by sorting), `logistic` (a path of logistic regressions), `probes`.
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
    ConstantCodes,
    ConstantFactor,
    DistinctValues,
    FewSamples,
    LeftOut,
    LooksTransposed,
    NumberedLabels,
    UnseenValues,
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
    "ConstantCodes",
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
    "Unfairness",
    "UnseenValues",
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
