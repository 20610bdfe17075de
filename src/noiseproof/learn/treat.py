"""What can be done about doubtful labels, by what models that never saw them say.

A treatment changes the soft labels and the weights of the rows, so every learner can have any of
them; ``forward`` changes the loss and is for learners that have one.

Each treatment of the training rows of a fold goes by models that saw neither the row nor the fold
that is held out. Otherwise the held-out labels would find their way into what is trained on: by
out-of-fold probabilities alone, a treatment that helped nothing seemed to predict ten points more.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np

from noiseproof.errors import ParameterError
from noiseproof.learn.learner import Floats, Labels, Problem, Task
from noiseproof.learn.posterior import Posterior

PLAIN = "none"
#: Every treatment, and how it is said.
TREATMENTS = {
    PLAIN: "",
    "em": "labels replaced by how likely each class is given the label and the estimated noise",
    "drop": "doubtful rows dropped",
    "weigh": "rows weighted by how far their label is trusted",
    "agree": "rows weighted by how far predictions and neighbours agree with their label",
    "refine": "labels mixed with what the other rows say",
    "forward": "predictions passed through the estimated noise",
}
#: Those that leave little noise: the learner may trust a single row again.
CLEANING = ("em", "drop")
#: How much of a label a refined one keeps.
KEPT = 0.5


@dataclass(frozen=True, eq=False)
class Opinion:
    """What is said of the rows by models that have not seen them.

    Args:
        probabilities: (N, K).
        neighbours: (N, K) by the nearest rows; None where there are none to ask.
        posterior: what the probabilities and the labels say of the true classes.
    """

    probabilities: Floats
    neighbours: Floats | None
    posterior: Posterior


@dataclass(frozen=True, eq=False)
class Opinions:
    """What treatments go by.

    Args:
        folds: for each fold, by models that saw neither the row nor the fold.
        whole: by models that did not see the row, for a model of all rows.
    """

    folds: tuple[Opinion, ...]
    whole: Opinion


def treated(task: Task, treatment: str, problem: Problem, opinion: Opinion) -> Task:
    """Return a task with something done about doubtful labels."""
    p, labels = opinion.probabilities, problem.labels
    rows = np.arange(len(p))
    if treatment == "forward":
        return dataclasses.replace(task, transition=opinion.posterior.noise)
    if treatment == "refine":
        targets = (1 - KEPT) * p
        targets[rows, labels] += KEPT
        return dataclasses.replace(task, targets=targets)
    if treatment == "agree":
        trust = p[rows, labels] / p.max(1)
        if opinion.neighbours is not None:
            trust = trust * opinion.neighbours[rows, labels] / opinion.neighbours.max(1)
        return dataclasses.replace(task, weights=balanced(task.weights, trust, labels))
    true = opinion.posterior.true.astype(np.float32)
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
    """Return weights times trust, with every class's total kept.

    Otherwise the class whose labels are trusted most is predicted more often. Where labels are
    given to one class too often, that predicts more of them, and fewer of the true ones.
    """
    trusted = weights * trust
    before, after = (np.bincount(labels, one) for one in (weights, trusted))
    factor = np.divide(before, after, out=np.zeros_like(before), where=after > 0)
    return np.asarray(trusted * factor[labels], dtype=np.float32)
