"""Whether what looks like noise to a treated model is noise.

A treatment clears away the labels that look wrong, also where classes overlap. What is trained on
the rest is sure there, and its misses look like noise. So noise has to show in another way as well:
in untreated predictions, or in how well the treated ones explain the labels. Noise has one matrix,
and by it true classes explain labels that they were not told of; overlap differs from row to row,
which untreated predictions follow better.
"""

import numpy as np

from noiseproof.learn.choice import MOST_EXPLAINED
from noiseproof.learn.explain import explained
from noiseproof.learn.learner import Floats
from noiseproof.learn.told import held_out_whole, noise_in
from noiseproof.learn.trials import Folds


def shows(folds: Folds, treated: Floats, untreated: Floats | None) -> bool:
    """Return whether there is evidence of noise that no treatment has made.

    Args:
        folds: the rows.
        treated: (N, K) held-out probabilities of the choice, in which noise was found.
        untreated: the same of the model that treatments go by; None if nothing was treated.
    """
    problem = folds.problem
    if untreated is None:
        return True
    unknown = held_out_whole(problem.labels, folds.units)
    if noise_in(problem.labels, untreated, unknown, units=folds.units).rate_interval[0] > 0:
        return True
    if problem.classes > MOST_EXPLAINED:
        return False
    half = folds.fold % 2 == 0
    by_one, by_other = (
        np.log(explained(p, problem.labels, half, problem.known, problem.weights))
        for p in (treated, untreated)
    )
    return float((by_one - by_other) @ np.where(unknown, 0, folds.share(folds.count))) > 0
