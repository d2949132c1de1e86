"""`unweave gaussian`: the linear-Gaussian laboratory."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from unweave.cli.arrays import read_array
from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, parse, refuse_below
from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.files import write_atomically
from unweave.gaussian.iterations import NOISES, STARTS, STEPS, STOPS
from unweave.gaussian.model import World
from unweave.gaussian.scenarios import SCENARIOS
from unweave.gaussian.study import CODES, GAMMAS, LAMBDAS, NAMES, Study, study
from unweave.progress import Bar
from unweave.text import facts, table, to_json

EXAMPLE = "unweave gaussian 3-in-2 --repeats 40 --out gaussian.png"
Numbers = Annotated[tuple[float, ...], arg(metavar="NUMBER ...")]
Optional = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]


@dataclass(frozen=True)
class Gaussian:
    """Solve the linear-Gaussian gamma-lambda-VAE exactly on a grid, and score its codes.

    Scenarios: 3-in-3, 3-in-2, 3-in-1, 5-in-3, 5-in-2, 5-in-1 (factors, and their independent groups).
    """

    scenario: Annotated[Positional[str], OneOf(SCENARIOS), arg(metavar="SCENARIO")] = "3-in-2"
    """How the factors depend on each other."""
    gamma: Numbers = GAMMAS
    """Weights gamma of the likelihood: one, or several for a grid."""
    lam: Numbers = LAMBDAS
    """Weights lambda of the squared error: one, or several for a grid."""
    repeats: int = 20
    """Random starts for every (gamma, lambda)."""
    weight: Numbers = (1.0,)
    """Weights of parents in their children, the paper's alpha and beta: one, or one for each factor."""
    variance: Numbers = (1.0,)
    """Variances of factors without a parent: one, or one for each."""
    own: Numbers = (0.1,)
    """Variances of the noise of factors with a parent: one, or one for each."""
    noise: float = 0.01
    """Variance of the observed variables' noise."""
    sigma_v: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """Your own covariance of factors (.npy or .csv), instead of a scenario."""
    n: Optional = None
    """Number of observed variables for --sigma-v; by default as many as factors."""
    m: Optional = None
    """Number of latents for --sigma-v; by default as many as observed variables."""
    decoder: Annotated[str, OneOf(NOISES)] = "full"
    """Noise of the decoder: full, diagonal or isotropic."""
    start: Annotated[str, OneOf(STARTS)] = "principal"
    """Initial decoder (principal: randomly rotated principal axes; random) or encoder (encoder; authors: unscaled)."""
    stop: Annotated[str, OneOf(STOPS)] = "tolerance"
    """When to stop: at the tolerance of the error, or when nothing changes any more (rest)."""
    best_of: int = 1
    """Starts of each cell; the one that fits the covariance of Y best is used."""
    codes: Annotated[str, OneOf(CODES)] = "true"
    """Covariance of the codes in the scores: true or identity."""
    tolerance: float = 0.05
    """Largest reconstruction error, as a share of the variance of Y."""
    steps: int = STEPS
    """Maximum number of iterations."""
    seed: int = 0
    """Seed of the starts."""
    out: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """PNG file to write: scores over the grid, and the information plane."""
    json: Flag = False
    """Print one JSON object instead of tables."""

    def __post_init__(self) -> None:
        refuse_below(0, seed=self.seed)
        if self.out and self.out.suffix.lower() != ".png":
            raise UsageError(f"the picture is a PNG: write --out {self.out.with_suffix('.png')}, not '{self.out}'")
        for kind, name, known in (
            ("decoder noise", self.decoder, NOISES),
            ("start", self.start, STARTS),
            ("way to stop", self.stop, STOPS),
            ("covariance of codes", self.codes, CODES),
        ):
            if name not in known:
                raise unknown(kind, name, known)


def gaussian(words: list[str]) -> None:
    """Run `unweave gaussian`."""
    options = parse(Gaussian, words, "gaussian", EXAMPLE)
    world = _world(options)
    with Bar("iterating") as bar:
        found: Study = study(
            world,
            options.gamma,
            options.lam,
            repeats=options.repeats,
            seed=options.seed,
            noise=options.decoder,  # pyright: ignore[reportArgumentType]
            start=options.start,  # pyright: ignore[reportArgumentType]
            stop=options.stop,  # pyright: ignore[reportArgumentType]
            best_of=options.best_of,
            codes=options.codes,  # pyright: ignore[reportArgumentType]
            tolerance=options.tolerance,
            steps=options.steps,
            on_progress=bar,
        )
    name = str(options.sigma_v or options.scenario)
    if options.out:
        _draw(found, name, options.out)
    if options.json:
        return print(to_json(_record(found, name)))
    _show(found, name)
    if options.out:
        print(f"\nwrote {options.out}")
    print("\nnext: unweave reproduce linear-gaussian")


def _world(options: Gaussian) -> World:
    if options.sigma_v:
        sigma_v = read_array(options.sigma_v)
        n = options.n or len(sigma_v)
        return World(sigma_v, n=n, m=options.m or n, noise=options.noise)
    if options.n or options.m:
        raise UsageError("--n and --m need --sigma-v; a scenario sets its own")
    if options.scenario not in SCENARIOS:
        raise unknown("scenario", options.scenario, SCENARIOS)
    numbers = {name: getattr(options, name) for name in ("weight", "variance", "own", "noise")}
    return SCENARIOS[options.scenario].world(**numbers)


def _draw(found: Study, name: str, out: Path) -> None:
    from unweave.gaussian.figures import draw

    picture = BytesIO()
    draw(found, name).savefig(picture, format="png", dpi=110)
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out, picture.getvalue())


def _show(found: Study, name: str) -> None:
    world, (im, sap) = found.world, found.successes
    rows = [
        {
            "score": NAMES[key],
            "mean": f"{row['mean']:.3f}",
            "least": f"{row['least']:.3f}",
            "most": f"{row['most']:.3f}",
        }
        for key, row in _scores(found).items()
    ]
    partitions = found.partitions.most_common(3)
    misfit = found.solutions.misfit
    summary = {
        "factors, observed, codes": f"{len(world.sigma_v)}, {world.n}, {world.m}",
        "cells": f"{im.size:,} = {len(found.gammas)} γ × {len(found.lambdas)} λ × {found.repeats} starts",
        "ended": ", ".join(f"{count:,} {state}" for state, count in found.states.most_common()),
        "misfit of the covariance": f"{misfit.mean():.1%} on average, {misfit.max():.1%} at most",
        "true groups": _text(sorted(world.groups, key=min)),
        "best by I_m": "; ".join(f"{_text(groups)} in {count / im.size:.0%}" for groups, count in partitions),
        "success of I_m": f"{im.mean():.0%}",
        "success of SAP": f"{sap.mean():.0%}",
    }
    print(name, facts(summary), table(rows, ("mean", "least", "most")), sep="\n\n")


def _scores(found: Study) -> dict[str, dict[str, float]]:
    values = {name: found.score(name) for name in NAMES}
    return {
        name: {"mean": float(each.mean()), "least": float(each.min()), "most": float(each.max())}
        for name, each in values.items()
    }


def _text(groups: Any) -> str:
    """Return groups as text, with factors counted from 1 as in the paper."""
    return " ".join("{" + ", ".join(f"v{k + 1}" for k in sorted(group)) + "}" for group in groups)


def _record(found: Study, name: str) -> dict[str, Any]:
    im, sap = found.successes
    return {
        "scenario": name,
        "gammas": found.gammas.tolist(),
        "lambdas": found.lambdas.tolist(),
        "repeats": found.repeats,
        "states": dict(found.states),
        "misfit": {"mean": float(found.solutions.misfit.mean()), "most": float(found.solutions.misfit.max())},
        "true_groups": [sorted(group) for group in sorted(found.world.groups, key=min)],
        "partitions": [
            {"groups": [sorted(group) for group in groups], "cells": count}
            for groups, count in found.partitions.most_common()
        ],
        "success": {"im": float(im.mean()), "sap": float(sap.mean())},
        "success_by_cell": {"im": im.mean(axis=2).tolist(), "sap": sap.mean(axis=2).tolist()},
        "scores": _scores(found),
    }
