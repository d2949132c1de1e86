"""ONNX files as encoders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unweave.encoders import encode, layers
from unweave.errors import UsageError

from .onnx_bytes import write_maps, write_onnx

pytest.importorskip("onnxruntime")
FLOAT, BYTES = 1, 2


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_gives_its_own_codes(here, data):
    write_onnx(here / "mean.onnx", FLOAT, ("batch", 3, "height", "width"))
    found = encode("mean.onnx", data, samples=20, batch=7)
    means = data.images(found.indices).mean((1, 2)) / 255
    np.testing.assert_allclose(found.codes, means, rtol=1e-5)
    assert (found.record["encoder"], found.record["preprocessing"]["size"]) == ("mean.onnx", None)
    standardised = encode("onnx:mean.onnx:pixels=imagenet,size=8", data, samples=20)
    expected = (means - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    np.testing.assert_allclose(standardised.codes, expected, rtol=1e-4, atol=1e-5)
    assert layers("mean.onnx", data) == {"codes": 3, "pooled": 3}
    assert np.array_equal(encode("mean.onnx", data, samples=20, layer="codes").codes, found.codes)


def test_bytes_and_channels_behind_are_given_as_the_file_takes_them(here, data):
    write_onnx(here / "bytes.onnx", BYTES, ("batch", "height", "width", 3))
    found = encode(here / "bytes.onnx", data, samples=20)
    np.testing.assert_allclose(found.codes, data.images(found.indices).mean((1, 2)), rtol=1e-5)


@pytest.mark.parametrize("shape", [("batch", "height", "width", 3), ("batch", 3, "height", "width")])
def test_maps_have_their_channels_where_the_images_have_them(here, data, shape):
    write_maps(here / "maps.onnx", shape)
    found = encode("maps.onnx", data, samples=10, layer="maps", pooling="max", cache=False)
    images = data.images(found.indices) / 255
    np.testing.assert_allclose(found.codes, images.max((1, 2)), rtol=1e-6)
    assert layers("maps.onnx", data) == {"maps": 3, "pooled": 3}
    assert layers("maps.onnx", data, pooling="flatten") == {"maps": 192, "pooled": 3}


def test_the_output_is_averaged_whatever_the_pooling_of_layers(here, data):
    write_maps(here / "maps.onnx", ("batch", 3, "height", "width"))
    for pooling in ("mean", "max", "flatten"):
        found = encode("maps.onnx", data, samples=10, pooling=pooling, cache=False)
        np.testing.assert_allclose(found.codes, data.images(found.indices).mean((1, 2)) / 255, rtol=1e-5)


@pytest.mark.parametrize("size", [1, 4])
def test_a_file_of_a_fixed_batch_is_given_so_many_images_at_once(here, data, size):
    write_maps(here / "fixed.onnx", (size, 3, 8, 8))
    found = encode("fixed.onnx", data, samples=10, batch=7, cache=False)
    np.testing.assert_allclose(found.codes, data.images(found.indices).mean((1, 2)) / 255, rtol=1e-5)
    assert layers("fixed.onnx", data) == {"maps": 3, "pooled": 3}


@pytest.mark.parametrize("shape", [("batch", 1, 8, 8), ("batch", 1, "height", "width"), (1, 3, 16, 16)])
def test_layers_are_listed_at_the_shape_that_a_file_takes(here, shape):
    write_maps(here / "own.onnx", shape)
    assert layers("own.onnx") == {"maps": shape[1], "pooled": shape[1]}


def test_what_the_runtime_refuses_is_one_line(here, data):
    write_maps(here / "high.onnx", ("batch", 3, 6, "width"))  # one side alone is fixed: images are not resized
    with pytest.raises(UsageError, match=r"high.onnx cannot encode images of shape \(8, 8, 3\)"):
        encode("high.onnx", data, samples=4, cache=False)


def test_images_are_resized_to_the_size_that_a_file_fixes(here, data):
    write_onnx(here / "fixed.onnx", FLOAT, ("batch", 3, 4, 4))
    found = encode("fixed.onnx", data, samples=10)
    assert found.record["preprocessing"]["size"] == 4
    # A triangle about each of 4 × 4 places leaves the edges out a little: near the mean, and not at it.
    np.testing.assert_allclose(found.codes, data.images(found.indices).mean((1, 2)) / 255, atol=0.05)
    with pytest.raises(UsageError, match="takes images of 4 × 4 pixels only; leave out size=8"):
        encode("fixed.onnx:size=8", data, samples=10)


@pytest.mark.parametrize(
    ("shape", "complaint"),
    [
        (("batch", 3, 4, 8), "takes images of 4 × 8 pixels; only square ones are supported"),
        ((1, 5, 4, 4), "but one dimension must be 1 or 3 channels"),
    ],
)
def test_files_of_other_arrays_are_refused(here, data, shape, complaint):
    write_onnx(here / "other.onnx", FLOAT, shape)
    with pytest.raises(UsageError, match=complaint):
        encode("other.onnx", data, samples=4)


def test_what_is_no_onnx_file_is_one_line(here, data):
    Path("text.onnx").write_text("this is no network")
    Path("empty.onnx").touch()
    for name in ("text.onnx", "empty.onnx"):
        with pytest.raises(UsageError, match=f"'{name}' is not a readable ONNX file"):
            encode(name, data, samples=4)
    write_onnx(here / "mean.onnx", FLOAT, ("batch", 3, "height", "width"))
    with pytest.raises(UsageError, match="without a random control"):
        encode("mean.onnx", data, samples=4, random_weights=True)
    with pytest.raises(UsageError, match="no range of pixels is called 'units'; did you mean 'unit'"):
        encode("mean.onnx:pixels=units", data, samples=4)


def test_a_missing_runtime_is_named_by_its_extra(here, data, monkeypatch):
    write_onnx(here / "mean.onnx", FLOAT, ("batch", 3, "height", "width"))
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(UsageError, match=r"needs onnxruntime; install the extra: pip install 'unweave\[onnx\]'"):
        encode("mean.onnx", data, samples=4)
