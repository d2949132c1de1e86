"""What a configuration leaves to the data set and to the length of the run, filled in before the run begins."""

from __future__ import annotations

import warnings
from dataclasses import replace

from unweave.config import Config, method_name
from unweave.data import Dataset
from unweave.errors import UsageError
from unweave.losses import full_name
from unweave.schedules import in_steps


def resolved(config: Config, data: Dataset) -> Config:
    """Return the configuration with its loss chosen, its schedules in steps, and what methods take from the data.

    A configuration that does not suit the data is refused, or warned of.
    """
    method = in_steps(config.method.filled(data, config.training.lr), config.training.steps)
    method = replace(method, loss=_loss(method.loss, data, standardise=config.training.standardise))
    method.check(data, config.net.latents)
    if config.training.batch < method.fewest:
        few = f"a batch of at least {method.fewest} images, not {config.training.batch}"
        raise UsageError(f"{method_name(method)} needs {few}")
    labels = config.labels
    if labels is not None:
        labels.check(data, config.net.latents)
        labels = in_steps(replace(labels, batch=labels.batch or config.training.batch), config.training.steps)
    return replace(config, method=method, labels=labels)


def _loss(loss: str, data: Dataset, *, standardise: bool) -> str:
    """Return the full name of the loss, chosen by the data if it is auto."""
    if loss == "auto":
        return "bce" if data.binary and not standardise else "mse"
    if loss == "bce" and standardise:
        raise UsageError("the loss bce needs pixels in [0, 1]; use the loss mse with standardise")
    if loss == "bce" and not data.binary:
        warnings.warn(
            f"the loss bce takes pixels for probabilities, but '{data.name}' is not black and white: "
            "its minimum is not zero; consider mse",
            stacklevel=4,
        )
    return full_name(loss)
