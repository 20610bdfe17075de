"""Which rows of a table of answers are about the same item."""

import re
from typing import Any

import numpy as np

from noiseproof.prepare.classes import Codes
from noiseproof.prepare.columns.dates import is_date
from noiseproof.prepare.columns.kinds import NAMES, as_read
from noiseproof.prepare.columns.values import as_text, text_of, with_gaps
from noiseproof.prepare.notes import shortlist

#: What programs call an answer, such as 3LEP4MGT3G1F or 00f3-9b; no word of a text.
CODE = re.compile(r"[A-Za-z_.:-]*[0-9][0-9A-Za-z_.:-]*")

#: So many pairs of rows that share a value are expected to be of one annotator, by chance.
CHANCE = 10.0


def items(frame: Any) -> tuple[Codes, Codes]:
    """Return the item of each row, and the first row of each item: rows read alike are one."""
    return named_items(frame.apply(as_read))


def named_items(frame: Any) -> tuple[Codes, Codes]:
    """Return the item of each row, and the first row of each item: equal rows are one."""
    groups = frame.groupby(list(frame.columns), dropna=False, sort=False, observed=True)
    _, first, of = np.unique(np.asarray(groups.ngroup()), return_index=True, return_inverse=True)
    return of.astype(np.int64), first.astype(np.int64)


def numbered(frame: Any) -> tuple[str, ...]:
    """Return a line about columns without which some of the rows, all different, would be equal.

    A number or name of the answer, or its time, makes each answer an item of its own.
    """
    names = [name for name in frame.columns if _names_answers(frame[name])]
    others = frame.drop(columns=names)
    if not names or others.shape[1] == 0 or len(items(others)[1]) == len(frame):
        return ()
    return _alone(f"the rows differ in {shortlist(names)}")


def parted(frame: Any, people: Any) -> tuple[str, ...]:
    """Return a line about rows that differ, but that different people answered as if they were one.

    What was measured of each answer, such as the seconds it took, makes it an item of its own.
    Rows that share a value by chance are now and then of one annotator; those of an item never.

    Args:
        frame: the rows.
        people: who answered, for each row.
    """
    import pandas as pd

    who = pd.factorize(people)[0] + 1
    answers = np.bincount(who)
    same = float((answers * (answers - 1)).sum()) / max(1, len(who) * (len(who) - 1))
    for name in frame:
        of, first = items(frame[[name]])
        sizes = np.bincount(of)
        if same * float((sizes * (sizes - 1)).sum()) / 2 < CHANCE:
            continue
        if len(np.unique(of * len(answers) + who)) < len(who):
            continue
        differ = [other for other in frame if varies(frame[other], of, first)]
        if differ and not _counts(frame[name]):
            return _alone(f"rows of the same {name} differ in {shortlist(differ)}")
    return ()


def _counts(column: Any) -> bool:
    """Return whether values are whole numbers or dates: each person has a first trial and a day."""
    import pandas as pd

    values = pd.Series(as_text(with_gaps(column))[1], dtype=object)
    whole = pd.to_numeric(values, errors="coerce") % 1 == 0
    return bool((whole | is_date(values)).mean() > 0.5)


def _alone(why: str) -> tuple[str, ...]:
    return (
        f"most answers are taken for items of their own, as {why}; name the column of items "
        "(--item), or leave these out",
    )


def _names_answers(column: Any) -> bool:
    """Return whether hardly a value repeats, and all are whole numbers, dates or codes."""
    import pandas as pd

    codes, texts = as_text(with_gaps(column))
    if len(texts) < NAMES * max(1, int((codes >= 0).sum())) or column.dtype.kind in "bfcm":
        return False
    values = pd.Series(texts, dtype=object)
    fractions = pd.to_numeric(values, errors="coerce") % 1 > 0
    return bool((is_date(values) | values.str.fullmatch(CODE) & ~fractions).all())


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
