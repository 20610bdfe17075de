"""Table files as frames: CSV, TSV and Parquet, with every way it can fail as one line."""

import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from noiseproof.errors import DataError
from noiseproof.extras import need
from noiseproof.files import unchanged
from noiseproof.memory import check_fits
from noiseproof.tables.decimal_commas import doubtful_points, read_decimal_commas, without_commas
from noiseproof.tables.delimited import Delimited
from noiseproof.tables.frames import as_frame, with_columns
from noiseproof.tables.parquet_size import check_texts, stored_size

if TYPE_CHECKING:
    import pandas as pd

PARQUET = frozenset({".parquet", ".pq"})
SUFFIXES = frozenset({".csv", ".tsv", ".csv.gz", ".tsv.gz"}) | PARQUET


def table_suffix(path: Path) -> str | None:
    """Return which of :data:`SUFFIXES` a file name ends with; None where it is no table.

    >>> table_suffix(Path("Reviews.CSV.gz")), table_suffix(Path("reviews.txt"))
    ('.csv.gz', None)
    """
    name = path.name.lower()
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)


def bare_name(path: Path) -> str:
    """Return a file's name without its ending; that of a folder as it is.

    >>> bare_name(Path("reviews.v2.csv.gz")), bare_name(Path("digits.npz"))
    ('reviews.v2', 'digits')
    """
    ending = "" if path.is_dir() else table_suffix(path) or path.suffix
    return path.name[: len(path.name) - len(ending)]


class Table(NamedTuple):
    """A table as it was read.

    Args:
        frame: its rows.
        decimal_commas: the columns whose numbers are written 3,14.
        thousands: the columns read as fractions whose points may be between thousands.
    """

    frame: "pd.DataFrame"
    decimal_commas: tuple[str, ...] = ()
    thousands: tuple[str, ...] = ()


def read_frame(
    path: Path,
    label: str | None = None,
    *,
    encoding: str | None = None,
    numbers: Collection[str] | None = None,
    texts: Collection[str] = (),
    commas: Collection[str] = (),
    hears: Callable[[int], None] | None = None,
) -> Table:
    """Read a table file, with every way it can fail as one line.

    Args:
        path: the file; a ``.csv`` may use semicolons, and then decimal commas, or tabs.
        label: the column of labels: its texts are kept, so that NA and None may be classes.
        encoding: of the text; None is UTF-8, or UTF-16 where the file says so.
        numbers: the columns that may have decimal commas; None finds them by their looks.
        texts: the columns that stay texts, whatever they look like; NA is a text there, too, also
            if they are labels.
        commas: the columns that surely have decimal commas, between semicolons. In those that are
            also among ``texts``, numbers are numbers all the same, beside words.
        hears: is told how many bytes of text have been read, unpacked.
    """
    suffix = table_suffix(path) or ".csv"
    # Some columns are read again as they are written: of another version they would be other rows.
    with unchanged(path), readable(path, encoding):
        if suffix in PARQUET:
            return Table(_parquet(path))
        file = Delimited.look(path, suffix, encoding)
        both = {*commas} & {*texts} & {*file.columns}
        kept = {*commas} - both if file.separator == ";" else ()
        frame = file.frame(label=label, texts=kept, names=texts, hears=hears)
        if file.separator != ";":
            return Table(_with_points(frame, both))
        left = {label, *texts} - both
        inputs = frame.drop(columns=[name for name in frame if name in left])
        wanted = None if numbers is None else {*numbers, *both}
        found = read_decimal_commas(inputs, wanted, commas, file.written)
        columns = {name: inputs[name] for name in found}
        known = numbers is not None  # from a fit, which has asked
        doubtful = [] if known else doubtful_points(inputs.drop(columns=found), file.written)
        frame = _with_points(with_columns(frame, columns), both - {*found})
        return Table(frame, tuple(found), tuple(doubtful))


def _with_points(frame: Any, names: Collection[str]) -> Any:
    """Return a table in which numbers with decimal points in some columns of texts are numbers."""
    return with_columns(frame, {name: without_commas(frame[name], False) for name in names})


def _parquet(path: Path) -> Any:
    with path.open("rb") as file:  # a name that is not UTF-8 is for Python to open
        return as_frame(parquet_file(file).read(), str(path))


def parquet_file(stream: BinaryIO, **options: Any) -> Any:
    """Open a Parquet file; times as Spark writes them, in 96 bits, are microseconds.

    By default they are nanoseconds since 1970, which end in 2262: 9999-12-31 would be in 1816.
    """
    from pyarrow import parquet  # type: ignore[import-untyped]

    return parquet.ParquetFile(stream, coerce_int96_timestamp_unit="us", **options)


def checked_size(path: Path, files: Sequence[Path]) -> int:
    """Return how many bytes there are to read; refuse what is too large for this machine.

    Args:
        path: the table.
        files: its files.
    """
    packed = [file for file in files if table_suffix(file) in PARQUET and file.stat().st_size]
    size = sum(stored_size(file) if file in packed else file.stat().st_size for file in files)
    check_fits(path, size)
    for file in packed:
        check_texts(file)
    return size


@contextmanager
def readable(path: Path, encoding: str | None = None) -> Iterator[None]:
    """Raise whatever goes wrong while a table file is read as a DataError of one line."""
    need("fit", "pandas", "pyarrow")
    # Imported here because pandas takes half a second that nobody else should pay.
    import pandas as pd

    suffix = table_suffix(path) or ".csv"
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except UnicodeError as error:
        raise DataError(
            f"{path}: cannot be read as {suffix[1:]} ({_undecoded(error)}): save it as UTF-8, or "
            "name its encoding, such as cp1252"
        ) from None
    except LookupError:
        raise DataError(f"{path}: no encoding of the name {encoding!r}") from None
    except DataError:
        raise
    except pd.errors.ParserWarning:
        raise DataError(f"{path}: a row has more fields than there are names of columns") from None
    except (
        OSError, EOFError, ValueError, NotImplementedError, zlib.error, pd.errors.ParserError
    ) as error:  # fmt: skip
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"{path}: cannot be read as {suffix[1:]} ({reason})") from None


def _undecoded(error: UnicodeError) -> str:
    if not isinstance(error, UnicodeDecodeError):
        return str(error)
    return f"byte 0x{error.object[error.start]:02x} is no {error.encoding} text"
