"""A transition matrix as a heat map."""

from typing import TYPE_CHECKING

from noiseproof.extras import need
from noiseproof.shown import drawable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from noiseproof.noise.transition import TransitionMatrix


def draw(transition: "TransitionMatrix", ax: "Axes | None" = None) -> "Axes":
    """Draw ``transition`` on ``ax``, or on a new figure, and return the axes.

    Values are written if K <= 20; with more classes they would not be legible.
    """
    need("bench", "matplotlib")
    import matplotlib.pyplot as plt

    K = len(transition)
    written = K <= 20
    if ax is None:
        side = 2.2 + 0.55 * K if written else 6.5
        _, ax = plt.subplots(figsize=(side + 0.8, side), layout="constrained")
    image = ax.imshow(transition.matrix, cmap="Blues", vmin=0, vmax=1)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="P(given label | true label)")
    ax.set_xlabel("given label")
    ax.set_ylabel("true label")
    ax.set_title(f"rate {transition.rate:.3g}, clean level {transition.clean_level:.3g}")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    if not written:
        return ax
    names = [drawable(transition.name(i)) for i in range(K)]
    turned = max(map(len, names)) > 3
    ax.set_xticks(range(K), names, rotation=45 if turned else 0, ha="right" if turned else "center")
    ax.set_yticks(range(K), names)
    for i, row in enumerate(transition.matrix):
        for j, value in enumerate(row):
            if value > 0:
                text = f"{value:.2f}" if value >= 0.005 else "<.01"
                colour = "white" if value > 0.5 else "black"
                ax.text(j, i, text, ha="center", va="center", color=colour, fontsize=8)
    return ax
