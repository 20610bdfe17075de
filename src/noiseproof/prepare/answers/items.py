"""Which rows of a table of answers are about the same item."""

from typing import Any

import numpy as np

from noiseproof.prepare.classes import Codes
from noiseproof.prepare.columns.kinds import as_read
from noiseproof.prepare.columns.values import as_text, text_of, with_gaps


def items(frame: Any) -> tuple[Codes, Codes]:
    """Return the item of each row, and the first row of each item: rows read alike are one."""
    return named_items(frame.apply(as_read))


def named_items(frame: Any) -> tuple[Codes, Codes]:
    """Return the item of each row, and the first row of each item: equal rows are one."""
    groups = frame.groupby(list(frame.columns), dropna=False, sort=False, observed=True)
    _, first, of = np.unique(np.asarray(groups.ngroup()), return_index=True, return_inverse=True)
    return of.astype(np.int64), first.astype(np.int64)


def numbered(frame: Any) -> tuple[str, ...]:
    """Return a line about a column without which some of the rows, all different, would be equal.

    A number of the answer, or its time, makes each answer an item of its own.
    """
    for name in frame.columns:
        number = frame[name].dtype.kind in "iuM" and frame[name].is_unique
        if number and frame.shape[1] > 1 and len(items(frame.drop(columns=name))[1]) < len(frame):
            return (
                f"each answer is taken for an item of its own, as {name} differs in every row; "
                "name the column of items (--item), or leave this one out",
            )
    return ()


def varies(column: Any, of: Codes, first: Codes) -> bool:
    """Return whether rows of one item have different values in a column."""
    codes, _ = as_text(with_gaps(column))
    return bool((codes != codes[first[of]]).any())


def names(column: Any) -> Any:
    """Return the names of items or annotators as texts; missing where they are blank.

    >>> import pandas as pd
    >>> names(pd.Series([7.0, "ann ", " ", None, b"bob"])).tolist()
    ['7', 'ann', None, None, 'bob']
    """
    import pandas as pd

    missing = column.isna()
    texts = [None if m else text_of(v).strip() for v, m in zip(column, missing, strict=True)]
    return pd.Series([text or None for text in texts], dtype=object)
