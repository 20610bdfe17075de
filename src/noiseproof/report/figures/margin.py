"""What the margin c * r predicts: the accuracy that each loss lost to each noise."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from noiseproof.report.pictures import style


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


def margin(panels: Mapping[str, Sequence[Point]]) -> Figure:
    """Draw one panel per noise: a point a loss, the correlation above.

    Args:
        panels: the points of each noise.
    """
    with style():
        figure, axes = plt.subplots(
            1,
            len(panels),
            figsize=(0.6 + 2.7 * len(panels), 3.2),
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        for ax, (noise, points) in zip(axes[0], panels.items(), strict=True):
            ax.scatter([p.margin for p in points], [p.lost for p in points], s=14)
            for point in points:
                ax.annotate(
                    point.name,
                    (point.margin, point.lost),
                    xytext=(3, 2),
                    textcoords="offset points",
                    fontsize=5,
                )
            ax.axvline(1.0, linewidth=0.6, linestyle=":", color="grey")
            ax.set_title(f"{noise}\nrank correlation {rank_correlation(points):+.2f}", fontsize=8)
            ax.set_xlabel("margin c·r")
            ax.margins(x=0.18)
        axes[0][0].set_ylabel("accuracy lost to noise, points", fontsize=8)
    return figure
