"""The papers of references.bib: as a page, and as the targets of every `[Key2018]` in the pages and docstrings."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

BIB = Path(__file__).parents[1] / "references.bib"
ENTRY = re.compile(r"^@\w+\{(\w+),(.*)\}\s*$", re.MULTILINE)
FIELD = re.compile(r"(\w+) = \{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
ACCENTS = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "c": "\u0327", "v": "\u030c"}
LETTERS = {r"\DJ": "Đ", r"\dj": "đ", r"\o": "ø", r"\ss": "ß", r"\i": "ı", r"\l": "ł", r"\aa": "å", r"\ae": "æ"}
CITATION = re.compile(r"(?<!\[)\[(\w+\d{4}[a-z]?)((?:, [^]\[]+)?)\](?![\[(])")
ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5})")
BIORXIV = re.compile(r"bioRxiv (\d{4}\.\d\d\.\d\d\.\d+)")


@cache
def entries() -> dict[str, dict[str, str]]:
    """Return the fields of every paper, by its key, as plain text."""
    found = ENTRY.findall(BIB.read_text(encoding="utf-8"))
    return {key: {name: plain(value) for name, value in FIELD.findall(fields)} for key, fields in found}


def plain(value: str) -> str:
    """Return what a BibTeX value shows: accents as letters, no braces."""
    for command, letter in LETTERS.items():
        value = re.sub(re.escape(command) + r"(?![a-zA-Z])\s*", letter, value)
    value = re.sub(r"\\(['\"`^~]|[cv](?=[{ ]))\s*\{?(\w)\}?", lambda found: found[2] + ACCENTS[found[1]], value)
    value = value.replace(r"$\alpha$", "α").replace(r"\&", "&").replace("--", "–")
    return unicodedata.normalize("NFC", re.sub(r"[{}]", "", value))


def link(paper: dict[str, str]) -> str:
    """Return where a paper can be read, or nothing where the file does not say."""
    if "doi" in paper:
        return f"https://doi.org/{paper['doi']}"
    if "eprint" in paper:
        return f"https://arxiv.org/abs/{paper['eprint']}"
    if found := ARXIV.search(paper.get("note", "")):
        return f"https://arxiv.org/abs/{found[1]}"
    if found := BIORXIV.search(paper.get("note", "")):
        return f"https://doi.org/10.1101/{found[1]}"
    return paper.get("url", "")


def papers() -> str:
    """Return the list of papers, in the order of their keys, each with a target that citations lead to."""
    return "\n\n".join(f"({_target(key)})=\n**{key}** {_reference(entries()[key])}" for key in sorted(entries()))


def cited(text: str) -> str:
    """Return a text in which the key of `[Key2018]` or `[Key2018, eq. 6]` is a link, inside of the brackets."""
    return CITATION.sub(lambda found: f"[[{found[1]}]{found[2]}]" if found[1] in entries() else found[0], text)


def definitions(text: str) -> str:
    """Return Markdown's link definitions for the papers that a text cites, by which `[Key2018]` becomes a link."""
    cited = sorted(key for key in entries() if f"[{key}]" in text)
    return "\n".join(f"[{key}]: #{_target(key)}" for key in cited)


def _target(key: str) -> str:
    return f"paper-{key.lower()}"


def _reference(paper: dict[str, str]) -> str:
    title = f"[{paper['title']}]({link(paper)})" if link(paper) else f"*{paper['title']}*"
    where = paper.get("booktitle") or paper.get("journal") or paper.get("school") or paper.get("publisher")
    volume = (
        paper.get("volume") and f"{paper['volume']}({paper['number']})" if "number" in paper else paper.get("volume")
    )
    place = " ".join(filter(None, [where, volume, paper["year"]]))
    parts = [_authors(paper.get("author", "")), title, place, paper.get("note")]
    return ". ".join(part.rstrip(".") for part in parts if part) + "."


def _authors(names: str) -> str:
    people = [" ".join(reversed(name.split(", ", 1))) for name in names.split(" and ")] if names else []
    return " and ".join(filter(None, [", ".join(people[:-1]), *people[-1:]]))
