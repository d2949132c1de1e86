"""`unweave geomancer`: find the factors of a data manifold."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from tyro.conf import Positional, arg

from unweave.cli.arrays import read_array
from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, parse, refuse_below
from unweave.errors import UsageError
from unweave.progress import Bar
from unweave.text import facts, to_json

if TYPE_CHECKING:
    from unweave.geometry import Dimension, Factorisation


@dataclass(frozen=True)
class Geomancer:
    """Find the submanifolds whose product the points lie on, from the holonomy of their manifold."""

    points: Annotated[Positional[Path], arg(metavar="FILE")]
    """Points (n, D), in a .npy or .csv file; distances between them must be those of the manifold."""
    out: Annotated[Path, arg(metavar="FILE")]
    """The .npz file to write: axes, labels, spectrum, count, dims, tilts, confidence, odd, points."""
    dim: Annotated[int | None, arg(metavar="K", help_behavior_hint="(default: estimated)")] = None
    """Dimension of the manifold."""
    neighbours: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: 2 K)")] = None
    """Nearest neighbours to which tensors are transported."""
    tangent_neighbours: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: 3 K (K + 3) / 2)")] = None
    """Nearest neighbours to which tangent spaces are fitted."""
    spectrum: int = 10
    """Eigenvalues to compute."""
    count: Annotated[int | None, arg(metavar="M", help_behavior_hint="(default: by the gap)")] = None
    """Number of factors."""
    gamma: Annotated[float | None, arg(metavar="G", help_behavior_hint="(default: by the gap)")] = None
    """Eigenvalue below which a tensor counts as parallel."""
    seed: int = 0
    """Seed of the eigensolver."""
    json: Flag = False
    """Print one JSON object instead of text."""

    def __post_init__(self) -> None:
        refuse_below(0, seed=self.seed)


def geomancer(words: list[str]) -> None:
    """Run `unweave geomancer`."""
    options = parse(Geomancer, words, "geomancer")
    if options.out.suffix != ".npz":
        raise UsageError(f"--out must be a .npz file, not '{options.out}'")
    if not options.out.parent.is_dir():
        raise UsageError(f"there is no folder '{options.out.parent}' to write '{options.out.name}' into; make it first")
    points = read_array(options.points)
    from unweave.geometry import geomancer as factorise
    from unweave.geometry.dimension import several_dims

    estimate = several_dims(points) if options.dim is None else None
    with Bar("neighbours") as bar:
        found = factorise(
            points,
            options.dim if estimate is None else estimate.dim,
            neighbours=options.neighbours,
            tangent_neighbours=options.tangent_neighbours,
            spectrum=options.spectrum,
            count=options.count,
            gamma=options.gamma,
            seed=options.seed,
            on_progress=bar,
        )
    with writing(options.out):
        found.save(options.out, points)
    if options.json:
        return print(to_json({"out": str(options.out), **_summary(found)}))
    print(_text(found, estimate), f"\nnext: {_following(options, found)}", sep="\n")


def _summary(found: Factorisation) -> dict[str, object]:
    return {
        "points": len(found.axes),
        "dim": found.axes.shape[2],
        "count": found.count,
        "dims": list(found.dims),
        "spectrum": found.spectrum.tolist(),
        "confidence": float(found.confidence.mean()),
        "tilt": float(found.tilts.mean()),
        "odd": int(found.odd.sum()),
    }


def _text(found: Factorisation, estimate: Dimension | None) -> str:
    below = found.count - 1
    values = [f"{value:.3g}" for value in found.spectrum]
    lines = {
        "factors": str(found.count),
        "dimensions": " + ".join(map(str, found.dims)) or "different from point to point",
        "spectrum": " ".join([*values[:below], *(["|"] if below else []), *values[below:]]),
        "confidence": f"{found.confidence.mean():.2f}",
        "tilt": f"{found.tilts.mean():.3f} radians, about the error of the factors",
        "odd points": f"{found.odd.sum():,} of {len(found.odd):,}",
    }
    return facts(lines if estimate is None else {"estimated": _evidence(estimate), **lines})


def _evidence(estimate: Dimension) -> str:
    falls = estimate.unexplained[:-1] / np.maximum(estimate.unexplained[1:], 1e-12)
    steps = ", ".join(f"{fall:.1f}" if fall < 10 else f"{fall:,.0f}" for fall in falls)
    return f"{estimate.dim} dimensions; with each, what a surface leaves unexplained falls {steps} times"


def _following(options: Geomancer, found: Factorisation) -> str:
    """Return what to try next: another number of neighbours if factors are uncertain, otherwise a look at the file."""
    if found.count == 1 or not found.dims:
        wider = 2 * (options.neighbours or 2 * found.axes.shape[2])
        words = ["unweave", "geomancer", str(options.points), "--dim", str(found.axes.shape[2])]
        return shlex.join([*words, "--neighbours", str(wider), "--out", str(options.out)])
    return f"python -c \"import numpy; print(numpy.load({str(options.out)!r})['axes'].shape)\""
