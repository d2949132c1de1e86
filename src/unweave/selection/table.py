"""The label-free scores by name: what each is, which direction is better, and what it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

from unweave.errors import UsageError, unknown

Needs = Literal["traces", "codes", "codes and decoder", "posterior", "decoder"]
Average = Literal["mean", "median"]
ALL = "all"
DEFAULT = "udr-lasso"
"""The default score."""


@dataclass(frozen=True)
class LabelFree:
    """A score that needs no labels."""

    about: str
    reference: str
    higher_is_better: bool
    needs: Needs
    row: str = ""
    """Its row among a run's saved scores; empty: it compares pairs of runs."""
    metric: str = ""
    """The metric that computes this row."""
    bounds: tuple[float, float] = (-inf, inf)
    """Its lowest and highest possible value."""
    counts_latents: bool = False
    """Whether it is a number of latents, which bounds it."""
    average: Average = "mean"
    """How the scores of a run's pairs are averaged."""

    @property
    def compares_pairs(self) -> bool:
        """Whether it compares runs with each other; otherwise it is computed on single runs."""
        return not self.row

    def limits(self, latents: int) -> tuple[float, float]:
        """Return the lowest and the highest value for a model with this many latents.

        Parameters
        ----------
        latents
            The number of latents.

        Returns
        -------
        tuple
            The lowest and the highest value.
        """
        return (self.bounds[0], float(latents)) if self.counts_latents else self.bounds


SCORES: dict[str, LabelFree] = {
    "udr-lasso": LabelFree(
        "do other seeds find the same latents, by lasso?",
        "Duan et al. 2020",
        True,
        "codes",
        bounds=(0, 1),
        average="median",
    ),
    "udr-spearman": LabelFree(
        "do other seeds find the same latents, by ranks?",
        "Duan et al. 2020",
        True,
        "codes",
        bounds=(0, 1),
        average="median",
    ),
    "agreement": LabelFree(
        "correlation with the latents of other seeds, matched one to one",
        "Hyvärinen & Morioka 2016",
        True,
        "codes",
        bounds=(0, 1),
    ),
    "model-centrality": LabelFree(
        "FactorVAE score on images that other seeds generate from their latents",
        "Lin et al. 2020",
        True,
        "codes and decoder",
        bounds=(0, 1),
    ),
    "dynamics": LabelFree(
        "how differently decoders of several seeds learn: MMD² of traces", "Holtz et al. 2022", False, "traces"
    ),
    "elbo": LabelFree("evidence lower bound", "Kingma & Welling 2014", True, "posterior", "elbo-bound", "elbo"),
    "reconstruction": LabelFree(
        "reconstruction loss (distortion)", "Kingma & Welling 2014", False, "posterior", "elbo-distortion", "elbo"
    ),
    "kl": LabelFree(
        "KL divergence from the prior (rate)",
        "Kingma & Welling 2014",
        False,
        "posterior",
        "elbo-rate",
        "elbo",
        bounds=(0, inf),
    ),
    "total-correlation": LabelFree(
        "dependence between the latents, as if they were Gaussian",
        "Locatello et al. 2019",
        False,
        "codes",
        "total-correlation",
        "total-correlation",
        bounds=(0, inf),
    ),
    "active-units": LabelFree(
        "how many latents are used",
        "Burda et al. 2016",
        True,
        "codes",
        "active-units",
        "active-units",
        bounds=(0, inf),
        counts_latents=True,
    ),
    "jacobian-orthogonality": LabelFree(
        "does each latent move the image in its own direction?",
        "Rolínek et al. 2019",
        True,
        "decoder",
        "jacobian-orthogonality",
        "jacobian-orthogonality",
        bounds=(0, 1),
    ),
}
"""The scores, in the order in which they are computed and shown."""


def scores_named(names: str | Sequence[str]) -> list[str]:
    """Return the requested scores, each once; "all" means all of them."""
    wanted = [names] if isinstance(names, str) else [str(name) for name in names]
    if not wanted:
        raise UsageError(f"name at least one score (known: {', '.join([ALL, *SCORES])})")
    for name in wanted:
        if name not in (ALL, *SCORES):
            raise unknown("label-free score", name, [ALL, *SCORES])
    return list(SCORES) if ALL in wanted else list(dict.fromkeys(wanted))
