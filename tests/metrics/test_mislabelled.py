"""Noise in the factor that is held fixed: what is drawn, and what scores make of it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.metrics import Codebook, Pool, beta_vae_score, evaluate, factor_vae_score, noisy_labels
from unweave.metrics.mislabelled import MislabelledBook
from unweave.metrics.traversals import value_of

SIZES = (3, 6, 20)
NAMES = ("shape", "scale", "x")
GRID = np.stack(np.unravel_index(np.arange(360), SIZES), axis=1)
FEW: dict[str, Any] = {"votes": 400, "test_votes": 400, "variance_rows": 500}


def book(codes: np.ndarray | None = None) -> Codebook:
    found = Codebook.of_grid(GRID / np.array(SIZES) if codes is None else codes, SIZES)
    found.names = NAMES
    return found


def test_without_noise_the_draws_are_those_of_the_book():
    clean, noisy = book(), MislabelledBook(book(), [0.0, 0.0, 0.0])
    for draw in ("draw_pairs", "draw_batches"):
        for ours, theirs in zip(
            getattr(noisy, draw)(50, 8, np.random.default_rng(3)),
            getattr(clean, draw)(50, 8, np.random.default_rng(3)),
            strict=True,
        ):
            np.testing.assert_array_equal(ours, theirs)
    assert factor_vae_score(noisy, **FEW) == factor_vae_score(clean, **FEW) == 1.0


def test_noise_is_in_the_factor_held_fixed_and_in_no_other():
    """The same draws but for the value of that factor: replaced with probability p, or moved by p times its range."""
    factors, clean = book().draw_batches(3_000, 20, np.random.default_rng(0))
    same, noisy = MislabelledBook(book(), 3).draw_batches(3_000, 20, np.random.default_rng(0))
    np.testing.assert_array_equal(same, factors)
    for k, size in enumerate(SIZES):
        values = [value_of(cells, np.array(k), SIZES) for cells in (clean, noisy)]
        held = factors == k
        np.testing.assert_array_equal(values[0][~held], values[1][~held])
        before, after = values[0][held], values[1][held]
        assert (before == before[:, :1]).all()
        if k == 0:
            assert (before != after).mean() == pytest.approx(0.3 * 2 / 3, abs=0.02)  # the old value may be drawn
        else:
            middle = np.abs(before - (size - 1) / 2) < 1.1  # where little is clipped
            spread = (after - before)[middle].std()
            assert 0.75 * 0.3 * (size - 1) < spread < 1.05 * 0.3 * (size - 1)


def test_pairs_are_mislabelled_too_and_more_noise_lowers_the_scores():
    scores = []
    for regime in (1, 3):
        noisy = MislabelledBook(book(), regime)
        _, pairs = noisy.draw_pairs(100, 8, np.random.default_rng(0))
        assert pairs.shape == (100, 8, 2)
        scores.append(beta_vae_score(noisy, points=300, test_points=300, batch=4))
    assert 1.0 > scores[0] > scores[1]


def rows(n: int = 3_000) -> tuple[np.ndarray, np.ndarray]:
    factors = GRID[np.random.default_rng(1).integers(len(GRID), size=n)]
    return factors / np.array(SIZES), factors


@pytest.mark.parametrize("preset", ["paper", "fast"])
def test_evaluate_gives_noisy_labels_to_voting_metrics_and_says_so(preset):
    codes, factors = rows()
    options = {"options": {"factor-vae-score": FEW}, "floors": False, "intervals": False}
    given = {"codebook": book(), "preset": preset, "names": NAMES, **options}
    clean, noisy = (
        evaluate(codes, factors, "factor-vae-score", label_noise=regime, **given).row(0, named=True)
        for regime in (None, 3)
    )
    assert noisy["value"] < clean["value"] == 1.0
    assert json.loads(noisy["options"])["label_noise"] == 3
    assert "label_noise" not in json.loads(clean["options"])


def test_of_rows_the_label_of_the_factor_held_fixed_is_noisy():
    codes, factors = rows()
    table = evaluate(codes, factors, "factor-vae-score", label_noise=2, names=NAMES, preset="fast", floors=False)
    pool = Pool(codes, noisy_labels(factors, regime=2, names=NAMES))
    assert table["value"][0] == factor_vae_score(pool, votes=700, test_votes=350, variance_rows=1_000)


def test_the_ceiling_is_that_of_noisy_labels_and_the_floor_stays_chance():
    codes, factors = rows()
    given = {"codebook": book(), "names": NAMES, "options": {"factor-vae-score": FEW}, "intervals": False}
    table = evaluate(codes, factors, "factor-vae-score", label_noise=3, **given)
    assert table["ceiling"][0] == pytest.approx(table["value"][0], abs=0.1)
    assert table["floor"][0] < 0.6


def test_metrics_that_intervene_on_the_grid_are_refused_by_name_and_left_out_of_a_group():
    codes, factors = rows(400)
    given = {"codebook": book(), "names": NAMES, "label_noise": 1, "floors": False, "intervals": False}
    with pytest.raises(UsageError, match="'z-max-variance' needs clean labels: it intervenes on the factors"):
        evaluate(codes, factors, "z-max-variance", **given)


def test_scores_without_labels_do_not_change():
    codes, factors = rows(500)
    names = ["total-correlation", "active-units"]
    tables = [
        evaluate(codes, factors, names, label_noise=regime, floors=False, intervals=False, log_variances=0 * codes - 3)
        for regime in (None, 1, 2, 3)
    ]
    for table in tables[1:]:
        assert table["value"].to_list() == tables[0]["value"].to_list()
        assert all("label_noise" not in json.loads(text) for text in table["options"])
