"""GeoManCEr's estimate of its error, and the public code compared with ours: the tables of docs/geomancer.md.

Run by `python benchmarks/geomancer.py --tilts`, `--public FOLDER` and `--write-docs`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars
from pages import put

from unweave.geometry import DoubtfulFactors, Sample, geomancer, sample, subspace_error, whiten

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "geomancer.md"
TILTS, PUBLIC = DOCS / "results" / "geomancer-tilts.csv", DOCS / "results" / "geomancer-public.csv"
LOW, HIGH = 0.5, 1.5
"""Bounds of the ratio of error to tilt."""
SIZES = (2_000, 5_000)
SIDE_BY_SIDE = (("S^2 x S^2", 2_000), ("S^2 x S^3", 2_000), ("S^2 x SO(3)", 2_000))
Draw = Callable[[int, int], Sample]
"""A function of the number of points and a seed."""


def product(name: str, **options: Any) -> Draw:
    return lambda n, seed: sample(name, n, seed=seed, **options)


def stretched(stretch: float, name: str = "S^2 x S^2") -> Draw:
    return product(name, embedding="stretched", stretch=stretch)


def radii(ratio: float) -> Draw:
    """Return two spheres with this ratio of radii."""

    def draw(n: int, seed: int) -> Sample:
        drawn = sample("S^2 x S^2", n, seed=seed)
        return Sample(drawn.points * np.repeat([1, ratio], 3), drawn.frames)

    return draw


def whitened(draw: Draw) -> Draw:
    """Return the same in the coordinates of `whiten`."""

    def draw_whitened(n: int, seed: int) -> Sample:
        drawn = draw(n, seed)
        white = whiten(drawn.points)
        return Sample(white.points, [white.frames(frame) for frame in drawn.frames])

    return draw_whitened


def bumpy(height: float, noise: float = 0.0) -> Draw:
    """Return two spheres of radius 1 + height (3 x y + 2 z³ - z), which bends differently to both sides."""

    def draw(n: int, seed: int) -> Sample:
        drawn = sample("S^2 x S^2", n, seed=seed)
        points, frames = drawn.points.copy(), [frame.copy() for frame in drawn.frames]
        for own, frame in zip((slice(0, 3), slice(3, 6)), frames, strict=True):
            x, y, z = drawn.points[:, own].T
            radius = 1 + height * (3 * x * y + 2 * z**3 - z)
            slope = height * np.stack([3 * y, 3 * x, 6 * z**2 - 1], axis=1)
            moved = radius[:, None, None] * frame[:, own]  # d (r x) = r dx + x dr
            moved += drawn.points[:, own, None] * (slope[:, None] @ frame[:, own])
            points[:, own] *= radius[:, None]
            frame[:, own] = np.linalg.qr(moved)[0]
        return Sample(points + noise * np.random.default_rng(seed).standard_normal(points.shape), frames)

    return draw


CASES: dict[str, Draw] = {
    **{name.replace("^2", "²").replace("^3", "³").replace(" x ", " × "): product(name) for name in (
        "S^2 x S^2", "S^2 x S^3", "S^3 x S^3", "S^2 x SO(3)", "S^2 x S^2 x S^2",
        "E^2 x E^2", "S^2 x E^2", "E^2 x S^3", "E^3 x E^2",
    )},
    "bumpy spheres, 0.05": bumpy(0.05),
    "bumpy spheres, 0.15": bumpy(0.15),
    "bumpy spheres, 0.15, noise 0.03": bumpy(0.15, 0.03),
    **{f"S² × S², noise {noise}": product("S^2 x S^2", noise=noise) for noise in (0.02, 0.05, 0.1)},
    "S² × S³, noise 0.05": product("S^2 x S^3", noise=0.05),
    **{f"E² × E², noise {noise}": product("E^2 x E^2", noise=noise) for noise in (0.02, 0.05)},
    **{f"S² × S², stretched by {stretch:g}": stretched(stretch) for stretch in (1.1, 1.25, 1.5, 2, 4)},
    "S² × S³, stretched by 1.25": stretched(1.25, "S^2 x S^3"),
    "E² × E², stretched by 1.25": stretched(1.25, "E^2 x E^2"),
    **{f"S² × S², radii of 1 : {ratio}": radii(ratio) for ratio in (3, 10, 30)},
    **{f"S² × S², radii of 1 : {ratio}, whitened": whitened(radii(ratio)) for ratio in (10, 30)},
    "S² × S², stretched by 4, whitened": whitened(stretched(4)),
    "E² × E², stretched by 1.25, whitened": whitened(stretched(1.25, "E^2 x E^2")),
}  # fmt: skip


def tilt(case: str, n: int, seed: int = 0) -> dict[str, Any]:
    """Return the mean error and the mean tilt of one sample, or None for both if its factors are not found."""
    drawn = CASES[case](n, seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DoubtfulFactors)
        found = geomancer(drawn.points, drawn.dim)
    right = sorted(found.dims) == sorted(frame.shape[2] for frame in drawn.frames)
    row = {"case": case, "n": n, "error": None, "tilt": None, "ratio": None, "right": right, "warned": bool(caught)}
    if right:
        error, mean = float(subspace_error(found.components, drawn.frames).mean()), float(found.tilts.mean())
        row |= {"error": round(error, 4), "tilt": round(mean, 4), "ratio": round(error / mean, 2)}
    return row


def measure_tilts() -> None:
    rows: list[dict[str, Any]] = []
    for case in CASES:
        for n in SIZES:
            rows.append(tilt(case, n))
            print(rows[-1], flush=True)
    polars.DataFrame(rows).write_csv(TILTS)


def measure_public(folder: Path) -> None:
    """Run the public geomancer.py of a folder and ours on the same points, one after another."""
    sys.path.insert(0, str(folder))
    from geomancer import fit  # pyright: ignore[reportAttributeAccessIssue]

    rows = []
    for name, n in SIDE_BY_SIDE:
        drawn = sample(name, n, seed=0)
        for code, run in (
            ("ours", lambda x, k: geomancer(x, k).components),
            ("public", lambda x, k: fit(x, k)[0]),
        ):
            start = process_time()
            components = run(drawn.points, drawn.dim)
            spent = process_time() - start
            errors = subspace_error(components, drawn.frames)
            factors = np.bincount([len(each) for each in components]).argmax()
            rows.append({
                "manifold": name, "n": n, "code": code, "seconds": round(spent, 2),
                "error": round(float(errors.mean()), 3), "factors": int(factors),
            })  # fmt: skip
            print(rows[-1], flush=True)
    polars.DataFrame(rows).write_csv(PUBLIC)


def tilts_table(stored: Path = TILTS) -> str:
    """Return the table of errors and tilts; a ratio outside the bounds is bold."""
    lines = ["| points on | n | error | tilt | error / tilt | warned |", "|---|--:|--:|--:|--:|---|"]
    for row in polars.read_csv(stored).iter_rows(named=True):
        warned = "yes" if row["warned"] else "no"
        if row["right"]:
            ratio = f"{row['ratio']:.2f}" if LOW <= row["ratio"] <= HIGH else f"**{row['ratio']:.2f}**"
            cells = f"{row['error']:.3f} | {row['tilt']:.3f} | {ratio}"
        else:
            cells = "not found | – | –"
        lines.append(f"| {row['case']} | {row['n']:,} | {cells} | {warned} |")
    return "\n".join(lines)


def public_table(stored: Path = PUBLIC) -> str:
    lines = ["| manifold | n | code | CPU s | error | factors found |", "|---|--:|---|--:|--:|--:|"]
    for row in polars.read_csv(stored).iter_rows(named=True):
        name = row["manifold"].replace("^2", "²").replace("^3", "³").replace(" x ", " × ")
        seconds = f"{row['seconds']:.2f}" if row["seconds"] < 1 else f"{row['seconds']:.1f}"
        lines.append(f"| {name} | {row['n']:,} | {row['code']} | {seconds} | {row['error']:.3f} | {row['factors']} |")
    return "\n".join(lines)


def write_docs() -> None:
    put(PAGE, "tilts", tilts_table())
    put(PAGE, "public", public_table())
