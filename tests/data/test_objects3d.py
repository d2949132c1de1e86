from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import unweave.data
from unweave.data import load
from unweave.data.objects3d import Objects3D, about
from unweave.data.sampling import draw_pairs
from unweave.errors import UsageError

MANY = np.arange(20_000)
TETRAHEDRON = "v 0 0 0\nv 2 0 0\nv 0 1 0\nv 0 0 3\nf 3 2 1\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


@pytest.fixture(scope="module")
def data() -> Objects3D:
    return Objects3D()


@pytest.fixture
def mesh(tmp_path: Path) -> Path:
    (tmp_path / "mine.obj").write_text(TETRAHEDRON)
    return tmp_path / "mine.obj"


def split(latents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return latents[:, :9].reshape(-1, 3, 3), latents[:, 9:]


def differences(images: np.ndarray) -> np.ndarray:
    """The root mean square of the differences in grey levels of each image from each."""
    flat = images.reshape(len(images), -1).astype(np.float64)
    squares = (flat**2).sum(axis=1)
    return np.sqrt(np.maximum(squares[:, None] + squares - 2 * flat @ flat.T, 0) / flat.shape[1])


def test_images_have_the_promised_form(data: Objects3D):
    images = data.images(np.arange(20))
    assert images.shape == (20, 64, 64, 1)
    assert images.dtype == np.uint8
    assert images.flags.c_contiguous
    assert images.flags.writeable
    assert len(data) == 100_000 == len(Objects3D.factors)
    assert 0 < data.nbytes < 1e6
    assert data.images([]).shape == (0, 64, 64, 1)
    assert np.isin([0, 51], images).all()  # behind the object, and where only ambient light comes


@pytest.mark.parametrize("size", [32, 128])
def test_other_sizes_show_the_same(data: Objects3D, size: int):
    images = Objects3D(size=size).images(np.arange(10))
    assert images.shape == (10, size, size, 1)
    small, large = sorted([images, data.images(np.arange(10))], key=np.size)
    blocks = large.reshape(10, small.shape[1], 2, small.shape[1], 2).mean(axis=(2, 4))
    assert np.abs(blocks - small[..., 0]).mean() < 1


def test_an_image_depends_on_its_index_and_the_seed_alone(data: Objects3D):
    indices = np.array([5, 99, 3, 3])
    images = data.images(indices)
    for index, image in zip(indices, images, strict=True):
        np.testing.assert_array_equal(Objects3D(n=100).images([index])[0], image)
    assert (Objects3D(seed=1).images(indices) != images).any(axis=(1, 2, 3)).all()
    assert len(np.unique(data.latents(MANY), axis=0)) == len(MANY)


def test_rotations_are_uniform(data: Objects3D):
    rotations, _ = split(data.latents(MANY))
    np.testing.assert_allclose(
        rotations @ rotations.swapaxes(1, 2), np.broadcast_to(np.eye(3), rotations.shape), atol=1e-12
    )
    np.testing.assert_allclose(np.linalg.det(rotations), 1)
    # Under Haar's measure, entries have mean 0 and E[R_ij R_kl] = 1/3 if (i, j) = (k, l), else 0.
    flat = rotations.reshape(-1, 9)
    np.testing.assert_allclose(flat.mean(axis=0), 0, atol=0.02)
    np.testing.assert_allclose(flat.T @ flat / len(flat), np.eye(9) / 3, atol=0.015)

    def angle_below(angle: np.ndarray) -> np.ndarray:  # the angle of rotation has the density (1 - cos) / π
        return (angle - np.sin(angle)) / np.pi

    fixed = about(0, np.array([1.0])) @ about(1, np.array([2.0]))
    for moved in (rotations, fixed @ rotations, rotations @ fixed, rotations[::2] @ rotations[1::2]):
        angles = np.arccos(np.clip((np.trace(moved, axis1=1, axis2=2) - 1) / 2, -1, 1))
        assert stats.kstest(angles, angle_below).pvalue > 0.01


def test_lights_are_uniform_and_independent_of_rotations(data: Objects3D):
    rotations, lights = split(data.latents(MANY))
    np.testing.assert_allclose(np.linalg.norm(lights, axis=1), 1)
    directions = np.concatenate([np.eye(3), np.random.default_rng(0).normal(size=(3, 3))])
    for direction in directions / np.linalg.norm(directions, axis=1, keepdims=True):
        assert stats.kstest(lights @ direction, stats.uniform(-1, 2).cdf).pvalue > 0.01  # Archimedes
    features = rotations.reshape(-1, 9), np.concatenate([lights, lights**2], axis=1)
    correlation = np.corrcoef(np.concatenate(features, axis=1).T)[:9, 9:]
    assert np.abs(correlation).max() < 0.03


def test_light_may_come_from_the_front_alone():
    _, lights = split(Objects3D(light="front").latents(MANY))
    assert lights[:, 2].min() > 0
    assert stats.kstest(lights[:, 2], "uniform").pvalue > 0.01
    np.testing.assert_allclose(lights[:, :2].mean(axis=0), 0, atol=0.02)


def test_latents_draw_the_images_they_belong_to(data: Objects3D):
    indices = [7, 2, 40]
    np.testing.assert_array_equal(data.render(data.latents(indices)), data.images(indices))
    front = [*np.eye(3).ravel(), 0, 0, 1]
    bright, dark = data.render([front, [*front[:11], -1]])
    assert bright.max() > 250
    assert set(np.unique(dark[24:40, 24:40])) == {51}


def test_values_are_the_tenths_of_independent_uniform_numbers(data: Objects3D):
    values, (rotations, lights) = data.values(MANY), split(data.latents(MANY))
    assert values.shape == (len(MANY), 5)
    for column in values.T:
        assert stats.chisquare(np.bincount(column, minlength=10)).pvalue > 0.01
    np.testing.assert_array_equal(values[:, 1], np.floor(5 * (1 - rotations[:, 2, 2])).clip(0, 9))
    np.testing.assert_array_equal(values[:, 4], np.floor(5 * (1 + lights[:, 2])).clip(0, 9))
    turn = np.arctan2(rotations[:, 1, 2], rotations[:, 0, 2]) % (2 * np.pi)
    assert (values[:, 0] == np.floor(10 * turn / (2 * np.pi))).mean() > 0.9999
    spin = np.arctan2(rotations[:, 2, 1], -rotations[:, 2, 0]) % (2 * np.pi)
    assert (values[:, 2] == np.floor(10 * spin / (2 * np.pi))).mean() > 0.9999
    around = np.arctan2(lights[:, 1], lights[:, 0]) % (2 * np.pi)
    assert (values[:, 3] == np.floor(10 * around / (2 * np.pi))).mean() > 0.9999


def test_no_two_rotations_look_alike():
    data = Objects3D(size=32)
    latents = data.latents(np.arange(700))
    latents[:, 9:] = [0, 0, 1]
    rotations, _ = split(latents)
    apart = differences(data.render(latents))
    cosines = (np.einsum("aij,bij->ab", rotations, rotations) - 1) / 2
    far = cosines < np.cos(np.radians(30))
    assert apart[far].min() > 15  # a turn by 5° makes about 12


@pytest.mark.parametrize("order", [2, 3, 4, 5, 6])
def test_the_object_has_no_axis_of_symmetry(order: int):
    data = Objects3D(size=32)
    n = 150
    rotations, axes = split(data.latents(np.arange(n)))
    crossed = np.cross(np.eye(3), axes[:, None])  # of each axis a, the matrix of v → a × v, up to its sign
    angle = 2 * np.pi / order
    symmetry = np.eye(3) + np.sin(angle) * crossed + (1 - np.cos(angle)) * crossed @ crossed
    views = [
        np.concatenate([r.reshape(n, 9), np.tile([0, 0, 1], (n, 1))], axis=1) for r in (rotations, rotations @ symmetry)
    ]
    before, after = (data.render(view).astype(float) for view in views)
    assert np.sqrt(((before - after) ** 2).mean(axis=(1, 2, 3))).min() > 15


def test_lights_from_elsewhere_look_different():
    data = Objects3D(size=32, light="front")
    latents = data.latents(np.arange(300))
    latents[:, :9] = latents[0, :9]
    apart = differences(data.render(latents))
    far = latents[:, 9:] @ latents[:, 9:].T < np.cos(np.radians(20))
    assert apart[far].min() > 2


def test_nothing_that_needs_a_grid_works(data: Objects3D):
    assert not data.is_grid
    assert not data.is_function
    with pytest.raises(UsageError, match="objects3d is not a full grid"):
        draw_pairs(data, 3, np.random.default_rng(0))


def test_a_mesh_of_ones_own(mesh: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(mesh.parent)
    data = Objects3D(mesh="mine.obj", n=5, size=32)
    assert len(data.mesh.triangles) == 4
    assert data.options["mesh"] == str(mesh)
    assert data.licence == "the licence of your mesh"
    again = Objects3D(**{**data.options})  # pyright: ignore[reportArgumentType]
    assert again.options == data.options
    np.testing.assert_array_equal(again.images(np.arange(5)), data.images(np.arange(5)))
    flat = Objects3D(mesh="mine.obj", n=5, size=32, smooth=False)
    assert (flat.images([0]) != data.images([0])).any()
    mesh.write_text(TETRAHEDRON.replace("3", "4"))
    with pytest.raises(UsageError, match="has changed: its digest is"):
        Objects3D(**{**data.options})  # pyright: ignore[reportArgumentType]


def test_a_description_rebuilds_the_set(mesh: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(unweave.data.DATASETS, "objects3d", Objects3D)
    name = f"objects3d:size=32,n=50,seed=3,mesh={mesh},smooth=false,field=0,samples=4,light=front,ambient=0"
    data = load(name)
    assert (len(data), data.shape) == (50, (32, 32, 1))
    again = load(**json.loads(json.dumps(data.description)))
    assert again.description == data.description
    assert again.options["field"] == 0.0
    np.testing.assert_array_equal(again.images([1, 2]), data.images([1, 2]))
    upright = load("objects3d-restricted:size=32,n=50,keep=tilt=0")
    assert set(upright.values(upright.sample(20, np.random.default_rng(0)))[:, 1]) == {0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 48}, "size must be one of 32, 64, 128, not 48"),
        ({"n": 0}, "n must be an integer from 1 to"),
        ({"n": 1.5}, "n must be an integer"),
        ({"n": True}, "n must be an integer"),
        ({"seed": -1}, "seed must be an integer from 0 to"),
        ({"mesh": "nothing.obj"}, "cannot read the mesh '.*nothing.obj': No such file"),
        ({"mesh": __file__}, "a mesh file must end in .obj, .ply"),
        ({"smooth": 1}, "smooth must be true or false, not 1"),
        ({"field": 130}, "field must be a number from 0 to 120, not 130"),
        ({"field": "wide"}, "field must be a number"),
        ({"samples": 3}, "samples must be one of 1, 2, 4, not 3"),
        ({"light": "moon"}, "light must be one of sphere, front, not 'moon'"),
        ({"ambient": -0.1}, "ambient must be a number from 0 to 1"),
        ({"ambient": float("nan")}, "ambient must be a number from 0 to 1"),
    ],
)
def test_mistakes_get_one_clear_line(options: dict, message: str):
    with pytest.raises(UsageError, match=message) as caught:
        Objects3D(**options)
    assert "\n" not in str(caught.value)


def test_bad_indices_and_latents(data: Objects3D):
    for bad, message in [
        ([100_000], "between 0 and 99999"),
        ([-1], "between"),
        ([0.5], "integers"),
        (3, "list of numbers"),
    ]:
        for ask in (data.images, data.values, data.latents):
            with pytest.raises(UsageError, match=message):
                ask(bad)
    with pytest.raises(UsageError, match=r"\(n, 9 \+ 3\), not \(1, 7\)"):
        data.render(np.zeros((1, 7)))
    with pytest.raises(UsageError, match="orthogonal"):
        data.render(np.zeros((1, 12)))
