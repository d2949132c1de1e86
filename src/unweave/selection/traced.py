"""Which runs have comparable traces: complete, and of the same moments and images within a specification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unweave.errors import UnknownName, UsageError, unknown
from unweave.selection.specifications import Specification

if TYPE_CHECKING:
    from unweave.runs import Run

Key = tuple[tuple[int, ...], tuple[int, ...]]
"""The moments and the images of a run's traces."""


def comparable(
    specifications: Sequence[Specification], layers: str | Sequence[str] | None = None
) -> tuple[list[int], list[str]]:
    """Return the positions of runs whose traces can be compared, and notes on the others.

    Parameters
    ----------
    specifications
        The runs on one data set.
    layers
        The layers to compare; None: all.

    Returns
    -------
    tuple
        The positions, and the notes.
    """
    runs = [run for each in specifications for run in each.runs]
    keys: dict[int, Key] = {}
    notes, lacking = [], 0
    for place, run in enumerate(runs):
        if not run.trace_steps:
            lacking += 1
            continue
        try:
            keys[place] = _key(run, layers)
        except UnknownName:
            raise  # a misspelt layer, or one that these nets do not have
        except UsageError as error:
            notes.append(f"dynamics: left out, {error}")
    if lacking == len(runs):
        raise UsageError(
            "dynamics needs traces, but no run has them: train with --trace-every N (in a study: trace_every = N)"
        )
    if lacking:
        notes.insert(0, f"dynamics: {lacking} of {len(runs)} runs have no traces and are left out")
    if not keys:
        raise UsageError(notes[-1])
    found, start = [], 0
    for each in specifications:
        here = {place: key for place, key in keys.items() if start <= place < start + len(each.runs)}
        start += len(each.runs)
        usual = Counter(here.values()).most_common(1)[0][0] if here else None
        found += [place for place, key in here.items() if key == usual]
        notes += [
            f"dynamics: left out, '{runs[place].path}', whose traces have other moments or images than those of most "
            "seeds"
            for place, key in here.items()
            if key != usual
        ]
    return found, notes


def _key(run: Run, layers: str | Sequence[str] | None) -> Key:
    """Return the moments and images of a run's traces; damaged ones raise a `UsageError`."""
    for layer in [layers] if isinstance(layers, str) else layers or []:
        if layer not in run.trace_layers:
            raise unknown("layer", layer, run.trace_layers)
    if not np.isfinite(run.traces(layers)).all():
        raise UsageError(f"'{run.path}', whose traces hold NaN or an infinity")
    return tuple(run.trace_steps), tuple(run.trace_indices)
