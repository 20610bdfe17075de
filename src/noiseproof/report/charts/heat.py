"""A matrix of shares as a map: the darker the more."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike, NDArray

from noiseproof.report.charts.svg import WIDTH, element, join, length, picture, shortened, spell

WRITTEN, NAMED, SHOWN = 12, 20, 40
#: Squares along a side at most: the map is no more than about 330 pixels wide.
FINEST = 150
SHADES = 20
LONGEST = 12


def heat_map(
    matrix: ArrayLike,
    labels: Sequence[str] | None = None,
    *,
    title: str,
    row_label: str = "true label",
    column_label: str = "given label",
) -> Markup:
    """Return a (K, K) matrix as a map.

    Values are written up to 12 classes, names up to 20, and pointing shows both up to 40. Beyond
    150 classes a square stands for several, with the largest share among them.

    Args:
        matrix: shares, 0 to 1.
        labels: of rows and columns; numbers without them.
        title: above the map.
        row_label: what a row is.
        column_label: what a column is.

    >>> "cat as dog: 20.00 %" in heat_map([[0.8, 0.2], [0, 1]], ["cat", "dog"], title="noise")
    True
    """
    shares: NDArray[np.float64] = np.asarray(matrix, dtype=np.float64)
    K = len(shares)
    names = tuple(labels) if labels is not None else tuple(map(str, range(K)))
    longest = min(max(map(length, names), default=1), LONGEST) if K <= NAMED else 0
    left = 26 + 6.2 * longest
    turned = longest * 6.2 > (WIDTH - left - 8) / max(K, 1)
    map_ = _Map(shares, names, left, 44 + (6.2 * longest if turned else 12.0), turned)
    mean = spell(float(np.trace(shares)) / max(K, 1), True)
    words = f"{K} rows ({row_label}) by {K} columns ({column_label}); diagonal {mean} on average."
    if K > FINEST:
        together = -(-K // FINEST)
        words += f" A square is the largest share of {together} by {together} classes."
    return picture(
        title,
        words,
        map_.top + map_.size + 6,
        element("text", f"{column_label} →", x=left + map_.size / 2, y=34, text_anchor="middle"),
        element(
            "text",
            f"← {row_label}",
            transform=f"translate(12 {map_.top + map_.size / 2:.1f}) rotate(-90)",
            text_anchor="middle",
        ),
        map_.shades(),
        *(map_.tick(i) for i in range(K) if K <= NAMED),
        *(map_.cell(i, j) for i in range(K) for j in range(K) if K <= SHOWN),
    )


@dataclass(frozen=True, eq=False)
class _Map:
    """The shares and where they are drawn."""

    shares: NDArray[np.float64]
    names: tuple[str, ...]
    left: float
    top: float
    turned: bool

    @property
    def size(self) -> float:
        return WIDTH - self.left - 8

    @property
    def side(self) -> float:
        return self.size / max(len(self.names), 1)

    def shades(self) -> Markup:
        """Return one path a shade: 100 classes would be 10,000 elements otherwise."""
        shares = _coarse(self.shares)
        shade = np.ceil(np.clip(shares, 0, 1) * SHADES).astype(int)
        places = sorted((int(shade[i, j]), int(i), int(j)) for i, j in np.argwhere(shade))
        size = self.size
        scale = size / max(len(shares), 1)
        where = f"translate({self.left:.1f} {self.top:.1f}) scale({scale:.3f})"
        frame = element("rect", class_="grid", x=self.left, y=self.top, width=size, height=size)
        paths = [
            element(
                "path",
                class_="f1",
                fill_opacity=f"{level / SHADES:.2f}",
                transform=where,
                d="".join(f"M{j} {i}h1v1h-1z" for _, i, j in cells),
            )
            for level, cells in groupby(places, key=lambda place: place[0])
        ]
        return join([frame, *paths])

    def cell(self, i: int, j: int) -> Markup:
        value, side = float(self.shares[i, j]), self.side
        x, y = self.left + j * side, self.top + i * side
        said = f"{self.names[i]} as {self.names[j]}: {spell(value, True)}"
        parts = [
            element("title", said),
            element("rect", x=x, y=y, width=side, height=side, fill_opacity="0"),
        ]
        if len(self.names) <= WRITTEN and value >= 0.005:
            written = "1" if value >= 0.995 else f"{value:.2f}"[1:]
            ink = "on" if value > 0.7 else "value"
            middle = {"x": x + side / 2, "y": y + side / 2 + 4, "text_anchor": "middle"}
            parts.append(element("text", written, class_=ink, **middle))
        return element("g", *parts)

    def tick(self, i: int) -> Markup:
        name, at = shortened(self.names[i], LONGEST), (i + 0.5) * self.side
        row = element("text", name, x=self.left - 5, y=self.top + at + 4, text_anchor="end")
        x, y = self.left + at, self.top - 5
        if not self.turned:
            return row + element("text", name, x=x, y=y, text_anchor="middle")
        return row + element("text", name, transform=f"translate({x + 4:.1f} {y:.1f}) rotate(-90)")


def _coarse(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest share of each square of classes, with 150 squares a side or fewer."""
    K = len(shares)
    together = -(-K // FINEST)
    if together <= 1:
        return shares
    side = -(-K // together)
    whole = np.zeros((side * together, side * together))
    whole[:K, :K] = shares
    found: NDArray[np.float64] = whole.reshape(side, together, side, together).max(axis=(1, 3))
    return found
