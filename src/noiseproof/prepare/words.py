"""A column of free text as TF-IDF of its words and pairs of words, kept without pickle."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The most frequent words and pairs of words that are kept.
MOST = 50_000


@dataclass(frozen=True, eq=False)
class Words:
    """TF-IDF of words and pairs of words: 1 + log of the count, times how rare it is, length 1.

    Args:
        name: of the column.
        vocabulary: the words and pairs, in the order of their columns.
        rarity: (V,) the inverse document frequency of each.
    """

    name: str
    vocabulary: tuple[str, ...]
    rarity: NDArray[np.float32]

    @classmethod
    def learn(cls, name: str, column: Any) -> "Words | None":
        """Learn the vocabulary of a column; None where it has no words."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = _texts(column)
        vectoriser = TfidfVectorizer(
            ngram_range=(1, 2), token_pattern=PATTERN, dtype=np.float32, max_features=MOST,
            min_df=2 if len(texts) >= 50 else 1, max_df=1.0,
        )  # fmt: skip
        try:
            vectoriser.fit(texts)
        except ValueError:  # an empty vocabulary
            return None
        words = tuple(vectoriser.get_feature_names_out().tolist())
        return cls(name, words, vectoriser.idf_.astype(np.float32))

    @cached_property
    def _vectoriser(self) -> Any:
        from sklearn.feature_extraction.text import CountVectorizer

        index = {word: i for i, word in enumerate(self.vocabulary)}
        return CountVectorizer(
            ngram_range=(1, 2), token_pattern=PATTERN, dtype=np.float32, vocabulary=index
        )

    def matrix(self, column: Any) -> Any:
        """Return the features of a column, sparse (N, V)."""
        from sklearn.preprocessing import normalize

        counts = self._vectoriser.transform(_texts(column)).tocsr()
        counts.data = (1 + np.log(counts.data)) * self.rarity[counts.indices]
        return normalize(counts, copy=False)


#: One letter is a word too: "I" and "a" tell a review from a headline.
PATTERN = r"(?u)\b\w+\b"


def _texts(column: Any) -> Sequence[str]:
    return [
        "" if missing else str(value) for value, missing in zip(column, column.isna(), strict=True)
    ]
