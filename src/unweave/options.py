"""Names with options, as users write data sets, losses and nets: name:option=value,option=value."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from unweave.errors import UsageError


def split_options(text: str, lists: Collection[str] = ()) -> tuple[str, dict[str, str]]:
    """Return the name, and the text of every option; the options in `lists` may contain commas.

    >>> split_options("xysquares:spacing=4, size=32")
    ('xysquares', {'spacing': '4', 'size': '32'})
    >>> split_options("folder:factors=color,scale,size=64", lists=["factors"])
    ('folder', {'factors': 'color,scale', 'size': '64'})
    """
    name, _, written = text.partition(":")
    options: dict[str, str] = {}
    last = ""
    for part in filter(None, written.split(",")):
        option, equals, value = (word.strip() for word in part.partition("="))
        if not equals and last in lists:
            options[last] += f",{option}"
            continue
        if not equals:
            raise UsageError(f"options are written name:option=value,…, but '{part}' has no '='")
        if option in options:
            raise UsageError(f"the option {option} of {name} is given twice")
        options[option], last = value, option
    return name, options


def read_value(text: str) -> Any:
    """Return the JSON value of a text (a number, true or false), or the text itself.

    >>> read_value("4"), read_value("true"), read_value("lasso")
    (4, True, 'lasso')
    """
    try:
        return json.loads(text)
    except ValueError:
        return text
