"""Which columns of a table are answers, one for each annotator, and how they are written."""

import re
from collections import Counter
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from noiseproof.errors import DataError, ParameterError, did_you_mean
from noiseproof.noise.labels import is_listing
from noiseproof.prepare.columns.values import as_text
from noiseproof.prepare.notes import shortlist
from noiseproof.tables.delimited import Delimited
from noiseproof.tables.read import PARQUET, readable, table_suffix

#: A column with this many times the different values of most others holds something else, if it
#: seldom has their values ...
FEWER = 5
#: ... provided that those have this many answers, and that it has more different values than this.
ENOUGH, MANY = 20, 10


def patterns_of(answers: Any) -> list[str]:
    """Return the names and patterns that a user gives: ``"w1,w2,w*"``, or a list of them."""
    if not isinstance(answers, str) and not is_listing(answers):
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

    Raise DataError if a pattern also takes a column that evidently holds no answers.

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
    doubts = tuple(
        f"{name} is read as answers, but no other annotator gives its values: {values}"
        for name, values in odd.items()
        if name not in by_pattern
    )
    taken = [name for name in odd if name in by_pattern]
    if not taken:
        return notes, doubts
    rest = ",".join([name for name in names if name not in odd][:3])
    pattern = next(one for one in patterns if taken[0] in _named(names, one))
    raise DataError(
        f"{where}: --answers {pattern!r} also takes {shortlist(map(repr, taken))}, whose values "
        f"({odd[taken[0]]}) no other annotator gives; name the columns, such as {rest!r}"
    )


def _no_answers(frame: Any) -> dict[str, str]:
    """Return the columns that evidently hold no answers, each with a few of its values.

    In most rows, such a column has a value that no other column has, or that none of the columns
    with far fewer different values has. A column of one value passes: it may be a rule, which
    always gives the same answer, perhaps as the only one.
    """
    asked = {}
    for at, name in enumerate(frame.columns):
        codes, texts = as_text(frame.iloc[:, at])
        if texts:
            asked[str(name)] = codes[codes >= 0], texts
    if len(asked) < 2:
        return {}
    common = Counter(text for _, texts in asked.values() for text in texts)
    found: dict[str, str] = {}
    for name, (codes, texts) in asked.items():
        few = [
            said for given, said in asked.values()
            if 1 < len(said) <= len(texts) / FEWER and len(given) >= ENOUGH and len(texts) > MANY
        ]  # fmt: skip
        if len(few) < len(asked) / 2:  # annotators who know two classes of many are the odd ones
            few = []
        known = {text for said in few for text in said}
        own = np.array([common[text] == 1 or bool(few and text not in known) for text in texts])
        if len(texts) > 1 and own[codes].mean() > 0.5:
            examples = [text for text, is_own in zip(texts, own, strict=True) if is_own and text]
            found[name] = ", ".join(examples[:3]) + (", ..." if len(examples) > 3 else "")
    if len(found) < len(asked):
        return found
    most = max(found, key=lambda name: len(asked[name][1]))  # none shares any: one of them is odd
    return {most: found[most]}


def without_points(answers: Any) -> Any:
    """Return dense columns of answers, with 1.0 as 1 if every answer is a whole number.

    pandas writes 1.0 in columns with gaps, and 1 in those without.
    """
    import pandas as pd

    kinds = answers.dtypes.items()
    thin = {name: kind.subtype for name, kind in kinds if isinstance(kind, pd.SparseDtype)}
    answers = answers.astype(thin) if thin else answers  # most of pandas fails on sparse columns
    columns = [answers.iloc[:, at] for at in range(answers.shape[1])]
    forms = [set(column.dropna().map(_form)) - {"empty"} for column in columns]
    if not all(form in ({"1"}, {"1.0"}, set()) for form in forms) or {"1"} not in forms:
        return answers
    plain = [
        column.str.removesuffix(".0") if form == {"1.0"} else column
        for column, form in zip(columns, forms, strict=True)
    ]
    return pd.concat(plain, axis=1)


def _form(answer: Any) -> str:
    """Return how an answer is written: 1, 1.0, empty or otherwise."""
    if not isinstance(answer, str):
        return "no text"
    if not answer.strip():
        return "empty"
    found = re.fullmatch(r"[+-]?[0-9]+(\.0)?", answer)
    return "otherwise" if found is None else "1.0" if found[1] else "1"
