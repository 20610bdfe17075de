"""Naive Bayes: linear heads in closed form, where the inputs are counts or something like them."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import ParameterError
from noiseproof.learn.matrix import SPARSE_LENGTH, Floats, Matrix
from noiseproof.learn.objective import Task

#: How often every class is taken to have seen every word before any row. One is usual and a point
#: better on clean labels; on noisy ones, where a rare word says little, three is a point better.
SMOOTHING = 3.0


def naive_bayes(
    matrix: Matrix, labels: NDArray[np.int64], classes: int, tasks: Sequence[Task]
) -> tuple[Floats, Floats]:
    """Return weights (D, H * K) and biases (H * K,): a head for each task, by its rows' weights.

    It needs far fewer rows than a head that is trained to come close to its best, and a wrong
    label moves it by one count only; its best is a little worse. Columns that have negative values
    are no counts: their weights are 0. The unit of the inputs does not matter: rows count as if
    their mean squared length were 1, that of TF-IDF, and smoothing is so many mean entries.
    """
    if not matrix.sparse:
        raise ParameterError("a head drawn to naive Bayes needs sparse inputs")
    given = np.eye(classes, dtype=np.float32)[labels]
    rows = np.concatenate(
        [
            (given if task.targets is None else task.targets) * task.weights[:, None]
            for task in tasks
        ],
        axis=1,
        dtype=np.float32,
    )
    counts = matrix.values.min(axis=0).toarray().ravel() >= 0
    unit = 1 / math.sqrt(SPARSE_LENGTH)
    entries = matrix.values.data[matrix.values.data > 0]
    more = SMOOTHING * float(entries.mean()) if len(entries) else 1.0
    seen = (matrix.values.T @ rows).reshape(-1, len(tasks), classes)[counts] + more
    weight = np.zeros((len(counts), len(tasks), classes), dtype=np.float32)
    weight[counts] = np.log(seen) - np.log(seen.sum(axis=0))
    weight -= weight.mean(axis=2, keepdims=True)
    frequency = rows.sum(axis=0).reshape(len(tasks), classes)
    level = np.log((frequency + 1) / (frequency + 1).sum(axis=1, keepdims=True))
    return weight.reshape(len(weight), -1) * unit, level.reshape(-1).astype(np.float32)
