"""Corruption: noisy labels, with a receipt of how they differ from the clean ones."""

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import NoiseError
from noiseproof.noise.labels import Integers, Labels, as_labels, check_classes, count_classes, like


@dataclass(frozen=True, eq=False, repr=False)
class Corruption(Generic[Labels]):
    """Noisy labels with their receipt; ``len``, indexing, iteration and numpy read the labels.

    Attributes:
        labels: (N,) int64, a tensor if the clean labels were one, otherwise an array.
        changed: (N,) bool in the same container, true if the label differs from the clean one.
        counts: (K, K) int64, the number of samples of class i that are now labelled j.
        hash: SHA-256 of the number of classes and the noisy labels, as little-endian int64.

    >>> noisy = human_corruption(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    >>> noisy
    Corruption(4 labels, 1 changed, rate 0.25, hash 7bbfdd36177f)
    >>> noisy.labels, noisy.changed
    (array([0, 1, 1, 1]), array([False,  True, False, False]))
    >>> noisy.matrix
    array([[0.5, 0.5],
           [0. , 1. ]])
    """

    labels: Labels
    changed: Labels
    counts: Integers
    hash: str

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The realised matrix (K, K), with rows summing to one.

        A class without samples has the row of the identity; ``counts`` tells it from a class that
        was left unchanged.
        """
        sizes = self.counts.sum(axis=1, keepdims=True)
        return np.where(sizes > 0, self.counts / np.maximum(sizes, 1), np.eye(len(self.counts)))

    @property
    def rate(self) -> float:
        """The realised share of labels that differ from the clean ones; 0 without labels."""
        return int(self.changed.sum()) / len(self) if len(self) else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt, without the labels, as plain JSON values."""
        return {
            "samples": len(self),
            "changed": int(self.changed.sum()),
            "rate": self.rate,
            "counts": self.counts.tolist(),
            "hash": self.hash,
        }

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: Any) -> Any:
        return self.labels[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = as_labels(self.labels)
        return array if dtype is None else array.astype(dtype)

    def __repr__(self) -> str:
        return (
            f"Corruption({len(self)} labels, {int(self.changed.sum())} changed, "
            f"rate {self.rate:.4g}, hash {self.hash[:12]})"
        )


def human_corruption(clean: Labels, given: Any, classes: int | None = None) -> Corruption[Labels]:
    """Return the receipt of labels that people, or anyone else, gave instead of the clean ones.

    Args:
        clean: (N,) true labels; the noisy ones come back in the same container.
        given: (N,) the given labels.
        classes: K; by default one more than the largest label.

    >>> human_corruption(np.array([0, 1, 2, 2]), [0, 2, 2, 1]).rate
    0.5
    """
    true, noisy = as_labels(clean, classes), as_labels(given, classes)
    if len(true) != len(noisy):
        raise NoiseError(f"{len(true)} clean labels, but {len(noisy)} given ones")
    return receipt(true, noisy, classes or count_classes(true, noisy), clean)


def receipt(true: Integers, noisy: Integers, classes: int, labels: Labels) -> Corruption[Labels]:
    """Return the receipt for ``true`` becoming ``noisy``, in the container of ``labels``."""
    classes = check_classes(classes)
    counts = np.bincount(true * classes + noisy, minlength=classes * classes)
    return Corruption(
        like(noisy, labels),
        like(noisy != true, labels),
        counts.reshape(classes, classes),
        _hash(noisy, classes),
    )


def _hash(noisy: Integers, classes: int) -> str:
    digest = hashlib.sha256(classes.to_bytes(8, "little"))
    digest.update(noisy.tobytes() if sys.byteorder == "little" else noisy.byteswap().tobytes())
    return digest.hexdigest()
