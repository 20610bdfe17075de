"""Agree on labels by the answers alone, with the methods of crowd-kit."""

import warnings

import numpy as np

from noiseproof.crowd.answers import Answers, normalised
from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.extras import need
from noiseproof.noise.matrix import Doubles

#: Our names, and the classes of ``crowdkit.aggregation``.
METHODS = {
    "majority": "MajorityVote",
    "dawid-skene": "DawidSkene",
    "one-coin": "OneCoinDawidSkene",
    "glad": "GLAD",
    "mace": "MACE",
}


def aggregate(answers: Answers, method: str) -> Doubles:
    """Return soft labels (N, K).

    Args:
        answers: the answers.
        method: one of :data:`METHODS`.
    """
    check_method(method)
    import pandas as pd
    from crowdkit import aggregation

    frame = pd.DataFrame({"task": answers.item, "worker": answers.annotator, "label": answers.code})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # crowd-kit 1.4 uses what pandas 3 deprecates
        found = getattr(aggregation, METHODS[method])().fit_predict_proba(frame)
    out = np.zeros((answers.items, answers.classes))
    out[np.ix_(found.index.to_numpy(), found.columns.to_numpy())] = found.to_numpy()
    return normalised(out)


def check_method(method: str) -> None:
    """Raise an error if there is no such method, or crowd-kit is not installed."""
    if method not in METHODS:
        names = ("features", *METHODS)
        raise ParameterError(f"no aggregation is called {method!r}{did_you_mean(method, names)}")
    need("crowd", "crowdkit")
