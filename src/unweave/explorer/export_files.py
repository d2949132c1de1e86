"""The files of a static export, written so that a page opened from disk can read them.

Such a page may load classic scripts, style sheets and images, but neither modules nor JSON. So modules are data: URLs
in the import map of index.html, and answers are scripts that fill one object: `json` by key, `files` (the script that
holds a key) and `pictures` (data: URLs too, because a canvas with an image from disk cannot be saved).
"""

from __future__ import annotations

import base64
import json
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from unweave.errors import UsageError
from unweave.explorer.app import page_files, plotly_path

MARK = "unweave-export.json"
"""The file that marks a folder as an export."""
STORE = "window.UNWEAVE_STATIC"
IMPORTS = re.compile(r'<script type="importmap">.*?</script>', re.DOTALL)
STYLE = re.compile(r'<link rel="stylesheet" href="[^"]*style\.css">')
MAIN = re.compile(r'<script type="module" src="[^"]*main\.js"></script>')
DIGITS = 5
"""Significant digits of numbers: more than a page shows."""


def key(path: str, params: Mapping[str, Any]) -> str:
    """Return the key of an answer, as `key` in lib/api.js does.

    >>> key("run/traversal", {"run": "a/b", "latent": 3}), key("index", {})
    ('run/traversal?latent=3&run=a/b', 'index')
    """
    pairs = [f"{name}={value}" for name, value in sorted(params.items())]
    return f"{path}?{'&'.join(pairs)}" if pairs else path


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """Yield a new folder beside `out`, which replaces it at the end; on any error `out` does not change.

    Only a new or empty folder, or an earlier export, is replaced.
    """
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UsageError(f"'{out}' is not a folder; choose another name")
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).is_file():
        raise UsageError(f"'{out}' is a folder that is not an export; choose another")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"there is no folder '{out.parent}' to write '{out.name}' into")
    stem = out.absolute().with_name(f".{out.absolute().name}.{secrets.token_hex(6)}")
    unfinished, former = stem.with_suffix(".tmp"), stem.with_suffix(".former")
    unfinished.mkdir()
    try:
        yield unfinished
        if out.exists():
            out.rename(former)
        unfinished.rename(out.absolute())
    except BaseException:  # an interrupt must not leave an incomplete export either
        if former.exists() and not out.exists():
            former.rename(out.absolute())
        raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.rmtree(former, ignore_errors=True)


class Writer:
    """Collects answers, and writes the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._first: dict[str, Any] = {}
        self._parts: dict[str, dict[str, Any]] = {}
        self._files: dict[str, str] = {}
        self._pictures: dict[str, dict[str, str]] = {}
        (folder / "answers").mkdir()

    def first(self, path: str, params: Mapping[str, Any], answer: Any) -> None:
        """Add an answer that is loaded with the page."""
        self._first[key(path, params)] = answer

    def json(self, part: str, path: str, params: Mapping[str, Any], answer: Any) -> None:
        """Add an answer to a part, which is loaded when the page requests one of its answers."""
        name = key(path, params)
        self._parts.setdefault(part, {})[name] = _short(answer)
        self._pictures.setdefault(part, {})
        self._files[name] = f"answers/{list(self._parts).index(part)}.js"

    def picture(self, part: str, path: str, params: Mapping[str, Any], content: bytes) -> None:
        """Add a picture, compressed without loss, to a part, which is loaded before the picture is used."""
        gif = content.startswith(b"GIF")
        text = base64.b64encode(content if gif else _small(content)).decode()
        self._pictures[part][key(path, params)] = f"data:image/{'gif' if gif else 'png'};base64,{text}"

    def finish(self) -> int:
        """Write everything that is not written yet, and return the size of the folder in bytes."""
        for place, (part, answers) in enumerate(self._parts.items()):
            lines = [f"Object.assign({STORE}.json, {_text(answers)});"]
            lines += [f"Object.assign({STORE}.pictures, {_text(found)});"] if (found := self._pictures[part]) else []
            (self._folder / "answers" / f"{place}.js").write_text("\n".join([*lines, ""]), encoding="utf-8")
        stored = {"json": self._first, "files": self._files, "pictures": {}}
        (self._folder / "answers" / "first.js").write_text(f"{STORE} = {_text(stored)};\n", encoding="utf-8")
        (self._folder / "index.html").write_text(page(), encoding="utf-8")
        shutil.copyfile(plotly_path(), self._folder / "plotly.js")
        about = {"about": "a static export of unweave explore; open index.html", "answers": len(self._files)}
        (self._folder / MARK).write_text(f"{json.dumps(about)}\n", encoding="utf-8")
        return sum(path.stat().st_size for path in self._folder.rglob("*") if path.is_file())


def page() -> str:
    """Return index.html with the style and all modules inlined."""
    files = page_files()
    modules = {f"#{name}": _data_address(path) for name, path in files.items() if path.suffix == ".js"}
    imports = f'<script type="importmap">{json.dumps({"imports": modules})}</script>'
    start = f'{imports}\n<script src="answers/first.js"></script>\n<script type="module">import "#main.js";</script>'
    text, maps = IMPORTS.subn("", files["index.html"].read_text(encoding="utf-8"))
    text, styles = STYLE.subn(lambda _: f"<style>\n{files['style.css'].read_text(encoding='utf-8')}</style>", text)
    text, mains = MAIN.subn(lambda _: start, text)
    assert (maps, styles, mains) == (1, 1, 1), "index.html has one import map, one style sheet and one first module"
    return text


def _data_address(path: Path) -> str:
    return f"data:text/javascript;base64,{base64.b64encode(path.read_bytes()).decode()}"


def _text(value: Any) -> str:
    """Return JSON that is safe inside a script: it cannot end the element, and has no line breaks."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("</", "<\\/").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _short(value: Any) -> Any:
    """Return an answer with numbers rounded to a few digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {name: _short(part) for name, part in value.items()}
    return [_short(part) for part in value] if isinstance(value, list) else value


def _small(content: bytes) -> bytes:
    """Return a PNG compressed as well as Pillow can, without loss."""
    from PIL import Image

    picture = Image.open(BytesIO(content))
    buffer = BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    return min((content, buffer.getvalue()), key=len)
