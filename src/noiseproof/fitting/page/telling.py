"""Which words or columns of a row speak for one class rather than another.

Every score is a naive Bayes log odds: how much more likely the word, value or number is in the rows
of the one class than in those of the other. The classes of the rows are the likely true ones, not
the given ones. The row itself is left out of the counts of words and categories; the mean of a
number includes it. The scores explain the data, not the model: a model may go by other features.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.noise.matrix import Doubles
from noiseproof.prepare.columns.words import count_words, words
from noiseproof.prepare.forms import LARGEST

Codes = NDArray[np.int64]

#: A column is text if its values have this many words on average.
WORDS = 4
#: Further than so many standard deviations, a number says no more.
FAR = 4.0
#: Numbers by class that are kept, at most.
NUMBERS = 20_000_000


def is_text(column: Any) -> bool:
    """Return whether a column of a table holds sentences.

    >>> import pandas as pd
    >>> is_text(pd.Series(["a film to see again", "not one I would see"])), is_text(pd.Series([1]))
    (True, False)
    """
    some = column.dropna().head(200)
    if some.empty or not all(isinstance(value, str) for value in some):
        return False
    return float(np.mean([count_words(value) for value in some])) >= WORDS


@dataclass(frozen=True, eq=False)
class Texts:
    """The words of a text column by class.

    Args:
        texts: (N,) the texts.
        classes: (N,) the likely true class of each.
        count: K.
    """

    texts: Sequence[str]
    classes: Codes
    count: int

    @cached_property
    def _counts(self) -> tuple[Any, list[str], Doubles]:
        """(N, V) which words each text has, the words, and (K, V) how many texts have them."""
        from scipy import sparse
        from sklearn.feature_extraction.text import CountVectorizer

        most = max(1000, NUMBERS // self.count)
        made = CountVectorizer(
            analyzer=single_words, binary=True, dtype=np.float32, max_features=most
        )
        N = len(self.texts)
        try:
            has, names = made.fit_transform(self.texts), made.get_feature_names_out().tolist()
        except ValueError:  # no words at all
            has, names = sparse.csr_matrix((N, 0), dtype=np.float32), []
        of_class = sparse.csr_matrix(
            (np.ones(N), (self.classes, np.arange(N))), shape=(self.count, N)
        )
        return has, names, np.asarray((of_class @ has).todense(), dtype=np.float64)

    @cached_property
    def _sizes(self) -> Doubles:
        return np.bincount(self.classes, minlength=self.count).astype(np.float64)

    def for_class(self, row: int, wanted: int, other: int, most: int = 6) -> list[str]:
        """Return the words of a text that speak most for one class rather than another."""
        has, names, counts = self._counts
        at = has.indices[has.indptr[row] : has.indptr[row + 1]]
        if len(at) == 0 or wanted == other:
            return []
        own = int(self.classes[row])
        found = []
        for k in (wanted, other):
            own_row = float(k == own)
            found.append((counts[k, at] - own_row + 0.5) / (self._sizes[k] - own_row + 1))
        odds = np.log(found[0]) - np.log(found[1])
        order = np.argsort(-odds, kind="stable")[:most]
        return [names[at[i]] for i in order if odds[i] > 0.2]


def single_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without pairs of them."""
    return [word for word in words(text) if " " not in word]


@dataclass(frozen=True, eq=False)
class Column:
    """A column of numbers or categories by class.

    Args:
        values: (N,) as in the table.
        classes: (N,) the likely true class of each row.
        count: K.
    """

    values: Any
    classes: Codes
    count: int

    @cached_property
    def numbers(self) -> Doubles | None:
        """(N,) the values where they are numbers, NaN where they are missing."""
        from pandas.api.types import is_bool_dtype, is_numeric_dtype

        if not is_numeric_dtype(self.values) or is_bool_dtype(self.values):
            return None
        found = self.values.to_numpy(np.float64, na_value=np.nan)
        return np.where(np.abs(found) <= LARGEST, found, np.nan)

    @cached_property
    def _moments(self) -> tuple[Doubles, float]:
        """(K,) the means of the classes, and the standard deviation inside them."""
        assert self.numbers is not None
        known = np.isfinite(self.numbers)
        x, k = self.numbers[known], self.classes[known]
        size = np.bincount(k, minlength=self.count)
        mean = np.bincount(k, x, self.count) / np.maximum(size, 1)
        mean[size == 0] = np.nan
        spread = float(np.sqrt(((x - mean[k]) ** 2).mean())) if len(x) else 0.0
        return mean, spread

    @cached_property
    def _table(self) -> tuple[Codes, Doubles]:
        import pandas as pd

        # One by one: pandas would decode bytes, which may be no text.
        texts = [str(value) for value in self.values.where(self.values.notna(), None)]
        codes, _ = pd.factorize(np.array(texts, dtype=object))
        counts = np.zeros((self.count, int(codes.max(initial=0)) + 1))
        np.add.at(counts, (self.classes, codes), 1)
        return codes.astype(np.int64), counts

    def odds(self, row: int, wanted: int, other: int) -> float:
        """Return how far the value of a row speaks for one class rather than another."""
        if self.numbers is None:
            codes, counts = self._table
            own = int(self.classes[row])
            found = [
                (counts[k, codes[row]] - (k == own) + 0.5)
                / (counts[k].sum() - (k == own) + 0.5 * counts.shape[1])
                for k in (wanted, other)
            ]
            return float(np.log(found[0] / found[1]))
        mean, spread = self._moments
        return float(number_odds(self.numbers[row], mean[wanted], mean[other], spread or 1.0))

    def typical(self, k: int) -> str:
        """Return the mean of a class in words; "" where there is none."""
        if self.numbers is None or not np.isfinite(self._moments[0][k]):
            return ""
        return f"{self._moments[0][k]:.4g}"


def number_odds(x: Any, wanted: Any, other: Any, spread: Any) -> Doubles:
    """Return how far numbers speak for one class rather than another; 0 where one is missing.

    Args:
        x: the numbers.
        wanted: the means in the one class.
        other: the means in the other class.
        spread: the standard deviations inside the classes.

    >>> number_odds(np.array([3.0, np.nan]), 3.0, 1.0, 1.0).tolist()
    [2.0, 0.0]
    """
    near, far = (np.minimum(np.abs(x - mean) / spread, FAR) for mean in (wanted, other))
    return np.asarray(np.nan_to_num((far**2 - near**2) / 2))


def shorten(value: Any, most: int) -> str:
    """Return a value as one line of text."""
    import pandas as pd

    if np.ndim(value) == 0 and pd.isna(value):
        return ""
    text = f"{value:.5g}" if isinstance(value, float | np.floating) else str(value)
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= most else text[: most - 1] + "…"
