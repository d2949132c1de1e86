"""A data set with fewer images to train on."""

from __future__ import annotations

import numpy as np

from unweave.data.dataset import Dataset
from unweave.data.restricted import Reweighted, drawn_cells
from unweave.errors import UsageError


class Subset(Reweighted):
    """A random subset for training: `images` of the images, chosen by `subset_seed`.

    Scores and traversals still use all images, so models trained on subsets of several sizes are scored on the same
    rows. With the same `subset_seed`, a smaller subset is part of a larger one.
    """

    suffix = "subset"

    def __init__(self, base: Dataset, *, images: int = 0, subset_seed: int = 0) -> None:
        for name, value, least in (("images", images, 1), ("subset_seed", subset_seed, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                example = f"{base.name}-subset:images=1000"
                raise UsageError(f"{name} must be an integer of at least {least}, not {value!r}: {example}")
        cells = drawn_cells(base)
        if images > len(cells):
            raise UsageError(f"a subset of {images:,} images is too large: {base.name} has {len(cells):,}")
        chosen = np.random.default_rng(subset_seed).permutation(cells)[:images]
        allowed = np.zeros(len(base))
        allowed[chosen] = 1
        super().__init__(base, allowed, images=images, subset_seed=subset_seed)
