from __future__ import annotations

import json

import numpy as np
import pytest

from unweave.geometry import Factorisation, sample


@pytest.fixture
def points(tmp_path):
    np.save(tmp_path / "points.npy", sample("S^2 x S^2", 1000).points)
    return tmp_path / "points.npy"


def test_factors_are_shown_and_saved(cli, points, tmp_path):
    code, out, err = cli("geomancer", points, "--dim", "4", "--out", tmp_path / "factors.npz")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["factors", "2"]
    assert lines[1].split() == ["dimensions", "2", "+", "2"]
    assert lines[2].split()[2] == "|"
    assert lines[-1].startswith("next: python -c ")
    assert Factorisation.read(tmp_path / "factors.npz").axes.shape == (1000, 6, 4)


def test_an_estimated_dimension_comes_with_its_evidence(cli, points, tmp_path):
    code, out, err = cli("geomancer", points, "--out", tmp_path / "factors.npz")
    assert (code, err) == (0, "")
    words = out.splitlines()[0].split()
    assert words[:3] == ["estimated", "4", "dimensions;"]
    assert float(words[-2].replace(",", "")) > 100


def test_a_curve_has_no_factors(cli, tmp_path):
    np.save(tmp_path / "curve.npy", sample("S^1", 100).points)
    code, out, err = cli("geomancer", tmp_path / "curve.npy", "--out", tmp_path / "factors.npz")
    assert (code, out) == (2, "")
    assert err.startswith("unweave: the points seem to lie on a curve")


def test_factors_for_machines(cli, points, tmp_path):
    code, out, err = cli("geomancer", points, "--dim", "4", "--out", tmp_path / "factors.npz", "--json")
    assert (code, err) == (0, "")
    seen = json.loads(out)
    assert (seen["points"], seen["dim"], seen["count"], seen["dims"]) == (1000, 4, 2, [2, 2])
    assert len(seen["spectrum"]) == 10


@pytest.mark.filterwarnings("default::unweave.geometry.DoubtfulFactors")
def test_one_factor_is_told_with_what_to_try(cli, tmp_path):
    np.save(tmp_path / "one.npy", sample("S^3", 400).points)
    code, out, err = cli("geomancer", tmp_path / "one.npy", "--dim", "3", "--out", tmp_path / "a.npz")
    assert code == 0
    assert err.startswith("unweave: warning: the spectrum has no clear gap")
    assert out.endswith(f"next: unweave geomancer {tmp_path}/one.npy --dim 3 --neighbours 12 --out {tmp_path}/a.npz\n")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--out", "factors.txt"), "--out must be a .npz file"),
        (("--out", "nowhere/factors.npz"), "there is no folder 'nowhere'"),
        (("--out", "a.npz", "--dim", "7"), "the dimension must be between 2 and the 6 coordinates"),
        (("--out", "a.npz", "--seed", "-1"), "--seed must be 0 or more"),
    ],
)
def test_mistakes(cli, points, words, says):
    code, out, err = cli("geomancer", points, *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"unweave: {says}")
