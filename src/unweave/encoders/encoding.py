"""Images to codes: batches through an encoder, with a cache so that no image is encoded twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from unweave.data import Data, Dataset, as_dataset
from unweave.data.identity import data_identity
from unweave.data.wrapper import Wrapper
from unweave.encoders.cache import cache_folder, stores
from unweave.encoders.choosing import choose
from unweave.encoders.codes import Codes
from unweave.encoders.encoder import POOLED, POOLINGS, Encoder
from unweave.encoders.filling import errors_of, fill
from unweave.encoders.opening import Given, open_encoder
from unweave.encoders.projection import project
from unweave.errors import UsageError, called, unknown
from unweave.memory import keep_freed_memory
from unweave.plugins import is_builtin
from unweave.progress import OnProgress, reporting
from unweave.versions import versions

if TYPE_CHECKING:
    from unweave.encoders.preprocessing import Preprocessing

BATCH = 64
FORMAT = 2
"""Version of the computation of codes: a new one invalidates cached codes."""


def encode(
    encoder: Given,
    data: Data,
    *,
    samples: int = 10_000,
    indices: ArrayLike | str | None = None,
    layer: str | None = None,
    pooling: str = "mean",
    projection: str | None = None,
    width: int | None = None,
    batch: int = BATCH,
    seed: int = 0,
    cache: bool | str | Path = True,
    device: str = "auto",
    random_weights: bool = False,
    preprocessing: Preprocessing | None = None,
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
) -> Codes:
    """Encode images of a data set with any encoder.

    Parameters
    ----------
    encoder
        A name of `ENCODERS`; "timm:NAME"; "open-clip:NAME:pretrained=TAG"; the path of an .onnx file or of a run; a
        torch module; or a function from uint8 images (n, H, W, C) to codes. See `open_encoder`.
    data
        A data set, or the name or path of one.
    samples
        Number of images, without repeats; all, if the data set has fewer.
    indices
        None: random images, the same that `unweave evaluate` draws from the same seed. "first": the first ones, in
        order. Numbers: the images with these indices.
    layer
        One of `layers(encoder)`; by default its output, "pooled".
    pooling
        How maps and tokens of a layer become one row: "mean" over space or tokens, "max", "first" or "flatten".
    projection
        A projection to a common width, fitted to these codes: "pca", "ica" or "sparse". See `project`.
    width
        The width of the projection; by default 64, or all latents if there are fewer.
    batch
        Images per batch.
    seed
        Seed of the images, of random weights and of the projection.
    cache
        Whether to cache the codes of each image: True for the data folder, a path for another folder, False for no
        cache. Codes of functions, of your own modules and of your own data set classes are never cached, because
        their program may change.
    device
        Where networks run: "auto", "cpu", "cuda", "mps".
    random_weights
        Use the same network with random weights from the seed, as a control.
    preprocessing
        The input of your own module; by default pixels in [0, 1] at the images' own size.
    progress, on_progress
        Whether to show a progress bar (by default on a terminal, after two seconds), and a function to call instead.

    Returns
    -------
    Codes
        The arrays codes (n, d), factors (n, k) and indices (n,), and a record of how they were made.

    Examples
    --------
    >>> encode("pca", "xysquares:size=32", samples=100, width=5).codes.shape
    (100, 5)
    """
    name = POOLED if layer is None else layer
    return encode_layers(
        encoder,
        data,
        [name],
        samples=samples,
        indices=indices,
        pooling=pooling,
        projection=projection,
        width=width,
        batch=batch,
        seed=seed,
        cache=cache,
        device=device,
        random_weights=random_weights,
        preprocessing=preprocessing,
        progress=progress,
        on_progress=on_progress,
    )[name]


def encode_layers(
    encoder: Given,
    data: Data,
    layers: Sequence[str],
    *,
    samples: int = 10_000,
    indices: ArrayLike | str | None = None,
    pooling: str = "mean",
    projection: str | None = None,
    width: int | None = None,
    batch: int = BATCH,
    seed: int = 0,
    cache: bool | str | Path = True,
    device: str = "auto",
    random_weights: bool = False,
    preprocessing: Preprocessing | None = None,
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
) -> dict[str, Codes]:
    """Encode images once and return the codes of several layers, which `unweave.evaluate` can score together.

    Parameters
    ----------
    encoder, data
        As for `encode`.
    layers
        Names of `layers(encoder)`.
    samples, indices, pooling, projection, width, batch, seed, cache, device, random_weights, preprocessing
        As for `encode`; a projection is fitted to each layer.
    progress, on_progress
        As for `encode`.

    Returns
    -------
    dict[str, Codes]
        The codes by layer, of the same images.

    Examples
    --------
    >>> found = encode_layers("pixels", "xysquares:size=32", ["pooled"], samples=10)
    >>> {layer: codes.codes.shape for layer, codes in found.items()}
    {'pooled': (10, 3072)}
    """
    images = _with_images(as_dataset(data))
    _check(layers, pooling, batch, projection, width)
    options: dict[str, Any] = {"random_weights": random_weights, "seed": seed, "device": device}
    opened = open_encoder(encoder, preprocessing=preprocessing, **options)
    chosen, how = choose(len(images), samples, seed, indices)
    if projection is not None and opened.projection not in (None, projection):
        raise UsageError(f"{opened.name} is itself a projection; for {projection} of pixels, encode with 'pixels'")
    projection = projection or opened.projection
    if width is not None and projection is None:
        raise UsageError("width needs a projection: give projection 'pca', 'ica' or 'sparse' too")
    with reporting(on_progress, progress, "encoding") as told:
        with errors_of(opened, images):
            opened.check_layers(layers, images.shape)
        identity = _identity(opened, images)
        folder = None if cache is False else cache_folder() if cache is True else Path(cache)
        keep_freed_memory()
        with stores(folder, identity, layers, pooling, told) as kept:
            fill(opened, images, np.unique(chosen), kept, pooling, batch, told)
            found = {layer: store.read(chosen) for layer, store in kept.items()}
        factors = images.values(chosen) if images.is_labelled else None
        record = _record(opened, images, pooling, seed, how, len(chosen))
        return {
            layer: _projected(Codes(codes, factors, chosen, {**record, "layer": layer}), projection, width, seed, told)
            for layer, codes in found.items()
        }


def layers(
    encoder: Given,
    data: Data | None = None,
    *,
    pooling: str = "mean",
    device: str = "auto",
    random_weights: bool = False,
    preprocessing: Preprocessing | None = None,
) -> dict[str, int]:
    """Return the layers of an encoder by name, with the widths of their codes.

    Parameters
    ----------
    encoder
        As for `encode`.
    data
        The data set to encode; by default images of the size that the encoder was trained on, or 64.
    pooling
        How maps and tokens become one row.
    device, random_weights, preprocessing
        As for `encode`.

    Returns
    -------
    dict[str, int]
        Names and widths, in the order in which the network computes them; the last, "pooled", is its output.

    Examples
    --------
    >>> layers("pixels", "xysquares:size=32")
    {'pooled': 3072}
    """
    from unweave.encoders.network import width_of

    _check([POOLED], pooling, 1, None, None)
    opened = open_encoder(encoder, random_weights=random_weights, device=device, preprocessing=preprocessing)
    images = None if data is None else _with_images(as_dataset(data))
    shape = opened.takes if images is None else images.shape
    with errors_of(opened, images):
        return {name: width_of(given, pooling) for name, given in opened.shapes(shape).items()}


def _projected(found: Codes, projection: str | None, width: int | None, seed: int, on_progress: OnProgress) -> Codes:
    """Return the codes, projected if requested, with a record."""
    if projection is None:
        return Codes(found.codes, found.factors, found.indices, {**found.record, "projection": None})
    with called(f"{found.record['encoder']}, layer {found.record['layer']}"):
        codes, record = project(found.codes, projection, width, seed=seed, on_progress=on_progress)
    record = {**record, "from": found.codes.shape[1]}
    return Codes(codes, found.factors, found.indices, {**found.record, "projection": record})


def _identity(encoder: Encoder, data: Dataset) -> dict[str, Any] | None:
    """Return everything that decides the codes of an image; None if unknown, or if codes are the images."""
    if encoder.identity is None or not _is_builtin(data):
        return None
    about = {"encoder": encoder.identity, "preprocessing": encoder.preprocessing}
    return {"format": FORMAT, **about, "data": data_identity(data.description)}


def _is_builtin(data: Dataset) -> bool:
    """Return whether a data set, and everything it is made from, is unweave's; other classes may change."""
    return is_builtin(type(data)) and (not isinstance(data, Wrapper) or _is_builtin(data.base))


def _record(encoder: Encoder, data: Dataset, pooling: str, seed: int, how: str, samples: int) -> dict[str, Any]:
    return {
        "encoder": encoder.name,
        "weights": encoder.weights,
        "random_weights": encoder.random_weights,
        "parameters": encoder.parameters,
        "preprocessing": encoder.preprocessing,
        "pooling": pooling,
        "data": dict(data.description),
        "factors": list(data.factors.names),
        "images": how,
        "samples": samples,
        "seed": seed,
        "versions": versions(),
    }


def _with_images(data: Dataset) -> Dataset:
    if not data.has_images:
        raise UsageError(f"encoders take images, but '{data.name}' holds vectors")
    return data


def _check(layers: Sequence[str], pooling: str, batch: int, projection: str | None, width: int | None) -> None:
    from unweave.encoders.projection import PROJECTIONS

    if isinstance(layers, str) or not layers:
        raise UsageError("layers must be a non-empty list of names")
    if pooling not in POOLINGS:
        raise unknown("pooling", str(pooling), POOLINGS)
    if projection is not None and projection not in PROJECTIONS:
        raise unknown("projection", str(projection), PROJECTIONS)
    if not isinstance(batch, int | np.integer) or isinstance(batch, bool) or batch < 1:
        raise UsageError(f"batch must be a whole number, 1 or more, not {batch!r}")
    if width is not None and (not isinstance(width, int | np.integer) or isinstance(width, bool) or width < 1):
        raise UsageError(f"width must be a whole number, 1 or more, not {width!r}")
