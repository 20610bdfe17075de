"""Out-of-fold probabilities: what heads that never saw a row say about it."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noiseproof import losses
from noiseproof.errors import DataError
from noiseproof.learn.head import Heads, Kind, Training, train
from noiseproof.learn.matrix import Floats, Matrix
from noiseproof.learn.objective import Task
from noiseproof.losses import Loss
from noiseproof.noise import stream

Labels = NDArray[np.int64]


def out_of_fold(
    X: Any,
    y: ArrayLike,
    classes: int | None = None,
    *,
    loss: str | Loss = "GCE(q=0.7)",
    kind: Kind = "linear",
    folds: int = 5,
    seed: int = 0,
    sample_weight: ArrayLike | None = None,
) -> Floats:
    """Return (N, K): the class probabilities of each row by a head trained without its fold.

    The loss is a robust one, so that the probabilities are not those of memorised noise.

    Args:
        X: (N, D) dense or scipy-sparse.
        y: (N,) labels 0 to K-1.
        classes: K; the highest label and one without it.
        loss: what the heads minimise.
        kind: of the heads, ``"linear"`` or ``"mlp"``.
        folds: how many parts the rows are dealt into, each class evenly.
        seed: the same seed gives the same probabilities.
        sample_weight: (N,) what each row counts.

    >>> X = np.repeat(np.eye(2), 20, axis=0)
    >>> probabilities = out_of_fold(X, np.repeat([0, 1], 20))
    >>> probabilities.shape, bool((probabilities[:20, 0] > 0.9).all())
    ((40, 2), True)
    """
    labels = np.asarray(y, dtype=np.int64)
    count = int(labels.max()) + 1 if classes is None else classes
    fold = deal(labels, folds, seed)
    weights = row_weights(sample_weight, len(labels))
    made = losses.loss(loss) if isinstance(loss, str) else loss
    matrix = Matrix(X)
    tasks = [Task(made, held_out(weights, fold, f), start=f) for f in range(folds)]
    heads = train(matrix, labels, count, tasks, Training(kind=kind), seed)
    probabilities: Floats = held_out_probabilities(heads, matrix, fold)[0]
    return probabilities


def deal(labels: Labels, folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each row: every class is spread evenly over the folds.

    >>> np.bincount(deal(np.repeat([0, 1], [10, 5]), 5, seed=0))
    array([3, 3, 3, 3, 3])
    """
    if folds < 2:
        raise DataError(f"expected 2 folds or more, got {folds}")
    shuffled = stream(seed, "folds").permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    fold = np.empty(len(labels), dtype=np.int64)
    fold[by_class] = np.arange(len(labels)) % folds
    return fold


def row_weights(sample_weight: ArrayLike | None, rows: int) -> Floats:
    """Return what each row counts, 1 unless said otherwise."""
    if sample_weight is None:
        return np.ones(rows, dtype=np.float32)
    return np.asarray(sample_weight, dtype=np.float32)


def held_out(weights: Floats, fold: NDArray[np.int64], *without: int) -> Floats:
    """Return the weights with some folds' rows at 0."""
    return np.where(np.isin(fold, without), np.float32(0), weights)


def held_out_probabilities(heads: Heads, matrix: Matrix, fold: NDArray[np.int64]) -> Floats:
    """Return (C, N, K) for heads in the order (candidate, fold): each row's from its own fold's."""
    folds = int(fold.max()) + 1
    candidates = len(heads) // folds
    out = np.empty((candidates, matrix.shape[0], heads.classes), dtype=np.float32)
    for rows, p in heads.blocks(matrix):
        by_fold = p.reshape(candidates, folds, *p.shape[1:])
        out[:, rows] = by_fold[:, fold[rows], np.arange(p.shape[1])]
    return out
