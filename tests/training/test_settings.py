"""Weight decay, clipping, methods' random choices, diagnostics, and what data and run fill in."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import unweave
from unweave.errors import UsageError
from unweave.methods import (
    HFS,
    QLAE,
    AdaTVAE,
    AnnealedVAE,
    BetaTCVAE,
    BetaVAE,
    FactorVAE,
    Schedule,
    Tripod,
    UnsupervisedAdaTVAE,
)

from .test_loop import Stop, assert_same, stop_at, weights


def decays(name: str) -> bool:
    return name.endswith("weight")


@pytest.mark.parametrize("net", ["mlp", "qlae"])  # the second has normalisations, whose scales decay too
def test_decay_is_decoupled_and_of_weights_alone(net, quick_train, tmp_path):
    """After one step: what Adam gives, less lr * decay times where the step began."""
    lr, decay = 1e-3, 0.7
    still, plain, decayed = (
        weights(quick_train(method=QLAE(), steps=1, net=net, out=tmp_path / str(i), lr=rate, weight_decay=w))
        for i, (rate, w) in enumerate([(1e-12, 0.0), (lr, 0.0), (lr, decay)])
    )
    for name, start in still.items():
        taken = lr * decay * start if decays(name) else 0 * start
        np.testing.assert_allclose(decayed[name], plain[name] - taken, atol=2e-7, err_msg=name)
    assert any(decays(name) and np.abs(plain[name] - value).max() > 1e-5 for name, value in decayed.items())


def test_clipping_cuts_every_entry_of_the_gradient(quick_train, monkeypatch):
    seen = []
    step = torch.optim.Adam.step

    def spy(self, *given):
        seen.append([p.grad.detach().clone() for group in self.param_groups for p in group["params"]])
        return step(self, *given)

    monkeypatch.setattr(torch.optim.Adam, "step", spy)
    out = quick_train(steps=1).path.parent
    quick_train(steps=1, clip=0.5, out=out / "clipped")
    whole, clipped = seen
    assert any((gradient.abs() > 0.5).any() for gradient in whole)
    for before, after in zip(whole, clipped, strict=True):
        torch.testing.assert_close(after, before.clamp(-0.5, 0.5))


def test_decay_and_clipping_resume_and_are_remembered(quick_train, tmp_path):
    options = {"weight_decay": 0.1, "clip": 1.0}
    whole = quick_train(**options)
    with pytest.raises(Stop):
        quick_train(**options, out=tmp_path / "cut", on_result=stop_at(14))
    assert_same(whole, quick_train(**options, out=tmp_path / "cut"))
    training = unweave.Run.open(whole.path).settings.training
    assert (training.weight_decay, training.clip) == (0.1, 1.0)


@pytest.mark.parametrize("options", [{"weight_decay": -0.1}, {"clip": float("nan")}])
def test_bad_decay_and_clipping_are_refused(quick_train, options):
    with pytest.raises(UsageError, match="must be a number that is not negative"):
        quick_train(**options)


@pytest.mark.parametrize("method", [HFS(pairs=2), Tripod(), UnsupervisedAdaTVAE(triplets=8), AdaTVAE()])
def test_random_choices_of_methods_differ_between_seeds(quick_train, tmp_path, monkeypatch, method):
    """The streams that a batch brings: new at every step, the same for one seed, and another for another."""
    states = []
    terms = type(method).terms

    def spy(self, model, batch, q, z, step):
        states.append(batch.choices.get_state().tolist())
        return terms(self, model, batch, q, z, step)

    monkeypatch.setattr(type(method), "terms", spy)
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        quick_train(method=method, steps=2, batch=6, seed=seed, out=tmp_path / name)
    (a0, a1), (b0, b1), (c0, _) = states[:2], states[2:4], states[4:]
    assert (a0, a1) == (b0, b1)
    assert a0 != c0
    assert (a0 != a1) == (not isinstance(method, AdaTVAE))  # whose triplets come with the batch


def test_what_is_watched_is_logged_and_not_optimised(quick_train):
    run = quick_train(method=AnnealedVAE(gamma=3, capacity=2.5), log_every=1)
    log = run.log()
    assert log.columns == ["step", "loss", "reconstruction", "capacity", "diagnostics/kl"]
    np.testing.assert_allclose(log["loss"], log["reconstruction"] + log["capacity"], rtol=1e-6)
    np.testing.assert_allclose(log["capacity"], 3 * np.abs(log["diagnostics/kl"] - 2.5), rtol=1e-4, atol=1e-5)


def test_an_adversary_is_watched_and_asks_for_another_batch_only_where_it_needs_one(quick_train, tmp_path, monkeypatch):
    sizes = []
    kind = type(unweave.load("xysquares:size=32"))
    images = kind.images

    def counting(self, indices):
        sizes.append(len(indices))
        return images(self, indices)

    monkeypatch.setattr(kind, "images", counting)
    log = quick_train(method=FactorVAE(adversary_units=8), steps=3).log()
    assert log.columns[2:] == ["reconstruction", "kl", "total_correlation", "diagnostics/adversary"]
    assert sizes == [16] * 6
    sizes.clear()
    quick_train(method=FactorVAE(adversary_units=8, same_batch=True), steps=3, out=tmp_path / "same")
    assert sizes == [16] * 3


def test_the_data_and_the_run_fill_in_what_is_left_to_them(quick_train, tmp_path):
    run = quick_train(method=BetaTCVAE(estimator="stratified", beta=Schedule(1, 6, share=0.5)), steps=6)
    assert run.settings.method == BetaTCVAE(
        estimator="stratified", beta=Schedule(1, 6, 3), data_size=len(run.data), loss="bce"
    )
    lowered = quick_train(method=AdaTVAE(), steps=6, out=tmp_path / "lowered").config["method"]["omega"]
    assert lowered == "1:0.5@6"


def test_a_share_is_the_same_run_as_its_steps(quick_train):
    first = quick_train(method=BetaVAE(beta=Schedule(1, 6, share=0.5)))
    assert quick_train(method=BetaVAE(beta=Schedule(1, 6, 15))).id == first.id
