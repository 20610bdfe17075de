"""Text tables: their separator and encoding found out, labels kept as they are written."""

import csv
import io
import re
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noiseproof.errors import DataError
from noiseproof.extras import need
from noiseproof.tables.blank_lines import blank_above, without_end
from noiseproof.tables.first_line import check_names, read_head, separator_of
from noiseproof.tables.gaps import NO_VALUE
from noiseproof.tables.labels import MARK, as_labels
from noiseproof.tables.records import check_records, width_of
from noiseproof.tables.row_names import check_all_names, check_ends, check_first_names
from noiseproof.tables.swallowed import LikeRows
from noiseproof.tables.watched import Watched, unpacked

if TYPE_CHECKING:
    import pandas as pd

ESCAPED = 'write each quote that is text as "", with "..." around the field'
#: Fields that are parsed at a time, at most, and rows.
FIELDS, ROWS = 4_000_000, 65_536


@dataclass(frozen=True)
class Delimited:
    """A text table that has been looked at.

    Args:
        path: the file.
        encoding: of its text.
        separator: what separates its columns.
        packed: whether it is compressed by gzip.
        columns: the names of the columns; what repeats is numbered, ``y``, ``y.1``.
        row_names: whether rows begin with a name that has no column, as R writes them.
        above: how many blank lines are above the names.
        width: how many fields a row has.
    """

    path: Path
    encoding: str
    separator: str
    packed: bool
    columns: tuple[str, ...]
    row_names: bool
    above: int = 0
    width: int = 0

    @classmethod
    def look(cls, path: Path, suffix: str, encoding: str | None = None) -> "Delimited":
        """Find out how a file is written.

        Args:
            path: the file.
            suffix: ``.csv`` or ``.tsv``, with ``.gz`` or without; a ``.csv`` may use semicolons or
                tabs too.
            encoding: of the text; None is UTF-8, or UTF-16 where the file says so.
        """
        need("fit", "pandas")
        import pandas as pd

        packed = suffix.endswith(".gz")
        with unpacked(path, packed) as file:
            head = read_head(file, path)
        encoding = encoding or ("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
        text = head.decode(encoding, errors="ignore")
        if b"\0" in head and "\0" in text:
            raise DataError(f"{path}: is not text, or in another encoding: save it as UTF-8")
        separator = "\t" if suffix.startswith(".tsv") else separator_of(text)
        check_names(text, separator, path)
        check_ends(text, separator, path)
        for row_names in (False, True):
            found = cls(path, encoding, separator, packed, (), row_names)
            try:
                with found._parser(nrows=2) as frames:
                    first = next(frames, pd.DataFrame())
            except pd.errors.ParserWarning:  # more fields than names
                continue
            if row_names and first.index.nlevels == 1:
                check_first_names(text, first, separator, path)
                with found._lines(newline="") as lines:
                    check_all_names(lines, separator, len(first.columns), path)
            if first.index.nlevels == 1:
                names, above = tuple(first.columns), blank_above(text)
                width = width_of(text, separator, len(names) + row_names)
                return cls(path, encoding, separator, packed, names, row_names, above, width)
        more = first.index.nlevels
        raise DataError(f"{path}: rows have {more} fields more than there are names of columns")

    @contextmanager
    def _parser(
        self, hears: Callable[[int], None] | None = None, **options: Any
    ) -> Iterator[Iterator["pd.DataFrame"]]:
        # Imported here because pandas takes half a second that nobody else should pay.
        import pandas as pd

        if not self.row_names:
            options["index_col"] = False
            if len(self.columns) == 1:  # a blank line is a row whose only field is empty
                options |= {"skip_blank_lines": False, "skiprows": self.above}
        rows = max(1, min(ROWS, FIELDS // max(1, len(self.columns))))
        with unpacked(self.path, self.packed) as file, warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            utf16 = self.encoding.lower().replace("_", "-").startswith("utf-16")
            watched = Watched(file, b"\r\0\n" if utf16 else b"\r\n", hears)
            with pd.read_csv(
                io.BufferedReader(watched, 1 << 20), sep=self.separator, encoding=self.encoding,
                chunksize=options.pop("rows", rows), low_memory=False, **options,
            ) as frames:  # fmt: skip
                frames = self._checked(watched.bounded(frames), watched)
                kept = "skip_blank_lines" in options
                yield without_end(frames, MARK, lambda: self._end(watched)) if kept else frames

    @contextmanager
    def _lines(self, newline: str) -> Iterator[io.TextIOWrapper]:
        with (
            unpacked(self.path, self.packed) as file,
            io.TextIOWrapper(file, self.encoding, newline=newline) as lines,
        ):
            yield lines

    def _checked(
        self, frames: Iterator["pd.DataFrame"], watched: Watched
    ) -> Iterator["pd.DataFrame"]:
        """Return blocks of rows; a sign that pandas misreads some has the whole file looked at."""
        checked = False
        for frame in frames:
            if not checked and (watched.has_lone_returns or self._may_be_short(frame)):
                with self._lines(newline="") as lines:
                    check_records(lines, self.separator, self.width, self.path)
                checked = True
            yield frame

    def _may_be_short(self, frame: "pd.DataFrame") -> bool:
        """Return whether rows may have too few fields: then there is nothing in the last column."""
        if self.width > len(self.columns) + self.row_names:  # all rows end in a separator
            return True
        if len(self.columns) < 2 or self.columns[-1] not in frame:
            return False
        last = frame[self.columns[-1]]
        return bool((last.isna() | (last == MARK)).any())

    def _end(self, watched: Watched) -> str:
        return watched.tail.decode(self.encoding.removesuffix("-sig"), errors="ignore")

    def frames(
        self,
        *,
        label: str | None = None,
        texts: Collection[str] = (),
        names: Collection[str] = (),
        only: Collection[str] | None = None,
        rows: int | None = None,
        hears: Callable[[int], None] | None = None,
    ) -> Iterator["pd.DataFrame"]:
        """Return the rows in blocks; the types of other columns than ``texts`` are found by block.

        Args:
            label: the column of labels, as texts behind a :data:`MARK`: there are no gaps in it.
            texts: the columns that are kept as written, except for words that stand for no value.
            names: the columns that keep these words too, as texts behind a :data:`MARK`.
            only: the columns that are wanted; None is all, and then a row with more fields than
                there are columns is an error.
            rows: how many at a time, at most.
            hears: is told how many bytes have been read, unpacked.
        """
        import pandas as pd

        marked = {label, *names} & set(self.columns)
        kept = set(texts) & set(self.columns) - marked
        options: dict[str, Any] = {"dtype": dict.fromkeys(kept, str)}
        if marked:
            # pandas looks for NA among what a converter returns too; with a mark there is none.
            options["converters"] = dict.fromkeys(marked, MARK.__add__)
        if only is not None:
            options["usecols"] = [name for name in self.columns if name in only]
        if rows is not None:
            options["rows"] = min(rows, max(1, FIELDS // len(self.columns)))
        with self._parser(hears, **options) as frames:
            checked = False
            for frame in frames:
                mixed = [c for c in frame if not pd.api.types.is_numeric_dtype(frame[c])]
                if not checked and any(self._may_hold_rows(frame[name]) for name in mixed):
                    self._check_quotes(LikeRows(frame, self.columns, self.row_names, marked))
                    checked = True
                for name in set(mixed) - kept - marked:
                    gaps = frame[name].isin(NO_VALUE)
                    if gaps.any():  # pandas leaves them where an integer is beyond int64
                        known = frame[name].mask(gaps)
                        numbers = pd.to_numeric(known, errors="coerce")
                        words = numbers.isna() & known.notna()
                        frame[name] = known if words.any() else numbers
                yield frame.reset_index(drop=True)

    def _may_hold_rows(self, column: "pd.Series") -> bool:
        """Return whether the lines inside any field of a column could be rows of their own."""
        from pandas.api.types import infer_dtype

        if infer_dtype(column, skipna=True) != "string":
            return False
        column = column.dropna()
        texts = column[column.str.contains("\n", regex=False)]
        inner = (texts.str.count("\n") - 1) * (len(self.columns) - 1)
        return bool((texts.str.count(self.separator) > inner).any())

    def _check_quotes(self, like_rows: LikeRows) -> None:
        """Raise DataError where a quote opens a field and ends lines later, in mid-field.

        Such quotes are plain text, and the rows between them would become part of one field. So are
        those that end lines later, at the end of a field, if all between them looks like rows.
        """
        with self._lines(newline="") as lines:
            rows = csv.reader(lines, delimiter=self.separator, strict=True)
            while True:
                start = rows.line_num + 1
                try:
                    row = next(rows)
                    if rows.line_num > start and like_rows.are_in(row, self.separator):
                        raise DataError(
                            f"{self.path}: a quote in line {start} ends in line {rows.line_num}, "
                            f"and what is between looks like rows: they would be lost; {ESCAPED}"
                        )
                except StopIteration:
                    return
                except csv.Error as error:
                    if "expected after" not in str(error):
                        return  # a field too long for this module
                    if rows.line_num > start:
                        raise DataError(
                            f"{self.path}: a quote in line {start} ends in line {rows.line_num}, "
                            f"in the middle of a field: the rows between would be lost; {ESCAPED}"
                        ) from None

    def frame(
        self,
        *,
        label: str | None = None,
        texts: Collection[str] = (),
        names: Collection[str] = (),
        hears: Callable[[int], None] | None = None,
    ) -> "pd.DataFrame":
        """Return all rows; a column is numbers where every block of it is, and otherwise text.

        The arguments are those of :meth:`frames`. Labels among ``names`` stay texts.
        """
        import pandas as pd

        parts: dict[str, list[Any]] = {}
        for block in self.frames(label=label, texts=texts, names=names, hears=hears):
            for name in block:
                parts.setdefault(str(name), []).append(block[name])
        mixed = [name for name, columns in parts.items() if _is_mixed(columns)]
        if mixed:
            for name in mixed:
                parts[name] = []
            for block in self.frames(texts=mixed, only=mixed):
                for name in mixed:
                    parts[name].append(block[name])
        rounded = [name for name, columns in parts.items() if _are_rounded(columns)]
        if rounded:
            exact = self.written(rounded)
            for name in rounded:
                parts[name] = [_integers(exact[name], parts[name])]
        # One column after the other, so that no more than one is there twice.
        whole = {name: pd.concat(parts.pop(name), ignore_index=True) for name in list(parts)}
        for name in whole.keys() & {label, *names}:
            written = whole[name].fillna(MARK).str.removeprefix(MARK)
            is_label = name == label and name not in names
            whole[name] = as_labels(written) if is_label else written.mask(written == "")
        return pd.DataFrame(whole, columns=list(self.columns), copy=False)

    def written(self, names: Collection[str]) -> "pd.DataFrame":
        """Return some columns as they are written."""
        import pandas as pd

        return pd.concat(self.frames(texts=names, only=names), ignore_index=True)


def _is_mixed(blocks: list[Any]) -> bool:
    """Return whether the blocks of a column are of different types, other than numbers."""
    from pandas.api.types import infer_dtype, is_bool_dtype, is_numeric_dtype

    kinds = set()
    for block in blocks:
        if is_bool_dtype(block.dtype):
            kinds.add("truth")
        elif is_numeric_dtype(block.dtype):
            kinds.update(["number"] if block.notna().any() else [])
        else:
            kinds.add(infer_dtype(block, skipna=True))
    return len(kinds) > 1 or not kinds <= {"truth", "number", "string", "empty"}


def _are_rounded(blocks: list[Any]) -> bool:
    """Return whether a column has numbers that floats may not hold, and floats hold some."""
    kinds = {block.dtype.kind for block in blocks}
    if not kinds <= set("iuf") or "f" not in kinds:
        return False
    return any(bool((block.abs() >= 2**53).any()) for block in blocks)


def _integers(texts: "pd.Series", otherwise: list[Any]) -> Any:
    """Return texts as integers, gaps among them; what is otherwise where they are none."""
    import pandas as pd

    different = texts.dropna().unique()
    if not all(re.fullmatch(r"\s*[+-]?[0-9]{1,20}\s*", text) for text in different):
        return pd.concat(otherwise, ignore_index=True)
    numbers = {text: int(text) for text in different}
    low, high = min(numbers.values()), max(numbers.values())
    if high >= 2**64 or (high >= 2**63 and low < 0) or low < -(2**63):
        return pd.concat(otherwise, ignore_index=True)
    exact = [None if text != text else numbers[text] for text in texts]
    return pd.Series(pd.array(exact, dtype="UInt64" if high >= 2**63 else "Int64"))
