"""Tilts: do they tell how far the factors are off, by noise, third-order bending and a stretched metric?"""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import numpy as np
import polars
import pytest

from unweave.geometry import DoubtfulFactors, geomancer, sample
from unweave.geometry.neighbours import nearest
from unweave.geometry.tangents import coefficients, tangent_spaces, usual_neighbours, with_bias
from unweave.geometry.third_order import SIZE, bias

TABLES = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "geomancer_tables.py"))
LOW, HIGH = TABLES["LOW"], TABLES["HIGH"]


def plain_bias(points: np.ndarray, near: np.ndarray, frames: np.ndarray) -> float:
    """Return what `bias` does, by NumPy's least squares, a point at a time."""
    n, m = near.shape
    k = frames.shape[2]
    bends, places = np.empty_like(points), []
    for i in range(n):
        offsets = np.concatenate([points[near[i]] - points[i], np.zeros((1, points.shape[1]))])
        u = offsets @ frames[i]
        pairs = [(a, b) for a in range(k) for b in range(a + 1)]
        terms = np.column_stack([*(u[:, a] * u[:, b] for a, b in pairs), np.ones(m + 1), u])
        found = np.linalg.lstsq(terms, offsets, rcond=None)[0]
        bends[i] = sum(found[row] for row, (a, b) in enumerate(pairs) if a == b)
        bends[i] -= frames[i] @ (frames[i].T @ bends[i])
        places.append(u)
    squares = []
    for i, u in enumerate(places):
        around = bends[[*near[i], i]]
        around = around - around @ frames[i] @ frames[i].T
        terms = np.column_stack([np.ones(m + 1), u])
        found = np.linalg.lstsq(terms, around, rcond=None)[0]
        left = ((around - terms @ found) ** 2).sum() / (m - k)
        chance = left * np.trace(np.linalg.inv(terms.T @ terms)[1:, 1:])
        r = (u**2).sum(axis=1)
        squares.append(((found[1:] ** 2).sum() - chance) * ((r**2).sum() / r.sum() / (k + 2)) ** 2)
    return SIZE * np.sqrt(max(np.mean(squares), 0))


@pytest.mark.parametrize("name", ["E^2", "E^2 x E^2"])
def test_the_bias_is_that_of_plain_least_squares(name):
    drawn = sample(name, 300, seed=1)
    near = nearest(drawn.points, usual_neighbours(drawn.dim, 300))
    frames = tangent_spaces(drawn.points, near, drawn.dim).frames
    found = bias(drawn.points, near, frames, coefficients(drawn.dim))
    assert found > 0.01
    assert found == pytest.approx(plain_bias(drawn.points, near, frames), rel=1e-5)


def test_the_gradient_of_the_bending_gives_the_third_order():
    """Of z = x³ / 10, whose fits have small neighbourhoods: what is found is the error itself, without `SIZE`."""
    x, y = np.random.default_rng(0).uniform(-1, 1, size=(2, 4000))
    points = np.stack([x, y, 0.1 * x**3], axis=1)
    near = nearest(points, 15)
    inner = np.maximum(abs(x), abs(y)) < 0.8
    frames = tangent_spaces(points, near, 2).frames
    slope = 0.3 * x**2
    true = np.stack([np.ones_like(x), np.zeros_like(x), slope], axis=1) / np.hypot(1, slope)[:, None]
    off = true - (frames @ (frames.transpose(0, 2, 1) @ true[:, :, None]))[:, :, 0]
    error = np.sqrt((off[inner] ** 2).sum(axis=1).mean())
    assert bias(points, near, frames, 7) / SIZE == pytest.approx(error, rel=0.1)


def test_a_plane_and_points_without_a_fit_have_no_bias():
    points = np.column_stack([np.random.default_rng(0).normal(size=(200, 2)), np.zeros(200)])
    near = nearest(points, 15)
    tangents = tangent_spaces(points, near, 2)
    np.testing.assert_allclose(with_bias(points, near, tangents), tangents.tilts, atol=1e-6)
    few = tangent_spaces(points, near[:, :5], 2)
    np.testing.assert_array_equal(with_bias(points, near[:, :5], few), few.tilts)


@pytest.mark.parametrize(
    "case",
    [
        "S² × S²", "S² × SO(3)", "S² × S² × S²", "E² × E²", "E² × S³", "bumpy spheres, 0.05", "bumpy spheres, 0.15",
        "bumpy spheres, 0.15, noise 0.03", "S² × S², noise 0.05", "E² × E², noise 0.05",
        "S² × S², stretched by 1.25", "S² × S², stretched by 2", "E² × E², stretched by 1.25",
    ],
)  # fmt: skip
def test_the_tilt_tells_the_error(case):
    """Of another sample than the stored table's."""
    assert LOW < TABLES["tilt"](case, 2000, seed=1)["ratio"] < HIGH


@pytest.mark.parametrize("case", ["S² × S², radii of 1 : 30", "S² × S², stretched by 2"])
def test_factors_far_off_are_told(case):
    drawn = TABLES["CASES"][case](2000, 0)
    with pytest.warns(DoubtfulFactors, match=r"^the factors are about 0\.\d\d radians off") as caught:
        geomancer(drawn.points, 4)
    assert "\n" not in str(caught[0].message)


def test_factors_nearly_right_get_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = geomancer(TABLES["CASES"]["S² × S², stretched by 1.25"](2000, 0).points, 4)
    assert found.dims == (2, 2)
    assert 0 < found.tilts.mean() < 0.15


def test_the_true_spaces_of_bumpy_spheres():
    """The benchmark's own: a near point of the surface lies in the tangent space but for the square of its distance."""
    drawn = TABLES["CASES"]["bumpy spheres, 0.15"](100, 0)
    far = sample("S^2 x S^2", 100, seed=0)
    for own, frame in zip((slice(0, 3), slice(3, 6)), far.frames, strict=True):
        x = far.points[:, own] + 1e-5 * frame[:, own, 0]
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        step = x * (1 + 0.15 * (3 * x[:, 0] * x[:, 1] + 2 * x[:, 2] ** 3 - x[:, 2]))[:, None] - drawn.points[:, own]
        truth = drawn.frames[own.start // 3][:, own]
        out = step - (truth @ (truth.transpose(0, 2, 1) @ step[:, :, None]))[:, :, 0]
        assert np.linalg.norm(out, axis=1).max() < 1e-3 * np.linalg.norm(step, axis=1).min()


@pytest.mark.parametrize("name", ["tilts", "public"])
def test_the_tables_of_the_page_are_those_of_the_stored_files(name):
    page = TABLES["PAGE"].read_text()
    assert f"<!-- {name} -->\n{TABLES[f'{name}_table']()}\n<!-- /{name} -->" in page


def test_every_stored_ratio_is_within_bounds_or_told():
    """One row is neither, and the page says so: ellipsoids of five dimensions at few points."""
    table = polars.read_csv(TABLES["TILTS"])
    assert len(table) == len(TABLES["CASES"]) * len(TABLES["SIZES"])
    silent = table.filter(~polars.col("ratio").is_between(LOW, HIGH) & ~polars.col("warned"))
    assert silent.select("case", "n").rows() == [("E³ × E²", 2000)]
    assert table.filter(~polars.col("right"))["warned"].all()
