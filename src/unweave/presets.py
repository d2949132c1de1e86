"""Published settings by name: network, optimiser and a method's fields as in a paper.

Options that the user gives override a preset. A run records the settings and not the preset's name, so its meaning
never changes.

Notes
-----
To add one, add an entry to `PRESETS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from unweave.data import Dataset, Labels, load
from unweave.errors import UsageError, unknown
from unweave.methods import METHODS, Schedule, method_of

Settings = Mapping[str, Any]
"""Options by name; a value that is a function is called with the data set."""


@dataclass(frozen=True)
class Preset:
    """Settings, their source, and the methods that they are for."""

    about: str
    options: Settings
    """Options of `unweave.train`."""
    methods: Mapping[str, Settings]
    """The fields of every method that the settings are for, and its options where they differ."""


def preset(name: str, method: str, data: Dataset | str | None = None, **given: Any) -> dict[str, Any]:
    """Return the arguments of `unweave.train` for published settings of a method.

    Parameters
    ----------
    name
        A name in `PRESETS`.
    method
        A name in `unweave.methods.METHODS`.
    data
        A data set, or its name. Without it, settings that depend on the data are left out.
    **given
        Fields of the method and options of `unweave.train`, which override the preset.

    Returns
    -------
    dict
        The arguments, including the method.

    Examples
    --------
    >>> found = preset("dlib", "beta-vae", "shapes2d", beta=8, seed=1)
    >>> found["method"].beta, found["lr"], found["seed"]
    (8, 0.0001, 1)
    """
    found = _found(name, method)
    settings = {"data": data, **found.options, **found.methods[method], **given}
    if asked := [key for key, value in settings.items() if callable(value)]:
        settings["data"] = data = load(data) if isinstance(data, str) else data
        for key in asked:
            value = settings.pop(key)
            settings |= {} if data is None else {key: value(data)}
    kind = METHODS[method]
    own = {spec.name: settings.pop(spec.name) for spec in fields(kind) if spec.name in settings}
    return {"method": kind(**own), **settings}


def presets_for(method: str) -> dict[str, Preset]:
    """Return the presets for a method.

    Parameters
    ----------
    method
        A name in `unweave.methods.METHODS`.

    Returns
    -------
    dict
        The presets by name.

    Examples
    --------
    >>> list(presets_for("slow-vae"))
    ['slow-vae']
    """
    return {name: found for name, found in PRESETS.items() if method in found.methods}


def _found(name: str, method: str) -> Preset:
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    method_of(method)  # raises for an unknown one
    found = PRESETS[name]
    if method not in found.methods:
        others = ", ".join(presets_for(method)) or "none"
        raise UsageError(
            f"the preset {name} is for {', '.join(found.methods)}, not for {method} (presets of {method}: {others})"
        )
    return found


def twice_factors(data: Dataset) -> int:
    """Return twice the number of factors that vary."""
    varying = sum(size > 1 for size in data.factors.sizes)
    if not varying:
        raise UsageError(f"the preset uses twice as many latents as factors, but '{data.name}' has none; give latents")
    return 2 * varying


def clip_per_pixel(data: Dataset) -> float:
    """Return the equivalent, for a loss summed over pixels, of a clip of 1 for a loss averaged over pixels."""
    return float(math.prod(data.shape))


def blurred_squares(data: Dataset) -> str:
    """Return the loss of figure 5.7 of the thesis: mse, on xysquares with a box blur."""
    return "mse-box:radius=31" if data.name == "xysquares" else "mse"


def tuned(usual: float, mpi3d: float) -> Callable[[Dataset], float]:
    """Return a weight that the authors tuned for each data set: that of 3D Shapes, or of MPI3D."""
    return lambda data: mpi3d if data.name.startswith("mpi3d") else usual


def without_order(data: Dataset) -> str:
    """Return the factors without an order, which never change within the pairs of [Klindt2021]_."""
    return ",".join(name for name in data.factors.names if name in UNORDERED)


def _thesis(about: str, methods: Mapping[str, Settings], **options: Any) -> Preset:
    """Return the settings of an experiment in [Michlo2022]_: those of appendix A.3, and those of its table."""
    common = {"net": "disent", "latents": 25, "batch": 256, "lr": 1e-3, "standardise": True, "loss": "mse"}
    return Preset(f"Michlo 2022, section {about}", {**common, **options}, methods)


def _single_and_paired(beta: float) -> dict[str, Settings]:
    """Return the fields of the two methods that most of the thesis' experiments compare."""
    settings = {"beta": beta, "normalise_beta": True}
    return {"beta-vae": settings, "ada-gvae": {**settings, "rule": "dlib"}}


TRIPLETS = {"margin": 10.0, "scale": 1.0, "normalise_scale": True, "norm": "l1", "soft_margin": False}
TRIPLET_VAE = {**TRIPLETS, "beta": 0.01, "normalise_beta": True}
ADAPTIVE = {**TRIPLET_VAE, "omega": Schedule(1.0, 0.5, share=1.0), "eta": 0.5, "difference": "absolute"}

UNORDERED = ("shape", "category", "instance", "object")
"""Factors without an order: of dSprites, 3D Shapes and MPI3D, of SmallNORB, and of Cars3D."""
STUDY = {"net": "dlib", "latents": 10, "batch": 64, "lr": 1e-4, "steps": 300_000, "loss": "bce"}

PRESETS: dict[str, Preset] = {
    "dlib": Preset(
        "Locatello et al. 2019: the large study by disentanglement_lib",
        STUDY,
        {
            "vae": {},
            "beta-vae": {"beta": 4.0},
            "annealed-vae": {"gamma": 1000.0, "capacity": Schedule(0.0, 25.0, 100_000)},
            # In the library both optimisers advance the step counter: 300,000 steps are 150,000 updates of the model.
            "factor-vae": {"gamma": 30.0, "same_batch": True, "adversary_lr": 1e-4, "steps": 150_000},
            "dip-vae": {"kind": "I", "lambda_od": 10.0, "lambda_d": 100.0},
            "beta-tcvae": {"beta": 6.0},
        },
    ),
    "dlib-labels": Preset(
        "Locatello et al. 2020: a few labels by disentanglement_lib",
        # The library sums over the batch of 64, so its weight of 4 corresponds to 256.
        {**STUDY, "labels": Labels(count=1000, weight=256.0, term="cross-entropy")},
        {
            "beta-vae": {"beta": 4.0},
            "factor-vae": {"gamma": 30.0, "same_batch": True, "adversary_lr": 1e-4, "steps": 150_000},
            "dip-vae": {"kind": "I", "lambda_od": 10.0, "lambda_d": 100.0},
            "beta-tcvae": {"beta": 6.0},
        },
    ),
    "slow-vae": Preset(
        "Klindt et al. 2021: pairs with small steps",
        {"net": "conv", "latents": 10, "batch": 32, "lr": 1e-4, "steps": 300_000, "loss": "bce"},
        {
            "slow-vae": {
                "beta": 1.0,
                "gamma": 10.0,
                "rate": 6.0,
                "double_cross_entropy": True,
                "rule": "laplace",
                "step_rate": 1.0,
                "always_shared": without_order,
            }
        },
    ),
    "hfs": Preset(
        "Roth et al. 2023: factorised support, on a VAE without its KL term",
        {"net": "dlib", "latents": 10, "batch": 64, "lr": 1e-4, "steps": 300_000, "loss": "bce"},
        {"hfs": {"beta": 0.0, "gamma": 300.0}},
    ),
    "hfs-tcvae": Preset(
        "Roth et al. 2023: factorised support on a beta-TCVAE of beta 6",
        {"net": "dlib", "latents": 10, "batch": 64, "lr": 1e-4, "steps": 300_000, "loss": "bce"},
        {"hfs": {"beta": 1.0, "tc": 5.0, "gamma": 1.0}},
    ),
    "joint-vae": Preset(
        "Dupont 2018: Gaussian and categorical latents, on dSprites",
        # 30 epochs of dSprites, whose 737,280 images are 11,520 batches.
        {"net": "conv", "latents": 7, "batch": 64, "lr": 5e-4, "steps": 345_600, "loss": "bce"},
        {
            "joint-vae": {
                "gamma": 150.0,
                "categorical_gamma": 150.0,
                "capacity": Schedule(0.0, 40.0, 300_000),
                "categorical_capacity": Schedule(0.0, 1.1, 300_000),
                "categorical": 1,
                "categories": 3,
                "temperature": 0.67,
            }
        },
    ),
    "factor-qvae": Preset(
        "Baykal et al. 2024: scalars of one codebook, with another net",
        # The authors halve a batch of 512: one half for the model, one for the adversary. Both optimisers advance the
        # step counter: 100,000 steps are 50,000 updates of the model.
        {"net": "conv", "latents": twice_factors, "batch": 256, "lr": 1e-3, "steps": 50_000, "loss": "mse"},
        {
            "factor-qvae": {
                "gamma": tuned(1e-4, mpi3d=1e-6),
                "beta": tuned(1e-3, mpi3d=5e-5),
                "values": 64,
                "temperature": 1.0,
                "adversary_lr": 1e-3,
            }
        },
    ),
    "thesis-3.3.3": _thesis("3.3.3: an adversarial data set", _single_and_paired(0.00316), steps=115_200, latents=9),
    "thesis-3.3.4": _thesis("3.3.4: levels of overlap", _single_and_paired(0.001), steps=57_600, latents=9),
    "thesis-3.4.1": _thesis(
        "3.4.1: an augmented loss", _single_and_paired(0.0316), steps=57_600, loss="mse-box:radius=31"
    ),
    "thesis-4.3": _thesis("4.3: perceived distances", _single_and_paired(0.00316), steps=57_600),
    "thesis-5.3": _thesis("5.3: triplet autoencoders", {"beta-tvae": {**TRIPLET_VAE, "by": "distance"}}, steps=57_600),
    "thesis-5.4": _thesis(
        "5.4: axis-aligned metric learning", {"ada-tvae": {**ADAPTIVE, "by": "distance-scaled"}}, steps=86_400
    ),
    "thesis-5.5": _thesis(
        "5.5: triplets without labels",
        {"ada-tvae-unsupervised": {**ADAPTIVE, "triplets": 512}},
        steps=86_400,
        loss=blurred_squares,
    ),
    "thesis-6.1": _thesis(
        "6.1: learning to disentangle", _single_and_paired(0.01), steps=57_600, loss="mse-box:radius=31"
    ),
    "thesis-7.2": _thesis("7.2: the choice of factors", _single_and_paired(0.01), steps=57_600, latents=9),
    "thesis-7.3": _thesis("7.3: random external factors", _single_and_paired(0.01), steps=57_600, latents=9),
    "qlae": Preset(
        "Hsu et al. 2023: latent quantisation",
        {
            "net": "qlae",
            "latents": twice_factors,
            "batch": 128,
            "lr": 1e-3,
            "steps": 200_000,
            "weight_decay": tuned(0.1, mpi3d=0.001),
            "clip": clip_per_pixel,
            "loss": "bce",
        },
        {"qlae": {"quantisation": 0.01, "commitment": 0.01}},
    ),
    "tripod": Preset(
        "Hsu et al. 2024: three inductive biases",
        {
            "net": "tripod",
            "latents": twice_factors,
            "batch": 64,
            "lr": 2e-4,
            "steps": 250_000,
            "clip": clip_per_pixel,
            "loss": "bce",
        },
        {
            "tripod": {
                "multi_information": tuned(1e-4, mpi3d=1e-8),
                "hessian": tuned(1e-2, mpi3d=1e-4),
            }
        },
    ),
}
