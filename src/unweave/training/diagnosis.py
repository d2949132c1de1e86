"""What goes wrong in a training while its loss is still a number: said in one line, once, with what to try."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from unweave.collapse import carried, collapse
from unweave.errors import warn_user
from unweave.nets import Gaussian, Joint, Posterior
from unweave.training.history import DIAGNOSTICS

FIRST = 1000
"""Steps before which nothing is said: much that looks wrong at first mends itself."""
SHARE = 0.1
"""The part of the run before which nothing is said either."""
ROWS = 3
"""Rows of the log, one after another, that must agree."""
CHANCE = math.log(2)
"""Cross-entropy of an adversary that tells nothing apart."""
FOOLED = 1.05
"""Times chance: above it the adversary is wrong more often than a coin."""
USELESS = 0.9
"""Times chance: above it, with codes far from the prior, the adversary does not see what there is to see."""
UNBEATEN = 0.05
"""Times chance: below it the adversary is hardly ever wrong."""
INFORMATION = 4.0
"""Times log(images), what it takes to tell all images apart: a KL term above it is far from what images need."""
LATENT = 5.0
"""Nats a latent: one that takes hundreds of values, each as likely, has fewer."""


class TrainingTrouble(UserWarning):
    """A training that goes on, but hardly to what was wanted."""


class Diagnosis:
    """Checks each row of the log and the posteriors of its last batch, and warns once of each kind of trouble."""

    def __init__(self, images: int, steps: int, categories: Sequence[int] = ()) -> None:
        self._images, self._categories = images, categories
        self._first = max(FIRST, SHARE * steps)
        self._rows: dict[str, int] = {}
        self._said: set[str] = set()

    def check(self, row: Mapping[str, float], q: Posterior) -> None:
        """Warn of what this row and those before it show."""
        if row["step"] < self._first:
            return
        found = troubles(row, q, self._images, self._categories)
        self._rows = {kind: self._rows.get(kind, 0) + 1 for kind in found}
        for kind, text in found.items():
            if self._rows[kind] >= ROWS and kind not in self._said:
                self._said.add(kind)
                warn_user(f"after step {row['step']:,.0f}: {text}", TrainingTrouble)


def troubles(row: Mapping[str, float], q: Posterior, images: int, categories: Sequence[int] = ()) -> dict[str, str]:
    """Return, by its kind, a sentence on each trouble that a row of the log and a batch's posteriors show."""
    log_variances = q.log_variance.detach().float().cpu().numpy() if isinstance(q, Gaussian | Joint) else None
    means = q.mean.detach().float().cpu().numpy()
    carries = carried(means, log_variances, categories)
    found = {"collapse": collapse(means, carries, log_variances is None, categories)}
    if log_variances is not None and row.get("kl") != 0:  # a KL term without a weight may be anything
        found["kl"] = _far_from_the_prior(float(carries.sum()), len(carries), images)
    if (entropy := row.get(f"{DIAGNOSTICS}adversary")) is not None and row.get("total_correlation") != 0:
        found["adversary"] = _adversary(entropy, far=bool(found.get("kl")))
    return {kind: text for kind, text in found.items() if text}


def _far_from_the_prior(nats: float, latents: int, images: int) -> str | None:
    enough = math.log(images)
    if nats <= max(INFORMATION * enough, LATENT * latents):
        return None
    return (
        f"the KL term is {nats:.0f} nats, where {enough:.0f} tell all images apart: codes are far from the prior. "
        "Try a larger weight of the KL term (beta) or a lower --lr."
    )


def _adversary(entropy: float, *, far: bool) -> str | None:
    if entropy > (USELESS if far else FOOLED) * CHANCE:
        why = "while codes are far from the prior" if far else "more often wrong than a coin"
        return (
            f"the adversary tells nothing apart (cross-entropy {entropy:.2f}, by chance {CHANCE:.2f}), {why}: the "
            "model outruns it. Try a higher --adversary-lr, or a lower --lr or --gamma."
        )
    if entropy < UNBEATEN * CHANCE:
        return (
            f"the adversary is hardly ever wrong (cross-entropy {entropy:.3f}, by chance {CHANCE:.2f}): latents stay "
            "dependent whatever the penalty. Try a larger --gamma or a lower --adversary-lr."
        )
    return None
