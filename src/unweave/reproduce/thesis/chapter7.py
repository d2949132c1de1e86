"""Chapter 7: the choice of factors, and pictures that no factor describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars

from unweave.errors import UsageError
from unweave.reproduce.thesis.claims import Claim, claim
from unweave.reproduce.thesis.comparisons import TITLES, differences, levels, trends
from unweave.reproduce.thesis.experiment import SIX_SCORES, Experiment
from unweave.reproduce.thesis.figure import ThesisFigure
from unweave.reproduce.thesis.sizes import SMOKE, paper, published_vaes, small, small_vaes, smoke, vaes
from unweave.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLAIN, SHADED = "xyobject", "xyobject-shaded"
PICTURES = "PICTURES"
"""The placeholder for the folder of pictures in the name of a data set."""
TINY_IMAGENET = "tiny-imagenet"
"""The folder of the thesis' pictures, among the data sets."""


class ChoiceOfFactors(ThesisFigure):
    """Figure 7.3."""

    source: ClassVar[str] = "[Michlo2022]_, figure 7.3 (section 7.2)"
    summary: ClassVar[str] = "The same images score higher when colour is named as intensity and hue, two factors."
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": smoke((f"{PLAIN}:size=32", f"{SHADED}:size=32"), vaes(0.001), metrics=SIX_SCORES),
        "small": small((f"{PLAIN}:size=32", f"{SHADED}:size=32"), small_vaes(0.001)),
        "paper": paper(
            (PLAIN, SHADED),
            published_vaes("thesis-7.2", beta=[0.001, 0.00316, 0.01, 0.0316]),
            steps=57_600,
            seeds=3,
            metrics=SIX_SCORES,
        ),
    }

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Compare both namings, all β together."""
        cases = differences(table, tuple(TITLES), "data", SHADED, PLAIN)
        return claim(f"scores are higher on {SHADED} than on {PLAIN}, whose images are the same", cases)

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores by data set."""
        from unweave.reproduce.thesis.drawings import grouped

        return grouped(table, "data", "method")


def with_pictures(base: str, visibilities: tuple[float, ...]) -> tuple[str, ...]:
    """Return a data set with pictures behind its objects, and inside them, each at several visibilities."""
    return tuple(
        f"{base}-images-{where}:folder={PICTURES},visibility={visibility:g}"
        for where in ("bg", "fg")
        for visibility in visibilities
    )


class ExternalNoise(ThesisFigure):
    """Figure 7.6."""

    source: ClassVar[str] = "[Michlo2022]_, figure 7.6 (section 7.3)"
    summary: ClassVar[str] = "The more visible pictures behind an object, or within it, are, the lower the scores."
    groups: ClassVar[tuple[str, ...]] = ("data", "method", "visibility")
    presets: ClassVar[Mapping[str, Experiment]] = {
        "smoke": smoke(
            with_pictures("shapes2d", (0, 1)),
            vaes(0.001),
            options={**SMOKE, "standardise": False},
            seeds=1,
            pictures=16,
        ),
        "small": small(with_pictures("shapes2d", (0, 0.5, 1)), small_vaes(0.01), pictures=2_000),
        "paper": paper(
            with_pictures("dsprites", (0, 0.25, 0.5, 0.75, 1)),
            published_vaes("thesis-7.3", beta=[0.00316, 0.01, 0.0316]),
            steps=57_600,
            metrics=SIX_SCORES,
        ),
    }

    def study(self, settings: Experiment, *, seed: int, out: Path) -> Study:
        """Return the study of these settings; pictures are next to it, or in the folder of the data sets."""
        folder = rooms(out.with_name("pictures"), settings.pictures) if settings.pictures else tiny_imagenet()
        data = tuple(name.replace(PICTURES, str(folder.resolve())) for name in settings.data)
        return replace(settings, data=data).study(seed, out)

    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Measure how scores change with the visibility."""
        seen, over = levels(table, "visibility"), ("method", "data")
        falling = trends(table, tuple(TITLES), "visibility", falls=True, over=over)
        ends = differences(table, tuple(TITLES), "visibility", seen[0], seen[-1], over=over)
        return [
            *claim("scores fall as pictures become visible", falling),
            *claim("scores are lower with pictures wholly visible than without any", ends),
        ]

    def drawing(self, table: polars.DataFrame) -> Figure:
        """Draw the scores over the visibility."""
        from unweave.reproduce.thesis.drawings import against

        return against(table, "visibility", panels_by="data")


def tiny_imagenet() -> Path:
    """Return the folder of the thesis' pictures, or raise a `UsageError` that names it."""
    from unweave.data.files import data_folder

    folder = data_folder() / TINY_IMAGENET
    if not folder.is_dir():
        raise UsageError(
            f"the pictures of Tiny ImageNet are not here; put the folder train of tiny-imagenet-200.zip at '{folder}'"
        )
    return folder


def rooms(folder: Path, count: int) -> Path:
    """Return a folder with this many pictures of rooms3d; draw them if they are missing."""
    from PIL import Image

    from unweave.data import load

    if len(list(folder.glob("*.png"))) < count:
        folder.mkdir(parents=True, exist_ok=True)
        data = load("rooms3d")
        for number, image in enumerate(data.images(data.sample(count, np.random.default_rng(0)))):
            Image.fromarray(image).save(folder / f"{number:05d}.png")
    return folder
