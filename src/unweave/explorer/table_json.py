"""Write a table of many runs as JSON, fast: most columns are settings with few different values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

FEW = 4
"""Each value is formatted only once if a column has this many times more cells than values."""


def to_json(value: object) -> str:
    """Return a value as JSON; its numbers must be finite."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def table_json(table: Mapping[str, Any]) -> bytes:
    """Return a table as JSON: its `rows` are lists by column.

    >>> table_json({"total": 2, "rows": {"seed": [0, 0], "state": ["finished", None]}})
    b'{"total":2,"rows":{"seed":[0,0],"state":["finished",null]}}'
    """
    parts = [f"{to_json(name)}:{to_json(value)}" for name, value in table.items() if name != "rows"]
    columns = ",".join(f"{to_json(name)}:{_column(values)}" for name, values in table["rows"].items())
    return f'{{{",".join([*parts, ""])}"rows":{{{columns}}}}}'.encode()


def _column(values: Sequence[str | float | None]) -> str:
    distinct = set(values)
    if FEW * len(distinct) > len(values):
        return to_json(values)
    texts = {value: to_json(value) for value in distinct}
    return f"[{','.join(map(texts.__getitem__, values))}]"
