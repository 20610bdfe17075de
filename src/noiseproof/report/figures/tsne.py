"""The inputs of a network's last layer, in two dimensions by t-SNE."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from noiseproof.progress import SILENT, Progress
from noiseproof.report.pictures import style
from noiseproof.shown import drawable

#: Test samples to draw: enough to see the classes, in seconds rather than minutes.
SAMPLES = 1000
NAMED = 20


@dataclass(frozen=True, eq=False)
class Features:
    """What a network made of the test set.

    Args:
        values: (N, d), what its last layer sees.
        labels: (N,) the true classes.
        accuracy: on the test set, a share.
    """

    values: NDArray[np.float32]
    labels: NDArray[np.int64]
    accuracy: float


def tsne(
    rows: Mapping[str, Mapping[str, Features | None]],
    classes: Sequence[str],
    seed: int = 0,
    progress: Progress = SILENT,
) -> Figure:
    """Draw one row per loss and one panel per noise; the colour is the true class.

    Args:
        rows: by loss and noise; None leaves a panel empty, and says so in it.
        classes: the names of the classes.
        seed: of the embedding.
        progress: who is told of progress.
    """
    noises = list(next(iter(rows.values())))
    with style(), plt.rc_context({"axes.grid": False}):
        figure, axes = plt.subplots(
            len(rows),
            len(noises),
            figsize=(0.9 + 2.3 * len(noises), 2.4 * len(rows) + 0.3),
            squeeze=False,
            layout="constrained",
        )
        progress.step("embedding")
        for i, (line, (name, row)) in enumerate(zip(axes, rows.items(), strict=True)):
            line[0].set_ylabel(drawable(name))
            for j, (ax, noise) in enumerate(zip(line, noises, strict=True), start=1):
                _panel(ax, noise, row[noise], len(classes), seed)
                progress.update(i * len(noises) + j, len(rows) * len(noises))
        if len(classes) <= NAMED:
            figure.legend(handles=_key(classes), loc="outside right center", markerscale=1.2)
    return figure


def embed(values: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """Return an embedding (N, 2) that keeps near features near."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(30.0, max(1.0, (len(values) - 1) / 3))
    method = TSNE(perplexity=perplexity, init="random", random_state=seed)
    # Threads that wait for each other on a busy machine take ten times as long as one alone.
    with threadpool_limits(limits=1):
        places: NDArray[np.float32] = method.fit_transform(values)
    return places


def thin(features: Features, most: int = SAMPLES) -> Features:
    """Return at most ``most`` samples, evenly spread over the test set."""
    kept = np.unique(np.linspace(0, len(features.labels) - 1, most).astype(int))
    return Features(features.values[kept], features.labels[kept], features.accuracy)


def _panel(ax: Axes, noise: str, features: Features | None, classes: int, seed: int) -> None:
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set(visible=True, color="0.8")
    if features is None:
        ax.set_title(drawable(noise), fontsize=8)
        ax.text(
            0.5,
            0.5,
            "no saved network",
            ha="center",
            va="center",
            transform=ax.transAxes,
            color="0.4",
        )
        return
    few = thin(features)
    x, y = embed(few.values, seed).T
    ax.scatter(x, y, c=few.labels, cmap=_colours(classes), vmin=0, vmax=classes - 1, s=4, lw=0)
    ax.set_title(f"{drawable(noise)}: {features.accuracy:.1%}", fontsize=8)


def _colours(classes: int) -> mpl.colors.Colormap:
    if classes <= NAMED:
        names = "tab10" if classes <= 10 else "tab20"
        return mpl.colors.ListedColormap([mpl.colormaps[names](i) for i in range(classes)])
    return mpl.colormaps["gist_rainbow"]


def _key(classes: Sequence[str]) -> list[Line2D]:
    colours = _colours(len(classes))
    return [
        Line2D(
            [], [], marker="o", linestyle="", markersize=4, color=colours(i), label=drawable(name)
        )
        for i, name in enumerate(classes)
    ]
