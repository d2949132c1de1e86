from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import unweave.data
from unweave.data import Dataset, FactorSpace, Wrapper, load
from unweave.data.variants import Color, Noisy, PicturesBehind, PicturesWithin, Scream
from unweave.errors import UsageError

VARIANTS: dict[str, type[Wrapper]] = {
    "color": Color,
    "noisy": Noisy,
    "scream": Scream,
    "images-bg": PicturesBehind,
    "images-fg": PicturesWithin,
}
INDICES = np.random.default_rng(0).integers(737_280, size=300)
NEEDS = {"scream": ("image", "image.png"), "images-bg": ("folder", "folder"), "images-fg": ("folder", "folder")}
EACH = pytest.mark.parametrize("suffix", VARIANTS)


class Checks(Dataset):
    """A small black and white set: 60 patterns, in whole numbers."""

    name = "checks"
    factors = FactorSpace(("row", "column"), (6, 10))
    binary = True

    def __init__(self, height: int = 20, width: int = 30) -> None:
        self.options = {}
        self.shape = (height, width, 1)
        index, y, x = np.meshgrid(np.arange(60), np.arange(height), np.arange(width), indexing="ij")
        self._images = np.where((x * y + index * (x + 2 * y)) % 7 < 3, np.uint8(255), np.uint8(0))[..., None]

    def _draw(self, indices: np.ndarray) -> np.ndarray:
        return self._images[indices]


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    for suffix, variant in VARIANTS.items():
        monkeypatch.setitem(unweave.data.WRAPPERS, suffix, variant)


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A picture and a folder of seven, all of them whole numbers computed exactly."""
    folder = tmp_path_factory.mktemp("pictures")
    y, x, c = np.meshgrid(np.arange(150), np.arange(200), np.arange(3), indexing="ij")
    Image.fromarray(((x * x // 3 + 3 * y * (c + 1) + 50 * c) % 256).astype(np.uint8)).save(folder / "image.png")
    (folder / "folder").mkdir()
    for number in range(7):
        pixels = ((x + (number + 1) * y + 40 * number * (c + 1)) % 256)[:64, :64].astype(np.uint8)
        Image.fromarray(pixels).save(folder / "folder" / f"{number}.png")
    return folder


@pytest.fixture
def make(get: Callable[..., Dataset], files: Path) -> Callable[..., Dataset]:
    def make(suffix: str, base: Dataset | None = None, **options: object) -> Dataset:
        if suffix in NEEDS:
            option, name = NEEDS[suffix]
            options = {option: str(files / name), **options}
        return VARIANTS[suffix](base or get("shapes2d"), **options)  # pyright: ignore[reportArgumentType]

    return make


@pytest.fixture(scope="session")
def inside(get: Callable[..., Dataset]) -> np.ndarray:
    """Where the object is, in the images with INDICES."""
    return get("shapes2d").images(INDICES)[..., 0] == 255


def pictures(files: Path) -> np.ndarray:
    return np.stack([np.asarray(Image.open(path)) for path in sorted((files / "folder").iterdir())])


@EACH
def test_form(make: Callable[..., Dataset], suffix: str):
    data = make(suffix)
    assert data.name == f"shapes2d-{suffix}"
    assert (data.shape, data.binary, data.is_function, data.is_grid) == ((64, 64, 3), False, False, True)
    assert len(data) == 737_280
    images = data.images(INDICES[:9])
    assert (images.shape, images.dtype) == ((9, 64, 64, 3), np.uint8)
    assert images.flags.c_contiguous
    assert images.flags.writeable
    assert data.images([]).shape == (0, 64, 64, 3)
    for bad in ([-1], [737_280], [0.5], 3):
        with pytest.raises(UsageError):
            data.images(bad)


@EACH
def test_an_image_does_not_depend_on_batch_order_or_instance(make: Callable[..., Dataset], suffix: str):
    data, again = make(suffix), make(suffix)
    images = data.images(INDICES[:40])
    np.testing.assert_array_equal(again.images(INDICES[:40][::-1])[::-1], images)
    np.testing.assert_array_equal([again.images([index])[0] for index in INDICES[:40]], images)
    np.testing.assert_array_equal(again.images(np.repeat(INDICES[:5], 3)), images[:5].repeat(3, axis=0))


@EACH
def test_another_process_draws_the_same(make: Callable[..., Dataset], suffix: str):
    data = make(suffix, variant_seed=11)
    code = (
        "import json, sys, hashlib, unweave.data\n"
        "from unweave.data import variants\n"
        "unweave.data.WRAPPERS[sys.argv[1]] = getattr(variants, sys.argv[2])\n"
        "data = unweave.data.load(**json.loads(sys.argv[3]))\n"
        "print(hashlib.sha256(b''.join(data.images([i]).tobytes() for i in (737279, 0, 5))).hexdigest())"
    )
    words = [suffix, VARIANTS[suffix].__name__, json.dumps(data.description)]
    done = subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == hashlib.sha256(data.images([737_279, 0, 5]).tobytes()).hexdigest()


@pytest.mark.parametrize(
    ("suffix", "checksum"),
    [
        ("color", "c5f80f38a2026f81"),
        ("noisy", "6e45cc4dd47bdc0e"),
        ("scream", "ab310fd2cc671092"),
        ("images-bg", "e2e6c4484b6e9737"),
        ("images-fg", "a5650fdf010c83e1"),
    ],
)
def test_the_bytes_never_change(make: Callable[..., Dataset], suffix: str, checksum: str):
    options = {"visibility": 0.3} if suffix.startswith("images") else {}
    images = make(suffix, Checks(64, 64), variant_seed=3, **options).images([0, 1, 34, 59])
    assert hashlib.sha256(images.tobytes()).hexdigest()[:16] == checksum


@EACH
def test_seeds_and_indices_differ(make: Callable[..., Dataset], suffix: str):
    one, other = (make(suffix, variant_seed=seed).images(INDICES[:64]) for seed in (0, 1))
    assert (one != other).any(axis=(1, 2, 3)).mean() > 0.7  # of seven pictures, some are the same by chance
    same_cell = make(suffix).images(np.arange(64))  # one object, moved by one pixel a step
    shifted = np.stack([np.roll(image, -y % 32, axis=0) for y, image in enumerate(same_cell)])
    assert len({image.tobytes() for image in shifted}) > 6


@EACH
def test_a_description_rebuilds_the_set(make: Callable[..., Dataset], suffix: str, get: Callable[..., Dataset]):
    options = {"visibility": 0.25} if suffix.startswith("images") else {}
    data = make(suffix, get("shapes2d", size=128), variant_seed=np.int64(5), **options)
    assert options.items() <= data.options.items()
    again = load(**json.loads(json.dumps(data.description)))
    assert type(again) is VARIANTS[suffix]
    assert again.description == data.description
    assert again.options["size"] == 128
    assert again.options["variant_seed"] == 5
    np.testing.assert_array_equal(again.images(INDICES[:5]), data.images(INDICES[:5]))


def test_a_relative_path_means_the_same_from_everywhere(files: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(files)
    data = load("shapes2d-scream:image=folder/../image.png")
    assert data.options["image"] == str(files / "image.png")
    monkeypatch.chdir(tmp_path)
    assert load(**json.loads(json.dumps(data.description))).description == data.description


def test_color(make: Callable[..., Dataset], inside: np.ndarray):
    images = make("color").images(INDICES)
    assert not images[~inside].any()
    for image, mask in zip(images, inside, strict=True):
        assert len(np.unique(image[mask], axis=0)) == 1
    many = make("color").images(np.flatnonzero(np.arange(737_280) % 1024 == 528))  # each look once, in the middle
    colours = many[:, 32, 32]
    assert (colours.min(), colours.max()) == (128, 255)
    np.testing.assert_allclose(colours.mean(axis=0), 191.5, atol=4 * 37 / np.sqrt(len(colours)))
    np.testing.assert_allclose(np.corrcoef(colours.T), np.eye(3), atol=4 / np.sqrt(len(colours)))


def test_noisy(make: Callable[..., Dataset], inside: np.ndarray):
    images = make("noisy").images(INDICES)
    assert (images[inside] == 255).all()
    noise = images[~inside].astype(float)
    counts = np.bincount(images[~inside].ravel(), minlength=256)
    assert np.abs(counts / counts.sum() * 256 - 1).max() < 5 / np.sqrt(counts.mean())
    np.testing.assert_allclose(noise.mean(axis=0), 127.5, atol=4 * 74 / np.sqrt(len(noise)))
    np.testing.assert_allclose(np.corrcoef(noise.T), np.eye(3), atol=4 / np.sqrt(len(noise)))
    neighbours = np.corrcoef(noise[:-1, 0], noise[1:, 0])[0, 1]
    assert abs(neighbours) < 4 / np.sqrt(len(noise))


def test_scream_is_a_crop_averaged_with_a_colour_and_inverted_in_the_object(
    make: Callable[..., Dataset], inside: np.ndarray, files: Path
):
    picture = np.asarray(Image.open(files / "image.png")).astype(int)
    images = make("scream").images(INDICES[:100]).astype(int)
    plain = np.where(inside[:100, ..., None], 255 - images, images)  # inverting twice
    places, colours = [], []
    for image in plain:
        colour, top, left = locate(image, picture)
        crop = picture[top : top + 64, left : left + 64]
        np.testing.assert_array_equal(image, (crop + colour + 1) // 2)
        places.append((top, left))
        colours.append(colour)
    places, colours = np.array(places), np.array(colours)
    np.testing.assert_allclose(places.mean(axis=0), [43, 68], atol=4 * 40 / np.sqrt(100))
    np.testing.assert_allclose(colours.mean(axis=0), 127.5, atol=4 * 74 / np.sqrt(100))
    assert colours.min() < 8
    assert colours.max() > 247


def test_scream_takes_every_crop(make: Callable[..., Dataset], tmp_path: Path, inside: np.ndarray):
    picture = np.zeros((65, 66, 3), dtype=np.uint8)
    picture[0], picture[:, :2, 1], picture[:, :1, 2] = 255, 255, 255
    Image.fromarray(picture).save(tmp_path / "six.png")  # six crops, told apart by their edges
    images = make("scream", image=tmp_path / "six.png").images(INDICES).astype(int)
    assert not inside[:, [0, 1, 63, 63], [63, 63, 0, 63]].any()
    top = images[:, 0, 63, 0] == images[:, 1, 63, 0]
    edges = [images[:, 63, 0, channel] > images[:, 63, 63, channel] for channel in (1, 2)]
    counts = np.unique(np.stack([top, *edges], axis=1), axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert (counts > 25).all()  # 50 expected, with a deviation of 6


def locate(image: np.ndarray, picture: np.ndarray) -> tuple[np.ndarray, int, int]:
    """Find the crop and the colour that an image without an object was made of, by trying every place."""
    corner = np.lib.stride_tricks.sliding_window_view(picture, (64, 64), axis=(0, 1))[:, :, :, :3, :3]
    doubled = 2 * image[:3, :3].transpose(2, 0, 1)
    low = (doubled - corner - 1).max(axis=(3, 4))  # the colour plus rounding is one of two numbers in each pixel
    high = (doubled - corner).min(axis=(3, 4))
    for top, left in np.argwhere((low <= high).all(axis=2)):
        crop = picture[top : top + 64, left : left + 64]
        low_all, high_all = (2 * image - crop - 1).max(axis=(0, 1)), (2 * image - crop).min(axis=(0, 1))
        if (low_all <= high_all).all():
            return low_all, top, left
    raise AssertionError("no crop of the picture fits")


def test_a_large_picture_is_scaled_down_first(make: Callable[..., Dataset], tmp_path: Path):
    Image.effect_noise((704, 896), 60).convert("RGB").save(tmp_path / "large.png")
    data = make("scream", image=tmp_path / "large.png")
    assert data.nbytes - make("color").nbytes == 3 * 215 * 274
    Image.new("RGB", (100, 80)).save(tmp_path / "small.png")
    assert make("scream", image=tmp_path / "small.png").nbytes - make("color").nbytes == 3 * 100 * 80


@pytest.mark.parametrize("visibility", [0, 0.25, 0.5, 1])
def test_images_behind(make: Callable[..., Dataset], inside: np.ndarray, files: Path, visibility: float):
    images = make("images-bg", visibility=visibility).images(INDICES)
    assert (images[inside] == 255).all()
    expected = visibility * pictures(files)[which(images, ~inside, visibility * pictures(files))]
    assert np.abs(images - expected)[~inside].max() <= 0.5


@pytest.mark.parametrize("visibility", [0, 0.25, 0.5, 1])
def test_images_within(make: Callable[..., Dataset], inside: np.ndarray, files: Path, visibility: float):
    images = make("images-fg", visibility=visibility).images(INDICES)
    assert not images[~inside].any()
    faded = visibility * pictures(files) + (1 - visibility) * 255
    assert np.abs(images - faded[which(images, inside, faded)])[inside].max() <= 0.5


def which(images: np.ndarray, where: np.ndarray, pictures: np.ndarray) -> np.ndarray:
    """Return which picture is seen in each image."""
    differences = [(np.abs(images - picture).sum(axis=-1) * where).sum(axis=(1, 2)) for picture in pictures]
    return np.argmin(differences, axis=0)


def test_pictures_are_equally_frequent_and_go_with_the_index(
    make: Callable[..., Dataset], inside: np.ndarray, files: Path
):
    behind, within = make("images-bg").images(INDICES), make("images-fg").images(INDICES)
    chosen = which(behind, ~inside, pictures(files))
    assert (np.bincount(chosen, minlength=7) > 20).all()  # 43 expected, with a deviation of 6
    np.testing.assert_array_equal(within + behind * ~inside[..., None], pictures(files)[chosen])


def test_without_visibility_the_base_is_left(make: Callable[..., Dataset], inside: np.ndarray):
    for suffix in ("images-bg", "images-fg"):
        np.testing.assert_array_equal(make(suffix, visibility=0).images(INDICES)[..., 1], 255 * inside)


def test_pictures_are_held_once_at_the_size_of_the_set(make: Callable[..., Dataset], get: Callable[..., Dataset]):
    base = get("shapes2d", size=128)
    data = make("images-bg", base)
    assert data.nbytes - base.nbytes == 7 * 128 * 128 * 3
    assert data.images([0]).shape == (1, 128, 128, 3)


@EACH
def test_a_set_that_is_not_square(make: Callable[..., Dataset], suffix: str):
    base = Checks()
    images = make(suffix, base).images(np.arange(60))
    assert images.shape == (60, 20, 30, 3)
    white, black = images[base._images[..., 0] == 255], images[base._images[..., 0] == 0]
    if suffix in ("color", "images-fg"):
        assert not black.any()
        assert white.any()
    elif suffix in ("noisy", "images-bg"):
        assert (white == 255).all()
        assert (black < 255).any()
    else:
        flat = make(suffix, base)
        assert isinstance(flat, Wrapper)
        flat.base = Blank()
        inverted = images ^ flat.images(np.arange(60))
        np.testing.assert_array_equal(inverted, base._images.repeat(3, axis=3))


class Blank(Checks):
    """The same set without an object."""

    def _draw(self, indices: np.ndarray) -> np.ndarray:
        return super()._draw(indices) * np.uint8(0)


@EACH
def test_statistics_of_a_small_set_are_exact(make: Callable[..., Dataset], suffix: str):
    data = make(suffix, Checks())
    images = data.images(np.arange(60)) / 255
    statistics = data.statistics()
    np.testing.assert_allclose(statistics.mean, images.mean(axis=(0, 1, 2)))
    np.testing.assert_allclose(statistics.deviation, images.std(axis=(1, 2), ddof=1).mean(axis=0))
    np.testing.assert_allclose(statistics.global_deviation, images.std(axis=(0, 1, 2)))


def test_statistics_of_a_large_set_are_close(make: Callable[..., Dataset], get: Callable[..., Dataset]):
    white = get("shapes2d").statistics().mean[0]
    mean, square = 0.5, (1 + 1 / 255 / 2) / 3  # of the values 0/255, 1/255 … 255/255
    noisy = make("noisy").statistics()
    np.testing.assert_allclose(noisy.mean, white + (1 - white) * mean, rtol=1e-3)
    variance = white + (1 - white) * square - (white + (1 - white) * mean) ** 2
    np.testing.assert_allclose(noisy.global_deviation, np.sqrt(variance), rtol=1e-3)
    np.testing.assert_allclose(make("color").statistics().mean, white * 191.5 / 255, rtol=5e-3)


def test_statistics_look_at_every_value_of_every_factor(make: Callable[..., Dataset]):
    base = Checks()
    base.factors = FactorSpace(("slow", "fast"), (20_000, 3))  # three times as many as are looked at
    chosen = base.factors.from_index(make("color", base)._representatives())
    assert (len(chosen), len(np.unique(chosen, axis=0))) == (20_011, 20_011)
    np.testing.assert_allclose(np.bincount(chosen[:, 1]) / len(chosen), 1 / 3, atol=0.01)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("shapes2d-scream", "a data set that ends in -scream needs the option image=PATH"),
        ("shapes2d-images-bg", "a data set that ends in -images-bg needs the option folder=PATH"),
        ("shapes2d-images-fg:visibility=1", "needs the option folder=PATH"),
        ("shapes2d-scream:image=nothing.png", r"there is no image file '.*nothing\.png'"),
        ("shapes2d-scream:image=text.png", r"text\.png' cannot be read as an image"),
        ("shapes2d-scream:image=small.png", r"small\.png' is 63×90 within 350×274, too small to cut 64×64 out of it"),
        ("shapes2d-scream:image=tape.png", r"tape\.png' is 350×18 within 350×274, too small"),
        ("shapes2d-images-bg:folder=nowhere", "there is no folder '.*nowhere'"),
        ("shapes2d-images-bg:folder=empty", "the folder '.*empty' has no images"),
        ("shapes2d-images-fg:folder=.", r"text\.png' cannot be read as an image"),
        ("shapes2d-images-fg:folder=.,visibility=2", "visibility must be a number between 0 and 1, not 2"),
        ("shapes2d-images-fg:folder=.,visibility=-0.1", "between 0 and 1, not -0.1"),
        ("shapes2d-images-fg:folder=.,visibility=NaN", "between 0 and 1, not nan"),
        ("shapes2d-images-bg:folder=.,visibility=half", "between 0 and 1, not 'half'"),
        ("shapes2d-images-bg:folder=.,visibility=true", "between 0 and 1, not True"),
        ("shapes2d-color:variant_seed=-1", "variant_seed must be an integer from 0 to 2\\^63 - 1, not -1"),
        ("shapes2d-color:variant_seed=0.5", "not 0.5"),
        ("shapes2d-color:variant_seed=9223372036854775808", "not 9223372036854775808"),
        ("shapes2d-noisy:size=32", "shapes2d-noisy needs black and white images .* but shapes2d has greys at 32×32"),
        ("xysquares-color", "xysquares-color needs black and white images with one channel, but xysquares has 3"),
        ("shapes2d-noisy-color", "but shapes2d-noisy has 3 channels"),
    ],
)
def test_mistakes_get_one_clear_line(name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.png").write_text("this is no picture")
    Image.new("RGB", (63, 90)).save(tmp_path / "small.png")
    Image.new("RGB", (2000, 100)).save(tmp_path / "tape.png")
    with pytest.raises(UsageError, match=message) as caught:
        load(name)
    assert "\n" not in str(caught.value)
