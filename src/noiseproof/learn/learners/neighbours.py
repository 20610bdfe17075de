"""Weighted nearest neighbours, computed in blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from noiseproof.learn.arrays import ArrayModel, expect
from noiseproof.learn.learner import Floats, Learner, Problem, Shape, Task, Trained
from noiseproof.learn.matrix import Matrix, Scaling
from noiseproof.noise import stream

#: The largest number of rows to keep; from more rows, a sample is drawn.
MOST_ROWS = 20_000
#: From this many columns on that are not constant, compare directions only (cosine).
WIDE = 32
BLOCK = 64
#: Squares of distances that are smaller than this share of the squares of both rows are rounding.
ROUNDING = 1e-6
#: A neighbour at distance 0 counts 1, and the farthest of the k counts exp(-SPREAD).
SPREAD = 2.0


class NeighboursModel(ArrayModel):
    """Predicts the mean label of the k nearest rows; nearer ones count more.

    Args:
        scaling: the scaling of the features.
        rows: (M, D) scaled rows to compare with; of length 1 if ``cosine``.
        labels: (M, K) their soft labels times their weights.
        k: the number of neighbours.
        cosine: whether to compare directions only.
    """

    learner = "neighbours"

    def __init__(
        self, scaling: Scaling, rows: Floats, labels: Floats, k: int, cosine: bool
    ) -> None:
        self.scaling, self.rows, self.labels, self.k, self.cosine = scaling, rows, labels, k, cosine

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of features and of classes, (D, K)."""
        return self.rows.shape[1], self.labels.shape[1]

    def probabilities(self, X: Any) -> Floats:
        """Return (N, K), computed in blocks of rows."""
        matrix = Matrix(X, self.scaling)
        rows, labels = torch.from_numpy(self.rows), torch.from_numpy(self.labels)
        squares = rows.square().sum(1)
        out = np.empty((matrix.shape[0], labels.shape[1]), dtype=np.float32)
        for start in range(0, len(out), BLOCK):
            part = slice(start, start + BLOCK)
            x = torch.from_numpy(directed(matrix.scaled(part), self.cosine))
            # Always a whole block: of another number of rows, a product is rounded differently,
            # and which of several equal rows are the nearest would depend on the rows beside.
            block = torch.cat([x, x.new_zeros(BLOCK - len(x), x.shape[1])])
            sums = squares + x.square().sum(1, keepdim=True)
            far = sums.sub((block @ rows.t())[: len(x)], alpha=2)
            far[far < ROUNDING * sums] = 0
            out[part] = self._vote(far, labels).numpy()
        return out

    def _vote(self, far: Tensor, labels: Tensor) -> Tensor:
        distance, index = far.topk(min(self.k, far.shape[1]), largest=False)
        count = torch.exp(-SPREAD * distance / distance[:, -1:].clamp_min(1e-12))
        votes = torch.einsum("bk,bkc->bc", count, labels[index])
        # Give every class a hundredth of a vote, so that no probability is 0.
        votes += 0.01
        return votes / votes.sum(1, keepdim=True)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything the model consists of."""
        return {
            "mean": self.scaling.mean, "factor": self.scaling.factor, "rows": self.rows,
            "labels": self.labels, "k": np.array(self.k), "cosine": np.array(self.cosine),
        }  # fmt: skip

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild the model from :meth:`arrays`."""
        mean, factor, rows, labels = (arrays[n] for n in ("mean", "factor", "rows", "labels"))
        expect(rows.ndim == labels.ndim == 2 and len(rows) == len(labels) > 0, "labelled rows")
        expect(rows.dtype == labels.dtype == np.float32, "rows and labels of type float32")
        expect(mean.shape == factor.shape == rows.shape[1:], "a scale for each feature")
        expect(int(arrays["k"]) > 0, "one neighbour at least")
        return cls(Scaling(mean, factor), rows, labels, int(arrays["k"]), bool(arrays["cosine"]))


@dataclass(frozen=True)
class Neighbours(Learner):
    """The k nearest neighbours.

    Args:
        k: the number of neighbours.
    """

    name: ClassVar[str] = "neighbours"
    trained: ClassVar[type[Trained]] = NeighboursModel
    dense_only: ClassVar[bool] = True

    k: int = 20

    @classmethod
    def suits(cls, shape: Shape) -> bool:
        """Return whether distances are meaningful: the columns are dense and not too many."""
        few = shape.columns <= 4096 and not shape.is_vast
        return not shape.sparse and few and shape.rows >= 50

    @classmethod
    def first(cls, shape: Shape) -> Sequence[Self]:
        """Return a small and a large number of neighbours."""
        return [cls(k) for k in (10, 40) if k < shape.rows / 4] or [cls(5)]

    @classmethod
    def train(cls, problem: Problem, tasks: Sequence[Task]) -> list[Trained]:
        """Keep the rows of each task."""
        matrix = problem.matrix("standard")
        cosine = matrix.scaling.moving >= WIDE
        out: list[Trained] = []
        for task in tasks:
            learner, rows = task.learner, np.flatnonzero(task.weights > 0)
            assert isinstance(learner, Neighbours)
            if len(rows) > MOST_ROWS:
                drawn = stream(problem.seed, "neighbours").permutation(len(rows))
                rows = np.sort(rows[drawn[:MOST_ROWS]])
            labels = task.soft(problem, rows) * task.weights[rows, None]
            table = directed(matrix.scaled(rows), cosine)
            kept = np.asarray(labels / labels.sum(1).mean(), dtype=np.float32)
            out.append(NeighboursModel(matrix.scaling, table, kept, learner.k, cosine))
        return out


def directed(rows: Floats, cosine: bool) -> Floats:
    """Return the rows, normalised to length 1 if ``cosine``."""
    if not cosine:
        return rows
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))
