"""Naive Bayes: linear heads in closed form, where the inputs are counts or like them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from noiseproof.advise.matrix import Floats, Matrix
from noiseproof.advise.objective import Task
from noiseproof.errors import ParameterError

#: What every class is taken to have seen of every column before any row.
SMOOTHING = 1.0


def counts(matrix: Matrix) -> bool:
    """Return whether naive Bayes makes sense of the inputs: sparse, and nothing below 0."""
    if not matrix.sparse:
        return False
    values = matrix.values.data
    return bool(values.size and values.min() >= 0 and values.max() > 0)


def naive_bayes(
    matrix: Matrix, labels: NDArray[np.int64], classes: int, tasks: Sequence[Task]
) -> tuple[Floats, Floats]:
    """Return weights (D, H * K) and biases (H * K,): a head for each task, by its rows' weights.

    It needs far fewer rows than a head that is trained to come close to its best, and a wrong
    label moves it by one count only; its best is a little worse.
    """
    if not counts(matrix):
        raise ParameterError("naive Bayes needs sparse inputs, none of them negative")
    given = np.eye(classes, dtype=np.float32)[labels]
    rows = np.concatenate(
        [
            (given if task.targets is None else task.targets) * task.weights[:, None]
            for task in tasks
        ],
        axis=1,
        dtype=np.float32,
    )
    seen = (matrix.values.T @ rows).reshape(-1, len(tasks), classes) + SMOOTHING
    weight = np.log(seen) - np.log(seen.sum(axis=0))
    weight -= weight.mean(axis=2, keepdims=True)
    frequency = rows.sum(axis=0).reshape(len(tasks), classes)
    level = np.log((frequency + 1) / (frequency + 1).sum(axis=1, keepdims=True))
    factor = float(matrix.scaling.factor[0])
    wide = weight.reshape(len(weight), -1) / factor
    return wide.astype(np.float32), level.reshape(-1).astype(np.float32)
