"""Losses of blurred images: against convolutions by loops, finite differences, and the thesis' reason for them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from unweave.data import load
from unweave.errors import UsageError
from unweave.losses import LOSSES, full_name, loss_of
from unweave.losses.blur import fourier_blur, full_fourier_blur, separable_blur
from unweave.losses.blurred import BoxBlurred, GaussBlurred


def images(height: int = 6, width: int = 8, count: int = 2) -> Tensor:
    return torch.rand(count, 3, height, width, generator=torch.Generator().manual_seed(0))


def by_loops(image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """The convolution written out, with zeros beyond the border."""
    (height, width), (up, left) = image.shape, (kernel.shape[0] // 2, kernel.shape[1] // 2)
    blurred = np.zeros_like(image)
    for row in range(height):
        for column in range(width):
            for i in range(-up, up + 1):
                for j in range(-left, left + 1):
                    if 0 <= row - i < height and 0 <= column - j < width:
                        blurred[row, column] += kernel[up + i, left + j] * image[row - i, column - j]
    return blurred


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (5, 3), (11, 15), (13, 7), (31, 41)])
def test_the_fourier_transform_convolves_as_loops_do(shape):
    x = images()
    kernel = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    expected = np.stack([[by_loops(channel, kernel) for channel in image] for image in x.numpy()])
    blurred = fourier_blur(x, torch.from_numpy(kernel))
    torch.testing.assert_close(blurred, torch.from_numpy(expected), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (11, 15), (31, 41)])
def test_a_full_blur_also_has_what_is_spread_beyond_the_border(shape):
    x = images()
    up, left = shape[0] // 2, shape[1] // 2
    kernel = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    padded = functional.pad(x, (left, left, up, up)).numpy()
    expected = np.stack([[by_loops(channel, kernel) for channel in image] for image in padded])
    blurred = full_fourier_blur(x, torch.from_numpy(kernel))
    torch.testing.assert_close(blurred, torch.from_numpy(expected), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("radius", [1, 3, 5, 9, 31])
@pytest.mark.parametrize("family", [BoxBlurred, GaussBlurred])
def test_bands_the_fourier_transform_and_torchs_convolution_agree(family, radius):
    x, weights = images(16, 24), family(radius=radius).weights()
    kernel = torch.outer(torch.tensor(weights), torch.tensor(weights))
    plain = functional.conv2d(x.view(-1, 1, 16, 24), kernel[None, None], padding=radius).view_as(x)
    torch.testing.assert_close(separable_blur(x, weights), plain, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(fourier_blur(x, kernel), plain, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(("name", "weight"), [("mse-box:radius=2", 25), ("mse-box", 3969), ("mse-gauss:weight=7", 7)])
def test_the_loss_is_the_sum_of_the_two_squared_errors_of_images_and_blurred_images(name, weight):
    x, y = images(), images().flip(0)
    blur = (GaussBlurred if "gauss" in name else BoxBlurred)(radius=2 if "radius" in name else 31).blur
    errors, blurred = (x - y).square(), (blur(x) - blur(y)).square()
    expected = errors.sum((1, 2, 3)) + weight * blurred.sum((1, 2, 3))
    torch.testing.assert_close(loss_of(name).distance(x, y), expected)


def test_without_weight_it_is_mse():
    x, y = images(), images().flip(0)
    torch.testing.assert_close(loss_of("mse-box:weight=0").distance(x, y), LOSSES["mse"].distance(x, y))


def test_a_kernel_adds_up_to_one_and_an_image_of_one_value_keeps_it_away_from_the_border():
    for family in (BoxBlurred, GaussBlurred):
        assert sum(family(radius=4).weights()) == pytest.approx(1)
        blurred = family(radius=4).blur(torch.full((1, 1, 20, 20), 0.5))
        torch.testing.assert_close(blurred[..., 4:-4, 4:-4], torch.full((1, 1, 12, 12), 0.5))
        assert blurred[0, 0, 0, 0] < 0.5  # beyond the border there is nothing
        assert loss_of("mse-box").distance(blurred, blurred) == 0


def test_gradients_are_those_of_finite_differences(tmp_path):
    np.save(tmp_path / "kernel.npy", np.random.default_rng(0).normal(size=(3, 5)))
    x, y = images(5, 6), images(5, 6).flip(0).requires_grad_()
    step = 1e-2
    for name in ("mse-box:radius=2", "mse-gauss:radius=3", f"mse-kernel:path={tmp_path / 'kernel.npy'}"):
        (gradient,) = torch.autograd.grad(loss_of(name).distance(x, y).sum(), y)
        for place in ((0, 0, 0, 0), (1, 2, 4, 5), (0, 1, 2, 3)):
            moved = torch.zeros_like(x)
            moved[place] = step
            with torch.no_grad():  # the loss is a quadratic, so central differences are exact
                ahead, behind = (loss_of(name).distance(x, y + sign * moved).sum() for sign in (1, -1))
                slope = (ahead - behind) / (2 * step)
            torch.testing.assert_close(gradient[place], slope, atol=2e-3, rtol=2e-3)


@pytest.mark.parametrize("size", [32, 64])
def test_blurring_orders_the_places_of_a_square_that_mse_finds_equally_far_apart(size):
    data = load("xysquares", size=size)
    factors = np.zeros((8, 6), dtype=np.int64)
    factors[:, 0] = np.arange(8)  # the red square goes from left to right
    x = torch.from_numpy(data.images(data.factors.to_index(factors))).permute(0, 3, 1, 2).float() / 255

    def from_the_left(name: str) -> np.ndarray:
        return np.array([loss_of(name).distance(x[:1], x[i : i + 1]).item() for i in range(8)])

    radius = size // 2 - 1
    assert np.ptp(from_the_left("mse")[1:]) == 0
    assert (np.diff(from_the_left(f"mse-box:radius={radius}")) > 0).all()
    # A Gaussian has a narrower reach, and the border cuts off the blur of the last places.
    assert (np.diff(from_the_left(f"mse-gauss:radius={radius}"))[:5] > 0).all()
    # A box that covers the image from any of its pixels sees how much there is, not where.
    assert np.ptp(from_the_left(f"mse-box:radius={size - 1}")[1:]) < 1e-3


def test_a_kernel_of_a_file_is_used_as_it_is(tmp_path):
    x, y = images(), images().flip(0)
    kernel = np.full((5, 5), 0.04)
    np.save(tmp_path / "box.npy", kernel)
    loss = loss_of(f"mse-kernel:path={tmp_path / 'box.npy'},weight=25")
    torch.testing.assert_close(loss.distance(x, y), loss_of("mse-box:radius=2").distance(x, y))


def test_the_full_name_has_every_option_and_names_the_same_loss(tmp_path, monkeypatch):
    assert full_name("mse") == "mse"
    assert (
        full_name("mse-box:radius=15") == full_name("mse-box:weight=961.0,radius=15") == "mse-box:radius=15,weight=961"
    )
    monkeypatch.chdir(tmp_path)
    np.save("kernel.npy", np.ones((3, 3)))
    name = full_name("mse-kernel:path=kernel.npy")
    assert name.startswith(f"mse-kernel:path={tmp_path.resolve() / 'kernel.npy'},weight=1,sha256=")
    assert full_name(name) == name
    np.save("kernel.npy", np.ones((5, 5)))
    assert loss_of(name).mean(torch.ones(1)) == 1  # what needs no kernel does not miss it
    with pytest.raises(UsageError, match="has changed"):
        full_name(name)
    with pytest.raises(UsageError, match="has changed"):
        loss_of(name).distance(images(), images())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mse-bax", "did you mean 'mse-box'"),
        ("mse:radius=3", "mse has no options"),
        ("mse-box:radius=0", "radius must be between 1 and 1023, not 0"),
        ("mse-box:radius=1.5", "radius of mse-box must be an integer, not '1.5'"),
        ("mse-box:radios=3", "did you mean 'radius'"),
        ("mse-box:radius", "'radius' has no '='"),
        ("mse-box:radius=3,radius=4", "given twice"),
        ("mse-gauss:weight=-1", "weight must be a number that is not negative"),
        ("mse-gauss:weight=nan", "weight must be a number that is not negative"),
        ("mse-gauss:weight=much", "weight of mse-gauss must be a number, not 'much'"),
        ("mse-kernel", "needs a kernel"),
    ],
)
def test_a_wrong_name_or_option_is_refused(name, message):
    with pytest.raises(UsageError, match=message):
        loss_of(name)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((2, 3)), "an odd height and an odd width"),
        (np.ones(3), "an odd height and an odd width"),
        (np.full((3, 3), np.nan), "not finite numbers"),
        (np.full((3, 3), "a"), "not finite numbers"),
        (np.full((3, 3), None), "not a .npy file of numbers"),
    ],
)
def test_a_file_that_holds_no_kernel_is_refused(array, message, tmp_path):
    np.save(tmp_path / "kernel.npy", array, allow_pickle=True)
    with pytest.raises(UsageError, match=message):
        full_name(f"mse-kernel:path={tmp_path / 'kernel.npy'}")


def test_a_kernel_that_is_not_there_or_of_another_kind_is_refused(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        full_name(f"mse-kernel:path={tmp_path / 'none.npy'}")
    (tmp_path / "text.npy").write_text("no array")
    with pytest.raises(UsageError, match=r"not a \.npy file"):
        full_name(f"mse-kernel:path={tmp_path / 'text.npy'}")
    np.savez(tmp_path / "several.npz", np.ones((3, 3)))
    with pytest.raises(UsageError, match=r"not a \.npy file"):
        full_name(f"mse-kernel:path={tmp_path / 'several.npz'}")
    (tmp_path / "a,b").mkdir()
    np.save(tmp_path / "a,b" / "kernel.npy", np.ones((3, 3)))
    monkeypatch.chdir(tmp_path / "a,b")
    with pytest.raises(UsageError, match="must not contain a comma"):
        full_name("mse-kernel:path=kernel.npy")


@pytest.mark.parametrize("kind", [BoxBlurred, GaussBlurred])
def test_a_loss_that_measured_distances_can_be_trained_with_afterwards(kind):
    """What is cached in inference mode, where distances are measured, must take part in gradients later."""
    loss, size = kind(radius=2).loss(), 11  # a size of no other test, so that nothing is cached yet
    with torch.inference_mode():
        loss.distance(images(size, size), images(size, size))
    output = images(size, size).requires_grad_()
    loss.distance(images(size, size), output).sum().backward()
    assert output.grad is not None
