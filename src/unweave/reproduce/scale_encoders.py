"""Does disentanglement grow with the parameters of pretrained encoders? Table 1 of [Ottlik2022]_, both ways."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import nan
from typing import Any, ClassVar

import numpy as np
import polars

from unweave.data import Wrapper, load
from unweave.data.dataset import Images
from unweave.data.factors import Integers
from unweave.encoders import ENCODERS, encode, open_encoder, project
from unweave.errors import UsageError
from unweave.metrics import evaluate
from unweave.progress import OnProgress
from unweave.reproduce.frame import Findings, Reproduction, Row
from unweave.reproduce.parts import Kept, compute_always
from unweave.study.analysis.rank_correlations import rank_correlation

PUBLISHED = {
    "CLIP RN50": (102_007_137, 0.00441),
    "CLIP RN50x4": (178_300_601, 0.01763),
    "CLIP RN50x16": (290_979_217, 0.02616),
    "CLIP ViT-B/16": (149_620_737, 0.02350),
    "CLIP ViT-L/14": (427_616_513, 0.02550),
}
"""Table 1 of [Ottlik2022]_: parameters, including the text encoder's, and MIG."""
FIRST = 1_000
"""Number of images in table 1: the first ones, in which only the position varies."""
FEWEST = 3
"""Smallest number of networks for a rank correlation."""
AS_PUBLISHED, RANDOM = "first 1,000 images, nearly black", "random images"
FIRST_ONLY = "first 1,000 images"
"""For colour data sets, whose images are not darkened."""
PROJECTED = "random images, 10 principal components"
WIDTH = 10
SCHEMA = {
    "data": polars.String,
    "encoder": polars.String,
    "weights": polars.String,
    "parameters": polars.Int64,
    "codes": polars.Int64,
    "images": polars.String,
    "metric": polars.String,
    "value": polars.Float64,
    "low": polars.Float64,
    "high": polars.Float64,
}
"""`weights`: trained or random; `codes`: the number of latents; `low`, `high`: a 95 % interval over images."""
NOTES = (
    "Intervals are over images: there is one network of each kind, and random weights are one draw. So few networks "
    "cannot show whether MIG follows size.",
    "Factors that do not vary among the images are left out of MIG; among the first 1,000 only the last ones vary.",
    "Compare networks with their controls, and with each other, at ten principal components: SSCD's controls have "
    "other widths. The ten components of `pixels` are the baseline PCA.",
    "The report uses CLIP's encoders. No package ships their weights, so they are not computed here; with network "
    "access, `unweave encode open-clip:NAME:pretrained=TAG` does. Its parameters include the text encoder's.",
)


@dataclass(frozen=True)
class Settings:
    """What is encoded and scored."""

    data: tuple[str, ...]
    encoders: tuple[str, ...]
    samples: int


@dataclass(frozen=True)
class Scored:
    """The scores of one encoder on one data set."""

    data: str
    encoder: str
    random_weights: bool
    parameters: int | None
    """None if unknown, as for an ONNX file."""
    rows: list[dict[str, Any]]
    """images, codes, metric, value, low, high."""


ALL = (
    "pixels",
    "ica",
    "alexnet-shift",
    "sscd-student",
    "efficientnet-lite0",
    "vgg16-shift",
    "efficientnet-lite1",
    "efficientnet-lite2",
    "sscd-resnet50",
)
"""Baselines, then networks by the cost per image."""


class ScaleEncoders(Reproduction):
    """Pretrained encoders, their random controls and simple baselines, scored as in table 1 and on random images."""

    source: ClassVar[str] = "[Ottlik2022]_, table 1"
    summary: ClassVar[str] = "MIG of pretrained encoders: as published, on random images, and with random weights."
    presets: ClassVar[Mapping[str, Settings]] = {
        "smoke": Settings(("shapes2d",), ("pixels", "alexnet-shift"), 200),
        "small": Settings(("shapes2d", "rooms3d"), ALL, 10_000),
        "paper": Settings(("dsprites", "shapes3d"), ALL, 10_000),
    }

    def run(self, settings: Settings, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Encode and score with each encoder on each data set."""
        from unweave.reproduce.scale_encoders_figure import encoders_figure

        parts, notes = [], []
        wanted = list(encodings(settings))
        for place, (data, name, random) in enumerate(wanted):
            on_progress(f"{name} on {data}", place, len(wanted))
            told = f"{data} {name} {'random' if random else 'trained'}"
            try:
                part = kept(told, lambda d=data, n=name, r=random: scored(d, n, r, settings.samples, seed))
                parts.append(part)
            except UsageError as error:
                notes.append(f"left out, {name}: {error}")
        if not parts:
            raise UsageError(f"no encoder could be used; {notes[0]}")
        table = as_table(parts)
        return Findings(
            tuple(rows_of(table)),
            (*conclusions(table), *dict.fromkeys(notes), *NOTES),
            {"encoders": encoders_figure(table)},
            {"encoders.csv": table.write_csv()},
        )

    def cost(self, settings: Settings) -> str:
        """Return the numbers of images and networks; the time per image varies a hundredfold."""
        wanted = list(encodings(settings))
        networks = sum(ENCODERS[name].weights is not None for _, name, _ in wanted)
        images = settings.samples + FIRST
        return (
            f"{len(wanted)} encodings of {images:,} images each, {networks} of them by a network; one core encodes "
            "between 5 (ResNet-50) and 500 (AlexNet) images per second. Codes are kept: no image is encoded twice."
        )


def encodings(settings: Settings) -> Iterator[tuple[str, str, bool]]:
    """Yield data sets and encoders, including networks with random weights; fast ones come first."""
    for name in settings.encoders:
        for data in settings.data:
            yield data, name, False
            if ENCODERS[name].weights is not None:
                yield data, name, True


def scored(data: str, name: str, random_weights: bool, samples: int, seed: int) -> Scored:
    """Return the scores of an encoder on a data set: as published, on random images, and with ten components."""
    images = load(data)
    grey = images.shape[-1] == 1
    options: dict[str, Any] = {"random_weights": random_weights, "seed": seed, "progress": False}
    found = encode(name, images, samples=samples, **options)
    dark = encode(name, NearlyBlack(images) if grey else images, indices="first", samples=FIRST, **options)
    assert found.factors is not None
    assert dark.factors is not None
    rows = [
        *_scores(AS_PUBLISHED if grey else FIRST_ONLY, dark.codes, dark.factors, ("mig",), seed),
        *_scores(RANDOM, found.codes, found.factors, ("mig",), seed),
    ]
    if min(found.codes.shape) > WIDTH and ENCODERS[name].projection is None:
        narrow = project(found.codes, "pca", WIDTH, seed=seed)[0]
        rows += _scores(PROJECTED, narrow, found.factors, ("mig", "sap", "dci"), seed)
    parameters = open_encoder(name, random_weights=random_weights, seed=seed).parameters
    return Scored(data, name, random_weights, parameters, rows)


class NearlyBlack(Wrapper):
    """Images as the report's encoders saw them: dSprites stores 0 and 1, and white is 255."""

    suffix = "nearly-black"

    def _draw(self, indices: Integers) -> Images:
        return np.rint(self.base.images(indices) / 255).astype(np.uint8)


def _scores(images: str, codes: np.ndarray, factors: np.ndarray, metrics: tuple[str, ...], seed: int) -> list[dict]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about constant factors and few rows, which are part of the comparison
        table = evaluate(codes, factors, metrics=list(metrics), seed=seed, floors=False, progress=False)
    told = {"images": images, "codes": codes.shape[1]}
    return [{**told, **row} for row in table.select("metric", "value", "low", "high").iter_rows(named=True)]


def as_table(parts: list[Scored]) -> polars.DataFrame:
    """Return all scores as one table."""
    rows = [
        {
            "data": part.data,
            "encoder": part.encoder,
            "weights": "random" if part.random_weights else "trained",
            "parameters": part.parameters,
            **row,
        }
        for part in parts
        for row in part.rows
    ]
    return in_order(polars.DataFrame(rows, schema=SCHEMA))


def in_order(table: polars.DataFrame) -> polars.DataFrame:
    """Return scores by data set, then by encoder in the order of `ALL`, trained weights first."""
    names = dict.fromkeys((*ALL, *table["encoder"]))
    place = polars.col("encoder").replace_strict({name: place for place, name in enumerate(names)})
    return table.sort("data", place, polars.col("weights") != "trained", maintain_order=True)


def rows_of(table: polars.DataFrame) -> Iterator[Row]:
    """Yield the published numbers, then ours."""
    for name, (parameters, mig) in PUBLISHED.items():
        yield Row(f"{name} ({parameters / 1e6:.0f} M), dsprites, {AS_PUBLISHED}: mig", mig, nan, nan, nan)
    for row in table.iter_rows(named=True):
        size = f" ({row['parameters'] / 1e6:.1f} M)" if row["parameters"] else ""
        random = ", random weights" if row["weights"] == "random" else ""
        what = f"{row['encoder']}{size}{random}, {row['data']}, {row['images']}: {row['metric']}"
        ours, low, high = (nan if row[key] is None else row[key] for key in ("value", "low", "high"))
        yield Row(what, None, ours, low, high)


def conclusions(table: polars.DataFrame) -> list[str]:
    """Return sentences: how the choice of images changes the ranking, and whether size and training help."""
    said = []
    for (data,), part in table.group_by("data", maintain_order=True):
        mig = part.filter(polars.col("metric") == "mig")
        networks = mig.filter(polars.col("parameters").is_null() | (polars.col("parameters") > 0))
        said += [f"{data}: {sentence}" for sentence in (*_ranking(networks), *_size(networks), *_training(networks))]
    return said


def _ranking(networks: polars.DataFrame) -> Iterator[str]:
    wide = networks.pivot(on="images", index=["encoder", "weights"], values="value", aggregate_function="first")
    for first in (AS_PUBLISHED, FIRST_ONLY):
        if {first, RANDOM} <= set(wide.columns):
            rho = _spearman(wide[first], wide[RANDOM])
            if rho is not None:
                yield (
                    f"{len(wide)} networks, trained and random ones, ranked by MIG ({first}) and ranked by MIG "
                    f"({RANDOM}): rank correlation {rho}."
                )


def _size(networks: polars.DataFrame) -> Iterator[str]:
    trained = networks.filter(polars.col("weights") == "trained").drop_nulls("parameters")
    for images in (RANDOM, PROJECTED):
        scores = trained.filter(polars.col("images") == images)
        rho = _spearman(scores["parameters"], scores["value"])
        if rho is not None:
            yield f"{len(scores)} trained networks, parameters and MIG ({images}): rank correlation {rho}."


def _training(networks: polars.DataFrame) -> Iterator[str]:
    """Yield sentences about networks in both versions; a difference is clear if the intervals do not overlap."""
    for images in (RANDOM, PROJECTED):
        scores = networks.filter(polars.col("images") == images)
        trained, random = (scores.filter(polars.col("weights") == weights) for weights in ("trained", "random"))
        both = trained.join(random, on="encoder", suffix="_random")
        if len(both):
            higher, clearly = both["value"] > both["value_random"], both["low"] > both["high_random"]
            lower = both["high"] < both["low_random"]
            yield (
                f"training raises MIG ({images}) for {higher.sum()} of {len(both)} networks, beyond both intervals for "
                f"{clearly.sum()}; it lowers MIG beyond both intervals for {lower.sum()}."
            )


def _spearman(first: polars.Series, second: polars.Series) -> str | None:
    """Return the rank correlation in words; None for fewer than three values, or if all values are equal."""
    if len(first) < FEWEST:
        return None
    given = first.to_numpy().astype(float), second.to_numpy()
    rho = rank_correlation(*given, list(range(len(first)))).correlation
    return None if rho is None else f"{rho:.2f}".replace("-", "−")
