"""Run as `python without_torch.py -c CODE` or `python without_torch.py WORD …`: unweave where torch is not installed.

Python then finds neither torch and safetensors nor their metadata, as if `pip install unweave` had been all.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, DistributionFinder
from types import ModuleType

HIDDEN = ("torch", "safetensors")


class Without(MetaPathFinder):
    """Finds what Python finds on its path, but for what is hidden."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        return None if fullname.partition(".")[0] in HIDDEN else PathFinder.find_spec(fullname, path, target)

    def find_distributions(self, context: DistributionFinder.Context) -> Iterable[Distribution]:
        return () if context.name in HIDDEN else PathFinder.find_distributions(context)


if __name__ == "__main__":
    sys.meta_path[:] = [Without() if finder is PathFinder else finder for finder in sys.meta_path]
    first, *rest = sys.argv[1:]
    if first == "-c":
        exec(rest[0], {"__name__": "__main__"})
    else:
        sys.argv = ["unweave", first, *rest]
        runpy.run_module("unweave", run_name="__main__")
