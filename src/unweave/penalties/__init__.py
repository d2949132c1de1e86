"""Penalties as functions of plain tensors, for use in any training loop.

Notes
-----
To add one, write a file with one function of tensors that returns an unweighted scalar, import it here and add a line
to `__all__`. The tests also ask for a reference implementation in tests/penalties/test_formulas.py, an entry in
tests/penalties/test_properties.py, a naive version in benchmarks/penalties.py and a section in docs/penalties.md.

One file per idea, and what they share: `checks` (what they require of tensors), `precision` (float32 at least),
`latent_pairs`, and `normalisation` (layers whose derivatives of every order are correct).
"""

from __future__ import annotations

from unweave.penalties.density_ratio import density_ratio, density_ratio_loss, shuffle_latents
from unweave.penalties.dip_covariance import DIPCovariance, dip_covariance
from unweave.penalties.hausdorff_support import hausdorff_support
from unweave.penalties.mmd import mmd
from unweave.penalties.orthogonal_jacobian import orthogonal_jacobian
from unweave.penalties.sigreg import sigreg
from unweave.penalties.soft_hausdorff_support import soft_hausdorff_support
from unweave.penalties.total_correlation import KLParts, kl_parts, total_correlation

__all__ = [
    "DIPCovariance",
    "KLParts",
    "density_ratio",
    "density_ratio_loss",
    "dip_covariance",
    "hausdorff_support",
    "kl_parts",
    "mmd",
    "orthogonal_jacobian",
    "shuffle_latents",
    "sigreg",
    "soft_hausdorff_support",
    "total_correlation",
]
