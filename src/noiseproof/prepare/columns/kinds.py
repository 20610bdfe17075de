"""Finding out what each column of a table is."""

import re
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import DataError, ParameterError, did_you_mean
from noiseproof.prepare.columns.amounts import FULL, SPANS, Amounts, is_amount
from noiseproof.prepare.columns.column import Category, Column, Date, Number
from noiseproof.prepare.columns.dates import as_days, is_date, which_first
from noiseproof.prepare.columns.values import (
    DECORATED,
    as_numbers,
    as_text,
    hashable,
    is_bytes,
    is_gap,
    with_gaps,
)
from noiseproof.prepare.columns.words import Words, count_words, has_shared_words
from noiseproof.prepare.notes import Notes, shortlist
from noiseproof.tables.decimal_commas import FEW_WORDS

#: A category has a feature of its own if it is among this many most frequent ones ...
CATEGORIES = 50
#: ... and is seen at least this often.
SEEN = 2
#: Further ones have one if they are seen at least this often, ...
OFTEN = 10
#: ... and there are at most this many of them in a table, and this many numbers in their features.
FURTHER, NUMBERS = 500, 50_000_000
#: A column in which this share of the values differ is a name for each row.
NAMES = 0.9
#: What columns are called whose numbers tell rows apart; pandas writes its own without a name.
NUMBERED = re.compile(r"(^|[_\W])(id|idx|index|uuid|key|row)($|[_\W])|[a-z](Id|ID)$|^Unnamed: \d+$")
#: A column whose values have this many words on average is text, unless each is there as often as a
#: category; so are shorter ones that share their words, if most are there once.
WORDS = 4
#: So many texts tell whether most of a column could be numbers or dates: names are not read twice.
SAMPLE = 200
#: A column of numbers, or of dates, may have one value in twenty that is neither, or half of them
#: if they are at most FEW_WORDS different words, and the others are more.
ALIKE = 0.95


class _Useless(Exception):  # noqa: N818  not an error: a column with nothing to learn from
    """Why a column is left out."""


def understand(
    frame: Any, text: Collection[str], notes: Notes, commas: Collection[str] = ()
) -> list[Column | Words]:
    """Return what each column becomes; those left out are noted with the reason.

    Args:
        frame: the table, without its labels.
        text: the columns that the user calls text.
        notes: where to say so.
        commas: the columns whose decimal commas have been read: no other mark is in their numbers.
    """
    for name in text:
        if name not in frame.columns:
            known = [str(column) for column in frame.columns]
            raise ParameterError(f"--text: no column {name!r}{did_you_mean(name, known)}")
    kept: list[Column | Words] = []
    room = min(FURTHER, NUMBERS // max(1, len(frame)))
    for name in frame.columns:
        try:
            column, is_text = with_gaps(frame[name]), name in text
            found = _understand(name, column, is_text, notes, name not in commas, room)
            if isinstance(found, Category):
                room -= max(0, len(found.values) - CATEGORIES)
            kept.append(found)
        except _Useless as useless:
            notes.add(f"left out, {useless}", name)
    if not kept:
        raise DataError(f"no column to learn from ({'; '.join(notes.lines)})")
    return kept


def _understand(
    name: str, column: Any, is_text: bool, notes: Notes, marks: bool, room: int
) -> Column | Words:
    import pandas as pd

    types = pd.api.types
    if types.is_complex_dtype(column):
        raise _Useless("of complex numbers")
    numeric = types.is_numeric_dtype(column) or types.is_timedelta64_dtype(column)
    if is_text and (numeric or types.is_datetime64_any_dtype(column)):
        raise ParameterError(f"--text: column {name!r} is of type {column.dtype}, not text")
    if not column.notna().any():
        raise _Useless("empty")
    if column.dtype == object and is_bytes(column).sum() > (1 - ALIKE) * column.notna().sum():
        raise _Useless("of bytes that are not UTF-8 text")  # pictures, sounds
    if numeric:
        span = types.is_timedelta64_dtype(column)
        return _number(name, column, Amounts(FULL, ".") if span else None)
    if types.is_datetime64_any_dtype(column):
        return _date(name, column, day_first=None)
    if is_text:
        return _text(name, column, notes, named=True)
    return _object(name, column, notes, marks, room)


def _number(
    name: str, column: Any, written: Amounts | None = None, words: tuple[str, ...] = ()
) -> Number:
    values = as_numbers(column) if written is None else written.read(column)
    present = values[np.isfinite(values)]
    if len(present) == 0:
        raise _Useless("infinite or too large throughout")
    low, high = present.min(), present.max()
    if low == high and len(present) == len(values):
        raise _Useless("always the same")
    whole = bool((present % 1 == 0).all()) and len(np.unique(present)) == len(values)
    called = NUMBERED.search(name)
    if whole and len(values) > 2 and (called or high - low + 1 == len(values)):
        raise _Useless("a number for each row")
    unread = float((np.isnan(values) & ~is_gap(column, words)).mean())
    if written is not None:
        return Number.learn(name, values, written=written, words=words, unread=unread)
    truth = np.isfinite(values) & np.isnan(as_numbers(column, truth=False))
    return Number.learn(name, values, float(truth.mean()), words=words, unread=unread)


def _object(name: str, column: Any, notes: Notes, marks: bool, room: int) -> Column | Words:
    import pandas as pd

    types = pd.api.types
    if types.infer_dtype(column) == "mixed" and not column.map(types.is_hashable).all():
        raise _Useless("lists or the like (--embeddings takes vectors, from an .npy)")
    codes, texts = as_text(column)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    values, rows = pd.Series(texts, dtype=object), int(counts.sum())
    kind, written, words = _look(values, counts, marks)
    if kind is Date and not _are_days(values, counts):
        notes.add("not read as dates, for most are none", f"{name} ({texts[0]})")
        kind, words = Category, ()
    gaps = is_gap(values) | values.isin(words).to_numpy(bool)
    if gaps.any() and kind is not Category:
        listed = shortlist(repr(text) for text in values[gaps])
        notes.add("marks that are taken as missing", f"{name} ({listed})")
    if kind is Number and written is None:
        return _number(name, column, words=words)
    if kind is Date:
        return _date(name, column, which_first(values), words)
    if written is not None:
        example = next(text for text in texts if np.isfinite(written.read(pd.Series([text]))[0]))
        mark = "a decimal comma" if written.mark == "," else "a decimal point"
        unit = " of one unit" if written.unit else ""
        told = f"numbers{unit}, with {mark}"
        if written.unit in SPANS:
            told = f"times or spans like {written.unit}, in seconds"
        notes.add(f"read as {told}", f"{name} ({example})")
        return _number(name, column, written, words)
    if counts[values.str.fullmatch(DECORATED).to_numpy(bool)].sum() >= ALIKE * rows:
        example = texts[int(counts.argmax())]
        notes.add(
            "not read as numbers, for they are not written like 1234.5", f"{name} ({example})"
        )
    if len(texts) == 1 and rows == len(column):
        raise _Useless("always the same")
    different = len(texts) / rows
    length = sum(n * count_words(text) for text, n in zip(texts, counts, strict=True)) / rows
    # Each text is there again for each rater of it, or beside each of several others.
    seldom = different > 0.5 or (len(texts) > FEW_WORDS and rows < OFTEN * len(texts))
    is_long = seldom and length >= WORDS
    if is_long or (different > 0.5 and has_shared_words(texts)):
        return _text(name, column, notes)
    if different >= NAMES:
        raise _Useless("a name for each row")
    return _category(name, texts, counts, len(column), notes, room)


def _look(
    values: Any, counts: NDArray[np.int64], marks: bool
) -> tuple[type[Column], Amounts | None, tuple[str, ...]]:
    """Return what texts, each seen so often, look like, and how amounts among them are written.

    Last come the words among numbers or dates that say why there is none, such as "not done".
    """
    gaps = is_gap(values)
    rows = max(1, int(counts[~gaps].sum()))
    kind, written = _kind(values, counts, ALIKE * rows, marks)
    if kind is not Category:
        return kind, written, ()
    if _unread(values[~gaps][:SAMPLE]).sum() > FEW_WORDS:
        return Category, None, ()
    kind, written = _kind(values, counts, rows / 2, marks)
    read = ~np.isnan(_read(values, kind, written))
    words = ~read & ~gaps
    few = 0 < words.sum() <= min(FEW_WORDS, counts[words].sum() / 2)  # or they are names
    if kind is Category or not few or read.sum() <= FEW_WORDS:
        return Category, None, ()
    return kind, written, tuple(sorted(values[words]))


def _unread(values: Any) -> NDArray[np.bool_]:
    """Return which texts are neither numbers nor dates nor amounts, in whatever unit."""
    amounts = np.array([is_amount(text) for text in values], dtype=bool)
    dates = is_date(values).to_numpy(bool)
    return np.asarray(np.isnan(as_numbers(values)) & ~dates & ~amounts)


def _kind(
    values: Any, counts: NDArray[np.int64], enough: float, marks: bool
) -> tuple[type[Column], Amounts | None]:
    written = Amounts.of(list(values), counts, enough) if marks else None
    plain = written is None or bool(written.unit)
    if plain and counts[~np.isnan(as_numbers(values))].sum() >= enough:
        return Number, None
    if counts[is_date(values).to_numpy(bool)].sum() >= enough:
        return Date, None
    return Category if written is None else Number, written


def _read(values: Any, kind: type[Column], written: Amounts | None) -> NDArray[np.float64]:
    """Return texts of a kind as numbers; NaN for what is none."""
    if written is not None:
        return written.read(values)
    if kind is Number:
        return as_numbers(values)
    return as_days(values, which_first(values)) if kind is Date else np.full(len(values), np.nan)


def as_read(column: Any) -> Any:
    """Return a column in which values that are read alike are equal, however they are written.

    Numbers, dates and times stay as they are, and other values become texts: without spaces at the
    ends, 1.50 as 1.5 where most are numbers, 2020/1/5 as 2020-01-05 where most are dates.

    >>> import pandas as pd
    >>> as_read(pd.Series(["1.50", " 1.5", "?", "2"])).tolist()
    ['1.5', '1.5', None, '2.0']
    """
    import pandas as pd

    column = with_gaps(column)
    if column.dtype.kind == "m":  # as a CSV has spans
        column = column.astype(object)
    if column.dtype.kind in "biufcM":
        # pandas groups no halves; of -0 the bits are those of 0.
        column = column.astype(np.float32) if column.dtype == np.float16 else column
        return column + 0 if column.dtype.kind == "f" else column
    if column.dtype == object:
        column = column.map(hashable, na_action="ignore")
    codes, texts = as_text(column)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    values = pd.Series(texts, dtype=object)
    kind, written, _ = _look(values, counts, marks=True)
    found = _read(values, kind, written)
    # Beyond this, different integers are the same float.
    known, gaps = np.abs(found) < 2**53, is_gap(values) & (kind is not Category)
    read = [
        None if gap else str(float(number) + 0) if sure else text
        for text, number, sure, gap in zip(texts, found, known, gaps, strict=True)
    ]
    return pd.Series(np.array([*read, None], object)[codes], index=column.index, dtype=object)


def _category(
    name: str, texts: list[str], counts: NDArray[np.int64], rows: int, notes: Notes, room: int
) -> Category:
    # By name where two are as frequent: the order of the rows has no say.
    order = sorted(range(len(texts)), key=lambda i: (-counts[i], texts[i]))
    kept = [i for i in order[:CATEGORIES] if counts[i] >= SEEN]
    kept += [i for i in order[CATEGORIES:][:room] if counts[i] >= OFTEN]
    if len(kept) < len(texts):
        notes.add(f"rare values taken together, beyond {len(kept)}", name)
    missing = (rows - int(counts.sum())) / rows
    values = tuple(sorted(texts[i] for i in kept))
    return Category(name, values, missing, _expected(counts, room), rows)


def _expected(counts: NDArray[np.int64], room: int) -> float:
    """Return the share of new rows of one kind whose category has a feature of its own.

    Each row is left out in turn: a row of the fit vouches for its own category, a new one does not.
    Of the categories that are as frequent as the last that is kept, each may be the one.

    Args:
        counts: how often each category was seen.
        room: how many may have a feature beyond the most frequent ones.
    """
    ordered = np.sort(counts)
    others = counts - 1  # of the same category as the row that is left out
    above = len(counts) - np.searchsorted(ordered, others, side="right") - 1
    level = len(counts) - np.searchsorted(ordered, others) - above  # and itself
    most = np.where(others >= OFTEN, CATEGORIES + room, CATEGORIES)
    kept = np.clip((most - above) / level, 0, 1) * (others >= SEEN)
    return float((counts * kept).sum() / counts.sum())


def _are_days(values: Any, counts: NDArray[np.int64]) -> bool:
    """Return whether most of what is written like a date is one, but for 0000-00-00.

    Where the day stands before the month, as in 2020-31-12, a few are dates, and all those wrong.
    Codes such as 4000-10-00 are none.
    """
    written = is_date(values).to_numpy(bool) & values.str.contains("[1-9]").to_numpy(bool)
    found = written & ~np.isnan(as_days(values, which_first(values)))
    return bool(counts[found].sum() >= max(counts[written].sum() / 2, 1))


def _date(name: str, column: Any, day_first: bool | None, words: tuple[str, ...] = ()) -> Date:
    date = Date.learn(name, column, day_first, words)
    if date is None:
        raise _Useless("no dates that can be read")
    return date


def _text(name: str, column: Any, notes: Notes, *, named: bool = False) -> Words:
    words = Words.learn(name, column, named=named)
    if words is None:
        raise _Useless("without words")
    what = "pieces of words" if words.characters else "words and pairs"
    notes.add("read as text", f"{name} ({len(words.vocabulary)} {what})")
    return words
