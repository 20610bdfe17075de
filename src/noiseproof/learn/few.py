"""A handful of rows: logistic regression to the optimum, which no order of the rows can move."""

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from noiseproof.learn.head import Heads
from noiseproof.learn.matrix import Matrix

#: The most weights for which a second-order solver is quick.
SECOND_ORDER = 500


def optimum(
    matrix: Matrix,
    labels: NDArray[np.int64],
    classes: int,
    weights: NDArray[np.floating],
    decay: float,
) -> Heads:
    """Return the linear head that minimises CE and its decay, in double precision.

    Args:
        matrix: (N, D) the inputs.
        labels: (N,) 0 to K-1; a class without rows gets a probability near 0.
        classes: K.
        weights: (N,) what each row counts; rows of weight 0 are left out.
        decay: as :class:`~noiseproof.learn.objective.Task` has it.
    """
    rows = np.flatnonzero(weights)
    weight = np.zeros((1, matrix.shape[1], classes))
    bias = np.full((1, classes), -30.0)
    present = np.unique(labels[rows])
    bias[0, present] = 0
    if len(present) > 1:
        solver = "newton-cholesky" if weight.size <= SECOND_ORDER else "lbfgs"
        counted = np.asarray(weights, dtype=np.float64)[rows]
        model = LogisticRegression(
            C=1 / (decay * counted.sum()), solver=solver, tol=1e-10, max_iter=1000
        )
        with warnings.catch_warnings():
            # Where a plane parts the classes the solver says so, and goes on with another one.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(matrix.scaled(rows), labels[rows], counted)
        found, level = model.coef_, model.intercept_
        if len(present) == 2:  # one row of weights stands for the difference of the two
            found, level = (
                np.concatenate([-found / 2, found / 2]),
                np.array([-level[0], level[0]]) / 2,
            )
        weight[0][:, present], bias[0, present] = found.T, level
    return Heads(matrix.scaling, classes, ((weight, bias),))
