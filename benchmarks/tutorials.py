"""Walk a tutorial from an empty folder, exactly as written.

    python benchmarks/tutorials.py docs/tutorials/study.md             compare the output with the page
    python benchmarks/tutorials.py docs/tutorials/study.md --write     put the output into the page

What a page holds, from top to bottom:

- a block whose first line is a comment with a file's name (`# sweep.toml`) is that file;
- another block of Python is run, and a block of text right after it is what it prints; without one it prints nothing;
- in a block `console`, lines that begin with $ are commands, and those below a command are what it prints; a line of
  dots stands for any others.

Decimal numbers and percentages may differ a little, as they do between machines, whole numbers not at all, and times by
any amount.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

BLOCK = re.compile(r"^```(python|console|toml|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w-]+\.\w+)\n")
TIME = re.compile(r"[\d.,]+ ?(s|ms|min|minutes|seconds|steps/s|MB|GB|KB)\b")
NUMBER = re.compile(r"(?<![\w.])[-+−]?\d[\d,]*(?:\.\d+)?(?![\w])(?: %)?")
NEAR, SHARE, POINTS = 0.005, 0.1, 5.0
"""Two decimal numbers are the same if they differ by at most this, by this share, or by one in the last digit shown;
two percentages, if they differ by at most so many points."""


class Differs(AssertionError):
    """A tutorial prints something else than it shows."""


def walk(page: str) -> Iterator[tuple[str, str]]:
    """Do what a page says in the working directory; yield what each step should print, and what it printed."""
    names: dict[str, object] = {"__name__": "__tutorial__"}
    printed = ""
    with imports_from_here():
        for (kind, body), (then, _) in pairwise([*BLOCK.findall(page), ("", "")]):
            file = FILE.match(body)
            if file:
                Path(file[1]).write_text(body[file.end() :], encoding="utf-8")
            elif kind == "python":
                printed = run_python(body, names)
                if printed.strip() and then != "text":
                    raise Differs(f"the page does not show that this was printed:\n{printed}")
            elif kind == "text":
                yield body, printed
            elif kind == "console":
                for command, expected in commands(body):
                    yield expected, run_command(command)


@contextlib.contextmanager
def imports_from_here() -> Iterator[None]:
    """Find modules in the working directory, as Python does when a user starts it there, and forget them at the end."""
    here, before = os.getcwd(), set(sys.modules)
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(here):
                del sys.modules[name]


def commands(body: str) -> list[tuple[str, str]]:
    """Return the commands of a block, each with the text below it."""
    parts = re.split(r"^\$ (.*)\n", body, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def run_python(body: str, names: dict[str, object]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(body, "tutorial", "exec", dont_inherit=True), names)
    return out.getvalue()


def run_command(command: str) -> str:
    """Run a command; unweave's in this process, where torch is imported already."""
    words = shlex.split(command, comments=True)
    if words[0] != "unweave":
        done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Differs(f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout
    from unweave.cli import main

    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            main(words[1:])
        except SystemExit as stop:
            if stop.code:
                raise Differs(f"{command} ended with {stop.code}") from stop
    return out.getvalue()


def compare(expected: str, printed: str, same: Callable[[str, str], bool] | None = None) -> None:
    """Raise `Differs` unless all lines that are expected were printed, in this order; `same` compares two lines."""
    same = same or alike
    found = iter(plain_lines(printed))
    skips = False
    for line in plain_lines(expected):
        if line == "…":
            skips = True
            continue
        other = next((other for other in found if not skips or same(line, other)), None)
        if other is None or not same(line, other):
            raise Differs(f"the page shows\n  {line}\nand this was printed:\n{printed}")
        skips = False
    if expected.strip() and not skips and (other := next(found, None)) is not None:
        raise Differs(f"the page ends before\n  {other}\nof what was printed:\n{printed}")


def plain_lines(text: str) -> list[str]:
    """Return lines that are not empty, with single spaces, without times and columns of seconds."""
    lines = [" ".join(TIME.sub(r"# \1", line).split()) for line in text.splitlines() if line.strip()]
    timed = next((place for place, line in enumerate(lines) if line.endswith(" seconds")), None)
    if timed is not None:
        lines[timed:] = [line.rpartition(" ")[0] if " " in line and "." in line else line for line in lines[timed:]]
    return lines


def alike(line: str, other: str) -> bool:
    """Are two lines the same words, with numbers that are nearly the same?"""
    if not same_words(line, other):
        return False
    return all(map(near, NUMBER.findall(line), NUMBER.findall(other)))


def near(shown: str, printed: str) -> bool:
    """Are two numbers, as they are written, nearly the same?"""
    a, b = number(shown), number(printed)
    if shown.endswith("%"):
        return abs(a - b) <= max(POINTS, SHARE * abs(a))
    digits = len(shown.partition(".")[2])
    return abs(a - b) <= 1.001 * max(NEAR, SHARE * abs(a), 10.0**-digits) if digits else a == b


def same_words(line: str, other: str) -> bool:
    """Are two lines the same words, whatever their numbers?"""
    return NUMBER.sub(_mark, line) == NUMBER.sub(_mark, other)


def _mark(found: re.Match[str]) -> str:
    return "# %" if found[0].endswith("%") else "#"


def number(text: str) -> float:
    return float(text.removesuffix(" %").replace(",", "").replace("−", "-"))


def rewritten(page: str) -> str:
    """Return a page with what its steps print in the place of what it shows; dots stay."""
    for expected, printed in walk(page):
        if "…" in expected.splitlines():
            compare(expected, printed)
        elif expected:
            kept = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines()) + "\n"
            page = page.replace(f"\n{expected}", f"\n{kept}" + "\n" * expected.endswith("\n\n"), 1)
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="put the output into the page")
    options = parser.parse_args()
    for path in map(Path.absolute, options.pages):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            before = sum(os.times()[:4])
            if options.write:
                path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")
            else:
                for expected, printed in walk(path.read_text(encoding="utf-8")):
                    compare(expected, printed)
        print(f"{path.stem}: {sum(os.times()[:4]) - before:.1f} CPU seconds")


if __name__ == "__main__":
    main()
