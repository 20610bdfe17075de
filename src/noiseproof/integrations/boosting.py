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

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import DataWarning, ParameterError, TargetError
from noiseproof.losses import Loss
from noiseproof.losses.derivatives import as_array
from noiseproof.losses.expression import as_loss
from noiseproof.losses.newton import as_scores, newton, two_columns
from noiseproof.losses.parameter import check_flag

Scores = NDArray[np.floating[Any]]
_PROBABILITIES = (
    "expected raw scores, got probabilities, as metrics do with {by}: "
    "make the metric with probabilities=True"
)
_MAYBE_PROBABILITIES = (
    "every score is between 0 and 1: if these are probabilities, as metrics get with an objective "
    "of the library's own, make the metric with probabilities=True"
)


def lightgbm_objective(loss: str | Loss) -> Callable[..., tuple[Scores, Scores]]:
    """Return an objective for LightGBM: ``lightgbm.train({"objective": ...})`` or LGBMClassifier.

    With an objective that it does not know, LightGBM predicts raw scores; :func:`probabilities`
    turns them into probabilities. LGBMClassifier with an ``eval_set`` needs ``metric="None"``: the
    log loss that it would add reads raw scores as probabilities.

    ``lightgbm.Dataset`` turns labels and weights that are NaN into 0, with its own objectives too,
    before anybody else sees them: look for them first.
    """
    return partial(_objective, as_loss(loss), _factor_of_lightgbm)


def xgboost_objective(loss: str | Loss) -> Callable[..., tuple[Scores, Scores]]:
    """Return an objective for XGBoost: ``xgboost.train(obj=...)`` or ``XGBClassifier``.

    XGBClassifier predicts probabilities as ever. For ``xgboost.train`` to do so, name the objective
    whose place this takes, ``multi:softprob`` or ``binary:logistic``, among the parameters.
    """
    return partial(_objective, as_loss(loss), _factor_of_xgboost)


def lightgbm_metric(
    loss: str | Loss, *, probabilities: bool = False
) -> Callable[..., tuple[str, float, bool]]:
    """Return the mean loss as a metric for LightGBM: ``feval=`` or ``eval_metric=``.

    Args:
        loss: a loss, or its text.
        probabilities: whether the objective is one of LightGBM's own, with which metrics are
            given probabilities instead of raw scores.
    """
    return partial(_metric_of_lightgbm, as_loss(loss), check_flag("probabilities", probabilities))


def xgboost_metric(
    loss: str | Loss, *, probabilities: bool = False
) -> Callable[..., tuple[str, float]]:
    """Return the mean loss as a metric for ``xgboost.train(custom_metric=...)``.

    XGBClassifier wants a plain number of its ``eval_metric``: :func:`mean_loss`.

    Args:
        loss: a loss, or its text.
        probabilities: whether the objective is one of XGBoost's own, with which metrics are
            given probabilities instead of raw scores.
    """
    return partial(_metric_of_xgboost, as_loss(loss), check_flag("probabilities", probabilities))


def mean_loss(loss: str | Loss, *, probabilities: bool = False) -> Callable[..., float]:
    """Return a function of labels, raw scores and row weights, as scikit-learn's metrics are.

    It is the mean of :class:`Loss`: class weights are in the rows and in what they are divided by.

    Args:
        loss: a loss, or its text.
        probabilities: whether it is given probabilities instead of raw scores, as by XGBClassifier
            with an objective of XGBoost's own.
    """
    mean = partial(_mean, as_loss(loss), check_flag("probabilities", probabilities))
    mean.__name__ = "mean_loss"  # type: ignore[attr-defined]  # which XGBClassifier shows
    return mean


def probabilities(scores: Any) -> Scores:
    """Return (N, K) probabilities of raw scores (N, K), or of (N,) for two classes.

    >>> probabilities(np.array([0.0]))
    array([[0.5, 0.5]])
    """
    z = two_columns(scores)
    if _are_probabilities(z):
        raise ParameterError("expected raw scores, got probabilities: they are what you want")
    p = np.exp(z - z.max(axis=1, keepdims=True))
    found: Scores = p / p.sum(axis=1, keepdims=True)
    return found


# Partial functions of these are pickled with the model that was trained by them. Both libraries
# look at the number and the names of the arguments that are left.


def _objective(
    loss: Loss, factor: Callable[[int], float], a: Any, b: Any, sample_weight: Any = None
) -> tuple[Scores, Scores]:
    scores, labels, weight = _arguments(a, b, sample_weight)
    gradient, curvature = newton(loss, scores, labels, weight)
    if scores.ndim == 2:
        curvature *= factor(scores.shape[1])
    return gradient, curvature


def _factor_of_lightgbm(classes: int) -> float:
    # LightGBM's own multi-class objective has this factor: its settings keep their meaning.
    return classes / (classes - 1)


def _factor_of_xgboost(classes: int) -> float:
    # As above, but for two classes on one score, where XGBoost has p (1 - p) too.
    return 2.0


def _metric_of_lightgbm(
    loss: Loss, probabilities: bool, a: Any, b: Any, sample_weight: Any = None
) -> tuple[str, float, bool]:
    known = getattr(b, "params", {}).get("objective", "none")
    if not probabilities and known not in ("none", "null", "custom", "na"):
        raise ParameterError(_PROBABILITIES.format(by=f"the objective {known!r}"))
    return str(loss), _mean(loss, probabilities, a, b, sample_weight), False


def _metric_of_xgboost(
    loss: Loss, probabilities: bool, scores: Any, rows: Any
) -> tuple[str, float]:
    # XGBoost reads its own log line by line, word by word.
    return str(loss).replace(" ", ""), _mean(loss, probabilities, scores, rows)


def _mean(loss: Loss, probabilities: bool, a: Any, b: Any, sample_weight: Any = None) -> float:
    scores, labels, weight = _arguments(a, b, sample_weight)
    scores = _of_probabilities(scores) if probabilities else _of_scores(scores)
    rows = loss.derivatives(scores, labels, weight).value
    # As torch's mean: over the weights of the labels' classes, which are in the rows already.
    counted = (labels != loss.ignore_index).astype(np.float64)
    if loss.weight is not None:
        counted *= loss.weight.double().numpy(force=True)[np.where(counted > 0, labels, 0)]
    given = np.ones(len(rows)) if weight is None else weight.astype(np.float64)
    return float(rows.sum(dtype=np.float64) / np.dot(counted, given))


def _of_scores(scores: Scores) -> Scores:
    """Return raw scores (N, K), or say that they are probabilities, where three classes show it.

    With two, a warning: raw scores may be between 0 and 1 too, in the first rounds.
    """
    if len(scores) > 0 and ((scores >= 0) & (scores <= 1)).all():
        if scores.ndim == 1:
            warnings.warn(_MAYBE_PROBABILITIES, DataWarning, stacklevel=3)
        elif _are_probabilities(scores):
            raise ParameterError(_PROBABILITIES.format(by="an objective of the library's own"))
    found: Scores = two_columns(scores)
    return found


def _are_probabilities(scores: Scores) -> bool:
    """Return whether scores (N, K) of three classes or more are probabilities for certain."""
    some = scores.ndim == 2 and len(scores) > 0 and scores.shape[1] > 2
    within = some and bool(((scores >= 0) & (scores <= 1)).all())
    return within and bool((np.abs(scores.sum(axis=1) - 1) < 1e-4).all())


def _of_probabilities(p: Scores) -> Scores:
    """Return scores whose softmax is p, (N, K), or (N,) of class 1."""
    p = np.stack([1 - p, p], axis=1) if p.ndim == 1 else p
    if not ((p >= 0) & (p <= 1)).all():
        raise ParameterError("expected probabilities, got raw scores: leave probabilities=True out")
    if not (np.abs(p.sum(axis=1) - 1) < 1e-3).all():
        raise ParameterError("expected probabilities that add up to 1 in every row")
    found: Scores = np.log(np.maximum(p, np.finfo(p.dtype).tiny))
    return found


def _arguments(a: Any, b: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Return scores, labels and weights.

    The libraries' own functions give scores and a data set, their scikit-learn classes give labels,
    scores and weights.
    """
    if hasattr(b, "get_label"):
        scores, labels, sample_weight = a, b.get_label(), b.get_weight()
    else:
        labels, scores = a, b
    weight = None if sample_weight is None else as_array("sample_weight", sample_weight)
    if weight is not None and weight.size == 0:
        weight = None
    return as_scores(scores), _whole(as_array("labels", labels)), weight


def _whole(labels: Any) -> Any:
    """Return the labels, which the libraries hold as floats, as classes."""
    with np.errstate(invalid="ignore"):  # of what no integer is
        whole = labels.astype(np.int64)
    wrong = labels[whole != labels]
    if wrong.size:
        raise TargetError(
            f"expected labels 0, 1, ... K-1, got {wrong[0]}: these objectives take no probabilities"
        )
    return whole
