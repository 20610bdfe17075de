"""Answers in the long form: a row is one answer, a column says who gave it."""

from dataclasses import replace
from typing import Any

from noiseproof.errors import DataError, ParameterError
from noiseproof.prepare.answers.asked import Asked, asked, reading
from noiseproof.prepare.answers.items import items, named_items, names, numbered, parted, varies
from noiseproof.prepare.classes import Codes
from noiseproof.prepare.formats.table_files import split_label
from noiseproof.prepare.groups import Groups, grouped
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import shortlist
from noiseproof.progress import counted
from noiseproof.tables.labels import repeated


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
    who = _checked_names(label, annotator, item, group)
    table = as_samples(X, label, **reading(X, options, who))
    where, frame = table.name, table.inputs
    if table.kind != "table":
        raise DataError(f"{where}: --annotator is for a table with columns, this is none")
    for name in who:
        split_label(frame, name, where, alone=True)  # an error if there is no such column
    notes, named = table.notes, [name for name in (group,) if isinstance(name, str)]
    again = [name for name in repeated(frame.columns, *who) if name not in named]
    if again:
        frame = frame.drop(columns=again)
        notes = (*notes, f"left out, {' or '.join(who)} once more: {shortlist(again)}")
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
    if key is None and frame.shape[1] == 0:
        raise DataError(f"{where}: no column tells which item an answer is about; name it: --item")
    groups = table.groups
    of, first = _items(frame, item, key, groups)
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
    if key is None and len(first) > len(frame) / 2:
        counting = numbered(frame) if len(first) == len(frame) else ()
        samples.doubts += counting or parted(frame, people)
    seen = samples
    if isinstance(group, str):  # a review with groups is of the same rows as one without
        known = [name for name in whole.columns if name == group or name in frame.columns]
        seen = replace(samples, inputs=whole[known].iloc[first].reset_index(drop=True))
    if options.get("embeddings") is not None:
        instead = as_samples(X, labelled=False, **options)
        samples = replace(samples, inputs=instead.inputs[first], doubts=instead.doubts)
    return asked(samples, seen, rows, of, people, table.labels, f"{where}, column {label!r}")


def _checked_names(label: Any, annotator: str, item: str | None, group: Any) -> list[str]:
    """Return the columns of annotators and items, after checking that each is for one thing."""
    if not isinstance(label, str):
        raise ParameterError("beside --annotator, expected the name of the column of answers")
    if annotator == label:
        raise ParameterError(f"--annotator: {label!r} is the column of answers, --label")
    if item in (annotator, label):
        raise ParameterError(f"--item: {item!r} is the column of --label or --annotator")
    if isinstance(group, str) and group in (annotator, item):
        raise ParameterError(f"--group: {group!r} is the column of --annotator or --item")
    who = [annotator] if item is None else [annotator, item]
    if again := repeated([label, *who], label):
        raise ParameterError(
            f"{again[0]!r} and {label!r} are two columns of one name, and neither is learnt from; "
            "rename the one that is not the column of answers"
        )
    return who


def _items(frame: Any, item: str | None, key: Any, groups: Groups | None) -> tuple[Codes, Codes]:
    """Return the item of each answer, and the first answer on each item."""
    if key is not None:
        return named_items(key.to_frame(item))
    if groups is not None:  # as one more column, whose name is no text
        frame = frame.copy(deep=False)
        frame[0] = groups.codes
    return items(frame)
