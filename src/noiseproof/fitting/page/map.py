"""A flat map of the rows: near each other on it, near each other in their features."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from noiseproof.learn.learn import Suspects
from noiseproof.noise import stream
from noiseproof.report.charts.svg import WIDTH, element, picture

#: Points of the map, and how many of them are doubtful, at most.
POINTS, DOUBTFUL = 1200, 300
#: Classes with a colour of their own; the seventh of the page is too near to the grey of others.
COLOURS = 6
HEIGHT = 300


class Map:
    """Where some of the rows are on the plane of the two largest principal components.

    Args:
        matrix: (N, D) the features, dense or sparse.
        given: (N,) the given labels; the most frequent classes have colours.
        suspects: the doubtful rows.
        seed: draws the sample.
    """

    def __init__(
        self, matrix: Any, given: NDArray[np.int64], suspects: Suspects, seed: int
    ) -> None:
        N = matrix.shape[0]
        counts = np.bincount(given)
        often = np.argsort(-counts, kind="stable")[:COLOURS]
        self.colours = {int(k): i for i, k in enumerate(sorted(often), start=1) if counts[k]}
        doubtful = suspects.rows[:DOUBTFUL]
        others = np.setdiff1d(np.arange(N), suspects.rows)
        numbers = stream(seed, "map")
        drawn = numbers.permutation(others)[: POINTS - len(doubtful)]
        # Doubtful rows last: they are drawn on top.
        self.rows = np.concatenate([drawn, doubtful[::-1]]).astype(np.int64)
        self.doubtful = np.arange(len(self.rows)) >= len(drawn)
        self.points = _flattened(matrix[self.rows])

    def drawn(
        self, title: str, codes: NDArray[np.int64], names: Sequence[str], told: Sequence[str]
    ) -> Markup:
        """Return the map with points coloured by class and doubtful rows ringed.

        Args:
            title: above it.
            codes: (N,) the class that colours each row.
            names: of the classes.
            told: for each point of the map, what to say about it.
        """
        kinds = self.colours
        marks = []
        for i, (x, y) in enumerate(self.points):
            colour = kinds.get(int(codes[self.rows[i]]))
            kind = f"f{colour}" if colour else "other"
            marks.append(
                element(
                    "circle", element("title", told[i]), cx=float(8 + x * (WIDTH - 16)),
                    cy=float(24 + y * (HEIGHT - 34)), r=3.2 if self.doubtful[i] else 2.4,
                    class_=f"{kind} ring" if self.doubtful[i] else kind,
                )
            )  # fmt: skip
        legend = [
            element("li", element("span", "●", class_=f"t{i}"), names[k], class_="key")
            for k, i in kinds.items()
        ]
        if len(names) > len(kinds):
            legend.append(element("li", element("span", "●", class_="quiet"), "other classes"))
        words = f"{len(self.rows)} rows, {int(self.doubtful.sum())} of them doubtful."
        chart = picture(title, words, HEIGHT, *marks, data_map="1")
        return chart + element("ul", *legend, class_="legend")


def _flattened(matrix: Any) -> NDArray[np.float64]:
    """Return (n, 2), from 0 to 1: the two largest principal components."""
    from scipy import sparse
    from scipy.sparse.linalg import ArpackError, svds

    if sparse.issparse(matrix):
        # Words are left as they are: to centre them would make the matrix dense.
        centred = matrix.astype(np.float64)
    else:
        centred = np.asarray(matrix, dtype=np.float64)
        centred = centred - centred.mean(axis=0)
        spread = centred.std(axis=0)
        centred = np.clip(centred / np.where(spread > 0, spread, 1), -6, 6)
    if min(centred.shape) < 5:
        dense = centred.toarray() if sparse.issparse(centred) else centred
        u, s, _ = np.linalg.svd(dense, full_matrices=False)
    else:
        # The first component of what is not centred is its mean; a third one makes up for it.
        most = 3 if sparse.issparse(centred) else 2
        start = np.random.default_rng(0).normal(size=min(centred.shape))
        try:
            u, s, _ = svds(centred, k=most, v0=start)
        except ArpackError:  # all rows are alike
            return np.zeros((centred.shape[0], 2))
        u, s = u[:, ::-1], s[::-1]
    s = np.where(s > 1e-9 * s.max(initial=0), s, 0)  # the rest is rounding
    found = (u * s)[:, -2:] if sparse.issparse(matrix) else (u * s)[:, :2]
    if found.shape[1] == 1:
        found = np.hstack([found, np.zeros_like(found)])
    low, high = np.quantile(found, [0.005, 0.995], axis=0)
    scaled = np.clip((found - low) / np.where(high > low, high - low, 1), 0, 1)
    return np.asarray(scaled)


def told(
    rows: NDArray[np.int64], names: Sequence[int | str], given: NDArray[np.int64],
    proposed: NDArray[np.int64], classes: Sequence[str],
) -> list[str]:  # fmt: skip
    """Return a line about each row."""
    lines = []
    for row in rows:
        line = f"row {names[row]}: {classes[given[row]]}"
        if given[row] != proposed[row]:
            line += f", proposed {classes[proposed[row]]}"
        lines.append(line)
    return lines
