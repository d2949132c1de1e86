"""The rates of the reproduction against cells solved and scored one by one, and the page against its table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from unweave.gaussian import SCENARIOS, blahut_arimoto, im_score
from unweave.gaussian.model import as_partition
from unweave.gaussian.study import GAMMAS, LAMBDAS, study
from unweave.reproduce import linear_gaussian, reproduce
from unweave.reproduce.linear_gaussian import LinearGaussian, Settings
from unweave.reproduce.linear_gaussian_figures import VARIED, draw_sensitivity
from unweave.reproduce.linear_gaussian_rates import (
    NOTEBOOK,
    PUBLISHED,
    Rate,
    binomial,
    from_csv,
    markdown,
    rates,
    to_csv,
)
from unweave.reproduce.linear_gaussian_settings import AUTHORS, SETTINGS

DOCS = Path(__file__).parents[2] / "docs"
QUICK = replace(AUTHORS, steps=40, best_of=(2, 2))


def silent(*step):
    pass


def test_a_run_has_both_tables_the_notebook_and_a_figure(monkeypatch):
    monkeypatch.setitem(linear_gaussian.SETTINGS, "authors", QUICK)
    seen = []
    found = LinearGaussian().run(Settings(runs=1, varied=0), seed=0, on_progress=lambda *step: seen.append(step))
    assert [row.published for row in found.rows[:12]] == [value for pair in PUBLISHED.values() for value in pair]
    assert [row.published for row in found.rows[12:]] == [value for pair in NOTEBOOK.values() for value in pair]
    assert all(0 <= row.low <= row.ours <= row.high <= 100 for row in found.rows)
    assert seen[0] == ("3-in-3", 0, 6)
    assert set(found.figures) == {"rates"}
    assert found.rows[4].what == "3-in-1, success of I_m, %, talk"
    assert found.rows[4].published_interval == pytest.approx((86.28, 100), abs=0.01)
    assert len(from_csv(found.tables["rates.csv"])) == 12


def test_the_setting_is_chosen_by_name(monkeypatch, tmp_path):
    for name in SETTINGS:
        monkeypatch.setitem(linear_gaussian.SETTINGS, name, replace(SETTINGS[name], steps=20, best_of=(1, 1)))
    authors, clean = (
        reproduce("linear-gaussian", preset="smoke", setting=setting, out=tmp_path / str(setting))
        for setting in (None, "clean")
    )
    assert authors.command == "unweave reproduce linear-gaussian --setting authors --preset smoke --seed 0"
    assert (authors.settings["setting"], clean.settings["setting"]) == ("authors", "clean")
    assert [row.ours for row in authors.findings.rows] != [row.ours for row in clean.findings.rows]


def test_a_clean_rate_is_the_share_of_cells_that_succeed():
    world = SCENARIOS["3-in-2"].world()
    found = study(world, seed=4)
    seeds = np.random.SeedSequence(4).generate_state(25, np.uint32)
    wins = [0, 0]
    for seed, (gamma, lam) in zip(seeds, ((g, k) for g in GAMMAS for k in LAMBDAS), strict=True):
        cell = blahut_arimoto(world, gamma, lam, seeds=int(seed), start="principal")
        assert cell.error[0] <= 0.05
        if cell.state[0] == "diverged":
            continue
        x, xv = (array[0] for array in world.seen_by(cell.encoder))
        wins[0] += as_partition(im_score(x, xv, world.sigma_v).groups) == world.groups
        best = (xv**2 / np.diag(x)[:, None]).argmax(axis=0)
        wins[1] += bool(best[0] == best[1] != best[2])
    im, sap = rates("clean", "3-in-2", [found])
    assert (im.successes, sap.successes, im.cells) == (*wins, 25)
    assert im.failed == 100 * (found.solutions.state == "diverged").mean() > 0


def test_a_diverged_cell_never_succeeds():
    """All factors hang together, so that I_m names the right groups in every cell, diverged or not."""
    found = study(SCENARIOS["3-in-1"].world(), gammas=(1.02,), lambdas=(0.0,), repeats=5)
    assert set(found.solutions.state) == {"diverged"}
    assert found.scores.succeeded(found.world.groups)[0].all()
    assert not found.successes[0].any()
    assert not found.successes[1].any()


def test_a_cell_of_the_authors_is_the_best_start_scored_with_codes_of_variance_1():
    """Eq. 9 and 10 in their own form, from the same starts, scored by all 27 assignments."""
    (found,) = QUICK.studies("3-in-2", 1, seed=3)
    seeds = np.random.SeedSequence(int(np.random.SeedSequence(3).spawn(2)[1].generate_state(1)[0]))
    seeds = seeds.generate_state(50, np.uint32).reshape(5, 5, 2)
    expected = [[1e-4, 2e-4, 0], [2e-4, 8e-4, 0], [0, 0, 9e-4]]
    np.testing.assert_allclose(found.world.sigma_v, expected, atol=1e-12)
    assert found.world.noise == pytest.approx(0.0016)
    cell = blahut_arimoto(
        found.world, 0.99, 0.02, seeds=seeds[1, 4], noise="diagonal", start="authors", stop="rest", steps=40
    )
    best = int(cell.misfit.argmin())
    assert found.solutions.misfit.reshape(5, 5)[1, 4] == pytest.approx(cell.misfit[best], rel=1e-9)
    xv = cell.encoder.weights[best] @ found.world.sigma_yv
    assert found.score("im")[1, 4, 0] == pytest.approx(im_score(np.eye(3), xv, found.world.sigma_v).value, abs=1e-9)


def test_rounding_makes_runs_of_five_factors_differ():
    """The covariance of v1 and v2 is 0.00025, halfway between two roundings."""
    rng = np.random.default_rng(0)
    drawn = [AUTHORS._world(SCENARIOS["5-in-3"], AUTHORS.factors[1], rng).sigma_v for _ in range(20)]
    assert {round(float(sigma_v[0, 1]), 6) for sigma_v in drawn} == {0.0002, 0.0003}
    exact = SCENARIOS["5-in-3"].world(
        variance=AUTHORS.factors[1].variance, weight=AUTHORS.factors[1].weight, own=AUTHORS.factors[1].own
    )
    for sigma_v in drawn:
        np.testing.assert_allclose(sigma_v, exact.sigma_v, atol=5.1e-5)


def test_ties_are_told():
    """A code that knows 1e-10 nats of the third factor is decisive without a tolerance."""
    quick = replace(AUTHORS, steps=1500, best_of=(1, 1))
    (found,) = quick.studies("3-in-2", 1, seed=0)
    rate = rates("authors", "3-in-2", [found])[0]
    (tolerant,) = replace(quick, tie=1e-9).studies("3-in-2", 1, seed=0)
    assert rate.tied >= 20
    assert tolerant.successes[0].sum() <= rate.successes - 3


def test_the_spread_of_runs_is_binomial():
    rate = Rate("authors", "3-in-2", "I_m", 400, 260, 0.0, 0.0)
    low, high = rate.spread
    outside = binom.cdf(low / 4 - 1, 25, 0.65), binom.sf(high / 4, 25, 0.65)
    assert max(outside) <= 0.025
    assert min(binom.cdf(low / 4, 25, 0.65), binom.sf(high / 4 - 1, 25, 0.65)) > 0.025
    assert rate.inside
    assert not replace(rate, successes=100).inside
    assert [round(value, 1) for value in binomial(64)] == [64.0, 42.5, 82.0]


def test_the_page_has_the_stored_rates():
    stored = from_csv((DOCS / "results" / "linear-gaussian.csv").read_text())
    assert to_csv(stored) == (DOCS / "results" / "linear-gaussian.csv").read_text()
    page = (DOCS / "reproduce" / "linear-gaussian.md").read_text()
    assert markdown(stored) in page
    authors, clean = ([rate for rate in stored if rate.setting == name] for name in ("authors", "clean"))
    assert {rate.cells for rate in stored} == {400}
    assert len(authors) == len(clean) == 12
    inside = sum(rate.inside for rate in authors)
    assert inside >= 10
    assert f"{inside} of the 12" in page
    assert f"{sum(rate.inside for rate in clean)} of the 12" in page
    for group in (authors, clean):
        mean = np.mean([abs(rate.ours.value - rate.published) for rate in group])
        assert f"{mean:.1f} points" in page


def test_every_choice_that_is_varied_has_the_authors_among_its_values():
    for values in VARIED.values():
        assert list(values.values()).count(AUTHORS) == 1
        assert len(set(values.values())) == len(values)


def test_the_sensitivity_is_drawn():
    varied = {"ties": {"0": QUICK, "1e-9": replace(QUICK, tie=1e-9)}, "scores": {"I": QUICK}}
    figure = draw_sensitivity(QUICK, varied, 1, 0, silent)
    assert len(figure.axes) == 12


@pytest.mark.slow
def test_the_authors_rates_are_found_again():
    found = [rate for name in PUBLISHED for rate in rates("authors", name, AUTHORS.studies(name, 16, seed=1))]
    assert sum(rate.inside for rate in found) >= 10
