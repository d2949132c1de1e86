from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import polars
import pytest
from PIL import Image

import unweave
from unweave.errors import UsageError
from unweave.report import latents_figure, training_figure, write_page
from unweave.report.notebook import Page, data_html, run_html

from .conftest import Squares, SquaresRun


@pytest.fixture
def squares(tmp_path) -> SquaresRun:
    return SquaresRun(tmp_path)


def test_a_chart_shows_itself_and_is_saved(squares, tmp_path):
    chart = training_figure(squares.log())
    picture = Image.open(BytesIO(chart._repr_png_()))
    chart.save(tmp_path / "curves.png")
    assert Image.open(BytesIO((tmp_path / "curves.png").read_bytes())).width == 2 * picture.width
    chart.save(tmp_path / "curves.svg")
    assert "<svg" in (tmp_path / "curves.svg").read_text()


def test_latents_are_ordered_by_what_they_carry_above_their_factors(squares):
    above, below = latents_figure(squares, samples=200).axes
    heights = [bar.get_extents().height for bar in above.patches]
    assert heights == sorted(heights, reverse=True)
    names = [label.get_text() for label in below.get_xticklabels()]
    assert names[:3] == ["z3", "z1", "z4"]
    assert above.get_xticklabels() == []  # those below serve both
    assert [label.get_text() for label in below.get_yticklabels()] == ["x", "y", "shade"]
    assert above.get_ylabel() == "KL, nats"


def test_codes_that_are_points_show_their_variance(squares, tmp_path):
    above, _ = latents_figure(SquaresRun(tmp_path, point=True), samples=200).axes
    assert above.get_ylabel() == "variance"


def test_a_page_is_a_path_that_shows_itself(squares, tmp_path):
    page = Page(write_page(squares, tmp_path / "page.html"))
    assert repr(page) == f"Page('{tmp_path / 'page.html'}')"
    assert page._repr_html_().startswith("<iframe ")
    assert page._repr_html_().count('"') == 6  # what is in the page is escaped
    page.save(tmp_path / "copy.html")
    assert (tmp_path / "copy.html").read_bytes() == Path(page).read_bytes()


def test_data_of_one_s_own_are_shown_without_digest_and_size_0(tmp_path):
    np.savez(tmp_path / "my.npz", images=np.zeros((4, 16, 16, 1), dtype=np.uint8))
    html = data_html(unweave.load(str(tmp_path / "my.npz")))
    assert f">npz:path={tmp_path / 'my.npz'}<" in html
    assert ">4 of 16 × 16 × 1<" in html
    vectors = data_html(unweave.data.Vectors(np.eye(5)))
    assert ">vectors</th>" in vectors
    assert "digest" not in html + vectors


def test_a_run_shows_its_settings_and_latents(squares):
    html = run_html(squares)
    assert "beta-vae loss=bce, beta=4.0" in html
    assert "finished, step 3,000 of 3,000" in html
    assert [html.find(f">{name}<img") > 0 for name in ("z3", "z1", "z4")] == [True] * 3
    assert html.count("<img") == 3


def test_a_run_shows_its_main_scores(tmp_path):
    rows = {"metric": ["irs", "mig", "sap"], "value": [0.1, 0.25, 0.5], "low": [None] * 3, "high": [None] * 3}
    rows |= {"floor": [None] * 3, "options": ["{}"] * 3, "step": [3000] * 3, "current": [True, True, False]}
    html = run_html(SquaresRun(tmp_path, table=polars.DataFrame(rows)))
    assert "<th>mig</th>" in html
    assert "<td>0.250</td>" in html
    assert "irs" not in html  # it is none of the main ones
    assert "sap" not in html  # it is of other weights


def test_a_run_without_weights_shows_the_rest(squares, monkeypatch):
    def missing(*_: object) -> None:
        raise UsageError("it has no weights")

    monkeypatch.setattr(SquaresRun, "posterior", missing)
    assert "step 3,000" in run_html(squares)
    assert "<img" not in run_html(squares)


def test_a_data_set_shows_its_factors_and_images():
    html = data_html(Squares())
    assert "336 of 64 × 64 × 3" in html
    assert "x (14), y (8), shade (3)" in html
    assert html.count("<img") == 1
    assert Squares()._repr_html_() == html


def test_pictures_of_a_run_are_methods_of_it(tmp_path):
    run = unweave.train("vae", data="xysquares:size=32", net="mlp", width=0.02, batch=8, steps=2, out=tmp_path / "run")
    assert run.traversals(rows=2, columns=3).width > 100
    assert isinstance(run.reconstructions(2), Image.Image)
    assert len(run.curves().axes) == 3
    assert len(run.latents(samples=50).axes) == 2
    assert run.report().path == tmp_path / "run" / "report.html"
    assert run.report(tmp_path / "page.html").path.is_file()
    assert "vae loss=bce" in run._repr_html_()
    run.evaluate("mig", samples=60, test_samples=20)
    assert str(run.scores()).splitlines()[0].split() == [
        *("metric", "value", "95", "%", "interval", "floor", "…", "ceiling", "step"),
    ]


def test_the_version_is_that_of_the_package():
    assert unweave.__version__[0].isdigit()
    assert "__version__" in dir(unweave)
