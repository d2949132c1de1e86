"""Published results, computed again, with the printed numbers beside ours.

To add one: a file with a subclass of `Reproduction`, and a line in `RESULTS`.
"""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from pathlib import Path
from time import perf_counter

from unweave.errors import UsageError, unknown
from unweave.reproduce.frame import Findings, Reproduction, Row, Watch
from unweave.reproduce.save import Outcome, refuse_folder, save

__all__ = ["RESULTS", "Findings", "Outcome", "Reproduction", "Row", "find", "reproduce"]

RESULTS = {
    "linear-gaussian": "unweave.reproduce.linear_gaussian:LinearGaussian",
    "impossibility": "unweave.reproduce.impossibility:Impossibility",
    "guardians": "unweave.reproduce.guardians:Guardians",
    "geomancer": "unweave.reproduce.geomancer:Geomancer",
}
"""Module and class of each result, imported when it is asked for."""


def find(name: str) -> type[Reproduction]:
    """Return the result called `name`."""
    if name not in RESULTS:
        raise unknown("published result", name, RESULTS)
    module, kind = RESULTS[name].split(":")
    return getattr(import_module(module), kind)


def reproduce(
    name: str,
    *,
    preset: str = "small",
    seed: int = 0,
    out: str | PathLike[str] | None = None,
    watch: Watch | None = None,
) -> Outcome:
    """Reproduce the published result called `name`.

    `preset` says how much of it: "smoke" (seconds), "small" or "paper" (as published). The same seed gives the same
    numbers. With `out`, a folder, the outcome is saved there when all of it is known: `result.json`, `result.md`,
    a PNG for each figure, and tables.
    """
    kind = find(name)
    if preset not in kind.presets:
        raise unknown("preset", preset, kind.presets)
    if seed < 0:
        raise UsageError(f"the seed must be 0 or more, not {seed}")
    folder = None if out is None else Path(out)
    if folder:
        refuse_folder(folder, name, preset, seed)
    start = perf_counter()
    findings = kind().run(kind.presets[preset], seed=seed, watch=watch or (lambda what, done, total: None))
    outcome = Outcome.of(name, kind, preset, seed, findings, seconds=perf_counter() - start)
    if folder:
        save(outcome, folder)
    return outcome
