"""The layers: a module imports, at its top, only from its own layer and from those before it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import unweave

PACKAGE = Path(unweave.__file__).parent
LAYERS = (
    ("collapse", "compiled", "errors", "fields", "files", "signals", "tables", "text"),
    ("schedules",),
    ("data", "devices", "gaussian", "geometry"),
    ("nets",),
    ("losses",),
    ("methods",),
    ("config", "presets"),
    ("runs",),
    ("training", "metrics"),
    ("scoring",),
    ("report",),
    ("reproduce",),
    ("cli",),
)
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}


def imported_parts(path: Path) -> set[str]:
    """Return the parts of unweave that a module imports when it is imported."""
    modules = [node.module for node in ast.parse(path.read_text()).body if isinstance(node, ast.ImportFrom)]
    return {module.split(".")[1] for module in modules if module and module.startswith("unweave.")}


def test_every_import_goes_to_the_left():
    checked = 0
    for path in PACKAGE.rglob("*.py"):
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if part in ("__init__", "__main__"):
            continue
        for other in imported_parts(path):
            assert RANK[other] <= RANK[part], f"{path.relative_to(PACKAGE)} imports unweave.{other}"
            checked += 1
    assert checked > 100


def test_importing_unweave_and_its_data_and_metrics_loads_nothing_heavy():
    heavy = ("torch", "polars", "matplotlib", "sklearn", "scipy", "PIL", "numba")
    code = f"import sys, unweave, unweave.data, unweave.metrics; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
