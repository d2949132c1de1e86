"""Plain text for people: aligned tables, sizes in memory, JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from inspect import getdoc
from pathlib import PurePath


def table(rows: Sequence[Mapping[str, str]], numbers: Sequence[str] = ()) -> str:
    """Return rows as aligned columns below a header; the columns named in `numbers` are right-aligned.

    >>> print(table([{"metric": "mig", "value": "0.50"}, {"metric": "sap", "value": "12.25"}], numbers=["value"]))
    metric  value
    mig      0.50
    sap     12.25
    """
    heads = list(rows[0]) if rows else []
    lines = [{head: head for head in heads}, *rows]
    widths = {head: max(len(line[head]) for line in lines) for head in heads}
    return "\n".join(
        "  ".join(
            line[head].rjust(widths[head]) if head in numbers else line[head].ljust(widths[head]) for head in heads
        ).rstrip()
        for line in lines
    )


def facts(values: Mapping[str, str]) -> str:
    """Return names and values, one pair per line, with the values aligned.

    >>> print(facts({"images": "75,000", "shape": "64 × 64 × 3"}))
    images  75,000
    shape   64 × 64 × 3
    """
    width = max(map(len, values))
    return "\n".join(f"{name.ljust(width)}  {value}" for name, value in values.items())


def pairs(values: Mapping[str, object]) -> str:
    """Return names and values in one line.

    >>> pairs({"spacing": 8, "size": 64})
    'spacing=8, size=64'
    """
    return ", ".join(f"{name}={value}" for name, value in values.items())


def data_name(description: Mapping[str, object]) -> str:
    """Return a data set as written on the command line: name:option=value,…

    >>> data_name({"name": "objects3d", "size": 32, "smooth": True, "light": "sphere"})
    'objects3d:size=32,smooth=true,light=sphere'
    """
    options = {name: value for name, value in description.items() if name != "name"}
    texts = (f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in options.items())
    return ":".join(filter(None, [str(description["name"]), ",".join(texts)]))


def data_title(description: Mapping[str, object]) -> str:
    """Return the name of a data set to show: its own, or that of the file or folder that it was read from.

    >>> data_title({"name": "shapes2d", "size": 32}), data_title({"name": "folder", "path": "/home/ada/faces"})
    ('shapes2d', 'faces')
    """
    path = description.get("path")
    return PurePath(path).name if isinstance(path, str) and path else str(description["name"])


def data_options(description: Mapping[str, object]) -> dict[str, object]:
    """Return the options of a data set to show: without the digest, and without size 0, which changes nothing.

    >>> data_options({"name": "folder", "path": "faces", "size": 0, "digest": "1f2e"})
    {'path': 'faces'}
    """
    silent = {"name": description["name"], "digest": description.get("digest"), "size": 0}
    return {name: value for name, value in description.items() if name not in silent or value != silent[name]}


def first_line(thing: object) -> str:
    """Return the first line of a docstring, without references to the literature and backticks.

    >>> def mig(): "Gap of `information` [Chen2018]_, eq. 3."
    >>> first_line(mig)
    'Gap of information.'
    """
    line = (getdoc(thing) or "").partition("\n")[0]
    return re.sub(r"\s*\[\w+\]_(, (eq\.|section|table) [\d.]*\d)?|`", "", line)


def memory(count: int) -> str:
    """Return a number of bytes as readable text.

    >>> memory(512), memory(4_400_000)
    ('512 bytes', '4.4 MB')
    """
    for size, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def to_json(value: object) -> str:
    """Return `value` as readable JSON; JSON has no NaN and no infinity, so they become null.

    >>> print(to_json({"value": float("nan")}))
    {
      "value": null
    }
    """
    return json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
