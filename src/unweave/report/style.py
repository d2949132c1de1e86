"""The style of pictures, plots and pages: one palette for a light background and one for a dark one."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1b1f24",
    "muted": "#626b76",
    "line": "#dfe3e8",
    "wash": "#f5f7f9",
    "accent": "#1f66b0",
    "alert": "#b3541e",
}
DARK = {
    "paper": "#17191d",
    "ink": "#e7e9ec",
    "muted": "#9aa3ae",
    "line": "#343941",
    "wash": "#1f2227",
    "accent": "#74aef0",
    "alert": "#e89a5b",
}
HEAT = "#1f6fc0"
"""The full colour of a heat map; its opacity is the value, so that it works on both backgrounds."""
AGAINST = "#c4611d"
"""The full colour of a value of -1, if there are negative values."""


def variables(palette: dict[str, str]) -> str:
    """Return a palette as CSS variables.

    >>> variables({"ink": "#000000", "paper": "#ffffff"})
    '--ink: #000000; --paper: #ffffff;'
    """
    return " ".join(f"--{name}: {colour};" for name, colour in palette.items())


def number(value: float, digits: int = 4) -> str:
    """Return a number in a few significant digits, with a true minus sign and no trailing zeros.

    >>> number(-1.5), number(20000), number(0.123456), number(float("nan"))
    ('−1.5', '20,000', '0.1235', '–')
    """
    if value != value:
        return "–"
    plain = f"{value:,.0f}" if value == round(value) and abs(value) < 1e9 else f"{value:.{digits}g}"
    return plain.replace("-", "−")


def decimals(value: float) -> str:
    """Return a score with three decimals, or a dash for NaN.

    >>> decimals(0.5), decimals(-0.25), decimals(float("nan"))
    ('0.500', '−0.250', '–')
    """
    return f"{value:.3f}".replace("-", "−") if isfinite(value) else "–"


def plain(axes: Axes) -> Axes:
    """Remove the parts of axes that carry no information, and colour the rest with the palette."""
    axes.set_facecolor("none")
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(which="both", length=0, labelcolor=LIGHT["muted"], labelsize=9)
    axes.grid(visible=True, axis="y", color=LIGHT["line"], linewidth=0.8)
    axes.set_axisbelow(True)
    return axes
