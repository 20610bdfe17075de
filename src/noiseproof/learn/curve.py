"""The learning curve: would a model miss fewer labels if it had more rows?

Wrong labels are missed however many rows there are. What a model misses because it has not learnt
it yet gets less with every row: about with the square root of their number, so that of what half
of the rows miss by this, all rows miss 1 / sqrt(2).
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from noiseproof.learn.choice import Chosen
from noiseproof.learn.folds import deal
from noiseproof.learn.learner import Labels
from noiseproof.learn.trials import Folds, Setting, Trial

#: Up to this many rows, every fold and both halves are tried; of more, few folds and one half say
#: as much.
SMALL = 2_000
FOLDS = 2
NONE = np.empty((0, 0), dtype=np.float32)


def unlearnt(folds: Folds, chosen: Chosen) -> float:
    """Return the share of the labels missed that the chosen model may learn from more rows.

    By the learner that counts most in the choice, without a treatment.
    """
    at = int(np.argmax(chosen.weights))
    few = len(folds.fold) <= SMALL
    gains = [
        (gain, whole) for whole, gain, _ in halved(folds, Setting(chosen.settings[at].learner), few)
    ]
    if not gains:
        return 0.0
    gain = float(np.mean([gain for gain, _ in gains]))
    missed = 1 - gains[0][1].accuracy
    return float(np.clip(gain / (math.sqrt(2) - 1) / max(missed, 1e-9), 0, 1))


def halved(
    folds: Folds, setting: Setting, thorough: bool = False
) -> Iterator[tuple[Trial, float, float]]:
    """Try a setting with all rows and with half of them.

    Gives the trial with all rows (without its probabilities), how many more labels it predicts and
    the standard error of that, once for each half; nothing where there is no time.

    Args:
        folds: the rows.
        setting: what to try.
        thorough: whether to hold out every fold and to try both halves.
    """
    count = None if thorough else min(FOLDS, folds.count)
    half = deal(folds.problem.labels, 2 * folds.count, folds.problem.seed + 1) % 2 == 0
    # Of many classes, what a trial says is a gigabyte, and so is what a job needs. Here it matters
    # only how much is right.
    vast = folds.problem.shape.is_vast
    folds = replace(folds, at_once=1) if vast else folds
    whole = [replace(trial, probabilities=NONE) for trial in folds.run([setting], count)]
    if vast:
        folds.forget_looks(but=())
    for kept in (half, ~half) if thorough else (half,):
        fewer = _thinned(folds, kept).run([setting], count)
        if whole and fewer:
            yield whole[0], *whole[0].mean(whole[0].right - fewer[0].right)


def _thinned(folds: Folds, kept: Labels) -> Folds:
    """Return the same folds with some of the rows to train on."""
    problem = folds.problem
    thin = replace(problem, weights=np.where(kept, problem.weights, np.float32(0)))
    return replace(folds, problem=thin, _weights={}, _models={}, _looks={})
