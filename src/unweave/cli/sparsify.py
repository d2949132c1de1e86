"""`unweave sparsify`: fit a sparse autoencoder to codes, and write the sparse codes."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, fields
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from tyro.conf import Positional, arg

from unweave.cli.arrays import read_codes_and_factors, read_optional
from unweave.cli.mistakes import writing
from unweave.cli.parsing import Flag, parse, refuse_below
from unweave.encoders.sparse.settings import SPARSE, SparseSettings
from unweave.errors import UsageError
from unweave.files import write_atomically
from unweave.progress import Bar
from unweave.text import facts, to_json

if TYPE_CHECKING:
    from unweave.encoders.sparse import SparseStatistics


@dataclass(frozen=True)
class Flags(SparseSettings):
    """What is fitted, and how."""

    lr: Annotated[float | None, arg(metavar="RATE", help_behavior_hint="(default: by the features)")] = None
    """Learning rate of Adam; by default 2e-4 (16384 / features)^½, at most 3e-3."""
    aux_k: Annotated[int | None, arg(metavar="K", help_behavior_hint="(default: half the columns)")] = None
    """Number of dead features per row that may explain its error; 0: none."""


@dataclass(frozen=True)
class Sparsify:
    """Fit a sparse autoencoder to codes, and write the sparse codes: many features, few of them active in each row.

    The same command continues after an interruption, and does nothing if all is done.
    """

    codes: Annotated[Positional[Path], arg(metavar="CODES")]
    """Codes (n, d): a .npz file with codes and perhaps factors and indices; or a .npy, .csv or .parquet file."""
    out: Annotated[Path, arg(metavar="FOLDER")]
    """The folder to write: weights, log, statistics, and sparse.npz with the sparse codes."""
    sparse: Flags = field(default_factory=Flags)
    overwrite: Flag = False
    """Remove the sparse autoencoder in the folder, and start again."""
    threads: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: torch's choice)")] = None
    """Number of CPU threads."""
    checkpoint_every: int = 1000
    """Steps between two checkpoints."""
    log_every: int = 50
    """Steps between two rows of the log."""
    json: Flag = False
    """Print one JSON object instead of text."""

    def __post_init__(self) -> None:
        refuse_below(1, threads=self.threads, checkpoint_every=self.checkpoint_every, log_every=self.log_every)


def sparsify(words: list[str]) -> None:
    """Run `unweave sparsify`."""
    options = parse(Sparsify, words, "sparsify")
    codes, factors = read_codes_and_factors(options.codes)
    rest = {"factors": factors, "indices": read_optional(options.codes, "indices")}
    rest = {name: _savable(array) for name, array in rest.items() if array is not None}
    for name, array in rest.items():
        if len(array) != len(codes):
            counts = f"{len(codes):,} rows of codes but {len(array):,} of {name}"
            raise UsageError(f"'{options.codes}' has {counts}; write one row per sample in both")
    record = read_optional(options.codes, "record")
    rest = rest if record is None else {**rest, "record": _savable(record)}
    from unweave.encoders.sparse import fit_sparse

    settings = {item.name: getattr(options.sparse, item.name) for item in fields(SparseSettings)}
    with writing(options.out):
        with Bar("fitting", unit=" steps") as bar:
            found = fit_sparse(
                codes,
                out=options.out,
                overwrite=options.overwrite,
                threads=options.threads,
                checkpoint_every=options.checkpoint_every,
                log_every=options.log_every,
                on_progress=bar,
                **settings,
            )
        statistics = found.statistics(codes)
        _write(options.out / SPARSE, {"codes": found.encode(codes), **rest})
    if options.json:
        return print(to_json({"out": str(options.out), **statistics._asdict()}))
    print(_text(options, codes, statistics), f"next: {_following(options, 'factors' in rest)}", sep="\n\n")


def _savable(array: np.ndarray) -> np.ndarray:
    """Return an array that can be saved without pickle: mixed texts and numbers become texts."""
    return array.astype(str) if array.dtype == object else array


def _write(path: Path, arrays: dict[str, Any]) -> None:
    content = BytesIO()
    np.savez_compressed(content, **arrays)
    write_atomically(path, content.getvalue())


def _text(options: Sparsify, codes: np.ndarray, found: SparseStatistics) -> str:
    rows, width = codes.shape
    return facts(
        {
            "codes": f"{rows:,} rows of {width:,} columns, now {options.sparse.features:,} features",
            "active in a row": f"{found.l0:.2f} on average",
            "unexplained": f"{found.unexplained:.4f} of the variance",
            "dead": f"{found.dead:.1%} of the features are active in no row",
            "wrote": f"{options.out / SPARSE}, next to the autoencoder",
        }
    )


def _following(options: Sparsify, has_factors: bool) -> str:
    """Return what to try next: scores if there are factors, otherwise a look at the file."""
    path = str(options.out / SPARSE)
    if has_factors:
        return shlex.join(["unweave", "evaluate", "--codes", path, "--metrics", "overcomplete"])
    return f"python -c \"import numpy; print(numpy.load({path!r})['codes'].shape)\""
