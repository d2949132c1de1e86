"""Learning a loss: the objective against its formula, the engine against plain loops, and what comes out."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest
import torch

import unweave
from unweave.data import Table, load
from unweave.errors import UsageError
from unweave.losses import full_name, loss_of
from unweave.losses.blur import fourier_blur
from unweave.perception import correlations, learn_loss
from unweave.perception.agreement import LEARNT
from unweave.perception.batches import distinct_planes, whole_images
from unweave.perception.learning import Learning, trained
from unweave.perception.pair_squares import pair_squares
from unweave.perception.perceived import Perceived
from unweave.perception.trainable import TrainableAutoencoder, TrainableKernel

SQUARES = "xysquares:size=32"
PAIRS = 2048
QUICK: dict[str, Any] = {"steps": 3, "batch": 32, "pairs": 64}


@pytest.fixture(autouse=True)
def _few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure in the end on fewer pairs."""
    monkeypatch.setattr("unweave.perception.agreement.PAIRS", PAIRS)


def colours(count: int = 60, side: int = 8, channels: int = 3) -> Table:
    """Images whose factors are how bright they are, and which row is white."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (count, 2))
    images = np.repeat(60 * factors[:, 0], side * side * channels).reshape(count, side, side, channels).astype(np.uint8)
    images[np.arange(count), factors[:, 1]] = 255
    return Table(images, factors)


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_squared_distances_of_pairs_and_their_gradients_are_those_of_differences():
    rows = torch.randn(7, 30, generator=generator(), requires_grad=True)
    weights = torch.rand(40, dtype=torch.float64, generator=generator())
    pairs = np.random.default_rng(0).integers(7, size=(40, 2))
    found = pair_squares(rows, pairs)
    expected = (rows[pairs[:, 0]] - rows[pairs[:, 1]]).square().sum(1).double()
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
    gradients = [torch.autograd.grad((each * weights).sum(), rows)[0] for each in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-5, atol=1e-5)


def test_a_few_pairs_of_many_rows_have_the_same_gradients():
    rows = torch.randn(60, 5, generator=generator(), requires_grad=True)
    pairs = np.array([[0, 59], [3, 3], [7, 8], [8, 7]])
    expected = (rows[pairs[:, 0]] - rows[pairs[:, 1]]).square().sum()
    gradients = [torch.autograd.grad(each, rows)[0] for each in (pair_squares(rows, pairs).sum(), expected)]
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("name", [SQUARES, "rooms3d:size=32", "shapes2d:size=32"])
def test_distances_are_those_of_the_loss_whichever_planes_are_equal(name):
    data = load(name)
    images = data.images(np.random.default_rng(1).integers(len(data), size=20))
    pairs = np.random.default_rng(2).integers(20, size=(50, 2))
    learnt = TrainableKernel(7, generator())
    with torch.no_grad():
        learnt.theta.mul_(40)  # or it would hardly count
        found = learnt.distances(images, pairs, 2.0)
    pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    one, other = pixels[pairs[:, 0]], pixels[pairs[:, 1]]
    blurred = fourier_blur(one - other, learnt.tensors()["kernel"])
    expected = (one - other).square().mean((1, 2, 3)) + 2 * blurred.square().mean((1, 2, 3))
    torch.testing.assert_close(found, expected.double(), rtol=1e-4, atol=1e-7)


def test_equal_planes_are_kept_once_and_so_are_pairs_of_them():
    data = load(SQUARES)
    images = data.images(np.random.default_rng(1).integers(len(data), size=200))
    pairs = np.random.default_rng(2).integers(200, size=(1000, 2))
    batch = distinct_planes(images, pairs)
    assert len(batch.rows) <= 64  # places of a square
    assert len(batch.pairs) <= 64 * 65 / 2
    assert batch.places.shape == (1000, 3)
    planes = np.ascontiguousarray(images.transpose(0, 3, 1, 2))
    for place in (0, 500, 999):
        kept = batch.rows[torch.from_numpy(batch.pairs[batch.places[place]])][:, :, 0].numpy() * 255
        wanted = {
            frozenset([planes[pairs[place, 0], c].tobytes(), planes[pairs[place, 1], c].tobytes()]) for c in range(3)
        }
        assert {frozenset(plane.astype(np.uint8).tobytes() for plane in pair) for pair in kept} == wanted
    assert len(whole_images(images, pairs).rows) == 200


def test_penalties_are_the_four_differences_of_mirror_images_and_the_mean_square():
    learnt = TrainableKernel(1, generator())
    kernel = np.array([[1.0, 2, 3], [0, 5, 0], [7, 8, 10]])
    with torch.no_grad():
        learnt.theta.copy_(torch.from_numpy(-kernel))  # its absolute value counts
    mirrored = kernel[::-1], kernel[:, ::-1]
    uneven = sum(np.abs(image - other).mean() for image in mirrored for other in (kernel, kernel.T))
    assert learnt.penalties(2.0, 0.5).item() == pytest.approx(2 * uneven + 0.5 * (kernel**2).mean())
    assert (learnt.tensors()["kernel"] >= 0).all()


def test_a_kernel_starts_as_almost_a_box_that_adds_up_to_one():
    kernel = TrainableKernel(15, generator()).tensors()["kernel"]
    assert kernel.sum().item() == pytest.approx(1)
    assert (kernel * kernel.numel() - 1).abs().max() < 0.01
    assert (kernel * kernel.numel() - 1).abs().max() > 0.001


def test_a_learnt_kernel_follows_the_factors_better_than_mse_and_the_box():
    learnt = learn_loss(SQUARES, steps=60, lr=0.02, batch=256, pairs=2048, progress=False)
    assert learnt.file.radius == 15
    found = {name: (*each.factor, *each.random) for name, each in learnt.agreements.items()}
    assert list(found) == ["mse", "mse-box:radius=15", LEARNT]
    assert found["mse"] == pytest.approx((0.52, 0.58, 0.24, 0.23), abs=0.05)
    assert found["mse-box:radius=15"] == pytest.approx((0.953, 0.972, 0.916, 0.920), abs=0.01)
    assert (np.array(found[LEARNT]) > found["mse-box:radius=15"]).all()
    kernel = learnt.kernel
    assert kernel is not None
    assert np.abs(kernel - kernel[::-1]).mean() < 0.1 * kernel.mean()  # which symmetry is there for


def test_with_the_full_extent_equal_steps_are_equally_far_and_ranks_follow_a_factor_wholly(tmp_path):
    path = tmp_path / "a.loss"
    learnt = learn_loss(SQUARES, radius=31, extent="full", out=path, progress=False, **QUICK)
    assert learnt.agreements[LEARNT].factor.rank > 0.995  # without ties 0.988 is the limit
    assert (learnt.file.extent, learnt.file.record["settings"]["extent"]) == ("full", "full")
    seen = Perceived(SQUARES, str(path))
    space = load(SQUARES).factors
    line = space.to_index(space.traversal("x_R", [0, 3, 1, 6, 2, 2]))
    apart = seen.distances([[line[start], line[start + 2]] for start in range(6)])
    assert apart == pytest.approx(np.full(6, apart[0]), rel=1e-5)


def test_an_adversarial_loss_follows_them_less():
    kinder, crueller = (
        learn_loss(SQUARES, steps=30, lr=0.02, batch=128, pairs=1024, adversarial=cruel, progress=False)
        for cruel in (False, True)
    )
    assert crueller.agreements[LEARNT].random.rank < 0.5 < 0.9 < kinder.agreements[LEARNT].random.rank


def test_an_autoencoder_sees_what_a_kernel_cannot():
    data = colours()
    options: dict[str, Any] = {"steps": 60, "batch": 64, "pairs": 512, "progress": False}
    kernel, coder = learn_loss(data, radius=3, **options), learn_loss(data, kind="autoencoder", lr=0.01, **options)
    assert coder.kernel is None
    assert coder.agreements[LEARNT].random.rank > kernel.agreements[LEARNT].random.rank + 0.1
    assert coder.agreements[LEARNT].random.rank > 0.9


def test_the_same_seed_gives_the_same_bytes_and_another_another_kernel(tmp_path):
    digests = []
    for name, seed in {"one": 0, "two": 0, "three": 1}.items():
        learn_loss(SQUARES, seed=seed, out=tmp_path / f"{name}.loss", progress=False, **QUICK)
        digests.append(hashlib.sha256((tmp_path / f"{name}.loss").read_bytes()).hexdigest())
    assert digests[0] == digests[1] != digests[2]


def test_what_is_measured_in_the_end_is_what_the_file_has_and_perceive_finds(tmp_path):
    learnt = learn_loss(SQUARES, radius=7, out=tmp_path / "a.loss", progress=False, **QUICK)
    record = learnt.file.record
    assert record["data"] == load(SQUARES).description
    assert record["shape"] == [32, 32, 3]
    assert record["settings"]["radius"] == 7
    assert record["settings"]["steps"] == 3
    table = correlations(SQUARES, str(tmp_path / "a.loss"), pairs=PAIRS, seed=0, scaled=True, progress=False)
    for row in table.to_dicts():
        assert record["correlations"][row["factor"]] == pytest.approx({"linear": row["linear"], "rank": row["rank"]})


def test_training_takes_what_was_learnt(tmp_path):
    path = tmp_path / "a.loss"
    learnt = learn_loss(SQUARES, radius=7, out=path, progress=False, **QUICK)
    x = torch.from_numpy(load(SQUARES).images([0, 5000])).permute(0, 3, 1, 2).float() / 255
    kernel = learnt.file.tensors["kernel"]
    expected = (x[0] - x[1]).square().sum() + fourier_blur(x[:1] - x[1:], kernel).square().sum()
    assert loss_of(str(path)).distance(x[:1], x[1:]).item() == pytest.approx(expected.item(), rel=1e-5)
    run = unweave.train("vae", data=SQUARES, loss=str(path), steps=2, batch=4, width=0.1, out=tmp_path / "run")
    assert run.settings.method.loss == full_name(str(path))


def test_progress_tells_the_correlation_and_the_steps():
    told: list[tuple[str, float, float | None]] = []
    trained(Learning(**QUICK), load(SQUARES), 3, lambda *each: told.append(each))
    assert [each[1:] for each in told] == [(1, 3), (2, 3), (3, 3)]
    assert all(each[0].startswith("rank correlation 0.") for each in told)


def test_the_rate_falls_along_a_cosine_or_not_at_all():
    falling, constant = Learning(steps=4, lr=1.0), Learning(steps=4, lr=1.0, decay="constant")
    assert [falling.rate(step) for step in range(4)] == pytest.approx([1, 0.8536, 0.5, 0.1464], abs=1e-4)
    assert [constant.rate(step) for step in range(4)] == [1, 1, 1, 1]


def test_nothing_is_written_where_learning_is_interrupted(tmp_path):
    def interrupt(what: str, done: float, total: float | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn_loss(SQUARES, out=tmp_path / "a.loss", on_progress=interrupt, **QUICK)
    assert list(tmp_path.iterdir()) == []


def test_an_autoencoder_of_any_size_of_image_gives_images_of_that_size():
    for shape in ((8, 8, 1), (20, 13, 3), (33, 64, 2), (1, 1, 1)):
        learnt = TrainableAutoencoder(shape, generator())
        rows = torch.rand(2, shape[2], *shape[:2])
        assert learnt.augmented(rows).shape == rows.shape


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "kernle"}, "did you mean 'kernel'"),
        ({"extent": "ful"}, "did you mean 'full'"),
        ({"extent": "full", "kind": "autoencoder"}, "images of the same size; leave out extent"),
        ({"decay": "linear"}, "no decay of the learning rate is called 'linear'"),
        ({"step": 3}, "did you mean 'steps'"),
        ({"steps": 0}, "steps must be a whole number from 1 up"),
        ({"batch": 1}, "batch must be a whole number from 2 up"),
        ({"pairs": 1.5}, "pairs must be a whole number from 2 up"),
        ({"seed": -1}, "seed must be a whole number from 0 up"),
        ({"radius": 0}, "radius must be a whole number from 1 up"),
        ({"radius": 32}, "radius 32 is too large: pixels of 32 × 32 images are at most 31 apart"),
        ({"radius": 3, "kind": "autoencoder"}, "an autoencoder has no radius"),
        ({"lr": 0.0}, "lr must be a positive number, not 0.0"),
        ({"lr": float("nan")}, "lr must be a positive number"),
        ({"strength": -1.0}, "strength must be a positive number"),
        ({"symmetry": -1.0}, "symmetry must be 0 or more"),
        ({"weight": float("inf")}, "weight must be 0 or more"),
        ({"lr": 1e30, **QUICK}, "learning failed at step 1: .* lower the learning rate"),
        ({"out": "kernel.npy"}, r"must end in \.loss: 'kernel\.loss', not 'kernel\.npy'"),
        ({"out": "nowhere/a.loss"}, "there is no folder 'nowhere'"),
        ({"out": "folder.loss"}, "is a folder"),
        ({"out": "a,b.loss"}, "must not contain a comma"),
    ],
    ids=str,
)
def test_what_cannot_be_learnt_is_refused_in_one_line(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.loss").mkdir()
    with pytest.raises(UsageError, match=message) as error:
        learn_loss(SQUARES, progress=False, **options)
    assert "\n" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.loss"]


def test_images_without_factors_and_vectors_are_refused():
    with pytest.raises(UsageError, match="learning a loss needs factors"):
        learn_loss(np.zeros((4, 8, 8, 1), np.uint8))
    with pytest.raises(UsageError, match="no factor that varies"):
        learn_loss(Table(np.zeros((4, 8, 8, 1), np.uint8), np.zeros((4, 1), np.int64)))
    with pytest.raises(UsageError, match="holds vectors"):
        learn_loss(unweave.data.Vectors(np.random.default_rng(0).random((20, 3)), np.arange(20)[:, None] % 3))
