from __future__ import annotations

import doctest
import json

import pytest

from unweave import text


def test_examples():
    results = doctest.testmod(text)
    assert results.attempted
    assert not results.failed


def test_table_is_as_wide_as_its_widest_cell():
    rows = [{"name": "a", "n": "1"}, {"name": "longer", "n": "1,000"}]
    assert text.table(rows, numbers=["n"]) == "name        n\na           1\nlonger  1,000"
    assert text.table([]) == ""


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (48_300_000, "48.3 MB"),
    ],
)
def test_memory(count, said):
    assert text.memory(count) == said


def test_json_has_no_nan():
    value = {"a": [float("nan"), float("inf"), 1.5], "b": (1, None, "×")}
    assert json.loads(text.to_json(value)) == {"a": [None, None, 1.5], "b": [1, None, "×"]}
