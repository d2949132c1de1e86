"""Learnt losses: a file, all that can be wrong with one, and runs that know theirs by its content."""

from __future__ import annotations

import json
import os
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

import unweave
from unweave.errors import UsageError
from unweave.losses import content_name, full_name, loss_of
from unweave.losses.autoencoder import autoencoder_depth, initial_autoencoder
from unweave.losses.blur import fourier_blur
from unweave.losses.learnt import _loaded
from unweave.losses.loss_file import LARGEST, LossFile, parse_loss_file
from unweave.methods import VAE
from unweave.study.grid import read_grid
from unweave.training.resolve import resolve_loss


def kernel_file(radius: int = 3, weight: float = 1.0, extent: str = "same") -> LossFile:
    kernel = torch.rand(2 * radius + 1, 2 * radius + 1, generator=torch.Generator().manual_seed(0))
    return LossFile("kernel", {"kernel": kernel}, weight, {"data": {"name": "xysquares"}}, extent)


def autoencoder_file(channels: int = 3, side: int = 32) -> LossFile:
    generator = torch.Generator().manual_seed(0)
    return LossFile("autoencoder", initial_autoencoder(channels, autoencoder_depth(side, side), generator))


def images(count: int = 2, channels: int = 3, side: int = 32) -> Tensor:
    return torch.rand(count, channels, side, side, generator=torch.Generator().manual_seed(1))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder with a kernel and an autoencoder in it."""
    monkeypatch.chdir(tmp_path)
    Path("my.loss").write_bytes(kernel_file().to_bytes())
    Path("full.loss").write_bytes(kernel_file(extent="full").to_bytes())
    Path("coder.loss").write_bytes(autoencoder_file().to_bytes())
    return tmp_path


FILES = [kernel_file(5, 2.5), kernel_file(extent="full"), autoencoder_file(1, 64)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.kind}-{file.extent}")
def test_what_is_written_is_read_and_the_same_loss_is_the_same_bytes(file):
    content = file.to_bytes()
    assert content == file.to_bytes()
    found = parse_loss_file("a.loss", content)
    assert (found.kind, found.weight, found.record) == (file.kind, file.weight, file.record)
    assert found.extent == file.extent
    assert (found.radius, found.channels) == (file.radius, file.channels)
    assert all(torch.equal(found.tensors[name], tensor) for name, tensor in file.tensors.items())
    known = json.loads(json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]["unweave"])
    assert {"version", "kind", "radius", "channels", "weight"} <= set(known)


def test_a_path_is_a_loss_the_sum_of_two_squared_errors():
    x, y = images(), images().flip(0)
    kernel = kernel_file().tensors["kernel"]
    expected = (x - y).square().sum((1, 2, 3)) + fourier_blur(x - y, kernel).square().sum((1, 2, 3))
    for name in ("my.loss", "learnt:path=my.loss", str(Path("my.loss").resolve()), "learnt:path=my.loss,weight=1"):
        torch.testing.assert_close(loss_of(name).distance(x, y), expected)
    heavier = loss_of("learnt:path=my.loss,weight=3").distance(x, y)
    torch.testing.assert_close(heavier, 3 * expected - 2 * (x - y).square().sum((1, 2, 3)))


def test_a_full_extent_makes_distances_the_same_everywhere():
    """Two squares, moved together from the middle into a corner."""
    x, y = torch.zeros(2, 3, 1, 32, 32)
    for image, place in enumerate((14, 5, 0)):
        x[image, :, place : place + 2, place : place + 2] = 1
        y[image, :, place : place + 2, place + 3 : place + 5] = 1
    whole, cut = (loss_of(name).distance(x, y) for name in ("full.loss", "my.loss"))
    torch.testing.assert_close(whole, whole[:1].expand(3), rtol=1e-5, atol=0)
    assert cut[0].item() == pytest.approx(whole[0].item(), rel=1e-5)  # far from the border nothing is cut off
    assert cut[2] < 0.9 * whole[2]


@pytest.mark.parametrize("name", ["my.loss", "full.loss", "coder.loss"])
def test_features_are_as_far_apart_as_the_loss_says(name):
    x, y = images(), images().flip(0)
    loss = loss_of(name)
    assert loss.features is not None
    apart = (loss.features(x) - loss.features(y)).square().sum(1)
    torch.testing.assert_close(apart, loss.distance(x, y), rtol=1e-4, atol=1e-4)
    assert loss.distance(x, x).abs().max() == 0


def test_an_autoencoder_compares_what_it_makes_of_images_and_has_gradients():
    x, y = images(), images().flip(0).requires_grad_()
    file = autoencoder_file()
    expected = (x - y).square().sum() + (file.augmented(x) - file.augmented(y)).square().sum()
    loss = loss_of("coder.loss").distance(x, y).sum()
    torch.testing.assert_close(loss, expected)
    gradients = [torch.autograd.grad(each, y)[0] for each in (loss, expected)]
    torch.testing.assert_close(*gradients)


def test_the_full_name_has_the_place_and_the_content(folder):
    name = full_name("my.loss")
    assert name.startswith(f"learnt:path={folder.resolve() / 'my.loss'},weight=1,sha256=")
    assert full_name(name) == full_name("learnt:path=./my.loss") == name
    Path("moved").mkdir()
    os.rename("my.loss", "moved/my.loss")
    assert content_name(full_name("moved/my.loss")) == content_name(name) != name
    for other in ("mse", "mse-box:radius=31,weight=3969", "my.loss", "mse-kernel:path=a.npy,weight=1,sha256=12"):
        assert content_name(other) == other


def test_a_file_that_was_learnt_again_is_read_again_and_refused_where_another_is_meant():
    x, y = images(), images().flip(0)
    before, name = loss_of("my.loss").distance(x, y), full_name("my.loss")
    Path("my.loss").write_bytes(kernel_file(radius=5).to_bytes())
    assert (loss_of("my.loss").distance(x, y) != before).all()
    with pytest.raises(UsageError, match=r"'.*my\.loss' has changed: its SHA-256 does not begin with"):
        loss_of(name).distance(x, y)


def test_a_run_is_the_same_wherever_its_loss_lies(quick_run):
    first = quick_run("first", "my.loss")
    os.rename("my.loss", "elsewhere.loss")
    second = quick_run("second", "elsewhere.loss")
    assert first.id == second.id
    assert first.settings.differences(second.settings) == []
    other = replace(first.settings, method=VAE(loss="learnt:path=a.loss,weight=1,sha256=0123456789abcdef"))
    assert other.id != first.id


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")
def test_a_run_whose_loss_is_gone_can_be_opened_and_says_what_it_lacks(quick_run):
    quick_run("run", "my.loss")
    os.remove("my.loss")
    _loaded.cache_clear()  # as in another process
    opened = unweave.Run.open("run")
    pixels = unweave.load("xysquares:size=32").images([0, 1])
    codes = opened.encode(pixels)
    assert opened.decode(codes).shape == pixels.shape
    assert len(opened.evaluate("mig", samples=300, test_samples=100))
    with pytest.raises(UsageError, match=r"the loss '.*my\.loss' cannot be read: No such file"):
        opened.losses(pixels, codes)


@pytest.fixture
def quick_run():
    """Train two steps with a loss, into a folder."""
    return lambda out, loss: unweave.train(
        "vae", data="xysquares:size=32", loss=loss, steps=2, batch=4, width=0.1, out=out
    )


def test_a_study_takes_a_learnt_loss():
    Path("study.toml").write_text(
        'data = "xysquares:size=32"\nseeds = [0]\nsteps = 2\n[[methods]]\nname = "vae"\nloss = ["mse", "my.loss"]\n'
    )
    tasks = read_grid(Path("study.toml")).plan().tasks
    assert {task.config["method"]["loss"] for task in tasks} == {"mse", full_name("my.loss")}


def damaged(name: str) -> bytes:
    """Return the content of a file that is no loss, by what is wrong with it."""
    whole = kernel_file().to_bytes()
    if name == "truncated":
        return whole[:-10]
    if name == "header cut off":
        return whole[:50]
    if name == "other bytes":
        return b"\x00" * 3 + b"not a loss" * 10
    if name == "length beyond the end":
        return struct.pack("<Q", 2**60) + whole[8:]
    return b""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("truncated", "is damaged; learn it again"),
        ("header cut off", "is not a loss file; learn one: unweave learn-loss"),
        ("other bytes", "is not a loss file"),
        ("length beyond the end", "is not a loss file"),
        ("empty", "is not a loss file"),
    ],
)
def test_a_file_that_is_no_loss_is_refused(name, message):
    Path("bad.loss").write_bytes(damaged(name))
    with pytest.raises(UsageError, match=message) as error:
        full_name("bad.loss")
    assert "\n" not in str(error.value)


def written(tensors: dict[str, Tensor], known: object) -> None:
    metadata = {"unweave": known if isinstance(known, str) else json.dumps(known)}
    save_file(tensors, "bad.loss", metadata)


@pytest.mark.parametrize(
    ("tensors", "changed", "message"),
    [
        ({"kernel": torch.full((3, 3), float("nan"))}, {}, "contains weights that are not finite numbers"),
        ({"kernel": torch.full((3, 3), float("inf"))}, {}, "contains weights that are not finite numbers"),
        ({"kernel": torch.ones(3, 5)}, {}, "is not a loss file"),
        ({"kernel": torch.ones(4, 4)}, {}, "is not a loss file"),
        ({"kernel": torch.ones(3, 3, 3)}, {}, "is not a loss file"),
        ({"kernel": torch.ones(3)}, {}, "is not a loss file"),
        ({"kernel": torch.ones(())}, {}, "is not a loss file"),
        ({"kernel": torch.ones(3, 3, dtype=torch.int64)}, {}, "is not a loss file"),
        ({"kernel": torch.ones(3, 3), "more": torch.ones(1)}, {}, "is not a loss file"),
        ({}, {}, "is not a loss file"),
        ({"kernel": torch.ones(3, 3)}, {"kind": "sieve"}, "is not a loss file"),
        ({"kernel": torch.ones(3, 3)}, {"kind": ["kernel"]}, "is not a loss file"),
        ({"kernel": torch.ones(3, 3)}, {"kind": "autoencoder"}, "is not a loss file"),
        ({"up.0.bias": torch.ones(())}, {"kind": "autoencoder"}, "is not a loss file"),
        ({"kernel": torch.ones(3, 3)}, {"extent": "half"}, "is not a loss file"),
        ({"kernel": torch.ones(3, 3)}, {"weight": -1}, "has a weight that is not a number of at least 0: -1"),
        ({"kernel": torch.ones(3, 3)}, {"weight": None}, "has a weight that is not a number of at least 0"),
        ({"kernel": torch.ones(3, 3)}, {"weight": True}, "has a weight that is not a number of at least 0"),
        ({"kernel": torch.ones(3, 3)}, {"version": 2}, "has version 2, but this unweave reads 1"),
    ],
    ids=str,
)
def test_a_file_that_holds_something_else_is_refused(tensors, changed, message):
    written(tensors, {"version": 1, "kind": "kernel", "weight": 1.0, **changed})
    with pytest.raises(UsageError, match=message):
        full_name("bad.loss")


@pytest.mark.parametrize("known", ["no JSON", "[]", "3", "null", "{}"])
def test_other_metadata_are_refused(known):
    written({"kernel": torch.ones(3, 3)}, known)
    with pytest.raises(UsageError, match="is not a loss file"):
        full_name("bad.loss")


def test_the_weights_of_a_run_are_no_loss(quick_run):
    quick_run("run", "mse")
    assert load_file("run/weights.safetensors")
    with pytest.raises(UsageError, match=r"'run/weights\.safetensors' is not a loss file"):
        full_name("learnt:path=run/weights.safetensors")


def test_what_is_no_file_is_refused_at_once():
    with pytest.raises(UsageError, match=r"the loss 'none\.loss' cannot be read: No such file"):
        full_name("none.loss")
    Path("folder.loss").mkdir()
    with pytest.raises(UsageError, match=r"the loss 'folder\.loss' cannot be read: Is a directory"):
        full_name("folder.loss")
    with pytest.raises(UsageError, match="'/dev/zero' is not a regular file"):
        full_name("learnt:path=/dev/zero")
    os.mkfifo("pipe.loss")
    with pytest.raises(UsageError, match=r"'pipe\.loss' is not a regular file"):
        full_name("pipe.loss")
    with Path("large.loss").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(UsageError, match="is not a loss file: it is too large"):
        full_name("large.loss")
    Path("a,b").mkdir()
    Path("a,b/my.loss").write_bytes(kernel_file().to_bytes())
    os.chdir("a,b")
    with pytest.raises(UsageError, match="must not contain a comma"):
        full_name("my.loss")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("learnt", "the loss learnt needs a file: learnt:path=my.loss"),
        ("learnt:weight=2", "needs a file"),
        ("learnt:path=my.loss,weight=-1", "weight must be a number that is not negative"),
        ("learnt:path=my.loss,radius=3", "no option of learnt is called 'radius'"),
        ("lernt:path=my.npy", "did you mean 'learnt'"),
    ],
)
def test_a_wrong_name_or_option_is_refused(name, message):
    with pytest.raises(UsageError, match=message):
        loss_of(name)


def test_images_that_a_loss_cannot_compare_are_refused():
    Path("wide.loss").write_bytes(kernel_file(radius=63).to_bytes())
    small, coloured = unweave.load("xysquares:size=32"), unweave.load("xysquares:size=64")
    with pytest.raises(UsageError, match="radius of 63, but images of 32 × 32 pixels allow at most 31"):
        resolve_loss("wide.loss", small, standardise=False)
    assert resolve_loss("wide.loss", coloured, standardise=True).startswith("learnt:")
    with pytest.raises(UsageError, match="learnt on images of 3 channels, but these have 1"):
        resolve_loss("coder.loss", unweave.load("shapes2d:size=32"), standardise=False)
    with pytest.raises(UsageError, match=r"learnt on pixels in \[0, 1\]; train without standardise"):
        resolve_loss("coder.loss", small, standardise=True)
    with pytest.raises(UsageError, match="learnt on images of 3 channels, but these have 1"):
        loss_of("coder.loss").distance(images(channels=1), images(channels=1))
    vectors = unweave.data.Vectors(np.random.default_rng(0).random((20, 3)))
    with pytest.raises(UsageError, match=r"the loss my\.loss is for images, but 'table' holds vectors"):
        resolve_loss("my.loss", vectors, standardise=False)
