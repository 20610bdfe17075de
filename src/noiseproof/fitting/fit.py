"""Fit a model to a user's noisy data: read, prepare, learn, measure."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from noiseproof.errors import DataWarning, ParameterError
from noiseproof.fitting import crowd, evaluate
from noiseproof.fitting.fitted import NOISY, Fitted
from noiseproof.fitting.labels import Labels, settle
from noiseproof.fitting.model import Model
from noiseproof.fitting.options import check_texts, check_together, names
from noiseproof.fitting.page.looks import looks
from noiseproof.fitting.review.before import BeforeAndAfter, compare_with_given
from noiseproof.fitting.review.found_wrong import at_least
from noiseproof.fitting.review.trusted import trusted_rows
from noiseproof.fitting.rows import Rows, read_rows
from noiseproof.fitting.summary import lines
from noiseproof.fitting.tested import TestSet, read_test
from noiseproof.learn.learn import MINUTES, Learned, learn
from noiseproof.learn.options import check as check_learning
from noiseproof.parallel import one_thread
from noiseproof.prepare.features import learn_features
from noiseproof.prepare.inputs import (
    group_name,
    label_name,
    warn_of_another_order,
    warn_of_other_numbers,
)
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.read import check_encoding
from noiseproof.progress import SILENT, Progress

CHECKED = "measured on checked rows, by models chosen and trained without them"


@one_thread()
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
    group: Any = None,
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
    strict: bool = False,
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
            guide the choice of the model and narrow the intervals; 60 rows already help a lot.
        reviewed: the ``reviewed.csv`` that the report's review page exported for these data. Its
            labels are trained on; its random list helps to choose the model and measures it.
        answers: the answers of several annotators instead of y: a DataFrame, either with the
            columns ``item`` (the row of X, from 0), ``annotator`` and ``label``, or with a column
            for each annotator and a row for each row of X; or the names of such columns of X, in
            which ``*`` stands for any text: ``"w1,w2,w*"``.
        annotator: the column of X that says who gave the answer in column y; a row is one answer.
        item: the column of X that says which item a row is about; by default rows with equal
            features are one item.
        group: which rows belong together, such as the photos of one patient: a column of X, or (N,)
            a value for each row. They are never both trained on and held out, and the column is
            not a feature. Rows without a value belong to no other.
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
        strict: whether columns of ``test`` that differ from those of X are an error; otherwise
            they are a warning.
        progress: receives each step.

    >>> import numpy as np
    >>> numbers = np.random.default_rng(0)
    >>> X = numbers.normal(size=(90, 5))
    >>> y = np.where(X[:, 0] > 0, "up", "down")
    >>> fitted = fit(X, y)
    >>> fitted
    Fitted('the data', 90 rows, 2 classes, ensemble)
    >>> fitted.predict([[3, 0, 0, 0, 0], [-3, 0, 0, 0, 0]]).tolist()
    ['up', 'down']
    """
    start = time.perf_counter()
    if not hasattr(progress, "step"):
        raise ParameterError("progress: expected an object like noiseproof.progress.Progress")
    check_together(test, embeddings, test_embeddings, trusted, reviewed, strict)
    check_texts(
        annotator=annotator, item=item, aggregation=aggregation, encoder=encoder, encoding=encoding,
        reviewed=reviewed, embeddings=embeddings, test_embeddings=test_embeddings,
    )  # fmt: skip
    text, losses = names("text", text) or (), names("losses", losses)
    learners = names("learners", learners)
    check_encoding(encoding, X, test)
    y, group = label_name(X, y), group_name(X, group)
    if isinstance(group, str) and isinstance(y, str) and group == y:
        raise ParameterError(f"--group: {group!r} is the column of labels, --label")
    check_learning(learners, losses, search, minutes, folds)

    progress.step("load")
    reading = {
        "embeddings": embeddings, "encoding": encoding, "encoder": encoder, "progress": progress
    }  # fmt: skip
    warn_of_another_order(X, group, "groups")
    asked = crowd.gather(X, y, answers, annotator, item, aggregation, group=group, **reading)
    rows = read_rows(X, y, asked, group, **reading)
    known = None
    if trusted is not None:
        if item is None:
            warn_of_other_numbers(X, "trusted")
        known = trusted_rows(trusted, rows.names, rows.classes)

    treated, filled = Notes(), Notes()
    features = learn_features(
        rows.samples, text, seed, treated, codes=rows.codes, encoder=encoder, progress=progress
    )
    tested = None
    if test is not None:  # before the rest, so that a mistake in it shows at once
        tested = read_test(
            test, y, features, rows.classes, strict, rows.samples.groups,
            embeddings=test_embeddings, encoding=encoding,
        )  # fmt: skip
    matrix = features.transform(rows.samples, filled, progress)
    again = 0 if tested is None else tested.seen_in(rows.samples, features, matrix)
    labels = settle(rows, known, reviewed)
    notes = _say(rows, [*treated.lines, *filled.lines], tested, progress)

    heard = crowd.consult(
        rows.asked, matrix, aggregation, folds, seed, minutes, labels.checked, progress
    )
    labels = labels.after(heard)
    shown = looks(rows.seen, matrix, labels.codes, rows.places, text, rows.folder)
    rows.free()  # only the features are needed from here on
    learned, change = _learn(
        matrix, labels, len(rows.classes), learners=learners, losses=losses, seed=seed,
        names=rows.classes.names, groups=rows.groups, folds=folds, search=search, minutes=minutes,
        progress=progress,
    )  # fmt: skip

    predicted = learned.predicted
    label = y if isinstance(y, str) else ""
    fitted = Fitted(
        model=Model(rows.classes, features, learned.model, label, embeddings is not None),
        learned=learned,
        checked=rows.checked,
        notes=(*notes, *learned.notes),
        rows=rows.names,
        looks=shown,
        fingerprint=rows.fingerprint,
        noisy=evaluate.measured(predicted == labels.codes, NOISY, learned.units),
        cross_entropy=evaluate.measured(learned.plainly == labels.codes, NOISY, learned.units),
        true=evaluate.estimated(predicted, labels.codes, learned.estimate, learned.units),
        checked_rows=None
        if learned.checked is None
        else evaluate.exact(learned.checked, CHECKED, learned.checked_units),
        test=None if tested is None else tested.measure(learned, again),
        seed=seed,
        seconds=time.perf_counter() - start,
        reviewed=None if change is None else change.reviewed,
        change=change,
        crowd=heard,
        doubts=rows.samples.doubts,
    )
    for step, told in groupby(lines(fitted), key=lambda pair: pair[0]):
        progress.step(step)
        for _, line in told:
            progress.say(line)
    return fitted


def _say(
    rows: Rows, treated: Sequence[str], tested: TestSet | None, progress: Progress
) -> tuple[str, ...]:
    """Say how the data were read and treated; return the notes among it."""
    told, changed = ((), ()) if tested is None else (tested.notes, tested.changed)
    notes = tuple(dict.fromkeys((*rows.samples.notes, *rows.samples.doubts, *treated, *told)))
    for line in (rows.checked.line, *rows.checked.warnings, *notes):
        if line not in changed:  # those are told with the measurement
            progress.say(line)
    for line in (*changed, *rows.samples.doubts):
        warnings.warn(line, DataWarning, stacklevel=4)  # past one_thread, at the caller
    return notes


def _learn(
    matrix: Any, labels: Labels, classes: int, **options: Any
) -> tuple[Learned, BeforeAndAfter | None]:
    """Learn from the features; after a review, also say what it changed."""
    options |= labels.options
    decided = labels.reviewed
    random = None if decided is None else decided.random
    learned = learn(matrix, labels.codes, classes, trusted=labels.trusted, random=random, **options)
    if labels.trusted is not None:
        checked, true = labels.trusted
        learned = replace(learned, estimate=at_least(learned.estimate, labels.codes[checked], true))
    if decided is None:
        return learned, None
    if learned.units is not None:
        decided = replace(decided, units=learned.units[decided.rows])
    return learned, compare_with_given(matrix, labels.codes, classes, decided, learned, **options)
