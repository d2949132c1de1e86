"""How many steps of exploration a reward predictor needs on frozen codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from unweave.data.scenes2d import Scenes2D
from unweave.errors import UsageError, unknown
from unweave.progress import OnProgress, reporting
from unweave.tasks.clustering import Clustering, Floats
from unweave.tasks.exploration import experience, held_out
from unweave.tasks.predictor import Learner, learn

if TYPE_CHECKING:
    import polars

    from unweave.data import Dataset

CHUNK = 512
"""Images drawn and encoded at once."""
CHANCE = 0.5
LARGEST = 1e12
DATA = Scenes2D.name


class Encoder(Protocol):
    """A run, or any object that encodes images and knows its data set."""

    @property
    def data(self) -> Dataset: ...  # noqa: D102
    def encode(self, images: np.ndarray, /) -> np.ndarray: ...  # noqa: D102


Encode: TypeAlias = Callable[[np.ndarray], ArrayLike]
"""Images (n, H, W, 3), uint8, to codes (n, d)."""


@dataclass(frozen=True)
class Settings:
    """Everything that decides a sample efficiency, besides the encoder."""

    by: str = "colour"
    size: int = 64
    target: float = 0.9
    max_steps: int = 10_000
    every: int = 250
    seeds: int = 5
    test_scenes: int = 2_000
    learner: Learner = field(default_factory=Learner)
    seed: int = 0

    def __post_init__(self) -> None:
        _ = self.task
        if not CHANCE < self.target <= 1:
            raise UsageError(f"target must be above 0.5, which is chance, and at most 1, not {self.target}")
        for name, least in (("max_steps", 1), ("every", 1), ("seeds", 1), ("test_scenes", 2), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise UsageError(f"{name} must be a whole number, {least} or more, not {value!r}")
        if self.test_scenes % 2:
            raise UsageError(f"test_scenes must be even, half of them clustered, not {self.test_scenes}")

    @property
    def task(self) -> Clustering:
        """The task."""
        return Clustering(self.by, self.size)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Settings:
        """Return the settings with these options; the error for a misspelt name suggests the nearest one."""
        names = [spec.name for spec in fields(cls)]
        for name in options:
            if name not in names:
                raise unknown("option", name, names)
        return cls(**{name: value for name, value in options.items() if value is not None})


@dataclass(frozen=True)
class SampleEfficiency:
    """How fast reward predictors learnt on one encoder's codes."""

    table: polars.DataFrame
    """A row for each initialisation: initialisation, steps, reached, accuracy."""
    curves: polars.DataFrame
    """initialisation, step, accuracy: the balanced accuracy on held-out scenes after each step measured."""
    settings: Settings
    """Everything that decided the numbers, besides the encoder."""

    @property
    def steps(self) -> float:
        """The mean number of steps; a predictor that did not reach the target counts as `max_steps`."""
        return float(self.table["steps"].to_numpy().mean())

    @property
    def accuracy(self) -> float:
        """The mean of the last accuracies."""
        return float(self.table["accuracy"].to_numpy().mean())

    @property
    def reached(self) -> int:
        """The number of initialisations that reached the target."""
        return int(self.table["reached"].to_numpy().sum())


def sample_efficiency(
    encode: Encoder | Encode,
    *,
    by: str = "colour",
    size: int = 64,
    target: float = 0.9,
    max_steps: int = 10_000,
    every: int = 250,
    seeds: int = 5,
    test_scenes: int = 2_000,
    learner: Learner | None = None,
    seed: int = 0,
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
) -> SampleEfficiency:
    """Return how many steps a reward predictor needs on frozen codes, for several initialisations.

    A fixed policy explores scenes of four sprites. After each step the predictor, a small network, is updated once on
    codes of scenes seen so far, to recognise clustered scenes, in which the reward is not negative. Its accuracy is
    balanced (the mean of the accuracies on clustered and on other scenes) and measured on scenes from other episodes,
    half of them clustered; chance is 0.5. For one seed, the experience is the same for all encoders and
    initialisations. Training ends when every initialisation has reached the target.

    Parameters
    ----------
    encode
        A `Run` on scenes2d, or a function from images (n, size, size, 3), uint8, to codes (n, d).
    by
        Which sprites belong together: "colour", "shape" or "position".
    size
        Width of the images for a function; a run knows its own.
    target
        The accuracy to reach.
    max_steps
        Steps after which a predictor that has not reached the target stops.
    every
        Steps between two measurements of the accuracy.
    seeds
        Number of initialisations of the predictor.
    test_scenes
        Number of test scenes; even.
    learner
        How the predictor is built and trained.
    seed
        Seed of all choices.
    progress, on_progress
        Whether to show a progress bar, and a function to call instead.

    Returns
    -------
    SampleEfficiency
        `table` with a row for each initialisation: steps to the target, interpolated between two measurements, or
        `max_steps` if `reached` is False; and the last accuracy. `curves` with every measurement.

    Examples
    --------
    >>> import numpy as np
    >>> found = sample_efficiency(lambda images: np.zeros((len(images), 1)), size=32, max_steps=200, every=100, seeds=2)
    >>> found.table.columns, found.table["steps"].to_list(), found.reached
    (['initialisation', 'steps', 'reached', 'accuracy'], [200.0, 200.0], 0)
    """
    options = {"by": by, "size": size, "target": target, "max_steps": max_steps, "every": every, "seeds": seeds}
    settings = Settings.of({**options, "test_scenes": test_scenes, "learner": learner, "seed": seed})
    function, settings = _function(encode, settings)
    with reporting(on_progress, progress) as told:
        return _measured(function, settings, told)


def _measured(encode: Encode, settings: Settings, on_progress: OnProgress) -> SampleEfficiency:
    """Explore, encode the scenes, and learn until all initialisations have reached the target."""
    task, steps = settings.task, settings.max_steps
    seen = experience(task, steps, seed=settings.seed)
    tests = held_out(task, settings.test_scenes, seed=settings.seed)
    codes = _codes(encode, task, np.concatenate([seen.places, tests.places]), on_progress)
    measured = [(0, np.full(settings.seeds, CHANCE))]
    for step, accuracies in learn(
        codes[:steps],
        seen.clustered,
        codes[steps:],
        tests.clustered,
        settings.learner,
        initialisations=settings.seeds,
        every=settings.every,
        seed=settings.seed,
    ):
        measured.append((step, accuracies))
        on_progress("learning to predict the reward", step, steps)
        if (np.max([found for _, found in measured], axis=0) >= settings.target).all():
            break
    return _summary(measured, settings)


def steps_to(target: float, steps: ArrayLike, accuracies: ArrayLike) -> float | None:
    """Return when a curve first reaches the target, interpolated between measurements; None if it never does.

    >>> steps_to(0.9, [0, 100, 200], [0.5, 0.8, 1.0]), steps_to(0.9, [0, 100], [0.5, 0.6])
    (150.0, None)
    """
    moments, found = np.asarray(steps, dtype=float), np.asarray(accuracies, dtype=float)
    above = np.flatnonzero(found >= target)
    if not len(above):
        return None
    last = above[0]
    if last == 0:
        return float(moments[0])
    share = (target - found[last - 1]) / (found[last] - found[last - 1])
    return float(moments[last - 1] + share * (moments[last] - moments[last - 1]))


def _summary(measured: list[tuple[int, Floats]], settings: Settings) -> SampleEfficiency:
    import polars

    steps, accuracies = np.array([step for step, _ in measured]), np.array([found for _, found in measured])
    rows, points = [], []
    for number, curve in enumerate(accuracies.T):
        when = steps_to(settings.target, steps, curve)
        found = {"steps": float(settings.max_steps) if when is None else when, "reached": when is not None}
        rows.append({"initialisation": number, **found, "accuracy": float(curve[-1])})
        points += [
            {"initialisation": number, "step": int(step), "accuracy": float(value)}
            for step, value in zip(steps, curve, strict=True)
        ]
    return SampleEfficiency(polars.DataFrame(rows), polars.DataFrame(points), settings)


def _function(encode: Encoder | Encode, settings: Settings) -> tuple[Encode, Settings]:
    """Return a function that encodes, and the settings with the width of its images."""
    found = getattr(encode, "data", None)
    if found is None:
        if not callable(encode):
            raise UsageError(f"encode must be a run or a function of images, not {type(encode).__name__}")
        return encode, settings
    if not is_of_scenes(str(found.name)):
        hint = "unweave train beta-vae --data scenes2d:size=32"
        raise UsageError(f"the run was trained on {found.name}, but the clustering task needs {DATA}: {hint}")
    return encode.encode, replace(settings, size=found.shape[1])  # pyright: ignore[reportFunctionMemberAccess]


def is_of_scenes(name: str) -> bool:
    """Return whether a data set is the task's, or a variant of it."""
    return name.partition("-")[0] == DATA


def _codes(encode: Encode, task: Clustering, places: np.ndarray, on_progress: OnProgress) -> Floats:
    """Return the codes (n, d) of scenes (n, sprites, 2)."""
    parts = []
    for start in range(0, len(places), CHUNK):
        some = places[start : start + CHUNK]
        code = np.asarray(encode(task.images(some)), dtype=np.float64)
        if code.ndim != 2 or len(code) != len(some) or not code.shape[1]:
            raise UsageError(f"encode must give codes ({len(some)}, d), one row per image, not {code.shape}")
        if not (np.abs(code) <= LARGEST).all():  # written so that NaN fails too
            raise UsageError(f"encode gave NaN, an infinity or a value beyond {LARGEST:g}")
        parts.append(code)
        on_progress("encoding scenes", start + len(some), len(places))
    return np.concatenate(parts)
