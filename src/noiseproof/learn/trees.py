"""Scikit-learn's extremely randomised trees and random forests."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from noiseproof.learn.forest import Forest
from noiseproof.learn.learner import Learner, Problem, Shape, Task, Trained
from noiseproof.noise import stream

#: With more columns than this, such as those of texts, trees are slow and weak.
MOST_COLUMNS = 3000
MOST_CLASSES = 200


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
    def train(cls, problem: Problem, tasks: Sequence[Task]) -> list[Trained]:
        """Grow a forest for each task."""
        return [_grow(problem, task) for task in tasks]


def _grow(problem: Problem, task: Task) -> Trained:
    """Grow the trees one by one.

    scikit-learn's forests set the warning filters of the whole process around every tree, so
    that forests in several threads lose the caller's filters.
    """
    learner, rows = task.learner, task.rows(problem)
    assert isinstance(learner, Trees)
    # Limit the weight rather than the count, so that a copied row equals a heavy one; a little
    # less, so that rounding does not forbid a leaf of exactly that weight.
    typical = float(problem.weights[problem.weights > 0].mean())
    least = min(0.5, 0.999 * learner.leaf * typical / float(rows.weights.sum()))
    X, count = problem.features[rows.at], len(rows.at)
    if sparse.issparse(X):
        X = X.tocsc()
        X.sort_indices()
    numbers = stream(problem.seed, f"trees {task.start}")
    trees = []
    for _ in range(learner.trees):
        seed, weights = int(numbers.integers(2**31)), rows.weights
        if learner.kind == "extra":
            tree = ExtraTreeClassifier(min_weight_fraction_leaf=least, random_state=seed)
        else:
            weights = weights * np.bincount(numbers.integers(count, size=count), minlength=count)
            tree = DecisionTreeClassifier(
                max_features="sqrt", min_weight_fraction_leaf=least, random_state=seed
            )
        trees.append(tree.fit(X, rows.labels, weights, check_input=False))
    known = np.asarray(trees[0].classes_, dtype=np.int64)
    return Forest.of_trees(trees, known, problem.classes, problem.features.shape[1])
