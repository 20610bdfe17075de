"""The classes of a user's labels: whatever type they come as, 0..K-1 inside, and back."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from noiseproof.errors import DataError, ShapeError, did_you_mean
from noiseproof.losses.arrays import dense
from noiseproof.prepare.columns.values import LONGEST
from noiseproof.prepare.forms import plain
from noiseproof.tables.frames import as_column, as_frame, as_objects, is_odd, usual
from noiseproof.tables.labels import label_gaps

Kind = Literal["text", "integer", "boolean"]
Codes = NDArray[np.int64]
#: The kinds of numpy's dtypes that labels of each kind come back as.
TYPES: dict[Kind, str] = {"text": "UMO", "integer": "iuf", "boolean": "b"}

TRUTHS = (bool, np.bool_)

#: The code of a missing label.
MISSING = -1
#: More different numbers than this, on more than a tenth of the rows, are a quantity.
MANY = 50


@dataclass(frozen=True)
class Classes:
    """The names of K classes, sorted, and the type they had.

    Labels are kept as they are: ``a`` and ``a`` with a space after it are two classes.

    Args:
        names: as text.
        kind: what the labels were: text, whole numbers (floats such as 3.0 too), or booleans.
        dtype: of whole numbers and of dates, as numpy calls it; "" is the usual one.

    >>> codes, classes = encode([3.0, 1.0, None, 3.0, 1.0], "votes.csv")
    >>> codes.tolist(), classes.names, classes.values.tolist()
    ([1, 0, -1, 1, 0], ('1', '3'), [1, 3])
    """

    names: tuple[str, ...]
    kind: Kind
    dtype: str = ""

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def load(cls, description: Mapping[str, Any]) -> "Classes":
        """Return the classes that ``dataclasses.asdict`` described; raise ValueError for others."""
        classes = cls(**{**description, "names": tuple(description["names"])})
        if not re.fullmatch(
            r"[<>=|]?\w*(\[\w+\])?", classes.dtype
        ):  # numpy parses others as Python
            raise ValueError(f"dtype: expected a type, got {classes.dtype!r}")
        values = classes.values
        if values.ndim == 1 and values.dtype.kind in TYPES[classes.kind]:
            texts, kind, _ = _as_text(values, "classes", classes.names)
            # 300 is no int8, and "cat" no text of one letter: a value must read as its name again.
            if (tuple(texts), kind, len(set(texts))) == (classes.names, classes.kind, len(classes)):
                return classes
        raise ValueError("expected different classes, each of its type")

    @property
    def values(self) -> NDArray[Any]:
        """The K labels as they came: text, numbers, booleans or dates."""
        if self.kind == "integer":
            numbers = np.array([int(name) for name in self.names], dtype=object)
            return numbers.astype(self.dtype or "int64")
        if self.kind == "boolean":
            return np.array([name == "True" for name in self.names])
        if any(name.endswith("\0") for name in self.names):
            return np.array(self.names, dtype=object)  # numpy's own texts would lose the end
        return np.array(self.names).astype(self.dtype or "str")

    @property
    def lookalikes(self) -> list[tuple[str, ...]]:
        """Groups of names that differ in case, spaces, Unicode form or as numbers are written.

        >>> Classes(("1", "1.0", "Cat", "cat", "dog"), "text").lookalikes
        [('1', '1.0'), ('Cat', 'cat')]
        """
        groups: dict[Any, list[str]] = {}
        for name in self.names:
            groups.setdefault(_folded(name), []).append(name)
        return [tuple(group) for group in groups.values() if len(group) > 1]

    def codes(self, labels: Any, where: str) -> Codes:
        """Return the numbers of other labels of the same classes, MISSING where there is none.

        A label that is no class is an error that names it and ``where`` it was found.
        """
        values, _, _ = _as_text(labels, where, self.names)
        at = {name: code for code, name in enumerate(self.names)}
        unknown = next((v for v in values if v is not None and v not in at), None)
        if unknown is not None:
            raise DataError(f"{where}: label {unknown!r} is no class{did_you_mean(unknown, at)}")
        return np.array([MISSING if v is None else at[v] for v in values], dtype=np.int64)


def encode(labels: Any, where: str) -> tuple[Codes, Classes]:
    """Number the classes of some labels; a label column that holds none is an error.

    Args:
        labels: text, whole numbers, booleans, floats without a fraction; missing values allowed,
            texts of nothing but spaces are missing too, and words such as NA among numbers.
        where: the file and column, for messages.
    """
    values, kind, dtype = _as_text(labels, where)
    present = [value for value in values if value is not None]
    if not present:
        raise DataError(f"{where}: every label is missing")
    different = set(present)
    names = sorted(different, key=int) if kind == "integer" else sorted(different)
    _check_count(names, present, kind, where)
    classes = Classes(tuple(names), kind, dtype)
    at = {name: code for code, name in enumerate(names)}
    codes = np.array([MISSING if v is None else at[v] for v in values], dtype=np.int64)
    if len(present) == len(names):
        raise DataError(f"{where}: every class has one row; there is nothing to learn from")
    return codes, classes


def _folded(name: str) -> Any:
    text = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    number = re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,9})?", text)
    return Decimal(text) if number else text  # floats would make long numbers equal


def _check_count(names: Sequence[str], present: Sequence[str], kind: Kind, where: str) -> None:
    if len(names) < 2:
        raise DataError(f"{where}: one class only, {names[0]!r}; there is nothing to tell apart")
    numbers = kind == "integer" or all(isinstance(_folded(name), Decimal) for name in names)
    quantity = numbers and len(names) > max(MANY, len(present) // 10)
    if quantity or len(names) > max(MANY, len(present) // 2):
        what = "a quantity" if numbers else "a name or free text"
        raise DataError(
            f"{where}: {len(names)} different values in {len(present)} rows are {what}, not classes"
        )


def _as_text(
    labels: Any, where: str, known: Sequence[str] = ()
) -> tuple[list[str | None], Kind, str]:
    """Return each label as text, None where it is missing, and what the labels were.

    Args:
        labels: of any type.
        where: the file and column, for messages.
        known: names of classes, which are no gaps whatever they are.
    """
    import pandas as pd

    column = labels = as_column(one_column(labels, where))
    if not isinstance(labels, pd.Series):
        values = _plain(labels, where)
        column = pd.Series(values, dtype=object if values.dtype.kind in "UO" else None)
    if is_odd(column):
        column = as_objects(column)
    column = column.astype(usual(column.dtype))
    _check_objects(column, where)
    if pd.api.types.is_complex_dtype(column) or _any(column, (complex, np.complexfloating)):
        raise DataError(f"{where}: labels are complex numbers, not classes")
    if isinstance(column.dtype, pd.CategoricalDtype):
        whole = column.cat.categories.dtype.kind in "iu" and column.isna().any()
        column = pd.Series(list(column), dtype=object) if whole else pd.Series(np.asarray(column))
    elif isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    elif isinstance(column.dtype, pd.ArrowDtype) and column.dtype.kind == "M":
        zone = getattr(column.dtype.pyarrow_dtype, "tz", None)
        column = column if zone else column.astype(column.dtype.numpy_dtype)
    column = column.reset_index(drop=True)
    missing = column.isna().to_numpy()
    present = column[~missing]
    kind: Kind = "text"
    dates = isinstance(column.dtype, np.dtype) and column.dtype.kind == "M"
    dtype = column.dtype.str if dates else ""
    if pd.api.types.is_bool_dtype(column) or _all(present, TRUTHS):
        kind, texts = "boolean", [str(bool(value)) for value in present]
    elif _any(present, TRUTHS) and any(_is_number(value) for value in present):
        raise DataError(f"{where}: some labels are numbers, others true or false; make them alike")
    elif _numbers(present):
        kind, texts = "integer", [str(number) for number in _whole(present, where)]
        dtype = _dtype(column, texts)
    else:
        texts = _texts(present, where)
    gaps = label_gaps(set(texts)) - set(known) if kind == "text" else ()
    out: list[str | None] = [None] * len(column)
    for at, text in zip(np.flatnonzero(~missing), texts, strict=True):
        out[at] = None if text in gaps else text
    return out, kind, dtype


def _check_objects(column: Any, where: str) -> None:
    """Refuse numbers that pandas cannot compare or Python does not write."""
    if column.dtype != object:
        return
    for value in column:
        if isinstance(value, Decimal) and value.is_snan():
            raise DataError(f"{where}: label {value} is no number; None says that one is missing")
        if isinstance(value, int) and abs(value) >= LONGEST:
            raise DataError(f"{where}: a label is an integer of over 4,000 digits; make it text")


def one_column(labels: Any, where: str) -> Any:
    """Return the one column of a table or of a sparse matrix of labels; others as they are."""
    try:
        labels = dense("label", labels)
    except ShapeError as error:
        raise DataError(f"{where}: {error}") from None
    if not hasattr(labels, "columns"):
        return labels
    labels = labels if hasattr(labels, "iloc") else as_frame(labels)
    if labels.shape[1] != 1:
        raise DataError(f"{where}: expected one label a row, got labels of shape {labels.shape}")
    return labels.iloc[:, 0]


def _texts(present: Any, where: str) -> list[str]:
    """Return labels as texts: bytes as what they encode, anything else as Python writes it."""
    try:
        texts = [v.decode() if isinstance(v, bytes) else _text(v) for v in present]
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: label {error.object!r} is not UTF-8 text") from None
    _check_text(texts, where)
    if present.dtype == object:
        first: dict[str, Any] = {}
        for text, value in zip(texts, present, strict=True):
            other = first.setdefault(text, value)
            if isinstance(other, str) != isinstance(value, str):
                raise DataError(
                    f"{where}: labels {other!r} and {value!r} are of different types; make them "
                    "all text, or all numbers"
                )
    return texts


def _text(label: Any) -> str:
    """Return a label as text; an enumeration of texts would write its own name."""
    return str.__str__(label) if isinstance(label, str) else str(label)


def _check_text(texts: Sequence[str], where: str) -> None:
    """Refuse half characters (lone surrogates): no file could give such a label back."""
    for text in dict.fromkeys(texts):
        if not text.isascii() and re.search("[\ud800-\udfff]", text):
            raise DataError(f"{where}: label {text!r} is not valid Unicode text; rename it")


def _dtype(column: Any, texts: Sequence[str]) -> str:
    """Return the dtype of labels that are whole numbers; gaps among integers make them floats."""
    given = getattr(column.dtype, "numpy_dtype", column.dtype)
    floats = len(texts) == len(column) or any(abs(int(text)) >= 2**63 for text in set(texts))
    whole = given.kind in "iu" or (given.kind == "f" and floats)
    return str(given) if whole else ""


def _plain(labels: Any, where: str) -> Any:
    """Return labels as a column that holds each of them exactly."""
    if isinstance(labels, Tensor):
        labels = plain(labels)
    if isinstance(labels, np.ma.MaskedArray):
        masked, labels = np.ma.getmaskarray(labels), np.array(labels.data, dtype=object)
        labels[masked] = None
    try:
        values = np.asarray(labels)
    except ValueError:
        raise DataError(f"{where}: expected one label a row, got lists as labels") from None
    if values.ndim == 2 and values.shape[1] == 1:
        labels = values = values[:, 0]
    if values.ndim != 1:
        raise DataError(f"{where}: expected one label a row, got labels of shape {values.shape}")
    if values.dtype.kind == "S":
        try:
            return np.char.decode(values, "utf-8").astype(object)
        except UnicodeDecodeError as error:
            raise DataError(f"{where}: label {error.object!r} is not UTF-8 text") from None
    if isinstance(labels, np.ndarray) and values.dtype.kind in "biufmMU":
        return values
    if values.dtype.kind in "biufmM" and len({type(label) for label in labels}) == 1:
        return values
    # Integers beside None or floats, texts that numpy would cut at a NUL, and so on.
    exact = np.empty(len(labels), dtype=object)
    exact[:] = list(labels)
    return exact


def _any(values: Any, types: type | tuple[type, ...]) -> bool:
    return values.dtype == object and any(isinstance(v, types) for v in values)


def _all(values: Any, types: tuple[type, ...]) -> bool:
    return values.dtype == object and len(values) > 0 and all(isinstance(v, types) for v in values)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.number, Decimal)) and not isinstance(value, TRUTHS)


def _numbers(values: Any) -> bool:
    """Return whether labels are numbers; objects and decimals, if int64 holds them."""
    import pandas as pd

    objects = _all(values, (int, float, np.number, Decimal)) and not _any(values, np.timedelta64)
    if not objects and not pd.api.types.is_numeric_dtype(values):
        return False
    return values.dtype.kind in "iuf" or all(abs(v) < 2**63 for v in values)


def _whole(values: Any, where: str) -> list[int]:
    if not np.isfinite(values.to_numpy(np.float64)).all():
        raise DataError(f"{where}: a label is infinite")
    numbers = [int(value) for value in values]
    for value, number in zip(values, numbers, strict=True):
        if value != number:  # exactly: a float has no more than 15 digits of a decimal
            raise DataError(
                f"{where}: label {value:g} is a quantity, not a class; give a column of classes"
            )
    return numbers
