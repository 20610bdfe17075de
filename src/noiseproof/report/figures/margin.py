"""What the margin c * r predicts: the accuracy that each loss lost to each noise."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from noiseproof.report.pictures import style
from noiseproof.shown import drawable

#: The height of a label, as a share of the panel's.
_LINE = 0.042


class Point(NamedTuple):
    """A loss under a noise.

    Args:
        name: of the loss.
        margin: c * r, that of the class it is least for.
        lost: percentage points of test accuracy, from clean labels to this noise.
    """

    name: str
    margin: float
    lost: float


def rank_correlation(points: Sequence[Point]) -> float:
    """Return Spearman's correlation of margin and accuracy lost; NaN where either is constant.

    >>> rank_correlation([Point("CE", 0, 60), Point("AGCE", 1.5, 20), Point("MAE", 2.2, 5)])
    -1.0
    """
    from scipy.stats import rankdata

    ranks = [rankdata([getattr(p, field) for p in points]) for field in ("margin", "lost")]
    if len(points) < 2 or any(np.ptp(rank) == 0 for rank in ranks):
        return float("nan")
    return round(float(np.corrcoef(*ranks)[0, 1]), 12)


def spread(heights: Sequence[float], apart: float, top: float = 1.0) -> list[float]:
    """Return heights moved as little as needed to be ``apart``, in their order, 0 to ``top``.

    >>> [round(h, 2) for h in spread([0.5, 0.5, 0.9], 0.1)]
    [0.45, 0.55, 0.9]
    """
    order = sorted(range(len(heights)), key=heights.__getitem__)
    groups: list[list[float]] = []  # the middle and the number of labels that touch
    for index in order:
        groups.append([heights[index], 1])
        while True:
            last, half = groups[-1], apart * groups[-1][1] / 2
            last[0] = min(max(last[0], half), top - half)
            if len(groups) < 2 or groups[-2][0] + apart * groups[-2][1] / 2 <= last[0] - half:
                break
            middle, count = groups.pop()
            below = groups[-1]
            total = below[1] + count
            below[:] = [(below[0] * below[1] + middle * count) / total, total]
    placed = [m + apart * (i - (n - 1) / 2) for m, n in groups for i in range(int(n))]
    found = dict(zip(order, placed, strict=True))
    return [found[index] for index in range(len(heights))]


def margin(panels: Mapping[str, Sequence[Point]]) -> Figure:
    """Draw one panel per noise: a point a loss, the correlation above, the names beside it.

    Args:
        panels: the points of each noise.
    """
    with style():
        figure, axes = plt.subplots(
            1,
            len(panels),
            figsize=(0.6 + 3.3 * len(panels), 3.6),
            squeeze=False,
            layout="constrained",
        )
        for ax, (noise, points) in zip(axes[0], panels.items(), strict=True):
            ax.scatter([p.margin for p in points], [p.lost for p in points], s=14, zorder=3)
            low, high = min(p.lost for p in points), max(p.lost for p in points)
            room = 0.06 * (high - low or 1)
            ax.set_ylim(low - room, high + room)
            places = spread(
                [(p.lost - low + room) / (high - low + 2 * room) for p in points], _LINE
            )
            for point, place in zip(points, places, strict=True):
                ax.annotate(
                    drawable(point.name),
                    (point.margin, point.lost),
                    xytext=(1.06, place),
                    textcoords="axes fraction",
                    va="center",
                    fontsize=6,
                    arrowprops={
                        "arrowstyle": "-",
                        "linewidth": 0.3,
                        "color": "grey",
                        "relpos": (0, 0.5),
                        "shrinkA": 1,
                        "shrinkB": 0,
                    },
                )
            ax.axvline(1.0, linewidth=0.6, linestyle=":", color="grey")
            correlation = f"rank correlation {rank_correlation(points):+.2f}"
            ax.set_title(f"{drawable(noise)}\n{correlation}", fontsize=8)
            ax.set_xlabel("margin c·r")
        axes[0][0].set_ylabel("accuracy lost to noise, points", fontsize=8)
    return figure
