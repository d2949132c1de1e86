"""The ceilings of drawn data sets with their default options, over all their images.

    python benchmarks/ceilings.py            print those that unweave ships
    python benchmarks/ceilings.py --write    compute those that are missing, and write src/unweave/data/ceilings.json

An entry is found by a hash of the set's description and of some of its images. A set that is drawn differently has no
entry until this is run again. It takes some minutes on one thread.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from unweave.data import DATASETS, load
from unweave.data.ceilings import SHIPPED, Ceilings, ceilings, fingerprint, shipped_ceilings
from unweave.data.files import source
from unweave.files import write_json


def drawn() -> list[str]:
    """Return the names of the sets that need no files."""
    return [name for name in DATASETS if not source(name)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="compute those that are missing, and write the file")
    if not parser.parse_args().write:
        return print(*(f"{key} {_told(found)}" for key, found in shipped_ceilings().items()), sep="\n")
    shipped, entries = shipped_ceilings(), {}
    for name in drawn():
        data = load(name)
        key = fingerprint(data)
        if (found := shipped.get(key) or ceilings(data)) is not None:
            entries[key] = {"description": data.description, **asdict(found)}
            print(name, _told(found), flush=True)
            write_json(SHIPPED, entries)  # after each set, so that nothing is lost on an interrupt


def _told(found: Ceilings) -> str:
    return f"{found.distinct:,} of {found.images:,} images are distinct"


if __name__ == "__main__":
    main()
