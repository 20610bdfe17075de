"""TransitionMatrix: how often samples of one class get the label of another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from noiseproof.errors import NoiseError
from noiseproof.losses.parameter import as_number, is_whole
from noiseproof.noise import sampling
from noiseproof.noise.corruption import Corruption, receipt
from noiseproof.noise.labels import Labels, as_labels, is_listing, to_array
from noiseproof.noise.matrix import Doubles, check_matrix, largest_flips, off_diagonal, ratio
from noiseproof.noise.named import check_same_names, in_order
from noiseproof.noise.streams import stream
from noiseproof.shown import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Confusion(NamedTuple):
    """Class ``true`` labelled as ``given``; ``level`` is how far the true label outweighs it."""

    true: int
    given: int
    level: float


@dataclass(frozen=True, eq=False, repr=False, init=False)
class TransitionMatrix:
    """T[i, j] = P(noisy label j | true label i): a (K, K) matrix whose rows sum to one.

    It is immutable. A row that sums to one within 1e-6 is rescaled; any other row raises an error
    that names it.

    Args:
        matrix: (K, K) probabilities, K >= 2.
        classes: the K names of the classes, for messages and pictures.

    >>> T = TransitionMatrix([[0.9, 0.1], [0.3, 0.7]], classes=["ham", "spam"])
    >>> T
    TransitionMatrix(2 classes, rate 0.2, clean level 2.333, dominant)
    >>> print(T)
    TransitionMatrix(2 classes, rate 0.2, clean level 2.333, dominant)
      true \\ given     ham    spam
               ham   0.900   0.100
              spam   0.300   0.700
    >>> T.corrupt(np.repeat([0, 1], 1000), seed=1)
    Corruption(2000 labels, 362 changed, rate 0.181, hash ...)
    >>> TransitionMatrix([[0.9, 0.1], [0.3, 0.8]])
    Traceback (most recent call last):
    noiseproof.errors.NoiseError: row 1 sums to 1.1, not to 1
    """

    matrix: Doubles
    classes: tuple[str, ...] | None

    def __init__(self, matrix: ArrayLike | Tensor, classes: Sequence[str] | None = None) -> None:
        """Check ``matrix`` and keep a read-only copy."""
        checked = check_matrix(matrix)
        if classes is not None and not is_listing(classes):
            raise NoiseError(f"expected the names of the classes, got {classes!r}")
        if np.ma.is_masked(classes):
            raise NoiseError("expected the names of the classes, got masked ones")
        names = None if classes is None else tuple(str(name) for name in classes)
        if names is not None and len(names) != len(checked):
            raise NoiseError(f"{len(names)} class names for a matrix of {len(checked)} classes")
        if names is not None and len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise NoiseError(f"expected classes of different names, got {twice!r} twice")
        check_same_names(matrix, names)
        object.__setattr__(self, "matrix", checked)
        object.__setattr__(self, "classes", names)

    @property
    def clean_levels(self) -> Doubles:
        """For each class i, min over j != i of T_ii / T_ij, (K,); infinite if nothing flips."""
        return ratio(np.diag(self.matrix), largest_flips(self.matrix))

    @property
    def clean_level(self) -> float:
        """The paper's c = min over i and j != i of T_ii / T_ij; above 1 clean labels dominate."""
        return float(self.clean_levels.min())

    @property
    def dominant(self) -> bool:
        """Whether T_ii > T_ij for every i and j != i: each class keeps its most frequent label."""
        return self.clean_level > 1

    @property
    def rate(self) -> float:
        """The share of wrong labels if all classes are equally frequent."""
        return self.rate_under(np.full(len(self), 1 / len(self)))

    def rate_under(self, prior: ArrayLike) -> float:
        """Return the share of wrong labels if class i has frequency ``prior[i]``.

        A Series is read by the names, or numbers, of the classes in its index.

        >>> TransitionMatrix([[0.75, 0.25], [0.25, 0.75]]).rate_under([3, 1])
        0.25
        """
        weights = to_array(in_order(prior, self.classes, len(self)))
        try:
            weights = np.empty(0) if weights.dtype.kind == "c" else weights.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            weights = np.empty(0)
        good = weights.shape == (len(self),) and bool((weights >= 0).all()) and weights.sum() > 0
        if not good or not np.isfinite(weights.sum()):
            raise NoiseError(f"expected {len(self)} class frequencies, none negative, not all zero")
        wrong = off_diagonal(self.matrix).sum(axis=1)
        return float(weights @ wrong / weights.sum())

    def strongest_confusion(self, i: int) -> int | None:
        """Return the class j != i that class i is most often labelled as; None if there is none.

        >>> TransitionMatrix([[0.6, 0.3, 0.1], [0, 1, 0], [0.2, 0.3, 0.5]]).strongest_confusion(2)
        1
        """
        if not is_whole(i) or not 0 <= i < len(self):
            raise NoiseError(f"expected a class from 0 to {len(self) - 1}, got {i!r}")
        row = off_diagonal(self.matrix)[i]
        return int(row.argmax()) if row.any() else None

    def confusions(self, at_most: float = 1.0) -> list[Confusion]:
        """Return the confusions with T_ii / T_ij <= ``at_most``, the worst first.

        With 1, these are the confusions that break dominance; with 1/r, those that a loss of
        asymmetry ratio r is not proved to withstand.

        >>> TransitionMatrix([[0.4, 0.5, 0.1], [0, 1, 0], [0.2, 0.3, 0.5]]).confusions()
        [Confusion(true=0, given=1, level=0.8)]
        """
        if is_whole(at_most):  # which may be beyond any float
            at_most = max(min(at_most, 2**1023), -(2**1023))
        at_most = as_number("at_most", at_most)
        listed = []
        for i in np.flatnonzero(self.clean_levels <= at_most):
            level = ratio(self.matrix[i, i], self.matrix[i])
            level[i] = np.inf
            for j in np.flatnonzero((level <= at_most) & np.isfinite(level)):
                listed.append(Confusion(int(i), int(j), float(level[j])))
        return sorted(listed, key=lambda confusion: confusion.level)

    def corrupt(self, labels: Labels, seed: int, exact: bool = False) -> Corruption[Labels]:
        """Return noisy labels with their receipt, drawn from the stream "noise" of ``seed``.

        Args:
            labels: (N,) true labels, an array or a tensor; the noisy ones have the same type.
            seed: the same seed gives the same labels on every platform.
            exact: whether to flip exactly int((1 - T_ii) n_i) samples of class i, as the paper
                does for CIFAR, instead of each sample independently, as it does for MNIST.

        >>> T = TransitionMatrix([[0.5, 0.5], [0, 1]])
        >>> T.corrupt(np.zeros(10, dtype=int), seed=1, exact=True).counts
        array([[5, 5],
               [0, 0]])
        """
        if not isinstance(exact, bool | np.bool_):
            raise NoiseError(f"expected `exact` to be true or false, got {exact!r}")
        true = as_labels(labels, len(self))
        draw = sampling.exact if exact else sampling.independent
        noisy = draw(self.matrix, true, stream(seed, "noise"))
        return receipt(true, noisy, len(self), labels)

    def name(self, i: int) -> str:
        """Return the name of class ``i``, or its number if classes have no names."""
        return self.classes[i] if self.classes else str(i)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the matrix as a heat map, with its values if K <= 20, and return the axes."""
        from noiseproof.noise.picture import draw

        return draw(self, ax)

    def __matmul__(self, other: "TransitionMatrix") -> "TransitionMatrix":
        """Return the noise of ``self`` followed by ``other``: the product of the matrices."""
        if not isinstance(other, TransitionMatrix):
            return NotImplemented
        if len(self) != len(other):
            raise NoiseError(f"cannot compose noise of {len(self)} and of {len(other)} classes")
        if self.classes and other.classes and self.classes != other.classes:
            raise NoiseError("cannot compose noise on classes of different names")
        return TransitionMatrix(self.matrix @ other.matrix, self.classes or other.classes)

    def __len__(self) -> int:
        return len(self.matrix)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.matrix, dtype=dtype) if copy else np.asarray(self.matrix, dtype=dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TransitionMatrix):
            return NotImplemented
        return self.classes == other.classes and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((self.matrix.tobytes(), self.classes))

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        # Unpickled arrays are writable; the constructor makes them read-only again.
        return TransitionMatrix, (self.matrix, self.classes)

    def __repr__(self) -> str:
        verdict = "dominant" if self.dominant else "not dominant"
        return (
            f"{type(self).__name__}({len(self)} classes, rate {self.rate:.4g}, "
            f"clean level {self.clean_level:.4g}, {verdict})"
        )

    def __str__(self) -> str:
        if len(self) > 20:
            return repr(self)
        names = [printable(self.name(i)) for i in range(len(self))]
        rows = [["true \\ given", *(f"{name[:6]}…" if len(name) > 7 else name for name in names)]]
        for name, row in zip(names, self.matrix, strict=True):
            rows.append([name, *(f"{value:.3f}" if value else "." for value in row)])
        left = 2 + max(len(row[0]) for row in rows)
        lines = (row[0].rjust(left) + "".join(f"{cell:>8}" for cell in row[1:]) for row in rows)
        return "\n".join([repr(self), *lines])
