"""What each metric claims to measure, and therefore which encoders should score high and which low."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import inf, isfinite

from unweave.reproduce.guardians_worlds import ENCODERS

LOW_END, HIGH_END = 1 / 3, 2 / 3
"""Bounds of high and low scores, as shares of the range from floor to ceiling."""
AROUND_HALF = (0.25, 0.75)
"""For encoders with half of the factors or latents right. Wide: a lost factor may correlate with a kept one."""


class Expected(Enum):
    """The expected range of a score: its smallest and largest value."""

    HIGH = (HIGH_END, inf)
    HALF = AROUND_HALF
    NOT_HIGH = (-inf, HIGH_END)
    LOW = (-inf, LOW_END)
    ANY = (-inf, inf)

    def verdict(self, score: float) -> int:
        """Return 1 for a score that is too high, -1 for one that is too low, 0 for one in the expected range."""
        low, high = self.value
        return int(score > high) - int(score < low)


SIGNS = {"+": Expected.HIGH, "½": Expected.HALF, "<": Expected.NOT_HIGH, "-": Expected.LOW, ".": Expected.ANY}
"""The signs of the table below."""


@dataclass(frozen=True)
class Claim:
    """A property that codes have, or lack, by construction, in every world."""

    says: str
    expected: Mapping[str, Expected]
    """By the name of the encoder."""


def _claim(says: str, signs: str) -> Claim:
    return Claim(says, {name: SIGNS[sign] for name, sign in zip(ENCODERS, signs.replace(" ", ""), strict=True)})


# In the order of ENCODERS: diagonal, element-wise, dense, fewer, more; duplicated, wide, circle, noise, noisy.
CLAIMS: Mapping[str, Claim] = {
    "modular": _claim("each informative latent is informative about a single factor", "++-++ +-+-."),
    "minimal": _claim("each latent has information about one factor only", "++-+½ +-+-<"),
    "compact": _claim("a single latent contains each factor", "++-½+ ----<"),
    "recovered": _claim("some single latent predicts each factor", "++-½+ +-<-<"),
    "told": _claim("codes show which factor is fixed", "++-½+ +-+-<"),
    "linear": _claim("each factor is a linear function of the codes", "+.+½+ ++<-<"),
    "separable": _claim("linear functions of the codes separate a factor's values", "+.+½+ +++-<"),
    "informative": _claim("all latents together predict each factor", "+++½+ +++-<"),
    "distances": _claim("rows that are far apart in factors are far apart in codes", "..+.. ...-<"),
}

CLAIM_OF: Mapping[str, str] = {
    "mig": "compact",
    "jemmig": "compact",
    "sap": "compact",
    "sap-correlation": "compact",
    "info-mec-compactness": "compact",
    "dci-completeness": "compact",
    "dci-random-forest-completeness": "compact",
    "dci-lasso-completeness": "compact",
    "dci-logistic-completeness": "compact",
    "mcc": "recovered",
    "mcc-rank": "recovered",
    "mcc-rdc": "recovered",
    "im": "recovered",
    "dcimig": "recovered",
    "sufficiency": "recovered",
    "modularity": "modular",
    "med": "modular",
    "info-mec-modularity": "modular",
    "dci-disentanglement": "modular",
    "dci-random-forest-disentanglement": "modular",
    "dci-lasso-disentanglement": "modular",
    "dci-logistic-disentanglement": "modular",
    "mig-sup": "minimal",
    "minimality": "minimal",
    "irs": "minimal",
    "beta-vae-score": "told",
    "factor-vae-score": "told",
    "r2": "linear",
    "info-mec-explicitness": "linear",
    "dci-lasso-informativeness": "linear",
    "explicitness": "separable",
    "dci-es-explicitness": "separable",
    "dci-logistic-informativeness": "separable",
    "downstream-logistic-accuracy-100": "separable",
    "downstream-logistic-accuracy-1000": "separable",
    "dci-informativeness": "informative",
    "dci-random-forest-informativeness": "informative",
    "downstream-gbt-accuracy-100": "informative",
    "downstream-gbt-accuracy-1000": "informative",
    "distance-correlation": "distances",
}
"""The claim of each score, in the order of the tables. Other scores (a size, an efficiency) have no claim."""


def verdict(metric: str, encoder: str, score: float | None) -> int | None:
    """Return 1 if a score is too high, -1 if it is too low, 0 if it is as claimed; None without a claim."""
    expected = CLAIMS[CLAIM_OF[metric]].expected[encoder]
    if expected is Expected.ANY or score is None or not isfinite(score):
        return None
    return expected.verdict(score)
