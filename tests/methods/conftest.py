"""What the tests of methods share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import unweave
from unweave.methods import Method

Pair = tuple[unweave.Run, unweave.Run]


@pytest.fixture
def trained_and_opened(tmp_path: Path) -> Callable[..., Pair]:
    """Train a small net for a few steps; return the run, and the same run opened from its folder."""

    def train(method: Method, *, steps: int, latents: int) -> Pair:
        options = {"data": "xysquares:size=32", "batch": 8, "net": "mlp", "width": 0.05}
        run = unweave.train(method, steps=steps, latents=latents, out=tmp_path, **options)
        return run, unweave.Run.open(tmp_path)

    return train
