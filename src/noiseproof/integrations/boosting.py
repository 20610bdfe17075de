"""Objectives and metrics for LightGBM and XGBoost from any loss with derivatives.

They work in ``lightgbm.train`` and ``xgboost.train`` as in ``LGBMClassifier`` and
``XGBClassifier``, with several classes and with two, with row weights, in float64. Neither library
is imported here.

>>> import lightgbm, numpy as np
>>> from noiseproof.integrations import boosting
>>> X = np.random.default_rng(0).normal(size=(300, 2))
>>> y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
>>> settings = {"num_class": 3, "verbosity": -1, "num_threads": 1}
>>> settings["objective"] = boosting.lightgbm_objective("AGCE(a=1, q=0.5)")
>>> model = lightgbm.train(settings, lightgbm.Dataset(X, y), 20)
>>> p = boosting.probabilities(model.predict(X, raw_score=True))
>>> bool((p.argmax(axis=1) == y).mean() > 0.9)
True
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import TargetError
from noiseproof.losses import Loss
from noiseproof.losses.expression import as_loss
from noiseproof.losses.newton import newton, two_columns

Scores = NDArray[np.floating[Any]]


def lightgbm_objective(loss: str | Loss) -> Callable[..., tuple[Scores, Scores]]:
    """Return an objective for LightGBM: ``lightgbm.train({"objective": ...})`` or LGBMClassifier.

    LightGBM knows no probabilities of an objective that it does not know: it predicts raw scores,
    and :func:`probabilities` turns them into probabilities.

    ``lightgbm.Dataset`` turns labels and weights that are NaN into 0, with its own objectives too,
    before anybody else sees them: look for them first.
    """
    # LightGBM's own multi-class objective has this factor: its settings keep their meaning.
    return _objective(loss, lambda classes: classes / (classes - 1))


def xgboost_objective(loss: str | Loss) -> Callable[..., tuple[Scores, Scores]]:
    """Return an objective for XGBoost: ``xgboost.train(obj=...)`` or ``XGBClassifier``.

    XGBClassifier predicts probabilities as ever. For ``xgboost.train`` to do so, name the objective
    whose place this takes, ``multi:softprob`` or ``binary:logistic``, among the parameters.
    """
    # As above, but for two classes on one score, where XGBoost has p (1 - p) too.
    return _objective(loss, lambda classes: 2.0)


def lightgbm_metric(loss: str | Loss) -> Callable[..., tuple[str, float, bool]]:
    """Return the mean loss as a metric for LightGBM: ``feval=`` or ``eval_metric=``."""
    mean, name = _metric(loss), str(loss)

    def metric(a: Any, b: Any, sample_weight: Any = None) -> tuple[str, float, bool]:
        return name, mean(a, b, sample_weight), False

    return metric


def xgboost_metric(loss: str | Loss) -> Callable[..., tuple[str, float]]:
    """Return the mean loss as a metric for ``xgboost.train(custom_metric=...)``.

    XGBClassifier wants a plain number of its ``eval_metric``: :func:`mean_loss`.
    """
    mean = _metric(loss)
    name = str(loss).replace(" ", "")  # XGBoost reads its own log line by line, word by word

    def metric(scores: Any, rows: Any) -> tuple[str, float]:
        return name, mean(scores, rows)

    return metric


def mean_loss(loss: str | Loss) -> Callable[..., float]:
    """Return a function of labels, raw scores and row weights, as scikit-learn's metrics are.

    It is the mean of :class:`Loss`: class weights are in the rows and in what they are divided by.
    """
    mean = _metric(loss)

    def mean_loss(y_true: Any, scores: Any, sample_weight: Any = None) -> float:
        return mean(y_true, scores, sample_weight)

    return mean_loss


def probabilities(scores: Any) -> Scores:
    """Return (N, K) probabilities of raw scores (N, K), or of (N,) for two classes.

    >>> probabilities(np.array([0.0]))
    array([[0.5, 0.5]])
    """
    z = two_columns(scores)
    p = np.exp(z - z.max(axis=1, keepdims=True))
    found: Scores = p / p.sum(axis=1, keepdims=True)
    return found


def _objective(
    loss: str | Loss, factor: Callable[[int], float]
) -> Callable[..., tuple[Scores, Scores]]:
    made = as_loss(loss)

    # Both libraries look at the number and the names of these arguments.
    def objective(a: Any, b: Any, sample_weight: Any = None) -> tuple[Scores, Scores]:
        scores, labels, weight = _arguments(a, b, sample_weight)
        gradient, curvature = newton(made, scores, labels, weight)
        if scores.ndim == 2:
            curvature *= factor(scores.shape[1])
        return gradient, curvature

    return objective


def _metric(loss: str | Loss) -> Callable[..., float]:
    made = as_loss(loss)

    def mean(a: Any, b: Any, sample_weight: Any = None) -> float:
        scores, labels, weight = _arguments(a, b, sample_weight)
        rows = made.derivatives(two_columns(scores), labels, weight).value
        # As torch's mean: over the weights of the labels' classes, which are in the rows already.
        counted = (labels != made.ignore_index).astype(np.float64)
        if made.weight is not None:
            counted *= made.weight.double().numpy(force=True)[np.where(counted > 0, labels, 0)]
        given = np.ones(len(rows)) if weight is None else np.asarray(weight, dtype=np.float64)
        return float(rows.sum(dtype=np.float64) / np.dot(counted, given))

    return mean


def _arguments(a: Any, b: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Return scores, labels and weights.

    The libraries' own functions give scores and a data set, their scikit-learn classes give labels,
    scores and weights.
    """
    if hasattr(b, "get_label"):
        scores, labels, sample_weight = a, b.get_label(), b.get_weight()
    else:
        labels, scores = a, b
    weight = None if sample_weight is None or len(sample_weight) == 0 else sample_weight
    return np.asarray(scores), _whole(np.asarray(labels)), weight


def _whole(labels: Any) -> Any:
    """Return the labels, which the libraries hold as floats, as classes."""
    if labels.dtype.kind == "f" and not np.array_equal(labels, np.trunc(labels)):
        wrong = labels[labels != np.trunc(labels)]
        raise TargetError(
            f"expected labels 0, 1, ... K-1, got {wrong[0]}: these objectives take no probabilities"
        )
    return labels.astype(np.int64)
