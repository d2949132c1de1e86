"""Every method with every loss takes two steps; what does not go together is refused in one clear line."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from unweave.data import Table
from unweave.data.xysquares import XYSquares
from unweave.errors import UsageError
from unweave.losses import FAMILIES, LOSSES
from unweave.losses.loss_file import LossFile
from unweave.methods import METHODS, TAE, VAE, AdaGVAE, BetaTCVAE, Method
from unweave.nets import BOTTLENECKS

BATCH = 4
OPTIONS = {"mse-box": "radius=15", "mse-gauss": "radius=15", "mse-kernel": "path=kernel.npy", "learnt": "path=my.loss"}
OF_COUNTS = ("nb", "poisson")  # for vectors: tests/training/test_vectors.py
PAIRS = [name for name, kind in METHODS.items() if kind.group_size == 2]
TRIPLETS = [name for name, kind in METHODS.items() if kind.group_size == 3]
SMALLER = {"factor-vae": {"adversary_units": 20}, "ada-tvae-unsupervised": {"triplets": 8}}


@pytest.fixture(autouse=True)
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder with a kernel and a learnt loss in it."""
    monkeypatch.chdir(tmp_path)
    np.save("kernel.npy", np.random.default_rng(0).random((5, 7)))
    Path("my.loss").write_bytes(LossFile("kernel", {"kernel": torch.rand(5, 5)}).to_bytes())


def method(name: str, loss: str) -> Method:
    options = SMALLER.get(name, {})
    return METHODS[name](loss=f"{loss}:{OPTIONS[loss]}" if loss in OPTIONS else loss, **options)


def table(factors: np.ndarray, side: int = 8) -> Table:
    return Table(np.random.default_rng(1).integers(0, 255, (len(factors), side, side, 1), np.uint8), factors)


@pytest.mark.filterwarnings("ignore:the loss bce")
@pytest.mark.parametrize("loss", [name for name in (*LOSSES, *FAMILIES) if name not in OF_COUNTS])
@pytest.mark.parametrize("name", METHODS)
def test_two_steps_give_finite_terms_whose_sum_is_the_loss(name, loss, quick_train, monkeypatch):
    drawn, draw = [], XYSquares.images
    monkeypatch.setattr(XYSquares, "images", lambda self, rows: drawn.append(len(rows)) or draw(self, rows))
    run = quick_train(method=method(name, loss), steps=2, batch=BATCH, latents=6, log_every=1)
    rows = run.log().drop("step").to_dicts()
    assert len(rows) == 2
    for row in rows:
        terms = [value for term, value in row.items() if term != "loss" and not term.startswith("diagnostics/")]
        assert all(math.isfinite(value) for value in row.values())
        assert row["loss"] == pytest.approx(sum(terms), rel=1e-5)
    assert run.settings.method.loss.startswith(loss)
    # An adversary sees the codes of a batch of its own.
    assert drawn == [METHODS[name].group_size * BATCH] * (4 if "diagnostics/adversary" in rows[0] else 2)


def test_what_compares_the_images_of_a_batch_says_so():
    min_batch = {name: kind.min_batch for name, kind in METHODS.items() if kind.min_batch > 1}
    comparing = ("factor-vae", "factor-qvae", "beta-tcvae", "alpha-tcvae", "dip-vae", "info-vae", "hfs", "tripod")
    comparing = (*comparing, "pcl", "lejepa")
    assert min_batch == {**dict.fromkeys(comparing, 2), "ada-tvae-unsupervised": 3}


def test_every_bottleneck_is_there_and_what_compares_posteriors_has_gaussian_ones():
    assert {kind.bottleneck for kind in METHODS.values()} <= set(BOTTLENECKS)
    for name, kind in METHODS.items():
        assert kind.bottleneck == "gaussian" or "difference" not in kind.__dataclass_fields__, name


def test_a_kernel_larger_than_the_image_counts_as_far_as_two_pixels_are_apart(quick_train, tmp_path):
    wide = np.random.default_rng(0).random((101, 101))
    np.save("wide.npy", wide)
    np.save("within.npy", wide[50 - 31 : 50 + 32, 50 - 31 : 50 + 32])  # 31: the furthest of 32 pixels
    runs = [
        quick_train(method=VAE(loss=f"mse-kernel:path={file}.npy"), steps=2, out=tmp_path / file)
        for file in ("wide", "within")
    ]
    first, second = (run.log()["reconstruction"].to_list() for run in runs)
    assert first == second


CONSTANT = np.zeros((1, 2), dtype=int)
NO_GRID = r"needs every combination of factors|full grid of factors"
SCATTERED = np.random.default_rng(0).integers(0, 3, (30, 3))
GRID = np.indices((5, 6)).reshape(2, -1).T

Attempt = tuple[Callable[[], Method | str], dict[str, Any], str]
REFUSED: dict[str, Attempt] = {
    **{
        f"{name} on scattered rows": (lambda name=name: name, {"data": SCATTERED}, NO_GRID)
        for name in PAIRS
        if name != "pcl"  # for which the order of the rows is time
    },
    **{
        f"{name} without a factor": (lambda name=name: name, {"data": CONSTANT}, "no factor that varies")
        for name in [*PAIRS, *TRIPLETS]
    },
    "three factors changed of two": (
        lambda: AdaGVAE(changed=3),
        {"data": GRID},
        "2 factors that vary: 1 to 2 may change, not 3",
    ),
    "no such category": (lambda: TAE(category="hue"), {"data": GRID}, "no factor is called 'hue'"),
    "a category of one value": (
        lambda: TAE(by="category", category="factor1"),
        {"data": GRID * [1, 0]},
        "'factor1' has a single value",
    ),
    "bce of standardised pixels": (
        lambda: VAE(loss="bce"),
        {"standardise": True},
        "needs pixels in .0, 1.; use the loss mse",
    ),
    "images of one colour each": (
        lambda: "vae",
        {"data": Table(np.zeros((2, 8, 8, 1), np.uint8), [[0], [1]]), "standardise": True},
        "never changes within an image: it cannot be standardised",
    ),
    "a kernel that is not there": (lambda: method_with("gone.npy"), {}, "'gone.npy' cannot be read: No such file"),
    "no kernel": (lambda: VAE(loss="mse-kernel"), {}, "needs a kernel: mse-kernel:path="),
    "a kernel without a centre": (lambda: method_with("even.npy", np.ones((4, 4))), {}, "an odd height"),
    "a kernel of nothing": (lambda: method_with("nan.npy", np.full((3, 3), np.nan)), {}, "not finite numbers"),
    "a kernel in space": (lambda: method_with("solid.npy", np.ones((3, 3, 3))), {}, "has the shape"),
    "another kernel than recorded": (
        lambda: VAE(loss="mse-kernel:path=kernel.npy,sha256=0123456789abcdef"),
        {},
        "has changed",
    ),
    "a blur of radius 0": (lambda: VAE(loss="mse-box:radius=0"), {}, "radius must be between 1 and"),
    "an option no blur has": (lambda: VAE(loss="mse-box:raduis=3"), {}, "did you mean 'radius'"),
    "an option for mse": (lambda: VAE(loss="mse:radius=3"), {}, "the loss mse has no options"),
    "a loss that is none": (lambda: VAE(loss="mes"), {}, "did you mean 'mse'"),
    **{
        f"{name} of too few images": (
            lambda name=name: name,
            {"batch": kind.min_batch - 1},
            f"{name} needs a batch of at least {kind.min_batch} images, not {kind.min_batch - 1}",
        )
        for name, kind in METHODS.items()
        if kind.min_batch > 1
    },
    "strata of another size": (
        lambda: BetaTCVAE(estimator="stratified", data_size=7),
        {"data": GRID},
        "needs data_size=30",
    ),
    **{
        f"{net} on images of 7 × 7": (
            lambda: "vae",
            {"data": table(GRID, side=7), "net": net},
            "needs sides of at least 16 pixels",
        )
        for net in ("conv", "dlib", "qlae", "tripod")
    },
}


def method_with(file: str, kernel: np.ndarray | None = None) -> Method:
    if kernel is not None:
        np.save(file, kernel)
    return VAE(loss=f"mse-kernel:path={file}")


@pytest.mark.parametrize("attempt", REFUSED)
def test_what_does_not_go_together_is_refused_in_one_line(attempt, quick_train):
    make, options, message = REFUSED[attempt]
    data = options.get("data", "xysquares:size=32")
    options = {**options, "data": table(data) if isinstance(data, np.ndarray) else data}
    with pytest.raises(UsageError, match=message) as error:
        quick_train(method=make(), steps=2, **options)
    assert "\n" not in str(error.value)
    assert not Path("run", "weights.safetensors").exists()
