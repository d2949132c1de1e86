"""Runs on groups and on small steps: as many images as asked, and resumed bit for bit."""

from __future__ import annotations

import pytest

from unweave.methods import GVAE, MLVAE, AdaGVAE, AdaMLVAE, SlowVAE

from .test_loop import Stop, assert_same, stop_at

METHODS = [
    GVAE(group=3),
    MLVAE(group=3, always_shared="x_R"),
    AdaGVAE(group=4, rule="laplace"),
    AdaMLVAE(group=3, rule="dlib"),
    SlowVAE(rule="laplace", step_rate=2.0, always_shared="x_R,y_B"),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_a_resumed_run_equals_an_uninterrupted_one(quick_train, tmp_path, method):
    options = {"method": method, "latents": 6, "batch": 6}
    whole = quick_train(**options)
    with pytest.raises(Stop):
        quick_train(**options, out=tmp_path / "cut", on_result=stop_at(14))
    assert_same(whole, quick_train(**options, out=tmp_path / "cut"))
    assert whole.settings.method == whole.settings.from_json(whole.config).method


def test_a_batch_has_as_many_images_as_groups_times_their_size(quick_train, monkeypatch):
    seen = []
    terms = GVAE.terms

    def spied(self, model, batch, *rest):
        seen.append((len(batch.x), batch.group_size, len(batch.factors)))
        return terms(self, model, batch, *rest)

    monkeypatch.setattr(GVAE, "terms", spied)
    quick_train(method=GVAE(group=5), latents=6, batch=4, steps=2)
    assert seen == [(20, 5, 20)] * 2
