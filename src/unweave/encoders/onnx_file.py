"""Networks in ONNX files as encoders, run by onnxruntime; their outputs are the layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unweave.encoders.encoder import POOLED, POOLINGS, SIDE, Encoder, Shape
from unweave.encoders.network import pooled
from unweave.encoders.preprocessing import PIXELS, Preprocessing
from unweave.encoders.weights import digest_of_file, how_to_install
from unweave.errors import UsageError, unknown

FLOATS = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64}
BYTES = "tensor(uint8)"


class OnnxFile(Encoder):
    """A network in an ONNX file.

    Its input is one array of images, channels first or last. If the file fixes height and width, images are resized to
    them; a fixed batch size is respected. Outputs with four dimensions have their channels where the input has them.
    Float inputs are pixels in [0, 1] unless `pixels` says otherwise; byte inputs are passed unchanged.

    Parameters
    ----------
    name
        Its name in records.
    path
        The file.
    size
        Height and width to resize images to, if the file does not fix them.
    pixels
        The range of the pixels, one of `PIXELS`: "unit", "signed", "imagenet" or "bytes".
    """

    def __init__(self, name: str, path: Path, size: int | None = None, pixels: str = "unit") -> None:
        if pixels not in PIXELS:
            raise unknown("range of pixels", pixels, PIXELS)
        self.name = name
        self._session = _session(path)
        self._input = self._one_input()
        self._last = _channels_last(self._input.shape, path)
        fixed = self._fixed_size(path)
        if fixed is not None and size is not None and size != fixed:
            raise UsageError(f"'{path}' takes images of {fixed} × {fixed} pixels only; leave out size={size}")
        channels = self._input.shape[3 if self._last else 1]
        self._preprocessing = replace(
            Preprocessing(**PIXELS[pixels]),
            size=fixed or size,
            channels=_fixed(channels),
        )
        self.takes = (fixed or size or SIDE, fixed or size or SIDE, self._preprocessing.channels or 3)
        self._batch = _fixed(self._input.shape[0])
        self.preprocessing = self._preprocessing.record | {"bytes": self._input.type == BYTES}
        self.weights = digest_of_file(path)
        self.identity = self.weights
        self._outputs = [output.name for output in self._session.get_outputs()]

    def codes(self, images: np.ndarray, layers: Sequence[str], pooling: str) -> dict[str, np.ndarray]:
        """Return by output the codes of images."""
        names = {layer: self._outputs[0] if layer == POOLED else layer for layer in layers}
        found = self._run(list(names.values()), images)
        return {
            layer: self._pooled(values, POOLINGS[0] if layer == POOLED else pooling)
            for layer, values in zip(layers, found, strict=True)
        }

    def shapes(self, shape: Shape) -> dict[str, Shape]:
        """Return the outputs of the file, maps as (C, H, W), and the first of them as "pooled"."""
        found = self._run(self._outputs, np.zeros((1, *shape), np.uint8))
        shapes = {name: self._shape(values) for name, values in zip(self._outputs, found, strict=True)}
        return {**shapes, POOLED: self._pooled(found[0], POOLINGS[0]).shape[1:]}

    def _run(self, names: Sequence[str], images: np.ndarray) -> list[np.ndarray]:
        """Return outputs for images, in batches of the size that the file fixes; blank images fill the last batch."""
        batch = self._batch or len(images)
        parts = []
        for start in range(0, len(images), batch):
            given = images[start : start + batch]
            full = np.concatenate([given, np.zeros((batch - len(given), *images.shape[1:]), images.dtype)])
            found = self._session.run(list(names), {self._input.name: self._given(full)})
            parts.append([np.asarray(values, np.float32)[: len(given)] for values in found])
        return [np.concatenate(values) for values in zip(*parts, strict=True)]

    def _pooled(self, values: np.ndarray, pooling: str) -> np.ndarray:
        """Return an output as codes (n, d); maps have their channels where the input has them."""
        return pooled(torch.from_numpy(values), pooling, "NHWC" if self._last else None).numpy()

    def _shape(self, values: np.ndarray) -> Shape:
        shape = values.shape[1:]
        return (shape[2], *shape[:2]) if self._last and len(shape) == 3 else shape

    def _given(self, images: np.ndarray) -> np.ndarray:
        """Return images in the form that the file takes."""
        if self._input.type == BYTES:
            plain = replace(self._preprocessing, mean=(0.0,), std=(1.0,))
            x = (plain(images) * 255).round().to(torch.uint8)
        else:
            x = self._preprocessing(images)
        x = x.permute(0, 2, 3, 1) if self._last else x
        return np.ascontiguousarray(x.numpy()).astype(FLOATS.get(self._input.type, np.uint8), copy=False)

    def _one_input(self) -> Any:
        inputs = self._session.get_inputs()
        if len(inputs) != 1 or len(inputs[0].shape) != 4 or inputs[0].type not in (*FLOATS, BYTES):
            given = ", ".join(f"{item.name} {item.shape} {item.type}" for item in inputs)
            raise UsageError(f"{self.name} takes {given}; it must take one array of images with four dimensions")
        return inputs[0]

    def _fixed_size(self, path: Path) -> int | None:
        """Return the height and width that the file fixes, if it does."""
        sides = self._input.shape[1:3] if self._last else self._input.shape[2:]
        if not all(_fixed(side) for side in sides):
            return None
        if sides[0] != sides[1]:
            raise UsageError(f"'{path}' takes images of {sides[0]} × {sides[1]} pixels; only square ones are supported")
        return sides[0]


def _session(path: Path) -> Any:
    """Open a file with onnxruntime, with as many threads as torch."""
    if not path.is_file():
        raise UsageError(f"there is no file '{path}'")
    try:
        import onnxruntime
    except ImportError as error:
        raise UsageError(f"'{path.name}' needs onnxruntime; {how_to_install('onnx')}") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 4  # errors are raised and need not be printed too
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its own classes of errors, one for each status
        raise UsageError(f"'{path}' is not a readable ONNX file") from error


def _fixed(side: Any) -> int | None:
    """Return a side that the file fixes; an open one is a name or None."""
    return side if isinstance(side, int) and side > 0 else None


def _channels_last(shape: Sequence[Any], path: Path) -> bool:
    """Return whether channels come last: if the last dimension is 1 or 3 and the second is not."""
    if shape[1] in (1, 3):
        return False
    if shape[3] in (1, 3):
        return True
    if all(isinstance(side, int) for side in shape[1:]):
        raise UsageError(f"'{path}' takes arrays {list(shape)}, but one dimension must be 1 or 3 channels")
    return False
