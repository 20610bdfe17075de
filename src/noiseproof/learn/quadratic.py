"""Quadratic discriminant analysis: every class with its own covariance, on the telling columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from noiseproof.learn.arrays import ArrayModel, expect
from noiseproof.learn.folds import alike, with_copies
from noiseproof.learn.learner import Floats, Learner, Problem, Shape, Task, Trained
from noiseproof.learn.matrix import Matrix, Scaling
from noiseproof.learn.sharpness import Sharpness, blocks
from noiseproof.noise import stream

#: The number of parts of the rows: each is held out once to see how sure the model should be.
PARTS = 5
#: Variance that a column has inside a class at least; its variance in all is 1.
LEAST_SPREAD = 1e-3
#: Rows that each class should have on average: its covariance is made of them.
LEAST_ROWS = 20
#: Classes and columns cost time and memory; more rarely help.
MOST_CLASSES, MOST_COLUMNS = 100, 2500
#: The covariance of a class is pulled to the common one, as if by so many rows for each column.
POOLED = 1.0
#: Numbers of columns to try.
COLUMNS = (4, 10, 30)


class QuadraticModel(ArrayModel):
    """softmax(b_k - |(x - m_k) F_k|²), x some of the scaled columns.

    Args:
        scaling: of all features.
        columns: (d,) the numbers of the columns in use.
        means: (K, d).
        factors: (K, d, d).
        bias: (K,).
    """

    learner = "quadratic"

    def __init__(
        self, scaling: Scaling, columns: NDArray[np.int64], means: Floats, factors: Floats,
        bias: Floats,
    ) -> None:  # fmt: skip
        self.scaling, self.columns = scaling, columns
        self.means, self.factors, self.bias = means, factors, bias

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of features and of classes, (D, K)."""
        return len(self.scaling.mean), len(self.bias)

    def probabilities(self, X: Any) -> Floats:
        """Return (N, K), computed in blocks of rows."""
        matrix = Matrix(X, self.scaling)
        out = np.empty((matrix.shape[0], len(self.bias)), dtype=np.float32)
        for rows in blocks(*matrix.shape):
            z = _logits(matrix.scaled(rows)[:, self.columns], self.means, self.factors, self.bias)
            out[rows] = torch.softmax(torch.from_numpy(z), -1).numpy()
        return out

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything the model consists of."""
        return {
            "mean": self.scaling.mean, "factor": self.scaling.factor, "columns": self.columns,
            "means": self.means, "factors": self.factors, "bias": self.bias,
        }  # fmt: skip

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild the model from :meth:`arrays`."""
        mean, factor, columns = (arrays[name] for name in ("mean", "factor", "columns"))
        means, factors, bias = (arrays[name] for name in ("means", "factors", "bias"))
        expect(mean.ndim == 1 and mean.shape == factor.shape, "a scale for each feature")
        expect(columns.ndim == 1 and columns.dtype.kind in "iu", "the numbers of columns")
        expect(bool(((columns >= 0) & (columns < len(mean))).all()), "numbers of the features")
        expect(bias.ndim == 1 and means.shape == (len(bias), len(columns)), "a mean a class")
        expect(factors.shape == (*means.shape, len(columns)), "a covariance a class")
        return cls(Scaling(mean, factor), columns, means, factors, bias)


@dataclass(frozen=True)
class Quadratic(Learner):
    """Models the classes as normal distributions, each with its own covariance.

    It tells classes apart that differ in spread, or in how columns go together, from far fewer rows
    than trees and networks need. A covariance has many entries, so it is made for the columns
    alone that tell most by themselves.

    Args:
        columns: how many columns to use at most.
    """

    name: ClassVar[str] = "quadratic"
    trained: ClassVar[type[Trained]] = QuadraticModel
    dense_only: ClassVar[bool] = True

    columns: int = 10

    @classmethod
    def suits(cls, shape: Shape) -> bool:
        """Return whether classes are few, and have rows enough for a covariance."""
        few = shape.classes <= MOST_CLASSES and shape.columns <= MOST_COLUMNS
        return not shape.sparse and few and shape.rows >= LEAST_ROWS * shape.classes

    @classmethod
    def first(cls, shape: Shape) -> Sequence[Self]:
        """Return few and many columns."""
        return [
            cls(most) for most in sorted({min(most, max(1, shape.columns)) for most in COLUMNS})
        ]

    @classmethod
    def train(cls, problem: Problem, tasks: Sequence[Task]) -> list[Trained]:
        """Fit each task, after its sharpness was found on parts that were held out."""
        matrix, copies = problem.matrix("standard"), alike(problem.features)
        out: list[Trained] = []
        for task in tasks:
            assert isinstance(task.learner, Quadratic)
            rows = np.flatnonzero(task.weights > 0)
            X, soft = matrix.all[rows], task.soft(problem, rows)
            weights = task.weights[rows].astype(np.float64)
            drawn = stream(problem.seed, "quadratic").permutation(len(rows)) % PARTS
            part, sharpness = with_copies(drawn, copies[rows]), Sharpness()
            for held in range(PARTS):
                mine, seen = np.flatnonzero(part == held), np.flatnonzero(part != held)
                if len(mine) and len(seen):
                    kept, *fitted = task.learner._fit(X[seen], soft[seen], weights[seen])
                    z = _logits(X[mine][:, kept], *fitted)
                    sharpness.add(z, soft[mine], weights[mine])
            kept, means, factors, bias = task.learner._fit(X, soft, weights)
            s = np.float32(sharpness.best)
            out.append(QuadraticModel(matrix.scaling, kept, means, factors * np.sqrt(s), bias * s))
        return out

    def _fit(
        self, X: Floats, soft: Floats, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
        """Return the columns in use, and the means, factors and biases of the classes."""
        parts = np.asarray(soft * weights[:, None], dtype=np.float64)
        size = parts.sum(0)
        share = size / max(size.sum(), 1e-300)
        parts /= np.maximum(size, 1e-300)
        kept = np.sort(np.argsort(-_told(X, parts, share), kind="stable")[: self.columns])
        used = X[:, kept].astype(np.float64)
        means = parts.T @ used
        inside = np.stack([_covariance(used, parts[:, k], mean) for k, mean in enumerate(means)])
        common = np.tensordot(share, inside, 1)
        pull = (POOLED * len(kept) / (size + POOLED * len(kept)))[:, None, None]
        inside = (1 - pull) * inside + pull * common
        factors, half_logs = np.empty_like(inside), np.empty(len(size))
        for k, covariance in enumerate(inside):
            covariance[np.diag_indices_from(covariance)] += LEAST_SPREAD
            root = cholesky(covariance, lower=True, check_finite=False)
            factors[k] = solve_triangular(root, np.eye(len(root)), lower=True).T / np.sqrt(2)
            half_logs[k] = np.log(np.diag(root)).sum()
        # A class without rows gets a prior so small that it is never predicted.
        bias = np.log(np.maximum(share, 1e-12)) - half_logs
        single = np.float32
        return kept, means.astype(single), factors.astype(single), bias.astype(single)


def _told(X: Floats, parts: Floats, share: Floats) -> NDArray[np.float64]:
    """Return (D,) how much each column tells of the class if it is normal in every class.

    That is the information in nats: half the logarithm of the variance over its geometric mean
    inside the classes.
    """
    first, second = parts.T @ X, np.zeros((len(share), X.shape[1]))
    for rows in blocks(*X.shape):
        second += parts[rows].T @ X[rows] ** 2
    spread = np.maximum(second - first**2, LEAST_SPREAD)
    mean = share @ first
    total = np.maximum(share @ second - mean**2, LEAST_SPREAD)
    return np.asarray(np.log(total) - share @ np.log(spread)) / 2


def _covariance(
    X: NDArray[np.float64], parts: NDArray[np.float64], mean: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (d, d) that of one class, whose parts of the rows sum to 1."""
    rows = np.flatnonzero(parts)
    centred = X[rows] - mean
    return np.asarray((centred * parts[rows, None]).T @ centred)


def _logits(X: Floats, means: Floats, factors: Floats, bias: Floats) -> Floats:
    """Return (n, K) the log-odds of the classes, for rows of the columns in use."""
    far = [((X - mean) @ factor) for mean, factor in zip(means, factors, strict=True)]
    return np.stack([b - np.einsum("ij,ij->i", z, z) for b, z in zip(bias, far, strict=True)], 1)
