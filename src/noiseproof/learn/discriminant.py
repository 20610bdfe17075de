"""Linear discriminant analysis with shrinkage, optionally with the true class as latent."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax

from noiseproof.learn.learner import Floats, Learner, Problem, Shape, Task, Trained
from noiseproof.learn.linear import LinearModel
from noiseproof.learn.matrix import Scaling
from noiseproof.noise import stream

#: The number of parts of the rows, so that no row is judged by a model that has seen it.
PARTS = 5
#: Variance that every column is taken to have inside a class; its variance in all is 1.
LEAST_SPREAD = 1e-4
STEPS = 20
#: The prior of the noise matrix: each class has kept this many labels, and lost one in total.
KEPT = 10.0
#: Limits for a quick covariance: columns, and rows times squared columns.
MOST_COLUMNS = 2500
MOST_WORK = 1e11
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
        work = shape.rows * shape.columns**2
        few = shape.columns <= MOST_COLUMNS and work <= MOST_WORK
        return not shape.sparse and few and shape.rows >= 5 * shape.classes

    @classmethod
    def first(cls, shape: Shape) -> Sequence[Self]:
        """Return several shrinkages, without and (if the classes are not too many) with latents."""
        if shape.is_vast:
            return [cls(0.1)]
        strengths = (0.01, 0.1, 0.5) if shape.columns > 10 else (0.01, 0.2)
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
        rows = np.flatnonzero(tasks[0].weights > 0)
        moments = _Moments(matrix.all[rows], tasks[0].weights[rows], problem.seed)
        out: list[Trained] = []
        for task in tasks:
            learner, given = task.learner, np.asarray(task.soft(problem)[rows])
            assert isinstance(learner, Discriminant)
            if learner.latent:
                given = _latent(moments, given, learner.shrinkage)
            out.append(_Lines.of(moments, given, learner.shrinkage).model(matrix.scaling))
        return out


class _Moments:
    """Rows dealt into parts, with the second moments of each part."""

    def __init__(self, X: Floats, weights: Floats, seed: int) -> None:
        self.X, self.weights = X, np.asarray(weights, dtype=np.float64)
        self.part = stream(seed, "discriminant").permutation(len(X)) % PARTS
        self.second = []
        for part in range(PARTS):
            x = X[self.part == part]
            scaled = x * self.weights[self.part == part, None].astype(np.float32)
            self.second.append((x.T @ scaled).astype(np.float64))
        self.all = np.sum(self.second, axis=0)


@dataclass(frozen=True, eq=False)
class _Lines:
    """x W + b: the log-odds of the classes."""

    weight: NDArray[np.float64]
    bias: NDArray[np.float64]

    @classmethod
    def of(
        cls, moments: _Moments, soft: Floats, shrinkage: float, without: int | None = None
    ) -> "_Lines":
        """Fit the classes to soft labels (n, K), without one part of the rows if given."""
        X, second = moments.X, moments.all
        share = soft * moments.weights[:, None]
        if without is not None:
            share = share * (moments.part != without)[:, None]
            second = second - moments.second[without]
        count = share.sum(0)
        means = (X.T @ share.astype(np.float32)).astype(np.float64) / np.maximum(count, 1e-12)
        total = float(count.sum())
        within = (second - (means * count) @ means.T) / total
        level = float(np.trace(within)) / len(within)
        within *= 1 - shrinkage
        # Where a class has no spread at all, a little keeps rounding from making it negative.
        within[np.diag_indices_from(within)] += max((shrinkage + 1e-6) * level, LEAST_SPREAD)
        weight = cho_solve(cho_factor(within, lower=True, check_finite=False), means)
        # A class without rows gets a prior so small that it is never predicted.
        prior = np.log(np.maximum(count / total, 1e-12))
        return cls(weight, prior - 0.5 * (means * weight).sum(0))

    def probabilities(self, X: Floats) -> Any:
        return softmax(X @ self.weight + self.bias, axis=1)

    def model(self, scaling: Scaling) -> DiscriminantModel:
        return DiscriminantModel(
            scaling, self.weight.astype(np.float32), self.bias.astype(np.float32)
        )


def _latent(moments: _Moments, given: Floats, shrinkage: float) -> Floats:
    """Return the probability of each true class given features and labels, (n, K)."""
    classes = given.shape[1]
    prior = np.full((classes, classes), 1 / max(1, classes - 1))
    np.fill_diagonal(prior, KEPT)
    true = given
    for _ in range(STEPS):
        p = np.empty_like(given)
        for part in range(PARTS):
            here = moments.part == part
            if here.any():
                lines = _Lines.of(moments, true, shrinkage, without=part)
                p[here] = lines.probabilities(moments.X[here])
        before = true
        noise = true.T @ (given * moments.weights[:, None]) + prior
        noise /= noise.sum(1, keepdims=True)
        true = p * (given @ noise.T)
        true /= np.maximum(true.sum(1, keepdims=True), 1e-300)
        if float(np.abs(true - before).mean()) < 1e-4:
            break
    return true
