"""Packages that only an extra installs: importing a missing one raises an error with the command that installs it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType

EXTRAS = {"torch": "train", "safetensors": "train"}
"""Packages that unweave imports at the top of its modules, and the extra that installs each."""


class Answer(MetaPathFinder):
    """Python asks this finder last, when no other finds a module.

    It raises for the packages in `EXTRAS`, but only if a module of unweave imports them: other libraries may handle a
    missing torch in their own way.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        """Raise `MissingPackage` for a package of an extra; leave all others to Python."""
        if fullname in EXTRAS and _importer(sys._getframe(1)).startswith("unweave."):
            from unweave.errors import MissingPackage

            raise MissingPackage(fullname, EXTRAS[fullname])
        return None


def answer_for_missing_packages() -> None:
    """Make unweave's imports of missing packages name the extra to install."""
    if not any(isinstance(finder, Answer) for finder in sys.meta_path):
        sys.meta_path.append(Answer())


def _importer(frame: FrameType | None) -> str:
    """Return the name of the module whose import statement led to this frame."""
    while frame and frame.f_globals.get("__name__", "").startswith("importlib"):
        frame = frame.f_back
    return frame.f_globals.get("__name__", "") if frame else ""
