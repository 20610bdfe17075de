"""The last step of a comparison: which trial, or which mean of trials, becomes the model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from noiseproof.learn.decide import (
    CLEARLY,
    ENSEMBLE,
    Candidate,
    may_mislead,
    much_told,
    peers,
    plain,
    preferred,
    tells_classes,
    that_explain,
)
from noiseproof.learn.explain import explained
from noiseproof.learn.learner import Floats, Labels, Learner, Problem, of_name
from noiseproof.learn.pick import Mix, explaining, mixed, picked, steps_for
from noiseproof.learn.treat import PLAIN, Opinions
from noiseproof.learn.trials import Folds, Setting, Trial
from noiseproof.learn.why import By, ensemble_reason, hardly_told, reason
from noiseproof.noise import EstimatedTransition
from noiseproof.noise.matrix import Doubles

#: Said where noisy labels may mislead: always, and where models go by likelihood.
DOUBT = " Right labels may not dominate in every class, and then accuracy on noisy labels misleads"
EXPLAINED = ": models were chosen by how well they explain the labels, mistakes included"
ADVICE = ". Check some rows drawn at random and give them as --trusted."
#: Plain models that one of true classes is held against.
RIVALS = 4
#: With more classes there are too few labels of each to fit a noise matrix for every model.
MOST_EXPLAINED = 200
#: So many checked rows choose better than any preference.
ENOUGH = 30


@dataclass(frozen=True, eq=False)
class Chosen:
    """The settings to train on all rows, and the comparison that led to them.

    Args:
        name: of the choice.
        settings: what it is made of.
        weights: what each counts; they sum to 1.
        probabilities: (N, K) held out.
        why: one sentence.
        plain: the best trial by cross entropy.
        comparison: all that was tried on all folds, the best first.
        opinions: what treatments go by.
        checked: for each checked row that judges, whether what is chosen without it gets it right.
        unbiased: (N,) the classes that a mean picked without each row predicts; None where nothing
            was picked by these rows.
    """

    name: str
    settings: tuple[Setting, ...]
    weights: tuple[float, ...]
    probabilities: Floats
    why: str
    plain: Trial
    comparison: tuple[Candidate, ...]
    opinions: Opinions | None = None
    checked: NDArray[np.bool_] | None = None
    unbiased: Labels | None = None

    @property
    def predicted(self) -> Labels:
        """(N,) the classes that are predicted for held-out rows, to measure the choice by."""
        return self.probabilities.argmax(axis=1) if self.unbiased is None else self.unbiased

    @property
    def judge(self) -> Learner:
        """The learner whose opinion treatments go by: the best that nothing was done for."""
        rows = [r for r in self.comparison if r.treatment == PLAIN and r.learner != ENSEMBLE]
        found = [of_name(row.learner, row.settings) for row in rows]
        return next((one for one in found if not one.models_noise), found[0])

    def bare(self) -> "Chosen":
        """Return the choice without what was said of the rows, which may be gigabytes."""
        nothing = self.probabilities[:0]
        plain = replace(self.plain, probabilities=nothing.copy())
        return replace(
            self, probabilities=nothing.copy(), plain=plain, opinions=None, unbiased=None
        )

    @classmethod
    def of_trial(
        cls, trial: Trial, why: str, trials: Sequence[Trial], opinions: Opinions | None = None
    ) -> "Chosen":
        """Choose a single trial."""
        setting = trial.setting
        return cls(
            setting.name, (setting,), (1.0,), trial.probabilities, why, plain(trials),
            ranked(trials), opinions,
        )  # fmt: skip


def choose(
    folds: Folds, trials: Sequence[Trial], opinions: Opinions | None, noise: EstimatedTransition
) -> Chosen:
    """Choose a trial or a mean of trials; measure the choice on checked rows if there are any.

    A row that had a say in the choice would flatter it. So each half of the checked rows judges
    what is chosen without it.
    """
    chosen = _choice(folds, trials, opinions, noise)
    chosen = replace(chosen, why=chosen.why + _hardly_told(folds.problem, chosen))
    review = folds.problem.review
    if review is None or len(review.judges) < 2:
        return chosen
    right = np.zeros(len(folds.fold), dtype=bool)
    unit = review.judges if folds.units is None else folds.units[review.judges]
    side = np.unique(unit, return_inverse=True)[1] % 2  # rows that belong together are on one
    for half in (review.judges[side == k] for k in np.unique(side)):
        share = folds.share(folds.count, but=half)
        judged = [replace(trial, share=share) for trial in trials]
        other = _choice(folds, judged, opinions, noise)
        right[half] = other.probabilities[half].argmax(1) == folds.problem.labels[half]
    return replace(chosen, checked=right[review.judges])


def _hardly_told(problem: Problem, chosen: Chosen) -> str:
    """Say so if the choice is not clearly better than always predicting the most frequent class."""
    if problem.judge is not None:
        return ""
    most = np.full(len(problem.labels), np.bincount(problem.labels, chosen.plain.share).argmax())
    return hardly_told(chosen.plain, problem.right(chosen.predicted), problem.right(most))


def _choice(
    folds: Folds, trials: Sequence[Trial], opinions: Opinions | None, noise: EstimatedTransition
) -> Chosen:
    """Choose the best trial, or a mean of trials."""
    misled = may_mislead(noise) and not _is_told(folds)
    problem = folds.problem
    if misled and problem.classes <= MOST_EXPLAINED and much_told(trials, problem.labels):
        chosen = _that_explains(folds, trials, opinions)
        return replace(chosen, why=chosen.why + DOUBT + EXPLAINED + ADVICE)
    chosen = _most_accurate(folds, trials, opinions, noise)
    return replace(chosen, why=chosen.why + DOUBT + ADVICE) if misled else chosen


def _most_accurate(
    folds: Folds, trials: Sequence[Trial], opinions: Opinions | None, noise: EstimatedTransition
) -> Chosen:
    """Choose the trial, or the mean of trials, that predicts most of the held-out labels."""
    among = trials if _is_told(folds) else preferred(trials, noise)
    leader = peers(among)[0]
    by: By = "labels" if folds.problem.judge is None else "answers"
    steps = steps_for(folds.problem, leader.share)
    mix = picked(peers(among), among, folds.problem, leader.share, steps)
    if len(mix) == 1:
        return Chosen.of_trial(leader, reason(leader, plain(trials), by), trials, opinions)
    unbiased = _held_out(folds, among, steps)
    mean = _mean_of(mix, folds.problem.right(unbiased), trials, opinions, by)
    return replace(mean, unbiased=unbiased)


def _that_explains(folds: Folds, trials: Sequence[Trial], opinions: Opinions | None) -> Chosen:
    """Choose the trial, or the mean of trials, that makes the noisy labels most likely."""
    problem, share, likelihood = folds.problem, trials[0].share, _likelihood(folds, trials)
    start, among = that_explain(trials, likelihood)
    mix = explaining(start, among, likelihood, share, steps_for(problem, share))
    if len(mix) == 1:
        why = reason(start[0], plain(trials), "likelihood")
        return Chosen.of_trial(start[0], why, trials, opinions)
    right = problem.right(mixed(mix).argmax(axis=1))
    return _mean_of(mix, right, trials, opinions, "likelihood")


def best_explanation(folds: Folds, trials: Sequence[Trial]) -> Trial | None:
    """Return the model of true classes that explains the labels clearly better than plain models.

    It may be far behind in accuracy: where most labels of a class are wrong, the model that knows
    the class is wrong about most of them. None if there is no such model.
    """
    telling = [trial for trial in trials if tells_classes(trial.setting)]
    others = [trial for trial in trials if not tells_classes(trial.setting)]
    others = sorted(others, key=lambda trial: -trial.accuracy)[:RIVALS]
    if not telling or not others or folds.problem.classes > MOST_EXPLAINED:
        return None
    found = _likelihood(folds, [*telling, *others])
    logs = {setting: np.log(values) for setting, values in found.items()}
    share = trials[0].share
    best, rival = (
        max(some, key=lambda trial: float(logs[trial.setting] @ share))
        for some in (telling, others)
    )
    gain, error = best.mean(logs[best.setting] - logs[rival.setting])
    return best if gain > CLEARLY * error else None


def _likelihood(folds: Folds, trials: Sequence[Trial]) -> dict[Setting, Doubles]:
    """Return how likely each trial makes the labels, (N,)."""
    problem, half = folds.problem, folds.fold % 2 == 0
    return {
        trial.setting: explained(
            trial.probabilities, problem.labels, half, problem.known, problem.weights
        )
        for trial in trials
    }


def _mean_of(
    mix: Mix,
    right: NDArray[np.float64],
    trials: Sequence[Trial],
    opinions: Opinions | None,
    by: By,
) -> Chosen:
    """Choose a mean of trials, which is ``right`` on some of the rows."""
    compared = plain(trials)
    gain, error = compared.mean(right - compared.right)
    accuracy, own_error = compared.mean(right)
    own = Candidate(ENSEMBLE, ENSEMBLE, None, PLAIN, accuracy, own_error, 0.0, {})
    rows = sorted([own, *ranked(trials)], key=lambda row: -row.noisy_accuracy)
    members, weights = zip(*mix, strict=True)
    return Chosen(
        ENSEMBLE, tuple(trial.setting for trial in members), weights, mixed(mix),
        ensemble_reason(members, compared, gain, error, by), compared, tuple(rows), opinions,
    )  # fmt: skip


def _held_out(folds: Folds, among: Sequence[Trial], steps: int) -> Labels:
    """Return (N,): what an ensemble that was picked by the other half of the folds predicts.

    One that was picked by the same labels would seem better than it is.
    """
    predicted = np.zeros(len(folds.fold), dtype=np.int64)
    for half in (0, 1):
        mine = folds.fold % 2 == half
        share = np.where(mine, among[0].share, 0)
        share /= max(share.sum(), 1e-300)
        judged = [replace(trial, share=share) for trial in among]
        mix = picked(peers(judged), judged, folds.problem, share, steps)
        predicted[~mine] = mixed(mix)[~mine].argmax(axis=1)
    return predicted


def _is_told(folds: Folds) -> bool:
    """Return whether checked rows or a crowd say which model is better."""
    review = folds.problem.review
    checked = review is not None and len(review.judges) >= ENOUGH
    return checked or folds.problem.judge is not None


def ranked(trials: Sequence[Trial]) -> tuple[Candidate, ...]:
    """Return the trials as rows of the report, the best first."""
    return tuple(Candidate.of(t) for t in sorted(trials, key=lambda trial: -trial.accuracy))
