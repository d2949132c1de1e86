"""The same data are the same wherever they lie, and runs name their place from their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unweave.data import Table, load, load_again
from unweave.data.identity import data_identity, with_absolute_path, with_relative_path
from unweave.errors import UsageError

IMAGES = np.random.default_rng(0).integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)


def test_own_data_are_their_content(tmp_path: Path):
    np.savez(tmp_path / "my.npz", images=IMAGES)
    identities = [data_identity(data.description) for data in (Table(IMAGES), load(tmp_path / "my.npz"))]
    assert identities[0] == identities[1] == {"name": "own", "digest": Table(IMAGES).digest}
    kept = load(f"{tmp_path}/my.npz", factors="none", size=8)
    assert data_identity(kept.description) == identities[0]
    assert data_identity({"name": "npz-restricted", "path": "a", "digest": "0", "keep": "x=1"}) == {
        "name": "own-restricted",
        "digest": "0",
        "keep": "x=1",
    }


def test_other_data_are_their_options_but_not_their_place():
    assert data_identity(load("xysquares").description) == load("xysquares").description
    assert data_identity({"name": "dsprites", "path": "/somewhere"}) == {"name": "dsprites"}
    mesh = {"name": "objects3d", "mesh": "/a.ply", "digest": "0", "size": 64}
    assert data_identity(mesh) == mesh


def test_a_path_is_written_from_the_run_and_read_from_there(tmp_path: Path):
    description = {"name": "npz", "path": str(tmp_path / "data" / "my.npz"), "digest": "0"}
    written = with_relative_path(description, tmp_path / "runs" / "first")
    assert written == {**description, "path": "../../data/my.npz"}
    assert with_absolute_path(written, tmp_path / "runs" / "first") == description
    assert with_absolute_path(description, tmp_path / "elsewhere") == description  # as earlier versions wrote it
    assert with_relative_path({"name": "xysquares"}, tmp_path) == {"name": "xysquares"}


def test_data_are_read_again_from_where_they_are_now(tmp_path: Path):
    np.savez(tmp_path / "my.npz", images=IMAGES)
    data = load(tmp_path / "my.npz", size=4)
    moved = (tmp_path / "my.npz").rename(tmp_path / "moved.npz")
    for given in (moved, str(moved), f"{moved}:size=4", data, data.images(np.arange(6))):
        again = load_again(data.description, given)
        assert data_identity(again.description) == data_identity(data.description)
        np.testing.assert_array_equal(again.images([3]), data.images([3]))


def test_other_data_are_refused_with_both_digests(tmp_path: Path):
    data, other = Table(IMAGES), Table(IMAGES[::-1])
    np.savez(tmp_path / "my.npz", images=IMAGES[::-1])
    for given in (other, tmp_path / "my.npz", IMAGES[::-1]):
        with pytest.raises(UsageError, match=f"digest {data.digest}, but the given data are .* digest {other.digest}"):
            load_again(data.description, given)
    with pytest.raises(UsageError, match=f"other images or factors: its digest is {other.digest}, not {data.digest}"):
        load_again({"name": "npz", "path": "gone.npz", "digest": data.digest}, tmp_path / "my.npz")
    with pytest.raises(UsageError, match="trained on xysquares:spacing=8,size=64, but the given data are xyobject:"):
        load_again(load("xysquares").description, "xyobject")
