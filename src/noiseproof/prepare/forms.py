"""The forms a matrix may come in, brought to one: equal data must give equal answers."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from noiseproof.data import images, single
from noiseproof.errors import DataError
from noiseproof.prepare.notes import shortlist

#: Rows that are turned into features, or into another form, at a time.
BLOCK = 8192
#: The largest number that float32 can hold.
LARGEST = float(np.finfo(np.float32).max)
TOO_LARGE = (
    f"X: a whole number is beyond what float32 holds, {LARGEST:.1e}; take logarithms, or another "
    "unit"
)
#: Rows are treated as sparse if fewer than this share of the values are not 0, and there are more
#: columns than WIDE or more values than MANY.
FEW, WIDE, MANY = 0.1, 1000, 10**8


def plain(X: Any) -> Any:
    """Return rows of any form as a numpy array or a scipy CSR matrix, the same values in it.

    Tensors leave their device, bfloat16 becomes float32, masked values become NaN, and entries of
    a sparse matrix that repeat are added up. Frames and arrays are returned as they are.

    >>> plain(np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])).tolist()
    [[1.0, nan], [3.0, 4.0]]
    """
    if sparse.issparse(X):
        return canonical(X)
    if hasattr(X, "columns"):
        return X
    if isinstance(X, (list, tuple)) and len(X) > 0:
        X = _stacked(X)
    if isinstance(X, Tensor):
        X = _from_torch(X)
        return canonical(X) if sparse.issparse(X) else X
    if isinstance(X, np.ma.MaskedArray):
        return _unmasked(X)
    X = _rectangular(X)
    if X.dtype.kind in "mM":
        raise DataError("X: expected numbers, got dates or times; put them into a DataFrame")
    return X


def canonical(X: Any) -> Any:
    """Return a sparse matrix as CSR with sorted indices, no entry stored twice and no zeros."""
    if X.ndim != 2:
        raise DataError(f"X: expected a sparse matrix (N, d), got shape {X.shape}")
    csr = sparse.csr_matrix(X)  # scipy's sparse arrays have rows of one dimension
    if csr.has_canonical_format and np.all(csr.data != 0):
        return csr
    csr = csr.copy()  # a CSR matrix of a CSR matrix is the caller's own
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr


def prefers_sparse(X: Any) -> bool:
    """Return whether to learn from these rows as sparse ones; the form they came in has no say.

    >>> prefers_sparse(np.eye(2000)), prefers_sparse(sparse.eye_array(20, format="csr"))
    (True, False)
    """
    rows, columns = X.shape
    if columns <= WIDE and rows * columns <= MANY:
        return False
    present = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    return bool(present < FEW * rows * columns)


def in_form(X: Any, is_sparse: bool) -> Any:
    """Return a matrix in the form that a model was fitted to, sparse (CSR) or dense.

    What a learner does to its inputs depends on their form: it subtracts the mean of dense columns
    and not that of sparse ones.
    """
    if sparse.issparse(X):
        return X.tocsr() if is_sparse else X.toarray()
    return canonical(sparse.csr_matrix(X)) if is_sparse else X


def blocks_in_form(X: Any, is_sparse: bool) -> Iterator[Any]:
    """Return a matrix in :func:`in_form`, some rows at a time, so that it never is dense whole."""
    for start in range(0, X.shape[0], BLOCK):
        yield in_form(X[start : start + BLOCK], is_sparse)


def as_inputs(X: Any, where: str) -> Any:
    """Return a matrix (N, d) as float32, or uint8 images as (N, C, H, W), in C order."""
    if X.ndim == 2 and X.dtype.kind in "biuf":
        check_range(X, where)
        return np.ascontiguousarray(X, dtype=np.float32)
    if X.ndim > 2 and 0 in X.shape[1:]:
        raise DataError(f"{where}: images without pixels, {X.shape}")
    if X.dtype == np.uint8 and X.ndim == 3:
        if X.shape[2] == 3 < X.shape[1]:  # no picture is 3 pixels wide: these would be its lines
            raise DataError(
                f"{where}: expected several images, got one {X.shape}; put it in a list"
            )
        return np.ascontiguousarray(X[:, None])
    if X.dtype == np.uint8 and X.ndim == 4:
        if X.shape[1] in (1, 3):
            return np.ascontiguousarray(X)
        if X.shape[3] in (1, 3):
            return np.ascontiguousarray(X.transpose(0, 3, 1, 2))
    if X.ndim == 1 and len(X) and all(isinstance(value, str) for value in X):
        raise DataError(f"{where}: texts go into a table, as pandas.DataFrame({{'text': texts}})")
    raise DataError(
        f"{where}: expected numbers (N, d) or uint8 images (N, H, W), (N, C, H, W), "
        f"(N, H, W, C) with C = 1 or 3, got {X.dtype} {X.shape}"
    )


def check_range(X: Any, where: str) -> None:
    """Refuse finite numbers that float32 cannot hold, in an array (N, d) or a sparse matrix."""
    if sparse.issparse(X):
        X, where = X.data[:, None], f"{where}, of the values that are not 0"
    if X.dtype.kind != "f" or X.dtype.itemsize <= 4:
        return
    for start in range(0, len(X), 4096):
        part = np.abs(X[start : start + 4096])
        rows, columns = np.nonzero((part > LARGEST) & np.isfinite(part))
        if len(rows):
            row, column = start + int(rows[0]), int(columns[0])
            raise DataError(
                f"{where}: {X[row, column]:g} in row {row}, column {column} is beyond what float32 "
                f"holds, {LARGEST:.1e}; take logarithms, or another unit"
            )


#: How a line about columns that float32 cannot tell apart begins.
BLURRED = "differences too small for single precision"


def blurred(X: Any, instead: str = "give a table") -> tuple[str, ...]:
    """Return a line about columns that differ too little to be told in float32.

    Args:
        X: a matrix (N, d), dense or sparse.
        instead: what to do other than scaling the columns.

    >>> blurred(np.array([[1e9, 1.0], [1e9 + 1, 3.0], [1e9 + 2, 2.0]]))[0][:48]
    'differences too small for single precision: colu'
    """
    if X.ndim != 2 or (sparse.issparse(X) and X.shape[1] > WIDE):
        return ()
    few = single.blurred(X)
    if len(few) == 0:
        return ()
    names = shortlist(int(column) for column in few)
    return (f"{BLURRED}: columns {names}; subtract their means and scale them, or {instead}",)


def column_numbers(names: Iterable[Any]) -> list[int] | None:
    """Return the numbers that columns are called by, if these count them from 0, in any order.

    >>> column_numbers(["1", "0"]), column_numbers([0.0, 1.0]), column_numbers([1, 2])
    ([1, 0], [0, 1], None)
    """
    texts = [str(name) for name in names]
    numbers = {form(at): at for at in range(len(texts)) for form in ("{}".format, "{}.0".format)}
    found = [numbers.get(text, -1) for text in texts]
    return found if sorted(found) == list(range(len(texts))) else None


def _stacked(rows: Any) -> Any:
    """Return rows that are tensors, masked arrays or pictures as one; others as they are."""
    if all(hasattr(row, "getbands") for row in rows):
        return _pixels(rows)
    try:
        if all(isinstance(row, Tensor) for row in rows):
            return torch.stack(list(rows))
        rows = [_from_torch(row) if isinstance(row, Tensor) else row for row in rows]
        if any(isinstance(row, np.ma.MaskedArray) for row in rows):
            return np.ma.stack(rows)
    except (ValueError, RuntimeError):
        raise DataError(f"X: {_ragged(rows)}") from None
    return rows


def _pixels(pictures: Any) -> Any:
    """Return pictures of Pillow's as uint8 (N, C, H, W), as their files would be read."""
    try:
        made = [images.pixels(picture) for picture in pictures]
    except (OSError, SyntaxError, ValueError) as error:
        raise DataError(f"X: a picture cannot be read ({error})") from None
    shapes = sorted({image.shape[1:] for image in made})
    if len(shapes) > 1:
        one, other = ("x".join(map(str, shape)) for shape in shapes[:2])
        raise DataError(f"X: images of {one} and of {other} pixels; expected one size")
    channels = max(map(len, made))
    return np.stack([np.broadcast_to(image, (channels, *image.shape[1:])) for image in made])


def _from_torch(X: Any) -> Any:
    if X.is_nested:
        raise DataError("X: expected numbers (N, d), got a nested tensor")
    if X.is_meta or X.is_quantized:
        raise DataError("X: expected numbers (N, d), got a quantised tensor or one without data")
    X = X.detach().cpu().resolve_neg()
    if X.is_floating_point() and X.dtype not in (torch.float16, torch.float32, torch.float64):
        X = X.float()  # numpy has no bfloat16 and no float8
    if X.is_sparse and X.dense_dim():
        X = X.to_dense()
    if X.layout == torch.strided:
        try:
            return X.numpy()
        except RuntimeError:  # of a class of its own, such as a MaskedTensor
            kind = type(X).__name__
            raise DataError(f"X: expected numbers (N, d), got a {kind}; give an array") from None
    X = X.to_sparse_coo().coalesce()
    values, places = X.values().numpy(), X.indices().numpy()
    return sparse.coo_matrix((values, tuple(places)), shape=tuple(X.shape))


def _unmasked(X: Any) -> Any:
    if not np.ma.is_masked(X):
        return np.asarray(X.data)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DataError(f"X: expected a mask on numbers (N, d) alone, got {X.dtype} {X.shape}")
    return X.astype(np.result_type(X.dtype, np.float32)).filled(np.nan)


def _rectangular(X: Any) -> Any:
    try:
        return np.asarray(X)
    except ValueError:
        raise DataError(f"X: {_ragged(X)}") from None


def _ragged(X: Any) -> str:
    single = [getattr(row, "ndim", 1) == 0 or not hasattr(row, "__len__") for row in X]
    lengths = [1 if one else len(row) for one, row in zip(single, X, strict=True)]
    other = next((at for at, length in enumerate(lengths) if length != lengths[0]), None)
    if other is None:
        return "expected numbers (N, d), got rows of lists of different lengths"
    return (
        f"row 0 has {lengths[0]} values, row {other} has {lengths[other]}; expected as many in each"
    )
