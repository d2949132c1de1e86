"""The package versions that a run is made with: recorded with it, but not part of its identity."""

from __future__ import annotations

from importlib.metadata import version

PACKAGES = ("unweave", "torch", "numpy")
"""Packages that determine the bits of a run's weights on a given machine."""


def versions() -> dict[str, str]:
    """Return the versions installed now."""
    return {name: version(name) for name in PACKAGES}
