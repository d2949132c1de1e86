"""Warn once, in one line, about problems of a training whose loss is still finite, and suggest what to try."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from unweave.collapse import carried, collapse
from unweave.errors import warn_user
from unweave.nets import Gaussian, Joint, Posterior
from unweave.training.history import DIAGNOSTICS

FIRST = 1000
"""No warnings before this step: many early problems disappear by themselves."""
SHARE = 0.1
"""No warnings before this fraction of the run."""
ROWS = 3
"""Number of consecutive rows of the log that must show a problem."""
CHANCE = math.log(2)
"""Cross-entropy of an adversary that cannot distinguish anything."""
FOOLED = 1.05
"""Relative to chance: above it the adversary is wrong more often than chance."""
USELESS = 0.9
"""Relative to chance: above it, with codes far from the prior, the adversary misses the dependence."""
UNBEATEN = 0.05
"""Relative to chance: below it the adversary is hardly ever wrong."""
INFORMATION = 4.0
"""Relative to log(images), which is enough to distinguish all images: a larger KL term is far from what is needed."""
LATENT = 5.0
"""Nats per latent: a latent with hundreds of equally likely values has fewer."""


class TrainingTrouble(UserWarning):
    """Training continues, but will probably not give a useful model."""


class Diagnosis:
    """Checks each row of the log and the posteriors of its last batch, and warns once about each kind of problem."""

    def __init__(self, images: int, steps: int, categories: Sequence[int] = ()) -> None:
        self._images, self._categories = images, categories
        self._first = max(FIRST, SHARE * steps)
        self._rows: dict[str, int] = {}
        self._said: set[str] = set()

    def check(self, row: Mapping[str, float], q: Posterior) -> None:
        """Warn about problems that this row and the rows before it show."""
        if row["step"] < self._first:
            return
        found = troubles(row, q, self._images, self._categories)
        self._rows = {kind: self._rows.get(kind, 0) + 1 for kind in found}
        for kind, text in found.items():
            if self._rows[kind] >= ROWS and kind not in self._said:
                self._said.add(kind)
                warn_user(f"after step {row['step']:,.0f}: {text}", TrainingTrouble)


def troubles(row: Mapping[str, float], q: Posterior, images: int, categories: Sequence[int] = ()) -> dict[str, str]:
    """Return a sentence, by kind, for each problem that a row of the log and a batch's posteriors show."""
    log_variances = q.log_variance.detach().float().cpu().numpy() if isinstance(q, Gaussian | Joint) else None
    means = q.mean.detach().float().cpu().numpy()
    carries = carried(means, log_variances, categories)
    found = {"collapse": collapse(means, carries, log_variances is None, categories)}
    if log_variances is not None and row.get("kl") != 0:  # a KL term with weight 0 may be anything
        found["kl"] = _far_from_the_prior(float(carries.sum()), len(carries), images)
    if (entropy := row.get(f"{DIAGNOSTICS}adversary")) is not None and row.get("total_correlation") != 0:
        found["adversary"] = _adversary(entropy, far=bool(found.get("kl")))
    return {kind: text for kind, text in found.items() if text}


def _far_from_the_prior(nats: float, latents: int, images: int) -> str | None:
    enough = math.log(images)
    if nats <= max(INFORMATION * enough, LATENT * latents):
        return None
    return (
        f"the KL term is {nats:.0f} nats, but {enough:.0f} distinguish all images: codes are far from the prior. "
        "Try a larger weight of the KL term (beta) or a lower --lr."
    )


def _adversary(entropy: float, *, far: bool) -> str | None:
    if entropy > (USELESS if far else FOOLED) * CHANCE:
        why = "while codes are far from the prior" if far else "worse than chance"
        return (
            f"the adversary cannot keep up with the model (cross-entropy {entropy:.2f}, chance {CHANCE:.2f}), {why}. "
            "Try a higher --adversary-lr, or a lower --lr or --gamma."
        )
    if entropy < UNBEATEN * CHANCE:
        return (
            f"the adversary is hardly ever wrong (cross-entropy {entropy:.3f}, chance {CHANCE:.2f}): latents stay "
            "dependent in spite of the penalty. Try a larger --gamma or a lower --adversary-lr."
        )
    return None
