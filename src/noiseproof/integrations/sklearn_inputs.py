"""Rows and labels as scikit-learn can validate them, without what it would lose or round."""

from enum import Enum
from typing import Any

import numpy as np
import torch

from noiseproof.extras import need

need("fit", "sklearn")

from sklearn.utils.validation import validate_data

from noiseproof.errors import DataError
from noiseproof.prepare.classes import one_column
from noiseproof.prepare.forms import TOO_LARGE, column_numbers, plain
from noiseproof.prepare.notes import shortlist
from noiseproof.tables.frames import as_column, as_frame, is_foreign

MISSING = "some labels are missing; leave those rows out"


def validated(estimator: Any, *given: Any, **options: Any) -> Any:
    """Return what scikit-learn makes of rows and labels."""
    try:
        return validate_data(estimator, *given, **options)
    except OverflowError:  # of an integer that no float holds
        raise DataError(TOO_LARGE) from None


def rows_of(X: Any) -> Any:
    """Return inputs in a form that scikit-learn can validate; it would count dates in any unit."""
    if getattr(getattr(X, "dtype", None), "kind", None) in ("m", "M"):
        raise DataError("X: expected numbers, got dates or times; give days or seconds")
    X = plain(as_frame(X) if is_foreign(X) else X)
    if not hasattr(X, "columns"):
        return X
    for name in X.columns[X.columns.duplicated()][:1]:
        raise DataError(f"X: two columns are called {name!r}")
    dates = [name for name, dtype in X.dtypes.items() if dtype.kind in "mM"]
    if dates:
        raise DataError(
            f"X: expected numbers, got dates or times in {shortlist(dates)}; give days or seconds"
        )
    return X


def form_of(X: Any) -> dict[str, Any]:
    """Return how scikit-learn should validate inputs: as float64 where float32 would round them."""
    found = list(X.dtypes) if hasattr(X, "dtypes") else [X.dtype]
    exact = all(isinstance(dtype, np.dtype) and np.can_cast(dtype, np.float32) for dtype in found)
    types = [np.float32, np.float64] if exact else [np.float64, np.float32]
    return {"accept_sparse": "csr", "dtype": types, "order": "C"}


def unnamed(X: Any) -> list[Any] | None:
    """Return the columns of a table whose names are not text, or only count them; else None."""
    names = list(getattr(X, "columns", ()))
    is_text = all(isinstance(name, str) for name in names)
    return (column_numbers(names) or None) if is_text else names


def labels_of(y: Any) -> Any:
    """Return labels in a type that scikit-learn recognises."""
    y = one_column(y, "y")
    y = plain(y) if isinstance(y, torch.Tensor) else as_column(y)
    if np.ma.is_masked(y) or (hasattr(y, "isna") and np.asarray(y.isna()).any()):
        raise DataError(MISSING)
    nullable = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if nullable is not None and nullable.kind in "biu" and not y.isna().any():
        return y.to_numpy(nullable)
    kind = getattr(getattr(y, "dtype", None), "kind", "")
    y = y.astype(object) if kind == "T" else y  # NumPy's texts of any length
    objects = kind in ("O", "T") and y.ndim == 1
    if not objects and not isinstance(y, (list, tuple)) and not hasattr(y, "to_list"):
        return y
    values = [_own(value) for value in y]
    types = sorted({type(value).__name__ for value in values})
    gaps = any(value is None or (isinstance(value, float) and value != value) for value in values)
    if gaps and types != ["float"]:  # scikit-learn names those among numbers
        raise DataError(MISSING)
    if types == ["float", "int"] and any(float(value) != value for value in values):
        raise DataError("labels of types float and int: floats would round some; make all integers")
    if objects and types in (["int"], ["bool"], ["float"]):
        return np.array(values)
    if "str" in types and {"int", "float", "bool"} & set(types):
        raise DataError(
            f"labels of types {' and '.join(types)}: make them all text, or all numbers"
        )
    # NumPy's own text drops what "a\0" has more than "a": such labels stay objects.
    cut = types == ["str"] and any(value.endswith("\0") for value in values)
    # And it cuts the names of an enumeration of texts to the length of its texts.
    cut |= types == ["str"] and any(isinstance(value, Enum) for value in y)
    return np.array(values, dtype=object) if cut else y


def _own(value: Any) -> Any:
    """Return a number or text of NumPy's, or of an enumeration, as one of Python's own."""
    if isinstance(value, np.generic):
        return value.item()
    return value.value if isinstance(value, Enum) and isinstance(value, str | int) else value
