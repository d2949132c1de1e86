"""Inverse variances are exact as long as there is room for a squared difference, and finite beyond."""

from __future__ import annotations

import math

import pytest
import torch

from unweave.losses.spread import gaussian
from unweave.variances import inverse_variance


@pytest.mark.parametrize(("dtype", "lowest"), [(torch.float32, -79), (torch.float64, -638)])
def test_inverse_variances_are_exact_and_finite(dtype: torch.dtype, lowest: int):
    usual = torch.linspace(lowest, 60, 500, dtype=dtype)
    assert inverse_variance(usual).equal((-usual).exp())
    tiny = torch.tensor([-100.0, -1e3, -1e30], dtype=dtype, requires_grad=True)
    distance = 1000 * inverse_variance(tiny)
    assert distance.isfinite().all()
    distance.sum().backward()
    assert tiny.grad is not None
    assert tiny.grad.isfinite().all()


def test_a_pixel_that_is_predicted_exactly_has_a_finite_likelihood():
    x = torch.zeros(1, 1, 2, 2)
    log_variance = torch.full_like(x, -120.0, requires_grad=True)
    loss = gaussian(x, torch.stack([x, log_variance], 1))
    loss.sum().backward()
    assert loss.item() == pytest.approx(4 * (math.log(2 * math.pi) - 120) / 2)
    assert log_variance.grad is not None
    assert log_variance.grad.flatten().tolist() == [0.5] * 4
