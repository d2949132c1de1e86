"""The tree of pages: the site's navigation, from one table and one rule.

The rule: the README.md of a folder is the parent of the folder's other pages. Pages come in the order in which their
parent links to them.
"""

from __future__ import annotations

import re
from pathlib import Path

LINK = re.compile(r"\]\(([^)#:\s]+\.(?:md|ipynb))(?:#[^)]*)?\)")
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
ROOT = "docs/index"
BRANCHES = {
    ROOT: [
        "docs/tutorials/README",
        "docs/guides/README",
        "docs/reference/README",
        "docs/reproduce/README",
        "docs/documents/README",
        "docs/inside/README",
    ],
    "docs/tutorials/README": ["examples/notebooks/tour", "examples/notebooks/own_encoder"],
    "docs/guides/README": [
        "docs/install",
        "docs/choose-a-method",
        "docs/training",
        "docs/python",
        "docs/compare",
        "docs/study",
        "docs/selection",
        "docs/perception",
        "docs/learn-loss",
        "docs/encoders",
        "docs/sparse",
        "docs/explorer",
        "docs/publish",
        "docs/tasks",
        "docs/gaussian",
        "docs/geometry",
        "docs/geomancer",
        "docs/identifiability",
        "docs/write-your-own/README",
    ],
    "docs/reference/README": [
        "docs/data/README",
        "docs/methods/README",
        "docs/metrics/README",
        "docs/nets",
        "docs/losses",
        "docs/penalties",
        "docs/presets",
        "docs/cli",
        "docs/reference/api/README",
    ],
    "docs/reproduce/README": ["docs/results/comparison", "docs/results/methods", "docs/results/guardians"],
    "docs/inside/README": ["ARCHITECTURE", "CONTRIBUTING", "CHANGELOG"],
}
"""The pages below a page that are not in its folder."""
TITLES = {
    "docs/reproduce/README": "Results",
    "docs/results/guardians": "What fools which metric: all scores",
    "examples/notebooks/tour": "Notebook: a tour",
    "examples/notebooks/own_encoder": "Notebook: score your own encoder",
}
"""What the navigation calls a page, where its heading is too long or that of another page."""


def children(top: Path, docname: str, text: str) -> list[str]:
    """Return the pages directly below a page, as paths from the top of the repository, without their suffix."""
    folder = (top / docname).parent
    beside = sorted(folder.glob("*.md")) if Path(docname).name == "README" else []
    below = {*(str(page.relative_to(top).with_suffix("")) for page in beside), *BRANCHES.get(docname, [])}
    linked = [(folder / target).resolve().relative_to(top).with_suffix("") for target in LINK.findall(text)]
    in_order = dict.fromkeys([*map(str, linked), *BRANCHES.get(docname, []), *sorted(below)])
    return [page for page in in_order if page in below and page != docname and _exists(top, page)]


def toctree(top: Path, docname: str, text: str) -> str:
    """Return the hidden toctree of a page's children, but for those in a toctree that the page has itself."""
    own = (line for block in TOCTREE.findall(text) for line in block.split("\n") if not line.startswith(":"))
    shown = {str((Path(docname).parent / line).with_suffix("")) for line in own}
    pages = [page for page in children(top, docname, text) if page not in shown]
    return "\n".join(["```{toctree}", ":hidden:", "", *map(_entry, pages), "```"]) if pages else ""


def without_folders(top: Path, docname: str, text: str) -> str:
    """Return a text in which a link to a folder leads to its README.md, and is plain text where there is none."""

    def page(found: re.Match[str]) -> str:
        folder = (top / docname).parent / found[2]
        if not folder.is_dir():
            return found[0]
        return f"[{found[1]}]({found[2]}/README.md)" if (folder / "README.md").exists() else found[1]

    return re.sub(r"\[([^]\n]+)\]\(([^)#:\s]+)\)", page, text)


def reachable(top: Path) -> set[str]:
    """Return all pages that can be reached from the start page by going down the tree."""
    found: set[str] = set()
    waiting = [ROOT]
    while waiting:
        docname = waiting.pop()
        if docname not in found:
            found.add(docname)
            page = top / f"{docname}.md"
            waiting += children(top, docname, page.read_text(encoding="utf-8")) if page.exists() else []
    return found


def _entry(docname: str) -> str:
    return f"{TITLES[docname]} </{docname}>" if docname in TITLES else f"/{docname}"


def _exists(top: Path, docname: str) -> bool:
    return any((top / f"{docname}{suffix}").exists() for suffix in (".md", ".ipynb"))
