"""What can be shown of a row to a person who is to judge its label."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from noiseproof.errors import DataError
from noiseproof.fitting.page.pictures import Pictures
from noiseproof.fitting.page.telling import (
    NUMBERS,
    Codes,
    Column,
    Texts,
    is_text,
    number_odds,
    shorten,
)
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.samples import Samples

#: Columns of a wide table that are kept to choose from, texts first.
KEPT = 40
#: Columns that are shown of a row beside its texts.
SHOWN = 4
#: The longest text and the longest value that are shown.
TEXT, VALUE = 700, 120


@dataclass(frozen=True, eq=False)
class Looks:
    """What there is to see of the rows of a fit.

    Args:
        matrix: (N, D) the features, dense or sparse.
        frame: some columns of the table; None without one.
        texts: those of its columns that are free text.
        pictures: the pictures; None where the rows are no pictures.
    """

    matrix: Any
    frame: Any = None
    texts: tuple[str, ...] = ()
    pictures: Pictures | None = None

    def contents(
        self, rows: Sequence[int], given: Codes, proposed: Codes, count: int
    ) -> "list[Content]":
        """Return what to show of some rows.

        Args:
            rows: the rows, by place.
            given: (N,) the given label of every row.
            proposed: (N,) the likely true class of every row.
            count: the number of classes.
        """
        if self.pictures is not None:
            return [Content(picture=made) for made in self.pictures.thumbnails(rows)]
        if self.frame is None:
            return _of_matrix(self.matrix, rows, given, proposed, count)
        return _of_frame(self.frame, self.texts, rows, given, proposed, count)


@dataclass(frozen=True)
class Content:
    """What is shown of a row.

    Args:
        picture: a ``data:`` address.
        texts: (column, text) pairs.
        words: those that speak for the proposed label.
        columns: (column, value, typical of the given label, typical of the proposed one), the
            most telling first.
    """

    picture: str = ""
    texts: tuple[tuple[str, str], ...] = ()
    words: tuple[str, ...] = ()
    columns: tuple[tuple[str, str, str, str], ...] = ()


def picture_folder(X: Any, samples: Samples) -> Path | None:
    """Return the folder that the rows are pictures in; None where they are not."""
    if isinstance(X, str | PathLike) and samples.rows is not None and Path(X).is_dir():
        return Path(X)
    return None


def as_seen(
    samples: Samples, X: Any, y: Any, embeddings: Any, encoding: str | None
) -> Samples | None:
    """Return all rows as a person knows them: the table or pictures rather than embeddings of them.

    None where there is nothing beside the labels.
    """
    if embeddings is None and (samples.encoder is None or samples.rows is not None):
        return samples
    try:
        return as_samples(X, y, encoding=encoding)
    except DataError:
        return None


def looks(
    seen: Samples | None,
    matrix: Any,
    codes: Codes,
    places: Codes,
    text: Sequence[str],
    folder: Path | None,
) -> Looks:
    """Keep what can be shown of the rows.

    Args:
        seen: all rows as a person knows them.
        matrix: (N, D) the features of the labelled rows.
        codes: (N,) their labels.
        places: (N,) which of all rows they are.
        text: columns that are said to be text.
        folder: where the rows are pictures in a folder.
    """
    if folder is not None and seen is not None and seen.rows is not None:
        return Looks(matrix, pictures=Pictures(folder, [seen.rows[at] for at in places]))
    if seen is None or seen.kind == "matrix":
        return Looks(matrix)
    if seen.kind == "images":
        return Looks(matrix, pictures=Pictures(None, range(len(places)), seen.inputs[places]))
    frame = seen.inputs.iloc[places].reset_index(drop=True)
    texts = [name for name in frame.columns if name in text or is_text(frame[name])]
    names = [*texts, *_most_different(frame.drop(columns=texts), codes, KEPT - len(texts[:KEPT]))]
    return Looks(matrix, frame[names].copy(), tuple(texts))


def _most_different(frame: Any, codes: Codes, most: int) -> list[str]:
    """Return the columns whose values differ most between the given labels, in their order."""
    names = list(frame.columns)
    if len(names) <= most:
        return names
    count = int(codes.max()) + 1
    score = {}
    for name in names:
        column = Column(frame[name], codes, count)
        if column.numbers is None:
            score[name] = 0.5  # cannot be compared; better than a number that tells nothing
        else:
            x = column.numbers
            known = np.isfinite(x)
            size = np.maximum(np.bincount(codes[known], minlength=count), 1)
            mean = np.bincount(codes[known], x[known], count) / size
            total = float(np.var(x[known])) if known.any() else 0.0
            between = float(((mean[codes[known]] - x[known].mean()) ** 2).mean()) if total else 0.0
            score[name] = between / total if total else 0.0
    kept = set(sorted(names, key=lambda name: -score[name])[: max(most, 0)])
    return [name for name in names if name in kept]


def _of_frame(
    frame: Any, texts: Sequence[str], rows: Sequence[int], given: Codes, proposed: Codes, count: int
) -> list[Content]:
    read = {
        name: Texts(
            [
                str(v) if known else ""
                for v, known in zip(frame[name], frame[name].notna(), strict=True)
            ],
            proposed,
            count,
        )
        for name in texts
    }
    columns = {name: Column(frame[name], proposed, count) for name in frame if name not in read}
    found = []
    for row in rows:
        wanted, other = int(proposed[row]), int(given[row])
        said = [word for made in read.values() for word in made.for_class(row, wanted, other)]
        odds = {name: column.odds(row, wanted, other) for name, column in columns.items()}
        order = sorted(columns, key=lambda name: -odds[name])[:SHOWN]
        found.append(
            Content(
                texts=tuple((name, shorten(frame[name].iat[row], TEXT)) for name in texts),
                words=tuple(dict.fromkeys(said)),
                columns=tuple(
                    (name, shorten(frame[name].iat[row], VALUE), columns[name].typical(other),
                     columns[name].typical(wanted))
                    for name in order
                ),
            )
        )  # fmt: skip
    return found


def _of_matrix(
    matrix: Any, rows: Sequence[int], given: Codes, proposed: Codes, count: int
) -> list[Content]:
    """Return the most telling columns of rows that are plain numbers."""
    from scipy import sparse

    N, D = matrix.shape
    if count * D > NUMBERS:
        return [Content()] * len(rows)
    of_class = sparse.csr_matrix((np.ones(N), (proposed, np.arange(N))), shape=(count, N))
    size = np.maximum(np.bincount(proposed, minlength=count), 1)[:, None]
    if sparse.issparse(matrix):
        matrix = matrix.tocsr()
        mean = (of_class @ matrix).toarray() / size
        square = np.asarray(matrix.multiply(matrix).mean(axis=0)).ravel()
    else:
        mean = (of_class @ matrix) / size
        square = np.einsum("ij,ij->j", matrix, matrix) / N
    within = square - (size / N * mean**2).sum(axis=0)
    spread = np.sqrt(np.maximum(within, 1e-12))
    found = []
    for row in rows:
        at = matrix[row].indices if sparse.issparse(matrix) else np.arange(D)
        x = matrix[row].data if sparse.issparse(matrix) else matrix[row]
        wanted, other = int(proposed[row]), int(given[row])
        odds = number_odds(x, mean[wanted, at], mean[other, at], spread[at])
        order = np.argsort(-odds, kind="stable")[:SHOWN]
        found.append(
            Content(columns=tuple(
                (f"column {at[i]}", f"{x[i]:.4g}", f"{mean[other, at[i]]:.4g}",
                 f"{mean[wanted, at[i]]:.4g}")
                for i in order
            ))
        )  # fmt: skip
    return found
