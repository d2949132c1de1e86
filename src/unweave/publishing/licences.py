"""The names of licences that the Hugging Face hub knows."""

from __future__ import annotations

from unweave.errors import UsageError, nearest

LICENCES = (
    # The newest version of a licence comes first: it is what `cc-by`, say, probably means.
    *("apache-2.0", "mit", "bsd-3-clause", "bsd-2-clause", "bsd-3-clause-clear", "bsd", "isc", "zlib", "unlicense"),
    *("cc-by-4.0", "cc-by-3.0", "cc-by-2.5", "cc-by-2.0", "cc-by-sa-4.0", "cc-by-sa-3.0", "cc0-1.0"),
    *("cc-by-nc-4.0", "cc-by-nc-3.0", "cc-by-nc-2.0", "cc-by-nc-sa-4.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-2.0"),
    *("cc-by-nd-4.0", "cc-by-nc-nd-4.0", "cc-by-nc-nd-3.0", "cc"),
    *("gpl-3.0", "gpl-2.0", "gpl", "lgpl-3.0", "lgpl-2.1", "lgpl", "lgpl-lr", "agpl-3.0", "gfdl", "mpl-2.0"),
    *("openrail", "openrail++", "bigscience-openrail-m", "creativeml-openrail-m", "bigcode-openrail-m"),
    *("bigscience-bloom-rail-1.0", "openmdw-1.1", "openmdw-1.0"),
    *("afl-3.0", "artistic-2.0", "bsl-1.0", "c-uda", "cdla-permissive-2.0", "cdla-permissive-1.0", "cdla-sharing-1.0"),
    *("ecl-2.0", "epl-2.0", "epl-1.0", "etalab-2.0", "eupl-1.2", "eupl-1.1", "lppl-1.3c", "ms-pl", "ncsa", "odbl"),
    *("odc-by", "ofl-1.1", "osl-3.0", "pddl", "postgresql", "wtfpl", "fair-noncommercial-research-license"),
    *("apple-amlr", "apple-ascl", "deepfloyd-if-license", "gemma", "grok2-community", "h-research", "intel-research"),
    *("llama4", "llama3.3", "llama3.2", "llama3.1", "llama3", "llama2", "unknown", "other"),
)
PAGE = "https://huggingface.co/docs/hub/repositories-licenses"
"""The hub's own list."""


def check_licence(name: str) -> None:
    """Raise a `UsageError` if the hub has no licence of this name."""
    if name in LICENCES:
        return
    near = nearest(name, LICENCES)
    hint = f"did you mean '{near}'? The others" if near else "its names"
    raise UsageError(f"the hub has no licence {name!r}; {hint} are on {PAGE}; give 'other' for one that is not there")
