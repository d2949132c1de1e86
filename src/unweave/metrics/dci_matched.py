"""DCI of the latents that are matched one to one with factors, for codes with many more latents than factors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from unweave.late import importing
from unweave.metrics.dci import DCI, Learner, dci
from unweave.metrics.information import bin_or_number, information, known
from unweave.metrics.inputs import GivenPair, Pair, bin_count, train_and_test
from unweave.metrics.metric import metric
from unweave.metrics.one_hot import check_categorical, kept_categorical
from unweave.metrics.resampling import Sampled, by_refits


@metric(
    "Eastwood & Williams 2018",
    "all three",
    floor_rows=1_000,
    floor_options={"learner": "quick-gbt"},
    ceiling_rows=2_000,
    ceiling_options={"learner": "quick-gbt"},
)
def dci_matched(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    test: GivenPair | None = None,
    learner: Learner = "gbt",
    bins: int = 20,
    categorical: Sequence[int] = (),
    seed: int = 0,
) -> Sampled[DCI]:
    r"""DCI [Eastwood2018]_ of matched latents, in [0, 1]: is there a latent for each factor among many?

        a = the one-to-one assignment with the largest sum over factors k of  I(z_a(k); v_k) / H(v_k)
        score = DCI of the latents z_a(1), z_a(2), … and the factors

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); each value is a class.
    test
        Test rows `(codes, factors)`; without them a third of the rows is held out.
    learner
        As in `dci`; the predictors see the matched latents alone.
    bins
        Bins of equal width that a latent is cut into for the matching.
    categorical
        Columns of codes that hold categories, as in `mig` and `dci`.
    seed
        Seed of the split and of the learner.

    Returns
    -------
    DCI
        disentanglement, completeness and informativeness.

    Notes
    -----
    Latents are matched on the train rows, again for each half-sample. Unmatched latents do not count: if
    several latents share a factor, its informativeness falls. With fewer latents than factors, all are used. A factor
    with a single value is left out. The cost is that of DCI with as many latents as factors, however many there are to
    choose from.

    References
    ----------
    .. [Eastwood2018] Eastwood and Williams, "A Framework for the Quantitative Evaluation of Disentangled
       Representations", ICLR 2018.

    Examples
    --------
    >>> from unweave.metrics import dci_matched
    >>> dci_matched([[0.0, 5.0, 0.1], [1.0, 5.0, 0.2]] * 30, [[0], [1]] * 30)
    DCI(disentanglement=1.0, completeness=1.0, informativeness=1.0)
    """
    count = bin_count(bins)
    train, held_out = train_and_test(codes, factors, test, seed)
    columns = check_categorical(categorical, train[0].shape[1])

    def sampled(train: Pair, held_out: Pair) -> Sampled[DCI]:
        kept = matched_codes(*train, count, columns)
        left = kept_categorical(columns, kept)
        tested = held_out[0][:, kept], held_out[1]
        return dci.sample(train[0][:, kept], train[1], test=tested, learner=learner, categorical=left, seed=seed)

    whole = sampled(train, held_out)
    again = by_refits(lambda train, held_out: sampled(train, held_out).score, train, held_out, whole.replicates)
    return Sampled(whole.score, again.units, again.rescore, again.replicates, per_factor=whole.per_factor)


def matched_codes(codes: np.ndarray, factors: np.ndarray, bins: int, categorical: Sequence[int] = ()) -> np.ndarray:
    """Return the latents that are matched with factors, in ascending order: at most one for each factor."""
    with importing():
        from scipy.optimize import linear_sum_assignment

    shares = known(information(*bin_or_number(codes, bins, categorical), factors))
    return np.sort(linear_sum_assignment(shares, maximize=True)[0])
