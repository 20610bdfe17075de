"""Several answers a row: who said what about which row.

Columns of answers, annotators and items are never features.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from noiseproof.errors import DataError
from noiseproof.prepare.classes import MISSING, Classes, Codes, encode
from noiseproof.prepare.samples import Samples
from noiseproof.progress import counted


@dataclass(frozen=True, eq=False)
class Asked:
    """Items, and the answers about them; items without an answer are left out.

    Args:
        samples: the items.
        seen: the items as a person knows them: the table rather than embeddings of it.
        rows: the name of each item.
        unlabelled: how many items had no answer.
        item: (A,) the item of each answer.
        annotator: (A,) who gave it.
        codes: (A,) the class that it names.
        names: the annotators, sorted.
        classes: the classes.
    """

    samples: Samples
    seen: Samples
    rows: tuple[int | str, ...]
    unlabelled: int
    item: Codes
    annotator: Codes
    codes: Codes
    names: tuple[str, ...]
    classes: Classes


def reading(X: Any, options: dict[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Return the options for reading the table itself, with names and answers kept as written."""
    kept = {name: value for name, value in options.items() if name != "embeddings"}
    return kept | {"texts": texts} if isinstance(X, (str, PathLike)) else kept


def asked(
    samples: Samples,
    seen: Samples,
    rows: tuple[int | str, ...],
    of: Codes,
    people: Any,
    labels: Any,
    where: str,
) -> Asked:
    """Number annotators and classes; leave out answers and items that are missing.

    Args:
        samples: the items.
        seen: the items as a person knows them.
        rows: the name of each item.
        of: (A,) the item of each answer.
        people: (A,) who gave it.
        labels: (A,) what it is; a gap where there is none.
        where: what the answers are called in messages.
    """
    import pandas as pd

    codes, classes = encode(labels, where)
    given = codes != MISSING
    nameless = int(pd.isna(people)[given].sum())
    if nameless:
        raise DataError(f"{where}: without an annotator: {counted(nameless, 'answer')}")
    annotator, known = pd.factorize(people[given].astype(str).to_numpy(dtype=object), sort=True)
    if len(known) == 1:
        told = f"all answers are from one annotator, {known[0]}: taken as plain labels"
        same = seen is samples
        samples = replace(samples, notes=(*samples.notes, told))
        seen = samples if same else seen
    kept, item = np.unique(of[given], return_inverse=True)
    codes = codes[given]
    # The same answer of the same person about the same item is one answer.
    once = np.sort(np.unique(np.stack([item, annotator, codes]), axis=1, return_index=True)[1])
    if len(once) < len(item):
        told = f"{len(item) - len(once):,} answers were given twice, and count once"
        item, annotator, codes = item[once], annotator[once], codes[once]
        same = seen is samples
        samples = replace(samples, notes=(*samples.notes, told))
        seen = samples if same else seen
    unlabelled = len(samples) - len(kept)
    if unlabelled:
        same = seen is samples
        samples, rows = samples.take(kept), tuple(rows[at] for at in kept)
        seen = samples if same else seen.take(kept)
    return Asked(
        samples, replace(seen), rows, unlabelled, item.astype(np.int64), annotator.astype(np.int64),
        codes, tuple(str(name) for name in known), classes,
    )  # fmt: skip
