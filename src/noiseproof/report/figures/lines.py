"""Curves of several runs on one pair of axes."""

from collections.abc import Mapping, Sequence
from itertools import cycle, product

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from noiseproof.report.pictures import COLOURS
from noiseproof.shown import drawable

STYLES = [(colour, dash) for dash, colour in product(("-", "--", ":"), COLOURS)]


def draw_curves(ax: Axes, curves: Mapping[str, Sequence[float | None]]) -> None:
    """Draw shares by epoch, one line per name; a name without values keeps its colour."""
    for (name, values), (colour, dash) in zip(curves.items(), cycle(STYLES), strict=False):
        known = [(i, value) for i, value in enumerate(values, 1) if value is not None]
        if known:
            x, y = zip(*known, strict=True)
            dot = "o" if len(known) == 1 else None  # a line of one point is invisible
            ax.plot(
                x, y, label=drawable(name), color=colour, linestyle=dash, linewidth=1.3, marker=dot
            )
    ax.set_ylim(0, 1.02)
    ax.yaxis.set_major_formatter(PercentFormatter(1))
