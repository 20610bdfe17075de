"""Treatments of doubtful labels, based on models that never saw them.

A treatment changes the soft labels and the weights of the rows, so it works with every learner;
``forward`` changes the loss and needs a learner that has one.

The training rows of a fold are treated by models that saw neither the row nor the fold that is
held out. Otherwise the held-out labels leak into training: with plain out-of-fold probabilities,
a treatment that did not help at all seemed to predict ten points more.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np

from noiseproof.errors import ParameterError
from noiseproof.learn.learner import Floats, Labels, Problem, Task
from noiseproof.learn.posterior import Posterior

PLAIN = "none"
#: Every treatment, and its description for the report.
TREATMENTS = {
    PLAIN: "",
    "em": "labels replaced by the probability of each true class",
    "drop": "doubtful rows dropped",
    "weigh": "rows weighted by how far their label is trusted",
    "agree": "rows weighted by how far predictions and neighbours agree with their label",
    "refine": "labels mixed with held-out predictions",
    "forward": "predictions passed through the estimated noise",
}
#: Treatments that leave little noise, so that a learner may trust single rows again.
CLEANING = ("em", "drop")
#: The share of the given label in a refined one.
KEPT = 0.5


@dataclass(frozen=True, eq=False)
class Opinion:
    """Predictions for the rows by models that have not seen them.

    Args:
        probabilities: (N, K) of the best model.
        neighbours: (N, K) of the nearest rows; None if neighbours were not tried.
        posterior: the true classes, as the probabilities and the labels suggest them.
    """

    probabilities: Floats
    neighbours: Floats | None
    posterior: Posterior


@dataclass(frozen=True, eq=False)
class Opinions:
    """The opinions that treatments rely on.

    Args:
        folds: for each fold, from models that saw neither the row nor the fold.
        whole: from models that did not see the row; for training on all rows.
    """

    folds: tuple[Opinion, ...]
    whole: Opinion


def treated(task: Task, treatment: str, problem: Problem, opinion: Opinion) -> Task:
    """Return the task with a treatment applied."""
    p, labels = opinion.probabilities, problem.labels
    rows = np.arange(len(p))
    if treatment == "forward":
        return dataclasses.replace(task, transition=opinion.posterior.noise)
    if treatment == "refine":
        targets = (1 - KEPT) * p
        targets[rows, labels] += KEPT
        known = opinion.posterior.known
        targets[known] = np.eye(problem.classes, dtype=targets.dtype)[labels[known]]
        return dataclasses.replace(task, targets=targets)
    if treatment == "agree":
        trust = p[rows, labels] / p.max(1)
        if opinion.neighbours is not None:
            trust = trust * opinion.neighbours[rows, labels] / opinion.neighbours.max(1)
        trust = np.where(opinion.posterior.known, 1, trust)
        return dataclasses.replace(task, weights=balanced(task.weights, trust, labels))
    true = opinion.posterior.true
    if treatment == "em":
        return dataclasses.replace(task, targets=true)
    if treatment == "weigh":
        trust = true[rows, labels]
    elif treatment == "drop":
        trust = (true.argmax(1) == labels).astype(np.float32)
    else:
        raise ParameterError(f"no such treatment: {treatment!r}")
    return dataclasses.replace(task, weights=balanced(task.weights, trust, labels))


def balanced(weights: Floats, trust: Floats, labels: Labels) -> Floats:
    """Return weights times trust, keeping each class's total weight fixed.

    Otherwise the class whose labels are trusted most would be predicted more often. Where one
    class is given too often, that matches more of the noisy labels and fewer of the true ones.
    Where no row at all is trusted, all keep their weights: there would be nothing to learn from.
    """
    trusted = weights * trust
    if not trusted.any():
        return weights
    before, after = (np.bincount(labels, one) for one in (weights, trusted))
    factor = np.divide(before, after, out=np.zeros_like(before), where=after > 0)
    return np.asarray(trusted * factor[labels], dtype=np.float32)
