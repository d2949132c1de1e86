"""Public names are imported on first use; the time of late imports is noted, and charged to no metric."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import unweave
from unweave import late
from unweave.metrics import METRICS
from unweave.metrics.evaluate import evaluate
from unweave.metrics.resampling import Sampled

METRIC_FILES = sorted((Path(unweave.__file__).parent / "metrics").glob("*.py"))
LATE = [
    "encoders",
    "encoders.sparse",
    "explorer",
    "report",
    "report.study",
    "selection",
    "study",
    "study.analysis",
    "tasks",
]
SLOW = ("scipy", "sklearn", "unweave.metrics.tree")


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still but for what a test adds to it."""
    now = [5.0]
    for module in (late, import_module("unweave.metrics.evaluate")):
        monkeypatch.setattr(module, "perf_counter", lambda: now[0])
    return now


def test_the_time_within_is_noted_once(clock):
    before = late.seconds()
    with late.importing(), late.importing():
        clock[0] += 0.25
    assert late.seconds() - before == pytest.approx(0.25)


def test_a_metric_is_not_charged_for_what_it_imports(monkeypatch, clock):
    def slow(codes, factors) -> Sampled[float]:
        with late.importing():
            clock[0] += 0.25
        return Sampled(0.5, len(codes), lambda subsets: subsets.mean(axis=1))

    monkeypatch.setitem(METRICS, "mig", METRICS["mig"].__class__(slow, "a test", "nothing"))
    table = evaluate([[0.0], [1.0]] * 30, [[0], [1]] * 30, "mig", intervals=False, floors=False)
    assert table["metric"].to_list() == ["mig"]
    assert table["seconds"].item() == pytest.approx(0.0, abs=1e-9)


def late_imports(tree: ast.AST, timed: bool = False):
    """Yield the module of each import within a function, and whether it stands in `with importing()`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            yield getattr(node, "module", None) or node.names[0].name, timed
        within = isinstance(node, ast.With) and "importing()" in ast.unparse(node.items[0])
        yield from late_imports(node, timed or within)


@pytest.mark.parametrize("path", METRIC_FILES, ids=lambda path: path.stem)
def test_every_late_import_of_a_metric_is_timed(path):
    functions = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for function in functions:
        assert [name for name, timed in late_imports(function) if name.startswith(SLOW) and not timed] == []


@pytest.mark.parametrize("name", LATE)
def test_a_package_has_its_public_names_and_no_others(name):
    package = import_module(f"unweave.{name}")
    assert all(getattr(package, public) is not None for public in package.__all__)
    with pytest.raises(AttributeError, match=f"module 'unweave.{name}' has no attribute 'misspelt'"):
        _ = package.misspelt
