"""The generated parts of the documentation site, as one Sphinx extension.

A page asks for a part by a comment that GitHub does not show, `<!-- generated: api unweave.metrics -->`, and gets it
as Markdown when the site is built. Nothing that is generated is stored.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from site_builder import api, bibliography, command_line, layout, notebooks, tree
from site_builder.formulas import add_mathml

if TYPE_CHECKING:
    from sphinx.application import Sphinx

TOP = Path(__file__).parents[2]
ASKED = re.compile(r"<!-- generated: ([\w-]+) ?([\w.]*) -->")
PARTS = {
    "api": api.module_page,
    "modules": lambda _: api.module_list(),
    "command-line": lambda _: command_line.reference(),
    "papers": lambda _: bibliography.papers(),
}
"""What a page can ask for, and the function that writes it."""


def expanded(docname: str, text: str) -> str:
    """Return the Markdown of a page as Sphinx reads it: with its generated parts, its papers and its branch."""
    if text.startswith("{"):
        text = notebooks.markdown(text)
    text = tree.without_folders(TOP, docname, text)
    text = bibliography.cited(ASKED.sub(lambda asked: PARTS[asked[1]](asked[2]), text))
    return "\n\n".join(filter(None, [text, bibliography.definitions(text), tree.toctree(TOP, docname, text)]))


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx what to do with each page before and after it is read, with formulas, and at the end."""
    app.connect("source-read", _on_read)
    app.connect("doctree-read", layout.arrange)
    app.connect("build-finished", _on_finished)
    add_mathml(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _on_read(_: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = expanded(docname, source[0])


def _on_finished(app: Sphinx, failure: Exception | None) -> None:
    """Put a page at the top of the site that leads to the start page, which lies in a folder."""
    if failure is None and app.builder.format == "html":
        start = f"{app.config.root_doc}.html"
        page = f'<!doctype html><meta http-equiv="refresh" content="0; url={start}"><a href="{start}">unweave</a>\n'
        (Path(app.outdir) / "index.html").write_text(page, encoding="utf-8")
