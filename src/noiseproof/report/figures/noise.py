"""The noise that was really drawn."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from noiseproof.noise import Corruption, TransitionMatrix
from noiseproof.report.pictures import style
from noiseproof.shown import drawable

ACROSS = 3


def noise(drawn: Mapping[str, Corruption[Any]], classes: Sequence[str]) -> Figure:
    """Draw the realised transition matrix of each noise.

    Args:
        drawn: the receipts by noise.
        classes: the names of the classes.
    """
    side = 1.6 + 0.36 * min(len(classes), 20)
    across = min(ACROSS, len(drawn))
    down = math.ceil(len(drawn) / across)
    with style(), plt.rc_context({"axes.grid": False, "font.size": 7}):
        figure, axes = plt.subplots(
            down,
            across,
            figsize=((side + 0.6) * across, side * down),
            squeeze=False,
            layout="constrained",
        )
        for ax, (name, corruption) in zip(axes.flat, drawn.items(), strict=False):
            TransitionMatrix(corruption.matrix, classes).plot(ax)
            for text in ax.texts:
                text.set_fontsize(6)
            ax.set_title(
                f"{drawable(name)}: {corruption.rate:.2%} of {len(corruption):,} labels wrong"
            )
        for ax in list(axes.flat)[len(drawn) :]:
            ax.set_visible(False)
    return figure
