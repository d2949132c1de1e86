"""The number of threads while a model trains, and numbers too small to be normal."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import unweave
from unweave.devices import denormals_as_zero, torch_threads
from unweave.methods import BetaVAE

TINY = 1e-40
can_flush = torch.set_flush_denormal(True)  # False on processors that cannot
torch.set_flush_denormal(False)


def is_flushed() -> bool:
    return float(torch.full((1,), TINY) * 1) == 0


def test_threads_are_restored():
    before = torch.get_num_threads()
    with torch_threads(2):
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == before


@pytest.mark.skipif(not can_flush, reason="this processor has no such setting")
def test_denormals_are_zero_inside_on_one_thread_and_come_back():
    with torch_threads(1):
        assert not is_flushed()
        with denormals_as_zero():
            assert is_flushed()
            with denormals_as_zero():
                assert is_flushed()
            assert is_flushed()  # an inner block leaves what the outer one set
        assert not is_flushed()
        with pytest.raises(ValueError, match="stop"), denormals_as_zero():
            raise ValueError("stop")
        assert not is_flushed()


def test_denormals_are_left_alone_on_several_threads():
    with torch_threads(2), denormals_as_zero():
        assert not is_flushed()


@pytest.mark.skipif(not can_flush, reason="this processor has no such setting")
def test_training_on_one_thread_counts_them_as_zero_forward_and_backward(tmp_path: Path, monkeypatch):
    seen = []

    def penalty(self, model, q, z, step):
        weight = torch.ones(1, requires_grad=True)
        (gradient,) = torch.autograd.grad((weight * torch.full((1,), TINY)).sum(), weight)
        seen.append((is_flushed(), float(gradient)))
        return {"kl": q.kl().sum(1).mean()}

    monkeypatch.setattr(BetaVAE, "penalty", penalty)
    unweave.train(BetaVAE(), data="xysquares:size=16", steps=2, batch=4, net="mlp", width=0.02, threads=1, out=tmp_path)
    assert seen == [(True, 0.0), (True, 0.0)]
    assert not is_flushed()
