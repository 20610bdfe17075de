"""Answers in a DataFrame of their own, beside the rows that they are about."""

from dataclasses import replace
from typing import Any

import numpy as np

from noiseproof.errors import DataError, ParameterError
from noiseproof.prepare.answers.asked import Asked, asked
from noiseproof.prepare.answers.columns import without_points
from noiseproof.prepare.answers.items import names
from noiseproof.prepare.answers.wide import of_columns
from noiseproof.prepare.columns.values import as_numbers
from noiseproof.prepare.groups import grouped
from noiseproof.prepare.inputs import (
    as_samples,
    same_values,
    warn_of_another_order,
    warn_of_other_numbers,
)
from noiseproof.prepare.notes import shortlist
from noiseproof.prepare.samples import Samples
from noiseproof.progress import counted
from noiseproof.tables.frames import as_frame, is_foreign
from noiseproof.tables.labels import repeated

#: The columns of a DataFrame of answers in the long form.
LONG = ("item", "annotator", "label")


def of_frame(X: Any, label: Any, answers: Any, group: Any = None, **options: Any) -> Asked:
    """Join rows X with a DataFrame of answers.

    Args:
        X: a path, a DataFrame or an array.
        label: a column of X to leave out; None if there is none.
        answers: long, with the columns ``item`` (the row of X, from 0), ``annotator`` and
            ``label``; or wide, a column for each annotator and a row for each row of X.
        group: as :func:`~noiseproof.prepare.groups.grouped` takes it.
        options: of :func:`~noiseproof.prepare.inputs.as_samples`.
    """
    if is_foreign(answers):
        answers = as_frame(answers)
    if label is not None and not isinstance(label, str):
        raise ParameterError("labels beside answers: give one of the two")
    for name in answers.columns[answers.columns.duplicated()][:1]:
        raise DataError(f"answers: two columns are called {name!r}")
    samples = as_samples(X, label, labelled=False, **options)
    if samples.unread:  # the rows after it would have other numbers
        raise DataError(f"{samples.unread[0]}: beside answers every picture must be readable")
    seen = samples
    if options.get("embeddings") is not None:
        seen = as_samples(X, label, labelled=False, encoding=options.get("encoding"))
    samples = grouped(samples, group, None if seen is samples else seen)
    if not set(LONG) <= set(answers.columns):
        warn_of_another_order(X, answers, "answers")
        if len(answers) != len(samples):
            raise DataError(
                f"answers: {counted(len(answers), 'row')} for {counted(len(samples), 'row')}; "
                f"expected one each, or the columns {', '.join(LONG)}"
            )
        same = seen is samples
        samples = _without(samples, answers)  # fit(frame, answers=frame[["w1", "w2"]])
        seen = samples if same else seen
        return of_columns(samples, seen, without_points(answers), "answers")
    if [same for same in _shared(samples, answers[list(LONG)]).values() if same] == [True] * 3:
        raise DataError(
            "answers: the rows of X are answers themselves; name their columns instead: "
            "fit(X, 'label', annotator='annotator', item='item')"
        )
    warn_of_other_numbers(X, "answers")
    item = as_numbers(answers["item"])
    wrong = ~((item >= 0) & (item < len(samples))) | (np.floor(item) != item)
    if wrong.any():
        first = str(answers["item"].iloc[int(wrong.argmax())])
        raise DataError(f"answers: item {first!r} is no row of the data, 0 to {len(samples) - 1}")
    rows = samples.rows or tuple(range(len(samples)))
    of = item.astype(np.int64)
    people, labels = names(answers["annotator"]), answers["label"]
    return asked(samples, seen, tuple(rows), of, people, labels, "answers")


def _shared(samples: Samples, answers: Any) -> dict[str, bool]:
    """Return the columns that a table and the answers both have, and whether they are the same."""
    if samples.kind != "table":
        return {}
    inputs = samples.inputs
    names = [name for name in answers.columns if isinstance(name, str) and name in inputs]
    return {name: same_values(inputs[name], answers[name]) for name in names}


def _without(samples: Samples, answers: Any) -> Samples:
    """Return samples without columns that are answers: they are no features."""
    shared = _shared(samples, answers)
    again, others = (
        [n for n, same in shared.items() if same is is_same] for is_same in (True, False)
    )
    doubts = samples.doubts
    if others:
        line = f"called as annotators are, and learnt from: {shortlist(others)}"
        doubts = (*doubts, f"{line}; leave them out if they are answers")
    if not again:
        return replace(samples, doubts=doubts) if others else samples
    again = [*again, *repeated(samples.inputs.columns, *again)]
    inputs = samples.inputs.drop(columns=again)
    if inputs.shape[1] == 0:
        raise DataError(f"{samples.name}: no column beside those of the answers to learn from")
    note = f"left out, answers once more: {shortlist(again)}"
    return replace(samples, inputs=inputs, notes=(*samples.notes, note), doubts=doubts)
