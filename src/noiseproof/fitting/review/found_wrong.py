"""What labels that were found wrong say about the noise: at least so many are wrong."""

import numpy as np

from noiseproof.noise import EstimatedTransition
from noiseproof.prepare.classes import Codes


def at_least(found: EstimatedTransition, given: Codes, true: Codes) -> EstimatedTransition:
    """Return a noise estimate that does not contradict the labels of checked rows.

    Doubtful rows are no fair sample, but what was found in them is a fact: a flip is at least as
    frequent as it was counted, and the rate at least the share of labels that were found wrong.

    Args:
        found: the estimate.
        given: (M,) the labels of the checked rows.
        true: (M,) their labels as checked.
    """
    wrong = given != true
    if not wrong.any():
        return found
    K, N = len(found), found.rows
    counted = np.zeros((K, K))
    np.add.at(counted, (true[wrong], given[wrong]), 1)
    counted /= N
    joint, least = found.joint, float(wrong.sum()) / N
    beyond = np.maximum(joint * (1 - np.eye(K)) - counted, 0)
    # What was not counted makes up the rest of the estimated rate.
    rest = max(found.rate - least, 0.0)
    flips = counted + beyond * min(1.0, rest / max(float(beyond.sum()), 1e-12))
    # How often each label was given is known: more flips to it leave fewer right ones.
    right = np.maximum(joint.sum(axis=0) - flips.sum(axis=0), 0)
    right *= max(1 - float(flips.sum()), 0.0) / max(float(right.sum()), 1e-12)
    joint = flips + np.diag(right)
    joint /= joint.sum()  # all labels may be wrong, and more by rounding
    prior = joint.sum(axis=1)
    matrix = np.where(prior[:, None] > 0, joint / np.maximum(prior, 1e-12)[:, None], np.eye(K))
    rate, (low, high) = min(float(flips.sum()), 1.0), found.rate_interval
    draws = found.draws.copy()
    draws[:, 0] = np.maximum(draws[:, 0], least)
    return EstimatedTransition(
        matrix, prior, (min(max(low, least), rate), max(high, rate)), draws, found.agreement, N,
        found.classes, found.calibration,
    )  # fmt: skip
