"""Conversion of labels: tensors come back as tensors, anything else as arrays."""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from noiseproof.errors import NoiseError, ShapeError, TargetError
from noiseproof.losses.arrays import dense, of_tensor
from noiseproof.losses.parameter import is_whole

Labels = TypeVar("Labels", NDArray[Any], Tensor)
Integers = NDArray[np.int64]
#: The matrix of so many classes has 5 GB.
MOST_CLASSES = 25_000


def to_array(values: Any) -> NDArray[Any]:
    """Return a tensor (on any device, of any float type), array or sequence as a numpy array.

    >>> to_array(torch.ones(2, dtype=torch.bfloat16))
    array([1., 1.], dtype=float32)
    """
    try:
        values = dense("value", values)
    except ShapeError:
        shape = tuple(values.shape)
        raise NoiseError(
            f"expected one value a row, or dense features, got a sparse matrix of shape {shape}"
        ) from None
    if isinstance(values, Tensor):
        try:
            return of_tensor("values", values)
        except ShapeError as error:
            raise NoiseError(str(error)) from None
    if np.ma.is_masked(values):
        count = int(np.ma.getmaskarray(values).sum())
        raise NoiseError(f"expected no masked values, got {count:,}; leave out their rows")
    if isinstance(values, list | tuple) and any(isinstance(value, Enum) for value in values):
        return np.array(values, dtype=object)  # numpy would cut the texts of an enumeration
    try:
        array = np.asarray(values)
    except ValueError:
        raise NoiseError("expected rows of one length, got lists of different lengths") from None
    return array.astype(object) if array.dtype.kind == "T" else array  # numpy's texts of any length


def as_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of objects that are numbers, as pandas' nullable columns become, as floats.

    Any other array is returned as it is.
    """
    if array.dtype.kind != "O":
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return array


def as_labels(labels: Any, classes: int | None = None) -> Integers:
    """Return ``labels`` as an int64 vector, after checking that each is one of 0..classes-1.

    >>> as_labels([0, 3, 1], classes=3)
    Traceback (most recent call last):
    noiseproof.errors.TargetError: label 3 at position 1 is outside 0..2
    """
    array = to_array(labels)
    if array.ndim != 1:
        raise NoiseError(f"expected labels to be a vector, got shape {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise NoiseError(f"expected labels to be whole numbers, got {array.dtype}")
    classes = MOST_CLASSES if classes is None else check_classes(classes)
    outside = (array < 0) | (array >= classes)
    if outside.any():
        place = int(outside.argmax())
        raise TargetError(f"label {array[place]} at position {place} is outside 0..{classes - 1:,}")
    return array.astype(np.int64)


def is_listing(values: object) -> bool:
    """Return whether there are values one after another: not in a text, a set or one number.

    Nor in a dictionary, which would be read as its keys alone.

    >>> is_listing(["a", "b"]), is_listing("ab"), is_listing({"a"}), is_listing({0: "a"})
    (True, False, False, False)
    """
    return (
        isinstance(values, Iterable)
        and not isinstance(values, str | bytes | set | frozenset | Mapping)
        and getattr(values, "ndim", 1) == 1
    )


def check_classes(K: int) -> int:
    """Return the number of classes of a matrix as an int, after checking that it is one.

    >>> check_classes(10**9)
    Traceback (most recent call last):
    noiseproof.errors.NoiseError: expected 2 to 25,000 classes, got 1,000,000,000
    """
    if not is_whole(K):
        raise NoiseError(f"expected the number of classes, got {K!r}")
    if K < 2:
        raise NoiseError(f"expected at least 2 classes, got {K}")
    if K > MOST_CLASSES:
        raise NoiseError(f"expected 2 to {MOST_CLASSES:,} classes, got {K:,}")
    return int(K)


def count_classes(*labels: Integers) -> int:
    """Return the smallest number of classes, at least two, that contains ``labels``."""
    return max(2, *(1 + int(vector.max(initial=0)) for vector in labels))


def like(values: NDArray[Any], labels: Labels) -> Labels:
    """Return ``values`` in the container of ``labels``, on its device."""
    if isinstance(labels, Tensor):
        return torch.from_numpy(values).to(labels.device)
    return values
