"""How well the k best latents of each value of a factor predict it, for codes with many more latents than factors."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import unknown
from unweave.metrics.information import bin_codes, information
from unweave.metrics.inputs import GivenPair, Pair, train_and_test, whole_number
from unweave.metrics.logistic import class_scores
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled, by_refits, mean_over_factors
from unweave.metrics.scaling import standardise

Per = Literal["value", "factor"]
Choice = Literal["mean-difference", "mutual-information"]
STRENGTH = 100.0
"""C of the probes, on standardised codes: a weak penalty, for few weights."""
BINS = 20
REFITS = 5


@metric("Gurnee et al. 2023", "explicitness", has_ceiling=False)
def k_sparse_probing(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    test: GivenPair | None = None,
    k: int = 1,
    per: Per = "value",
    choice: Choice = "mean-difference",
    seed: int = 0,
) -> Sampled[float]:
    r"""k-sparse probing [Gurnee2023]_, in [0, 1]: do k latents suffice to predict each value of a factor?

        score = mean over factors of the accuracy on the test rows of
                argmax over values c of  log P(v = c | z_S(c)) / P(v != c | z_S(c))

    where S(c) are the k latents that best separate value c from the others on the train rows, and P is a logistic
    regression on these latents alone. With k = 1 it is close to the one-dimensional probes of [Gao2024]_.

    Parameters
    ----------
    codes
        Codes (n, d), standardised by the mean and standard deviation of the train rows.
    factors
        Factors (n, k); each value is a class.
    test
        Test rows `(codes, factors)`; without them a third of the rows is held out.
    k
        Number of latents that a probe sees; all of them if there are fewer.
    per
        "value": k latents and a binary probe for each value, which suits sparse codes. "factor": k latents and one
        multinomial probe for the whole factor, which suits codes with one latent for each factor.
    choice
        How latents are chosen: by the largest "mean-difference" between rows with and without the value, in standard
        deviations of the latent (for a whole factor, by the share of the latent's variance between values), or by the
        "mutual-information" of the value, or factor, and the latent in 20 bins of equal width.
    seed
        Seed of the split.

    Returns
    -------
    float
        The score. Constant codes score the share of the most frequent value.

    Notes
    -----
    Latents are chosen on the train rows, again for each half-sample; among equally good ones the first is
    taken. The probes have C = 100. A value that no train row has is predicted wrongly; a factor with a single value is
    left out. Up to rounding, invariant to the order, sign, shift and scale of latents. The factors as codes are not a
    ceiling: with "value", a single number that holds a factor gets a linear probe for each value, which does not always
    find the values in the middle, while one latent for each value scores 1.

    References
    ----------
    .. [Gurnee2023] Gurnee et al., "Finding Neurons in a Haystack: Case Studies with Sparse Probing", TMLR 2023.
    .. [Gao2024] Gao et al., "Scaling and Evaluating Sparse Autoencoders", arXiv 2406.04093.

    Examples
    --------
    >>> from unweave.metrics import k_sparse_probing
    >>> k_sparse_probing([[0.0, 5.0], [1.0, 5.0]] * 20, [[3], [7]] * 20)
    1.0
    """
    count = whole_number(k, "k", 1)
    if per not in ("value", "factor"):
        raise unknown("way of probing", str(per), ("value", "factor"))
    if choice not in ("mean-difference", "mutual-information"):
        raise unknown("choice of codes", str(choice), ("mean-difference", "mutual-information"))
    train, held_out = train_and_test(codes, factors, test, seed)
    rows = len(train[0])

    def accuracies(train: Pair, held_out: Pair) -> np.ndarray:
        inputs, test_inputs = standardise(train, held_out)
        # The penalty is weighed against the sum of the losses: on half of the rows, each loss counts twice.
        strength = STRENGTH * rows / len(inputs)
        right = []
        for factor, truth in zip(train[1].T, held_out[1].T, strict=True):
            values, labels = np.unique(factor, return_inverse=True)
            probe = _by_value if per == "value" else _by_factor
            predicted = values[probe(inputs, labels, test_inputs, count, choice, strength)]
            right.append(np.mean(predicted == truth))
        return np.array(right)

    return mean_over_factors(by_refits(accuracies, train, held_out, REFITS))


def _by_value(
    inputs: np.ndarray, labels: np.ndarray, test_inputs: np.ndarray, k: int, choice: str, strength: float
) -> np.ndarray:
    """Return the value, as a label, whose probe of k latents is most confident, for each test row."""
    classes = int(labels.max()) + 1
    if classes == 1:
        return np.zeros(len(test_inputs), np.intp)
    own = labels[:, None] == np.arange(classes)  # (n, classes)
    odds = np.empty((classes, len(test_inputs)))
    for c, best in enumerate(_best(inputs, own.astype(np.int64), k, choice)):
        scores = class_scores(inputs[:, best], own[:, c].astype(np.int64), test_inputs[:, best], strength)
        odds[c] = scores[1] - scores[0]
    return odds.argmax(axis=0)


def _by_factor(
    inputs: np.ndarray, labels: np.ndarray, test_inputs: np.ndarray, k: int, choice: str, strength: float
) -> np.ndarray:
    """Return the label that one probe of k latents gives each test row."""
    if labels.max() == 0:
        return np.zeros(len(test_inputs), np.intp)
    best = _best(inputs, labels[:, None], k, choice)[0]
    return class_scores(inputs[:, best], labels, test_inputs[:, best], strength).argmax(axis=0)


def _best(inputs: np.ndarray, labels: np.ndarray, k: int, choice: str) -> np.ndarray:
    """Return the k best latents (columns, k) of standardised codes for each column of labels (n, columns)."""
    if choice == "mutual-information":
        strengths = information(bin_codes(inputs, BINS), BINS, labels).shared
    else:
        strengths = np.stack([_between(inputs, column) for column in labels.T], axis=1)
    return np.argsort(-strengths.T, axis=1, kind="stable")[:, :k]


def _between(inputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the variance of the class means of standardised codes, (d,).

    For two classes it is p (1 - p) times the squared difference of their means, so it gives the same order.
    """
    counts = np.bincount(labels)
    own = labels == np.arange(len(counts))[:, None]
    means = (own.astype(np.float64) @ inputs) / np.maximum(counts, 1)[:, None]
    return counts @ means**2 / len(labels)
