"""Fill in the settings that depend on the data set and the length of the run, before the run begins."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from unweave.config import Config
from unweave.data import Dataset
from unweave.data.vectors import Vectors, are_counts, are_unit, vectors_of
from unweave.errors import UsageError, warn_user
from unweave.losses import full_name, loss_of
from unweave.methods import method_name
from unweave.nets import BOTTLENECKS
from unweave.schedules import in_steps


def resolved(config: Config, data: Dataset) -> Config:
    """Return the configuration with its loss, its schedules in steps, and all settings that depend on the data.

    A configuration that does not suit the data gives a `UsageError` or a warning.
    """
    method = in_steps(config.method.resolve(data, config.training.lr), config.training.steps)
    loss = resolve_loss(method.loss, data, standardise=config.training.standardise)
    method = replace(method, loss=loss)
    method.check(data, config.net.latents)
    if config.training.batch < method.min_batch:
        few = f"a batch of at least {method.min_batch} images, not {config.training.batch}"
        raise UsageError(f"{method_name(method)} needs {few}")
    labels = config.labels
    if labels is not None:
        labels.check(data, numbers_before_categories(method.categories_of(config.net.latents)))
        labels = in_steps(replace(labels, batch=labels.batch or config.training.batch), config.training.steps)
    jacobian = config.jacobian
    if jacobian is not None:
        if not method.decoder:
            raise UsageError(f"the Jacobian term needs a decoder, but {method_name(method)} has none")
        jacobian.check(BOTTLENECKS[method.bottleneck].inputs(config.net.latents, **method.bottleneck_options))
        jacobian = in_steps(jacobian, config.training.steps)
    # The features of vectors are standardised by default, pixels are not.
    standardise = config.training.standardise or (data.standardise and loss_of(loss).domain == "real")
    training = replace(config.training, standardise=standardise)
    net = config.net.resolve(data.shape)
    return replace(config, method=method, net=net, training=training, labels=labels, jacobian=jacobian)


def check_snapshots(snapshots: Sequence[int], steps: int) -> None:
    """Raise a `UsageError` for snapshots outside of the steps of a run."""
    if wrong := [step for step in snapshots if not 1 <= step <= steps]:
        raise UsageError(f"a snapshot is taken after 1 to {steps:,} steps, not after {wrong[0]:,}")


def numbers_before_categories(categories: Sequence[int]) -> int:
    """Return the number of latents before the first categorical one: those that labels can supervise."""
    return next((latent for latent, count in enumerate(categories) if count), len(categories))


def resolve_loss(name: str, data: Dataset, *, standardise: bool) -> str:
    """Return the full name of a loss after checking that it suits the data; auto chooses one."""
    vectors = vectors_of(data)
    if name == "auto":
        if vectors is not None and not data.binary and vectors.outside(are_counts) is None:
            warn_user(f"all values of '{data.name}' are integers; if they are counts, use the loss nb", UserWarning)
        return "bce" if data.binary and not standardise else "mse"
    loss, kind = loss_of(name), name.partition(":")[0]
    if loss.domain != "real" and standardise:
        needed = "pixels in [0, 1]" if loss.domain == "unit" else "unscaled counts"
        raise UsageError(f"the loss {kind} needs {needed}; use the loss mse with standardise")
    if loss.needs_images and vectors is not None:
        raise UsageError(f"the loss {kind} is for images, but '{data.name}' holds vectors; use the loss mse")
    if loss.needs_images:
        loss.check(data.shape, standardise)
    if loss.domain == "counts":
        return full_name(name, library=_library(kind, vectors))
    if loss.domain == "unit" and vectors is not None:
        vectors.require(are_unit, "values from 0 to 1", f"the loss {kind}")
    elif loss.domain == "unit" and not data.binary:
        text = f"the loss {kind} treats pixels as probabilities, but '{data.name}' is not black and white"
        warnings.warn(f"{text}: its minimum is not zero; consider mse", stacklevel=4)
    return full_name(name)


def _library(kind: str, vectors: Vectors | None) -> float:
    """Return the total of decoded rows, after checking that the data are counts."""
    if vectors is None:
        raise UsageError(f"the loss {kind} is for vectors of counts, not for images")
    vectors.require(are_counts, "non-negative integers", f"the loss {kind}")
    if vectors.shape == (1,):  # a single feature is the total
        return 0.0
    return vectors.library
