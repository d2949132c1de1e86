from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group, spearmanr
from sklearn.linear_model import Lasso
from sklearn.preprocessing import StandardScaler

from unweave.errors import UsageError
from unweave.selection import udr, udr_pairs


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.asarray(spearmanr(first, second))[0])


def referee(source: np.ndarray, target: np.ndarray, kind: str, averaging: str = "paper") -> float:
    """Return the score of one pair by scikit-learn and the formula, latent by latent."""
    if kind == "lasso":
        scaled = [StandardScaler().fit_transform(each) for each in (source, target)]
        fits = [
            Lasso(alpha=0.1, tol=1e-12, max_iter=100_000).fit(scaled[0], scaled[1][:, b])
            for b in range(target.shape[1])
        ]
        strengths = np.abs(np.stack([fit.coef_ for fit in fits], axis=1))
    else:
        strengths = np.array(
            [
                [abs(rank_correlation(source[:, a], target[:, b])) for b in range(target.shape[1])]
                for a in range(source.shape[1])
            ]
        )
    of_targets, of_sources = [], []
    for b in range(strengths.shape[1]):
        total = sum(strengths[:, b])
        of_targets.append(max(strengths[:, b]) ** 2 / total if total else 0.0)
    for a in range(strengths.shape[0]):
        total = sum(strengths[a])
        of_sources.append(max(strengths[a]) ** 2 / total if total else 0.0)
    if averaging == "dlib":
        return float(np.mean(of_targets) + np.mean(of_sources)) / 2
    return (sum(of_targets) + sum(of_sources)) / (len(of_targets) + len(of_sources))


def mixed_codes(widths=(3, 4, 3), rows: int = 300, seed: int = 0) -> list[np.ndarray]:
    """Return codes of models that mix the same factors, each in its own way, with noise."""
    rng = np.random.default_rng(seed)
    factors = rng.uniform(size=(rows, 4))
    return [np.tanh(factors @ rng.normal(size=(4, width))) + 0.1 * rng.normal(size=(rows, width)) for width in widths]


@pytest.mark.parametrize("kind", ["lasso", "spearman"])
@pytest.mark.parametrize("averaging", ["paper", "dlib"])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_those_of_scikit_learn(kind, averaging, seed):
    codes = mixed_codes(seed=seed)
    found = udr_pairs(codes, kind, averaging=averaging)
    for i in range(3):
        for j in range(3):
            if i != j:
                assert found[i, j] == pytest.approx(referee(codes[i], codes[j], kind, averaging), abs=1e-8)
    assert np.isnan(np.diagonal(found)).all()
    expected = [np.median([found[i, j] for i in range(3) if i != j]) for j in range(3)]
    np.testing.assert_allclose(udr(codes, kind, averaging=averaging), expected)


def test_the_averages_differ_where_numbers_of_latents_do():
    codes = mixed_codes()
    paper, dlib = (udr_pairs(codes, averaging=averaging) for averaging in ("paper", "dlib"))
    assert paper[0, 2] == pytest.approx(dlib[0, 2], abs=1e-12)
    assert paper[0, 1] != pytest.approx(dlib[0, 1], abs=1e-6)


@settings(max_examples=20)
@given(st.integers(0, 999), st.integers(1, 6), st.booleans())
def test_copies_up_to_order_sign_scale_and_shift_lose_only_what_the_penalty_takes(seed, width, correlated):
    rng = np.random.default_rng(seed)
    codes = rng.normal(size=(200, width))
    if correlated:
        codes = codes @ rng.normal(size=(width, width))
    copy = codes[:, rng.permutation(width)] * rng.choice([-3.0, 0.5], size=width) + 7
    np.testing.assert_allclose(udr([codes, copy]), 0.9, atol=1e-6)


def test_uncorrelated_copies_score_one_by_rank():
    grid = np.stack(np.meshgrid(*[np.arange(5.0)] * 3), axis=-1).reshape(-1, 3)
    copy = -np.exp(grid[:, [2, 0, 1]])
    np.testing.assert_allclose(udr([grid, copy], "spearman"), 1, atol=1e-12)


@pytest.mark.parametrize("kind", ["lasso", "spearman"])
def test_rotated_codes_score_lower(kind):
    codes = np.random.default_rng(0).normal(size=(1_000, 5))
    turned = [codes @ ortho_group.rvs(5, random_state=seed) for seed in range(3)]
    flipped = [codes[:, np.random.default_rng(seed).permutation(5)] * [1, -1, 1, -1, 1] for seed in range(3)]
    assert udr(turned, kind).max() < 0.5 * udr(flipped, kind).min()


def test_the_order_of_models_rows_and_latents_does_not_matter():
    codes = mixed_codes()
    rows = np.random.default_rng(0).permutation(300)
    shuffled = [codes[r][rows][:, ::-1] for r in (2, 0, 1)]
    for kind in ("lasso", "spearman"):
        np.testing.assert_allclose(udr(shuffled, kind), udr(codes, kind)[[2, 0, 1]], atol=1e-8)


@pytest.mark.parametrize("kind", ["lasso", "spearman"])
def test_latents_that_carry_nothing_are_left_out(kind):
    codes = mixed_codes()
    plain = udr(codes, kind)
    noise = np.random.default_rng(5).normal(size=(300, 2))
    padded = [np.hstack([each, noise]) for each in codes]
    nats = [[1.0] * each.shape[1] + [0.01, 0.0] for each in codes]
    np.testing.assert_allclose(udr(padded, kind, kl=nats), plain, atol=1e-9)
    assert (udr(padded, kind) != plain).any(), "without KL, noise that is shared counts"
    constant = [np.hstack([each, np.full((300, 1), 3.0)]) for each in codes]
    np.testing.assert_allclose(udr(constant, kind), plain, atol=1e-9)


@pytest.mark.parametrize("kind", ["lasso", "spearman"])
def test_a_model_without_informative_latents_scores_zero(kind):
    codes = [*mixed_codes(), np.zeros((300, 4))]
    pairs = udr_pairs(codes, kind)
    assert (pairs[3, :3] == 0).all()
    assert (pairs[:3, 3] == 0).all()
    assert udr(codes, kind)[3] == 0.0
    assert udr([np.zeros((5, 2)), np.ones((5, 1))], kind).tolist() == [0.0, 0.0]


def test_latents_within_a_model_may_be_copies():
    codes = mixed_codes()
    twice = [np.hstack([each, each[:, :1]]) for each in codes]
    assert np.isfinite(udr(twice)).all()


@pytest.mark.parametrize(
    ("codes", "options", "words"),
    [
        ([np.zeros((5, 2))], {}, "at least two models"),
        ([np.zeros((5, 2)), np.zeros((6, 2))], {}, "model 1 has 5 rows, model 2 has 6"),
        ([np.zeros((5, 2)), np.full((5, 2), np.nan)], {}, "model 2: codes hold NaN.*row 1, column 1"),
        ([np.zeros((5, 2)), np.zeros(5)], {}, "model 2: codes must have two dimensions"),
        ([np.zeros((5, 2))] * 2, {"kind": "ridge"}, "no kind of UDR is called 'ridge'"),
        ([np.zeros((5, 2))] * 2, {"averaging": "mean"}, "no averaging of UDR"),
        ([np.zeros((5, 2))] * 2, {"seed": -1}, "seed must be"),
        ([np.zeros((5, 2))] * 2, {"kl": [[1, 1]]}, "one entry for each of the 2 models"),
        ([np.zeros((5, 2))] * 2, {"kl": [[1, 1], [1]]}, r"model 2: kl must have shape \(2,\)"),
        ([np.zeros((5, 2))] * 2, {"kl": [[1, 1], [1, np.nan]]}, "model 2: kl of latent 2 is NaN"),
    ],
)
def test_mistakes_are_told_in_one_line(codes, options, words):
    with pytest.raises(UsageError, match=words):
        udr(codes, **options)


def test_many_models_take_seconds():
    codes = mixed_codes((10,) * 25, rows=10_000)
    for kind in ("lasso", "spearman"):
        start = time.process_time()
        assert udr(codes, kind).shape == (25,)
        assert time.process_time() - start < 20
