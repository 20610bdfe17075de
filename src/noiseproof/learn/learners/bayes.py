"""A linear model that decay pulls to naive Bayes instead of 0; for words and other counts."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from noiseproof.learn.learner import Floats, Learner, Problem, Shape, Task, Trained
from noiseproof.learn.learners.linear import LinearModel, Solver
from noiseproof.learn.matrix import LENGTH, Matrix

#: The pseudo-count of every word in every class. One is usual, and a point better on clean labels;
#: on noisy labels, where a rare word says little, three is a point better.
SMOOTHING = 3.0


class BayesModel(LinearModel):
    """A linear model under the name of its learner."""

    learner = "bayes"


@dataclass(frozen=True)
class Bayes(Learner):
    """A linear model pulled towards naive Bayes.

    Naive Bayes needs far fewer rows than logistic regression to come close to its best, and a
    wrong label changes it by only one count; its best is a little worse. Strong decay is safe
    here: it only pulls towards naive Bayes.

    Args:
        loss: the loss to minimise, as text.
        decay: how strongly the weights are pulled to those of naive Bayes.
    """

    name: ClassVar[str] = "bayes"
    trained: ClassVar[type[Trained]] = BayesModel
    takes_noise: ClassVar[bool] = True

    loss: str = "CE"
    decay: float = 1e-2

    DECAYS: ClassVar[tuple[float, ...]] = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3)

    @classmethod
    def suits(cls, shape: Shape) -> bool:
        """Return whether the features are sparse."""
        return shape.sparse

    @classmethod
    def first(cls, shape: Shape) -> Sequence["Bayes"]:
        """Return several decays with CE."""
        return [cls("CE", decay) for decay in cls.DECAYS]

    @classmethod
    def group(cls, task: Task) -> Hashable:
        """Return its loss."""
        return task.learner.loss

    @classmethod
    def train(cls, problem: Problem, tasks: Sequence[Task]) -> list[Trained]:
        """Start at naive Bayes and stay near it, as the decay requires."""
        matrix = problem.matrix("common")
        solver = Solver(problem, matrix)
        out: list[Trained] = []
        for part in solver.fitting(range(len(tasks))):
            here = [tasks[i] for i in part]
            goal = torch.from_numpy(naive_bayes(problem, matrix, here))
            decays = [task.learner.decay for task in here]  # type: ignore[attr-defined]
            solved = solver.solve(here, decays, goal, goal)
            out += [BayesModel(matrix.scaling, one.weight, one.bias) for one in solved]
        return out


def naive_bayes(problem: Problem, matrix: Matrix, tasks: Sequence[Task]) -> Floats:
    """Return (H, (D + 1) K): for each task the weights and, as the last row, the biases.

    Columns with negative values are not counts, and their weights are 0. The unit of the features
    does not matter: rows count as if their mean squared length were 1, as with TF-IDF, and
    smoothing is in units of the mean entry.
    """
    X, classes = matrix.values, problem.classes
    rows = np.concatenate(
        [task.soft(problem) * task.weights[:, None] for task in tasks], axis=1, dtype=np.float32
    )
    low = X.min(axis=0)
    counts = np.asarray(low.toarray() if matrix.sparse else low).ravel() >= 0
    entries = X.data if matrix.sparse else X
    entries = entries[entries > 0]
    more = SMOOTHING * float(entries.mean()) if len(entries) else 1.0
    seen = np.asarray(X.T @ rows).reshape(-1, len(tasks), classes)[counts] + more
    weight = np.zeros((len(counts), len(tasks), classes), dtype=np.float32)
    if counts.any():
        weight[counts] = np.log(seen) - np.log(seen.sum(axis=0))
    weight -= weight.mean(axis=2, keepdims=True)
    frequency = rows.sum(axis=0).reshape(len(tasks), classes) + 1
    level = np.log(frequency / frequency.sum(axis=1, keepdims=True))
    both = np.concatenate([weight * (1 / math.sqrt(LENGTH)), level[None]]).transpose(1, 0, 2)
    return np.ascontiguousarray(both.reshape(len(tasks), -1))
