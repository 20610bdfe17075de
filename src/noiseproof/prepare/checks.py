"""What is worth knowing about labels before anything is learnt from them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noiseproof.noise import stream
from noiseproof.prepare.classes import Classes, Codes
from noiseproof.prepare.columns.kinds import as_read
from noiseproof.prepare.notes import shortlist
from noiseproof.prepare.samples import Samples
from noiseproof.progress import counted
from noiseproof.tables.gaps import GAPS

#: Warn of a class with fewer rows than this.
SMALL = 20
#: Warn when the largest class has this many times the rows of the smallest.
UNEVEN = 10


@dataclass(frozen=True)
class Checked:
    """What was found.

    Args:
        name: what the data are called.
        rows: how many have a label.
        unlabelled: how many have none, and are set aside.
        counts: rows of each class.
        classes: their names.
        repeated: rows that equal another.
        conflicting: rows that equal another with a different label.
        lookalikes: groups of classes whose names differ in case, spaces or Unicode form alone.
        unread: the pictures that cannot be read and are set aside, each with the reason.
    """

    name: str
    rows: int
    unlabelled: int
    counts: tuple[int, ...]
    classes: tuple[str, ...]
    repeated: int
    conflicting: int
    lookalikes: tuple[tuple[str, ...], ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """How many rows and classes."""
        shown = [f"{c} {n:,}" for c, n in zip(self.classes, self.counts, strict=True)]
        more = f", and {len(shown) - 6} more" if len(shown) > 6 else ""
        listed = f"{', '.join(shown[:6])}{more}"
        return f"{self.name}: {counted(self.rows, 'row')}, {len(self.classes)} classes ({listed})"

    @property
    def warnings(self) -> list[str]:
        """What may be wrong, a line each."""
        found = []
        if self.unlabelled:
            found.append(f"set aside, without a label: {counted(self.unlabelled, 'row')}")
        low, high = int(np.argmin(self.counts)), int(np.argmax(self.counts))
        if self.counts[high] >= UNEVEN * self.counts[low]:
            found.append(
                f"uneven classes: {self.classes[high]} has {self.counts[high]:,} rows, "
                f"{self.classes[low]} {self.counts[low]:,}; accuracy says little of the small ones"
            )
        elif 1 < self.counts[low] < SMALL:
            found.append(f"{self.classes[low]} has {self.counts[low]} rows, few to learn from")
        alone = [name for name, n in zip(self.classes, self.counts, strict=True) if n == 1]
        if alone:
            found.append(f"classes of one row, whose label nothing confirms: {shortlist(alone)}")
        if self.lookalikes:
            groups = [" and ".join(repr(name) for name in group) for group in self.lookalikes]
            found.append(f"labels that look alike are different classes: {shortlist(groups)}")
        for name, rows in zip(self.classes, self.counts, strict=True):
            if name.strip().lower() in GAPS:
                found.append(
                    f"{name!r} is a class here, of {counted(rows, 'row')}; if it means that there "
                    "is no label, leave the label empty"
                )
        if self.repeated:
            labels = f"{self.conflicting:,} of them under different labels"
            found.append(f"{self.repeated:,} rows are repeated, {labels}")
        return found


def check(samples: Samples, codes: Codes, classes: Classes, unlabelled: int) -> Checked:
    """Count classes, repeated rows, and repeated rows under different labels."""
    counts = np.bincount(codes, minlength=len(classes))
    repeated, conflicting = _repeats(hashes(samples), codes)
    return Checked(
        samples.name,
        len(codes),
        unlabelled,
        tuple(int(n) for n in counts),
        classes.names,
        repeated,
        conflicting,
        tuple(classes.lookalikes),
        samples.unread,
    )


def _repeats(hashes: NDArray[np.uint64], codes: Codes) -> tuple[int, int]:
    _, group, size = np.unique(hashes, return_inverse=True, return_counts=True)
    low = np.full(len(size), np.iinfo(np.int64).max)
    high = np.full(len(size), -1)
    np.minimum.at(low, group, codes)
    np.maximum.at(high, group, codes)
    return int(size[size > 1].sum()), int(size[low != high].sum())


def hashes(samples: Samples) -> NDArray[np.uint64]:
    """Return a number for each row, the same for rows that are read alike.

    It is kept: to read a large table takes seconds, and both its repeated rows and its fingerprint
    are found by these numbers.
    """
    if samples.hashed is None:
        table = samples.kind == "table"
        samples.hashed = _table_hashes(samples.inputs) if table else row_hashes(samples.inputs)
    return samples.hashed


def _table_hashes(frame: Any) -> NDArray[np.uint64]:
    import pandas as pd

    plain = frame.astype(_without_masks(frame)).apply(as_read)
    return np.asarray(pd.util.hash_pandas_object(plain, index=False), dtype=np.uint64)


def _without_masks(frame: Any) -> dict[str, str]:
    """Return as what to hash columns with gaps in types of pandas' own: as a CSV has them."""
    types = {name: getattr(frame[name].dtype, "numpy_dtype", None) for name in frame}
    return {
        name: "object" if dtype.kind == "b" else "float64"
        for name, dtype in types.items()
        if dtype is not None and dtype.kind in "biuf" and frame[name].isna().any()
    }


def row_hashes(inputs: Any) -> NDArray[np.uint64]:
    """Return a number for each row of an array or a sparse matrix, the same for equal rows."""
    if sparse.issparse(inputs):
        return _sparse_hashes(inputs)
    flat = np.ascontiguousarray(inputs).reshape(len(inputs), -1)
    word = np.uint32 if flat.dtype.itemsize % 4 == 0 else np.uint8
    width = flat.shape[1] * flat.dtype.itemsize // np.dtype(word).itemsize
    odd = stream(0, "hash").integers(2**63, size=width, dtype=np.uint64) * 2 + 1
    found = []
    for start in range(0, len(flat), 1024):
        words = (flat[start : start + 1024] + flat.dtype.type(0)).view(word)  # of -0 the bits of 0
        # Multiply and add modulo 2^64: rows that differ collide once in 2^60 or so.
        found.append(words.astype(np.uint64) @ odd)
    return np.concatenate(found)


def _sparse_hashes(matrix: Any) -> NDArray[np.uint64]:
    matrix = matrix.tocsr()
    odd = stream(0, "hash").integers(2**63, size=matrix.shape[1], dtype=np.uint64) * 2 + 1
    values = np.ascontiguousarray(matrix.data, dtype=np.float32)
    bits = (values + np.float32(0)).view(np.uint32).astype(np.uint64)  # of -0 those of 0
    # The bits of 0 are 0, so it does not matter whether a 0 is kept.
    sums = np.concatenate([[np.uint64(0)], np.cumsum(bits * odd[matrix.indices], dtype=np.uint64)])
    return np.asarray(sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]])
