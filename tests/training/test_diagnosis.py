"""Trouble in training is said in one line, once, and not before it is sure."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import pytest
import torch

from unweave.methods import BetaVAE
from unweave.nets import Gaussian, Point, Posterior
from unweave.nets.quantised import Quantised
from unweave.training import diagnosis
from unweave.training.diagnosis import Diagnosis, TrainingTrouble, troubles

IMAGES = 100_000
FINE = Gaussian(torch.randn(64, 10, generator=torch.Generator().manual_seed(0)), torch.full((64, 10), -3.0))
COLLAPSED = Gaussian(torch.zeros(64, 10), torch.zeros(64, 10))
NEARLY = Gaussian(0.08 * FINE.mean, torch.full((64, 10), 0.2))  # KL 0.014 nats, variance 0.006
FAR = Gaussian(10 * FINE.mean, FINE.log_variance)
ROW = {"step": 5000, "kl": 12.0}


@pytest.mark.parametrize(
    ("q", "more", "kinds"),
    [
        (FINE, {}, {}),
        (FINE, {"diagnostics/adversary": 0.69}, {}),
        (COLLAPSED, {}, {"collapse": "has collapsed.*Try a lower weight of the KL term"}),
        (NEARLY, {}, {"collapse": "nearly collapsed: no latent is active.*Try lower weights of its penalties"}),
        (Gaussian(NEARLY.mean[:1], NEARLY.log_variance[:1]), {}, {}),  # a single image does not tell
        (Point(0.05 * FINE.mean), {}, {}),  # points have no prior by whose variance to measure
        (Point(torch.zeros(64, 10)), {}, {"collapse": "no latent varies"}),
        (Point(1000 * FINE.mean), {}, {}),
        (Quantised(FINE.mean, FINE.mean.round(), 10), {}, {}),
        (FAR, {}, {"kl": r"the KL term is 5\d\d nats, but 12 distinguish all images.*Try a larger weight"}),
        (FAR, {"kl": 0.0}, {}),
        (FINE, {"diagnostics/adversary": 0.9}, {"adversary": "worse than chance.*higher --adversary-lr"}),
        (
            FAR,
            {"diagnostics/adversary": 0.65},
            {
                "kl": "the KL term is",
                "adversary": "cannot keep up with the model .*, while codes are far .*higher --adversary-lr",
            },
        ),
        (FINE, {"diagnostics/adversary": 0.01}, {"adversary": "hardly ever wrong.*larger --gamma"}),
    ],
)
def test_what_a_row_and_its_posteriors_show(q: Posterior, more: dict[str, float], kinds: dict[str, str]):
    found = troubles({**ROW, **more}, q, IMAGES)
    assert set(found) == set(kinds)
    for kind, message in kinds.items():
        with pytest.raises(ValueError, match=message):
            raise ValueError(found[kind])
        assert "\n" not in found[kind]


def said(rows: Sequence[tuple[int, Posterior]], steps: int = 20_000) -> list[str]:
    diagnose = Diagnosis(IMAGES, steps)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for step, q in rows:
            diagnose.check({**ROW, "step": step}, q)
    return [str(warning.message) for warning in caught]


def test_each_kind_is_said_once_after_three_rows_that_agree():
    rows = [(2000 + 50 * i, COLLAPSED) for i in range(9)]
    (message,) = said(rows)
    assert message.startswith("after step 2,100: This model has collapsed")
    assert len(said([*rows, *((4000 + 50 * i, FAR) for i in range(9))])) == 2
    assert said([(2000 + 50 * i, COLLAPSED if i % 3 else FINE) for i in range(9)]) == []


def test_nothing_is_said_of_the_first_steps():
    assert said([(50 * i, COLLAPSED) for i in range(20)], steps=1000) == []
    assert said([(50 * i, COLLAPSED) for i in range(40)], steps=20_000) == []
    assert len(said([(50 * i, COLLAPSED) for i in range(30)], steps=5000)) == 1


def test_a_training_that_collapses_says_so(quick_train, monkeypatch):
    monkeypatch.setattr(diagnosis, "FIRST", 10)
    with pytest.warns(TrainingTrouble, match="after step .*: This model has collapsed") as caught:
        quick_train(method=BetaVAE(beta=1e5), steps=100, log_every=5, lr=1e-2)
    assert len(caught) == 1
    assert caught[0].filename == __file__.replace("test_diagnosis", "conftest")
