"""Clean labels that dominate a class, and clean labels that do not."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from noiseproof.noise import TransitionMatrix
from noiseproof.report.pictures import COLOURS, style

CLASSES = ("cat", "owl", "dog", "fox", "hare", "bear")
KEPT = 0.2


def transition(to_owl: float) -> TransitionMatrix:
    """Return noise in which one cat in five stays a cat and ``to_owl`` of them become owls."""
    K = len(CLASSES)
    matrix = np.full((K, K), 0.4 / (K - 1))
    np.fill_diagonal(matrix, 0.6)
    matrix[0] = (1 - KEPT - to_owl) / (K - 2)
    matrix[0, :2] = KEPT, to_owl
    return TransitionMatrix(matrix, CLASSES)


def domination() -> Figure:
    """Draw two transition matrices: cats are called cats most often, and cats are called owls."""
    with style(), plt.rc_context({"axes.grid": False}):
        figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
        for ax, to_owl in zip(axes, (0.19, 0.21), strict=True):
            T = transition(to_owl)
            T.plot(ax)
            does = "dominates" if T.dominant else "does not dominate"
            ax.set_title(f"“cat” {does}: clean level {T.clean_level:.2f}")
            ax.add_patch(
                Rectangle((-0.5, -0.5), len(T), 1, fill=False, linewidth=2, color=COLOURS[1])
            )
    return figure
