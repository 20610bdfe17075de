"""Numbers such as 3,14 in tables whose columns are separated by semicolons."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from noiseproof.data.gaps import NO_NUMBER
from noiseproof.extras import need

if TYPE_CHECKING:
    import pandas as pd

EXPONENT = r"([eE][+-]?\d+)?"
#: A number with a decimal comma, thousands apart by points or by nothing.
COMMA_NUMBER = rf"\s*[+-]?(\d+|\d{{1,3}}(\.\d{{3}})+)?,\d+{EXPONENT}\s*"
WHOLE_NUMBER = rf"\s*[+-]?(\d+{EXPONENT}|\d{{1,3}}(\.\d{{3}})+|(?i:inf))\s*"
POINT_NUMBER = rf"\s*[+-]?\d*\.\d*{EXPONENT}\s*"
#: This share of a column of text must be numbers with a decimal comma for it to be numbers.
ALIKE = 0.95


class CommaLook:
    """Whether a column looks like numbers with decimal commas, seen in one block or many."""

    def __init__(self) -> None:
        self.texts = self.commas = self.both = self.points = 0

    def at(self, column: "pd.Series") -> None:
        """Look at a block of texts."""
        texts = column.dropna().astype(str)
        texts = texts[~texts.str.strip().str.lower().isin(NO_NUMBER)]
        self.texts += len(texts)
        self.commas += int(texts.str.fullmatch(COMMA_NUMBER).sum())
        both = texts.str.fullmatch(f"{COMMA_NUMBER}|{WHOLE_NUMBER}")
        self.both += int(both.sum())
        self.points += int((texts.str.fullmatch(POINT_NUMBER) & ~both).sum())

    def decide(self, number: bool) -> bool:
        """Return whether it has decimal commas; among decimal points, 1.500 is one and a half.

        Args:
            number: whether the column is known to be numbers, some of them perhaps unreadable.
        """
        alike = self.commas > self.points if number else self.both >= ALIKE * self.texts
        return self.commas > 0 and alike


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
    need("fit", "pandas")
    import pandas as pd

    found = []
    for name in frame.columns if numbers is None else [c for c in frame if c in numbers]:
        column = frame[name]
        if not (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)):
            continue
        look = CommaLook()
        look.at(column)
        if not (look.decide(numbers is not None) or name in known):
            continue
        texts = column.dropna().astype(str)
        both = texts.str.fullmatch(f"{COMMA_NUMBER}|{WHOLE_NUMBER}")
        plain = texts.where(~both, texts.str.replace(".", "").str.replace(",", "."))
        read = pd.to_numeric(plain, errors="coerce")
        # Words that are neither numbers nor gaps stay, for somebody else to count.
        words = texts[read.isna() & ~texts.str.strip().str.lower().isin(NO_NUMBER)]
        if len(words):
            read = read.astype(object).where(~read.index.isin(words.index), texts)
        frame[name] = read.reindex(frame.index)
        found.append(str(name))
    return found
