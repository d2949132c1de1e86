"""What every page is set in: the palettes, the style sheet, the head."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib.resources import files

from unweave.report.style import DARK, LIGHT, variables


def document(title: str, parts: Iterable[str], sheets: Iterable[str] = ("page.css",)) -> str:
    """Return a page of HTML parts that needs nothing beside itself, for a light and a dark background."""
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
