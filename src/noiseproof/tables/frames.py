"""Tables and columns of other libraries, such as pyarrow and polars, as those of pandas."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from noiseproof.errors import DataError
from noiseproof.extras import need

if TYPE_CHECKING:
    import pandas as pd

#: What tables have that any library may read, DuckDB's and polars' alike.
STREAM = "__arrow_c_stream__"
#: How pandas and Dask store an index without a name.
UNNAMED = re.compile("__index_level_[0-9]+__|__null_dask_index__")


def with_columns(frame: Any, columns: dict[str, Any]) -> Any:
    """Return a frame with other columns; DataFrame.assign has no place for one called self."""
    frame = frame.copy(deep=False)
    for name, column in columns.items():
        frame[name] = column
    return frame


def is_foreign(table: Any) -> bool:
    """Return whether a table is of another library than pandas, also one yet to be collected."""
    signs = ("collect_schema", "to_pandas", "columns", STREAM)
    if not any(hasattr(table, name) for name in signs):  # a lazy frame warns of looking at columns
        return False
    import pandas as pd

    return not isinstance(table, pd.DataFrame | pd.Series)


def as_frame(table: Any, where: str = "the table") -> Any:
    """Return a table of another library as a DataFrame; integers beside gaps stay integers.

    pandas would make floats of them: labels and names of 16 digits and more would be rounded.
    """
    need("fit", "pandas", "pyarrow")
    if hasattr(table, "collect_schema") and hasattr(table, "collect"):
        table = table.collect()  # a lazy frame of polars
    if hasattr(table, STREAM) and not hasattr(table, "to_pandas"):
        import pyarrow as pa  # type: ignore[import-untyped]

        table = pa.table(table)
    if not (hasattr(table, "columns") and hasattr(table, "to_pandas")):
        kind = type(table).__name__
        raise DataError(f"{where}: expected a table of pandas, polars or Arrow, got a {kind}")
    if hasattr(table, "to_arrow"):
        return _of_polars(table, where)
    frame = _to_pandas(table, where)
    if not frame.columns.is_unique or not _is_arrow(table):
        return frame  # names that occur twice are refused elsewhere; others have no Arrow types
    # pandas may have given columns the names they had there, such as the number 2020 for "2020".
    known = set(table.schema.names)
    for name in frame.columns[[dtype.kind == "f" for dtype in frame.dtypes]]:
        if str(name) in known and "int" in str(table[str(name)].type):
            frame[name] = _integers(table[str(name)]).set_axis(frame.index)
    return frame


def _of_polars(table: Any, where: str) -> Any:
    """Return a table of polars as pyarrow would have it, and so as its Parquet file is read."""
    odd = [name for name in table.columns if _is_foreign_to_arrow(table[name])]
    frame = as_frame(table.drop(odd).to_arrow(), where)
    return with_columns(frame, {name: as_column(table[name]) for name in odd})[table.columns]


def _is_foreign_to_arrow(column: Any) -> bool:
    """Return whether polars has a type for a column that pyarrow does not: it would be misread."""
    return str(column.dtype) in ("Object", "Int128", "UInt128")


def as_column(values: Any) -> Any:
    """Return a column of pyarrow or polars as one of pandas; anything else as it is.

    numpy makes the word None of what is missing among Arrow's texts, and the last of all values of
    what is missing in a dictionary.

    >>> import pyarrow
    >>> as_column(pyarrow.chunked_array([["a", None, "b"]]).dictionary_encode()).tolist()
    ['a', nan, 'b']
    """
    if hasattr(values, "to_arrow"):  # of polars
        import pandas as pd

        if _is_foreign_to_arrow(values):
            return pd.Series(values.to_list(), dtype=object, name=values.name)
        return as_column(values.to_arrow()).rename(values.name)
    is_arrow = hasattr(values, "to_pandas") and not hasattr(values, "columns")
    return values.to_pandas(integer_object_nulls=True) if is_arrow else values


def _to_pandas(table: Any, where: str) -> Any:
    wrong = (TypeError, ValueError, LookupError, AttributeError, RuntimeError)
    try:
        frame = table.to_pandas()
        return without_index(frame, table.schema) if _is_arrow(table) else frame
    except wrong:
        if not _is_arrow(table):
            raise
    try:  # what a file says about pandas may be anything
        return table.replace_schema_metadata(None).to_pandas()
    except wrong as error:
        raise DataError(f"{where}: cannot be read ({str(error).partition(chr(10))[0]})") from None


def _is_arrow(table: Any) -> bool:
    return hasattr(table, "replace_schema_metadata")


def is_odd(column: Any) -> bool:
    """Return whether a column is of a type of Arrow's that pandas can do next to nothing with."""
    import pandas as pd

    if not isinstance(column.dtype, pd.ArrowDtype):
        return False
    from pyarrow import types

    found, known = column.dtype.pyarrow_dtype, ("string", "large_string", "binary", "large_binary")
    simple = types.is_primitive(found) and not types.is_interval(found)
    return not (simple or types.is_decimal(found) or types.is_null(found) or str(found) in known)


def as_objects(column: Any) -> Any:
    """Return a column of Arrow's as one of Python's objects, or of categories."""
    return column.array.__arrow_array__().to_pandas().set_axis(column.index)


def _integers(column: Any) -> Any:
    unsigned = str(column.type).startswith("u")
    return as_column(column).astype("UInt64" if unsigned else "Int64")


def usual(dtype: Any) -> Any:
    """Return a dtype that pandas can compute with: no long doubles, no bytes in another order.

    Nor floats of Arrow and pandas' own: a NaN among them is no gap to pandas, and it cannot add
    Arrow's short ones.
    """
    if dtype.kind == "f":
        dtype = getattr(dtype, "numpy_dtype", dtype)
    if not isinstance(dtype, np.dtype):
        return dtype
    return np.dtype("float64") if dtype == np.longdouble else dtype.newbyteorder("=")


def without_index(frame: "pd.DataFrame", schema: Any) -> "pd.DataFrame":
    """Return a table as others than pandas see it: what it stored as an index is a column.

    An index that has no name and only numbers the rows is none.

    Args:
        frame: the table as pandas restored it.
        schema: that of Arrow, of the columns that were read.
    """
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    # A range is stored as its ends, and is left out where it does not fit the rows.
    levels = [one for one in index if isinstance(one, dict) or one in schema.names]
    if len(levels) != frame.index.nlevels:
        levels = [one for one in levels if isinstance(one, str)]
    made = {}
    for number, name in enumerate(levels if len(levels) == frame.index.nlevels else ()):
        level = frame.index.get_level_values(number)
        counts_rows = level.dtype.kind in "iu" and UNNAMED.fullmatch(str(name))
        if isinstance(name, str) and not counts_rows:
            made[name] = level.array
    frame = frame.reset_index(drop=True)
    below = [""] * (frame.columns.nlevels - 1)
    for name, values in made.items():
        frame[(name, *below) if below else name] = values
    return frame
