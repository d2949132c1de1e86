from __future__ import annotations

import os
import re
import subprocess
import sys
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import numpy as np
import polars
import pytest
from PIL import Image

from unweave.data import load
from unweave.data.factors import FactorSpace
from unweave.data.table import Table
from unweave.report import render, survey, write_page
from unweave.report.grids import strip
from unweave.report.latents import traversal_rows
from unweave.report.page import SAMPLES, _ceilings
from unweave.report.surveys import collapse

VOID = {"meta", "img", "br"}


class Outline(HTMLParser):
    """The elements of a page; fails on one that is closed out of turn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def text_of(page: str) -> str:
    return " ".join(" ".join(Outline(page).text).split())


def test_the_page_has_every_section_and_fact(run, page: str):
    titles = re.findall(r"<h2>(.*?)</h2>", page)
    assert titles == ["Scores", "Reconstructions", "Traversals", "Factors × latents", "Training curve"]
    text = text_of(page)
    facts = ["beta 4", "data size 64", "labels kind noisy", "steps 3,000", "seed 7", f"run {run.id}"]
    for fact in ["beta-vae on squares", *facts]:
        assert fact in text
    assert "mig ↑ higher 0.421 0.380 – 0.470" in text
    assert 'title="kind=classifier, test=5000"' in page
    assert '"lr": 0.001' in text


def test_the_page_asks_nothing_of_the_network_and_every_picture_is_described(page: str):
    outline = Outline(page)
    assert all((image["src"] or "").startswith("data:image/png;base64,") for image in outline.all("img"))
    assert all(image["alt"] for image in outline.all("img"))
    assert all(chart["role"] == "img" and chart["aria-label"] for chart in outline.all("svg"))
    assert len(outline.all("svg")) == 5
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in outline.elements}
    addresses = set(re.findall(r"""\w+://[^\s"'<>]+""", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_ids_are_unique_and_every_reference_finds_its_own(page: str):
    ids = [attributes["id"] for _, attributes in Outline(page).elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert ids
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', page)) == set(ids)


def test_charts_take_the_colours_of_the_page(page: str):
    charts = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    assert {"var(--ink)", "var(--muted)", "var(--accent)", "var(--line)"} <= set(re.findall(r"var\(.*?\)", charts))
    assert set(re.findall(r"#[0-9a-f]{6}\b", charts)) <= {"#1f6fc0", "#ffffff"}


def test_the_traversals_on_the_page_are_those_of_the_run(run, page: str):
    images = {image["alt"]: image["src"] for image in Outline(page).all("img")}
    grid = traversal_rows(run, survey(run, samples=SAMPLES))
    for row in grid.rows:
        source = images[f"{row.label}, {row.note}, from −2 to 2"] or ""
        shown = Image.open(BytesIO(b64decode(source.split(",")[1])))
        np.testing.assert_array_equal(np.asarray(shown), np.asarray(strip(row.images)))


def test_hostile_names_are_shown_and_not_obeyed(run, tmp_path: Path):
    evil = '<script>alert("1")</script> & --> $\\frac$ \'"'
    data = type(run.data)(name=evil, factors=FactorSpace((evil, "</svg>", "c"), run.data.factors.sizes))
    log = run.log().rename({"kl": evil})
    scores = polars.DataFrame({"metric": [evil], "value": [0.5], "low": [0.4], "high": [0.6], "options": [evil]})
    page = render(replace(run, method=evil, data=data, history=log, table=scores, id=evil, state=evil))
    outline = Outline(page)
    assert not outline.all("script")
    assert len(outline.all("svg")) == 5
    assert "".join(outline.text).count(evil) >= 9
    assert f"{evil} over the steps of training" in {chart["aria-label"] for chart in outline.all("svg")}
    page = render(replace(run, path=tmp_path / "<b> it's", table=None))
    assert not Outline(page).all("b")
    assert "unweave evaluate" in text_of(page)


def test_a_run_without_scores_names_the_command(run):
    page = text_of(render(replace(run, table=None)))
    assert f"unweave evaluate {run.path} computes them" in page


def test_an_unfinished_run_says_how_far_it_came(run):
    empty = polars.DataFrame({"step": [], "loss": []})
    page = text_of(render(replace(run, step=1500, state="unfinished", history=empty)))
    assert "steps 1,500 of 3,000" in page
    assert "state unfinished" in page
    assert "Nothing has been logged yet." in page
    assert "This run is unfinished, at step 1,500 of 3,000" in page


def test_the_heat_map_shows_the_latents_in_use(run, page: str):
    charts = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    for chart in charts[:2]:
        assert re.findall(r">(z\d+)</text>", chart) == ["z3", "z1", "z4"]
        # The same cells: each of the three factors is on a latent of its own.
        values = np.array([float(cell) for cell in re.findall(r">([01]\.\d\d)</text>", chart)]).reshape(3, 3)
        assert (np.diag(values) > 0.9).all()
        assert values.sum() - np.trace(values) < 0.3


def test_a_collapsed_model_is_called_so_at_the_top(run, page: str):
    assert 'class="alert"' not in page
    for point in (False, True):
        dead = replace(run, collapsed=True, point=point)
        text = text_of(render(dead))
        assert "there is nothing to compare" in text
        sentence = collapse(survey(dead))
        assert sentence is not None
        assert text.index(sentence) < text.index("Reconstructions")


def test_points_have_rows_of_their_own_range_and_no_nats(run):
    page = render(replace(run, point=True))
    text = text_of(page)
    assert "nats" not in text
    assert "points, which have no divergence from a prior" in text
    notes = re.findall(r"<strong>z3</strong><span>(.*?)</span><span>(.*?)</span>", page)
    assert notes == [("variance 1.5", "−2 to 2")]
    # z4 takes three values, for which a third of the room of nine pictures is enough.
    widths = re.findall(r'alt="z4, [^"]*, 3 pictures" src="[^"]*" style="width:(.*?)%"', page)
    assert len(widths) == 1
    assert 32 < float(widths[0]) < 34


def test_the_caption_of_the_curves_says_that_terms_are_weighted(run, page: str):
    assert "kl is the weight (β) times the mean KL; unweighted, it is the score elbo-rate" in text_of(page)
    assert "elbo-rate" not in render(replace(run, history=run.log().drop("kl")))


def test_a_wide_code_shows_the_latents_that_carry_most(run):
    page = render(replace(run, latents=40))
    labels = re.findall(r"<strong>(z\d+)</strong>", page)
    assert labels[:3] == ["z3", "z1", "z4"]
    assert len(labels) == 16
    assert "The last 24 are not shown." in text_of(page)


def test_the_same_run_gives_the_same_bytes_in_its_folder_or_elsewhere(run, page: str, tmp_path: Path):
    assert write_page(run) == run.path / "report.html"
    elsewhere = write_page(run, tmp_path / "new" / "page.html")
    assert elsewhere == tmp_path / "new" / "page.html"
    assert os.listdir(elsewhere.parent) == ["page.html"]
    assert (run.path / "report.html").read_bytes() == elsewhere.read_bytes() == page.encode()


def test_the_report_imports_neither_torch_nor_pyplot():
    code = "import sys, unweave.report; print(*{'torch', 'matplotlib.pyplot'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""


def test_a_data_set_with_twins_has_its_ceilings_drawn(run):
    """Where every image differs there are none to draw."""
    assert "Ceilings of the data" not in render(run)
    shown = run.data.images(np.arange(len(run.data))).copy()
    shown[1::2] = shown[::2]  # the last factor hides its lowest digit
    twins = Table(shown, run.data.values(np.arange(len(run.data))), names=run.data.factors.names)
    page = _ceilings(replace(run, data=twins))
    assert "50.0 % are distinct" in page
    assert page.count("<meter") == 2 * len(twins.factors.names)
    assert '<td>0.500</td><td><meter min="0" max="1" value="0.5000"></meter></td>' in page


def test_a_large_data_set_is_not_compared_for_a_page(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Its page names the command; a small set, and one whose ceilings come with unweave, have them at once."""
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path))
    monkeypatch.setattr("unweave.data.ceilings.ceilings", lambda *_: pytest.fail("the images are compared"))
    page = _ceilings(replace(run, data=load("shapes2d", size=32)))
    assert "<code>unweave data info shapes2d:size=32,turn=41</code>" in page
    assert "737,280 images" in page
    smooth = load("objects3d", size=32, n=100_001, smooth=True)
    (name,) = re.findall(r"<code>unweave data info (.*?)</code>", _ceilings(replace(run, data=smooth)))
    assert load(name).description == smooth.description
    assert "90.6 % are distinct" in _ceilings(replace(run, data=load("shapes2d")))
