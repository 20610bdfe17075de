"""The reason for a choice, in one sentence: what is used, how it compares, why it is taken.

A figure alone is no reason: where a choice is not ahead, the sentence says why it is used all the
same.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from noiseproof.learn.decide import CLEARLY, tells_classes
from noiseproof.learn.treat import CLEANING, TREATMENTS
from noiseproof.learn.trials import Setting, Trial

#: What models were compared by: held-out labels, the answers of a crowd, or the likelihood of the
#: labels.
By = Literal["labels", "answers", "likelihood"]
#: A smaller difference is written as 0.0 points, and is none.
SAME = 0.0005

#: Why something is used that is not ahead.
STEADY = "a mean varies less than a single model"
TRUE_CLASSES = "it is meant for true labels, which noisy ones undervalue"
LIKELIER = "it explains the labels better, mistakes included"
BEST = "nothing that was tried does better"


def reason(chosen: Trial, compared: Trial, by: By = "labels") -> str:
    """Say why a trial was chosen over plain cross entropy."""
    setting = chosen.setting
    if chosen is compared:
        name = "Plain cross entropy" if setting.is_cross_entropy else str(setting.learner)
        return f"{name} is used: {_AHEAD[by]}."
    gain, error = compared.mean(chosen.right - compared.right)
    because = BEST
    if by == "likelihood":
        because = LIKELIER
    elif setting.treatment in CLEANING or tells_classes(setting):
        because = TRUE_CLASSES
    return f"{_told(setting)} is used: {_compared(gain, error, compared, by, because)}."


#: Said of a plain model that is used itself.
_AHEAD: dict[By, str] = {
    "labels": "it predicts held-out labels best of what was tried",
    "answers": "its held-out predictions are the most likely to be right, by the answers",
    "likelihood": "it explains the labels best of what was tried",
}


def ensemble_reason(
    members: Sequence[Trial], compared: Trial, gain: float, error: float, by: By = "labels"
) -> str:
    """Say what an ensemble consists of, and why it was chosen over plain cross entropy."""
    names = dict.fromkeys(trial.setting.learner.name for trial in members)
    because = LIKELIER if by == "likelihood" else STEADY
    return (
        f"The mean of {len(members)} models ({', '.join(names)}) is used: "
        f"{_compared(gain, error, compared, by, because)}."
    )


def hardly_told(compared: Trial, right: NDArray[np.float64], usual: NDArray[np.float64]) -> str:
    """Say that the features may tell nothing, if a choice is not clearly ahead of one class.

    Args:
        compared: says what each row counts.
        right: (N,) whether held-out predictions of the choice are right.
        usual: (N,) the same of the class with the most labels, always predicted.
    """
    gain, error = compared.mean(right - usual)
    if gain > CLEARLY * error:
        return ""
    return (
        " The features may tell nothing of the label: always predicting the most frequent class "
        f"gets {usual @ compared.share:.1%} of the held-out labels right, what is used "
        f"{right @ compared.share:.1%}."
    )


def _compared(gain: float, error: float, compared: Trial, by: By, because: str) -> str:
    """Say how a choice compares; where it is not ahead, ``because`` tells why it is taken."""
    rival, doubt = _rival(compared), f"standard error {100 * error:.1f}"
    if abs(gain) < SAME:
        return f"it is level with {rival}, and {because}"
    if -CLEARLY * error <= gain < 0:
        behind = points(gain, less="behind")
        return f"it is not clearly worse than {rival} ({behind}, {doubt}), and {because}"
    if by == "answers":
        likely = points(gain, less="less")
        told = f"by the answers, its held-out predictions are {likely} likely to be right than "
        told += f"those of {rival} ({doubt})"
    else:
        told = f"it predicts {points(gain)} of the held-out labels than {rival} ({doubt})"
    return told if gain > 0 else f"{told}, but {because}"


def _rival(compared: Trial) -> str:
    """Name what a choice is compared with; without a learner that takes a loss it has none."""
    if compared.setting.is_cross_entropy:
        return "the best model trained by plain cross entropy"
    return f"{compared.setting.learner} with the labels as given"


def _told(setting: Setting) -> str:
    how = TREATMENTS.get(setting.treatment, "")
    return f"{setting.learner}{', with ' + how + ',' if how else ''}"


def points(gain: float, more: str = "more", less: str = "fewer") -> str:
    """Write a difference of shares in percentage points.

    >>> points(0.0312), points(-0.004, "better", "worse")
    ('3.1 points more', '0.4 points worse')
    """
    size = round(abs(gain) * 100, 6)  # summed in another order, the same words
    return f"{size:.1f} points {more if gain >= 0 else less}"
