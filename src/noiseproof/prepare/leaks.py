"""Labels that are among the inputs once more, under whatever name and in whatever spelling."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noiseproof.prepare.classes import Codes
from noiseproof.prepare.kinds import as_read
from noiseproof.prepare.notes import shortlist
from noiseproof.prepare.samples import Samples

#: In fewer rows than this a column may follow the labels by chance.
FEW = 20
#: Rows that are compared at a time; after the first ones few columns are left.
ROWS = 1024


def label_doubts(samples: Samples, codes: Codes, name: Any) -> tuple[str, ...]:
    """Return a line where labels seem to be among the inputs: by a column's values or its name."""
    found = labels_among(samples, codes)
    if found:
        return (
            f"columns that tell every label are learnt from: {shortlist(found)}; leave out what "
            "was made from the labels",
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
    import pandas as pd

    for rows in (ROWS, len(codes)):
        part = codes[:rows]
        values, _ = pd.factorize(as_read(column.iloc[:rows]), use_na_sentinel=False)
        pairs = np.unique(np.stack([values, part]), axis=1).shape[1]
        if not pairs == len(np.unique(values)) == len(np.unique(part)):
            return False
    return True


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
