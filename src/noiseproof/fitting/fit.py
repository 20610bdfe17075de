"""From a user's noisy data to a model, and to what there is to say about it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import DataError, ParameterError
from noiseproof.extras import need
from noiseproof.fitting import evaluate
from noiseproof.fitting.evaluate import Accuracy
from noiseproof.fitting.model import Model
from noiseproof.fitting.summary import lines, summarise
from noiseproof.learn.learn import Learned, learn
from noiseproof.learn.matrix import Matrix
from noiseproof.noise import EstimatedTransition, estimate
from noiseproof.prepare.checks import Checked, check, row_hashes
from noiseproof.prepare.classes import MISSING, Classes, Codes, encode
from noiseproof.prepare.features import Preprocessor, learn_features, reading
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples
from noiseproof.prepare.table_features import TableFeatures

MEASURED = "measured on the test file, whose labels are taken to be true"
#: Columns kept to know a row by.
SHOWN_COLUMNS = 4
NOISY = "held-out noisy labels; 95 % interval"


class Watcher(Protocol):
    """Hears of the steps of a fit."""

    #: Whether reading a large file shows a bar.
    shown: bool

    def say(self, step: str, line: str) -> None:
        """Hear a line of result of a step: load, estimate, choose, train, evaluate."""

    def progress(self, what: str, done: int, total: int) -> None:
        """Hear how much of something is done."""


class Nobody:
    """Hears and does nothing."""

    shown = False

    def say(self, step: str, line: str) -> None:
        """Let a line pass."""

    def progress(self, what: str, done: int, total: int) -> None:
        """Let progress pass."""


@dataclass(frozen=True)
class Test:
    """Accuracy on a test set with true labels.

    Args:
        rows: of the test set.
        seen: how many of them the model was trained on too, by their features.
        accuracy: of the model.
        cross_entropy: of the same head trained with CE.
    """

    __test__ = False  # not a test of pytest's
    rows: int
    seen: int
    accuracy: Accuracy
    cross_entropy: Accuracy

    @property
    def warning(self) -> str | None:
        """What is to be said where rows are among those of the training set; else None."""
        if not self.seen:
            return None
        return (
            f"{self.seen:,} of {self.rows:,} test rows also occur among the training rows (same "
            "features): the accuracy measured on them is optimistic"
        )

    @property
    def gain(self) -> float:
        """How much better than CE."""
        return self.accuracy.value - self.cross_entropy.value


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """A model and all that was found on the way to it.

    Args:
        model: what predicts.
        checked: what was found in the data.
        estimate: of the noise, with the names of the classes.
        notes: what was done to the columns, a line each.
        rows: what to call each row that was learnt from.
        content: a few of their columns, to know them by; None where there is no table.
        noisy: accuracy on held-out noisy labels.
        true: the estimate of the accuracy on true labels.
        test: accuracy on a test set; None where there is none.
        seed: of everything drawn.
        seconds: it took.
    """

    model: Model
    checked: Checked
    estimate: EstimatedTransition
    notes: tuple[str, ...]
    rows: tuple[int | str, ...]
    content: Any
    noisy: Accuracy
    true: Accuracy
    test: Test | None
    seed: int
    seconds: float

    def __repr__(self) -> str:
        return (
            f"Fitted({self.checked.name!r}, {self.checked.rows} rows, "
            f"{len(self.model.classes)} classes, {self.recipe})"
        )

    @property
    def classes(self) -> NDArray[Any]:
        """The labels of the classes, as they came."""
        return self.model.classes.values

    @property
    def learned(self) -> Learned:
        """The choice, the estimate of the noise, the comparison."""
        return self.model.learned

    @property
    def loss(self) -> str:
        """The loss that was chosen."""
        return self.learned.loss

    @property
    def recipe(self) -> str:
        """The loss, and what was done about doubtful labels where anything was."""
        treatment = self.learned.treatment
        return self.loss + (f", {treatment}" if treatment != "none" else "")

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class of each row."""
        return np.asarray(self.classes[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Return (N, K) the probability of each of :attr:`classes`."""
        return self.model.probabilities(as_samples(X, labelled=False))

    @cached_property
    def suspects(self) -> Any:
        """A DataFrame of the rows whose label is probably wrong, the most doubtful first."""
        import pandas as pd

        found = self.learned.suspects()
        return pd.DataFrame(
            {
                "row": [self.rows[at] for at in found.rows],
                "given_label": self.classes[self.learned.labels[found.rows]],
                "proposed_label": self.classes[found.proposed],
                "confidence": np.round(found.confidence, 4),
            }
        )

    @property
    def cross_entropy(self) -> Accuracy:
        """Accuracy of CE on held-out noisy labels."""
        plain = [c for c in self.learned.comparison if c.loss == "CE" and c.treatment == "none"]
        if not plain or self.loss_is_plain:
            return self.noisy
        value, error = plain[0].noisy_accuracy, 1.96 * plain[0].standard_error
        return Accuracy(value, value - error, value + error, NOISY)

    @property
    def loss_is_plain(self) -> bool:
        """Whether CE itself was chosen, nothing done about doubtful labels."""
        return self.loss == "CE" and self.learned.treatment == "none"

    @property
    def gain(self) -> float:
        """How much better than CE on held-out noisy labels."""
        return self.noisy.value - self.cross_entropy.value

    @property
    def true_gain(self) -> float:
        """About how much better than CE on true labels."""
        return evaluate.gain_on_true(self.gain, self.estimate, self.estimate.prior)

    @property
    def report(self) -> str:
        """The report, an HTML page that needs nothing else."""
        from noiseproof.fitting.page import fit_page

        return fit_page(self)

    @property
    def summary(self) -> dict[str, Any]:
        """All that was found, as JSON can hold it."""
        return summarise(self)

    def save(self, folder: str | Path, force: bool = False) -> Path:
        """Write model, report, suspect rows and summary into a new folder, all or nothing.

        Args:
            folder: must not exist yet.
            force: replace a folder that an earlier fit wrote.
        """
        from noiseproof.fitting.output import write

        return write(self, Path(folder), force)


def fit(
    X: Any,
    y: Any = None,
    *,
    text: str | Sequence[str] = (),
    test: Any = None,
    embeddings: str | Path | None = None,
    test_embeddings: str | Path | None = None,
    losses: str | Sequence[str] | None = None,
    search: int = 0,
    folds: int = 5,
    seed: int = 0,
    encoding: str | None = None,
    watch: Watcher | None = None,
) -> Fitted:
    """Find out how noisy labels are, choose a loss, train, and say which rows are wrong.

    Args:
        X: (N, d) numbers, uint8 images (N, H, W), (N, C, H, W), a DataFrame; or the path of a
            ``.csv``, ``.tsv``, ``.parquet``, ``.npz`` or of a folder of images by class.
        y: (N,) labels of any type, missing ones allowed; or the name of the column of labels.
        text: columns that hold free text; others are found by their looks.
        test: true labels to test on, as a path or as (X, y).
        embeddings: a file of features to use instead of those of the path X.
        test_embeddings: the same for the path ``test``.
        losses: what to compare; by default what suits the noise.
        search: how many further settings to try.
        folds: in how many parts rows are held out.
        seed: of everything drawn.
        encoding: of a text file; None is UTF-8.
        watch: hears of each step.

    >>> numbers = np.random.default_rng(0)
    >>> X = numbers.normal(size=(90, 5))
    >>> y = np.where(X[:, 0] > 0, "up", "down")
    >>> fitted = fit(X, y)
    >>> fitted
    Fitted('the data', 90 rows, 2 classes, CE)
    >>> fitted.predict([[3, 0, 0, 0, 0], [-3, 0, 0, 0, 0]]).tolist()
    ['up', 'down']
    """
    start = time.perf_counter()
    watch, notes, filled = watch or Nobody(), Notes(), Notes()
    text = [text] if isinstance(text, str) else text
    losses = [losses] if isinstance(losses, str) else losses
    _check_options(test, embeddings, test_embeddings, losses, search)
    samples = as_samples(X, y, embeddings=embeddings, encoding=encoding)
    samples, codes, classes, rows, checked = _labelled(samples, y)
    features = learn_features(samples, text, seed, notes)
    tested, unfit = None, list[str]()
    if test is not None:
        options = {"embeddings": test_embeddings, "encoding": encoding}
        tested, unfit = _test_set(test, y, features, classes, options)
    matrix = features.transform(samples, filled)
    seen = 0 if tested is None else _seen(samples, matrix, tested)
    said = tuple(dict.fromkeys((*samples.notes, *notes.lines, *filled.lines, *unfit)))
    content = _content(samples, features)
    samples.inputs = None  # of a file, the features are all that is wanted from here on
    for line in (checked.line, *checked.warnings, *said):
        watch.say("load", line)
    learned = learn(
        matrix, codes, len(classes), losses=losses, seed=seed, folds=folds, search=search,
        watch=watch.progress,
    )  # fmt: skip
    noise = estimate(codes, learned.probabilities, classes.names)
    predicted = learned.probabilities.argmax(axis=1)
    fitted = Fitted(
        Model(classes, features, learned, y if isinstance(y, str) else "", embeddings is not None),
        checked,
        noise,
        said,
        rows,
        content,
        evaluate.measured(predicted == codes, NOISY),
        evaluate.estimated(predicted, codes, noise),
        None if tested is None else _test(learned, tested, seen),
        seed,
        time.perf_counter() - start,
    )
    for step, line in lines(fitted):
        watch.say(step, line)
    return fitted


def _check_options(
    test: Any, embeddings: Any, test_embeddings: Any, losses: Sequence[str] | None, search: int
) -> None:
    """Say at once which options do not go together, or are none."""
    if test_embeddings is not None and (test is None or embeddings is None):
        raise ParameterError("--test-embeddings: expected both --test and --embeddings beside it")
    if isinstance(test, tuple):
        if test_embeddings is not None:
            raise ParameterError("expected test_embeddings beside the path of a test set alone")
    elif test is not None and embeddings is not None and test_embeddings is None:
        raise ParameterError("--test: beside --embeddings it needs --test-embeddings")
    if losses is not None and len(losses) == 0:
        raise ParameterError("losses: expected one at least; None takes those that suit the noise")
    if search < 0:
        raise ParameterError(f"search: expected 0 or more further settings, got {search}")
    if search > 0:
        need("search", "optuna")  # now, and not after all that comes before the search


def _labelled(
    samples: Samples, y: Any
) -> tuple[Samples, Codes, Classes, tuple[int | str, ...], Checked]:
    """Return the rows that have a label, their labels, and what to call them."""
    where = f"{samples.name}, column {y!r}" if isinstance(y, str) else samples.name
    codes, classes = encode(samples.labels, where)
    rows = np.flatnonzero(codes != MISSING)
    unlabelled = len(samples) - len(rows)
    if unlabelled:
        samples, codes = samples.take(rows), codes[rows]
    names = tuple(samples.rows) if samples.rows else tuple(int(row) for row in rows)
    return samples, codes, classes, names, check(samples, codes, classes, unlabelled)


def _content(samples: Samples, features: Preprocessor) -> Any:
    """Return the columns to know rows by, texts first; None where there is no table."""
    if not isinstance(features, TableFeatures):
        return None
    columns = dict.fromkeys([*features.texts, *samples.inputs.columns])
    return samples.inputs[list(columns)[:SHOWN_COLUMNS]].copy()


class _Tested(NamedTuple):
    """A test set: its rows as they came, their features and labels."""

    samples: Samples
    matrix: Any
    codes: Codes


def _test_set(
    test: Any, y: Any, features: Preprocessor, classes: Classes, options: dict[str, Any]
) -> tuple[_Tested, list[str]]:
    """Return a test set, and what of it did not fit."""
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
    """Return how many rows of a test set are among those to learn from, as the model sees them."""
    if samples.kind == tested.samples.kind == "images":
        # What is computed of an image differs in its last bits from one batch to the next.
        ours, theirs = row_hashes(samples.inputs), row_hashes(tested.samples.inputs)
    else:
        ours, theirs = row_hashes(matrix), row_hashes(tested.matrix)
    return int(np.isin(theirs, ours).sum())


def _test(learned: Learned, tested: _Tested, seen: int) -> Test:
    """Measure the model and, on the same rows and with the same kind of head, CE."""
    matrix, codes = Matrix(tested.matrix, learned.heads.scaling), tested.codes
    ours, plain = (heads.mean(matrix).argmax(axis=1) for heads in (learned.heads, learned.baseline))
    return Test(
        len(codes),
        seen,
        evaluate.measured(ours == codes, MEASURED),
        evaluate.measured(plain == codes, MEASURED),
    )
