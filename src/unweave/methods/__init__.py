"""Methods by name: training objectives, each with its hyper-parameters.

Notes
-----
To add one, write a file with a frozen dataclass and add a line to `METHODS`. Your own method needs no registration:
define a frozen dataclass that is a subclass of `Method`.

Most methods define only `penalty`, which is added to the reconstruction; a penalty that others could use is a function
of `unweave.penalties`. A method may also override the following, and nothing else:

- what it trains on: `group_size`, `labelled`, `draw`, `check`, and the smallest batch it can use (`min_batch`);
- the `bottleneck` and its options, and what it does with the posteriors (`posterior`; Ada-* average them there);
- an `adversary` with its own loss and learning rate (FactorVAE), or a `companion`, a network that is trained with the
  model and that only the objective uses (iVAE's prior, PCL's regression function);
- whether there is a `decoder`. PCL and LeJEPA have none: `model.decode` then raises a `UsageError`, `Run.has_decoder`
  is False, and reports, scores, selection and explorer skip what needs one;
- what it takes from the data set and from the run's learning rate (`resolve`);
- what is logged but not optimised (`diagnostics`).

A method that makes random choices overrides `terms` and draws them from `batch.choices`. A number that may change
during training is a `Scheduled` field. Shared pieces: `pairs`, `shared_posteriors`, `triplets`, `adaptive`,
`ada_triplet`, and `unweave.data.sampling`, which draws pairs, groups and triplets. `orthogonal_jacobian` is a term
that can be added to any method.
"""

from __future__ import annotations

from unweave.methods.ada_gvae import AdaGVAE, AdaMLVAE
from unweave.methods.ada_tae import AdaTAE
from unweave.methods.ada_tvae import AdaTVAE, UnsupervisedAdaTVAE
from unweave.methods.ae import AE
from unweave.methods.alpha_tcvae import AlphaTCVAE
from unweave.methods.annealed_vae import AnnealedVAE
from unweave.methods.base import KIND, Batch, Method
from unweave.methods.beta_tcvae import BetaTCVAE
from unweave.methods.beta_tvae import BetaTVAE
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.dip_vae import DIPVAE
from unweave.methods.factor_qvae import FactorQVAE
from unweave.methods.factor_vae import FactorVAE
from unweave.methods.fsq import FSQ
from unweave.methods.gvae import GVAE, MLVAE
from unweave.methods.hfs import HFS
from unweave.methods.info_vae import InfoVAE
from unweave.methods.ivae import IVAE
from unweave.methods.joint_vae import JointVAE
from unweave.methods.lejepa import LeJEPA
from unweave.methods.names import method_name, method_of, with_defaults
from unweave.methods.orthogonal_jacobian import OrthogonalJacobian
from unweave.methods.pcl import PCL
from unweave.methods.qlae import QLAE
from unweave.methods.slow_vae import SlowVAE
from unweave.methods.tae import TAE
from unweave.methods.tripod import Tripod
from unweave.methods.vae import VAE
from unweave.methods.vq_vae import VQVAE
from unweave.schedules import Schedule, Scheduled, value_at

METHODS: dict[str, type[Method]] = {
    "vae": VAE,
    "beta-vae": BetaVAE,
    "annealed-vae": AnnealedVAE,
    "factor-vae": FactorVAE,
    "beta-tcvae": BetaTCVAE,
    "alpha-tcvae": AlphaTCVAE,
    "dip-vae": DIPVAE,
    "info-vae": InfoVAE,
    "ae": AE,
    "ada-gvae": AdaGVAE,
    "ada-ml-vae": AdaMLVAE,
    "gvae": GVAE,
    "ml-vae": MLVAE,
    "slow-vae": SlowVAE,
    "beta-tvae": BetaTVAE,
    "ada-tvae": AdaTVAE,
    "ada-tvae-unsupervised": UnsupervisedAdaTVAE,
    "tae": TAE,
    "ada-tae": AdaTAE,
    "hfs": HFS,
    "qlae": QLAE,
    "tripod": Tripod,
    "ivae": IVAE,
    "pcl": PCL,
    "lejepa": LeJEPA,
    "joint-vae": JointVAE,
    "vq-vae": VQVAE,
    "fsq": FSQ,
    "factor-qvae": FactorQVAE,
}
KIND.builtin = METHODS

__all__ = [
    "AE",
    "DIPVAE",
    "FSQ",
    "GVAE",
    "HFS",
    "IVAE",
    "METHODS",
    "MLVAE",
    "PCL",
    "QLAE",
    "TAE",
    "VAE",
    "VQVAE",
    "AdaGVAE",
    "AdaMLVAE",
    "AdaTAE",
    "AdaTVAE",
    "AlphaTCVAE",
    "AnnealedVAE",
    "Batch",
    "BetaTCVAE",
    "BetaTVAE",
    "BetaVAE",
    "FactorQVAE",
    "FactorVAE",
    "InfoVAE",
    "JointVAE",
    "LeJEPA",
    "Method",
    "OrthogonalJacobian",
    "Schedule",
    "Scheduled",
    "SlowVAE",
    "Tripod",
    "UnsupervisedAdaTVAE",
    "method_name",
    "method_of",
    "value_at",
    "with_defaults",
]
