"""What to make of the texts of a table: words, the embeddings of an encoder, or both."""

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
from noiseproof.prepare.columns.sentences import Sentences
from noiseproof.prepare.columns.words import Words
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
#: If fewer rows than this share are distinct, equal ones are different cases rather than copies.
DISTINCT = 0.1


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
    encoded = [Sentences(c.name, encoder.identity, c.missing, c.figures) for c in found]
    rest: list[AnyColumn] = [c for c in words.columns if not isinstance(c, Words)]
    both = TableFeatures((*rest, *encoded, *found), words.left_out, words.commas)
    alone = TableFeatures((*rest, *encoded), words.left_out, words.commas)
    rows = np.sort(stream(seed, "texts").permutation(len(codes))[:ROWS])
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
