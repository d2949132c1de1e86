"""A few labels beside any method: the term against a loop, its runs repeat, resume, and learn what they are told."""

from __future__ import annotations

import math
import os
import signal

import numpy as np
import pytest
import torch

import unweave
from unweave.data.labels import TERMS, Labels, draw_labels
from unweave.errors import UsageError
from unweave.methods import METHODS, BetaVAE, Schedule
from unweave.nets import Net
from unweave.training.supervision import COMPARE, Supervision

from .test_loop import Stop, assert_same, stop_at, weights

DATA = unweave.load("xysquares:size=32")
LABELS = Labels(count=40, weight=5, kind="partial", factors=2)


def slowly(labels: Labels, model, step: int) -> float:
    """The term, one image and one factor at a time, from a generator of the same seed."""
    rng = np.random.default_rng(3)
    labelled = draw_labels(labels, DATA, rng)
    weight = labels.weight.at(step) if isinstance(labels.weight, Schedule) else labels.weight
    total = 0.0
    for row in rng.integers(labels.count, size=labels.batch):
        index = labelled.indices[row]
        code = model.encode(model.pixels(DATA.images([index]))).mean[0].tolist()
        for j, axis in enumerate(labelled.axes):
            size = DATA.factors.sizes[axis]
            value = int(DATA.values([index])[0, axis])
            if labels.term == "l2":
                every = [v - (size - 1) / 2 for v in range(size)]
                deviation = math.sqrt(sum(v * v for v in every) / size)
                total += (code[j] - every[value] / deviation) ** 2
            else:
                share, chance = value / (size - 1), 1 / (1 + math.exp(-code[j]))
                total -= share * math.log(chance) + (1 - share) * math.log(1 - chance)
    return weight * total / labels.batch


@pytest.mark.parametrize("kind", ["perfect", "partial"])
@pytest.mark.parametrize("term", TERMS)
def test_the_term_is_that_of_a_loop(term, kind):
    model = Net("mlp", latents=7, width=0.02).build((32, 32, 3), torch.Generator().manual_seed(0))
    labels = Labels(count=30, weight=Schedule(0, 8, 10), term=term, kind=kind, batch=12)
    supervision = Supervision(labels, DATA, np.random.default_rng(3))
    assert supervision.term(model, 5).item() == pytest.approx(slowly(labels, model, 5), rel=1e-4)
    gradient = torch.autograd.grad(supervision.term(model, 5), model.get_parameter("bottleneck.mean.weight"))[0]
    told = len(supervision.labelled.axes)
    assert gradient[:told].abs().sum(1).min() > 0
    assert not gradient[told:].any()  # latents without a label are left alone


def test_every_term_can_be_compared():
    assert tuple(COMPARE) == TERMS


def test_the_log_adds_up_and_unlabelled_runs_stay_as_they_were(quick_train, tmp_path):
    plain = quick_train()
    labelled = quick_train(labels=LABELS, out=tmp_path / "labelled")
    free = quick_train(labels=Labels(count=40, weight=0, kind="partial"), out=tmp_path / "free")
    log = labelled.log()
    assert log.columns == ["step", "loss", "reconstruction", "kl", "supervised"]
    np.testing.assert_allclose(log["loss"], log["reconstruction"] + log["kl"] + log["supervised"], rtol=1e-6)
    np.testing.assert_equal(weights(free), weights(plain))  # labels draw from a stream of their own
    assert (weights(labelled)["bottleneck.mean.weight"] != weights(plain)["bottleneck.mean.weight"]).any()
    assert "labels" not in plain.config
    assert labelled.settings.labels == Labels(count=40, weight=5.0, kind="partial", factors=2, batch=16)
    assert len({plain.id, labelled.id, free.id}) == 3


@pytest.mark.parametrize("kind", ["perfect", "noisy", "binned", "partial"])
def test_a_resumed_run_equals_an_uninterrupted_one(quick_train, tmp_path, kind):
    options = {"labels": Labels(count=50, weight=Schedule(0, 5, 20), kind=kind, batch=5), "latents": 6}
    whole = quick_train(**options)
    with pytest.raises(Stop):
        quick_train(**options, out=tmp_path / "cut", on_result=stop_at(14))
    assert_same(whole, quick_train(**options, out=tmp_path / "cut"))


def test_an_interrupt_saves_a_checkpoint_and_the_run_goes_on(quick_train, tmp_path):
    whole = quick_train(labels=LABELS)

    def interrupt(row: dict[str, float]) -> None:
        if row["step"] == 14:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        quick_train(labels=LABELS, out=tmp_path / "cut", checkpoint_every=1000, on_result=interrupt)
    assert unweave.Run.open(tmp_path / "cut").state == "unfinished"
    assert_same(whole, quick_train(labels=LABELS, out=tmp_path / "cut", checkpoint_every=1000, resume=True))


@pytest.mark.parametrize("name", METHODS)
def test_any_method_takes_labels(name, quick_train):
    log = quick_train(method=name, labels=LABELS, steps=3, batch=6, latents=6, log_every=1).log()
    parts = log.columns[2:]
    terms = [part for part in parts if not part.startswith("diagnostics/")]
    assert "supervised" in terms
    np.testing.assert_allclose(log["loss"], sum(log[term] for term in terms), rtol=1e-5)


@pytest.mark.parametrize("term", TERMS)
def test_labelled_latents_follow_their_factors(quick_train, term):
    """On xysquares, where an unsupervised model learns no order: two named factors, told by 500 labels."""
    labels = Labels(count=500, weight=100, term=term, kind="partial", factors="y_R,x_B")
    run = quick_train(method=BetaVAE(beta=1), labels=labels, steps=120, width=0.05, latents=6, lr=3e-3)
    names = run.data.factors.names
    indices = np.random.default_rng(1).integers(len(run.data), size=1000)
    codes, factors = run.encode(run.data.images(indices)), run.data.values(indices)
    for latent, name in enumerate(sorted(["y_R", "x_B"], key=names.index)):
        assert np.corrcoef(codes[:, latent], factors[:, names.index(name)])[0, 1] > 0.8


def test_mistakes_leave_no_folder_behind(quick_train, tmp_path):
    with pytest.raises(UsageError, match="6 labelled factors need as many latents, not 4; or use partial labels"):
        quick_train(labels=Labels())
    assert not (tmp_path / "run").exists()
    quick_train(labels=LABELS)
    with pytest.raises(UsageError, match=r"labels\.count 40 → 41.*choose another folder"):
        quick_train(labels=Labels(count=41, weight=5, kind="partial", factors=2))
    with pytest.raises(UsageError, match=r"labels\.count 40 → absent"):
        quick_train()
