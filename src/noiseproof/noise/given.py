"""Labels and a classifier's probabilities, as a caller gives them, checked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import NoiseError, did_you_mean
from noiseproof.noise.labels import Integers, as_labels, as_numbers, is_listing, to_array

Names = tuple[str, ...] | None


def read_given(
    labels: Any, probabilities: Any, classes: Sequence[str] | None
) -> tuple[Names, Integers, NDArray[np.floating]]:
    """Return the names of the classes, (N,) the labels as numbers, and (N, K) the probabilities.

    Args:
        labels: numbers from 0 to K-1, or names.
        probabilities: an array, or a DataFrame, whose columns go by their names.
        classes: the K names; without them, those of the columns, or of the labels, in order.
    """
    p, columns = _probabilities(probabilities), _columns(probabilities)
    array = _of_one_kind(to_array(labels))
    if columns and classes is None and not _are_numbers(columns):
        words = set(array.astype(str).tolist()) if array.dtype.kind in "OU" else set()
        classes = columns if words <= set(columns) else None
    names, given = read_labels(array, p.shape[1], classes)
    if len(given) != len(p):
        raise NoiseError(f"{len(given)} labels, but {len(p)} rows of probabilities")
    order = _order(columns, names) if columns else None
    return names, given, p if order is None else p[:, order]


def _columns(table: Any) -> list[str]:
    """Return the names of the columns of a table of pandas, polars or Arrow; none of an array."""
    columns: Any = getattr(table, "column_names", getattr(table, "columns", None))
    names = list(columns) if is_listing(columns) else []
    plain = all(isinstance(name, str | int | float | np.number) for name in names)
    return [_text_of(name) for name in names] if plain else []


def _text_of(name: Any) -> str:
    """Return the name of a column as text: 1 for 1.0, as pandas calls it where names have gaps."""
    whole = isinstance(name, float | np.floating) and float(name).is_integer()
    return str(int(name) if whole else name)


def _are_numbers(columns: list[str]) -> bool:
    """Return whether columns are called 0 to K-1, in any order."""
    return sorted(columns) == sorted(str(k) for k in range(len(columns)))


def _order(columns: list[str], names: Names) -> list[int] | None:
    """Return the place of each class among the columns; None where they have names of their own."""
    if names is not None and sorted(columns) == sorted(names):
        return [columns.index(name) for name in names]
    if _are_numbers(columns):
        return [columns.index(str(k)) for k in range(len(columns))]
    if set(columns) & set(names or ()):
        raise NoiseError(
            f"the columns of the probabilities are {columns[:9]}, but the classes are "
            f"{list(names or ())[:9]}; call them the same, or give an array"
        )
    return None


def _probabilities(probabilities: Any) -> NDArray[np.floating]:
    p = as_numbers(to_array(probabilities))
    if p.ndim != 2 or p.shape[1] < 2:
        raise NoiseError(f"expected probabilities of shape (N, K), K >= 2, got {p.shape}")
    if p.dtype.kind not in "fiub":
        raise NoiseError("expected probabilities to be numbers")
    if p.dtype.kind != "f":
        p = p.astype(np.float64)
    sums = p.sum(axis=1, dtype=np.float64)
    # A sum is within what half precision may be off.
    wrong = ~(np.abs(sums - 1) <= 0.01) | (p.min(axis=1) < 0)
    if wrong.any():
        row = int(wrong.argmax())
        raise NoiseError(f"row {row} of the probabilities does not sum to 1, or has one below 0")
    return p


def read_labels(labels: Any, K: int, classes: Sequence[str] | None) -> tuple[Names, Integers]:
    """Return the names of the K classes, None where there are none, and the labels as numbers."""
    array = _of_one_kind(to_array(labels))
    if classes is not None and not is_listing(classes):
        raise NoiseError(f"expected the names of the classes, got {classes!r}")
    names = None if classes is None else tuple(str(name) for name in classes)
    if names is not None and len(names) != K:
        raise NoiseError(f"{len(names)} class names for probabilities of {K} classes")
    if array.dtype.kind not in "OU":
        return names, as_labels(array, K)
    if names is None:
        names = tuple(np.unique(array.astype(str)).tolist())
        if len(names) != K:
            raise NoiseError(
                f"labels of {len(names)} names for probabilities of {K} classes: give `classes`"
            )
    return names, _codes(array, names)


def _of_one_kind(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels that come as objects as texts or as integers: as text, 10 would be before 2."""
    if labels.dtype.kind == "S":
        labels = labels.astype(object)
    if labels.dtype.kind != "O" or not labels.size:
        return labels
    words = isinstance(labels.flat[0], str | bytes)
    kind = str | bytes if words else int | np.integer
    for place, label in enumerate(labels.flat):
        if not isinstance(label, kind):
            raise NoiseError(
                f"expected labels that are all names or all whole numbers, got {label!r} at "
                f"position {place}; leave out rows without a label"
            )
    plain = [_text(label) if words else label for label in labels.flat]
    return np.array(plain, dtype=object if words else None).reshape(labels.shape)


def _text(label: str | bytes) -> str:
    if isinstance(label, str):
        return str.__str__(label)  # an enumeration of texts would write its own name
    try:
        return label.decode()
    except UnicodeDecodeError:
        raise NoiseError(f"label {label!r} is not UTF-8 text") from None


def _codes(words: NDArray[Any], names: tuple[str, ...]) -> Integers:
    place = {name: i for i, name in enumerate(names)}
    words = words.astype(str)
    for word in words:
        if word not in place:
            raise NoiseError(f"unknown label {str(word)!r}{did_you_mean(str(word), names)}")
    return np.array([place[word] for word in words], dtype=np.int64)


def read_neighbours(neighbours: Any, N: int) -> Integers:
    """Return (N, k) numbers of rows, checked."""
    rows = to_array(neighbours)
    if rows.ndim != 2 or len(rows) != N or rows.dtype.kind not in "iu":
        raise NoiseError(f"expected neighbours as (N, k) row numbers, N = {N}, got {rows.shape}")
    if rows.size and (rows.min() < 0 or rows.max() >= N):
        raise NoiseError(f"expected neighbours to be row numbers from 0 to {N - 1}")
    own = (rows == np.arange(N)[:, None]).any(axis=1)
    if own.any():
        raise NoiseError(
            f"row {own.argmax()} is among its own neighbours, and would vote for its own label: "
            "leave each row itself out, as nearest(X) and scikit-learn's kneighbors() without X do"
        )
    return rows.astype(np.int64)
