"""The protocol of a learner: a dataclass whose fields are its settings; subclassing registers it.

Comparison, treatments, ensemble, model files, report and tests know learners only through this
file, and walk :data:`registry`. To add a learner, write one file that defines

    class Nearest(Learner):          settings, :meth:`~Learner.suits`, :meth:`~Learner.first`
        def train(...)               rows with soft labels and weights to something Trained

and add one line to ``learners.py``.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noiseproof import losses
from noiseproof.errors import ParameterError
from noiseproof.learn.matrix import Matrix, Scale, Scaling
from noiseproof.learn.review import Review

Floats = NDArray[np.floating[Any]]
Labels = NDArray[np.int64]

#: More probabilities than this take up 400 MB.
VAST = 10**8
#: More multiplications than this in one pass over the rows make hundreds of passes too slow.
MOST_WORK = 3 * 10**9

#: All learners by name, in the order of definition.
registry: dict[str, type["Learner"]] = {}


@dataclass(frozen=True)
class Shape:
    """The size of the data, by which a learner says whether it is worth trying.

    Args:
        rows: N.
        columns: D.
        classes: K.
        sparse: whether the features are sparse.
    """

    rows: int
    columns: int
    classes: int
    sparse: bool

    @property
    def is_quick(self) -> bool:
        """Whether a linear model can pass over the rows some hundred times: N·D·K is not large."""
        return self.rows * self.columns * self.classes <= MOST_WORK

    @property
    def is_vast(self) -> bool:
        """Whether N·K probabilities are so many that only one set of them can be kept."""
        return self.rows * self.classes > VAST


@dataclass(frozen=True, eq=False)
class Problem:
    """The rows that every task of a comparison shares.

    Args:
        features: (N, D) dense float32 or scipy-sparse CSR.
        labels: (N,) the labels, 0 to K-1: the true ones of checked rows, else those given.
        classes: K.
        weights: (N,) how much each row counts; kept so that those above 0 have a mean of 1, because
            pseudo-counts and the least weight of a leaf are in units of a row.
        seed: seeds everything random.
        soft: (N, K) class probabilities to learn instead of the labels.
        judge: (N, K) class probabilities to judge held-out predictions by instead of the labels.
        review: the checked rows; None if there are none.
        copies: (N,) a number for each row, equal for copies of one case and for rows of one group:
            they are held out together, by a learner too. None: rows of equal features are copies.
    """

    features: Any
    labels: Labels
    classes: int
    weights: Floats
    seed: int = 0
    soft: Floats | None = None
    judge: Floats | None = None
    review: Review | None = None
    copies: Labels | None = None

    def __post_init__(self) -> None:
        if sparse.issparse(self.features):  # a matrix: LightGBM does not read scipy's arrays
            object.__setattr__(self, "features", sparse.csr_matrix(self.features))
        each = np.asarray(self.weights, dtype=np.float64)
        each = each / max(each.max(initial=0), 1e-300)
        object.__setattr__(self, "weights", (each / _mean(each[each > 0])).astype(np.float32))
        object.__setattr__(self, "_matrices", {})
        object.__setattr__(self, "_lock", threading.Lock())

    @property
    def shape(self) -> Shape:
        """The size of the data."""
        rows, columns = self.features.shape
        return Shape(rows, columns, self.classes, bool(sparse.issparse(self.features)))

    def right(self, predicted: Labels) -> NDArray[np.float64]:
        """Return (N,): whether predicted classes are the labels, or how likely they are right."""
        if self.judge is None:
            return np.asarray(predicted == self.labels, dtype=np.float64)
        return np.asarray(self.judge[np.arange(len(predicted)), predicted], dtype=np.float64)

    @property
    def known(self) -> NDArray[np.bool_]:
        """(N,) whether the label of a row was checked."""
        if self.review is None:
            return np.zeros(len(self.labels), dtype=bool)
        return self.review.known

    def matrix(self, scale: Scale) -> Matrix:
        """Return the scaled features; they are computed once and shared by all tasks."""
        made: dict[str, Matrix] = self._matrices  # type: ignore[attr-defined]
        with self._lock:  # type: ignore[attr-defined]
            if scale not in made:
                made[scale] = Matrix(self.features, Scaling.of(self.features, scale, self.weights))
            return made[scale]

    def forget(self) -> None:
        """Free the scaled features; they are computed again when they are needed."""
        self._matrices.clear()  # type: ignore[attr-defined]


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 1.0


@dataclass(frozen=True, eq=False)
class Task:
    """One model to train.

    Args:
        learner: the learner with its settings.
        weights: (N,) how much each row counts; rows of weight 0 are left out.
        targets: (N, K) class probabilities to learn instead of the labels.
        transition: (K, K) noise that the model's probabilities pass through before the loss; only
            for learners with ``takes_noise``.
        start: the number of the random start.
    """

    learner: "Learner"
    weights: Floats
    targets: Floats | None = None
    transition: NDArray[np.float64] | None = None
    start: int = 0

    def rows(self, problem: Problem) -> "Rows":
        """Return the rows that count, with one class and one weight each.

        A row with a soft label becomes one copy for each class with a part of the label, or for
        the likeliest class where all parts are small.
        """
        if self.targets is None:
            at = np.flatnonzero(self.weights > 0)
            return Rows(at, problem.labels[at], np.asarray(self.weights[at], dtype=np.float64))
        parts = np.asarray(self.targets, dtype=np.float64) * self.weights[:, None]
        kept = parts > LEAST_PART * self.weights[:, None]
        flat = np.flatnonzero((self.weights > 0) & ~kept.any(axis=1))
        kept[flat, parts[flat].argmax(axis=1)] = True
        at, labels = np.nonzero(kept)
        return Rows(at, labels.astype(np.int64), parts[at, labels])

    def soft(self, problem: Problem, rows: Labels | None = None) -> Floats:
        """Return the labels as probabilities (N, K), or those of some rows."""
        at = slice(None) if rows is None else rows
        if self.targets is not None:
            return np.asarray(self.targets)[at]
        labels = problem.labels[at]
        out = np.zeros((len(labels), problem.classes), dtype=np.float32)
        out[np.arange(len(labels)), labels] = 1
        return out


#: Parts of a soft label below this are dropped where rows are copied.
LEAST_PART = 0.02


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to train on; ``at`` may contain a row several times, each with a different label."""

    at: NDArray[np.int64]
    labels: Labels
    weights: NDArray[np.float64]


class Trained(ABC):
    """A trained model: it maps features to class probabilities, and can be saved in a folder."""

    #: The name of the learner that trained it.
    learner: ClassVar[str]

    @abstractmethod
    def probabilities(self, X: Any) -> Floats:
        """Return float32 (N, K), rows summing to 1, for features in the form of the training."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the model into an empty folder, as data whose loading runs no code."""

    @classmethod
    @abstractmethod
    def load(cls, folder: Path) -> Self:
        """Read what :meth:`save` wrote; raise ValueError if the parts do not fit together."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, int]:
        """The number of features and of classes, (D, K)."""


@dataclass(frozen=True)
class Learner:
    """A way of learning; an instance is one setting of it."""

    #: Its name in reports and model files.
    name: ClassVar[str] = ""
    #: The class of its trained models.
    trained: ClassVar[type[Trained]]
    #: Whether a task may have a ``transition``.
    takes_noise: ClassVar[bool] = False
    #: Whether it cannot read sparse features.
    dense_only: ClassVar[bool] = False
    #: Whether to keep the mean of the folds' models, which suits learners that would memorise
    #: wrong labels. Otherwise one model is trained on all rows.
    averaged: ClassVar[bool] = False
    #: Whether it takes many times as long to train as most others.
    slow: ClassVar[bool] = False

    def __init_subclass__(cls, register: bool = True, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if register:
            registry[cls.name] = cls

    @classmethod
    def missing(cls) -> str | None:
        """Return the extra that this learner still needs; None if it can run."""
        return None

    @classmethod
    def check(cls, shape: Shape) -> None:
        """Raise ParameterError where it cannot read such data at all."""
        if cls.dense_only and shape.sparse:
            raise ParameterError(
                f"{cls.name} reads dense features only, and these are sparse (a text column, or a "
                "sparse matrix); choose another learner"
            )

    @classmethod
    def suits(cls, shape: Shape) -> bool:
        """Return whether the learner is worth trying on data of this shape."""
        return True

    @classmethod
    def first(cls, shape: Shape) -> Sequence[Self]:
        """Return a few settings to try first, the most promising one first."""
        return (cls(),)

    @classmethod
    def group(cls, task: Task) -> Hashable:
        """Return what tasks have in common that are best trained together; by default nothing."""
        return id(task)

    @classmethod
    def together(cls, tasks: Sequence[Task]) -> list[list[Task]]:
        """Split tasks into groups; one call of :meth:`train` trains each group."""
        groups: dict[Hashable, list[Task]] = {}
        for task in tasks:
            groups.setdefault(cls.group(task), []).append(task)
        return list(groups.values())

    @classmethod
    def train(cls, problem: Problem, tasks: Sequence[Task]) -> list[Trained]:
        """Train one model per task; equal inputs give bit-identical models."""
        raise NotImplementedError(f"{cls.__name__} has to define train")

    def trusting(self) -> Self:
        """Return the setting to use once the labels have been cleaned."""
        return self

    def with_loss(self, loss: str) -> Self | None:
        """Return this setting with another loss; None if the learner takes no loss."""
        return self.varied(loss=loss) if "loss" in self.settings else None

    def varied(self, **settings: Any) -> Self:
        """Return a copy with other settings; names that the learner does not have are ignored."""
        return replace(self, **{k: v for k, v in settings.items() if k in self.settings})

    @property
    def loss(self) -> str | None:
        """The loss that training minimises; None if it is not one of ours."""
        return None

    @property
    def models_noise(self) -> bool:
        """Whether training itself tells true classes from labels."""
        return False

    @property
    def by_cross_entropy(self) -> bool:
        """Whether training minimises plain cross entropy."""
        return self.loss is not None and _is_cross_entropy(self.loss)

    @property
    def settings(self) -> dict[str, Any]:
        """The fields as a dict for JSON."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __str__(self) -> str:
        told = ", ".join(
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in self.settings.items()
        )
        return f"{self.name} ({told})" if told else self.name


def of_name(name: str, settings: Mapping[str, Any]) -> Learner:
    """Return the learner with this name and these :attr:`~Learner.settings`."""
    return registry[name](**settings)


@cache
def _is_cross_entropy(loss: str) -> bool:
    return losses.loss(loss).is_cross_entropy
