"""The wheel and the sdist hold all that is needed and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

TOP = Path(__file__).parents[1]
SOURCES = TOP / "src"
ENDINGS = {".py", ".js", ".html", ".css", ".json", ".typed"}
NEEDED = (
    "unweave/py.typed",
    "unweave/data/ceilings.json",
    "unweave/explorer/page/index.html",
    "unweave/explorer/page/main.js",
    "unweave/explorer/page/style.css",
    "unweave/report/page.css",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel and the sdist."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(build, cwd=TOP, check=True, capture_output=True)
    return folder


def sources() -> set[str]:
    """Return the files of the package by the names that a wheel gives them."""
    files = (path for path in SOURCES.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(SOURCES).as_posix() for path in files}


def test_the_wheel_holds_the_package_and_no_more(built):
    (wheel,) = built.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")  # no compiler is needed
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = Parser().parsestr(archive.read(next(n for n in names if n.endswith("/METADATA"))).decode())
    inside = {name for name in names if name.startswith("unweave/")}
    assert inside == sources()
    assert inside >= set(NEEDED)
    assert {Path(name).suffix for name in inside} == ENDINGS
    info = {Path(name).name for name in names - inside}
    assert info == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "LICENSE"}
    plain = [text for text in metadata.get_all("Requires-Dist", []) if "extra ==" not in text]
    assert not [text for text in plain if re.match("torch|safetensors", text)]


def test_the_sdist_holds_what_the_wheel_is_built_from(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    package = {name.removeprefix("src/") for name in names if name.startswith("src/")}
    assert package == sources()
    assert {name for name in names if not name.startswith("src/")} == {
        *("PKG-INFO", "pyproject.toml", "constraints.txt", "LICENSE", ".gitignore", "CITATION.cff"),
        *("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"),
    }


def test_one_version_everywhere():
    version = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (TOP / "CITATION.cff").read_text()
    newest = re.search(r"^## (\S+)", (TOP / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest
    assert newest[1] in (version, "Unreleased")


def test_every_extra_is_in_the_table_of_the_docs():
    extras = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    rows = [line.split("|")[1:] for line in (TOP / "docs" / "install.md").read_text().splitlines() if line[:3] == "| `"]
    assert {name for cells in rows for name in re.findall(r"`(\w+)`", cells[0])} == set(extras)
    for cells in rows:
        for name in re.findall(r"`(\w+)`", cells[0]):
            assert cells[2].strip() == ("yes" if _brings_torch(name, extras) else "no"), name


def _brings_torch(extra: str, extras: dict[str, list[str]]) -> bool:
    inner = [
        name for needed in extras[extra] for part in re.findall(r"^unweave\[(.*)\]", needed) for name in part.split(",")
    ]
    return extra == "train" or any(_brings_torch(name, extras) for name in inner)
