"""Gradient boosting with LightGBM, by its own objective or a robust loss."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import softmax

from noiseproof import losses
from noiseproof.errors import ParameterError
from noiseproof.extras import missing, need
from noiseproof.learn.folds import held_together, with_copies
from noiseproof.learn.learner import Floats, Learner, Problem, Shape, Task, Trained
from noiseproof.learn.learners.booster_text import rewritten
from noiseproof.losses.newton import newton
from noiseproof.noise import stream

FILE = "booster.txt"
#: The share of rows held out for early stopping.
HELD_OUT = 0.15
LEAST_HELD_OUT = 10
#: Of fewer rows, each round takes all: of one row, LightGBM would take none and fail.
LEAST_BAGGED = 10
#: Boosting stops after this many rounds without a gain.
PATIENCE = 8
#: Trees in all: with K classes a round grows K of them.
MOST_TREES = 1000
MOST_COLUMNS = 1500
#: Words of texts: most of them are too rare to split by, and cost nothing.
MOST_SPARSE = 100_000
#: LightGBM's text of a model names every column; more are not written, nor believed in a file.
MOST_NAMED = 1_000_000
#: With at most so many numbers, a model keeps its rows: to part with them takes longer.
LARGE = 10**6


class BoostingModel(Trained):
    """A LightGBM model.

    Args:
        booster: LightGBM's model.
        classes: (k,) the classes that it knows, of K.
        total: K.
        columns: D.
        rounds: how many rounds to use; None is all of them. LightGBM forgets it in a copy.
    """

    learner = "boosting"

    def __init__(
        self,
        booster: Any,
        classes: Sequence[int],
        total: int,
        columns: int,
        rounds: int | None = None,
    ) -> None:
        self.booster, self.classes, self.total, self.columns = booster, classes, total, columns
        self.rounds = rounds

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of features and of classes, (D, K)."""
        return self.columns, self.total

    def probabilities(self, X: Any) -> Floats:
        """Return (N, K)."""
        if sparse.issparse(X):
            X = sparse.csr_matrix(X)  # LightGBM does not know scipy's sparse arrays
        raw = self.booster.predict(
            X, raw_score=True, num_iteration=self.rounds, num_threads=1, validate_features=False
        )
        out = np.zeros((X.shape[0], self.total), dtype=np.float32)
        out[:, self.classes] = softmax(np.reshape(raw, (X.shape[0], -1)), axis=1)
        return out

    def save(self, folder: Path) -> None:
        """Write a line with the classes, then LightGBM's own text."""
        known = " ".join(map(str, self.classes))
        head = f"{self.total} {self.columns} {known}\n"
        text = self.booster.model_to_string(num_iteration=self.rounds)
        text = rewritten(text, self.columns, len(self.classes))
        (folder / FILE).write_text(head + text, encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what :meth:`save` wrote."""
        head, _, text = (folder / FILE).read_text(encoding="utf-8").partition("\n")
        total, columns, *classes = (int(word) for word in head.split())
        if not classes or max(classes) >= total or min(classes) < 0:
            raise ValueError("expected classes that exist")
        if len(set(classes)) < len(classes) or not 0 < columns <= MOST_NAMED:
            raise ValueError("expected different classes and some columns")
        return cls(_of_text(rewritten(text, columns, len(classes))), classes, total, columns)


@dataclass(frozen=True)
class Boosting(Learner):
    """Boosted trees, stopped when the prediction of held-out labels no longer improves.

    Args:
        loss: the loss to minimise, as text; ``"CE"`` is LightGBM's own objective.
        leaves: the number of leaves of each tree.
        rate: the learning rate.
    """

    name: ClassVar[str] = "boosting"
    trained: ClassVar[type[Trained]] = BoostingModel
    averaged: ClassVar[bool] = True
    slow: ClassVar[bool] = True

    loss: str = "CE"
    leaves: int = 15
    rate: float = 0.1

    @classmethod
    def missing(cls) -> str | None:
        """Return the extra with LightGBM if it is not installed."""
        return "boosting" if missing("lightgbm") else None

    @classmethod
    def check(cls, shape: Shape) -> None:
        """Raise ParameterError where there are more columns than a model can be written with."""
        super().check(shape)
        if shape.columns > MOST_NAMED:
            raise ParameterError(
                f"{cls.name} reads at most {MOST_NAMED:,} columns, and there are "
                f"{shape.columns:,}; choose another learner"
            )

    @classmethod
    def suits(cls, shape: Shape) -> bool:
        """Return whether there are enough rows, and not too many columns or classes."""
        most = MOST_SPARSE if shape.sparse else MOST_COLUMNS
        return shape.rows >= 200 and shape.columns <= most and shape.classes <= 100

    @classmethod
    def first(cls, shape: Shape) -> Sequence[Self]:
        """Return LightGBM's own objective; robust ones come with the losses that suit the noise."""
        return [cls()]

    @classmethod
    def train(cls, problem: Problem, tasks: Sequence[Task]) -> list[Trained]:
        """Train a boosted model for each task."""
        return [_boost(problem, task) for task in tasks]


def _of_text(text: str) -> Any:
    need("boosting", "lightgbm")
    import lightgbm

    return lightgbm.Booster(model_str=text)


def _boost(problem: Problem, task: Task) -> Trained:
    need("boosting", "lightgbm")
    import lightgbm

    learner, rows = task.learner, task.rows(problem)
    assert isinstance(learner, Boosting)
    own = learner.by_cross_entropy
    known, labels = np.unique(rows.labels, return_inverse=True)
    if len(known) == 1:  # LightGBM needs two classes: add one without rows
        known = np.array([known[0], (known[0] + 1) % problem.classes])
    X = problem.features
    drawn = stream(problem.seed, f"boosting {task.start}").random(X.shape[0])
    inside = _held_out(with_copies(drawn, held_together(problem))[rows.at])
    stopping = inside if inside.sum() >= LEAST_HELD_OUT else np.ones_like(inside)
    if stopping is not inside:
        inside = ~stopping  # too few rows to hold any out: train on all of them
    seed = int(stream(problem.seed, f"boosting trees {task.start}").integers(2**31))
    few = int((~inside).sum()) < LEAST_BAGGED
    parameters: dict[str, Any] = {
        "num_class": len(known), "num_leaves": learner.leaves, "learning_rate": learner.rate,
        "min_child_samples": 20, "feature_fraction": 0.7, "bagging_fraction": 1.0 if few else 0.8,
        "bagging_freq": 1, "max_bin": 63, "seed": seed, "num_threads": 1, "verbosity": -1,
        "deterministic": True, "force_row_wise": True, "metric": "none",
        "objective": "multiclass",
    }  # fmt: skip

    def data(part: Any, reference: Any = None) -> Any:
        return lightgbm.Dataset(
            X[rows.at[part]], labels[part], weight=rows.weights[part], reference=reference,
            params=dict(parameters), free_raw_data=True,
        )  # fmt: skip

    def error(raw: Any, dataset: Any) -> tuple[str, float, bool]:
        p = raw if own else softmax(np.reshape(raw, (-1, len(known))), axis=1)
        given = dataset.get_label().astype(np.int64)
        u = np.reshape(p, (len(given), -1))[np.arange(len(given)), given]
        # Use GCE's bounded 1 - u^0.7, so that a few wrong labels do not stop the training.
        return "held out", float(np.average(1 - u**0.7, weights=dataset.get_weight())), False

    train = data(~inside).construct()
    # A loss of our own needs a column to split on; LightGBM's model without one is the shares.
    own = own or not any(train.feature_num_bin(column) for column in range(X.shape[1]))
    if not own:
        parameters["objective"] = _Robust(learner.loss, labels[~inside])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning, module="lightgbm")  # only its own
        booster = lightgbm.train(
            parameters, train, max(10, MOST_TREES // len(known)),
            valid_sets=[data(stopping, train)], feval=error,
            callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
            keep_training_booster=True,
        )  # fmt: skip
    rounds = int(booster.best_iteration) if booster.best_iteration > 0 else None
    if X.shape[0] * X.shape[1] > LARGE:  # do not keep the rows
        booster, rounds = _of_text(booster.model_to_string(num_iteration=rounds)), None
    return BoostingModel(booster, known.tolist(), problem.classes, X.shape[1], rounds)


def _held_out(drawn: Any) -> Any:
    """Return which rows to hold out by the numbers drawn for them, which a group shares."""
    inside = drawn < HELD_OUT
    if inside.sum() < LEAST_HELD_OUT:  # few groups, or few rows
        inside = drawn <= np.sort(drawn)[:LEAST_HELD_OUT][-1]
    return ~inside if inside.mean() > 0.5 else inside


class _Robust:
    """A loss as an objective of LightGBM."""

    def __init__(self, loss: str, labels: Any) -> None:
        self.loss, self.labels = losses.loss(loss), labels

    def __call__(self, raw: Any, dataset: Any) -> tuple[Any, Any]:
        scores = np.reshape(raw, (len(self.labels), -1))
        return newton(self.loss, scores, self.labels, dataset.get_weight())
