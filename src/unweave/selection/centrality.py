"""ModelCentrality: how well models recognise each other's latents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from unweave.data.factors import Integers
from unweave.errors import UsageError, called, unknown
from unweave.metrics.inputs import check_codes, whole_number
from unweave.metrics.voting import active, by_majority, variance
from unweave.progress import OnProgress
from unweave.selection.codes import KL_THRESHOLD, off_diagonal

Draw = Literal["prior", "codes"]
ArrayFunction: TypeAlias = Callable[[np.ndarray], np.ndarray]
CHUNK = 4_096
"""Approximate number of images generated at once; all models encode them before the next."""


@dataclass(frozen=True)
class Coder:
    """A model as ModelCentrality sees it: `Coder(run.encode, run.decode, run.encode(images))`."""

    encode: ArrayFunction
    """Images, as `decode` returns them, to codes (n, d)."""
    decode: ArrayFunction
    """Codes (n, d) to images, which have the same shape for all models."""
    codes: ArrayLike
    """Codes (n, d) of a sample of the data: they show which latents vary, and with `draw="codes"` over which values."""
    kl: ArrayLike | None = None
    """Mean KL divergence (d,) of each latent, if known: those with at most 0.01 nats are dead."""


def centrality(models: Sequence[Coder], **options: Any) -> np.ndarray:
    r"""ModelCentrality [Lin2020]_, in [0, 1]: the mean over the other models of `centrality_pairs`.

    Parameters
    ----------
    models
        Two models or more.
    **options
        As for `centrality_pairs`.

    Returns
    -------
    array
        One score per model (R,); the model with the largest is the most central.
    """
    return off_diagonal(centrality_pairs(models, **options)).mean(axis=0)


def centrality_pairs(
    models: Sequence[Coder],
    *,
    seed: int = 0,
    votes: int = 400,
    test_votes: int = 200,
    batch: int = 64,
    variance_rows: int = 2_000,
    threshold: float = 0.05,
    live: float = 0.1,
    draw: Draw = "prior",
    rescaled: bool = False,
    symmetric: bool = True,
    on_progress: OnProgress | None = None,
) -> np.ndarray:
    r"""Return how well every two models recognise each other's latents [Lin2020]_.

        s_ij = (A_ij + A_ji) / 2

    where A_ij is the FactorVAE score of model i on images that model j generates: the informative latents of j are the
    factors, and within a batch one of them is fixed while the others are drawn. The images of a generator are drawn
    once, and all models encode the same images.

    Parameters
    ----------
    models
        Two models or more.
    seed
        Seed of all draws; those of a generator depend on its position.
    votes, test_votes
        Batches that decide which factor a latent predicts, and batches for the test, for each generator.
    batch
        Images per batch.
    variance_rows
        Images without a fixed latent, for the overall variance of codes.
    threshold
        A latent of the scored model with a smaller standard deviation on these images cannot be voted for.
    live
        A latent of a generator is informative if it has at least this standard deviation on data (and more than 0.01
        nats, if the KL is known); 0.1 is the usual threshold of active units.
    draw
        "prior": latents are drawn from the standard normal. "codes": each latent is drawn independently from its values
        on data, for models without a prior.
    rescaled
        Whether to correct a score for chance, which is 1 over the number of informative latents.
    symmetric
        False returns A, with scored models in rows and generators in columns.
    on_progress
        Called as the images of each generator are encoded.

    Returns
    -------
    array
        Scores (R, R), in [0, 1]; the diagonal is NaN. For a generator with fewer than two informative latents, the
        column of A is 0.

    Notes
    -----
    The authors' code draws 1,000 batches of 100 images in which each latent, including dead ones, is fixed in turn. It
    takes standard deviations from a tenth as many images as the data set has, prunes no latent, and scores the votes
    from which the majorities were taken. Here dead latents are not factors, latents that do not vary cannot be voted
    for, and other votes are scored, as for our FactorVAE score. Votes ask which latent varies least, so a rotation
    lowers the score only if it mixes latents nearly evenly. Every pair of models needs (votes + test_votes) * batch +
    variance_rows images to encode.

    References
    ----------
    .. [Lin2020] Lin, Thekumparampil, Fanti and Oh, "InfoGAN-CR and ModelCentrality: Self-supervised Model Training and
       Selection for Disentangling GANs", ICML 2020.
    """
    votes, test_votes = whole_number(votes, "votes", 1), whole_number(test_votes, "test_votes", 1)
    batch, variance_rows = whole_number(batch, "batch", 2), whole_number(variance_rows, "variance_rows", 2)
    if draw not in ("prior", "codes"):
        raise unknown("way to draw latents", str(draw), ("prior", "codes"))
    if len(models) < 2:
        raise UsageError(f"a comparison needs at least two models, got {len(models)}")
    samples = [_sample(each, place) for place, each in enumerate(models)]
    scores = np.full((len(models), len(models)), np.nan)
    seeds = np.random.SeedSequence(whole_number(seed, "seed", 0)).spawn(len(models))
    for j, (generator, sample) in enumerate(zip(models, samples, strict=True)):
        report = _reporter(on_progress, j, len(models))
        factors = _informative(generator, sample, live, j)
        scorers = [i for i in range(len(models)) if i != j]
        if len(factors) < 2:
            scores[scorers, j] = 0.0
            continue
        rng = np.random.default_rng(seeds[j])
        kept = factors[rng.integers(len(factors), size=votes + test_votes)]
        latents = _Latents(sample, draw, rng)
        encoders = [models[i].encode for i in scorers]
        anywhere = _encoded(generator, encoders, (latents.draw(rows) for rows in _parts(variance_rows, 1)))
        spreads = _spreads(generator, encoders, latents, kept, batch, report)
        for place, i in enumerate(scorers):
            scores[i, j] = _score(kept, spreads[place], anywhere[place], votes, threshold, rescaled)
    return (scores + scores.T) / 2 if symmetric else scores


@dataclass(frozen=True)
class _Latents:
    """Draws codes for a generator."""

    sample: np.ndarray
    from_: Draw
    rng: np.random.Generator

    def draw(self, count: int) -> np.ndarray:
        """Return codes (count, d)."""
        n, width = self.sample.shape
        if self.from_ == "prior":
            return self.rng.standard_normal((count, width), dtype=np.float32)
        rows = self.rng.integers(n, size=(count, width))
        return self.sample[rows, np.arange(width)].astype(np.float32)

    def batches(self, kept: Integers, batch: int) -> np.ndarray:
        """Return codes (len(kept) * batch, d): within each batch the fixed latent has one value."""
        codes = self.draw(len(kept) * batch).reshape(len(kept), batch, -1)
        each = np.arange(len(kept))
        codes[each, :, kept] = codes[each, 0, kept][:, None]
        return codes.reshape(len(kept) * batch, -1)


def _sample(model: Coder, place: int) -> np.ndarray:
    with called(f"model {place + 1}"):
        return check_codes(model.codes)


def _informative(model: Coder, sample: np.ndarray, live: float, place: int) -> Integers:
    """Return the informative latents of a generator."""
    with called("live"):
        found = active(variance(sample), live)
    if model.kl is None:
        return found
    nats = np.asarray(model.kl, dtype=np.float64)
    if nats.shape != sample.shape[1:]:
        raise UsageError(f"model {place + 1}: kl must have shape {sample.shape[1:]}, one per latent, got {nats.shape}")
    return found[nats[found] > KL_THRESHOLD]


def _parts(count: int, batch: int) -> Iterator[int]:
    """Yield numbers of batches that add up to `count`, each of about `CHUNK` images."""
    size = max(1, CHUNK // batch)
    for start in range(0, count, size):
        yield min(size, count - start)


def _encoded(generator: Coder, encoders: Sequence[ArrayFunction], latents: Iterator[np.ndarray]) -> list[np.ndarray]:
    """Return for each encoder the codes (n, d) of the images of all latents."""
    found: list[list[np.ndarray]] = [[] for _ in encoders]
    for part in latents:
        images = generator.decode(part)
        for codes, encode in zip(found, encoders, strict=True):
            codes.append(np.asarray(encode(images), dtype=np.float64))
    return [np.concatenate(codes) for codes in found]


def _spreads(
    generator: Coder,
    encoders: Sequence[ArrayFunction],
    latents: _Latents,
    kept: Integers,
    batch: int,
    report: Callable[[float], None],
) -> list[np.ndarray]:
    """Return for each encoder the variance (votes, d) of its codes within every batch."""
    found: list[list[np.ndarray]] = [[] for _ in encoders]
    start = 0
    for count in _parts(len(kept), batch):
        report(start / len(kept))
        part = latents.batches(kept[start : start + count], batch)
        for spreads, codes in zip(found, _encoded(generator, encoders, iter([part])), strict=True):
            spreads.append(variance(codes.reshape(count, batch, -1)))
        start += count
    return [np.concatenate(spreads) for spreads in found]


def _score(
    kept: Integers, spreads: np.ndarray, anywhere: np.ndarray, votes: int, threshold: float, rescaled: bool
) -> float:
    """Return the FactorVAE score of one encoder; 0 if none of its latents varies."""
    codes = active(variance(anywhere), threshold)
    if len(codes) == 0:
        return 0.0
    return by_majority(kept, spreads[:, codes], anywhere[:, codes], votes, rescaled=rescaled).score


def _reporter(on_progress: OnProgress | None, place: int, count: int) -> Callable[[float], None]:
    def report(share: float) -> None:
        if on_progress:
            on_progress("model centrality", place + share, count)

    return report
