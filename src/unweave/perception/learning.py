"""Learning a reconstruction loss whose distances follow those between the factors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch

from unweave.data import Data, Dataset, as_dataset
from unweave.data.dataset import Images
from unweave.data.factors import Integers
from unweave.data.table import require_factors
from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.files import refuse_special, write_atomically
from unweave.losses.loss_file import EXTENTS, KINDS, SUFFIX, LossFile
from unweave.memory import keep_freed_memory
from unweave.metrics.inputs import generator, whole_number
from unweave.perception.agreement import LEARNT, Agreement, agreements
from unweave.perception.association import correlation
from unweave.perception.ground_truth import ranges, total
from unweave.perception.measured import chosen_factors
from unweave.perception.soft_rank import soft_spearman
from unweave.perception.trainable import Trainable, TrainableAutoencoder, TrainableKernel
from unweave.progress import OnProgress, reporting

STREAM = 1 << 20
"""The first random stream that learning uses; pairs for measurements come from earlier ones."""
SHOWN = 10
"""Steps between two correlations shown as progress."""
DECAYS = ("cosine", "constant")


@dataclass(frozen=True)
class Learning:
    """How a loss is learnt."""

    kind: Annotated[str, OneOf(KINDS)] = "kernel"
    """What is learnt: one kernel for all channels, or a small convolutional autoencoder."""
    radius: int | None = None
    """Pixels from the kernel's centre to its edge; by default half the image: 31 at 64 pixels."""
    extent: Annotated[str, OneOf(EXTENTS)] = "same"
    """What to compare of blurred images: the pixels of the image (same), or all that the kernel reaches (full)."""
    steps: int = 500
    """Steps of Adam."""
    batch: int = 512
    """Images per step, drawn with replacement."""
    pairs: int = 4096
    """Random pairs per step that are ranked."""
    lr: float = 5e-3
    """Learning rate of Adam."""
    decay: Annotated[str, OneOf(DECAYS)] = "cosine"
    """Schedule of the learning rate: it falls to 0 along a cosine, or is constant."""
    symmetry: float = 1.0
    """Weight of the differences between the kernel and its mirror images."""
    shrinkage: float = 1e-3
    """Weight of the mean square of the kernel, or of the autoencoder's weights."""
    weight: float = 1.0
    """Weight of the second term of the loss."""
    strength: float = 0.01
    """Regularisation of the soft ranks."""
    scaled: bool = True
    """Whether every factor has length 1 in the ground-truth distances (the default), or its number of values."""
    adversarial: bool = False
    """Learn a loss that hides the factors, by minimising the correlation."""
    seed: int = 0
    """Seed of everything random."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise unknown("kind of loss to learn", self.kind, KINDS)
        if self.extent not in EXTENTS:
            raise unknown("extent of a blurred image", self.extent, EXTENTS)
        if self.extent != "same" and self.kind != "kernel":
            raise UsageError(f"an {self.kind} gives images of the same size; leave out extent, or learn a kernel")
        if self.decay not in DECAYS:
            raise unknown("decay of the learning rate", self.decay, DECAYS)
        for name, least in {"steps": 1, "batch": 2, "pairs": 2, "seed": 0}.items():
            whole_number(getattr(self, name), name, least)
        for name in ("lr", "strength"):
            if not 0 < getattr(self, name) < math.inf:
                raise UsageError(f"{name} must be a positive number, not {getattr(self, name)}")
        for name in ("symmetry", "shrinkage", "weight"):
            if not 0 <= getattr(self, name) < math.inf:
                raise UsageError(f"{name} must be 0 or more, not {getattr(self, name)}")

    def rate(self, step: int) -> float:
        """Return the learning rate of a step.

        Parameters
        ----------
        step
            The step, counted from 0.

        Returns
        -------
        float
            The learning rate.
        """
        return self.lr if self.decay == "constant" else self.lr * (1 + math.cos(math.pi * step / self.steps)) / 2


@dataclass(frozen=True)
class LearntLoss:
    """A learnt loss, and how well it follows the factors compared with other losses."""

    file: LossFile
    """The content of the loss file."""
    agreements: dict[str, Agreement]
    """Correlations by the name of the loss, `learnt` last, on pairs that were not used for learning."""

    @property
    def kernel(self) -> np.ndarray | None:
        """The kernel (2 radius + 1, 2 radius + 1), or None for an autoencoder."""
        return self.file.tensors["kernel"].numpy() if self.file.kind == "kernel" else None

    def save(self, path: str | Path) -> None:
        """Write the file atomically; pass it to training as `train(loss=path)`.

        Parameters
        ----------
        path
            The file, which ends in .loss.
        """
        place = check_out(path)
        write_atomically(place, self.file.to_bytes())


def learn_loss(
    data: Data,
    *,
    out: str | Path | None = None,
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
    **settings: Any,
) -> LearntLoss:
    r"""Learn a reconstruction loss whose distances follow those between factors [Michlo2022]_, section 6.1.

        max_h  rho(d(x, y), |v - w|_1) - penalties,    d(x, y) = (|x - y|^2 + weight |h(x) - h(y)|^2) / values

    over random pairs of images x, y with factors v, w; rho is Spearman's correlation of soft ranks [Blondel2020]_.
    The same settings and number of threads give the same bytes. Nothing is written before the end.

    Parameters
    ----------
    data
        Images with factors: a data set, or its name or path.
    out
        The file to write, which ends in .loss; pass it to training as `train(…, loss=out)`.
    progress, on_progress
        Whether to show a progress bar, and a function to call instead.
    settings
        The fields of `Learning`: kind, radius, extent, steps, batch, pairs, lr, decay, symmetry, shrinkage, weight,
        strength, scaled, adversarial, seed.

    Returns
    -------
    LearntLoss
        The loss, and its correlations together with those of mse and of a box blur.

    Examples
    --------
    >>> from unweave.perception import learn_loss
    >>> learnt = learn_loss("xysquares:size=32", radius=15, steps=3, batch=64, pairs=256)
    >>> learnt.kernel.shape
    (31, 31)
    """
    chosen, found = _checked(Learning, settings), as_dataset(data)
    place = None if out is None else check_out(out)
    require_images(found)
    radius = checked_radius(chosen, found)
    with reporting(on_progress, progress, "learning a loss") as told:
        learnt = trained(chosen, found, radius, told)
        tensors = learnt.tensors()
        plain = LossFile(chosen.kind, tensors, chosen.weight, extent=chosen.extent)
        measured = agreements(found, plain, scaled=chosen.scaled, seed=chosen.seed, on_progress=told)
    record = {"data": found.description, "shape": list(found.shape), "settings": asdict(chosen) | {"radius": radius}}
    file = replace(plain, record=record | {"correlations": measured[LEARNT].to_json()})
    result = LearntLoss(file, measured)
    if place is not None:
        result.save(place)
    return result


def check_out(path: str | Path) -> Path:
    """Return the path of a loss file, or raise a `UsageError` if it cannot be written."""
    place = Path(path).expanduser()
    if place.suffix != SUFFIX:
        raise UsageError(f"the file of a loss must end in {SUFFIX}: '{place.with_suffix(SUFFIX)}', not '{place}'")
    if place.is_dir():
        raise UsageError(f"'{place}' is a folder; choose another name")
    refuse_special(place)
    if not place.parent.is_dir():
        raise UsageError(f"there is no folder '{place.parent}' to write '{place.name}' into; make it first")
    if "," in str(place.resolve()):
        raise UsageError(f"the path of a loss must not contain a comma: '{place.resolve()}'")
    return place


def require_images(data: Dataset) -> None:
    """Raise a `UsageError` for data without images, or without factors that a loss could follow."""
    require_factors(data, "learning a loss")
    if not data.has_images:
        raise UsageError(f"a loss can be learnt only for images, but '{data.name}' holds vectors")
    chosen_factors(data, None)  # raises if none varies


def checked_radius(chosen: Learning, data: Dataset) -> int | None:
    """Return the radius of the kernel: by default half the image, and at most the largest distance of two pixels."""
    if chosen.kind != "kernel":
        if chosen.radius is not None:
            raise UsageError("an autoencoder has no radius; leave it out, or learn a kernel")
        return None
    height, width, _ = data.shape
    if chosen.radius is None:
        return max(1, min(height, width) // 2 - 1)
    radius, most = whole_number(chosen.radius, "radius", 1), max(height, width) - 1
    if radius > most:
        raise UsageError(f"radius {radius} is too large: pixels of {height} × {width} images are at most {most} apart")
    return radius


def trained(chosen: Learning, data: Dataset, radius: int | None, on_progress: OnProgress) -> Trainable:
    """Return what was learnt in all steps."""
    keep_freed_memory()
    start = torch.Generator().manual_seed(int(generator(chosen.seed, STREAM).integers(2**62)))
    learnt = (
        TrainableAutoencoder(data.shape, start) if radius is None else TrainableKernel(radius, start, chosen.extent)
    )
    adam = torch.optim.Adam(learnt.parameters, chosen.lr)
    sign, shown = (1 if chosen.adversarial else -1), "rank correlation"
    for step, (images, pairs, truth) in enumerate(_batches(chosen, data)):
        adam.param_groups[0]["lr"] = chosen.rate(step)
        adam.zero_grad()
        distances = learnt.distances(images, pairs, chosen.weight)
        rho = soft_spearman(distances, torch.from_numpy(truth), chosen.strength)
        objective = sign * rho + learnt.penalties(chosen.symmetry, chosen.shrinkage)
        if not objective.isfinite():
            raise UsageError(f"learning failed at step {step}: the objective is not a number; lower the learning rate")
        objective.backward()
        adam.step()
        if step % SHOWN == 0:
            shown = f"rank correlation {correlation(truth, distances.detach().numpy()).rank:.3f}"
        on_progress(shown, step + 1, chosen.steps)
    return learnt


def _batches(chosen: Learning, data: Dataset) -> Iterator[tuple[Images, Integers, np.ndarray]]:
    """Yield for each step images, random pairs of them, and the distances of their factors."""
    rng, lengths = generator(chosen.seed, STREAM + 1), ranges(data, chosen.scaled)
    for _ in range(chosen.steps):
        indices = data.sample(chosen.batch, rng)
        pairs = rng.integers(chosen.batch, size=(chosen.pairs, 2))
        values = data.values(indices)
        apart = np.abs(values[pairs[:, 0]] - values[pairs[:, 1]])
        yield data.images(indices), pairs, total(apart, lengths)


def _checked(kind: type[Learning], settings: dict[str, Any]) -> Learning:
    for name in settings:
        if name not in kind.__dataclass_fields__:
            raise unknown("option of learn_loss", name, kind.__dataclass_fields__)
    return kind(**settings)
