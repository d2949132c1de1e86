"""The outcome of a reproduction: as a table, as JSON, as Markdown, and as files."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any

from unweave.errors import UsageError
from unweave.files import write_atomically
from unweave.reproduce.frame import Findings, Reproduction, Row
from unweave.text import facts, table, to_json

RECORD = "result.json"
PAGE = "result.md"
PACKAGES = ("unweave", "numpy", "scipy", "scikit-learn", "torch")
"""Packages whose versions can change a number."""
NUMBERS = ("published", "ours", "interval", "difference")


@dataclass(frozen=True)
class Outcome:
    """Findings, and everything needed to compute them again."""

    name: str
    summary: str
    source: str
    command: str
    preset: str
    settings: Any
    seed: int
    versions: dict[str, str]
    finished: str
    """Time, in UTC."""
    seconds: float
    findings: Findings

    @classmethod
    def of(
        cls,
        name: str,
        kind: type[Reproduction],
        preset: str,
        seed: int,
        findings: Findings,
        seconds: float,
        setting: str | None = None,
    ) -> Outcome:
        """Return the findings of a result with the machine, settings and time."""
        chosen = f" --setting {setting}" if setting else ""
        return cls(
            name=name,
            summary=kind.summary,
            source=re.sub(r"\]_", "]", kind.source),
            command=f"unweave reproduce {name}{chosen} --preset {preset} --seed {seed}",
            preset=preset,
            settings=_plain(kind.presets[preset]) | ({"setting": setting} if setting else {}),
            seed=seed,
            versions=versions(),
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(seconds, 3),
            findings=findings,
        )

    def record(self) -> dict[str, Any]:
        """Return the outcome as plain JSON values; figures are named as files."""
        told = {name: value for name, value in vars(self).items() if name != "findings"}
        rows = [_numbers(row) for row in self.findings.rows]
        return told | {
            "rows": rows,
            "notes": list(self.findings.notes),
            "figures": list(map(_file, self.findings.figures)),
            "tables": list(self.findings.tables),
        }

    def table(self) -> str:
        """Return the rows as text: published numbers and ours."""
        return table([_texts(row) for row in self.findings.rows], NUMBERS)

    def page(self) -> str:
        """Return the outcome as Markdown."""
        told = {"command": self.command, "finished": f"{self.finished}, after {self.seconds:,.1f} s"}
        parts = [
            f"# {self.name}",
            self.summary,
            f"Published in {self.source}.",
            _markdown_table([_texts(row) for row in self.findings.rows]),
            "The 95 % interval belongs to our number; the difference is our number minus the published one.",
            "\n".join(f"- {note}" for note in self.findings.notes),
            *(f"![{stem}]({_file(stem)})" for stem in self.findings.figures),
            ", ".join(f"[{name}]({name})" for name in self.findings.tables),
            f"```\n{facts(told | self.versions)}\n```",
        ]
        return "\n\n".join(filter(None, parts)) + "\n"


def versions() -> dict[str, str]:
    """Return the versions of the installed packages that compute a result; not every result needs torch."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def refuse_folder(folder: Path, name: str, preset: str, seed: int, setting: str | None = None) -> None:
    """Raise a `UsageError`, before any work, if the folder cannot be written or holds another result."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not nearest.is_dir():
        raise UsageError(f"'{nearest}' is a file; a result needs a folder")
    if not os.access(nearest, os.W_OK):
        raise UsageError(f"the folder '{nearest}' cannot be written; choose another one")
    try:
        held = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        other = {key: held[key] for key in ("name", "preset", "seed")}
        other["setting"] = held["settings"].get("setting")
    except FileNotFoundError:
        return
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"'{folder / RECORD}' is not the record of a result; choose another folder") from None
    if other != {"name": name, "preset": preset, "seed": seed, "setting": setting}:
        told = f"{other['name']}, preset {other['preset']}, seed {other['seed']}"
        told += f", setting {other['setting']}" if other["setting"] else ""
        raise UsageError(f"'{folder}' holds another result ({told}); choose another folder")


def save(outcome: Outcome, folder: Path) -> None:
    """Write figures, tables, page and record, each atomically; the record, which names them, comes last."""
    files = {_file(stem): _png(figure) for stem, figure in outcome.findings.figures.items()}
    files |= {name: text.encode() for name, text in outcome.findings.tables.items()}
    files[PAGE] = outcome.page().encode()
    files[RECORD] = f"{to_json(outcome.record())}\n".encode()
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_atomically(folder / name, content)


def _file(stem: str) -> str:
    return f"{stem}.png"


def _png(figure: Any) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=120, facecolor="white", metadata={"Software": None})
    return buffer.getvalue()


def _plain(settings: Any) -> Any:
    """Return settings of any type as plain JSON values."""
    values = asdict(settings) if is_dataclass(settings) and not isinstance(settings, type) else settings
    return json.loads(json.dumps(values, default=str))


def _numbers(row: Row) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in ("published", "ours", "low", "high", "difference")}
    told: dict[str, Any] = {name: None if value is None else float(value) for name, value in values.items()}
    if row.published_interval:
        told["published_interval"] = list(map(float, row.published_interval))
    return {"what": row.what} | told


def _texts(row: Row) -> dict[str, str]:
    bounded = isfinite(row.low) and isfinite(row.high)
    return {
        "result": row.what,
        "published": _number(row.published) + _within(row.published_interval),
        "ours": _number(row.ours),
        "interval": f"{_number(row.low)} … {_number(row.high)}" if bounded else "–",
        "difference": _number(row.difference),
    }


def _within(interval: tuple[float, float] | None) -> str:
    return f" ({_number(interval[0])} … {_number(interval[1])})" if interval else ""


def _number(value: float | None) -> str:
    """Return a number with three decimals, or three significant digits if it is small.

    >>> _number(-0.0454), _number(3e-16), _number(0.0), _number(None)
    ('−0.045', '3e−16', '0', '–')
    """
    if value is None or not isfinite(value):
        return "–"
    if value == 0 or 0.001 <= abs(value) < 1e6:
        return (f"{value:,.3f}" if value else "0").replace("-", "−")
    return f"{value:.3g}".replace("-", "−").replace("e−0", "e−")


def _markdown_table(rows: Sequence[dict[str, str]]) -> str:
    """Return rows as a Markdown table, with numbers right-aligned."""
    if not rows:
        return ""
    lines = [list(rows[0]), ["--:" if head in NUMBERS else "---" for head in rows[0]]]
    lines += [[text.replace("|", r"\|") for text in row.values()] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
