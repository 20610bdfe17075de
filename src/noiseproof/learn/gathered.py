"""Where the labels lie that a model misses: everywhere, or in one part of the rows?

Labels go wrong in rows of every kind, so a model misses some of them even among those rows of a
class that look safest. What is hard to learn gathers where it is hard, and leaves safe rows. Noise
may gather too, such as that of an annotator who is careless about one kind of rows; by the labels
alone, nobody can tell it from difficulty.
"""

from dataclasses import replace

import numpy as np

from noiseproof.learn.curve import FOLDS, SMALL
from noiseproof.learn.learner import Floats, Labels, Problem
from noiseproof.learn.learners import Linear, Trees
from noiseproof.learn.told import held_out_whole
from noiseproof.learn.trials import Folds, Setting

#: Fewer missed labels do not tell where they are.
FEW = 10
#: The share of the rows of a class that are called safe.
SAFE = 0.25


def gathered(folds: Folds, probabilities: Floats) -> float:
    """Return the share of the missed labels that would not be missed if all rows were safe.

    Which rows are safe is learnt from the others: from their features, and from whether their
    labels were missed.

    Args:
        folds: the rows.
        probabilities: (N, K) predictions for held-out rows.
    """
    predicted = probabilities.argmax(axis=1)
    labels = folds.problem.labels
    missed = (predicted != labels) & ~held_out_whole(labels, folds.units)
    if missed.sum() < FEW:
        return 0.0
    old = folds.problem
    problem = Problem(
        old.features, missed.astype(np.int64), 2, old.weights, old.seed, copies=old.copies
    )
    learner = Trees("random") if Trees.suits(problem.shape) else Linear("CE", 1e-3)
    count = None if len(missed) <= SMALL else min(FOLDS, folds.count)
    asked = replace(folds, problem=problem, _weights={}, _models={}, _looks={})
    trials = asked.run([Setting(learner)], count)
    if not trials:
        return 0.0
    seen = np.flatnonzero(trials[0].share > 0)
    safe = seen[_safest(trials[0].probabilities[seen, 1], predicted[seen])]
    return float(np.clip(1 - missed[safe].mean() / missed[seen].mean(), 0, 1))


def _safest(risk: Floats, predicted: Labels) -> Labels:
    """Return the rows of least risk of each predicted class."""
    order = np.lexsort((risk, predicted))
    sizes = np.bincount(predicted)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(order[rank < np.ceil(SAFE * sizes)[predicted[order]]])
