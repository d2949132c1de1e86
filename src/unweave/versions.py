"""The versions that a run is made with: recorded beside it, and no part of its identity."""

from __future__ import annotations

from importlib.metadata import version

PACKAGES = ("unweave", "torch", "numpy")
"""What decides the bits of a run's weights, on the same machine."""


def versions() -> dict[str, str]:
    """Return the versions installed now."""
    return {name: version(name) for name in PACKAGES}
