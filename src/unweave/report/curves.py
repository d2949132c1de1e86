"""The training curve: the loss and each of its terms over the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from numpy.typing import NDArray

from unweave.errors import UsageError, unknown
from unweave.report.chart import Chart
from unweave.report.style import LIGHT, number, plain

if TYPE_CHECKING:
    import polars

POINTS = 100
"""A longer curve is drawn as the means of this many segments, inside the band of their extremes."""
NOT_TERMS = ("step", "seconds")
Values = NDArray[np.float64]


def terms(log: polars.DataFrame) -> list[str]:
    """Return the columns of a log that hold a curve: the loss and its terms, where any value is finite."""
    return [name for name in log.columns if name not in NOT_TERMS and len(_curve(log, name)[0])]


def training_curve(axes: Axes, log: polars.DataFrame, term: str = "loss") -> Axes:
    """Draw one term of the loss over the steps, with its last value at the right of the title.

    The scale is logarithmic if the term is positive and falls more than tenfold. Terms differ by orders of magnitude,
    so each needs its own axes; `training_figure` draws them all.

    Parameters
    ----------
    axes
        Matplotlib axes to draw into.
    log
        The log of a run: `run.log()`.
    term
        A column of the log.

    Returns
    -------
    Axes
        The same axes.
    """
    if term not in log.columns:
        raise unknown("column of the log", term, log.columns)
    steps, values = _curve(log, term)
    if not len(steps):
        raise UsageError(f"the log holds no value of '{term}'")
    x, mean, low, high = _stretches(steps, values)
    axes.fill_between(x, low, high, color=LIGHT["accent"], alpha=0.25, linewidth=0)
    axes.plot(x, mean, color=LIGHT["accent"], linewidth=1.6, marker="o" if len(x) == 1 else None)
    _scale(axes, values)
    axes.set_xlabel("step", color=LIGHT["muted"], fontsize=9)
    axes.set_title(term, loc="left", color=LIGHT["ink"], fontsize=11, fontweight="bold", parse_math=False)
    axes.set_title(number(values[-1]), loc="right", color=LIGHT["ink"], fontsize=11)
    return plain(axes)


def training_figure(log: polars.DataFrame, *, columns: int = 3) -> Chart:
    """Return a figure with the loss and every term, each on its own axes.

    Parameters
    ----------
    log
        The log of a run: `run.log()`.
    columns
        Charts side by side.

    Returns
    -------
    Chart
        A matplotlib figure.

    Examples
    --------
    >>> training_figure(unweave.Run.open("runs/first").log()).savefig("curves.png")
    """
    names = terms(log)
    if not names:
        raise UsageError("the log is empty: nothing has been logged yet")
    columns = min(columns, len(names))
    rows = -(-len(names) // columns)
    figure = Chart(3.6 * columns, 2.5 * rows)
    for place, name in enumerate(names, start=1):
        training_curve(figure.add_subplot(rows, columns, place), log, name)
    return figure


def _curve(log: polars.DataFrame, term: str) -> tuple[Values, Values]:
    """Return the steps at which a term has a value, and the values."""
    steps, values = (log[name].cast(float).to_numpy() for name in ("step", term))
    finite = np.isfinite(values)
    return steps[finite], values[finite]


def _stretches(steps: Values, values: Values) -> tuple[Values, Values, Values, Values]:
    """Return middle step, mean, lowest and highest value of at most POINTS segments of equal length."""
    count = min(len(steps), POINTS)
    starts = np.arange(count) * len(steps) // count
    lengths = np.diff(np.append(starts, len(steps)))
    middle, mean = (np.add.reduceat(column, starts) / lengths for column in (steps, values))
    return middle, mean, np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)


def _scale(axes: Axes, values: Values) -> None:
    """Choose the scale of the values, and a few plain ticks."""
    low, high = values.min(), values.max()
    if low > 0 and values[0] > 10 * values[-1]:
        axes.set_yscale("log")
        # Within two decades powers of ten alone would be too few ticks.
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,), numticks=6))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
