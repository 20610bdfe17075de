"""Scikit-learn's extremely randomised trees and random forests."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from noiseproof.learn.learner import Learner, Problem, Rows, Shape, Task, Trained
from noiseproof.learn.learners.forest import Forest
from noiseproof.noise import stream

#: With more columns than this, such as those of texts, trees are slow and weak.
MOST_COLUMNS = 3000
MOST_CLASSES = 200
#: Columns of a smaller range are multiplied before trees are grown.
NARROW = 1e-4


@dataclass(frozen=True)
class Trees(Learner):
    """A forest.

    Large leaves withstand noise: a leaf of one row believes its label.

    Args:
        kind: ``"extra"`` draws thresholds at random, ``"random"`` draws rows.
        leaf: the least weight of the rows in a leaf, where an average row weighs 1.
        trees: the number of trees in each fold.
    """

    name: ClassVar[str] = "trees"
    trained: ClassVar[type[Trained]] = Forest
    averaged: ClassVar[bool] = True

    kind: Literal["extra", "random"] = "extra"
    leaf: float = 3
    trees: int = 30

    @property
    def grown(self) -> float:
        """The leaf to grow trees to, before they are cut back to ``leaf``.

        Cutting back costs nothing, so one growth serves all leaf sizes. It is also better than not
        growing: over 22 spoiled tables, extremely randomised trees with leaves of 3 and 8 predicted
        1.0 and 2.3 points more of the true labels.
        """
        return min(self.leaf, 1 if self.kind == "extra" else 3)

    @classmethod
    def suits(cls, shape: Shape) -> bool:
        """Return whether columns and classes are few enough: every leaf has a share for each."""
        return shape.columns <= MOST_COLUMNS and shape.classes <= MOST_CLASSES

    @classmethod
    def first(cls, shape: Shape) -> Sequence["Trees"]:
        """Return both kinds with several leaf sizes."""
        return [cls("extra", leaf) for leaf in (1, 3, 8)] + [cls("random", leaf) for leaf in (3, 8)]

    def trusting(self) -> "Trees":
        """Return leaves of one row, which are wrong only where labels are."""
        return replace(self, leaf=1)

    @classmethod
    def group(cls, task: Task) -> Hashable:
        """Return its rows and kind: the trees are grown once for all leaf sizes."""
        learner = cast(Trees, task.learner)
        rows = id(task.weights), id(task.targets)
        return learner.kind, learner.trees, learner.grown, rows, task.start

    @classmethod
    def train(cls, problem: Problem, tasks: Sequence[Task]) -> list[Trained]:
        """Grow one forest with small leaves, and cut it back for each task."""
        first, rows = tasks[0], tasks[0].rows(problem)
        # Limit the weight rather than the count, so that a copied row equals a heavy one; a little
        # less, so that rounding does not forbid a leaf of exactly that weight.
        leaves = [0.999 * cast(Trees, task.learner).leaf for task in tasks]
        trees, scale = _grow(problem, first, rows, 0.999 * cast(Trees, first.learner).grown)
        known = np.asarray(trees[0].classes_, dtype=np.int64)
        columns = problem.features.shape[1]
        return [
            Forest.of_trees(trees, known, problem.classes, columns, leaf, scale) for leaf in leaves
        ]


def _grow(
    problem: Problem, task: Task, rows: Rows, leaf: float
) -> tuple[list[Any], NDArray[np.float64] | None]:
    """Grow the trees one by one; return them, and by what the columns were multiplied before.

    scikit-learn's forests set the warning filters of the whole process around every tree, so
    that forests in several threads lose the caller's filters.
    """
    learner = cast(Trees, task.learner)
    least = min(0.5, leaf / float(rows.weights.sum()))
    X, count = problem.features[rows.at], len(rows.at)
    scale = _scale(X)
    if scale is not None:
        X = X @ sparse.diags_array(scale) if sparse.issparse(X) else X * scale
        X = X.astype(np.float32)
    if sparse.issparse(X):
        X = X.tocsc()
        X.sort_indices()
    numbers = stream(problem.seed, f"trees {task.start}")
    trees = []
    with config_context(skip_parameter_validation=True):
        for _ in range(learner.trees):
            seed, weights = int(numbers.integers(2**31)), rows.weights
            if learner.kind == "extra":
                tree = ExtraTreeClassifier(min_weight_fraction_leaf=least, random_state=seed)
            else:
                drawn = np.bincount(numbers.integers(count, size=count), minlength=count)
                weights = weights * drawn
                tree = DecisionTreeClassifier(
                    max_features="sqrt", min_weight_fraction_leaf=least, random_state=seed
                )
            trees.append(tree.fit(X, rows.labels, weights, check_input=False))
    return trees, scale


def _scale(X: Any) -> NDArray[np.float64] | None:
    """Return powers of two that make narrow columns wide; None where there are none.

    To scikit-learn's trees, a column is constant if its values are within 1e-7 of each other.
    """
    if X.shape[0] == 0:
        return None
    low, high = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    width = high.astype(np.float64) - low
    narrow = (width > 0) & (width < NARROW)
    if not narrow.any():
        return None
    powers = np.zeros(len(width), dtype=np.int64)
    powers[narrow] = np.minimum(-np.floor(np.log2(width[narrow])), 120)
    return np.ldexp(1.0, powers)
