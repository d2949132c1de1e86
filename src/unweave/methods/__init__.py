"""Methods, by name. To add one: a file with a frozen dataclass, and a line in `METHODS`."""

from __future__ import annotations

from unweave.methods.base import Method
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.vae import VAE

__all__ = ["METHODS", "VAE", "BetaVAE", "Method"]

METHODS: dict[str, type[Method]] = {"vae": VAE, "beta-vae": BetaVAE}
