"""Success rates: published, ours, and the spread of runs of 25 cells."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO

import numpy as np

from unweave.gaussian import score
from unweave.gaussian.im import TIE
from unweave.gaussian.iterations import DIVERGED, OUTSIDE
from unweave.gaussian.study import Study
from unweave.reproduce.intervals import Estimate, share_and_interval

RUN = 25
"""Number of cells of a published rate."""
PUBLISHED = {
    "3-in-3": (16, 40),
    "3-in-2": (64, 92),
    "3-in-1": (100, 92),
    "5-in-3": (44, 52),
    "5-in-2": (60, 20),
    "5-in-1": (56, 4),
}
"""Success rates of I_m and SAP in per cent, from 25 cells each."""
NOTEBOOK = {"5-in-3": (20, 44), "5-in-2": (64, 32), "5-in-1": (40, 4)}
"""The same in the saved output of the authors' notebook of five factors: a second draw."""
SCORES = ("I_m", "SAP")


@dataclass(frozen=True)
class Rate:
    """How often one score succeeds in one scenario. Shares are in per cent of all cells."""

    setting: str
    scenario: str
    score: str
    cells: int
    successes: int
    failed: float
    """Cells that fail in any case: diverged, or never within the tolerance."""
    tied: float
    """Cells in which less than 1e-9 nats decide between the groups of I_m and fewer groups."""

    @property
    def published(self) -> int:
        """The rate of the talk."""
        return PUBLISHED[self.scenario][SCORES.index(self.score)]

    @property
    def notebook(self) -> int | None:
        """The rate in the saved notebook, if there is one."""
        return NOTEBOOK[self.scenario][SCORES.index(self.score)] if self.scenario in NOTEBOOK else None

    @property
    def ours(self) -> Estimate:
        """Our rate and its exact 95 % interval."""
        happened = np.arange(self.cells) < self.successes
        return Estimate(*(100 * value for value in share_and_interval(happened)))

    @property
    def spread(self) -> tuple[float, float]:
        """The central 95 % range of the rates of runs of 25 cells that succeed at our rate."""
        from scipy.stats import binom

        low, high = binom.ppf((0.025, 0.975), RUN, self.successes / self.cells)
        return 100 * low / RUN, 100 * high / RUN

    @property
    def inside(self) -> bool:
        """Whether the published rate is in this range."""
        low, high = self.spread
        return low - 1e-9 <= self.published <= high + 1e-9


def binomial(rate: float) -> Estimate:
    """Return a published rate, in per cent of 25 cells, with its exact 95 % interval."""
    return Estimate(*(100 * value for value in share_and_interval(np.arange(RUN) < round(rate * RUN / 100))))


def rates(setting: str, scenario: str, studies: Sequence[Study]) -> tuple[Rate, Rate]:
    """Return the rates of I_m and SAP over all cells of some runs."""
    wins = [np.concatenate([found.successes[index].ravel() for found in studies]) for index in range(2)]
    failed = np.concatenate([np.isin(found.solutions.state, (DIVERGED, OUTSIDE)) for found in studies])
    tied = np.concatenate([_tied(found) for found in studies])
    shares = (100 * float(failed.mean()), 100 * float(tied.mean()))
    im, sap = (
        Rate(setting, scenario, name, win.size, int(win.sum()), *shares) for name, win in zip(SCORES, wins, strict=True)
    )
    return im, sap


def _tied(found: Study) -> np.ndarray:
    """Return the cells in which the groups of I_m differ from those with a tolerance for ties."""
    sigma_x, sigma_xv = found.seen
    usual = score(found.world, sigma_x, sigma_xv, tie=TIE).im_groups
    exact = score(found.world, sigma_x, sigma_xv, tie=0.0).im_groups
    return np.array([_sizes(one) != _sizes(other) for one, other in zip(usual, exact, strict=True)])


def _sizes(groups: Sequence[frozenset[int]]) -> int:
    return sum(map(bool, groups))


def to_csv(found: Iterable[Rate]) -> str:
    """Return rates as CSV."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("setting", "scenario", "score", "cells", "successes", "failed", "tied"))
    for rate in found:
        row = (rate.setting, rate.scenario, rate.score, rate.cells, rate.successes)
        writer.writerow((*row, f"{rate.failed:.1f}", f"{rate.tied:.1f}"))
    return text.getvalue()


def from_csv(text: str) -> list[Rate]:
    """Return the rates in such a CSV."""
    return [
        Rate(
            row["setting"],
            row["scenario"],
            row["score"],
            int(row["cells"]),
            int(row["successes"]),
            float(row["failed"]),
            float(row["tied"]),
        )
        for row in csv.DictReader(StringIO(text))
    ]


def markdown(found: Sequence[Rate]) -> str:
    """Return the table of the page: published rates, and those of both settings."""
    settings = list(dict.fromkeys(rate.setting for rate in found))
    by_place = {(rate.setting, rate.scenario, rate.score): rate for rate in found}
    heads = ["scenario", "score", "talk", "notebook"]
    for setting in settings:
        heads += [f"`{setting}`", "25 cells"]
    lines = [heads, ["---", "---", *["--:"] * (len(heads) - 2)]]
    for scenario in PUBLISHED:
        for name in SCORES:
            line = [f"`{scenario}`" if name == SCORES[0] else "", name]
            for setting in settings:
                rate = by_place[setting, scenario, name]
                if setting == settings[0]:
                    line += [_with_interval(rate.published), _with_interval(rate.notebook)]
                low, high = rate.spread
                line += [
                    f"{rate.ours.value:.1f} ({rate.ours.low:.0f}–{rate.ours.high:.0f})",
                    f"{low:.0f}–{high:.0f}{'' if rate.inside else ' ✗'}",
                ]
            lines.append(line)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _with_interval(published: int | None) -> str:
    if published is None:
        return ""
    _, low, high = binomial(published)
    return f"{published} ({low:.0f}–{high:.0f})"
