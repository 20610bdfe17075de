"""Deal rows into folds, so that every row is predicted by a model that has not seen it."""

import numpy as np

from noiseproof.errors import DataError
from noiseproof.learn.learner import Floats, Labels
from noiseproof.noise import stream


def deal(labels: Labels, folds: int, seed: int) -> Labels:
    """Return the fold of each row, with every class spread evenly over the folds.

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


#: Rows of a class that a sample has at least, where the class has them.
LEAST = 10


def sample(labels: Labels, rows: int, seed: int) -> Labels:
    """Return the indices of about ``rows`` rows, with the classes in proportion.

    >>> np.bincount(np.repeat([0, 1], [100, 50])[sample(np.repeat([0, 1], [100, 50]), 30, seed=0)])
    array([20, 10])
    """
    if rows >= len(labels):
        return np.arange(len(labels))
    shuffled = stream(seed, "sample").permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    kept = by_class[np.linspace(0, len(labels) - 1, rows).astype(np.int64)]
    count = np.bincount(labels[kept], minlength=int(labels.max()) + 1)
    rare = [np.flatnonzero(labels == k)[:LEAST] for k in np.flatnonzero(count < LEAST)]
    return np.unique(np.concatenate([kept, *rare]))


def held_out(weights: Floats, fold: Labels, *without: int) -> Floats:
    """Return the weights with those of some folds set to 0."""
    return np.where(np.isin(fold, without), np.float32(0), weights)
