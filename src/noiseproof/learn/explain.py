"""How likely held-out predictions make the noisy labels, mistakes included.

Accuracy asks whether a model predicts the label. Where one class is labelled as another more often
than not, that punishes a model for telling the two apart. So each model gets a noise matrix T of
its own, fitted to other rows: q T says which labels its classes q would be given. The likelihood
of the labels under q T rewards a model for what it knows, and not for learning the mistakes.
"""

import numpy as np
from numpy.typing import NDArray

from noiseproof.learn.ensemble import sharpened
from noiseproof.learn.learner import Floats, Labels
from noiseproof.noise.matrix import Doubles

#: Models are rarely as sure as they should be: the powers of their probabilities to try.
POWERS = (0.5, 1.0, 2.0, 4.0)
#: Steps of EM; the likelihood hardly changes after that.
STEPS = 30
#: Probabilities that a matrix is fitted to.
MOST = 200_000
#: No label is less likely than that.
LEAST = 1e-12


def explained(
    q: Floats,
    labels: Labels,
    half: NDArray[np.bool_],
    known: NDArray[np.bool_],
    weights: Floats | None = None,
) -> Doubles:
    """Return the likelihood of each label, (N,).

    Args:
        q: (N, K) held-out probabilities.
        labels: (N,) the given labels.
        half: (N,) whether a row is in the first half; T is fitted to the other one.
        known: (N,) whether the label is known to be right: it then takes no T to explain.
        weights: (N,) how much each row counts; T is not fitted to rows of weight 0.
    """
    out = np.empty(len(labels))
    fit_to = ~known if weights is None else ~known & (weights > 0)
    for mine in (half, ~half):
        some = np.flatnonzero(~mine & fit_to)
        some = some[:: max(1, len(some) * q.shape[1] // MOST)]
        fits = [_fitted(sharpened(q[some], power), labels[some]) for power in POWERS]
        best = int(np.argmax([fit for fit, _ in fits]))
        noise, sharp = fits[best][1], sharpened(q[mine], POWERS[best])
        given = labels[mine]
        out[mine] = np.where(
            known[mine],
            sharp[np.arange(len(given)), given],
            np.einsum("nk,nk->n", sharp, noise.T[given]),
        )
    return np.maximum(out, LEAST)


def _fitted(q: Floats, labels: Labels) -> tuple[float, Doubles]:
    """Return the mean log-likelihood of labels, and the T (K, K) that maximises it.

    A right label and one spread over all classes are added to each row of T.
    """
    classes = q.shape[1]
    order = np.argsort(labels, kind="stable")
    q, labels = q[order], labels[order]
    present, starts = np.unique(labels, return_index=True)
    noise = np.full((classes, classes), 0.2 / classes) + 0.8 * np.eye(classes)
    fit = np.log(LEAST)
    for _ in range(STEPS):
        joint = q * noise.T[labels]
        total = np.maximum(joint.sum(axis=1, keepdims=True), LEAST)
        fit = float(np.log(total).mean()) if len(labels) else fit
        counts = np.full((classes, classes), 1 / classes) + np.eye(classes)
        if len(labels):
            counts[:, present] += np.add.reduceat(joint / total, starts).T
        noise = counts / counts.sum(axis=1, keepdims=True)
    return fit, noise
