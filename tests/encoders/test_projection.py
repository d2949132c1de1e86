"""Codes brought to one width."""

from __future__ import annotations

import json
from functools import partialmethod

import numpy as np
import pytest

from unweave.encoders import encode, project
from unweave.encoders.sparse import SparseSettings
from unweave.errors import UsageError


def test_pca_keeps_the_directions_of_most_variance():
    rng = np.random.default_rng(0)
    codes = (rng.normal(size=(300, 6)) * [5, 4, 3, 0.1, 0.1, 0.1]) @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
    found, record = project(codes, "pca", 3)
    centred = codes - codes.mean(0)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(found), np.abs(centred @ directions[:3].T), rtol=1e-3, atol=1e-3)
    assert record["variance"] == pytest.approx((sizes[:3] ** 2).sum() / (sizes**2).sum())
    assert (record["kind"], record["width"]) == ("pca", 3)


def test_ica_unmixes_what_pca_does_not():
    rng = np.random.default_rng(0)
    sources = rng.uniform(-1, 1, (4000, 3))
    mixed = sources @ rng.normal(size=(3, 8))
    best = {
        kind: np.abs(np.corrcoef(project(mixed, kind, 3)[0].T, sources.T)[:3, 3:]).max(0).min()
        for kind in ("ica", "pca")
    }
    assert best["ica"] > 0.99 > best["pca"]
    assert project(mixed, "ica", 3)[1]["converged"]
    with pytest.raises(UsageError, match="ica cannot make 5 columns from 3 directions"):
        project(mixed, "ica", 5)


def test_sparse_takes_any_width_and_records_its_fit(monkeypatch):
    codes = np.random.default_rng(0).normal(size=(50, 6))
    monkeypatch.setattr(SparseSettings, "__init__", partialmethod(SparseSettings.__init__, steps=5))
    for width, expected in ((1, 1), (3, 3), (20, 20), (None, 6)):
        found, record = project(codes, "sparse", width)
        assert found.shape == (50, expected)
        assert record["width"] == record["settings"]["features"] == expected
        assert record["settings"]["k"] == min(8, expected)
        assert record["l0"] == pytest.approx((found > 0).sum(1).mean())
        assert record["unexplained"] >= 0
        json.dumps(record)


def test_baselines_are_projections_of_pixels(data):
    pixels = encode("pixels", data, samples=30)
    assert np.array_equal(pixels.codes, data.images(pixels.indices).reshape(30, -1).astype(np.float32) / 255)
    found = encode("pca", data, samples=30, width=4)
    np.testing.assert_allclose(found.codes, project(pixels.codes, "pca", 4)[0], rtol=1e-5, atol=1e-6)
    assert (found.record["encoder"], found.record["projection"]["from"]) == ("pca", 192)
    assert encode("ica", data, samples=30, width=4).codes.std(0) == pytest.approx(np.ones(4), rel=0.02)
    assert encode("pixels:size=2", data, samples=30).codes.shape == (30, 12)
    assert encode("pca", data, samples=30).codes.shape == (30, 30)
