"""A user's own table: CSV, TSV or Parquet with a column of labels."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from noiseproof.data.dataset import Dataset
from noiseproof.data.delimited import read_decimal_commas, read_delimited
from noiseproof.data.labels import encode
from noiseproof.errors import DataError, did_you_mean
from noiseproof.extras import need

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = frozenset({".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".pq"})


def table_suffix(path: Path) -> str | None:
    """Return which of :data:`SUFFIXES` a file name ends with; None where it is no table.

    >>> table_suffix(Path("Reviews.CSV.gz")), table_suffix(Path("reviews.txt"))
    ('.csv.gz', None)
    """
    name = path.name.lower()
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)


def read_table(path: str | Path, label: str) -> Dataset:
    """Read the numeric columns as float32 (N, d) and one column as the classes.

    Columns of text are left out; :attr:`Dataset.features` names the ones taken.

    Args:
        path: the file, ``.csv``, ``.tsv`` (either also ``.gz``), ``.parquet`` or ``.pq``.
        label: the column of labels, numbers or text.
    """
    path = Path(path)
    frame = read_frame(path, label).frame
    if label not in frame.columns:
        columns = [str(column) for column in frame.columns]
        raise DataError(f"{path}: no column {label!r}{did_you_mean(label, columns)}")
    missing = int(frame[label].isna().sum())
    if missing:
        raise DataError(f"{path}: {missing} of {len(frame)} rows have no {label!r}; remove them")
    answers = frame[label].to_numpy()
    codes, classes = encode(answers.astype(str) if answers.dtype.kind == "O" else answers, path)
    numbers = frame.drop(columns=label).select_dtypes(["number", "bool"], exclude="timedelta")
    if numbers.shape[1] == 0:
        raise DataError(f"{path}: no column of numbers beside {label!r}")
    for column, holes in numbers.isna().sum().items():
        if holes:
            raise DataError(f"{path}: column {column!r} has {holes} missing values; fill them")
    return Dataset(
        torch.from_numpy(np.ascontiguousarray(numbers.to_numpy(np.float32))),
        torch.from_numpy(codes),
        classes,
        path.stem,
        features=tuple(str(column) for column in numbers.columns),
    )


class Table(NamedTuple):
    """A table as it was read.

    Args:
        frame: its rows.
        decimal_commas: the columns whose numbers are written 3,14.
    """

    frame: "pd.DataFrame"
    decimal_commas: tuple[str, ...] = ()


def read_frame(
    path: Path,
    label: str | None = None,
    *,
    encoding: str | None = None,
    numbers: Collection[str] | None = None,
    commas: Collection[str] = (),
    progress: bool = False,
) -> Table:
    """Read a table file, with every way it can fail as one line.

    Args:
        path: the file; a ``.csv`` may use semicolons, and then decimal commas, or tabs.
        label: the column of labels: its texts are kept, so that NA and None may be classes.
        encoding: of the text; None is UTF-8, or UTF-16 where the file says so.
        numbers: the columns that may have decimal commas; None finds them by their looks.
        commas: the columns that have them for sure, between semicolons.
        progress: show a bar where reading takes longer than two seconds.
    """
    need("fit", "pandas", "pyarrow", "tqdm")
    # Imported here because pandas takes half a second that nobody else should pay.
    import pandas as pd

    suffix = table_suffix(path) or ".csv"
    try:
        if suffix in (".parquet", ".pq"):
            return Table(pd.read_parquet(path))
        frame, separator = read_delimited(path, suffix, encoding, progress, label, commas)
        if separator != ";":
            return Table(frame)
        inputs = frame.drop(columns=label) if label in frame.columns else frame
        found = read_decimal_commas(inputs, numbers, commas)
        return Table(frame.assign(**{name: inputs[name] for name in found}), tuple(found))
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
    except (OSError, EOFError, ValueError, pd.errors.ParserError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"{path}: cannot be read as {suffix[1:]} ({reason})") from None


def _undecoded(error: UnicodeError) -> str:
    if not isinstance(error, UnicodeDecodeError):
        return str(error)
    return f"byte 0x{error.object[error.start]:02x} is no {error.encoding} text"
