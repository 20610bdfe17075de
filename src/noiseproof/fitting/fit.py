"""Fit a model to a user's noisy data, and collect everything to report about it."""

import time
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from noiseproof.errors import DataError, ParameterError
from noiseproof.fitting import evaluate
from noiseproof.fitting.fitted import NOISY, Fitted, Test
from noiseproof.fitting.model import Model
from noiseproof.fitting.summary import lines
from noiseproof.fitting.trusted import trusted_rows
from noiseproof.learn.learn import MINUTES, Learned, learn
from noiseproof.learn.learn import check as check_learning
from noiseproof.prepare.checks import Checked, check, row_hashes
from noiseproof.prepare.classes import MISSING, Classes, Codes, encode
from noiseproof.prepare.features import Preprocessor, learn_features, reading
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples
from noiseproof.prepare.table_features import TableFeatures
from noiseproof.progress import SILENT, Progress

CHECKED = "measured on checked rows, by models chosen and trained without them"
MEASURED = "measured on the test file, whose labels are taken to be true"
#: How many columns to keep for recognising a row in the report.
SHOWN_COLUMNS = 4


def fit(
    X: Any,
    y: Any = None,
    *,
    text: str | Sequence[str] = (),
    test: Any = None,
    trusted: Any = None,
    embeddings: str | Path | None = None,
    test_embeddings: str | Path | None = None,
    learners: str | Sequence[str] | None = None,
    losses: str | Sequence[str] | None = None,
    search: int = 0,
    minutes: float = MINUTES,
    folds: int = 5,
    seed: int = 0,
    encoding: str | None = None,
    progress: Progress = SILENT,
) -> Fitted:
    """Estimate how noisy the labels are, choose and train a model, and find the wrong rows.

    Args:
        X: numbers (N, d), uint8 images (N, H, W) or (N, C, H, W), a DataFrame; or the path of a
            ``.csv``, ``.tsv``, ``.parquet`` or ``.npz`` file or of a folder of images by class.
        y: (N,) labels of any type, missing ones allowed; or the name of the label column.
        text: columns of free text; other text columns are recognised from their values.
        test: a test set with true labels, as a path or as (X, y).
        trusted: rows of X that a person has checked, drawn at random, and their true labels: a CSV
            file or a DataFrame with the columns ``row`` and ``label``, or (rows, labels). They
            choose the model and make the estimates surer; 60 already do much.
        embeddings: a file of features to use instead of those in the file X.
        test_embeddings: the same for the file ``test``.
        learners: the names of the learners to compare, such as ``"linear"`` and ``"trees"``; by
            default all that suit the data.
        losses: the losses to compare; by default those that suit the noise.
        search: the number of further settings to try with Optuna.
        minutes: the time after which no further setting is started.
        folds: the number of folds.
        seed: seeds everything random.
        encoding: the encoding of a text file; None is UTF-8.
        progress: receives each step.

    >>> numbers = np.random.default_rng(0)
    >>> X = numbers.normal(size=(90, 5))
    >>> y = np.where(X[:, 0] > 0, "up", "down")
    >>> fitted = fit(X, y)
    >>> fitted
    Fitted('the data', 90 rows, 2 classes, linear (loss=CE, decay=0.001, scale=standard))
    >>> fitted.predict([[3, 0, 0, 0, 0], [-3, 0, 0, 0, 0]]).tolist()
    ['up', 'down']
    """
    start = time.perf_counter()
    notes, filled = Notes(), Notes()
    text = [text] if isinstance(text, str) else text
    losses = [losses] if isinstance(losses, str) else losses
    _check_options(test, embeddings, test_embeddings)
    check_learning(learners, losses, search, minutes)
    progress.step("load")
    samples = as_samples(X, y, embeddings=embeddings, encoding=encoding, progress=progress)
    samples, codes, classes, rows, checked = _labelled(samples, y)
    known = None if trusted is None else trusted_rows(trusted, rows, classes)
    features = learn_features(samples, text, seed, notes)
    tested, unfit = None, list[str]()
    if test is not None:
        options = {"embeddings": test_embeddings, "encoding": encoding}
        tested, unfit = _test_set(test, y, features, classes, options)
    matrix = features.transform(samples, filled)
    seen = 0 if tested is None else _seen(samples, matrix, tested)
    said = tuple(dict.fromkeys((*samples.notes, *notes.lines, *filled.lines, *unfit)))
    content = _content(samples, features)
    samples.inputs = None  # frees memory: only the features are needed from here on
    for line in (checked.line, *checked.warnings, *said):
        progress.say(line)
    learned = learn(
        matrix, codes, len(classes), trusted=known, learners=learners, losses=losses,
        names=classes.names,
        seed=seed, folds=folds, search=search, minutes=minutes, progress=progress,
    )  # fmt: skip
    predicted = learned.probabilities.argmax(axis=1)
    label = y if isinstance(y, str) else ""
    fitted = Fitted(
        model=Model(classes, features, learned.model, label, embeddings is not None),
        learned=learned,
        checked=checked,
        notes=(*said, *learned.notes),
        rows=rows,
        content=content,
        noisy=evaluate.measured(predicted == codes, NOISY),
        true=evaluate.estimated(predicted, codes, learned.estimate),
        checked_rows=None if learned.checked is None else evaluate.exact(learned.checked, CHECKED),
        test=None if tested is None else _test(learned, tested, seen),
        seed=seed,
        seconds=time.perf_counter() - start,
    )
    for step, told in groupby(lines(fitted), key=lambda pair: pair[0]):
        progress.step(step)
        for _, line in told:
            progress.say(line)
    return fitted


def _check_options(test: Any, embeddings: Any, test_embeddings: Any) -> None:
    """Raise at once if options do not go together."""
    if test_embeddings is not None and (test is None or embeddings is None):
        raise ParameterError("--test-embeddings: expected both --test and --embeddings beside it")
    if isinstance(test, tuple):
        if test_embeddings is not None:
            raise ParameterError("test_embeddings: expected only if the test set is a path")
    elif test is not None and embeddings is not None and test_embeddings is None:
        raise ParameterError("--test: beside --embeddings it needs --test-embeddings")


def _labelled(
    samples: Samples, y: Any
) -> tuple[Samples, Codes, Classes, tuple[int | str, ...], Checked]:
    """Return the labelled rows, their labels and their names."""
    where = f"{samples.name}, column {y!r}" if isinstance(y, str) else samples.name
    codes, classes = encode(samples.labels, where)
    rows = np.flatnonzero(codes != MISSING)
    unlabelled = len(samples) - len(rows)
    if unlabelled:
        samples, codes = samples.take(rows), codes[rows]
    names = tuple(samples.rows) if samples.rows else tuple(int(row) for row in rows)
    return samples, codes, classes, names, check(samples, codes, classes, unlabelled)


def _content(samples: Samples, features: Preprocessor) -> Any:
    """Return the columns for recognising rows, texts first; None if there is no table."""
    if not isinstance(features, TableFeatures):
        return None
    columns = dict.fromkeys([*features.texts, *samples.inputs.columns])
    return samples.inputs[list(columns)[:SHOWN_COLUMNS]].copy()


class _Tested(NamedTuple):
    """A test set: its raw rows, their features and their labels."""

    samples: Samples
    matrix: Any
    codes: Codes


def _test_set(
    test: Any, y: Any, features: Preprocessor, classes: Classes, options: dict[str, Any]
) -> tuple[_Tested, list[str]]:
    """Return the test set, and notes on what did not match the training data."""
    if isinstance(test, tuple):
        if len(test) != 2:
            raise ParameterError("expected test as (X, y) or as a path")
        samples = as_samples(*test)
    else:
        label = y if isinstance(y, str) else None
        samples = as_samples(test, label, **options, **reading(features))
    where, notes = f"{samples.name} (test)", Notes()
    codes = classes.codes(samples.labels, where)
    rows = np.flatnonzero(codes != MISSING)
    if len(rows) == 0:
        raise DataError(f"{where}: every label is missing")
    if len(rows) < len(codes):
        samples = samples.take(rows)
    matrix = features.transform(samples, notes)
    said = [f"{where}: {line}" for line in (*samples.notes, *notes.lines)]
    return _Tested(samples, matrix, codes[rows]), said


def _seen(samples: Samples, matrix: Any, tested: _Tested) -> int:
    """Return how many test rows have the features of a training row."""
    if samples.kind == tested.samples.kind == "images":
        # Compare pixels: computed features differ in their last bits from batch to batch.
        ours, theirs = row_hashes(samples.inputs), row_hashes(tested.samples.inputs)
    else:
        ours, theirs = row_hashes(matrix), row_hashes(tested.matrix)
    return int(np.isin(theirs, ours).sum())


def _test(learned: Learned, tested: _Tested, seen: int) -> Test:
    """Measure the model and the best plain cross entropy on the same rows."""
    codes = tested.codes
    ours, plain = (
        one.probabilities(tested.matrix).argmax(axis=1) for one in (learned.model, learned.baseline)
    )
    return Test(
        len(codes),
        seen,
        evaluate.measured(ours == codes, MEASURED),
        evaluate.measured(plain == codes, MEASURED),
    )
