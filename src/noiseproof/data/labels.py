"""Labels as they come in files, turned into 0..K-1 and the names of the classes."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from noiseproof.errors import DataError

Array = npt.NDArray[np.generic]


def encode(labels: Array, where: str | Path) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """Number the different labels in their sorted order.

    Args:
        labels: integers, booleans, strings, or floats without a fraction, shape (N,).
        where: the file, for the message of an error.

    >>> codes, classes = encode(np.array(["dog", "cat", "dog"]), "pets.csv")
    >>> codes.tolist(), classes
    ([1, 0, 1], ('cat', 'dog'))
    >>> encode(np.array([10, 9, 10]), "numbers.csv")[1]
    ('9', '10')
    """
    if labels.ndim != 1:
        raise DataError(f"{where}: expected one label a sample, got labels of shape {labels.shape}")
    if labels.dtype.kind == "f":
        numbers = labels.astype(np.float64)
        if not np.isfinite(numbers).all():
            raise DataError(
                f"{where}: {int((~np.isfinite(numbers)).sum())} labels are missing or not finite"
            )
        if (numbers % 1 != 0).any():
            fraction = numbers[numbers % 1 != 0][0]
            raise DataError(f"{where}: label {fraction} is a quantity, not a class")
        if (np.abs(numbers) > 2.0**53).any():
            raise DataError(f"{where}: labels beyond 2^53 are not exact as floats; use integers")
        labels = numbers.astype(np.int64)
    elif labels.dtype.kind == "S":
        try:
            labels = np.char.decode(labels.astype(np.bytes_), "utf-8")
        except UnicodeDecodeError:
            raise DataError(f"{where}: labels of bytes that are not UTF-8 text") from None
    elif labels.dtype.kind not in "biuU":
        raise DataError(f"{where}: labels of type {labels.dtype} are not classes")
    values, codes = np.unique(labels, return_inverse=True)
    if len(values) < 2:
        raise DataError(f"{where}: fewer than two classes among {len(labels)} labels")
    return codes.astype(np.int64), tuple(str(value) for value in values.tolist())


def check_range(labels: Array, count: int, where: str | Path) -> None:
    """Refuse labels outside 0..count-1, naming the file."""
    wrong = (labels.astype(np.int64) < 0) | (labels.astype(np.int64) >= count)
    if wrong.any():
        at = int(wrong.argmax())
        raise DataError(
            f"{where}: label {int(labels[at].item())} of sample {at} is out of range 0..{count - 1}"
        )
