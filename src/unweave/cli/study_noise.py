"""`unweave study noise`: do supervised scores survive wrong labels?"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from unweave.cli.arrays import check_scores_path, write_scores
from unweave.cli.parsing import Flag, Plugins, parse, refuse_below
from unweave.fields import OneOf
from unweave.metrics import METRICS
from unweave.metrics.presets import PRESETS
from unweave.progress import Bar
from unweave.study.noise import METRICS as PUBLISHED
from unweave.study.noise import score_under_noise
from unweave.text import facts, table, to_json

if TYPE_CHECKING:
    import polars

NUMBERS = ("noise", "pearson", "95 %", "spearman", "95 % ", "points", "seeds")
READING = {
    "pearson": "correlation of a score under noise with that on clean labels, over specifications (means over seeds)",
    "95 %": "over resampled seeds; none with fewer than five",
}


@dataclass(frozen=True)
class Noise:
    """Score the runs of a study with noisy labels, and correlate these scores with those on clean labels.

    The three regimes are those of Holtz et al. 2022. Scores are stored in the runs and computed once.
    """

    study: Annotated[Positional[Path], arg(metavar="FOLDER")]
    """The study's folder, or a folder of runs."""
    metrics: Annotated[tuple[str, ...], OneOf(METRICS, listed=False), arg(metavar="NAME ...")] = PUBLISHED
    """Supervised metrics."""
    preset: Annotated[str, OneOf(PRESETS)] = "paper"
    """Sample counts: paper (those of the published studies) or fast."""
    samples: Annotated[int | None, arg(metavar="INT", help_behavior_hint="")] = None
    """Random images to score a run on, instead of the preset's number."""
    test_samples: Annotated[int | None, arg(metavar="INT", help_behavior_hint="")] = None
    """Random images for the test rows, instead of the preset's number."""
    seed: int = 0
    """Seed of the images and of the noise."""
    again: Flag = False
    """Compute scores again that the runs already have."""
    out: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(optional)")] = None
    """Also write every score to a .csv, .parquet or .json file."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of a table."""

    def __post_init__(self) -> None:
        refuse_below(0, seed=self.seed)
        refuse_below(2, samples=self.samples, test_samples=self.test_samples)
        if self.out:
            check_scores_path(self.out)


def noise(words: list[str]) -> None:
    """Run `unweave study noise`."""
    options = parse(Noise, words, "study noise")
    from unweave.study.analysis import noise_robustness

    with Bar("scoring under noise", unit=" runs") as bar:
        scores = score_under_noise(
            options.study,
            options.metrics,
            preset=options.preset,
            samples=options.samples,
            test_samples=options.test_samples,
            seed=options.seed,
            again=options.again,
            on_progress=bar,
        )
        found = noise_robustness(scores)
    if options.out:
        write_scores(scores, options.out)
    if options.json:
        return print(to_json({"study": str(options.study), "robustness": found.to_dicts()}))
    following = f"next: unweave study table {shlex.quote(str(options.study))} --out scores.csv"
    print(_text(found), facts(READING), following, sep="\n\n")


def _text(found: polars.DataFrame) -> str:
    rows = [
        {
            "data": row["data"],
            "metric": row["metric"],
            "noise": str(row["label_noise"]),
            "pearson": _number(row["pearson"]),
            "95 %": _ends(row["pearson_low"], row["pearson_high"]),
            "spearman": _number(row["spearman"]),
            "95 % ": _ends(row["spearman_low"], row["spearman_high"]),
            "points": str(row["points"]),
            "seeds": str(row["seeds"]),
        }
        for row in found.iter_rows(named=True)
    ]
    return table(rows, numbers=NUMBERS)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.2f} … {high:.2f}"
