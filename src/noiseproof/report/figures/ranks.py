"""Mean ranks with the critical difference: which losses a benchmark can tell apart."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from noiseproof.report.pictures import style
from noiseproof.shown import drawable


def ranks(
    authors: Mapping[str, float], tuned: Mapping[str, float], difference: float, columns: int
) -> Figure:
    """Draw the mean rank of each loss, the best on top.

    Two losses differ where their bars do not overlap: each reaches half the critical difference
    to either side of the mean rank.

    Args:
        authors: the mean rank by loss, with its authors' parameters.
        tuned: the same after tuning.
        difference: the critical difference.
        columns: how many ranks each is the mean of.
    """
    order = sorted(authors, key=authors.__getitem__, reverse=True)
    places = range(len(order))
    with style():
        figure, ax = plt.subplots(figsize=(6.4, 0.8 + 0.19 * len(order)), layout="constrained")
        for shift, marker, label, found in (
            (0.16, "o", "authors' parameters", authors),
            (-0.16, "D", "tuned by noisy labels", tuned),
        ):
            ax.errorbar(
                [found[name] for name in order],
                [place + shift for place in places],
                xerr=difference / 2,
                fmt=marker,
                markersize=3.5,
                linewidth=0.7,
                label=label,
            )
        ax.axvline(min(authors.values()) + difference / 2, linewidth=0.6, ls=":", color="grey")
        ax.set_yticks(list(places), [drawable(name) for name in order], fontsize=7)
        ax.set_xlabel(
            f"mean rank over {columns} columns, ± half the critical difference "
            f"({difference:.1f}); left is better",
            fontsize=8,
        )
        ax.margins(y=0.01)
        ax.set_xlim(left=0)
        ax.legend(fontsize=7, loc="upper right")
    return figure
