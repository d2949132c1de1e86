"""The explorer: a page in the browser over a folder of runs, studies and codes, or over any decoder."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unweave.explorer.app import create_app as create_app
    from unweave.explorer.served import Served as Served
    from unweave.explorer.served import explore as explore
    from unweave.explorer.state import Explorer as Explorer

_HOME = {"Explorer": "state", "Served": "served", "create_app": "app", "explore": "served"}

__all__ = ["Explorer", "Served", "create_app", "explore"]


def __getattr__(name: str) -> object:
    """Import a name on first use: what answers requests is an extra."""
    if name in _HOME:
        return getattr(import_module(f"unweave.explorer.{_HOME[name]}"), name)
    raise AttributeError(f"module 'unweave.explorer' has no attribute '{name}'")
