"""A cold install into an empty environment: megabytes, seconds, CPU seconds, and the scores of README's example.

    python benchmarks/install.py                                 # this Python, without torch
    python benchmarks/install.py --extras train                  # with torch
    python benchmarks/install.py --python python3.12 python3.13  # other versions
    python benchmarks/install.py --wheel dist/unweave-0.1.0-py3-none-any.whl

pip neither reads nor writes its cache, and no compiler is available to it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
NO_COMPILER = {"CC": "/bin/false", "CXX": "/bin/false"}
CONSTRAINTS = ("--constraint", str(ROOT / "constraints.txt"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", nargs="+", default=[sys.executable])
    parser.add_argument("--extras", default="", help="such as train,web")
    parser.add_argument("--wheel", default=str(ROOT), help="install this wheel instead of the sources")
    parser.add_argument("--newest", action="store_true", help="the newest versions, instead of constraints.txt")
    options = parser.parse_args()
    wanted = f"{options.wheel}[{options.extras}]" if options.extras else options.wheel
    example = readme_example()
    for python in options.python:
        measure(python, wanted, () if options.newest else CONSTRAINTS, example)


def measure(python: str, wanted: str, constraints: Sequence[str], example: str) -> None:
    with TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        inside = str(Path(folder, "bin", "python"))
        empty = megabytes(Path(folder))
        start, worked = perf_counter(), processor_seconds()
        install = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
        subprocess.run([*install, *constraints, wanted], env=os.environ | NO_COMPILER, check=True)
        seconds, worked = perf_counter() - start, processor_seconds() - worked
        version = output([inside, "--version"], folder)
        packages = len(output([inside, "-m", "pip", "list", "--format", "freeze"], folder).splitlines())
        size = megabytes(Path(folder)) - empty
        print(f"{version}: {size:.0f} MB, {seconds:.0f} s ({worked:.0f} s of CPU time), {packages} packages with pip")
        print(output([inside, "-c", example], folder), flush=True)


def readme_example() -> str:
    """Return the last block of Python in README.md, which scores codes without a model."""
    text = (ROOT / "README.md").read_text()
    return "import unweave\n" + text.rpartition("```python\n")[2].partition("```")[0]


def output(command: Sequence[str], folder: str) -> str:
    """Return the output of a command, run in a folder from which Python does not see the sources."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def processor_seconds() -> float:
    """Return the CPU time of the processes that this one has started so far."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def megabytes(folder: Path) -> float:
    """Return the size of the files below a folder, in units of 10⁶ bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6


if __name__ == "__main__":
    main()
