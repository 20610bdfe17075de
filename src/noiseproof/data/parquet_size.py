"""How much memory a Parquet file takes, told before it is read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from noiseproof.data.memory import check_fits
from noiseproof.errors import DataError
from noiseproof.extras import need


def stored_size(path: Path) -> int:
    """Return about how many bytes the values of a file take, by what it says of itself."""
    need("fit", "pyarrow")
    from pyarrow import parquet  # type: ignore[import-untyped]

    with _opened(path) as file:
        content = parquet.read_metadata(file)
    stored = sum(content.row_group(i).total_byte_size for i in range(content.num_row_groups))
    # A value that repeats a million times is stored once and takes the memory of a million.
    return max(int(stored), 8 * int(content.num_rows) * int(content.num_columns))


def check_texts(path: Path) -> None:
    """Refuse a file whose texts are stored once, and are too large where each row has its own."""
    need("fit", "pyarrow")
    from pyarrow import compute, parquet, types

    kinds = types.is_string, types.is_large_string, types.is_binary, types.is_large_binary
    total = 0
    with _opened(path) as file:
        fields = {field.name: field.type for field in parquet.ParquetFile(file).schema_arrow}
        inner = {n: t.value_type if types.is_dictionary(t) else t for n, t in fields.items()}
        texts = [name for name, kind in inner.items() if any(is_a(kind) for is_a in kinds)]
        reader = parquet.ParquetFile(file, read_dictionary=texts)
        for group in range(reader.num_row_groups):
            for column in reader.read_row_group(group, texts).columns:
                for part in column.chunks:
                    if types.is_dictionary(part.type):
                        lengths = compute.binary_length(part.dictionary)
                        total += compute.sum(lengths.take(part.indices)).as_py() or 0
            check_fits(path, total)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    from pyarrow import ArrowException

    try:
        with path.open("rb") as file:  # a name that is not UTF-8 is for Python to open
            yield file
    except (ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path}: cannot be read as parquet ({reason})") from None
