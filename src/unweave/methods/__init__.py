"""Methods, by name. To add one: a file with a frozen dataclass, and a line in `METHODS`."""

from __future__ import annotations

from unweave.methods.base import Batch, Method
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.vae import VAE
from unweave.schedules import Schedule

__all__ = ["METHODS", "VAE", "Batch", "BetaVAE", "Method", "Schedule"]

METHODS: dict[str, type[Method]] = {"vae": VAE, "beta-vae": BetaVAE}
