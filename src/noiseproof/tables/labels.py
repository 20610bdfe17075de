"""Labels in files: which columns and texts are labels, and integers kept as they are written."""

import re
from collections.abc import Collection
from itertools import count, takewhile
from typing import Any

from noiseproof.extras import need
from noiseproof.tables.gaps import GAPS

#: Stands before labels while a table is read, so that pandas finds no gaps among them.
MARK = "="
#: An integer as every program writes it; digits of other scripts would not come back.
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def repeated(columns: Collection[str], *named: str) -> list[str]:
    """Return the columns that repeat those a user named: a model must not learn from them.

    Of two columns called y, the second is read as y.1; either may be the one that was named. Beside
    one called by a number, 1.5 may be a number too: there, they count from 1.

    >>> repeated(["x", "y", "y.1", "y.x"], "y"), repeated(["1.0", "1.1", "1.5"], "1")
    (['y.1'], ['1.1'])
    >>> repeated(["x", "y", "y.1", "y.2"], "y.1"), repeated(["w.1", "w.2", "w.3"], "w.1")
    (['y', 'y.2'], [])
    """
    again: set[str] = set()
    for name in named:
        again |= _called(columns, name)
        first = name.rpartition(".")[0]
        others = _called(columns, first) if first in columns else set()
        if name in others:
            again |= {first} | others
    return [name for name in columns if name in again and name not in named]


def _called(columns: Collection[str], name: str) -> set[str]:
    """Return the columns that are called by a name and a number."""
    found = {each for each in columns if re.fullmatch(rf"{re.escape(name)}\.\d+", str(each))}
    if not name.isdecimal():
        return found
    return set(takewhile(found.__contains__, (f"{name}.{number}" for number in count(1))))


def label_gaps(texts: Collection[str]) -> set[str]:
    """Return which of some labels are no label.

    Among labels that are numbers, words such as NA and None are gaps; among words only what is
    nothing but spaces is one.

    >>> sorted(label_gaps(["None", "NA", "", "yes"])), sorted(label_gaps(["1", "NA", " "]))
    ([''], [' ', 'NA'])
    """
    need("fit", "pandas")
    import pandas as pd

    words = {text for text in texts if text.strip().lower() in GAPS}
    values = pd.Series(list(set(texts) - words), dtype=object)
    if len(values) and pd.to_numeric(values, errors="coerce").notna().all():
        return words
    return {text for text in words if not text.strip()}


def as_labels(texts: Any) -> Any:
    """Return labels as they are written: integers where all are, and otherwise texts.

    pandas takes words such as NA and None for gaps, and :func:`label_gaps` only some. Only integers
    as every program writes them are taken for integers, so that each label can be written again
    byte for byte.

    >>> import pandas as pd
    >>> as_labels(pd.Series(["None", "NA", "", "yes"])).tolist()
    ['None', 'NA', nan, 'yes']
    >>> as_labels(pd.Series(["1", "NA", "", "900000000000207008"])).tolist()
    [1, <NA>, <NA>, 900000000000207008]
    >>> as_labels(pd.Series(["1E5", "100000", "007", " 1"])).tolist()
    ['1E5', '100000', '007', ' 1']
    """
    need("fit", "pandas")
    import pandas as pd

    different = {str(text) for text in texts.unique()}
    gaps = label_gaps(different)
    values = different - gaps
    if not values or not all(INTEGER.fullmatch(value) for value in values):
        return texts.where(~texts.isin(gaps))
    numbers = {value: int(value) for value in values}
    exact = pd.array([numbers.get(text) for text in texts], dtype="Int64")
    return pd.Series(exact).astype("Int64" if gaps else "int64")
