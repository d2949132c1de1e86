"""Quotations on the pages of docs/documents are found by likeness and replaced as a whole."""

from __future__ import annotations

from pathlib import Path

import documents_docs
import pytest


def test_an_outdated_quotation_is_replaced_with_all_its_lines(tmp_path: Path):
    (new,) = (part for part in documents_docs.results() if part.startswith("- steps: 7 of 12 scores rise"))
    old = new.replace("7 of 12", "4 of 12").replace("elbo-bound, ", "").replace(" over\n", "\n  over ")
    assert old not in documents_docs.results()
    page = tmp_path / "scale.md"
    page.write_text(f"Each line:\n\n{old}\n- another item,\n  kept\n\nMore.\n", encoding="utf-8")
    assert documents_docs.written(page) == f"Each line:\n\n{new}\n- another item,\n  kept\n\nMore.\n"


@pytest.mark.parametrize("name", ["scale", "guardians", "label-free", "metric-audit"])
def test_generated_prose_has_short_lines(name: str):
    page = documents_docs.DOCS / "reproduce" / f"{name}.md"
    prose = [line for line in page.read_text(encoding="utf-8").splitlines() if not line.startswith(("|", "!["))]
    assert max(map(len, prose)) <= 120
