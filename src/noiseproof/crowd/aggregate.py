"""Agree on labels by the answers alone: the majority, or the methods of crowd-kit."""

import warnings

import numpy as np

from noiseproof.crowd.answers import Answers, normalised
from noiseproof.errors import DataError, ParameterError, did_you_mean
from noiseproof.extras import need
from noiseproof.noise.matrix import Doubles

MAJORITY = "majority"
#: Our names, and the classes of ``crowdkit.aggregation``.
METHODS = {
    MAJORITY: "",
    "dawid-skene": "DawidSkene",
    "one-coin": "OneCoinDawidSkene",
    "glad": "GLAD",
    "mace": "MACE",
}
#: Updates of the share of right answers.
STEPS = 50


def aggregate(answers: Answers, method: str) -> Doubles:
    """Return soft labels (N, K).

    Args:
        answers: the answers.
        method: one of :data:`METHODS`.
    """
    check_method(method)
    if answers.per_item == 1:
        raise DataError(
            f"--aggregation {method}: no item has two answers, so they do not tell who is right; "
            "leave it out to go by the features as well"
        )
    if method == MAJORITY:
        return _majority(answers)
    import pandas as pd
    from crowdkit import aggregation

    frame = pd.DataFrame({"task": answers.item, "worker": answers.annotator, "label": answers.code})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # crowd-kit 1.4 uses what pandas 3 deprecates
        found = getattr(aggregation, METHODS[method])().fit_predict_proba(frame)
    out = np.zeros((answers.items, answers.classes))
    out[np.ix_(found.index.to_numpy(), found.columns.to_numpy())] = found.to_numpy()
    return normalised(out)


def _majority(answers: Answers) -> Doubles:
    """Return how likely each class is where all annotators are right equally often, (N, K).

    The class with most votes is the likeliest one. Its share of the votes is not how likely it is
    right: four votes of five are right more often than each of them.
    """
    votes, K, right = answers.votes, answers.classes, 0.7
    for _ in range(STEPS):
        logits = votes * np.log(right * (K - 1) / (1 - right))
        soft = normalised(np.exp(logits - logits.max(axis=1, keepdims=True)))
        right = float(np.clip((soft * votes).sum() / votes.sum(), 1.01 / K, 1 - 1e-4))
    return soft


def check_method(method: str) -> None:
    """Raise an error if there is no such method, or crowd-kit is not installed."""
    if method not in METHODS:
        names = ("features", *METHODS)
        raise ParameterError(f"no aggregation is called {method!r}{did_you_mean(method, names)}")
    if method != MAJORITY:
        need("crowd", "crowdkit")
