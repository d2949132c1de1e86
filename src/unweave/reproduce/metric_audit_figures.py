"""The audit as one picture: one row per metric, one column per property."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unweave.report.style import LIGHT
from unweave.reproduce.guardians_figures import HEAT
from unweave.reproduce.metric_audit_table import CONTRASTS, Audit
from unweave.study.analysis.power import MOST_SEEDS

LARGE_EFFECT = 3.0
"""Effect with full colour."""
MOST_ROWS = 100_000
FEWEST_ROWS = 100
Cell = tuple[str, float | None]
"""A text, and its colour, from 0 (weak) to 1."""


def audit_figure(found: Sequence[Audit]) -> Figure:
    """Draw every metric on every data set, the one that needs the fewest seeds on top."""
    data = list(dict.fromkeys(each.data for each in found))
    most = max(sum(each.data == name for each in found) for name in data)
    figure = Figure(figsize=(8.6 * len(data), 1.6 + 0.235 * most), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(data), squeeze=False)[0], data, strict=True):
        _panel(axes, [each for each in found if each.data == name])
        axes.set_title(name, loc="left", color=LIGHT["ink"], fontsize=11, pad=86)
    return figure


def _panel(axes: Axes, found: Sequence[Audit]) -> None:
    for row, audit in enumerate(found):
        for column, (text, shade) in enumerate(_cells(audit)):
            _draw(axes, column, row, text, shade)
    heads = [
        f"noise ÷ spread, {found[0].few_rows:,} rows",
        f"noise ÷ spread, {found[0].many_rows:,} rows",
        "effect of strength, weak",
        "effect of strength, strong",
        "effect of more steps",
        "seeds for 80 % power",
        "rows for noise < spread/3",
        "claims met, %",
    ]
    axes.set(xlim=(-0.6, len(heads) - 0.4), ylim=(len(found) - 0.4, -0.6))
    axes.set_xticks(range(len(heads)), heads, rotation=35, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(found)), [each.metric for each in found])
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=8.5, labelcolor=LIGHT["ink"])
    for spine in axes.spines.values():
        spine.set_visible(False)


def _cells(audit: Audit) -> list[Cell]:
    """Return the texts and colours of one line."""
    noises = [audit.noise_share(noise) for noise in (audit.few_noise, audit.many_noise)]
    effects = [audit.contrasts[name].effect if name in audit.contrasts else float("nan") for name in CONTRASTS]
    return [
        *((_short(noise), 1 - noise if isfinite(noise) else None) for noise in noises),
        *((_short(effect), None if effect != effect else abs(effect) / LARGE_EFFECT) for effect in effects),
        _seeds(audit.typical.seeds),
        _rows(audit.rows_needed),
        _claims(audit.claims_met),
    ]


def _seeds(seeds: float) -> Cell:
    if not isfinite(seeds):
        return f"> {MOST_SEEDS:,}", 0.0
    return f"{seeds:.0f}", 1 - log(seeds / 2) / log(MOST_SEEDS / 2)


def _rows(rows: int | None) -> Cell:
    if rows is None:
        return "–", None
    place = log(max(rows, FEWEST_ROWS) / FEWEST_ROWS) / log(MOST_ROWS / FEWEST_ROWS)
    return (f"{rows:,}" if rows < 1e6 else f"{rows:.0e}".replace("e+0", "e")), 1 - place


def _claims(share: float | None) -> Cell:
    return ("–", None) if share is None else (f"{100 * share:.0f}", share)


def _draw(axes: Axes, column: int, row: int, text: str, shade: float | None) -> None:
    """Draw a value on its colour; without one, on grey."""
    inside = 0.0 if shade is None else float(np.clip(shade, 0, 1))
    colour = LIGHT["line"] if shade is None else HEAT(inside)
    x, y = column + np.array([-0.48, 0.48, 0.48, -0.48]), row + np.array([-0.48, -0.48, 0.48, 0.48])
    axes.fill(x, y, color=colour)
    ink = "white" if inside > 0.7 else LIGHT["ink"]
    axes.text(column, row, text, ha="center", va="center", fontsize=8, color=ink)


def _short(value: float) -> str:
    """Return an effect or a share in a few characters.

    >>> _short(-1.234), _short(123.4), _short(float("nan")), _short(float("inf"))
    ('−1.2', '123', '–', '∞')
    """
    if value != value:
        return "–"
    if not isfinite(value):
        return "∞" if value > 0 else "−∞"
    digits = 2 if abs(value) < 1 else 1 if abs(value) < 10 else 0
    return f"{value:.{digits}f}".replace("-", "−")
