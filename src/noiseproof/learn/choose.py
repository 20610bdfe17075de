"""Which way of training to trust, by accuracy on held-out noisy labels.

Where clean labels dominate every class, the classifier that predicts most noisy labels is the one
that predicts most true ones, so noisy labels are enough to choose by.
"""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.learn.head import Heads
from noiseproof.learn.objective import Floats

#: What can be done about doubtful labels, and how it is said.
TREATMENTS = {
    "none": "",
    "drop": "doubtful rows dropped",
    "weigh": "rows weighted by how far their label is trusted",
    "refine": "labels mixed with what the other rows say",
    "forward": "predictions passed through the estimated noise",
}


@dataclass(frozen=True)
class Setting:
    """A way of training.

    Args:
        loss: as text.
        decay: of the weights.
        treatment: one of :data:`TREATMENTS`.
    """

    loss: str
    decay: float
    treatment: str = "none"

    @property
    def name(self) -> str:
        """The loss, and the treatment where there is one."""
        return self.loss + (f", {self.treatment}" if self.treatment != "none" else "")


@dataclass(frozen=True)
class Candidate:
    """A way of training, and how well it did.

    Args:
        name: the loss and the treatment.
        loss: as text.
        treatment: what was done about doubtful labels, ``"none"`` if nothing.
        noisy_accuracy: the share of held-out *noisy* labels that it predicted.
        standard_error: of that.
        decay: of the weights.
    """

    name: str
    loss: str
    treatment: str
    noisy_accuracy: float
    standard_error: float
    decay: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class Trial:
    """A setting that was tried on some or all of the folds.

    Args:
        setting: what was tried.
        heads: one for each fold that was held out.
        probabilities: (N, K) by the head that had not seen the row.
        right: (N,) whether they predict the label.
        share: (N,) what each row counts, summing to 1; 0 where no head of the trial held it out.
    """

    setting: Setting
    heads: Heads
    probabilities: Floats
    right: NDArray[np.float64]
    share: NDArray[np.float64]

    @property
    def accuracy(self) -> float:
        """The share of held-out noisy labels that were predicted."""
        return float(self.right @ self.share)

    @property
    def candidate(self) -> Candidate:
        """What to report of it."""
        setting = self.setting
        _, error = mean_and_error(self.right, self.share)
        return Candidate(
            setting.name, setting.loss, setting.treatment, self.accuracy, error, setting.decay
        )


def mean_and_error(values: NDArray[np.float64], share: NDArray[np.float64]) -> tuple[float, float]:
    """Return a weighted mean and its standard error.

    >>> mean_and_error(np.array([0.0, 1.0, 1.0, 0.0]), np.full(4, 0.25))
    (0.5, 0.25)
    """
    mean = float(values @ share)
    return mean, math.sqrt(float(((values - mean) ** 2) @ share**2))


def decide(trials: Sequence[Trial]) -> tuple[Trial, str]:
    """Return the trial to trust, and the reason.

    CE is used unless another is better by more than a standard error of the difference, row by
    row, between the two.

    Args:
        trials: CE, with nothing done about doubtful labels, is among them.
    """
    plain = max((t for t in trials if t.setting.name == "CE"), key=lambda t: t.accuracy)
    best = max(trials, key=lambda t: t.accuracy)
    if best is plain:
        return plain, "CE predicts held-out labels best, so CE is used."
    gain, error = mean_and_error(best.right - plain.right, plain.share)
    if gain <= error:
        return plain, (
            f"CE predicts held-out labels as well as {best.setting.name} does, "
            f"within one standard error ({100 * error:.1f} points), so CE is used."
        )
    how = TREATMENTS[best.setting.treatment]
    return best, (
        f"{best.setting.loss}{', with ' + how + ',' if how else ''} predicts {100 * gain:.1f} "
        f"points more of the held-out noisy labels than CE "
        f"(standard error {100 * error:.1f})."
    )
