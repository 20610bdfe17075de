"""Text tables: their separator and encoding found out, labels kept as they are written."""

import gzip
import re
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noiseproof.errors import DataError
from noiseproof.extras import need

if TYPE_CHECKING:
    import pandas as pd

#: A number with a decimal comma, thousands apart by points or by nothing.
COMMA_NUMBER = r"\s*[+-]?(\d+|\d{1,3}(\.\d{3})+)?,\d+\s*"
WHOLE_NUMBER = r"\s*[+-]?(\d+|\d{1,3}(\.\d{3})+)\s*"
#: This share of a column of text must be numbers with a decimal comma for it to be numbers.
ALIKE = 0.95
#: Words that mean that there is no number; among labels that are words they are classes.
GAPS = frozenset({"", "#n/a", "n/a", "na", "nan", "<na>", "none", "null", "-nan", "#na"})
MARK = "="
TRUTH = {"true": True, "false": False}


def read_delimited(
    path: Path,
    suffix: str,
    encoding: str | None,
    progress: bool,
    label: str | None,
    commas: Collection[str] = (),
) -> tuple["pd.DataFrame", str]:
    """Return a text table and its separator.

    Args:
        path: the file.
        suffix: ``.csv`` or ``.tsv``, with ``.gz`` or without; a ``.csv`` may use semicolons or
            tabs too.
        encoding: of the text; None is UTF-8, or UTF-16 where the file says so.
        progress: show a bar where reading takes longer than two seconds.
        label: the column of labels, whose texts are kept (:func:`as_labels`).
        commas: the columns known to have decimal commas, whose texts are kept too where columns are
            separated by semicolons: there 1.500 is one and a half thousand.
    """
    need("fit", "pandas", "tqdm")
    # Imported here because pandas takes half a second that nobody else should pay.
    import pandas as pd
    from tqdm import tqdm

    encoding, separator = _format(path, suffix, encoding)
    options: dict[str, Any] = {"sep": separator, "encoding": encoding}
    if separator == ";":
        options["dtype"] = {name: str for name in commas if name != label}
    if label is not None:
        # pandas looks for NA among what a converter returns too; with a mark there is none.
        options["converters"] = {label: MARK.__add__}
    with path.open("rb") as file, tqdm.wrapattr(
        file, "read", path.stat().st_size, desc=f"reading {path.name}", delay=2, leave=False,
        disable=None if progress else True,
    ) as watched, warnings.catch_warnings():  # fmt: skip
        # A column of numbers with words far below is what it is; it is looked at later.
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
        warnings.simplefilter("error", pd.errors.ParserWarning)
        content = gzip.GzipFile(fileobj=watched) if suffix.endswith(".gz") else watched
        try:
            frame = pd.read_csv(content, **options, index_col=False)
        except pd.errors.ParserWarning:  # more fields than names
            frame = _with_row_names(path, options)
    if label in frame.columns:
        frame[label] = as_labels(frame[label].str.removeprefix(MARK))
    return frame, separator


def _with_row_names(path: Path, options: dict[str, Any]) -> "pd.DataFrame":
    """Return a table as R writes it: the names of rows first, no name for their column."""
    import pandas as pd

    frame = pd.read_csv(path, **options)
    if frame.index.nlevels > 1:
        more = frame.index.nlevels
        raise DataError(f"{path}: rows have {more} fields more than there are names of columns")
    return frame.reset_index(drop=True)


def _format(path: Path, suffix: str, encoding: str | None) -> tuple[str, str]:
    """Return the encoding and the separator."""
    opener = gzip.open if suffix.endswith(".gz") else open
    with opener(path, "rb") as file:
        head = file.read(1 << 16)
    encoding = encoding or ("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    text = head.decode(encoding, errors="ignore")
    if b"\0" in head and "\0" in text:
        raise DataError(f"{path}: is no text, or of another encoding: save it as UTF-8")
    return encoding, "\t" if suffix.startswith(".tsv") else separator_of(text)


def separator_of(text: str) -> str:
    """Return what separates the columns of a text table: the most frequent in its header.

    >>> separator_of('"name, first";age (years, full);y')
    ';'
    >>> separator_of("one column alone")
    ','
    """
    header = re.sub(r'"[^"]*"', "", text).lstrip("\r\n").partition("\n")[0]
    return max(",;\t", key=header.count)


def as_labels(texts: "pd.Series") -> Any:
    """Return labels, as they are written, for what they are: numbers, booleans or words.

    pandas takes words such as NA and None for gaps. Among classes that are words only an empty
    field is one; among numbers they are gaps. Numbers with leading zeros are words.

    >>> import pandas as pd
    >>> as_labels(pd.Series(["None", "NA", "", "yes"])).tolist()
    ['None', 'NA', nan, 'yes']
    >>> as_labels(pd.Series(["1", "NA", "", "2"])).tolist()
    [1.0, nan, nan, 2.0]
    >>> as_labels(pd.Series(["01", "02", "10"])).tolist(), as_labels(pd.Series(["1", "2"])).tolist()
    (['01', '02', '10'], [1, 2])
    """
    import pandas as pd

    different = [str(text).strip() for text in texts.unique()]
    values = [text for text in different if text.lower() not in GAPS]
    plain = texts.str.strip()
    if values and not any(re.match(r"[+-]?0\d", value) for value in values):
        numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce")
        if numbers.notna().all():
            return plain.map(dict(zip(values, numbers, strict=True)))
        if all(value.lower() in TRUTH for value in values):
            return plain.map({value: TRUTH[value.lower()] for value in values})
    return plain.where(plain != "")


def read_decimal_commas(
    frame: "pd.DataFrame", numbers: Collection[str] | None, known: Collection[str] = ()
) -> list[str]:
    """Turn texts such as 3,14 into numbers, in place, and return the columns that had any.

    Args:
        frame: the table.
        numbers: the columns that are known to be numbers; None finds them by their looks.
        known: the columns that are known to have decimal commas, whether they show here or not.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"length": ["3,14", "2", "1.000,5"], "size": ["1,5", "S", "M"]})
    >>> read_decimal_commas(frame, None), frame["length"].tolist()
    (['length'], [3.14, 2.0, 1000.5])
    """
    import pandas as pd

    found = []
    for name in frame.columns if numbers is None else [c for c in frame if c in numbers]:
        column = frame[name]
        if not (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)):
            continue
        texts = column.dropna().astype(str)
        commas = texts.str.fullmatch(COMMA_NUMBER)
        if not (commas.any() or name in known):
            continue
        both = commas | texts.str.fullmatch(WHOLE_NUMBER)
        if numbers is None and both.mean() < ALIKE:
            continue
        plain = texts.where(~both, texts.str.replace(".", "").str.replace(",", "."))
        frame[name] = pd.to_numeric(plain, errors="coerce").reindex(frame.index)
        found.append(str(name))
    return found
