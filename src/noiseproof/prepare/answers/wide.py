"""Answers in the wide form: a row is one item, each annotator has a column."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from noiseproof.errors import DataError, ParameterError
from noiseproof.prepare.answers.asked import Asked, asked, reading
from noiseproof.prepare.answers.columns import (
    check_answers,
    header,
    matching,
    patterns_of,
    without_points,
)
from noiseproof.prepare.groups import grouped
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import shortlist
from noiseproof.prepare.samples import Samples
from noiseproof.tables.gaps import GAPS
from noiseproof.tables.labels import as_labels, label_gaps, repeated


def read_wide(
    X: Any, label: Any, answers: str | Sequence[str], group: Any = None, **options: Any
) -> Asked:
    """Read a table of items with a column of answers for each annotator.

    Args:
        X: a path or a DataFrame.
        label: a column of other labels, which is left out; None if there is none.
        answers: the columns of answers, in which ``*`` stands for any text: ``"w1,w2,w*"``.
        group: as :func:`~noiseproof.prepare.groups.grouped` takes it.
        options: of :func:`~noiseproof.prepare.inputs.as_samples`.
    """
    patterns = patterns_of(answers)
    texts = matching(header(X, options.get("encoding")), patterns, None)
    table = as_samples(X, labelled=False, **reading(X, options, texts))
    where, frame = table.name, table.inputs
    if table.kind != "table":
        raise DataError(f"{where}: --answers is for a table with columns, this is none")
    if isinstance(group, str) and group in patterns:
        raise ParameterError(f"--group: {group!r} is a column of --answers")
    columns = matching([str(name) for name in frame.columns], patterns, where)
    # A pattern does not mean what is named for something else.
    named = {name for name in (label, group) if isinstance(name, str)}
    columns = [name for name in columns if name not in named or name in patterns]
    given = without_points(frame[columns])
    more, doubts = check_answers(given, patterns, where)
    others = [label, *repeated(frame.columns, label)] if isinstance(label, str) else []
    others = [name for name in others if name in frame.columns and name not in columns]
    notes = (*table.notes, *more)
    if others:
        notes = (*notes, f"left out, labels beside the answers: {shortlist(others)}")
    again = repeated(frame.columns, *columns)
    again = [name for name in again if name not in named and name not in others]
    if again:
        notes = (*notes, f"left out, answers once more: {shortlist(again)}")
    inputs = frame.drop(columns=[*columns, *others, *again])
    if inputs.shape[1] == 0 and options.get("embeddings") is None:
        raise DataError(f"{where}: no column beside those of the answers to learn from")
    seen = replace(table, inputs=inputs, labels=None, notes=notes)
    seen.doubts += doubts
    samples = grouped(seen, group)
    if options.get("embeddings") is not None:
        instead = as_samples(X, labelled=False, **options)
        samples = replace(samples, inputs=instead.inputs, doubts=instead.doubts + doubts)
    return of_columns(samples, seen, given, where, written=bool(texts))


def of_columns(
    samples: Samples, seen: Samples, columns: Any, where: str, written: bool = False
) -> Asked:
    """Return the answers in columns beside items, one for each annotator.

    Args:
        samples: the items.
        seen: the items as a person knows them.
        columns: the answers.
        where: what to call them in messages.
        written: whether they are texts because a text file has no other type.
    """
    import pandas as pd

    if columns.shape[1] == 0:
        raise DataError(f"{where}: expected a column for each annotator")
    parts = [
        pd.Series(columns.iloc[:, at].to_numpy(dtype=object)) for at in range(columns.shape[1])
    ]
    labels = pd.concat(parts, ignore_index=True)
    if all(isinstance(value, str) for value in labels[labels.notna()]):
        texts = labels.fillna("").astype(str)
        labels = as_labels(texts) if written else texts.where(~texts.isin(label_gaps({*texts})))
    else:
        typed = labels.infer_objects()
        labels = labels if typed.dtype.kind == "f" else typed  # floats would round integers
    words = [v for v in labels.dropna().unique() if isinstance(v, str) and v.lower() in GAPS]
    if words:
        same, listed = seen is samples, shortlist(map(repr, words))
        line = f"taken for answers: {listed}; leave a field empty where nobody answered"
        samples = replace(samples, doubts=(*samples.doubts, line))
        seen = samples if same else seen
    people = np.repeat([str(name) for name in columns.columns], len(columns))
    of = np.tile(np.arange(len(columns)), columns.shape[1])
    rows = samples.rows or tuple(range(len(samples)))
    return asked(samples, seen, tuple(rows), of, pd.Series(people), labels, where)
