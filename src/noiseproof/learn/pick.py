"""Greedy selection: which trials to average, and how much each counts.

Caruana et al., Ensemble selection from libraries of models, 2004: add the trial with which the mean
predicts most held-out labels, or makes them most likely, again and again, and let a trial be added
more than once. The start is the mean of the trials that are level, so that few labels cannot lead
far astray.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.learn.learner import Floats, Problem
from noiseproof.learn.trials import Setting, Trial
from noiseproof.noise.matrix import Doubles

#: With fewer labels to go by, selection fits their noise, and the mean of level trials is better.
ENOUGH = 400
#: How often a trial is added, and the largest number of different trials.
STEPS, MOST = 12, 8
#: More probabilities than this take too long to mix again and again.
MANY = 3_000_000
#: What a unit of likelihood counts beside accuracy: enough to decide between equals.
LIKELIHOOD = 1e-3

Mix = list[tuple[Trial, float]]


def picked(
    start: Sequence[Trial],
    trials: Sequence[Trial],
    problem: Problem,
    share: NDArray[np.float64],
    steps: int = STEPS,
) -> Mix:
    """Return the trials to average so that they predict most labels, with weights that sum to 1.

    Args:
        start: the trials to begin with, once each.
        trials: those that may be added.
        problem: says which predictions are right.
        share: (N,) what each row counts, summing to 1.
        steps: how often a trial is added.
    """

    def score(total: Floats, _: int) -> float:
        given = total[np.arange(len(total)), problem.labels] / total.sum(axis=1)
        return float(
            (problem.right(total.argmax(axis=1)) + LIKELIHOOD * np.log(given + 1e-3)) @ share
        )

    return _grown(start, trials, lambda trial: trial.probabilities, score, steps)


def explaining(
    start: Sequence[Trial],
    trials: Sequence[Trial],
    likelihood: dict[Setting, Doubles],
    share: NDArray[np.float64],
    steps: int = STEPS,
) -> Mix:
    """Return the trials to average so that they make the labels most likely, as :func:`picked`.

    ``likelihood`` has that of the labels, (N,), for each trial's setting.
    """

    def score(total: Doubles, count: int) -> float:
        return float(np.log(total / count) @ share)

    return _grown(start, trials, lambda trial: likelihood[trial.setting], score, steps)


def _grown(
    start: Sequence[Trial],
    trials: Sequence[Trial],
    part: Callable[[Trial], Any],
    score: Callable[[Any, int], float],
    steps: int,
) -> Mix:
    """Add the trial whose part gives the sum of all parts the best score, again and again."""
    known = {trial.setting: trial for trial in (*trials, *start)}
    counts = Counter(trial.setting for trial in start)
    parts = {setting: part(trial) for setting, trial in known.items()}
    total = np.sum([parts[setting] for setting in counts], axis=0)
    best, top = counts, score(total, counts.total())
    for _ in range(steps):
        open_to, size = parts if len(counts) < MOST else counts, counts.total() + 1
        scores = {setting: score(total + parts[setting], size) for setting in open_to}
        leader = max(scores, key=lambda setting: scores[setting])
        counts = counts + Counter([leader])
        total = total + parts[leader]
        if scores[leader] > top:
            best, top = counts, scores[leader]
    return [(known[setting], count / best.total()) for setting, count in best.items()]


def steps_for(problem: Problem, share: NDArray[np.float64]) -> int:
    """Return how often a trial is added: never if labels are too few, or too many to be quick."""
    few = np.count_nonzero(share) < ENOUGH
    return 0 if few or len(share) * problem.classes > MANY else STEPS


def mixed(mix: Mix) -> Floats:
    """Return the weighted mean of the trials' probabilities."""
    return np.asarray(sum(np.float32(weight) * trial.probabilities for trial, weight in mix))
