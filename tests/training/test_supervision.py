"""A few labels beside any method: the term against a loop, its runs repeat, resume, and learn what they are told."""

from __future__ import annotations

import math
import os
import signal

import numpy as np
import pytest
import torch
from torch import nn

import unweave
from unweave.config import Config
from unweave.data.labels import KINDS, TERMS, Labelled, Labels, draw_labels
from unweave.errors import UsageError
from unweave.methods import METHODS, BetaVAE, JointVAE, Schedule
from unweave.nets import Net
from unweave.training.supervision import COMPARE, Embedding, Supervision

from .test_loop import Stop, assert_same, stop_at, weights

DATA = unweave.load("xysquares:size=32")
LABELS = Labels(count=40, weight=5, kind="partial", factors=2)


def slowly(labels: Labels, model, step: int) -> float:
    """The term, one image and one factor at a time, from a generator of the same seed."""
    if labels.term == "cov":
        return slow_covariance(labels, model, step)
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
            elif labels.term == "embed":  # all values at one place: none is likelier
                total += math.log(size)
            else:
                share, chance = value / (size - 1), 1 / (1 + math.exp(-code[j]))
                total -= share * math.log(chance) + (1 - share) * math.log(1 - chance)
    return weight * total / labels.batch


def slow_covariance(labels: Labels, model, step: int) -> float:
    """The squared covariances of every latent and every other's factor, from sums over images."""
    rng = np.random.default_rng(3)
    labelled = draw_labels(labels, DATA, rng)
    rows = rng.integers(labels.count, size=labels.batch)
    codes = model.encode(model.pixels(DATA.images(labelled.indices[rows]))).mean.tolist()
    values = DATA.values(labelled.indices[rows])[:, labelled.axes].tolist()
    total = 0.0
    for j, axis in enumerate(labelled.axes):
        size = DATA.factors.sizes[axis]
        deviation = math.sqrt(sum((v - (size - 1) / 2) ** 2 for v in range(size)) / size)
        for i in set(range(model.latents)) - {j}:
            ms, ts = [code[i] for code in codes], [value[j] / deviation for value in values]
            products = sum(m * t for m, t in zip(ms, ts, strict=True)) / labels.batch
            total += (products - sum(ms) / labels.batch * sum(ts) / labels.batch) ** 2
    assert isinstance(labels.weight, Schedule)
    return labels.weight.at(step) * total


@pytest.mark.parametrize("kind", ["perfect", "partial"])
@pytest.mark.parametrize("term", TERMS)
def test_the_term_is_that_of_a_loop(term, kind):
    model = Net("mlp", latents=7, width=0.02).build((32, 32, 3), torch.Generator().manual_seed(0))
    labels = Labels(count=30, weight=Schedule(0, 8, 10), term=term, kind=kind, batch=12)
    supervision = Supervision(labels, DATA, np.random.default_rng(3))
    assert supervision.term(model, 5).item() == pytest.approx(slowly(labels, model, 5), rel=1e-4)
    if supervision.embedding is not None:
        nn.init.normal_(supervision.embedding.places, generator=torch.Generator().manual_seed(1))
    gradient = torch.autograd.grad(supervision.term(model, 5), model.get_parameter("bottleneck.mean.weight"))[0]
    told = len(supervision.labelled.axes)
    assert gradient[:told].abs().sum(1).min() > 0
    if term == "cov":
        assert gradient.abs().sum(1).min() > 0  # no latent may vary with another's factor
    else:
        assert not gradient[told:].any()  # latents without a label are left alone


def test_every_term_can_be_compared():
    assert (*COMPARE, "embed") == TERMS


def test_covariances_of_the_factors_themselves_are_free():
    """Codes that are the standardised factors, all combinations once: nothing is penalised but a latent too many."""
    targets = torch.cartesian_prod(torch.tensor([-1.0, 1.0]), torch.tensor([-1.5, 0.0, 1.5]))
    assert COMPARE["cov"](5 * targets, targets).item() == pytest.approx(0, abs=1e-10)
    assert COMPARE["cov"](targets.flip(1), targets).item() == pytest.approx(1 + 1.5**2, rel=1e-6)
    third = torch.cat([targets, 2 * targets[:, :1]], 1)  # variance 1, times 2, squared
    assert COMPARE["cov"](third, targets).item() == pytest.approx(4, rel=1e-6)


@pytest.mark.parametrize("sharpness", [0.0, 1.7])
def test_embed_is_the_cross_entropy_of_a_softmax_over_places(sharpness):
    sizes, generator = [2, 4], torch.Generator().manual_seed(0)
    labelled = Labelled(np.arange(3), np.arange(2), np.zeros((3, 2), "f4"), np.ones(2, "f4"), np.array(sizes))
    embedding = Embedding(labelled, sharpness)
    with torch.no_grad():
        embedding.places.normal_(generator=generator)
        if embedding.log_sharpness is not None:
            embedding.log_sharpness.normal_(generator=generator)
    codes, classes = torch.randn(3, 5, generator=generator), [[0, 3], [1, 1], [1, 0]]
    total = 0.0
    for code, labels in zip(codes.tolist(), classes, strict=True):
        for j, (size, label) in enumerate(zip(sizes, labels, strict=True)):
            sharp = sharpness if embedding.log_sharpness is None else math.exp(embedding.log_sharpness[j].item())
            near = [math.exp(-((sharp * (code[j] - embedding.places[j, v].item())) ** 2)) for v in range(size)]
            total -= math.log(near[label] / sum(near))
    found = embedding(codes, torch.tensor(classes))
    assert found.item() == pytest.approx(total / 3, rel=1e-5)
    (gradient,) = torch.autograd.grad(found, embedding.places)
    assert not gradient[0, 2:].any()  # there are no such values
    assert gradient[1].all()
    assert (embedding.log_sharpness is None) == (sharpness > 0)


@pytest.mark.parametrize("term", TERMS)
def test_only_embed_does_not_care_how_values_are_named(quick_train, tmp_path, term):
    """The same images in the same order, labels renamed: with a place for each value, runs are one up to rounding."""
    logs = []
    for kind in ("perfect", "permuted"):
        labels = Labels(count=40, weight=5, term=term, kind=kind)
        logs.append(quick_train(labels=labels, latents=6, out=tmp_path / kind, log_every=1).log()["supervised"])
    assert logs[0].to_list() != [0.0] * len(logs[0])
    same = np.allclose(logs[0], logs[1], rtol=1e-3)
    assert same == (term == "embed")


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


@pytest.mark.parametrize(
    ("kind", "term"), [*((kind, "l2") for kind in KINDS), ("perfect", "cov"), ("perfect", "embed"), ("binned", "embed")]
)
def test_a_resumed_run_equals_an_uninterrupted_one(quick_train, tmp_path, kind, term):
    options = {"labels": Labels(count=50, weight=Schedule(0, 5, 20), term=term, kind=kind, batch=5), "latents": 6}
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


def test_latents_that_are_all_categories_take_none(quick_train):
    with pytest.raises(UsageError, match="2 labelled factors need as many numeric latents, not 0"):
        quick_train(method="vq-vae", labels=LABELS)


def test_categories_are_not_compared_with_labels():
    """The covariances of a JointVAE's labels are those of its numbers alone."""
    method = JointVAE(loss="mse")
    config = Config(method, DATA.description, Net("mlp", latents=6, width=0.02))
    model = config.build((32, 32, 3), torch.Generator().manual_seed(0))
    numbers = method.categories_of(6).count(0)
    assert 2 <= numbers < 6
    labels = Labels(count=30, weight=1, term="cov", kind="partial", batch=12)
    found = Supervision(labels, DATA, np.random.default_rng(3), numbers).term(model, 0).item()
    rng = np.random.default_rng(3)
    labelled = draw_labels(labels, DATA, rng)
    rows = rng.integers(labels.count, size=12)
    codes = model.encode(model.pixels(DATA.images(labelled.indices[rows]))).mean[:, :numbers].detach().numpy()
    both = np.cov(codes.T, labelled.standardised[rows].T, bias=True)[:numbers, numbers:]
    np.fill_diagonal(both, 0)
    assert found == pytest.approx((both**2).sum(), rel=1e-4)


@pytest.mark.parametrize("name", [name for name in METHODS if name != "vq-vae"])
def test_any_method_takes_labels(name, quick_train):
    log = quick_train(method=name, labels=LABELS, steps=3, batch=6, latents=6, log_every=1).log()
    parts = log.columns[2:]
    terms = [part for part in parts if not part.startswith("diagnostics/")]
    assert "supervised" in terms
    np.testing.assert_allclose(log["loss"], sum(log[term] for term in terms), rtol=1e-5)


@pytest.mark.parametrize("name", [name for name in METHODS if name != "vq-vae"])
def test_labels_train_the_encoder_of_any_method(name):
    method = METHODS[name](loss="mse").resolve(DATA, 1e-3)
    config = Config(method, DATA.description, Net("mlp", latents=6, width=0.02))
    model = config.build((32, 32, 3), torch.Generator().manual_seed(0))
    numbers = method.categories_of(6).count(0)
    term = Supervision(Labels(count=30, kind="partial", batch=12), DATA, np.random.default_rng(3), numbers).term(
        model, 0
    )
    encoder = [weight for name, weight in model.encoder.named_parameters() if name.endswith("weight")]
    for gradient in torch.autograd.grad(term, encoder, allow_unused=True):
        assert gradient is not None
        assert gradient.abs().sum() > 0


@pytest.mark.parametrize("term", ["l2", "cross-entropy"])
def test_labelled_latents_follow_their_factors(quick_train, term):
    """On xysquares, where an unsupervised model learns no order: two named factors, told by 500 labels."""
    labels = Labels(count=500, weight=100, term=term, kind="partial", factors="y_R,x_B")
    run = quick_train(method=BetaVAE(beta=1), labels=labels, steps=120, width=0.05, latents=6, lr=3e-3)
    names = run.data.factors.names
    indices = np.random.default_rng(1).integers(len(run.data), size=1000)
    codes, factors = run.encode(run.data.images(indices)), run.data.values(indices)
    for latent, name in enumerate(sorted(["y_R", "x_B"], key=names.index)):
        assert np.corrcoef(codes[:, latent], factors[:, names.index(name)])[0, 1] > 0.8


def test_places_of_values_are_learnt_and_kept_by_the_checkpoint(quick_train):
    labels = Labels(count=500, weight=30, term="embed", kind="partial", factors="floor_hue,wall_hue")
    run = quick_train(method=BetaVAE(beta=1), data="rooms3d:size=32", labels=labels, steps=150, width=0.05, lr=3e-3)
    indices = np.random.default_rng(1).integers(len(run.data), size=1000)
    codes, factors = run.encode(run.data.images(indices)), run.data.values(indices)
    for latent, values in enumerate(factors.T[:2]):
        within = np.mean([codes[values == value, latent].var() for value in np.unique(values)])
        assert within < 0.5 * codes[:, latent].var(), "the value of its factor tells most of a latent"
    saved = torch.load(run.path / "checkpoint.pt", weights_only=True)["embedding"]
    assert saved["places"].abs().sum() > 0


def test_mistakes_leave_no_folder_behind(quick_train, tmp_path):
    with pytest.raises(UsageError, match="6 labelled factors need as many numeric latents, not 4"):
        quick_train(labels=Labels())
    assert not (tmp_path / "run").exists()
    quick_train(labels=LABELS)
    with pytest.raises(UsageError, match=r"labels\.count 40 → 41.*choose another folder"):
        quick_train(labels=Labels(count=41, weight=5, kind="partial", factors=2))
    with pytest.raises(UsageError, match=r"labels\.count 40 → absent"):
        quick_train()
