from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unweave.data.backdrops import find_pictures, read_folder, read_picture
from unweave.errors import UsageError

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)


def test_every_kind_of_picture_becomes_rgb(tmp_path: Path):
    colour = (200, 100, 50)
    palette = Image.new("P", (5, 4), 3)
    palette.putpalette([*[0] * 9, *colour])
    palette.save(tmp_path / "palette.png", transparency=bytes([255, 0, 10, 90]))  # warned of by a plain conversion
    Image.new("RGB", (5, 4), colour).save(tmp_path / "plain.bmp")
    Image.new("RGBA", (5, 4), (*colour, 0)).save(tmp_path / "transparent.png")
    Image.new("CMYK", (5, 4), (55, 155, 205, 0)).save(tmp_path / "print.tiff")
    for path in find_pictures(tmp_path):
        np.testing.assert_array_equal(np.asarray(read_picture(path)), np.full((4, 5, 3), colour))
    Image.new("L", (5, 4), 77).save(tmp_path / "grey.png")
    assert np.unique(np.asarray(read_picture(tmp_path / "grey.png"))).tolist() == [77]


def test_a_folder_is_read_in_the_order_of_its_paths(tmp_path: Path):
    places = ["b.png", "a/z.PNG", "B.jpeg", "a.png", "a/b/c.webp"]
    for number, place in enumerate(places):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (40 * number,) * 3).save(tmp_path / place, lossless=True)
    (tmp_path / "README.txt").write_text("no picture")
    (tmp_path / "._a.png").write_text("what some systems leave behind")
    found = [path.relative_to(tmp_path).as_posix() for path in find_pictures(tmp_path)]
    assert found == ["B.jpeg", "a.png", "a/b/c.webp", "a/z.PNG", "b.png"]
    images = read_folder(tmp_path, 8, 8)
    assert images.shape == (5, 8, 8, 3)
    assert images[:, 0, 0, 0].tolist() == [40 * places.index(place) for place in found]


@pytest.mark.parametrize("upright", [False, True])
def test_a_picture_is_cut_around_its_centre(tmp_path: Path, upright: bool):
    wide = np.zeros((40, 120, 3), dtype=np.uint8)
    wide[:, :40], wide[:, 40:80], wide[:, 80:] = RED, GREEN, BLUE
    Image.fromarray(wide.swapaxes(0, 1).copy() if upright else wide).save(tmp_path / "three.png")
    np.testing.assert_array_equal(read_folder(tmp_path, 20, 20), np.full((1, 20, 20, 3), GREEN))


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 500), (500, 1), (63, 64), (65, 64), (1000, 37)])
@pytest.mark.parametrize("shape", [(64, 64), (30, 90)])
def test_a_picture_of_any_aspect_fits(tmp_path: Path, width: int, height: int, shape: tuple[int, int]):
    Image.new("RGB", (width, height), GREEN).save(tmp_path / "green.png")
    np.testing.assert_array_equal(read_folder(tmp_path, *shape), np.full((1, *shape, 3), GREEN))


def test_a_picture_of_the_right_size_is_taken_as_it_is(tmp_path: Path):
    pixels = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "noise.png")
    np.testing.assert_array_equal(read_folder(tmp_path, 64, 64)[0], pixels)


def test_scaling_keeps_the_mean_of_a_smooth_picture(tmp_path: Path):
    ramp = np.repeat(np.linspace(0, 255, 256).astype(np.uint8)[None, :, None], 256, axis=0).repeat(3, axis=2)
    Image.fromarray(ramp).save(tmp_path / "ramp.png")
    small = read_folder(tmp_path, 32, 32)[0].astype(float)
    np.testing.assert_allclose(small[:, 4:-4], ramp.reshape(32, 8, 32, 8, 3).mean(axis=(1, 3))[:, 4:-4], atol=1)


def test_a_file_that_cannot_be_used_is_named_in_one_line(tmp_path: Path):
    whole = tmp_path / "whole.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)).save(whole)
    contents = {
        "text.png": b"this is no picture",
        "empty.jpg": b"",
        "half.png": whole.read_bytes()[:3000],
        "flipped.png": whole.read_bytes()[:60] + b"\xff" * 40 + whole.read_bytes()[100:],
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UsageError) as caught:
            read_picture(tmp_path / name)
        assert str(caught.value) == f"'{tmp_path / name}' cannot be read as an image"
    Image.fromarray(np.full((64, 64), 40_000, dtype=np.uint16)).save(tmp_path / "deep.png")
    with pytest.raises(UsageError, match=r"deep\.png' has more than 8 bits per channel"):
        read_picture(tmp_path / "deep.png")
    with pytest.raises(UsageError, match="there is no image file"):
        read_picture(tmp_path)


def test_a_picture_too_large_to_decode_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    Image.new("RGB", (70, 50)).save(tmp_path / "large.png")
    for limit in (3000, 1000):  # one is a warning of Pillow's, the other an error
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
        with pytest.raises(UsageError, match=f"has more than {limit:,} pixels"):
            read_picture(tmp_path / "large.png")


def test_a_folder_without_pictures_is_refused(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(UsageError, match=r"has no images \(looked for .png, "):
        find_pictures(tmp_path)
    for path in (tmp_path / "nowhere", tmp_path / "notes.txt"):
        with pytest.raises(UsageError, match="there is no folder"):
            find_pictures(path)
