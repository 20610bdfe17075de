"""The posterior of the true class, given held-out predictions for a row and its label.

Models trained on noisy labels predict noisy labels: p = q T, where q is the distribution of the
true class and T the noise. T is counted on rows of which the models are sure. Solving for q on
the simplex, and Bayes' rule with the label, give the posterior that the treatments use.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noiseproof.learn.learner import Floats, Labels
from noiseproof.noise.matrix import Doubles

#: Steps of decoding; the argmax settles long before the end.
STEPS = 60
#: Rows decoded at once.
BLOCK = 4096
POWERS = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)


@dataclass(frozen=True, eq=False)
class Posterior:
    """The true classes of rows, as held-out predictions and labels suggest them.

    Args:
        p: (N, K) held-out probabilities of the noisy label, sharpened to fit the labels.
        labels: (N,) the given labels.
        noise: (K, K) T, counted on the rows that models are sure of.
        known: (N,) whether the label is known to be right.
    """

    p: Doubles
    labels: Labels
    noise: Doubles
    known: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        p: Floats,
        labels: Labels,
        rows: NDArray[np.bool_] | None = None,
        known: NDArray[np.bool_] | None = None,
    ) -> "Posterior":
        """Estimate the noise from held-out probabilities, using only ``rows`` if given.

        Labels of ``known`` rows are true; they say nothing about the noise.
        """
        known = np.zeros(len(labels), dtype=bool) if known is None else known
        some = ~known if rows is None else rows & ~known
        sharp = _powered(p, _power(p[some], labels[some]))
        return cls(sharp, labels, confident(sharp[some], labels[some]), known)

    @cached_property
    def true(self) -> NDArray[np.float32]:
        """The probability of each true class given the features and the label, (N, K)."""
        out = np.empty(self.p.shape, dtype=np.float32)
        for start in range(0, len(out), BLOCK):
            rows = slice(start, start + BLOCK)
            joint = decode(self.p[rows], self.noise) * self.noise.T[self.labels[rows]]
            out[rows] = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
        out[self.known] = np.eye(len(self.noise))[self.labels[self.known]]
        return out


def confident(p: Floats, labels: Labels) -> Doubles:
    """Return T (K, K), counted on rows whose class is clear.

    A row is clear if some class is at least as likely as in the average row with that label
    (Northcutt et al., Confident learning, 2021). One right row per class is added.

    >>> p = np.array([[0.9, 0.1]] * 8 + [[0.1, 0.9]] * 4)
    >>> confident(p, np.array([0] * 6 + [1] * 2 + [1] * 4)).round(2)
    array([[0.78, 0.22],
           [0.  , 1.  ]])
    """
    classes = p.shape[1]
    count = np.maximum(np.bincount(labels, minlength=classes), 1)
    sure = np.bincount(labels, p[np.arange(len(p)), labels], minlength=classes) / count
    above = np.where(p >= np.maximum(sure, 1 / classes) - 1e-9, p, 0)
    clear = above.max(axis=1) > 0
    joint = np.eye(classes)
    np.add.at(joint, (above.argmax(axis=1)[clear], labels[clear]), 1)
    # Rescale so that a label is as frequent among the clear rows as among all rows.
    joint *= count / np.maximum(joint.sum(axis=0), 1e-12)
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def decode(p: Floats, noise: Doubles) -> Doubles:
    """Return q (N, K) on the simplex such that q T is as near to p as possible, in likelihood.

    >>> T = np.array([[0.6, 0.4], [0.0, 1.0]])
    >>> decode(np.array([[0.45, 0.55]]), T).round(2)  # a 1 as a label is no proof of a 1
    array([[0.75, 0.25]])
    """
    q = np.full(p.shape, 1 / p.shape[1])
    for _ in range(STEPS):
        q *= (p / np.maximum(q @ noise, 1e-12)) @ noise.T
        q /= np.maximum(q.sum(axis=1, keepdims=True), 1e-300)
    return q


def _power(p: Floats, labels: Labels) -> float:
    """Return the power of p that makes the noisy labels most likely; 1 where there are none."""
    if len(labels) == 0:
        return 1.0
    at = np.arange(len(labels))
    fits = [float(np.log(_powered(p, a)[at, labels] + 1e-6).mean()) for a in POWERS]
    return POWERS[int(np.argmax(fits))]


def _powered(p: Floats, power: float) -> Doubles:
    raised = np.asarray(p, dtype=np.float64) ** power
    return np.asarray(raised / np.maximum(raised.sum(axis=1, keepdims=True), 1e-300))
