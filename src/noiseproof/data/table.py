"""A user's own table: CSV, TSV or Parquet with a column of labels."""

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from noiseproof.data.dataset import Dataset
from noiseproof.data.labels import encode
from noiseproof.errors import DataError, did_you_mean

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
    frame = read_frame(path)
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


def read_frame(path: Path, encoding: str | None = None, progress: bool = False) -> "pd.DataFrame":
    """Read a table file, with every way it can fail as one line.

    Args:
        path: the file; a ``.csv`` without a comma in its header may use semicolons.
        encoding: of the text; None is UTF-8, or UTF-16 where the file says so.
        progress: show a bar where reading takes longer than two seconds.
    """
    # Imported here because pandas takes half a second that nobody else should pay.
    import pandas as pd

    suffix = table_suffix(path) or ".csv"
    try:
        if suffix in (".parquet", ".pq"):
            return pd.read_parquet(path)
        return _read_text(path, suffix, encoding, progress)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise DataError(
            f"{path}: cannot be read as {suffix[1:]} (byte 0x{byte:02x} is no {error.encoding} "
            "text): save it as UTF-8, or name its encoding, such as cp1252"
        ) from None
    except LookupError:
        raise DataError(f"{path}: no encoding of the name {encoding!r}") from None
    except (OSError, EOFError, ValueError, pd.errors.ParserError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"{path}: cannot be read as {suffix[1:]} ({reason})") from None


def _read_text(path: Path, suffix: str, encoding: str | None, progress: bool) -> "pd.DataFrame":
    import pandas as pd
    from tqdm import tqdm

    opener = gzip.open if suffix.endswith(".gz") else open
    with opener(path, "rb") as file:
        head = file.read(1 << 16)
    encoding = encoding or ("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    header = head.decode(encoding, errors="ignore").partition("\n")[0]
    separator = "\t" if suffix.startswith(".tsv") else ","
    if separator == "," and "," not in header and ";" in header:
        separator = ";"
    total = path.stat().st_size
    with path.open("rb") as file, tqdm.wrapattr(
        file, "read", total, desc=f"reading {path.name}", delay=2, leave=False,
        disable=None if progress else True,
    ) as watched:  # fmt: skip
        content = gzip.GzipFile(fileobj=watched) if suffix.endswith(".gz") else watched
        return pd.read_csv(content, sep=separator, encoding=encoding)
