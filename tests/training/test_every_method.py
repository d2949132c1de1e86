"""Every method of the table: it trains without NaN, resumes bit for bit, can be read again, and its objective falls."""

from __future__ import annotations

import numpy as np
import pytest

import unweave
from unweave.errors import UsageError
from unweave.methods import METHODS
from unweave.methods.pairs import Pairs

from .test_loop import Stop, assert_same, stop_at

every_method = pytest.mark.parametrize("name", METHODS)


@every_method
def test_it_resumes_bit_for_bit(name, quick_train, tmp_path):
    options = {"method": name, "steps": 12, "log_every": 3, "checkpoint_every": 6, "batch": 8, "latents": 6}
    whole = quick_train(**options, out=tmp_path / "whole")
    with pytest.raises(Stop):
        quick_train(**options, out=tmp_path / "cut", on_result=stop_at(9))
    assert_same(whole, quick_train(**options, out=tmp_path / "cut"))
    again = unweave.Run.open(whole.path)
    assert again.settings.method == whole.settings.method
    assert np.isfinite(again.encode(again.data.images(np.arange(4)))).all()
    assert all(np.isfinite(whole.log()[column].to_numpy()).all() for column in whole.log().columns)


@every_method
def test_its_objective_falls(name, quick_train):
    """From the first steps to the last, on average; a term that is scheduled to grow has not grown much by then."""
    loss = quick_train(method=name, steps=150, log_every=10, width=0.05, latents=6).log()["loss"].to_numpy()
    assert loss[-3:].mean() < loss[:2].mean()


@pytest.mark.parametrize("name", [name for name, kind in METHODS.items() if issubclass(kind, Pairs)])
def test_pairs_need_a_grid(name, tmp_path):
    rng = np.random.default_rng(0)
    table = unweave.data.Table(rng.integers(0, 255, (60, 8, 8, 1), np.uint8), rng.integers(0, 3, (60, 3)))
    with pytest.raises(UsageError, match=r"needs every combination of factors|full grid of factors"):
        unweave.train(name, data=table, out=tmp_path / "run", steps=2, batch=4)
    assert not (tmp_path / "run").exists()
