"""Deal rows into folds, so that every row is predicted by a model that has not seen it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noiseproof.errors import DataError
from noiseproof.learn.learner import Floats, Labels
from noiseproof.noise import stream

#: If fewer rows than this share are distinct, features are a few categories, and equal rows are
#: different cases rather than copies.
DISTINCT = 0.1


def deal(labels: Labels, folds: int, seed: int, of: Labels | None = None) -> Labels:
    """Return the fold of each row, with every class spread evenly over the folds.

    Args:
        labels: (N,) by which rows are spread.
        folds: how many.
        seed: seeds the shuffle.
        of: (N,) a number for each row; rows of equal numbers share a fold.

    >>> np.bincount(deal(np.repeat([0, 1], [10, 5]), 5, seed=0))
    array([3, 3, 3, 3, 3])
    >>> deal(np.repeat([0, 1], [4, 4]), 2, seed=0, of=np.arange(8) // 2)[::2]
    array([0, 1, 1, 0])
    """
    if folds < 2:
        raise DataError(f"expected 2 folds or more, got {folds}")
    if of is not None:
        _, first, back = np.unique(of, return_index=True, return_inverse=True)
        if folds <= len(first) < len(of):
            return deal(labels[first], folds, seed)[back]
    shuffled = stream(seed, "folds").permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    fold = np.empty(len(labels), dtype=np.int64)
    fold[by_class] = np.arange(len(labels)) % folds
    return fold


def alike(X: Any) -> Labels:
    """Return (N,) a number for each row, equal for rows of equal features.

    A copy of a row has its label, right or wrong. If it were trained on while the row is held out,
    wrong labels would be predicted and taken for right ones. Where fewer than a tenth of the rows
    are distinct, equal rows are different cases, and all numbers differ.
    """
    found = _hashed(X)
    if len(np.unique(found)) < len(found) * DISTINCT:
        return np.arange(len(found))
    return found


def with_copies(values: NDArray[Any], of: Labels) -> NDArray[Any]:
    """Return (N,) values in which rows of equal numbers ``of`` have the value of their first.

    >>> with_copies(np.array([5, 6, 7, 8]), np.array([3, 1, 3, 0]))
    array([5, 6, 5, 8])
    """
    _, first, back = np.unique(of, return_index=True, return_inverse=True)
    return np.asarray(values[first[back]])


def _hashed(X: Any) -> Labels:
    """Return (N,) a hash of the features of each row."""
    odd = stream(0, "alike").integers(2**63, size=X.shape[1], dtype=np.uint64) * 2 + 1
    if sparse.issparse(X):
        X = X.tocsr()
        parts = X.data.astype(np.float32).view(np.uint32) * odd[X.indices]
        total = np.concatenate([[np.uint64(0)], np.cumsum(parts, dtype=np.uint64)])
        return np.asarray(total[X.indptr[1:]] - total[X.indptr[:-1]]).view(np.int64)
    found = np.empty(len(X), dtype=np.uint64)
    step = max(1, BLOCK // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        # Adding 0 turns -0 into 0, which is equal and has other bits.
        part = np.ascontiguousarray(X[start : start + step], dtype=np.float32) + np.float32(0)
        found[start : start + step] = (part.view(np.uint32) * odd).sum(axis=1, dtype=np.uint64)
    return found.view(np.int64)


#: Numbers that are looked at in one go.
BLOCK = 1 << 20
#: Rows of a class that a sample has at least, where the class has them: with few classes, and with
#: so many that it would be all rows.
LEAST, LEAST_OF_MANY = 10, 5


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
    classes = int(labels.max()) + 1
    least = min(LEAST, max(LEAST_OF_MANY, rows // classes))
    count = np.bincount(labels[kept], minlength=classes)
    rare = [np.flatnonzero(labels == k)[:least] for k in np.flatnonzero(count < least)]
    return np.unique(np.concatenate([kept, *rare]))


def held_out(weights: Floats, fold: Labels, *without: int) -> Floats:
    """Return the weights with those of some folds set to 0."""
    return np.where(np.isin(fold, without), np.float32(0), weights)
