"""The notebooks run as they are stored, without warnings, and show what is stored with them."""

from __future__ import annotations

import gc
import warnings

import nbformat
import pytest
from notebooks import FOLDER, LIMIT, execute

BOOKS = sorted(FOLDER.glob("*.ipynb"))


def kinds(book: nbformat.NotebookNode) -> list[list[str]]:
    """Return, for each cell of code, the kinds of output that it shows."""
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    return [sorted(kind for output in cell.outputs for kind in output.get("data", ["stream"])) for cell in cells]


def test_there_are_two_notebooks():
    assert [book.name for book in BOOKS] == ["own_encoder.ipynb", "tour.ipynb"]


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_stored(path, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    stored, found = nbformat.read(path, as_version=4), execute(path)
    with warnings.catch_warnings():  # the kernel's sockets, which jupyter leaves to the garbage collector
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    assert kinds(found) == kinds(stored)
    assert not any("stream" in shown for shown in kinds(stored))  # no warnings
    assert any("image/png" in shown for shown in kinds(stored))


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_stored_notebook_is_small(path):
    assert path.stat().st_size < LIMIT
