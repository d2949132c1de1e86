"""Harder variants of black and white sets: colours, noise or pictures that no factor describes.

Every variant combines a layer of colour with the base image, whose bytes are 0 or 255, by one bit operation: `and`
shows the layer only in the object, `or` shows it around a white object, `xor` inverts it in the object. Bytes come from
integer arithmetic alone, so an image is the same on every platform.
"""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from numbers import Real
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from unweave.data.backdrops import read_folder, read_picture
from unweave.data.dataset import Dataset, Images, Option
from unweave.data.factors import Integers
from unweave.data.hashing import below, draw_bytes, draw_words
from unweave.data.statistics import Statistics
from unweave.data.wrapper import Wrapper
from unweave.errors import UsageError

SAMPLE = 20_011  # a prime, so that equal steps through the set reach all values of its fastest factors
THUMBNAIL = (350, 274)  # width and height


class Variant(Wrapper):
    """A layer of colour over a black and white set; its random numbers are hashes of (variant_seed, index).

    A subclass sets `combine` and writes `_layer`.
    """

    combine: ClassVar[np.ufunc]
    """The bit operation between the layer and the base image."""

    def __init__(self, base: Dataset, variant_seed: int, **options: Option) -> None:
        self._seed = _seed(variant_seed)
        super().__init__(base, **options, variant_seed=self._seed)
        if not base.has_images:
            raise UsageError(f"the variant '{self.suffix}' needs images, but {base.name} holds vectors")
        height, width, channels = base.shape
        if channels != 1 or not base.binary:
            has = f"{channels} channels" if channels != 1 else f"greys at {width}×{height}"
            raise UsageError(f"{self.name} needs black and white images with one channel, but {base.name} has {has}")
        self.shape = (height, width, 3)
        self.binary = False
        self.is_function = False

    def statistics(self) -> Statistics:
        """Return the mean and standard deviation of each channel, estimated from 20,011 evenly spaced images.

        Smaller sets are summed exactly.
        """
        return super().statistics()

    def _representatives(self) -> Integers:
        count = min(SAMPLE, len(self))
        return np.arange(count) * len(self) // count

    def _draw(self, indices: Integers) -> Images:
        masks = self.base.images(indices)[..., 0]
        layer = self._layer(indices)
        images = np.empty((len(indices), *self.shape), dtype=np.uint8)
        for channel in range(3):  # three long loops are four times as fast as a short one for each pixel
            self.combine(layer[..., channel], masks, out=images[..., channel])
        return images

    @abstractmethod
    def _layer(self, indices: Integers) -> Images:
        """Return the colours (n, H, W, 3) that go with these images; H and W may be 1."""


class Color(Variant):
    """The object in a random colour, on black: red, green and blue uniform in (0.5, 1) [Locatello2019]_."""

    suffix = "color"
    combine = np.bitwise_and

    def __init__(self, base: Dataset, *, variant_seed: int = 0) -> None:
        super().__init__(base, variant_seed)

    def _layer(self, indices: Integers) -> Images:
        colours = np.uint8(128) + (draw_bytes(self._seed, indices, 3) >> np.uint8(1))
        return colours.reshape(-1, 1, 1, 3)


class Noisy(Variant):
    """The object in white, on noise: every pixel and channel around it uniform in (0, 1) [Locatello2019]_."""

    suffix = "noisy"
    combine = np.bitwise_or

    def __init__(self, base: Dataset, *, variant_seed: int = 0) -> None:
        super().__init__(base, variant_seed)

    def _layer(self, indices: Integers) -> Images:
        return draw_bytes(self._seed, indices, math.prod(self.shape)).reshape(-1, *self.shape)


class Scream(Variant):
    """A random crop of a picture, averaged with a random colour and inverted in the object [Locatello2019]_.

    The picture is scaled down to fit into 350×274, if it does not. In the paper it is "The Scream".
    """

    suffix = "scream"
    combine = np.bitwise_xor

    def __init__(self, base: Dataset, *, image: str = "", variant_seed: int = 0) -> None:
        path = _path(self.suffix, "image", image)
        super().__init__(base, variant_seed, image=str(path))
        picture = read_picture(path)
        picture.thumbnail(THUMBNAIL)
        height, width, _ = self.shape
        if picture.width < width or picture.height < height:
            size = f"{picture.width}×{picture.height} within {'×'.join(map(str, THUMBNAIL))}"
            raise UsageError(f"'{path}' is {size}, too small to cut {width}×{height} out of it")
        self._picture = np.asarray(picture).reshape(picture.height, -1)  # a row's pixels and channels in one axis

    def _layer(self, indices: Integers) -> Images:
        height, width, _ = self.shape
        windows = sliding_window_view(self._picture, (height, 3 * width))[:, ::3]
        words = draw_words(self._seed, indices, 5)
        crops = windows[below(words[:, 0], windows.shape[0]), below(words[:, 1], windows.shape[1])]
        rows = np.tile((words[:, 2:] >> 56).astype(np.uint8), width)[:, None]  # a row of pixels in the random colour
        means = (crops | rows) - ((crops ^ rows) >> np.uint8(1))  # half of their sum, rounded up, within 8 bits
        return means.reshape(-1, *self.shape)


class Pictures(Variant):
    """A random picture from a folder for each image; `visibility` is how much of it can be seen.

    All pictures are kept in memory at the set's image size: 3 × height × width bytes each.
    """

    def __init__(self, base: Dataset, *, folder: str = "", visibility: float = 1.0, variant_seed: int = 0) -> None:
        path = _path(self.suffix, "folder", folder)
        if isinstance(visibility, bool) or not isinstance(visibility, Real) or not 0 <= visibility <= 1:
            raise UsageError(f"visibility must be a number between 0 and 1, not {visibility!r}")
        super().__init__(base, variant_seed, folder=str(path), visibility=float(visibility))
        self._pictures = read_folder(path, *self.shape[:2])
        faded = self._fade(float(visibility))
        for picture in self._pictures:  # all at once would need nine times the memory
            picture[:] = faded[picture]

    def _layer(self, indices: Integers) -> Images:
        return self._pictures[below(draw_words(self._seed, indices, 1)[:, 0], len(self._pictures))]

    @staticmethod
    @abstractmethod
    def _fade(visibility: float) -> Images:
        """Return the new value of each of the 256 values of a byte."""


class PicturesBehind(Pictures):
    """The object in white, on a random picture from a folder that fades to black [Michlo2022]_, section 7.3.

    background = visibility · picture
    """

    suffix = "images-bg"
    combine = np.bitwise_or

    @staticmethod
    def _fade(visibility: float) -> Images:
        return np.rint(visibility * np.arange(256)).astype(np.uint8)


class PicturesWithin(Pictures):
    """A random picture from a folder inside the object, fading to white, on black [Michlo2022]_, section 7.3.

    object = visibility · picture + (1 - visibility) · white
    """

    suffix = "images-fg"
    combine = np.bitwise_and

    @staticmethod
    def _fade(visibility: float) -> Images:
        # The same sum with a single product: a second one could be rounded differently on another machine.
        return (255 - np.rint(visibility * np.arange(255, -1, -1))).astype(np.uint8)


def _seed(value: object) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= value < 2**63:
        return int(value)
    raise UsageError(f"variant_seed must be an integer from 0 to 2^63 - 1, not {value!r}")


def _path(suffix: str, option: str, value: object) -> Path:
    """Return a path that means the same from every working directory."""
    if value == "":
        raise UsageError(f"a data set that ends in -{suffix} needs the option {option}=PATH")
    return Path(os.path.abspath(os.path.expanduser(str(value))))
