"""What a learner is: its settings are the fields of a dataclass, and subclassing registers it.

Comparison, treatments, ensemble, model files, report and tests know learners only through this
file, and walk :data:`registry`. Adding a learner is one file that defines

    class Nearest(Learner):          settings, :meth:`~Learner.suits`, :meth:`~Learner.first`
        def train(...)               from rows with soft labels and weights to something Trained

and one line in ``learners.py``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noiseproof import losses
from noiseproof.learn.matrix import Matrix, Scale, Scaling

Floats = NDArray[np.floating[Any]]
Labels = NDArray[np.int64]

#: Every learner, by name, in the order of their definition.
registry: dict[str, type["Learner"]] = {}


@dataclass(frozen=True)
class Shape:
    """What a learner needs to know of the data to say whether it is worth trying.

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


@dataclass(frozen=True, eq=False)
class Problem:
    """The rows that every task of a comparison shares.

    Args:
        features: (N, D) dense float32 or scipy-sparse CSR.
        labels: (N,) as given, 0 to K-1.
        classes: K.
        weights: (N,) what each row counts.
        seed: of everything that is drawn.
    """

    features: Any
    labels: Labels
    classes: int
    weights: Floats
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "_matrices", {})

    @property
    def shape(self) -> Shape:
        """The sizes."""
        rows, columns = self.features.shape
        return Shape(rows, columns, self.classes, bool(sparse.issparse(self.features)))

    def matrix(self, scale: Scale) -> Matrix:
        """Return the features, scaled; made once for all tasks."""
        made: dict[str, Matrix] = self._matrices  # type: ignore[attr-defined]
        if scale not in made:
            made[scale] = Matrix(self.features, Scaling.of(self.features, scale, self.weights))
        return made[scale]


@dataclass(frozen=True, eq=False)
class Task:
    """One model to train.

    Args:
        learner: how.
        weights: (N,) what each row counts; rows of weight 0 are left out.
        targets: (N, K) class probabilities to learn instead of the labels.
        transition: (K, K) noise that the model's probabilities pass through before the loss; only
            for learners with ``takes_noise``.
        start: which of the random starts to use.
    """

    learner: "Learner"
    weights: Floats
    targets: Floats | None = None
    transition: NDArray[np.float64] | None = None
    start: int = 0

    def rows(self, problem: Problem) -> "Rows":
        """Return the rows that count, with one class and one weight each.

        A row with a soft label becomes one copy for each class that has a part in it.
        """
        if self.targets is None:
            at = np.flatnonzero(self.weights > 0)
            return Rows(at, problem.labels[at], np.asarray(self.weights[at], dtype=np.float64))
        parts = np.asarray(self.targets, dtype=np.float64) * self.weights[:, None]
        at, labels = np.nonzero(parts > LEAST_PART * self.weights[:, None])
        return Rows(at, labels.astype(np.int64), parts[at, labels])

    def soft(self, problem: Problem) -> Floats:
        """Return (N, K): the label of each row as probabilities."""
        if self.targets is not None:
            return np.asarray(self.targets)
        return np.eye(problem.classes, dtype=np.float32)[problem.labels]


#: A smaller part of a soft label is left out where rows are copied.
LEAST_PART = 0.02


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to train on: ``at`` may name a row more than once, each time with another label."""

    at: NDArray[np.int64]
    labels: Labels
    weights: NDArray[np.float64]


class Trained(ABC):
    """A trained model: features to class probabilities, and a folder that holds it."""

    #: The learner that made it, by name.
    learner: ClassVar[str]

    @abstractmethod
    def probabilities(self, X: Any) -> Floats:
        """Return (N, K) for features as the learner was given them: float32, rows sum to 1."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the model into an empty folder, as data that runs nothing when it is read."""

    @classmethod
    @abstractmethod
    def load(cls, folder: Path) -> Self:
        """Read what :meth:`save` wrote; ValueError where it is not of one piece."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, int]:
        """(D, K): how many features it reads, how many classes it tells apart."""


@dataclass(frozen=True)
class Learner:
    """A way of learning; an instance is one setting of it."""

    #: What it is called in reports and model files.
    name: ClassVar[str] = ""
    #: The class of its trained models.
    trained: ClassVar[type[Trained]]
    #: Whether a task may have a ``transition``.
    takes_noise: ClassVar[bool] = False
    #: Whether the model that is kept is the mean of the folds' models, as suits learners that
    #: would memorise a wrong label; else one model is trained on all rows.
    averaged: ClassVar[bool] = False

    def __init_subclass__(cls, register: bool = True, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if register:
            registry[cls.name] = cls

    @classmethod
    def missing(cls) -> str | None:
        """Return the extra to install where this learner cannot run, else None."""
        return None

    @classmethod
    def suits(cls, shape: Shape) -> bool:
        """Return whether it is worth trying on such data."""
        return True

    @classmethod
    def first(cls, shape: Shape) -> Sequence[Self]:
        """Return the few settings to try first, the most promising first."""
        return (cls(),)

    @classmethod
    def together(cls, tasks: Sequence[Task]) -> list[list[Task]]:
        """Split tasks into groups; each group is trained by one call of :meth:`train`."""
        return [[task] for task in tasks]

    @classmethod
    def train(cls, problem: Problem, tasks: Sequence[Task]) -> list[Trained]:
        """Train a model for each task; equal inputs give equal bits."""
        raise NotImplementedError(f"{cls.__name__} has to define train")

    def trusting(self) -> Self:
        """Return the setting for labels that have been cleaned."""
        return self

    def with_loss(self, loss: str) -> Self | None:
        """Return this setting with another loss; None where the learner takes none."""
        return None

    def varied(self, **settings: Any) -> Self:
        """Return the same with other settings; those that the learner does not have are left."""
        return replace(self, **{k: v for k, v in settings.items() if k in self.settings})

    @property
    def loss(self) -> str | None:
        """The loss that is minimised, where it is one of ours."""
        return None

    @property
    def by_cross_entropy(self) -> bool:
        """Whether plain cross entropy is minimised."""
        return self.loss is not None and losses.loss(self.loss).is_cross_entropy

    @property
    def settings(self) -> dict[str, Any]:
        """The fields, as JSON can hold them."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __str__(self) -> str:
        told = ", ".join(
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in self.settings.items()
        )
        return f"{self.name} ({told})" if told else self.name


def of_name(name: str, settings: Mapping[str, Any]) -> Learner:
    """Return the learner that :attr:`Learner.settings` were taken from."""
    return registry[name](**settings)
