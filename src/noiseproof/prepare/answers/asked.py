"""Several answers a row: who said what about which row, from columns or a table of answers.

Long: a row is one answer, a column says who gave it. Wide: a row is one item, each annotator has a
column. Columns of answers, annotators and items are never features.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from noiseproof.errors import DataError, ParameterError
from noiseproof.prepare.answers.columns import (
    check_answers,
    header,
    matching,
    patterns_of,
    without_points,
)
from noiseproof.prepare.answers.items import items, named_items, names, numbered, varies
from noiseproof.prepare.classes import MISSING, Classes, Codes, encode
from noiseproof.prepare.columns.values import as_numbers
from noiseproof.prepare.formats.table_files import split_label
from noiseproof.prepare.groups import Groups, grouped
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
from noiseproof.tables.gaps import GAPS
from noiseproof.tables.labels import as_labels
from noiseproof.tables.read import second_labels

#: The columns of a DataFrame of answers in the long form.
LONG = ("item", "annotator", "label")
EMPTY = "leave a field empty where nobody answered"


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


def read_long(
    X: Any, label: Any, annotator: str, item: str | None = None, group: Any = None, **options: Any
) -> Asked:
    """Read a table of answers, one a row.

    Args:
        X: a path or a DataFrame.
        label: the column of answers.
        annotator: the column that says who answered.
        item: the column that says which item the answer is about; None means that rows with equal
            features are one item.
        group: as :func:`~noiseproof.prepare.groups.grouped` takes it, for each answer; without
            ``item``, rows of different groups are different items.
        options: of :func:`~noiseproof.prepare.inputs.as_samples`.
    """
    if not isinstance(label, str):
        raise ParameterError("beside --annotator, expected the name of the column of answers")
    if annotator == label:
        raise ParameterError(f"--annotator: {label!r} is the column of answers, --label")
    who = [annotator] if item is None else [annotator, item]
    if item in (annotator, label):
        raise ParameterError(f"--item: {item!r} is the column of --label or --annotator")
    if isinstance(group, str) and group in (annotator, item):
        raise ParameterError(f"--group: {group!r} is the column of --annotator or --item")
    table = as_samples(X, label, **_reading(X, options, who))
    where, frame = table.name, table.inputs
    if table.kind != "table":
        raise DataError(f"{where}: --annotator is for a table with columns, this is none")
    for name in who:
        split_label(frame, name, where, alone=True)  # an error if there is no such column
    people, frame = names(frame[annotator]), frame.drop(columns=annotator)
    whole = frame
    if group is not None:
        table = grouped(replace(table, inputs=frame), group)
        frame = table.inputs
    key = None
    if item is not None:
        key, frame = names(frame[item]), frame.drop(columns=item)
        if nameless := int(key.isna().sum()):
            raise DataError(f"{where}: column {item!r} is empty in {counted(nameless, 'row')}")
    notes = table.notes
    if key is None and frame.shape[1] == 0:
        raise DataError(f"{where}: no column tells which item an answer is about; name it: --item")
    groups = table.groups
    if key is not None:
        of, first = named_items(key.to_frame(item))
    else:
        of, first = items(frame if groups is None else _marked(frame, groups))
    if groups is not None:
        if (groups.codes != groups.codes[first[of]]).any():
            by = f", by column {groups.name!r}" if groups.name else ""
            raise DataError(f"{where}: some items are in several groups{by}")
        groups = groups.take(first)
    if key is not None:
        vary = [name for name in frame.columns if varies(frame[name], of, first)]
        if vary:
            frame = frame.drop(columns=vary)
            notes = (*notes, f"left out, they differ between answers on an item: {shortlist(vary)}")
    if frame.shape[1] == 0 and options.get("embeddings") is None:
        raise DataError(f"{where}: no column beside those of the answers to learn from")
    called = None if key is None else key.iloc[first].tolist()
    rows = tuple(int(at) for at in first) if called is None else tuple(called)
    inputs = frame.iloc[first].reset_index(drop=True)
    samples = replace(table, inputs=inputs, labels=None, rows=called, notes=notes, groups=groups)
    if key is None and len(first) == len(frame):
        samples.doubts += numbered(frame)
    seen = samples
    if isinstance(group, str):  # a review with groups is of the same rows as one without
        known = [name for name in whole.columns if name == group or name in frame.columns]
        seen = replace(samples, inputs=whole[known].iloc[first].reset_index(drop=True))
    if options.get("embeddings") is not None:
        instead = as_samples(X, labelled=False, **options)
        samples = replace(samples, inputs=instead.inputs[first], doubts=instead.doubts)
    return _asked(samples, seen, rows, of, people, table.labels, f"{where}, column {label!r}")


def _marked(frame: Any, groups: Groups) -> Any:
    """Return a table with the group of each row in one more column, whose name is no text."""
    marked = frame.copy(deep=False)
    marked[0] = groups.codes
    return marked


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
    table = as_samples(X, labelled=False, **_reading(X, options, texts))
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
    others = [label, *second_labels(frame.columns, label)] if isinstance(label, str) else []
    others = [name for name in others if name in frame.columns and name not in columns]
    notes = (*table.notes, *more)
    if others:
        notes = (*notes, f"left out, labels beside the answers: {shortlist(others)}")
    inputs = frame.drop(columns=[*columns, *others])
    if inputs.shape[1] == 0 and options.get("embeddings") is None:
        raise DataError(f"{where}: no column beside those of the answers to learn from")
    seen = replace(table, inputs=inputs, labels=None, notes=notes)
    seen.doubts += doubts
    samples = grouped(seen, group)
    if options.get("embeddings") is not None:
        instead = as_samples(X, labelled=False, **options)
        samples = replace(samples, inputs=instead.inputs, doubts=instead.doubts + doubts)
    return _wide(samples, seen, given, where)


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
        return _wide(samples, seen, without_points(answers), "answers")
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
    return _asked(samples, seen, tuple(rows), of, people, labels, "answers")


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
    inputs = samples.inputs.drop(columns=again)
    if inputs.shape[1] == 0:
        raise DataError(f"{samples.name}: no column beside those of the answers to learn from")
    note = f"left out, answers once more: {shortlist(again)}"
    return replace(samples, inputs=inputs, notes=(*samples.notes, note), doubts=doubts)


def _reading(X: Any, options: dict[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Return the options for reading the table itself, with names and answers kept as written."""
    kept = {name: value for name, value in options.items() if name != "embeddings"}
    return kept | {"texts": texts} if isinstance(X, (str, PathLike)) else kept


def _wide(samples: Samples, seen: Samples, columns: Any, where: str) -> Asked:
    import pandas as pd

    if columns.shape[1] == 0:
        raise DataError(f"{where}: expected a column for each annotator")
    parts = [
        pd.Series(columns.iloc[:, at].to_numpy(dtype=object)) for at in range(columns.shape[1])
    ]
    labels = pd.concat(parts, ignore_index=True)
    if all(isinstance(value, str) for value in labels[labels.notna()]):
        labels = as_labels(labels.fillna("").astype(str))
    else:
        typed = labels.infer_objects()
        labels = labels if typed.dtype.kind == "f" else typed  # floats would round integers
    words = [v for v in labels.dropna().unique() if isinstance(v, str) and v.lower() in GAPS]
    if words:
        same, line = seen is samples, f"taken for answers: {shortlist(map(repr, words))}; {EMPTY}"
        samples = replace(samples, doubts=(*samples.doubts, line))
        seen = samples if same else seen
    people = np.repeat([str(name) for name in columns.columns], len(columns))
    of = np.tile(np.arange(len(columns)), columns.shape[1])
    rows = samples.rows or tuple(range(len(samples)))
    return _asked(samples, seen, tuple(rows), of, pd.Series(people), labels, where)


def _asked(
    samples: Samples,
    seen: Samples,
    rows: tuple[int | str, ...],
    of: Codes,
    people: Any,
    labels: Any,
    where: str,
) -> Asked:
    """Number annotators and classes; leave out answers and items that are missing."""
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
