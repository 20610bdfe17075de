"""A column of free text as TF-IDF of its words and pairs of words, kept without pickle."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.prepare.columns.dates import is_date
from noiseproof.prepare.columns.values import text_of
from noiseproof.prepare.notes import UNREADABLE, Before, Notes

#: The most frequent words and pairs of words that are kept.
MOST = 50_000
#: Scripts that put no spaces between words, as ranges of characters: Thai, Lao, Tibetan, Myanmar,
#: Khmer; Tai Le, Tai Lue, Buginese, Tai Tham, Balinese, Sundanese, Batak; kana, Bopomofo, Han; Yi,
#: Vai, Rejang, Javanese, Cham, Tai Viet; Ahom, cuneiform, hieroglyphs; Tangut, more kana, Nushu;
#: the extensions of Han.
UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u1950-\u1aaf\u1b00-\u1bff"
    "\u3005-\u3007\u3040-\u312f\u31a0-\u31ff\u3400-\u9fff\ua000-\ua4cf\ua500-\ua63f\ua930-\ua95f"
    "\ua980-\ua9ff\uaa00-\uaadf\uf900-\ufaff\U00011700-\U0001174f\U00012000-\U0001345f"
    "\U00017000-\U00018dff\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)
#: Emoji, arrows, stars and other signs that say something; characters for private use.
SIGNS = (
    "\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\ue000-\uf8ff"
    "\U0001f000-\U0001faff"
)
#: Says after a sign whether it has colours, which is nothing to learn from.
COLOURED = "[\ufe0e\ufe0f]"
#: Characters, pairs and triples stand for words where there are no spaces.
LONGEST = 3
#: Where most of a text is in words longer than this, words tell nothing: DNA, hashes, links.
LONG_WORD = 25
#: Short texts have this many words on average, and others have this share of them, too.
SHORT, SHARED = 2, 0.7
LETTER = re.compile(r"[^\W\d_]")
FIGURES = re.compile(r"(?=\D*+\d)[\d\s.,:;/+\-]++")
#: A text has hardly a known word if fewer of its words and pairs are known than this share.
KNOWN = 0.1
#: About so many texts of the fit tell how many have hardly a word that others have.
SOME = 1000


@dataclass(frozen=True, eq=False)
class Words:
    """TF-IDF of words and pairs of words: 1 + log of the count, times how rare it is, length 1.

    Scripts without spaces, and emoji, are taken as characters and their pairs and triples.

    Args:
        name: the column.
        vocabulary: the words and pairs, in the order of their features.
        rarity: (V,) the inverse document frequency of each.
        characters: whether every word is taken as characters, pairs and triples.
        missing: the share of texts that were missing.
        figures: the share of them that were dates or numbers alone.
        rows: how many texts there were.
        strange: the share of them with hardly a word that others have.
    """

    name: str
    vocabulary: tuple[str, ...]
    rarity: NDArray[np.float32]
    characters: bool = False
    missing: float = 0.0
    figures: float = 0.0
    rows: int = 0
    strange: float = 0.0

    @classmethod
    def learn(cls, name: str, column: Any, *, named: bool = False) -> "Words | None":
        """Learn the vocabulary of a column; None where it has no words.

        Args:
            name: the column.
            column: its texts.
            named: whether the user calls it text. Only then are words that never repeat read by
                their characters: they may as well be the parts of an ID.
        """
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = texts_of(column)
        least = 2 if len(texts) >= 50 else 1
        characters = has_long_words(texts) or (named and not has_common_words(texts))
        vectoriser = TfidfVectorizer(
            analyzer=_analyser(characters), dtype=np.float32, max_features=MOST,
            min_df=least, max_df=1.0,
        )  # fmt: skip
        try:
            vectoriser.fit(texts)
        except ValueError:  # an empty vocabulary
            return None
        words = tuple(vectoriser.get_feature_names_out().tolist())
        rarity = vectoriser.idf_.astype(np.float32)
        gaps = column.isna().to_numpy(bool)
        made = cls(
            name, words, rarity, characters, float(gaps.mean()), float(are_figures(texts).mean()),
            len(texts),
        )  # fmt: skip
        # A word has to be in another text, too: a new one vouches for none of its words.
        others = np.round((1 + len(texts)) / np.exp(vectoriser.idf_ - 1)) - 2
        some = [text for text, gap in zip(texts, gaps, strict=True) if not gap][
            :: len(texts) // SOME + 1
        ]
        strange = made._counts(some, others >= least)[1] < KNOWN
        return replace(made, strange=float(strange.mean()))

    @property
    def is_possible(self) -> bool:
        """Whether each word has a rarity that words can have: at least 1, 45 in 2^63 texts."""
        r = self.rarity
        return r.shape == (len(self.vocabulary),) and bool(((r > 0) & (r < 100)).all())

    @property
    def features(self) -> list[str]:
        """The names of its features."""
        return [f"{self.name}: {word}" for word in self.vocabulary]

    @property
    def indicators(self) -> list[bool]:
        """Which of its features are 0 or 1: none."""
        return [False] * len(self.vocabulary)

    @cached_property
    def _vectoriser(self) -> Any:
        from sklearn.feature_extraction.text import CountVectorizer

        index = {word: i for i, word in enumerate(self.vocabulary)}
        return CountVectorizer(analyzer=list, dtype=np.float32, vocabulary=index)

    def _counts(
        self, texts: Sequence[str], known: NDArray[np.bool_] | None = None
    ) -> tuple[Any, NDArray[np.float64]]:
        """Return how often each text has each word and pair, and the share of its that are known.

        Args:
            texts: some texts.
            known: (V,) which words and pairs are; all of the vocabulary by default.
        """
        lengths = list[int]()

        def pieces() -> Iterator[list[str]]:
            for text in texts:
                found = _analyser(self.characters)(text)
                lengths.append(len(found))
                yield found

        counts = self._vectoriser.transform(pieces()).tocsr()
        of_these = counts if known is None else counts[:, known]
        return counts, np.asarray(of_these.sum(axis=1)).ravel() / np.maximum(lengths, 1)

    def matrix(self, column: Any, notes: Notes) -> Any:
        """Return the features of a column, sparse (N, V); count texts of unknown words."""
        from sklearn.preprocessing import normalize

        texts = texts_of(column)
        counts, known = self._counts(texts)
        counts.data = (1 + np.log(counts.data)) * self.rarity[counts.indices]
        missing = column.isna().to_numpy()
        strange = known < KNOWN
        if self.figures <= UNREADABLE:  # dates: 12 and 2020 may be known, and say nothing
            strange |= are_figures(texts)
        strange &= ~missing
        notes.tally(
            self.name, Before(self.rows, self.missing, self.strange, tolerated=0.5),
            rows=len(column), missing=int(missing.sum()), unread=int(strange.sum()),
            problem="have hardly a word known from the fit",
        )  # fmt: skip
        return normalize(counts, copy=False)


def count_words(text: str) -> float:
    """Return how many words a text has; two characters count as one where there are no spaces.

    >>> count_words("a fine film"), count_words("这部电影很好看"), count_words("👍👍 🎬")
    (3.0, 3.5, 3.0)
    """
    text = _folded(text)
    unspaced = sum(len(run) for run in _unspaced().findall(text))
    signs = sum(len(run) for run in _signs().findall(text))
    return unspaced / 2 + signs + len(_spaced(text).split())


def has_long_words(texts: Sequence[str]) -> bool:
    """Return whether most characters are in words too long to be words."""
    lengths = [len(word) for text in texts[:1000] for word in _spaced(_folded(text)).split()]
    return sum(n for n in lengths if n > LONG_WORD) > 0.5 * sum(lengths)


def has_common_words(texts: Sequence[str]) -> bool:
    """Return whether most texts have a word, or a sign, that another has."""
    found = [set(words(text)) for text in texts[:1000]]
    seen = Counter(word for one in found for word in one)
    return sum(any(seen[word] > 1 for word in one) for one in found) > 0.5 * sum(map(bool, found))


def has_shared_words(texts: Sequence[str]) -> bool:
    """Return whether short texts are made of words that others have, two or more on average.

    Words without a letter do not count, nor do those that most texts have, such as png.

    >>> has_shared_words(["red shoe", "blue shoe", "red hat", "blue hat"] * 2)
    True
    >>> has_shared_words(["img-001.png", "img-002.png", "img-003.png"])
    False
    """
    found = [_letters(text) for text in texts[:1000]]
    seen = Counter(word for one in found for word in set(one))
    telling = [word for one in found for word in one if 2 * seen[word] <= len(found)]
    length = sum(0.5 if _unspaced().match(word) else 1 for word in telling)
    shared = sum(seen[word] > 1 for word in telling)
    return length >= SHORT * len(found) and shared >= SHARED * len(telling)


def are_figures(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return which texts are dates or numbers, without a word or a sign.

    >>> are_figures(["31 Mar 2020", "2020-03-31T10:00Z", "7.5", "7 of 10", "", "👍"]).tolist()
    [True, True, True, False, False, False]
    """
    import pandas as pd

    dates = is_date(pd.Series(texts, dtype=object).str.strip()).to_numpy(bool)
    bare = [FIGURES.fullmatch(text) is not None for text in texts]
    return np.asarray(dates | np.array(bare, dtype=bool))


def _letters(text: str) -> list[str]:
    """Return the words of a text that have a letter; characters where there are no spaces."""
    text = _folded(text)
    found = [word for word in _word().findall(_spaced(text)) if LETTER.search(word)]
    return found if text.isascii() else [*found, *"".join(_unspaced().findall(text))]


def _spaced(text: str) -> str:
    """Return what is written in words, between spaces."""
    return text if text.isascii() else _unspaced().sub(" ", _signs().sub(" ", text))


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"([{UNSPACED}]+)")


@cache
def _signs() -> re.Pattern[str]:
    """Return what finds runs of signs, some joined (by U+200D) to one."""
    return re.compile(f"[{SIGNS}](?:[{SIGNS}\u200d]|{COLOURED})*")


@cache
def _word() -> re.Pattern[str]:
    """Return what finds words, one of a single letter too: "I" tells a review from a headline.

    Marks, such as the vowel signs of Hindi, are part of a word, though not of Python's ``\\w``;
    so is Braille, but for its blank.
    """
    marks = [chr(c) for c in range(0x20000) if unicodedata.category(chr(c))[0] == "M"]
    return re.compile(f"[\\w{''.join(marks)}\u2801-\u28ff]+")


def _analyser(characters: bool) -> Any:
    return _characters if characters else words


def words(text: str) -> list[str]:
    """Return the words and pairs of words of a text, in lower case.

    >>> words("A fine film")
    ['a', 'fine', 'film', 'a fine', 'fine film']
    >>> words("好电影 2020")
    ['好', '电', '影', '好电', '电影', '好电影', '2020']
    >>> words("Fine 👍🎬 film")
    ['fine', 'film', 'fine film', '👍', '🎬', '👍🎬']
    """
    if text.isascii():
        return _with_pairs(re.findall(r"\w+", text.lower()))
    text = _folded(text)
    spaced, *rest = _unspaced().split(text)
    found = _with_pairs(_word().findall(spaced))
    for run, spaced in zip(rest[::2], rest[1::2], strict=True):
        found += [*_pieces(run), *_with_pairs(_word().findall(spaced))]
    return found + [piece for run in _signs().findall(text) for piece in _pieces(run)]


def _characters(text: str) -> list[str]:
    """Return the characters of each word, their pairs and triples."""
    text = _folded(text)
    runs = _word().findall(text) + _signs().findall(text)
    return [piece for run in runs for piece in _pieces(run)]


def _pieces(run: str) -> Iterator[str]:
    for length in range(1, LONGEST + 1):
        for at in range(len(run) - length + 1):
            yield run[at : at + length]


def _with_pairs(words: list[str]) -> list[str]:
    return words + [f"{one} {two}" for one, two in pairwise(words)]


def _folded(text: str) -> str:
    """Return a text in lower case, full-width and composed letters brought to one form."""
    if text.isascii():
        return text.lower()
    return re.sub(COLOURED, "", unicodedata.normalize("NFKC", text).lower())


def texts_of(column: Any) -> Sequence[str]:
    """Return the texts of a column, "" where one is missing."""
    return [
        "" if missing else text_of(value) if isinstance(value, bytes | str) else str(value)
        for value, missing in zip(column, column.isna(), strict=True)
    ]
