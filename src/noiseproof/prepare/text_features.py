"""What to make of the texts of a table: words, the embeddings of an encoder, or both."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noiseproof.encoders.choose import AUTO, Facts, choose
from noiseproof.encoders.encoder import TEXTS, Encoder
from noiseproof.errors import ParameterError
from noiseproof.noise import stream
from noiseproof.prepare.checks import row_hashes
from noiseproof.prepare.classes import Codes
from noiseproof.prepare.columns.kinds import WORDS
from noiseproof.prepare.columns.sentences import Sentences
from noiseproof.prepare.columns.words import Words, count_words, texts_of
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples
from noiseproof.prepare.table_features import AnyColumn, TableFeatures
from noiseproof.progress import SILENT, Progress

#: The rows and folds by which words, embeddings and both are compared.
ROWS, FOLDS = 4000, 5
#: The decays of the linear model that compares them; the better one counts.
DECAYS = (1.0, 10.0)
#: Both, or words alone, must be better than embeddings alone by this many standard errors: learners
#: for dense features have no use for words.
CLEARLY = 2.0
#: Whether a short text helps is asked of so many classes, the most frequent ones: a linear model of
#: hundreds takes minutes.
CLASSES = 20
#: So many rows of a text are looked at to see how long it is.
LOOK = 1000
#: If fewer rows than this share are distinct, equal ones are different cases rather than copies.
DISTINCT = 0.1


def without_names(
    features: TableFeatures, samples: Samples, codes: Codes, named: Collection[str], seed: int,
    notes: Notes,
) -> TableFeatures:  # fmt: skip
    """Return features without the short texts that do not help to predict held-out labels.

    Names of people share their words as titles of goods do, but tell nothing; beside columns of
    numbers they cost learners that have no use for words.

    Args:
        features: the columns, their texts as words.
        samples: the table.
        codes: (N,) its labels.
        named: the columns that the user calls text.
        seed: draws the rows of the comparison.
        notes: where to say what was done.
    """
    texts = [c for c in features.columns if isinstance(c, Words) and c.name not in named]
    short = [c for c in texts if _is_short(samples.inputs[c.name])]
    rest = tuple(c for c in features.columns if not any(c is one for one in short))
    if not short or not rest:
        return features
    common = np.argsort(-np.bincount(codes), kind="stable")[:CLASSES]
    rows = np.flatnonzero(np.isin(codes, common))
    rows = rows[_some_rows(len(rows), seed)]
    some, labels = samples.take(rows), codes[rows]
    alone = TableFeatures(rest, features.left_out, features.commas)
    matrix = TableFeatures((*rest, *short), (), features.commas).transform(some, Notes()).tocsc()
    unit = _units(some, matrix.tocsr())
    right = _held_out(matrix[:, : alone.width].tocsr(), labels, unit, seed)
    useless, start = set[str](), alone.width
    for column in short:
        end = start + len(column.vocabulary)
        beside = sparse.hstack([matrix[:, : alone.width], matrix[:, start:end]], format="csr")
        if not _clearly_better(_held_out(beside, labels, unit, seed), right):
            useless.add(column.name)
            notes.add("left out again, it does not help to predict held-out labels", column.name)
        start = end
    kept = tuple(c for c in features.columns if c.name not in useless)
    return TableFeatures(kept, (*features.left_out, *sorted(useless)), features.commas)


def _is_short(column: Any) -> bool:
    texts = [text for text in texts_of(column[:LOOK]) if text]
    return sum(map(count_words, texts)) < WORDS * len(texts)


def _some_rows(count: int, seed: int) -> NDArray[np.int64]:
    return np.sort(stream(seed, "texts").permutation(count)[:ROWS])


def with_texts_encoded(
    features: TableFeatures, samples: Samples, codes: Codes, word: str, seed: int, notes: Notes,
    progress: Progress = SILENT,
) -> TableFeatures:  # fmt: skip
    """Return features whose texts are embeddings where that predicts better.

    Args:
        features: the columns, their texts as words.
        samples: the table.
        codes: (N,) its labels.
        word: the encoder that the user asks for.
        seed: draws the rows of the comparison.
        notes: where to say what was done.
        progress: hears how many texts are encoded.
    """
    count = len(samples) * len(features.texts)
    if count == 0:
        if word == AUTO:
            return features
        raise ParameterError(f"--encoder {word}: no column is text; name one by --text")
    encoder, line = choose(word, Facts(TEXTS, count))
    if line:
        notes.add("encoder", line)
    if encoder is None:
        return features
    return _best(features, encoder, samples, codes, word == AUTO, seed, notes, progress)


def _best(
    words: TableFeatures, encoder: Encoder, samples: Samples, codes: Codes, may_drop: bool,
    seed: int, notes: Notes, progress: Progress,
) -> TableFeatures:  # fmt: skip
    """Compare embeddings with both, and with words alone, by a linear model on held-out rows."""
    found = [c for c in words.columns if isinstance(c, Words)]
    encoded = [Sentences(c.name, encoder.identity, c.missing, c.figures, c.rows) for c in found]
    rest: list[AnyColumn] = [c for c in words.columns if not isinstance(c, Words)]
    both = TableFeatures((*rest, *encoded, *found), words.left_out, words.commas)
    alone = TableFeatures((*rest, *encoded), words.left_out, words.commas)
    rows = _some_rows(len(codes), seed)
    some = samples.take(rows)
    matrix, labels = both.transform(some, Notes(), progress), codes[rows]
    plain = alone.width - len(encoded) * encoder.identity.width
    parts: dict[str, tuple[TableFeatures, Any]] = {
        "embeddings": (alone, matrix[:, : alone.width]),
        "words and embeddings": (both, matrix),
    }
    without = sparse.hstack([matrix[:, :plain], matrix[:, alone.width :]], format="csr")
    if may_drop:
        parts["words"] = (words, without)
    unit = _units(some, without)
    right = {name: _held_out(part, labels, unit, seed) for name, (_, part) in parts.items()}
    chosen = "embeddings"
    for name, hits in right.items():
        if _clearly_better(hits, right[chosen]):
            chosen = name
    compared = ", ".join(f"{name} {hits.mean():.1%}" for name, hits in right.items())
    notes.add(f"texts as {chosen}", f"a linear model predicts held-out labels by {compared}")
    return parts[chosen][0]


def _units(samples: Samples, matrix: Any) -> Codes:
    """Return (N,) a number for each row, equal for rows to hold out together.

    Those are the rows of a group or, without groups, rows of equal features; where nearly all of
    them are equal, they are different cases.
    """
    import pandas as pd

    groups = samples.groups
    unit, known = pd.factorize(row_hashes(matrix) if groups is None else groups.numbers)
    least = 2 if groups is not None else max(2, DISTINCT * len(unit))
    return unit if len(known) >= least else np.arange(len(unit))


def _held_out(matrix: Any, codes: Codes, unit: Codes, seed: int) -> NDArray[np.float64]:
    """Return for each row whether a linear model that never saw it predicts its label."""
    found = [_predicted(matrix, codes, unit, decay, seed) for decay in DECAYS]
    return max(found, key=lambda right: float(right.mean()))


def _predicted(
    matrix: Any, codes: Codes, unit: Codes, decay: float, seed: int
) -> NDArray[np.float64]:
    from sklearn.linear_model import RidgeClassifier
    from sklearn.model_selection import KFold

    right = np.zeros(len(codes))
    units = np.arange(int(unit.max()) + 1)
    for _, out in KFold(min(FOLDS, len(units)), shuffle=True, random_state=seed).split(units):
        inside = np.isin(unit, out)
        train, held = np.flatnonzero(~inside), np.flatnonzero(inside)
        if len(np.unique(codes[train])) < 2:
            continue
        model = RidgeClassifier(alpha=decay, solver="sparse_cg", tol=1e-3)
        model.fit(matrix[train], codes[train])
        right[held] = model.predict(matrix[held]) == codes[held]
    return right


def _clearly_better(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    gain = one - other
    return bool(gain.mean() > CLEARLY * gain.std() / np.sqrt(len(gain)))
