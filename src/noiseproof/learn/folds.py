"""Deal rows into folds, so that every row is predicted by a model that has not seen it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from noiseproof.errors import DataError
from noiseproof.learn.learner import Floats, Labels, Problem
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
        _, back, size = np.unique(of, return_inverse=True, return_counts=True)
        if folds <= len(size) < len(of):
            return _dealt(_usual(labels, back), size, folds, seed)[back]
    return _dealt(labels, np.ones(len(labels), dtype=np.int64), folds, seed)


def _dealt(labels: Labels, size: Labels, folds: int, seed: int) -> Labels:
    """Deal units class by class, the largest first; back and forth if they differ in size."""
    shuffled = stream(seed, "folds").permutation(len(labels))
    order = shuffled[np.lexsort((-size[shuffled], labels[shuffled]))]
    turn, at = np.divmod(np.arange(len(labels)), folds)
    if size.min() < size.max():
        at = np.where(turn % 2, folds - 1 - at, at)
    fold = np.empty(len(labels), dtype=np.int64)
    fold[order] = at
    return fold


def _usual(labels: Labels, unit: Labels) -> Labels:
    """Return (U,) the most frequent label of each unit.

    >>> _usual(np.array([3, 1, 1, 0]), np.array([0, 0, 0, 1]))
    array([1, 0])
    """
    pairs, count = np.unique(np.stack([unit, labels]), axis=1, return_counts=True)
    found = np.empty(int(unit.max()) + 1, dtype=np.int64)
    order = np.argsort(count, kind="stable")
    found[pairs[0, order]] = pairs[1, order]  # the last one written is the most frequent
    return found


def joined(copies: Labels, groups: Labels) -> Labels:
    """Return (N,) a number for each row, equal for rows of one group and for copies of them.

    If copies would chain most rows together, equal rows are taken for different cases.

    >>> joined(np.array([0, 1, 1, 2, 3, 4]), np.array([6, 7, 8, 8, 9, 9]))
    array([0, 1, 1, 1, 2, 2])
    """
    _, copy = np.unique(copies, return_inverse=True)
    kinds, group = np.unique(groups, return_inverse=True)
    rows = np.arange(len(copy))
    first = with_copies(rows, copy)  # each row is linked to its first copy, by their groups
    links = sparse.coo_matrix((np.ones(len(rows)), (group, group[first])), shape=(len(kinds),) * 2)
    _, of = csgraph.connected_components(links, directed=False)
    largest, chained = (int(np.bincount(unit).max()) for unit in (group, of[group]))
    chain = chained > max(len(rows) / 2, largest)
    return np.asarray(group if chain else of[group], dtype=np.int64)


def parts(of: Labels, count: int, numbers: np.random.Generator) -> Labels:
    """Return (N,) a part for each row, drawn at random; rows of equal numbers ``of`` share one.

    If all of them are equal, no part could be left out, so each row is on its own.
    """
    units, unit = np.unique(of, return_inverse=True)
    if len(units) in (1, len(of)):
        unit = np.arange(len(of))
    return np.asarray(numbers.permutation(int(unit.max()) + 1)[unit] % count, dtype=np.int64)


def held_together(problem: Problem) -> Labels:
    """Return (N,) a number for each row; rows of equal numbers are held out together."""
    return alike(problem.features) if problem.copies is None else problem.copies


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
