"""The laboratory of identifiability: its worlds are what they say, its closed form is reached, its page is stored."""

from __future__ import annotations

from dataclasses import replace

import identifiability_docs as docs
import numpy as np
import pages
import pytest

from unweave.methods import LeJEPA
from unweave.reproduce import find, reproduce
from unweave.reproduce import identifiability as laboratory
from unweave.reproduce.identifiability import (
    CASES,
    SLOW,
    Settings,
    World,
    best_agreement,
    learnt,
    normal_share,
    recovered,
)
from unweave.reproduce.identifiability_table import Trial, as_csv, conclusions, read_csv
from unweave.reproduce.identifiability_worlds import (
    DENSITIES,
    autoregression,
    chain,
    linear_mixing,
    mixing,
    segments,
)


@pytest.mark.parametrize("name", DENSITIES)
def test_a_density_has_mean_0_variance_1_and_is_that_of_its_draws(name):
    density, z = DENSITIES[name], np.linspace(-12, 12, 400_001)
    weights = np.exp(density.log(z))
    weights /= np.trapezoid(weights, z)
    assert np.trapezoid(z * weights, z) == pytest.approx(0, abs=1e-6)
    assert np.trapezoid(z**2 * weights, z) == pytest.approx(1, rel=1e-3)
    below = np.cumsum(weights) * (z[1] - z[0])
    np.testing.assert_allclose(density.cumulative(z), below, atol=1e-4)
    drawn = np.sort(density.draw(np.random.default_rng(0), (20_000,)))
    assert np.abs(density.cumulative(drawn) - (np.arange(20_000) + 0.5) / 20_000).max() < 0.015


@pytest.mark.parametrize("name", DENSITIES)
def test_a_chain_keeps_the_density_and_moves_as_likely_back(name):
    z = chain(DENSITIES[name], 6_000, 5, 0.7, np.random.default_rng(1))
    ranks = DENSITIES[name].cumulative(np.sort(z[::10].ravel()))
    assert np.abs(ranks - (np.arange(len(ranks)) + 0.5) / len(ranks)).max() < 0.04
    before, after = z[:-1].ravel(), z[1:].ravel()
    assert np.mean(before**2 * after) == pytest.approx(np.mean(before * after**2), abs=0.05)
    assert np.abs(np.corrcoef(z.T) - np.eye(5)).max() < 0.1


def test_a_gaussian_chain_is_the_autoregression():
    z = chain(DENSITIES["Gaussian"], 8_000, 4, 0.7, np.random.default_rng(2))
    steps = z[1:] - 0.7 * z[:-1]
    assert (z[1:] != z[:-1]).all(), "every step is taken"
    assert steps.std() == pytest.approx(np.sqrt(1 - 0.49), rel=0.02)
    assert np.corrcoef(steps.ravel(), z[:-1].ravel())[0, 1] == pytest.approx(0, abs=0.02)


def test_series_and_segments_are_as_they_say():
    z = autoregression(30_000, SLOW, "Laplace", np.random.default_rng(0))
    found = [np.corrcoef(column[1:], column[:-1])[0, 1] for column in z.T]
    np.testing.assert_allclose(found, SLOW, atol=0.03)
    np.testing.assert_allclose(z.var(axis=0), 1, atol=0.15)
    z, segment = segments(30_000, 3, 6, np.random.default_rng(0))
    variances = np.array([z[segment == u].var(axis=0) for u in range(6)])
    np.testing.assert_allclose(variances.mean(axis=0), 1, atol=0.1)
    assert (variances.max(axis=0) > 2 * variances.min(axis=0)).all()


def test_the_mixing_can_be_inverted_and_is_not_linear():
    mix = mixing(3, np.random.default_rng(0))
    z = np.random.default_rng(1).normal(size=(400, 3))
    step = 1e-5
    slopes = np.stack([(mix(z + step * unit) - mix(z - step * unit)) / (2 * step) for unit in np.eye(3)], axis=2)
    signs = np.sign(np.linalg.det(slopes))
    assert (signs == signs[0]).all()
    assert np.abs(np.linalg.det(slopes)).min() > 1e-4
    assert recovered(mix(z), z)[0] < 0.95


def test_the_closed_form_is_the_mean_of_the_largest_autocorrelations():
    rng = np.random.default_rng(3)
    x = linear_mixing(4, rng)(autoregression(200_000, SLOW, "Gaussian", rng))
    for count in (1, 2, 3):
        assert best_agreement(x, count) == pytest.approx(np.sort(SLOW)[::-1][:count].mean(), abs=0.01)
    assert best_agreement(7 * x[:, :2] + 3) == pytest.approx(best_agreement(x[:, :2]))
    assert normal_share(rng.uniform(-np.sqrt(3), np.sqrt(3), (100_000, 1)), "uniform") == pytest.approx(
        3 / np.pi, abs=0.005
    )


def test_training_reaches_the_closed_form_in_a_linear_gaussian_world():
    """The optimum of agreement under normal codes: the two slowest latents, up to a rotation."""
    rng = np.random.default_rng(0)
    settings = Settings(4, 4, rows=6_000, steps=700, seeds=1, batch=256, lr=3e-3, width=0.02)
    latents = autoregression(9_000, SLOW, "Gaussian", rng)
    world = World(latents, linear_mixing(4, rng)(latents))
    codes = learnt(LeJEPA(views="rows", directions=16), world, settings, 0, codes=2)
    best = best_agreement(world.observed[6_000:], 2)
    assert 0.97 * best < best_agreement(codes) < 1.01 * best
    assert recovered(codes, latents[6_000:, :2])[0] > 0.95


def test_the_smoke_preset_runs_and_goes_on_after_it_was_stopped(tmp_path, monkeypatch):
    chosen = tuple(case for case in CASES if case.world in ("Gaussian latents", "u with one value"))
    monkeypatch.setattr(laboratory, "CASES", chosen)
    done, trial = [], laboratory._trial

    def counted(case, *rest):
        done.append(case.world)
        if len(done) == 3:
            raise KeyboardInterrupt
        return trial(case, *rest)

    monkeypatch.setattr(laboratory, "_trial", counted)
    with pytest.raises(KeyboardInterrupt):
        reproduce("identifiability", preset="smoke", out=tmp_path)
    outcome = reproduce("identifiability", preset="smoke", out=tmp_path)
    assert len(done) == 5  # two were kept
    assert [row.what for row in outcome.findings.rows][:2] == [
        "LeJEPA, Gaussian latents: R²",
        "LeJEPA, Gaussian latents: MCC after a linear map",
    ]
    assert all(np.isfinite(row.ours) for row in outcome.findings.rows)
    found = read_csv((tmp_path / "identifiability.csv").read_text())
    assert [(each.world, each.seed) for each in found] == [(case.world, seed) for case in chosen for seed in range(2)]
    assert (tmp_path / "recovery.png").is_file()


def trials() -> list[Trial]:
    given = Trial("LeJEPA", "Gaussian latents", True, 0, 0.99, 0.995, 0.7, 0.8, 0.6, 1.0, 0.7, None)
    return [
        given,
        replace(given, seed=1, r2=0.97),
        replace(given, world="uniform latents", holds=False, r2=0.94, expected=0.955),
        replace(given, world="linear world, 2 of 4", agreement=0.86, closed_form=0.875, expected=None),
        replace(given, method="PCL", world="Laplace innovations", mcc=0.97, expected=None),
        replace(given, method="PCL", world="Gaussian", holds=False, mcc=0.7, expected=None),
    ]


def test_tables_are_read_as_they_were_written_and_said_in_words():
    found = trials()
    assert read_csv(as_csv(found)) == found
    said = conclusions(found)
    assert said[0] == "LeJEPA, R²: 0.980 (Gaussian latents) if its theorem holds, else 0.940 (uniform latents)."
    assert said[1] == "PCL, MCC: 0.970 (Laplace innovations) if its theorem holds, else 0.700 (Gaussian)."
    assert "agree by 0.860, the closed-form optimum is 0.875 (98.3 % of it)" in said[-1]


def test_the_page_says_what_the_file_says():
    """If not: `python benchmarks/identifiability_docs.py` writes the page from the file."""
    page = docs.PAGE.read_text(encoding="utf-8")
    for name, text in docs.blocks(docs.stored()).items():
        assert pages.block(name, text) in page
    assert docs.FIGURE.is_file() == bool(docs.stored())


def test_every_preset_has_the_same_cases():
    kind = find("identifiability")
    assert list(kind.presets) == ["smoke", "small", "paper"]
    assert {(case.method, case.world) for case in CASES} >= {
        ("PCL", "Laplace innovations"),
        ("iVAE", "u with one value"),
    }
