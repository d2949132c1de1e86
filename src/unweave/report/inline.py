"""Pictures and plots as text, embedded in a page."""

from __future__ import annotations

import re
from base64 import b64encode
from html import escape
from io import BytesIO, StringIO

import matplotlib
from matplotlib.figure import Figure
from PIL import Image

from unweave.report.style import LIGHT


def png(image: Image.Image) -> str:
    """Return a picture as the address of an <img>."""
    buffer = BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + b64encode(buffer.getvalue()).decode()


def svg(figure: Figure, name: str, description: str) -> str:
    """Return a figure as an <svg> element in the colours of the page, with a description for screen readers.

    `name` must be unique among the figures of a page. The same figure always gives the same text.
    """
    buffer = StringIO()
    silent = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", transparent=True, metadata=silent)
    text = buffer.getvalue()
    text = text[text.index("<svg") :].strip()
    for variable in ("ink", "muted", "line", "accent"):
        text = text.replace(f": {LIGHT[variable]}", f": var(--{variable})")
    text = _without_idle_ids(text)
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(description)}"', 1)


def captioned(figure: Figure, name: str, title: str, about: str, description: str = "") -> str:
    """Return a figure below its caption, which is HTML already; see `svg` for the name and the description."""
    chart = svg(figure, name, description or title)
    caption = f"<figcaption><strong>{title}</strong> {about}</figcaption>"
    width = f"flex-basis:{72 * figure.get_figwidth():.0f}pt"  # side by side only if both fit
    return f'<figure style="{width}">{caption}<div class="scroll">{chart}</div></figure>\n'


def _without_idle_ids(text: str) -> str:
    """Drop unused ids: they are the same in every figure, but ids must be unique on a page."""
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    return re.sub(r'\s+id="([^"]*)"', lambda found: found[0] if found[1] in used else "", text)
