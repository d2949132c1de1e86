"""The layers: a module imports, at its top or in a function, only from its own layer and from those before it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import unweave

HOME = {name: module.split(".")[1] for name, module in unweave._HOME.items()}
"""Where the public names of unweave are."""
PACKAGE = Path(unweave.__file__).parent
LAYERS = (
    ("errors", "extras", "hardware", "late", "light_compiler", "memory", "signals", "text", "versions"),
    ("collapse", "compiled", "fields", "files", "options", "plugins", "progress", "score_frame", "tables", "tracing"),
    ("origins", "schedules", "variances"),
    ("data", "devices", "gaussian", "geometry"),
    ("nets",),
    ("losses", "penalties"),
    ("methods",),
    ("config", "presets", "again"),
    ("runs",),
    ("training", "metrics"),
    ("scoring",),
    ("study",),
    ("encoders", "perception", "selection", "tasks"),
    ("report",),
    ("publishing",),
    ("reproduce",),
    ("explorer",),
    ("cli",),
)
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}
EXCEPTIONS = {
    ("runs/run.py", "metrics"): "Run.evaluate is a convenience, which imports what scores when it is called",
    ("runs/run.py", "scoring"): "Run.evaluate is a convenience, which imports what scores when it is called",
    ("runs/run.py", "report"): "a run shows itself in pictures, which are drawn when they are asked for",
    ("data/dataset.py", "report"): "a data set shows itself in a notebook, which is drawn when it is asked for",
    ("study/study.py", "report"): "a study draws its page when it is asked for",
    ("metrics/compare.py", "scoring"): "unweave.compare takes runs too, and imports what scores them then",
}
"""Imports to the right, all inside of functions, and why each is there."""


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the parts of unweave that a module imports, and whether when it is imported; not what only types need."""
    tree = ast.parse(path.read_text())
    for node in runtime_nodes(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "unweave":
            names = [f"unweave.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            top, _, rest = name.partition(".")
            if top == "unweave" and rest:
                part = rest.split(".")[0]
                yield HOME.get(part, part), node in tree.body


def runtime_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes below a node but those under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            continue
        yield child
        yield from runtime_nodes(child)


def test_every_import_goes_to_the_left():
    checked, used = 0, set()
    for path in PACKAGE.rglob("*.py"):
        file = path.relative_to(PACKAGE)
        part = file.parts[0].removesuffix(".py")
        if part in ("__init__", "__main__"):
            continue
        for other, at_the_top in imports(path):
            checked += 1
            if RANK[other] > RANK[part]:
                assert (str(file), other) in EXCEPTIONS, f"{file} imports unweave.{other}"
                assert not at_the_top, f"{file} imports unweave.{other} when it is imported"
                used.add((str(file), other))
    assert checked > 500
    assert used == set(EXCEPTIONS), "an exception that nothing needs"


def test_the_architecture_shows_the_order_of_the_layers():
    page = (Path(__file__).parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^    single files → (.*?)\n\n", page, re.MULTILINE | re.DOTALL)
    order = [set(layer.split(", ")) for layer in " ".join(shown.split()).split(" → ")]
    layers = [set(layer) for layer in LAYERS]
    assert order == layers[-len(order) :]
    assert all((PACKAGE / f"{name}.py").is_file() for layer in layers[: -len(order)] for name in layer)


def test_a_laboratory_imports_no_other():
    laboratories = {"encoders", "gaussian", "geometry", "perception", "selection", "tasks"}
    for name in laboratories:
        others = laboratories - {name}
        found = {part for path in (PACKAGE / name).rglob("*.py") for part, _ in imports(path)}
        assert found.isdisjoint(others)
        assert found


def test_imports_are_found_wherever_they_are(tmp_path):
    (tmp_path / "module.py").write_text(
        "from unweave import data, train\n"
        "import unweave.nets.own\n"
        "if TYPE_CHECKING:\n    from unweave.cli import main\n"
        "def late():\n    from unweave.runs import Run\n"
    )
    found = list(imports(tmp_path / "module.py"))
    assert found == [("data", True), ("training", True), ("nets", True), ("runs", False)]


def test_importing_unweave_and_its_data_and_metrics_loads_nothing_heavy():
    heavy = ("torch", "polars", "matplotlib", "sklearn", "scipy", "PIL", "numba")
    modules = "unweave, unweave.data, unweave.metrics, unweave.selection, unweave.encoders, unweave.encoders.table"
    code = f"import sys, {modules}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
