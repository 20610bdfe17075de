"""The comparison behind `learn`: learners, then losses, then treatments, then a mean of the best.

1. Try every learner that suits the data, with its first settings.
2. Estimate the noise from the best of them; try losses whose c·r leaves a margin on the
   learners that take a loss.
3. Try treatments of doubtful labels on the best learners.
4. Average the trials that held-out labels cannot tell apart.

From 500 rows on settings race: all of them run on two folds, and on all folds those that are not
clearly behind.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from noiseproof.advise.recommend import recommend
from noiseproof.errors import ParameterError, TheoryError
from noiseproof.learn.choice import Chosen, best_explanation, choose
from noiseproof.learn.decide import (
    best,
    in_the_race,
    is_level,
    may_mislead,
    plain,
    structured,
)
from noiseproof.learn.learner import Learner, Problem
from noiseproof.learn.learners.linear import Linear
from noiseproof.learn.learners.neighbours import Neighbours
from noiseproof.learn.opinions import opinions_of
from noiseproof.learn.review import UNSOUND
from noiseproof.learn.told import held_out_whole, noise_in
from noiseproof.learn.treat import CLEANING, PLAIN, TREATMENTS, Opinions
from noiseproof.learn.trials import Folds, Setting, Trial
from noiseproof.noise import EstimatedTransition

#: Below this many rows, one or two folds say too little. Above, a first look costs no accuracy: on
#: true labels it was worth -0.6 to 3.5 points over seven spoiled tables, in half of the time.
SMALL = 500
#: How many settings run on all folds: for each learner, and in total.
KEPT_EACH, KEPT = 2, 8
#: With more probabilities than this, each trial takes 80 MB and more, and fewer are kept.
MANY, KEPT_OF_MANY = 20_000_000, 3
#: How many learners are tried with treatments.
TREATED = 3
#: With more classes labels are not treated: a posterior costs the square of the classes.
MOST_TREATED = 200
#: A learner further behind than this will not be first with another loss.
REACH = 0.1
#: The same for a slow learner, in standard errors.
NEAR = 2.0
#: How many losses to compare for each learner that takes one.
LOSSES = 4

#: The losses to compare if none is proved to withstand the noise.
USUAL = ("GCE(q=0.7)", "AGCE(a=1, q=0.5)", "AUL(a=3, p=2)", "NCE + AGCE(a=6, q=1.5)")


def compare(
    folds: Folds,
    kinds: Sequence[type[Learner]],
    losses: Sequence[str] | None,
    search: int,
) -> Chosen:
    """Return the settings that predict held-out noisy labels best."""
    trials = _raced(folds, kinds, losses)
    if search > 0:
        from noiseproof.learn.search import search as search_further

        folds.progress.step("search")
        varied = [t.setting.learner for t in _leaders(trials)]
        varied = [learner for learner in varied if learner.with_loss("CE") is not None]
        if varied:
            trials += search_further(folds, varied[0], search)
    opinions = None
    folds.progress.step("treat doubtful labels")
    # Soft labels have been treated already.
    treatable = folds.problem.soft is None and folds.problem.classes <= MOST_TREATED
    if treatable and not folds.late:
        treated, opinions = _treat(folds, trials)
        trials += treated
    noise = noise_of(folds.problem, best(structured(trials) or trials))
    if not may_mislead(noise) and (found := best_explanation(folds, trials)) is not None:
        other = noise_of(folds.problem, found)
        noise = other if may_mislead(other) else noise
    if may_mislead(noise):
        folds = replace(folds, misled=UNSOUND)
        trials = [replace(trial, share=folds.share(folds.count)) for trial in trials]
    return choose(folds, trials, opinions, noise)


def _raced(
    folds: Folds, kinds: Sequence[type[Learner]], losses: Sequence[str] | None
) -> list[Trial]:
    """Try learners, then losses; return the trials on all folds."""
    folds.progress.step("compare learners")
    scouted = _scout(folds, kinds)
    folds.progress.step("compare losses")
    names = losses or _suited(noise_of(folds.problem, best(scouted)))
    near = [t.setting.learner for t in _leaders(scouted) if _may_win(t, best(scouted))]
    robust = [
        Setting(changed)
        for learner in near
        for loss in names
        if (changed := learner.with_loss(loss)) is not None and not changed.by_cross_entropy
    ]
    scouted += folds.run(robust, _few_folds(folds))
    return _finish(folds, scouted, [plain(scouted).setting])


def _may_win(trial: Trial, leader: Trial) -> bool:
    """Return whether a trial may be first with another loss; a slow one must be near already."""
    if trial.setting.learner.slow:
        return is_level(trial, leader, NEAR)
    return trial.accuracy >= leader.accuracy - REACH


def _scout(folds: Folds, kinds: Sequence[type[Learner]]) -> list[Trial]:
    """Try the first settings of each learner."""
    shape = folds.problem.shape
    settings = [Setting(learner) for kind in kinds for learner in kind.first(shape)]
    if not settings:
        names = ", ".join(kind.name for kind in kinds)
        raise ParameterError(f"no first setting to try: {names}")
    # Even where there is no time at all, one setting is tried.
    return folds.run(settings, _few_folds(folds)) or folds.patient.run([_simplest(settings)])


def _leaders(trials: Sequence[Trial]) -> list[Trial]:
    """Return the best trial of each learner, the best learner first."""
    found: dict[str, Trial] = {}
    for trial in sorted(trials, key=lambda trial: -trial.accuracy):
        found.setdefault(trial.setting.learner.name, trial)
    return list(found.values())


def _finish(
    folds: Folds,
    scouted: list[Trial],
    sure: Sequence[Setting] = (),
    rival: Trial | None = None,
    opinions: Opinions | None = None,
) -> list[Trial]:
    """Run on all folds the settings that a first look leaves in the race, a few for each learner.

    Args:
        folds: the folds.
        scouted: the trials on a few folds; emptied, for with many classes they are large.
        sure: settings that stay in the race whatever was found.
        rival: a trial on all folds to measure up to; by default the best of those scouted.
        opinions: what treatments go by.
    """
    if _few_folds(folds) == folds.count:
        return list(scouted)
    taken = list(sure)
    kept = KEPT if len(folds.fold) * folds.problem.classes <= MANY else KEPT_OF_MANY
    for trial in sorted(scouted, key=lambda trial: -trial.accuracy):
        mine = [s for s in taken if _kind(s) == _kind(trial.setting)]
        full = len(taken) >= kept and not trial.setting.learner.models_noise
        room = len(mine) < KEPT_EACH and not full
        if (
            trial.setting not in taken
            and room
            and in_the_race(trial, rival or best(scouted), first=not mine)
        ):
            taken.append(trial.setting)
    scouted.clear()
    folds.forget_looks(but=taken)
    found = folds.run(taken, opinions=opinions)
    if found or rival is not None:
        return found
    return folds.patient.run([_simplest(taken)])


def _kind(setting: Setting) -> tuple[str, bool]:
    """Return what settings compete for places with: a model of the noise not with one of labels.

    It predicts true classes, so by noisy labels it would lose its place.
    """
    return setting.learner.name, setting.learner.models_noise


def _simplest(settings: Sequence[Setting]) -> Setting:
    """Return a linear setting where there is one: it is quick for any data."""
    return next((s for s in settings if isinstance(s.learner, Linear)), settings[0])


def _treat(folds: Folds, trials: Sequence[Trial]) -> tuple[list[Trial], Opinions | None]:
    """Try treatments of doubtful labels on the best learners."""
    leaders = _leaders(trials)
    # The posterior is that of true classes given a model of the labels, not of the true classes.
    told = [trial for trial in trials if not trial.setting.learner.models_noise]
    judge = _judge(told or trials)
    near = next((t for t in leaders if isinstance(t.setting.learner, Neighbours)), None)
    opinions = opinions_of(folds, judge, near)
    if opinions is None:
        return [], None
    settings = [
        Setting(learner.trusting() if treatment in CLEANING else learner, treatment)
        for rank, learner in enumerate(leader.setting.learner for leader in leaders[:TREATED])
        for treatment in TREATMENTS
        if treatment in CLEANING
        or (rank == 0 and treatment != PLAIN and (treatment != "forward" or learner.takes_noise))
    ]
    scouted = folds.run(settings, _few_folds(folds), opinions)
    return _finish(folds, scouted, rival=best(trials), opinions=opinions), opinions


def _judge(trials: Sequence[Trial]) -> Trial:
    """Return the best trial, but no slow one if a quicker one is level with it."""
    leader = best(trials)
    quick = [t for t in trials if not t.setting.learner.slow and is_level(t, leader)]
    return best(quick or [leader])


def _few_folds(folds: Folds) -> int:
    """Return the number of folds that a first look holds out."""
    return folds.count if len(folds.problem.labels) < SMALL else min(2, folds.count)


def noise_of(problem: Problem, trial: Trial) -> EstimatedTransition:
    """Return the noise as estimated from one trial, and from checked rows if there are any."""
    seen = np.flatnonzero(trial.share > 0)
    given, review, trusted = problem.labels, problem.review, None
    if review is not None:
        inside = review.within(seen)
        given = review.given
        if len(inside.judges):
            trusted = inside.judges, problem.labels[seen][inside.judges]
    p = trial.probabilities
    p = p if len(seen) == len(p) else p[seen]
    unknown = held_out_whole(problem.labels, trial.units)[seen]
    units = None if trial.units is None else trial.units[seen]
    return noise_in(given[seen], p, unknown, trusted=trusted, units=units)


def _suited(noise: EstimatedTransition) -> Sequence[str]:
    """Return the losses that suit the noise."""
    try:
        advice = recommend(noise)
    except TheoryError:  # no loss is proved to withstand it; some still do better than others
        return USUAL
    # ANL-CE leads where networks are trained; with these learners it has not been measured.
    return ["GCE(q=0.7)", *(str(one.loss) for one in advice if one.family != "ANL-CE")][:LOSSES]
