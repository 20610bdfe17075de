"""How much memory a Parquet file takes, told before it is read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from noiseproof.errors import DataError
from noiseproof.extras import need
from noiseproof.memory import check_fits


def stored_size(path: Path) -> int:
    """Return about how many bytes the values of a file take, by what it says of itself."""
    need("fit", "pyarrow")
    from pyarrow import parquet  # type: ignore[import-untyped]

    with _opened(path) as file:
        content = parquet.read_metadata(file)
        groups = [content.row_group(i) for i in range(content.num_row_groups)]
        # A value that repeats a million times is stored once and takes the memory of a million.
        widths = [max(8, content.schema.column(i).length) for i in range(content.num_columns)]
        whole = sum(
            width * group.column(i).num_values for group in groups for i, width in enumerate(widths)
        )
    return int(max(sum(group.total_byte_size for group in groups), whole))


def check_texts(path: Path) -> None:
    """Refuse a file whose texts are stored once, and are too large where each row has its own."""
    need("fit", "pyarrow")
    from pyarrow import compute, parquet

    total = 0
    with _opened(path) as file:
        schema = parquet.ParquetFile(file).schema
        columns = [schema.column(i) for i in range(len(schema))]
        texts = [
            one.path
            for one in columns
            if one.physical_type == "BYTE_ARRAY" and one.logical_type.type != "DECIMAL"
        ]
        reader = parquet.ParquetFile(file, read_dictionary=texts)
        for group in range(reader.num_row_groups):
            for column in reader.read_row_group(group, texts).columns:
                for part in (leaf for chunk in column.chunks for leaf in _dictionaries(chunk)):
                    lengths = compute.binary_length(part.dictionary)
                    total += compute.sum(lengths.take(part.indices)).as_py() or 0
            check_fits(path, total)


def _dictionaries(array: Any) -> Iterator[Any]:
    """Yield what is stored once in an array, in its lists and structs too."""
    from pyarrow import types

    kind = array.type
    if types.is_dictionary(kind):
        yield array
    elif types.is_struct(kind):
        for i in range(kind.num_fields):
            yield from _dictionaries(array.field(i))
    elif types.is_map(kind):
        yield from _dictionaries(array.keys)
        yield from _dictionaries(array.items)
    elif types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        yield from _dictionaries(array.values)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    from pyarrow import ArrowException

    try:
        with path.open("rb") as file:  # a name that is not UTF-8 is for Python to open
            yield file
    except (ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path}: cannot be read as parquet ({reason})") from None
