"""A notebook as Markdown: its text, its code and the outputs that are stored in it. Nothing is executed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Cell = dict[str, Any]


def markdown(text: str) -> str:
    """Return the notebook in this JSON text as Markdown."""
    return "\n\n".join(part for cell in json.loads(text)["cells"] for part in _parts(cell))


def _parts(cell: Cell) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] != "code":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        yield _output(output)


def _output(output: Cell) -> str:
    """Return the richest form of an output that a page can show."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/png" in data:
        return f'<img alt="output of the cell above" src="data:image/png;base64,{"".join(data["image/png"]).strip()}">'
    if "text/html" in data:
        lines = "".join(data["text/html"]).splitlines()
        return "\n".join(line for line in lines if line.strip())  # a blank line would end the HTML in Markdown
    return "```text\n" + "".join(data["text/plain"]).rstrip() + "\n```"
