"""Deciding what each column of a table is."""

import re
from collections.abc import Collection
from typing import Any

import numpy as np

from noiseproof.errors import DataError, ParameterError, did_you_mean
from noiseproof.prepare.columns import Category, Column, Date, Notes, Number, as_numbers, as_text
from noiseproof.prepare.words import Words

#: A category has a column of its own if it is among so many most frequent ones ...
CATEGORIES = 50
#: ... and is seen at least so often.
SEEN = 2
#: A column whose values are nearly all different names its rows.
NAMES = 0.9
#: So many words in the mean value are a text.
WORDS = 4
#: This share of a column must read as numbers, or as dates, for it to be so.
ALIKE = 0.95

ISO = r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?"
SLASHED = r"(\d{1,2})[/.](\d{1,2})[/.](\d{4}|\d{2})( .*)?"


class _Useless(Exception):  # noqa: N818  not an error: a column without anything to learn from
    """Why a column is left out."""


def decide(frame: Any, text: Collection[str], notes: Notes) -> list[Column | Words]:
    """Return what each column becomes; those left out are noted with the reason.

    Args:
        frame: the table, without its labels.
        text: the columns that the user calls text.
        notes: where to say so.
    """
    for name in text:
        if name not in frame.columns:
            known = [str(column) for column in frame.columns]
            raise ParameterError(f"--text: no column {name!r}{did_you_mean(name, known)}")
    kept: list[Column | Words] = []
    for name in frame.columns:
        try:
            kept.append(_decide(name, frame[name], name in text, notes))
        except _Useless as useless:
            notes.add(f"left out, {useless}", name)
    if not kept:
        raise DataError(f"no column to learn from ({'; '.join(notes.lines)})")
    return kept


def _decide(name: str, column: Any, is_text: bool, notes: Notes) -> Column | Words:
    import pandas as pd

    types = pd.api.types
    if types.is_complex_dtype(column):
        raise _Useless("of complex numbers")
    numeric = types.is_numeric_dtype(column) or types.is_timedelta64_dtype(column)
    if is_text and (numeric or types.is_datetime64_any_dtype(column)):
        raise ParameterError(f"--text: column {name!r} is of type {column.dtype}, not text")
    if not column.notna().any():
        raise _Useless("empty")
    if numeric:
        return _number(name, column)
    if types.is_datetime64_any_dtype(column):
        return _date(name, column, day_first=False)
    return _text(name, column, notes) if is_text else _object(name, column, notes)


def _number(name: str, column: Any) -> Number:
    values = as_numbers(column)
    present = values[np.isfinite(values)]
    if len(present) == 0:
        raise _Useless("infinite or too large throughout")
    low, high = present.min(), present.max()
    if low == high and len(present) == len(values):
        raise _Useless("always the same")
    whole = bool((present % 1 == 0).all()) and len(np.unique(present)) == len(values)
    called = re.search(r"(^|[_\W])(id|idx|index|uuid|key|row)($|[_\W])|[a-z](Id|ID)$", name)
    if whole and len(values) > 2 and (called or high - low + 1 == len(values)):
        raise _Useless("a number for each row")
    return Number.learn(name, values)


def _object(name: str, column: Any, notes: Notes) -> Column | Words:
    try:
        text = as_text(column)
        values = text.dropna()
        counts = values.value_counts()
    except TypeError:  # lists and the like cannot be counted
        raise _Useless("of a type that is not understood") from None
    numbers = as_numbers(values)
    if np.isfinite(numbers).mean() >= ALIKE:
        return _number(name, column)
    dates = values.str.fullmatch(ISO) | values.str.fullmatch(SLASHED)
    if dates.mean() >= ALIKE:
        return _date(name, column, _day_first(values))
    if len(counts) == 1 and len(values) == len(column):
        raise _Useless("always the same")
    different = len(counts) / len(values)
    if values.str.split().str.len().mean() >= WORDS and different > 0.5:
        return _text(name, column, notes)
    if different >= NAMES:
        raise _Useless("a name for each row")
    kept = [str(value) for value in counts.index[counts >= SEEN]][:CATEGORIES]
    if len(kept) < len(counts):
        notes.add(f"rare values taken together, beyond {len(kept)}", name)
    return Category(name, tuple(sorted(kept)))


def _date(name: str, column: Any, day_first: bool) -> Date:
    date = Date.learn(name, column, day_first)
    if date is None:
        raise _Useless("no date that can be read")
    return date


def _text(name: str, column: Any, notes: Notes) -> Words:
    words = Words.learn(name, column)
    if words is None:
        raise _Useless("without words")
    notes.add("read as text", f"{name} ({len(words.vocabulary)} words and pairs)")
    return words


def _day_first(values: Any) -> bool:
    parts = values.str.extract(SLASHED)
    first = parts[0].dropna().astype(int)
    return bool((first > 12).any())
