"""Reward predictors: small networks that learn, step by step, which codes belong to clustered scenes.

Several of them, each with its own initial weights and batches, are trained at once as one batched network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unweave.late import importing

if TYPE_CHECKING:
    import torch

    from unweave.tasks.clustering import Floats

Labels = NDArray[np.bool_]


@dataclass(frozen=True)
class Learner:
    """How a reward predictor is built and trained."""

    hidden: int = 64
    """Units in each of the two hidden layers."""
    rate: float = 3e-3
    """Learning rate of Adam."""
    batch: int = 32
    """Scenes per update, half of them clustered; there is one update per step."""


def learn(
    codes: Floats,
    clustered: Labels,
    test_codes: Floats,
    test_clustered: Labels,
    learner: Learner,
    *,
    initialisations: int,
    every: int,
    seed: int,
) -> Iterator[tuple[int, Floats]]:
    """Yield, at regular steps, the step and the balanced accuracy (initialisations,) on the test scenes.

    After step t a predictor has been updated t times, on scenes drawn from the first t of the experience: one half of
    each batch is clustered, the other is not. Nothing is learnt until both kinds were seen. The codes are centred and
    divided by one number, the root of their mean variance.
    """
    with importing():
        import torch

    shift, scale = codes.mean(axis=0), max(float(np.sqrt(codes.var(axis=0).mean())), 1e-12)
    inputs, tests = (torch.from_numpy(((part - shift) / scale).astype(np.float32)) for part in (codes, test_codes))
    generators = [np.random.default_rng([seed, number]) for number in range(initialisations)]
    network = Network([codes.shape[1], learner.hidden, learner.hidden, 1], generators)
    optimiser = torch.optim.Adam(network.parameters, lr=learner.rate)
    targets = torch.cat([torch.ones(learner.batch // 2), torch.zeros(learner.batch - learner.batch // 2)])
    for start in range(0, len(codes), every):
        stop = min(start + every, len(codes))
        rows = _batches(clustered, start, stop, learner.batch, generators)
        for row in torch.from_numpy(rows):  # (initialisations, batch)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                network(inputs[row]), targets.expand(row.shape), reduction="none"
            )
            optimiser.zero_grad()
            loss.mean(dim=1).sum().backward()  # each network gets the gradient of its own mean
            optimiser.step()
        with torch.no_grad():
            positive = (network(tests.expand(initialisations, -1, -1)) > 0).numpy()
        yield stop, balanced_accuracy(positive, test_clustered)


def balanced_accuracy(positive: Labels, truth: Labels) -> Floats:
    """Return the mean of the accuracies on clustered and on other scenes, (..., n) to (...).

    >>> balanced_accuracy(np.array([True, True, True, False]), np.array([True, True, False, False])).item()
    0.75
    """
    return (positive[..., truth].mean(axis=-1) + (~positive[..., ~truth]).mean(axis=-1)) / 2


class Network:
    """Several networks with the same layers and ReLU between them, whose weights are one tensor per layer."""

    def __init__(self, widths: list[int], generators: list[np.random.Generator]) -> None:
        """Draw the weights of one network from each generator: Gaussian, with variance 2 / inputs [He2015]_."""
        import torch

        self.parameters: list[torch.Tensor] = []
        for inputs, outputs in pairwise(widths):
            drawn = [rng.normal(scale=np.sqrt(2 / inputs), size=(inputs, outputs)) for rng in generators]
            self.parameters.append(torch.from_numpy(np.stack(drawn).astype(np.float32)).requires_grad_())
            self.parameters.append(torch.zeros(len(generators), 1, outputs, requires_grad=True))

    def __call__(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the logits (networks, n) of inputs (networks, n, codes)."""
        import torch

        layers = list(zip(self.parameters[0::2], self.parameters[1::2], strict=True))
        for number, (weights, biases) in enumerate(layers):
            inputs = torch.baddbmm(biases, inputs, weights)
            inputs = inputs if number == len(layers) - 1 else inputs.relu()
        return inputs[..., 0]


def _batches(
    clustered: Labels, start: int, stop: int, batch: int, generators: list[np.random.Generator]
) -> NDArray[np.int64]:
    """Return the rows (updates, initialisations, batch) of the updates after steps start + 1 to stop."""
    half = batch // 2
    yes, no = np.flatnonzero(clustered), np.flatnonzero(~clustered)
    drawn = np.stack([rng.random((stop - start, batch)) for rng in generators], axis=1)
    steps = np.arange(start + 1, stop + 1)
    met = np.searchsorted(yes, steps)  # number of clustered scenes among the first steps
    known = (met > 0) & (met < steps)
    drawn, met, others = drawn[known], met[known, None, None], (steps - met)[known, None, None]
    if not known.any():
        return np.empty((0, len(generators), batch), dtype=np.int64)
    first = yes[(drawn[..., :half] * met).astype(np.int64)]
    second = no[(drawn[..., half:] * others).astype(np.int64)]
    return np.concatenate([first, second], axis=-1)
