"""GeoManCEr's experiments: products of known manifolds, and an object that rotates under a moving light."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from unweave.geometry import chance_error
from unweave.progress import OnProgress
from unweave.reproduce.frame import Findings, Reproduction, Row
from unweave.reproduce.geomancer_objects import DIMS, FoundFactors, Training, factors_of_each_input
from unweave.reproduce.geomancer_products import CURVED, PRODUCTS, Trials, trials
from unweave.reproduce.intervals import Estimate, mean_and_interval
from unweave.reproduce.parts import Kept, compute_always

Products = dict[str, dict[int, Trials]]
"""By product and number of points."""
NOTES = (
    "published: the number of factors that the theory predicts with enough points. Published errors are not listed: we "
    "do not have them as numbers, and the objects differ from ours.",
    "error: the mean over points of the angle between true and found tangent spaces, in radians; a wrong number of "
    "factors or wrong dimensions count π/2. Intervals: over samples for products, over points for objects.",
    "objects: the number of factors is what GeoManCEr finds without help; errors are measured with the number 2 given. "
    "Spaces are first aligned by the steps to neighbours, because images and codes have their own coordinates.",
)


@dataclass(frozen=True)
class Settings:
    """The manifolds and objects, and the numbers of points."""

    sizes: tuple[int, ...]
    """Numbers of points of each product."""
    repeats: int
    """Samples for each number of points."""
    images: int
    training: Training
    products: tuple[str, ...] = tuple(PRODUCTS)


class Geomancer(Reproduction):
    """How well GeoManCEr finds the factors of manifolds, with their true metric and without."""

    source: ClassVar[str] = "[Pfau2020]_, experiments on synthetic manifolds and on 3D objects"
    summary: ClassVar[str] = (
        "Holonomy finds the factors of a curved manifold if its metric is known, but fails on pixels and codes."
    )
    presets: ClassVar[Mapping[str, Settings]] = {
        "smoke": Settings(
            sizes=(300, 600),
            repeats=2,
            images=300,
            training=Training(steps=5, betas=(1.0,), width=0.2),
            products=("S² × S²", "T² × S²"),
        ),
        "small": Settings(
            sizes=(500, 1_000, 2_000, 5_000), repeats=3, images=5_000, training=Training(steps=3_000, width=0.5)
        ),
        "paper": Settings(
            sizes=(1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000),
            repeats=5,
            images=20_000,
            training=Training(steps=30_000, betas=(1.0, 4.0, 16.0)),
        ),
    }

    def run(self, settings: Settings, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Factorise samples of each product, then the objects, and draw the errors of both."""
        from unweave.reproduce.geomancer_figures import objects_figure, products_figure

        *seeds, last = map(int, np.random.SeedSequence(seed).generate_state(settings.repeats + 1) >> 1)
        cells = [(product, n) for n in settings.sizes for product in settings.products]
        steps = count(0)
        total = len(cells) + 2 + len(settings.training.betas)
        products: Products = {product: {} for product in settings.products}
        for product, n in cells:
            on_progress(f"{product}, {n:,} points", next(steps), total)
            products[product][n] = kept(f"{product}, {n}", partial(trials, product, n, seeds))
        inputs = factors_of_each_input(
            settings.images,
            settings.training,
            last,
            lambda what: on_progress(f"objects, {what}", next(steps), total),
            kept,
        )
        rows = [*product_rows(products), *object_rows(inputs)]
        figures = {"products": products_figure(products), "objects": objects_figure(inputs, last)}
        return Findings(tuple(rows), (*remarks(products, inputs), *NOTES), figures)


def product_rows(products: Products) -> Iterable[Row]:
    """Return two lines for each product and number of points: the factors found, and the error."""
    for product, sizes in products.items():
        for n, found in sizes.items():
            head = f"{product}, {n:,} points"
            claimed = float(len(found.dims)) if product in CURVED else None
            yield Row(f"{head}: factors", claimed, *within(1, np.inf, found.counts))
            yield Row(f"{head}: error (chance {found.chance:.2f})", None, *within(0, np.pi / 2, found.errors))


def within(least: float, largest: float, values: ArrayLike) -> Estimate:
    """Return the mean of bounded values, and its interval clipped to the bounds."""
    return Estimate(*(min(max(value, least), largest) for value in mean_and_interval(values)))


def object_rows(inputs: Mapping[str, FoundFactors]) -> Iterable[Row]:
    """Return the lines of the objects: the factors found, and the error if GeoManCEr is given their number, two."""
    chance = f"(chance {chance_error(DIMS):.2f})"
    for name, found in inputs.items():
        claimed = float(len(DIMS)) if name == "true latents" else None
        yield Row(f"objects, {name}: factors", claimed, found.count, np.nan, np.nan)
        yield Row(f"objects, {name}: error {chance}", None, *within(0, np.pi / 2, found.errors))
        if found.aligned is not None:
            yield Row(f"objects, {name}, not aligned: error {chance}", None, *within(0, np.pi / 2, found.aligned))


def remarks(products: Products, inputs: Mapping[str, FoundFactors]) -> Iterable[str]:
    """Return GeoManCEr's warnings."""
    samples = [
        (fine, warned)
        for sizes in products.values()
        for found in sizes.values()
        for fine, warned in zip(found.right, found.warned, strict=True)
    ]
    wrong, right = ([warned for fine, warned in samples if fine is kind] for kind in (False, True))
    yield (
        f"products: warned of {sum(wrong)} of {len(wrong)} samples whose factors it got wrong, "
        f"and of {sum(right)} of {len(right)} others."
    )
    for name, found in inputs.items():
        dims = " + ".join(map(str, found.dims)) or "that differ from point to point"
        codes = "" if found.explained is None else f"they explain {found.explained:.0%} of the pixels' variance; "
        warned = "; ".join(found.doubts) or "nothing"
        yield f"objects, {name}: {codes}two factors have dimensions {dims}; warned of: {warned}."
