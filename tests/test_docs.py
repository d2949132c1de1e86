"""Every Python example in the README and the docs runs, as printed, with training and scoring cut short."""

from __future__ import annotations

import ast
import contextlib
import doctest
import inspect
import io
import re
from pathlib import Path

import numpy as np
import pytest

import unweave

TOP = Path(__file__).parents[1]
PAGES = [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]
AT_LENGTH = "tutorials"
"""The folder of pages that `test_tutorials.py` walks as they are, with nothing cut short."""
METRIC_PAGES = sorted((TOP / "docs" / "metrics").glob("*.md"))
SCORES = [
    name
    for name in unweave.metrics.__all__
    if inspect.isfunction(found := getattr(unweave.metrics, name)) or isinstance(found, unweave.metrics.Metric)
]
"""The public functions of `unweave.metrics`."""
UNUSUAL = re.compile(r"foret(ell|old)|judge|\banew\b|gone on with|a column a factor")
LONGEST = 120
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")  # which a model of 20 steps may well be
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent.name != AT_LENGTH], ids=lambda page: str(page.relative_to(TOP))
)
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    blocks = BLOCK.findall(page.read_text())
    train = unweave.training.train

    def brief(method, **options):
        options["steps"] = min(options.get("steps", 20), 20)
        narrow = {"width": 0.1} if isinstance(options.get("net", ""), str) else {}  # modules have their own width
        return train(method, **{**options, "batch": 4, **narrow})

    score = unweave.Run.evaluate

    def glance(run, metrics="all", **options):
        return score(run, "mig" if metrics == "all" else metrics, **{**options, "samples": 300, "test_samples": 100})

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(unweave.Run, "evaluate", glance)
    monkeypatch.setattr("unweave.training.train", brief)
    names: dict[str, object] = {}
    for block in blocks:
        run_and_compare(block, names)
    assert all(link_is_there(page, target) for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()))


def run_and_compare(block: str, names: dict[str, object]) -> None:
    """Run a block; the numbers that a statement gives or prints must be those in the comment behind it, if any."""
    for statement in ast.parse(block).body:
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), "example", "exec", dont_inherit=True), names)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = eval(compile(ast.Expression(statement.value), "example", "eval", dont_inherit=True), names)
        line = block.splitlines()[(statement.end_lineno or 0) - 1]
        comment = line[statement.end_col_offset :].partition("#")[2]
        said = re.findall(r"-?\d+\.\d+", comment.partition(":")[0])
        found = numbers_in(printed.getvalue() if value is None else value)
        assert found or not said, f"the comment has numbers that nothing is compared with: {line}"
        for number, expected in zip(found, said, strict=False):
            assert round(number, len(expected.partition(".")[2])) == float(expected), line


def numbers_in(value: object) -> list[float]:
    """Return the decimal fractions in a text, or those that a number, an array, a sequence or a dict is made of."""
    if isinstance(value, str):
        return [float(number) for number in re.findall(r"-?\d+\.\d+", value)]
    if isinstance(value, float):
        return [value]
    if isinstance(value, dict):
        return numbers_in([*value.values()])
    if isinstance(value, np.ndarray | list | tuple):
        return [number for part in value for number in numbers_in(part)]
    return []


@pytest.mark.parametrize("name", SCORES)
def test_the_docstring_of_a_score_has_all_sections_and_its_example_runs(name):
    found = getattr(unweave.metrics, name)
    text = inspect.getdoc(found) or ""
    sections = dict(zip(*[iter(re.split(r"^(\w+)\n-{3,}\n", text, flags=re.MULTILINE)[1:])] * 2, strict=True))
    assert {"Parameters", "Returns", "Examples"} <= set(sections)
    described = re.findall(r"\w+", "\n".join(re.findall(r"^\S.*", sections["Parameters"], re.MULTILINE)))
    assert described == list(inspect.signature(found).parameters)
    assert UNUSUAL.search(text) is None
    example = doctest.DocTestParser().get_doctest(sections["Examples"], {name: found}, name, None, None)
    assert not doctest.DocTestRunner().run(example).failed


@pytest.mark.parametrize("page", METRIC_PAGES, ids=lambda page: page.name)
def test_the_prose_of_metrics_is_plain(page):
    assert UNUSUAL.search(page.read_text()) is None


WRITTEN_BY_SCRIPTS = ("docs/reproduce", "docs/results", "docs/documents/scale.md")
"""Pages with long lines that scripts write: lists of scores, which change with the results."""
LONG_BY_NATURE = ("|", "    ", "![", ">", "$$")
"""How lines begin that may be long: tables, code, pictures, printed sentences, formulas."""


@pytest.mark.parametrize("page", [*sorted(TOP.glob("*.md")), *PAGES[1:]], ids=lambda page: str(page.relative_to(TOP)))
def test_lines_of_prose_are_short(page):
    if str(page.relative_to(TOP)).startswith(WRITTEN_BY_SCRIPTS):
        return
    text = re.sub(r"^```.*?^```|^\$\$.*?\$\$$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    prose = [line for line in text.splitlines() if not line.startswith(LONG_BY_NATURE)]
    assert [line for line in prose if len(line) > LONGEST] == []


def test_every_metric_and_every_public_score_has_a_page():
    pages = "\n".join(page.read_text() for page in (TOP / "docs" / "metrics").glob("*.md"))
    for name in unweave.metrics.METRICS:
        assert f"`{name}`" in pages, name
    for name in unweave.metrics.__all__:
        assert name in pages, name


def test_the_tables_of_metrics_say_which_direction_is_better():
    text = (TOP / "docs" / "metrics" / "README.md").read_text()
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    said = {name: cells[3] for cells in rows for name in re.findall(r"`([^`]+)`", cells[0])}
    words = {True: "higher", False: "lower", None: "–"}
    assert said == {name: words[metric.higher_is_better] for name, metric in unweave.metrics.METRICS.items()}


def test_every_reference_is_in_the_bibliography():
    known = set(re.findall(r"^@\w+\{(\w+),", (TOP / "docs" / "references.bib").read_text(), re.MULTILINE))
    files = [*PAGES, *(TOP / "src").rglob("*.py")]
    cited = {key for file in files for key in re.findall(r"\[([A-Z]\w+\d{4}[a-z]?)[\],]", file.read_text())}
    assert cited - known == set()


def link_is_there(page: Path, target: str) -> bool:
    return (page.parent / target).exists()
