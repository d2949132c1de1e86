"""A figure that a notebook shows by itself."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

DPI = 110
"""Dots per inch of the picture that a notebook shows."""


class Chart(Figure):
    """A matplotlib figure on a white ground, which a notebook shows when it is the last value of a cell."""

    def __init__(self, width: float, height: float, **options: Any) -> None:
        super().__init__(figsize=(width, height), layout="constrained", **options)

    def save(self, path: str | Path) -> None:
        """Write the figure to a file: .png, .svg or .pdf."""
        self.savefig(path, dpi=2 * DPI)

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=DPI)
        return buffer.getvalue()
