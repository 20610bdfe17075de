"""Choose between trials by their accuracy on held-out noisy labels.

Where clean labels dominate every class, the classifier that predicts most noisy labels is the one
that predicts most true ones, so noisy labels suffice for the choice.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from noiseproof.learn.learner import Labels
from noiseproof.learn.treat import CLEANING, PLAIN
from noiseproof.learn.trials import Setting, Trial
from noiseproof.noise import EstimatedTransition
from noiseproof.noise.matrix import Doubles

ENSEMBLE = "ensemble"
#: From this clean level on, noisy labels rank models as true ones do.
CLEAR = 1.2
#: The least noise that is worth a preference, and the share of right labels that are predicted
#: where true classes are easy to tell.
NOISY, EASY = 0.05, 0.9
#: Models are chosen by how well they explain the labels only if features tell this share of the
#: labels outside the most frequent class.
MUCH = 0.4
#: How far behind in noisy labels a model that tells true classes from them may be, to be believed
#: about the noise and to stay in the race.
BEHIND, FAR_BEHIND = 0.05, 0.1
#: What is so many standard errors behind is clearly behind.
CLEARLY = 2.0
#: The largest number of trials to average.
PEERS = 5


@dataclass(frozen=True)
class Candidate:
    """One row of the comparison: a setting and its result.

    Args:
        name: the learner with its settings, and the treatment.
        learner: the name of the learner.
        loss: the loss as text; None if it is not one of ours.
        treatment: the treatment of doubtful labels; ``"none"`` without one.
        noisy_accuracy: the share of held-out *noisy* labels that it predicted; checked rows count
            by their checked labels, and more than others. Of a crowd, the mean probability that
            the answers give to its predictions.
        standard_error: of that.
        seconds: of one core, all folds together.
        settings: of the learner; empty for an ensemble.
    """

    name: str
    learner: str
    loss: str | None
    treatment: str
    noisy_accuracy: float
    standard_error: float
    seconds: float
    settings: dict[str, Any]

    @classmethod
    def of(cls, trial: Trial) -> "Candidate":
        """Return the row for a trial."""
        setting = trial.setting
        return cls(
            setting.name, setting.learner.name, setting.learner.loss, setting.treatment,
            trial.accuracy, trial.standard_error, round(trial.seconds, 3),
            setting.learner.settings,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict for JSON."""
        return asdict(self)


def best(trials: Sequence[Trial]) -> Trial:
    """Return the trial that predicts most held-out labels."""
    return max(trials, key=lambda trial: trial.accuracy)


def plain(trials: Sequence[Trial]) -> Trial:
    """Return the best untreated trial with plain cross entropy.

    If no learner with a loss was tried, return the best untreated trial.
    """
    untreated = [trial for trial in trials if trial.setting.treatment == PLAIN]
    return best([trial for trial in untreated if trial.setting.is_cross_entropy] or untreated)


def is_level(trial: Trial, leader: Trial, errors: float = 1.0) -> bool:
    """Return whether a trial is at most so many standard errors behind a better one."""
    gain, error = trial.mean(trial.right - leader.right)
    return gain >= -errors * error


def in_the_race(trial: Trial, leader: Trial, first: bool = False) -> bool:
    """Return whether a trial on a few folds is not clearly behind another.

    A model that tells true classes from labels may be further behind in labels, and be the better
    one: see :mod:`noiseproof.learn.explain`. So may the ``first`` of a quick learner, which may be
    the best one yet when doubtful labels are treated.
    """
    behind, error = trial.mean(leader.right - trial.right)
    allowed = 0.0
    if tells_classes(trial.setting):
        allowed = FAR_BEHIND
    elif first and not trial.setting.learner.slow:
        allowed = BEHIND
    return behind - error <= allowed or is_level(trial, leader, CLEARLY)


def that_explain(
    trials: Sequence[Trial], likelihood: dict[Setting, Doubles]
) -> tuple[list[Trial], list[Trial]]:
    """Return the trials to average, the best first, and those that may join them.

    Where right labels may not dominate, a flexible model predicts more of the noisy labels the
    more of the noise it learns, so trials go by the likelihood of the labels. Of those that are not
    clearly behind, the ones that tell true classes from labels are preferred.
    """
    share = trials[0].share
    logs = {trial.setting: np.log(likelihood[trial.setting]) for trial in trials}

    def level(among: Sequence[Trial], errors: float) -> list[Trial]:
        order = sorted(among, key=lambda trial: -float(logs[trial.setting] @ share))
        top = logs[order[0].setting]
        found = [(trial, *trial.mean(logs[trial.setting] - top)) for trial in order]
        return [trial for trial, gain, error in found if gain >= -errors * error]

    near = level(trials, CLEARLY)
    among = [trial for trial in near if tells_classes(trial.setting)] or list(trials)
    return level(among, 1.0)[:PEERS], among


def peers(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials to average, the best first: those that are level with the best one.

    If held-out labels cannot tell settings apart, their mean is better than a guess. A trial that
    cleaned the labels first gets the benefit of the doubt, half a standard error: it predicts
    true labels and is judged by noisy ones.
    """
    leader = best(trials)
    margins = {}
    for trial in trials:
        gain, error = leader.mean(trial.right - leader.right)
        if trial.setting.treatment in CLEANING:
            gain += error / 2
        if gain >= -error:
            margins[id(trial)] = gain
    level = [trial for trial in trials if id(trial) in margins]
    return sorted(level, key=lambda trial: -margins[id(trial)])[:PEERS]


def structured(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials that tell true classes from labels and are not far behind."""
    least = best(trials).accuracy - BEHIND
    return [t for t in trials if t.accuracy >= least and tells_classes(t.setting)]


def preferred(trials: Sequence[Trial], noise: EstimatedTransition) -> list[Trial]:
    """Return the trials to choose from by accuracy: those that tell true classes, or all.

    Where the features tell nearly all that the noise leaves to be told, true classes are easily
    told from labels, and of models that are level the one that does so is better. Over 32 small
    tables this was worth 0.6 points. Where they tell little, or the estimate cannot tell noise from
    difficulty, there is no preference: over 18 other tables, that was worth 0.2 points.
    """
    leader = best(trials)
    easy = leader.accuracy >= EASY * (1 - noise.rate)
    if easy and noise.decisive and noise.rate >= NOISY:
        level = [t for t in structured(trials) if is_level(t, leader, CLEARLY)]
        return level or list(trials)
    return list(trials)


def may_mislead(noise: EstimatedTransition) -> bool:
    """Return whether right labels may not dominate clearly enough to rank models by them."""
    return noise.clean_level_interval[0] <= CLEAR


def much_told(trials: Sequence[Trial], labels: Labels) -> bool:
    """Return whether the features tell much of the labels, so that explaining them is evidence.

    Where they tell little, as of who repays a loan, it is never sure that right labels dominate,
    and the model that explains the labels best is a guess: in 104 fits of 41 real tables of 60 to
    500 rows, with no or 25 to 30 % wrong labels, it predicted 6.7 points less of the true labels.
    """
    leader = best(trials)
    most = float(np.bincount(labels, leader.share).max())
    return leader.accuracy - most >= MUCH * (1 - most)


def tells_classes(setting: Setting) -> bool:
    """Return whether a setting models true classes, and the labels as what noise makes of them."""
    return setting.treatment == "em" or setting.learner.models_noise
