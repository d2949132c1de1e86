"""Images to codes: which images, which layer, nothing twice, and what is recorded."""

from __future__ import annotations

import json
from unittest.mock import Mock

import numpy as np
import polars
import pytest
import torch

import unweave
from unweave.data.restricted import Restricted
from unweave.encoders import Codes, Preprocessing, encode, encode_layers, layers, open_encoder
from unweave.encoders.cache import cache_folder
from unweave.encoders.choosing import choose
from unweave.encoders.network import Network
from unweave.errors import UsageError
from unweave.scoring import SHARED, _draw


def reference(module, images, size=None):
    """What a module gives for images in [0, 1], one at a time."""
    module.eval()
    with torch.no_grad():
        x = [torch.tensor(image).permute(2, 0, 1).float()[None] / 255 for image in images]
        return torch.cat([module(one) for one in x]).numpy()


def cached(module):
    """The encoder of a module whose weights decide its codes, which are cached."""
    return Network("Tiny", module, Preprocessing(channels=None), source="test")


def test_a_module_gives_its_own_codes_and_stays_in_its_mode(tiny, data):
    tiny.train()
    tiny.relu.eval()
    found = encode(tiny, data, samples=20, batch=7, cache=False)
    assert tiny.training
    assert not tiny.relu.training
    np.testing.assert_allclose(found.codes, reference(tiny, data.images(found.indices)), rtol=1e-5, atol=1e-6)
    assert found.factors is not None
    assert np.array_equal(found.factors, data.values(found.indices))
    assert found.codes.dtype == np.float32
    assert len(set(found.indices.tolist())) == 20


def test_a_layer_is_read_before_the_next_one_changes_it_in_place(tiny, data):
    found = encode_layers(tiny, data, ["conv", "relu", "pooled"], samples=10, cache=False)
    x = torch.tensor(data.images(found["conv"].indices)).permute(0, 3, 1, 2).float() / 255
    with torch.no_grad():
        maps = tiny.conv(x)
    np.testing.assert_allclose(found["conv"].codes, maps.mean((2, 3)), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found["relu"].codes, maps.clamp(min=0).mean((2, 3)), rtol=1e-4, atol=1e-6)
    assert (found["conv"].codes < 0).any()
    for pooling, expected in (("max", maps.amax((2, 3))), ("flatten", maps.flatten(1)), ("first", maps[:, :, 0, 0])):
        other = encode(tiny, data, samples=10, layer="conv", pooling=pooling, cache=False)
        np.testing.assert_allclose(other.codes, expected, rtol=1e-4, atol=1e-6)
        assert other.record["pooling"] == pooling
    assert layers(tiny, data) == {"conv": 4, "relu": 4, "dropout": 4, "linear": 5, "pooled": 5}
    assert layers(tiny, data, pooling="flatten")["conv"] == 4 * 64


def test_no_image_is_encoded_twice(data, counting, tiny, monkeypatch, tmp_path):
    given = []
    forward = type(tiny).forward
    monkeypatch.setattr(type(tiny), "forward", lambda self, x: (given.append(len(x)), forward(self, x))[1])
    few = encode(cached(tiny), data, samples=10, cache=tmp_path)
    assert sum(given) == 10
    many = encode(cached(tiny), data, samples=30, cache=tmp_path)
    assert sum(given) == 30
    assert np.array_equal(many.indices[:10], few.indices)
    assert np.array_equal(many.codes[:10], few.codes)
    again = encode(cached(tiny), data, indices=[5, 3, 5, *many.indices[:4]], cache=tmp_path)
    new = len({3, 5} - set(many.indices.tolist()))
    assert sum(given) == 30 + new
    assert np.array_equal(again.codes[0], again.codes[2])
    assert np.array_equal(again.codes[3:], many.codes[:4])
    with torch.no_grad():
        tiny.linear.bias += 1
    other = encode(cached(tiny), data, samples=10, cache=tmp_path)
    assert sum(given) == 40 + new
    np.testing.assert_allclose(other.codes, few.codes + 1, rtol=1e-5, atol=1e-5)
    encode(cached(tiny), data, samples=10, layer="conv", cache=tmp_path)
    assert sum(given) == 50 + new + 3  # and three blank ones, to list the layers
    encode(counting, data, indices=[1, 1, 2], cache=tmp_path)
    assert counting.images == 2


def test_an_interruption_loses_no_part(tiny, data, tmp_path, monkeypatch):
    monkeypatch.setattr("unweave.encoders.cache.PART_ROWS", 8)

    def stop(what, done, total):
        if done >= 24:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode(cached(tiny), data, samples=40, batch=4, cache=tmp_path, on_progress=stop)
    seen = []
    found = encode(cached(tiny), data, samples=40, batch=4, cache=tmp_path, on_progress=lambda *told: seen.append(told))
    assert seen[0] == ("encoding", 24, 40)
    assert seen[-1] == ("encoding", 40, 40)
    np.testing.assert_allclose(found.codes, reference(tiny, data.images(found.indices)), rtol=1e-5, atol=1e-6)
    parts = sorted(tmp_path.rglob("*.npz"))
    assert len(parts) >= 4
    parts[0].write_bytes(parts[0].read_bytes()[:50])  # a damaged part is made again
    seen.clear()
    repaired = encode(
        cached(tiny), data, samples=40, batch=4, cache=tmp_path, on_progress=lambda *told: seen.append(told)
    )
    assert seen[0][1] < 40
    np.testing.assert_allclose(repaired.codes, found.codes, rtol=1e-5, atol=1e-6)


def test_a_part_with_one_wrong_byte_is_made_again(tiny, data, tmp_path):
    found = encode(cached(tiny), data, samples=40, cache=tmp_path)
    (part,) = tmp_path.rglob("*.npz")
    content = bytearray(part.read_bytes())
    content[content.index(found.codes[np.argsort(found.indices)].tobytes()) + 5] ^= 1
    part.write_bytes(content)
    left_over = part.with_name(f".{part.name}.0123456789ab.tmp")  # of a process that was killed
    left_over.touch()
    again = encode(cached(tiny), data, samples=40, cache=tmp_path)
    assert np.array_equal(again.codes, found.codes)
    assert not part.exists()
    assert not left_over.exists()
    assert len(list(tmp_path.rglob("*.npz"))) == 1


def test_code_of_yours_is_never_cached(tiny, data, tmp_path, monkeypatch):
    encode(tiny, data, samples=10, cache=tmp_path)
    assert list(tmp_path.iterdir()) == []
    restricted = Restricted(data, keep="a=0")
    with monkeypatch.context() as patch:
        patch.setattr(type(data), "__module__", "mine")
        encode(cached(tiny), data, samples=10, cache=tmp_path)
        encode(cached(tiny), restricted, samples=10, cache=tmp_path)  # made from one of yours
    assert list(tmp_path.iterdir()) == []
    encode(cached(tiny), restricted, samples=10, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def test_codes_are_kept_in_the_folder_of_data_sets(tiny, data):
    encode(cached(tiny), data, samples=3)
    records = [json.loads(path.read_text()) for path in cache_folder().rglob("identity.json")]
    assert [record["data"]["digest"] for record in records if "digest" in record["data"]]


@pytest.mark.parametrize(("images", "samples"), [(1000, 40), (1000, 51), (30, 100), (737_280, 10_000)])
def test_images_are_those_that_evaluate_draws_each_once(images, samples):
    found, how = choose(images, samples, 3)
    drawn, *_ = _draw(images, min(samples, images), 2 if images > samples else 0, 0, 3)
    drawn = drawn[:samples]
    expected = list(dict.fromkeys(drawn.tolist()))
    assert how == "random"
    assert len(found) == len(set(found.tolist())) == min(samples, images)
    shared = found[: len(expected)] if samples <= SHARED * images else found
    assert shared.tolist() == expected
    assert not np.array_equal(choose(images, samples, 4)[0], found)
    assert choose(images, samples, 3, "first")[0].tolist() == list(range(min(samples, images)))


def test_random_weights_are_another_network_from_the_seed(tiny, data):
    plain = encode(tiny, data, samples=10, cache=False)
    control = encode(tiny, data, samples=10, random_weights=True, cache=False)
    again = encode(tiny, data, samples=10, random_weights=True, cache=False)
    other = encode(tiny, data, indices=plain.indices, seed=1, random_weights=True, cache=False)
    assert np.array_equal(control.codes, again.codes)
    assert not np.allclose(control.codes, plain.codes)
    assert not np.allclose(control.codes, other.codes)
    assert (control.record["random_weights"], plain.record["random_weights"]) == (True, False)
    assert control.record["weights"] != plain.record["weights"]
    tiny.scale = torch.nn.Parameter(torch.ones(1))
    with pytest.raises(UsageError, match="'scale' of Tiny cannot be initialised again"):
        encode(tiny, data, samples=10, random_weights=True, cache=False)


def test_a_file_holds_what_was_encoded(tiny, data, tmp_path):
    found = encode(tiny, data, samples=10, layer="conv", projection="pca", width=2, cache=False)
    found.save(tmp_path / "codes.npz")
    read = Codes.read(tmp_path / "codes.npz")
    assert np.array_equal(read.codes, found.codes)
    assert np.array_equal(read.indices, found.indices)
    assert read.factors is not None
    assert np.array_equal(read.factors, data.values(found.indices))
    assert read.record == json.loads(json.dumps(found.record))
    assert (read.record["encoder"], read.record["layer"], read.record["factors"]) == ("Tiny", "conv", ["a", "b"])
    assert read.record["parameters"] == sum(weight.numel() for weight in tiny.parameters())
    assert (read.record["projection"]["kind"], read.record["projection"]["from"]) == ("pca", 4)
    with pytest.raises(UsageError, match="already exists"):
        found.save(tmp_path / "codes.npz")
    (tmp_path / "broken.npz").write_bytes((tmp_path / "codes.npz").read_bytes()[:200])
    for name, complaint in (("broken.npz", "is not a complete file"), ("missing.npz", "there is no file")):
        with pytest.raises(UsageError, match=complaint):
            Codes.read(tmp_path / name)
    before = (tmp_path / "codes.npz").read_bytes()
    found.save(tmp_path / "codes.npz", overwrite=True)
    assert (tmp_path / "codes.npz").read_bytes() == before


def test_images_without_factors_are_encoded(tiny, data, tmp_path):
    found = encode(tiny, data.images(range(12)), samples=10, cache=False)
    found.save(tmp_path / "codes.npz")
    assert found.factors is None
    assert Codes.read(tmp_path / "codes.npz").factors is None


def test_several_layers_are_scored_as_one_table(tiny, data):
    found = encode_layers(tiny, data, ["conv", "pooled"], samples=40, cache=False)
    table = unweave.evaluate(found, found["conv"].factors, "mig", floors=False, intervals=False)
    alone = unweave.evaluate(found["conv"].codes, found["conv"].factors, "mig", floors=False, intervals=False)
    assert table["key"].to_list() == ["conv", "pooled"]
    assert table.filter(polars.col("key") == "conv")["value"].to_list() == alone["value"].to_list()


def test_preprocessing_resizes_repeats_grey_and_normalises():
    images = np.zeros((2, 4, 4, 1), np.uint8)
    images[:, 2:] = 255
    x = Preprocessing(size=2, mean=(0.5, 0.0, 1.0), std=(0.5, 1.0, 2.0), interpolation="nearest")(images)
    assert x.shape == (2, 3, 2, 2)
    assert x[0, :, 0, 0].tolist() == [-1.0, 0.0, -0.5]
    assert x[0, :, 1, 1].tolist() == [1.0, 1.0, 0.0]
    half = Preprocessing(size=1)(images)
    assert half[0, 0].item() == pytest.approx(0.5, abs=0.01)
    bicubic = Preprocessing(size=9, interpolation="bicubic")(images)
    assert (bicubic.min(), bicubic.max()) == (0, 1)  # a cubic without a limit overshoots
    with pytest.raises(UsageError, match="takes 3 channels, but the images have 4"):
        Preprocessing()(np.zeros((1, 4, 4, 4), np.uint8))


class Fixed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3 * 16 * 16, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x.flatten(1))


def test_an_encoder_of_another_size_is_refused_or_resized(data):
    with pytest.raises(UsageError, match=r"Fixed cannot encode images of shape \(8, 8, 3\) .*Preprocessing\(size"):
        encode(Fixed(), data, samples=4, cache=False)
    found = encode(Fixed(), data, samples=4, cache=False, preprocessing=Preprocessing(size=16))
    assert found.codes.shape == (4, 2)
    assert found.record["preprocessing"]["size"] == 16


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        (lambda images: np.full((len(images), 2), np.nan), "gives NaN or infinite codes"),
        (lambda images: np.zeros((3, 2)), r"must return codes \(n, d\) or tokens \(n, T, d\) of 8 images"),
        (lambda images: images, r"not an array of shape \(8, 8, 8, 3\)"),
        (lambda images: np.zeros((len(images), len(images))), "gave codes of width 8, then of width 2"),
        (lambda images: 1 / 0, r"cannot encode images .*\(division by zero\); try it on one image"),
        (lambda images: np.array([["a"]] * len(images)), "must return numbers"),
    ],
)
def test_bad_codes_are_refused(function, complaint, data):
    with pytest.raises(UsageError, match=complaint):
        encode(function, data, samples=10, batch=8)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"layer": "convv"}, "no layer of Tiny is called 'convv'; did you mean 'conv'"),
        ({"pooling": "min"}, "no pooling is called 'min'"),
        ({"projection": "pcs"}, "no projection is called 'pcs'; did you mean 'pca'"),
        ({"width": 3}, "width needs a projection"),
        ({"projection": "pca", "width": 50}, "cannot make 50 columns from 10 rows with 5 columns; at most 5"),
        ({"projection": "pca", "width": 0}, "width must be a whole number"),
        ({"batch": 0}, "batch must be a whole number"),
        ({"samples": 1}, "samples must be a whole number"),
        ({"indices": [40]}, "indices must be from 0 to 39"),
        ({"indices": "last"}, "indices must be numbers or 'first'"),
        ({"indices": [0.5]}, "indices must be a list of whole numbers"),
        ({"device": "nowhere"}, "the device 'nowhere' is not available"),
    ],
)
def test_wrong_options_are_one_line(options, complaint, tiny, data):
    with pytest.raises(UsageError, match=complaint):
        encode(tiny, data, **{"samples": 10, "cache": False, **options})


def test_a_projection_is_not_projected_again(data):
    with pytest.raises(UsageError, match="pca is itself a projection; for ica of pixels, encode with 'pixels'"):
        encode("pca", data, samples=10, projection="ica", width=2)


def test_a_run_counts_its_encoder_and_names_itself(tmp_path):
    run = unweave.train("vae", data="xysquares:size=32", net="mlp", width=0.05, steps=1, out=tmp_path / "run")
    opened = open_encoder(run)
    heads = (*run.model.encoder.parameters(), *run.model.bottleneck.parameters())
    assert opened.parameters == sum(weight.numel() for weight in heads)
    assert opened.parameters is not None
    assert opened.parameters < sum(weight.numel() for weight in run.model.parameters())
    with pytest.raises(UsageError, match=r"run: images must be uint8 of shape \(n, 32, 32, 3\)"):
        encode(run, "shapes2d:size=32", samples=4)


def test_codes_bring_their_factors(tiny, data):
    found = encode(tiny, data, samples=20, cache=False)
    given = unweave.evaluate(found, found.factors, "mig", intervals=False).drop("seconds")
    assert unweave.evaluate(found, metrics="mig", intervals=False).drop("seconds").equals(given)
    several = encode_layers(tiny, data, ["conv", "pooled"], samples=20, cache=False)
    assert unweave.evaluate(several, metrics="mig", intervals=False)["key"].to_list() == ["conv", "pooled"]
    other = encode(tiny, data, samples=20, seed=1, cache=False)
    with pytest.raises(UsageError, match="codes of different samples"):
        unweave.evaluate({"a": found, "b": other}, metrics="mig")


@pytest.mark.parametrize("when", ["at first", "later"])
def test_what_cannot_be_kept_is_said_and_goes_on(when, tiny, data, tmp_path, monkeypatch):
    if when == "at first":
        (tmp_path / "codes").write_text("a file in the place of the folder")
    else:
        full = OSError(28, "No space left on device")
        monkeypatch.setattr("unweave.encoders.cache.write_atomically", Mock(side_effect=full))
    with pytest.warns(UserWarning, match="codes cannot be cached in .*will be computed again next time"):
        found = encode(cached(tiny), data, samples=20, batch=4, cache=tmp_path / "codes")
    np.testing.assert_allclose(found.codes, reference(tiny, data.images(found.indices)), rtol=1e-5, atol=1e-6)


def test_vectors_are_refused(tiny):
    with pytest.raises(UsageError, match="encoders take images, but 'table' holds vectors"):
        encode(tiny, np.random.default_rng(0).normal(size=(10, 4)), samples=4)
