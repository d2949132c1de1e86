"""Every Python example in the README and the docs runs, as printed, with the training cut short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import unweave

TOP = Path(__file__).parents[1]
PAGES = [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    blocks = BLOCK.findall(page.read_text())
    train = unweave.training.train

    def brief(method, **options):
        options["steps"] = min(options.get("steps", 20), 20)
        return train(method, **{**options, "batch": 4, "width": 0.1})

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("unweave.training.train", brief)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)
    assert all(link_is_there(page, target) for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()))


def link_is_there(page: Path, target: str) -> bool:
    return (page.parent / target).exists()
