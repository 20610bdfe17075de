"""The rows of a fit: read, with one label each or the answers of a crowd, and checked."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noiseproof.fitting import crowd
from noiseproof.fitting.page.looks import as_seen, picture_folder
from noiseproof.fitting.review.reviewed import fingerprint
from noiseproof.prepare.answers.asked import Asked
from noiseproof.prepare.checks import Checked, check
from noiseproof.prepare.classes import MISSING, Classes, Codes, encode
from noiseproof.prepare.groups import grouped
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.leaks import label_doubts
from noiseproof.prepare.samples import Samples


@dataclass(eq=False)
class Rows:
    """Labelled rows, as they were read.

    Args:
        samples: the inputs.
        codes: (N,) their labels; where a crowd answered, what most of it says.
        classes: the classes.
        names: the name of each row.
        checked: what the checks of the data found.
        seen: all rows, labelled or not, as a person knows them; None if there is nothing to see.
        places: (N,) which of those the labelled rows are.
        folder: the folder of the pictures, if the rows are pictures in one.
        fingerprint: what tells these rows from those of another file.
        asked: the answers of a crowd; None if each row has one label.
    """

    samples: Samples
    codes: Codes
    classes: Classes
    names: tuple[int | str, ...]
    checked: Checked
    seen: Samples | None
    places: Codes
    folder: Path | None
    fingerprint: str
    asked: Asked | None = None

    @property
    def groups(self) -> Codes | None:
        """(N,) a number for each row, equal for rows that belong together; None if none do."""
        return None if self.samples.groups is None else self.samples.groups.numbers

    def free(self) -> None:
        """Free the memory of the inputs; what was made of them is kept."""
        self.seen = self.samples.inputs = None


def read_rows(X: Any, y: Any, asked: Asked | None, group: Any = None, **options: Any) -> Rows:
    """Read and check the rows.

    Args:
        X: the inputs, as :func:`~noiseproof.fitting.fit.fit` takes them.
        y: the labels, or the name of their column.
        asked: the answers of a crowd, which were read with their items; None without any.
        group: the column that says which rows belong together, or (N,) a group for each.
        options: of :func:`~noiseproof.prepare.inputs.as_samples`.
    """
    rows = _labelled(X, y, group, **options) if asked is None else _answered(X, asked)
    if rows.samples.groups is not None:
        note, doubts = rows.samples.groups.about(rows.codes, rows.classes.names, rows.samples.name)
        rows.samples.notes += (note,)
        rows.samples.doubts += doubts
    return rows


def _labelled(
    X: Any, y: Any, group: Any, *, embeddings: Any, encoding: str | None, **options: Any
) -> Rows:
    samples = as_samples(X, y, embeddings=embeddings, encoding=encoding, **options)
    folder = picture_folder(X, samples)
    seen = as_seen(samples, X, y, embeddings, encoding)
    own = fingerprint(seen, len(samples), folder)
    table = seen if group is not None and embeddings is not None else None
    samples = grouped(samples, group, table)
    where = f"{samples.name}, column {y!r}" if isinstance(y, str) else samples.name
    codes, classes = encode(samples.labels, where)
    places = np.flatnonzero(codes != MISSING)
    unlabelled = len(samples) - len(places)
    if unlabelled:
        samples, codes = samples.take(places), codes[places]
    samples.doubts += label_doubts(samples, codes, getattr(y, "name", None))
    names = tuple(samples.rows) if samples.rows else tuple(places.tolist())
    checked = check(samples, codes, classes, unlabelled)
    return Rows(samples, codes, classes, names, checked, seen, places, folder, own)


def _answered(X: Any, asked: Asked) -> Rows:
    samples, seen = asked.samples, asked.seen
    folder = None if seen.kind == "table" else picture_folder(X, samples)
    own = fingerprint(seen, len(samples), folder, asked.rows)
    codes, places, checked = crowd.check_items(asked)
    return Rows(
        samples, codes, asked.classes, asked.rows, checked, seen, places, folder, own, asked
    )
