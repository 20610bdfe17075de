"""What can be done about doubtful labels, by what heads that never saw them say.

Each treatment of the training rows of a fold goes by heads that saw neither the row nor the fold
that is held out. Otherwise the held-out labels would find their way into what is trained on: by
out-of-fold probabilities alone, a treatment that helped nothing seemed to predict ten points more.
"""

import dataclasses
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import ParameterError
from noiseproof.learn.objective import Floats, Task
from noiseproof.noise import EstimatedTransition, estimate

#: How much of a label a refined one keeps.
KEPT = 0.5


@dataclass(frozen=True)
class Nested:
    """Probabilities for the training rows of each fold, and the noise they imply.

    Args:
        probabilities: (F, N, K); entry f is by heads that saw neither fold f nor the row.
        labels: (N,) as given.
        noise: the noise that each of them implies.
    """

    probabilities: Floats
    labels: NDArray[np.int64]
    noise: tuple[EstimatedTransition, ...]

    @classmethod
    def of(cls, probabilities: Floats, labels: NDArray[np.int64], fold: NDArray[np.int64]) -> Self:
        """Estimate the noise for each fold."""
        noise = tuple(
            estimate(labels[fold != f], p[fold != f]) for f, p in enumerate(probabilities)
        )
        return cls(probabilities, labels, noise)

    def treated(self, task: Task, treatment: str, fold: int) -> Task:
        """Return the task of a fold with something done about doubtful labels."""
        p, noise = self.probabilities[fold], self.noise[fold]
        if treatment == "forward":
            return dataclasses.replace(task, transition=noise.matrix)
        if treatment == "refine":
            targets = (1 - KEPT) * p
            targets[np.arange(len(p)), self.labels] += KEPT
            return dataclasses.replace(task, targets=targets)
        true = noise.true_class(self.labels, p).astype(np.float32)
        trust = true[np.arange(len(p)), self.labels]
        if treatment == "weigh":
            return dataclasses.replace(task, weights=self._balanced(task.weights, trust))
        if treatment == "drop":
            kept = (true.argmax(1) == self.labels).astype(np.float32)
            return dataclasses.replace(task, weights=self._balanced(task.weights, kept))
        raise ParameterError(f"no such treatment: {treatment!r}")

    def _balanced(self, weights: Floats, trust: Floats) -> Floats:
        """Return what rows count by how far they are trusted, no class counting more by it.

        Otherwise the class whose labels are trusted most is predicted more often. Where labels are
        given to one class too often, that predicts more of them, and fewer of the true ones.
        """
        trusted = weights * trust
        before, after = (np.bincount(self.labels, one) for one in (weights, trusted))
        factor = np.divide(before, after, out=np.zeros_like(before), where=after > 0)
        return np.asarray(trusted * factor[self.labels], dtype=np.float32)
