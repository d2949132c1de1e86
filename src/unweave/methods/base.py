"""The base class of methods: hyper-parameters, and an objective as a dict of named terms."""

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
from unweave.fields import OneOf, check_types
from unweave.losses import FAMILIES, LOSSES, loss_of
from unweave.nets import BOTTLENECKS, Model, Posterior
from unweave.plugins import Kind, dashed, is_builtin
from unweave.schedules import require_not_negative


@dataclass(frozen=True)
class Batch:
    """The input of one step: groups of `group_size` images (first images of all groups first), and random numbers."""

    x: Tensor  # (group_size * n, C, H, W), or (group_size * n, D) of vectors
    group_size: int = 1
    factors: Tensor | None = None  # (group_size * n, k), if the method is labelled
    choices: torch.Generator = field(default_factory=torch.Generator)
    """Source of a method's random choices other than the noise of z; on the CPU."""


@dataclass(frozen=True)
class Method(ABC):
    """The base class of all methods: the fields are the hyper-parameters, `terms` is the objective.

    All terms are sums over pixels and latents and means over the batch, in nats, and already weighted. The trainer adds
    them up, so the log shows exactly what is optimised.

    Besides `penalty`, a method may override what it draws (`group_size`, `min_batch`, `labelled`, `draw`, `check`), its
    bottleneck, how it changes the posteriors (`posterior`), which settings depend on the run (`resolve`), and what is
    logged but not optimised (`diagnostics`). It may have an `adversary` with a separate objective, or a `companion`
    that is trained with the model. A method overrides `terms` if its terms need the batch or make random choices, or if
    it has no `decoder`.

    Your own subclass is a frozen dataclass too. Its name comes from its class (MyMethod becomes my-method) unless it
    sets a class attribute `name`. It is available under that name as soon as it is defined.
    """

    name: ClassVar[str]
    """The name of your own method, if it should differ from that of its class."""
    bottleneck: ClassVar[str] = "gaussian"
    """How features become codes: a name of `unweave.nets.BOTTLENECKS`."""
    group_size: ClassVar[int] = 1
    """Number of images that are drawn together, unless a field says otherwise: 1, 2 (pairs) or 3 (triplets)."""
    min_batch: ClassVar[int] = 1
    """Smallest batch: more than one image if the objective compares images."""
    labelled: ClassVar[bool] = False
    """Whether the batch contains the factors of its images."""
    decoder: ClassVar[bool] = True
    """Whether the model has a decoder. Without one nothing is reconstructed, and `loss` is not used."""

    loss: Annotated[str, OneOf(("auto",), LOSSES, FAMILIES)] = field(default="auto", kw_only=True)
    """Reconstruction loss: bce (Bernoulli), mse (Gaussian), mae, gaussian (with learnt variances), nb and poisson
    (counts), mse-box, mse-gauss, mse-kernel (with options after a colon: mse-box:radius=15), the path of a learnt .loss
    file, or auto: bce if all pixels are black or white, otherwise mse."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not is_builtin(cls):
            KIND.define(own_name(cls), cls)

    def __post_init__(self) -> None:
        check_types(self)
        if self.loss != "auto":
            loss_of(self.loss)  # raises for an unknown loss

    @property
    def bottleneck_options(self) -> dict[str, Any]:
        """Arguments of the bottleneck besides the numbers of features and latents: by default, none."""
        return {}

    def categories_of(self, latents: int) -> tuple[int, ...]:
        """Return the number of categories of each latent: 0 for a numeric latent."""
        return BOTTLENECKS[self.bottleneck].categories(latents, **self.bottleneck_options)

    @abstractmethod
    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the terms that are added to the reconstruction.

        Parameters
        ----------
        model
            The model that is trained.
        q
            The posteriors of the batch.
        z
            One sample of each posterior, (n, latents).
        step
            The current step, for hyper-parameters with a schedule.

        Returns
        -------
        dict
            The terms by name: tensors of one number, already weighted.
        """

    def checked_terms(self, model: Model, batch: Batch, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return `terms` for the trainer, after checking that each is a single number."""
        terms = self.terms(model, batch, q, z, step)
        for name, term in terms.items():
            if not isinstance(term, Tensor) or term.ndim:
                wanted = "a tensor of one number (a sum over latents, a mean over the batch)"
                raise UsageError(f"the term '{name}' of {type(self).__name__} must be {wanted}; it is {_kind(term)}")
        return terms

    def terms(self, model: Model, batch: Batch, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return all terms of the objective, for a batch, its posteriors and one sample z of each."""
        reconstruction = loss_of(self.loss).distance(batch.x, model.decode(self.decoded(q, z))).mean()
        penalty = self.penalty(model, q, z, step)
        if not isinstance(penalty, Mapping):
            raise UsageError(f"{type(self).__name__}.penalty must return a dict of terms by name, not {_kind(penalty)}")
        return {"reconstruction": reconstruction, **penalty}

    def decoded(self, q: Posterior, z: Tensor) -> Tensor:
        """Return the decoder's input (n, inputs) for the sample that `infer` drew: by default, z itself."""
        return z

    def diagnostics(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return values to log that are not part of the objective: by default, none."""
        return {}

    def posterior(self, q: Posterior, batch: Batch, step: int) -> Posterior:
        """Return the posteriors that the method uses, from those of the encoder: by default, the same."""
        return q

    def infer(self, model: Model, batch: Batch, step: int, noise: torch.Generator) -> tuple[Posterior, Tensor]:
        """Return the posteriors of a batch, and one sample z of each."""
        q = self.posterior(model.encode(batch.x), batch, step)
        return q, q.sample(noise)

    def draw(self, data: Dataset, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return the indices (group_size, n) of a batch's images."""
        return data.sample(n, rng)[None]

    def resolve(self, data: Dataset, lr: float) -> Self:
        """Return the method with all fields filled in that depend on the data set or the run's learning rate."""
        return self

    def check(self, data: Dataset, latents: int) -> None:  # noqa: B027
        """Raise a `UsageError` if the method cannot use this data set or number of latents."""

    def companion(self, latents: int) -> nn.Module | None:
        """Return a network that is trained with the model but used only by the objective, such as a prior; or None.

        It becomes `model.companion`. Its parameters start at zero, except those named weight.
        """
        return None

    def adversary(self, latents: int) -> nn.Module | None:
        """Return a network that is trained against the model, or None; `latents` is the number of decoder inputs."""
        return None

    @property
    def adversary_rate(self) -> float:
        """The learning rate of the adversary, if there is one."""
        raise NotImplementedError(f"{type(self).__name__} has an adversary and must define adversary_rate")

    def adversary_loss(self, model: Model, z: Tensor, another: Callable[[], Tensor]) -> Tensor:
        """Return the adversary's loss on the detached codes of the batch; `another()` gives those of another batch."""
        raise NotImplementedError(f"{type(self).__name__} has an adversary and must define adversary_loss")

    def require_not_negative(self, *names: str) -> None:
        """Raise a `UsageError` if a hyper-parameter, a number or a schedule, is ever negative or not finite."""
        require_not_negative(self, *names)


def _kind(thing: object) -> str:
    return f"a tensor of shape {tuple(thing.shape)}" if isinstance(thing, Tensor) else f"a {type(thing).__name__}"


KIND: Kind[type[Method]] = Kind("method")
"""The methods by name."""


def own_name(kind: type[Method]) -> str:
    """Return the name of a user's method."""
    return vars(kind).get("name") or dashed(kind.__name__)
