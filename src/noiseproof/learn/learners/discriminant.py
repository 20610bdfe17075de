"""Linear discriminant analysis with shrinkage, optionally with the true class as latent."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax

from noiseproof.learn.directions import MOST_COLUMNS, MOST_DIRECTIONS, Directions
from noiseproof.learn.folds import held_together, parts
from noiseproof.learn.learner import Floats, Labels, Learner, Problem, Shape, Task, Trained
from noiseproof.learn.learners.linear import LinearModel
from noiseproof.learn.learners.sharpness import Sharpness, blocks
from noiseproof.noise import stream

#: The number of parts of the rows, so that no row is judged by a model that has seen it.
PARTS = 5
#: Variance that every column is taken to have inside a class; its variance in all is 1.
LEAST_SPREAD = 1e-4
STEPS = 20
#: With more rows, one part of them says how sharp log-odds should be.
MANY = 5000
#: Levels of the shrinkage that differ by less than this share are the same.
SAME_LEVEL = 0.02
#: The prior of the noise matrix: each class has kept this many labels, and lost one in total.
KEPT = 10.0
#: The limit for a quick covariance: rows times columns times directions.
MOST_WORK = 1e11
#: Up to so many numbers, the rows of a task are copied: a copy is quicker to pass over.
MOST_COPIED = 8_000_000
#: Latent classes cost the square of their number.
MOST_LATENT = 200


class DiscriminantModel(LinearModel):
    """A linear model: with equal covariances, the log-odds of the classes are linear."""

    learner = "discriminant"


@dataclass(frozen=True)
class Discriminant(Learner):
    """Models the classes as normal distributions with a common covariance.

    Args:
        shrinkage: how far the covariance is pulled to a multiple of the identity, 0 to 1.
        latent: whether the true class is unknown. Then expectation-maximisation finds it together
            with a noise matrix. The expectation for a row comes from a model that was fitted
            without it; a model that has seen the row would believe its label.
    """

    name: ClassVar[str] = "discriminant"
    trained: ClassVar[type[Trained]] = DiscriminantModel
    dense_only: ClassVar[bool] = True

    shrinkage: float = 0.1
    latent: bool = False

    @classmethod
    def suits(cls, shape: Shape) -> bool:
        """Return whether a covariance is quick to compute, and rows are enough."""
        wide = shape.columns > min(shape.rows, MOST_COLUMNS)
        directions = min(shape.rows, MOST_DIRECTIONS) if wide else shape.columns
        few = shape.rows * shape.columns * directions <= MOST_WORK
        return not shape.sparse and few and shape.rows >= 5 * shape.classes

    @classmethod
    def first(cls, shape: Shape) -> Sequence[Self]:
        """Return several shrinkages, without and (if the classes are not too many) with latents."""
        if shape.is_vast:
            return [cls(0.1)]
        strengths: tuple[float, ...] = (0.01, 0.2)
        if shape.columns > 10:
            strengths = (0.01, 0.1, 0.5)
        if shape.columns >= shape.rows / 10:  # many columns for so few rows
            strengths = (0.1, 0.5, 0.9)
        kinds = (False, True) if shape.classes <= MOST_LATENT else (False,)
        return [cls(strength, latent) for latent in kinds for strength in strengths]

    @property
    def models_noise(self) -> bool:
        """Whether the true class is latent."""
        return self.latent

    @classmethod
    def group(cls, task: Task) -> Hashable:
        """Return its rows: such tasks share one matrix of second moments."""
        return id(task.weights)

    @classmethod
    def train(cls, problem: Problem, tasks: Sequence[Task]) -> list[Trained]:
        """Compute the moments of the rows once, then fit each task."""
        matrix = problem.matrix("standard")
        directions = matrix.directions(problem.seed)
        columns, copies = max(1, matrix.scaling.moving), held_together(problem)
        moments = _Moments(directions, tasks[0].weights, columns, copies, problem.seed)
        out: list[Trained] = []
        for task in tasks:
            learner, given = task.learner, task.soft(problem, moments.rows)
            assert isinstance(learner, Discriminant)
            parts = _Parts(moments, given, learner.shrinkage)
            soft = _latent(parts) if learner.latent else given
            lines = _Covariance(moments, learner.shrinkage).lines(soft)
            weight = directions.back((parts.sharpness * lines.weight).astype(np.float32))
            bias = (parts.sharpness * lines.bias).astype(np.float32)
            out.append(DiscriminantModel(matrix.scaling, weight, bias))
        return out


class _Moments:
    """Rows dealt into parts, one part after the other, with the second moments of each part.

    Args:
        directions: the rows of the problem.
        weights: (N,) their weights; rows without weight are left out.
        columns: the number of features that are not constant.
        copies: (N,) a number for each row; rows of equal numbers share a part.
        seed: deals the rows.
    """

    def __init__(
        self, directions: Directions, weights: Floats, columns: int, copies: Labels, seed: int
    ) -> None:
        used = np.flatnonzero(weights > 0)
        part = parts(copies[used], PARTS, stream(seed, "discriminant"))
        self.rows = used[np.argsort(part, kind="stable")]
        ends = np.cumsum(np.bincount(part, minlength=PARTS)).tolist()
        self.parts = [slice(start, end) for start, end in pairwise([0, *ends])]
        self.weights = weights[self.rows].astype(np.float64)
        self._from, self._copy = directions.rows, None
        if self.rows.size * directions.rows.shape[1] <= MOST_COPIED:
            self._copy = directions.rows[self.rows]
        self.squares = directions.squares[self.rows] * self.weights
        self.columns = columns
        self.second = []
        for these in self.parts:
            X = self.read(these)
            scaled = X * self.weights[these, None].astype(np.float32)
            self.second.append((X.T @ scaled).astype(np.float64))
        self.all = np.sum(self.second, axis=0)

    def read(self, some: slice) -> NDArray[Any]:
        """Return some of the rows."""
        return self._from[self.rows[some]] if self._copy is None else self._copy[some]


@dataclass(frozen=True, eq=False)
class _Lines:
    """x W + b: the log-odds of the classes."""

    weight: NDArray[np.float64]
    bias: NDArray[np.float64]


class _Covariance:
    """The shrunken covariance inside the classes, of all rows or of all but one part.

    It is S - M C M', scaled and shrunken: S are the second moments of the rows, M (d, K) the means
    and C the sizes of the classes. When the classes change, only M, C and the level of the
    shrinkage do, and the level hardly. So what is left of S is factored once for each level, and
    Woodbury's identity does the rest:

        (A - M D M')^-1 M = A^-1 M (I - D M' A^-1 M)^-1

    Args:
        moments: of the rows.
        shrinkage: 0 to 1.
        without: a part of the rows to leave out.
    """

    def __init__(self, moments: _Moments, shrinkage: float, without: int | None = None) -> None:
        self.moments, self.shrinkage, self.without = moments, shrinkage, without
        self.used = moments.weights
        if without is not None:
            self.used = self.used.copy()
            self.used[moments.parts[without]] = 0
        self.total = float(self.used.sum()) or 1.0  # a single row leaves none
        self.squares = float(moments.squares[self.used > 0].sum())
        self.level, self.factor = np.nan, None

    def _classes(self, soft: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the sizes (K,) and the means (d, K) of the classes."""
        moments, (rows, classes) = self.moments, soft.shape
        columns = len(moments.all)
        count, sums = np.zeros(classes), np.zeros((columns, classes))
        for some in blocks(rows, max(classes, columns)):  # what is done to a block makes copies
            used = self.used[some]
            if not used.any():
                continue
            weighted = np.asarray(soft[some] * used[:, None], dtype=np.float32)
            count += used @ soft[some]
            sums += moments.read(some).T @ weighted
        return count, sums / np.maximum(count, 1e-12)

    def _factor(self, level: float) -> Any:
        """Return the factored A, of this level or one that is nearly the same."""
        if not abs(level - self.level) <= SAME_LEVEL * self.level:
            self.level, self.factor = level, self._factored(level)
        return self.factor

    def _factored(self, level: float, between: NDArray[np.float64] | float = 0.0) -> Any:
        """Return the factors of the shrunken second moments without those between classes."""
        second = self.moments.all
        if self.without is not None:
            second = second - self.moments.second[self.without]
        shrunk = (second - between) * ((1 - self.shrinkage) / self.total)
        # Where a class has no spread at all, a little keeps rounding from making it negative.
        least = max((self.shrinkage + 1e-6) * level, LEAST_SPREAD)
        shrunk[np.diag_indices_from(shrunk)] += least
        return cho_factor(shrunk, lower=True, overwrite_a=True, check_finite=False)

    def lines(self, soft: Floats) -> _Lines:
        """Fit the classes to soft labels (n, K)."""
        count, means = self._classes(soft)
        level = (self.squares - float(count @ (means**2).sum(0))) / self.total
        level = max(level / self.moments.columns, 0.0)
        if means.shape[0] <= means.shape[1]:  # the identity would cost the cube of the classes
            factor = self._factored(level, (means * count) @ means.T)
            weight = cho_solve(factor, means, check_finite=False)
        else:
            solved = cho_solve(self._factor(level), means, check_finite=False)
            between = (1 - self.shrinkage) * count / self.total
            rest = np.eye(len(count)) - between[:, None] * (means.T @ solved)
            weight = np.linalg.solve(rest.T, solved.T).T
        # A class without rows gets a prior so small that it is never predicted.
        prior = np.log(np.maximum(count / self.total, 1e-12))
        return _Lines(weight, prior - 0.5 * (means * weight).sum(0))


class _Parts:
    """Models fitted without one part of the rows each, for the rows of that part.

    In many dimensions the log-odds are far too large. Their sharpness is chosen once, by how well
    models of the labels as given predict the labels of rows that they have not seen. Chosen again
    after the classes have changed, it and the noise would explain each other.

    Args:
        moments: of the rows.
        given: (n, K) labels as given.
        shrinkage: 0 to 1.
    """

    def __init__(self, moments: _Moments, given: Floats, shrinkage: float) -> None:
        self.moments, self.given = moments, given
        parts = [part for part, rows in enumerate(moments.parts) if rows.start < rows.stop]
        self.without = {part: _Covariance(moments, shrinkage, part) for part in parts}
        few = parts if len(given) <= MANY else parts[:1]
        sharpness = Sharpness()
        for part in few:
            rows = moments.parts[part]
            sharpness.add(self._logits(given, part), given[rows], moments.weights[rows])
        self.sharpness = sharpness.best

    def _logits(self, soft: Floats, part: int) -> Floats:
        """Return those of a model that is fitted to soft labels, for the rows of a part."""
        lines = self.without[part].lines(soft)
        X = self.moments.read(self.moments.parts[part])
        return np.asarray(X @ lines.weight.astype(np.float32) + lines.bias.astype(np.float32))

    def probabilities(self, soft: Floats) -> Floats:
        """Return (n, K) of models that are fitted to soft labels, sharpened."""
        z = np.zeros(soft.shape, dtype=np.float32)
        for part in self.without:
            z[self.moments.parts[part]] = self._logits(soft, part)
        return np.asarray(softmax(self.sharpness * z, axis=1))


def _latent(parts: _Parts) -> Floats:
    """Return the probability of each true class given features and labels, (n, K)."""
    given, weights = parts.given, parts.moments.weights
    classes = given.shape[1]
    prior = np.full((classes, classes), 1 / max(1, classes - 1))
    np.fill_diagonal(prior, KEPT)
    true = given
    for _ in range(STEPS):
        before = true
        noise = true.T @ (given * weights[:, None]) + prior
        noise /= noise.sum(1, keepdims=True)
        true = parts.probabilities(true) * (given @ noise.T)
        true /= np.maximum(true.sum(1, keepdims=True), 1e-300)
        if float(np.abs(true - before).mean()) < 1e-4:
            break
    return true
