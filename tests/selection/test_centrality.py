from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.stats import ortho_group

from unweave.errors import UsageError
from unweave.selection import Coder, centrality, centrality_pairs

LATENTS = 4
DATA = np.random.default_rng(3).normal(size=(500, LATENTS))
QUICK: dict[str, Any] = {"votes": 200, "test_votes": 200, "batch": 32, "variance_rows": 500}


def linear(matrix: np.ndarray, codes: np.ndarray = DATA, **more) -> Coder:
    """Return a model whose images are its codes times a matrix, and whose codes are exact."""
    inverse = np.linalg.pinv(matrix)
    return Coder(lambda images: images @ inverse, lambda z: z @ matrix, codes, **more)


def permuted(seed: int) -> Coder:
    rng = np.random.default_rng(seed)
    matrix = np.eye(LATENTS)[rng.permutation(LATENTS)] * rng.choice([-1.0, 1.0], size=LATENTS)
    return linear(matrix)


def rotated(seed: int) -> Coder:
    return linear(ortho_group.rvs(LATENTS, random_state=seed))


def referee(scorer: Coder, generator: Coder, seed: int = 0, votes: int = 2_000, batch: int = 32) -> float:
    """Return the FactorVAE score by its definition: one loop over votes, one table of majorities."""
    rng = np.random.default_rng(seed)
    overall = np.var(scorer.encode(generator.decode(rng.normal(size=(5_000, LATENTS)))), axis=0, ddof=1)
    chosen = []
    for _ in range(2 * votes):
        kept = rng.integers(LATENTS)
        z = rng.normal(size=(batch, LATENTS))
        z[:, kept] = z[0, kept]
        codes = scorer.encode(generator.decode(z))
        chosen.append((int(np.argmin(np.var(codes, axis=0, ddof=1) / overall)), kept))
    table = np.zeros((LATENTS, LATENTS))
    for code, kept in chosen[:votes]:
        table[code, kept] += 1
    return float(np.mean([table[code].argmax() == kept for code, kept in chosen[votes:]]))


def test_scores_are_those_of_a_direct_implementation():
    models = [permuted(0), rotated(1), rotated(2)]
    found = centrality_pairs(models, **{**QUICK, "votes": 2_000, "test_votes": 2_000}, symmetric=False)
    for i in range(3):
        for j in range(3):
            if i != j:
                assert found[i, j] == pytest.approx(referee(models[i], models[j]), abs=0.05)
    assert np.isnan(np.diagonal(found)).all()


def test_permuted_and_flipped_models_are_central_and_rotated_ones_are_not():
    evenly_mixed = linear(hadamard(LATENTS) / 2)
    scores = centrality([permuted(0), permuted(1), permuted(2), evenly_mixed], **QUICK)
    assert scores.shape == (4,)
    assert scores[:3].min() > scores[3] + 0.3
    pairs = centrality_pairs([permuted(0), permuted(1)], **QUICK)
    assert pairs[0, 1] == pairs[1, 0] == 1.0


def test_pairs_are_symmetric_means_of_both_directions():
    models = [permuted(0), rotated(1), rotated(2)]
    directed = centrality_pairs(models, **QUICK, symmetric=False)
    np.testing.assert_allclose(centrality_pairs(models, **QUICK), (directed + directed.T) / 2)
    np.testing.assert_allclose(centrality(models, **QUICK), np.nanmean((directed + directed.T) / 2, axis=0))


def test_every_image_is_generated_once_and_encoded_by_all_others():
    generated: list[np.ndarray] = []
    seen: list[list[np.ndarray]] = [[], [], []]

    def watched(place: int, model: Coder) -> Coder:
        def decode(z: np.ndarray) -> np.ndarray:
            generated.append(z)
            return model.decode(z)

        def encode(images: np.ndarray) -> np.ndarray:
            seen[place].append(images)
            return model.encode(images)

        return Coder(encode, decode, model.codes)

    models = [watched(place, permuted(place)) for place in range(3)]
    centrality_pairs(models, **QUICK)
    each = (QUICK["votes"] + QUICK["test_votes"]) * QUICK["batch"] + QUICK["variance_rows"]
    assert sum(map(len, generated)) == 3 * each
    assert [sum(map(len, images)) for images in seen] == [2 * each] * 3


def test_dead_latents_are_no_factors():
    kept: list[np.ndarray] = []
    matrix = np.diag([1.0, 1.0, 0.0, 0.0])
    codes = DATA * [1, 1, 0.01, 0.01]

    def decode(z: np.ndarray) -> np.ndarray:
        batches = z[: len(z) // 32 * 32].reshape(-1, 32, LATENTS)
        kept.append(np.flatnonzero((batches == batches[:, :1]).all(axis=1).any(axis=0)))
        return z @ matrix

    half_dead = Coder(lambda images: images, decode, codes)
    scores = centrality_pairs([half_dead, linear(np.eye(LATENTS))], **QUICK, symmetric=False)
    assert set(np.concatenate(kept)) == {0, 1}
    assert scores[1, 0] == 1.0
    by_kl = Coder(lambda images: images, decode, DATA, kl=[1.0, 1.0, 0.0, 0.01])
    kept.clear()
    centrality_pairs([by_kl, linear(np.eye(LATENTS))], **QUICK)
    assert set(np.concatenate(kept)) == {0, 1}


@pytest.mark.parametrize("alive", [0, 1])
def test_a_collapsed_model_has_nothing_to_tell_apart(alive):
    codes = DATA * ([1.0] * alive + [0.001] * (LATENTS - alive))
    collapsed = Coder(lambda images: np.zeros((len(images), LATENTS)), lambda z: z * 0, codes)
    scores = centrality_pairs([collapsed, permuted(0), permuted(1)], **QUICK, symmetric=False)
    assert (scores[1:, 0] == 0).all()
    assert (scores[0, 1:] == 0).all(), "none of its codes varies"
    assert scores[1, 2] == 1.0


def test_codes_of_data_stand_in_for_a_prior():
    drawn: list[np.ndarray] = []
    codes = np.random.default_rng(0).uniform(5, 6, size=(100, LATENTS))

    def decode(z: np.ndarray) -> np.ndarray:
        drawn.append(z)
        return z

    models = [Coder(lambda images: images, decode, codes), linear(np.eye(LATENTS), codes)]
    pairs = centrality_pairs(models, **QUICK, draw="codes", live=0.01)
    assert pairs[0, 1] == 1.0
    values = np.concatenate(drawn)
    assert np.isin(values[:, 2], codes[:, 2].astype(np.float32)).all()
    assert abs(np.corrcoef(values.T)[0, 1]) < 0.1


def test_chance_can_be_taken_off():
    def noise(images: np.ndarray) -> np.ndarray:
        return np.random.default_rng(0).normal(size=(len(images), LATENTS))

    blind = Coder(noise, lambda z: z, DATA)
    plain, rescaled = (
        centrality_pairs([blind, permuted(0)], **QUICK, rescaled=rescaled, symmetric=False)[0, 1]
        for rescaled in (False, True)
    )
    assert plain < 0.45
    assert rescaled == pytest.approx(max(0.0, (plain - 0.25) / 0.75))


def test_the_seed_decides():
    models = [rotated(0), rotated(1)]
    np.testing.assert_array_equal(centrality_pairs(models, **QUICK, seed=4), centrality_pairs(models, **QUICK, seed=4))
    assert centrality_pairs(models, **QUICK, seed=4)[0, 1] != centrality_pairs(models, **QUICK, seed=5)[0, 1]


def test_progress_is_told():
    told: list[tuple] = []
    centrality([permuted(0), permuted(1)], **QUICK, on_progress=lambda *report: told.append(report))
    assert told[0] == ("model centrality", 0, 2)
    assert told[-1][1] > 1


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        (lambda models: models[:1], {}, "at least two models"),
        (lambda models: models, {"votes": 0}, "votes must be"),
        (lambda models: models, {"batch": 1}, "batch must be"),
        (lambda models: models, {"seed": -1}, "seed must be"),
        (lambda models: models, {"draw": "noise"}, "no way to draw latents"),
        (lambda models: models, {"live": -1}, "threshold must be"),
        (lambda models: [models[0], linear(np.eye(LATENTS), DATA * np.nan)], {}, "model 2: codes hold NaN"),
        (lambda models: [models[0], linear(np.eye(LATENTS), kl=[1.0])], {}, "model 2: kl must have shape"),
    ],
)
def test_mistakes(change: Callable, options, words):
    with pytest.raises(UsageError, match=words):
        centrality_pairs(change([permuted(0), permuted(1)]), **{**QUICK, **options})
