"""Docstrings as Markdown: NumPy's sections as lists, examples as code, citations as links, and prose unchanged."""

from __future__ import annotations

import ast
import re
import textwrap
from itertools import pairwise

SECTION = re.compile(r"^([A-Z]\w+(?: \w+)?)\n-{3,}\n", re.MULTILINE)
LISTED = {"Parameters", "Returns", "Yields", "Raises", "Warns", "Attributes"}
EXAMPLE = re.compile(r"(?:^>>>.*\n?(?:^\S.*\n?)*)(?:\n?^>>>.*\n?(?:^\S.*\n?)*)*", re.MULTILINE)
PAPER = re.compile(r"^\.\. (\[\w+\])", re.MULTILINE)


def markdown(docstring: str) -> str:
    """Return a cleaned docstring as Markdown."""
    first, *rest = SECTION.split(docstring)
    sections = zip(rest[::2], rest[1::2], strict=True)
    return "\n\n".join(
        [_prose(first), *(f"**{title}**\n\n{_section(title, text)}" for title, text in sections)]
    ).strip()


def attribute_docstrings(source: str) -> dict[str, str]:
    """Return the docstrings below the assignments of a module or of a class, by the name that is assigned."""
    body = ast.parse(textwrap.dedent(source)).body
    if len(body) == 1 and isinstance(body[0], ast.ClassDef):
        body = body[0].body
    found: dict[str, str] = {}
    for statement, below in pairwise(body):
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
            found |= {name: " ".join(below.value.value.split()) for name in _assigned(statement)}
    return found


def _assigned(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _section(title: str, text: str) -> str:
    if title in LISTED:
        return "\n".join(_item(*entry) for entry in _entries(text))
    if title == "References":
        return _prose(PAPER.sub(r"- \1", text))
    return _prose(text)


def _entries(text: str) -> list[tuple[str, str]]:
    """Return the names of a section, each with the indented text below it."""
    names = [*re.finditer(r"^\S.*", text, re.MULTILINE)]
    ends = [*(name.start() for name in names[1:]), len(text)]
    return [
        (name[0], textwrap.dedent(text[name.end() : end]).strip("\n")) for name, end in zip(names, ends, strict=True)
    ]


def _item(name: str, text: str) -> str:
    return f"- `{name}`\n\n{textwrap.indent(_prose(text), '  ')}\n"


def _prose(text: str) -> str:
    """Return a text without reStructuredText: citations and formulas as Markdown writes them, examples as code."""
    text = re.sub(r"(\[[A-Z]\w+\d{4}[a-z]?\])_", r"\1", text.strip("\n"))
    text = re.sub(r":math:`([^`]+)`", r"$\1$", text)
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", text).replace("``", "`")
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)
