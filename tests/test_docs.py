"""Every Python example in the README and the docs runs, as printed, with training and scoring cut short."""

from __future__ import annotations

import ast
import contextlib
import doctest
import inspect
import io
import re
import textwrap
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
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\nprints\n\n((?:    [^\n]*\n)+))?", re.MULTILINE | re.DOTALL)
"""A block of Python, and below it what it prints, if the page shows that."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
VALUE = re.compile(r"'[^']*'|True|False|None|-?\d+(?:\.\d+)?")
LIKE_A_VALUE = re.compile(r"[-(\[{'\d]|True|False|None")
"""How comments begin that give values alone; in others only decimal fractions are compared."""
END_OF_VALUES = re.compile(r": |; |, not ")
SHAPE = re.compile(r"\(\d+(?:, \d+)*,?\)")


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")  # which a model of 20 steps may well be
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent.name != AT_LENGTH], ids=lambda page: str(page.relative_to(TOP))
)
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    blocks = BLOCK.findall(page.read_text())
    train = unweave.training.train

    def brief(method, **options):
        short = options.get("steps", 20_000) <= 10
        options["steps"] = min(options.get("steps", 20), 20)
        narrow = (
            {} if short or not isinstance(options.get("net", ""), str) else {"width": 0.1}
        )  # modules have their own
        return train(method, **{**options, "batch": 4, **narrow})

    score = unweave.Run.evaluate

    def glance(run, metrics="all", **options):
        return score(run, "mig" if metrics == "all" else metrics, **{**options, "samples": 300, "test_samples": 100})

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(unweave.Run, "evaluate", glance)
    monkeypatch.setattr("unweave.training.train", brief)
    names: dict[str, object] = {}
    for block, shown in blocks:
        printed = run_and_compare(block, names)
        assert not shown or textwrap.dedent(shown) == printed


def run_and_compare(block: str, names: dict[str, object]) -> str:
    """Run a block and return what it prints.

    What a statement gives or prints must be what the comment behind it says, and arrays that it assigns must have the
    shape there.
    """
    everything = ""
    for statement in ast.parse(block).body:
        line = block.splitlines()[(statement.end_lineno or 0) - 1]
        comment = line.encode()[statement.end_col_offset :].decode().partition("#")[2].strip()
        value = None
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), "example", "eval", dont_inherit=True), names)
            else:
                exec(compile(ast.Module([statement], []), "example", "exec", dont_inherit=True), names)
        everything += printed.getvalue()
        if isinstance(statement, ast.Assign):
            compare_shapes(statement.targets[0], comment, names, line)
        else:
            compare(printed.getvalue() if value is None else value, comment, line)
    return everything


def compare(found: object, comment: str, line: str) -> None:
    """Compare a value or a printed text with the values that a comment begins with, or with its decimal fractions."""
    told = END_OF_VALUES.split(comment)[0]
    said = VALUE.findall(told) if LIKE_A_VALUE.match(told) else re.findall(r"-?\d+\.\d+", told)
    parts = parts_of(found)
    if not LIKE_A_VALUE.match(told):
        parts = [part for part in parts if "." in part]
    assert len(parts) >= len(said), f"the comment has values that nothing is compared with: {line}"
    for part, expected in zip(parts, said, strict=False):
        assert part == expected or same_number(part, expected), f"{part}, not {expected}: {line}"


def same_number(part: str, expected: str) -> bool:
    """Is a number the expected one, rounded to as many digits?"""
    if not (NUMBER.fullmatch(part) and NUMBER.fullmatch(expected)):
        return False
    return round(float(part), len(expected.partition(".")[2])) == float(expected)


def parts_of(value: object) -> list[str]:
    """Return the numbers, quoted words, truths and Nones of a printed text, or those that a value is made of."""
    if isinstance(value, str):
        return VALUE.findall(value) or [repr(value)]
    if isinstance(value, float | np.floating):
        return [f"{float(value):.12f}"]
    if isinstance(value, bool | np.bool | int | np.integer | None):
        return [str(value)]
    if isinstance(value, dict):
        return parts_of([*value.values()])
    if isinstance(value, np.ndarray | list | tuple | set | frozenset):
        return [part for each in value for part in ([repr(each)] if isinstance(each, str) else parts_of(each))]
    return []


def compare_shapes(target: ast.expr, comment: str, names: dict[str, object], line: str) -> None:
    """Compare the shapes in the comment behind an assignment with those of the arrays that it names."""
    said = [tuple(map(int, re.findall(r"\d+", shape))) for shape in SHAPE.findall(comment)]
    assigned = target.elts if isinstance(target, ast.Tuple) else [target]
    values = [names[each.id] for each in assigned if isinstance(each, ast.Name)]
    found = [tuple(getattr(value, "shape", ())) for value in values]
    if said and all(found):
        assert found == (said if len(said) > 1 else said * len(found)), line


@pytest.mark.parametrize(
    ("block", "holds"),
    [
        ("1 / 3                # 0.333: a third", True),
        ("1 / 3                # 0.334", False),
        ("(2, (2, 2))          # (2, (2, 2))", True),
        ("(2, (2, 3))          # (2, (2, 2))", False),
        ("print(12, [3])       # 12 [3]", True),
        ("print(12, [4])       # 12 [3]", False),
        ("1                    # 1, 2", False),
        ("['a', None]          # ['a', None]: a word", True),
        ("['a', None]          # ['b', None]", False),
        ("1 < 2, 1 > 2         # (True, False)", True),
        ("1 < 2, 1 > 2         # (True, True)", False),
        ("for n in (1, 2):\n    print(n / 4)     # 0.25, then 0.50", True),
        ("for n in (1, 2):\n    print(n / 4)     # 0.25, then 0.75", False),
        ("import numpy\na = numpy.zeros((2, 3))     # zeros (2, 3)", True),
        ("import numpy\na = numpy.zeros((2, 3))     # zeros (3, 2)", False),
        ("import numpy\na, b = numpy.zeros((2, 2, 3))     # each (2, 3)", True),
        ("'β' + str(1.5)       # 1.5", True),
    ],
)
def test_what_a_comment_says_is_compared(block, holds):
    with contextlib.nullcontext() if holds else pytest.raises(AssertionError):
        run_and_compare(block, {})


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


LONG_BY_NATURE = ("|", "    ", "![", ">", "$$")
"""How lines begin that may be long: tables, code, pictures, printed sentences, formulas."""


@pytest.mark.parametrize("page", [*sorted(TOP.glob("*.md")), *PAGES[1:]], ids=lambda page: str(page.relative_to(TOP)))
def test_lines_of_prose_are_short(page):
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
