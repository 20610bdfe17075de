"""Numbers such as 3,14 and 1.234.567 in tables whose columns are separated by semicolons."""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from noiseproof.extras import need
from noiseproof.tables.gaps import NO_NUMBER

if TYPE_CHECKING:
    import pandas as pd

EXPONENT = r"([eE][+-]?\d+)?"
#: Thousands apart by points. The first is never 0: 0.375 is a decimal point.
THOUSANDS = r"[1-9]\d{0,2}(\.\d{3})"
#: A number with a decimal comma, thousands apart by points or by nothing.
COMMA_NUMBER = rf"\s*[+-]?(\d+|{THOUSANDS}+)?,\d+{EXPONENT}\s*"
#: A number that no decimal point could have: 1.234.567. With one more it may be an address.
MILLIONS = rf"\s*[+-]?{THOUSANDS}{{2}}\s*"
WHOLE_NUMBER = rf"\s*[+-]?(\d+{EXPONENT}|{THOUSANDS}+|(?i:inf))\s*"
POINT_NUMBER = rf"\s*[+-]?\d*\.\d*{EXPONENT}\s*"
#: A number that would have no point if points were between thousands: 997.
BELOW_THOUSAND = r"[+-]?\d{1,3}"
#: This share of a column of text must be numbers with a decimal comma for it to be numbers ...
ALIKE = 0.95
#: ... or half of them, if the others are no more different words than this, such as "not done".
FEW_WORDS = 20
#: With fewer fractions than this share, or fewer ways in which they end, points are decimal points.
FEW, ENDINGS = 0.05, 5


class CommaLook:
    """Whether a column has commas, not points, for decimal marks; seen in one block or many."""

    def __init__(self) -> None:
        self.texts = self.commas = self.millions = self.both = self.apart = self.points = 0
        self.words: set[str] = set()

    def at(self, column: "pd.Series") -> Self:
        """Look at a block of texts."""
        texts = column.dropna().astype(str)
        texts = texts[~texts.str.strip().str.lower().isin(NO_NUMBER)]
        self.texts += len(texts)
        self.commas += int(texts.str.fullmatch(COMMA_NUMBER).sum())
        self.millions += int(texts.str.fullmatch(MILLIONS).sum())
        both = texts.str.fullmatch(f"{COMMA_NUMBER}|{WHOLE_NUMBER}")
        self.both += int(both.sum())
        if len(self.words) <= FEW_WORDS:
            self.words |= set(texts[~both].str.strip().unique())
        pointed = texts.str.fullmatch(POINT_NUMBER)
        self.apart += int((pointed & both).sum())
        self.points += int((pointed & ~both).sum())
        return self

    def decide(self, number: bool, known: bool = False) -> bool:
        """Return whether it has decimal commas; among decimal points, 1.500 is one and a half.

        Args:
            number: whether the column is known to be numbers, some of them perhaps unreadable.
            known: whether it had decimal commas at the fit: then it still has, unless there are
                more decimal points.
        """
        # Numbers of customers are all as long as 525.087.905; quantities are not.
        sure = self.commas + (self.millions if self.millions < self.texts else 0)
        if known:
            return self.commas + self.millions >= self.points
        return sure > self.points and (number or self._is_alike)

    @property
    def has_thousands(self) -> bool:
        """Whether each of its points may be between thousands, as in 1.051 beside 133."""
        return self.apart > 0 and self.points == 0 and self._is_alike

    @property
    def _is_alike(self) -> bool:
        words = self.texts - self.both
        few = not self.points and len(self.words) <= min(FEW_WORDS, words / 2)
        return self.both >= (0.5 if few else ALIKE) * self.texts


def with_commas(
    looks: Mapping[str, CommaLook], number: bool, known: Collection[str] = ()
) -> set[str]:
    """Return the columns of one file that have commas for decimal marks, or thousands apart.

    In a file with decimal commas and no decimal point, a point before three digits is none either.
    A model of such a file knows which of its columns these are.

    Args:
        looks: at the columns.
        number: whether they are known to be numbers.
        known: those that had decimal commas at the fit.
    """
    found = {name for name, look in looks.items() if look.decide(number, name in known)}
    commas = any(looks[name].commas for name in found)
    if not known and commas and not any(look.points for look in looks.values()):
        found |= {name for name, look in looks.items() if look.has_thousands}
    return found


def read_decimal_commas(
    frame: "pd.DataFrame",
    numbers: Collection[str] | None,
    known: Collection[str] = (),
    written: Callable[[list[str]], "pd.DataFrame"] | None = None,
) -> list[str]:
    """Turn texts such as 3,14 into numbers, in place, and return the columns that had any.

    Args:
        frame: the table.
        numbers: the columns that are known to be numbers; None finds them by their looks.
        known: the columns that had decimal commas at the fit, whether they show here or not.
        written: returns columns as they are written in the file: pandas takes 1.051 for a fraction.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"length": ["3,14", "2", "1.000,5"], "size": ["1,5", "S", "M"]})
    >>> read_decimal_commas(frame, None), frame["length"].tolist()
    (['length'], [3.14, 2.0, 1000.5])
    """
    need("fit", "pandas")
    import pandas as pd

    names = [str(name) for name in frame if numbers is None or name in numbers]
    types = pd.api.types
    texts = {
        name: frame[name]
        for name in names
        if types.is_object_dtype(frame[name]) or types.is_string_dtype(frame[name])
    }
    looks = {name: CommaLook().at(column) for name, column in texts.items()}
    doubtful = [name for name in names if frame[name].dtype.kind == "f"]
    if written is not None and doubtful and any(look.commas for look in looks.values()):
        again = written(doubtful)
        texts |= {name: again[name] for name in doubtful}
        looks |= {name: CommaLook().at(again[name]) for name in doubtful}
    found = with_commas(looks, numbers is not None, known)
    for name in found:
        frame[name] = without_commas(texts[name])
    return [name for name in names if name in found]


def doubtful_points(
    frame: "pd.DataFrame", written: Callable[[list[str]], "pd.DataFrame"]
) -> list[str]:
    """Return the columns read as fractions, such as 997 and 1.124, that may be thousands.

    Points in them are before three digits, and numbers below 1000 have none. Fractions of three
    digits would be 997.000, or 1.12 now and then.

    Args:
        frame: the table.
        written: returns columns as they are written in the file.
    """
    numbers = [str(name) for name in frame if frame[name].dtype.kind == "f"]
    perhaps = [name for name in numbers if _may_be_thousands(frame[name].dropna().to_numpy())]
    if not perhaps:
        return []
    texts = written(perhaps)
    return [name for name in perhaps if _are_thousands(texts[name].dropna().astype(str))]


def _may_be_thousands(values: NDArray[np.float64]) -> bool:
    """Check the parsed values alone: a cheap test that rules out nearly every column."""
    fractions = values[values != np.floor(values)]
    return bool(
        FEW * len(values) < len(fractions) < len(values)
        and (np.abs(fractions) >= 1).all()
        and (np.abs(values) < 1000).mean() >= ALIKE
        and np.allclose(fractions * 1000, np.rint(fractions * 1000), rtol=0, atol=1e-6)
    )


def _are_thousands(texts: "pd.Series") -> bool:
    texts = texts.str.strip()
    below = texts.str.fullmatch(BELOW_THOUSAND)
    apart = texts.str.fullmatch(rf"[+-]?{THOUSANDS}")
    endings = texts[apart].str[-3:].nunique()  # means of three are .333 and .667 alone
    return bool(below.any() and endings >= ENDINGS and (below | apart).mean() >= ALIKE)


def without_commas(column: "pd.Series", commas: bool = True) -> "pd.Series":
    """Return texts with decimal commas as numbers; words stay, for somebody else to count.

    Args:
        column: the texts.
        commas: whether they have commas; otherwise they have decimal points.
    """
    import pandas as pd

    texts = column.dropna().astype(str)
    both = texts.str.fullmatch(f"{COMMA_NUMBER}|{WHOLE_NUMBER}") & commas
    plain = texts.where(~both, texts.str.replace(".", "").str.replace(",", "."))
    read = pd.to_numeric(plain, errors="coerce")
    words = texts[read.isna() & ~texts.str.strip().str.lower().isin(NO_NUMBER)]
    if len(words):
        read = read.astype(object).where(~read.index.isin(words.index), texts)
    return read.reindex(column.index)
