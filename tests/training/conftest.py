"""A training that takes a fraction of a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import unweave
from unweave.methods import BetaVAE


@pytest.fixture
def quick_train(tmp_path: Path):
    """Train a tiny net; any option can be replaced."""

    def train(**options: Any) -> unweave.Run:
        defaults: dict[str, Any] = {
            "method": BetaVAE(beta=2),
            "data": "xysquares:size=32",
            "out": tmp_path / "run",
            "steps": 30,
            "batch": 16,
            "net": "mlp",
            "latents": 4,
            "width": 0.02,
            "device": "cpu",
            "threads": 1,
            "checkpoint_every": 10,
            "log_every": 7,
        }
        defaults.update(options)
        return unweave.train(defaults.pop("method"), **defaults)

    return train
