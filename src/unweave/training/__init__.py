"""Training: one loop for every method."""

from __future__ import annotations

from unweave.training.loop import train

__all__ = ["train"]
