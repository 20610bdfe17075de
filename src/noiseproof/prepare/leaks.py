"""Labels that are among the inputs once more, under whatever name and in whatever spelling."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noiseproof.prepare.classes import Codes
from noiseproof.prepare.columns.kinds import NUMBERED, as_read
from noiseproof.prepare.notes import shortlist
from noiseproof.prepare.samples import Samples

#: In fewer rows than this a column may follow the labels by chance.
FEW = 20
#: Rows that are compared at a time; after the first ones few columns are left.
ROWS = 1024
#: Neighbours share their label this much more often than by chance where rows of a class are
#: together, sorted by label or in the order of time.
TOGETHER = 0.2


def label_doubts(samples: Samples, codes: Codes, name: Any) -> tuple[str, ...]:
    """Return a line where labels seem to be among the inputs: by a column's values or its name."""
    found, counting = labels_among(samples, codes), counting_among(samples, codes)
    if found:
        return (
            f"columns that tell every label are learnt from: {shortlist(found)}; leave out what "
            "was made from the labels",
        )
    if counting:
        return (
            "rows of a class are together, and columns that rise from row to row are learnt from: "
            f"{shortlist(counting)}; leave out what only numbers the rows",
        )
    if isinstance(name, str) and samples.kind == "table" and name in list(samples.inputs):
        return (
            f"{name} has the name of the labels and is learnt from; leave it out if it holds them",
        )
    return ()


def labels_among(samples: Samples, codes: Codes) -> tuple[str, ...]:
    """Return the columns that have another value for each class, and the same in all its rows.

    Labels that may be wrong are not followed by what was measured: such a column was made from
    them, and a model that learns from it finds no label wrong.

    >>> labels = np.arange(40) % 2
    >>> labels_among(Samples("", np.stack([np.arange(40), 5 - labels], axis=1)), labels)
    ('column 1',)
    """
    if len(codes) < FEW or samples.kind == "images" or samples.inputs.shape[1] == 0:
        return ()
    if samples.kind == "table":
        frame = samples.inputs
        return tuple(str(name) for name in frame if _tells(frame[name], codes))
    return tuple(f"column {at}" for at in _of_matrix(samples.inputs, codes))


def _tells(column: Any, codes: Codes) -> bool:
    """Return whether a column tells the labels: by its values, by those that it has, or by gaps."""
    import pandas as pd

    for rows in (ROWS, len(codes)):
        part, read = codes[:rows], as_read(column.iloc[:rows])
        if read.dtype == object:
            read = read.map(lambda value: str(value).casefold(), na_action="ignore")
        values = pd.factorize(read)[0]
        filled = values >= 0
        if _is_same(values, part) or _is_same(filled, part):
            continue
        few = filled.sum() < FEW or len(np.unique(part[filled])) < len(np.unique(codes))
        if not (rows < len(codes) if few else _is_same(values[filled], part[filled])):
            return False
    return True


def _is_same(values: NDArray[Any], codes: Codes) -> bool:
    """Return whether there is one value for each class, and one class for each value."""
    different = len(np.unique(values))
    if different != len(np.unique(codes)):
        return False
    return bool(np.unique(np.stack([values, codes]), axis=1).shape[1] == different)


def counting_among(samples: Samples, codes: Codes) -> tuple[str, ...]:
    """Return the columns that rise, or fall, throughout where the rows of a class are together.

    A number of the case, or the time of an entry, then tells the label, and does so nowhere else.
    """
    X = samples.inputs
    if len(codes) < FEW or samples.kind == "images" or sparse.issparse(X) or X.shape[1] < 2:
        return ()
    by_chance = float(((np.bincount(codes) / len(codes)) ** 2).sum())
    if float((codes[1:] == codes[:-1]).mean()) < by_chance + TOGETHER:
        return ()
    if samples.kind == "table":
        return tuple(str(name) for name in X if _rises(X[name], NUMBERED.search(str(name))))
    steps = np.diff(X[:ROWS], axis=0)
    one_way = np.flatnonzero((steps > 0).all(axis=0) | (steps < 0).all(axis=0))
    return tuple(f"column {at}" for at in one_way if _is_one_way(X[:, at]))


def _rises(column: Any, called: Any) -> bool:
    import pandas as pd

    for rows in (ROWS, len(column)):
        read = as_read(column.iloc[:rows])
        if read.dtype.kind == "M":
            values = read.to_numpy("datetime64[s]").astype(np.float64)
        else:
            numbers = pd.to_numeric(read, errors="coerce")
            values = numbers.to_numpy(np.float64, na_value=np.nan)
        if not _is_one_way(values):
            return False
    # Such whole numbers are left out.
    whole = bool((values % 1 == 0).all())
    return not (whole and (called or abs(values[-1] - values[0]) + 1 == len(values)))


def _is_one_way(values: NDArray[Any]) -> bool:
    steps = np.diff(values)
    return bool((steps > 0).all() or (steps < 0).all())


def _of_matrix(X: Any, codes: Codes) -> NDArray[np.int64]:
    """Return the columns whose value is that of the first row of the class, in every row."""
    classes, first, place = np.unique(codes, return_index=True, return_inverse=True)
    known = X[first]
    if sparse.issparse(X):
        filled = np.bincount(known.tocoo().col, minlength=X.shape[1])
        left = np.flatnonzero(filled >= len(classes) - 1)
    else:
        left = np.arange(X.shape[1])
    for start in range(0, len(codes), ROWS):
        if len(left) == 0:
            return left
        rows, of = X[start : start + ROWS][:, left], known[place[start : start + ROWS]][:, left]
        other = (
            rows != of if sparse.issparse(X) else (rows != of) & ~(np.isnan(rows) & np.isnan(of))
        )
        left = left[np.asarray(other.sum(axis=0)).ravel() == 0]
    values = known[:, left].toarray() if sparse.issparse(X) else known[:, left]
    different = [len(np.unique(values[:, at])) == len(classes) for at in range(len(left))]
    chosen: NDArray[np.int64] = left[np.array(different, dtype=bool)]
    return chosen
