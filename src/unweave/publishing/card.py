"""The model card of a published run: README.md with a header in YAML, as the Hugging Face hub reads it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from unweave.again import train_command
from unweave.data.identity import holds_arrays
from unweave.methods import method_name
from unweave.nets.own import OWN
from unweave.origins import Origin
from unweave.report.scores import Score, apart, is_score
from unweave.report.style import decimals
from unweave.runs import Run
from unweave.text import data_options, data_title, first_line, pairs

if TYPE_CHECKING:
    import polars

PARTS = ("method", "net", "training", "labels", "jacobian")
"""The parts of a configuration beside its data."""
TAGS = ("disentanglement", "representation-learning")
READING = (
    "An interval (95 %) is over images: would another draw of this many images change the score? It does not cover "
    "other training seeds. Floor: the score with the factors shuffled. Ceiling: the score of the factors as codes."
)
WIDTH = 100
"""Of a line of prose."""


def model_card(
    run: Run,
    config: Mapping[str, Any],
    name: str,
    picture: str | None,
    scores: polars.DataFrame | None,
    *,
    repo: str | None = None,
    license: str | None = None,
) -> str:
    """Return the card of a run in a folder called `name`, with the configuration that is published.

    `picture` is the file of its traversals, if there is one; `scores` are as of `Run.scores`.
    """
    parts = [
        _header(run, license),
        f"# {name}",
        _about(run),
        "## Load it",
        _loading(run, config.get("origins", {}), name, repo),
        "## Settings",
        _settings(run, config),
        "## Scores",
        _scores(run, scores),
        "## Traversals",
        _traversals(run, picture),
    ]
    return "\n\n".join(parts) + "\n"


def _header(run: Run, license: str | None) -> str:
    """Return the YAML header. A string in JSON is one in YAML."""
    method = method_name(run.settings.method)
    values: dict[str, Any] = {"library_name": "unweave"}
    if license:
        values["license"] = license
    values |= {"pipeline_tag": "feature-extraction", "tags": [*TAGS, method]}
    values["datasets"] = [data_title(run.settings.data)]
    lines = []
    for key, value in values.items():
        items = [f"- {json.dumps(item, ensure_ascii=False)}" for item in value] if isinstance(value, list) else []
        lines += [f"{key}:", *items] if items else [f"{key}: {json.dumps(value, ensure_ascii=False)}"]
    return "\n".join(["---", *lines, "---"])


def _about(run: Run) -> str:
    settings = run.settings
    kind, data = type(settings.method), data_title(settings.data)
    shape = run.model.shape
    inputs = f"images of {' × '.join(map(str, shape))}" if len(shape) == 3 else f"vectors of {shape[0]} numbers"
    decoded = "" if run.has_decoder else " The method has no decoder: it gives codes, and draws no images."
    steps = f"{run.step:,} steps"
    if run.state != "finished":
        steps = f"{run.step:,} of {settings.training.steps:,} steps; **the run is {run.state}**"
    about = (
        f"A {method_name(settings.method)} on {data}, trained by unweave for {steps}. It encodes {inputs} "
        f"as {settings.net.latents} latents.{decoded}"
    )
    return f"{_prose(about)}\n\n{first_line(kind)}"


def _loading(run: Run, origins: Mapping[str, Origin], name: str, repo: str | None) -> str:
    """Return the lines that load it, and what else they need."""
    imports, folder = ["import unweave"], json.dumps(name, ensure_ascii=False)
    if repo:
        imports += ["from huggingface_hub import snapshot_download"]
        folder = f'snapshot_download("{repo}")'
    plugins = sorted({str(origin["file"]) for origin in origins.values() if "file" in origin})
    loaded = [f'unweave.plugins.load(f"{{folder}}/{plugin}")' for plugin in plugins]
    place = [f"folder = {folder}", *loaded] if loaded else []
    modules = ", net=(encoder, decoder)" if run.settings.net.name == OWN else ""
    opened = f"run = unweave.Run.open({'folder' if loaded else folder}{modules})"
    lines = [*imports, *place, opened, f"codes = run.encode(inputs)  # {_shapes(run)}"]
    needed = ["`pip install 'unweave[train,hub]'`" if repo else "`pip install 'unweave[train]'`", *_needed(run)]
    return "```python\n" + "\n".join(lines) + "\n```\n\n" + _prose(f"It needs {'; '.join(needed)}.")


def _shapes(run: Run) -> str:
    """Return what goes into `encode`, and what comes out."""
    kind = "uint8 images" if len(run.model.shape) == 3 else "vectors"
    return f"{kind} (n, {', '.join(map(str, run.model.shape))}) to codes (n, {run.settings.net.latents})"


def _needed(run: Run) -> list[str]:
    """Return what the folder does not hold, in words."""
    needed = []
    if run.settings.net.name == OWN:
        needed.append("the user's encoder and decoder, new ones of the same layers")
    for origin in run.origins.values():
        if "package" in origin:
            needed.append(f"the package {origin['package']} {origin['version']}, which defines {origin['name']}")
        elif "file" not in origin and origin.get("name"):
            needed.append(f"{origin['name']}, which was defined in a Python session")
    if run.settings.data.get("path") or holds_arrays(run.settings.data):
        needed.append("to score it again, its data set: `Run.open(folder, data=PATH)`")
    return list(dict.fromkeys(needed))


def _settings(run: Run, config: Mapping[str, Any]) -> str:
    """Return a table of the settings and of what identifies the run, and the command that trains it again."""
    data = data_options(config["data"])
    groups = {"data": {"name": config["data"]["name"], **data}, **{part: config.get(part) for part in PARTS}}
    rows = [(part, _cell(pairs(group))) for part, group in groups.items() if group]
    rows += [("run", f"`{run.id}`"), ("weights", f"`{run.weights}`, step {run.step:,}")]
    status = run.status
    place = {key: status[key] for key in ("device", "threads") if key in status}
    rows += [("trained on", _cell(pairs(place)))] if place else []
    versions = status.get("versions")
    if isinstance(versions, Mapping):
        rows.append(("versions", _cell(pairs(versions))))
    files = "path" in config["data"] or holds_arrays(config["data"]) or "path=" in run.settings.method.loss
    if files or run.origins or run.settings.net.name == OWN:
        return _table(("", ""), rows)
    again = train_command(run.settings, Path("runs/again"))
    return f"{_table(('', ''), rows)}\n\nTo train it again:\n\n    {again}"


def _scores(run: Run, table: polars.DataFrame | None) -> str:
    """Return the table of the scores that are of these weights."""
    rows: Sequence[Score] = [] if table is None else [row for row in table.to_dicts() if is_score(row)]
    shown = [row for row in rows if row["current"]]
    if not shown:
        older = "There are scores of earlier weights only" if rows else "None yet"
        return _prose(f"{older}. This scores it: `unweave evaluate {shlex.quote(run.path.name)}`")
    heads = ("metric", "value", "95 % interval", "floor", "ceiling", "rows")
    cells = [
        (
            _cell(" ".join(filter(None, [str(row["metric"]), apart(row, shown)]))),
            _number(row, "value"),
            f"{_number(row, 'low')} … {_number(row, 'high')}" if row["low"] is not None else "–",
            _number(row, "floor"),
            _number(row, "ceiling"),
            _rows(row),
        )
        for row in shown
    ]
    older = "" if len(rows) == len(shown) else " `scores.parquet` also has scores of earlier weights."
    of = f"These are scores of the weights `{run.weights}` at step {run.step:,}."
    return f"{_table(heads, cells)}\n\n{_prose(f'{of} {READING}{older}')}"


def _number(row: Score, column: str) -> str:
    value = row[column]
    return decimals(float(value)) if value is not None and isfinite(value) else "–"


def _rows(row: Score) -> str:
    """Return the number of rows that a score was computed on; a dash for a metric that draws its own samples."""
    rows = json.loads(str(row.get("options") or "{}")).get("rows")
    return f"{rows:,}" if isinstance(rows, int) else "–"


def _traversals(run: Run, picture: str | None) -> str:
    if not run.has_decoder:
        return "None: the method has no decoder."
    if picture is None:
        return "None: the data set was missing when this page was written."
    return f"![One row for each latent]({picture})\n\nEach row changes one latent; the most informative comes first."


def _prose(text: str) -> str:
    """Return text in lines; words stay whole."""
    return fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    """Return text that a cell of a table can hold."""
    return text.replace("|", "\\|").replace("\n", " ")
