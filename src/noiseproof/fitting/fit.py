"""Fit a model to a user's noisy data, and collect everything to report about it."""

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from noiseproof.errors import DataError, ParameterError
from noiseproof.fitting import crowd, evaluate
from noiseproof.fitting.before import compare_with_given
from noiseproof.fitting.fitted import NOISY, Fitted, Test
from noiseproof.fitting.looks import as_seen, looks, picture_folder
from noiseproof.fitting.model import Model
from noiseproof.fitting.reviewed import fingerprint, match
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
from noiseproof.progress import SILENT, Progress

CHECKED = "measured on checked rows, by models chosen and trained without them"
MEASURED = "measured on the test file, whose labels are taken to be true"


def fit(
    X: Any,
    y: Any = None,
    *,
    text: str | Sequence[str] = (),
    test: Any = None,
    trusted: Any = None,
    reviewed: str | Path | None = None,
    answers: Any = None,
    annotator: str | None = None,
    item: str | None = None,
    aggregation: str = crowd.FEATURES,
    embeddings: str | Path | None = None,
    test_embeddings: str | Path | None = None,
    encoder: str = "auto",
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
        reviewed: the ``reviewed.csv`` that the report's review page exported for these data. Its
            labels are trained on, its random list chooses the model and measures it.
        answers: the answers of several annotators instead of y: a DataFrame, either with the
            columns ``item`` (the row of X, from 0), ``annotator`` and ``label``, or with a column
            for each annotator and a row for each row of X; or the names of such columns of X, in
            which ``*`` stands for any text: ``"w1,w2,w*"``.
        annotator: the column of X that says who gave the answer in column y; a row is one answer.
        item: the column of X that says which item a row is about; by default rows with equal
            features are one item.
        aggregation: how to agree on labels: ``"features"``, by answers and features together, or
            by the answers alone as crowd-kit does: ``"majority"``, ``"dawid-skene"``,
            ``"one-coin"``, ``"glad"``, ``"mace"``.
        embeddings: a file of features to use instead of those in the file X.
        test_embeddings: the same for the file ``test``.
        encoder: what turns pictures or texts into features: a model on Hugging Face or a folder of
            one, an ``.onnx`` file, ``"efficientnet-lite0"``, ``"patches"``, ``"tfidf"``, or
            ``"auto"``, the best that is installed (docs/encoders.md).
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
    _check_options(test, embeddings, test_embeddings, trusted, reviewed)
    check_learning(learners, losses, search, minutes)
    progress.step("load")
    reads: dict[str, Any] = {
        "embeddings": embeddings, "encoding": encoding, "encoder": encoder, "progress": progress,
    }  # fmt: skip
    asked = crowd.gather(X, y, answers, annotator, item, aggregation, **reads)
    if asked is None:
        samples = as_samples(X, y, **reads)
        folder = picture_folder(X, samples)
        seen = as_seen(samples, X, y, embeddings, encoding)
        own = fingerprint(seen, len(samples), folder)
        samples, codes, classes, places, checked = _labelled(samples, y)
        rows: Any = tuple(samples.rows) if samples.rows else tuple(places.tolist())
    else:
        samples, seen, rows, classes = asked.samples, asked.seen, asked.rows, asked.classes
        folder = None if seen.kind == "table" else picture_folder(X, samples)
        own = fingerprint(seen, len(samples), folder)
        codes, places, checked = crowd.check_items(asked)
    known: Any = None if trusted is None else trusted_rows(trusted, rows, classes)
    features = learn_features(
        samples, text, seed, notes, codes=codes, encoder=encoder, progress=progress
    )
    tested, unfit = None, list[str]()
    if test is not None:
        options = {"embeddings": test_embeddings, "encoding": encoding}
        tested, unfit = _test_set(test, y, features, classes, options)
    matrix = features.transform(samples, filled, progress)
    again = 0 if tested is None else _seen(samples, matrix, tested)
    said = tuple(dict.fromkeys((*samples.notes, *notes.lines, *filled.lines, *unfit)))
    for line in (checked.line, *checked.warnings, *said):
        progress.say(line)
    heard = crowd.consult(asked, matrix, aggregation, folds, seed, minutes, progress)
    if heard is not None:
        codes = heard.labels
    random = decided = None
    if reviewed is not None:
        decided = match(reviewed, rows, codes, classes, samples.name, own)
        codes, known, random = decided.as_given(codes), decided.trusted, decided.random
    shown = looks(seen, matrix, codes, places, text, folder)
    seen = samples.inputs = None  # frees memory: only the features are needed from here on
    how: dict[str, Any] = {
        "learners": learners, "losses": losses, "names": classes.names, "seed": seed,
        "folds": folds, "search": search, "minutes": minutes, "progress": progress,
    }  # fmt: skip
    if heard is not None:
        how |= {"soft": heard.soft, "judge": heard.judge}
    learned = learn(matrix, codes, len(classes), trusted=known, random=random, **how)
    change = None
    if decided is not None:
        learned = replace(learned, estimate=decided.informed(learned))
        change = compare_with_given(matrix, codes, len(classes), decided, learned, **how)
    predicted = learned.probabilities.argmax(axis=1)
    right = predicted == codes if heard is None else heard.right(predicted)
    label = y if isinstance(y, str) else ""
    fitted = Fitted(
        model=Model(classes, features, learned.model, label, embeddings is not None),
        learned=learned,
        checked=checked,
        notes=(*said, *learned.notes),
        rows=rows,
        looks=shown,
        fingerprint=own,
        noisy=evaluate.measured(right, NOISY),
        true=evaluate.estimated(predicted, codes, learned.estimate),
        checked_rows=None if learned.checked is None else evaluate.exact(learned.checked, CHECKED),
        test=None if tested is None else _test(learned, tested, again),
        seed=seed,
        seconds=time.perf_counter() - start,
        reviewed=decided,
        change=change,
        crowd=heard,
    )
    for step, told in groupby(lines(fitted), key=lambda pair: pair[0]):
        progress.step(step)
        for _, line in told:
            progress.say(line)
    return fitted


def _check_options(
    test: Any, embeddings: Any, test_embeddings: Any, trusted: Any, reviewed: Any
) -> None:
    """Raise at once if options do not go together."""
    if trusted is not None and reviewed is not None:
        raise ParameterError("--trusted: give it or --reviewed, not both")
    if test_embeddings is not None and (test is None or embeddings is None):
        raise ParameterError("--test-embeddings: expected both --test and --embeddings beside it")
    if isinstance(test, tuple):
        if test_embeddings is not None:
            raise ParameterError("test_embeddings: expected only if the test set is a path")
    elif test is not None and embeddings is not None and test_embeddings is None:
        raise ParameterError("--test: beside --embeddings it needs --test-embeddings")


def _labelled(samples: Samples, y: Any) -> tuple[Samples, Codes, Classes, Codes, Checked]:
    """Return the labelled rows, their labels, and which of all rows they are."""
    where = f"{samples.name}, column {y!r}" if isinstance(y, str) else samples.name
    codes, classes = encode(samples.labels, where)
    rows = np.flatnonzero(codes != MISSING)
    unlabelled = len(samples) - len(rows)
    if unlabelled:
        samples, codes = samples.take(rows), codes[rows]
    return samples, codes, classes, rows, check(samples, codes, classes, unlabelled)


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
        samples = as_samples(*test, **reading(features))
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
