"""The comparison behind `learn`: learners, then losses, then treatments, then a mean of the best.

1. Try every learner that suits the data, with its first settings.
2. Estimate the noise from the best of them; try losses whose c·r leaves a margin on the
   learners that take a loss.
3. Try treatments of doubtful labels on the best learners.
4. Average the trials that held-out labels cannot tell apart.

With many rows, settings race: all of them run on two folds, and the best ones on all folds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from noiseproof.advise.recommend import recommend
from noiseproof.errors import TheoryError
from noiseproof.learn.decide import ENSEMBLE, Candidate, best, ensemble_reason, peers, plain, reason
from noiseproof.learn.learner import Floats, Labels, Learner, of_name
from noiseproof.learn.linear import Linear
from noiseproof.learn.neighbours import Neighbours
from noiseproof.learn.posterior import Posterior
from noiseproof.learn.treat import CLEANING, PLAIN, TREATMENTS, Opinion, Opinions
from noiseproof.learn.trials import Folds, Setting, Trial, mean_and_error
from noiseproof.noise import estimate

#: Below this many rows, one or two folds say too little.
SMALL = 3000
#: How many settings run on all folds: for each learner, and in total.
KEPT_EACH, KEPT = 2, 8
#: How many learners are tried with treatments.
TREATED = 3
#: How many losses to compare for each learner that takes one.
LOSSES = 4

#: The losses to compare if none is proved to withstand the noise.
USUAL = ("GCE(q=0.7)", "AGCE(a=1, q=0.5)", "AUL(a=3, p=2)", "NCE + AGCE(a=6, q=1.5)")


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
    """

    name: str
    settings: tuple[Setting, ...]
    weights: tuple[float, ...]
    probabilities: Floats
    why: str
    plain: Trial
    comparison: tuple[Candidate, ...]
    opinions: Opinions | None = None

    @property
    def judge(self) -> Learner:
        """The learner whose opinion treatments go by: the best that nothing was done for."""
        row = next(
            row for row in self.comparison if row.treatment == PLAIN and row.learner != ENSEMBLE
        )
        return of_name(row.learner, row.settings)

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


def compare(
    folds: Folds,
    kinds: Sequence[type[Learner]],
    losses: Sequence[str] | None,
    search: int,
) -> Chosen:
    """Return the settings that predict held-out noisy labels best."""
    problem = folds.problem
    folds.progress.step("compare learners")
    scouted = _scout(folds, kinds)
    folds.progress.step("compare losses")
    names = losses or _suited(best(scouted), problem.labels)
    leaders = _leaders(scouted)
    robust = [
        Setting(changed)
        for trial in leaders
        for loss in names
        if (changed := trial.setting.learner.with_loss(loss)) is not None
        and not changed.by_cross_entropy
    ]
    scouted += folds.run(robust, _few_folds(folds))
    trials = _full(folds, scouted)
    if search > 0:
        from noiseproof.learn.search import search as search_further

        folds.progress.step("search")
        trials += search_further(folds, best(trials), search)
    opinions = None
    folds.progress.step("treat doubtful labels")
    if not folds.late and problem.soft is None:  # soft labels have been treated already
        treated, opinions = _treat(folds, trials)
        trials += treated
    return _decide(folds, trials, opinions)


def _scout(folds: Folds, kinds: Sequence[type[Learner]]) -> list[Trial]:
    """Try the first settings of each learner."""
    shape = folds.problem.shape
    settings = [Setting(learner) for kind in kinds for learner in kind.first(shape)]
    # Even where there is no time at all, one setting is tried.
    return folds.run(settings, _few_folds(folds)) or folds.patient.run([_simplest(settings)])


def _leaders(trials: Sequence[Trial]) -> list[Trial]:
    """Return the best trial of each learner, the best learner first."""
    found: dict[str, Trial] = {}
    for trial in sorted(trials, key=lambda trial: -trial.accuracy):
        found.setdefault(trial.setting.learner.name, trial)
    return list(found.values())


def _full(folds: Folds, scouted: Sequence[Trial]) -> list[Trial]:
    """Run the best settings, a few for each learner, on all folds."""
    if _few_folds(folds) == folds.count:
        return list(scouted)
    order = sorted(scouted, key=lambda trial: -trial.accuracy)
    taken: list[Setting] = [plain(scouted).setting]
    for trial in order:
        mine = [s for s in taken if s.learner.name == trial.setting.learner.name]
        if trial.setting not in taken and len(mine) < KEPT_EACH and len(taken) < KEPT:
            taken.append(trial.setting)
    return folds.run(taken) or folds.patient.run([_simplest(taken)])


def _simplest(settings: Sequence[Setting]) -> Setting:
    """Return a linear setting where there is one: it is quick for any data."""
    return next((s for s in settings if isinstance(s.learner, Linear)), settings[0])


def _treat(folds: Folds, trials: Sequence[Trial]) -> tuple[list[Trial], Opinions | None]:
    """Try treatments of doubtful labels on the best learners."""
    labels = folds.problem.labels
    leaders = _leaders(trials)
    judge = leaders[0]
    by_pairs = folds.pairs(judge.setting.learner)
    near = next((t for t in leaders if isinstance(t.setting.learner, Neighbours)), None)
    near_pairs = None if near is None else folds.pairs(near.setting.learner)
    if by_pairs is None:
        return [], None
    nested = []
    for f, p in enumerate(by_pairs):
        posterior = Posterior.of(p, labels, folds.fold != f)
        nested.append(Opinion(p, None if near_pairs is None else near_pairs[f], posterior))
    whole = Posterior.of(judge.probabilities, labels)
    neighbours = None if near is None else near.probabilities
    opinions = Opinions(tuple(nested), Opinion(judge.probabilities, neighbours, whole))
    settings = [
        Setting(learner.trusting() if treatment in CLEANING else learner, treatment)
        for rank, learner in enumerate(leader.setting.learner for leader in leaders[:TREATED])
        for treatment in TREATMENTS
        if treatment in CLEANING
        or (rank == 0 and treatment != PLAIN and (treatment != "forward" or learner.takes_noise))
    ]
    return folds.run(settings, opinions=opinions), opinions


def _decide(folds: Folds, trials: Sequence[Trial], opinions: Opinions | None) -> Chosen:
    """Choose the best trial, or the mean of those that are level with it."""
    compared = plain(trials)
    members = peers(trials)
    leader = members[0]
    if len(members) == 1:
        return Chosen.of_trial(leader, reason(leader, compared), trials, opinions)
    p = np.mean([trial.probabilities for trial in members], axis=0)
    right = folds.problem.right(p)
    behind, doubt = mean_and_error(right - leader.right, leader.share)
    if behind < -doubt:
        return Chosen.of_trial(leader, reason(leader, compared), trials, opinions)
    gain, error = mean_and_error(right - compared.right, compared.share)
    accuracy, own_error = mean_and_error(right, compared.share)
    own = Candidate(ENSEMBLE, ENSEMBLE, None, PLAIN, accuracy, own_error, 0.0, {})
    rows = sorted([own, *ranked(trials)], key=lambda row: -row.noisy_accuracy)
    return Chosen(
        ENSEMBLE, tuple(t.setting for t in members), (1 / len(members),) * len(members), p,
        ensemble_reason(members, gain, error), compared, tuple(rows), opinions,
    )  # fmt: skip


def ranked(trials: Sequence[Trial]) -> tuple[Candidate, ...]:
    """Return the trials as rows of the report, the best first."""
    return tuple(Candidate.of(t) for t in sorted(trials, key=lambda trial: -trial.accuracy))


def _few_folds(folds: Folds) -> int:
    """Return the number of folds that a first look holds out."""
    return folds.count if len(folds.problem.labels) < SMALL else min(2, folds.count)


def _suited(trial: Trial, labels: Labels) -> Sequence[str]:
    """Return the losses that suit the noise as estimated from one trial."""
    rows = trial.share > 0
    try:
        advice = recommend(estimate(labels[rows], trial.probabilities[rows]))
    except TheoryError:  # no loss is proved to withstand it; some still do better than others
        return USUAL
    return ["GCE(q=0.7)", *(str(one.loss) for one in advice)][:LOSSES]
