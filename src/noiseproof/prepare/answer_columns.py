"""Which columns of a table are answers, one column for each annotator."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from noiseproof.data.delimited import GAPS, Delimited
from noiseproof.data.table import PARQUET, readable, table_suffix
from noiseproof.errors import DataError, ParameterError, did_you_mean
from noiseproof.prepare.notes import shortlist
from noiseproof.prepare.values import as_text


def patterns_of(answers: Any) -> list[str]:
    """Return the names and patterns that a user gives: ``"w1,w2,w*"``, or a list of them."""
    if not isinstance(answers, Iterable):
        raise ParameterError(f"--answers: expected names of columns or a frame, got {answers!r}")
    given = answers.split(",") if isinstance(answers, str) else [str(name) for name in answers]
    return [name.strip() for name in given if name.strip()]


def header(X: Any, encoding: str | None) -> list[str]:
    """Return the columns of a text file; none of anything else, whose values have types."""
    if not isinstance(X, (str, PathLike)) or not Path(X).is_file():
        return []
    suffix = table_suffix(Path(X))
    if suffix is None or suffix in PARQUET:
        return []
    with readable(Path(X), encoding):
        return list(Delimited.look(Path(X), suffix, encoding).columns)


def matching(columns: Sequence[str], patterns: Sequence[str], where: str | None) -> list[str]:
    """Return the columns that patterns name, in their own order; with ``where``, each must."""
    found = {pattern: _named(columns, pattern) for pattern in patterns}
    for pattern, names in found.items() if where is not None else ():
        if not names:
            raise DataError(f"{where}: no column {pattern!r}{did_you_mean(pattern, columns)}")
    if where is not None and not patterns:
        raise ParameterError("--answers: expected the columns of answers, such as 'w1,w2,w*'")
    chosen = {name for names in found.values() for name in names}
    return [name for name in columns if name in chosen]


def _named(columns: Sequence[str], pattern: str) -> list[str]:
    """Return the column of that name, or those that fit it where ``*`` stands for any text.

    Only ``*`` does: columns may be called ``right?`` and ``answers[1]``.
    """
    if pattern in columns:
        return [pattern]
    any_text = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
    return [name for name in columns if any_text.fullmatch(name)]


def check_answers(
    frame: Any, patterns: Sequence[str], where: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return notes on the columns taken for answers, and doubts about them.

    Raise DataError where a pattern also takes a column that is evidently none.

    Args:
        frame: the columns.
        patterns: what named them.
        where: what to call the table.
    """
    names = [str(name) for name in frame.columns]
    by_pattern = [name for name in names if name not in patterns]
    notes: tuple[str, ...] = ()
    if by_pattern:
        notes = (f"columns of answers: {shortlist(names)}",)
    odd = _no_answers(frame)
    if not odd:
        return notes, ()
    name, values = odd
    if name not in by_pattern:
        line = f"{name} is taken for answers, and no other annotator says what it does: {values}"
        return notes, (line,)
    rest = [other for other in names if other != name]
    pattern = next(one for one in patterns if name in _named(names, one))
    raise DataError(
        f"{where}: --answers {pattern!r} also takes {name!r}, whose values ({values}) no other "
        f"annotator gives; name the columns, such as {','.join(rest[:3])!r}"
    )


def _no_answers(frame: Any) -> tuple[str, str] | None:
    """Return the column that shares no answers with the others in most of its rows, and a few.

    A rule always gives the same answer, perhaps as the only one: a column of one value is not
    asked. Of several columns, the one with most different values is returned.
    """
    columns = [as_text(frame.iloc[:, at]) for at in range(frame.shape[1])]
    if sum(bool(texts) for _, texts in columns) < 2:
        return None
    common = Counter(text for _, texts in columns for text in texts)
    found: list[tuple[int, str, str]] = []
    for name, (codes, texts) in zip(frame.columns, columns, strict=True):
        own = np.array([common[text] == 1 and text.lower() not in GAPS for text in texts])
        if len(texts) > 1 and own[codes[codes >= 0]].mean() > 0.5:
            examples = ", ".join(text for text in texts if common[text] == 1 and text)
            found.append((len(texts), str(name), examples))
    if not found:
        return None
    _, name, examples = max(found)
    return name, examples if len(examples) <= 40 else f"{examples[:40].rpartition(',')[0]}, ..."
