"""Execute the notebooks and store their outputs: python benchmarks/notebooks.py [NAME.ipynb …]."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
LIMIT = 300_000
"""Largest size of a stored notebook, in bytes."""


def execute(path: Path) -> nbformat.NotebookNode:
    """Return a notebook with the outputs of a new kernel."""
    book = nbformat.read(path, as_version=4)
    manager = AsyncKernelManager(kernel_name="python3", transport="ipc")  # no ports, no network
    NotebookClient(book, km=manager, timeout=300).execute()
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not is_bar(output)]
            for output in cell.outputs:
                if "image/png" in output.get("data", {}):
                    output.data.pop("image/jpeg", None)  # a copy of the same picture
            cell.metadata.pop("execution", None)  # times differ from one execution to the next
    book.metadata.pop("widgets", None)
    book.metadata["language_info"] = {"name": "python"}
    return book


def is_bar(output: nbformat.NotebookNode) -> bool:
    """Return whether an output is a progress bar, of which only the text remains."""
    return output.output_type == "stream" and "\r" in output.text


def main(names: list[str]) -> None:
    """Execute the notebooks of these names, or all of them."""
    for path in [FOLDER / name for name in names] or sorted(FOLDER.glob("*.ipynb")):
        text = nbformat.writes(execute(path)) + "\n"
        if len(text.encode()) > LIMIT:
            sys.exit(f"{path.name} would have {len(text.encode()):,} bytes, more than {LIMIT:,}")
        path.write_text(text)
        print(f"{path.name}: {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
