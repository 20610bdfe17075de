"""A test set whose labels are taken to be true: read it, and measure a model on it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noiseproof.errors import DataError, ParameterError
from noiseproof.fitting import evaluate
from noiseproof.fitting.evaluate import Accuracy
from noiseproof.learn.learn import Learned
from noiseproof.noise.clustered import units_of
from noiseproof.prepare.classes import MISSING, Classes, Codes
from noiseproof.prepare.features import Preprocessor, reading
from noiseproof.prepare.groups import Groups, grouped
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples
from noiseproof.prepare.seen import occur_in
from noiseproof.progress import counted

MEASURED = "measured on the test file, whose labels are taken to be true"


@dataclass(frozen=True)
class Test:
    """Accuracy on a test set with true labels.

    Args:
        rows: the number of test rows.
        seen: the number of test rows whose features, or group, also occur in the training set.
        accuracy: the accuracy of the model.
        cross_entropy: the accuracy of the best model trained by plain cross entropy.
        changed: how its columns differ from those of the training set, a line each.
        group: what rows that belong together share; empty where that is not known.
    """

    __test__ = False  # keeps pytest from collecting this class
    rows: int
    seen: int
    accuracy: Accuracy
    cross_entropy: Accuracy
    changed: tuple[str, ...] = ()
    group: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the measurement doubtful, a line each."""
        if not self.seen:
            return self.changed
        same = f"same features or {self.group}" if self.group else "same features"
        return (
            f"{self.seen:,} of {counted(self.rows, 'test row')} also occur among the training rows "
            f"({same}): the accuracy measured on them is optimistic",
            *self.changed,
        )

    @property
    def gain(self) -> float:
        """How much more accurate the model is than plain cross entropy."""
        return self.accuracy.value - self.cross_entropy.value


@dataclass(frozen=True, eq=False)
class TestSet:
    """A test set.

    Args:
        samples: its rows.
        matrix: (M, D) their features.
        codes: (M,) their labels.
        notes: how it was read, a line each.
        changed: those of the notes that make what is measured on it doubtful.
    """

    __test__ = False  # keeps pytest from collecting this class
    samples: Samples
    matrix: Any
    codes: Codes
    notes: tuple[str, ...]
    changed: tuple[str, ...]

    def seen_in(self, samples: Samples, features: Preprocessor, matrix: Any) -> int:
        """Return how many of the rows have the features or the group of a training row."""
        seen = occur_in(features, self.samples, self.matrix, samples, matrix)
        if self.samples.groups is not None and samples.groups is not None:
            seen |= self.samples.groups.known_to(samples.groups)
        return int(seen.sum())

    def measure(self, learned: Learned, seen: int) -> Test:
        """Measure the model and the best plain cross entropy on the same rows."""
        groups = self.samples.groups
        group, units = ("", None) if groups is None else (groups.name, units_of(groups.numbers))
        predicted = (
            one.probabilities(self.matrix).argmax(axis=1)
            for one in (learned.model, learned.baseline)
        )
        ours, plain = (evaluate.measured(p == self.codes, MEASURED, units) for p in predicted)
        return Test(len(self.codes), seen, ours, plain, self.changed, group)


def read_test(
    test: Any,
    y: Any,
    features: Preprocessor,
    classes: Classes,
    strict: bool,
    groups: Groups | None = None,
    **options: Any,
) -> TestSet:
    """Read a test set.

    Args:
        test: a path, or (X, y).
        y: the labels of the training set, or the name of their column.
        features: turns its rows into numbers.
        classes: the classes of the training set.
        strict: whether columns that differ from those of the training set are an error.
        groups: which rows of the training set belong together.
        options: of :func:`~noiseproof.prepare.read.read`, for a path.
    """
    known = reading(features)
    if not isinstance(test, tuple):
        label = y if isinstance(y, str) else None
        if label is not None:  # whether NA is a class beside 0 and 1, the classes know
            known["texts"] = {*known.get("texts", ()), label}
        samples = as_samples(test, label, **options, **known)
    elif len(test) == 2:
        samples = as_samples(*test, **known)
    else:
        raise ParameterError("expected test as (X, y) or as a path")
    where, notes = f"{samples.name} (test)", Notes()
    if groups is not None:
        samples = _grouped(samples, test, groups.name, options)
    codes = classes.codes(samples.labels, where)
    rows = np.flatnonzero(codes != MISSING)
    if len(rows) == 0:
        raise DataError(f"{where}: every label is missing")
    if len(rows) < len(codes):
        samples = samples.take(rows)
    matrix = features.transform(samples, notes)
    if strict and (doubts := (*samples.doubts, *notes.warnings)):
        raise DataError(f"{where}: {'; '.join(doubts)} (--strict)")
    said, changed = (
        tuple(f"{where}: {line}" for line in lines)
        for lines in (
            (*samples.notes, *samples.doubts, *notes.lines),
            (*samples.doubts, *notes.warnings),
        )
    )
    return TestSet(samples, matrix, codes[rows], said, changed)


def _grouped(samples: Samples, test: Any, group: str, options: Mapping[str, Any]) -> Samples:
    """Return test rows with their groups, if a column of the name that training has tells them."""
    table = samples
    if options.get("embeddings") is not None:
        table = as_samples(test, labelled=False, encoding=options.get("encoding"))
    if group and table.kind == "table" and group in table.inputs.columns:
        return grouped(samples, group, table)
    name = f"column {group!r}" if group else "groups"
    note = f"without {name}, rows of a group that was trained on are not counted"
    return replace(samples, notes=(*samples.notes, note))
