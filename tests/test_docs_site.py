"""The documentation site: links and anchors lead somewhere, every page, public name and command is in it, it builds."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
import unicodedata
from importlib import import_module
from pathlib import Path

import documents_docs
import pytest
from docutils import nodes
from PIL import Image
from site_builder import PARTS, api, bibliography, command_line, expanded, layout, notebooks, tree
from site_builder.docstrings import attribute_docstrings, markdown
from site_builder.formulas import mathml

import unweave
from unweave.cli.commands import COMMANDS

TOP = Path(__file__).parents[1]
PAGES = [*sorted(TOP.glob("*.md")), *sorted((TOP / "docs").rglob("*.md"))]
NOTEBOOKS = sorted((TOP / "examples" / "notebooks").glob("*.ipynb"))
FENCE = re.compile(r"^(`{3,}|:{3,}).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!\\)\]\(<?(?!https?:|mailto:)([^)\s#>]*)(?:#([^)\s>]*))?>?(?:\s+[\"'][^)]*)?\)")
DEFINED = re.compile(r"^ {0,3}\[[^]\n]+\]: +(?!https?:|mailto:)([^\s#]*[./][^\s#]*)(?:#(\S*))?$", re.MULTILINE)
"""The target of a link that is given apart from it: [name]: page.md"""
TAG = re.compile(r"""<(?:a|img)\b[^>]*?\b(?:href|src)=["'](?!https?:|mailto:|data:)([^"'#]*)(?:#([^"']*))?["']""")


def name_of(page: Path) -> str:
    return str(page.relative_to(TOP))


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page: lower case, no punctuation, dashes for spaces."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} +(.+?)\s*#*$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("*", "").lower()
        kept = (letter for letter in words if letter in "-_ " or unicodedata.category(letter)[0] in "LNM")
        slug = "".join(kept).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
        if found[slug]:
            found[f"{slug}-{found[slug]}"] = 0
    return set(found)


def prose(page: Path) -> str:
    """Return the text of a page or of a notebook, without code."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells)
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


def dead(page: Path, text: str) -> list[str]:
    """Return the links of a text on a page that lead nowhere, or out of the repository."""
    found = []
    for target, anchor in [*LINK.findall(text), *DEFINED.findall(text), *TAG.findall(text)]:
        path = (page.parent / target).resolve() if target else page
        there = path.exists() and path.is_relative_to(TOP)
        if not there or (anchor and anchor not in anchors(path)):
            found.append(f"{target}#{anchor}")
    return found


@pytest.mark.parametrize("page", [*PAGES, *sorted((TOP / ".github").rglob("*.md")), *NOTEBOOKS], ids=name_of)
def test_no_link_or_anchor_of_a_page_is_dead(page):
    assert dead(page, prose(page)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[here](docs/index.md), [there](https://x.org/nothing.md), ![picture](docs/images/guide-seeds.png)", []),
        ("[dead](docs/nothing.md)", ["docs/nothing.md#"]),
        ("[dead](docs/index.md#nothing)", ["docs/index.md#nothing"]),
        ("[dead](#nothing)", ["#nothing"]),
        ("![dead](docs/images/nothing.png)", ["docs/images/nothing.png#"]),
        ('[dead](docs/nothing.md "a title")', ["docs/nothing.md#"]),
        ("[dead](<docs/nothing.md>)", ["docs/nothing.md#"]),
        ("[dead][name]\n\n[name]: docs/nothing.md\n", ["docs/nothing.md#"]),
        ('<img width="100" src="docs/images/nothing.png">', ["docs/images/nothing.png#"]),
        ("[outside](../nothing.md)", ["../nothing.md#"]),
    ],
)
def test_dead_links_are_found(text, expected):
    assert dead(TOP / "README.md", text) == expected


def test_anchors_are_those_of_github(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# I_m, *of* groups\n## `a.b` & β²\n## Twice\n## Twice\n```\n# no heading\n```\n## [link](x.md)s\n")
    assert anchors(page) == {"i_m-of-groups", "ab--β²", "twice", "twice-1", "links"}


def test_every_page_is_in_the_tree_of_the_site():
    pages = {str(page.relative_to(TOP).with_suffix("")) for page in [*PAGES, *NOTEBOOKS]}
    assert pages - tree.reachable(TOP) == {"README"}  # what GitHub shows; docs/index.md is the site's own start page


@pytest.mark.parametrize("page", [page for page in PAGES if page != TOP / "README.md"], ids=name_of)
def test_a_page_of_the_site_links_to_no_page_outside_of_it(page):
    """README.md is for GitHub: where a page of the site links to it, Sphinx warns and `make docs` fails."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    linked = {(page.parent / target).resolve() for target, _ in LINK.findall(text) if target.endswith(".md")}
    assert TOP / "README.md" not in linked


def test_every_page_can_be_reached_by_links_from_the_start_page():
    seen: set[Path] = set()
    waiting = [TOP / "docs" / "index.md"]
    while waiting:
        page = waiting.pop()
        if page not in seen:
            seen.add(page)
            targets = LINK.findall(page.read_text(encoding="utf-8")) if page.suffix == ".md" else []
            linked = [(page.parent / target).resolve() for target, _ in targets if target.endswith((".md", ".ipynb"))]
            folders = [(page.parent / target).resolve() / "README.md" for target, _ in targets]
            waiting += [path for path in (*linked, *folders) if path.exists()]
            if "<!-- generated: modules -->" in page.read_text(encoding="utf-8"):
                waiting += [page.parent / api.page_name(module) for module in api.MODULES]
    assert {*PAGES, *NOTEBOOKS} - seen - {TOP / "README.md"} == set()


def test_a_toctree_of_a_page_is_not_repeated(tmp_path):
    (tmp_path / "docs").mkdir()
    for name in ("README", "first", "second"):
        (tmp_path / "docs" / f"{name}.md").write_text("# A page\n")
    text = "# A page\n\n[second](second.md)\n\n```{toctree}\n:hidden:\n\nfirst\n```\n"
    assert tree.children(tmp_path, "docs/README", text) == ["docs/second", "docs/first"]
    assert tree.toctree(tmp_path, "docs/README", text) == "```{toctree}\n:hidden:\n\n/docs/second\n```"


def title_of(docname: str) -> str:
    """Return what the navigation calls a page."""
    page = TOP / f"{docname}.md"
    text = page.read_text(encoding="utf-8") if page.exists() else prose(TOP / f"{docname}.ipynb")
    return tree.TITLES.get(docname) or re.findall(r"^# +(.+)$", text, re.MULTILINE)[0]


def test_no_two_pages_below_a_page_have_one_name():
    for docname in tree.reachable(TOP):
        page = TOP / f"{docname}.md"
        below = tree.children(TOP, docname, page.read_text(encoding="utf-8")) if page.exists() else []
        titles = [title_of(each) for each in below]
        assert sorted(titles) == sorted(set(titles))


@pytest.mark.parametrize(
    "text",
    [
        "0.313 ± 0.062",
        "0.471 (0.425 … 0.518)",
        "−25.0 (−25.2 … −24.8)",
        "0.26 [0.21, 0.31]",
        "0.05 (2 seeds)",
        "> 1,000 (22 … > 1,000)",
        "16 (5–36)",
        "0.25 / 784 / 0.008",
        "8 of 8",
        "31 %",
        "1e-4",
    ],
)
def test_a_cell_that_is_a_number_stays_on_one_line(text):
    cell = nodes.entry("", nodes.paragraph("", text))
    layout.keep_numbers_together(cell)
    assert cell["classes"] == ["number"]
    assert cell.astext() == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("0.020 (0.007 … 0.033); dsprites, printed: 0.042", ["0.020 (0.007 … 0.033)"]),
        ("β 1 and 4; 200 to 20,000 steps", ["200 to 20,000"]),
        ("shapes2d, 32 × 32 pixels", ["32 × 32"]),
        ("learnt, radius 31, on 2 data sets", []),
        ("thesis-3.10", []),
    ],
)
def test_a_cell_of_words_wraps_but_not_within_its_numbers(text, kept):
    cell = nodes.entry("", nodes.paragraph("", text))
    layout.keep_numbers_together(cell)
    assert cell["classes"] == []
    assert [part.astext() for part in cell.findall(nodes.inline)] == kept
    assert cell.astext() == text


@pytest.mark.parametrize(("pixels", "width"), [(1485, "1485px"), (700, None)])
def test_only_a_picture_wider_than_the_column_gets_a_width(pixels, width, tmp_path):
    Image.new("L", (pixels, 2)).save(tmp_path / "picture.png")
    image = nodes.image(uri="picture.png")
    layout.give_width(image, tmp_path)
    assert image.get("width") == width


def test_every_public_module_has_a_page_that_asks_for_it():
    public = {f"unweave.{name}" for name in dir(unweave) if name in unweave._MODULES}
    assert public <= set(api.MODULES)
    pages = {page.name: page.read_text() for page in (TOP / "docs" / "reference" / "api").glob("*.md")}
    assert set(pages) == {"README.md", *map(api.page_name, api.MODULES)}
    for module in api.MODULES:
        assert f"<!-- generated: api {module} -->" in pages[api.page_name(module)]


@pytest.mark.parametrize("name", api.MODULES)
def test_every_public_name_is_in_the_api(name):
    module = import_module(name)
    page = api.module_page(name)
    assert api.public_names(module)
    for public in api.public_names(module):
        assert re.search(rf"^:+\{{py:\w+\}} {public}\b", page, re.MULTILINE), public


@pytest.mark.parametrize("name", api.MODULES)
def test_a_page_of_the_api_opens_with_what_the_module_offers(name):
    page = api.module_page(name)
    opening, _, below = page.partition("| name | what it is |\n")
    overview = below.partition("```{py:currentmodule}")[0]
    assert not re.search(r"\bto add (a|one)\b", opening, re.IGNORECASE)
    assert len(FENCE.sub("", opening).split()) < 100
    assert all(f"<{name}.{public}>`" in overview for public in api.public_names(import_module(name)))
    assert "\n## Inside\n" in below


def test_a_module_offers_neither_what_it_imports_nor_values_without_a_docstring():
    assert not {"re", "sys", "warnings", "T"} & set(api.public_names(import_module("unweave.plugins")))
    assert "{py:data} Shape\nHeight, width" in api.entry(unweave.nets, "Shape")  # another name of a type


def test_the_notes_of_a_module_are_at_the_end_of_its_page():
    text = "Numbers.\n\n>>> 1\n1\n\nNotes\n-----\nTo add one, count."
    assert api.parts_of_docstring(text) == ("Numbers.\n\n>>> 1\n1", "To add one, count.")
    assert api.parts_of_docstring("Numbers.") == ("Numbers.", "")


def test_the_api_shows_signature_parameters_and_fields():
    page = api.entry(unweave.metrics, "mig")
    assert page.startswith("::::{py:function} mig(codes: ArrayLike, factors: ArrayLike, *, bins: int = 20")
    assert "**Parameters**\n\n- `codes`\n\n  Codes (n, d)." in page
    assert "[Chen2018], eq. 6" in page
    assert "```pycon\n>>> from unweave.metrics import mig" in page
    page = api.entry(unweave.methods, "BetaVAE")
    assert "{py:attribute} beta\nWeight of the KL term" in page
    assert "Annotated" not in api.entry(unweave.methods, "AdaGVAE")
    assert "`mig`" in api.entry(unweave.metrics, "METRICS")


def test_docstrings_become_markdown():
    text = "Do it [Chen2018]_, :math:`x^2`.\n\nReturns\n-------\nint, str\n    One.\n\n    Two.\nfloat\n    Three.\n"
    assert markdown(text) == (
        "Do it [Chen2018], $x^2$.\n\n**Returns**\n\n- `int, str`\n\n  One.\n\n  Two.\n\n- `float`\n\n  Three."
    )
    source = 'class A:\n    """About."""\n    x: int = 1\n    """The\n    x."""\n    y = 2\n'
    assert attribute_docstrings(source) == {"x": "The x."}


def test_every_command_and_every_option_is_in_the_reference():
    for command in ("evaluate", "study run", "train beta-vae", "reproduce list"):
        text = command_line.command_help(command)
        shown = set(re.findall(r"--[a-z][a-z-]+", command_line.printed([*command.split(), "--help"])))
        assert shown <= set(re.findall(r"--[a-z][a-z-]+", text))
        assert "│" not in text
    assert "`--metrics NAME ...`\n: Metrics to compute" in command_line.command_help("evaluate")


@pytest.mark.slow
def test_the_reference_has_every_command():
    text = command_line.reference()
    headings = re.findall(r"^## unweave (.*)$", text, re.MULTILINE)
    assert [name for name in headings if name != f"train {command_line.METHOD}"] == list(COMMANDS)
    assert all(f"`{word}`" in text or word in text for word in ("-h, --help", "--json", "--plugin FILE|MODULE"))


def test_what_pages_ask_for_is_there():
    asked = {kind for page in PAGES for kind in re.findall(r"<!-- generated: ([\w-]+)", page.read_text())}
    assert asked == set(PARTS)


def test_the_papers_are_those_of_the_bibliography():
    keys = re.findall(r"^@\w+\{(\w+),", (TOP / "docs" / "references.bib").read_text(), re.MULTILINE)
    assert sorted(bibliography.entries()) == sorted(keys)
    listed = bibliography.papers()
    for key in keys:
        assert f"(paper-{key.lower()})=\n**{key}** " in listed
    assert not re.search(r"[{}]|\\[a-zA-Z\"'`^]", listed.replace(r"$\beta$", ""))
    assert "Gunnar Rätsch, Sylvain Gelly" in listed
    assert "https://arxiv.org/abs/1910.05587" in listed
    assert (
        bibliography.cited("[Chen2018, eq. 6], [Chen2018] [Nobody1999]")
        == "[[Chen2018], eq. 6], [[Chen2018]] [Nobody1999]"
    )
    assert bibliography.cited("A formula [Chen2018, eq. 6]:") == "A formula [[Chen2018], eq. 6]:"
    assert bibliography.cited("\n[Chen2018]:") == "\n[[Chen2018]]:"
    assert bibliography.definitions("As in [Chen2018] and [Nobody1999].") == "[Chen2018]: #paper-chen2018"


def test_every_paper_has_authors_and_can_be_found():
    papers = bibliography.entries()
    assert [key for key, paper in papers.items() if "author" not in paper] == []
    not_online = {"Vu2024", "Ottlik2022"}  # a talk, and a report of students
    assert {key for key, paper in papers.items() if not bibliography.link(paper)} == not_online


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_a_notebook_is_shown_with_its_outputs(path):
    text = notebooks.markdown(path.read_text(encoding="utf-8"))
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert text.count("```python\n") == len(code)
    pictures = sum("image/png" in output.get("data", {}) for cell in code for output in cell["outputs"])
    assert text.count('src="data:image/png;base64,') >= pictures
    assert expanded(str(path), path.read_text(encoding="utf-8")).startswith(text.splitlines()[0])


def test_formulas_need_no_script():
    assert mathml(r"\tfrac12 \textstyle\sum_j \bigl( x_j \big)", True).startswith("<math")


@pytest.mark.parametrize("page", documents_docs.pages(), ids=lambda page: page.stem)
def test_the_pages_of_the_five_documents_quote_the_results(page):
    """If not: `python benchmarks/documents_docs.py` writes the rows; then read whether the sentences still hold."""
    text = page.read_text(encoding="utf-8")
    assert text == documents_docs.written(page)
    if page.stem == "README":
        return
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert titles == ["What it claims", "What you can run", "What came out", "Why they differ"]
    outcome = text.partition("## What came out")[2].partition("## Why")[0]
    quoted = [line for line in outcome.splitlines() if documents_docs.QUOTED.match(line)]
    assert quoted
    prose = "\n".join(line for line in outcome.splitlines() if line not in quoted and not line.startswith("|"))
    assert not re.search(r"\d\.\d|\d %", prose)  # numbers of ours are in what is quoted


def test_the_sentences_about_the_thesis_follow_its_claims():
    text = (TOP / "docs" / "reproduce" / "thesis.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d\.\d+ \| .*? \| (holds|does not hold|holds in part|[^|]*?) \| \d+ of", text, re.MULTILINE)
    assert rows.count("holds") > len(rows) / 2  # "most of its claims hold"


def test_the_settings_of_the_site_can_be_read():
    settings = runpy.run_path(str(TOP / "docs" / "conf.py"))
    assert settings["version"] == unweave.__version__
    assert {"myst_parser", "site_builder"} <= set(settings["extensions"])


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "--quiet",
        "--fail-on-warning",
        "-c",
        "docs",
        ".",
        str(tmp_path / "site"),
    ]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = {str(path.relative_to(tmp_path / "site").with_suffix("")) for path in (tmp_path / "site").rglob("*.html")}
    assert tree.reachable(TOP) <= pages
    start = (tmp_path / "site" / "docs" / "index.html").read_text(encoding="utf-8")
    assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?:', start)  # it works offline
    page = (tmp_path / "site" / "docs" / "reference" / "api" / "metrics.html").read_text(encoding="utf-8")
    assert 'id="unweave.metrics.mig"' in page
    assert re.search(r'<a [^>]*href="[^"]*#paper-chen2018">(<[^>]*>)?Chen2018<', page)
    page = (tmp_path / "site" / "docs" / "guides" / "which-metric.html").read_text(encoding="utf-8")
    assert re.search(r'<a class="[^"]*" href="[^"]*/guide-metrics.png"><img', page)  # it is wider than the column
    page = (tmp_path / "site" / "docs" / "results" / "methods.html").read_text(encoding="utf-8")
    assert re.search(r'<td class="number"><p>0\.\d+ ± 0\.\d+</p></td>', page)
