"""Quadratic discriminant analysis: each class has its own covariance, of a few columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from noiseproof.learn.arrays import ArrayModel, expect
from noiseproof.learn.folds import held_together, parts
from noiseproof.learn.learner import Floats, Labels, Learner, Problem, Shape, Task, Trained
from noiseproof.learn.learners.sharpness import Sharpness, blocks
from noiseproof.learn.matrix import Matrix, Scaling
from noiseproof.noise import stream

#: The number of parts of the rows: each is held out once to see how sure the model should be.
PARTS = 5
#: The least variance that a column is taken to have inside a class; its overall variance is 1.
LEAST_SPREAD = 1e-3
#: Rows that classes need on average for their covariances.
LEAST_ROWS = 20
#: Classes and columns cost time and memory; more rarely help.
MOST_CLASSES, MOST_COLUMNS = 100, 2500
#: The covariance of a class is shrunk to the common one, as if by so many rows for each column.
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
        for rows in blocks(len(out), max(out.shape[1], matrix.shape[1])):
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

    It tells apart classes that differ in spread, or in how columns vary together, from far fewer
    rows than trees and networks need. A covariance has many entries, so only the columns are used
    that each say most about the class.

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
        """Fit each task, its sharpness found on parts that were held out."""
        matrix, together = problem.matrix("standard"), held_together(problem)
        out: list[Trained] = []
        for task in tasks:
            assert isinstance(task.learner, Quadratic)
            rows = np.flatnonzero(task.weights > 0)
            part = parts(together[rows], PARTS, stream(problem.seed, "quadratic"))
            soft, weights = task.soft(problem, rows), task.weights[rows]
            shares = np.asarray(soft * weights[:, None], dtype=np.float32)
            told = _Told(matrix.all, rows, shares, part)
            sharpness = Sharpness()
            for held in range(PARTS):
                mine, seen = np.flatnonzero(part == held), np.flatnonzero(part != held)
                if len(mine) and len(seen):
                    kept = told.columns(task.learner.columns, without=held)
                    X = matrix.all[np.ix_(rows, kept)]
                    z = _logits(X[mine], *_fitted(X[seen], shares[seen]))
                    sharpness.add(z, soft[mine], weights[mine].astype(np.float64))
            kept = told.columns(task.learner.columns)
            means, factors, bias = _fitted(matrix.all[np.ix_(rows, kept)], shares)
            s = np.float32(sharpness.best)
            out.append(QuadraticModel(matrix.scaling, kept, means, factors * np.sqrt(s), bias * s))
        return out


class _Told:
    """How much each column says about the class, if it is normally distributed in every class.

    That is the logarithm of its variance over the geometric mean of its variances inside the
    classes: twice the information in nats.

    Args:
        X: (N, D) scaled.
        rows: (n,) those in use.
        shares: (n, K) their labels times their weights.
        part: (n,) the part of each.
    """

    def __init__(self, X: Floats, rows: Labels, shares: Floats, part: Labels) -> None:
        self.sums = np.zeros((PARTS, 3, shares.shape[1], X.shape[1]))
        for some in blocks(len(rows), max(X.shape[1], shares.shape[1])):
            x = X[rows[some]].astype(np.float64)
            for held in range(PARTS):
                mine = part[some] == held
                each, values = shares[some][mine].T.astype(np.float64), x[mine]
                sums = self.sums[held]
                sums[0] += each.sum(1)[:, None]
                sums[1] += each @ values
                sums[2] += each @ values**2

    def columns(self, most: int, without: int | None = None) -> NDArray[np.int64]:
        """Return the indices of the most informative columns, by all rows or all but one part."""
        sums = self.sums.sum(0) - (0 if without is None else self.sums[without])
        size, first, second = sums
        share = size / np.maximum(size.sum(0), 1e-300)
        first, second = first / np.maximum(size, 1e-300), second / np.maximum(size, 1e-300)
        inside = np.maximum(second - first**2, LEAST_SPREAD)
        total = (share * second).sum(0) - (share * first).sum(0) ** 2
        told = np.log(np.maximum(total, LEAST_SPREAD)) - (share * np.log(inside)).sum(0)
        return np.sort(np.argsort(-told, kind="stable")[:most])


def _fitted(X: Floats, shares: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the means, factors and biases of the classes, for the columns in use."""
    size = shares.sum(0, dtype=np.float64)
    share = size / max(size.sum(), 1e-300)
    means, inside = zip(*(_moments(X, each) for each in shares.T), strict=True)
    covariance, columns = np.stack(inside), X.shape[1]
    common = np.tensordot(share, covariance, 1)
    pull = (POOLED * columns / (size + POOLED * columns))[:, None, None]
    covariance = (1 - pull) * covariance + pull * common + LEAST_SPREAD * np.eye(columns)
    factors, half_logs = np.empty_like(covariance), np.empty(len(size))
    for k, one in enumerate(covariance):
        root = cholesky(one, lower=True, check_finite=False)
        factors[k] = solve_triangular(root, np.eye(columns), lower=True).T / np.sqrt(2)
        half_logs[k] = np.log(np.diag(root)).sum()
    # A class without rows gets a prior so small that it is never predicted.
    bias = np.log(np.maximum(share, 1e-12)) - half_logs
    single = np.float32
    return np.stack(means).astype(single), factors.astype(single), bias.astype(single)


def _moments(X: Floats, share: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean (d,) and the covariance (d, d) of one class, by its share of each row."""
    rows = np.flatnonzero(share)
    x, each = X[rows].astype(np.float64), share[rows].astype(np.float64)
    each /= max(each.sum(), 1e-300)
    mean = each @ x
    x -= mean
    return mean, np.asarray((x * each[:, None]).T @ x)


def _logits(X: Floats, means: Floats, factors: Floats, bias: Floats) -> Floats:
    """Return (n, K) the log-odds of the classes, for rows of the columns in use."""
    out = np.empty((len(X), len(bias)), dtype=np.float32)
    for k, (mean, factor) in enumerate(zip(means, factors, strict=True)):
        far = (X - mean) @ factor
        out[:, k] = bias[k] - np.einsum("ij,ij->i", far, far)
    return out
