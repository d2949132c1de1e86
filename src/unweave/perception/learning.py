"""A reconstruction loss that is learnt: the distances it perceives are to follow those between the factors."""

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
"""The first stream of the seed that learning draws from; pairs to measure on come from earlier ones."""
SHOWN = 10
"""Steps between two correlations that are shown."""
DECAYS = ("cosine", "constant")


@dataclass(frozen=True)
class Learning:
    """How a loss is learnt."""

    kind: Annotated[str, OneOf(KINDS)] = "kernel"
    """What is learnt: one kernel for all channels, or a small convolutional autoencoder."""
    radius: int | None = None
    """Pixels from the kernel's centre to its edge; by default it reaches half the image: 31 at 64 pixels."""
    extent: Annotated[str, OneOf(EXTENTS)] = "same"
    """What of blurred images is compared: the pixels of the image, or all that the kernel reaches."""
    steps: int = 500
    """Steps of Adam."""
    batch: int = 512
    """Images a step, drawn with replacement."""
    pairs: int = 4096
    """Random pairs of these that are ranked."""
    lr: float = 5e-3
    """Learning rate of Adam."""
    decay: Annotated[str, OneOf(DECAYS)] = "cosine"
    """What becomes of the rate: it falls to 0 along a cosine, or is constant."""
    symmetry: float = 1.0
    """Weight of the differences between a kernel and its mirror images."""
    shrinkage: float = 1e-3
    """Weight of the mean square of the kernel, or of the autoencoder's weights."""
    weight: float = 1.0
    """Weight of the second term of the loss."""
    strength: float = 0.01
    """Regularisation of the soft ranks."""
    scaled: bool = True
    """Whether every factor has length 1 in the distances to follow (the default), or as many steps as it has values."""
    adversarial: bool = False
    """Learn a loss that hides the factors: the correlation is minimised."""
    seed: int = 0
    """Seed of all that is random."""

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
                raise UsageError(f"{name} must be a number that is not negative, not {getattr(self, name)}")

    def rate(self, step: int) -> float:
        """Return the learning rate of a step."""
        return self.lr if self.decay == "constant" else self.lr * (1 + math.cos(math.pi * step / self.steps)) / 2


@dataclass(frozen=True)
class LearntLoss:
    """A loss that was learnt, and how well it follows the factors beside losses that are not."""

    file: LossFile
    """The loss, as a file holds it."""
    agreements: dict[str, Agreement]
    """By the name of the loss, `learnt` last: correlations on other draws of pairs than those learnt from."""

    @property
    def kernel(self) -> np.ndarray | None:
        """The kernel (2 radius + 1, 2 radius + 1), where it is one."""
        return self.file.tensors["kernel"].numpy() if self.file.kind == "kernel" else None

    def save(self, path: str | Path) -> None:
        """Write the file, whole or not at all; `train(loss=path)` takes it."""
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
        The file to write, which ends in .loss; `train(…, loss=out)` takes it.
    progress, on_progress
        A bar or none, and who is told of progress instead.
    settings
        The fields of `Learning`: kind, radius, extent, steps, batch, pairs, lr, decay, symmetry, shrinkage, weight,
        strength, scaled, adversarial, seed.

    Returns
    -------
    LearntLoss
        The loss, and its correlations beside those of mse and of a box blur.

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
    """Return where a loss file is to be written, or say what is wrong with the place."""
    place = Path(path).expanduser()
    if place.suffix != SUFFIX:
        raise UsageError(f"the file of a loss ends in {SUFFIX}: '{place.with_suffix(SUFFIX)}', not '{place}'")
    if place.is_dir():
        raise UsageError(f"'{place}' is a folder; choose another name")
    refuse_special(place)
    if not place.parent.is_dir():
        raise UsageError(f"there is no folder '{place.parent}' to write '{place.name}' into")
    if "," in str(place.resolve()):
        raise UsageError(f"the path of a loss may have no comma: '{place.resolve()}'")
    return place


def require_images(data: Dataset) -> None:
    """Refuse what has no images, or no factors whose distances a loss could follow."""
    require_factors(data, "learning a loss")
    if not data.has_images:
        raise UsageError(f"a loss is learnt for images, and '{data.name}' holds vectors")
    chosen_factors(data, None)  # refuses those that do not vary


def checked_radius(chosen: Learning, data: Dataset) -> int | None:
    """Return the radius of the kernel: half the image unless given, and at most what two pixels are apart."""
    if chosen.kind != "kernel":
        if chosen.radius is not None:
            raise UsageError("an autoencoder has no radius; leave it out, or learn a kernel")
        return None
    height, width, _ = data.shape
    if chosen.radius is None:
        return max(1, min(height, width) // 2 - 1)
    radius, most = whole_number(chosen.radius, "radius", 1), max(height, width) - 1
    if radius > most:
        raise UsageError(
            f"two pixels of {height} × {width} images are {most} apart at most: radius {radius} is too large"
        )
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
            raise UsageError(f"learning went wrong at step {step}: the objective is no number; lower the learning rate")
        objective.backward()
        adam.step()
        if step % SHOWN == 0:
            shown = f"rank correlation {correlation(truth, distances.detach().numpy()).rank:.3f}"
        on_progress(shown, step + 1, chosen.steps)
    return learnt


def _batches(chosen: Learning, data: Dataset) -> Iterator[tuple[Images, Integers, np.ndarray]]:
    """Yield for each step images, random pairs of them, and how far apart their factors are."""
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
