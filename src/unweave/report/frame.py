"""The frame of every page: the palettes, the style sheet, the head."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib.resources import files

from unweave.report.style import DARK, LIGHT, variables


def section(title: str, about: str, content: str = "", anchor: str = "") -> str:
    """Return a section; `about` and `content` are HTML already."""
    place = f' id="{escape(anchor)}"' if anchor else ""
    return f"<section{place}>\n<h2>{title}</h2>\n{paragraph(about)}{content}\n</section>"


def paragraph(text: str) -> str:
    """Return a paragraph of HTML, or nothing if there is no text."""
    return f"<p>{text}</p>\n" if text else ""


def facts_list(facts: Iterable[tuple[str, str]]) -> str:
    """Return names and values, plain text, side by side."""
    listed = "\n".join(f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>" for key, value in facts)
    return f"<dl>\n{listed}\n</dl>"


def document(title: str, parts: Iterable[str], sheets: Iterable[str] = ("page.css",)) -> str:
    """Return a self-contained page of HTML parts, for a light and a dark background."""
    style = "\n".join(files("unweave.report").joinpath(sheet).read_text(encoding="utf-8") for sheet in sheets)
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {variables(DARK)} }} }}"
    body = "\n".join(parts)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
:root {{ {variables(LIGHT)} }}
{dark}
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
