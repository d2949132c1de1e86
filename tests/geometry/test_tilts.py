"""Tilts: do they tell how far the factors are off, by noise, third-order bending and a stretched metric?"""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import numpy as np
import polars
import pytest

from unweave.errors import UsageError
from unweave.geometry import DoubtfulFactors, geomancer, sample, subspace_error, whiten
from unweave.geometry.bias import LEVERAGE, bias
from unweave.geometry.neighbours import nearest
from unweave.geometry.tangents import tangent_spaces, usual_neighbours, with_bias

TABLES = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "geomancer_tables.py"))
LOW, HIGH = TABLES["LOW"], TABLES["HIGH"]


def plain_slopes(offsets: np.ndarray, frame: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights (count, k) that make slopes of the first offsets, and the residuals (count, D)."""
    u = offsets[:count] @ frame
    k = frame.shape[1]
    products = [u[:, a] * u[:, b] for a in range(k) for b in range(a + 1)]
    terms = np.column_stack([u, np.ones(count), *products])
    outside = offsets[:count] @ (np.eye(len(frame)) - frame @ frame.T)
    left = outside - terms @ np.linalg.lstsq(terms, outside, rcond=None)[0]
    hat = terms @ np.linalg.pinv(terms)
    return np.linalg.pinv(terms)[:k].T, left / np.sqrt(1 - np.diag(hat).clip(0, LEVERAGE))[:, None]


def plain_bias(points: np.ndarray, frames: np.ndarray, errors: np.ndarray, narrow: int) -> float:
    """Return what `bias` does, by NumPy's pseudoinverse, a point at a time."""
    ratios, backs, chances, spreads = [], [], [], []
    for x, frame, error in zip(points, frames, errors, strict=True):
        order = np.argsort(((points - x) ** 2).sum(axis=1), kind="stable")[: 2 * narrow + 1]
        offsets = points[order] - x
        off = np.eye(len(x)) - frame @ frame.T
        weights, left = plain_slopes(offsets, frame, 2 * narrow + 1)
        weights[: narrow + 1] -= plain_slopes(offsets, frame, narrow + 1)[0]
        change = off @ offsets.T @ weights
        chance = ((weights**2).sum(axis=1) * (left**2).sum(axis=1)).sum()
        moved = np.linalg.qr(frame + change)[0]
        again = (np.eye(len(x)) - moved @ moved.T) @ offsets.T @ plain_slopes(offsets, moved, 2 * narrow + 1)[0]
        ratios.append((change**2).sum() / chance)
        backs.append(-(change * (again @ moved.T @ frame)).sum() / chance)
        chances.append(chance / error**2)
        r = ((offsets @ frame) ** 2).sum(axis=1)
        spreads.append([(r[:count] ** 2).sum() / r[:count].sum() for count in (narrow + 1, 2 * narrow + 1)])
    near, far = np.sum(spreads, axis=0)
    real = max(np.mean(ratios) - 1, 0) * np.mean(chances)
    return np.sqrt(real) / (1 + max(np.mean(backs) / np.mean(ratios), 0)) * near / (far - near)


@pytest.mark.parametrize("name", ["E^2", "E^2 x E^2"])
def test_the_bias_is_that_of_plain_least_squares(name):
    drawn = sample(name, 300, seed=1)
    narrow = usual_neighbours(drawn.dim, 300)
    tangents = tangent_spaces(drawn.points, nearest(drawn.points, narrow), drawn.dim)
    errors = np.tan(tangents.tilts)
    found = bias(drawn.points, tangents.frames, errors, narrow)
    assert found > 0.5
    assert found == pytest.approx(plain_bias(drawn.points, tangents.frames, errors, narrow), rel=1e-5)


def test_two_neighbourhoods_give_the_third_order():
    """Of z = x³ / 10, whose fits have small neighbourhoods; its boundary adds a little."""
    x, y = np.random.default_rng(0).uniform(-1, 1, size=(2, 4000))
    points = np.stack([x, y, 0.1 * x**3], axis=1)
    near = nearest(points, 15)
    inner = np.maximum(abs(x), abs(y)) < 0.8
    tangents = tangent_spaces(points, near, 2)
    slope = 0.3 * x**2
    true = np.stack([np.ones_like(x), np.zeros_like(x), slope], axis=1) / np.hypot(1, slope)[:, None]
    off = true - (tangents.frames @ (tangents.frames.transpose(0, 2, 1) @ true[:, :, None]))[:, :, 0]
    error = np.sqrt((off[inner] ** 2).sum(axis=1).mean())
    tilts = np.tan(with_bias(points, near, tangents))[inner]
    assert 0.7 < error / np.sqrt((tilts**2).mean()) < 1.1


def test_noise_alone_and_wide_neighbourhoods_have_no_bias():
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.uniform(-1, 1, (3000, 2)), 0.01 * rng.standard_normal(3000)])
    tangents = tangent_spaces(points, nearest(points, 15), 2)
    errors = np.tan(tangents.tilts)
    assert bias(points, tangents.frames, errors, 15) < 0.6
    assert bias(points[:16], tangents.frames[:16], errors[:16], 15) == 0


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
        "S² × S²", "S² × SO(3)", "S² × S² × S²", "E² × E²", "E² × S³", "E³ × E²",
        "bumpy spheres, 0.05", "bumpy spheres, 0.15",
        "bumpy spheres, 0.15, noise 0.03", "S² × S², noise 0.05", "E² × E², noise 0.05",
        "S² × S², stretched by 1.25", "S² × S², stretched by 2", "E² × E², stretched by 1.25",
    ],
)  # fmt: skip
def test_the_tilt_tells_the_error(case):
    """Of another sample than the stored table's."""
    assert LOW < TABLES["tilt"](case, 2000, seed=1)["ratio"] < HIGH


def test_factors_far_off_are_told():
    drawn = TABLES["CASES"]["S² × S², stretched by 2"](2000, 0)
    with pytest.warns(DoubtfulFactors, match=r"^the factors are about 0\.\d\d radians off") as caught:
        geomancer(drawn.points, 4)
    assert "\n" not in str(caught[0].message)


def test_factors_that_the_spectrum_does_not_show_may_be_any():
    """Radii of 1 : 10: no gap is found; with the number given, the tilt is a right angle and nothing is sure."""
    points = TABLES["CASES"]["S² × S², radii of 1 : 10"](2000, 0).points
    with pytest.warns(DoubtfulFactors, match="no clear gap.*whiten"):
        assert geomancer(points, 4).count == 1
    with pytest.warns(DoubtfulFactors):
        asked = geomancer(points, 4, count=2)
    np.testing.assert_allclose(asked.tilts, np.pi / 2)
    assert asked.confidence.max() < 1e-12


@pytest.mark.parametrize("case", ["S² × S², radii of 1 : 30, whitened", "E² × E², stretched by 1.25, whitened"])
def test_whitening_finds_the_factors_of_any_linear_map(case):
    drawn = TABLES["CASES"][case](1000, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = geomancer(drawn.points, 4)
    assert subspace_error(found.components, drawn.frames).mean() < 0.08


def test_whitened_points_have_the_covariance_one_and_frames_move_with_them():
    drawn = sample("S^2 x S^2", 500, seed=0, ambient=8)  # two directions in which nothing varies
    white = whiten(drawn.points + 5)
    assert white.points.shape == (500, 6)
    np.testing.assert_allclose(white.points.T @ white.points / 500, np.eye(6), atol=1e-9)
    step = drawn.frames[0][:, :, 0] @ white.matrix
    basis = white.frames(drawn.frames[0])
    np.testing.assert_allclose(basis @ (basis.transpose(0, 2, 1) @ step[:, :, None]), step[:, :, None], atol=1e-9)
    with pytest.raises(UsageError, match="NaN"):
        whiten([[0.0, np.nan], [1.0, 2.0]])


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


def test_every_stored_ratio_is_within_bounds_and_what_is_not_found_is_told():
    table = polars.read_csv(TABLES["TILTS"])
    assert len(table) == len(TABLES["CASES"]) * len(TABLES["SIZES"])
    found = table.filter("right")
    assert found["ratio"].is_between(LOW, HIGH).all()
    assert len(found) > 0.85 * len(table)
    missed = table.filter(~polars.col("right"))
    assert missed["warned"].all()
    assert missed["tilt"].null_count() == len(missed)
