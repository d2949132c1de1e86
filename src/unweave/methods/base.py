"""What a method is: hyper-parameters, and an objective as a dict of named terms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn

from unweave.data import Dataset
from unweave.errors import UsageError
from unweave.fields import OneOf
from unweave.losses import FAMILIES, LOSSES, loss_of
from unweave.nets import BOTTLENECKS, Model, Posterior
from unweave.plugins import Kind, dashed, is_builtin
from unweave.schedules import require_not_negative


@dataclass(frozen=True)
class Batch:
    """What one step is given: groups of `group_size` images, all first ones first, and random numbers."""

    x: Tensor  # (group_size * n, C, H, W), or (group_size * n, D) of vectors
    group_size: int = 1
    factors: Tensor | None = None  # (group_size * n, k), where the method asks for them
    choices: torch.Generator = field(default_factory=torch.Generator)
    """Where a method's random choices come from, beside the noise of z; on the CPU."""


@dataclass(frozen=True)
class Method(ABC):
    """A method's fields are its hyper-parameters; `terms` is its objective.

    All terms are sums over pixels and latents, means over the batch, in nats, and already weighted: the
    trainer adds them up, so what is logged is what is optimised.

    Beside `penalty` a method may override what it draws (`group_size`, `min_batch`, `labelled`, `draw`, `check`), the
    bottleneck it needs, what it makes of the posteriors (`posterior`), what it takes from the run (`resolve`),
    what is logged and not optimised (`diagnostics`), and may have an `adversary` with an objective of its own, or a
    `companion` that is trained with the model. One whose terms need the batch, or make random choices, overrides
    `terms`; so does one that has no `decoder`.

    A subclass outside unweave is a frozen dataclass too. It is called by its class, MyMethod my-method, unless it sets
    a class attribute `name`, and is known by that name once it is defined.
    """

    name: ClassVar[str]
    """The name of a method of your own, where it is not that of its class."""
    bottleneck: ClassVar[str] = "gaussian"
    """How codes come out of the encoder: a name of `unweave.nets.BOTTLENECKS`."""
    group_size: ClassVar[int] = 1
    """Images that are drawn together, unless a field says otherwise: 1, pairs or triplets."""
    min_batch: ClassVar[int] = 1
    """Images a batch must have at least: more than one where the objective compares them."""
    labelled: ClassVar[bool] = False
    """Whether the batch brings the factors of its images."""
    decoder: ClassVar[bool] = True
    """Whether the model has a decoder. Without one nothing is reconstructed, and `loss` plays no part."""

    loss: Annotated[str, OneOf(("auto",), LOSSES, FAMILIES)] = field(default="auto", kw_only=True)
    """Reconstruction loss: bce (Bernoulli), mse (Gaussian), mae, gaussian (with learnt variances), nb and poisson
    (counts), mse-box, mse-gauss, mse-kernel (with options after a colon: mse-box:radius=15), the .loss file of a learnt
    one, or auto: bce where all pixels are black or white, else mse."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not is_builtin(cls):
            KIND.define(own_name(cls), cls)

    def __post_init__(self) -> None:
        if self.loss != "auto":
            loss_of(self.loss)  # raises for an unknown loss

    @property
    def bottleneck_options(self) -> dict[str, Any]:
        """What the bottleneck is built with, beside the numbers of features and latents: by default, nothing."""
        return {}

    def categories_of(self, latents: int) -> tuple[int, ...]:
        """Return how many categories each latent has: 0 for a number, which most are."""
        return BOTTLENECKS[self.bottleneck].categories(latents, **self.bottleneck_options)

    @abstractmethod
    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the terms beside the reconstruction, for posteriors q and one sample z of each."""

    def checked_terms(self, model: Model, batch: Batch, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return `terms`, each of which must be one number: what the trainer adds up."""
        terms = self.terms(model, batch, q, z, step)
        for name, term in terms.items():
            if not isinstance(term, Tensor) or term.ndim:
                wanted = "a tensor of one number: a sum over latents, a mean over the batch"
                raise UsageError(f"the term '{name}' of {type(self).__name__} must be {wanted}; it is {_kind(term)}")
        return terms

    def terms(self, model: Model, batch: Batch, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return every term of the objective on a batch, its posteriors and one sample z of each."""
        reconstruction = loss_of(self.loss).distance(batch.x, model.decode(self.decoded(q, z))).mean()
        penalty = self.penalty(model, q, z, step)
        if not isinstance(penalty, Mapping):
            raise UsageError(f"{type(self).__name__}.penalty must return its terms by name, not {_kind(penalty)}")
        return {"reconstruction": reconstruction, **penalty}

    def decoded(self, q: Posterior, z: Tensor) -> Tensor:
        """Return what the decoder takes, (n, inputs), of what `infer` drew: by default, z itself."""
        return z

    def diagnostics(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return what is to be logged beside the terms, and is no part of the objective: by default, nothing."""
        return {}

    def posterior(self, q: Posterior, batch: Batch, step: int) -> Posterior:
        """Return what the method makes of the encoder's posteriors: by default, the same."""
        return q

    def infer(self, model: Model, batch: Batch, step: int, noise: torch.Generator) -> tuple[Posterior, Tensor]:
        """Return the posteriors of a batch, and one sample z of each."""
        q = self.posterior(model.encode(batch.x), batch, step)
        return q, q.sample(noise)

    def draw(self, data: Dataset, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return the indices (group_size, n) of a batch's images."""
        return data.sample(n, rng)[None]

    def resolve(self, data: Dataset, lr: float) -> Self:
        """Return the method with the fields that were left to the data set and the run's rate: by default, none is."""
        return self

    def check(self, data: Dataset, latents: int) -> None:  # noqa: B027
        """Raise a `UsageError` if the data set, or the number of latents for it, does not suit the method."""

    def companion(self, latents: int) -> nn.Module | None:
        """Return a network that is trained with the model and that the objective alone uses, such as a prior; or None.

        What is not called weight begins at zero. It is `model.companion`.
        """
        return None

    def adversary(self, latents: int) -> nn.Module | None:
        """Return a network that is trained against the model, or None, from the number of the decoder's inputs."""
        return None

    @property
    def adversary_rate(self) -> float:
        """The learning rate of the adversary, where there is one."""
        raise NotImplementedError(f"{type(self).__name__} has an adversary without a rate")

    def adversary_loss(self, model: Model, z: Tensor, another: Callable[[], Tensor]) -> Tensor:
        """Return what the adversary minimises, from detached codes: of the batch, and of another one, if it asks."""
        raise NotImplementedError(f"{type(self).__name__} has an adversary without an objective")

    def require_not_negative(self, *names: str) -> None:
        """Refuse hyper-parameters, numbers or schedules, that are ever negative or not finite."""
        require_not_negative(self, *names)


def _kind(thing: object) -> str:
    return f"a tensor of shape {tuple(thing.shape)}" if isinstance(thing, Tensor) else f"a {type(thing).__name__}"


KIND: Kind[type[Method]] = Kind("method")
"""The methods by name."""


def own_name(kind: type[Method]) -> str:
    """Return the name of a user's method."""
    return vars(kind).get("name") or dashed(kind.__name__)
