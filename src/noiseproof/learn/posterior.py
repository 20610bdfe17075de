"""How likely each true class is, given what unseeing models say of a row and the label it has.

Models that were trained on noisy labels predict noisy labels: p = q T, where q is the true class
and T the noise. T comes from the rows of which the models are sure. q is found from p and T on
the simplex, and Bayes' rule with the label gives the posterior that the treatments go by.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noiseproof.learn.learner import Floats, Labels

Doubles = NDArray[np.float64]

#: Steps of the decoding; the argmax settles long before.
STEPS = 60
#: Rows that are decoded at once.
BLOCK = 4096
POWERS = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is thought of the true classes of some rows.

    Args:
        p: (N, K) held-out probabilities of the noisy label, sharpened to fit the labels.
        labels: (N,) as given.
        noise: (K, K) T, found from the rows that models are sure of.
    """

    p: Doubles
    labels: Labels
    noise: Doubles

    @classmethod
    def of(cls, p: Floats, labels: Labels, rows: NDArray[np.bool_] | None = None) -> "Posterior":
        """Find the noise from held-out probabilities, by some of the rows."""
        some = slice(None) if rows is None else rows
        sharp = _powered(p, _power(p[some], labels[some]))
        return cls(sharp, labels, confident(sharp[some], labels[some]))

    @cached_property
    def clean(self) -> Doubles:
        """(N, K): how likely each true class is, by the features alone."""
        out = np.empty_like(self.p)
        for start in range(0, len(out), BLOCK):
            out[start : start + BLOCK] = decode(self.p[start : start + BLOCK], self.noise)
        return out

    @cached_property
    def true(self) -> Doubles:
        """(N, K): how likely each true class is, by features and label."""
        joint = self.clean * self.noise.T[self.labels]
        return np.asarray(joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300))


def confident(p: Floats, labels: Labels) -> Doubles:
    """Return T (K, K) by counting rows whose class is clear.

    A row is clear if a class is at least as likely as in the mean row labelled with that class
    (Northcutt et al., Confident learning, 2021). One row of each class is taken to be right.

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
    # A label is as frequent among the clear rows as among all.
    joint *= count / np.maximum(joint.sum(axis=0), 1e-12)
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def decode(p: Floats, noise: Doubles) -> Doubles:
    """Return q (N, K) on the simplex with q T as near to p as can be, in likelihood.

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
    """Return the power of p under which the noisy labels are most likely."""
    at = np.arange(len(labels))
    fits = [float(np.log(_powered(p, a)[at, labels] + 1e-6).mean()) for a in POWERS]
    return POWERS[int(np.argmax(fits))]


def _powered(p: Floats, power: float) -> Doubles:
    raised = np.asarray(p, dtype=np.float64) ** power
    return np.asarray(raised / np.maximum(raised.sum(axis=1, keepdims=True), 1e-300))
