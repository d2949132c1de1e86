"""Devices of tensors, and the number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from unweave.errors import UsageError

DEVICES = ("auto", "cpu", "cuda", "mps")


def choose_device(name: str) -> torch.device:
    """Return the device called `name`; "auto" is CUDA, else Apple's GPU, else the CPU."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    absent = UsageError(f"the device '{name}' is not available; use {', '.join(DEVICES[:-1])} or {DEVICES[-1]}")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):  # it depends on the build of torch
        raise absent from None
    if device.type == "meta":  # it has shapes and no numbers
        raise absent
    return device


@contextmanager
def torch_threads(count: int | None) -> Iterator[None]:
    """Set the number of torch's threads (None: no change), and restore it afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def denormals_as_zero() -> Iterator[None]:
    """Compute with 0 in place of numbers below about 1e-38, if torch has one thread.

    Processors are many times slower with such numbers, and Adam makes them: where a gradient stays 0, its mean decays
    through that range. The setting belongs to a thread. With several threads, whether the others have it depends on
    when they were started, so it is left alone, and equal runs stay equal.
    """
    flushing = float(torch.full((1,), 1e-40) * 1) == 0
    if flushing or torch.get_num_threads() > 1:
        yield
        return
    torch.set_flush_denormal(True)  # returns False, and does nothing, on processors that cannot
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
