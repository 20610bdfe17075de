"""Agree on labels by the answers alone, with the methods of crowd-kit."""

import numpy as np

from noiseproof.crowd.answers import Answers, Floats, normalised
from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.extras import need

#: Our names, and the classes of ``crowdkit.aggregation``.
METHODS = {
    "majority": "MajorityVote",
    "dawid-skene": "DawidSkene",
    "one-coin": "OneCoinDawidSkene",
    "glad": "GLAD",
    "mace": "MACE",
}


def aggregate(answers: Answers, method: str) -> Floats:
    """Return soft labels (N, K).

    Args:
        answers: the answers.
        method: one of :data:`METHODS`.
    """
    if method not in METHODS:
        raise ParameterError(f"no aggregation is called {method!r}{did_you_mean(method, METHODS)}")
    need("crowd", "crowdkit")
    import pandas as pd
    from crowdkit import aggregation

    frame = pd.DataFrame({"task": answers.item, "worker": answers.annotator, "label": answers.code})
    found = getattr(aggregation, METHODS[method])().fit_predict_proba(frame)
    out = np.zeros((answers.items, answers.classes))
    out[np.ix_(found.index.to_numpy(), found.columns.to_numpy())] = found.to_numpy()
    return normalised(out)
